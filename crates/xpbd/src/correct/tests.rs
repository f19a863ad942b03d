//! Corrections against the model's rows, differentiated numerically.

use taut_core::{
    Mat3, Quat, Scene, Vec3,
    constraint::{Geometry, Pose as ModelPose, RowKind},
    scene::{Body, Endpoint, Joint, JointKind, Limit},
};
use taut_model::{Model, Order};

use super::*;
use crate::{body::PositionBodies, layout::lower};

const STEP: f64 = 1e-6;

fn rotation(x: f64, y: f64, z: f64) -> Quat {
    Quat::from_scaled_axis(Vec3::new(x, y, z))
}

/// Two turned bodies with full inertia tensors, near but not at a joint's zero set.
fn scene(kind: JointKind) -> Scene {
    let mut scene = Scene::default();
    for i in [0.0, 1.0] {
        let mut body = Body::solid_box(Vec3::new(0.4, 0.6, 1.0 + i), 8.0);
        let skewed = rotation(0.4, -0.2 + i, 0.7).to_rotation_matrix().into_inner();
        body.inertia = skewed * body.inertia * skewed.transpose();
        body.position = Vec3::new(0.2 - i, 0.9 * i, 0.1);
        body.rotation = rotation(0.5, 0.1 - i, 0.3 * i);
        scene.bodies.push(body);
    }
    let mut joint = Joint::new(kind, Endpoint::Body(0), Endpoint::Body(1))
        .anchored(Vec3::new(-0.3, 0.4, 0.2), Vec3::new(0.5, -0.1, 0.3));
    joint.basis_a = rotation(0.3, -0.5, 0.2);
    joint.basis_b = rotation(0.1, 0.4, -0.3);
    scene.joints.push(joint);
    scene
}

fn model_poses(scene: &Scene) -> [ModelPose; 2] {
    [0, 1].map(|i| ModelPose {
        position: scene.bodies[i].position,
        rotation: scene.bodies[i].rotation,
    })
}

/// Central differences of a function of two poses along translations and world-axis rotations.
fn gradient_of(poses: [ModelPose; 2], f: impl Fn(&[ModelPose; 2]) -> f64) -> [[Vec3; 2]; 2] {
    [0, 1].map(|side| {
        let along = |change: &dyn Fn(&mut ModelPose, Vec3)| {
            Vec3::from_fn(|axis, _| {
                let e = Vec3::ith_axis(axis).into_inner() * STEP;
                let at = |e: Vec3| {
                    let mut moved = poses;
                    change(&mut moved[side], e);
                    f(&moved)
                };
                (at(e) - at(-e)) / (2.0 * STEP)
            })
        };
        let linear = along(&|pose, e| pose.position += e);
        let angular = along(&|pose, e| pose.rotation = Quat::from_scaled_axis(e) * pose.rotation);
        [linear, angular]
    })
}

/// Corrects the element of `form` once and returns how both bodies moved and turned, per mass.
fn impulses(scene: &Scene, form: Form, terms: &Terms<f64>) -> ([[Vec3; 2]; 2], V3<f64>) {
    let model = Model::new(scene);
    let mut bodies = PositionBodies::<f64>::new(&model);
    bodies.load(&scene.initial_state());
    let layout = lower::<f64>(&model, Order::Creation);
    let index = layout.elements.iter().position(|e| e.form == form).expect("an element to test");
    let before = [bodies.now.poses[0], bodies.now.poses[1]];
    let pair = BodyPair::at([0, 1], &bodies.now.poses, &bodies.weights);
    let (mut lambda, mut load) = (V3::ZERO, Wrench::ZERO);
    let (element, frame) = (&layout.elements[index], &layout.frames[index]);
    let after = pair.correct(element, frame, &mut lambda, &mut load, terms);
    let moved = [0, 1].map(|i| {
        let after = [after.a.pose, after.b.pose][i];
        let (before, body) = (&before[i], &scene.bodies[i]);
        let r: Mat3 = body.rotation.to_rotation_matrix().into_inner();
        let turn = after.rotation.times(before.rotation.conjugate());
        let turn = turn.v.to_f64() * (2.0 / turn.w);
        let push = (after.position - before.position).to_f64() * body.mass;
        [push, r * body.inertia * r.transpose() * turn]
    });
    (moved, load.force)
}

fn terms(compliance_scale: f64) -> Terms<f64> {
    Terms {
        inverse_square: compliance_scale,
        square: 1.0 / compliance_scale,
        relaxation: 1.0,
        blocks: PointRule::Direction,
        fresh: true,
        symmetric: false,
    }
}

const CASES: [(JointKind, Form); 8] = [
    (JointKind::Ball, Form::Point),
    (JointKind::Distance { length: 0.7 }, Form::Row(RowKind::Distance)),
    (JointKind::Prismatic, Form::Line),
    (JointKind::Hinge, Form::Axis),
    (JointKind::Fixed, Form::Twist),
    (JointKind::Universal, Form::Row(RowKind::Dot(0, 1))),
    (JointKind::Hinge, Form::Row(RowKind::Angle)),
    (JointKind::Prismatic, Form::Row(RowKind::Slide(0))),
];

