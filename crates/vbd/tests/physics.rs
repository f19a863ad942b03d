//! Penalties against what mechanics says of them.

use taut_core::{
    Backend, NoDevices, Quat, Scene, Settings, Solver, State, Step, Vec3,
    scene::{Body, Endpoint, Joint, JointKind, Particle, Spring, SpringKind},
};

const DT: f64 = 1.0 / 60.0;

fn build(scene: &Scene, settings: &str) -> Box<dyn Solver> {
    let settings = Settings::from_ron(settings);
    taut_vbd::BACKEND.build(scene, &settings, &NoDevices).expect("the settings are valid")
}

fn advance(solver: &mut dyn Solver, iterations: u32) -> State {
    solver.begin_step(Step { dt: DT, iterations }).expect("it begins");
    for _ in 0..iterations {
        solver.iterate().expect("it iterates");
    }
    solver.end_step().expect("it ends");
    let mut state = State::default();
    solver.read(&mut state).expect("it reads");
    state
}

fn empty(gravity: f64) -> Scene {
    Scene { gravity: Vec3::new(0.0, 0.0, -gravity), dt: DT, ..Scene::default() }
}

#[test]
fn a_bar_on_a_pivot_passes_the_vertical_on_time() {
    for yaw in [0.0, 0.9, 2.0] {
        let mut scene = empty(10.0);
        let turn = Quat::from_axis_angle(&Vec3::z_axis(), yaw);
        let direction = turn * Vec3::x();
        let mut body = Body::solid_box(Vec3::new(4.0, 0.1, 0.1), 1.0).at(direction * 2.0);
        body.rotation = turn;
        scene.bodies.push(body);
        let joint = Joint::new(JointKind::Ball, Endpoint::World, Endpoint::Body(0));
        scene.joints.push(joint.anchored(Vec3::zeros(), Vec3::new(-2.0, 0.0, 0.0)));
        let mut solver = build(&scene, "()");
        let (mut before, mut time) = (2.0, f64::INFINITY);
        for frame in 1..100_u32 {
            let now = advance(&mut *solver, 20).bodies[0].position.dot(&direction);
            if now <= 0.0 {
                time = DT * (f64::from(frame) - now / (now - before));
                break;
            }
            before = now;
        }
        assert!((time / 0.9575 - 1.0).abs() < 0.01, "yaw {yaw}: {time}");
    }
}

#[test]
fn a_hard_joint_sags_by_load_over_penalty() {
    let mut scene = empty(10.0);
    scene.bodies.push(Body::solid_box(Vec3::repeat(1.0), 3.0));
    scene.joints.push(Joint::new(JointKind::Ball, Endpoint::World, Endpoint::Body(0)));
    let mut solver = build(&scene, "(stiffness: 600)");
    let mut depth = 0.0;
    for _ in 0..2000 {
        depth = advance(&mut *solver, 5).bodies[0].position.z;
    }
    assert!((depth + 0.05).abs() < 1e-6, "{depth}");
}

/// Residual of the implicit Euler equations of three particles on springs, by central differences of
/// the objective (AVBD Eq. 1).
#[test]
fn sweeps_converge_to_the_implicit_euler_step() {
    let mut scene = empty(10.0);
    for i in 0..4 {
        let mass = if i == 0 { 0.0 } else { 0.5 };
        let position = Vec3::new(f64::from(i), 0.0, 0.1 * f64::from(i * i));
        let (name, velocity) = (String::new(), Vec3::zeros());
        scene.particles.push(Particle { name, mass, position, velocity });
    }
    for i in 1..4 {
        let (anchor_a, anchor_b) = (Vec3::zeros(), Vec3::zeros());
        let kind = SpringKind::Linear { anchor_a, anchor_b, rest_length: 0.9 };
        let (a, b) = (Endpoint::Particle(i - 1), Endpoint::Particle(i));
        scene.springs.push(Spring { name: String::new(), kind, a, b, stiffness: 800.0 });
    }
    let mut solver = build(&scene, "()");
    let state = advance(&mut *solver, 400);
    let positions: Vec<Vec3> = state.particles.iter().map(|p| p.position).collect();
    let objective = |x: &[Vec3]| -> f64 {
        let inertia: f64 = (1..4)
            .map(|i| {
                let target = scene.particles[i].position + scene.gravity * (DT * DT);
                scene.particles[i].mass * (x[i] - target).norm_squared() / (2.0 * DT * DT)
            })
            .sum();
        let springs: f64 = (1..4).map(|i| 400.0 * ((x[i] - x[i - 1]).norm() - 0.9).powi(2)).sum();
        inertia + springs
    };
    for i in 1..4 {
        for axis in 0..3 {
            let at = |sign: f64| {
                let mut x = positions.clone();
                x[i][axis] += sign * 1e-5;
                objective(&x)
            };
            let slope = (at(1.0) - at(-1.0)) / 2e-5;
            assert!(slope.abs() < 1e-4, "particle {i} axis {axis}: {slope} N");
        }
    }
}

#[test]
fn the_ramp_reaches_the_full_penalty() {
    let mut scene = empty(10.0);
    scene.bodies.push(Body::solid_box(Vec3::repeat(1.0), 3.0));
    scene.joints.push(Joint::new(JointKind::Ball, Endpoint::World, Endpoint::Body(0)));
    let mut solver = build(&scene, "(stiffness: 600, ramp: (beta: 1e4, gamma: 1, k_start: 1))");
    let mut depth = 0.0;
    for _ in 0..3000 {
        depth = advance(&mut *solver, 5).bodies[0].position.z;
    }
    assert!((depth + 0.05).abs() < 1e-6, "{depth}");
}
