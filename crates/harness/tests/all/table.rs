//! The program on a table of other backends, as a third party would run it.

use std::{ffi::OsString, fs, path::Path};

use serde_json::Value;
use taut::Setup;
use taut_core::{
    Info, Native, Needs, Scene, Solver, SolverError, State, Step, Table, backend::Build,
};

/// Falls freely; panics or gives up numbers in its third step if told so.
struct Faller {
    state: State,
    scene: Scene,
    dt: f64,
    steps: u32,
    end: End,
}

#[derive(Clone, Copy, PartialEq)]
enum End {
    Good,
    Panic,
    Nan,
}

impl Solver for Faller {
    fn load(&mut self, state: &State) -> Result<(), SolverError> {
        self.state.clone_from(state);
        self.steps = 0;
        Ok(())
    }

    fn begin_step(&mut self, step: Step) -> Result<(), SolverError> {
        (self.dt, self.steps) = (step.dt, self.steps + 1);
        assert!(self.end != End::Panic || self.steps < 3, "third step");
        Ok(())
    }

    fn iterate(&mut self) -> Result<(), SolverError> {
        Ok(())
    }

    fn end_step(&mut self) -> Result<(), SolverError> {
        for body in &mut self.state.bodies {
            body.velocity += self.scene.gravity * self.dt;
            body.position += body.velocity * self.dt;
            if self.end == End::Nan && self.steps == 3 {
                body.position.x = f64::NAN;
            }
        }
        self.state.time_s += self.dt;
        Ok(())
    }

    fn read(&mut self, out: &mut State) -> Result<(), SolverError> {
        out.clone_from(&self.state);
        Ok(())
    }
}

fn faller(scene: &Scene, end: End) -> Box<dyn Solver> {
    let (state, scene) = (scene.initial_state(), scene.clone());
    Box::new(Faller { state, scene, dt: 0.0, steps: 0, end })
}

fn row(name: &'static str, build: Build) -> Native {
    Native { info: Info::new(name, "", ""), takes: Needs::ALL, refuses: |_| Ok(()), build }
}

fn setup() -> Setup {
    let table = Table::default()
        .with(row("panics", |scene, _, _| Ok(faller(scene, End::Panic))))
        .with(row("diverges", |scene, _, _| Ok(faller(scene, End::Nan))))
        .with(row("good", |scene, _, _| Ok(faller(scene, End::Good))));
    Setup { table, ..Setup::default() }
}

fn run(backends: &[&str], out: &Path) -> (u8, Value) {
    let scene = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/free-fall.ron");
    let fixed = ["taut", "run", scene.to_str().unwrap(), "--steps", "5", "--out"];
    let mut arguments: Vec<OsString> = fixed.iter().map(OsString::from).collect();
    arguments.push(out.into());
    for backend in backends {
        arguments.extend(["-b".into(), backend.into()]);
    }
    let status = taut::execute(&setup(), arguments);
    let text = fs::read_to_string(out.join("run.json")).unwrap();
    (status, serde_json::from_str(&text).unwrap())
}

#[test]
fn a_panic_and_a_divergence_are_rows_and_the_others_finish() {
    let dir = tempfile::tempdir().unwrap();
    let (status, json) = run(&["panics", "diverges", "good"], dir.path());
    assert_eq!(status, 0);
    let row = |i: usize| &json["runs"][i];
    assert_eq!((&row(0)["status"], &row(0)["steps"]), (&"failed".into(), &2.into()));
    let reason = row(0)["reason"].as_str().unwrap();
    assert!(reason.starts_with("panicked: third step at "), "{reason}");
    assert!(reason.contains("table.rs"), "{reason}");
    assert_eq!((&row(1)["status"], &row(1)["steps"]), (&"diverged".into(), &2.into()));
    assert_eq!((&row(2)["status"], &row(2)["steps"]), (&"ok".into(), &5.into()));
    let frames = fs::read_to_string(dir.path().join("frames.csv")).unwrap();
    assert_eq!(frames.lines().count(), 1 + 2 + 2 + 5);
}

#[test]
fn only_failures_are_status_3_but_a_divergence_is_a_result() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(run(&["panics"], dir.path()).0, 3);
    assert_eq!(run(&["diverges"], dir.path()).0, 0);
}
