//! Closed forms of single-body motion, and the order of convergence towards them.

use std::f64::consts::{FRAC_PI_2, PI};

use taut_core::{
    Backend, Mat3, NoDevices, Quat, Scene, Settings, State, Step, Vec3,
    scene::{Body, Endpoint, Joint, JointKind, Motion, Particle},
};

/// The state after `steps` steps of `dt` [s] with `substeps` integrator steps each.
fn run(scene: &Scene, dt: f64, steps: usize, substeps: u32) -> State {
    run_with("rk4", scene, dt, steps, substeps)
}

/// The same by a named integrator.
fn run_with(integrator: &str, scene: &Scene, dt: f64, steps: usize, substeps: u32) -> State {
    let settings = Settings::from_ron(format!("(integrator: {integrator})"));
    let built = taut_rigid::BACKEND.build(scene, &settings, &NoDevices);
    let mut solver = built.expect("scene is supported");
    for _ in 0..steps {
        solver.begin_step(Step { dt, iterations: substeps }).expect("begins");
        for _ in 0..substeps {
            solver.iterate().expect("iterates");
        }
        solver.end_step().expect("ends");
    }
    let mut state = State::default();
    solver.read(&mut state).expect("reads");
    state
}

fn earth() -> Scene {
    Scene { gravity: Vec3::new(0.0, 0.0, -9.81), ..Scene::default() }
}

fn rod() -> Body {
    Body::solid_box(Vec3::new(1.0, 0.2, 0.1), 50.0)
}

/// Arithmetic-geometric mean: `K(k) = (pi / 2) / agm(1, k')` with the complementary modulus `k'`.
fn elliptic_k(complement: f64) -> f64 {
    let (mut a, mut g) = (1.0, complement);
    for _ in 0..8 {
        (a, g) = (0.5 * (a + g), (a * g).sqrt());
    }
    FRAC_PI_2 / a
}

#[test]
fn free_fall_is_a_parabola() {
    let mut scene = earth();
    let (position, velocity) = (Vec3::new(1.0, 2.0, 50.0), Vec3::new(3.0, -1.0, 4.0));
    scene.bodies.push(Body { velocity, ..rod().at(position) });
    scene.particles.push(Particle { name: String::new(), mass: 1.0, position, velocity });
    scene.particles.push(Particle { name: String::new(), mass: 0.0, position, velocity });
    let state = run(&scene, 0.1, 20, 3);
    let expected = position + velocity * 2.0 + scene.gravity * 2.0;
    assert!((state.bodies[0].position - expected).norm() < 1e-12);
    assert!((state.particles[0].position - expected).norm() < 1e-12);
    assert_eq!(state.particles[1].position, position);
    assert!((state.time_s - 2.0).abs() < 1e-12);
}

#[test]
fn a_free_top_converges_to_fourth_order() {
    let mut scene = Scene::default();
    scene.bodies.push(Body { omega: Vec3::new(1.0, 4.0, -2.0), ..rod() });
    let inertia = scene.bodies[0].inertia;
    let energy = |state: &State| {
        let body = &state.bodies[0];
        0.5 * body.omega().dot(&(body.frame * inertia * body.frame.transpose() * body.omega()))
    };
    let start = energy(&scene.initial_state());
    let fine = run(&scene, 2.0 / 3200.0, 3200, 1).bodies[0].rotation();
    let mut errors = Vec::new();
    for n in [200, 400, 800] {
        let state = run(&scene, 2.0 / n as f64, n, 1);
        let body = &state.bodies[0];
        let momentum = body.frame * inertia * body.frame.transpose() * body.omega();
        let before = inertia * scene.bodies[0].omega;
        assert!((momentum - before).norm() < 1e-12 * before.norm(), "momentum is kept exactly");
        errors.push([(energy(&state) - start).abs(), body.rotation().angle_to(&fine)]);
    }
    for pair in errors.windows(2) {
        assert!((pair[0][0] / pair[1][0] - 16.0).abs() < 2.0, "energy {errors:?}");
        assert!((pair[0][1] / pair[1][1] - 16.0).abs() < 2.0, "rotation {errors:?}");
    }
}

/// A rod released horizontally about one end, held by its A or its B side.
fn pendulum(kind: JointKind, reversed: bool) -> Scene {
    let mut scene = earth();
    let (point, end) = (Vec3::new(1.0, 2.0, 3.0), Vec3::new(-0.5, 0.0, 0.0));
    scene.bodies.push(rod().at(point - end));
    let body = Endpoint::Body(0);
    let mut joint = if reversed {
        Joint::new(kind, body, Endpoint::World).anchored(end, point)
    } else {
        Joint::new(kind, Endpoint::World, body).anchored(point, end)
    };
    // A hinge turns about x of its basis: here world y.
    let basis = Quat::from_scaled_axis(Vec3::z() * FRAC_PI_2);
    (joint.basis_a, joint.basis_b) = (basis, basis);
    scene.joints.push(joint);
    scene
}

