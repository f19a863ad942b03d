//! What an engine compiled against what the scene says.
//!
//! Defaults change physics in silence: damping of some percent a second, speeds that are capped, inertia of a hull
//! where the scene gives its own. So a program may tell what its engine holds, read from the engine's own arrays, and
//! this is compared with the scene before anything runs.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};
use taut_core::{
    AuditFacts, Mat3, Scene, Vec3,
    constraint::{free_coordinate, locked_rows},
    scene::{Body, Joint},
};

use crate::settings::to_ron;

/// What is compared, by the names under which deviations are listed.
pub const AUDIT_ITEMS: &[&str] = &[
    "gravity",
    "damping_linear",
    "damping_angular",
    "sleeping",
    "speed_max",
    "gyroscopic",
    "body.count",
    "body.mass",
    "body.centre",
    "body.inertia",
    "joint.count",
    "joint.rows",
    "joint.anchor_a",
    "joint.anchor_b",
    "joint.axis",
];

/// A departure from the scene that is known, and why it is.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Deviation {
    /// One of [`AUDIT_ITEMS`].
    pub item: String,
    /// One sentence.
    pub reason: String,
}

/// The answer to `audit`: what is left out is not compared. SI units; vectors in the coordinates that the scene uses.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(crate) struct Audit {
    gravity: Option<[f64; 3]>,
    precision: Option<AuditPrecision>,
    threads: Option<u32>,
    sleeping: Option<bool>,
    damping_linear: Option<f64>,
    damping_angular: Option<f64>,
    /// `Some(None)` where speeds have no bound.
    #[serde(deserialize_with = "told")]
    speed_max: Option<Option<f64>>,
    gyroscopic: Option<bool>,
    bodies: Option<Vec<AuditedBody>>,
    joints: Option<Vec<AuditedJoint>>,
    contacts: Option<Value>,
    effective: Map<String, Value>,
    /// How much was used at most since the last `load`, and how much there is.
    capacity: BTreeMap<String, [u64; 2]>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum AuditPrecision {
    F32,
    F64,
}

/// A body that no force moves has the mass 0 or `null`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
struct AuditedBody {
    mass: Option<f64>,
    /// From the scene's centre of mass.
    centre: Option<[f64; 3]>,
    inertia: Option<[f64; 9]>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
struct AuditedJoint {
    law: Option<String>,
    rows: Option<usize>,
    anchor_a: Option<[f64; 3]>,
    anchor_b: Option<[f64; 3]>,
    /// Of the free coordinate, in the coordinates of B.
    axis: Option<[f64; 3]>,
}

/// Tells `null` from a key that is not there.
fn told<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<Option<f64>>, D::Error> {
    Option::deserialize(from).map(Some)
}

/// What was found while comparing.
struct Findings<'a> {
    deviations: &'a [Deviation],
    /// Relative.
    tolerance: f64,
    facts: AuditFacts,
}

impl Findings<'_> {
    /// What disagrees is an error, unless it is listed; of each item the first is told then.
    fn differs(&mut self, item: &str, words: String) -> Result<(), String> {
        let listed = self.deviations.iter().find(|deviation| deviation.item == item);
        let reason = &listed.ok_or(format!("audit: {words}"))?.reason;
        let ending = format!(" ({reason})");
        if !self.facts.deviations.iter().any(|told| told.ends_with(&ending)) {
            self.facts.deviations.push(words + &ending);
        }
        Ok(())
    }

    fn untold(&mut self, item: &str) {
        if !self.facts.untold.iter().any(|told| told == item) {
            self.facts.untold.push(item.to_owned());
        }
    }

    /// How many `things` there are, and are to be.
    fn count(&mut self, item: &str, things: &str, [found, due]: [usize; 2]) -> Result<(), String> {
        if found == due {
            return Ok(());
        }
        self.differs(item, format!("there are {found} {things}, the scene has {due}"))
    }

    /// A vector against that of the scene; `size` is what its tolerance is relative to.
    fn vector(
        &mut self,
        item: &str,
        found: Option<[f64; 3]>,
        due: Vec3,
        size: f64,
        words: impl Fn(&str, &str) -> String,
    ) -> Result<(), String> {
        let Some(found) = found.map(Vec3::from) else {
            self.untold(item);
            return Ok(());
        };
        if (found - due).norm() <= self.tolerance * size {
            return Ok(());
        }
        self.differs(item, words(&vector(&found), &vector(&due)))
    }
}

