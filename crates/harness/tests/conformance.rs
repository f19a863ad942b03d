//! The conformance suite over the table of backends, and over backends that are wrong on purpose.

use std::{
    path::Path,
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
};

use taut::{
    backends,
    verify::{CheckResult, count, verify, verify_with},
};
use taut_core::{
    BuildError, ContactForce, Devices, Info, Multipliers, Native, Needs, Pull, Runs, Scene,
    Settings, Solver, SolverError, State, Step, Table, Unsupported, Vec3, load::load_file,
    scene::Body,
};

/// All that the program comes with, and the engines that it is built with on request only.
fn table() -> Table {
    let table = backends::table();
    #[cfg(not(feature = "peers"))]
    let table = table.with(taut_peer_rapier::BACKEND_F64).with(taut_peer_rapier::BACKEND_F32);
    table
}

/// Those that run, or do not, on a graphics adapter.
fn names(table: &Table, runs: Runs) -> Vec<&str> {
    let rows = table.iter().map(|backend| backend.info()).filter(|info| info.runs == runs);
    rows.map(|info| info.name.as_ref()).collect()
}

/// Those on graphics adapters take minutes where these are software, and are asked by `scripts/test` alone.
#[test]
fn every_backend_conforms_or_says_why_not() {
    let table = table();
    let report = verify(&table, &names(&table, Runs::OnCpu));
    println!("{report}");
    assert!(!report.has_failures(), "see above");
}

#[test]
fn backends_on_adapters_are_asked_by_the_script() {
    let asked: String =
        names(&table(), Runs::OnGpu).iter().map(|name| format!(" -b {name}")).collect();
    let script = include_str!("../../../scripts/test");
    assert!(script.contains(&format!("taut verify{asked} ;;")), "verify{asked}");
}

/// A screw in a nut, of which contacts between analytic shapes know nothing.
#[test]
fn dynamic_meshes_are_for_those_who_list_them() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/bolt.ron");
    let mut scene = load_file(&file, &[]).expect("a scene of the project").scene;
    let takers = |scene: &Scene| -> Vec<String> {
        let table = table();
        let takes = table.iter().filter(|backend| backend.supports(scene).is_ok());
        takes.map(|backend| backend.info().name.to_string()).collect()
    };
    assert_eq!(takers(&scene), ["abd-cpu", "null"]);
    for (backend, reason) in
        table().iter().map(|backend| (backend.info(), backend.supports(&scene)))
    {
        if let Err(Unsupported(reason)) = reason {
            let known =
                reason.contains("meshes, such as body `screw`") || reason.contains("contacts");
            assert!(known, "{}: {reason}", backend.name);
        }
    }
    // A mesh that stays is for all who know contacts.
    scene.bodies[1] = Body::solid_box(Vec3::repeat(0.01), 1000.0).at(Vec3::z());
    assert!(takers(&scene).len() > 8);
}

#[test]
fn what_an_interruption_leaves_is_skipped() {
    let report = verify_with(&table(), &["null"], &AtomicBool::new(true), &|_, _| {});
    let checks: Vec<_> = report.backends.iter().flat_map(|backend| &backend.checks).collect();
    assert_eq!(checks.len(), count(&table(), &["null"]));
    for check in checks {
        assert_eq!(check.result, CheckResult::Skip);
        assert!(check.reason.contains("interrupted"), "{}", check.reason);
    }
}

#[test]
fn one_backend_can_be_named() {
    let table = backends::table();
    let report = verify(&table, &["null"]);
    assert_eq!(report.backends.len(), 1);
    assert_eq!(report.backends[0].checks.len(), count(&table, &["null"]));
}

/// A solver that breaks one promise after another, so that each is seen to be checked.
struct Rogue {
    scene: Scene,
    state: State,
    dt: f64,
}

/// Differs between runs.
static RUNS: AtomicU64 = AtomicU64::new(0);

impl Solver for Rogue {
    fn load(&mut self, state: &State) -> Result<(), SolverError> {
        // Takes any state, and carries the last time over.
        let time_s = self.state.time_s;
        self.state.clone_from(state);
        self.state.time_s = time_s;
        Ok(())
    }

    fn begin_step(&mut self, step: Step) -> Result<(), SolverError> {
        self.dt = step.dt;
        Ok(())
    }

    fn iterate(&mut self) -> Result<(), SolverError> {
        let noise = RUNS.fetch_add(1, Ordering::Relaxed) as f64 * 1e-9;
        // Static and broken alike, everything is pushed about.
        self.state.bodies.iter_mut().for_each(|body| body.position.x += noise);
        Ok(())
    }

    fn end_step(&mut self) -> Result<(), SolverError> {
        self.state.time_s += self.dt;
        assert!(!self.scene.bodies.is_empty(), "nothing to solve");
        Ok(())
    }

    fn read(&mut self, out: &mut State) -> Result<(), SolverError> {
        self.state.bodies.iter_mut().for_each(|body| body.position.y += 1e-9);
        out.clone_from(&self.state);
        Ok(())
    }

    fn read_multipliers(&mut self, out: &mut Multipliers) -> bool {
        // Contacts that pull.
        let (normal, force) = (Vec3::z(), -Vec3::z());
        out.contacts = vec![ContactForce { bodies: [0, 1], normal, force, ..Default::default() }];
        true
    }

    /// Promises to follow, and does not.
    fn set_pulls(&mut self, _: &[Pull]) -> bool {
        true
    }

    fn resolved_settings(&self) -> String {
        "(stiffness: 1.0)".to_owned()
    }
}

fn build(scene: &Scene, _: &Settings, _: &dyn Devices) -> Result<Box<dyn Solver>, BuildError> {
    Ok(Box::new(Rogue { scene: scene.clone(), state: scene.initial_state(), dt: 0.0 }))
}

const ROGUE: Native = Native {
    info: Info::new("rogue", "breaks every promise", "none"),
    takes: Needs::ALL.without(Needs::SPRINGS).without(Needs::ANGULAR_SPRINGS),
    refuses: |_| Ok(()),
    build,
};

#[test]
fn every_broken_promise_is_found() {
    let report = verify(&backends::table().with(ROGUE), &["rogue"]);
    let checks = &report.backends[0].checks;
    let mut unexpected = vec![];
    for check in checks {
        let expected = match check.scene {
            "oscillator" | "torsion" | "two-springs" => CheckResult::Skip,
            "particles" if check.name == "spring_period" => CheckResult::Skip,
            "weight" if check.name == "springs_bear" => CheckResult::Skip,
            // It leaves rotations as they are.
            "free-fall" if check.name == "free_spin" => CheckResult::Pass,
            // The noise of a few iterations does not show in what these look at.
            "chain" if check.name == "more_work_is_no_worse" => continue,
            "free-pair" => CheckResult::Pass,
            _ => CheckResult::Fail,
        };
        if check.result != expected {
            unexpected.push(format!("{} [{}]: {:?}", check.name, check.scene, check.result));
        }
    }
    assert!(unexpected.is_empty(), "{unexpected:#?}");
    let reason = |name| {
        let check = checks.iter().find(|check| check.name == name);
        check.map_or("", |check| check.reason.as_str())
    };
    assert!(reason("nothing_to_do").contains("panicked: nothing to solve"));
    assert!(reason("unsupported_is_an_error").contains("declared unsupported, but builds"));
    assert!(reason("bad_settings_are_errors").contains("is taken"));
    assert!(reason("bad_state_is_an_error").contains("a body too few"));
}
