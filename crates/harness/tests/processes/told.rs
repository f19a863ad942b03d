//! What solvers in other processes tell beside the motion: forces, words, times of stages, and where they compute.

use std::{collections::BTreeSet, fs, path::Path, sync::atomic::AtomicBool};

use serde_json::Value;
use taut::{
    Setup, backends,
    record::{RunRow, Status},
    runner::{self, Bench, References, RunOptions},
    spec::Spec,
};
use taut_core::{
    Backend, Multipliers, NoDevices, Scene, Settings, Solver, Stage, State, Step, Vec3,
    protocol::{BodyForm, write_block, write_forces},
    scene::JointKind,
};
use taut_exec::ExecBackend;
use taut_fixtures::{cube, floor, pin, touching};

use super::{PYTHON, errors, fixture, is_here, program, taut};

const STEPS: u32 = 4;
const ITERATIONS: u32 = 1;

/// A cube that slides on a floor, and one that hangs and swings beside it.
fn scene() -> Scene {
    let (mut sliding, mut swinging) = (cube(0.499), cube(3.0));
    sliding.velocity = Vec3::new(1.0, 0.2, 0.0);
    swinging.omega = Vec3::new(0.0, 1.0, 0.0);
    let mut scene = touching(9.81, vec![floor(0.5), sliding, swinging]);
    let pin = pin(JointKind::Ball, Vec3::new(0.5, 0.0, 4.0), 2, Vec3::new(0.5, 0.0, 1.0));
    scene.joints = vec![pin];
    scene
}

/// A solver that was loaded with the initial state of a scene.
fn loaded(backend: &dyn Backend, scene: &Scene) -> Box<dyn Solver> {
    let mut solver = backend.build(scene, &Settings::default(), &NoDevices).expect("it builds");
    solver.load(&scene.initial_state()).expect("it is loaded");
    solver
}

/// The forces of each step; what there is of state and forces is written into a folder, where there is one.
fn forces(backend: &dyn Backend, scene: &Scene, folder: Option<&Path>) -> Vec<Multipliers> {
    let mut solver = loaded(backend, scene);
    let (mut state, mut block) = (State::default(), Vec::new());
    let mut all = Vec::new();
    for number in 1..=STEPS {
        solver.advance(Step { dt: scene.dt, iterations: ITERATIONS }, 1).unwrap();
        solver.read(&mut state).unwrap();
        let mut forces = Multipliers::default();
        assert!(solver.read_multipliers(&mut forces), "step {number}");
        if let Some(folder) = folder {
            write_block(&state, BodyForm::Affine, &mut block);
            fs::write(folder.join(format!("state-{number}")), &block).unwrap();
            write_forces(&forces, &mut block);
            fs::write(folder.join(format!("forces-{number}")), &block).unwrap();
        }
        all.push(forces);
    }
    all
}

fn row(setup: &Setup, name: &str) -> RunRow {
    let never = AtomicBool::new(false);
    let bench = Bench::new(setup, 1, &never).expect("a thread");
    let options = RunOptions { steps: STEPS, references: References::default(), asked: &[] };
    runner::run(&bench, &scene(), &Spec::new(name, ITERATIONS), &options, &mut [])
}

/// The standard table with a row `child` for a mode of the fixture.
fn setup(child: ExecBackend) -> Setup {
    Setup { table: backends::table().with(child), ..Setup::default() }
}

