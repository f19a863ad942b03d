//! Boxes against an independent implementation of separating axes, and in the style of the 3D demo.

use crate::common::{check, contacts, ends, placements, scene};
use parry3d_f64::{
    math::{Pose, Rot3, Vector},
    query::sat,
    shape::Cuboid,
};
use proptest::prelude::*;
use taut_collide::{ContactList, ContactSet, NONE, Style};
use taut_core::{Placement, Quat, Scene, Vec3, scene::Body};

fn vector(range: f64) -> impl Strategy<Value = Vec3> {
    [-range..range, -range..range, -range..range].prop_map(Vec3::from)
}

/// Separation and normal, from B to A, of the best face and of the best pair of edges.
fn axes(size: &[Vec3; 2], places: &[Placement]) -> [(f64, Vec3); 2] {
    let [a, b] = [0, 1].map(|i| Cuboid::new(Vector::new(size[i].x, size[i].y, size[i].z) * 0.5));
    let [pose_a, pose_b] = [0, 1].map(|i| {
        let (p, q) = (places[i].position, places[i].rotation);
        Pose::from_parts(Vector::new(p.x, p.y, p.z), Rot3::from_xyzw(q.i, q.j, q.k, q.w))
    });
    let world = |pose: &Pose, local: Vector, sign: f64| {
        let n = pose.rotation * local * sign;
        Vec3::new(n.x, n.y, n.z)
    };
    let (ab, ba) = (pose_a.inv_mul(&pose_b), pose_b.inv_mul(&pose_a));
    let face_a = sat::cuboid_cuboid_find_local_separating_normal_oneway(&a, &b, &ab);
    let face_b = sat::cuboid_cuboid_find_local_separating_normal_oneway(&b, &a, &ba);
    let edges = sat::cuboid_cuboid_find_local_separating_edge_twoway(&a, &b, &ab);
    let face_a = (face_a.0, world(&pose_a, face_a.1, -1.0));
    let face_b = (face_b.0, world(&pose_b, face_b.1, 1.0));
    let face = if face_a.0 >= face_b.0 { face_a } else { face_b };
    [face, (edges.0, world(&pose_a, edges.1, -1.0))]
}

fn pair(size: &[Vec3; 2], at: Vec3, turn: &[Vec3; 2]) -> Scene {
    let solid = |i: usize, at: Vec3| {
        let mut body = Body::solid_box(size[i], 1.0).at(at);
        body.rotation = Quat::from_scaled_axis(turn[i]);
        body
    };
    let origin = Vec3::new(1.0, 2.0, -3.0);
    scene(vec![solid(0, origin), solid(1, origin + at)])
}

/// Distance of a point from the inside of a box [m].
fn outside(size: &Vec3, place: &Placement, point: &Vec3) -> f64 {
    let local = place.rotation.inverse() * (point - place.position);
    (local.abs() - size * 0.5).max()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn axes_agree_with_parry(
        size in [vector(0.7), vector(0.7)], at in vector(1.1), turn in [vector(2.0), vector(2.0)],
    ) {
        let size = size.map(|s| s.abs().add_scalar(0.3));
        let scene = pair(&size, at, &turn);
        let places = placements(&scene);
        let list = contacts(&scene);
        check(&list, &places);
        let [face, edge] = axes(&size, &places);
        if face.0.max(edge.0) > 0.01 {
            prop_assert!(list.contacts.is_empty());
            return Ok(());
        }
        let Some(contact) = list.contacts.first() else {
            // They pass each other within the margin, and it is their corners that are apart.
            prop_assert!(face.0 > 0.0);
            return Ok(());
        };
        let own = |expected: &(f64, Vec3)| (contact.normal - expected.1).norm() < 1e-9;
        if edge.0 > face.0 + 0.01 + 0.2 * face.0.abs() {
            prop_assert!(own(&edge), "{edge:?} {contact:?}");
            prop_assert!((contact.gap - edge.0).abs() < 1e-9, "{edge:?} {contact:?}");
        } else if edge.0 < face.0 {
            // Another face may be as good to a thousandth.
            let corner = list.contacts.iter().map(|c| c.gap).fold(f64::INFINITY, f64::min);
            prop_assert!(own(&face) || corner < face.0 + 2e-3 || face.0 > 0.0, "{face:?} {contact:?}");
            if own(&face) {
                prop_assert!(corner > face.0 - 1e-9);
            }
        }
        for i in 0..list.contacts.len() {
            let points = ends(&list, i, &places);
            let off = |k: usize, point: usize| outside(&size[k], &places[k], &points[point]);
            prop_assert!(off(0, 0).abs().max(off(1, 1).abs()) < 1e-6, "each on its own surface");
            // The incident point is in the reference box; deeper, it comes out on the far side.
            let gap = list.contacts[i].gap;
            let other = off(0, 1).min(off(1, 0));
            prop_assert!(other < gap.max(0.0) + 1e-6 || gap < -0.05, "{other}");
        }
    }

    /// The demo's style finds the same axes, by its own preference.
    #[test]
    fn the_demo_prefers_edges_by_its_rule(
        size in [vector(0.7), vector(0.7)], at in vector(0.9), turn in [vector(2.0), vector(2.0)],
    ) {
        let size = size.map(|s| s.abs().add_scalar(0.3));
        let scene = pair(&size, at, &turn);
        let places = placements(&scene);
        let [face, edge] = axes(&size, &places);
        let list = demo(&scene);
        prop_assert_eq!(list.contacts.is_empty(), face.0.max(edge.0) > 0.0);
        let Some(contact) = list.contacts.first() else { return Ok(()) };
        prop_assert_eq!(contact.nodes(), [1, 0]);
        let best = if 0.95 * edge.0 > face.0 + 0.01 { edge } else { face };
        prop_assert!((contact.normal + best.1).norm() < 1e-9);
        check(&list, &places);
    }
}

