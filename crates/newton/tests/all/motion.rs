//! Free and pinned motion against closed forms and conservation laws.

use taut_core::{
    Quat, Scene, State, Vec3, metrics,
    scene::{Body, Endpoint, Joint, JointKind, Spring, SpringKind},
};
use taut_fixtures::{Run, bar_on, hinged, rod_quarter_period};
use taut_newton::BACKEND;

/// Of a rod of 1 m and 1 kg.
const ROD: (Vec3, f64) = (Vec3::new(1.0, 0.2, 0.1), 50.0);

fn rod() -> Body {
    Body::solid_box(ROD.0, ROD.1)
}

/// The state after `steps` steps of `dt` [s] from the scene's start.
fn run(scene: &Scene, dt: f64, steps: u32) -> State {
    Run::new(&BACKEND, &Scene { dt, ..scene.clone() }, "()", 1).end(steps)
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
    let momentum = |state: &State| metrics::momentum(&scene, state).angular_kg_m2_s;
    let before = momentum(&scene.initial_state());
    let after = momentum(&run(&scene, 0.01, 300));
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

#[test]
fn angular_momentum_of_a_jointed_system_drifts_to_first_order() {
    let scene = tumbling();
    let momentum = |state: &State| metrics::momentum(&scene, state).angular_kg_m2_s;
    // After the first step, which makes the velocities consistent with the joints.
    let drift = |n: u32| {
        let scene = Scene { dt: 0.5 / f64::from(n), ..scene.clone() };
        let mut run = Run::new(&BACKEND, &scene, "()", 1);
        let before = momentum(run.steps(n / 10));
        (momentum(run.steps(9 * n / 10)) - before).norm()
    };
    let [coarse, middle, fine] = [400, 800, 1600].map(drift);
    for ratio in [coarse / middle, middle / fine] {
        assert!((ratio - 2.0).abs() < 0.15, "{coarse:e} {middle:e} {fine:e}");
    }
}

/// Time at which a rod released level passes the vertical [s].
fn quarter_period(scene: &Scene, h: f64) -> f64 {
    let mut run = Run::new(&BACKEND, &Scene { dt: h, ..scene.clone() }, "()", 1);
    let mut last = 0.5;
    for step in 1.. {
        let x = run.step().bodies[0].position.x;
        if x < 0.0 {
            return h * (f64::from(step) - x / (x - last));
        }
        last = x;
    }
    unreachable!("a pendulum passes the vertical")
}

/// A body on a spring of 1 N m/rad wound by 120 degrees swings as `a0 cos(sqrt(k/I) t)`.
#[test]
fn a_wound_spring_swings_as_the_cosine_and_converges_to_it() {
    let (a, b) = (Endpoint::World, Endpoint::Body(0));
    let start = 120.0_f64.to_radians();
    let mut scene = Scene::default();
    let body = rod();
    let inertia = body.inertia.m11;
    let rotation = Quat::from_scaled_axis(Vec3::x() * start);
    scene.bodies.push(Body { rotation, ..body });
    let mut joint = Joint::new(JointKind::Hinge, a, b);
    joint.basis_b = Quat::identity();
    scene.joints.push(joint);
    let kind = SpringKind::Angular { basis_a: Quat::identity(), basis_b: Quat::identity() };
    scene.springs.push(Spring {
        name: String::new(),
        kind,
        a,
        b,
        stiffness: 4.0 * inertia,
        damping: 0.0,
    });
    let off = |steps: u32| {
        let end = run(&scene, 1.0 / f64::from(steps), steps);
        end.bodies[0].rotation().scaled_axis().x - start * 2.0_f64.cos()
    };
    let (coarse, fine) = (off(500), off(1000));
    assert!(fine.abs() < 5e-3, "{fine} rad after a second");
    assert!((coarse / fine - 2.0).abs() < 0.05, "first order: {coarse}, {fine}");
}

#[test]
fn a_rod_pendulum_converges_to_the_elliptic_quarter_period() {
    for scene in [bar_on(9.81, JointKind::Ball, ROD.0, ROD.1), hinged(9.81, ROD.0, ROD.1)] {
        let exact = rod_quarter_period(&scene);
        let errors = [200.0, 400.0, 800.0].map(|n| quarter_period(&scene, 1.0 / n) - exact);
        for pair in errors.windows(2) {
            assert!((pair[0] / pair[1] - 2.0).abs() < 0.1, "{errors:?}");
        }
        assert!(errors[2].abs() < 2e-3, "{errors:?}");
    }
}
