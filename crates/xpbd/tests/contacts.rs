//! Contacts against closed forms. Distances are those of whole sub-steps, `h = dt / iterations`.

mod common;

use common::{GRAVITY, Run};
use taut_core::{
    Multipliers, Quat, Scene, State, Step, Vec3,
    scene::{Body, Contacts, Endpoint, Joint, JointKind, Material, Motion, Shape},
};

const G: f64 = 9.81;
const DT: f64 = 1.0 / 60.0;
const PUBLISHED: &str = "(friction: published)";

fn scene(bodies: Vec<Body>) -> Scene {
    Scene {
        gravity: GRAVITY,
        dt: DT,
        contacts: Some(Contacts::default()),
        bodies,
        ..Scene::default()
    }
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

/// A cube of 1 m and 1 kg that stands on the floor.
fn cube(turn: Quat) -> Body {
    let mut cube = Body::solid_box(Vec3::repeat(1.0), 1.0);
    (cube.position, cube.rotation) = (turn * Vec3::new(0.0, 0.0, 0.5), turn);
    cube
}

fn incline(degrees: f64) -> Quat {
    Quat::from_axis_angle(&Vec3::y_axis(), degrees.to_radians())
}

fn ball(at: Vec3, velocity: Vec3) -> Body {
    let mut ball = Body::solid_box(Vec3::repeat(1.0), 1.0).at(at);
    (ball.shape, ball.velocity) = (Shape::Sphere { radius: 0.5 }, velocity);
    ball
}

fn forces(run: &mut Run) -> Multipliers {
    let mut out = Multipliers::default();
    assert!(run.solver.read_multipliers(&mut out));
    out
}

#[test]
fn a_cube_rests_and_presses_with_its_weight() {
    let scene = scene(vec![floor(Quat::identity()), cube(Quat::identity())]);
    for (settings, iterations, depth, force_error) in [
        ("()", 10, 1.0, 1e-9),
        // One sweep per frame leaves it swaying by micrometres.
        ("()", 1, 1.0, 1e-4),
        ("(mode: iterations)", 10, 1.0, 1e-9),
        ("(order: reverse_creation)", 10, 1.0, 1e-9),
        // The rounding of z = 0.5 is 6e-8, a fifth of g h^2 and 0.02 m/s^2 over h^2.
        ("(precision: f32)", 10, 1.2, 0.1),
    ] {
        let mut run = Run::new(&scene, settings, DT, iterations);
        run.steps(300);
        let h = DT / if settings.contains("mode") { 1.0 } else { f64::from(iterations) };
        let body = &run.state.bodies[1];
        // A sweep lifts by what gravity adds in a sub-step, so the cube lies at most that deep.
        let sunk = body.position - Vec3::new(0.0, 0.0, 0.5);
        assert!(sunk.norm() < depth * G * h * h, "{settings} {iterations}: {sunk:?}");
        let forces = forces(&mut run);
        assert_eq!(forces.contacts.len(), 4);
        let sum: Vec3 = forces.contacts.iter().map(|c| c.force).sum();
        // A is the floor, which is pushed down.
        let error = (sum - Vec3::new(0.0, 0.0, -G)).norm();
        assert!(error < force_error, "{settings} {iterations}: {sum:?}");
    }
}

#[test]
fn as_published_a_cube_at_rest_creeps() {
    let scene = scene(vec![floor(Quat::identity()), cube(Quat::identity())]);
    let crept = |settings: &str| {
        let mut run = Run::new(&scene, settings, DT, 10);
        run.steps(600);
        run.state.bodies[1].position.xy().norm()
    };
    assert!(crept("()") < 1e-5);
    let published = crept(PUBLISHED);
    assert!(published > 1e-3 && published < 0.05, "{published} m in 10 s");
}

/// Distance that a flat box slides from 10 m/s in the direction `heading` [rad] [m].
fn slide(mu: f64, heading: f64, settings: &str, iterations: u32) -> f64 {
    let mut slider = Body::solid_box(Vec3::new(1.0, 1.0, 0.5), 1.0).at(Vec3::new(0.0, 0.0, 0.25));
    let turn = Quat::from_axis_angle(&Vec3::z_axis(), heading);
    (slider.velocity, slider.rotation) = (turn * Vec3::new(10.0, 0.0, 0.0), turn);
    let bodies = vec![rubbing(floor(Quat::identity()), mu, mu), rubbing(slider, mu, mu)];
    let mut run = Run::new(&scene(bodies), settings, DT, iterations);
    // It rocks for a moment after it has stopped.
    run.steps((14.0 / (mu * G * DT)) as usize);
    let speed = run.state.bodies[1].velocity.norm();
    assert!(speed < 1e-2, "it has stopped: {mu} {settings} {iterations} {speed}");
    run.state.bodies[1].position.xy().norm()
}

#[test]
fn a_slider_stops_one_sub_step_later_than_implicitly() {
    for mu in [0.25, 0.5, 1.0] {
        for (settings, iterations) in
            [("()", 10), ("()", 40), ("(mode: iterations)", 20), ("(precision: f32)", 1)]
        {
            let h = DT / if settings.contains("mode") { 1.0 } else { f64::from(iterations) };
            // Implicit Euler, v -= mu g h and x += h v, ends at this; friction on velocities acts
            // after positions have moved, which adds the first step.
            let (mut speed, mut expected) = (10.0, 10.0 * h);
            while speed > mu * G * h {
                speed -= mu * G * h;
                expected += speed * h;
            }
            let distance = slide(mu, 0.0, settings, iterations);
            // It stops within a sub-step, and pitches a little at first.
            let error = (distance / expected - 1.0).abs();
            assert!(error < 0.3 * h, "{mu} {settings} {iterations}: {distance} {expected}");
        }
    }
}

#[test]
fn friction_knows_no_direction() {
    let straight = slide(0.5, 0.0, "()", 10);
    for degrees in [15.0, 30.0, 45.0, 60.0, 90.0_f64] {
        let distance = slide(0.5, degrees.to_radians(), "()", 10);
        assert!((distance / straight - 1.0).abs() < 1e-3, "{degrees}: {distance} {straight}");
    }
}

/// Motion of a cube down an incline [m].
fn descent(degrees: f64, settings: &str, iterations: u32, seconds: f64) -> f64 {
    let turn = incline(degrees);
    let mut run = Run::new(&scene(vec![floor(turn), cube(turn)]), settings, DT, iterations);
    let start = run.state.bodies[1].position;
    run.steps((seconds / DT) as usize);
    (turn.inverse() * (run.state.bodies[1].position - start)).x
}

#[test]
fn an_incline_steeper_than_friction_lets_a_cube_slide() {
    let (angle, seconds) = (30.0_f64.to_radians(), 2.0);
    let expected = 0.5 * G * (angle.sin() - 0.5 * angle.cos()) * seconds * seconds;
    let error = |iterations| descent(30.0, "()", iterations, seconds) / expected - 1.0;
    let (coarse, fine) = (error(10), error(40));
    assert!(coarse.abs() < 0.03 && fine.abs() < 0.01, "{coarse} {fine}");
}

#[test]
fn a_shallow_incline_holds_a_cube() {
    for (settings, iterations) in
        [("()", 5), ("()", 10), ("(mode: iterations)", 10), ("(precision: f32)", 10)]
    {
        let moved = |seconds| descent(20.0, settings, iterations, seconds);
        // It finds its place within 1 mm, and stays there.
        assert!(moved(1.0).abs() < 1e-3, "{settings} {iterations}: {}", moved(1.0));
        let creep = (moved(31.0) - moved(1.0)).abs();
        assert!(creep < 1e-4, "{settings} {iterations}: {creep} m in 30 s");
    }
    let creep = descent(20.0, PUBLISHED, 10, 10.0) / 10.0;
    assert!(creep > 1e-3, "as published it creeps: {creep} m/s");
}

#[test]
fn static_friction_holds_what_dynamic_friction_would_not() {
    let turn = incline(20.0);
    let travelled = |push: f64| {
        let mut slider = rubbing(cube(turn), 0.8, 0.2);
        slider.velocity = turn * Vec3::new(push, 0.0, 0.0);
        let bodies = vec![rubbing(floor(turn), 0.8, 0.2), slider];
        let mut run = Run::new(&scene(bodies), "()", DT, 20);
        run.steps(60);
        (turn.inverse() * run.state.bodies[1].position).x
    };
    let angle = 20.0_f64.to_radians();
    let slid = 1.0 + 0.5 * G * (angle.sin() - 0.2 * angle.cos());
    assert!(travelled(0.0) < 0.01, "{}", travelled(0.0));
    assert!((travelled(1.0) / slid - 1.0).abs() < 0.03, "{} {slid}", travelled(1.0));
}

#[test]
fn a_ball_slides_until_it_rolls() {
    let mut slider = ball(Vec3::new(0.0, 0.0, 0.5), Vec3::new(2.0, 0.0, 0.0));
    // A solid sphere keeps 5/7 of its speed.
    slider.inertia = taut_core::Mat3::identity() * (0.4 * 0.25);
    for settings in ["()", PUBLISHED, "(mode: iterations)"] {
        let scene = scene(vec![floor(Quat::identity()), slider.clone()]);
        let mut run = Run::new(&scene, settings, DT, 10);
        run.steps(120);
        let (speed, rolling) = (run.state.bodies[1].velocity.x, 2.0 * 5.0 / 7.0);
        assert!((speed / rolling - 1.0).abs() < 0.01, "{settings}: {speed} {rolling}");
        let sunk = 0.5 - run.state.bodies[1].position.z;
        assert!(sunk.abs() < 1e-4, "{settings}: {sunk}");
    }
}

#[test]
fn a_ball_bounces_to_the_square_of_its_restitution() {
    let height = 1.5;
    for restitution in [0.0, 0.5, 0.8, 1.0] {
        for iterations in [10, 40] {
            let mut ground = floor(Quat::identity());
            ground.material.restitution = restitution;
            let start = Vec3::new(0.0, 0.0, 0.5 + height);
            let bodies = vec![ground, ball(start, Vec3::zeros())];
            let mut run = Run::new(&scene(bodies), "()", DT, iterations);
            let speed = (2.0 * G * height).sqrt();
            run.steps((1.5 * speed / G / DT) as usize);
            let mut top = 0.0_f64;
            for _ in 0..60 {
                run.step();
                top = top.max(run.state.bodies[1].position.z - 0.5);
            }
            let square = restitution * restitution;
            // It touches within a sub-step; if it is found only then, it has fallen for up to a frame more.
            let excess = top - square * height;
            let (early, late) = (speed * DT / f64::from(iterations), square * speed * DT);
            assert!(
                excess > -early && excess < early + late,
                "{restitution} {iterations}: {excess}"
            );
        }
    }
}

fn momenta(scene: &Scene, state: &State) -> (Vec3, Vec3, f64) {
    let (mut linear, mut angular, mut energy) = (Vec3::zeros(), Vec3::zeros(), 0.0);
    for (body, s) in scene.bodies.iter().zip(&state.bodies) {
        let spin = s.frame * body.inertia * s.frame.transpose() * s.omega();
        linear += s.velocity * body.mass;
        angular += s.position.cross(&s.velocity) * body.mass + spin;
        energy += 0.5 * (body.mass * s.velocity.norm_squared() + s.omega().dot(&spin));
    }
    (linear, angular, energy)
}

#[test]
fn a_free_collision_keeps_momentum() {
    let mut first = Body::solid_box(Vec3::new(1.0, 0.6, 0.8), 2.0).at(Vec3::new(-1.2, 0.1, 0.2));
    let mut second = Body::solid_box(Vec3::new(0.7, 0.9, 0.5), 5.0).at(Vec3::new(0.0, -0.1, 0.0));
    // So slow that they are found before they overlap: pushing overlap out makes angular momentum.
    (first.velocity, first.omega) = (Vec3::new(0.3, 0.02, 0.01), Vec3::new(0.03, 0.1, -0.05));
    second.omega = Vec3::new(-0.1, 0.02, 0.04);
    let scene = Scene { gravity: Vec3::zeros(), ..scene(vec![first, second]) };
    for settings in ["(rotation: cayley)", "(rotation: cayley, friction: published)"] {
        let mut run = Run::new(&scene, settings, DT, 40);
        let (linear, angular, energy) = momenta(&scene, &run.state);
        run.steps(240);
        let after = momenta(&scene, &run.state);
        assert!((after.0 - linear).norm() < 1e-12, "{settings}: {:?} {linear:?}", after.0);
        // Levers are those of predicted poses, and the explicit gyroscopic term is of first order.
        let drift = (after.1 - angular).norm() / angular.norm();
        assert!(drift < 1e-3, "{settings}: {:?} {angular:?}", after.1);
        assert!(after.2 < energy && after.2 > 0.3 * energy, "{settings}: {energy} {}", after.2);
    }
}

#[test]
fn equal_balls_exchange_their_velocities() {
    let mut bodies =
        vec![ball(Vec3::zeros(), Vec3::zeros()), ball(Vec3::new(-1.5, 0.0, 0.0), Vec3::x() * 2.0)];
    bodies[0].material.restitution = 1.0;
    let scene = Scene { gravity: Vec3::zeros(), ..scene(bodies) };
    let mut run = Run::new(&scene, "()", DT, 10);
    run.steps(60);
    let speeds = [0, 1].map(|i| run.state.bodies[i].velocity);
    assert!((speeds[0] - Vec3::x() * 2.0).norm() < 1e-9 && speeds[1].norm() < 1e-9, "{speeds:?}");
}

#[test]
fn a_kinematic_belt_takes_a_cube_along() {
    let mut belt = floor(Quat::identity());
    (belt.motion, belt.velocity) = (Motion::Kinematic, Vec3::x());
    for settings in ["()", "(mode: iterations)"] {
        let mut run =
            Run::new(&scene(vec![belt.clone(), cube(Quat::identity())]), settings, DT, 20);
        run.steps(6);
        let speed = run.state.bodies[1].velocity.x;
        // It is accelerated by mu g until it has the speed of the belt.
        assert!((speed - 0.5 * G * 6.0 * DT).abs() < 0.03, "{settings}: {speed}");
        run.steps(60);
        assert!((run.state.bodies[1].velocity - Vec3::x()).norm() < 1e-3, "{settings}");
    }
}

#[test]
fn a_jointed_pair_rests_and_a_broken_one_touches() {
    let mut bodies = vec![floor(Quat::identity()), cube(Quat::identity()), cube(Quat::identity())];
    bodies[2].position.x = 0.8;
    let mut scene = scene(bodies);
    let ball = Joint::new(JointKind::Ball, Endpoint::Body(1), Endpoint::Body(2));
    scene.joints.push(ball.anchored(Vec3::x() * 0.4, Vec3::x() * -0.4));
    let mut run = Run::new(&scene, "()", DT, 20);
    run.steps(120);
    assert_eq!(forces(&mut run).contacts.len(), 8, "jointed bodies do not touch each other");
    assert!((run.state.bodies[2].position - Vec3::new(0.8, 0.0, 0.5)).norm() < 1e-3);
    scene.joints[0].break_force = 1e-9;
    let mut run = Run::new(&scene, "()", DT, 20);
    run.steps(120);
    assert!(run.state.broken[0]);
    let apart = run.state.bodies[2].position - run.state.bodies[1].position;
    assert!(apart.norm() > 0.99, "what overlaps is pushed apart: {apart:?}");
}

#[test]
fn velocities_read_within_a_step_are_those_of_its_end() {
    let mut slider = cube(Quat::identity());
    slider.velocity = Vec3::new(3.0, 1.0, 0.0);
    let scene = scene(vec![floor(Quat::identity()), slider]);
    let mut run = Run::new(&scene, "(mode: iterations)", DT, 5);
    run.steps(3);
    run.solver.begin_step(Step { dt: DT, iterations: 5 }).unwrap();
    for _ in 0..5 {
        run.solver.iterate().unwrap();
    }
    let mut within = State::default();
    run.solver.read(&mut within).unwrap();
    run.solver.read(&mut within).unwrap();
    run.solver.end_step().unwrap();
    run.solver.read(&mut run.state).unwrap();
    assert_eq!(within.hash(), run.state.hash());
}

#[test]
fn a_stack_stands() {
    let count = 10;
    let mut bodies = vec![floor(Quat::identity())];
    bodies.extend((0..count).map(|i| {
        let mut body = cube(Quat::identity());
        body.position.z += f64::from(i);
        body
    }));
    // One sweep per sub-step carries the load of ten cubes by overlap of the order of n^2 g h^2.
    for (settings, iterations, depth, side) in [("()", 10, 5e-3, 0.1), ("()", 40, 5e-4, 0.02)] {
        let mut run = Run::new(&scene(bodies.clone()), settings, DT, iterations);
        for _ in 0..600 {
            run.step();
        }
        let top = run.state.bodies[count as usize].position - Vec3::new(0.0, 0.0, 9.5);
        assert!(top.z.abs() < depth && top.xy().norm() < side, "{settings} {iterations}: {top:?}");
    }
}
