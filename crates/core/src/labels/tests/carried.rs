//! What kinematic bodies carry and throw.

use super::*;

const OMEGA: f64 = 6.0;

/// A block of 8 kg on a turntable of 3 m that turns at [`OMEGA`], `radius` from its centre.
fn turntable(radius: f64) -> Scene {
    let mut table = Body::solid_box(Vec3::new(4.2, 4.2, 0.2), 100.0).at(Vec3::z() * -0.1);
    table.motion = Motion::Kinematic;
    table.omega = Vec3::z() * OMEGA;
    let block = Body::solid_box(Vec3::repeat(0.2), 1000.0).at(Vec3::new(radius, 0.0, 0.1));
    Scene { gravity: gravity(), dt: FRAME_S, bodies: vec![table, block], ..Scene::default() }
}

/// The label of a block that is at `place` and has the speed `velocity` after so many seconds.
fn carried(scene: &Scene, motion: impl Fn(f64) -> (Vec3, Vec3)) -> Label {
    let mut state = scene.initial_state();
    let mut judge = Judge::new(scene, &state);
    for frame in 1..=120 {
        state.time_s = f64::from(frame) * FRAME_S;
        (state.bodies[1].position, state.bodies[1].velocity) = motion(state.time_s);
        judge.observe(&state, &Evidence::default());
    }
    judge.label()
}

/// Place and velocity on a circle, or on a spiral that widens.
fn circle(radius: f64, widens: f64, t: f64) -> (Vec3, Vec3) {
    let (sin, cos) = (OMEGA * t).sin_cos();
    let (out, along) = (Vec3::new(cos, sin, 0.0), Vec3::new(-sin, cos, 0.0));
    let r = radius + widens * t;
    (out * r + Vec3::z() * 0.1, out * widens + along * (OMEGA * r))
}

#[test]
fn what_a_turntable_takes_along_gains_its_speed() {
    let scene = turntable(1.5);
    assert_eq!(carried(&scene, |t| circle(1.5, 0.0, t)), Label::Ok);
    assert_eq!(
        carried(&turntable(0.1), |t| circle(0.1, 0.9, t)),
        Label::Ok,
        "and more farther out"
    );
}

#[test]
fn what_is_thrown_faster_than_its_support_moves_explodes() {
    let scene = turntable(1.5);
    // At ten times the speed of the rim, off at a tangent.
    let shot = |t: f64| {
        let velocity = Vec3::y() * (10.0 * OMEGA * 3.0);
        (Vec3::new(1.5, 0.0, 0.1) + velocity * t, velocity)
    };
    assert_eq!(carried(&scene, shot), Label::Exploded);
}

#[test]
fn an_arm_on_a_drive_reaches_as_far_as_its_links() {
    let mut scene = chain(3, 1.0, 1.0, Vec3::x());
    let mut drive = Body::solid_box(Vec3::repeat(0.2), 1.0);
    drive.motion = Motion::Kinematic;
    drive.omega = Vec3::z() * 3.0;
    let index = scene.bodies.len();
    scene.bodies.push(drive);
    scene.joints[0].a = Endpoint::Body(index);
    scene.gravity = Vec3::zeros();
    let mut state = scene.initial_state();
    let mut judge = Judge::new(&scene, &state);
    for frame in 1..=60 {
        state.time_s = f64::from(frame) * FRAME_S;
        let turn = Rotation3::from_scaled_axis(Vec3::z() * (3.0 * state.time_s));
        for (body, start) in state.bodies.iter_mut().zip(&scene.bodies).take(index) {
            body.position = turn * start.position;
            body.velocity = Vec3::z().cross(&body.position) * 3.0;
            body.frame = *turn.matrix();
            body.frame_rate = skew(&(Vec3::z() * 3.0)) * turn.matrix();
        }
        judge.observe(&state, &Evidence::default());
    }
    assert_eq!((judge.label(), judge.reason()), (Label::Ok, ""));
}
