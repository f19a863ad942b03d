//! What an engine compiled against what the scene says.
//!
//! Defaults change physics in silence: damping of some percent a second, speeds that are capped, inertia of a hull
//! where the scene gives its own. So an engine tells what it holds, read from its own arrays, and this is compared with
//! the scene before anything runs.

use serde::{Deserialize, Serialize};

use crate::{
    Scene,
    constraint::{free_coordinate, locked_rows},
    math::{Mat3, Vec3},
    scene::{Body, Joint},
};

/// What remains to be told of an engine whose own arrays agree with the scene, or depart from it for a stated reason.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AuditFacts {
    /// Tolerances, counts and switches in force under the engine's own names, as RON text.
    pub effective: String,
    /// How the engine holds joints, each law once, in its own words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub laws: Vec<String>,
    /// Where it departs from the scene, with the reason.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub deviations: Vec<String>,
    /// What it does not tell, so that nobody could compare it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub untold: Vec<String>,
}

impl AuditFacts {
    /// What stands beside the status of a row; empty where all was told and agrees.
    pub fn mark(&self) -> &'static str {
        match (self.deviations.is_empty(), self.untold.is_empty()) {
            (true, true) => "",
            (false, _) => ", deviates",
            (true, false) => ", partly audited",
        }
    }
}

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

/// What an engine compiled; what is left out is not compared. SI units; vectors in the coordinates that the scene uses.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct CompiledScene {
    /// Gravity [m/s^2].
    pub gravity: Option<[f64; 3]>,
    /// The numbers that it calculates with.
    pub precision: Option<AuditPrecision>,
    /// Whether bodies may sleep.
    pub sleeping: Option<bool>,
    /// Damping of velocities, zero where there is none, in the engine's own measure.
    pub damping_linear: Option<f64>,
    /// The same of angular velocities.
    pub damping_angular: Option<f64>,
    /// Bound of speeds [m/s]; `Some(None)` where they have none.
    #[serde(deserialize_with = "told")]
    pub speed_max: Option<Option<f64>>,
    /// Whether bodies turn by their inertia.
    pub gyroscopic: Option<bool>,
    /// All bodies of the scene, in its order.
    pub bodies: Option<Vec<CompiledBody>>,
    /// All joints of the scene, in its order.
    pub joints: Option<Vec<CompiledJoint>>,
}

/// The numbers that an engine calculates with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AuditPrecision {
    /// Single precision, which is allowed its rounding.
    F32,
    /// Double precision.
    F64,
}

/// A body that no force moves has the mass 0 or `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct CompiledBody {
    /// Mass [kg].
    pub mass: Option<f64>,
    /// Centre of mass from that of the scene [m].
    pub centre: Option<[f64; 3]>,
    /// Inertia about it in body axes, by rows [kg m^2].
    pub inertia: Option<[f64; 9]>,
}

/// A joint as the engine holds it.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct CompiledJoint {
    /// How, in the engine's own words, where it is not by rows as the scene says.
    pub law: Option<String>,
    /// How many rows it holds at a value [1].
    pub rows: Option<usize>,
    /// Anchor on A [m].
    pub anchor_a: Option<[f64; 3]>,
    /// Anchor on B [m].
    pub anchor_b: Option<[f64; 3]>,
    /// Axis of the free coordinate, in the coordinates of B.
    pub axis: Option<[f64; 3]>,
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

impl CompiledScene {
    /// Compares all that is told with a scene.
    ///
    /// # Errors
    /// The first disagreement that is not among the deviations.
    pub fn agree(&self, scene: &Scene, deviations: &[Deviation]) -> Result<AuditFacts, String> {
        let tolerance = if self.precision == Some(AuditPrecision::F32) { 1e-5 } else { 1e-9 };
        let mut findings = Findings { deviations, tolerance, facts: AuditFacts::default() };
        self.world(scene, &mut findings)?;
        self.of_bodies(scene, &mut findings)?;
        self.of_joints(scene, &mut findings)?;
        Ok(findings.facts)
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

impl CompiledBody {
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

impl CompiledJoint {
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
