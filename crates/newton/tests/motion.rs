//! Free and pinned motion against closed forms and conservation laws.

mod support;

use std::f64::consts::FRAC_PI_2;

use support::{advance, earth, pin, rod, run, solver, violation};
use taut_core::{
    Quat, Scene, State, Vec3,
    scene::{Body, Endpoint, Joint, JointKind, Motion, Particle},
};

#[test]
fn free_fall_is_the_closed_form_of_implicit_euler() {
    let mut scene = earth();
    let (start, velocity) = (Vec3::new(1.0, -2.0, 30.0), Vec3::new(3.0, 0.5, 7.0));
    scene.bodies.push(Body { velocity, ..rod().at(start) });
    scene.particles.push(Particle { name: String::new(), mass: 2.0, position: start, velocity });
    let (h, n) = (1.0 / 60.0, 120);
    let state = run(&scene, h, n);
    // x_n = x_0 + n h v_0 + h^2 g n (n + 1) / 2
    let n = n as f64;
    let expected = start + velocity * (n * h) + scene.gravity * (h * h * n * (n + 1.0) / 2.0);
    assert!((state.bodies[0].position - expected).norm() < 1e-12);
    assert!((state.particles[0].position - expected).norm() < 1e-12);
    let expected = velocity + scene.gravity * (n * h);
    assert!((state.bodies[0].velocity - expected).norm() < 1e-12);
}

#[test]
fn a_body_spins_about_a_principal_axis_for_ever() {
    let mut scene = Scene::default();
    scene.bodies.push(Body { omega: Vec3::new(0.0, 0.0, 4.0), ..rod() });
    let state = run(&scene, 0.01, 200);
    let expected = Quat::from_scaled_axis(Vec3::new(0.0, 0.0, 8.0));
    assert!(state.bodies[0].rotation().angle_to(&expected) < 1e-12);
    assert!((state.bodies[0].omega() - Vec3::new(0.0, 0.0, 4.0)).norm() < 1e-12);
}

#[test]
fn a_free_body_keeps_its_angular_momentum_to_rounding() {
    let mut scene = Scene::default();
    scene.bodies.push(Body { omega: Vec3::new(1.0, 5.0, -2.0), ..rod() });
    let before = angular_momentum(&scene, &scene.initial_state());
    let after = angular_momentum(&scene, &run(&scene, 0.01, 300));
    assert!((after - before).norm() < 1e-11 * before.norm());
}

/// A free star of four bodies on balls, a hinge and a fixed joint, tumbling.
fn tumbling() -> Scene {
    let mut scene = Scene::default();
    scene.bodies.push(Body { omega: Vec3::new(1.0, 2.0, -1.0), ..rod() });
    let half = Vec3::new(0.5, 0.0, 0.0);
    let kinds = [JointKind::Ball, JointKind::Hinge, JointKind::Fixed];
    for (i, kind) in kinds.into_iter().enumerate() {
        let velocity = Vec3::new(0.3 * i as f64, -0.5, 1.0);
        let body = Body { velocity, omega: Vec3::new(0.0, 1.0, 2.0), ..rod() };
        scene.bodies.push(body.at(Vec3::new(1.0 + i as f64, 0.0, 0.0)));
        let joint = Joint::new(kind, Endpoint::Body(i), Endpoint::Body(i + 1));
        scene.joints.push(joint.anchored(half, -half));
    }
    scene
}

fn linear_momentum(scene: &Scene, state: &State) -> Vec3 {
    scene.bodies.iter().zip(&state.bodies).map(|(b, s)| s.velocity * b.mass).sum()
}

fn angular_momentum(scene: &Scene, state: &State) -> Vec3 {
    let bodies = scene.bodies.iter().zip(&state.bodies);
    bodies
        .map(|(b, s)| {
            let inertia = s.frame * b.inertia * s.frame.transpose();
            s.position.cross(&s.velocity) * b.mass + inertia * s.omega()
        })
        .sum()
}

#[test]
fn a_free_jointed_system_keeps_its_linear_momentum() {
    let scene = tumbling();
    let start = scene.initial_state();
    let moving: f64 =
        scene.bodies.iter().zip(&start.bodies).map(|(b, s)| b.mass * s.velocity.norm()).sum();
    let end = run(&scene, 1.0 / 60.0, 300);
    let drift = (linear_momentum(&scene, &end) - linear_momentum(&scene, &start)).norm();
    assert!(drift < 1e-9 * moving, "{:e}", drift / moving);
    assert!(violation(&scene, &end) < 1e-10);
}

