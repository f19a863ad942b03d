//! Contacts: every step against its complementarity conditions, and closed forms of implicit Euler.

use taut_core::{
    Backend, Multipliers, Quat, Scene, State, Step, Vec3,
    scene::{Body, Endpoint, Joint, JointKind, Motion},
};
use taut_fixtures::{
    DT, Run, ball, build, coulomb_way, cube, fallen, farthest, file, floor, lock_error, pin,
    pressed, refusal, rubbing, stack, tilted, touching,
};
use taut_newton::BACKEND;

const G: f64 = 9.81;

/// A box of 1 kg/m^3 that lies on the floor.
fn brick(size: Vec3) -> Body {
    Body::solid_box(size, 1.0).at(Vec3::z() * (0.5 * size.z))
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
fn certified(scene: &Scene, steps: u32) -> State {
    let mut run = Run::new(&BACKEND, scene, "()", 1);
    for step in 0..steps {
        let before = run.state.clone();
        run.step();
        let error = natural_map(scene, &run.forces(), &before, &run.state, scene.dt);
        assert!(error < 1e-8, "step {step}: natural map {error:e} m");
    }
    run.state
}

#[test]
fn a_cube_at_rest_presses_evenly() {
    let mut run = Run::new(&BACKEND, &stack(G, 1, 0.5), "()", 1);
    run.steps(60);
    let forces = run.forces();
    assert_eq!(forces.contacts.len(), 4);
    assert!((pressed(&forces, 1) - Vec3::new(0.0, 0.0, G)).norm() < 1e-9, "{forces:?}");
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
            let mut slider = rubbing(brick(Vec3::new(1.0, 1.0, 0.5)), mu, mu);
            (slider.velocity, slider.rotation) = (turn * Vec3::new(10.0, 0.0, 0.0), turn);
            let steps = (11.0 / (mu * G * DT)) as u32;
            let state = certified(&touching(G, vec![floor(mu), slider]), steps);
            let place = turn.inverse() * state.bodies[1].position;
            let expected = coulomb_way(10.0, mu * G, DT);
            assert!((place.x - expected).abs() < 1e-6, "{mu} {heading}: {} {expected}", place.x);
            assert!(place.y.abs() < 1e-6 && state.bodies[1].velocity.norm() < 1e-7);
        }
    }
}

/// Way of a flat box that starts at a speed down a slope [m].
fn slid(degrees: f64, friction: [f64; 2], speed: f64, steps: u32) -> f64 {
    let mut slider = brick(Vec3::new(1.0, 1.0, 0.4));
    slider.velocity.x = speed;
    let bodies = [floor(0.0), slider].map(|body| rubbing(body, friction[0], friction[1]));
    let scene = tilted(touching(G, bodies.into()), degrees);
    let start = &scene.bodies[1];
    let end = certified(&scene, steps).bodies[1].position;
    (start.rotation.inverse() * (end - start.position)).x
}

#[test]
fn an_incline_holds_below_the_angle_of_friction_and_not_above() {
    let mu = 25.0_f64.to_radians().tan();
    assert!(slid(24.9, [mu; 2], 0.0, 600).abs() < 1e-9);
    let angle = 25.1_f64.to_radians();
    let expected = fallen(G * (angle.sin() - mu * angle.cos()), DT, 120);
    let found = slid(25.1, [mu; 2], 0.0, 120);
    assert!((found - expected).abs() < 1e-8, "{found} {expected}");
}

#[test]
fn what_rests_is_held_by_static_friction_and_what_slides_by_dynamic() {
    assert!(slid(20.0, [0.5, 0.2], 0.0, 60).abs() < 1e-9);
    let angle = 20.0_f64.to_radians();
    let expected = 1.0 + fallen(G * (angle.sin() - 0.2 * angle.cos()), DT, 60);
    let found = slid(20.0, [0.5, 0.2], 1.0, 60);
    assert!((found - expected).abs() < 1e-8, "{found} {expected}");
}

#[test]
fn a_ball_slides_until_it_rolls() {
    let mut ball = rubbing(ball(Vec3::z() * 0.5), 0.3, 0.3);
    ball.velocity = Vec3::new(2.0, 0.0, 0.0);
    let state = certified(&touching(G, vec![floor(0.3), ball]), 60);
    // A solid sphere keeps 5/7 of its speed.
    let rolling = 2.0 * 5.0 / 7.0;
    assert!((state.bodies[1].velocity - Vec3::new(rolling, 0.0, 0.0)).norm() < 1e-6);
    assert!((state.bodies[1].omega() - Vec3::new(0.0, 2.0 * rolling, 0.0)).norm() < 1e-6);
    assert!((state.bodies[1].position.z - 0.5).abs() < 1e-9, "it does not sink while it rolls");
}

#[test]
fn stacks_stand_whatever_the_ratio_of_masses() {
    for (count, top) in [(2, 1.0), (10, 1.0), (5, 1000.0)] {
        let mut scene = stack(G, count, 0.5);
        let heavy = scene.bodies.last_mut().unwrap();
        (heavy.mass, heavy.inertia) = (heavy.mass * top, heavy.inertia * top);
        let state = certified(&scene, 60);
        let off = farthest(&state, &scene.initial_state());
        assert!(off < 1e-8, "{count} {top}: a cube is off by {off:e} m");
        let mut run = Run::new(&BACKEND, &scene, "()", 1);
        run.steps(2);
        let weight = G * (f64::from(count) - 1.0 + top);
        let lowest = pressed(&run.forces(), 0).z;
        // A step ends with forces that would move bodies by up to 1e-10 m.
        let slack = 1e-10 * f64::from(count) * top / (DT * DT);
        assert!((lowest + weight).abs() < slack, "{lowest} {weight}");
    }
}

