//! The rows of all joints against differences of their values along the motion of bodies.

use taut_core::{
    Quat, Scene, Vec3,
    constraint::{Geometry, Pose as ModelPose, RowKind},
    scene::{Body, Endpoint, Joint, JointKind, Limit},
};
use taut_fixtures::KINDS;
use taut_model::Model;

use super::*;

fn scene(kind: JointKind) -> Scene {
    let mut scene = Scene::default();
    for i in [0.0, 1.0] {
        let mut body = Body::solid_box(Vec3::new(0.4, 0.6, 1.0 + i), 100.0);
        body.position = Vec3::new(0.9 * i, 0.3 * i, -0.5 * i);
        body.rotation = Quat::from_scaled_axis(Vec3::new(0.8 * i, 0.2, 0.7 - i));
        body.velocity = Vec3::new(1.0 - i, 0.5, -0.3 * i);
        body.omega = Vec3::new(0.3, 1.0 - 2.0 * i, 0.6);
        scene.bodies.push(body);
    }
    let mut joint = Joint::new(kind, Endpoint::Body(0), Endpoint::Body(1))
        .anchored(Vec3::new(0.2, 0.4, 0.2), Vec3::new(-0.3, 0.1, 0.5));
    joint.basis_b = Quat::from_scaled_axis(Vec3::new(0.1, -0.3, 0.2));
    scene.joints.push(joint);
    scene
}

fn prepared(scene: &Scene) -> (Joints<f64>, VelocityBodies<f64>) {
    let model = Model::new(scene);
    let mut bodies = VelocityBodies::new(scene, &model, false);
    bodies.load(&scene.initial_state());
    bodies.refresh_all();
    let mut joints = lower(&model);
    joints.prepare(&mut bodies, 0.01);
    (joints, bodies)
}

fn velocities(bodies: &VelocityBodies<f64>) -> [Vec3; 4] {
    let [a, b] = [&bodies.now.velocities[0], &bodies.now.velocities[1]];
    [a.linear, a.angular, b.linear, b.angular].map(V3::to_f64)
}

/// Rate of a row at the initial velocities, by central differences of the model's value.
fn rate(scene: &Scene, row: RowKind) -> f64 {
    let step = 1e-6;
    let at = |t: f64| {
        let [a, b] = [0, 1].map(|i| {
            let body: &Body = &scene.bodies[i];
            ModelPose {
                position: body.position + body.velocity * t,
                rotation: Quat::from_scaled_axis(body.omega * t) * body.rotation,
            }
        });
        row.evaluate(&Geometry::from(&scene.joints[0]), &a, &b).value
    };
    (at(step) - at(-step)) / (2.0 * step)
}

#[test]
fn one_visit_stops_exactly_the_rows_it_locks() {
    let pass = |bias| Pass {
        soft: SoftSprings::new(&crate::ImpulseSettings::default(), 0.01, 10.0),
        inverse_h: 100.0,
        h: 0.01,
        bias,
    };
    for kind in KINDS {
        let scene = scene(kind);
        let (mut joints, mut bodies) = prepared(&scene);
        let before = velocities(&bodies);
        // Blocks of one joint share bodies: sweeps converge instead of being exact.
        for _ in 0..2000 {
            joints.sweep(&mut bodies, &pass(false));
        }
        let after = velocities(&bodies);
        let mut stopped = scene.clone();
        for (i, body) in stopped.bodies.iter_mut().enumerate() {
            (body.velocity, body.omega) = (after[2 * i], after[2 * i + 1]);
        }
        let mut moved = 0.0_f64;
        for (row, _) in taut_core::constraint::locked_rows(&scene.joints[0]) {
            let left = rate(&stopped, row);
            assert!(left.abs() < 1e-8, "{kind:?} {row:?}: {left}");
            moved = moved.max(rate(&scene, row).abs());
        }
        assert!(moved > 0.1, "{kind:?}: nothing was to be stopped");
        let momentum = |v: [Vec3; 4]| v[0] * scene.bodies[0].mass + v[2] * scene.bodies[1].mass;
        assert!((momentum(before) - momentum(after)).norm() < 1e-10);
    }
}

#[test]
fn limits_only_push_and_leave_room() {
    let mut scene = scene(JointKind::Distance { length: 0.7 });
    for (lower, upper, touches) in [(0.0, 5.0, false), (0.0, 0.1, true), (3.0, 5.0, true)] {
        scene.joints[0].limit = Some(Limit { lower, upper });
        let (mut joints, mut bodies) = prepared(&scene);
        let before = velocities(&bodies);
        let soft = SoftSprings::new(&crate::ImpulseSettings::default(), 0.01, 10.0);
        joints.sweep(&mut bodies, &Pass { soft, inverse_h: 100.0, h: 0.01, bias: true });
        assert_eq!(velocities(&bodies) != before, touches, "{lower} {upper}");
    }
}
