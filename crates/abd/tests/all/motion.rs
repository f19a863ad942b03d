//! Motions whose implicit Euler solution is known.

use taut_abd::BACKEND;
use taut_core::{
    Backend, Mat3, Scene, State, Vec3, metrics,
    scene::{Body, Endpoint, Joint, JointKind, Limit},
};
use taut_fixtures::{Run, bar_on, empty, hinged, particle, pin, refusal, rod_quarter_period};

fn run(scene: &Scene, settings: &str, dt: f64, steps: u32) -> State {
    Run::new(&BACKEND, &Scene { dt, ..scene.clone() }, settings, 12).end(steps)
}

const ROD: (Vec3, f64) = (Vec3::new(1.0, 0.2, 0.1), 500.0);

#[test]
fn a_stiff_spin_slows_as_implicit_euler_must() {
    let cube = Body::solid_box(Vec3::repeat(1.0), 1000.0);
    for (dt, omega) in [(0.01, 3.0), (0.1, 1.0)] {
        let scene = Scene {
            bodies: vec![Body { omega: Vec3::z() * omega, velocity: Vec3::x(), ..cube.clone() }],
            ..Scene::default()
        };
        // In the stiff limit a turn of t a step becomes atan(sin t / (2 - cos t)).
        // The first step starts from a rate, along the tangent.
        let mut turn: f64 = (omega * dt).atan();
        for _ in 1..20 {
            turn = (turn.sin() / (2.0 - turn.cos())).atan();
        }
        let [before, after] =
            [19, 20].map(|steps| run(&scene, "(wave_speed: 1e4)", dt, steps).bodies[0]);
        let found = before.rotation().angle_to(&after.rotation());
        assert!((found / turn - 1.0).abs() < 1e-4, "{found} {turn}");
        assert!((after.velocity - Vec3::x()).norm() < 1e-12);
        let strain = (after.frame.transpose() * after.frame - Mat3::identity()).norm();
        assert!(strain < 1e-6, "{strain}");
    }
}

/// Both tend to the exact swing, to first order.
#[test]
fn pendulums_converge_to_the_elliptic_quarter_period() {
    for scene in [bar_on(9.81, JointKind::Ball, ROD.0, ROD.1), hinged(9.81, ROD.0, ROD.1)] {
        let quarter = rod_quarter_period(&scene);
        let errors = [100, 200, 400].map(|n| {
            let state = run(&scene, "()", quarter / f64::from(n), n);
            assert!(metrics::joint_errors(&scene, &state).max_m < 1e-4);
            state.bodies[0].position.x.abs()
        });
        for pair in errors.windows(2) {
            assert!((pair[0] / pair[1] - 2.0).abs() < 0.1, "{errors:?}");
        }
        assert!(errors[2] < 0.01, "{errors:?}");
    }
}

/// The gap is load over stiffness, 100 (m_a + m_b)/h^2 by default.
#[test]
fn a_joint_gives_way_by_its_load() {
    let mut scene = empty(9.81);
    for i in 0..2 {
        let at = Vec3::z() * -(0.5 + f64::from(i));
        scene.bodies.push(Body::solid_box(Vec3::new(0.2, 0.2, 1.0), 500.0).at(at));
    }
    let half = Vec3::z() * 0.5;
    scene.joints.push(pin(JointKind::Ball, Vec3::zeros(), 0, half));
    let between = Joint::new(JointKind::Fixed, Endpoint::Body(0), Endpoint::Body(1));
    scene.joints.push(between.anchored(-half, half));
    let (h, mass) = (0.01, scene.bodies[0].mass);
    let state = run(&scene, "()", h, 400);
    let gap = metrics::joint_errors(&scene, &state).max_m;
    let expected = 2.0 * mass * 9.81 / (100.0 * mass / (h * h));
    assert!((gap / expected - 1.0).abs() < 1e-2, "{gap:e} {expected:e}");
    assert!(state.bodies[1].velocity.norm() < 1e-6);
}

#[test]
fn others_are_refused_with_a_reason() {
    let plain = hinged(9.81, ROD.0, ROD.1);
    assert!(BACKEND.supports(&plain).is_ok());
    let with = |change: &dyn Fn(&mut Scene)| {
        let mut scene = plain.clone();
        change(&mut scene);
        refusal(&BACKEND, &scene)
    };
    assert!(with(&|s| s.joints[0].kind = JointKind::Universal).contains("coinciding points"));
    assert!(with(&|s| s.joints[0].compliance_linear = 1.0).contains("compliant"));
    assert!(with(&|s| s.joints[0].break_force = 1.0).contains("break"));
    let limit = Some(Limit { lower: 0.0, upper: 1.0 });
    assert!(with(&|s| s.joints[0].limit = limit).contains("limit"));
    assert!(with(&|s| s.particles.push(particle(1.0, Vec3::zeros()))).contains("particles"));
}
