//! Pictures by their bytes: every shape, springs, contacts, an outline of a reference, signs and a failed cell.
//!
//! `BLESS=1 cargo test -p taut-draw --test golden` renews them: look at what it made.

use std::{fs, path::Path, sync::Arc};

use taut_core::{
    Mat3, Quat, Scene, State, Vec3,
    scene::{Body, Contacts, Endpoint, Joint, JointKind, Part, Shape, Spring, SpringKind},
};
use taut_draw::{
    camera::{Camera, Projection},
    colour::ColourSteps,
    list::DrawList,
    portrait::{Exposure, Manner, Portrait, Tint, Touch},
    svg,
    text::fonts,
};

fn body(shape: Shape, at: [f64; 3], turn: [f64; 3]) -> Body {
    let rotation = Quat::from_euler_angles(turn[0], turn[1], turn[2]);
    Body { shape, rotation, ..Body::solid_box(Vec3::repeat(1.0), 1.0) }.at(Vec3::from(at))
}

fn cuboid(half: [f64; 3]) -> Shape {
    Shape::Box { half: Vec3::from(half) }
}

fn ground() -> Body {
    body(Shape::HalfSpace, [0.0; 3], [0.0; 3]).fixed()
}

fn usual(target_m: [f64; 3], distance_m: f64) -> Camera {
    let projection = Projection::Perspective { fov_deg: 30.0, distance_m };
    Camera { target_m, azimuth_deg: -60.0, elevation_deg: 20.0, projection }
}

fn front(target_m: [f64; 3], height_m: f64) -> Camera {
    let projection = Projection::Orthographic { height_m };
    Camera { target_m, azimuth_deg: -90.0, elevation_deg: 0.0, projection }
}

fn still(state: &State) -> Exposure<'_> {
    Exposure { run: 0, state, ghost: None, touches: &[], trails: &[], failed: None, stale: false }
}

const PLAIN: Manner = Manner { tint: Tint::Plain, gaps_m: None, contacts: false };
const ERRORS: Manner = Manner {
    tint: Tint::JointError(ColourSteps { low: 1e-4, high: 1.0 }),
    gaps_m: Some(0.1),
    contacts: false,
};

fn drawn(scene: &Scene, camera: Camera, manner: &Manner, moment: &Exposure<'_>) -> DrawList {
    fonts().unwrap();
    Portrait::new(scene).list(camera, (240.0, 180.0), manner, moment)
}

/// Compares with the picture on file, or replaces it.
fn hold(name: &str, list: &DrawList) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/{name}.svg"));
    let fresh = svg::picture(list, name, "");
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, &fresh).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == fresh, "{} differs: BLESS=1 renews it", path.display());
}

fn hold_shape(name: &str, shape: Shape) {
    let scene = Scene {
        bodies: vec![ground(), body(shape, [0.0, 0.0, 1.0], [0.4, 0.3, 0.2])],
        ..Scene::default()
    };
    let state = scene.initial_state();
    hold(name, &drawn(&scene, usual([0.0, 0.0, 0.8], 7.0), &PLAIN, &still(&state)));
}

#[test]
fn every_shape() {
    let corners = [[0.8, 0.0, -0.3], [-0.4, 0.7, -0.3], [-0.4, -0.7, -0.3], [0.0, 0.0, 0.9]];
    let tetrahedron: Arc<[Vec3]> = corners.map(Vec3::from).into();
    let part = |shape, x: f64| Part {
        shape,
        position: Vec3::new(x, 0.0, 0.0),
        rotation: Quat::from_euler_angles(0.0, 0.5 * x, 0.0),
    };
    let dumbbell = [
        part(Shape::Sphere { radius: 0.4 }, -0.8),
        part(cuboid([0.8, 0.1, 0.1]), 0.0),
        part(Shape::Cylinder { radius: 0.3, half_length: 0.2 }, 0.8),
    ];
    let valley =
        [[-1.0, -1.0, 0.4], [1.0, -1.0, 0.4], [0.0, 0.0, -0.4], [-1.0, 1.0, 0.4], [1.0, 1.0, 0.4]];
    hold_shape("box", cuboid([0.8, 0.5, 0.3]));
    hold_shape("sphere", Shape::Sphere { radius: 0.8 });
    hold_shape("capsule", Shape::Capsule { radius: 0.4, half_length: 0.6 });
    hold_shape("cylinder", Shape::Cylinder { radius: 0.5, half_length: 0.7 });
    hold_shape("hull", Shape::Hull { points: Arc::clone(&tetrahedron) });
    hold_shape("compound", Shape::Compound { parts: dumbbell.into() });
    let triangles = [[0, 1, 2], [1, 4, 2], [4, 3, 2], [3, 0, 2]];
    let vertices = valley.map(Vec3::from).into();
    hold_shape("mesh", Shape::Mesh { vertices, triangles: triangles.into(), control: None });
}

/// Frames need not be rotations.
#[test]
fn stretch_is_seen() {
    let bodies = vec![
        body(Shape::Sphere { radius: 0.6 }, [-1.0, 0.0, 1.0], [0.0; 3]),
        body(cuboid([0.5, 0.5, 0.5]), [1.0, 0.0, 1.0], [0.0; 3]),
    ];
    let scene = Scene { bodies, ..Scene::default() };
    let mut state = scene.initial_state();
    let sheared = Mat3::new(1.4, 0.0, 0.5, 0.0, 1.0, 0.0, 0.0, 0.0, 0.6);
    state.bodies.iter_mut().for_each(|body| body.frame = sheared);
    hold("stretch", &drawn(&scene, usual([0.0, 0.0, 1.0], 8.0), &PLAIN, &still(&state)));
}

