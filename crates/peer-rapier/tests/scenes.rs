//! Rapier against closed forms, in both precisions: the scene must arrive there as it is meant.

use std::sync::Arc;

use taut_core::{
    Backend, Native, NoDevices, Scene, Settings, Solver, State, Step, Vec3,
    scene::{
        Body, Contacts, Endpoint, Joint, JointKind, Limit, Material, Motor, Part, Shape, Spring,
        SpringKind,
    },
};
use taut_peer_rapier::{BACKEND_F32, BACKEND_F64};

const G: f64 = 9.81;
const DT: f64 = 1.0 / 60.0;
const ITERATIONS: u32 = 4;

struct Run {
    solver: Box<dyn Solver>,
    state: State,
}

impl Run {
    fn new(backend: &Native, scene: &Scene, settings: &str) -> Self {
        let solver = backend.build(scene, &Settings::from_ron(settings), &NoDevices).unwrap();
        Self { solver, state: scene.initial_state() }
    }

    fn step(&mut self) {
        self.solver.begin_step(Step { dt: DT, iterations: ITERATIONS }).unwrap();
        for _ in 0..ITERATIONS {
            self.solver.iterate().unwrap();
        }
        self.solver.end_step().unwrap();
        self.solver.read(&mut self.state).unwrap();
    }

    fn steps(mut self, count: usize) -> State {
        (0..count).for_each(|_| self.step());
        self.state
    }
}

/// The state after `count` steps in each precision, with its relative rounding.
fn both(scene: &Scene, count: usize) -> [(State, f64); 2] {
    [(&BACKEND_F64, 1e-12), (&BACKEND_F32, 1e-5)]
        .map(|(backend, eps)| (Run::new(backend, scene, "()").steps(count), eps))
}

fn scene(bodies: Vec<Body>) -> Scene {
    let gravity = Vec3::new(0.0, 0.0, -G);
    Scene { name: "test".to_owned(), gravity, dt: DT, bodies, ..Scene::default() }
}

fn touching(bodies: Vec<Body>) -> Scene {
    Scene { contacts: Some(Contacts::default()), ..scene(bodies) }
}

fn cube() -> Body {
    Body::solid_box(Vec3::repeat(1.0), 1000.0)
}

fn ground() -> Body {
    Body { shape: Shape::HalfSpace, ..cube().fixed() }
}

fn with_friction(body: Body, mu: f64) -> Body {
    let material = Material { friction_static: mu, friction_dynamic: mu, ..body.material };
    Body { material, ..body }
}

/// Sub-steps `h` of symplectic Euler fall `g t (t + h) / 2`.
#[test]
fn free_fall_is_that_of_its_sub_steps() {
    let mut body = cube();
    body.velocity = Vec3::new(3.0, 0.0, 0.0);
    let (time, h) = (60.0 * DT, DT / f64::from(ITERATIONS));
    for (state, eps) in both(&scene(vec![body]), 60) {
        let body = &state.bodies[0];
        let error = body.position - Vec3::new(3.0, 0.0, -0.5 * G * time * (time + h));
        assert!(error.norm() < 30.0 * eps, "{error}");
        assert!((state.time_s - time).abs() < 1e-12);
    }
}

/// A body turns and moves on as the scene says, whatever falls on it.
#[test]
fn kinematic_bodies_keep_their_velocity() {
    let mut belt = cube();
    belt.motion = taut_core::scene::Motion::Kinematic;
    belt.velocity = Vec3::new(0.0, 0.5, 0.0);
    let load = cube().at(Vec3::new(0.0, 0.0, 1.0));
    for (state, _) in both(&touching(vec![belt, load]), 120) {
        assert!((state.bodies[0].position - Vec3::new(0.0, 1.0, 0.0)).norm() < 1e-5);
        let carried = state.bodies[1].velocity.y;
        assert!((carried - 0.5).abs() < 1e-2, "{carried}");
    }
}

/// Every shape, laid down as the scene means it, stays at the height of its lowest point.
#[test]
fn every_shape_rests_at_its_height() {
    let corners = [-0.5, 0.5].into_iter().flat_map(|x| {
        [-0.4, 0.4].into_iter().flat_map(move |y| [-0.3, 0.3].map(|z| Vec3::new(x, y, z)))
    });
    let part = |x: f64| Part {
        shape: Shape::Box { half: Vec3::new(0.1, 0.3, 0.2) },
        position: Vec3::new(x, 0.0, 0.0),
        rotation: taut_core::Quat::identity(),
    };
    let shapes = [
        (Shape::Box { half: Vec3::new(0.5, 0.4, 0.3) }, 0.3),
        (Shape::Sphere { radius: 0.3 }, 0.3),
        (Shape::Capsule { radius: 0.2, half_length: 0.3 }, 0.5),
        (Shape::Cylinder { radius: 0.5, half_length: 0.2 }, 0.2),
        (Shape::Hull { points: corners.collect::<Vec<_>>().into() }, 0.3),
        (Shape::Compound { parts: Arc::new([part(-0.5), part(0.5)]) }, 0.2),
    ];
    let square = [(-9.0, -9.0), (9.0, -9.0), (9.0, 9.0), (-9.0, 9.0)];
    let mesh = Shape::Mesh {
        vertices: Arc::new(square.map(|(x, y)| Vec3::new(x, y, 0.0))),
        triangles: Arc::new([[0, 1, 2], [0, 2, 3]]),
    };
    for floor in [Shape::HalfSpace, mesh] {
        for (shape, height) in &shapes {
            // Off the diagonal of the mesh; inertia is that of the cube, which matters nothing here.
            let at = Vec3::new(1.0, -1.0, *height);
            let body = Body { shape: shape.clone(), ..cube().at(at) };
            let floor = Body { shape: floor.clone(), ..ground() };
            for (state, _) in both(&touching(vec![floor, body]), 60) {
                let error = (state.bodies[1].position - at).norm();
                assert!(error < 2e-3, "{shape:?}: {error}");
            }
        }
    }
}

