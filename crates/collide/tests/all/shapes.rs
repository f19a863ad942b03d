//! Contacts of simple shapes against closed forms.

use crate::common::{angle_iron, body, check, contacts, ends, pair, placements, scene, terrain};
use taut_collide::ContactList;
use taut_core::{
    Quat, Scene, Vec3,
    scene::{Body, Shape},
};

fn about(axis: Vec3, angle: f64) -> Quat {
    Quat::from_scaled_axis(axis * angle)
}

/// A shape over the level half-space.
fn over_ground(shape: Shape, height: f64, rotation: Quat) -> Scene {
    let mut body = body(shape).at(Vec3::z() * height);
    body.rotation = rotation;
    scene(vec![crate::common::body(Shape::HalfSpace).fixed(), body])
}

/// A shape over a box whose top is at z = 0.
fn over_box(shape: Shape, height: f64, rotation: Quat) -> Scene {
    let mut scene = over_ground(shape, height, rotation);
    let ground = Body::solid_box(Vec3::new(8.0, 8.0, 1.0), 1.0).fixed();
    scene.bodies[0] = ground.at(Vec3::z() * -0.5);
    scene
}

fn only(list: &ContactList) -> &taut_collide::Contact {
    assert_eq!(list.contacts.len(), 1);
    &list.contacts[0]
}

#[test]
fn spheres() {
    let (a, b) = (Shape::Sphere { radius: 0.5 }, Shape::Sphere { radius: 0.25 });
    for at in [Vec3::new(0.3, -0.6, 0.2), Vec3::new(0.1, 0.0, 0.0), Vec3::new(1e-9, 0.0, 0.0)] {
        let list = pair(a.clone(), b.clone(), at, about(Vec3::x(), 1.0));
        let contact = only(&list);
        let normal = -at.normalize();
        assert!((contact.normal - normal).norm() < 1e-15);
        assert!((contact.gap - (at.norm() - 0.75)).abs() < 1e-15);
        assert!((contact.anchors()[0] + normal * 0.5).norm() < 1e-15);
    }
    assert!(pair(a, b, Vec3::x() * 0.761, Quat::identity()).contacts.is_empty());
}

#[test]
fn a_sphere_on_a_plane_and_in_it() {
    for height in [0.509, 0.5, 0.3, 0.0, -0.2] {
        let scene = over_ground(Shape::Sphere { radius: 0.5 }, height, about(Vec3::y(), 0.4));
        let list = contacts(&scene);
        assert!((only(&list).gap - (height - 0.5)).abs() < 1e-15);
        let [a, b] = ends(&list, 0, &placements(&scene));
        assert!(a.norm() < 1e-15 && (b - Vec3::z() * (height - 0.5)).norm() < 1e-15);
    }
}

/// Beside a face, an edge and a corner of a box, and inside it.
#[test]
fn a_sphere_and_a_box() {
    let half = Vec3::new(1.0, 0.5, 0.25);
    let radius = 0.3;
    let cases = [
        (Vec3::new(0.2, 0.1, 0.5), Vec3::new(0.2, 0.1, 0.25)),
        (Vec3::new(1.2, 0.1, 0.4), Vec3::new(1.0, 0.1, 0.25)),
        (Vec3::new(-1.1, -0.6, -0.4), -half),
    ];
    for (at, nearest) in cases {
        let list = pair(Shape::Box { half }, Shape::Sphere { radius }, at, about(Vec3::z(), 0.7));
        let contact = only(&list);
        assert!((contact.anchors()[0] - nearest).norm() < 1e-15);
        assert!((contact.normal + (at - nearest).normalize()).norm() < 1e-14);
        assert!((contact.gap - ((at - nearest).norm() - radius)).abs() < 1e-15);
    }
    // Inside, through the nearest face.
    let list = pair(
        Shape::Box { half },
        Shape::Sphere { radius },
        Vec3::new(0.3, 0.2, -0.1),
        about(Vec3::z(), 0.7),
    );
    let contact = only(&list);
    assert!((contact.normal - Vec3::z()).norm() < 1e-15);
    assert!((contact.gap + 0.15 + radius).abs() < 1e-15);
}

