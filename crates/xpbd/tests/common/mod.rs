//! Running the backend through its public interface.

use taut_core::{Backend, NoDevices, Scene, Settings, Solver, State, Step, Vec3};

/// Standard gravity along -z [m/s^2].
pub(crate) const GRAVITY: Vec3 = Vec3::new(0.0, 0.0, -9.81);

/// A solver loaded with a scene, with its latest state.
pub(crate) struct Run {
    /// The backend.
    pub(crate) solver: Box<dyn Solver>,
    dt: f64,
    iterations: u32,
    /// The state after the last step.
    pub(crate) state: State,
}

impl Run {
    /// A solver of `scene` at its initial state, with settings as RON text.
    pub(crate) fn new(scene: &Scene, settings: &str, dt: f64, iterations: u32) -> Self {
        let settings = Settings::from_ron(settings);
        let mut solver = taut_xpbd::BACKEND.build(scene, &settings, &NoDevices).unwrap();
        let state = scene.initial_state();
        solver.load(&state).unwrap();
        Self { solver, dt, iterations, state }
    }

    /// One whole step.
    pub(crate) fn step(&mut self) {
        self.solver.begin_step(Step { dt: self.dt, iterations: self.iterations }).unwrap();
        for _ in 0..self.iterations {
            self.solver.iterate().unwrap();
        }
        self.solver.end_step().unwrap();
        self.solver.read(&mut self.state).unwrap();
    }

    /// `count` whole steps.
    pub(crate) fn steps(&mut self, count: usize) {
        for _ in 0..count {
            self.step();
        }
    }
}
