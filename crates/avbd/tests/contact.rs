//! Contacts and friction against closed forms.

mod common;

use common::{advance, build};
use taut_core::{
    Multipliers, Quat, Scene, State, Vec3,
    scene::{Body, Contacts, Material, Shape},
};

const H: f64 = 1.0 / 60.0;
const G: f64 = 10.0;

fn ground(mu: f64) -> Scene {
    let mut plane = Body::solid_box(Vec3::repeat(1.0), 1.0).fixed();
    plane.shape = Shape::HalfSpace;
    plane.material = rough(mu);
    Scene {
        gravity: Vec3::new(0.0, 0.0, -G),
        dt: H,
        contacts: Some(Contacts::default()),
        bodies: vec![plane],
        ..Scene::default()
    }
}

fn rough(mu: f64) -> Material {
    Material { friction_static: mu, friction_dynamic: mu, restitution: 0.0 }
}

fn cube(z: f64, mu: f64) -> Body {
    let mut cube = Body::solid_box(Vec3::repeat(1.0), 1.0).at(Vec3::new(0.0, 0.0, z));
    cube.material = rough(mu);
    cube
}

fn run(scene: &Scene, settings: &str, iterations: u32, frames: u32) -> State {
    let mut solver = build(scene, settings);
    let mut state = scene.initial_state();
    for _ in 0..frames {
        state = advance(&mut *solver, scene.dt, iterations);
    }
    state
}

/// Where a block stops that implicit Euler slows by `mu g h` in every step [m].
fn stopping_distance(speed: f64, mu: f64) -> f64 {
    let (mut v, mut x) = (speed, 0.0);
    while v > 0.0 {
        v = (v - mu * G * H).max(0.0);
        x += v * H;
    }
    x
}

/// A flat block sliding at 10 m/s in a direction [degrees].
fn slider(mu: f64, degrees: f64) -> Scene {
    let mut scene = ground(mu);
    let mut block = Body::solid_box(Vec3::new(1.0, 1.0, 0.5), 1.0).at(Vec3::new(0.0, 0.0, 0.25));
    let angle = degrees.to_radians();
    block.velocity = Vec3::new(angle.cos(), angle.sin(), 0.0) * 10.0;
    block.material = rough(mu);
    scene.bodies.push(block);
    scene
}

fn distance(state: &State) -> f64 {
    state.bodies[1].position.xy().norm()
}

#[test]
fn a_sliding_block_stops_where_coulomb_says() {
    for mu in [0.5, 1.0, 1.5] {
        let ideal = stopping_distance(10.0, mu);
        for (iterations, within) in [(4, 0.05), (10, 0.01)] {
            let found = distance(&run(&slider(mu, 0.0), "()", iterations, 300));
            assert!((found / ideal - 1.0).abs() < within, "{mu} {iterations}: {found} {ideal}");
        }
    }
}

#[test]
fn friction_is_the_same_in_every_direction() {
    let along = distance(&run(&slider(0.5, 0.0), "()", 10, 300));
    for degrees in [15.0, 30.0, 45.0, 75.0, 90.0] {
        let found = distance(&run(&slider(0.5, degrees), "()", 10, 300));
        assert!((found / along - 1.0).abs() < 1e-3, "{degrees}: {found} {along}");
    }
}

/// A cube on a plane inclined about y [degrees].
fn incline(degrees: f64, mu: f64) -> Scene {
    let mut scene = ground(mu);
    let turn = Quat::from_scaled_axis(Vec3::y() * degrees.to_radians());
    scene.bodies[0].rotation = turn;
    let mut cube = cube(0.0, mu);
    (cube.position, cube.rotation) = (turn * Vec3::new(0.0, 0.0, 0.5), turn);
    scene.bodies.push(cube);
    scene
}

#[test]
fn a_block_holds_below_the_friction_angle_and_slides_above() {
    // tan 26.57 = 0.5.
    let start = incline(20.0, 0.5).bodies[1].position;
    let held = run(&incline(20.0, 0.5), "()", 10, 1800);
    assert!((held.bodies[1].position - start).norm() < 1e-3);
    let start = incline(28.0, 0.5).bodies[1].position;
    let slid = run(&incline(28.0, 0.5), "()", 10, 120);
    let angle = 28.0_f64.to_radians();
    let acceleration = G * (angle.sin() - 0.5 * angle.cos());
    // Implicit Euler: x = a h^2 n (n + 1) / 2.
    let ideal = acceleration * H * H * 120.0 * 121.0 / 2.0;
    let found = (slid.bodies[1].position - start).norm();
    assert!((found / ideal - 1.0).abs() < 0.01, "{found} {ideal}");
}

