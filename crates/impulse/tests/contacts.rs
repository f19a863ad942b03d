//! What contacts hold, how friction slides and sticks, and how bodies bounce, against closed forms.

mod common;

use common::{DT, Run, ground, rough};
use taut_core::{
    Quat, Scene, Vec3, metrics,
    scene::{Body, Material, Motion, Shape},
};

const G: f64 = 10.0;

/// Variants that must hold contacts alike; the shorter step or sub-step of each at four iterations [s].
const SETTINGS: [(&str, f64); 5] = [
    ("()", DT / 4.0),
    ("(contact_stabilisation: baumgarte, joint_stabilisation: baumgarte)", DT / 4.0),
    ("(variant: pgs)", DT),
    ("(precision: f32)", DT / 4.0),
    ("(order: list)", DT / 4.0),
];

fn cube() -> Body {
    Body::solid_box(Vec3::repeat(1.0), 1.0)
}

fn with(body: Body) -> Scene {
    let mut scene = ground(G, 0.5);
    scene.bodies.push(body);
    scene
}

/// Soft contacts sink as deep as springs do; rigid ones by no more than the overlap that they leave.
fn assert_sunk(settings: &str, soft: f64, rigid: f64, sunk: f64) {
    if settings.contains("baumgarte") || settings.contains("pgs") {
        assert!((-1e-9..rigid).contains(&sunk), "{settings}: {sunk} for at most {rigid}");
    } else {
        assert!((sunk - soft).abs() < 4e-3 * soft + 2e-6, "{settings}: {sunk} for {soft}");
    }
}

#[test]
fn a_box_sinks_by_its_weight_over_the_stiffness_of_contacts() {
    for (settings, h) in SETTINGS {
        let mut run = Run::new(&with(cube().at(Vec3::new(0.3, -0.2, 0.5))), settings, DT, 4);
        run.steps(600);
        let body = &run.state.bodies[1];
        // Each corner bears a quarter of the mass and has it as effective mass: depth g / w^2 with
        // (h w)^2 = 1.6, the stiffest stable spring with one relaxation.
        assert_sunk(settings, G * h * h / 1.6, 2.0 * G * h * h, 0.5 - body.position.z);
        let drift = (body.position - Vec3::new(0.3, -0.2, body.position.z)).norm();
        // Four sweeps have not converged when it starts, which moves it in proportion to their step;
        // then it stands still.
        assert!(drift < 1e-5 * (4.0 * h / DT), "{settings}: {drift}");
        assert!(body.velocity.norm() < 1e-6, "{settings}: {}", body.velocity);
        let before = body.position;
        run.steps(600);
        let creep = (run.state.bodies[1].position - before).norm();
        assert!(creep < 1e-7, "{settings}: {creep}");
    }
}

/// Distance that a block slides from `speed` under Coulomb's law by implicit Euler: it loses
/// `mu g h` per step until the step in which it stops.
fn sliding_distance(speed: f64, mu: f64, h: f64) -> f64 {
    let speeds = std::iter::successors(Some(speed - mu * G * h), |v| Some(v - mu * G * h));
    speeds.take_while(|&v| v > 0.0).sum::<f64>() * h
}

#[test]
fn blocks_slide_as_far_as_coulomb_says() {
    for (settings, h) in SETTINGS {
        let mut scene = ground(G, 0.5);
        for i in 0..10 {
            let mut block = Body::solid_box(Vec3::new(1.0, 1.0, 0.5), 1.0);
            block.position = Vec3::new(0.0, 2.0 * f64::from(i) - 30.0, 0.25);
            block.velocity = Vec3::x() * 10.0;
            block.material = rough(5.0 - 0.5 * f64::from(i));
            scene.bodies.push(block);
        }
        let mut run = Run::new(&scene, settings, DT, 4);
        run.steps(300);
        for (body, start) in run.state.bodies.iter().zip(&scene.bodies).skip(1) {
            let mu = (0.5 * start.material.friction_static).sqrt();
            let ratio = body.position.x / sliding_distance(10.0, mu, h);
            assert!((ratio - 1.0).abs() < 2e-3, "{settings} mu {mu}: {ratio}");
            let aside = (body.position.y - start.position.y).abs() + body.rotation().angle();
            assert!(aside < 1e-3, "{settings} mu {mu}: {aside} aside or turned");
        }
    }
}

