//! The requests of the protocol, each with its limit.

use serde_json::{Map, Value, json};
use taut_core::{
    Multipliers, Scene, Stage, State, Step,
    protocol::{
        BodyForm, SCENE_SCHEMA, SceneForm, block_len, forces_len, read_block, read_forces,
        write_block,
    },
};

use crate::{
    audit::Audit,
    child::Child,
    fault::{BlockDue, LinkFault, OpenFault},
    hello::{Handshake, PROTOCOL},
    program::{Program, limit},
    settings::JsonSettings,
};

/// Bytes of a scene for which a second more is granted.
const SCENE_PER_S: f64 = 1e6;
/// Bytes of a state for which a second more is granted.
const STATE_PER_S: f64 = 1e7;
/// What a program may tell of a scene at most: more than its numbers take as text [bytes].
const LONGEST_AUDIT: usize = 1 << 30;
/// Of the forces in a scene, likewise: of five million contacts [bytes].
const MOST_FORCES: usize = 1 << 30;

/// A process that has said what it is.
#[derive(Debug)]
pub(crate) struct ProcessLink {
    pub(crate) child: Child,
    pub(crate) hello: Handshake,
    block: Vec<u8>,
    /// What a process says it spent, as sums since the last scene: on the wall and on processors [s].
    pub(crate) spent: [f64; 2],
    /// What it says of its [`STAGES`], as sums since they were last taken [s]; `None` is of what it says nothing.
    pub(crate) stages: [Option<f64>; STAGES.len()],
    /// How many iterations the last answer says that a step took at most, where it does.
    pub(crate) iterations_used: Option<u32>,
    /// Joints that were broken in the last state it was given.
    given_broken: Vec<usize>,
}

/// Stages whose times a process may tell, under their names.
pub(crate) const STAGES: [(&str, Stage); 4] = [
    ("collide", Stage::Collide),
    ("prepare", Stage::Prepare),
    ("iterate", Stage::Iterate),
    ("finish", Stage::Finish),
];

/// The keys of a request.
pub(crate) fn keys(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(keys) => keys,
        _ => Map::new(),
    }
}

impl ProcessLink {
    /// Starts a program and shakes hands.
    pub(crate) fn open(program: &Program) -> Result<Self, OpenFault> {
        let mut child = Child::start(program)?;
        let version = env!("CARGO_PKG_VERSION");
        let asked = json!({
            "protocol": [PROTOCOL], "taut": version, "threads": program.threads, "seed": program.seed,
        });
        let time = limit(child.limits().hello_s, 0, 1.0);
        let reply = child.ask("hello", keys(asked), &[], time, BlockDue::NOTHING);
        let hello = match reply.map(|reply| Handshake::read(reply.keys)) {
            Ok(Ok(hello)) => Ok(hello),
            Ok(Err(why)) => Err(child.broken(why)),
            Err(fault) => Err(fault),
        };
        match hello {
            Ok(hello) => {
                let (block, spent, stages) = (Vec::new(), [0.0; 2], [None; STAGES.len()]);
                Ok(Self {
                    child,
                    hello,
                    block,
                    spent,
                    stages,
                    iterations_used: None,
                    given_broken: Vec::new(),
                })
            }
            Err(fault) => Err(OpenFault { why: fault.words(), words: child.said() }),
        }
    }

    pub(crate) fn form(&self) -> BodyForm {
        self.hello.form()
    }

    /// Sends a scene; the settings in force come back.
    pub(crate) fn scene(
        &mut self,
        scene: &Scene,
        settings: &JsonSettings,
    ) -> Result<JsonSettings, LinkFault> {
        let text = serde_json::to_vec(&SceneForm::from(scene))
            .map_err(|error| LinkFault::Broken(format!("the scene cannot be written: {error}")))?;
        (self.child.steps, self.spent, self.stages) = (0, [0.0; 2], [None; 4]);
        let asked = keys(json!({"schema": SCENE_SCHEMA, "settings": settings}));
        let time = limit(self.child.limits().scene_s, text.len(), SCENE_PER_S);
        let mut reply = self.child.ask("scene", asked, &text, time, BlockDue::NOTHING)?;
        match reply.keys.remove("settings") {
            Some(Value::Object(settings)) => Ok(settings),
            _ => Err(self.child.broken("not a reply: it has no `settings`".to_owned())),
        }
    }

    /// What the engine holds of the scene; `None` where the program does not tell.
    pub(crate) fn audit(&mut self, bodies: usize) -> Result<Option<Audit>, LinkFault> {
        if !self.hello.audit {
            return Ok(None);
        }
        // A body takes some hundred bytes as text.
        let time = limit(self.child.limits().scene_s, 1000 * bodies, SCENE_PER_S);
        let due = BlockDue::AtMost(LONGEST_AUDIT);
        let block = match self.child.ask("audit", Map::new(), &[], time, due) {
            Ok(reply) => reply.block,
            Err(LinkFault::Refused { kind, .. }) if kind == "unknown" => return Ok(None),
            Err(fault) => return Err(fault),
        };
        Audit::read(&block).map(Some).map_err(|why| self.child.broken(why))
    }

    pub(crate) fn load(&mut self, state: &State) -> Result<(), LinkFault> {
        let mut block = std::mem::take(&mut self.block);
        write_block(state, self.form(), &mut block);
        let broken: Vec<usize> = (0..state.broken.len()).filter(|&i| state.broken[i]).collect();
        let sent = self.load_block(state.time_s, &broken, &block);
        self.block = block;
        sent
    }

