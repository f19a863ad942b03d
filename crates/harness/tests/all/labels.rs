//! Labels against runs judged by hand: `fixtures/labels.ron` says of each what became of it, and why.
//!
//! Most bad runs are bad by construction: a right solver whose answer is spoiled in a known way. A run counts as
//! found where its label is not `ok`.

use std::{collections::BTreeMap, path::Path, sync::Arc, sync::atomic::AtomicBool};

use serde::Deserialize;
use taut::{
    Setup, backends,
    record::RunRow,
    runner::{self, Bench, References, RunOptions},
    spec::Spec,
};
use taut_core::{
    Backend, BuildError, Devices, Info, Iteration, Multipliers, Needs, Scene, Settings, Solver,
    SolverError, State, Step, Vec3, load,
};

/// Share of the labels other than `ok` that are deserved, and share of the bad runs that get one.
const LEAST: f64 = 0.95;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Corpus {
    /// Scenes that are no files, by name.
    scenes: BTreeMap<String, String>,
    runs: Vec<JudgedRun>,
}

/// One run, and what a person says of it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct JudgedRun {
    scene: String,
    #[serde(default)]
    set: BTreeMap<String, f64>,
    /// `NAME[:key=value,..]`.
    backend: String,
    #[serde(default = "twenty")]
    iterations: u32,
    steps: u32,
    #[serde(default)]
    spoiled: Spoil,
    label: String,
    because: String,
    /// Why the label is another one all the same.
    #[serde(default)]
    missed: Option<String>,
}

fn twenty() -> u32 {
    20
}

/// What is done to the answers of a solver.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Spoil {
    /// Nothing.
    #[default]
    Nothing,
    /// It is not told of any joint.
    NoJoints,
    /// It is not told of one joint.
    LosesJoint(usize),
    /// It is not told that bodies touch.
    NoContacts,
    /// Nothing moves any more from this time on [s], and velocities are zero.
    Stops(f64),
    /// The same, with the velocities of that time.
    Sticks(f64),
    /// Velocities grow by this share in every step [1].
    Gains(f64),
    /// At this time all velocities grow by 1000 m/s.
    Kicked(f64),
    /// From this time on a coordinate is not a number [s].
    Blank(f64),
    /// What is shown sinks at this speed [m/s].
    Sinks(f64),
}

#[derive(Debug)]
struct Spoiled {
    info: Info,
    inner: Arc<dyn Backend>,
    spoil: Spoil,
}

impl Backend for Spoiled {
    fn info(&self) -> &Info {
        &self.info
    }

    fn takes(&self) -> Needs {
        self.inner.takes()
    }

    fn build(
        &self,
        scene: &Scene,
        settings: &Settings,
        devices: &dyn Devices,
    ) -> Result<Box<dyn Solver>, BuildError> {
        let mut told = scene.clone();
        match self.spoil {
            Spoil::NoJoints => told.joints.clear(),
            Spoil::LosesJoint(joint) => drop(told.joints.remove(joint)),
            Spoil::NoContacts => told.contacts = None,
            _ => {}
        }
        let inner = self.inner.build(&told, settings, devices)?;
        let (state, dt) = (told.initial_state(), 0.0);
        let joints = scene.joints.len();
        Ok(Box::new(Spoiler { inner, spoil: self.spoil, state, joints, dt, done: false }))
    }
}

struct Spoiler {
    inner: Box<dyn Solver>,
    spoil: Spoil,
    /// As the inner solver has it.
    state: State,
    /// How many the scene has.
    joints: usize,
    dt: f64,
    done: bool,
}

impl Spoiler {
    fn stands(&self) -> bool {
        match self.spoil {
            Spoil::Stops(from) | Spoil::Sticks(from) => self.state.time_s >= from,
            _ => false,
        }
    }

    /// Replaces the state of the inner solver.
    fn change(&mut self, change: impl Fn(&mut Vec3)) -> Result<(), SolverError> {
        self.state.bodies.iter_mut().for_each(|body| change(&mut body.velocity));
        self.state.particles.iter_mut().for_each(|particle| change(&mut particle.velocity));
        self.inner.load(&self.state)
    }
}

impl Solver for Spoiler {
    fn load(&mut self, state: &State) -> Result<(), SolverError> {
        let broken = std::mem::take(&mut self.state.broken);
        self.state.clone_from(state);
        self.state.broken = broken;
        self.done = false;
        self.inner.load(&self.state)
    }

    fn begin_step(&mut self, step: Step) -> Result<(), SolverError> {
        self.dt = step.dt;
        if self.stands() { Ok(()) } else { self.inner.begin_step(step) }
    }

    fn iterate(&mut self) -> Result<(), SolverError> {
        if self.stands() { Ok(()) } else { self.inner.iterate() }
    }