/// Sliding friction `sqrt(0.8 0.2) = 0.4` stops a box after `v^2 / (2 mu g)`, within 3 %: the
/// sub-steps alone cost `v h / 2`, 1 % of it.
#[test]
fn friction_is_the_geometric_mean() {
    let speed = 4.0;
    let mut sled = with_friction(Body::solid_box(Vec3::new(1.0, 1.0, 0.5), 1000.0), 0.2);
    sled.position.z = 0.25;
    sled.velocity.x = speed;
    let distance = speed * speed / (2.0 * 0.4 * G);
    for (state, _) in both(&touching(vec![with_friction(ground(), 0.8), sled]), 120) {
        let error = state.bodies[1].position.x / distance - 1.0;
        assert!(error.abs() < 0.03, "{error}");
        assert!(state.bodies[1].velocity.norm() < 1e-3);
    }
}

/// Joined bodies and bodies of one group pass through each other, others do not.
#[test]
fn groups_and_joints_keep_bodies_from_touching() {
    let overlap = |group: [Option<u32>; 2], joined: bool| {
        let bodies = [0.0, 0.5].map(|x| cube().at(Vec3::new(x, 0.0, 0.0)));
        let mut scene = touching(bodies.into());
        scene.gravity = Vec3::zeros();
        scene.bodies.iter_mut().zip(group).for_each(|(body, group)| body.group = group);
        if joined {
            let (a, b) = (Endpoint::Body(0), Endpoint::Body(1));
            let joint = Joint::new(JointKind::Ball, a, b);
            scene
                .joints
                .push(joint.anchored(Vec3::new(0.25, 0.0, 0.0), Vec3::new(-0.25, 0.0, 0.0)));
        }
        both(&scene, 10).map(|(state, _)| state.bodies[1].position.x - state.bodies[0].position.x)
    };
    for distance in overlap([Some(7), Some(7)], false).into_iter().chain(overlap([None; 2], true)) {
        assert!((distance - 0.5).abs() < 1e-5, "{distance}");
    }
    for groups in [[Some(7), Some(8)], [Some(7), None], [None, None]] {
        for distance in overlap(groups, false) {
            assert!(distance > 0.6, "{groups:?} {distance}");
        }
    }
}

fn hinged(motor: Option<Motor>, limit: Option<Limit>) -> Scene {
    let mut joint = Joint::new(JointKind::Hinge, Endpoint::World, Endpoint::Body(0));
    (joint.motor, joint.limit) = (motor, limit);
    Scene { gravity: Vec3::zeros(), joints: vec![joint], ..scene(vec![cube()]) }
}

/// Torque `M` about the inertia `I` of a cube reaches `M t / I`, until the target rate.
#[test]
fn motors_push_b_with_bounded_effort() {
    let inertia = cube().inertia[(0, 0)];
    let motor = |speed| Some(Motor { speed, max_effort: inertia });
    for (speed, rate) in [(10.0, 1.0), (0.5, 0.5), (-0.5, -0.5)] {
        for (state, eps) in both(&hinged(motor(speed), None), 60) {
            let error = state.bodies[0].omega().x - rate;
            assert!(error.abs() < 1e2 * eps.max(1e-6), "{speed}: {error}");
        }
    }
}

/// A limit stops B where the angle from A's y axis to B's reaches it, on the right side.
#[test]
fn limits_bound_the_angle_of_b() {
    let limit = Some(Limit { lower: -0.2, upper: 0.4 });
    for (omega, angle) in [(1.0_f64, 0.4), (-1.0, -0.2)] {
        let mut scene = hinged(None, limit);
        scene.bodies[0].omega.x = omega;
        for (state, _) in both(&scene, 60) {
            let error = state.bodies[0].rotation().scaled_axis().x - angle;
            assert!(error.abs() < 0.02, "{omega}: {error}");
        }
    }
}

