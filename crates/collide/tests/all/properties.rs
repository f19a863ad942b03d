//! What holds for the contacts of any two shapes anywhere.

use crate::common::{
    angle_iron, body, check, contacts, convex_shapes, ends, placements, scene, terrain,
};
use parry3d_f64::{
    math::{Pose, Rot3, Vector},
    query,
    shape::{ConvexPolyhedron, SharedShape},
};
use proptest::prelude::*;
use taut_core::{
    Placement, Quat, Vec3,
    scene::{Contacts, Shape},
};

/// Accuracy of closest points on curved surfaces [m].
const CURVED: f64 = 1e-5;

fn vector(range: f64) -> impl Strategy<Value = Vec3> {
    [-range..range, -range..range, -range..range].prop_map(Vec3::from)
}

fn rotation() -> impl Strategy<Value = Quat> {
    vector(3.0).prop_map(Quat::from_scaled_axis)
}

/// All kinds of shapes that can be dynamic.
fn shapes() -> Vec<Shape> {
    let mut shapes = convex_shapes();
    shapes.push(angle_iron());
    shapes
}

fn parry(shape: &Shape) -> SharedShape {
    let vector = |v: &Vec3| Vector::new(v.x, v.y, v.z);
    match shape {
        Shape::Box { half } => SharedShape::cuboid(half.x, half.y, half.z),
        Shape::Sphere { radius } => SharedShape::ball(*radius),
        Shape::Capsule { radius, half_length } => SharedShape::capsule_z(*half_length, *radius),
        Shape::Hull { points } => {
            let points: Vec<Vector> = points.iter().map(vector).collect();
            SharedShape::new(ConvexPolyhedron::from_convex_hull(&points).unwrap())
        }
        Shape::Cylinder { radius, half_length } => {
            let upright = Rot3::from_rotation_x(std::f64::consts::FRAC_PI_2);
            let place = Pose::from_parts(Vector::ZERO, upright);
            SharedShape::compound(vec![(place, SharedShape::cylinder(*half_length, *radius))])
        }
        _ => unreachable!("not compared"),
    }
}

fn pose(placement: &Placement) -> Pose {
    let (p, q) = (placement.position, placement.rotation);
    Pose::from_parts(Vector::new(p.x, p.y, p.z), Rot3::from_xyzw(q.i, q.j, q.k, q.w))
}

/// Distance of a world point from the surface of a shape [m].
fn off_surface(shape: &Shape, placement: &Placement, point: &Vec3) -> f64 {
    let local = placement.rotation.inverse() * (point - placement.position);
    let outside = |d: Vec3| d.sup(&Vec3::zeros()).norm() + d.max().min(0.0);
    match shape {
        Shape::Box { half } => outside(local.abs() - half),
        Shape::Sphere { radius } => local.norm() - radius,
        Shape::Capsule { radius, half_length } => {
            let on = local.z.clamp(-half_length, *half_length);
            (local - Vec3::z() * on).norm() - radius
        }
        Shape::Cylinder { radius, half_length } => {
            let across = local.x.hypot(local.y) - radius;
            outside(Vec3::new(across, local.z.abs() - half_length, f64::NEG_INFINITY))
        }
        Shape::Compound { parts } => parts
            .iter()
            .map(|part| {
                let place = Placement {
                    position: part.position,
                    rotation: part.rotation,
                    velocity: Vec3::zeros(),
                    omega: Vec3::zeros(),
                };
                off_surface(&part.shape, &place, &local)
            })
            .min_by(|a, b| a.abs().total_cmp(&b.abs()))
            .unwrap(),
        Shape::Hull { .. } => {
            let hull = parry(shape);
            let hull = hull.as_convex_polyhedron().unwrap();
            let local = Vector::new(local.x, local.y, local.z);
            let heights = hull.faces().iter().map(|face| {
                let first = hull.vertices_adj_to_face()[face.first_vertex_or_edge as usize];
                face.normal.dot(local - hull.points()[first as usize])
            });
            heights.fold(f64::NEG_INFINITY, f64::max)
        }
        Shape::HalfSpace => local.z,
        Shape::Mesh { .. } => 0.0,
    }
}