/// A cylinder on its side touches along a line, on its end with at least three points around the axis,
/// leaning on its rim with the lowest point of it.
#[test]
fn a_cylinder_on_the_ground() {
    let (radius, half_length) = (0.4, 0.7);
    let cylinder = Shape::Cylinder { radius, half_length };
    let down = about(Vec3::x(), std::f64::consts::FRAC_PI_2);
    for ground in [over_ground, over_box] {
        for roll in [0.0, 0.1, 1.0, 2.7] {
            let turn = about(Vec3::z(), 0.3) * down * about(Vec3::z(), roll);
            let scene = ground(cylinder.clone(), radius - 1e-3, turn);
            let (list, places) = (contacts(&scene), placements(&scene));
            check(&list, &places);
            assert_eq!(list.contacts.len(), 2, "a line has two ends");
            let [p, q] = [0, 1].map(|i| ends(&list, i, &places)[1]);
            let along = about(Vec3::z(), 0.3) * -Vec3::y();
            assert!(((p - q).cross(&along)).norm() < 1e-9, "along the axis");
            assert!(((p - q).norm() - 2.0 * half_length).abs() < 1e-9);
            assert!(list.contacts.iter().all(|c| (c.gap + 1e-3).abs() < 1e-12));
        }
        for yaw in [0.0, 0.2, 1.3] {
            let scene = ground(cylinder.clone(), half_length, about(Vec3::z(), yaw));
            let list = contacts(&scene);
            check(&list, &placements(&scene));
            assert_eq!(list.contacts.len(), 4);
            let middle: Vec3 = list.contacts.iter().map(|c| c.anchors()[1]).sum::<Vec3>() * 0.25;
            assert!(middle.xy().norm() < 1e-9, "they hold the axis upright");
            for contact in &list.contacts {
                assert!((contact.anchors()[1].xy().norm() - radius).abs() < 1e-12);
                assert!(contact.gap.abs() < 1e-12);
            }
        }
        for lean in [0.01_f64, 0.2, 0.7, 1.2] {
            let height = half_length * lean.cos() + radius * lean.sin() - 1e-3;
            let scene = ground(cylinder.clone(), height, about(Vec3::x(), lean));
            let list = contacts(&scene);
            check(&list, &placements(&scene));
            let least = list.contacts.iter().map(|c| c.gap).fold(f64::INFINITY, f64::min);
            assert!((least + 1e-3).abs() < 1e-9, "{lean}: {least}");
        }
    }
}

/// A log that rolls keeps its two contacts, and its normal does not shake.
#[test]
fn a_cylinder_rolls_without_flicker() {
    let cylinder = Shape::Cylinder { radius: 0.4, half_length: 0.7 };
    let log = || body(cylinder.clone());
    for step in 0..200 {
        let turn = about(Vec3::x(), std::f64::consts::FRAC_PI_2)
            * about(Vec3::z(), 0.05 * f64::from(step));
        let mut scene = over_box(cylinder.clone(), 0.399, turn);
        assert_eq!(contacts(&scene).contacts.len(), 2);
        // On another log, parallel to it.
        scene.bodies[0] = log().fixed().at(Vec3::z() * -0.4);
        scene.bodies[0].rotation = about(Vec3::x(), std::f64::consts::FRAC_PI_2);
        let list = contacts(&scene);
        assert_eq!(list.contacts.len(), 2, "step {step}");
        assert!((list.contacts[0].normal + Vec3::z()).norm() < 1e-4, "{:?}", list.contacts[0]);
        // Across it, at one point.
        scene.bodies[0].rotation = about(Vec3::y(), std::f64::consts::FRAC_PI_2);
        let list = contacts(&scene);
        assert!((only(&list).gap + 1e-3).abs() < 1e-6);
        assert!((only(&list).normal + Vec3::z()).norm() < 1e-4);
    }
}

/// Where surfaces touch to rounding there is no direction between the closest points, and no face of
/// either that would do.
#[test]
fn a_disc_that_leans_on_a_log_barely_touches_it() {
    let (log, disc) = ([3.0, 15.0], [0.5, 0.1]);
    let cylinder = |[radius, half_length]: [f64; 2]| Shape::Cylinder { radius, half_length };
    for i in 0..40 {
        let tilt = about(Vec3::new(0.3, 1.0, 0.2), 0.1 + 0.035 * f64::from(i));
        // From its middle to the point of the disc that is lowest along x.
        let axis = tilt * Vec3::z();
        let across = axis * axis.x - Vec3::x();
        let lowest = across.normalize() * disc[0] - axis * disc[1].copysign(axis.x);
        for gap in [-1e-6, -1e-8, -1e-9, -1e-12, 0.0, 1e-12, 1e-9, 1e-8, 1e-6] {
            let at = Vec3::new(log[0] + gap, 0.0, 4.0) - lowest;
            let list = pair(cylinder(log), cylinder(disc), at, tilt);
            let found = only(&list);
            assert!((found.gap - gap).abs() < 1e-6, "tilt {i}, gap {gap:e}: {:e}", found.gap);
            assert!((found.normal + Vec3::x()).norm() < 1e-3, "tilt {i}: {}", found.normal);
        }
    }
}

