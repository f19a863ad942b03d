//! What is of this method alone: how deep its contacts sink, its box of friction, its gyroscopic torque, and
//! how it starts from the forces of the step before.

use taut_core::{
    Mat3, Scene, State, Step, Vec3, metrics,
    scene::{Body, JointKind},
};
use taut_fixtures::{DT, Run, coulomb_way, cube, empty, floor, pin, touching};
use taut_impulse::BACKEND;

const G: f64 = 10.0;

/// Soft contacts and rigid ones, with the step or sub-step of each at four iterations [s].
const SETTINGS: [(&str, f64); 5] = [
    ("()", DT / 4.0),
    ("(contact_stabilisation: baumgarte, joint_stabilisation: baumgarte)", DT / 4.0),
    ("(variant: pgs)", DT),
    ("(precision: f32)", DT / 4.0),
    ("(order: list)", DT / 4.0),
];

/// Soft contacts sink by weight over stiffness, each of a cube's four by depth `g / w^2` of what it bears with
/// `(h w)^2 = 1.6`, the stiffest stable spring with one relaxation; rigid ones by no more than the overlap that
/// they leave.
fn check_sunk(settings: &str, h: f64, load: f64, sunk: f64) {
    if settings.contains("baumgarte") || settings.contains("pgs") {
        assert!((-1e-9..2.0 * G * h * h).contains(&sunk), "{settings}: {sunk}");
    } else {
        let soft = load * G * h * h / 1.6;
        assert!((sunk - soft).abs() < 4e-3 * soft + 2e-6, "{settings}: {sunk} for {soft}");
    }
}

#[test]
fn a_box_sinks_by_its_weight_over_the_stiffness_of_contacts() {
    for (settings, h) in SETTINGS {
        let mut run = Run::new(&BACKEND, &touching(G, vec![floor(0.5), cube(0.5)]), settings, 4);
        let settled = run.steps(600).bodies[1];
        check_sunk(settings, h, 1.0, 0.5 - settled.position.z);
        assert!(settled.velocity.norm() < 1e-6, "{settings}: {}", settled.velocity);
        let creep = (run.steps(600).bodies[1].position - settled.position).norm();
        assert!(creep < 1e-7, "{settings}: {creep}");
    }
}

/// A bound on the speed of pushing apart must not bound the force too.
#[test]
fn what_bears_a_heavy_load_stops_sinking() {
    for (settings, h) in SETTINGS {
        let load = Body::solid_box(Vec3::repeat(2.0), 299.0 / 8.0).at(Vec3::z() * 2.0);
        let scene = touching(G, vec![floor(0.5), cube(0.5), load]);
        let body = Run::new(&BACKEND, &scene, settings, 4).end(1200).bodies[1];
        check_sunk(settings, h, 300.0, 0.5 - body.position.z);
        assert!(body.velocity.norm() < 1e-4, "{settings}: {}", body.velocity);
    }
}

#[test]
fn a_friction_box_is_stronger_along_its_diagonal() {
    let mut block = Body::solid_box(Vec3::new(1.0, 1.0, 0.5), 1.0).at(Vec3::z() * 0.25);
    block.velocity = Vec3::new(1.0, 1.0, 0.0) * (10.0 / 2_f64.sqrt());
    let scene = touching(G, vec![floor(0.5), block]);
    let end = Run::new(&BACKEND, &scene, "(friction: box)", 4).end(200);
    let ratio = end.bodies[1].position.norm() / coulomb_way(10.0, 0.5 * G, DT / 4.0);
    assert!((ratio * 2_f64.sqrt() - 1.0).abs() < 0.01, "{ratio}");
}

/// A spinning top keeps its angular momentum to first order and never gains energy.
#[test]
fn gyroscopic_torque_is_implicit() {
    let mut body = cube(0.0);
    body.inertia = Mat3::from_diagonal(&Vec3::new(0.1, 0.2, 0.28));
    // About the intermediate axis, disturbed: it flips again and again.
    body.omega = Vec3::new(0.01, 8.0, 0.0);
    let scene = Scene { bodies: vec![body], ..empty(0.0) };
    let momentum = |state: &State| metrics::momentum(&scene, state).angular_kg_m2_s;
    let energy = |state: &State| metrics::energy(&scene, state).kinetic_j;
    let drift = |iterations| {
        let path = Run::new(&BACKEND, &scene, "()", iterations).path(180);
        let start = momentum(&path[0]);
        assert!(path.iter().all(|state| energy(state) < 1.001 * energy(&path[0])));
        let drift = path.iter().map(|state| (momentum(state) - start).norm() / start.norm());
        drift.fold(0.0, f64::max)
    };
    let (coarse, fine) = (drift(4), drift(16));
    assert!(coarse < 0.3 && fine < 0.4 * coarse, "{coarse} {fine}");
}

/// A weight at rest on a joint stays so when the budget changes: forces carry over, not impulses.
#[test]
fn impulses_follow_the_length_of_a_step() {
    let mut scene = Scene { bodies: vec![cube(0.0)], ..empty(G) };
    scene.joints.push(pin(JointKind::Ball, Vec3::zeros(), 0, Vec3::zeros()));
    let mut run = Run::new(&BACKEND, &scene, "(relax: 0)", 16);
    run.steps(240);
    run.solver.begin_step(Step { dt: DT, iterations: 4 }).unwrap();
    run.solver.iterate().unwrap();
    run.solver.read(&mut run.state).unwrap();
    // Without the factor the first sub-step would fall short of three quarters of its load.
    let speed = run.state.bodies[0].velocity.norm();
    assert!(speed < 0.2 * G * DT / 4.0, "{speed}");
}
