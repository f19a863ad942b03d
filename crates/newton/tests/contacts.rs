//! Contacts against closed forms of implicit Euler.

mod support;

use support::{advance, earth, pin, rod, run, solver, violation};
use taut_core::{
    Backend, Multipliers, NoDevices, Quat, Scene, Settings, Solver, State, Step, Vec3,
    scene::{Body, Contacts, Endpoint, Joint, JointKind, Material, Motion, Shape},
};

const G: f64 = 9.81;
const DT: f64 = 1.0 / 60.0;

fn scene(bodies: Vec<Body>) -> Scene {
    Scene { contacts: Some(Contacts::default()), bodies, ..earth() }
}

fn rubbing(mut body: Body, friction_static: f64, friction_dynamic: f64) -> Body {
    body.material = Material { friction_static, friction_dynamic, restitution: 0.0 };
    body
}

/// A floor with its surface at z = 0, turned by `turn` about the origin.
fn floor(turn: Quat) -> Body {
    let mut floor = Body::solid_box(Vec3::new(200.0, 200.0, 1.0), 1.0).fixed();
    (floor.position, floor.rotation) = (turn * Vec3::new(0.0, 0.0, -0.5), turn);
    floor
}

fn flat() -> Body {
    floor(Quat::identity())
}

/// A box of 1 kg/m^3 that stands `lift` above the floor [m].
fn brick(size: Vec3, lift: f64) -> Body {
    Body::solid_box(size, 1.0).at(Vec3::new(0.0, 0.0, lift + 0.5 * size.z))
}

fn cube(lift: f64) -> Body {
    brick(Vec3::repeat(1.0), lift)
}

fn incline(degrees: f64) -> Quat {
    Quat::from_axis_angle(&Vec3::y_axis(), degrees.to_radians())
}

fn forces(solver: &mut dyn Solver) -> Multipliers {
    let mut out = Multipliers::default();
    assert!(solver.read_multipliers(&mut out));
    out
}

/// Sum of the forces on a body [N].
fn load(forces: &Multipliers, body: u32) -> Vec3 {
    let signed = forces.contacts.iter().map(|c| match c.bodies {
        [a, _] if a == body => c.force,
        [_, b] if b == body => -c.force,
        _ => Vec3::zeros(),
    });
    signed.sum()
}

/// Largest natural map of the contacts of a step that led from one state to another [m], from what the
/// solver tells alone.
fn natural_map(scene: &Scene, forces: &Multipliers, from: &State, to: &State, dt: f64) -> f64 {
    let mut worst = 0.0_f64;
    for contact in &forces.contacts {
        let [a, b] = contact.bodies.map(|i| i as usize);
        let way = |i: usize| {
            let turn = to.bodies[i].rotation() * from.bodies[i].rotation().inverse();
            let lever = contact.point - from.bodies[i].position;
            to.bodies[i].position - from.bodies[i].position + turn.scaled_axis().cross(&lever)
        };
        let yields = |i: usize| {
            let (body, state) = (&scene.bodies[i], &from.bodies[i]);
            if !body.is_dynamic() {
                return 0.0;
            }
            let lever = contact.point - state.position;
            let turn = state.rotation().inverse() * lever.cross(&contact.normal);
            1.0 / body.mass + turn.dot(&(body.inertia.try_inverse().unwrap() * turn))
        };
        let rho = dt * dt * (yields(a) + yields(b));
        let moved = way(a) - way(b);
        let normal = contact.normal.dot(&contact.force) * rho;
        let tangential = contact.force * rho - contact.normal * normal;
        let gap = contact.gap + contact.normal.dot(&moved);
        let slip = moved - contact.normal * contact.normal.dot(&moved);
        worst = worst.max((normal - (normal - gap).max(0.0)).abs());
        let wished = tangential - slip;
        let [low, high] = [contact.friction[0].min(contact.friction[1]), contact.friction[0]];
        // Either coefficient may be in force.
        let error = [low, high].map(|mu| {
            let share = (mu * normal.max(0.0) / wished.norm()).min(1.0);
            (tangential - if share.is_finite() { wished * share } else { wished }).norm()
        });
        worst = worst.max(error[0].min(error[1]));
    }
    worst
}

