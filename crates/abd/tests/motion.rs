//! Motions whose implicit Euler solution is known.

use taut_core::{
    Backend, Mat3, NoDevices, Scene, Settings, State, Step, Vec3, metrics,
    scene::{Body, Contacts, Endpoint, Joint, JointKind, Limit, Motion, Particle},
};

fn run(scene: &Scene, settings: &str, dt: f64, steps: usize) -> State {
    let settings = Settings::from_ron(settings);
    let built = taut_abd::BACKEND.build(scene, &settings, &NoDevices);
    let mut solver = built.expect("scene is supported");
    for _ in 0..steps {
        solver.begin_step(Step { dt, iterations: 12 }).expect("begins");
        (0..12).for_each(|_| solver.iterate().expect("iterates"));
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
    Body::solid_box(Vec3::new(1.0, 0.2, 0.1), 500.0)
}

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

#[test]
fn it_falls_as_implicit_euler_must() {
    let mut scene = earth();
    scene.bodies.push(rod());
    let body = run(&scene, "()", 0.01, 50).bodies[0];
    let fallen = -9.81 * 0.01 * 0.01 * (50.0 * 51.0 / 2.0);
    assert!((body.position.z - fallen).abs() < 1e-11, "{}", body.position.z - fallen);
    assert!((body.velocity.z + 9.81 * 0.5).abs() < 1e-10);
}

fn pendulum(kind: JointKind) -> Scene {
    let mut scene = earth();
    scene.bodies.push(rod().at(Vec3::x() * 0.5));
    let joint = Joint::new(kind, Endpoint::World, Endpoint::Body(0));
    scene.joints.push(Joint {
        basis_a: taut_core::Quat::from_scaled_axis(Vec3::z() * std::f64::consts::FRAC_PI_2),
        basis_b: taut_core::Quat::from_scaled_axis(Vec3::z() * std::f64::consts::FRAC_PI_2),
        ..joint.anchored(Vec3::zeros(), -Vec3::x() * 0.5)
    });
    scene
}

/// Both tend to the exact swing, to first order.
#[test]
fn pendulums_converge_to_the_elliptic_quarter_period() {
    // K(k) for k = sin(pi/4), and the rod's inertia about its end.
    let quarter = (((1.0 + 0.01) / 12.0 + 0.25) / 0.5 / 9.81_f64).sqrt() * 1.854_074_677_301_372;
    for kind in [JointKind::Ball, JointKind::Hinge] {
        let scene = pendulum(kind);
        let errors = [100, 200, 400].map(|n| {
            let state = run(&scene, "()", quarter / n as f64, n);
            assert!(metrics::joint_errors(&scene, &state).max_m < 1e-4);
            state.bodies[0].position.x.abs()
        });
        for pair in errors.windows(2) {
            assert!((pair[0] / pair[1] - 2.0).abs() < 0.1, "{kind:?} {errors:?}");
        }
        assert!(errors[2] < 0.01, "{kind:?} {errors:?}");
    }
}

/// The gap is load over stiffness, 100 (m_a + m_b)/h^2 by default.
#[test]
fn a_joint_gives_way_by_its_load() {
    let mut scene = earth();
    for i in 0..2 {
        let at = Vec3::z() * -(0.5 + f64::from(i));
        scene.bodies.push(Body::solid_box(Vec3::new(0.2, 0.2, 1.0), 500.0).at(at));
    }
    let half = Vec3::z() * 0.5;
    let world = Joint::new(JointKind::Ball, Endpoint::World, Endpoint::Body(0));
    scene.joints.push(world.anchored(Vec3::zeros(), half));
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
fn linear_momentum_is_kept_by_joints() {
    let mut scene = Scene::default();
    for i in 0..2 {
        let omega = Vec3::new(0.0, 1.0, 3.0 * f64::from(i));
        scene.bodies.push(Body { omega, ..rod().at(Vec3::x() * f64::from(i)) });
    }
    let joint = Joint::new(JointKind::Hinge, Endpoint::Body(0), Endpoint::Body(1));
    scene.joints.push(joint.anchored(Vec3::x() * 0.5, -Vec3::x() * 0.5));
    let momentum = |state: &State| metrics::momentum(&scene, state).linear_kg_m_s;
    let start = momentum(&scene.initial_state());
    let end = momentum(&run(&scene, "()", 0.01, 50));
    assert!((end - start).norm() < 1e-8, "{}", (end - start).norm());
}

#[test]
fn what_is_not_dynamic_moves_as_told() {
    let mut scene = earth();
    scene.bodies.push(rod().fixed());
    let (velocity, omega) = (Vec3::y(), Vec3::z());
    scene.bodies.push(Body { motion: Motion::Kinematic, mass: 0.0, velocity, omega, ..rod() });
    scene.bodies.push(rod().at(-Vec3::z()));
    let joint = Joint::new(JointKind::Ball, Endpoint::Body(1), Endpoint::Body(2));
    scene.joints.push(joint.anchored(Vec3::zeros(), Vec3::z()));
    let state = run(&scene, "()", 0.01, 100);
    assert_eq!(state.bodies[0], scene.initial_state().bodies[0]);
    assert!((state.bodies[1].position - velocity).norm() < 1e-12);
    assert!(metrics::joint_errors(&scene, &state).max_m < 1e-3);
}

#[test]
fn others_are_refused_with_a_reason() {
    let reason = |scene: &Scene| match taut_abd::BACKEND.supports(scene) {
        Ok(()) => String::new(),
        Err(error) => error.to_string(),
    };
    let plain = pendulum(JointKind::Hinge);
    assert_eq!(reason(&plain), "");
    let with = |change: &dyn Fn(&mut Scene)| {
        let mut scene = plain.clone();
        change(&mut scene);
        reason(&scene)
    };
    assert!(with(&|s| s.contacts = Some(Contacts::default())).contains("contacts"));
    assert!(with(&|s| s.joints[0].kind = JointKind::Universal).contains("coinciding points"));
    assert!(with(&|s| s.joints[0].compliance_linear = 1.0).contains("compliant"));
    assert!(with(&|s| s.joints[0].break_force = 1.0).contains("break"));
    let limit = Some(Limit { lower: 0.0, upper: 1.0 });
    assert!(with(&|s| s.joints[0].limit = limit).contains("limit"));
    let (position, velocity) = (Vec3::zeros(), Vec3::zeros());
    let particle = Particle { name: String::new(), mass: 1.0, position, velocity };
    assert!(with(&|s| s.particles.push(particle.clone())).contains("particles"));
}
