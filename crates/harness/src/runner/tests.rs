//! The loop against backends made to misbehave in known ways.

use std::{ops::ControlFlow, sync::atomic::AtomicBool};

use taut_core::{
    Info, Iteration, Native, Needs, Scene, Settings, Solver, SolverError, State, Step, Table,
    Unsupported, Vec3,
    backend::Build,
    scene::{Body, Contacts},
};

use super::*;
use crate::{
    record::{RunRow, Status},
    ruler::Sample,
    spec::Spec,
};

/// Moves one body up by 1 m per iteration, then does what it was built to do in its third step.
struct Toy {
    state: State,
    steps: u32,
    mischief: Mischief,
    substepping: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Mischief {
    None,
    Panic,
    Nan,
    Error,
}

impl Solver for Toy {
    fn load(&mut self, state: &State) -> Result<(), SolverError> {
        self.state.clone_from(state);
        self.steps = 0;
        Ok(())
    }

    fn begin_step(&mut self, _: Step) -> Result<(), SolverError> {
        self.steps += 1;
        match self.mischief {
            Mischief::Panic if self.steps == 3 => panic!("lost my footing"),
            Mischief::Error if self.steps == 3 => Err(SolverError::NotConverged("ran out".into())),
            _ => Ok(()),
        }
    }

    fn iterate(&mut self) -> Result<(), SolverError> {
        self.state.bodies[0].position.z += 1.0;
        Ok(())
    }

    fn end_step(&mut self) -> Result<(), SolverError> {
        if self.mischief == Mischief::Nan && self.steps == 3 {
            self.state.bodies[0].position.x = f64::NAN;
        }
        Ok(())
    }

    fn read(&mut self, out: &mut State) -> Result<(), SolverError> {
        out.clone_from(&self.state);
        Ok(())
    }

    fn iteration(&self) -> Iteration {
        if self.substepping { Iteration::Substep } else { Iteration::Refine }
    }
}

fn toy(mischief: Mischief, substepping: bool, scene: &Scene) -> Box<dyn Solver> {
    Box::new(Toy { state: scene.initial_state(), steps: 0, mischief, substepping })
}

fn backend(name: &'static str, build: Build) -> Native {
    Native { info: Info::new(name, "", ""), takes: Needs::ALL, refuses: |_| Ok(()), build }
}

fn setup() -> Setup {
    let table = Table::default()
        .with(taut_null::BACKEND)
        .with(backend("good", |s, _, _| Ok(toy(Mischief::None, false, s))))
        .with(backend("sub", |s, _, _| Ok(toy(Mischief::None, true, s))))
        .with(backend("panics", |s, _, _| Ok(toy(Mischief::Panic, false, s))))
        .with(backend("diverges", |s, _, _| Ok(toy(Mischief::Nan, false, s))))
        .with(backend("fails", |s, _, _| Ok(toy(Mischief::Error, false, s))))
        .with(backend("unbuildable", |_, _, _| panic!("no plan")));
    Setup { table, ..Setup::default() }
}

fn scene() -> Scene {
    let body = Body::solid_box(Vec3::repeat(1.0), 1.0);
    Scene { name: "toy".into(), dt: 0.1, steps: 5, bodies: vec![body], ..Scene::default() }
}

fn run_toy(name: &str, substeps: u32) -> (RunRow, Vec<(u32, State)>) {
    let (setup, cancel) = (setup(), AtomicBool::new(false));
    let bench = Bench::new(&setup, 1, &cancel).unwrap();
    let spec = Spec { substeps, ..Spec::new(name, 2) };
    let mut kept = KeptStates::new(Keep::Everything);
    let row = run(&bench, &scene(), &spec, &FIVE_STEPS, &mut [&mut kept]);
    (row, kept.states)
}

const FIVE_STEPS: RunOptions<'_> = RunOptions {
    steps: 5,
    references: References { named: None, same_step: None, motion: None },
    asked: &[],
};