    pub(crate) fn load_block(
        &mut self,
        time_s: f64,
        broken: &[usize],
        block: &[u8],
    ) -> Result<(), LinkFault> {
        let asked = keys(json!({"time_s": time_s, "broken": broken}));
        let time = limit(self.child.limits().load_s, block.len(), STATE_PER_S);
        self.iterations_used = None;
        self.given_broken.clear();
        self.given_broken.extend_from_slice(broken);
        self.child.ask("load", asked, block, time, BlockDue::NOTHING).map(drop)
    }

    /// `step`, `begin`, `iterate` or `end`.
    pub(crate) fn advance(
        &mut self,
        request: &str,
        asked: Value,
        contacts: &[u8],
        steps: u32,
    ) -> Result<(), LinkFault> {
        let limits = self.child.limits();
        let first = self.child.steps == 0;
        let time = limit(if first { limits.first_step_s } else { limits.step_s }, 0, 1.0);
        let reply = self.child.ask(request, keys(asked), contacts, time, BlockDue::NOTHING)?;
        self.child.steps += u64::from(steps);
        for (sum, key) in self.spent.iter_mut().zip(["wall_s", "cpu_s"]) {
            *sum += reply.keys.get(key).and_then(Value::as_f64).unwrap_or(0.0);
        }
        self.iterations_used = match reply.keys.get("iterations_used") {
            None | Some(Value::Null) => None,
            Some(value) => match value.as_u64().and_then(|count| u32::try_from(count).ok()) {
                Some(count) => Some(count),
                None => {
                    let why = format!("not a reply: its `iterations_used` is {value}");
                    return Err(self.child.broken(why + ", expected a count"));
                }
            },
        };
        self.add_stages(reply.keys.get("stages"))
    }

    /// Names that are not known are ignored, as keys are.
    fn add_stages(&mut self, told: Option<&Value>) -> Result<(), LinkFault> {
        let Some(told) = told else { return Ok(()) };
        for ((name, _), sum) in STAGES.iter().zip(&mut self.stages) {
            let Some(value) = told.get(name) else { continue };
            let Some(seconds) = value.as_f64().filter(|&seconds| seconds >= 0.0) else {
                let why = format!("not a reply: its stage `{name}` took {value}, expected seconds");
                return Err(self.child.broken(why));
            };
            *sum = Some(sum.unwrap_or(0.0) + seconds);
        }
        Ok(())
    }

    /// Takes whole steps.
    pub(crate) fn step(
        &mut self,
        step: Step,
        count: u32,
        contacts: &[u8],
    ) -> Result<(), LinkFault> {
        let asked = json!({"dt": step.dt, "iterations": step.iterations, "count": count});
        self.advance("step", asked, contacts, count)
    }

    /// The state as it was sent, its time, and which joints are broken.
    pub(crate) fn read_raw(
        &mut self,
        scene: &Scene,
    ) -> Result<(Vec<u8>, f64, Vec<usize>), LinkFault> {
        let due = block_len(scene, self.form());
        let time = limit(self.child.limits().read_s, due, STATE_PER_S);
        let reply = self.child.ask("read", Map::new(), &[], time, BlockDue::Exactly(due))?;
        let joint = |index: &Value| {
            index.as_u64().filter(|&i| i < scene.joints.len() as u64).map(|i| i as usize)
        };
        let list = reply.keys.get("broken").and_then(Value::as_array);
        let broken: Option<Vec<usize>> = list.and_then(|l| l.iter().map(joint).collect());
        let breaks = |i: &usize| scene.joints[*i].can_break() || self.given_broken.contains(i);
        if let Some(i) = broken.iter().flatten().find(|i| !breaks(i)) {
            let why = format!("not a state: joint {i} cannot break, and is told to be broken");
            return Err(self.child.broken(why));
        }
        let time_s = reply.keys.get("time_s").and_then(Value::as_f64);
        match (time_s, broken) {
            (Some(time_s), Some(broken)) => Ok((reply.block, time_s, broken)),
            (None, _) => Err(self.child.broken("not a reply: it has no `time_s`".to_owned())),
            _ => {
                let why = "not a reply: its `broken` is no list of joints of the scene";
                Err(self.child.broken(why.to_owned()))
            }
        }
    }

    pub(crate) fn read(&mut self, scene: &Scene, out: &mut State) -> Result<(), LinkFault> {
        let (block, time_s, broken) = self.read_raw(scene)?;
        read_block(&block, scene, self.form(), out).map_err(|why| self.child.broken(why))?;
        out.time_s = time_s;
        out.broken.clear();
        out.broken.resize(scene.joints.len(), false);
        broken.into_iter().for_each(|joint| out.broken[joint] = true);
        Ok(())
    }

    /// What joints and contacts exerted in the last step; `false` where the program does not tell.
    pub(crate) fn forces(
        &mut self,
        scene: &Scene,
        out: &mut Multipliers,
    ) -> Result<bool, LinkFault> {
        if !self.hello.forces {
            return Ok(false);
        }
        let [first, each] = forces_len(scene);
        // How many contacts there are is not known here; some for each body is more than most scenes have.
        let expected = first + 16 * each * scene.bodies.len();
        let time = limit(self.child.limits().read_s, expected, STATE_PER_S);
        let due = BlockDue::Each { first, each, most: MOST_FORCES };
        let block = match self.child.ask("forces", Map::new(), &[], time, due) {
            Ok(reply) => reply.block,
            Err(LinkFault::Refused { kind, .. }) if kind == "unknown" => return Ok(false),
            Err(fault) => return Err(fault),
        };
        read_forces(&block, scene, out).map_err(|why| self.child.broken(why))?;
        Ok(true)
    }

    pub(crate) fn ping(&mut self) -> Result<(), LinkFault> {
        let time = limit(self.child.limits().read_s, 0, 1.0);
        self.child.ask("ping", Map::new(), &[], time, BlockDue::NOTHING).map(drop)
    }
}
