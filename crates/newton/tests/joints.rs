//! Joints, limits, motors, breaking and redundancy against what statics says.

mod support;

use std::{f64::consts::FRAC_PI_2, path::Path};

use support::{advance, earth, pin, rod, run, solver, violation};
use taut_core::{
    Backend, Multipliers, NoDevices, Quat, Scene, Settings, Vec3,
    constraint::{Geometry, Pose, RowKind, free_coordinate},
    scene::{
        Body, Endpoint, Joint, JointKind, Limit, Motor, Particle, Spring, SpringKind, load_file,
    },
};

const H: f64 = 1.0 / 60.0;

/// A rod hinged at its left end to the world, turning about world y; a positive angle lowers its free end.
fn hinged() -> Scene {
    let mut scene = earth();
    scene.bodies.push(rod());
    let end = Vec3::new(-0.5, 0.0, 0.0);
    let mut joint = pin(JointKind::Hinge, end, 0, end);
    let basis = Quat::from_scaled_axis(Vec3::z() * FRAC_PI_2);
    (joint.basis_a, joint.basis_b) = (basis, basis);
    scene.joints.push(joint);
    scene
}

fn angle(scene: &Scene, state: &taut_core::State) -> f64 {
    let joint = &scene.joints[0];
    let (a, b) = (Pose::of(joint.a, state), Pose::of(joint.b, state));
    RowKind::Angle.evaluate(&Geometry::from(joint), &a, &b).value
}

#[test]
fn a_compliant_joint_gives_way_by_compliance_times_force() {
    let mut scene = earth();
    scene.bodies.push(rod());
    scene.joints.push(pin(JointKind::Ball, Vec3::zeros(), 0, Vec3::zeros()));
    scene.joints[0].compliance_linear = 1e-3;
    // Implicit Euler damps the oscillation of 31 rad/s by a tenth per step.
    let state = run(&scene, H, 600);
    assert!((state.bodies[0].position.z + 1e-3 * 9.81).abs() < 1e-11);
}

#[test]
fn an_angular_compliance_gives_way_by_compliance_times_torque() {
    let mut scene = earth();
    scene.bodies.push(rod());
    let end = Vec3::new(-0.5, 0.0, 0.0);
    scene.joints.push(pin(JointKind::Fixed, end, 0, end));
    scene.joints[0].compliance_angular = 1e-3;
    let state = run(&scene, H, 600);
    // The row is 2 sin(angle / 2), its gradient cos(angle / 2); the lever shortens by cos(angle).
    let bend = state.bodies[0].rotation().angle();
    let torque = 9.81 * 0.5 * bend.cos();
    assert!((2.0 * (bend / 2.0).sin() - 1e-3 * torque / (bend / 2.0).cos()).abs() < 1e-11);
}

#[test]
fn multipliers_are_forces_on_b() {
    let mut scene = earth();
    scene.bodies.push(rod());
    let end = Vec3::new(-0.5, 0.0, 0.0);
    scene.joints.push(pin(JointKind::Fixed, end, 0, end));
    let mut solver = solver(&scene, "()");
    advance(solver.as_mut(), H, 5);
    let mut forces = Multipliers::default();
    assert!(solver.read_multipliers(&mut forces));
    // The joint bears the weight, and at the anchor the torque of the weight at the centre.
    let weight = Vec3::new(0.0, 0.0, 9.81);
    assert!((forces.joint_force[0] - weight).norm() < 1e-7, "{}", forces.joint_force[0]);
    let torque = Vec3::new(0.5, 0.0, 0.0).cross(&weight);
    assert!((forces.joint_torque[0] - torque).norm() < 1e-7, "{}", forces.joint_torque[0]);
}

