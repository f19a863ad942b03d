//! Running the backend through its public interface.

use taut_core::{
    Backend, Multipliers, NoDevices, Quat, Scene, Settings, Solver, State, Step, Vec3,
    scene::{Body, Contacts, Material},
};

/// Length of a frame in these tests [s].
pub(crate) const DT: f64 = 1.0 / 60.0;

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
        let mut solver = taut_impulse::BACKEND.build(scene, &settings, &NoDevices).unwrap();
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

    /// Forces of joints and contacts in the last step.
    #[allow(dead_code, reason = "not every file of tests asks for forces")]
    pub(crate) fn multipliers(&mut self) -> Multipliers {
        let mut out = Multipliers::default();
        assert!(self.solver.read_multipliers(&mut out));
        out
    }
}

/// Contacts under gravity along -z [m/s^2] on a floor with its top at z = 0, body 0, of this friction.
#[allow(dead_code, reason = "not every file of tests has contacts")]
pub(crate) fn ground(gravity: f64, friction: f64) -> Scene {
    let mut floor = Body::solid_box(Vec3::new(200.0, 200.0, 2.0), 1.0);
    floor.material = rough(friction);
    Scene {
        gravity: Vec3::new(0.0, 0.0, -gravity),
        dt: DT,
        contacts: Some(Contacts::default()),
        bodies: vec![floor.at(Vec3::new(0.0, 0.0, -1.0)).fixed()],
        ..Scene::default()
    }
}

/// Equal coefficients of static and dynamic friction, no restitution.
#[allow(dead_code, reason = "not every file of tests has contacts")]
pub(crate) fn rough(friction: f64) -> Material {
    Material { friction_static: friction, friction_dynamic: friction, restitution: 0.0 }
}

/// Everything turned about the origin, gravity included.
#[allow(dead_code, reason = "not every file of tests has contacts")]
pub(crate) fn turned(mut scene: Scene, turn: Quat) -> Scene {
    scene.gravity = turn * scene.gravity;
    for body in &mut scene.bodies {
        body.position = turn * body.position;
        body.rotation = turn * body.rotation;
        body.velocity = turn * body.velocity;
        body.omega = turn * body.omega;
    }
    scene
}