fn placed(shape: Shape, position: Vec3, rotation: Quat) -> taut_core::scene::Body {
    let mut body = body(shape).at(position);
    body.rotation = rotation;
    body
}

/// Without reduction, which takes points for equally deep that are so to a thousandth of the size.
fn all_points() -> Option<Contacts> {
    Some(Contacts { points_max: 99, ..Contacts::default() })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn contacts_are_what_they_say(
        i in 0..7_usize, j in 0..7_usize, at in vector(1.2), turn in [rotation(), rotation()],
    ) {
        let shapes = [&shapes()[i], &shapes()[j]];
        let scene = scene(vec![
            placed(shapes[0].clone(), Vec3::new(3.0, -2.0, 1.0), turn[0]),
            placed(shapes[1].clone(), Vec3::new(3.0, -2.0, 1.0) + at, turn[1]),
        ]);
        let (list, places) = (contacts(&scene), placements(&scene));
        check(&list, &places);
        for (k, contact) in list.contacts.iter().enumerate() {
            prop_assert!(contact.gap <= 0.01);
            for (side, point) in ends(&list, k, &places).iter().enumerate() {
                let off = off_surface(shapes[side], &places[side], point).abs();
                prop_assert!(off < CURVED, "{off} from the surface of {side}: {contact:?}");
            }
        }
    }

    /// Closest distance and depth as an independent implementation has them, without cylinders: its depths
    /// of curved shapes are those of facets.
    #[test]
    fn depths_agree_with_parry(
        i in 0..5_usize, j in 0..5_usize, at in vector(1.0), turn in [rotation(), rotation()],
    ) {
        let mut shapes = convex_shapes();
        shapes.remove(3);
        let shapes = [&shapes[i], &shapes[j]];
        let mut scene = scene(vec![
            placed(shapes[0].clone(), Vec3::zeros(), turn[0]),
            placed(shapes[1].clone(), at, turn[1]),
        ]);
        scene.contacts = all_points();
        let (list, places) = (contacts(&scene), placements(&scene));
        let [a, b] = [0, 1].map(|k| parry(shapes[k]));
        let found = query::contact(&pose(&places[0]), &*a, &pose(&places[1]), &*b, 0.1);
        let expected = found.unwrap().map_or(f64::INFINITY, |c| c.dist);
        let least = list.contacts.iter().map(|c| c.gap).fold(f64::INFINITY, f64::min);
        if least == f64::INFINITY {
            prop_assert!(expected > 0.01 - 1e-9, "{expected}");
        } else if expected > 0.01 {
            // Faces are preferred by a share of the size, so a little too early is in order.
            prop_assert!(expected < 0.02, "{expected}");
        } else {
            // Less deep than the least depth cannot be, of solids but for the share of their size by which faces
            // are preferred, and of their depth that is not added to them; deeper by that and by where the search
            // for the depth gives up.
            let is_round = |shape: &Shape| matches!(shape, Shape::Sphere { .. } | Shape::Capsule { .. });
            let round = shapes.iter().any(|shape| is_round(shape));
            let most = if round { 1e-4 } else { 0.02 * expected.abs() + 0.002 * expected.abs().max(0.6) };
            prop_assert!(least < expected + most, "{expected} {least}");
            prop_assert!(least > expected - 0.012 - 0.12 * expected.abs(), "{expected} {least}");
        }
    }

    /// No direction makes cylinders part sooner than that of their contact, but for the share of the
    /// size by which faces are preferred, and contacts are as deep as that direction says.
    #[test]
    fn cylinders_part_along_the_normal(
        i in 0..6_usize, at in vector(0.5), turn in [rotation(), rotation()], tries in prop::collection::vec(vector(1.0), 200),
    ) {
        let shapes = [&convex_shapes()[3], &convex_shapes()[i]];
        let mut scene = scene(vec![
            placed(shapes[0].clone(), Vec3::zeros(), turn[0]),
            placed(shapes[1].clone(), at, turn[1]),
        ]);
        scene.contacts = all_points();
        let list = contacts(&scene);
        let depth = |n: &Vec3| {
            let reach = |shape: &Shape, turn: &Quat, n: Vec3| shape.support(&(turn.inverse() * n));
            n.dot(&at) + reach(shapes[0], &turn[0], -n) + reach(shapes[1], &turn[1], *n)
        };
        // A random search that narrows down.
        let mut best = (depth(&Vec3::z()), Vec3::z());
        for (k, step) in tries.iter().enumerate() {
            let n = (best.1 + step * 10.0_f64.powf(-(k as f64) / 40.0)).normalize();
            best = if depth(&n) < best.0 { (depth(&n), n) } else { best };
        }
        let least = list.contacts.iter().map(|c| c.gap).fold(f64::INFINITY, f64::min);
        let Some(contact) = list.contacts.first() else { return Ok(()) };
        let own = depth(&contact.normal);
        let preferred = 0.002 * own + 0.0013;
        if own > 0.0 {
            prop_assert!(own < best.0 * 1.002 + 0.0013, "{own} {best:?}");
        }
        // Deeper inside, the deepest point may be beside the face that it is measured from.
        if own > 0.0 && own < 0.05 {
            prop_assert!(-least < own + 1e-6, "{own} {least}");
            prop_assert!(-least > 0.97 * own - preferred, "{own} {least}");
        }
    }

    /// A half-space is the limit of a large box below it.
    #[test]
    fn half_spaces_agree_with_supports(i in 0..7_usize, height in -0.3..1.0, turn in rotation()) {
        let shape = shapes()[i].clone();
        let mut plane = body(Shape::HalfSpace).fixed();
        plane.rotation = Quat::from_scaled_axis(Vec3::new(0.3, -0.2, 0.1));
        let up = plane.rotation * Vec3::z();
        let mut scene = scene(vec![plane, placed(shape.clone(), up * height, turn)]);
        scene.contacts = all_points();
        let list = contacts(&scene);
        check(&list, &placements(&scene));
        let lowest: f64 = height - shape.support(&(turn.inverse() * -up));
        let least = list.contacts.iter().map(|c| c.gap).fold(f64::INFINITY, f64::min);
        if lowest < 0.01 {
            prop_assert!((least - lowest).abs() < 1e-12, "{least} {lowest}");
            prop_assert!(list.contacts.iter().all(|c| (c.normal + up).norm() < 1e-15));
        } else {
            prop_assert!(list.contacts.is_empty());
        }
    }
}