/// Advances step by step, holds every step to its natural maps, and returns the state.
fn certified(scene: &Scene, dt: f64, steps: usize) -> State {
    let mut solver = solver(scene, "()");
    let mut state = scene.initial_state();
    for step in 0..steps {
        let before = state;
        state = advance(solver.as_mut(), dt, 1);
        let error = natural_map(scene, &forces(solver.as_mut()), &before, &state, dt);
        assert!(error < 1e-8, "step {step}: natural map {error:e} m");
    }
    state
}

#[test]
fn a_cube_at_rest_presses_with_its_weight() {
    let scene = scene(vec![flat(), cube(0.0)]);
    let mut solver = solver(&scene, "()");
    let state = advance(solver.as_mut(), DT, 60);
    assert!((state.bodies[1].position - Vec3::new(0.0, 0.0, 0.5)).norm() < 1e-10);
    let forces = forces(solver.as_mut());
    assert_eq!(forces.contacts.len(), 4);
    assert!((load(&forces, 1) - Vec3::new(0.0, 0.0, G)).norm() < 1e-9, "{forces:?}");
    // Redundant points share the load evenly if they start so.
    for contact in &forces.contacts {
        assert!((contact.force.z.abs() - G / 4.0).abs() < 1e-6, "{forces:?}");
    }
}

#[test]
fn a_slider_stops_where_implicit_euler_stops_it() {
    for mu in [0.25, 0.5, 1.0] {
        for heading in [0.0, 0.4, 0.8_f64] {
            let turn = Quat::from_axis_angle(&Vec3::z_axis(), heading);
            let mut slider = brick(Vec3::new(1.0, 1.0, 0.5), 0.0);
            (slider.velocity, slider.rotation) = (turn * Vec3::new(10.0, 0.0, 0.0), turn);
            let scene = scene(vec![rubbing(flat(), mu, mu), rubbing(slider, mu, mu)]);
            let state = certified(&scene, DT, (11.0 / (mu * G * DT)) as usize);
            // v -= mu g h, x += h v
            let (mut speed, mut expected) = (10.0, 0.0);
            while speed > mu * G * DT {
                speed -= mu * G * DT;
                expected += speed * DT;
            }
            let place = turn.inverse() * state.bodies[1].position;
            assert!((place.x - expected).abs() < 1e-6, "{mu} {heading}: {} {expected}", place.x);
            assert!(place.y.abs() < 1e-6 && state.bodies[1].velocity.norm() < 1e-7);
        }
    }
}

#[test]
fn an_incline_holds_below_the_angle_of_friction_and_not_above() {
    let mu = 25.0_f64.to_radians().tan();
    let moved = |degrees: f64, seconds: f64| {
        let turn = incline(degrees);
        let mut slider = brick(Vec3::new(1.0, 1.0, 0.4), 0.0);
        (slider.position, slider.rotation) = (turn * slider.position, turn);
        let start = slider.position;
        let bodies = vec![rubbing(floor(turn), mu, mu), rubbing(slider, mu, mu)];
        let state = certified(&scene(bodies), DT, (seconds / DT).round() as usize);
        (turn.inverse() * (state.bodies[1].position - start)).x
    };
    assert!(moved(24.9, 10.0).abs() < 1e-9);
    let (angle, n) = (25.1_f64.to_radians(), 120.0);
    // The sum h^2 a (1 + 2 + .. + n) of implicit Euler.
    let expected = DT * DT * G * (angle.sin() - mu * angle.cos()) * n * (n + 1.0) / 2.0;
    assert!((moved(25.1, 2.0) - expected).abs() < 1e-8, "{} {expected}", moved(25.1, 2.0));
}

