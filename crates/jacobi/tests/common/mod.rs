//! Solvers for both devices.
#![allow(dead_code, reason = "each test file uses a part")]

use taut_core::{Backend, Given, Scene, Settings};
use taut_fixtures::Run;
use taut_gpu::Gpu;
use taut_jacobi::{BACKEND_CPU, BACKEND_GPU};

/// A run of a scene, on an adapter if one is given.
pub(crate) fn run(scene: &Scene, gpu: Option<&Gpu>, settings: &str, iterations: u32) -> Run {
    let Some(gpu) = gpu else { return Run::new(&BACKEND_CPU, scene, settings, iterations) };
    let solver = BACKEND_GPU.build(scene, &Settings::from_ron(settings), &Given(gpu));
    Run::of(solver.expect("it takes the scene"), scene, iterations)
}