/// A block between two others: depth is told by what is seen, not by where middles are.
#[test]
fn what_is_nearer_hides_what_is_farther() {
    let bodies = vec![
        body(cuboid([2.0, 0.2, 0.2]), [0.0, 0.0, 0.2], [0.0; 3]),
        body(cuboid([0.2, 1.5, 0.2]), [0.5, 0.0, 0.6], [0.0; 3]),
        body(cuboid([0.3, 0.3, 0.6]), [-1.2, -0.7, 0.6], [0.0; 3]),
        ground(),
        body(Shape::Sphere { radius: 0.4 }, [-0.4, 0.8, 0.4], [0.0; 3]),
    ];
    let scene = Scene { bodies, ..Scene::default() };
    let state = scene.initial_state();
    hold("occlusion", &drawn(&scene, usual([0.0, 0.0, 0.4], 9.0), &PLAIN, &still(&state)));
}

/// Two links on a ball joint each; the second has come off.
fn chain() -> Scene {
    let links = [0.5, 1.5, 2.5].map(|x| body(cuboid([0.5, 0.08, 0.08]), [x, 0.0, 0.0], [0.0; 3]));
    let at = |x: f64| Vec3::new(x, 0.0, 0.0);
    let joint = |a, b, anchor| Joint::new(JointKind::Ball, a, b).anchored(anchor, at(-0.5));
    let joints = vec![
        joint(Endpoint::World, Endpoint::Body(0), at(0.0)),
        joint(Endpoint::Body(0), Endpoint::Body(1), at(0.5)),
        joint(Endpoint::Body(1), Endpoint::Body(2), at(0.5)),
    ];
    Scene { bodies: links.to_vec(), joints, ..Scene::default() }
}

#[test]
fn joints_that_gape_and_the_reference_behind_them() {
    let scene = chain();
    let ghost = scene.initial_state();
    let mut state = ghost.clone();
    state.bodies[1].position += Vec3::new(0.002, 0.0, -0.003);
    state.bodies[2].position += Vec3::new(0.2, 0.0, -0.5);
    let moment = Exposure { ghost: Some(&ghost), ..still(&state) };
    hold("joints", &drawn(&scene, front([1.5, 0.0, -0.2], 2.6), &ERRORS, &moment));
    state.broken[2] = true;
    hold("broken", &drawn(&scene, front([1.5, 0.0, -0.2], 2.6), &ERRORS, &still(&state)));
}

#[test]
fn failed_cells_and_what_has_left_them() {
    let scene = chain();
    let mut state = scene.initial_state();
    state.bodies[1].position.z -= 92.0;
    state.bodies[2].position.x += 3e4;
    let trail: Vec<Vec3> = (0..20).map(|i| Vec3::new(0.1 * f64::from(i), 0.0, 0.3)).collect();
    let moment = Exposure { failed: Some("falling"), trails: &[trail], ..still(&state) };
    hold("failed", &drawn(&scene, front([1.5, 0.0, -0.2], 2.6), &ERRORS, &moment));
    let moment = Exposure { failed: Some("diverged"), stale: true, ..still(&state) };
    hold("diverged", &drawn(&scene, front([1.5, 0.0, -0.2], 2.6), &PLAIN, &moment));
}

#[test]
fn springs_are_zigzags_and_lattices_lines() {
    let spring = |a, b, rest_length| Spring {
        name: String::new(),
        kind: SpringKind::Linear { anchor_a: Vec3::zeros(), anchor_b: Vec3::zeros(), rest_length },
        a,
        b,
        stiffness: 1.0,
        damping: 0.0,
    };
    let particle = |x: f64| taut_core::scene::Particle {
        name: String::new(),
        mass: 1.0,
        position: Vec3::new(x, 0.0, 1.2),
        velocity: Vec3::zeros(),
        touch: None,
    };
    let scene = Scene {
        bodies: vec![body(cuboid([0.2, 0.2, 0.2]), [0.0, 0.0, -1.0], [0.0; 3])],
        particles: vec![particle(-1.0), particle(0.0), particle(1.0)],
        springs: vec![
            spring(Endpoint::World, Endpoint::Body(0), 0.5),
            spring(Endpoint::Particle(0), Endpoint::Particle(1), 1.0),
            spring(Endpoint::Particle(1), Endpoint::Particle(2), 0.9),
        ],
        ..Scene::default()
    };
    let state = scene.initial_state();
    hold("springs", &drawn(&scene, front([0.0, 0.0, 0.0], 3.0), &PLAIN, &still(&state)));
}

#[test]
fn contacts_have_normals_and_are_red_where_bodies_overlap() {
    let scene = Scene {
        bodies: vec![ground(), body(cuboid([0.5, 0.5, 0.5]), [0.0, 0.0, 0.48], [0.0; 3])],
        contacts: Some(Contacts::default()),
        ..Scene::default()
    };
    let state = scene.initial_state();
    let touch = |x: f64, depth: f64| Touch {
        bodies: [1, 0],
        at: Vec3::new(x, -0.5, 0.0),
        normal: Vec3::z(),
        depth,
    };
    let touches = [touch(-0.5, 0.02), touch(0.5, -0.001)];
    let moment = Exposure { touches: &touches, ..still(&state) };
    let manner = Manner {
        tint: Tint::Penetration(ColourSteps { low: 1e-4, high: 0.1 }),
        contacts: true,
        gaps_m: None,
    };
    hold("contacts", &drawn(&scene, usual([0.0, 0.0, 0.4], 5.0), &manner, &moment));
}
