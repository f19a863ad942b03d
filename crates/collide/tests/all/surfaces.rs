//! What is found of surfaces that meet and that are apart, against every pair of features.

use taut_collide::{Surface, SurfaceMeetings, SurfaceProbe};
use taut_core::{Mat3, Quat, Scene, State, Vec3, load::load_str, scene::Shape};
use taut_ipc::{
    distance::{edge_edge, point_triangle},
    intersect::triangles_intersect,
};
use taut_math::V3;

fn scene(text: &str) -> Scene {
    load_str(text, "test", &[]).expect("a good scene").scene
}

/// The corners of all triangles of a body in the world [m].
fn triangles(scene: &Scene, state: &State, body: usize) -> Vec<[Vec3; 3]> {
    let Some(surface) = Surface::new(&scene.bodies[body].shape, Surface::SEGMENTS) else {
        return vec![];
    };
    let corner = |i: u32| state.bodies[body].point(&surface.vertices[i as usize]);
    surface.triangles.iter().map(|corners| corners.map(corner)).collect()
}

/// Least distance of two triangles that do not meet [m].
fn distance(a: &[Vec3; 3], b: &[Vec3; 3]) -> f64 {
    let number = |v: &Vec3| V3([v.x, v.y, v.z]);
    let over = |p: &Vec3, t: &[Vec3; 3]| {
        point_triangle(&[number(p), number(&t[0]), number(&t[1]), number(&t[2])]).squared
    };
    let edges = |t: &[Vec3; 3]| [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]];
    let mut least = f64::INFINITY;
    for k in 0..3 {
        least = least.min(over(&a[k], b)).min(over(&b[k], a));
        for [r, s] in edges(b) {
            let [p, q] = edges(a)[k];
            least = least.min(edge_edge(&[p, q, r, s].map(|v| number(&v))).squared);
        }
    }
    least.sqrt()
}

/// No more than the distance of two triangles [m].
fn boxes_apart(a: &[Vec3; 3], b: &[Vec3; 3]) -> f64 {
    let low = |t: &[Vec3; 3]| t[0].inf(&t[1]).inf(&t[2]);
    let high = |t: &[Vec3; 3]| t[0].sup(&t[1]).sup(&t[2]);
    (low(a) - high(b)).sup(&(low(b) - high(a))).sup(&Vec3::zeros()).norm()
}

/// By every pair of triangles of two bodies, all of which may touch.
fn by_hand(scene: &Scene, state: &State) -> (SurfaceMeetings, f64) {
    let all: Vec<_> = (0..scene.bodies.len()).map(|i| triangles(scene, state, i)).collect();
    let (mut intersections, mut least) = (0, f64::INFINITY);
    let mut meets = vec![false; all.len()];
    for b in 0..all.len() {
        for a in 0..b {
            for one in &all[a] {
                for other in &all[b] {
                    let [p, q] = [one, other].map(|t| t.map(|v| [v.x, v.y, v.z]));
                    if triangles_intersect(&p, &q) {
                        intersections += 1;
                        (meets[a], meets[b]) = (true, true);
                    } else if boxes_apart(one, other) < least {
                        least = least.min(distance(one, other));
                    }
                }
            }
        }
    }
    let bodies = meets.iter().filter(|meets| **meets).count();
    let least = if intersections > 0 { 0.0 } else { least };
    (SurfaceMeetings { intersections, bodies }, least)
}

/// A number in [-1, 1) that looks random.
fn noise(seed: u64) -> f64 {
    let mixed = (seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (mixed >> 12) as f64 / (1_u64 << 51) as f64 - 1.0
}

fn noisy(seed: u64) -> Vec3 {
    Vec3::new(noise(seed), noise(seed + 1), noise(seed + 2))
}

const ZOO: &str = "(contacts: (margin: 0.01), bodies: [
    body(shape: box(size: (1, 0.5, 0.2)), density: 1, position: (-1, 0, 0)),
    body(shape: sphere(radius: 0.4), density: 1),
    body(shape: cylinder(radius: 0.3, length: 1), density: 1, position: (1, 0, 0)),
    body(shape: capsule(radius: 0.2, length: 0.6), density: 1, position: (0, 1, 0)),
    body(shape: hull(points: [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]), density: 1, position: (0, -1, 0)),
    body(shape: sphere(radius: 0.4), density: 1, position: (0, 0, 2)),
])";