#[test]
fn friction_has_no_preferred_direction() {
    for (settings, h) in SETTINGS {
        let distance = |degrees: f64| {
            let mut block = Body::solid_box(Vec3::new(1.0, 1.0, 0.5), 1.0);
            let direction = Quat::from_axis_angle(&Vec3::z_axis(), degrees.to_radians());
            block.position.z = 0.25;
            block.velocity = direction * (Vec3::x() * 10.0);
            let mut run = Run::new(&with(block), settings, DT, 4);
            run.steps(200);
            let end = direction.inverse() * run.state.bodies[1].position;
            assert!(end.y.abs() < 1e-3 * end.x, "{settings} {degrees}: {end}");
            end.x / sliding_distance(10.0, 0.5, h)
        };
        for degrees in [0.0, 15.0, 30.0, 45.0, 71.0, 90.0] {
            let ratio = distance(degrees);
            assert!((ratio - 1.0).abs() < 1e-3, "{settings} {degrees}: {ratio}");
        }
    }
}

#[test]
fn a_friction_box_is_stronger_along_its_diagonal() {
    let mut block = Body::solid_box(Vec3::new(1.0, 1.0, 0.5), 1.0);
    block.position.z = 0.25;
    block.velocity = Vec3::new(1.0, 1.0, 0.0) * (10.0 / 2_f64.sqrt());
    let mut run = Run::new(&with(block), "(friction: box)", DT, 4);
    run.steps(200);
    let ratio = run.state.bodies[1].position.norm() / sliding_distance(10.0, 0.5, DT / 4.0);
    assert!((ratio * 2_f64.sqrt() - 1.0).abs() < 0.01, "{ratio}");
}

/// A scene whose ground is tilted about y by `degrees`, gravity being as before.
fn tilted(scene: Scene, degrees: f64) -> Scene {
    let down = scene.gravity;
    let turn = Quat::from_axis_angle(&Vec3::y_axis(), degrees.to_radians());
    Scene { gravity: down, ..common::turned(scene, turn) }
}

#[test]
fn a_box_on_an_incline_does_not_creep() {
    for (settings, _) in SETTINGS {
        let scene = tilted(with(cube().at(Vec3::new(0.0, 0.0, 0.5))), 20.0);
        let mut run = Run::new(&scene, settings, DT, 4);
        run.steps(1800);
        let way = (run.state.bodies[1].position - scene.bodies[1].position).norm();
        // The weight's share along the normal sinks in by at most g h^2 / 1.6, below a third of a
        // millimetre except for one step per frame.
        let allowed = if settings.contains("pgs") { 2.2e-3 } else { 1e-3 };
        assert!(way < allowed, "{settings}: {way}");
        let before = run.state.bodies[1].position;
        run.steps(600);
        let creep = (run.state.bodies[1].position - before).norm();
        assert!(creep < 1e-6, "{settings}: {creep}");
    }
}

#[test]
fn static_friction_holds_what_dynamic_friction_would_not() {
    // tan 25 degrees = 0.466.
    let material = Material { friction_static: 0.6, friction_dynamic: 0.3, restitution: 0.0 };
    let mut scene = with(cube().at(Vec3::new(0.0, 0.0, 0.5)));
    scene.bodies.iter_mut().for_each(|body| body.material = material);
    let scene = tilted(scene, 25.0);
    let mut run = Run::new(&scene, "()", DT, 4);
    run.steps(120);
    let way = (run.state.bodies[1].position - scene.bodies[1].position).norm();
    assert!(way < 1e-3, "{way}");

    // Once it slides, it speeds up by g (sin - mu cos).
    let mut sliding = scene.clone();
    let along = sliding.bodies[1].rotation * Vec3::x();
    sliding.bodies[1].velocity = along * 0.5;
    let mut run = Run::new(&sliding, "()", DT, 4);
    run.steps(60);
    let (sin, cos) = 25_f64.to_radians().sin_cos();
    let speed = run.state.bodies[1].velocity.dot(&along);
    let expected = 0.5 + G * (sin - 0.3 * cos);
    assert!((speed / expected - 1.0).abs() < 0.01, "{speed} for {expected}");
}

