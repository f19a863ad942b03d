//! Batches made anew for every list of contacts.

use std::array;

use taut_collide::{Contact, ContactList, Grip, Manifold};
use taut_math::{LANES, Number, Q4, Real, Sym3, V3, Wide};
use taut_model::{Pose, narrow};

use super::{
    batch::{Rolling, TouchBatch, TouchPatch, Uneven},
    pair::gather_poses,
    passes::BatchRun,
    point::TouchPoint,
};
use crate::body::{PositionBodies, Weight};

/// Gap of a point that is not there [m]: nothing ever closes it.
const NOWHERE: f64 = 1e6;

/// All batches with what they consist of.
#[derive(Clone, Debug, Default)]
pub(super) struct TouchBatches<R: Real> {
    pub(super) batches: Vec<TouchBatch<R>>,
    pub(super) patches: Vec<TouchPatch<R::Wide>>,
    pub(super) points: Vec<TouchPoint<R::Wide>>,
    /// Where each contact of the list is.
    pub(super) places: Vec<PointPlace>,
}

/// A lane of a point.
#[derive(Clone, Copy, Debug)]
pub(super) struct PointPlace {
    pub(super) point: u32,
    pub(super) lane: u8,
}

/// Pairs that share a batch.
#[derive(Clone, Copy, Debug)]
pub(super) struct LaneGroup<'a> {
    pub(super) slots: [[u32; LANES]; 2],
    /// Patches of the pair in each lane.
    pub(super) manifolds: [&'a [Manifold]; LANES],
}

/// What batches are filled from.
#[derive(Clone, Copy, Debug)]
pub(super) struct FillSource<'a, R> {
    pub(super) list: &'a ContactList,
    pub(super) bodies: &'a PositionBodies<R>,
    /// Bodies that may roll.
    pub(super) round: &'a [bool],
    /// How each point of the list is held [m], if it is.
    pub(super) strains: &'a [Option<V3<R>>],
}

impl<R: Real> TouchBatches<R> {
    /// Starts a list of so many contacts.
    pub(super) fn start(&mut self, contacts: usize) {
        self.clear();
        self.places.resize(contacts, PointPlace { point: 0, lane: 0 });
    }

    /// What a pass works on.
    pub(super) fn run(&mut self) -> BatchRun<'_, R> {
        let Self { batches, patches, points, .. } = self;
        BatchRun { batches, patches, points }
    }

    /// Forgets all contacts.
    pub(super) fn clear(&mut self) {
        self.batches.clear();
        self.patches.clear();
        self.points.clear();
        self.places.clear();
    }

    /// Appends a batch.
    pub(super) fn push(&mut self, group: &LaneGroup<'_>, source: &FillSource<'_, R>) {
        let poses = gather_poses(&group.slots, &source.bodies.now.poses[..]);
        let firsts = [narrow(self.patches.len()), narrow(self.points.len())];
        let count = group.manifolds.iter().map(|m| m.len()).max().unwrap_or(0);
        for k in 0..count {
            let manifolds = array::from_fn(|lane| group.manifolds[lane].get(k));
            self.push_patch(manifolds, &poses, source);
        }
        let mut bounces = group.manifolds.iter().flat_map(|m| m.iter());
        let weights = group.slots.map(|s| s.map(|s| &source.bodies.weights[s as usize]));
        self.batches.push(TouchBatch {
            slots: group.slots,
            patches: [firsts[0], narrow(self.patches.len())],
            points: [firsts[1], narrow(self.points.len())],
            uneven: weights.map(uneven),
            bounces: bounces.any(|m| m.restitution > 0.0),
            inverse_mass: weights.map(|side| R::Wide::gather(|i| side[i].inverse_mass)),
            inverse_inertia: weights.map(|side| Sym3::gather(|i| side[i].inverse_inertia)),
            origins: [poses[0].position, poses[1].position],
            rolling: rolling(group, source),
        });
    }

    /// Appends a patch of each lane that has one.
    fn push_patch(
        &mut self,
        manifolds: [Option<&Manifold>; LANES],
        poses: &[Pose<R::Wide>; 2],
        source: &FillSource<'_, R>,
    ) {
        let first = narrow(self.points.len());
        let number = |of: &dyn Fn(&Manifold) -> f64| {
            let lanes: [R; LANES] =
                array::from_fn(|lane| manifolds[lane].map_or(R::ZERO, |m| R::of(of(m))));
            R::Wide::from_lanes(lanes)
        };
        let normals: [V3<R>; LANES] =
            array::from_fn(|lane| manifolds[lane].map_or(V3::ZERO, |m| V3::of(&m.normal)));
        let normal = V3::gather(|i| normals[i]);
        let count = manifolds.iter().flatten().map(|m| m.contacts.len()).max().unwrap_or(0);
        for i in 0..count {
            let contacts = array::from_fn(|lane| {
                let manifold = manifolds[lane]?;
                let at = manifold.contacts.start as usize + i;
                if at >= manifold.contacts.end as usize {
                    return None;
                }
                let point = narrow(self.points.len());
                self.places[at] = PointPlace { point, lane: lane as u8 };
                Some((&source.list.contacts[at], source.strains[at]))
            });
            self.points.push(point(contacts, normal, poses));
        }
        self.patches.push(TouchPatch {
            normal,
            friction: [Grip::Sticks, Grip::Slides].map(|grip| number(&|m| m.friction(grip))),
            restitution: number(&|m| m.restitution),
            points: [first, narrow(self.points.len())],
        });
    }
}

