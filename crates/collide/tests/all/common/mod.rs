//! Scenes and checks that several tests use.
#![allow(dead_code, reason = "each test binary uses its own part")]

use std::sync::Arc;

use taut_collide::{Contact, ContactList, ContactSet, Site};
use taut_core::{
    Placement, Quat, Scene, Vec3,
    scene::{Body, Contacts, Part, Shape},
};

/// A dynamic body of unit mass with a shape; its inertia plays no role here.
pub(crate) fn body(shape: Shape) -> Body {
    Body { shape, ..Body::solid_box(Vec3::repeat(1.0), 1.0) }
}

/// A scene with contacts: a margin of 1 cm, up to four points.
pub(crate) fn scene(bodies: Vec<Body>) -> Scene {
    Scene { bodies, contacts: Some(Contacts::default()), ..Scene::default() }
}

/// Where the bodies of a scene start.
pub(crate) fn placements(scene: &Scene) -> Vec<Placement> {
    scene
        .bodies
        .iter()
        .map(|b| Placement {
            position: b.position,
            rotation: b.rotation,
            velocity: b.velocity,
            omega: b.omega,
        })
        .collect()
}

/// Contacts at the start of a scene, within a sixtieth of a second.
pub(crate) fn contacts(scene: &Scene) -> ContactList {
    let mut collider = ContactSet::new(scene).unwrap();
    collider.detect(placements(scene), &vec![false; scene.joints.len()], 1.0 / 60.0).clone()
}

/// Contacts of two shapes, the first at the origin.
pub(crate) fn pair(a: Shape, b: Shape, position: Vec3, rotation: Quat) -> ContactList {
    let mut b = body(b).at(position);
    b.rotation = rotation;
    contacts(&scene(vec![body(a), b]))
}

/// Takes a contact for one of other bodies.
pub(crate) fn rename(contact: &mut Contact, owners: [u32; 2]) {
    let [a, b] = contact.anchors();
    contact.sites =
        [Site::Body { node: owners[0], anchor: a }, Site::Body { node: owners[1], anchor: b }];
}

/// World points of contact `i` on A and on B.
pub(crate) fn ends(list: &ContactList, i: usize, placements: &[Placement]) -> [Vec3; 2] {
    list.contacts[i].sites.map(|site| site.point(placements))
}

pub(crate) fn hull_of(points: &[[f64; 3]]) -> Shape {
    Shape::Hull { points: points.iter().map(|p| Vec3::from(*p)).collect() }
}

/// A double pyramid over a hexagon.
pub(crate) fn crystal() -> Shape {
    let ring = (0..6).map(|k| {
        let angle = f64::from(k) * std::f64::consts::FRAC_PI_3;
        [0.5 * angle.cos(), 0.5 * angle.sin(), 0.0]
    });
    let points: Vec<[f64; 3]> = ring.chain([[0.0, 0.0, 0.7], [0.0, 0.0, -0.6]]).collect();
    hull_of(&points)
}

/// A prism over a regular octagon, along z.
pub(crate) fn prism() -> Shape {
    let points: Vec<[f64; 3]> = (0..16)
        .map(|k| {
            let angle = f64::from(k / 2) * std::f64::consts::FRAC_PI_4;
            [0.5 * angle.cos(), 0.5 * angle.sin(), if k % 2 == 0 { 0.3 } else { -0.3 }]
        })
        .collect();
    hull_of(&points)
}

/// Two boxes that form an L.
pub(crate) fn angle_iron() -> Shape {
    let part = |half: [f64; 3], position: [f64; 3]| Part {
        shape: Shape::Box { half: half.into() },
        position: position.into(),
        rotation: Quat::identity(),
    };
    Shape::Compound {
        parts: Arc::new([
            part([0.5, 0.1, 0.1], [0.0, 0.0, -0.2]),
            part([0.1, 0.1, 0.3], [-0.4, 0.0, 0.2]),
        ]),
    }
}

/// A square of `n` by `n` cells of two triangles, level at z = 0 but for `height(x, y)`.
pub(crate) fn terrain(n: u32, cell: f64, height: impl Fn(f64, f64) -> f64) -> Shape {
    let at = |i: u32| (f64::from(i) - f64::from(n) / 2.0) * cell;
    let mut vertices = vec![];
    for j in 0..=n {
        for i in 0..=n {
            vertices.push(Vec3::new(at(i), at(j), height(at(i), at(j))));
        }
    }
    let mut triangles = vec![];
    for j in 0..n {
        for i in 0..n {
            let [a, b] = [j * (n + 1) + i, (j + 1) * (n + 1) + i];
            triangles.extend([[a, a + 1, b + 1], [a, b + 1, b]]);
        }
    }
    Shape::Mesh { vertices: vertices.into(), triangles: triangles.into(), control: None }
}

/// One of each convex shape, each about a metre large.
pub(crate) fn convex_shapes() -> Vec<Shape> {
    vec![
        Shape::Box { half: Vec3::new(0.5, 0.3, 0.4) },
        Shape::Sphere { radius: 0.4 },
        Shape::Capsule { radius: 0.25, half_length: 0.4 },
        Shape::Cylinder { radius: 0.35, half_length: 0.4 },
        crystal(),
        prism(),
    ]
}

/// Checks what must hold for every contact: finite numbers, a unit normal, a gap that is what it says,
/// manifolds that cover the list, and pairs in order.
pub(crate) fn check(list: &ContactList, placements: &[Placement]) {
    let mut next = 0;
    for manifold in &list.manifolds {
        assert_eq!(manifold.contacts.start, next, "manifolds follow each other");
        assert!(manifold.contacts.end > next, "and are not empty");
        next = manifold.contacts.end;
        for contact in &list.contacts[manifold.range()] {
            assert_eq!((contact.nodes(), contact.normal), (manifold.owners, manifold.normal));
        }
    }
    assert_eq!(next as usize, list.contacts.len());
    for (i, contact) in list.contacts.iter().enumerate() {
        let anchors = contact.anchors();
        let numbers = anchors.iter().flatten().chain(&contact.normal);
        assert!(numbers.chain([&contact.gap]).all(|x| x.is_finite()), "{contact:?}");
        assert!((contact.normal.norm() - 1.0).abs() < 1e-12, "{contact:?}");
        let [a, b] = ends(list, i, placements);
        let scale = 1.0 + anchors[0].norm() + anchors[1].norm();
        let gap = contact.normal.dot(&(a - b));
        assert!((gap - contact.gap).abs() < 1e-9 * scale, "{gap} {contact:?}");
        let same =
            |other: &&Contact| other.nodes() == contact.nodes() && other.feature == contact.feature;
        let alike: Vec<_> = list.contacts.iter().filter(same).collect();
        assert_eq!(alike.len(), 1, "features are unique: {alike:?}");
    }
    let key = |[a, b]: [u32; 2]| [a.min(b), a.max(b)];
    assert!(list.contacts.is_sorted_by_key(|c| key(c.nodes())));
}