#[test]
fn a_run_takes_all_iterations_of_all_substeps() {
    let (row, states) = run_toy("good", 3);
    assert_eq!((row.status, row.steps, row.frames.len()), (Status::Ok, 5, 5));
    assert_eq!(states.len(), 6);
    assert_eq!(states[5].1.bodies[0].position.z, 5.0 * 3.0 * 2.0);
    assert_eq!(row.step_time_s.map(|s| s.samples), Some(5));
    assert!((row.frames[4].time_s - 0.5).abs() < 1e-15);
}

#[test]
fn equal_motion_has_equal_hashes_and_other_motion_others() {
    let hash = |name| run_toy(name, 1).0.state_hash.expect("frames");
    assert_eq!(hash("good"), hash("good"));
    assert_ne!(hash("good"), run_toy("good", 2).0.state_hash.expect("frames"));
    // Two frames fewer, and no forces are told.
    assert_ne!(hash("good"), hash("fails"));
    let row = run_toy("good", 1).0;
    assert_eq!((row.force_hash, row.state_hash.is_some()), (None, true));
}

#[test]
fn misbehaviour_is_a_row_with_the_frames_before_it() {
    let cases = [
        ("panics", Status::Failed, "panicked: lost my footing"),
        ("diverges", Status::Diverged, "non-finite state after step 3"),
        ("fails", Status::Failed, "not converged in frame 3: ran out"),
    ];
    for (name, status, reason) in cases {
        let row = run_toy(name, 1).0;
        assert_eq!((row.status, row.steps, row.frames.len()), (status, 2, 2), "{name}");
        assert!(row.reason.starts_with(reason), "{}", row.reason);
    }
    let row = run_toy("unbuildable", 1).0;
    assert!(row.status == Status::Failed && row.reason.contains("no plan"), "{row:?}");
}

#[test]
fn an_unsupported_scene_is_a_row_with_the_reason() {
    let refuses = |_: &Scene| Err(Unsupported("no bodies".into()));
    let table = Table::default().with(Native { refuses, ..taut_null::BACKEND });
    let setup = Setup { table, ..Setup::default() };
    let cancel = AtomicBool::new(false);
    let bench = Bench::new(&setup, 1, &cancel).unwrap();
    let row = run(&bench, &scene(), &Spec::new("null", 1), &FIVE_STEPS, &mut []);
    assert_eq!((row.status, row.reason.as_str()), (Status::Unsupported, "no bodies"));
}

#[test]
fn a_broken_promise_not_to_intersect_is_a_label() {
    let low = Body::solid_box(Vec3::repeat(1.0), 1.0);
    let high = low.clone().at(Vec3::new(0.0, 0.0, 0.9));
    let contacts = Some(Contacts::default());
    let scene = Scene { bodies: vec![low, high], contacts, ..scene() };
    let promising = Info::new("promising", "", "").promising_no_intersection();
    let table = Table::default()
        .with(taut_null::BACKEND)
        .with(Native { info: promising, ..taut_null::BACKEND });
    let setup = Setup { table, ..Setup::default() };
    let cancel = AtomicBool::new(false);
    let bench = Bench::new(&setup, 1, &cancel).unwrap();
    let asked = ["distance_min_m".to_owned()];
    let options = RunOptions { asked: &asked, ..FIVE_STEPS };
    let [other, row] = ["null", "promising"]
        .map(|name| run(&bench, &scene, &Spec::new(name, 1), &options, &mut []));
    assert_eq!(other.status, Status::Ok, "{}", other.reason);
    assert_eq!(row.status, Status::Intersecting);
    assert!(row.reason.ends_with("pairs of triangles meet at 0.100 s"), "{}", row.reason);
    let measured = |name: &str| row.frames[0].metrics.iter().any(|(own, _)| own == name);
    assert!(measured("distance_min_m") && !measured("intersections"));
}

/// Asks for the end of a run after so many frames.
struct Stop<'a> {
    after: u32,
    /// By Ctrl-C, else by itself.
    cancel: Option<&'a AtomicBool>,
}

impl Observer for Stop<'_> {
    fn frame(&mut self, _sample: &Sample<'_>, row: &mut RunRow) -> ControlFlow<String> {
        match self.cancel {
            Some(cancel) => cancel.store(row.steps == self.after, Ordering::Relaxed),
            None if row.steps == self.after => return ControlFlow::Break("by its window".into()),
            None => {}
        }
        ControlFlow::Continue(())
    }

    fn end(&mut self, row: &mut RunRow) {
        assert_eq!(row.steps, self.after);
    }
}

