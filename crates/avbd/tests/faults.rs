//! What goes wrong on an adapter is an error, and never the end of the program.

use std::path::Path;

use taut_avbd::BACKEND_GPU;
use taut_core::{
    Backend, BuildError, Given, Scene, Settings, Solver, SolverError, State, Step, load::load_file,
};
use taut_gpu::{Gpu, GpuError};
use taut_model_gpu::{fault, unbuilt};

fn stack() -> Scene {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/stack.ron");
    let parameters = [("n".to_owned(), 4.0), ("gap".to_owned(), 0.0)];
    load_file(&file, &parameters).expect("a scene of the project").scene
}

fn solver(gpu: &Gpu, scene: &Scene) -> Box<dyn Solver> {
    BACKEND_GPU.build(scene, &Settings::default(), &Given(gpu)).unwrap()
}

fn step(solver: &mut dyn Solver, dt: f64) -> Result<(), SolverError> {
    solver.begin_step(Step { dt, iterations: 4 })?;
    (0..4).try_for_each(|_| solver.iterate())?;
    solver.end_step()
}

#[test]
fn a_device_that_goes_away_between_steps_is_an_error() {
    let Some(gpu) = Gpu::for_test() else { return };
    let scene = stack();
    let mut solver = solver(&gpu, &scene);
    step(&mut *solver, scene.dt).unwrap();
    gpu.abandon();
    let mut state = State::default();
    let results = [step(&mut *solver, scene.dt), solver.wait(), solver.read(&mut state)];
    let lost = |r: &Result<(), SolverError>| matches!(r, Err(SolverError::DeviceLost(_)));
    assert!(results.iter().all(lost), "{results:?}");
}

#[test]
fn a_state_that_is_no_number_stays_one_and_does_not_hang() {
    let Some(gpu) = Gpu::for_test() else { return };
    let scene = stack();
    let mut solver = solver(&gpu, &scene);
    let mut state = scene.initial_state();
    state.bodies[2].position.z = f64::NAN;
    solver.load(&state).unwrap();
    (0..3).for_each(|_| step(&mut *solver, scene.dt).unwrap());
    solver.read(&mut state).unwrap();
    assert!(!state.is_finite());
    // The next state knows nothing of it.
    solver.load(&scene.initial_state()).unwrap();
    step(&mut *solver, scene.dt).unwrap();
    solver.read(&mut state).unwrap();
    assert!(state.is_finite());
}

#[test]
fn what_is_too_large_names_the_limit_and_what_fits() {
    let Some(gpu) = Gpu::for_test() else { return };
    let limit = gpu.limits().max_storage_buffer_binding_size;
    let count = usize::try_from(limit).unwrap() / 64 + 1;
    let error = gpu.buffer::<[u32; 16]>("bricks", count).unwrap_err();
    let message = error.to_string();
    assert!(message.contains("maxStorageBufferBindingSize"), "{message}");
    assert!(message.contains(&format!("room for {}", limit / 64)), "{message}");
    let reason = unbuilt(error.clone());
    assert!(matches!(&reason, BuildError::Unsupported(why) if why.0 == message), "{reason}");
    let SolverError::Capacity { resource, needed, limit: fits } = fault(error) else {
        panic!("it is the scene that is too large")
    };
    assert_eq!((resource, needed, fits), ("bricks", count, count - 1));
}

#[test]
fn no_memory_left_is_said_so() {
    let error = fault(GpuError::OutOfMemory("heap 0".to_owned()));
    assert!(error.to_string().contains("out of memory"), "{error}");
}
