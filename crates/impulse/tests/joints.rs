//! What joints, springs, limits and motors hold, and what they report, against closed forms.

mod common;

use common::{DT, Run};
use taut_core::{
    Quat, Scene, State, Vec3,
    constraint::{Geometry, Pose, RowKind, locked_rows},
    scene::{Body, Endpoint, Joint, JointKind, Limit, Motor, Particle, Spring, SpringKind},
};
use taut_fixtures::KINDS;

const GRAVITY: Vec3 = Vec3::new(0.0, 0.0, -9.81);

/// Iterations as sub-steps and as sweeps.
const VARIANTS: [&str; 2] = ["()", "(variant: pgs)"];

fn scene() -> Scene {
    Scene { gravity: GRAVITY, dt: DT, ..Scene::default() }
}

fn value(row: RowKind, joint: &Joint, state: &State) -> f64 {
    let [a, b] = [joint.a, joint.b].map(|e| Pose::of(e, state));
    row.evaluate(&Geometry::from(joint), &a, &b).value
}

fn worst_lock(scene: &Scene, state: &State) -> f64 {
    let joints = scene.joints.iter();
    let errors = joints.flat_map(|j| locked_rows(j).map(|(row, rest)| value(row, j, state) - rest));
    errors.fold(0.0, |worst, e| worst.max(e.abs()))
}

#[test]
fn every_joint_closes_from_a_large_error() {
    for kind in KINDS {
        for settings in ["()", "(variant: pgs)", "(joint_stabilisation: baumgarte)"] {
            let mut scene = Scene { gravity: Vec3::zeros(), ..scene() };
            for i in [0.0, 1.0] {
                let mut body = Body::solid_box(Vec3::new(0.4, 0.6, 1.0 + i), 100.0);
                body.position = Vec3::new(0.9 * i, 0.3 * i, -0.5 * i);
                body.rotation = Quat::from_scaled_axis(Vec3::new(0.8 * i, 0.2, 0.7 - i));
                scene.bodies.push(body);
            }
            let joint = Joint::new(kind, Endpoint::Body(0), Endpoint::Body(1));
            scene.joints.push(joint.anchored(Vec3::new(0.2, 0.4, 0.2), Vec3::new(-0.3, 0.1, 0.5)));
            let start = worst_lock(&scene, &scene.initial_state());
            assert!(start > 0.1);
            let mut run = Run::new(&scene, settings, DT, 10);
            run.steps(120);
            let left = worst_lock(&scene, &run.state);
            // Closing so fast sets the pair spinning, which a sub-step follows to second order.
            assert!(left < 5e-3 * start, "{kind:?} {settings}: {start} -> {left}");
        }
    }
}

#[test]
fn compliance_and_springs_give_way_by_force_over_stiffness() {
    for settings in VARIANTS {
        let mut scene = scene();
        let weight = 10.0 * 9.81;
        for x in [0.0, 3.0, 6.0] {
            let body = Body::solid_box(Vec3::new(0.1, 0.1, 0.1), 1e4);
            scene.bodies.push(body.at(Vec3::new(x, 0.0, 0.0)));
        }
        let mut ball = Joint::new(JointKind::Ball, Endpoint::World, Endpoint::Body(0));
        ball.compliance_linear = 1e-4;
        scene.joints.push(ball);
        let mut slider = Joint::new(JointKind::Prismatic, Endpoint::World, Endpoint::Body(1))
            .anchored(Vec3::new(3.0, 0.0, 0.0), Vec3::zeros());
        slider.compliance_linear = 2e-4;
        scene.joints.push(slider);
        scene.springs.push(Spring {
            name: String::new(),
            kind: SpringKind::Linear {
                anchor_a: Vec3::new(6.0, 0.0, 2.0),
                anchor_b: Vec3::zeros(),
                rest_length: 2.0,
            },
            a: Endpoint::World,
            b: Endpoint::Body(2),
            stiffness: 5e3,
        });
        let mut run = Run::new(&scene, settings, 0.02, 4);
        run.steps(1500);
        for (body, stiffness) in [(0, 1e4), (1, 5e3), (2, 5e3)] {
            let sag = -run.state.bodies[body].position.z * stiffness / weight;
            assert!((sag - 1.0).abs() < 1e-6, "{settings} body {body}: {sag}");
        }
    }
}