#[test]
fn static_friction_holds_what_dynamic_friction_would_not() {
    let mut scene = incline(25.0, 0.5);
    for body in &mut scene.bodies {
        body.material = Material { friction_static: 0.5, friction_dynamic: 0.2, restitution: 0.0 };
    }
    let start = scene.bodies[1].position;
    let held = run(&scene, "()", 10, 300);
    assert!((held.bodies[1].position - start).norm() < 1e-3);
    let angle = 25.0_f64.to_radians();
    scene.bodies[1].velocity = Vec3::new(angle.cos(), 0.0, -angle.sin());
    let slid = run(&scene, "()", 10, 60);
    assert!((slid.bodies[1].position - start).norm() > 2.0, "once it slides it goes on");
}

#[test]
fn pressure_carries_the_weight() {
    let mut scene = ground(0.5);
    scene.bodies.extend([cube(0.5, 0.5), cube(1.5, 0.5)]);
    let mut solver = build(&scene, "()");
    for _ in 0..300 {
        advance(&mut *solver, H, 20);
    }
    let mut multipliers = Multipliers::default();
    assert!(solver.read_multipliers(&mut multipliers));
    let on_ground = multipliers.contacts.iter().filter(|c| c.bodies == [0, 1]);
    // The ground is A: what presses it down carries two cubes.
    let force: Vec3 = on_ground.map(|c| c.force).sum();
    // A step lets go of one part in 17 of each multiplier; 20 iterations recover it to 5e-6.
    assert!((force - Vec3::new(0.0, 0.0, -2.0 * G)).norm() < 1e-3, "{force}");
}

#[test]
fn a_tall_stack_bears_a_thousandfold_load() {
    let mut scene = ground(0.5);
    scene.bodies.extend((0..10).map(|i| cube(f64::from(i) + 0.5, 0.5)));
    scene.bodies.push(Body::solid_box(Vec3::repeat(2.0), 125.0).at(Vec3::new(0.0, 0.0, 11.0)));
    let state = run(&scene, "()", 20, 300);
    let top = state.bodies[11].position;
    // Ten contacts, none deeper than two per cent.
    assert!(top.z > 11.0 - 10.0 * 0.02 && top.xy().norm() < 0.01, "{top}");
}

#[test]
fn free_bodies_that_collide_keep_their_momentum() {
    let mut scene = ground(0.5);
    scene.gravity = Vec3::zeros();
    let (mut left, mut right) = (cube(5.0, 0.5), cube(5.3, 0.5));
    right.position.x = 1.6;
    (left.velocity.x, right.velocity.x, right.velocity.y) = (3.0, -1.0, 0.5);
    right.omega = Vec3::new(0.3, 0.2, 1.0);
    scene.bodies.extend([left, right]);
    let state = run(&scene, "()", 100, 60);
    let total = state.bodies[1].velocity + state.bodies[2].velocity;
    // Only what the iterations leave of the residual is lost.
    assert!((total - Vec3::new(2.0, 0.5, 0.0)).norm() < 1e-3, "{total}");
    assert!((state.bodies[1].velocity - state.bodies[2].velocity).norm() < 3.9, "they did collide");
}

#[test]
fn a_rolling_ball_keeps_rolling() {
    let mut scene = ground(0.5);
    let mut ball = cube(0.5, 0.5);
    ball.shape = Shape::Sphere { radius: 0.5 };
    ball.inertia = taut_core::Mat3::identity() * (0.4 * ball.mass * 0.25);
    (ball.velocity.x, ball.omega.y) = (2.0, 4.0);
    scene.bodies.push(ball);
    let state = run(&scene, "()", 10, 300);
    let ball = &state.bodies[1];
    assert!((ball.velocity.x - 2.0).abs() < 0.02, "{}", ball.velocity.x);
    assert!((ball.position.z - 0.5).abs() < 1e-3, "{}", ball.position.z);
}

#[test]
fn the_number_of_threads_does_not_change_a_bit() {
    let mut scene = ground(0.5);
    for i in 0..600_u32 {
        let (x, y) = (f64::from(i % 10) * 1.01, f64::from(i / 10 % 10) * 1.02);
        let mut cube = cube(0.7 + 1.3 * f64::from(i / 100), 0.5);
        (cube.position.x, cube.position.y) = (x + 0.3 * f64::from(i / 100), y);
        scene.bodies.push(cube);
    }
    let hash = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| run(&scene, "()", 4, 40).hash())
    };
    assert_eq!(hash(1), hash(2));
}

/// A point that lets go between two iterations must not come back unresisted.
#[test]
fn a_cube_that_lands_goes_no_deeper_than_it_rests() {
    for height in [1.0, 5.0, 20.0] {
        let scene = Scene {
            bodies: vec![ground(0.5).bodies[0].clone(), cube(0.5 + height, 0.5)],
            ..ground(0.5)
        };
        let mut solver = build(&scene, "()");
        let mut deepest = 0.0_f64;
        for _ in 0..240 {
            let state = advance(&mut *solver, scene.dt, 10);
            deepest = deepest.max(0.5 - state.bodies[1].position.z);
        }
        assert!(deepest < 1e-5, "{height}: {deepest}");
    }
}
