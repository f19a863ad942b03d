//! Building and stepping.
#![allow(dead_code, reason = "each test file uses its own part")]

use std::path::Path;

use taut_core::{
    Backend, NoDevices, Scene, Settings, Solver, State, Step, Vec3,
    load::load_file,
    scene::{Body, Endpoint, Joint, JointKind},
};
use taut_mabd::BACKEND;

pub(crate) fn build(scene: &Scene, settings: &str) -> Box<dyn Solver> {
    let mut solver = BACKEND.build(scene, &Settings::from_ron(settings), &NoDevices).unwrap();
    solver.load(&scene.initial_state()).unwrap();
    solver
}

pub(crate) fn advance(solver: &mut dyn Solver, dt: f64, iterations: u32) {
    solver.begin_step(Step { dt, iterations }).unwrap();
    for _ in 0..iterations {
        solver.iterate().unwrap();
    }
    solver.end_step().unwrap();
}

pub(crate) fn state(solver: &mut dyn Solver) -> State {
    let mut state = State::default();
    solver.read(&mut state).unwrap();
    state
}

/// States after each of `steps` steps, the initial one first.
pub(crate) fn path(scene: &Scene, settings: &str, steps: u32, iterations: u32) -> Vec<State> {
    let mut solver = build(scene, settings);
    let mut states = vec![state(&mut *solver)];
    for _ in 0..steps {
        advance(&mut *solver, scene.dt, iterations);
        states.push(state(&mut *solver));
    }
    states
}

pub(crate) fn file(name: &str, overrides: &[(&str, f64)]) -> Scene {
    let overrides: Vec<_> = overrides.iter().map(|&(key, value)| (key.to_owned(), value)).collect();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../scenes/{name}.ron"));
    load_file(&path, &overrides).unwrap().scene
}

pub(crate) fn empty(dt: f64, gravity: Vec3) -> Scene {
    Scene { dt, gravity, steps: 1, ..Scene::default() }
}

pub(crate) fn ball(a: Endpoint, b: Endpoint, anchors: [Vec3; 2]) -> Joint {
    Joint::new(JointKind::Ball, a, b).anchored(anchors[0], anchors[1])
}

/// Links of 1 m along x from the origin, each hanging on the one before, the first on the world.
pub(crate) fn chain(links: usize, dt: f64) -> Scene {
    let mut scene = empty(dt, Vec3::new(0.0, 0.0, -9.81));
    let half = Vec3::new(0.5, 0.0, 0.0);
    for i in 0..links {
        let body = Body::solid_box(Vec3::new(1.0, 0.2, 0.3), 100.0);
        scene.bodies.push(body.at(Vec3::new(i as f64 + 0.5, 0.0, 0.0)));
        let (a, anchor) = match i {
            0 => (Endpoint::World, Vec3::zeros()),
            _ => (Endpoint::Body(i - 1), half),
        };
        scene.joints.push(ball(a, Endpoint::Body(i), [anchor, -half]));
    }
    scene
}
