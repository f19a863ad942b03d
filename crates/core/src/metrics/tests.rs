//! Metrics against values worked out by hand.

use nalgebra::Matrix3;

use super::*;
use crate::{
    Multipliers, Quat, Vec3,
    energy::Membrane,
    scene::{
        Anchor, Body, ElasticPart, Endpoint, Joint, JointKind, Limit, Particle, Spring, SpringKind,
    },
    state::BodyState,
};

const WORLD: Endpoint = Endpoint::World;
const BODY: Endpoint = Endpoint::Body(0);

/// A box of 1 x 2 x 3 m and 6 kg, and whatever joins it to the world.
fn one_box(joints: Vec<Joint>) -> Scene {
    Scene {
        gravity: Vec3::new(0.0, 0.0, -10.0),
        dt: 0.01,
        bodies: vec![Body::solid_box(Vec3::new(1.0, 2.0, 3.0), 1.0)],
        joints,
        ..Scene::default()
    }
}

/// Measures one joint of the box after the box has been moved and turned.
fn errors(joint: Joint, position: Vec3, turn: Vec3) -> JointError {
    let scene = one_box(vec![joint]);
    let mut state = scene.initial_state();
    let rotation = Quat::from_scaled_axis(turn);
    state.bodies[0] = BodyState::rigid(position, rotation, Vec3::zeros(), Vec3::zeros());
    joint_errors(&scene, &state)
}

fn assert_near(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "{found} is not {expected} to {tolerance}");
}

#[test]
fn joints_are_judged_along_what_they_lock() {
    let away = Vec3::new(0.3, 0.04, 0.0);
    let turn = Vec3::new(0.2, 0.0, 0.0);
    let joint = |kind| Joint::new(kind, WORLD, BODY);
    assert_near(errors(joint(JointKind::Ball), away, turn).max_m, away.norm(), 1e-15);
    assert_eq!(errors(joint(JointKind::Ball), away, turn).angle_max_rad, 0.0);
    assert_near(errors(joint(JointKind::Prismatic), away, turn).max_m, 0.04, 1e-15);
    assert_near(errors(joint(JointKind::Prismatic), away, turn).angle_max_rad, 0.2, 1e-12);
    assert_near(errors(joint(JointKind::Hinge), away, turn).angle_max_rad, 0.0, 1e-12);
    let across = Vec3::new(0.0, 0.1, 0.0);
    assert_near(errors(joint(JointKind::Hinge), away, across).angle_max_rad, 0.1, 1e-12);
    let through = || joint(JointKind::Cylindrical);
    assert_near(errors(through(), away, turn).max_m, 0.04, 1e-15);
    assert_near(errors(through(), away, turn).angle_max_rad, 0.0, 1e-12);
    assert_near(errors(through(), away, across).angle_max_rad, 0.1, 1e-12);
    let about_z = Vec3::new(0.0, 0.0, 0.3);
    assert_near(errors(joint(JointKind::Universal), away, about_z).angle_max_rad, 0.3, 1e-12);
    assert_near(errors(joint(JointKind::Universal), away, across).angle_max_rad, 0.0, 1e-12);
    let rope = joint(JointKind::Distance { length: 0.1 });
    assert_near(errors(rope, away, turn).max_m, away.norm() - 0.1, 1e-15);
}

#[test]
fn limits_count_only_beyond_their_bounds() {
    for kind in [JointKind::Prismatic, JointKind::Cylindrical] {
        let mut slider = Joint::new(kind, WORLD, BODY);
        slider.limit = Some(Limit { lower: -0.1, upper: 0.2 });
        let at = |x| errors(slider.clone(), Vec3::new(x, 0.0, 0.0), Vec3::zeros()).max_m;
        assert_eq!(at(0.15), 0.0);
        assert_near(at(0.25), 0.05, 1e-15);
        assert_near(at(-0.25), 0.15, 1e-15);
    }
    let mut hinge = Joint::new(JointKind::Hinge, WORLD, BODY);
    hinge.limit = Some(Limit { lower: -0.5, upper: 0.5 });
    let at = |x| errors(hinge.clone(), Vec3::zeros(), Vec3::new(x, 0.0, 0.0)).angle_max_rad;
    assert_near(at(0.4), 0.0, 1e-12);
    assert_near(at(0.7), 0.2, 1e-12);
    let mut rope = Joint::new(JointKind::Distance { length: 1.0 }, WORLD, BODY);
    rope.limit = Some(Limit { lower: 0.0, upper: 1.0 });
    assert_eq!(errors(rope, Vec3::new(0.5, 0.0, 0.0), Vec3::zeros()).max_m, 0.0);
}

