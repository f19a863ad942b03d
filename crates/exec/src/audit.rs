//! The answer to `audit`, which may come from any program.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};
use taut_core::{
    AuditFacts, Scene,
    audit::{AuditPrecision, CompiledScene, Deviation},
};

use crate::settings::to_ron;

/// The answer: what is left out is not compared.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(crate) struct Audit {
    #[serde(flatten)]
    compiled: CompiledScene,
    threads: Option<u32>,
    contacts: Option<Value>,
    effective: Map<String, Value>,
    /// How much was used at most since the last `load`, and how much there is.
    capacity: BTreeMap<String, [u64; 2]>,
}

impl Audit {
    /// Reads an answer.
    pub(crate) fn read(block: &[u8]) -> Result<Self, String> {
        serde_json::from_slice(block).map_err(|error| format!("audit: cannot be read: {error}"))
    }

    /// Compares all that is told with a scene.
    ///
    /// # Errors
    /// The first disagreement that is not among the deviations.
    pub(crate) fn agree(
        &self,
        scene: &Scene,
        deviations: &[Deviation],
    ) -> Result<AuditFacts, String> {
        let mut facts = self.compiled.agree(scene, deviations)?;
        let contacts = self.contacts.as_ref().filter(|_| scene.contacts.is_some());
        let law = contacts.and_then(|contacts| contacts.get("law")?.as_str());
        facts.laws.extend(law.map(str::to_owned));
        let mut effective = self.effective.clone();
        let precision = self.compiled.precision.map(|precision| match precision {
            AuditPrecision::F32 => Value::from("f32"),
            AuditPrecision::F64 => Value::from("f64"),
        });
        let more = [
            ("precision", precision),
            ("threads", self.threads.map(Value::from)),
            ("contacts", contacts.cloned()),
        ];
        let told = more.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?)));
        effective.extend(told);
        facts.effective = to_ron(&effective);
        Ok(facts)
    }

    /// Fixed resources that did not suffice.
    ///
    /// # Errors
    /// The first of them.
    pub(crate) fn suffices(&self) -> Result<(), String> {
        match self.capacity.iter().find(|(_, [used, most])| used > most) {
            Some((name, [used, most])) => {
                Err(format!("capacity: {used} {name} where the engine has room for {most}"))
            }
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use taut_core::{
        math::Vec3,
        scene::{Body, Endpoint, Joint, JointKind},
    };

    use super::*;

    fn scene() -> Scene {
        let cube = Body::solid_box(Vec3::repeat(1.0), 1.0);
        let joint = Joint::new(JointKind::Hinge, Endpoint::World, Endpoint::Body(0));
        let gravity = Vec3::new(0.0, 0.0, -10.0);
        let bodies = vec![cube.clone(), cube.fixed()];
        Scene { gravity, bodies, joints: vec![joint], ..Scene::default() }
    }

    fn good() -> Value {
        let inertia = scene().bodies[0].inertia;
        json!({
            "gravity": [0, 0, -10], "sleeping": false, "damping_linear": 0, "damping_angular": 0, "precision": "f64",
            "bodies": [{"mass": 1, "centre": [0, 0, 0], "inertia": inertia.as_slice()}, {"mass": null}],
            "joints": [{"law": "rows", "rows": 5, "anchor_a": [0, 0, 0], "anchor_b": [0, 0, 0], "axis": [1, 0, 0]}],
            "effective": {"tolerance": 1e-8}, "capacity": {"contacts": [3, 4]}, "later": 1,
        })
    }

    fn asked(
        change: impl FnOnce(&mut Value),
        deviations: &[Deviation],
    ) -> Result<AuditFacts, String> {
        let mut answer = good();
        change(&mut answer);
        Audit::read(answer.to_string().as_bytes())?.agree(&scene(), deviations)
    }

    #[test]
    fn what_agrees_leaves_what_is_in_force() {
        let facts = asked(|_| {}, &[]).unwrap();
        assert_eq!(facts.effective, r#"(precision: "f64", tolerance: 1e-8)"#);
        assert_eq!(facts.laws, ["rows"]);
        assert!(facts.untold.is_empty() && facts.deviations.is_empty(), "{facts:?}");
    }

    #[test]
    fn the_first_disagreement_is_told() {
        let said = |path: &str, value: Value| {
            let change = |answer: &mut Value| *answer.pointer_mut(path).unwrap() = value;
            asked(change, &[]).unwrap_err()
        };
        let heavy = said("/bodies/0/mass", json!(1.2));
        assert_eq!(heavy, "audit: body 0 weighs 1.2 kg, the scene says 1");
        let moves = said("/bodies/1/mass", json!(2));
        assert_eq!(moves, "audit: body 1 weighs 2 kg, in the scene no force moves it");
        assert!(said("/gravity/2", json!(-9.81)).contains("gravity is (0, 0, -9.81) m/s^2"));
        assert!(said("/damping_linear", json!(0.04)).contains("damping_linear is 0.04"));
        assert!(said("/sleeping", json!(true)).contains("may sleep"));
        assert!(said("/bodies/0/inertia/4", json!(1)).contains("inertia of body 0"));
        assert!(said("/bodies/0/centre/0", json!(1e-6)).contains("centre of mass of body 0"));
        assert!(said("/joints", json!([])).contains("0 joints, the scene has 1"));
        assert!(said("/joints/0/rows", json!(3)).contains("holds 3 rows, the scene says 5"));
        assert!(said("/joints/0/anchor_b/1", json!(0.5)).contains("anchor b of joint 0"));
        assert!(said("/joints/0/axis", json!([0, 1, 0])).contains("axis of joint 0"));
        assert!(said("/bodies", json!(7)).contains("cannot be read"));
    }

    #[test]
    fn single_precision_is_allowed_its_rounding() {
        let change = |precision: &'static str| {
            move |answer: &mut Value| {
                answer["precision"] = precision.into();
                answer["bodies"][0]["mass"] = json!(1.000_001);
            }
        };
        assert!(asked(change("f32"), &[]).is_ok());
        assert!(asked(change("f64"), &[]).is_err());
    }

    #[test]
    fn a_listed_deviation_marks_and_what_is_not_told_is_named() {
        let item = "damping_linear".to_owned();
        let reason = "the engine has no switch".to_owned();
        let listed = [Deviation { item, reason }];
        let change = |answer: &mut Value| {
            answer["damping_linear"] = json!(0.5);
            answer["joints"][0]["anchor_a"] = Value::Null;
        };
        let facts = asked(change, &listed).unwrap();
        let due = "damping_linear is 0.5, the scene has none (the engine has no switch)";
        assert_eq!(facts.deviations, [due]);
        assert_eq!(facts.untold, ["joint.anchor_a"]);
    }

    #[test]
    fn an_overflow_is_told() {
        let audit = |used: u64| {
            let answer = json!({"capacity": {"contacts": [used, 4]}}).to_string();
            Audit::read(answer.as_bytes()).unwrap().suffices()
        };
        assert_eq!(audit(4), Ok(()));
        let told = audit(5).unwrap_err();
        assert_eq!(told, "capacity: 5 contacts where the engine has room for 4");
    }
}
