//! The JSON document of a verb that measures, written to a file and to standard output alike.

use std::path::Path;

use serde::{Serialize, Serializer, ser::SerializeMap};
use taut_core::{BitHash, Scene, load::Loaded, wire::Versioned};

use super::{RunRow, Status};
use crate::{machine::Machine, spec::Spec};

/// Version of the documents' schema.
pub const SCHEMA: u32 = 1;

/// One measurement of one scene. Numbers that are not finite are `null`.
#[derive(Clone, Debug, Serialize)]
pub struct Document {
    /// [`SCHEMA`].
    pub schema: u32,
    /// `run`, `trace` or `time`.
    pub verb: &'static str,
    /// The command line that was given.
    pub command: String,
    /// What was simulated.
    #[serde(flatten)]
    pub scene: SceneFacts,
    /// Where and by what.
    pub machine: Machine,
    /// What trajectories are compared with.
    #[serde(flatten)]
    pub references: ReferenceDocument,
    /// One row for everything asked for, in that order.
    pub runs: Vec<RunRow>,
    /// The files written.
    pub files: Vec<String>,
}

/// What was simulated.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SceneFacts {
    /// Name of the scene.
    pub scene: String,
    /// Where it was loaded from.
    pub scene_file: String,
    /// Values of its parameters in force.
    #[serde(serialize_with = "pairs")]
    pub parameters: Vec<(String, f64)>,
    /// What the loader found worth telling.
    pub warnings: Vec<String>,
    /// Length of a frame [s].
    pub dt_s: f64,
    /// How many of each there are.
    pub counts: SceneCounts,
}

impl SceneFacts {
    /// Those of a scene and of the file that it was loaded from.
    pub fn of(loaded: &Loaded, file: &Path) -> Self {
        Self {
            scene: loaded.scene.name.clone(),
            scene_file: file.display().to_string(),
            parameters: loaded.parameters.clone(),
            warnings: loaded.warnings.clone(),
            dt_s: loaded.scene.dt,
            counts: SceneCounts::of(&loaded.scene),
        }
    }
}

/// How much there is in a scene.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SceneCounts {
    /// Rigid bodies, movable or not.
    pub bodies: usize,
    /// Those moved by forces.
    pub dynamic_bodies: usize,
    /// Point masses.
    pub particles: usize,
    /// Joints.
    pub joints: usize,
    /// Springs.
    pub springs: usize,
    /// Triangles of elastic material.
    #[serde(skip_serializing_if = "is_zero")]
    pub triangles: usize,
    /// Edges along which triangles resist being folded.
    #[serde(skip_serializing_if = "is_zero")]
    pub bends: usize,
    /// Tetrahedra of solid elastic material.
    #[serde(skip_serializing_if = "is_zero")]
    pub tetrahedra: usize,
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl SceneCounts {
    /// Counts what `scene` holds.
    pub fn of(scene: &Scene) -> Self {
        Self {
            bodies: scene.bodies.len(),
            dynamic_bodies: scene.bodies.iter().filter(|b| b.is_dynamic()).count(),
            particles: scene.particles.len(),
            joints: scene.joints.len(),
            springs: scene.springs.len(),
            triangles: scene.triangles.len(),
            bends: scene.bends.len(),
            tetrahedra: scene.tetrahedra.len(),
        }
    }
}

/// What trajectories are compared with.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ReferenceDocument {
    /// The reference; `null` where there is none.
    pub reference: Option<ReferenceFacts>,
    /// The motion without steps; `null` where nobody asked for it.
    pub motion: Option<MotionFacts>,
}

impl ReferenceDocument {
    /// Lines for people.
    pub fn describe(&self) -> String {
        let mut text = String::new();
        if let Some(reference) =
            self.reference.as_ref().filter(|r| r.status != Status::Ok || !r.is_motion)
        {
            let ReferenceFacts { backend, substeps, status, .. } = reference;
            text +=
                &format!("reference: {backend} with {substeps} substep(s), {}\n", status.name());
        }
        match &self.motion {
            None => {}
            Some(MotionFacts { error_max_m: Some(error), substeps, .. }) => {
                let substeps: Vec<String> = substeps.iter().map(u32::to_string).collect();
                let substeps = substeps.join(", ");
                text += &format!(
                    "true motion: newton extrapolated from {substeps} substeps, off by at most {error:.1e} m\n"
                );
            }
            Some(MotionFacts { reason, .. }) => text += &format!("true motion: none, {reason}\n"),
        }
        text
    }
}

/// The motion without steps, to which `distance_to_motion_m` is measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MotionFacts {
    /// Steps per frame of the runs from which it is extrapolated.
    pub substeps: Vec<u32>,
    /// How far it may be from the truth at most [m]; `null` where it could not be found.
    pub error_max_m: Option<f64>,
    /// Why it could not be found.
    pub reason: String,
}

/// What trajectories are compared with.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReferenceFacts {
    /// Name of the backend.
    pub backend: String,
    /// Its settings in force, as RON.
    pub settings: String,
    /// Iterations per solver step.
    pub iterations: u32,
    /// Solver steps per frame.
    pub substeps: u32,
    /// How its run ended; where it is not `ok`, the comparisons end with it or mean little.
    pub status: Status,
    /// Why it is not `ok`.
    pub reason: String,
    /// Whether it is the motion without steps, extrapolated from runs of which this is the finest.
    pub is_motion: bool,
}

impl ReferenceFacts {
    /// The facts of a reference run.
    pub fn of(spec: &Spec, row: &RunRow) -> Self {
        Self {
            backend: spec.backend.clone(),
            settings: row.settings.clone(),
            iterations: spec.iterations,
            substeps: spec.substeps,
            status: row.status,
            reason: row.reason.clone(),
            is_motion: false,
        }
    }
}

fn pairs<S: Serializer>(pairs: &[(String, f64)], serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(pairs.len()))?;
    for (name, value) in pairs {
        map.serialize_entry(name, value)?;
    }
    map.end()
}

/// Hash of an expanded scene, hexadecimal: equal for equal physics.
///
/// # Errors
/// When the scene cannot be written as JSON.
pub(crate) fn scene_hash(scene: &Scene) -> anyhow::Result<String> {
    let mut hash = BitHash::default();
    hash.text(&serde_json::to_string(&Versioned::new(scene))?);
    Ok(format!("{:016x}", hash.value()))
}