#[test]
fn what_rests_is_held_by_static_friction_and_what_slides_by_dynamic() {
    let turn = incline(20.0);
    let moved = |push: f64| {
        let mut slider = rubbing(brick(Vec3::new(1.0, 1.0, 0.4), 0.0), 0.5, 0.2);
        (slider.position, slider.rotation) = (turn * slider.position, turn);
        slider.velocity = turn * Vec3::new(push, 0.0, 0.0);
        let start = slider.position;
        let state = certified(&scene(vec![rubbing(floor(turn), 0.5, 0.2), slider]), DT, 60);
        (turn.inverse() * (state.bodies[1].position - start)).x
    };
    assert!(moved(0.0).abs() < 1e-9);
    let angle = 20.0_f64.to_radians();
    let expected = 1.0 + DT * DT * G * (angle.sin() - 0.2 * angle.cos()) * 60.0 * 61.0 / 2.0;
    assert!((moved(1.0) - expected).abs() < 1e-8, "{} {expected}", moved(1.0));
}

#[test]
fn a_ball_slides_until_it_rolls() {
    let mut ball = Body::solid_box(Vec3::repeat(1.0), 1.0).at(Vec3::new(0.0, 0.0, 0.5));
    ball.shape = Shape::Sphere { radius: 0.5 };
    // A solid sphere keeps 5/7 of its speed.
    ball.inertia = taut_core::Mat3::identity() * (0.4 * 0.25);
    ball.velocity = Vec3::new(2.0, 0.0, 0.0);
    let scene = scene(vec![rubbing(flat(), 0.3, 0.3), rubbing(ball, 0.3, 0.3)]);
    let state = certified(&scene, DT, 60);
    let rolling = 2.0 * 5.0 / 7.0;
    assert!((state.bodies[1].velocity - Vec3::new(rolling, 0.0, 0.0)).norm() < 1e-6);
    assert!((state.bodies[1].omega() - Vec3::new(0.0, 2.0 * rolling, 0.0)).norm() < 1e-6);
    assert!((state.bodies[1].position.z - 0.5).abs() < 1e-9, "it does not sink while it rolls");
}

#[test]
fn stacks_stand_whatever_the_ratio_of_masses() {
    for (count, top) in [(2, 1.0), (10, 1.0), (5, 1000.0)] {
        let mut bodies = vec![flat()];
        bodies.extend((0..count).map(|i| cube(f64::from(i))));
        let heavy = bodies.last_mut().unwrap();
        (heavy.mass, heavy.inertia) = (heavy.mass * top, heavy.inertia * top);
        let scene = scene(bodies);
        let state = certified(&scene, DT, 60);
        for i in 0..count {
            let place = Vec3::new(0.0, 0.0, f64::from(i) + 0.5);
            let off = (state.bodies[i as usize + 1].position - place).norm();
            assert!(off < 1e-8, "{count} {top}: cube {i} is off by {off:e} m");
        }
        let mut solver = solver(&scene, "()");
        advance(solver.as_mut(), DT, 2);
        let weight = G * (f64::from(count) - 1.0 + top);
        let lowest = load(&forces(solver.as_mut()), 0).z;
        // A step ends with forces that would move bodies by up to 1e-10 m.
        let slack = 1e-10 * f64::from(count) * top / (DT * DT);
        assert!((lowest + weight).abs() < slack, "{lowest} {weight}");
    }
}

#[test]
fn a_pyramid_falls_into_place_and_stands() {
    let rows = 5;
    let mut bodies = vec![flat()];
    for row in 0..rows {
        for i in 0..rows - row {
            let mut brick = brick(Vec3::new(1.0, 0.5, 0.5), 0.05 + 0.55 * f64::from(row));
            brick.position.x = 1.01 * f64::from(i) + 0.505 * f64::from(row);
            bodies.push(brick);
        }
    }
    let state = certified(&scene(bodies), DT, 60);
    let top = state.bodies.last().unwrap();
    assert!((top.position.z - 2.25).abs() < 1e-6, "{}", top.position.z);
    assert!(state.bodies.iter().all(|b| b.velocity.norm() < 1e-6));
}

