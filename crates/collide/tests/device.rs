//! Contacts found on a graphics adapter are those of the CPU.

mod common;

use std::{collections::BTreeMap, path::Path};

use common::{angle_iron, body, crystal, scene, terrain};
use nalgebra::Quaternion;
use taut_collide::{
    Collider, Contact, ContactList, Placement, Style,
    device::{Detector, Pose, Room, supports},
};
use taut_core::{
    Quat, Scene, Vec3,
    scene::{Body, Endpoint, Joint, JointKind, Shape, load_file},
};
use taut_gpu::{Clock, Gpu};

const DT: f64 = 1.0 / 60.0;
/// What normals [1] and gaps [m] may differ by.
const CLOSE: f64 = 1e-5;

/// Numbers that look random and are the same everywhere.
struct Random(u64);

impl Random {
    fn unit(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn below(&mut self, n: usize) -> usize {
        (self.unit() * n as f64) as usize
    }

    fn vector(&mut self, range: f64) -> Vec3 {
        Vec3::new(self.unit(), self.unit(), self.unit()).map(|x| (2.0 * x - 1.0) * range)
    }
}

fn single(x: f64) -> f64 {
    f64::from(x as f32)
}

/// A placement as a device holds it.
fn rounded(body: &Body) -> Placement {
    let [i, j, k, w] = body.rotation.quaternion().coords.map(single).into();
    Placement {
        position: body.position.map(single),
        rotation: Quat::new_normalize(Quaternion::new(w, i, j, k)),
        velocity: body.velocity.map(single),
        omega: body.omega.map(single),
    }
}

fn pose(placement: &Placement) -> Pose {
    let three = |v: &Vec3| [v.x as f32, v.y as f32, v.z as f32];
    let q = placement.rotation.quaternion();
    Pose {
        position: three(&placement.position),
        rotation: [q.i as f32, q.j as f32, q.k as f32, q.w as f32],
        velocity: three(&placement.velocity),
        omega: three(&placement.omega),
        ..Pose::default()
    }
}

fn write(gpu: &Gpu, detector: &Detector, placements: &[Placement]) {
    let poses: Vec<Pose> = placements.iter().map(pose).collect();
    gpu.write(detector.poses(), 0, &poses).unwrap();
}

/// One query; the step is done again where there was no room.
fn query(gpu: &Gpu, detector: &mut Detector, placements: &[Placement]) -> ContactList {
    write(gpu, detector, placements);
    loop {
        let mut recorder = gpu.record();
        detector.record(&mut recorder);
        recorder.submit(&mut Clock::default()).unwrap();
        if !detector.settle().unwrap() {
            break;
        }
    }
    let mut list = ContactList::default();
    detector.read(&mut list).unwrap();
    list
}

fn detector(gpu: &Gpu, scene: &Scene, room: Room) -> Detector {
    supports(scene).unwrap();
    let mut detector = Detector::new(gpu, scene, room).unwrap();
    detector.look_ahead(DT).unwrap();
    detector
}

fn on_cpu(scene: &Scene, placements: &[Placement]) -> ContactList {
    let dt = single(DT);
    let mut collider = Collider::new(scene, Style::Common);
    collider.detect(placements, &vec![false; scene.joints.len()], dt).clone()
}

/// Contacts by pair.
fn by_pair(list: &ContactList) -> BTreeMap<[u32; 2], Vec<Contact>> {
    let mut map = BTreeMap::<_, Vec<_>>::new();
    for contact in &list.contacts {
        map.entry(contact.bodies).or_default().push(*contact);
    }
    map
}

/// The largest difference of normals and gaps between equal points; none where they are not the same points.
fn difference(ours: &[Contact], theirs: &[Contact]) -> Option<f64> {
    if ours.len() != theirs.len() {
        return None;
    }
    let mut most = 0.0_f64;
    for contact in ours {
        let same = theirs.iter().find(|c| c.feature == contact.feature)?;
        most = most.max((same.normal - contact.normal).norm()).max((same.gap - contact.gap).abs());
    }
    Some(most)
}

/// Whether these contacts and the CPU's are points of one line that lies level on a surface: the normal is the
/// same, and so are the gaps, or all of the CPU's points are among these.
fn is_level(ours: &[Contact], theirs: &[Contact]) -> bool {
    let alike = |a: &Contact, b: &Contact| {
        (a.normal - b.normal).norm() <= CLOSE && (a.gap - b.gap).abs() <= CLOSE
    };
    let same = |a: &Contact, b: &Contact| alike(a, b) && (a.anchor_a - b.anchor_a).norm() <= 1e-4;
    !ours.is_empty()
        && !theirs.is_empty()
        && (theirs.iter().all(|their| ours.iter().any(|our| same(our, their)))
            || theirs.iter().all(|their| ours.iter().all(|our| alike(our, their))))
}

/// How the contacts of many pairs compare.
#[derive(Debug, Default)]
struct Tally {
    touching: usize,
    /// With other points of one line: where it lies level, a tilt of 1e-10 decides which.
    level: usize,
    /// As far as rounding the placements changes what the CPU says.
    within_rounding: usize,
    different: usize,
    /// With the same points in another order.
    reordered: usize,
    worst: f64,
}

/// Compares what was found of pairs of bodies.
fn compare(
    scene: &Scene,
    placements: &[Placement],
    ours: &ContactList,
    pairs: impl Iterator<Item = [u32; 2]>,
) -> Tally {
    let theirs = on_cpu(scene, placements);
    let (ours, theirs) = (by_pair(ours), by_pair(&theirs));
    let mut tally = Tally::default();
    let mut random = Random(7);
    for pair in pairs {
        let of =
            |map: &BTreeMap<[u32; 2], Vec<Contact>>| map.get(&pair).cloned().unwrap_or_default();
        let (mine, other) = (of(&ours), of(&theirs));
        tally.touching += usize::from(!other.is_empty());
        match difference(&mine, &other) {
            Some(most) if most <= CLOSE => {
                tally.worst = tally.worst.max(most);
                let same = mine.iter().zip(&other).all(|(a, b)| a.feature == b.feature);
                tally.reordered += usize::from(!same);
                continue;
            }
            _ => {}
        }
        if is_level(&mine, &other) {
            tally.level += 1;
        } else if is_rounding(scene, placements, pair, &mine, &mut random) {
            tally.within_rounding += 1;
        } else {
            tally.different += 1;
            if tally.different < 4 {
                for i in pair.map(|i| i as usize) {
                    println!("{:?}\n{:?}", scene.bodies[i].shape, placements[i]);
                }
                println!("ours {mine:#?}\ntheirs {other:#?}");
            }
        }
    }
    tally
}

/// Whether the CPU gives these contacts for placements that differ by the rounding of single precision.
fn is_rounding(
    scene: &Scene,
    placements: &[Placement],
    pair: [u32; 2],
    ours: &[Contact],
    random: &mut Random,
) -> bool {
    let [a, b] = pair.map(|i| i as usize);
    let bodies = vec![scene.bodies[a].clone(), scene.bodies[b].clone()];
    let few = Scene { bodies, contacts: scene.contacts, ..Scene::default() };
    // B as seen from A, so that where the pair is does not matter.
    let origin = placements[a].position;
    let mut found = vec![];
    for trial in 0..60 {
        let size = 3e-7 * f64::from(1 << (trial % 3));
        let moved: Vec<Placement> = [&placements[a], &placements[b]]
            .into_iter()
            .map(|p| Placement {
                position: p.position - origin + random.vector(size),
                rotation: Quat::from_scaled_axis(random.vector(size)) * p.rotation,
                ..*p
            })
            .collect();
        let mut list = on_cpu(&few, &moved).contacts;
        list.iter_mut().for_each(|c| c.bodies = pair);
        if is_level(ours, &list) || difference(ours, &list).is_some_and(|d| d <= CLOSE) {
            return true;
        }
        found.push(list);
    }
    // What differs among answers for the same thing is what the thing is not known by.
    let spread = |list: &Vec<Contact>| {
        found.iter().filter_map(|other| difference(list, other)).fold(0.0, f64::max)
    };
    found.iter().any(|list| difference(ours, list).is_some_and(|d| d <= CLOSE + 2.0 * spread(list)))
}

fn shape(kind: usize, random: &mut Random) -> Shape {
    let extent = |random: &mut Random| 0.2 + 0.6 * random.unit();
    match kind {
        0 => Shape::Box { half: Vec3::new(extent(random), extent(random), extent(random)) },
        1 => Shape::Sphere { radius: extent(random) },
        2 => Shape::Capsule { radius: 0.5 * extent(random), half_length: extent(random) },
        _ => Shape::HalfSpace,
    }
}

/// A shape without anything random, so that faces, edges and corners can meet exactly.
fn plain(kind: usize) -> Shape {
    match kind {
        0 => Shape::Box { half: Vec3::new(0.5, 0.5, 0.25) },
        1 => Shape::Sphere { radius: 0.5 },
        2 => Shape::Capsule { radius: 0.25, half_length: 0.5 },
        _ => Shape::HalfSpace,
    }
}

/// Pairs of two kinds of shapes, in cells of their own: half of them random, half degenerate.
fn pairs(kinds: [usize; 2], count: usize, random: &mut Random) -> Scene {
    let side = (count as f64).cbrt().ceil() as usize;
    let mut bodies = vec![];
    for k in 0..count {
        let cell = [k % side, k / side % side, k / side / side];
        let cell = Vec3::from(cell.map(|x| (x as f64 - side as f64 / 2.0) * 8.0));
        let odd = k % 2 == 1;
        for (which, &kind) in kinds.iter().enumerate() {
            let shape = if odd { plain(kind) } else { shape(kind, random) };
            let mut body = body(shape);
            body.position = cell;
            if odd {
                // Quarters of metres and eighths of turns.
                let offset =
                    Vec3::new(1.0, 1.0, 1.0).map(|x| x * (random.below(9) as f64 - 4.0) * 0.25);
                body.position += offset * which as f64;
                let angle = |random: &mut Random| {
                    (random.below(3) as f64)
                        * std::f64::consts::FRAC_PI_4
                        * (random.below(3) as f64)
                };
                body.rotation =
                    Quat::from_euler_angles(angle(random), angle(random), angle(random));
            } else {
                body.position += random.vector(1.0) * which as f64;
                body.rotation = Quat::from_scaled_axis(random.vector(3.0));
                body.velocity = random.vector(1.0);
                body.omega = random.vector(2.0);
            }
            bodies.push(body);
        }
    }
    scene(bodies)
}

fn check_pairs(kinds: [usize; 2], count: usize) {
    let Some(gpu) = Gpu::for_test() else { return };
    let scene = pairs(kinds, count, &mut Random(kinds[0] as u64 * 977 + kinds[1] as u64 + 1));
    let placements: Vec<_> = scene.bodies.iter().map(rounded).collect();
    let mut detector = detector(&gpu, &scene, Room::of(&scene));
    let ours = query(&gpu, &mut detector, &placements);
    let neighbours = (0..count as u32).map(|k| [2 * k, 2 * k + 1]);
    let tally = compare(&scene, &placements, &ours, neighbours);
    println!("{kinds:?}: {tally:?}");
    assert!(tally.touching > count / 10, "{tally:?}");
    assert_eq!(tally.different, 0, "{tally:?}");
    assert!(tally.within_rounding < count / 20, "{tally:?}");
    assert!(tally.level < count / 100 && tally.reordered < count / 100, "{tally:?}");
}

#[test]
fn boxes_are_as_on_the_cpu() {
    check_pairs([0, 0], 10_000);
}

#[test]
fn spheres_are_as_on_the_cpu() {
    check_pairs([1, 1], 10_000);
    check_pairs([1, 0], 10_000);
    check_pairs([0, 1], 10_000);
    check_pairs([1, 2], 10_000);
    check_pairs([2, 1], 10_000);
}

#[test]
fn capsules_are_as_on_the_cpu() {
    check_pairs([2, 2], 10_000);
}

#[test]
fn capsules_and_boxes_are_as_on_the_cpu() {
    check_pairs([2, 0], 10_000);
    check_pairs([0, 2], 10_000);
}

/// One half-space, and everything that can lie on it.
/// Compares one query for many bodies that touch nothing but the `ground`, which is the `first` or the last in the list.
fn against(gpu: &Gpu, ground: Body, first: bool, mut bodies: Vec<Body>) -> Tally {
    let count = bodies.len();
    bodies.insert(if first { 0 } else { count }, ground);
    let scene = scene(bodies);
    let placements: Vec<_> = scene.bodies.iter().map(rounded).collect();
    let mut detector = detector(gpu, &scene, Room::of(&scene));
    let ours = query(gpu, &mut detector, &placements);
    let count = count as u32;
    let pairs = (0..count).map(|k| if first { [0, k + 1] } else { [k, count] });
    compare(&scene, &placements, &ours, pairs)
}

#[test]
fn half_spaces_are_as_on_the_cpu() {
    let Some(gpu) = Gpu::for_test() else { return };
    let mut random = Random(5);
    for first in [true, false] {
        let count = 10_000;
        let mut bodies = vec![];
        for k in 0..count {
            let mut body = body(if k % 2 == 0 { shape(k % 3, &mut random) } else { plain(k % 3) });
            // Far enough from each other that only the half-space is near.
            let cell =
                Vec3::new((k % 100) as f64 * 4.0 - 200.0, (k / 100) as f64 * 4.0 - 200.0, 0.0);
            body.position = cell + random.vector(0.4);
            body.rotation = Quat::from_scaled_axis(random.vector(3.0));
            if k % 2 == 1 {
                body.position.z = random.below(5) as f64 * 0.25 - 0.25;
                body.rotation = Quat::from_euler_angles(random.below(4) as f64 * 0.25, 0.0, 0.5);
            } else {
                (body.velocity, body.omega) = (random.vector(1.0), random.vector(2.0));
            }
            bodies.push(body);
        }
        let mut plane = body(Shape::HalfSpace).fixed();
        plane.rotation = Quat::from_scaled_axis(Vec3::new(1e-3, 2e-3, 0.0));
        let tally = against(&gpu, plane, first, bodies);
        println!("half-space: {tally:?}");
        assert!(tally.touching > 3000 && tally.different == 0, "{tally:?}");
        assert!(tally.within_rounding < 500, "{tally:?}");
    }
}

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
    list.contacts.iter().map(|c| (c.bodies, c.feature, old(c))).collect()
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
    let mut collider = Collider::new(&scene, Style::Common);
    let (mut ours, mut theirs) = (ContactList::default(), ContactList::default());
    for step in 0..3 {
        if step == 1 {
            broken.iter_mut().step_by(2).for_each(|b| *b = true);
            let numbers: Vec<u32> = broken.iter().map(|b| u32::from(*b)).collect();
            gpu.write(detector.broken(), 0, &numbers).unwrap();
        }
        let (ours_before, theirs_before) = (ours, theirs);
        ours = query(&gpu, &mut detector, &placements);
        theirs = collider.detect(&placements, &broken, single(DT)).clone();
        assert!(ours.manifolds.is_sorted_by_key(|m| m.bodies), "sorted by pair");
        let pairs =
            |list: &ContactList| list.manifolds.iter().map(|m| m.bodies).collect::<Vec<_>>();
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
        let pairs: Vec<_> = list.manifolds.iter().map(|m| m.bodies).collect();
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
    let pairs: Vec<_> = list.manifolds.iter().map(|m| m.bodies).collect();
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
        if scene.contacts.is_none() || supports(&scene).is_err() || scene.bodies.len() > 3000 {
            continue;
        }
        let placements: Vec<_> = scene.bodies.iter().map(rounded).collect();
        let ours = query(&gpu, &mut detector(&gpu, &scene, Room::of(&scene)), &placements);
        let theirs = on_cpu(&scene, &placements);
        let pairs: std::collections::BTreeSet<[u32; 2]> =
            ours.manifolds.iter().chain(&theirs.manifolds).map(|m| m.bodies).collect();
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

/// Bodies of one kind over a surface of triangles: a bumpy one, and a level one whose edges meet theirs exactly.
fn check_surface(kind: usize, first: bool) {
    let Some(gpu) = Gpu::for_test() else { return };
    let mut random = Random(kind as u64 + 40);
    for level in [false, true] {
        let bumps = |x: f64, y: f64| 0.3 * (1.7 * x).sin() * (1.3 * y).cos();
        let ground = terrain(16, 0.75, |x, y| if level { 0.0 } else { bumps(x, y) });
        let mut ground = body(ground).fixed();
        ground.position = Vec3::new(0.5, -0.25, 0.125);
        if !level {
            ground.rotation = Quat::from_scaled_axis(Vec3::new(0.1, -0.2, 0.3));
        }
        let count = 5000;
        let mut bodies = vec![];
        for _ in 0..count {
            let mut body = body(if level { plain(kind) } else { shape(kind, &mut random) });
            // They touch the surface only.
            body.group = Some(1);
            if level {
                let whole = |random: &mut Random| random.below(40) as f64 * 0.125 - 2.5;
                let turn =
                    |random: &mut Random| random.below(5) as f64 * std::f64::consts::FRAC_PI_4;
                body.rotation = Quat::from_euler_angles(turn(&mut random), 0.0, turn(&mut random));
                // Its lowest point touches, or is a little above or below.
                let (size, lowest) = match body.shape {
                    Shape::Box { half } => (half, 0.0),
                    Shape::Capsule { radius, half_length } => (Vec3::z() * half_length, radius),
                    _ => (Vec3::zeros(), 0.5),
                };
                let rows = body.rotation.to_rotation_matrix().into_inner().abs();
                let lowest = lowest + (rows * size).z + random.below(3) as f64 * 0.01 - 0.01;
                body.position = Vec3::new(whole(&mut random), whole(&mut random), 0.125 + lowest);
            } else {
                let at = random.vector(5.5);
                body.position = Vec3::new(at.x, at.y, at.z * 0.15 + 0.3);
                body.rotation = Quat::from_scaled_axis(random.vector(3.0));
                (body.velocity, body.omega) = (random.vector(0.3), random.vector(0.5));
            }
            bodies.push(body);
        }
        let tally = against(&gpu, ground, first, bodies);
        println!("surface, kind {kind}, level {level}: {tally:?}");
        assert!(tally.touching > 1500 && tally.different == 0, "{tally:?}");
        // Where edges meet exactly, rounding decides to which of two triangles a point belongs.
        assert!(level || tally.within_rounding < 50, "{tally:?}");
    }
}

#[test]
fn spheres_on_surfaces_are_as_on_the_cpu() {
    check_surface(1, true);
}

#[test]
fn capsules_on_surfaces_are_as_on_the_cpu() {
    check_surface(2, false);
}

#[test]
fn boxes_on_surfaces_are_as_on_the_cpu() {
    check_surface(0, true);
}

/// Each box lies on hundreds of triangles and has tens of patches, so that loops over all pairs of triangles
/// would not end on software Vulkan.
#[test]
fn large_boxes_lie_on_fine_surfaces() {
    let Some(gpu) = Gpu::for_test() else { return };
    let mut random = Random(11);
    let fine = terrain(20, 0.3, |x, y| 0.02 * (3.0 * x).sin() * (2.0 * y).cos());
    let mut bodies = vec![body(fine).fixed()];
    let count = 100;
    for _ in 0..count {
        let half = Vec3::new(1.0 + random.unit(), 0.3 + random.unit(), 0.5);
        let mut body = body(Shape::Box { half });
        body.group = Some(1);
        let tilt = [0.04 * random.unit(), 0.04 * random.unit(), 3.0 * random.unit()];
        body.rotation = Quat::from_scaled_axis(tilt.into());
        body.position = random.vector(1.5);
        body.position.z = 0.5 + 0.05 * random.unit();
        bodies.push(body);
    }
    let scene = scene(bodies);
    let placements: Vec<_> = scene.bodies.iter().map(rounded).collect();
    let mut detector = detector(&gpu, &scene, Room::of(&scene));
    let ours = query(&gpu, &mut detector, &placements);
    let tally = compare(&scene, &placements, &ours, (0..count).map(|k| [0, k + 1]));
    println!("large boxes: {tally:?}");
    assert!(ours.manifolds.len() > 20 * tally.touching, "{}", ours.manifolds.len());
    // Of a box's many patches, any may be made by rounding; the whole box counts as different then.
    assert!(tally.different * 20 < tally.touching, "{tally:?}");
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
    let mut collider = Collider::new(&scene, Style::Common);
    for _ in 0..3 {
        let list = collider.detect(&placements, &[], single(DT));
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