#[test]
fn capsules() {
    let capsule = Shape::Capsule { radius: 0.25, half_length: 0.5 };
    let down = about(Vec3::y(), std::f64::consts::FRAC_PI_2);
    for ground in [over_ground, over_box] {
        let lying = contacts(&ground(capsule.clone(), 0.25, down));
        assert_eq!(lying.contacts.len(), 2);
        for contact in &lying.contacts {
            assert!(contact.gap.abs() < 1e-12);
            assert!((contact.anchors()[1].z.abs() - 0.5).abs() < 1e-9);
        }
        let upright = contacts(&ground(capsule.clone(), 0.75, Quat::identity()));
        assert!(only(&upright).gap.abs() < 1e-12);
        assert!((only(&upright).anchors()[1] + Vec3::z() * 0.75).norm() < 1e-9);
    }
    // Side by side, shifted: the shared part of the axes is half a metre long.
    let list = pair(capsule.clone(), capsule.clone(), Vec3::new(0.45, 0.0, 0.5), Quat::identity());
    assert_eq!(list.contacts.len(), 2);
    assert!(list.contacts.iter().all(|c| (c.gap + 0.05).abs() < 1e-15));
    let [p, q] = [&list.contacts[0], &list.contacts[1]].map(|c| c.anchors()[0].z);
    assert!((p.min(q), p.max(q)) == (0.0, 0.5));
    // Crossed, touching at one point; and with axes that meet.
    let crossed = pair(capsule.clone(), capsule.clone(), Vec3::new(0.0, 0.4, 0.0), down);
    assert!((only(&crossed).gap + 0.1).abs() < 1e-15);
    let meeting = pair(capsule.clone(), capsule, Vec3::zeros(), down);
    assert!((only(&meeting).gap + 0.5).abs() < 1e-15);
    assert!((only(&meeting).normal.y.abs() - 1.0).abs() < 1e-15);
}

/// Edge on edge, a box rests on one point; on the corner of a hull likewise.
#[test]
fn boxes_cross_at_their_edges() {
    let cube = Body::solid_box(Vec3::repeat(1.0), 1.0);
    let (mut lower, mut upper) = (cube.clone().fixed(), cube);
    lower.rotation = about(Vec3::x(), std::f64::consts::FRAC_PI_4);
    upper.rotation = about(Vec3::y(), std::f64::consts::FRAC_PI_4);
    let reach = 0.5_f64.sqrt();
    for gap in [0.005, 0.0, -0.02, -0.1] {
        upper.position = Vec3::z() * (2.0 * reach + gap);
        let scene = scene(vec![lower.clone(), upper.clone()]);
        let list = contacts(&scene);
        assert!((only(&list).normal + Vec3::z()).norm() < 1e-12);
        assert!((only(&list).gap - gap).abs() < 1e-12);
        assert!((ends(&list, 0, &placements(&scene))[0] - Vec3::z() * reach).norm() < 1e-9);
    }
}

/// Deep inside each other, boxes part by the nearest faces with a whole patch, not by an edge.
#[test]
fn deep_boxes_part_by_faces() {
    for depth in [0.1, 0.3, 0.45] {
        for yaw in [0.0, 0.1, 0.4, 0.7] {
            let tilt = about(Vec3::new(1.0, 0.4, 0.0), 0.05) * about(Vec3::z(), yaw);
            let list = pair(
                Shape::Box { half: Vec3::repeat(0.5) },
                Shape::Box { half: Vec3::repeat(0.5) },
                Vec3::new(0.02, 0.03, 1.0 - depth),
                tilt,
            );
            assert_eq!(list.contacts.len(), 4, "{depth} {yaw}");
            assert!(list.contacts[0].normal.z < -0.99);
        }
    }
}

/// Two boxes that form an L stand on both; the flat sides of its parts are one patch.
#[test]
fn a_compound_stands_on_all_its_parts() {
    let scene = over_ground(angle_iron(), 0.2999, Quat::identity());
    let list = contacts(&scene);
    check(&list, &placements(&scene));
    assert_eq!((list.manifolds.len(), list.contacts.len()), (1, 4));
    // On its back, the side of the long part and of the short one are level.
    let scene = over_ground(angle_iron(), 0.0999, about(Vec3::x(), std::f64::consts::FRAC_PI_2));
    let list = contacts(&scene);
    assert_eq!((list.manifolds.len(), list.contacts.len()), (1, 4));
    let reach = |f: fn(&Vec3) -> f64| {
        let along = list.contacts.iter().map(|c| f(&c.anchors()[1]));
        along.clone().fold(f64::NEG_INFINITY, f64::max) - along.fold(f64::INFINITY, f64::min)
    };
    assert!((reach(|p| p.x) - 1.0).abs() < 1e-9 && (reach(|p| p.z) - 0.8).abs() < 1e-9);
}