#[test]
fn only_hard_whole_joints_that_move_count() {
    let away = Vec3::new(1.0, 0.0, 0.0);
    let mut soft = Joint::new(JointKind::Fixed, WORLD, BODY);
    soft.compliance_linear = 1e-3;
    let error = errors(soft, away, Vec3::new(0.0, 0.1, 0.0));
    assert_eq!(error.max_m, 0.0, "its linear rows are compliant");
    assert_near(error.angle_max_rad, 0.1, 1e-12);
    let mut scene = one_box(vec![Joint::new(JointKind::Ball, WORLD, BODY)]);
    let mut state = scene.initial_state();
    state.bodies[0].position = away;
    assert_eq!(joint_errors(&scene, &state).max_m, 1.0);
    state.broken[0] = true;
    assert_eq!(joint_errors(&scene, &state), JointError::default());
    state.broken[0] = false;
    scene.bodies[0] = scene.bodies[0].clone().fixed();
    assert_eq!(joint_errors(&scene, &state), JointError::default());
}

#[test]
fn anchors_stretch_with_an_affine_frame() {
    let anchor = Vec3::new(0.5, 0.0, 0.0);
    let scene = one_box(vec![Joint::new(JointKind::Ball, WORLD, BODY).anchored(anchor, anchor)]);
    let mut state = scene.initial_state();
    state.bodies[0].frame = Matrix3::from_diagonal(&Vec3::new(1.2, 1.0, 1.0));
    assert_near(joint_errors(&scene, &state).max_m, 0.1, 1e-15);
    assert_near(stretch_max(&scene, &state), 0.2, 1e-14);
}

#[test]
fn stretch_sees_shrinking_and_reflection_and_is_exact_near_zero() {
    let turn = Quat::from_scaled_axis(Vec3::new(0.4, -0.7, 0.2)).to_rotation_matrix().into_inner();
    let scaled = |x: f64, y: f64, z: f64| turn * Matrix3::from_diagonal(&Vec3::new(x, y, z));
    assert!(stretch(&turn) < 1e-15);
    assert_near(stretch(&scaled(1.0, 0.7, 1.1)), 0.3, 1e-14);
    assert_near(stretch(&scaled(1.0, 1.0, 1.0 + 1e-10)), 1e-10, 1e-15);
    assert_near(stretch(&scaled(1.0, -1.0, 1.0)), 2.0, 1e-12);
    assert_near(stretch(&Matrix3::zeros()), 1.0, 1e-15);
}

#[test]
fn kinetic_energy_and_momentum_are_those_of_a_rigid_body() {
    let mut scene = one_box(Vec::new());
    let rotation = Quat::from_scaled_axis(Vec3::new(0.3, 0.5, -0.2));
    let (velocity, omega) = (Vec3::new(1.0, -2.0, 0.5), Vec3::new(0.3, 2.0, -1.0));
    scene.bodies[0].rotation = rotation;
    (scene.bodies[0].velocity, scene.bodies[0].omega) = (velocity, omega);
    let state = scene.initial_state();
    let local = rotation.inverse() * omega;
    let spin = scene.bodies[0].inertia * local;
    let kinetic = 0.5 * (6.0 * velocity.norm_squared() + local.dot(&spin));
    assert_near(energy(&scene, &state).kinetic_j, kinetic, 1e-12);
    let momentum = momentum(&scene, &state);
    assert_near((momentum.linear_kg_m_s - velocity * 6.0).norm(), 0.0, 1e-14);
    assert_near((momentum.angular_kg_m2_s - rotation * spin).norm(), 0.0, 1e-12);
}

