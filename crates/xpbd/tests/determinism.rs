//! Equal bits for every number of threads, and steps that start from nothing but the state.

mod common;

use common::{GRAVITY, Run};
use taut_core::{
    Multipliers, Scene, Vec3,
    scene::{Body, Contacts, Endpoint, Joint, JointKind, Limit, Motor, Spring, SpringKind},
};

/// A grid of bodies tied by ball joints along x and hinges and springs along y.
fn grid(side: usize) -> Scene {
    let mut scene = Scene { gravity: GRAVITY, dt: 1.0 / 60.0, ..Scene::default() };
    for i in 0..side * side {
        let place = Vec3::new((i % side) as f64, (i / side) as f64, 0.0);
        let body = Body::solid_box(Vec3::new(0.8, 0.6, 0.1 + 0.01 * (i % 7) as f64), 500.0);
        let body = body.at(place);
        scene.bodies.push(if i == 0 { body.fixed() } else { body });
    }
    for i in 0..side * side {
        if i % side + 1 < side {
            let ball = Joint::new(JointKind::Ball, Endpoint::Body(i), Endpoint::Body(i + 1));
            scene.joints.push(ball.anchored(Vec3::x() * 0.5, Vec3::x() * -0.5));
        }
        if i + side < side * side {
            let (a, b) = (Endpoint::Body(i), Endpoint::Body(i + side));
            let mut hinge =
                Joint::new(JointKind::Hinge, a, b).anchored(Vec3::y() * 0.5, Vec3::y() * -0.5);
            hinge.compliance_linear = 1e-6;
            hinge.limit = Some(Limit { lower: -0.2, upper: 0.2 });
            hinge.motor = Some(Motor { speed: 1.0, max_effort: 1.0 });
            scene.joints.push(hinge);
            let kind = SpringKind::Linear {
                anchor_a: Vec3::zeros(),
                anchor_b: Vec3::zeros(),
                rest_length: 0.9,
            };
            scene.springs.push(Spring { name: String::new(), kind, a, b, stiffness: 1e4 });
        }
    }
    scene
}

#[test]
fn threads_do_not_change_a_bit() {
    let scene = grid(50);
    for settings in ["()", "(mode: iterations)", "(precision: f32)", "(order: creation)"] {
        let hashes = [1, 2, 3].map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut run = Run::new(&scene, settings, scene.dt, 4);
                run.steps(5);
                assert!(run.state.is_finite());
                run.state.hash()
            })
        });
        assert_eq!(hashes[0], hashes[1], "{settings}");
        assert_eq!(hashes[0], hashes[2], "{settings}");
    }
}

/// Bricks laid loosely in a wide wall, more pairs of one colour than a thread takes at once.
fn bricks() -> Scene {
    let contacts = Some(Contacts::default());
    let mut scene = Scene { gravity: GRAVITY, dt: 1.0 / 60.0, contacts, ..Scene::default() };
    let floor = Body::solid_box(Vec3::new(2000.0, 100.0, 1.0), 1.0);
    scene.bodies.push(floor.fixed().at(Vec3::new(0.0, 0.0, -0.5)));
    for i in 0..1200 {
        let (column, row) = (i / 3, i % 3);
        let place = Vec3::new(1.02 * column as f64, 0.0, 0.26 + 0.51 * row as f64);
        let mut brick = Body::solid_box(Vec3::new(1.0, 0.5, 0.5), 100.0).at(place);
        brick.omega = Vec3::new(0.0, 0.1 * (i % 5) as f64, 0.0);
        scene.bodies.push(brick);
    }
    scene
}

#[test]
fn threads_do_not_change_a_bit_of_what_touches() {
    let scene = bricks();
    let settings =
        ["()", "(friction: published, mode: iterations)", "(precision: f32)", "(order: creation)"];
    for settings in settings {
        let hashes = [1, 2, 3].map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut run = Run::new(&scene, settings, scene.dt, 4);
                run.steps(5);
                assert!(run.state.is_finite());
                let mut forces = Multipliers::default();
                assert!(run.solver.read_multipliers(&mut forces));
                assert!(forces.contacts.len() > 4000, "most bricks touch");
                (run.state.hash(), forces)
            })
        });
        assert!(hashes[0] == hashes[1] && hashes[0] == hashes[2], "{settings}");
    }
}