#[test]
fn a_limit_holds_and_releases() {
    let mut scene = hinged();
    scene.joints[0].limit = Some(Limit { lower: -0.3, upper: 0.4 });
    let mut solver = solver(&scene, "()");
    let mut state = advance(solver.as_mut(), H, 120);
    assert!((angle(&scene, &state) - 0.4).abs() < 1e-10, "{}", angle(&scene, &state));
    let mut forces = Multipliers::default();
    solver.read_multipliers(&mut forces);
    // Torque of the weight about the hinge, about -y on the rod.
    let expected = -9.81 * 0.5 * 0.4_f64.cos();
    assert!((forces.joint_torque[0].y - expected).abs() < 1e-6);

    // Thrown up, it leaves the limit without sticking and meets the other one.
    let omega = Vec3::new(0.0, -8.0, 0.0);
    let body = &mut state.bodies[0];
    let arm = body.position - Vec3::new(-0.5, 0.0, 0.0);
    *body = taut_core::BodyState::rigid(body.position, body.rotation(), omega.cross(&arm), omega);
    solver.load(&state).unwrap();
    let released = advance(solver.as_mut(), H, 1);
    solver.read_multipliers(&mut forces);
    assert!(angle(&scene, &released) < 0.3);
    assert!(forces.joint_torque[0].y.abs() < 1e-6);
    // It falls back from there at once.
    let highest = (0..10).map(|_| angle(&scene, &advance(solver.as_mut(), H, 1)));
    let highest = highest.fold(0.0, f64::min);
    assert!((highest + 0.3).abs() < 1e-10, "{highest}");
}

#[test]
fn a_rope_is_slack_below_its_length_and_taut_at_it() {
    let mut scene = earth();
    let velocity = Vec3::zeros();
    let position = Vec3::new(0.0, 0.0, -0.2);
    scene.particles.push(Particle { name: String::new(), mass: 3.0, position, velocity });
    let kind = JointKind::Distance { length: 0.0 };
    let mut rope = Joint::new(kind, Endpoint::World, Endpoint::Particle(0));
    rope.limit = Some(Limit { lower: 0.0, upper: 1.0 });
    scene.joints.push(rope);
    let mut solver = solver(&scene, "()");
    let slack = advance(solver.as_mut(), H, 10);
    let fallen = 0.2 + 9.81 * H * H * 55.0;
    assert!((slack.particles[0].position.z + fallen).abs() < 1e-12);
    let taut = advance(solver.as_mut(), H, 60);
    assert!((taut.particles[0].position.z + 1.0).abs() < 1e-10);
    let mut forces = Multipliers::default();
    solver.read_multipliers(&mut forces);
    assert!((forces.joint_force[0].z - 3.0 * 9.81).abs() < 1e-6);
}

#[test]
fn a_strong_motor_reaches_its_speed_and_a_weak_one_gives_all_it_has() {
    let mut scene = hinged();
    scene.gravity = Vec3::zeros();
    let inertia = scene.bodies[0].inertia.m22 + 0.25;
    for (max_effort, expected) in [(50.0, 3.0), (0.1, 0.1 * 60.0 * H / inertia)] {
        scene.joints[0].motor = Some(Motor { speed: 3.0, max_effort });
        let state = run(&scene, H, 60);
        // The chord of an arc is not its tangent: a torque about a pivot errs to first order.
        let error = state.bodies[0].omega().y - expected;
        assert!(error.abs() < 2e-2 * expected, "{max_effort}: {error:e}");
    }
}

#[test]
fn a_motor_lifts_or_stalls_by_its_effort() {
    let mut scene = hinged();
    // On speed in the first step takes I w / h = 20 N m and the weight's 4.9 N m.
    scene.joints[0].motor = Some(Motor { speed: -1.0, max_effort: 30.0 });
    let lifted = run(&scene, H, 60);
    assert!((angle(&scene, &lifted) + 1.0).abs() < 1e-9, "{}", angle(&scene, &lifted));
    scene.joints[0].motor = Some(Motor { speed: -1.0, max_effort: 3.0 });
    assert!(angle(&scene, &run(&scene, H, 20)) > 0.1);
}

/// A motor drives into a limit, holds there against a load that pulls away from it, and yields where
/// that is more than its effort.
#[test]
fn a_motor_meets_a_limit() {
    let mut scene = hinged();
    // The weight takes 4.9 N m where the rod is level.
    for (max_effort, held) in [(100.0, true), (30.0, true), (3.0, false)] {
        for speed in [-1.0, -20.0] {
            scene.joints[0].limit = Some(Limit { lower: -0.3, upper: 3.0 });
            scene.joints[0].motor = Some(Motor { speed, max_effort });
            let state = run(&scene, H, 60);
            let off = angle(&scene, &state) + 0.3;
            assert_eq!(off.abs() < 1e-9, held, "{max_effort} {speed}: {off:e}");
        }
    }
}