#[test]
fn free_fall_drifts_in_nothing() {
    let mut scene = one_box(Vec::new());
    scene.particles.push(Particle {
        name: String::new(),
        mass: 2.0,
        position: Vec3::new(3.0, 1.0, 0.0),
        velocity: Vec3::new(0.0, 4.0, 1.0),
        touch: None,
    });
    let initial = scene.initial_state();
    assert!(is_free(&scene));
    let start = (energy(&scene, &initial).total_j(), momentum(&scene, &initial));
    let t = 0.7;
    let mut state = initial;
    state.time_s = t;
    let fall = |p: &mut Vec3, v: &mut Vec3| {
        *p += *v * t + scene.gravity * (0.5 * t * t);
        *v += scene.gravity * t;
    };
    state.bodies.iter_mut().for_each(|b| fall(&mut b.position, &mut b.velocity));
    state.particles.iter_mut().for_each(|p| fall(&mut p.position, &mut p.velocity));
    let drift = |state: &State| momentum(&scene, state).drift_since(&start.1, &scene.gravity, t);
    let [linear, angular] = drift(&state);
    assert_near(energy(&scene, &state).total_j(), start.0, 1e-12);
    assert_near(linear.max(angular), 0.0, 1e-12);
    state.bodies[0].velocity.x += 0.5;
    let [linear, angular] = drift(&state);
    assert_near(linear, 3.0, 1e-12);
    assert!(angular > 1.0);
}

/// Two particles of 1 kg on a line, joined by a spring of 8 N/m and rest length 2 m.
fn spring_pair(length: f64) -> Scene {
    let particle = |x: f64| Particle {
        name: String::new(),
        mass: 1.0,
        position: Vec3::new(x, 0.0, 0.0),
        velocity: Vec3::zeros(),
        touch: None,
    };
    let zero = Vec3::zeros();
    let kind = SpringKind::Linear { anchor_a: zero, anchor_b: zero, rest_length: 2.0 };
    let (a, b) = (Endpoint::Particle(0), Endpoint::Particle(1));
    Scene {
        dt: 0.1,
        particles: vec![particle(0.0), particle(length)],
        springs: vec![Spring { name: String::new(), kind, a, b, stiffness: 8.0, damping: 0.0 }],
        ..Scene::default()
    }
}

#[test]
fn springs_store_energy_and_strain() {
    let scene = spring_pair(2.5);
    let state = scene.initial_state();
    assert_near(energy(&scene, &state).springs_j, 0.5 * 8.0 * 0.25, 1e-15);
    assert_near(spring_strain_max(&scene, &state).expect("a spring"), 0.25, 1e-15);
}

#[test]
fn an_angular_spring_stores_half_its_angle_squared() {
    let mut scene = one_box(Vec::new());
    let kind = SpringKind::Angular { basis_a: Quat::identity(), basis_b: Quat::identity() };
    scene.springs =
        vec![Spring { name: String::new(), kind, a: WORLD, b: BODY, stiffness: 4.0, damping: 0.0 }];
    for angle in [0.2, 2.5] {
        scene.bodies[0].rotation = Quat::from_scaled_axis(Vec3::new(0.0, angle, 0.0));
        let stored = energy(&scene, &scene.initial_state()).springs_j;
        assert_near(stored, 0.5 * 4.0 * angle * angle, 1e-14);
    }
}

#[test]
fn compliant_joints_store_energy() {
    let mut joint = Joint::new(JointKind::Ball, WORLD, BODY);
    joint.compliance_linear = 1e-2;
    let scene = one_box(vec![joint]);
    let mut state = scene.initial_state();
    state.bodies[0].position = Vec3::new(0.1, 0.2, 0.0);
    assert_near(energy(&scene, &state).joints_j, 0.05 / 2e-2, 1e-14);
}