/// In a corner of two walls there are two patches with two normals.
#[test]
fn a_corner_gives_two_patches() {
    let part = |position: Vec3| taut_core::scene::Part {
        shape: Shape::Box { half: Vec3::repeat(2.0) },
        position,
        rotation: Quat::identity(),
    };
    let corner = Shape::Compound { parts: [part(-2.0 * Vec3::x()), part(-2.0 * Vec3::z())].into() };
    let cube = Body::solid_box(Vec3::repeat(1.0), 1.0).at(Vec3::new(0.499, 0.0, 0.499));
    let scene = scene(vec![body(corner).fixed(), cube]);
    let list = contacts(&scene);
    check(&list, &placements(&scene));
    assert_eq!((list.manifolds.len(), list.contacts.len()), (2, 8));
    assert!((list.manifolds[0].normal + Vec3::x()).norm() < 1e-12);
    assert!((list.manifolds[1].normal + Vec3::z()).norm() < 1e-12);
}

/// On level triangles nothing feels where one ends and the next begins.
#[test]
fn level_meshes_are_planes() {
    let shapes = [
        Shape::Box { half: Vec3::new(0.5, 0.3, 0.4) },
        Shape::Sphere { radius: 0.4 },
        Shape::Capsule { radius: 0.25, half_length: 0.15 },
        Shape::Cylinder { radius: 0.35, half_length: 0.4 },
    ];
    for shape in &shapes {
        for step in 0..60 {
            let at = Vec3::new(0.013, 0.017, 0.0) * f64::from(step) + Vec3::z() * 0.399;
            let mut scene =
                over_ground(shape.clone(), 0.0, about(Vec3::z(), 0.02 * f64::from(step)));
            scene.bodies[1].position = at;
            let on_plane = contacts(&scene);
            scene.bodies[0].shape = terrain(9, 0.4, |_, _| 0.0);
            let on_mesh = contacts(&scene);
            check(&on_mesh, &placements(&scene));
            assert_eq!(on_mesh.manifolds.len(), 1, "{shape:?} at step {step}: {on_mesh:?}");
            assert!((on_mesh.manifolds[0].normal + Vec3::z()).norm() < 1e-12);
            let least = |list: &ContactList| {
                list.contacts.iter().map(|c| c.gap).fold(f64::INFINITY, f64::min)
            };
            assert!((least(&on_mesh) - least(&on_plane)).abs() < 1e-12);
            assert!(on_mesh.contacts.len() >= on_plane.contacts.len().min(4));
        }
    }
}

/// A ball that rolls down a valley and up again touches the surface along its normals only.
#[test]
fn bent_meshes_have_no_ghosts() {
    let (cell, radius) = (0.5, 0.3);
    let height = |x: f64, _: f64| x.abs() * 0.5;
    for step in 0..80 {
        let x = 0.02 * f64::from(step) - 0.8 + 0.003;
        // Above the flank on which it is, touching it.
        let slope = 0.5_f64.atan();
        let z = x.abs() * 0.5 + (radius - 1e-4) / slope.cos();
        let mut scene = over_ground(Shape::Sphere { radius }, z, Quat::identity());
        scene.bodies[1].position.x = x;
        scene.bodies[1].position.y = 0.1;
        scene.bodies[0].shape = terrain(8, cell, height);
        let list = contacts(&scene);
        check(&list, &placements(&scene));
        assert!(!list.contacts.is_empty());
        for manifold in &list.manifolds {
            let flank = |sign: f64| Vec3::new(-0.5 * sign, 0.0, 1.0).normalize();
            let off = [1.0, -1.0].map(|sign| (manifold.normal + flank(sign)).norm());
            assert!(off[0].min(off[1]) < 1e-9, "{:?} at {x}", manifold.normal);
        }
    }
    // Over a ridge it may lean to either side, as far as the ridge bends.
    let mut scene = over_ground(Shape::Sphere { radius }, radius - 1e-4, Quat::identity());
    scene.bodies[0].shape = terrain(8, cell, |x, _| -x.abs() * 0.5);
    let list = contacts(&scene);
    assert!((only(&list).normal + Vec3::z()).norm() < 1e-6);
}

/// From below a surface does not push, and it pushes up what has sunk in.
#[test]
fn meshes_push_from_their_front() {
    for (z, touches) in [(0.2, true), (0.0, true), (-0.2, true), (-0.5, false)] {
        for shape in [Shape::Sphere { radius: 0.4 }, Shape::Box { half: Vec3::repeat(0.4) }] {
            let mut scene = over_ground(shape, z, Quat::identity());
            scene.bodies[0].shape = terrain(4, 1.0, |_, _| 0.0);
            let list = contacts(&scene);
            assert_eq!(!list.contacts.is_empty(), touches, "{z}");
            assert!(list.contacts.iter().all(|c| (c.normal + Vec3::z()).norm() < 1e-12));
        }
    }
}
