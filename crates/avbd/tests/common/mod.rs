//! What the tests of this crate share.

use taut_core::{Build, Scene, Settings, Solver, State, Step};

/// The solver of a scene with the given settings.
pub(crate) fn build(scene: &Scene, settings: &str) -> Box<dyn Solver> {
    let Build::Cpu(make) = taut_avbd::BACKEND.build else { unreachable!("it runs on the CPU") };
    make(scene, &Settings::from_ron(settings)).expect("the settings are valid")
}

/// Takes one step and reads the state.
pub(crate) fn advance(solver: &mut dyn Solver, dt: f64, iterations: u32) -> State {
    solver.begin_step(Step { dt, iterations }).expect("it begins");
    for _ in 0..iterations {
        solver.iterate().expect("it iterates");
    }
    solver.end_step().expect("it ends");
    let mut state = State::default();
    solver.read(&mut state).expect("it reads");
    state
}