#[test]
fn the_objective_is_least_at_the_implicit_euler_step() {
    // Stretch s obeys s'' = -(k/m_reduced) s with reduced mass 1/2: one step takes s to
    // s / (1 + 16 dt^2).
    let scene = spring_pair(2.5);
    let (previous, dt) = (scene.initial_state(), scene.dt);
    let stretch = 0.5 / (1.0 + 16.0 * dt * dt);
    let step_to = |stretch: f64| {
        let mut state = previous.clone();
        state.particles[0].position.x = 0.25 - 0.5 * stretch;
        state.particles[1].position.x = 2.25 + 0.5 * stretch;
        state
    };
    let solution = step_to(stretch);
    let gap = |state: State| {
        objective_gap_j(&scene, &previous, &state, &solution, dt).expect("all stiffness is finite")
    };
    assert_eq!(gap(solution.clone()), 0.0);
    for delta in [-1e-3, 1e-3] {
        // Half the second derivative, (m_reduced / dt^2 + k) / 2.
        let expected = 0.5 * (0.5 / (dt * dt) + 8.0) * delta * delta;
        assert_near(gap(step_to(stretch + delta)), expected, 1e-12);
    }
}

#[test]
fn the_objective_needs_finite_stiffness() {
    let mut joint = Joint::new(JointKind::Ball, WORLD, BODY);
    let scene = one_box(vec![joint.clone()]);
    let state = scene.initial_state();
    assert_eq!(objective_j(&scene, &state, &state, 0.1), None);
    joint.compliance_linear = 1e-3;
    let scene = one_box(vec![joint]);
    let fall = 10.0 * 0.1 * 0.1;
    let expected = 6.0 * fall * fall / (2.0 * 0.1 * 0.1);
    assert_near(objective_j(&scene, &state, &state, 0.1).expect("soft"), expected, 1e-14);
    let touching = Scene { contacts: Some(Default::default()), ..scene };
    assert_eq!(objective_j(&touching, &state, &state, 0.1), None);
}

#[test]
fn distances_are_root_mean_squares_over_what_moves() {
    let mut scene = one_box(Vec::new());
    scene.bodies.push(scene.bodies[0].clone().fixed());
    scene.bodies.push(scene.bodies[0].clone());
    scene.watch = vec![2];
    let reference = scene.initial_state();
    let mut state = reference.clone();
    state.bodies[0].position.x += 3.0;
    state.bodies[2].position.y += 4.0;
    assert_eq!(watched_error_rms_m(&scene, &state, &reference), Some(4.0));
    let all = pose_distance_rms_m(&scene, &state, &reference).expect("two bodies");
    assert_near(all, 12.5_f64.sqrt(), 1e-15);
}

#[test]
fn a_turned_body_is_as_far_off_as_its_points() {
    let scene = Scene { watch: vec![0], ..one_box(Vec::new()) };
    let reference = scene.initial_state();
    let mut state = reference.clone();
    let turn = Quat::from_scaled_axis(Vec3::z() * 0.3);
    state.bodies[0].frame = turn.to_rotation_matrix() * state.bodies[0].frame;
    // Points at distance r from the axis move by the chord `2 r sin(a/2)`, and the mean of `r^2` is `I_zz / m`.
    let body = &scene.bodies[0];
    let gyration = (body.inertia[(2, 2)] / body.mass).sqrt();
    let off = 2.0 * gyration * (0.15_f64).sin();
    assert_near(pose_distance_rms_m(&scene, &state, &reference).expect("a body"), off, 1e-14);
    assert_near(watched_error_rms_m(&scene, &state, &reference).expect("watched"), off, 1e-14);
}

