//! The query as a whole: which pairs, in which order, on any number of threads and after any history.

use crate::common::{body, check, contacts, convex_shapes, placements, rename, scene};
use taut_collide::{ContactList, ContactSet, NONE};
use taut_core::{
    Placement, Quat, Scene, Vec3,
    scene::{Body, Endpoint, Joint, JointKind, Shape},
};

const DT: f64 = 1.0 / 60.0;

/// Reproducible numbers in [0, 1).
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn vector(&mut self) -> Vec3 {
        Vec3::new(self.next(), self.next(), self.next()) * 2.0 - Vec3::repeat(1.0)
    }

    fn rotation(&mut self) -> Quat {
        Quat::from_scaled_axis(self.vector() * 3.0)
    }
}

/// Bodies of all convex shapes and of very different sizes in a heap, on a half-space, with a large box.
fn heap(count: usize, seed: u64) -> Scene {
    let mut random = Random(seed);
    let shapes = convex_shapes();
    let mut bodies = vec![body(Shape::HalfSpace).fixed()];
    bodies.push(Body::solid_box(Vec3::new(200.0, 200.0, 1.0), 1.0).fixed().at(Vec3::z() * -0.4));
    let side = (count as f64).cbrt();
    for i in 0..count {
        let size = if i % 7 == 0 { 0.1 } else { 1.0 };
        let shape = match &shapes[i % shapes.len()] {
            Shape::Box { half } => Shape::Box { half: half * size },
            Shape::Sphere { radius } => Shape::Sphere { radius: radius * size },
            shape => shape.clone(),
        };
        let mut body = body(shape).at((random.vector() + Vec3::z()) * side * 0.5);
        body.rotation = random.rotation();
        body.velocity = random.vector() * if i % 11 == 0 { 20.0 } else { 1.0 };
        body.omega = random.vector() * 3.0;
        bodies.push(body);
    }
    scene(bodies)
}

fn detect(scene: &Scene, places: &[Placement]) -> ContactList {
    ContactSet::new(scene)
        .unwrap()
        .detect(places.iter().copied(), &vec![false; scene.joints.len()], DT)
        .clone()
}

/// A list without what it says of the list before it.
fn geometry(list: &ContactList) -> ContactList {
    let mut list = list.clone();
    list.contacts.iter_mut().for_each(|c| c.previous = NONE);
    list
}

/// Moves every body by its velocity and some at random.
fn advance(places: &mut [Placement], scene: &Scene, random: &mut Random) {
    for (place, body) in places.iter_mut().zip(&scene.bodies).filter(|(_, b)| b.is_dynamic()) {
        place.position += body.velocity * DT;
        place.rotation = Quat::from_scaled_axis(body.omega * DT) * place.rotation;
        if random.next() < 0.02 {
            place.position += random.vector() * 2.0;
        }
    }
}

/// Each pair asked alone gives what all of them together give: no pair is lost, none is invented.
#[test]
fn the_broad_phase_loses_no_pair() {
    let scene = heap(60, 1);
    let mut places = placements(&scene);
    let mut collider = ContactSet::new(&scene).unwrap();
    let mut random = Random(2);
    for _ in 0..30 {
        let all = geometry(collider.detect(places.iter().copied(), &[], DT));
        check(&all, &places);
        let mut alone = vec![];
        for b in 0..places.len() {
            for a in 0..b {
                let bodies = vec![scene.bodies[a].clone(), scene.bodies[b].clone()];
                let two = Scene { bodies, ..scene.clone() };
                let list = detect(&two, &[places[a], places[b]]);
                alone.extend(list.contacts.into_iter().map(|mut c| {
                    rename(&mut c, [a as u32, b as u32]);
                    c
                }));
            }
        }
        alone.sort_by_key(|c| c.nodes());
        assert_eq!(all.contacts, alone);
        advance(&mut places, &scene, &mut random);
    }
}