#[test]
fn forces_and_their_metrics_are_those_of_a_backend_in_process() {
    if !is_here(PYTHON) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let scene = scene();
    let due = forces(&taut_newton::BACKEND, &scene, Some(folder.path()));
    for forces in &due {
        assert!(forces.joint_force[0].norm() > 1.0 && !forces.contacts.is_empty());
        assert!(forces.contacts[0].force.norm() > 0.1);
    }
    let mut program = program("replay");
    let record = folder.path().to_str().unwrap().to_owned();
    program.env.insert("RECORD".to_owned(), record);
    let child = ExecBackend::new(program);
    assert_eq!(forces(&child, &scene, None), due);

    let mut none = Multipliers::default();
    let mut solver = loaded(&child, &scene);
    assert!(!solver.read_multipliers(&mut none), "there are none before a step");
    solver.check_capacity().expect("it was not asked");
    solver.advance(Step { dt: scene.dt, iterations: ITERATIONS }, 2).unwrap();
    assert!(solver.read_multipliers(&mut none) && none == due[1], "of the last of two steps");
    solver.load(&scene.initial_state()).unwrap();
    assert!(!solver.read_multipliers(&mut none), "loading forgets them");
    solver.check_capacity().expect("it was not asked");
    drop(solver);

    let setup = setup(child);
    let names = [taut_newton::BACKEND.info.name.clone(), "child".into()];
    let [here, there] = names.map(|name| row(&setup, &name));
    assert_eq!((there.status, there.reason.as_str()), (here.status, here.reason.as_str()));
    assert_eq!(there.frames.len(), STEPS as usize);
    let mut of_forces = 0;
    for (here, there) in here.frames.iter().zip(&there.frames) {
        for (name, value) in &here.metrics {
            let told = there.metrics.iter().find(|(other, _)| other == name);
            // What a solver tells of its own work is no force.
            let Some((_, told)) = told else { continue };
            assert_eq!(told.to_bits(), value.to_bits(), "{name}");
            of_forces += u32::from(name.starts_with("friction_cone"));
        }
    }
    assert_eq!(of_forces, STEPS);
}

#[test]
fn a_wrong_block_of_forces_fails_the_row_and_none_leaves_it_as_it_was() {
    if !is_here(PYTHON) {
        return;
    }
    let wrong = row(&setup(ExecBackend::new(program("misforced"))), "child");
    let due = "not a reply: a block of 100 bytes where 48 and 208 for each contact are due, in forces after 1 step";
    assert_eq!(wrong.status, Status::Failed);
    assert!(wrong.reason.contains(due), "{}", wrong.reason);
    let [unknown, silent] =
        ["unforced", "null"].map(|mode| row(&setup(ExecBackend::new(program(mode))), "child"));
    assert!(unknown.status.is_measured(), "{}", unknown.reason);
    assert_eq!((unknown.status, &unknown.frames), (silent.status, &silent.frames));
    let has_forces = |row: &RunRow| {
        row.frames[0].metrics.iter().any(|(name, _)| name.starts_with("friction_cone"))
    };
    assert!(!has_forces(&unknown));
    // The fault of the last step is told, too, after which nothing else is asked.
    let child = ExecBackend::new(program("misforced"));
    let mut solver = loaded(&child, &scene());
    solver.advance(Step { dt: 0.01, iterations: 1 }, 3).unwrap();
    assert!(!solver.read_multipliers(&mut Multipliers::default()));
    let said = solver.check_capacity().unwrap_err().to_string();
    assert!(said.contains("in forces after 3 steps"), "{said}");
    let again = solver.read(&mut State::default()).unwrap_err().to_string();
    assert_eq!(again, said);
}

/// Runs a verb on a scene and returns its document.
fn document(verb: &str, scene: &str, out: &Path, arguments: &[&str]) -> Value {
    let all = [&[verb, scene, "--json", "--out", out.to_str().unwrap()], arguments].concat();
    let output = taut(&all);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", errors(&output)))
}

fn child(label: &str, mode: &str) -> String {
    format!("{label}=exec:{PYTHON} '{}' {mode}", fixture())
}