/// A right triangle of particles with legs of 1 m, stretched along x by Green's strain 1/10.
fn stretched_triangle() -> Scene {
    let corners = [Vec3::zeros(), Vec3::new(1.0, 0.0, 0.0), Vec3::new(0.0, 1.0, 0.0)];
    let membrane = Membrane::new(&corners, 0.1, 30.0, 0.0).expect("a triangle");
    let particle = |position: Vec3| Particle {
        name: String::new(),
        mass: 1.0,
        position: Vec3::new(1.2_f64.sqrt() * position.x, position.y, 0.0),
        velocity: Vec3::zeros(),
        touch: None,
    };
    let corner = |i| Anchor::from(Endpoint::Particle(i));
    Scene {
        particles: corners.map(particle).to_vec(),
        triangles: vec![ElasticPart {
            name: String::new(),
            ends: [corner(0), corner(1), corner(2)],
            energy: membrane.into(),
        }],
        ..Scene::default()
    }
}

#[test]
fn triangles_store_energy_and_hold_what_they_are_fixed_to() {
    let mut scene = stretched_triangle();
    let state = scene.initial_state();
    // Volume times Young's modulus times half the strain squared.
    assert_near(energy(&scene, &state).material_j, 0.05 * 30.0 * 0.005, 1e-15);
    let objective = objective_j(&scene, &state, &state, 0.1).expect("all stiffness is finite");
    assert_near(objective, energy(&scene, &state).total_j(), 1e-15);
    assert!(is_free(&scene));
    scene.particles[1].mass = 0.0;
    assert!(!is_free(&scene));
}

#[test]
fn a_step_is_balanced_where_its_forces_explain_the_change_of_momentum() {
    let dt = 0.01;
    let scene = one_box(vec![Joint::new(JointKind::Ball, WORLD, BODY)]);
    let before = scene.initial_state();
    let mut after = before.clone();
    let weight = scene.bodies[0].mass * 10.0;
    let carried = |share: f64| Multipliers {
        joint_force: vec![Vec3::z() * (share * weight)],
        joint_torque: vec![Vec3::zeros()],
        contacts: Vec::new(),
    };
    let share = |after: &State, forces: &Multipliers| {
        imbalance_share_max(&scene, &before, after, dt, Some(forces)).expect("forces are told")
    };
    assert_near(share(&after, &carried(1.0)), 0.0, 1e-15);
    // Forces that carry half of the weight of what stays where it is.
    assert_near(share(&after, &carried(0.5)), 0.5 / 1.5, 1e-15);
    after.bodies[0].velocity.z = -10.0 * dt;
    assert_near(share(&after, &carried(0.0)), 0.0, 1e-14);
    assert_near(share(&after, &carried(1.0)), 1.0 / 3.0, 1e-14);
    // Without the forces of the joint nothing can be said.
    assert_eq!(imbalance_share_max(&scene, &before, &after, dt, None), None);
}

#[test]
fn the_force_of_a_spring_may_be_asked_for_anywhere_in_the_step() {
    let (anchor_a, anchor_b) = (Vec3::zeros(), Vec3::zeros());
    let kind = SpringKind::Linear { anchor_a, anchor_b, rest_length: 1.0 };
    let end = Endpoint::Particle(0);
    let spring =
        Spring { name: String::new(), kind, a: WORLD, b: end, stiffness: 100.0, damping: 0.0 };
    let (mass, dt) = (2.0, 0.01);
    let name = String::new();
    let (position, velocity) = (Vec3::x() * 1.1, Vec3::zeros());
    let load = Particle { name, mass, position, velocity, touch: None };
    let scene = Scene { springs: vec![spring], particles: vec![load], ..Scene::default() };
    let before = scene.initial_state();
    let mut after = before.clone();
    after.particles[0].position.x = 1.05;
    // It pulls with 10 N at the start and with 5 N at the end.
    for (pull, left) in [(10.0, 0.0), (7.0, 0.0), (5.0, 0.0), (4.0, 1.0), (20.0, 10.0)] {
        after.particles[0].velocity.x = -pull * dt / mass;
        let share = imbalance_share_max(&scene, &before, &after, dt, None);
        assert_near(share.expect("nothing is hidden"), left / (10.0 + pull), 1e-12);
    }
}