fn vector(v: &Vec3) -> String {
    format!("({}, {}, {})", v.x, v.y, v.z)
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
        let tolerance = if self.precision == Some(AuditPrecision::F32) { 1e-5 } else { 1e-9 };
        let mut findings = Findings { deviations, tolerance, facts: AuditFacts::default() };
        self.world(scene, &mut findings)?;
        self.of_bodies(scene, &mut findings)?;
        self.of_joints(scene, &mut findings)?;
        let contacts = self.contacts.as_ref().filter(|_| scene.contacts.is_some());
        let law = contacts.and_then(|contacts| contacts.get("law")?.as_str());
        findings.facts.laws.extend(law.map(str::to_owned));
        let mut effective = self.effective.clone();
        let precision = self.precision.map(|precision| match precision {
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
        findings.facts.effective = to_ron(&effective);
        Ok(findings.facts)
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

    fn world(&self, scene: &Scene, findings: &mut Findings<'_>) -> Result<(), String> {
        let gravity = scene.gravity;
        let words =
            |found: &str, due: &str| format!("gravity is {found} m/s^2, the scene says {due}");
        findings.vector("gravity", self.gravity, gravity, gravity.norm().max(1.0), words)?;
        for (item, found) in
            [("damping_linear", self.damping_linear), ("damping_angular", self.damping_angular)]
        {
            match found {
                None => findings.untold(item),
                Some(0.0) => {}
                Some(found) => {
                    findings.differs(item, format!("{item} is {found}, the scene has none"))?;
                }
            }
        }
        match self.sleeping {
            None => findings.untold("sleeping"),
            Some(false) => {}
            Some(true) => {
                findings
                    .differs("sleeping", "bodies may sleep, in the scene none does".to_owned())?;
            }
        }
        if let Some(Some(cap)) = self.speed_max {
            let words = format!("speeds end at {cap} m/s, in the scene nowhere");
            findings.differs("speed_max", words)?;
        }
        if self.gyroscopic == Some(false) {
            let words = "nothing turns by its inertia, in the scene all does".to_owned();
            findings.differs("gyroscopic", words)?;
        }
        Ok(())
    }

    fn of_bodies(&self, scene: &Scene, findings: &mut Findings<'_>) -> Result<(), String> {
        let Some(bodies) = &self.bodies else {
            if !scene.bodies.is_empty() {
                let items = ["body.mass", "body.centre", "body.inertia"];
                items.iter().for_each(|item| findings.untold(item));
            }
            return Ok(());
        };
        findings.count("body.count", "bodies", [bodies.len(), scene.bodies.len()])?;
        for (index, (found, body)) in bodies.iter().zip(&scene.bodies).enumerate() {
            found.compare(index, body, findings)?;
        }
        Ok(())
    }

    fn of_joints(&self, scene: &Scene, findings: &mut Findings<'_>) -> Result<(), String> {
        let Some(joints) = &self.joints else {
            if !scene.joints.is_empty() {
                let items = ["joint.rows", "joint.anchor_a", "joint.anchor_b"];
                items.iter().for_each(|item| findings.untold(item));
            }
            return Ok(());
        };
        findings.count("joint.count", "joints", [joints.len(), scene.joints.len()])?;
        for (index, (found, joint)) in joints.iter().zip(&scene.joints).enumerate() {
            found.compare(index, joint, findings)?;
        }
        Ok(())
    }
}

impl AuditedBody {
    fn compare(&self, index: usize, body: &Body, out: &mut Findings<'_>) -> Result<(), String> {
        let mass = self.mass.unwrap_or(0.0);
        if !body.is_dynamic() {
            if mass != 0.0 {
                let words =
                    format!("body {index} weighs {mass} kg, in the scene no force moves it");
                out.differs("body.mass", words)?;
            }
            return Ok(());
        }
        match self.mass {
            None => out.untold("body.mass"),
            Some(found) if (found - body.mass).abs() <= out.tolerance * body.mass => {}
            Some(found) => {
                let words = format!("body {index} weighs {found} kg, the scene says {}", body.mass);
                out.differs("body.mass", words)?;
            }
        }
        // Of the size of what turns with it.
        let size = (body.inertia.trace() / body.mass).sqrt().max(1e-3);
        let words = |found: &str, _: &str| {
            format!("the centre of mass of body {index} is at {found} m, the scene says at 0")
        };
        out.vector("body.centre", self.centre, Vec3::zeros(), size, words)?;
        let Some(inertia) = self.inertia else {
            out.untold("body.inertia");
            return Ok(());
        };
        let off = (Mat3::from_row_slice(&inertia) - body.inertia).norm();
        if off <= out.tolerance * body.inertia.norm() {
            return Ok(());
        }
        let share = 100.0 * off / body.inertia.norm();
        out.differs("body.inertia", format!("the inertia of body {index} is {share:.2e} % off"))
    }
}

impl AuditedJoint {
    fn compare(&self, index: usize, joint: &Joint, out: &mut Findings<'_>) -> Result<(), String> {
        if let Some(law) = self.law.as_ref().filter(|law| !out.facts.laws.contains(law)) {
            out.facts.laws.push(law.clone());
        }
        let due = locked_rows(joint).count();
        match self.rows {
            None => out.untold("joint.rows"),
            Some(rows) if rows == due => {}
            Some(rows) => {
                let words = format!("joint {index} holds {rows} rows, the scene says {due}");
                out.differs("joint.rows", words)?;
            }
        }
        let anchors = [("a", self.anchor_a, joint.anchor_a), ("b", self.anchor_b, joint.anchor_b)];
        for (side, found, due) in anchors {
            let words = |found: &str, due: &str| {
                format!("anchor {side} of joint {index} is at {found} m, the scene says {due}")
            };
            let item = if side == "a" { "joint.anchor_a" } else { "joint.anchor_b" };
            out.vector(item, found, due, due.norm().max(1.0), words)?;
        }
        if self.axis.is_some() && free_coordinate(joint.kind).is_some() {
            let words = |found: &str, due: &str| {
                format!("the axis of joint {index} is {found} on B, the scene says {due}")
            };
            out.vector("joint.axis", self.axis, joint.basis_b * Vec3::x(), 1.0, words)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use taut_core::scene::{Endpoint, JointKind};

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