#[test]
fn angular_momentum_of_a_jointed_system_drifts_to_first_order() {
    let scene = tumbling();
    // After the first step, which makes the velocities consistent with the joints.
    let drift = |n: usize| {
        let (h, mut solver) = (0.5 / n as f64, solver(&scene, "()"));
        let before = angular_momentum(&scene, &advance(solver.as_mut(), h, n / 10));
        (angular_momentum(&scene, &advance(solver.as_mut(), h, 9 * n / 10)) - before).norm()
    };
    let [coarse, middle, fine] = [400, 800, 1600].map(drift);
    for ratio in [coarse / middle, middle / fine] {
        assert!((ratio - 2.0).abs() < 0.15, "{coarse:e} {middle:e} {fine:e}");
    }
}

/// Complete elliptic integral of the first kind by the arithmetic-geometric mean.
fn elliptic_k(modulus: f64) -> f64 {
    let (mut a, mut g) = (1.0_f64, (1.0 - modulus * modulus).sqrt());
    for _ in 0..6 {
        (a, g) = (0.5 * (a + g), (a * g).sqrt());
    }
    FRAC_PI_2 / a
}

/// Time at which a rod released horizontally passes the vertical [s].
fn quarter_period(kind: JointKind, h: f64) -> f64 {
    let mut scene = earth();
    scene.bodies.push(rod());
    scene.joints.push(pin(kind, Vec3::new(-0.5, 0.0, 0.0), 0, Vec3::new(-0.5, 0.0, 0.0)));
    // A hinge turns about x of its basis: here world y.
    let basis = Quat::from_scaled_axis(Vec3::z() * FRAC_PI_2);
    (scene.joints[0].basis_a, scene.joints[0].basis_b) = (basis, basis);
    let mut solver = solver(&scene, "()");
    let mut last = 0.5;
    for step in 1.. {
        let x = advance(solver.as_mut(), h, 1).bodies[0].position.x + 0.5;
        if x < 0.0 {
            return h * (f64::from(step) - x / (x - last));
        }
        last = x;
    }
    unreachable!("a pendulum passes the vertical")
}

#[test]
fn a_rod_pendulum_converges_to_the_elliptic_quarter_period() {
    // T/4 = sqrt(L / g) K(sin(90 deg / 2)) with L = I_pivot / (m d).
    let pivot_inertia = (1.0 + 0.1_f64.powi(2)) / 12.0 + 0.25;
    let exact = (pivot_inertia / 0.5 / 9.81).sqrt() * elliptic_k(0.5_f64.sqrt());
    for kind in [JointKind::Ball, JointKind::Hinge] {
        let errors = [200.0, 400.0, 800.0].map(|n| quarter_period(kind, 1.0 / n) - exact);
        for pair in errors.windows(2) {
            assert!((pair[0] / pair[1] - 2.0).abs() < 0.1, "{kind:?} {errors:?}");
        }
        assert!(errors[2].abs() < 2e-3, "{kind:?} {errors:?}");
    }
}

#[test]
fn a_kinematic_anchor_carries_what_hangs_on_it() {
    let mut scene = earth();
    let (velocity, omega) = (Vec3::new(1.0, 0.0, 0.5), Vec3::new(0.0, 2.0, 0.0));
    let carrier = Body { motion: Motion::Kinematic, mass: 0.0, velocity, omega, ..rod() };
    scene.bodies.push(carrier);
    scene.bodies.push(rod().at(Vec3::new(1.0, 0.0, 0.0)));
    let half = Vec3::new(0.5, 0.0, 0.0);
    let ball = Joint::new(JointKind::Ball, Endpoint::Body(0), Endpoint::Body(1));
    scene.joints.push(ball.anchored(half, -half));
    let state = run(&scene, 0.01, 100);
    assert!((state.bodies[0].position - velocity).norm() < 1e-13);
    assert!(state.bodies[0].rotation().angle_to(&Quat::from_scaled_axis(omega)) < 1e-13);
    assert_eq!(state.bodies[0].velocity, velocity);
    assert!(violation(&scene, &state) < 1e-10);
}