#[test]
fn angular_compliance_balances_a_torque_where_its_energy_says() {
    // A bar of moment 49.05 N m and 200 N m/rad. d/da of k/2 row^2 is k sin(a) for 2 vec(q) and
    // k sin(a) cos(a) for the dot row; the weight's moment is 49.05 cos(a).
    let ratio: f64 = 49.05 / 200.0;
    for (kind, balance) in [(JointKind::Fixed, ratio.atan()), (JointKind::Hinge, ratio.asin())] {
        let mut scene = hinged_bar();
        let joint = &mut scene.joints[0];
        joint.kind = kind;
        joint.compliance_angular = 1.0 / 200.0;
        if kind == JointKind::Hinge {
            // The hinge axis upright, so that the weight bends it.
            joint.basis_a = Quat::rotation_between(&Vec3::x(), &Vec3::z()).unwrap();
            joint.basis_b = joint.basis_a;
        }
        let turn = Quat::from_axis_angle(&Vec3::y_axis(), balance);
        scene.bodies[0].rotation = turn;
        scene.bodies[0].position = turn * Vec3::new(0.5, 0.0, 0.0);
        let mut run = Run::new(&scene, "()", 0.02, 4);
        // Implicit Euler takes the share w^2 h / 2 of the amplitude per second, 0.15.
        run.steps(6000);
        let angle = run.state.bodies[0].rotation().angle();
        assert!((angle - balance).abs() < 1e-6, "{kind:?}: {angle} for {balance}");
    }
}

#[test]
fn a_spring_oscillates_at_its_frequency() {
    let mut scene = Scene { gravity: Vec3::zeros(), ..scene() };
    for z in [0.0, 1.5] {
        let velocity = Vec3::zeros();
        let position = Vec3::new(0.0, 0.0, z);
        scene.particles.push(Particle { name: String::new(), mass: 2.0, position, velocity });
    }
    let (anchor_a, anchor_b) = (Vec3::zeros(), Vec3::zeros());
    scene.springs.push(Spring {
        name: String::new(),
        kind: SpringKind::Linear { anchor_a, anchor_b, rest_length: 1.0 },
        a: Endpoint::Particle(0),
        b: Endpoint::Particle(1),
        stiffness: 50.0,
    });
    let mut run = Run::new(&scene, "()", 0.01, 20);
    let omega = 50.0_f64.sqrt();
    for _ in 0..40 {
        run.step();
        let [low, high] = [&run.state.particles[0], &run.state.particles[1]];
        let stretch = high.position.z - low.position.z - 1.0;
        let exact = 0.5 * (omega * run.state.time_s).cos();
        // Implicit Euler: amplitude falls by (h w)^2 / 2 per sub-step.
        assert!((stretch - exact).abs() < 0.01, "{stretch} for {exact}");
        assert!((low.position.z + high.position.z - 1.5).abs() < 1e-10);
    }
}

#[test]
fn hanging_weight_is_the_joint_force() {
    for settings in VARIANTS {
        let mut scene = scene();
        scene.bodies.push(Body::solid_box(Vec3::new(1.0, 0.1, 0.1), 1000.0));
        let mut weld = Joint::new(JointKind::Fixed, Endpoint::World, Endpoint::Body(0));
        weld.anchor_b = Vec3::new(-0.5, 0.0, 0.0);
        weld.anchor_a = weld.anchor_b;
        scene.joints.push(weld);
        let mut run = Run::new(&scene, settings, 0.01, 20);
        run.steps(100);
        let forces = run.multipliers();
        let weight = GRAVITY * -10.0;
        let (force, torque) = (forces.joint_force[0], forces.joint_torque[0]);
        assert!((force - weight).norm() < 1e-3 * weight.norm(), "{settings}: {force}");
        // The weight acts half a metre out: the weld carries its moment.
        let moment = Vec3::new(0.5, 0.0, 0.0).cross(&weight);
        assert!((torque - moment).norm() < 1e-3 * moment.norm(), "{settings}: {torque}");
    }
}