#[test]
fn contact_forces_carry_the_weight() {
    for (settings, _) in SETTINGS {
        let scene = tilted(with(cube().at(Vec3::new(0.0, 0.0, 0.5))), 20.0);
        let mut run = Run::new(&scene, settings, DT, 4);
        run.steps(120);
        let contacts = run.multipliers().contacts;
        assert!(!contacts.is_empty());
        // A is the ground: it is pushed down.
        let sum: Vec3 = contacts.iter().map(|c| c.force).sum();
        assert!((sum - scene.gravity).norm() < 1e-3 * G, "{settings}: {sum}");
        for contact in &contacts {
            let normal = contact.force.dot(&contact.normal);
            let tangential = (contact.force - contact.normal * normal).norm();
            assert!(normal >= 0.0 && tangential <= contact.friction[0] * normal * (1.0 + 1e-6));
        }
    }
}

#[test]
fn a_ball_bounces_by_its_restitution() {
    for (settings, _) in SETTINGS {
        let mut ball = cube().at(Vec3::new(0.0, 0.0, 3.0));
        ball.shape = Shape::Sphere { radius: 0.5 };
        ball.material = Material { restitution: 0.7, ..rough(0.5) };
        let mut run = Run::new(&with(ball), settings, DT, 4);
        let mut fastest = [0.0_f64; 2];
        for _ in 0..60 {
            run.step();
            let speed = run.state.bodies[1].velocity.z;
            fastest = [fastest[0].min(speed), fastest[1].max(speed)];
        }
        // What counts is the speed at the start of the step, from which gravity takes g dt at most.
        let share = -fastest[1] / fastest[0];
        assert!((share - 0.7).abs() < G * DT / 7.0 + 1e-3, "{settings}: {share}");
    }
}

#[test]
fn a_box_that_lands_flat_bounces_flat() {
    let mut body = cube().at(Vec3::new(0.0, 0.0, 2.0));
    body.material = Material { restitution: 0.5, ..rough(0.5) };
    let mut run = Run::new(&with(body), "()", DT, 4);
    let mut highest = 0.0_f64;
    for frame in 0..90 {
        run.step();
        let body = &run.state.bodies[1];
        // A hundredth of the speed of impact, 5.5 m/s, at the corners.
        assert!(body.omega().norm() < 0.07, "{}", body.omega());
        if frame > 35 {
            highest = highest.max(body.position.z - 0.5);
        }
    }
    // e^2 of 1.5 m, less what a step's gravity takes from the speed.
    assert!((0.33..0.38).contains(&highest), "{highest}");
}

/// Boxes one upon the other, every second one narrower.
fn stack(n: u32) -> Scene {
    let mut scene = ground(G, 0.5);
    for i in 0..n {
        let width = if i % 2 == 0 { 1.0 } else { 0.9 };
        let body = Body::solid_box(Vec3::new(width, width, 1.0), 1.0);
        scene.bodies.push(body.at(Vec3::new(0.0, 0.0, 0.5 + f64::from(i))));
    }
    scene
}

