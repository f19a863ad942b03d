//! Free motion, equal runs, and reads between iterations.

mod common;

use common::{DT, Run};
use taut_core::{
    Iteration, Mat3, Scene, State, Step, Vec3,
    scene::{Body, Contacts, Endpoint, Joint, JointKind},
};

#[test]
fn free_fall_is_symplectic_euler() {
    let mut scene = Scene { gravity: Vec3::new(0.0, 0.0, -10.0), dt: DT, ..Scene::default() };
    scene.bodies.push(Body::solid_box(Vec3::new(1.0, 2.0, 3.0), 100.0));
    for (settings, h) in [("()", DT / 4.0), ("(variant: pgs)", DT)] {
        let mut run = Run::new(&scene, settings, DT, 4);
        run.steps(60);
        let z = run.state.bodies[0].position.z;
        assert!((z + 5.0 + 5.0 * h).abs() < 1e-10, "{settings}: {z}");
        assert!((run.state.time_s - 1.0).abs() < 1e-12);
    }
}

/// A spinning top keeps its angular momentum to first order and never gains energy.
#[test]
fn gyroscopic_torque_is_implicit() {
    let mut scene = Scene { dt: DT, ..Scene::default() };
    let mut body = Body::solid_box(Vec3::new(1.0, 1.0, 1.0), 1.0);
    body.inertia = Mat3::from_diagonal(&Vec3::new(0.1, 0.2, 0.28));
    // About the intermediate axis, disturbed: it flips again and again.
    body.omega = Vec3::new(0.01, 8.0, 0.0);
    scene.bodies.push(body);
    let momentum = |state: &State| {
        let turn = state.bodies[0].rotation().to_rotation_matrix();
        turn * scene.bodies[0].inertia * turn.transpose() * state.bodies[0].omega()
    };
    let energy = |state: &State| 0.5 * momentum(state).dot(&state.bodies[0].omega());
    let drift = |iterations| {
        let mut run = Run::new(&scene, "()", DT, iterations);
        let (start, most) = (momentum(&run.state), energy(&run.state));
        let mut drift = 0.0_f64;
        for _ in 0..180 {
            run.step();
            drift = drift.max((momentum(&run.state) - start).norm() / start.norm());
            assert!(energy(&run.state) < 1.001 * most);
        }
        drift
    };
    let (coarse, fine) = (drift(4), drift(16));
    assert!(coarse < 0.3 && fine < 0.4 * coarse, "{coarse} {fine}");
}

/// A heap of joined and loose boxes that fall on a floor.
fn heap() -> Scene {
    let mut scene = common::ground(10.0, 0.5);
    scene.contacts = Some(Contacts::default());
    for i in 0..12 {
        let x = f64::from(i % 4) * 1.05;
        let body = Body::solid_box(Vec3::new(1.0, 0.8, 0.6), 2.0);
        scene.bodies.push(body.at(Vec3::new(x, 0.1 * x, 0.35 + 0.7 * f64::from(i / 4))));
    }
    let joint = Joint::new(JointKind::Ball, Endpoint::Body(3), Endpoint::Body(4));
    scene.joints.push(joint.anchored(Vec3::x() * 0.525, Vec3::x() * -0.525));
    scene
}

#[test]
fn equal_runs_have_equal_bits_and_reads_change_nothing() {
    for settings in ["()", "(precision: f32)", "(variant: pgs)", "(order: list)"] {
        let scene = heap();
        let mut plain = Run::new(&scene, settings, DT, 5);
        plain.steps(30);
        let mut watched = Run::new(&scene, settings, DT, 5);
        for again in [false, true] {
            if again {
                watched.solver.load(&scene.initial_state()).unwrap();
            }
            for _ in 0..30 {
                watched.solver.begin_step(Step { dt: DT, iterations: 5 }).unwrap();
                for _ in 0..5 {
                    watched.solver.read(&mut watched.state).unwrap();
                    watched.solver.iterate().unwrap();
                }
                watched.solver.end_step().unwrap();
            }
            watched.solver.read(&mut watched.state).unwrap();
            assert_eq!(watched.state.hash(), plain.state.hash(), "{settings} {again}");
        }
    }
}

#[test]
fn the_last_read_of_a_step_is_its_end_when_iterations_refine() {
    let mut run = Run::new(&heap(), "(variant: pgs)", DT, 5);
    assert_eq!(run.solver.iteration(), Iteration::Refine);
    run.steps(10);
    run.solver.begin_step(Step { dt: DT, iterations: 5 }).unwrap();
    for _ in 0..5 {
        run.solver.iterate().unwrap();
    }
    let mut before = State::default();
    run.solver.read(&mut before).unwrap();
    run.solver.end_step().unwrap();
    run.solver.read(&mut run.state).unwrap();
    assert_eq!(before, run.state);
}

#[test]
fn impulses_follow_the_length_of_a_step() {
    // A weight at rest on a joint stays so when the budget changes: forces carry over, not impulses.
    let mut scene = Scene { gravity: Vec3::new(0.0, 0.0, -10.0), dt: DT, ..Scene::default() };
    scene.bodies.push(Body::solid_box(Vec3::repeat(1.0), 100.0));
    scene.joints.push(Joint::new(JointKind::Ball, Endpoint::World, Endpoint::Body(0)));
    let mut run = Run::new(&scene, "(relax: 0)", DT, 16);
    run.steps(240);
    run.solver.begin_step(Step { dt: DT, iterations: 4 }).unwrap();
    run.solver.iterate().unwrap();
    run.solver.read(&mut run.state).unwrap();
    // Without the factor the first sub-step would fall short of three quarters of its load.
    let speed = run.state.bodies[0].velocity.norm();
    assert!(speed < 0.2 * 10.0 * DT / 4.0, "{speed}");
}
