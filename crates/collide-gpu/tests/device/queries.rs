//! Whole queries: many bodies, several steps, all scenes, and what a query costs.

use std::path::Path;

use taut_collide::{Contact, ContactList, ContactSet};
use taut_collide_gpu::{Room, supports};
use taut_core::{
    Placement, Quat, Scene, Vec3,
    load::load_file,
    scene::{Endpoint, Joint, JointKind, Shape},
};
use taut_gpu::{Clock, Gpu};

use crate::{
    common::{angle_iron, body, crystal, scene, terrain},
    compare::{DT, Random, compare, detector, on_cpu, query, rounded, shape, single, write},
};

/// Bodies of all sizes between a hundredth of a metre and forty, on a half-space, a floor and a surface; every tenth is
/// of a group, and neighbours in the list are joined.
fn heap(count: usize, random: &mut Random) -> Scene {
    let mut bodies = vec![body(Shape::Box { half: Vec3::new(40.0, 40.0, 0.5) }).fixed()];
    bodies.push(body(Shape::HalfSpace).fixed().at(Vec3::new(0.0, 0.0, -0.2)));
    bodies.push(body(terrain(20, 0.6, |x, y| 0.2 * (x + 2.0 * y).sin())).fixed());
    for k in 0..count {
        let size = 0.3 * (1.0 - random.unit()).powf(-0.7).min(60.0);
        let kind = match shape(k % 3, random) {
            Shape::Box { half } => Shape::Box { half: half * size },
            Shape::Sphere { radius } => Shape::Sphere { radius: radius * size },
            Shape::Capsule { radius, half_length } => {
                Shape::Capsule { radius: radius * size, half_length: half_length * size }
            }
            other => other,
        };
        let mut body = body(kind);
        body.position = random.vector(6.0) + Vec3::new(0.0, 0.0, 5.0);
        body.rotation = Quat::from_scaled_axis(random.vector(3.0));
        (body.velocity, body.omega) = (random.vector(0.5), random.vector(0.5));
        body.group = (k % 10 == 0).then_some(3);
        bodies.push(body);
    }
    let mut scene = scene(bodies);
    let end = Endpoint::Body;
    scene.joints =
        (2..count + 1).map(|i| Joint::new(JointKind::Ball, end(i + 1), end(i))).collect();
    scene
}

/// The scene a moment later.
fn moved(placements: &[Placement], random: &mut Random) -> Vec<Placement> {
    placements
        .iter()
        .map(|p| {
            let still = p.velocity == Vec3::zeros();
            let step = if still { Vec3::zeros() } else { random.vector(3e-3) };
            Placement { position: (p.position + step).map(single), ..*p }
        })
        .collect()
}

/// What each contact continues: pair and feature now, and then.
fn continued(list: &ContactList, before: &ContactList) -> Vec<([u32; 2], u64, Option<u64>)> {
    let old = |c: &Contact| before.contacts.get(c.previous as usize).map(|c| c.feature);
    list.contacts.iter().map(|c| (c.nodes(), c.feature, old(c))).collect()
}

/// The share of entries of `a` that are in `b`.
fn share<T: Ord>(a: &[T], b: &[T]) -> f64 {
    let known: std::collections::BTreeSet<&T> = b.iter().collect();
    a.iter().filter(|x| known.contains(x)).count() as f64 / a.len().max(1) as f64
}

