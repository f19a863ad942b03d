//! Scenes of the project and solvers for them.
#![allow(dead_code, reason = "each test file uses a part")]

use std::path::Path;

use taut_core::{Backend, Given, NoDevices, Scene, Settings, Solver, Step, scene::load_file};
use taut_gpu::Gpu;
use taut_jacobi::{BACKEND_CPU, BACKEND_GPU};

/// The adapter; none where there is none and none is required.
pub(crate) fn gpu() -> Option<Gpu> {
    Gpu::for_test()
}

/// A scene of the project.
pub(crate) fn load(name: &str, parameters: &[(&str, f64)]) -> Scene {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../scenes/{name}.ron"));
    let parameters: Vec<_> =
        parameters.iter().map(|&(key, value)| (key.to_owned(), value)).collect();
    load_file(&file, &parameters).expect("a scene of the project").scene
}

/// A solver at the scene's initial state, on an adapter if one is given.
pub(crate) fn solver(scene: &Scene, gpu: Option<&Gpu>, settings: &str) -> Box<dyn Solver> {
    let settings = Settings::from_ron(settings);
    let mut solver = match gpu {
        Some(gpu) => BACKEND_GPU.build(scene, &settings, &Given(gpu)),
        None => BACKEND_CPU.build(scene, &settings, &NoDevices),
    }
    .expect("it takes the scene");
    solver.load(&scene.initial_state()).expect("its own state");
    solver
}

/// Takes steps of the scene's own length.
pub(crate) fn run(solver: &mut dyn Solver, scene: &Scene, steps: u32, iterations: u32) {
    for _ in 0..steps {
        solver.begin_step(Step { dt: scene.dt, iterations }).unwrap();
        for _ in 0..iterations {
            solver.iterate().unwrap();
        }
        solver.end_step().unwrap();
    }
}