/// Equal placements give equal contacts, whatever came before, to the last bit.
#[test]
fn contacts_do_not_depend_on_the_history() {
    let scene = heap(300, 3);
    let mut places = placements(&scene);
    let mut seasoned = ContactSet::new(&scene).unwrap();
    let mut random = Random(4);
    for _ in 0..40 {
        let list = geometry(seasoned.detect(places.iter().copied(), &[], DT));
        assert_eq!(list, geometry(&detect(&scene, &places)));
        advance(&mut places, &scene, &mut random);
    }
    seasoned.forget();
    let list = seasoned.detect(places.iter().copied(), &[], DT);
    assert!(list.contacts.iter().all(|c| c.previous == NONE));
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let scene = heap(1500, 5);
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut places = placements(&scene);
            let mut collider = ContactSet::new(&scene).unwrap();
            let mut random = Random(6);
            let mut lists = vec![];
            for _ in 0..4 {
                lists.push(collider.detect(places.iter().copied(), &[], DT).clone());
                advance(&mut places, &scene, &mut random);
            }
            lists
        })
    };
    let one = run(1);
    assert!(one[3].contacts.iter().any(|c| c.previous != NONE));
    assert_eq!(one, run(2));
    assert_eq!(one, run(3));
}

#[test]
fn what_is_joined_or_grouped_does_not_touch() {
    let cube = || Body::solid_box(Vec3::repeat(1.0), 1.0);
    let at = |x: f64| cube().at(Vec3::x() * x);
    let mut scene = scene(vec![at(0.0), at(0.9), at(1.8), at(2.7).fixed(), at(3.6).fixed()]);
    let pairs = |scene: &Scene, broken: bool| {
        let mut collider = ContactSet::new(scene).unwrap();
        let list = collider.detect(placements(scene), &vec![broken; scene.joints.len()], DT);
        list.manifolds.iter().map(|m| m.owners).collect::<Vec<_>>()
    };
    // Two bodies that do not move never touch.
    assert_eq!(pairs(&scene, false), [[0, 1], [1, 2], [2, 3]]);
    scene.bodies[1].group = Some(1);
    scene.bodies[2].group = Some(1);
    assert_eq!(pairs(&scene, false), [[0, 1], [2, 3]]);
    let ends = [Endpoint::Body(3), Endpoint::Body(2)];
    scene.joints = vec![
        Joint::new(JointKind::Ball, ends[0], ends[1]),
        Joint::new(JointKind::Ball, ends[1], ends[0]),
        Joint::new(JointKind::Ball, Endpoint::World, Endpoint::Body(1)),
    ];
    assert_eq!(pairs(&scene, false), [[0, 1]]);
    assert_eq!(pairs(&scene, true), [[0, 1], [2, 3]]);
    // One of two joints is enough.
    let mut collider = ContactSet::new(&scene).unwrap();
    let list = collider.detect(placements(&scene), &[true, false, false], DT);
    assert_eq!(list.manifolds.len(), 1);
    scene.contacts = None;
    assert!(ContactSet::new(&scene).is_none());
}

#[test]
fn a_pair_mixes_its_materials() {
    let mut ground = body(Shape::HalfSpace).fixed();
    ground.material.friction_static = 0.9;
    ground.material.friction_dynamic = 0.4;
    ground.material.restitution = 0.1;
    let mut ball = body(Shape::Sphere { radius: 1.0 }).at(Vec3::z());
    ball.material.friction_static = 0.4;
    ball.material.friction_dynamic = 0.1;
    ball.material.restitution = 0.3;
    let list = contacts(&scene(vec![ground, ball]));
    let manifold = &list.manifolds[0];
    assert!((manifold.friction[0] - 0.6).abs() < 1e-15);
    assert!((manifold.friction[1] - 0.2).abs() < 1e-15);
    assert_eq!(manifold.restitution, 0.3);
}