/// A bob on a rod of length 1 m swings by 0.1 rad in `2 pi sqrt(l/g) (1 + a^2/16)`.
#[test]
fn a_pendulum_has_its_period() {
    let (angle, length) = (0.1_f64, 1.0);
    let mut bob = Body::solid_box(Vec3::repeat(0.2), 1000.0);
    let inertia = bob.inertia[(1, 1)] / bob.mass;
    bob.position = Vec3::new(angle.sin(), 0.0, -angle.cos());
    bob.rotation = taut_core::Quat::from_axis_angle(&Vec3::y_axis(), -angle);
    let joint = Joint::new(JointKind::Ball, Endpoint::World, Endpoint::Body(0))
        .anchored(Vec3::zeros(), Vec3::new(0.0, 0.0, length));
    let scene = Scene { joints: vec![joint], ..scene(vec![bob]) };
    let natural = ((length * length + inertia) / (G * length)).sqrt();
    let period = std::f64::consts::TAU * natural * (1.0 + angle * angle / 16.0);
    for backend in [&BACKEND_F64, &BACKEND_F32] {
        let mut run = Run::new(backend, &scene, "()");
        let mut crossings = Vec::new();
        let mut before = angle.sin();
        for i in 1..=600 {
            run.step();
            let x = run.state.bodies[0].position.x;
            if before > 0.0 && x <= 0.0 {
                crossings.push((f64::from(i) - x / (x - before)) * DT);
            }
            before = x;
        }
        let mean = (crossings[crossings.len() - 1] - crossings[0]) / (crossings.len() - 1) as f64;
        assert!((mean / period - 1.0).abs() < 2e-3, "{mean} {period}");
    }
}

/// A weight hung on a slack spring sinks to `m g / k` and swings about it, never above its start.
#[test]
fn springs_pull_with_their_stiffness() {
    let mut scene = scene(vec![cube().at(Vec3::new(0.0, 0.0, -1.0))]);
    let stiffness = 1e6;
    let zero = Vec3::zeros();
    let kind = SpringKind::Linear { anchor_a: zero, anchor_b: zero, rest_length: 1.0 };
    let (a, b) = (Endpoint::World, Endpoint::Body(0));
    scene.springs.push(Spring { name: String::new(), kind, a, b, stiffness });
    // Implicit sub-steps damp the swing, which 10 s end.
    for (state, _) in both(&scene, 600) {
        let sag = -1.0 - state.bodies[0].position.z;
        assert!((sag * stiffness / (1000.0 * G) - 1.0).abs() < 0.02, "{sag}");
    }
}

#[test]
fn a_second_run_has_equal_bits() {
    let boxes = (0..5).map(|i| cube().at(Vec3::new(0.1 * f64::from(i), 0.0, 0.5 + f64::from(i))));
    let scene = touching([ground()].into_iter().chain(boxes).collect());
    for backend in [&BACKEND_F64, &BACKEND_F32] {
        for settings in ["()", "(preset: best)"] {
            let mut first = Run::new(backend, &scene, settings);
            (0..90).for_each(|_| first.step());
            let hash = first.state.hash();
            assert_eq!(Run::new(backend, &scene, settings).steps(90).hash(), hash);
            first.solver.load(&scene.initial_state()).unwrap();
            assert_eq!(first.steps(90).hash(), hash, "after loading again");
        }
    }
}

fn refusal(scene: &Scene) -> String {
    let [double, single] = [&BACKEND_F64, &BACKEND_F32]
        .map(|backend| backend.supports(scene).unwrap_err().to_string());
    assert_eq!(double, single);
    double
}

#[test]
fn refusals_name_their_reason() {
    let joined = |kind| {
        let joint = Joint::new(kind, Endpoint::World, Endpoint::Body(0));
        Scene { joints: vec![joint], ..scene(vec![cube()]) }
    };
    assert!(refusal(&joined(JointKind::Universal)).contains("universal"));
    let mut rod = joined(JointKind::Distance { length: 1.0 });
    assert!(refusal(&rod).contains("from below"));
    rod.joints[0].limit = Some(Limit { lower: 0.0, upper: 1.0 });
    assert!(BACKEND_F64.supports(&rod).is_ok());
    let mut ball = joined(JointKind::Ball);
    ball.joints[0].compliance_linear = 1e-6;
    assert!(refusal(&ball).contains("compliant"));
    ball.joints[0].compliance_linear = 0.0;
    ball.joints[0].break_force = 10.0;
    assert!(refusal(&ball).contains("break"));
    let mut slippery = touching(vec![ground(), cube()]);
    slippery.bodies[1].material.friction_dynamic = 0.3;
    assert!(refusal(&slippery).contains("friction"));
    let bare = Shape::Mesh { vertices: Arc::new([Vec3::zeros()]), triangles: Arc::new([]) };
    let reason = refusal(&touching(vec![ground(), Body { shape: bare, ..ground() }]));
    assert!(reason.starts_with("body 1"), "{reason}");
    let crowd = (0..33).map(|i| Body { group: Some(i), ..cube() }).collect();
    assert!(refusal(&touching(crowd)).contains("groups"));
}
