//! Elastic constants reach the bodies they are written for, single ones and members of generators.

use taut_core::load::load_str;
use taut_core::scene::{Elasticity, Motion, Scene};

fn load(bodies: &str) -> Scene {
    let text = format!("(contacts: false, parameters: {{ \"young\": 1e9 }}, bodies: [{bodies}])");
    load_str(&text, "elastic.ron", &[]).unwrap_or_else(|error| panic!("{error}")).scene
}

#[test]
fn a_body_is_rigid_unless_it_says_otherwise() {
    let scene = load(
        "body(name: \"a\", shape: box(size: (1, 1, 1)), mass: 1),
         body(name: \"b\", shape: box(size: (1, 1, 1)), mass: 1, elasticity: (young: \"young/10\", poisson: -0.5))",
    );
    assert_eq!(scene.bodies[0].elasticity, None);
    assert_eq!(scene.bodies[1].elasticity, Some(Elasticity { young: 1e8, poisson: -0.5 }));
}

#[test]
fn members_of_a_generator_share_the_constants_of_their_body() {
    let scene = load(
        "chain(
            name: \"link\", count: 3, start: (0, 0, 0), step: (1, 0, 0), held: [0],
            body: (shape: sphere(radius: 0.1), density: 1, elasticity: (young: \"young*(i + 1)\", poisson: 0.3)),
        )",
    );
    for (i, body) in scene.bodies.iter().enumerate() {
        let young = 1e9 * (i as f64 + 1.0);
        assert_eq!(body.elasticity, Some(Elasticity { young, poisson: 0.3 }));
    }
    assert_eq!(scene.bodies[0].motion, Motion::Static);
}

#[test]
fn a_rigid_plate_may_be_without_thickness() {
    let plate = "shape: box(size: (1, 1, 1e-3)), mass: 1, inertia: (1, 1, 2)";
    let scene = load(&format!("body(name: \"p\", {plate})"));
    assert_eq!(scene.bodies[0].inertia.m33, 2.0);
    // What does not move needs no moments at all.
    let held = load(
        "body(name: \"p\", shape: box(size: (1, 1, 1)), motion: static, elasticity: (young: 1e9, poisson: 0.3))",
    );
    assert!(held.bodies[0].elasticity.is_some());
}