/// The Newton step on the norm of the rows, as impulses on both sides.
fn expected(scene: &Scene, form: Form, softness: f64) -> [[Vec3; 2]; 2] {
    let geometry = Geometry::from(&scene.joints[0]);
    let poses = model_poses(scene);
    let rest = match (scene.joints[0].kind, scene.joints[0].limit, form) {
        (JointKind::Distance { length }, ..) => length,
        (_, Some(limit), Form::Row(_)) => limit.upper,
        _ => 0.0,
    };
    let rows: Vec<RowKind> = form.kinds().collect();
    let size = |poses: &[ModelPose; 2]| {
        let value = |row: &RowKind| row.evaluate(&geometry, &poses[0], &poses[1]).value - rest;
        if let [only] = &rows[..] {
            return value(only);
        }
        rows.iter().map(|row| value(row).powi(2)).sum::<f64>().sqrt()
    };
    let gradient = gradient_of(poses, size);
    let mut weight = softness;
    for (body, [linear, angular]) in scene.bodies.iter().zip(&gradient) {
        let r = body.rotation.to_rotation_matrix().into_inner();
        let inverse = (r * body.inertia * r.transpose()).try_inverse().unwrap();
        weight += linear.norm_squared() / body.mass + angular.dot(&(inverse * angular));
    }
    gradient.map(|side| side.map(|g| g * (-size(&poses) / weight)))
}

#[test]
fn compliant_corrections_are_newton_steps_on_the_models_rows() {
    for (joint, form) in CASES {
        let mut scene = scene(joint);
        let one = &mut scene.joints[0];
        (one.compliance_linear, one.compliance_angular) = (0.2, 0.2);
        let bounded = matches!(form, Form::Row(RowKind::Angle | RowKind::Slide(_)));
        if bounded {
            one.limit = Some(Limit { lower: -2.0, upper: -1.0 });
        }
        let (actual, _) = impulses(&scene, form, &terms(3.0));
        // Limits are hard whatever the joint's compliance.
        let wanted = expected(&scene, form, if bounded { 0.0 } else { 0.6 });
        for (actual, wanted) in actual.as_flattened().iter().zip(wanted.as_flattened()) {
            assert!((actual - wanted).norm() < 1e-7, "{form:?}: {actual} for {wanted}");
        }
        assert!(wanted[0][1].norm() > 1e-3, "{form:?} is tested where it acts");
    }
}

#[test]
fn hard_rotations_turn_along_the_gradient_by_the_published_amount() {
    for (joint, form) in CASES {
        if !matches!(form, Form::Axis | Form::Twist) {
            continue;
        }
        let scene = scene(joint);
        let (actual, _) = impulses(&scene, form, &terms(3.0));
        let along = expected(&scene, form, 0.0)[0][1];
        let [torque, opposite] = [actual[0][1], actual[1][1]];
        assert!((torque + opposite).norm() < 1e-12);
        assert!(torque.normalize().dot(&along.normalize()) > 1.0 - 1e-9, "{form:?}");
        // Eq. 11 to 15 with |C| as the angle: both bodies together turn by it about the gradient.
        let n = torque.normalize();
        let turned: f64 = [0, 1]
            .map(|i| {
                let body = &scene.bodies[i];
                let r = body.rotation.to_rotation_matrix().into_inner();
                n.dot(&((r * body.inertia * r.transpose()).try_inverse().unwrap() * actual[i][1]))
            })
            .into_iter()
            .zip([1.0, -1.0])
            .map(|(turn, sign)| turn * sign)
            .sum();
        let poses = model_poses(&scene);
        let geometry = Geometry::from(&scene.joints[0]);
        let square = |row: &RowKind| row.evaluate(&geometry, &poses[0], &poses[1]).value.powi(2);
        let angle = form.kinds().map(|row| square(&row)).sum::<f64>().sqrt();
        assert!((turned - angle).abs() < 1e-9, "{form:?}: {turned} for {angle}");
    }
}

#[test]
fn matrix_blocks_solve_the_linearised_point_at_once() {
    let mut scene = scene(JointKind::Ball);
    // Nearly closed, so that what is left is the square of the error.
    let geometry = Geometry::from(&scene.joints[0]);
    let offset = |scene: &Scene| {
        let [a, b] = model_poses(scene);
        let row = |i| RowKind::Point(i).evaluate(&geometry, &a, &b).value;
        Vec3::new(row(0), row(1), row(2))
    };
    let open = offset(&scene);
    scene.bodies[0].position += Vec3::new(1e-4, -2e-4, 3e-4) - open;
    let by_matrix = Terms { blocks: PointRule::Matrix, ..terms(1.0) };
    let (moved, force) = impulses(&scene, Form::Point, &by_matrix);
    for (body, [push, twist]) in scene.bodies.iter_mut().zip(moved) {
        let r = body.rotation.to_rotation_matrix().into_inner();
        let turn = (r * body.inertia * r.transpose()).try_inverse().unwrap() * twist;
        body.position += push / body.mass;
        body.rotation = Quat::from_scaled_axis(turn) * body.rotation;
    }
    assert!(force.norm() > 1e-5);
    assert!(offset(&scene).norm() < 1e-7, "{}", offset(&scene).norm());
}
