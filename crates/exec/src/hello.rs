//! What a program says of itself before it sees a scene.

use serde::Deserialize;
use serde_json::{Map, Value};
use taut_core::{
    Determinism, Introduction, Iteration, Runs, Scene, Unsupported,
    protocol::{BodyForm, words_of},
};

/// The version of the protocol that this program speaks.
pub(crate) const PROTOCOL: u64 = 1;
/// Above so many bodies a scene is too long to be sent as text.
const MOST_BODIES: usize = 1_000_000;

/// What a program is and takes. Keys that are not known here are ignored.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Handshake {
    /// Required, though nothing is made of it: results hold the name of the row.
    #[serde(rename = "name")]
    _name: String,
    pub(crate) iteration: Refinement,
    determinism: Repeats,
    state: StateForm,
    #[serde(default)]
    pub(crate) contacts: ContactFinder,
    takes: Vec<String>,
    /// Version of the engine, what it does and where that is from.
    #[serde(flatten)]
    pub(crate) introduction: Introduction,
    /// Whether it tells what its engine compiled.
    #[serde(default)]
    pub(crate) audit: bool,
    /// Whether it tells what joints and contacts exerted.
    #[serde(default)]
    pub(crate) forces: bool,
    #[serde(default)]
    pub(crate) settings: Map<String, Value>,
    #[serde(default)]
    max_bodies: Option<usize>,
    #[serde(default)]
    clock: DeviceClock,
}

/// Where the time of its steps goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum DeviceClock {
    #[default]
    Cpu,
    Gpu,
}

/// What one iteration does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Refinement {
    /// Improves the step's end, readable after each.
    Refine,
    /// Advances time.
    Substep,
    /// Improves the step's end, readable only after the last.
    Rerun,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Repeats {
    Bitwise,
    None,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StateForm {
    Rigid,
    Affine,
}

/// Who finds contacts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ContactFinder {
    /// Nobody.
    #[default]
    None,
    /// The program.
    Own,
    /// This side, which sends them with each step.
    Given,
}

impl Handshake {
    /// Reads the answer to `hello`.
    pub(crate) fn read(keys: Map<String, Value>) -> Result<Self, String> {
        let protocol = keys.get("protocol");
        if protocol.and_then(Value::as_u64) != Some(PROTOCOL) {
            let picked = protocol.map_or("none".to_owned(), Value::to_string);
            return Err(format!("not a reply: it picks protocol {picked}, offered was {PROTOCOL}"));
        }
        serde_json::from_value(Value::Object(keys))
            .map_err(|error| format!("not a reply: no handshake, {error}"))
    }

    /// Where its steps are computed.
    pub(crate) fn runs(&self) -> Runs {
        match self.clock {
            DeviceClock::Cpu => Runs::OnCpu,
            DeviceClock::Gpu => Runs::OnGpuOfItsOwn,
        }
    }

    pub(crate) fn form(&self) -> BodyForm {
        match self.state {
            StateForm::Rigid => BodyForm::Rigid,
            StateForm::Affine => BodyForm::Affine,
        }
    }

    pub(crate) fn determinism(&self) -> Determinism {
        match self.determinism {
            Repeats::Bitwise => Determinism::Bitwise,
            Repeats::None => Determinism::None,
        }
    }

    /// How a convergence curve may be sampled.
    pub(crate) fn sampled(&self) -> Iteration {
        match self.iteration {
            Refinement::Refine => Iteration::Refine,
            Refinement::Substep => Iteration::Substep,
            Refinement::Rerun => Iteration::Rerun,
        }
    }

    pub(crate) fn takes(&self, word: &str) -> bool {
        self.takes.iter().any(|taken| taken == word)
    }

    /// The first word that a scene needs and the program does not list, and what cannot be sent.
    pub(crate) fn refuse(&self, scene: &Scene) -> Result<(), Unsupported> {
        let most = self.max_bodies.unwrap_or(MOST_BODIES).min(MOST_BODIES);
        let bodies = scene.bodies.len();
        if bodies > most {
            return Err(Unsupported(format!("{bodies} bodies, and it takes {most}")));
        }
        if let Some(need) = words_of(scene).into_iter().find(|need| !self.takes(need.word)) {
            return Err(Unsupported(format!("{} needs {}", need.witness, need.word)));
        }
        let given = self.contacts == ContactFinder::Given;
        if scene.contacts.is_some() && self.contacts == ContactFinder::None {
            return Err(Unsupported("it finds no contacts and is given none".to_owned()));
        }
        if given && !scene.touching_triangles().is_empty() {
            return Err(Unsupported(
                "contacts of triangles of particles cannot be given".to_owned(),
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use taut_core::{
        Vec3,
        scene::{Body, Contacts},
    };

    use super::*;

    fn keys() -> Map<String, Value> {
        let keys = json!({
            "ok": true, "n": 1, "protocol": 1, "name": "x", "iteration": "rerun", "determinism": "none",
            "state": "rigid", "takes": ["body.dynamic", "body.static", "later"], "unheard": 1,
        });
        let Value::Object(keys) = keys else { unreachable!("an object") };
        keys
    }

    fn said(key: &str, value: Value) -> String {
        let mut keys = keys();
        keys.insert(key.to_owned(), value);
        Handshake::read(keys).unwrap_err()
    }

    #[test]
    fn a_handshake_is_read_and_a_wrong_one_told() {
        let hello = Handshake::read(keys()).unwrap();
        assert_eq!((hello.sampled(), hello.contacts), (Iteration::Rerun, ContactFinder::None));
        assert_eq!(said("protocol", json!(7)), "not a reply: it picks protocol 7, offered was 1");
        assert!(said("iteration", json!("often")).contains("unknown variant `often`"));
        assert!(said("clock", json!("sun")).contains("unknown variant `sun`"));
        assert_eq!((hello.runs(), hello.forces), (Runs::OnCpu, false));
        let mut keys = keys();
        keys.extend([("clock".to_owned(), json!("gpu")), ("forces".to_owned(), json!(true))]);
        let hello = Handshake::read(keys).unwrap();
        assert_eq!((hello.runs(), hello.forces), (Runs::OnGpuOfItsOwn, true));
        assert!(said("takes", json!(3)).contains("no handshake"));
    }

    #[test]
    fn what_is_not_listed_is_refused() {
        let hello = Handshake::read(keys()).unwrap();
        let cube = Body::solid_box(Vec3::repeat(1.0), 1.0);
        let mut scene = Scene { bodies: vec![cube; 2], ..Scene::default() };
        assert_eq!(hello.refuse(&scene), Ok(()));
        scene.contacts = Some(Contacts::default());
        let refusal = hello.refuse(&scene).unwrap_err();
        assert_eq!(refusal.0, "the scene needs contact");
        let few = Handshake { max_bodies: Some(1), ..hello };
        assert_eq!(few.refuse(&scene).unwrap_err().0, "2 bodies, and it takes 1");
    }
}
