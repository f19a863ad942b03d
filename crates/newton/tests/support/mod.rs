//! What the tests of this crate share: running a scene, and looking at it.

use taut_core::{
    Backend, NoDevices, Scene, Settings, Solver, State, Step, Vec3,
    constraint::{Geometry, Pose, locked_rows},
    scene::{Body, Endpoint, Joint, JointKind},
};

/// The reference solver of a scene.
pub(crate) fn solver(scene: &Scene, settings: &str) -> Box<dyn Solver> {
    let settings = Settings::from_ron(settings);
    taut_newton::BACKEND.build(scene, &settings, &NoDevices).expect("scene is supported")
}

/// Advances by `steps` steps of `dt` [s] and returns the state.
pub(crate) fn advance(solver: &mut dyn Solver, dt: f64, steps: usize) -> State {
    for _ in 0..steps {
        solver.begin_step(Step { dt, iterations: 1 }).expect("step begins");
        solver.iterate().expect("iterates");
        solver.end_step().expect("converges");
    }
    let mut state = State::default();
    solver.read(&mut state).expect("reads");
    state
}

/// The state after `steps` steps of `dt` [s] from the scene's start.
pub(crate) fn run(scene: &Scene, dt: f64, steps: usize) -> State {
    advance(solver(scene, "()").as_mut(), dt, steps)
}

/// A scene with gravity of 9.81 m/s^2 downwards.
pub(crate) fn earth() -> Scene {
    Scene { gravity: Vec3::new(0.0, 0.0, -9.81), dt: 1.0 / 60.0, ..Scene::default() }
}

/// A rod of 1 m and 1 kg along x.
pub(crate) fn rod() -> Body {
    Body::solid_box(Vec3::new(1.0, 0.2, 0.1), 50.0)
}

/// A joint of the world at `point` with a body at its anchor [m].
pub(crate) fn pin(kind: JointKind, point: Vec3, body: usize, anchor: Vec3) -> Joint {
    Joint::new(kind, Endpoint::World, Endpoint::Body(body)).anchored(point, anchor)
}

/// Largest violation of any hard row [m or rad].
pub(crate) fn violation(scene: &Scene, state: &State) -> f64 {
    let mut worst = 0.0_f64;
    for joint in &scene.joints {
        let geometry = Geometry::from(joint);
        let (a, b) = (Pose::of(joint.a, state), Pose::of(joint.b, state));
        for (row, target) in locked_rows(joint) {
            worst = worst.max((row.evaluate(&geometry, &a, &b).value - target).abs());
        }
    }
    worst
}