/// What lands, tips, collides or is carried along, whose closed forms or bounds are those of every method.
#[test]
fn every_step_ends_with_its_natural_maps() {
    let column = |degrees| {
        let column = rubbing(brick(Vec3::new(1.0, 1.0, 3.0)), 1.0, 1.0);
        (tilted(touching(G, vec![floor(1.0), column]), degrees), 90)
    };
    let mut first = Body::solid_box(Vec3::new(1.0, 0.6, 0.8), 2.0).at(Vec3::new(-1.2, 0.1, 0.2));
    let mut second = Body::solid_box(Vec3::new(0.7, 0.9, 0.5), 5.0).at(Vec3::new(0.0, -0.1, 0.0));
    (first.velocity, first.omega) = (Vec3::new(3.0, 0.2, 0.1), Vec3::new(0.3, 1.0, -0.5));
    second.omega = Vec3::new(-1.0, 0.2, 0.4);
    let mut belt = stack(G, 1, 0.5);
    (belt.bodies[0].motion, belt.bodies[0].velocity) = (Motion::Kinematic, Vec3::x());
    let pyramid = file("pyramid", &[("n", 5.0), ("gap", 0.1)]);
    let scenes = [
        column(18.3),
        column(18.7),
        (touching(0.0, vec![first, second]), 60),
        (belt, 60),
        (pyramid, 60),
        (touching(G, vec![floor(0.5), cube(0.8)]), 40),
    ];
    for (scene, steps) in scenes {
        certified(&scene, steps);
    }
}

#[test]
fn a_chain_over_a_beam_holds_joints_and_contacts() {
    let mut scene = touching(G, vec![cube(0.0).fixed()]);
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
    let state = certified(&scene, 240);
    assert!(lock_error(&scene, &state) < 1e-9);
    assert!(state.bodies[count as usize].position.z < -1.0, "the free end hangs over the edge");
}

#[test]
fn a_hinged_lid_presses_by_its_lever() {
    // A rod hinged at one end lies with the other on a post.
    let mut scene = touching(G, vec![Body::solid_box(Vec3::repeat(0.2), 1.0).fixed()]);
    let plank = Body::solid_box(Vec3::new(1.0, 0.2, 0.1), 50.0).at(Vec3::new(-0.5, 0.0, 0.15));
    let weight = plank.mass * G;
    scene.bodies.push(plank);
    let turn = Quat::from_axis_angle(&Vec3::z_axis(), std::f64::consts::FRAC_PI_2);
    let mut hinge = pin(JointKind::Hinge, Vec3::new(-1.0, 0.0, 0.15), 1, Vec3::x() * -0.5);
    (hinge.basis_a, hinge.basis_b) = (turn, turn);
    scene.joints.push(hinge);
    let mut run = Run::new(&BACKEND, &scene, "()", 1);
    run.steps(30);
    let forces = run.forces();
    let moment: f64 = forces.contacts.iter().map(|c| -c.force.z * (c.point.x + 1.0)).sum();
    assert!((moment - 0.5 * weight).abs() < 1e-8 * weight, "{moment} {weight}");
    let total = pressed(&forces, 1).z + forces.joint_force[0].z;
    assert!((total - weight).abs() < 1e-8 * weight);
}

#[test]
fn an_impact_stops_in_one_step_and_loses_its_energy() {
    let mut run = Run::new(&BACKEND, &touching(G, vec![floor(0.5), cube(0.8)]), "()", 1);
    let mut speed = 0.0_f64;
    for _ in 0..40 {
        speed = speed.min(run.state.bodies[1].velocity.z);
        let after = run.step().bodies[1].velocity.z;
        assert!(after < 1e-9, "nothing bounces: {after}");
    }
    assert!(speed < -2.0 && run.state.bodies[1].velocity.norm() < 1e-9);
    assert!((run.state.bodies[1].position.z - 0.5).abs() < 1e-9);
}

#[test]
fn what_cannot_be_solved_is_refused_with_a_reason() {
    let mut bouncing = cube(0.5);
    bouncing.material.restitution = 0.5;
    let scene = touching(G, vec![floor(0.5), bouncing.clone()]);
    assert!(refusal(&BACKEND, &scene).contains("bounce"));
    let crowd = touching(G, vec![cube(0.0); 401]);
    assert!(refusal(&BACKEND, &crowd).contains("401 bodies"));
    let free = Scene { contacts: None, ..scene };
    assert!(BACKEND.supports(&free).is_ok());
}

#[test]
fn a_step_that_is_not_solved_says_by_how_much() {
    let mut tumbling = cube(0.52);
    tumbling.velocity = Vec3::new(3.0, 0.0, -2.0);
    let scene = touching(G, vec![floor(0.5), tumbling]);
    let settings = "(max_newton: 1, tolerance: 1e-300, contact_tolerance: 1e-300)";
    let mut solver = build(&BACKEND, &scene, settings).unwrap();
    let mut failure = None;
    for _ in 0..5 {
        solver.begin_step(Step { dt: DT, iterations: 1 }).unwrap();
        solver.iterate().unwrap();
        failure = failure.or(solver.end_step().err());
    }
    let text = failure.expect("one iteration does not reach 1e-300 m").to_string();
    assert!(text.contains("contacts ends with natural maps off by"), "{text}");
}