/// Bodies inside each other, in one place, and touching to rounding: always an answer.
#[test]
fn degenerate_pairs_have_finite_answers() {
    let mut all = shapes();
    all.push(Shape::HalfSpace);
    all.push(terrain(4, 0.5, |x, y| 0.1 * x * y));
    let offsets = [0.0, 1e-300, 1e-16, 1e-12, 1e-9, 1e-6, 0.1];
    let turns = [
        Quat::identity(),
        Quat::from_scaled_axis(Vec3::new(0.0, 0.0, std::f64::consts::FRAC_PI_2)),
        Quat::from_scaled_axis(Vec3::new(1e-9, 1e-8, 0.0)),
        Quat::from_scaled_axis(Vec3::new(0.5, 0.2, -0.7)),
    ];
    let mut empty = vec![];
    for (i, a) in all.iter().enumerate() {
        for (j, b) in shapes().iter().enumerate() {
            for offset in offsets {
                for turn in turns {
                    for along in [Vec3::x(), Vec3::z(), Vec3::new(1.0, 1.0, 1.0)] {
                        let mut first = body(a.clone());
                        if i >= 7 {
                            first = first.fixed();
                        }
                        let scene = scene(vec![first, placed(b.clone(), along * offset, turn)]);
                        let list = contacts(&scene);
                        check(&list, &placements(&scene));
                        if list.contacts.is_empty() {
                            empty.push((i, j, offset, along));
                        }
                    }
                }
            }
        }
    }
    assert!(
        empty.is_empty(),
        "overlap without contact: {} {:?}",
        empty.len(),
        &empty[..empty.len().min(9)]
    );
}