/// In which lanes inertia turns with its body. Equal moments without products are those of every axis, and what cannot
/// turn has none, which stay none.
fn uneven<R: Real>(weights: [&Weight<R>; LANES]) -> Uneven<R::Wide> {
    let lanes = weights.map(|weight| {
        let [xx, yy, zz, xy, xz, yz] = weight.inverse_inertia.0;
        xx != yy || yy != zz || [xy, xz, yz] != [R::ZERO; 3]
    });
    let any = lanes.contains(&true);
    let even = |i: usize| !lanes[i] && weights[i].inverse_inertia != Sym3::ZERO;
    match (any, (0..LANES).any(even)) {
        (false, _) => Uneven::Nowhere,
        (true, false) => Uneven::Everywhere,
        (true, true) => Uneven::Where(R::Wide::gather(|i| if lanes[i] { R::ONE } else { R::ZERO })),
    }
}

/// What follows the bodies of a group that may roll; `None` if none may.
fn rolling<R: Real>(group: &LaneGroup<'_>, source: &FillSource<'_, R>) -> Option<Rolling<R::Wide>> {
    // The world has no shape, and its place is after all bodies.
    let rolls = |s: u32| source.round.get(s as usize).is_some_and(|&round| round);
    let round = group.slots.map(|side| side.map(rolls));
    if round == [[false; LANES]; 2] {
        return None;
    }
    let poses = &source.bodies.now.poses;
    Some(Rolling {
        round: round.map(|side| R::Wide::gather(|i| if side[i] { R::ONE } else { R::ZERO })),
        origins: group.slots.map(|side| Q4::gather(|i| poses[side[i] as usize].rotation)),
    })
}

/// A contact of the list, and how it is held [m], if it is.
type ListedContact<'a, R> = (&'a Contact, Option<V3<R>>);

/// What one lane brings to a point.
#[derive(Clone, Copy)]
struct FoundPoint<R> {
    anchors: [V3<R>; 2],
    gap: R,
    strain: V3<R>,
    stuck: R,
}

/// A point of the lanes that have one. All lanes of a number are gathered before they become one register: lanes that
/// are written one by one have to be waited for.
#[inline(always)]
fn point<R: Real>(
    contacts: [Option<ListedContact<'_, R>>; LANES],
    normal: V3<R::Wide>,
    [a, b]: &[Pose<R::Wide>; 2],
) -> TouchPoint<R::Wide> {
    let found: [FoundPoint<R>; LANES] = array::from_fn(|lane| match contacts[lane] {
        Some((contact, strain)) => FoundPoint {
            anchors: contact.anchors().map(|anchor| V3::of(&anchor)),
            gap: R::of(contact.gap),
            strain: strain.unwrap_or(V3::ZERO),
            stuck: if strain.is_some() { R::ONE } else { R::ZERO },
        },
        None => FoundPoint {
            anchors: [V3::ZERO; 2],
            gap: R::of(NOWHERE),
            strain: V3::ZERO,
            stuck: R::ZERO,
        },
    });
    let anchors = [V3::gather(|i| found[i].anchors[0]), V3::gather(|i| found[i].anchors[1])];
    let levers = [a.rotation.rotate(anchors[0]), b.rotation.rotate(anchors[1])];
    let strain: V3<R::Wide> = V3::gather(|i| found[i].strain);
    let zero = R::Wide::ZERO;
    TouchPoint {
        anchors,
        levers,
        apart: (a.position - b.position) + (levers[0] - levers[1]),
        gap: R::Wide::gather(|i| found[i].gap),
        lambda: zero,
        drag: V3::ZERO,
        // A point that was held goes on with what has strained it.
        place: normal * normal.dot(strain) - strain,
        stuck: R::Wide::gather(|i| found[i].stuck),
        sticks: zero,
        near: zero,
        approach: zero,
        before: V3::ZERO,
        arms: [V3::ZERO; 2],
        impulse: V3::ZERO,
        push: zero,
    }
}