#[test]
fn what_a_process_says_is_in_the_file_of_its_row() {
    if !is_here(PYTHON) {
        return;
    }
    let out = tempfile::tempdir().unwrap();
    let rows = [("A 1", "talks"), ("B", "talks"), ("quiet", "null"), ("gone", "traceback")]
        .map(|(label, mode)| child(label, mode));
    let mut arguments = vec!["--steps", "2", "--reference", "none"];
    rows.iter().for_each(|row| arguments.extend(["-b", row]));
    fs::write(out.path().join("B.log"), "of an earlier run").unwrap();
    let document = document("run", "free-fall", out.path(), &arguments);
    let log = |name: &str| fs::read_to_string(out.path().join(name)).unwrap();
    let first = log("A_1.log");
    let lines: Vec<&str> = first.lines().map(|line| line.split(" in ").next().unwrap()).collect();
    // What was said when the row was checked comes with the first that runs.
    assert!(lines[0].starts_with("hello of "), "{first}");
    assert_eq!(lines[1..], ["scene 1", "scene 2", "step of scene 2", "step of scene 2"]);
    assert_eq!(log("B.log").lines().count(), 3, "{}", log("B.log"));
    assert!(log("B.log").starts_with("scene 3\n"), "{}", log("B.log"));
    assert!(!out.path().join("quiet.log").exists(), "it said nothing");
    assert_eq!(
        log("gone.log"),
        "Traceback (most recent call last):\n  solver.py, line 1\nNoEngine: x\n"
    );
    let reason = document["runs"][3]["reason"].as_str().unwrap();
    assert!(reason.ends_with("its last words: NoEngine: x"), "{reason}");
    let files: Vec<&str> =
        document["files"].as_array().unwrap().iter().map(|file| file.as_str().unwrap()).collect();
    for (name, there) in [("A_1.log", 1), ("B.log", 1), ("gone.log", 1), ("quiet.log", 0)] {
        assert_eq!(files.iter().filter(|file| file.ends_with(name)).count(), there, "{files:?}");
    }
}

#[test]
fn times_are_those_of_new_processes() {
    if !is_here(PYTHON) {
        return;
    }
    let out = tempfile::tempdir().unwrap();
    let row = child("T", "talks");
    let times = ["-b", &row, "--samples", "3", "--limit", "0.01", "--blocks", "2"];
    let document = document("time", "free-fall", out.path(), &times);
    assert_eq!(document["runs"][0]["in_turn"]["samples_s"].as_array().unwrap().len(), 2);
    let log = fs::read_to_string(out.path().join("T.log")).unwrap();
    let steps: BTreeSet<&str> = log.lines().filter(|line| line.starts_with("step ")).collect();
    // All of a process says the same. One of them for the row, and for each block one and one against itself.
    assert_eq!(steps.len(), 1 + 2 * 2, "{steps:?}");
    assert!(steps.iter().all(|line| line.starts_with("step of scene 1 in ")), "{steps:?}");
}

#[test]
fn stages_are_those_that_the_process_tells() {
    if !is_here(PYTHON) {
        return;
    }
    let out = tempfile::tempdir().unwrap();
    let [told, wrong] = [("S", "staged"), ("W", "misstaged")].map(|(l, mode)| child(l, mode));
    let rows = ["-b", &told, "-b", &wrong];
    let times = ["--samples", "3", "--limit", "0.01", "--blocks", "0"];
    let document = document("time", "free-fall", out.path(), &[&rows[..], &times].concat());
    let stages = &document["runs"][0]["times"]["stages"];
    for (name, due) in [("collide", 1e-7), ("prepare", 2e-7), ("iterate", 3e-7), ("finish", 4e-7)] {
        assert_eq!(stages[name].as_f64(), Some(due), "{stages}");
    }
    let reason = document["runs"][1]["reason"].as_str().unwrap();
    assert!(reason.contains("its stage `iterate` took -1, expected seconds, in step"), "{reason}");
}