/// A bar hinged about the y axis at its end, horizontal at first.
fn hinged_bar() -> Scene {
    let mut scene = scene();
    let mut bar = Body::solid_box(Vec3::new(1.0, 0.1, 0.1), 1000.0);
    bar.position = Vec3::new(0.5, 0.0, 0.0);
    scene.bodies.push(bar);
    let mut joint = Joint::new(JointKind::Hinge, Endpoint::World, Endpoint::Body(0))
        .anchored(Vec3::zeros(), Vec3::new(-0.5, 0.0, 0.0));
    joint.basis_a = Quat::rotation_between(&Vec3::x(), &Vec3::y()).unwrap();
    joint.basis_b = joint.basis_a;
    scene.joints.push(joint);
    scene
}

#[test]
fn limits_hold_and_let_go() {
    for settings in VARIANTS {
        let mut scene = hinged_bar();
        // About +y a falling bar turns by positive angles.
        scene.joints[0].limit = Some(Limit { lower: -0.3, upper: 0.5 });
        let mut run = Run::new(&scene, settings, scene.dt, 20);
        let angle = |run: &Run| value(RowKind::Angle, &scene.joints[0], &run.state);
        for _ in 0..120 {
            run.step();
            assert!(angle(&run) < 0.52, "{settings}: {}", angle(&run));
        }
        // In one long step the row gives way by m g l / 2 cos / (I w^2), w h = 1.26, I of the bar alone.
        let allowed = if settings == "()" { 1e-4 } else { 0.01 };
        assert!((angle(&run) - 0.5).abs() < allowed, "{settings}: {}", angle(&run));
        let torque = run.multipliers().joint_torque[0].y;
        let weight = 10.0 * 9.81 * 0.5 * 0.5_f64.cos();
        assert!((torque + weight).abs() < 0.01 * weight, "{settings}: {torque} for {weight}");

        // Thrown upwards from the limit it leaves at once.
        scene.bodies[0].omega = Vec3::new(0.0, -2.0, 0.0);
        scene.bodies[0].velocity = Vec3::new(0.0, 0.0, 1.0);
        let mut run = Run::new(&scene, settings, scene.dt, 20);
        run.steps(3);
        let angle = value(RowKind::Angle, &scene.joints[0], &run.state);
        assert!(angle < -0.07, "{settings}: {angle}");
    }
}

#[test]
fn a_distance_limit_is_a_rope() {
    let mut scene = scene();
    scene.bodies.push(Body::solid_box(Vec3::new(0.1, 0.1, 0.1), 1000.0));
    let mut rope =
        Joint::new(JointKind::Distance { length: 1.0 }, Endpoint::World, Endpoint::Body(0))
            .anchored(Vec3::new(0.0, 0.0, 0.2), Vec3::zeros());
    rope.limit = Some(Limit { lower: 0.0, upper: 1.0 });
    scene.joints.push(rope);
    let mut run = Run::new(&scene, "()", 0.01, 10);
    run.steps(10);
    assert!(run.state.bodies[0].position.z < -0.045, "falls freely while slack");
    assert_eq!(run.multipliers().joint_force[0], Vec3::zeros());
    run.steps(500);
    let z = run.state.bodies[0].position.z;
    assert!((z + 0.8).abs() < 1e-3, "{z}");
    assert!((run.multipliers().joint_force[0].z - 9.81).abs() < 0.01);
}

#[test]
fn motors_reach_their_speed_within_their_effort() {
    for settings in VARIANTS {
        let mut scene = Scene { gravity: Vec3::zeros(), ..hinged_bar() };
        scene.joints[0].motor = Some(Motor { speed: 3.0, max_effort: 5.0 });
        let mut run = Run::new(&scene, settings, 0.01, 10);
        // m L^2 / 3 about the hinge, plus the small thickness.
        let inertia = 10.0 / 3.0 + 10.0 * 0.01 / 12.0;
        run.steps(100);
        let speed = run.state.bodies[0].omega().y;
        assert!((speed * inertia / 5.0 - 1.0).abs() < 0.01, "{settings}: {speed} at full effort");
        let torque = run.multipliers().joint_torque[0].y;
        assert!((torque - 5.0).abs() < 0.01, "{settings}: {torque}");
        run.steps(400);
        let speed = run.state.bodies[0].omega().y;
        // By now the angle has passed half a turn, where its value jumps.
        assert!((speed - 3.0).abs() < 0.01, "{settings}: {speed} after {}", run.state.time_s);
    }
}

