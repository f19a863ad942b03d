//! Contacts as an implicit penalty, which the paper names without details, with Coulomb friction.
//!
//! Every point has three soft rows, the gap and the displacement along two tangents since the step
//! began, with energy `k/2 C^2` where it presses. For given pressures that and friction are a convex function
//! of where bodies go, quadratic in pieces: friction is as stiff as pressure until that would exceed the cone,
//! then of constant size. So each round is a step of Newton's method on the pieces at hand, and goes as far
//! along as the function falls, island by island: who presses and who slides can change in every round, but
//! cannot go back and forth. Friction is bounded by the pressure that the linear solves so far exert, which
//! balances all else, and in the first round by that of the step before. What sticks still creeps, by the
//! load over the stiffness in every step.
//!
//! Signs: the normal points from B to A; a multiplier is stiffness times value, so that pressure is
//! negative, and it acts on A along `-lambda`.

mod point;
mod search;

use taut_collide::{ContactSet, Grip, frame};
use taut_core::{ContactForce, Placement, Scene, StageTime};
use taut_math::V3;
use taut_model::{Csr, Islands};

use crate::{dual::order::Link, node::Nodes};
pub(crate) use point::ContactPoint;
use search::LineSearch;
pub(crate) use search::ROUNDS_FROZEN;

/// The contacts of a step.
pub(crate) struct StepContacts {
    set: ContactSet,
    points: Vec<ContactPoint>,
    /// Pressures of the contacts before these [N].
    pressures: Vec<f64>,
    /// Contacts of one moving node, as contact point and side, by node.
    folded: Csr<(u32, u8)>,
    /// Contacts of two.
    paired: Vec<u32>,
    /// What joints and contacts hold together, and joints alone.
    islands: Islands,
    joined: Islands,
    /// Of each node that stands for an island, how far it goes, and what its energy does there.
    searches: Vec<LineSearch>,
    /// Contacts of islands that do not go to the end of their way.
    slowed: Vec<u32>,
    /// Stiffness in units of reduced mass over squared step [1].
    scale: f64,
}

impl StepContacts {
    /// The contacts of a scene of `count` moving nodes, of which joints hold `links` together.
    pub(crate) fn new(scene: &Scene, scale: f64, count: usize, links: &[Link]) -> Option<Self> {
        let set = ContactSet::new(scene)?;
        let mut joined = Islands::default();
        joined.start(count);
        for link in links {
            if let [Some(a), Some(b)] = *link {
                joined.join(a, b);
            }
        }
        Some(Self {
            set,
            points: Vec::new(),
            pressures: Vec::new(),
            folded: Csr::default(),
            paired: Vec::new(),
            islands: joined.clone(),
            joined,
            searches: vec![LineSearch::START; count],
            slowed: Vec::new(),
            scale,
        })
    }

    /// Forgets all contacts.
    pub(crate) fn forget(&mut self) {
        self.set.forget();
        self.points.clear();
    }

    /// Finds the contacts of a step of `h` [s] from where the nodes are at its start.
    pub(crate) fn detect(&mut self, nodes: &Nodes, broken: &[bool], h: f64) {
        let placements = nodes.bodies_at_start().map(|state| Placement::from(&state));
        let list = self.set.detect(placements, broken, h);
        self.pressures.clear();
        self.pressures.extend(self.points.iter().map(|point| point.pressure));
        self.points.clear();
        for manifold in &list.manifolds {
            let ends = manifold.owners.map(|body| nodes.node_of_body(body as usize));
            let lightness: f64 = ends.iter().map(|&node| 1.0 / nodes.mass(node)).sum();
            let axes = frame(V3::<f64>::of(&manifold.normal)).map(V3::to_f64);
            for contact in &list.contacts[manifold.range()] {
                let world = contact.anchors();
                let anchors = [0, 1].map(|side| nodes.axes(ends[side]).tr_mul(&world[side]));
                let at = [0, 1].map(|side| nodes.at_start(ends[side]).point(&anchors[side]));
                self.points.push(ContactPoint {
                    nodes: ends,
                    anchors,
                    from: at,
                    axes,
                    gap: contact.gap,
                    friction: [Grip::Sticks, Grip::Slides].map(|grip| manifold.friction(grip)),
                    full: self.scale / (lightness * h * h),
                    before: self.pressures.get(contact.previous as usize).copied().unwrap_or(0.0),
                    ..ContactPoint::NONE
                });
            }
        }
        self.sort(nodes.count());
    }

    /// Tells contacts with what forces do not move from those between two that they do.
    fn sort(&mut self, count: usize) {
        self.paired.clear();
        self.islands.start_from(&self.joined);
        for point in &self.points {
            if point.only_mover(count).is_none() {
                let [a, b] = point.nodes;
                self.islands.join(a, b);
            }
        }
        self.islands.settle();
        self.slowed.clear();
        self.slowed.reserve(self.points.len());
        let movers =
            || (0..).zip(&self.points).map(|(t, point)| (t, point, point.only_mover(count)));
        self.paired.extend(movers().filter(|(_, _, mover)| mover.is_none()).map(|(t, _, _)| t));
        let one = |(t, point, mover): (u32, &ContactPoint, Option<usize>)| {
            mover.map(|side| (point.nodes[side], (t, side as u8)))
        };
        self.folded.fill(count, movers().filter_map(one));
    }

    /// Contacts of a node with what forces do not move, with the node's side.
    pub(crate) fn folded(&self, node: usize) -> impl Iterator<Item = (&ContactPoint, usize)> {
        let at = self.folded.of(node).iter();
        at.map(|&(point, side)| (&self.points[point as usize], side as usize))
    }

    /// How many contacts with what forces do not move come before those of each node, and how many there are.
    pub(crate) fn folded_starts(&self) -> &[u32] {
        self.folded.starts()
    }

    /// Contacts between two nodes that forces move, in the order of detection.
    pub(crate) fn paired(&self) -> &[u32] {
        &self.paired
    }

    /// One contact.
    pub(crate) fn point(&self, point: u32) -> &ContactPoint {
        &self.points[point as usize]
    }

    /// The node that stands for each node's island, the lowest of it.
    pub(crate) fn island_of(&self) -> &[u32] {
        self.islands.settled()
    }

    /// Writes the force of every contact, in the order of detection.
    pub(crate) fn read_forces(&self, out: &mut Vec<ContactForce>) {
        let exerted = |point: &ContactPoint| {
            let force = point.force();
            point.axes.iter().zip(&force).map(|(axis, f)| *axis * -*f).sum()
        };
        self.set.report(self.points.iter().map(exerted), out);
    }

    /// Appends the time spent on finding contacts since the last call.
    pub(crate) fn drain_times(&mut self, out: &mut Vec<StageTime>) {
        self.set.drain_times(out);
    }
}