/// Seven hinges and two fingers that all end at limits, into which their motors drive.
#[test]
fn an_arm_drives_to_its_limits() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/panda.ron");
    let scene = load_file(&path, &[]).unwrap().scene;
    let state = run(&scene, scene.dt, 200);
    let mut met = 0;
    for joint in &scene.joints {
        let (Some(limit), Some(motor)) = (joint.limit, joint.motor) else { continue };
        let (a, b) = (Pose::of(joint.a, &state), Pose::of(joint.b, &state));
        let kind = free_coordinate(joint.kind).unwrap();
        let value = kind.evaluate(&Geometry::from(joint), &a, &b).value;
        let end = if motor.speed > 0.0 { limit.upper } else { limit.lower };
        met += usize::from((value - end).abs() < 1e-9);
    }
    assert_eq!(met, 9);
}

#[test]
fn a_joint_breaks_above_its_force_and_stays_broken() {
    let mut scene = earth();
    scene.bodies.push(rod());
    scene.joints.push(pin(JointKind::Ball, Vec3::zeros(), 0, Vec3::zeros()));
    scene.joints[0].break_force = 9.82;
    assert_eq!(run(&scene, H, 20).broken, [false]);
    scene.joints[0].break_force = 9.80;
    let mut solver = solver(&scene, "()");
    let state = advance(solver.as_mut(), H, 1);
    assert_eq!(state.broken, [true]);
    assert!(state.bodies[0].position.norm() < 1e-10, "held in the step in which it breaks");
    let state = advance(solver.as_mut(), H, 10);
    assert!((state.bodies[0].position.z + 9.81 * H * H * 55.0).abs() < 1e-10);
}

#[test]
fn a_planar_loop_of_hinges_moves_with_every_row_exact() {
    // Four rods, four hinges and the world: a four-bar linkage with three redundant rows.
    let mut scene = earth();
    let basis = Quat::from_scaled_axis(Vec3::z() * FRAC_PI_2);
    let half = Vec3::new(0.5, 0.0, 0.0);
    let down = Quat::from_scaled_axis(Vec3::y() * FRAC_PI_2);
    scene.bodies.push(Body { rotation: down, ..rod().at(Vec3::new(0.0, 0.0, -0.5)) });
    scene.bodies.push(rod().at(Vec3::new(0.5, 0.0, -1.0)));
    scene.bodies.push(Body { rotation: down, ..rod().at(Vec3::new(1.0, 0.0, -0.5)) });
    scene.bodies[1].velocity.x = 3.0;
    let body = Endpoint::Body;
    let ends = [
        (Endpoint::World, body(0), Vec3::zeros(), -half),
        (body(0), body(1), half, -half),
        (body(1), body(2), half, half),
        (body(2), Endpoint::World, -half, Vec3::new(1.0, 0.0, 0.0)),
    ];
    let axis = |end| match end {
        Endpoint::Body(i) => scene.bodies[i].rotation.inverse() * basis,
        _ => basis,
    };
    scene.joints = ends
        .iter()
        .map(|&(a, b, anchor_a, anchor_b)| Joint {
            basis_a: axis(a),
            basis_b: axis(b),
            ..Joint::new(JointKind::Hinge, a, b).anchored(anchor_a, anchor_b)
        })
        .collect();
    let mut solver = solver(&scene, "()");
    let mut reach = 0.0_f64;
    for _ in 0..240 {
        let state = advance(solver.as_mut(), H, 1);
        assert!(violation(&scene, &state) < 1e-10, "{:e}", violation(&scene, &state));
        reach = reach.max((state.bodies[1].position.x - 0.5).abs());
    }
    assert!(reach > 0.3, "the linkage moves: {reach}");
}