#[test]
fn a_slider_is_driven_and_stopped() {
    for kind in [JointKind::Prismatic, JointKind::Cylindrical] {
        let mut scene = Scene { gravity: Vec3::zeros(), ..scene() };
        scene.bodies.push(Body::solid_box(Vec3::new(0.2, 0.2, 0.2), 1000.0));
        // A slider of the first kind stops this, one of the second leaves it.
        scene.bodies[0].omega = Vec3::new(2.0, 0.0, 0.0);
        let mut slider = Joint::new(kind, Endpoint::World, Endpoint::Body(0));
        slider.motor = Some(Motor { speed: 1.0, max_effort: 80.0 });
        slider.limit = Some(Limit { lower: -1.0, upper: 0.5 });
        scene.joints.push(slider);
        let mut run = Run::new(&scene, "()", 0.01, 10);
        run.steps(5);
        let speed = run.state.bodies[0].velocity.x;
        assert!((speed - 0.5).abs() < 1e-6, "8 kg under 80 N for 0.05 s: {speed}");
        run.steps(200);
        assert!((run.state.bodies[0].position.x - 0.5).abs() < 1e-3, "{:?}", run.state.bodies[0]);
        let expected = if kind == JointKind::Prismatic { 0.0 } else { 2.0 };
        let spin = run.state.bodies[0].omega().x;
        assert!((spin - expected).abs() < 1e-3, "{kind:?} turns at {spin} rad/s");
    }
}

#[test]
fn joints_break_above_their_thresholds_only() {
    for (strength, breaks) in [(90.0, true), (110.0, false)] {
        let mut scene = scene();
        scene.bodies.push(Body::solid_box(Vec3::new(0.1, 0.1, 0.1), 1e4));
        let mut ball = Joint::new(JointKind::Ball, Endpoint::World, Endpoint::Body(0));
        ball.break_force = strength;
        scene.joints.push(ball);
        let mut run = Run::new(&scene, "()", 0.01, 10);
        run.step();
        assert_eq!(run.state.broken[0], breaks, "weighs 98.1 N");
        assert!(run.state.bodies[0].position.z.abs() < 1e-4, "held in the step it breaks in");
        run.steps(100);
        let fell = run.state.bodies[0].position.z < -4.0;
        assert_eq!(fell, breaks);
    }
    let mut scene = hinged_bar();
    scene.joints[0].kind = JointKind::Fixed;
    scene.joints[0].break_torque = 40.0;
    let mut run = Run::new(&scene, "()", 0.01, 50);
    run.steps(5);
    assert!(run.state.broken[0], "carries 49 N m");
}

/// Deviation of the end of a chain released level from its path at many sub-steps [m].
#[test]
fn sub_steps_approach_the_motion_of_a_chain() {
    let mut scene = scene();
    for i in 0..5 {
        let body = Body::solid_box(Vec3::new(1.0, 0.2, 0.2), 100.0);
        scene.bodies.push(body.at(Vec3::new(0.5 + f64::from(i), 0.0, 0.0)));
        let (a, anchor) = match i {
            0 => (Endpoint::World, Vec3::zeros()),
            _ => (Endpoint::Body(i as usize - 1), Vec3::x() * 0.5),
        };
        let joint = Joint::new(JointKind::Ball, a, Endpoint::Body(i as usize));
        scene.joints.push(joint.anchored(anchor, Vec3::x() * -0.5));
    }
    let end = |iterations| {
        let mut run = Run::new(&scene, "()", DT, iterations);
        run.steps(60);
        run.state.bodies[4].position
    };
    let exact = end(512);
    let (coarse, fine) = ((end(16) - exact).norm(), (end(64) - exact).norm());
    // First order in the length of a sub-step.
    assert!(coarse < 0.15 && fine < 0.35 * coarse, "{coarse} {fine}");
}
