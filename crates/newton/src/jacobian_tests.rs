//! The Newton matrix against central differences of the residual it is meant to be the derivative of.

use taut_core::{
    Mat3, Scene, Vec3,
    energy::Membrane,
    scene::{
        Anchor, Body, Contacts, ElasticPart, Endpoint, Joint, JointKind, Limit, Motor, Particle,
        Spring, SpringKind,
    },
};
use taut_fixtures::Numbers;

use crate::{
    settings::{NewtonSettings, RotationEquation},
    step::Stepper,
};

const KINDS: [JointKind; 8] = [
    JointKind::Ball,
    JointKind::Hinge,
    JointKind::Universal,
    JointKind::Prismatic,
    JointKind::Fixed,
    JointKind::Distance { length: 0.7 },
    JointKind::Hinge,
    JointKind::Cylindrical,
];

/// A chain with one joint of every kind, a hinge and a slider with limits and motors, springs of
/// both kinds and triangles between bodies and particles, and an anchor in the world at either end.
fn everything(numbers: &mut Numbers) -> Scene {
    let mut scene = Scene { gravity: Vec3::new(0.0, 0.0, -9.81), ..Scene::default() };
    for _ in 0..8 {
        let mut body = Body::solid_box(Vec3::new(1.0, 0.5, 0.3), 20.0).at(numbers.vector() * 2.0);
        let skewed = numbers.rotation().to_rotation_matrix().into_inner();
        body.inertia = skewed * body.inertia * skewed.transpose() + Mat3::identity() * 0.01;
        body.rotation = numbers.rotation();
        body.velocity = numbers.vector();
        body.omega = numbers.vector() * 5.0;
        scene.bodies.push(body);
    }
    for i in 0..2 {
        let (position, velocity) = (numbers.vector(), numbers.vector());
        let mass = if i == 0 { 0.3 } else { 2.0 };
        let name = String::new();
        scene.particles.push(Particle { name, mass, position, velocity, touch: None });
    }
    for (i, kind) in KINDS.into_iter().enumerate() {
        let mut joint = Joint::new(kind, Endpoint::Body(i), Endpoint::Body(i + 1))
            .anchored(numbers.vector(), numbers.vector());
        (joint.basis_a, joint.basis_b) = (numbers.rotation(), numbers.rotation());
        joint.compliance_linear = if i % 2 == 0 { 0.0 } else { 1e-4 };
        joint.compliance_angular = if i % 3 == 0 { 0.0 } else { 1e-3 };
        if matches!(kind, JointKind::Hinge | JointKind::Prismatic | JointKind::Cylindrical) {
            joint.limit = Some(Limit { lower: -0.1, upper: 0.1 });
            joint.motor = Some(Motor { speed: 1.0, max_effort: if i == 6 { 1e9 } else { 1.0 } });
        }
        scene.joints.push(joint);
    }
    let ball = Joint::new(JointKind::Ball, Endpoint::World, Endpoint::Body(0));
    scene.joints.push(ball.anchored(numbers.vector(), numbers.vector()));
    let rope = JointKind::Distance { length: 0.5 };
    scene.joints.push(
        Joint::new(rope, Endpoint::Particle(0), Endpoint::Body(7))
            .anchored(Vec3::zeros(), numbers.vector()),
    );
    let mut spring = |kind, a, b| {
        let name = String::new();
        scene.springs.push(Spring { name, kind, a, b, stiffness: 300.0, damping: 0.0 });
    };
    let linear = SpringKind::Linear {
        anchor_a: numbers.vector(),
        anchor_b: numbers.vector(),
        rest_length: 0.4,
    };
    spring(linear, Endpoint::Body(0), Endpoint::Body(3));
    spring(linear, Endpoint::Particle(0), Endpoint::Particle(1));
    spring(linear, Endpoint::World, Endpoint::Particle(1));
    let angular = SpringKind::Angular { basis_a: numbers.rotation(), basis_b: numbers.rotation() };
    spring(angular, Endpoint::Body(2), Endpoint::Body(5));
    spring(angular, Endpoint::World, Endpoint::Body(7));
    for ends in [
        [Endpoint::Particle(0), Endpoint::Particle(1), Endpoint::World],
        [Endpoint::Body(1), Endpoint::Particle(1), Endpoint::Body(4)],
        [Endpoint::Body(3), Endpoint::Body(6), Endpoint::Body(3)],
    ] {
        let rest = [numbers.vector(), numbers.vector(), numbers.vector()];
        scene.triangles.push(ElasticPart {
            name: String::new(),
            ends: ends.map(|end| Anchor { end, local: on(end, numbers.vector()) }),
            energy: Membrane::new(&rest, 0.01, 1e4, 0.3).unwrap().into(),
        });
    }
    scene
}

/// A particle is its own anchor.
fn on(end: Endpoint, local: Vec3) -> Vec3 {
    if matches!(end, Endpoint::Particle(_)) { Vec3::zeros() } else { local }
}

#[test]
fn the_matrix_is_the_derivative_of_the_residual() {
    for rotation in [RotationEquation::Momentum, RotationEquation::Variational] {
        for seed in [1, 7, 23] {
            let mut numbers = Numbers(seed);
            let scene = everything(&mut numbers);
            let settings =
                NewtonSettings { rotation, regularisation: 0.0, ..NewtonSettings::default() };
            let mut stepper = Stepper::new(&scene, settings).unwrap();
            stepper.load(&scene.initial_state());
            stepper.begin(0.02);
            stepper.disturb(|| numbers.number());
            stepper.broken[2] = true;
            let worst = stepper.derivative_error();
            assert!(worst < 2e-6, "{rotation:?} seed {seed}: {worst:e}");
        }
    }
}

#[test]
fn the_matrix_is_the_derivative_of_the_residual_where_bodies_touch() {
    let mut numbers = Numbers(5);
    let mut scene = Scene { contacts: Some(Contacts::default()), ..Scene::default() };
    scene.bodies.push(Body::solid_box(Vec3::new(4.0, 4.0, 1.0), 1.0).fixed());
    for i in 0..2 {
        let mut body = Body::solid_box(Vec3::new(1.0, 0.5, 0.4), 20.0);
        body.position = Vec3::new(0.1 * f64::from(i), 0.0, 0.7 + 0.4 * f64::from(i));
        body.omega = numbers.vector() * 5.0;
        scene.bodies.push(body);
    }
    let ball = Joint::new(JointKind::Ball, Endpoint::World, Endpoint::Body(2));
    scene.joints.push(ball.anchored(numbers.vector(), numbers.vector()));
    for width in [0.0, 0.05] {
        for rotation in [RotationEquation::Momentum, RotationEquation::Variational] {
            let settings = NewtonSettings {
                rotation,
                regularisation: 0.0,
                contact_regularisation: 0.0,
                ..NewtonSettings::default()
            };
            let mut stepper = Stepper::new(&scene, settings).unwrap();
            stepper.load(&scene.initial_state());
            stepper.detect(0.02).unwrap();
            let mut forces = Vec::new();
            stepper.report_contacts(&mut forces);
            assert_eq!(forces.len(), 8);
            stepper.begin(0.02);
            stepper.disturb(|| numbers.number());
            if width > 0.0 {
                stepper.soften(width);
            }
            let worst = stepper.derivative_error();
            assert!(worst < 2e-6, "{rotation:?} width {width}: {worst:e}");
        }
    }
}