#[test]
fn heaps_of_all_sizes_are_as_on_the_cpu_over_several_steps() {
    let Some(gpu) = Gpu::for_test() else { return };
    let mut random = Random(11);
    let scene = heap(801, &mut random);
    let mut placements: Vec<_> = scene.bodies.iter().map(rounded).collect();
    // No room at all, so that every stage runs short of it.
    let none = Room { pairs: 1, manifolds: 1, triangles: 0 };
    let mut detector = detector(&gpu, &scene, none);
    let mut broken = vec![false; scene.joints.len()];
    let mut collider = ContactSet::new(&scene).unwrap();
    let (mut ours, mut theirs) = (ContactList::default(), ContactList::default());
    for step in 0..3 {
        if step == 1 {
            broken.iter_mut().step_by(2).for_each(|b| *b = true);
            let numbers: Vec<u32> = broken.iter().map(|b| u32::from(*b)).collect();
            gpu.write(detector.broken(), 0, &numbers).unwrap();
        }
        let (ours_before, theirs_before) = (ours, theirs);
        ours = query(&gpu, &mut detector, &placements);
        theirs = collider.detect(placements.iter().copied(), &broken, single(DT)).clone();
        assert!(ours.manifolds.is_sorted_by_key(|m| m.owners), "sorted by pair");
        let pairs =
            |list: &ContactList| list.manifolds.iter().map(|m| m.owners).collect::<Vec<_>>();
        let (mine, other) = (pairs(&ours), pairs(&theirs));
        assert!(other.len() > 4000 && share(&mine, &other).min(share(&other, &mine)) > 0.999);
        let (mine, other) = (continued(&ours, &ours_before), continued(&theirs, &theirs_before));
        let kept = other.iter().filter(|(.., old)| old.is_some()).count();
        assert!(step == 0 || kept > other.len() / 2, "{kept} of {}", other.len());
        let alike = share(&mine, &other).min(share(&other, &mine));
        assert!(alike > 0.98, "step {step}: {alike}");
        placements = moved(&placements, &mut random);
    }
    let room = detector.room();
    assert!(room.pairs > 4000 && room.manifolds > 4000 && room.triangles > 1000, "{room:?}");
}

#[test]
fn equal_queries_give_equal_answers() {
    let Some(gpu) = Gpu::for_test() else { return };
    let mut random = Random(3);
    let scene = heap(400, &mut random);
    let placements: Vec<_> = scene.bodies.iter().map(rounded).collect();
    let first = query(&gpu, &mut detector(&gpu, &scene, Room::of(&scene)), &placements);
    assert!(first.contacts.len() > 1000);
    let tight = Room { pairs: 100, manifolds: 7, triangles: 3 };
    for room in [Room::of(&scene), tight] {
        assert!(query(&gpu, &mut detector(&gpu, &scene, room), &placements) == first);
    }
    // One other size is enough: each compiles all kernels anew.
    let gpu = gpu.resized(256);
    let same = query(&gpu, &mut detector(&gpu, &scene, Room::of(&scene)), &placements);
    assert!(same == first);
}

#[test]
fn any_number_of_bodies_will_do() {
    let Some(gpu) = Gpu::for_test() else { return };
    for count in [0, 1, 2, 3, 4, 5, 17, 65] {
        let bodies = (0..count)
            .map(|i| body(Shape::Sphere { radius: 0.5 }).at(Vec3::x() * (f64::from(i) * 0.999)))
            .collect();
        let scene = scene(bodies);
        let placements: Vec<_> = scene.bodies.iter().map(rounded).collect();
        let mut detector = detector(&gpu, &scene, Room::of(&scene));
        let list = query(&gpu, &mut detector, &placements);
        let pairs: Vec<_> = list.manifolds.iter().map(|m| m.owners).collect();
        let expected: Vec<_> = (1..count as u32).map(|i| [i - 1, i]).collect();
        assert_eq!(pairs, expected);
    }
}

#[test]
fn lost_bodies_touch_nothing_and_harm_nobody() {
    let Some(gpu) = Gpu::for_test() else { return };
    let ball = || body(Shape::Sphere { radius: 0.5 });
    let scene = scene(vec![ball(), ball(), ball(), ball(), body(Shape::HalfSpace).fixed()]);
    let mut placements: Vec<_> = scene.bodies.iter().map(rounded).collect();
    placements[0].position = Vec3::repeat(f64::NAN);
    placements[1].position = Vec3::x() * 1e20;
    placements[2].position = Vec3::z() * 0.4;
    placements[3].position = Vec3::z() * 1.3;
    let list = query(&gpu, &mut detector(&gpu, &scene, Room::of(&scene)), &placements);
    let pairs: Vec<_> = list.manifolds.iter().map(|m| m.owners).collect();
    assert_eq!(pairs, [[2, 3], [2, 4]]);
}

