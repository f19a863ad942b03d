//! Equal bits for every number of threads.

use taut_core::{
    Scene, Vec3,
    scene::{Body, Contacts, Endpoint, Joint, JointKind, Limit, Motor},
};
use taut_fixtures::{Run, empty, linear_spring, on_threads};
use taut_xpbd::BACKEND;

fn check(scene: &Scene, settings: &str, touching: usize) {
    let runs = [1, 2, 3].map(|threads| {
        on_threads(threads, || {
            let mut run = Run::new(&BACKEND, scene, settings, 4);
            assert!(run.steps(5).is_finite());
            let forces = run.forces();
            assert!(forces.contacts.len() >= touching, "{}", forces.contacts.len());
            (run.state.hash(), forces)
        })
    });
    assert!(runs[0] == runs[1] && runs[0] == runs[2], "{settings}");
}

/// A grid of bodies tied by ball joints along x and hinges and springs along y.
fn grid(side: usize) -> Scene {
    let mut scene = empty(9.81);
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
            scene.springs.push(linear_spring(a, b, 0.9, 1e4));
        }
    }
    scene
}

#[test]
fn threads_do_not_change_a_bit() {
    let scene = grid(50);
    for settings in ["()", "(mode: iterations)", "(precision: f32)", "(order: creation)"] {
        check(&scene, settings, 0);
    }
}

/// Bricks laid loosely in a wide wall, more pairs of one colour than a thread takes at once.
fn bricks() -> Scene {
    let mut scene = Scene { contacts: Some(Contacts::default()), ..empty(9.81) };
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
    for settings in
        ["()", "(friction: published, mode: iterations)", "(precision: f32)", "(order: creation)"]
    {
        check(&scene, settings, 4001);
    }
}