#[test]
fn a_body_fixed_twice_stays() {
    let mut scene = earth();
    scene.bodies.push(rod());
    for end in [-0.5, 0.5] {
        let end = Vec3::new(end, 0.0, 0.0);
        scene.joints.push(pin(JointKind::Fixed, end, 0, end));
    }
    let mut solver = solver(&scene, "()");
    let state = advance(solver.as_mut(), H, 60);
    assert!(state.bodies[0].position.norm() < 1e-11);
    let mut forces = Multipliers::default();
    solver.read_multipliers(&mut forces);
    let sum = forces.joint_force[0] + forces.joint_force[1];
    assert!((sum - Vec3::new(0.0, 0.0, 9.81)).norm() < 1e-6, "{sum}");
}

#[test]
fn a_hanging_chain_with_a_heavy_end_stays() {
    let mut scene = earth();
    let half = Vec3::new(0.0, 0.0, 0.5);
    for i in 0..51 {
        let (size, density) =
            if i < 50 { (Vec3::new(0.2, 0.2, 1.0), 25.0) } else { (Vec3::repeat(1.0), 5e4) };
        let middle = Vec3::new(0.0, 0.0, -0.5 - f64::from(i));
        scene.bodies.push(Body::solid_box(size, density).at(middle));
        let i = i as usize;
        let joint = if i == 0 {
            pin(JointKind::Ball, Vec3::zeros(), 0, half)
        } else {
            Joint::new(JointKind::Ball, Endpoint::Body(i - 1), Endpoint::Body(i))
                .anchored(-half, half)
        };
        scene.joints.push(joint);
    }
    let state = run(&scene, H, 300);
    for (body, state) in scene.bodies.iter().zip(&state.bodies) {
        assert!((body.position - state.position).norm() < 1e-9);
        assert!(state.rotation().angle() < 1e-9);
    }
}

#[test]
fn every_kind_of_joint_holds_while_it_moves() {
    let kinds = [
        JointKind::Ball,
        JointKind::Hinge,
        JointKind::Universal,
        JointKind::Prismatic,
        JointKind::Cylindrical,
        JointKind::Fixed,
        JointKind::Distance { length: 0.8 },
    ];
    let mut scene = earth();
    let half = Vec3::new(0.5, 0.0, 0.0);
    for (i, kind) in kinds.into_iter().enumerate() {
        let y = 2.0 * i as f64;
        let gap = if matches!(kind, JointKind::Distance { .. }) { 0.8 } else { 0.0 };
        scene.bodies.push(rod().at(Vec3::new(0.5, y, 0.0)));
        let omega = Vec3::new(1.0, -2.0, 3.0);
        scene.bodies.push(Body { omega, ..rod().at(Vec3::new(1.5 + gap, y, 0.0)) });
        let (a, b) = (2 * i, 2 * i + 1);
        scene.joints.push(pin(JointKind::Ball, Vec3::new(0.0, y, 0.0), a, -half));
        let joint = Joint::new(kind, Endpoint::Body(a), Endpoint::Body(b)).anchored(half, -half);
        scene.joints.push(joint);
    }
    let mut solver = solver(&scene, "()");
    for _ in 0..60 {
        let state = advance(solver.as_mut(), H, 2);
        assert!(violation(&scene, &state) < 1e-10, "{:e}", violation(&scene, &state));
    }
}

#[test]
fn a_line_straight_between_pins_needs_compliance() {
    let mut scene = earth();
    let half = Vec3::new(0.5, 0.0, 0.0);
    for x in [0.5, 1.5] {
        scene.bodies.push(rod().at(Vec3::new(x, 0.0, 0.0)));
    }
    let ends = [(0, -half, Vec3::zeros()), (1, half, Vec3::new(2.0, 0.0, 0.0))];
    for (body, anchor, point) in ends {
        scene.joints.push(pin(JointKind::Ball, point, body, anchor));
    }
    let middle = Joint::new(JointKind::Ball, Endpoint::Body(0), Endpoint::Body(1));
    scene.joints.push(middle.anchored(half, -half));
    // No finite tension carries a weight across a straight line that cannot sag.
    let mut hard = solver(&scene, "()");
    hard.begin_step(taut_core::Step { dt: H, iterations: 0 }).unwrap();
    assert!(matches!(hard.end_step(), Err(taut_core::SolverError::NotConverged(_))));
    let mut soft = solver(&scene, "(compliance: 1e-9)");
    let sag = -advance(soft.as_mut(), H, 60).bodies[0].position.z;
    assert!(sag > 1e-4 && sag < 5e-3, "{sag}");
}