#[test]
fn a_process_tells_how_often_it_iterated() {
    if !is_here(PYTHON) {
        return;
    }
    let told = |mode: &str| {
        let child = ExecBackend::new(program(mode));
        let mut solver = loaded(&child, &scene());
        let before = solver.report().iterations_used;
        let stepped = solver.advance(Step { dt: 0.01, iterations: 3 }, 2);
        (before, stepped.map(|()| solver.report().iterations_used))
    };
    assert_eq!(told("counted"), (None, Ok(Some(6))));
    assert_eq!(told("null"), (None, Ok(None)));
    let (_, wrong) = told("miscounted");
    let words = wrong.unwrap_err().to_string();
    assert!(words.contains("its `iterations_used` is 1.5, expected a count, in step"), "{words}");
}

#[test]
fn parts_of_a_step_tell_stages_of_their_own() {
    if !is_here(PYTHON) {
        return;
    }
    let child = ExecBackend::new(program("parts"));
    let mut solver = loaded(&child, &scene());
    let mut times = Vec::new();
    for iterations in [3, 1] {
        solver.begin_step(Step { dt: 0.01, iterations }).unwrap();
        (0..iterations).for_each(|_| solver.iterate().unwrap());
        solver.end_step().unwrap();
        times.clear();
        solver.drain_times(&mut times);
        let told: Vec<(Stage, f64)> = times.iter().map(|t| (t.stage, t.seconds)).collect();
        let iterate = (Stage::Iterate, 2.0 * f64::from(iterations));
        let [collide, prepare] = [(Stage::Collide, 0.5), (Stage::Prepare, 0.25)];
        assert_eq!(told, [collide, prepare, iterate, (Stage::Finish, 0.125)]);
    }
}

#[test]
fn a_process_on_a_graphics_device_is_not_held_to_clocks_of_processors() {
    if !is_here(PYTHON) {
        return;
    }
    let out = tempfile::tempdir().unwrap();
    let [busy, gpu] = [("C", "busy"), ("G", "gpu")].map(|(l, mode)| child(l, mode));
    let rows = ["-b", &busy, "-b", &gpu];
    // Each takes 0.1 s of a processor for a step: three samples of one are enough to compare clocks.
    let times = ["--samples", "3", "--limit", "0.01", "--warmup", "0", "--blocks", "2"];
    let document = document("time", "free-fall", out.path(), &[&rows[..], &times].concat());
    let [on_processor, on_device] = [0, 1].map(|i| &document["runs"][i]);
    assert_eq!((&on_processor["device"], &on_device["device"]), (&"cpu".into(), &"gpu".into()));
    if cfg!(target_os = "linux") {
        assert_eq!(on_processor["times"]["pipe"]["clock"], "disputed");
        assert!(on_processor["reason"].as_str().unwrap().starts_with("clock disputed: "));
        assert!(on_processor["times"]["throughput_processor_s"].is_object());
    }
    assert_ne!(on_device["times"]["pipe"]["clock"], "disputed", "{on_device}");
    assert_eq!(on_device["reason"], "");
    assert!(on_device["times"]["throughput_processor_s"].is_null());
    let samples = on_device["in_turn"]["samples_s"].as_array().unwrap();
    assert!(samples.iter().all(|s| s.as_f64().unwrap() >= 0.1), "{samples:?}");
}

#[test]
fn checks_of_a_process_ask_for_forces_and_hold_each_kind_of_clock() {
    if !is_here(PYTHON) {
        return;
    }
    let asked = |mode: &str, check: &str| ExecBackend::new(program(mode)).own_check(check);
    let forces = |mode: &str| asked(mode, "forces_change_nothing");
    let none = Ok(Some("it tells no forces".to_owned()));
    assert_eq!((forces("null"), forces("unforced")), (none.clone(), none));
    let wrong = forces("misforced").unwrap_err();
    assert!(wrong.contains("a block of 100 bytes where 0 are due, in forces"), "{wrong}");
    assert_eq!(asked("gpu", "clocks_agree"), Ok(None), "it is on the wall as long as here");
    if cfg!(target_os = "linux") {
        let disputed = asked("busy", "clocks_agree").unwrap_err();
        assert!(disputed.contains("it says 0.0000 s on processors"), "{disputed}");
    }
}