#[test]
fn a_rod_pendulum_is_vertical_after_the_elliptic_quarter_period() {
    // T/4 = sqrt(L / g) K(sin 45 deg) with L = I_pivot / (m d).
    let pivot_inertia = (1.0 + 0.1_f64.powi(2)) / 12.0 + 0.25;
    let quarter = (pivot_inertia / 0.5 / 9.81).sqrt() * elliptic_k(0.5_f64.sqrt());
    for kind in [JointKind::Ball, JointKind::Hinge] {
        for reversed in [false, true] {
            let scene = pendulum(kind, reversed);
            let swing = |n: usize| {
                let body = run(&scene, quarter / n as f64, n, 1).bodies[0];
                let anchor = body.point(&Vec3::new(-0.5, 0.0, 0.0));
                assert!((anchor - Vec3::new(1.0, 2.0, 3.0)).norm() < 1e-14);
                let arm = body.position - anchor;
                assert!((body.velocity - body.omega().cross(&arm)).norm() < 1e-13);
                arm.x
            };
            let errors = [50, 100, 200].map(swing);
            for pair in errors.windows(2) {
                assert!((pair[0] / pair[1] - 16.0).abs() < 2.0, "{kind:?} {errors:?}");
            }
            assert!(errors[2].abs() < 1e-8, "{kind:?} {errors:?}");
        }
    }
}

#[test]
fn a_heavy_top_keeps_energy_and_vertical_momentum() {
    let mut scene = pendulum(JointKind::Ball, false);
    scene.bodies[0].omega = Vec3::new(20.0, 0.0, 3.0);
    let quantities = |state: &State| {
        let body = &state.bodies[0];
        let inertia = body.frame * scene.bodies[0].inertia * body.frame.transpose();
        let spin = inertia * body.omega();
        let arm = body.position - Vec3::new(1.0, 2.0, 3.0);
        let kinetic = 0.5 * (body.omega().dot(&spin) + body.velocity.norm_squared());
        [kinetic + 9.81 * body.position.z, (spin + arm.cross(&body.velocity)).z]
    };
    let start = quantities(&run(&scene, 0.0, 1, 1));
    let errors = [400, 800].map(|n| {
        let end = quantities(&run(&scene, 1.0 / n as f64, n, 1));
        [(end[0] - start[0]).abs(), (end[1] - start[1]).abs()]
    });
    for (i, (coarse, fine)) in errors[0].into_iter().zip(errors[1]).enumerate() {
        assert!(fine < 1e-7 && coarse > 10.0 * fine || fine < 1e-13, "{i}: {errors:?}");
    }
}

#[test]
fn a_t_handle_flips_when_the_elliptic_functions_say() {
    // Principal moments of a crossbar of 0.30 m and a stem of 0.12 m, spun about the middle one with
    // a thousandth about the smallest.
    let moments = [1.2476e-3, 4.5401e-3, 5.5734e-3];
    let [i1, i2, i3] = moments;
    let omega = Vec3::new(3e-3, 3.0, 0.0);
    let mut scene = Scene::default();
    let inertia = Mat3::from_diagonal(&Vec3::from(moments));
    scene.bodies.push(Body { inertia, omega, mass: 0.7398, ..rod() });
    // Euler's equations: w2 is a Jacobi cosine amplitude whose zeros are K and then 2 K apart.
    let twice_energy = i1 * omega.x.powi(2) + i2 * omega.y.powi(2);
    let square = (i1 * omega.x).powi(2) + (i2 * omega.y).powi(2);
    let fast = (i2 - i1) * (twice_energy * i3 - square);
    let slow = (i3 - i2) * (square - twice_energy * i1);
    let first = elliptic_k((1.0 - slow / fast).sqrt()) / (fast / (i1 * i2 * i3)).sqrt();
    assert!((first - 3.919).abs() < 1e-3, "the period of the published geometry: {first}");
    let h = 1e-3;
    let about = |state: &State| {
        let body = &state.bodies[0];
        body.frame.column(1).dot(&body.omega())
    };
    for flip in 0..5 {
        // At the flip, the component about the middle axis vanishes and changes sign.
        let time = first * f64::from(2 * flip + 1);
        let steps = (time / h).ceil();
        let body = about(&run(&scene, time / steps, steps as usize, 1));
        assert!(body.abs() < 1e-5, "flip {flip} at {time}: {body:e}");
    }
}