/// In the step in which a ball would cross a wall it is in contact with it, and no earlier.
#[test]
fn a_fast_ball_does_not_pass_a_wall() {
    let wall = || Body::solid_box(Vec3::new(0.3, 4.0, 4.0), 1.0).fixed();
    for radius in [0.05, 0.2] {
        for start in [1.0, 1.1, 1.25, 1.4] {
            let mut ball = body(Shape::Sphere { radius });
            ball.velocity = Vec3::x() * 30.0;
            let scene = scene(vec![wall(), ball]);
            let mut places = placements(&scene);
            let mut x = -start;
            while x < 1.0 {
                places[1].position = Vec3::new(x, 0.3, -0.2);
                let list = detect(&scene, &places);
                let gap = -0.15 - radius - x;
                let due = gap <= 0.01 + 30.0 * DT;
                assert_eq!(list.contacts.len(), usize::from(due), "at {x}");
                if due {
                    assert!((list.contacts[0].gap - gap).abs() < 1e-12);
                    break;
                }
                x += 30.0 * DT;
            }
            assert!(x < -0.15 - radius, "seen before it is inside");
        }
    }
}

/// A contact is of no use where the bodies leave each other or slide past, however fast.
#[test]
fn bodies_that_do_not_approach_are_in_contact_within_the_margin_only() {
    let mut box_above = Body::solid_box(Vec3::repeat(1.0), 1.0).at(Vec3::z() * 0.52);
    let ground = body(Shape::HalfSpace).fixed();
    let count = |velocity: Vec3, omega: Vec3, body: &mut Body| {
        (body.velocity, body.omega) = (velocity, omega);
        contacts(&scene(vec![ground.clone(), body.clone()])).contacts.len()
    };
    assert_eq!(count(Vec3::x() * 50.0, Vec3::zeros(), &mut box_above), 0);
    assert_eq!(count(Vec3::z() * 50.0, Vec3::zeros(), &mut box_above), 0);
    assert_eq!(count(-Vec3::z(), Vec3::zeros(), &mut box_above), 4);
    // Turning about y brings one side down.
    assert_eq!(count(Vec3::zeros(), Vec3::y() * 2.0, &mut box_above), 2);
}

/// Points of a box that slides and turns slowly continue those before, also when it tips over an edge
/// of what counts as parallel.
#[test]
fn contacts_continue_those_before() {
    let ground = Body::solid_box(Vec3::new(10.0, 10.0, 1.0), 1.0).fixed().at(Vec3::z() * -0.5);
    let scene = scene(vec![ground, Body::solid_box(Vec3::repeat(1.0), 1.0).at(Vec3::z() * 0.499)]);
    let mut collider = ContactSet::new(&scene).unwrap();
    let mut places = placements(&scene);
    let mut before = collider.detect(places.iter().copied(), &[], DT).clone();
    for step in 0..200 {
        places[1].position += Vec3::new(1e-3, 5e-4, 0.0);
        let tilt = Vec3::new(1e-9 * f64::from(step % 3 - 1), -1e-9 * f64::from(step % 2), 0.01);
        places[1].rotation = Quat::from_scaled_axis(tilt) * places[1].rotation;
        let list = collider.detect(places.iter().copied(), &[], DT).clone();
        assert_eq!(list.contacts.len(), 4);
        for contact in &list.contacts {
            let old = &before.contacts[contact.previous as usize];
            assert!(
                (old.anchors()[1] - contact.anchors()[1]).norm() < 1e-6,
                "the same corner of the box"
            );
        }
        before = list;
    }
}

/// On the face of a box of its size, a box that turns loses corners and gains crossings; each point
/// that stays near an old one continues it.
#[test]
fn features_that_flicker_are_continued_by_place() {
    let cube = || Body::solid_box(Vec3::repeat(1.0), 1.0);
    let scene = scene(vec![cube().fixed(), cube().at(Vec3::z() * 0.999)]);
    let mut collider = ContactSet::new(&scene).unwrap();
    let mut places = placements(&scene);
    collider.detect(places.iter().copied(), &[], DT);
    for step in 0..100 {
        // To and fro about the aligned place, where every corner coincides with two crossings.
        let angle = 1e-3 * f64::from(step).sin();
        places[1].rotation = Quat::from_scaled_axis(Vec3::new(1e-7, -1e-7, angle));
        places[1].position.x = 1e-4 * f64::from(step).cos();
        let list = collider.detect(places.iter().copied(), &[], DT);
        assert_eq!(list.contacts.len(), 4);
        let mut old: Vec<u32> = list.contacts.iter().map(|c| c.previous).collect();
        old.sort_unstable();
        assert_eq!(old, [0, 1, 2, 3], "step {step}");
    }
}