    fn end_step(&mut self) -> Result<(), SolverError> {
        if self.stands() {
            self.state.time_s += self.dt;
            return Ok(());
        }
        self.inner.end_step()?;
        self.inner.read(&mut self.state)?;
        match self.spoil {
            Spoil::Gains(share) => {
                self.state.bodies.iter_mut().for_each(|body| body.frame_rate *= 1.0 + share);
                self.change(|velocity| *velocity *= 1.0 + share)
            }
            Spoil::Kicked(at) if !self.done && self.state.time_s >= at => {
                self.done = true;
                self.change(|velocity| velocity.x += 1000.0)
            }
            Spoil::Stops(_) if self.stands() => {
                let still = |velocity: &mut Vec3| *velocity = Vec3::zeros();
                self.state.bodies.iter_mut().for_each(|body| {
                    still(&mut body.velocity);
                    body.frame_rate *= 0.0;
                });
                self.state.particles.iter_mut().for_each(|p| still(&mut p.velocity));
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn read(&mut self, out: &mut State) -> Result<(), SolverError> {
        out.clone_from(&self.state);
        out.broken.resize(self.joints, false);
        let time = self.state.time_s;
        match self.spoil {
            Spoil::Blank(from) if time >= from => {
                out.bodies.iter_mut().for_each(|body| body.position.x = f64::NAN);
                out.particles.iter_mut().for_each(|particle| particle.position.x = f64::NAN);
            }
            Spoil::Sinks(speed) => {
                let moving = out.bodies.iter_mut().filter(|body| body.velocity != Vec3::zeros());
                moving.for_each(|body| body.position.z -= speed * time);
            }
            _ => {}
        }
        Ok(())
    }

    fn iteration(&self) -> Iteration {
        self.inner.iteration()
    }

    fn read_multipliers(&mut self, out: &mut Multipliers) -> bool {
        let told = self.inner.read_multipliers(out);
        out.joint_force.resize(self.joints, Vec3::zeros());
        out.joint_torque.resize(self.joints, Vec3::zeros());
        told
    }
}

fn corpus() -> Corpus {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/labels.ron");
    let text = std::fs::read_to_string(file).expect("the corpus is there");
    ron::from_str(&text).unwrap_or_else(|error| panic!("labels.ron: {error}"))
}

fn scene(corpus: &Corpus, run: &JudgedRun) -> Scene {
    let set: Vec<(String, f64)> =
        run.set.iter().map(|(key, value)| (key.clone(), *value)).collect();
    let loaded = match corpus.scenes.get(&run.scene) {
        Some(text) => load::load_str(text, &run.scene, &set),
        None => {
            let scenes = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes");
            load::load_file(&scenes.join(format!("{}.ron", run.scene)), &set)
        }
    };
    loaded.unwrap_or_else(|error| panic!("{}: {error}", run.scene)).scene
}

/// Runs it as `taut run` does, without a reference.
fn measure(corpus: &Corpus, run: &JudgedRun) -> RunRow {
    let scene = scene(corpus, run);
    let (name, settings) = run.backend.split_once(':').unwrap_or((&run.backend, ""));
    let table = backends::table();
    let inner = table.get(name).expect("a backend").clone();
    let info = inner.info().clone();
    let spoiled = Spoiled { info, inner, spoil: run.spoiled };
    let setup = Setup { table: table.with(spoiled), ..Setup::default() };
    let never = AtomicBool::new(false);
    let bench = Bench::new(&setup, 1, &never).expect("a thread");
    let mut spec = Spec::new(name, run.iterations);
    spec.settings = Settings::from_ron(format!("({})", settings.replace('=', ":")));
    let options = RunOptions { steps: run.steps, references: References::default(), asked: &[] };
    runner::run(&bench, &scene, &spec, &options, &mut [])
}

fn words(run: &JudgedRun, row: &RunRow) -> String {
    let JudgedRun { scene, backend, spoiled, label, because, .. } = run;
    let summary = |name: &str| row.summary.get(name).map_or(String::new(), |v| format!("{v:.2e}"));
    format!(
        "{scene} {:?}, {backend} {}, {spoiled:?}: {} [{}], judged {label}: {because} | joints {} m, drift {} J of {}, inside {}",
        run.set,
        run.iterations,
        row.status.name(),
        row.reason,
        summary("joint_error_max_m"),
        summary("energy_drift_j"),
        summary("energy_j"),
        summary("penetration_share_max"),
    )
}

#[test]
fn labels_agree_with_a_persons() {
    let corpus = corpus();
    assert!(corpus.runs.len() >= 120, "{} runs", corpus.runs.len());
    let rows: Vec<RunRow> = corpus.runs.iter().map(|run| measure(&corpus, run)).collect();
    let judged = || corpus.runs.iter().zip(&rows);
    let count = |bad: bool, found: bool| {
        let is = |(run, row): &(&JudgedRun, &RunRow)| {
            (run.label != "ok") == bad && (row.status.name() != "ok") == found
        };
        judged().filter(is).count() as f64
    };
    let (right, wrong, missed) = (count(true, true), count(false, true), count(true, false));
    let (precision, recall) = (right / (right + wrong), right / (right + missed));
    let exact = judged().filter(|(run, row)| run.label == row.status.name()).count();
    println!(
        "{} runs, {} bad: precision {precision:.3}, recall {recall:.3}, {exact} with the very label",
        rows.len(),
        right + missed,
    );
    let differ = judged().filter(|(run, row)| run.label != row.status.name());
    for (run, row) in differ {
        println!("- {} ({})", words(run, row), run.missed.as_deref().unwrap_or("NO REASON"));
    }
    assert!(precision >= LEAST && recall >= LEAST);
    let unexplained: Vec<String> = judged()
        .filter(|(run, row)| (run.label != row.status.name()) != run.missed.is_some())
        .map(|(run, row)| words(run, row))
        .collect();
    assert!(unexplained.is_empty(), "neither agreed nor explained:\n{}", unexplained.join("\n"));
}