#[test]
fn a_box_tips_when_its_weight_leaves_its_base() {
    // A column 1 m wide and 3 m high tips at tan(angle) = 1/3, 18.43 degrees, with friction enough.
    let fallen = |degrees: f64| {
        let turn = incline(degrees);
        let mut column = rubbing(brick(Vec3::new(1.0, 1.0, 3.0), 0.0), 1.0, 1.0);
        (column.position, column.rotation) = (turn * column.position, turn);
        let state = certified(&scene(vec![rubbing(floor(turn), 1.0, 1.0), column]), DT, 120);
        state.bodies[1].rotation().angle_to(&turn)
    };
    assert!(fallen(18.3) < 1e-9);
    assert!(fallen(18.7) > 0.05, "{}", fallen(18.7));
}

fn momenta(scene: &Scene, state: &State) -> (Vec3, Vec3) {
    let (mut linear, mut angular) = (Vec3::zeros(), Vec3::zeros());
    for (body, s) in scene.bodies.iter().zip(&state.bodies) {
        let inertia = s.frame * body.inertia * s.frame.transpose();
        linear += s.velocity * body.mass;
        angular += s.position.cross(&s.velocity) * body.mass + inertia * s.omega();
    }
    (linear, angular)
}

#[test]
fn a_free_collision_keeps_both_momenta() {
    let mut first = Body::solid_box(Vec3::new(1.0, 0.6, 0.8), 2.0).at(Vec3::new(-1.2, 0.1, 0.2));
    let mut second = Body::solid_box(Vec3::new(0.7, 0.9, 0.5), 5.0).at(Vec3::new(0.0, -0.1, 0.0));
    (first.velocity, first.omega) = (Vec3::new(3.0, 0.2, 0.1), Vec3::new(0.3, 1.0, -0.5));
    second.omega = Vec3::new(-1.0, 0.2, 0.4);
    let scene = Scene { gravity: Vec3::zeros(), ..scene(vec![first, second]) };
    let before = momenta(&scene, &scene.initial_state());
    let state = certified(&scene, DT, 60);
    let after = momenta(&scene, &state);
    assert!(state.bodies[1].velocity.norm() > 0.5, "they met");
    assert!((after.0 - before.0).norm() < 1e-9, "{:?} {:?}", after.0, before.0);
    assert!((after.1 - before.1).norm() < 1e-9, "{:?} {:?}", after.1, before.1);
}

#[test]
fn a_chain_over_a_beam_holds_joints_and_contacts() {
    let mut scene = scene(vec![Body::solid_box(Vec3::repeat(1.0), 1.0).fixed()]);
    let count = 12;
    for i in 0..count {
        let mut link = Body::solid_box(Vec3::new(0.4, 0.1, 0.1), 100.0);
        link.position = Vec3::new(0.4 * (f64::from(i) - 3.2), 0.0, 0.551);
        scene.bodies.push(link);
        if i > 0 {
            let (a, b) = (Endpoint::Body(i as usize), Endpoint::Body(i as usize + 1));
            let ball = Joint::new(JointKind::Ball, a, b);
            scene.joints.push(ball.anchored(Vec3::x() * 0.2, Vec3::x() * -0.2));
        }
    }
    let end = Vec3::new(0.4 * -3.2 - 0.2, 0.0, 0.551);
    scene.joints.push(pin(JointKind::Ball, end, 1, Vec3::x() * -0.2));
    let state = certified(&scene, DT, 240);
    assert!(violation(&scene, &state) < 1e-9);
    assert!(state.bodies[count as usize].position.z < -1.0, "the free end hangs over the edge");
}