fn demo(scene: &Scene) -> ContactList {
    ContactSet::in_style(scene, Style::Demo3d)
        .unwrap()
        .detect(placements(scene), &[], 1.0 / 60.0)
        .clone()
}

/// Two unit cubes, the upper one turned about z.
fn stacked(height: f64, yaw: f64) -> Scene {
    pair(&[Vec3::repeat(1.0); 2], Vec3::z() * height, &[Vec3::zeros(), Vec3::z() * yaw])
}

#[test]
fn the_demo_touches_where_boxes_touch() {
    assert_eq!(demo(&stacked(1.0, 0.0)).contacts.len(), 4, "exactly touching");
    assert!(demo(&stacked(1.0 + 1e-6, 0.0)).contacts.is_empty());
    let mut fast = stacked(1.1, 0.0);
    fast.bodies[1].velocity.z = -100.0;
    assert!(demo(&fast).contacts.is_empty(), "nothing is looked at ahead of time");
    assert_eq!(contacts(&fast).contacts.len(), 4);
}

#[test]
fn the_demo_keeps_eight_points_and_merges_close_ones() {
    let octagon = demo(&stacked(0.99, std::f64::consts::FRAC_PI_4));
    assert_eq!(octagon.contacts.len(), 8);
    for contact in &octagon.contacts {
        assert_eq!(contact.normal, Vec3::z());
        assert!((contact.gap + 0.01).abs() < 1e-15);
    }
    // A turned square whose corners just leave the other one is cut into points that are 0.8 mm apart.
    let side = 2.0_f64.sqrt() * 0.5004;
    let turn = [Vec3::zeros(), Vec3::z() * std::f64::consts::FRAC_PI_4];
    let at = Vec3::z() * (0.49 + side / 2.0);
    let cut = pair(&[Vec3::repeat(1.0), Vec3::repeat(side)], at, &turn);
    assert_eq!(demo(&cut).contacts.len(), 4);
    assert_eq!(contacts(&stacked(0.99, std::f64::consts::FRAC_PI_4)).contacts.len(), 4);
}

#[test]
fn the_demo_knows_features_by_name_only() {
    let scene = stacked(0.99, 0.0);
    let mut collider = ContactSet::in_style(&scene, Style::Demo3d).unwrap();
    let mut places = placements(&scene);
    let first = collider.detect(places.iter().copied(), &[], 1.0 / 60.0).clone();
    assert!(first.contacts.iter().all(|c| c.previous == NONE));
    let second = collider.detect(places.iter().copied(), &[], 1.0 / 60.0);
    assert!((0..).zip(&second.contacts).all(|(i, c)| c.previous == i));
    // Through another face nothing is left of them, though some points stay in place.
    places[1].position = Vec3::new(0.99, 0.0, 0.0) + places[0].position;
    let third = collider.detect(places.iter().copied(), &[], 1.0 / 60.0);
    assert!(third.contacts.iter().all(|c| c.previous == NONE));
}

#[test]
fn springs_keep_bodies_apart_in_the_demo_only() {
    use taut_core::scene::{Endpoint, Spring, SpringKind};
    let mut scene = stacked(0.99, 0.0);
    scene.springs.push(Spring {
        name: String::new(),
        kind: SpringKind::Linear {
            anchor_a: Vec3::zeros(),
            anchor_b: Vec3::zeros(),
            rest_length: 1.0,
        },
        a: Endpoint::Body(1),
        b: Endpoint::Body(0),
        stiffness: 1.0,
        damping: 0.0,
    });
    assert!(demo(&scene).contacts.is_empty());
    assert_eq!(contacts(&scene).contacts.len(), 4);
}