#[test]
fn an_observer_sees_what_is_measured_and_may_end_the_run() {
    let (setup, cancel) = (setup(), AtomicBool::new(false));
    let bench = Bench::new(&setup, 1, &cancel).unwrap();
    let mut stop = Stop { after: 3, cancel: None };
    let row = run(&bench, &scene(), &Spec::new("good", 1), &FIVE_STEPS, &mut [&mut stop]);
    assert_eq!((row.status, row.frames.len()), (Status::Ok, 3));
    assert_eq!(row.reason, "interrupted by its window");
}

#[test]
fn an_interrupted_run_keeps_what_it_has() {
    let (setup, cancel) = (setup(), AtomicBool::new(false));
    let bench = Bench::new(&setup, 1, &cancel).unwrap();
    let mut stop = Stop { after: 2, cancel: Some(&cancel) };
    let row = run(&bench, &scene(), &Spec::new("good", 1), &FIVE_STEPS, &mut [&mut stop]);
    assert_eq!((row.status, row.steps), (Status::Ok, 2));
    assert_eq!(row.reason, "interrupted after 2 steps");
    let row = run(&bench, &scene(), &Spec::new("good", 1), &FIVE_STEPS, &mut []);
    assert_eq!(row.status, Status::Skipped);
}

#[test]
fn a_trace_reads_every_iteration_or_reruns_every_budget() {
    let (setup, cancel) = (setup(), AtomicBool::new(false));
    let bench = Bench::new(&setup, 1, &cancel).unwrap();
    let iterations_of = |name: &str, start| {
        let spec = Spec::new(name, 5);
        let mut row = RunRow::new(&spec);
        let options = TraceOptions { start, warmup: 1, reference: None };
        trace(&bench, &scene(), &spec, &options, &mut row, &mut []);
        assert_eq!(row.status, Status::Ok, "{}", row.reason);
        row.curves[0].points.iter().map(|p| (p.iteration, p.closed)).collect::<Vec<_>>()
    };
    let initial = scene().initial_state();
    let refined: Vec<_> = (0..=5).map(|i| (i, false)).chain([(5, true)]).collect();
    assert_eq!(iterations_of("good", TraceStart::Warm), refined);
    assert_eq!(iterations_of("good", TraceStart::Cold(&initial)), refined);
    let rerun = [1, 2, 4, 5].map(|i| (i, true));
    assert_eq!(iterations_of("sub", TraceStart::Warm), rerun);
}

#[test]
fn times_are_complete_and_a_diverged_run_is_told() {
    let (setup, cancel) = (setup(), AtomicBool::new(false));
    let bench = Bench::new(&setup, 1, &cancel).unwrap();
    let options = TimeOptions { warmup: 1, samples: 4, steps_per_sample: 2, limit_s: 10.0 };
    let row = time(&bench, &scene(), &Spec::new("good", 2), &options, &mut || {});
    let times = row.times.expect("timed");
    assert_eq!(
        (row.status, times.step_s.samples, times.throughput_step_s.samples),
        (Status::Ok, 4, 4)
    );
    assert!(times.step_s.min > 0.0 && times.stages.iterate > 0.0);
    let row = time(&bench, &scene(), &Spec::new("diverges", 2), &options, &mut || {});
    assert_eq!(row.status, Status::Diverged);
}

#[test]
fn settings_and_names_are_checked_before_anything_runs() {
    let (setup, cancel) = (setup(), AtomicBool::new(false));
    let bench = Bench::new(&setup, 1, &cancel).unwrap();
    let error = bench.check(&scene(), &Spec::new("nul", 1)).unwrap_err();
    assert_eq!(error.to_string(), "unknown backend `nul`: did you mean `null`?");
    let spec = Spec { settings: Settings::from_ron("(beta: 1.0)"), ..Spec::new("null", 1) };
    let error = format!("{:#}", bench.check(&scene(), &spec).unwrap_err());
    assert!(error.contains("backend `null`") && error.contains("beta"), "{error}");
    assert!(bench.check(&scene(), &Spec::new("unbuildable", 1)).is_ok());
}
