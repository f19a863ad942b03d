//! What the tests of this crate share.

use taut_core::{Backend, NoDevices, Scene, Settings, Solver, State, Step};

/// The solver of a scene with the given settings.
pub(crate) fn build(scene: &Scene, settings: &str) -> Box<dyn Solver> {
    let settings = Settings::from_ron(settings);
    taut_avbd::BACKEND.build(scene, &settings, &NoDevices).expect("the settings are valid")
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