#[test]
fn a_stack_comes_to_rest() {
    for (settings, n, speed) in [("()", 10, 1e-3), ("(precision: f32)", 10, 1e-3), ("()", 15, 1e-3)]
    {
        let scene = stack(n);
        let mut run = Run::new(&scene, settings, DT, 4);
        run.steps(900);
        for (body, start) in run.state.bodies.iter().zip(&scene.bodies).skip(1) {
            assert!(body.velocity.norm() < speed, "{settings} {n}: {}", body.velocity);
            let way = body.position - start.position;
            assert!(way.xy().norm() < 0.02 && way.z < 0.0, "{settings} {n}: {way}");
        }
        // The lowest bears n weights.
        let depth = 0.5 - run.state.bodies[1].position.z;
        let expected = f64::from(n) * G * (DT / 4.0).powi(2) / 1.6;
        assert!((depth / expected - 1.0).abs() < 0.1, "{settings} {n}: {depth} for {expected}");
    }
}

#[test]
fn what_bears_a_heavy_load_stops_sinking() {
    for (settings, h) in SETTINGS {
        // A bound on the speed of pushing apart must not bound the force too.
        let mut scene = with(cube().at(Vec3::new(0.0, 0.0, 0.5)));
        let load = Body::solid_box(Vec3::repeat(2.0), 299.0 / 8.0);
        scene.bodies.push(load.at(Vec3::new(0.0, 0.0, 2.0)));
        let mut run = Run::new(&scene, settings, DT, 4);
        run.steps(1200);
        let body = &run.state.bodies[1];
        assert_sunk(settings, 300.0 * G * h * h / 1.6, 2.0 * G * h * h, 0.5 - body.position.z);
        assert!(body.velocity.norm() < 1e-4, "{settings}: {}", body.velocity);
    }
}

#[test]
fn contacts_make_no_momentum() {
    for (settings, _) in SETTINGS {
        let mut scene = ground(0.0, 0.5);
        scene.bodies.clear();
        for (side, offset) in [(-1.0, 0.0), (1.0, 0.3)] {
            let mut body = Body::solid_box(Vec3::new(1.0, 0.8, 0.6), 2.0);
            body.position = Vec3::new(side, offset, 0.1 * side);
            body.velocity = Vec3::new(-2.0 * side, 0.5, 0.0);
            body.omega = Vec3::new(0.3, side, 0.7);
            scene.bodies.push(body);
        }
        let before = metrics::momentum(&scene, &scene.initial_state());
        let mut run = Run::new(&scene, settings, DT, 4);
        let mut touched = false;
        for _ in 0..60 {
            run.step();
            touched |= run.multipliers().contacts.iter().any(|c| c.force.norm() > 0.0);
        }
        assert!(touched);
        let after = metrics::momentum(&scene, &run.state);
        let precision = if settings.contains("f32") { 1e-5 } else { 1e-13 };
        let linear = (after.linear_kg_m_s - before.linear_kg_m_s).norm();
        assert!(linear < precision, "{settings}: {linear}");
        // Levers stay those of the start of the step while bodies move on by v dt: an error of
        // first order in dt, and friction acts across the gap.
        let angular = (after.angular_kg_m2_s - before.angular_kg_m2_s).norm();
        assert!(angular < 0.1, "{settings}: {angular}");
    }
}

#[test]
fn a_moving_floor_takes_along_what_lies_on_it() {
    let mut scene = with(cube().at(Vec3::new(0.0, 0.0, 0.5)));
    scene.bodies[0].motion = Motion::Kinematic;
    scene.bodies[0].velocity = Vec3::x() * 2.0;
    let mut run = Run::new(&scene, "()", DT, 4);
    // It is dragged with mu g until it moves along.
    run.steps(12);
    let speed = run.state.bodies[1].velocity.x;
    assert!((speed - 0.5 * G * 12.0 * DT).abs() < 1e-3, "{speed}");
    run.steps(60);
    let speed = run.state.bodies[1].velocity.x;
    assert!((speed - 2.0).abs() < 1e-3, "{speed}");
    let floor = run.state.bodies[0].position.x;
    assert!((floor - 2.0 * 72.0 * DT).abs() < 1e-12, "{floor}");
}