#[test]
fn stiff_springs_buckle_without_halving_the_step() {
    // A nearly straight line of light particles shot against a wall: every spring is compressed at once.
    let mut scene = earth();
    for i in 0..12_u32 {
        let position = Vec3::new(0.1 * f64::from(i), 1e-3 * f64::from(i % 3), 0.0);
        let mass = if i == 0 { 0.0 } else { 0.01 };
        let velocity = Vec3::new(-10.0, 0.0, 0.0);
        scene.particles.push(Particle { name: String::new(), mass, position, velocity });
    }
    for i in 0..11 {
        let origin = Vec3::zeros();
        scene.springs.push(Spring {
            name: String::new(),
            kind: SpringKind::Linear { anchor_a: origin, anchor_b: origin, rest_length: 0.1 },
            a: Endpoint::Particle(i),
            b: Endpoint::Particle(i + 1),
            stiffness: 1e4,
        });
    }
    let mut solver = solver(&scene, "(max_bisections: 0)");
    for _ in 0..60 {
        let state = advance(solver.as_mut(), H, 1);
        for spring in &scene.springs {
            let [a, b] = [spring.a, spring.b].map(|end| Pose::of(end, &state).position);
            assert!(((a - b).norm() - 0.1).abs() < 0.03);
        }
    }
}

#[test]
fn equal_runs_give_equal_bits_and_loading_forgets() {
    let mut scene = hinged();
    scene.joints[0].limit = Some(Limit { lower: -0.3, upper: 0.4 });
    let mut solver = solver(&scene, "()");
    let first = advance(solver.as_mut(), H, 50).hash();
    advance(solver.as_mut(), 0.5 * H, 7);
    solver.load(&scene.initial_state()).unwrap();
    assert_eq!(advance(solver.as_mut(), H, 50).hash(), first);
}

#[test]
fn the_path_does_not_change_the_solution() {
    let mut scene = hinged();
    scene.joints[0].limit = Some(Limit { lower: -0.3, upper: 0.4 });
    let run = |settings| advance(solver(&scene, settings).as_mut(), H, 100).bodies[0].position;
    let expected = run("()");
    for settings in ["(reuse_factorisation: false)", "(regularisation: 1e-8)"] {
        assert!((run(settings) - expected).norm() < 1e-9, "{settings}");
    }
}

#[test]
fn an_iteration_is_one_newton_step_and_completion_can_be_left_out() {
    let mut scene = hinged();
    scene.bodies[0].omega = Vec3::new(0.0, 6.0, 0.0);
    scene.bodies[0].velocity = Vec3::new(0.0, 0.0, -3.0);
    let violation_after = |iterations: u32, settings: &str| {
        let mut solver = solver(&scene, settings);
        solver.begin_step(taut_core::Step { dt: H, iterations }).unwrap();
        (0..iterations).for_each(|_| solver.iterate().unwrap());
        solver.end_step().unwrap();
        let mut state = scene.initial_state();
        solver.read(&mut state).unwrap();
        violation(&scene, &state)
    };
    let open = [0, 1, 2, 8].map(|n| violation_after(n, "(complete: false)"));
    assert!(open[0] > 1e-3 && open[3] < 1e-11, "{open:?}");
    assert!(open.windows(2).all(|pair| pair[1] < 0.5 * pair[0]), "{open:?}");
    assert!(violation_after(0, "()") < 1e-11);
}

#[test]
fn bad_settings_are_refused_with_a_reason() {
    let settings = Settings::from_ron("(tolerance: -1.0)");
    let built = taut_newton::BACKEND.build(&hinged(), &settings, &NoDevices);
    let error = built.err().unwrap();
    assert!(error.to_string().contains("tolerance"));
}