/// Faces and corners of equal size that touch, overlap and miss by rounding.
#[test]
fn aligned_shapes_touch_to_rounding() {
    for shape in [
        Shape::Box { half: Vec3::repeat(0.5) },
        crate::common::hull_of(&[
            [0.5, 0.5, 0.5],
            [-0.5, 0.5, 0.5],
            [0.5, -0.5, 0.5],
            [-0.5, -0.5, 0.5],
            [0.5, 0.5, -0.5],
            [-0.5, 0.5, -0.5],
            [0.5, -0.5, -0.5],
            [-0.5, -0.5, -0.5],
        ]),
    ] {
        let cube = Shape::Box { half: Vec3::repeat(0.5) };
        for gap in [-1e-3, -1e-9, -1e-15, 0.0, 1e-15, 1e-9, 1e-3] {
            let scene = scene(vec![
                body(cube.clone()),
                placed(shape.clone(), Vec3::new(0.0, 0.0, 1.0 + gap), Quat::identity()),
            ]);
            let list = contacts(&scene);
            check(&list, &placements(&scene));
            assert_eq!(list.contacts.len(), 4, "{gap}");
            for contact in &list.contacts {
                assert!((contact.normal + Vec3::z()).norm() < 1e-12);
                assert!((contact.gap - gap).abs() < 1e-12);
                assert!((contact.anchors()[0].abs() - Vec3::repeat(0.5)).norm() < 1e-6);
            }
        }
    }
}

/// A solver that diverged must not take the query down with it.
#[test]
fn bodies_that_are_lost_touch_nothing() {
    for lost in [f64::NAN, f64::INFINITY, 1e300, 1e20] {
        let mut bodies: Vec<_> = shapes().into_iter().map(body).collect();
        bodies.push(body(Shape::HalfSpace).fixed());
        let scene = scene(bodies);
        let mut places = placements(&scene);
        for place in &mut places[2..5] {
            place.position = Vec3::new(0.0, lost, 0.0);
        }
        places[0].velocity.x = lost;
        places[1].omega.z = lost;
        let mut collider = taut_collide::ContactSet::new(&scene).unwrap();
        for _ in 0..3 {
            check(collider.detect(places.iter().copied(), &[], 1.0 / 60.0), &places);
        }
    }
}

/// A cylinder nearly on its side, whose lowest line passes the edge of a box and whose end reaches in deeper.
#[test]
fn the_rim_of_a_cylinder_counts_beside_its_side() {
    let quaternion = |v: [f64; 4]| {
        let mut q = Quat::identity().into_inner();
        q.coords = v.into();
        Quat::new_normalize(q)
    };
    let [cylinder, slab] = [&convex_shapes()[3], &convex_shapes()[0]];
    let turn_a = quaternion([0.63868149707, -0.41913381040, -0.47852265484, -0.43293055226]);
    let turn_b = quaternion([0.80880921422, -0.57316121827, 0.07231071140, -0.10993195117]);
    let at = Vec3::new(0.4884993753, 0.2605809987, 0.4944023475);
    let list = contacts(&scene(vec![
        placed(cylinder.clone(), Vec3::zeros(), turn_a),
        placed(slab.clone(), at, turn_b),
    ]));
    let least = list.contacts.iter().map(|c| c.gap).fold(f64::INFINITY, f64::min);
    // The least translation that parts them, by a search over 400,000 directions.
    assert!((least + 0.00629).abs() < 1e-5, "{least}");
}
