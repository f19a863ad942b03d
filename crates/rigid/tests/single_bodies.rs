//! Closed forms of single-body motion, and the order of convergence towards them.

use std::f64::consts::PI;

use taut_core::{
    Backend, Mat3, Scene, State, Vec3,
    scene::{Body, Endpoint, Joint, JointKind, Limit},
};
use taut_fixtures::{Run, bar_on, elliptic_k, empty, hinged, refusal, rod_quarter_period};
use taut_rigid::BACKEND;

/// The state after `steps` steps of `dt` [s].
fn run(scene: &Scene, dt: f64, steps: u32) -> State {
    run_with("rk4", scene, dt, steps)
}

/// The same by a named integrator.
fn run_with(integrator: &str, scene: &Scene, dt: f64, steps: u32) -> State {
    let scene = Scene { dt, ..scene.clone() };
    Run::new(&BACKEND, &scene, &format!("(integrator: {integrator})"), 1).end(steps)
}

const ROD: (Vec3, f64) = (Vec3::new(1.0, 0.2, 0.1), 50.0);

fn rod() -> Body {
    Body::solid_box(ROD.0, ROD.1)
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
    let fine = run(&scene, 2.0 / 3200.0, 3200).bodies[0].rotation();
    let mut errors = Vec::new();
    for n in [200, 400, 800] {
        let state = run(&scene, 2.0 / f64::from(n), n);
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

/// Where the pendulums hang [m].
const PIVOT: Vec3 = Vec3::new(1.0, 2.0, 3.0);

/// A rod released level about one end, held by its A or its B side.
fn pendulum(kind: JointKind, reversed: bool) -> Scene {
    let mut scene = match kind {
        JointKind::Hinge => hinged(9.81, ROD.0, ROD.1),
        _ => bar_on(9.81, kind, ROD.0, ROD.1),
    };
    scene.bodies[0].position += PIVOT;
    let joint = &mut scene.joints[0];
    joint.anchor_a = PIVOT;
    if reversed {
        (joint.a, joint.b) = (joint.b, joint.a);
        (joint.anchor_a, joint.anchor_b) = (joint.anchor_b, joint.anchor_a);
    }
    scene
}

#[test]
fn a_rod_pendulum_is_vertical_after_the_elliptic_quarter_period() {
    let quarter = rod_quarter_period(&bar_on(9.81, JointKind::Ball, ROD.0, ROD.1));
    for kind in [JointKind::Ball, JointKind::Hinge] {
        for reversed in [false, true] {
            let scene = pendulum(kind, reversed);
            let swing = |n: u32| {
                let body = run(&scene, quarter / f64::from(n), n).bodies[0];
                let anchor = body.point(&Vec3::new(-0.5, 0.0, 0.0));
                assert!((anchor - PIVOT).norm() < 1e-14);
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
        let arm = body.position - PIVOT;
        let kinetic = 0.5 * (body.omega().dot(&spin) + body.velocity.norm_squared());
        [kinetic + 9.81 * body.position.z, (spin + arm.cross(&body.velocity)).z]
    };
    let start = quantities(&run(&scene, 0.0, 1));
    let errors = [400, 800].map(|n| {
        let end = quantities(&run(&scene, 1.0 / f64::from(n), n));
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
        let body = about(&run(&scene, time / steps, steps as u32));
        assert!(body.abs() < 1e-5, "flip {flip} at {time}: {body:e}");
    }
}

/// Both Euler methods on a spinning rod, free, on a ball joint and on a hinge, against Runge-Kutta.
#[test]
fn euler_methods_converge_to_first_order() {
    let mut free = empty(9.81);
    free.bodies.push(Body { omega: Vec3::new(1.0, 4.0, -2.0), ..rod() });
    let mut ball = pendulum(JointKind::Ball, false);
    ball.bodies[0].omega = Vec3::new(3.0, 0.0, 1.0);
    for scene in [free, ball, pendulum(JointKind::Hinge, false)] {
        let exact = run(&scene, 0.5 / 500.0, 500).bodies[0];
        for integrator in ["implicit", "explicit"] {
            let errors = [200, 400, 800].map(|n| {
                let body = run_with(integrator, &scene, 0.5 / f64::from(n), n).bodies[0];
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
        1.0 - energy(&run_with(integrator, &scene, dt, (6.0 / dt).round() as u32)) / start
    };
    let coarse = lost("implicit", 0.01);
    assert!((0.04..0.07).contains(&coarse), "{coarse}");
    let fine = lost("implicit", 0.001);
    assert!((0.004..0.007).contains(&fine), "{fine}");
    assert!(lost("explicit", 0.001) < -1e-3);
    scene.bodies[0].omega = Vec3::new(0.0, 0.0, 3.0);
    let start = energy(&scene.initial_state());
    for integrator in ["implicit", "explicit"] {
        let end = energy(&run_with(integrator, &scene, 0.01, 600));
        assert!((end / start - 1.0).abs() < 1e-12, "{integrator}: {end} {start}");
    }
}

#[test]
fn others_are_refused_with_a_reason() {
    let plain = pendulum(JointKind::Hinge, false);
    assert!(BACKEND.supports(&plain).is_ok());
    let with = |change: &dyn Fn(&mut Joint)| {
        let mut scene = plain.clone();
        change(&mut scene.joints[0]);
        refusal(&BACKEND, &scene)
    };
    assert!(with(&|j| j.compliance_linear = 1.0).contains("compliant"));
    assert!(with(&|j| j.kind = JointKind::Universal).contains("neither"));
    assert!(with(&|j| j.break_force = 1.0).contains("break"));
    let limit = Limit { lower: 0.0, upper: PI };
    assert!(with(&|j| j.limit = Some(limit)).contains("limit"));
    let mut twice = plain.clone();
    twice.joints.push(plain.joints[0].clone());
    assert!(refusal(&BACKEND, &twice).contains("more than one"));
    let mut chain = plain.clone();
    chain.bodies.push(rod());
    chain.joints.push(Joint::new(JointKind::Ball, Endpoint::Body(0), Endpoint::Body(1)));
    assert!(refusal(&BACKEND, &chain).contains("moves"));
}