#[test]
fn nothing_is_missed_whatever_bodies_are_stretched_to() {
    let scene = scene(ZOO);
    let mut probe = SurfaceProbe::new(&scene).unwrap();
    let (mut apart, mut meeting) = (0, 0);
    for round in 0..16 {
        let mut state = scene.initial_state();
        let spread = 0.6 + 0.22 * f64::from(round as u32);
        for (i, body) in (0..).zip(&mut state.bodies) {
            let seed = 1000 * round + 20 * i;
            body.position = noisy(seed) * spread;
            let turn = Quat::from_scaled_axis(noisy(seed + 3) * 3.0).to_rotation_matrix();
            let shear = Mat3::from_columns(&[6, 9, 12].map(|k| noisy(seed + k) * 0.3));
            body.frame = turn.into_inner() * (Mat3::identity() + shear);
        }
        let (meetings, least) = by_hand(&scene, &state);
        let found = (probe.meetings(&state), probe.distance_min_m(&state).unwrap());
        assert_eq!(found.0, meetings, "round {round}");
        assert!((found.1 - least).abs() <= 1e-12 * least, "round {round}: {found:?} {least}");
        apart += u32::from(meetings.intersections == 0);
        meeting += u32::from(meetings.intersections > 0);
    }
    assert!(apart >= 4 && meeting >= 4, "{apart} {meeting}");
}

const BOXES: &str = "(contacts: (margin: 0.01), bodies: [
    body(shape: box(size: (1, 1, 1)), density: 1),
    body(shape: box(size: (1, 1, 1)), density: 1, position: (0, 0, 1.25)),
])";

#[test]
fn touching_counts_and_apart_does_not() {
    let scene = scene(BOXES);
    let mut probe = SurfaceProbe::new(&scene).unwrap();
    let mut state = scene.initial_state();
    assert_eq!(probe.meetings(&state), SurfaceMeetings::default());
    assert_eq!(probe.distance_min_m(&state), Some(0.25));
    state.bodies[1].position.z = 1.0 + 2.0_f64.powi(-50);
    assert_eq!(probe.meetings(&state).bodies, 0);
    let least = probe.distance_min_m(&state).unwrap();
    assert!(least > 0.0 && least < 1e-14);
    state.bodies[1].position.z = 1.0;
    assert!(probe.meetings(&state).intersections > 0);
    assert_eq!(probe.meetings(&state).bodies, 2);
    assert_eq!(probe.distance_min_m(&state), Some(0.0));
    // The far corners meet: one point, five triangles or four at each.
    state.bodies[1].position = Vec3::repeat(1.0);
    assert!(probe.meetings(&state).intersections > 0);
    state.bodies[1].position = Vec3::repeat(1.0 + 2.0_f64.powi(-50));
    assert_eq!(probe.meetings(&state).intersections, 0);
    // The frame counts as it is: stretched by a quarter the upper box reaches down.
    state.bodies[1].position = Vec3::new(0.0, 0.0, 1.125);
    assert_eq!(probe.meetings(&state).intersections, 0);
    state.bodies[1].frame *= 1.25;
    assert!(probe.meetings(&state).intersections > 0);
    // What is not a number meets nothing.
    state.bodies[1].position.x = f64::NAN;
    assert_eq!(probe.meetings(&state).intersections, 0);
    assert_eq!(probe.distance_min_m(&state), None);
}