#[test]
fn a_hinged_lid_presses_by_its_lever() {
    // A rod hinged at one end lies with the other on a post.
    let mut scene = scene(vec![Body::solid_box(Vec3::repeat(0.2), 1.0).fixed()]);
    let plank = rod().at(Vec3::new(-0.5, 0.0, 0.15));
    let weight = plank.mass * G;
    scene.bodies.push(plank);
    let turn = Quat::from_axis_angle(&Vec3::z_axis(), std::f64::consts::FRAC_PI_2);
    let mut hinge = pin(JointKind::Hinge, Vec3::new(-1.0, 0.0, 0.15), 1, Vec3::x() * -0.5);
    (hinge.basis_a, hinge.basis_b) = (turn, turn);
    scene.joints.push(hinge);
    let mut solver = solver(&scene, "()");
    advance(solver.as_mut(), DT, 30);
    let forces = forces(solver.as_mut());
    let moment: f64 = forces.contacts.iter().map(|c| -c.force.z * (c.point.x + 1.0)).sum();
    assert!((moment - 0.5 * weight).abs() < 1e-8 * weight, "{moment} {weight}");
    let total = load(&forces, 1).z + forces.joint_force[0].z;
    assert!((total - weight).abs() < 1e-8 * weight);
}

#[test]
fn a_kinematic_belt_takes_a_cube_along() {
    let mut belt = flat();
    (belt.motion, belt.velocity) = (Motion::Kinematic, Vec3::x());
    let scene = scene(vec![belt, cube(0.0)]);
    let state = certified(&scene, DT, 6);
    let speed = 0.5 * G * 6.0 * DT;
    assert!((state.bodies[1].velocity.x - speed).abs() < 1e-9);
    let state = certified(&scene, DT, 60);
    assert!((state.bodies[1].velocity - Vec3::x()).norm() < 1e-7);
}

#[test]
fn an_impact_stops_in_one_step_and_loses_its_energy() {
    let scene = scene(vec![flat(), cube(0.3)]);
    let mut solver = solver(&scene, "()");
    let mut state = scene.initial_state();
    let mut speed = 0.0;
    for _ in 0..40 {
        let before = state.bodies[1].velocity.z;
        state = advance(solver.as_mut(), DT, 1);
        let after = state.bodies[1].velocity.z;
        assert!(after < 1e-9, "nothing bounces: {after}");
        speed = before.min(speed);
    }
    assert!(speed < -2.0 && state.bodies[1].velocity.norm() < 1e-9);
    assert!((state.bodies[1].position.z - 0.5).abs() < 1e-9);
}

#[test]
fn equal_runs_are_equal_bits_and_loading_forgets() {
    let scene = scene(vec![flat(), cube(0.1), cube(1.15)]);
    let mut solver = solver(&scene, "()");
    let first = advance(solver.as_mut(), DT, 30).hash();
    assert_eq!(run(&scene, DT, 30).hash(), first);
    solver.load(&scene.initial_state()).unwrap();
    assert_eq!(advance(solver.as_mut(), DT, 30).hash(), first);
}

#[test]
fn what_cannot_be_solved_is_refused_with_a_reason() {
    let refusal = |scene: &Scene| taut_newton::BACKEND.supports(scene).unwrap_err().0;
    let mut bouncing = cube(0.0);
    bouncing.material.restitution = 0.5;
    assert!(refusal(&scene(vec![flat(), bouncing.clone()])).contains("bounce"));
    let crowd = vec![cube(0.0); 401];
    assert!(refusal(&scene(crowd)).contains("401 bodies"));
    let free = Scene { contacts: None, ..scene(vec![bouncing]) };
    assert!(taut_newton::BACKEND.supports(&free).is_ok());
}

#[test]
fn a_step_that_is_not_solved_says_by_how_much() {
    let mut tumbling = cube(0.02);
    tumbling.velocity = Vec3::new(3.0, 0.0, -2.0);
    let scene = scene(vec![flat(), tumbling]);
    let settings = "(max_newton: 1, tolerance: 1e-300, contact_tolerance: 1e-300)";
    let settings = Settings::from_ron(settings);
    let mut solver = taut_newton::BACKEND.build(&scene, &settings, &NoDevices).unwrap();
    let mut failure = None;
    for _ in 0..5 {
        solver.begin_step(Step { dt: DT, iterations: 1 }).unwrap();
        solver.iterate().unwrap();
        failure = failure.or(solver.end_step().err());
    }
    let text = failure.expect("one iteration does not reach 1e-300 m").to_string();
    assert!(text.contains("contacts ends with natural maps off by"), "{text}");
}