/// The scenes of the project as they start, where contacts meet as exactly as they were written down.
#[test]
fn scenes_start_as_on_the_cpu() {
    let Some(gpu) = Gpu::for_test() else { return };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes");
    let mut files: Vec<_> = folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "ron"));
    files.sort();
    let mut seen = 0;
    for file in files {
        let Ok(loaded) = load_file(&file, &[]) else { continue };
        let scene = loaded.scene;
        if scene.contacts.is_none()
            || !scene.touching_particles().is_empty()
            || supports(&scene).is_err()
            || scene.bodies.len() > 3000
        {
            continue;
        }
        let placements: Vec<_> = scene.bodies.iter().map(rounded).collect();
        let ours = query(&gpu, &mut detector(&gpu, &scene, Room::of(&scene)), &placements);
        let theirs = on_cpu(&scene, &placements);
        let pairs: std::collections::BTreeSet<[u32; 2]> =
            ours.manifolds.iter().chain(&theirs.manifolds).map(|m| m.owners).collect();
        let tally = compare(&scene, &placements, &ours, pairs.into_iter());
        println!("{}: {tally:?}", scene.name);
        assert!(tally.different == 0, "{}: {tally:?}", scene.name);
        seen += usize::from(tally.touching > 0);
    }
    assert!(seen > 10, "{seen}");
}

/// What a query costs besides its threads; the count grows with the logarithm of what there is.
#[test]
fn dispatches_are_few_and_nothing_is_read_back() {
    let Some(gpu) = Gpu::for_test() else { return };
    let scene = heap(1000, &mut Random(2));
    let mut detector = detector(&gpu, &scene, Room::of(&scene));
    let before = gpu.counters();
    let mut recorder = gpu.record();
    detector.record(&mut recorder);
    recorder.submit(&mut Clock::default()).unwrap();
    let after = gpu.counters();
    assert_eq!((after.reads - before.reads, after.submissions - before.submissions), (0, 1));
    assert_eq!(after.dispatches - before.dispatches, 79);
}

/// A wall as large as the largest published scene, in a few rows: run by hand, for times and memory.
#[test]
#[ignore = "a measurement"]
fn a_hundred_thousand_bricks() {
    let Some(gpu) = Gpu::for_test() else { return };
    let mut bodies = vec![body(Shape::HalfSpace).fixed()];
    let half = Vec3::new(0.5, 0.25, 0.25);
    for i in 0..48 {
        for j in 0..48 {
            for k in 0..48 {
                let shift = if k % 2 == 0 { 0.0 } else { 0.5 };
                let at = [f64::from(i) + shift, f64::from(j) * 0.51, 0.25 + 0.5 * f64::from(k)];
                bodies.push(body(Shape::Box { half }).at(at.into()));
            }
        }
    }
    let scene = scene(bodies);
    let placements: Vec<_> = scene.bodies.iter().map(rounded).collect();
    let mut detector = detector(&gpu, &scene, Room::of(&scene));
    write(&gpu, &detector, &placements);
    let mut clock = Clock::new(&gpu).unwrap();
    for _ in 0..3 {
        let mut recorder = gpu.record();
        detector.record_timed(&mut recorder, &mut clock);
        recorder.submit(&mut clock).unwrap();
        if detector.settle().unwrap() {
            println!("grown to {:?}", detector.room());
        }
    }
    let mut laps = vec![];
    clock.drain(&gpu, &mut laps).unwrap();
    println!("{}: {:?}", gpu.facts(), detector.counts().unwrap());
    laps.iter().for_each(|lap| println!("{lap:?}"));
    let mut collider = ContactSet::new(&scene).unwrap();
    for _ in 0..3 {
        let list = collider.detect(placements.iter().copied(), &[], single(DT));
        println!("on the CPU {} manifolds", list.manifolds.len());
        let mut times = vec![];
        collider.drain_times(&mut times);
        println!("{times:?}");
    }
}

#[test]
fn shapes_without_shaders_are_refused_by_name() {
    let cylinder = Shape::Cylinder { radius: 0.5, half_length: 0.5 };
    let ball = Shape::Sphere { radius: 0.5 };
    let mut scene = scene(vec![body(ball), body(cylinder), body(angle_iron())]);
    let reason = |scene: &Scene| supports(scene).unwrap_err().0;
    assert!(reason(&scene).starts_with("body 1 is a cylinder"), "{}", reason(&scene));
    scene.bodies.remove(1);
    assert!(reason(&scene).starts_with("body 1 is a compound"), "{}", reason(&scene));
    scene.bodies[1] = body(crystal());
    assert!(reason(&scene).starts_with("body 1 is a convex hull"), "{}", reason(&scene));
    scene.bodies.truncate(1);
    assert_eq!(supports(&scene), Ok(()));
    scene.contacts.as_mut().unwrap().points_max = 5;
    assert!(reason(&scene).starts_with("points_max is 5"), "{}", reason(&scene));
    // Without contacts there is nothing to find.
    scene.contacts = None;
    assert_eq!(supports(&scene), Ok(()));
}