#[test]
fn half_spaces_are_met_by_corners() {
    let text = "(contacts: (margin: 0.01), bodies: [
        body(shape: half_space, motion: static),
        body(shape: box(size: (1, 1, 1)), density: 1, position: (0, 0, 0.75)),
        body(shape: sphere(radius: 1), density: 1, position: (9, 0, 5)),
    ])";
    let scene = scene(text);
    let mut probe = SurfaceProbe::new(&scene).unwrap();
    let mut state = scene.initial_state();
    assert_eq!(probe.distance_min_m(&state), Some(0.25));
    state.bodies[1].position.z = 0.5;
    // The lower face and the lower halves or corners of the others: all but the upper face.
    assert_eq!(probe.meetings(&state), SurfaceMeetings { intersections: 10, bodies: 2 });
    assert_eq!(probe.distance_min_m(&state), Some(0.0));
    state.bodies[1].position.z = -50.0;
    assert_eq!(probe.meetings(&state).intersections, 12);
}

#[test]
fn what_may_not_touch_does_not_count() {
    let overlapping = BOXES.replace("1.25", "0.5");
    let meet = |text: &str| {
        let scene = scene(text);
        let mut probe = SurfaceProbe::new(&scene).unwrap();
        let mut state = scene.initial_state();
        let whole = probe.meetings(&state).intersections > 0;
        let distance = probe.distance_min_m(&state);
        state.broken.fill(true);
        (whole, distance, probe.meetings(&state).intersections > 0)
    };
    assert_eq!(meet(&overlapping), (true, Some(0.0), true));
    let grouped = overlapping.replace("density: 1", "density: 1, group: 3");
    assert_eq!(meet(&grouped), (false, None, false));
    let fixed = overlapping.replace("density: 1", "motion: static");
    assert_eq!(meet(&fixed), (false, None, false));
    let named =
        overlapping.replace("body(shape", "body(name: \"b\", shape").replacen("\"b\"", "\"a\"", 1);
    let joint = "], joints: [ball(a: \"a\", b: \"b\", at: (0, 0, 0), break_force: 1)])";
    assert_eq!(meet(&named.replace("])", joint)), (false, None, true));
    assert!(SurfaceProbe::new(&Scene::default()).is_none());
}

#[test]
fn a_distance_is_found_however_far_bodies_are_apart() {
    let shapes = ["sphere(radius: 0.5)", "box(size: (1, 1, 1))"];
    for gap in [0.02, 1e4] {
        let rows: Vec<String> = (0..12)
            .map(|i| {
                let (shape, x) = (shapes[i % 2], (1.0 + gap * 1.5) * i as f64);
                format!("body(shape: {shape}, density: 1, position: ({x}, 0, 0)),")
            })
            .collect();
        let near = (1.0 + gap * 1.5) * 6.0;
        let last =
            format!("body(shape: {}, density: 1, position: ({near}, 0, {}))", shapes[1], 1.0 + gap);
        let text = format!("(contacts: (margin: 0.01), bodies: [{}{last}])", rows.concat());
        let scene = scene(&text);
        let mut probe = SurfaceProbe::new(&scene).unwrap();
        let state = scene.initial_state();
        let (_, least) = by_hand(&scene, &state);
        let found = probe.distance_min_m(&state).unwrap();
        assert!((found - least).abs() <= 1e-12 * least, "{found} {least}");
        assert!(found > 0.9 * gap);
    }
}

#[test]
fn meshes_are_met_as_they_are() {
    let rim = |z: f64| {
        [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)].map(|(x, y)| Vec3::new(x, y, z))
    };
    let vertices: Vec<Vec3> = rim(0.0).into();
    let mut scene = scene(BOXES);
    scene.bodies[0].shape = Shape::Mesh {
        vertices: vertices.into(),
        triangles: vec![[0, 1, 2], [0, 2, 3]].into(),
        control: None,
    };
    scene.bodies[0] = scene.bodies[0].clone().fixed();
    let mut probe = SurfaceProbe::new(&scene).unwrap();
    let mut state = scene.initial_state();
    assert_eq!(probe.distance_min_m(&state), Some(0.75));
    state.bodies[1].position.z = 0.25;
    assert!(probe.meetings(&state).intersections > 0);
    // A surface has no inside.
    state.bodies[1].position.z = -0.75;
    assert_eq!(probe.distance_min_m(&state), Some(0.25));
}
