//! One query on the device beside one on the CPU, and how their answers compare.

use std::collections::BTreeMap;

use nalgebra::Quaternion;
use taut_collide::{Contact, ContactList, ContactSet};
use taut_collide_gpu::{Detector, Pose, Room, supports};
use taut_core::{
    Placement, Quat, Scene, Vec3,
    scene::{Body, Shape},
};
use taut_gpu::{Clock, Gpu};

use crate::common::{rename, scene};

pub(crate) const DT: f64 = 1.0 / 60.0;
/// What normals [1] and gaps [m] may differ by.
pub(crate) const CLOSE: f64 = 1e-5;

/// Numbers that look random and are the same everywhere.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn unit(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.unit() * n as f64) as usize
    }

    pub(crate) fn vector(&mut self, range: f64) -> Vec3 {
        Vec3::new(self.unit(), self.unit(), self.unit()).map(|x| (2.0 * x - 1.0) * range)
    }
}

pub(crate) fn single(x: f64) -> f64 {
    f64::from(x as f32)
}

/// A placement as a device holds it.
pub(crate) fn rounded(body: &Body) -> Placement {
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

pub(crate) fn write(gpu: &Gpu, detector: &Detector, placements: &[Placement]) {
    let poses: Vec<Pose> = placements.iter().map(pose).collect();
    gpu.write(detector.poses(), 0, &poses).unwrap();
}

/// One query; the step is done again where there was no room.
pub(crate) fn query(gpu: &Gpu, detector: &mut Detector, placements: &[Placement]) -> ContactList {
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

pub(crate) fn detector(gpu: &Gpu, scene: &Scene, room: Room) -> Detector {
    supports(scene).unwrap();
    let mut detector = Detector::new(gpu, scene, room).unwrap();
    detector.look_ahead(DT).unwrap();
    detector
}

pub(crate) fn on_cpu(scene: &Scene, placements: &[Placement]) -> ContactList {
    let dt = single(DT);
    let mut collider = ContactSet::new(scene).unwrap();
    collider.detect(placements.iter().copied(), &vec![false; scene.joints.len()], dt).clone()
}

/// Contacts by pair.
fn by_pair(list: &ContactList) -> BTreeMap<[u32; 2], Vec<Contact>> {
    let mut map = BTreeMap::<_, Vec<_>>::new();
    for contact in &list.contacts {
        map.entry(contact.nodes()).or_default().push(*contact);
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
    let same =
        |a: &Contact, b: &Contact| alike(a, b) && (a.anchors()[0] - b.anchors()[0]).norm() <= 1e-4;
    !ours.is_empty()
        && !theirs.is_empty()
        && (theirs.iter().all(|their| ours.iter().any(|our| same(our, their)))
            || theirs.iter().all(|their| ours.iter().all(|our| alike(our, their))))
}

/// How the contacts of many pairs compare.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) touching: usize,
    /// With other points of one line: where it lies level, a tilt of 1e-10 decides which.
    pub(crate) level: usize,
    /// As far as rounding the placements changes what the CPU says.
    pub(crate) within_rounding: usize,
    pub(crate) different: usize,
    /// With the same points in another order.
    pub(crate) reordered: usize,
    pub(crate) worst: f64,
}

/// Compares what was found of pairs of bodies.
pub(crate) fn compare(
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
        list.iter_mut().for_each(|c| rename(c, pair));
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

pub(crate) fn shape(kind: usize, random: &mut Random) -> Shape {
    let extent = |random: &mut Random| 0.2 + 0.6 * random.unit();
    match kind {
        0 => Shape::Box { half: Vec3::new(extent(random), extent(random), extent(random)) },
        1 => Shape::Sphere { radius: extent(random) },
        2 => Shape::Capsule { radius: 0.5 * extent(random), half_length: extent(random) },
        _ => Shape::HalfSpace,
    }
}

/// A shape without anything random, so that faces, edges and corners can meet exactly.
pub(crate) fn plain(kind: usize) -> Shape {
    match kind {
        0 => Shape::Box { half: Vec3::new(0.5, 0.5, 0.25) },
        1 => Shape::Sphere { radius: 0.5 },
        2 => Shape::Capsule { radius: 0.25, half_length: 0.5 },
        _ => Shape::HalfSpace,
    }
}

/// Compares one query for many bodies that touch nothing but the `ground`, which is the `first` or the last in the list.
pub(crate) fn against(gpu: &Gpu, ground: Body, first: bool, mut bodies: Vec<Body>) -> Tally {
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
