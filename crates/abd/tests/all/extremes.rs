//! Where numbers are least on the side of the guarantee: far away, at gaps that only rounding leaves, with motions that no
//! contact lets through.

use taut_abd::BACKEND;
use taut_core::{
    Backend, Quat, Scene, Vec3,
    scene::{Body, Contacts, Motion, Shape},
};
use taut_fixtures::{Run, ball, build, cube, floor, rubbing, touching};

const GRAVITY: f64 = 9.81;
const DT: f64 = 0.01;
const BUDGET: u32 = 200;

fn scene(bodies: Vec<Body>) -> Scene {
    let contacts = Some(Contacts { margin: 1e-3, ..Contacts::default() });
    Scene { contacts, dt: DT, ..touching(GRAVITY, bodies) }
}

/// Every iterate is looked at, so that a step fails in which anything intersects.
fn run(scene: &Scene) -> Run {
    Run::new(&BACKEND, scene, "(certify: true)", BUDGET)
}

/// A cube of 0.2 m and 8 kg, and the box it falls on, whose top is at the origin.
fn small(at: Vec3) -> [Body; 2] {
    let ground = Body::solid_box(Vec3::new(4.0, 4.0, 0.2), 1.0).fixed();
    let falling = Body::solid_box(Vec3::repeat(0.2), 8.0).at(at);
    [ground.at(Vec3::z() * -0.1), falling].map(|body| rubbing(body, 0.3, 0.3))
}

#[test]
fn a_cube_that_lands_on_its_corner_far_from_the_origin_stays_above() {
    for far in [200.0, 300.0, 500.0, 1000.0] {
        let mut bodies = small(Vec3::z() * (0.1 * 3_f64.sqrt() + 0.3));
        bodies[1].rotation = Quat::rotation_between(&Vec3::repeat(1.0), &Vec3::z()).unwrap();
        bodies[1].velocity = Vec3::z() * -100.0;
        bodies.iter_mut().for_each(|body| body.position += Vec3::repeat(far));
        let state = run(&scene(bodies.into())).end(60);
        assert!(state.bodies[1].position.z > far, "{}", state.bodies[1].position);
    }
}

#[test]
fn the_least_gap_is_opened_and_nothing_elsewhere_feels_it() {
    // A step that leaves it as it is is as short as the gap.
    let gap = 1e-8;
    let mut bodies = small(Vec3::z() * (0.1 + gap)).to_vec();
    bodies.push(ball(Vec3::new(100.0, 0.0, 100.0)));
    let state = run(&scene(bodies)).end(40);
    let height = state.bodies[1].position.z - 0.1;
    assert!(height > 1e-5, "{height:e}");
    // Implicit Euler: h^2 (1 + 2 + .. + 40).
    let fallen = 100.0 - state.bodies[2].position.z;
    let expected = GRAVITY * DT * DT * 820.0;
    assert!((fallen - expected).abs() < 1e-9, "{fallen} {expected}");
}

#[test]
fn what_stands_on_a_body_that_is_told_to_stay_is_solved_as_on_one_that_cannot_move() {
    let iterations = |motion: Motion| {
        let ground = Body { motion, ..floor(0.5) };
        let mut run = run(&scene(vec![ground, rubbing(cube(0.5005), 0.5, 0.5)]));
        run.steps(50);
        let report = run.solver.report();
        (report.newton_iterations.unwrap(), report.unconverged_steps.unwrap())
    };
    let (fixed, told) = (iterations(Motion::Static), iterations(Motion::Kinematic));
    assert!(told.0 <= 3 * fixed.0, "{told:?} {fixed:?}");
    assert_eq!((fixed.1, told.1), (0, 0));
}

#[test]
fn what_leaves_the_space_in_which_contacts_are_looked_for_ends_the_run() {
    let fast = Body { velocity: Vec3::x() * 1e15, ..cube(2.0) };
    let mut run = run(&scene(vec![floor(0.5), fast]));
    let told = run.solver.begin_step(run.step).unwrap_err().to_string();
    assert!(told.contains("body 1 leaves"), "{told}");
}

#[test]
fn a_barrier_without_reach_and_surfaces_that_overlap_with_their_sides_are_refused() {
    let refused = |scene: &Scene, settings: &str| {
        build(&BACKEND, scene, settings).err().expect("a refusal").to_string()
    };
    let mut flat = scene(vec![floor(0.5), cube(0.6)]);
    flat.contacts = Some(Contacts { margin: 0.0, ..Contacts::default() });
    let told = refused(&flat, "()");
    assert!(told.contains("d_hat"), "{told}");
    // Flats of 24 sides face each other here, edges of 48.
    let turn = Quat::from_scaled_axis(Vec3::z() * 7.5_f64.to_radians());
    let shape = Shape::Cylinder { radius: 0.1, half_length: 0.15 };
    let drum =
        |x: f64| Body { shape: shape.clone(), rotation: turn, ..cube(0.0).at(Vec3::x() * x) };
    let drums = scene(vec![drum(0.0).fixed(), drum(0.198588972)]);
    assert_eq!(BACKEND.supports(&drums), Ok(()));
    let told = refused(&drums, "(segments: 48)");
    assert!(told.contains("touch or intersect"), "{told}");
}
