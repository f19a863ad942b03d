//! What a recording says of itself in `recording.json`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What was run, where and by what.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct About {
    /// [`crate::FORMAT`].
    pub format: String,
    /// [`crate::VERSION`] of the program that wrote it.
    pub version: u32,
    /// Git revision of that program's sources.
    pub revision: String,
    /// The command line that was given.
    pub command: String,
    /// Facts of the machine.
    pub machine: serde_json::Value,
    /// Name of the scene.
    pub scene: String,
    /// Hash of the expanded scene, hexadecimal: equal for equal physics.
    pub scene_hash: String,
    /// Values of the scene's parameters in force.
    pub parameters: BTreeMap<String, f64>,
    /// Length of a frame [s].
    pub dt_s: f64,
    /// Every how many frames a state was recorded.
    pub every: u32,
    /// The runs, in the order of their folders.
    pub runs: Vec<RecordedRun>,
}

/// One run of a recording.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RecordedRun {
    /// Its name, unique within the recording.
    pub label: String,
    /// Name of the backend.
    pub backend: String,
    /// Settings in force, every default filled in.
    pub settings: String,
    /// What its steps could spend.
    pub budget: Allowance,
    /// How it ended.
    pub status: String,
    /// Why it is not `ok`, or why it stopped early; empty otherwise.
    pub reason: String,
    /// When it was first found to be anything but `ok` [s].
    pub failed_at_s: Option<f64>,
    /// How many states were recorded.
    pub frames: usize,
    /// Names of the columns of `metrics.npy`.
    pub metrics: Vec<String>,
    /// Frames whose iterates were recorded.
    pub iterates: Vec<u32>,
}

/// What a run could spend on a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Allowance {
    /// Iterations per solver step.
    pub iterations: u32,
    /// Solver steps per frame.
    pub substeps: u32,
}
