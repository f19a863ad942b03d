//! Bodies whose surfaces are meshes.

use std::f64::consts::TAU;

use taut_abd::BACKEND;
use taut_core::{
    Quat, Scene, Vec3,
    load::load_str,
    scene::{Body, Contacts, Shape},
};
use taut_fixtures::{Run, cube, file, floor, touching};

/// Newton iterations a step may take.
const BUDGET: u32 = 200;

/// A cube of 1 m as a mesh.
fn meshed() -> Body {
    let square = "tube(around: 4, along: 2, vertex: (
        \"sqrt(0.5)*cos(pi/4 + pi*u/2)\", \"sqrt(0.5)*sin(pi/4 + pi*u/2)\", \"v - 0.5\"))";
    let text = format!("(bodies: [body(name: \"cube\", mass: 1, shape: {square})])");
    load_str(&text, "cube", &[]).unwrap_or_else(|error| panic!("{error}")).scene.bodies.remove(0)
}

#[test]
fn a_cube_of_triangles_falls_and_lands_as_a_cube() {
    let on_floor = |body: Body| {
        let turned = Quat::from_scaled_axis(Vec3::new(0.3, 0.2, 0.1));
        let body = Body { rotation: turned, omega: Vec3::new(0.5, 1.0, 0.0), ..body };
        let contacts = Some(Contacts { margin: 1e-2, ..Contacts::default() });
        let bodies = vec![floor(0.3), body.at(Vec3::new(0.0, 0.0, 0.9))];
        Scene { contacts, dt: 0.01, ..touching(9.81, bodies) }
    };
    let scenes = [cube(0.0), meshed()].map(on_floor);
    assert!(matches!(scenes[1].bodies[1].shape, Shape::Mesh { .. }));
    let [mut plain, mut mesh] = scenes.each_ref().map(|s| Run::new(&BACKEND, s, "()", BUDGET));
    for frame in 0..60 {
        let [a, b] = [&plain.step().bodies[1], &mesh.step().bodies[1]];
        let off = (a.position - b.position).norm() + (a.frame - b.frame).norm();
        // Until it lands they are the same; then the mesh has its middle vertices and other diagonals.
        assert!(off < if frame < 12 { 1e-9 } else { 0.05 }, "frame {frame}: {off:e}");
        assert!(b.position.z > 0.49);
    }
}

#[test]
fn a_screw_turns_as_it_sinks() {
    let scene = file("bolt", &[]);
    let mut run = Run::new(&BACKEND, &scene, "(certify: false)", BUDGET);
    let (pitch, start) = (0.006, scene.bodies[1].position.z);
    let (mut angle, mut depth) = (0.0, 0.0);
    for _ in 0..80 {
        let screw = &run.step().bodies[1];
        let turned = screw.frame[(1, 0)].atan2(screw.frame[(0, 0)]);
        assert!(turned <= angle + 1e-3, "it only turns one way, {turned} after {angle}");
        (angle, depth) = (turned, start - screw.position.z);
        // The thread has play up and down, within which the screw also falls freely at first.
        let play = depth + angle / TAU * pitch;
        assert!((-1e-5..4e-4).contains(&play), "{depth} m at {angle} rad");
    }
    assert!(angle < -1.0 && depth > 1e-3, "{angle} rad, {depth} m");
}

#[test]
fn what_does_not_touch_moves_alike_however_fine_it_is() {
    let moved = |triangles: f64| {
        let scene = file("mesh-detail", &[("triangles", triangles)]);
        let mut run = Run::new(&BACKEND, &scene, "()", BUDGET);
        (0..100).for_each(|_| _ = run.step());
        run.step().clone()
    };
    let coarse = moved(100.0);
    let fine = moved(10_000.0);
    for (a, b) in coarse.bodies.iter().zip(&fine.bodies) {
        let off = (a.position - b.position).norm() + (a.frame - b.frame).norm();
        assert!(off < 1e-12, "{off:e}");
    }
}
