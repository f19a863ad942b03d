//! Which program to start, how, and how long it may take.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use taut_core::audit::Deviation;

use crate::presets::Presets;

/// A solver that is a program of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// Name of the row.
    pub name: String,
    /// The program and its arguments; no shell reads them.
    pub command: Vec<String>,
    /// Where it is started; where this process is, if none is given.
    pub directory: Option<PathBuf>,
    /// What is set in its environment beside what this process has.
    pub env: BTreeMap<String, String>,
    /// What is set unless a row says otherwise, as the RON text of a struct.
    pub settings: String,
    /// What it is, in one line; made from the command where it is not given.
    pub summary: Option<String>,
    /// The version of the engine that its results are of; any, if none is given.
    pub version: Option<String>,
    /// What its times are of, where not of the engine as it is meant to be built.
    pub timed_as: Option<String>,
    /// What has to be there before it can be started.
    pub environment: Option<ProgramEnvironment>,
    /// Settings that go together, under names.
    pub presets: Option<Presets>,
    /// Where it may depart from a scene, see [`Deviation`].
    pub deviations: Vec<Deviation>,
    /// How long it may take to answer.
    pub limits: Limits,
    /// How many threads it is told to use.
    pub threads: usize,
    /// What it is told to make random numbers of.
    pub seed: u64,
}

impl Program {
    /// A command without settings, with the limits and surroundings that all have.
    pub fn new(name: &str, command: Vec<String>) -> Self {
        Self {
            name: name.to_owned(),
            command,
            directory: None,
            env: BTreeMap::new(),
            settings: "()".to_owned(),
            summary: None,
            version: None,
            timed_as: None,
            environment: None,
            presets: None,
            deviations: Vec::new(),
            limits: Limits::default(),
            threads: 1,
            seed: 0,
        }
    }
}

/// What a program needs beside itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramEnvironment {
    /// A file or folder that is there once all is set up.
    pub path: PathBuf,
    /// The command that sets it up.
    pub setup: String,
}

/// How long a program may take to answer [s] before it is killed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// The handshake: starting and importing an engine.
    pub hello_s: f64,
    /// A scene, beside a second for each megabyte.
    pub scene_s: f64,
    /// The first step after a scene, in which kernels may be compiled.
    pub first_step_s: f64,
    /// Any other step.
    pub step_s: f64,
    /// Taking a state, beside a second for each ten megabytes.
    pub load_s: f64,
    /// Giving a state, likewise.
    pub read_s: f64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            hello_s: 60.0,
            scene_s: 120.0,
            first_step_s: 120.0,
            step_s: 60.0,
            load_s: 10.0,
            read_s: 10.0,
        }
    }
}

/// A limit with what a block of so many bytes adds, where a second is granted for each `per_s` of them.
pub(crate) fn limit(seconds: f64, bytes: usize, per_s: f64) -> Duration {
    Duration::try_from_secs_f64(seconds + bytes as f64 / per_s).unwrap_or(Duration::MAX)
}
