//! Limits, breaking, redundancy and stiff systems, where a Newton solver is put to the test.

use std::f64::consts::FRAC_PI_2;

use taut_core::{
    Quat, Scene, SolverError, Step, Vec3,
    constraint::Pose,
    scene::{Body, Endpoint, Joint, JointKind, Limit},
};
use taut_fixtures::{
    DT, Run, anchored_particles, build, coordinate, empty, file, hinged, lock_error, pin,
};
use taut_newton::BACKEND;

const ROD: (Vec3, f64) = (Vec3::new(1.0, 0.2, 0.1), 50.0);

fn rod() -> Body {
    Body::solid_box(ROD.0, ROD.1)
}

/// A rod hinged at its left end to the world, turning about world y; a positive angle lowers its free end.
fn limited() -> Scene {
    let mut scene = hinged(9.81, ROD.0, ROD.1);
    scene.joints[0].limit = Some(Limit { lower: -0.3, upper: 0.4 });
    scene
}

fn new(scene: &Scene, settings: &str) -> Run {
    Run::new(&BACKEND, scene, settings, 1)
}

/// Seven hinges and two fingers that all end at limits, into which their motors drive.
#[test]
fn an_arm_drives_to_its_limits() {
    let scene = file("panda", &[]);
    let state = new(&scene, "()").end(200);
    let mut met = 0;
    for joint in &scene.joints {
        let (Some(limit), Some(motor)) = (joint.limit, joint.motor) else { continue };
        let end = if motor.speed > 0.0 { limit.upper } else { limit.lower };
        met += usize::from((coordinate(joint, &state) - end).abs() < 1e-9);
    }
    assert_eq!(met, 9);
}

/// A bound of force is met to rounding, and what breaks is held to the end of its step.
#[test]
fn a_joint_breaks_at_the_end_of_a_step() {
    let mut scene = empty(9.81);
    scene.bodies.push(rod());
    scene.joints.push(pin(JointKind::Ball, Vec3::zeros(), 0, Vec3::zeros()));
    scene.joints[0].break_force = 9.82;
    assert_eq!(new(&scene, "()").end(20).broken, [false]);
    scene.joints[0].break_force = 9.80;
    let state = new(&scene, "()").end(1);
    assert_eq!(state.broken, [true]);
    assert!(state.bodies[0].position.norm() < 1e-10);
}

#[test]
fn a_planar_loop_of_hinges_moves_with_every_row_exact() {
    // Four rods, four hinges and the world: a four-bar linkage with three redundant rows.
    let mut scene = empty(9.81);
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
    let mut run = new(&scene, "()");
    let mut reach = 0.0_f64;
    for _ in 0..240 {
        let state = run.step();
        assert!(lock_error(&scene, state) < 1e-10, "{:e}", lock_error(&scene, state));
        reach = reach.max((state.bodies[1].position.x - 0.5).abs());
    }
    assert!(reach > 0.3, "the linkage moves: {reach}");
}

#[test]
fn a_body_fixed_twice_stays() {
    let mut scene = empty(9.81);
    scene.bodies.push(rod());
    for end in [-0.5, 0.5] {
        let end = Vec3::new(end, 0.0, 0.0);
        scene.joints.push(pin(JointKind::Fixed, end, 0, end));
    }
    let mut run = new(&scene, "()");
    assert!(run.steps(60).bodies[0].position.norm() < 1e-11);
    let forces = run.forces();
    let sum = forces.joint_force[0] + forces.joint_force[1];
    assert!((sum - Vec3::new(0.0, 0.0, 9.81)).norm() < 1e-6, "{sum}");
}

#[test]
fn a_hanging_chain_with_a_heavy_end_stays() {
    let mut scene = empty(9.81);
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
    let state = new(&scene, "()").end(300);
    for (body, state) in scene.bodies.iter().zip(&state.bodies) {
        assert!((body.position - state.position).norm() < 1e-9);
        assert!(state.rotation().angle() < 1e-9);
    }
}

#[test]
fn a_line_straight_between_pins_needs_compliance() {
    let mut scene = empty(9.81);
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
    let mut hard = new(&scene, "()").solver;
    hard.begin_step(Step { dt: DT, iterations: 0 }).unwrap();
    assert!(matches!(hard.end_step(), Err(SolverError::NotConverged(_))));
    let sag = -new(&scene, "(compliance: 1e-9)").end(60).bodies[0].position.z;
    assert!(sag > 1e-4 && sag < 5e-3, "{sag}");
}

#[test]
fn stiff_springs_buckle_without_halving_the_step() {
    // A nearly straight line of light particles shot against a wall: every spring is compressed at once.
    let place = |i: u32| Vec3::new(0.1 * f64::from(i), 1e-3 * f64::from(i % 3), 0.0);
    let mut scene = anchored_particles(9.81, 0.01, (0..12).map(place), 0.1, 1e4);
    scene.particles.iter_mut().for_each(|particle| particle.velocity.x = -10.0);
    let mut run = new(&scene, "(max_bisections: 0)");
    for _ in 0..60 {
        let state = run.step();
        for spring in &scene.springs {
            let [a, b] = [spring.a, spring.b].map(|end| Pose::of(end, state).position);
            assert!(((a - b).norm() - 0.1).abs() < 0.03);
        }
    }
}

#[test]
fn the_path_does_not_change_the_solution() {
    let end = |settings| new(&limited(), settings).end(100).bodies[0].position;
    for settings in ["(reuse_factorisation: false)", "(regularisation: 1e-8)"] {
        assert!((end(settings) - end("()")).norm() < 1e-9, "{settings}");
    }
}

#[test]
fn an_iteration_is_one_newton_step_and_completion_can_be_left_out() {
    let mut scene = hinged(9.81, ROD.0, ROD.1);
    scene.bodies[0].omega = Vec3::new(0.0, 6.0, 0.0);
    scene.bodies[0].velocity = Vec3::new(0.0, 0.0, -3.0);
    let error_after = |iterations: u32, settings: &str| {
        lock_error(&scene, &Run::new(&BACKEND, &scene, settings, iterations).end(1))
    };
    let open = [0, 1, 2, 8].map(|n| error_after(n, "(complete: false)"));
    assert!(open[0] > 1e-3 && open[3] < 1e-11, "{open:?}");
    assert!(open.windows(2).all(|pair| pair[1] < 0.5 * pair[0]), "{open:?}");
    assert!(error_after(0, "()") < 1e-11);
}

#[test]
fn bad_settings_are_refused_with_a_reason() {
    let error = build(&BACKEND, &limited(), "(tolerance: -1.0)").err().unwrap();
    assert!(error.to_string().contains("tolerance"));
}