/// Both Euler methods on a spinning rod, free, on a ball joint and on a hinge, against Runge-Kutta.
#[test]
fn euler_methods_converge_to_first_order() {
    let mut free = earth();
    free.bodies.push(Body { omega: Vec3::new(1.0, 4.0, -2.0), ..rod() });
    let mut ball = pendulum(JointKind::Ball, false);
    ball.bodies[0].omega = Vec3::new(3.0, 0.0, 1.0);
    for scene in [free, ball, pendulum(JointKind::Hinge, false)] {
        let exact = run(&scene, 0.5 / 500.0, 500, 1).bodies[0];
        for integrator in ["implicit", "explicit"] {
            let errors = [200, 400, 800].map(|n| {
                let body = run_with(integrator, &scene, 0.5 / n as f64, n, 1).bodies[0];
                let [turn, place] = [
                    body.rotation().angle_to(&exact.rotation()),
                    (body.position - exact.position).norm(),
                ];
                turn + place
            });
            for pair in errors.windows(2) {
                assert!((pair[0] / pair[1] - 2.0).abs() < 0.1, "{integrator} {errors:?}");
            }
        }
    }
}

/// Per flip of a T-handle, backward Euler loses 4 to 7 % of the kinetic energy at a step of 0.01 s and a
/// tenth of that at 0.001 s; forward Euler gains. Momentum about the axis of a steady spin is kept.
#[test]
fn backward_euler_damps_a_flip_and_forward_euler_does_not() {
    let moments = Vec3::new(1.2476e-3, 4.5401e-3, 5.5734e-3);
    let mut scene = Scene::default();
    let inertia = Mat3::from_diagonal(&moments);
    let omega = Vec3::new(3e-3, 3.0, 0.0);
    scene.bodies.push(Body { inertia, omega, mass: 0.7398, ..rod() });
    let energy = |state: &State| {
        let body = &state.bodies[0];
        let local = body.frame.transpose() * body.omega();
        0.5 * local.dot(&(inertia * local))
    };
    let start = energy(&scene.initial_state());
    // Just past the first flip, at 3.919 s.
    let lost = |integrator: &str, dt: f64| {
        1.0 - energy(&run_with(integrator, &scene, dt, (6.0 / dt).round() as usize, 1)) / start
    };
    let coarse = lost("implicit", 0.01);
    assert!((0.04..0.07).contains(&coarse), "{coarse}");
    let fine = lost("implicit", 0.001);
    assert!((0.004..0.007).contains(&fine), "{fine}");
    assert!(lost("explicit", 0.001) < -1e-3);
    scene.bodies[0].omega = Vec3::new(0.0, 0.0, 3.0);
    let start = energy(&scene.initial_state());
    for integrator in ["implicit", "explicit"] {
        let end = energy(&run_with(integrator, &scene, 0.01, 600, 1));
        assert!((end / start - 1.0).abs() < 1e-12, "{integrator}: {end} {start}");
    }
}

#[test]
fn others_are_refused_with_a_reason() {
    let reason = |scene: &Scene| match taut_rigid::BACKEND.supports(scene) {
        Ok(()) => String::new(),
        Err(error) => error.to_string(),
    };
    let plain = pendulum(JointKind::Hinge, false);
    assert_eq!(reason(&plain), "");
    let with = |change: &dyn Fn(&mut Joint)| {
        let mut scene = plain.clone();
        change(&mut scene.joints[0]);
        reason(&scene)
    };
    assert!(with(&|j| j.compliance_linear = 1.0).contains("compliant"));
    assert!(with(&|j| j.kind = JointKind::Universal).contains("neither"));
    assert!(with(&|j| j.break_force = 1.0).contains("break"));
    let limit = taut_core::scene::Limit { lower: 0.0, upper: PI };
    assert!(with(&|j| j.limit = Some(limit)).contains("limit"));
    let mut twice = plain.clone();
    twice.joints.push(plain.joints[0].clone());
    assert!(reason(&twice).contains("more than one"));
    let mut chain = plain.clone();
    chain.bodies.push(rod());
    chain.joints.push(Joint::new(JointKind::Ball, Endpoint::Body(0), Endpoint::Body(1)));
    assert!(reason(&chain).contains("moves"));
}

#[test]
fn static_and_kinematic_bodies_move_as_prescribed() {
    let mut scene = earth();
    scene.bodies.push(rod().fixed());
    let (velocity, omega) = (Vec3::x(), Vec3::new(0.0, 0.0, 2.0));
    scene.bodies.push(Body { motion: Motion::Kinematic, mass: 0.0, velocity, omega, ..rod() });
    let state = run(&scene, 0.01, 100, 1);
    assert_eq!(state.bodies[0], scene.initial_state().bodies[0]);
    assert!((state.bodies[1].position - velocity).norm() < 1e-13);
    assert!(state.bodies[1].rotation().angle_to(&Quat::from_scaled_axis(omega)) < 1e-12);
}
