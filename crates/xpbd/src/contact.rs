//! Contacts of one step: which pairs touch, in which order they are corrected, and the two passes.
//!
//! Contacts are found once per step. Between two queries a point keeps its anchors and its normal; its
//! gap follows from how far the anchors have moved since. A pair of bodies is one unit, and its points
//! are corrected one after the other. Joints come before contacts, so that contacts have the last word.

mod budget;
mod pair;
mod point;

use taut_collide::{Carried, ContactList, ContactSet};
use taut_core::{ContactForce, Scene, StageTime, Vec3, scene::Shape};
use taut_math::{Real, V3};
use taut_model::{
    ColourOf, Colouring, Graph, Model, Motions, Node, Order, Pose, Velocity, narrow, priority,
};

use crate::{
    body::{PositionBodies, Weight},
    colours::{Schedule, SweepWork, within},
    correct::Terms,
    settings::FrictionRule,
};
use budget::Budget;
use pair::TouchingPair;
use point::{PatchPoint, PositionTerms};

/// Points closer than this share of the margin share the load of their pair.
const NEAR: f64 = 0.1;

/// All contacts of a step.
#[derive(Debug)]
pub(crate) struct ContactPasses<R> {
    set: ContactSet,
    order: Order,
    /// Points closer than that share the load of their pair [m].
    near: R,
    /// Pairs in contact, in the order in which they were found.
    found: Vec<[u32; 2]>,
    before: Vec<[u32; 2]>,
    /// First contact in the list of each of them, and one past the last.
    starts: Vec<u32>,
    /// Places among those pairs, in the order of a sweep.
    visits: Vec<u32>,
    schedule: Schedule,
    graph: Graph,
    colouring: Colouring,
    /// Bodies that forces move.
    moves: Vec<bool>,
    pairs: Vec<PairPoints>,
    points: Vec<PatchPoint<R>>,
    /// Place in the list of each point.
    listed: Vec<u32>,
    /// How each point of the list is held at the start of its step [m], if it is.
    strains: Carried<Option<V3<R>>>,
    /// Poses when the contacts were found.
    origins: Vec<Pose<R>>,
    /// Bodies that may roll.
    round: Vec<bool>,
    staged: Vec<[Velocity<R>; 2]>,
}

/// The points of two bodies that touch.
#[derive(Clone, Copy, Debug)]
struct PairPoints {
    slots: [u32; 2],
    /// First point and one past the last.
    points: [u32; 2],
}

/// What the velocity pass needs beside the bodies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VelocityTerms<R> {
    /// Length of the step or sub-step [s].
    pub(crate) h: R,
    /// Approach speed up to which nothing bounces [m/s].
    pub(crate) threshold: R,
    pub(crate) friction: FrictionRule,
    /// Whether forces count towards the mean of the step.
    pub(crate) counts: bool,
}

impl<R: Real> ContactPasses<R> {
    /// No contacts yet; `None` where the scene has none ever.
    pub(crate) fn new(scene: &Scene, model: &Model, order: Order) -> Option<Self> {
        let margin = scene.contacts?.margin;
        Some(Self {
            near: R::of(NEAR * margin),
            set: ContactSet::new(scene)?,
            order,
            found: vec![],
            before: vec![],
            starts: vec![],
            visits: vec![],
            schedule: Schedule::serial(),
            graph: Graph::default(),
            colouring: Colouring::default(),
            moves: model.nodes.iter().map(Node::moves).collect(),
            pairs: vec![],
            points: vec![],
            listed: vec![],
            strains: Carried::default(),
            origins: vec![],
            round: scene.bodies.iter().map(|body| is_round(&body.shape)).collect(),
            staged: vec![],
        })
    }

    /// Forgets all contacts.
    pub(crate) fn forget(&mut self) {
        self.set.forget();
        self.pairs.clear();
        self.points.clear();
        self.listed.clear();
        self.strains.forget();
    }

    /// Appends the time spent on finding contacts since the last call.
    pub(crate) fn drain_times(&mut self, out: &mut Vec<StageTime>) {
        self.set.drain_times(out);
    }

    /// Finds the contacts of a step of length `dt` [s] that starts now.
    pub(crate) fn detect(&mut self, bodies: &PositionBodies<R>, broken: &[bool], dt: f64) {
        self.remember(bodies);
        self.origins.clear();
        self.origins.extend_from_slice(&bodies.now.poses);
        std::mem::swap(&mut self.found, &mut self.before);
        let list = self.set.detect(bodies.now.placements(), broken, dt);
        self.strains.follow(list, |_, _, before| before.copied().flatten());
        pairs_of(list, &mut self.found, &mut self.starts);
        if self.found != self.before {
            self.arrange();
        }
        self.gather(bodies);
    }

    /// Notes how the points of the list before are held.
    fn remember(&mut self, bodies: &PositionBodies<R>) {
        let strains = self.strains.now_mut();
        for pair in &self.pairs {
            let slots = pair.slots.map(|s| s as usize);
            let ([a, b], origins) =
                (slots.map(|s| &bodies.now.poses[s]), slots.map(|s| &self.origins[s]));
            for i in within(pair.points, 0) {
                strains[self.listed[i] as usize] = self.points[i].strain(a, b, origins);
            }
        }
    }

    /// Brings the pairs into the order of a sweep.
    fn arrange(&mut self) {
        let Self { found, visits, graph, colouring, moves, schedule, .. } = self;
        visits.clear();
        visits.extend(0..narrow(found.len()));
        match self.order {
            Order::Coloured => {
                let moves = |slot: usize| moves[slot];
                let both = (0..).zip(&*found).flat_map(|(pair, slots)| slots.map(|s| (pair, s)));
                let moving = both.filter(|&(_, slot)| moves(slot as usize));
                graph.fill(self.round.len(), found.len(), moving);
                // A key of the pair, not of its place: most colours survive a new contact.
                let mixed = |[a, b]: [u32; 2]| a.wrapping_mul(0x85eb_ca6b) ^ b;
                let key = |i: u32| priority(mixed(found[i as usize]));
                let colours = colouring.colour(graph, ColourOf::Units, key);
                let colour = |&i: &u32| colours[i as usize];
                visits.sort_unstable_by_key(|i| (colour(i), *i));
                let slots = |unit: usize| found[visits[unit] as usize];
                schedule.rebuild(visits.iter().map(colour), slots, moves);
            }
            Order::Creation => {}
            Order::ReverseCreation => visits.reverse(),
        }
    }

    fn gather(&mut self, bodies: &PositionBodies<R>) {
        let list = self.set.list();
        self.pairs.clear();
        self.points.clear();
        self.listed.clear();
        for &place in &self.visits {
            let range = self.starts[place as usize]..self.starts[place as usize + 1];
            let first = narrow(self.points.len());
            self.listed.extend(range);
            self.points.extend(self.listed[first as usize..].iter().map(|&i| {
                let contact = &list.contacts[i as usize];
                let after = |m: &taut_collide::Manifold| m.contacts.end <= i;
                let round = contact.nodes().map(|b| self.round[b as usize]);
                let patch = list.manifolds.partition_point(after);
                let mut point = PatchPoint::new(contact, &list.manifolds[patch], round, bodies);
                point.patch = narrow(patch);
                if let Some(strain) = self.strains.now()[i as usize] {
                    point.resume(strain);
                }
                point
            }));
            let slots = self.found[place as usize];
            self.pairs.push(PairPoints { slots, points: [first, narrow(self.points.len())] });
        }
    }

    /// Position pass: keeps bodies apart, and holds what sticks.
    pub(crate) fn sweep(
        &mut self,
        bodies: &mut PositionBodies<R>,
        staged: &mut Vec<[Pose<R>; 2]>,
        terms: &Terms<R>,
        friction: FrictionRule,
    ) {
        let PositionBodies { now, previous, weights, .. } = bodies;
        let Motions { poses, velocities, .. } = now;
        let given = PositionTerms {
            previous,
            velocities,
            origins: &self.origins,
            terms,
            friction,
            near: self.near,
        };
        let batch = PairRun { pairs: &self.pairs, points: &mut self.points, weights };
        self.schedule.sweep(Positions { batch, given }, poses, staged);
    }

    /// Velocity pass: friction of what slides, and restitution.
    pub(crate) fn rebound(&mut self, bodies: &mut PositionBodies<R>, rebound: &VelocityTerms<R>) {
        let PositionBodies { now, weights, .. } = bodies;
        let Motions { poses, velocities, .. } = now;
        let batch = PairRun { pairs: &self.pairs, points: &mut self.points, weights };
        self.schedule.sweep(
            Velocities { batch, poses, origins: &self.origins, rebound },
            velocities,
            &mut self.staged,
        );
    }

    /// Mean forces over a step of length `dt` [s], in the order of the list.
    pub(crate) fn forces(&self, dt: f64, out: &mut Vec<ContactForce>) {
        self.set.report(std::iter::repeat(Vec3::zeros()), out);
        for (point, &place) in self.points.iter().zip(&self.listed) {
            out[place as usize].force = point.impulse.to_f64() / dt;
        }
    }
}

/// Whether a body of this shape may roll.
fn is_round(shape: &Shape) -> bool {
    matches!(shape, Shape::Sphere { .. } | Shape::Capsule { .. } | Shape::Cylinder { .. })
}

/// Pairs of a list and where the contacts of each start.
fn pairs_of(list: &ContactList, pairs: &mut Vec<[u32; 2]>, starts: &mut Vec<u32>) {
    pairs.clear();
    starts.clear();
    for (i, contact) in list.contacts.iter().enumerate() {
        let nodes = contact.nodes();
        if pairs.last() != Some(&nodes) {
            pairs.push(nodes);
            starts.push(narrow(i));
        }
    }
    starts.push(narrow(list.contacts.len()));
}

/// A run of pairs with their points.
struct PairRun<'a, R> {
    pairs: &'a [PairPoints],
    points: &'a mut [PatchPoint<R>],
    weights: &'a [Weight<R>],
}

impl<R: Real> PairRun<'_, R> {
    fn split(self, middle: usize) -> (Self, Self) {
        let cut = match self.pairs.get(middle) {
            Some(pair) => (pair.points[0] - self.pairs[0].points[0]) as usize,
            None => self.points.len(),
        };
        let (pairs, pairs_after) = self.pairs.split_at(middle);
        let (points, points_after) = self.points.split_at_mut(cut);
        let weights = self.weights;
        (
            Self { pairs, points, weights },
            Self { pairs: pairs_after, points: points_after, weights },
        )
    }

    fn points(&mut self, pair: usize) -> &mut [PatchPoint<R>] {
        &mut self.points[within(self.pairs[pair].points, self.pairs[0].points[0])]
    }
}

/// The friction of a patch whose points have these loads and have been given so much.
fn budget<R: Real>(
    patch: &[PatchPoint<R>],
    load: impl Fn(&PatchPoint<R>) -> R,
    given: impl Fn(&PatchPoint<R>) -> V3<R>,
) -> Budget<R> {
    let (mut sum, mut count, mut spent) = (R::ZERO, R::ZERO, V3::ZERO);
    for point in patch.iter().filter(|p| p.bears()) {
        sum += load(point);
        count += R::ONE;
        spent += given(point);
    }
    Budget::new(patch[0].friction, sum, count.max(R::ONE), spent)
}

/// The position pass.
struct Positions<'a, R> {
    batch: PairRun<'a, R>,
    given: PositionTerms<'a, R>,
}

impl<R: Real> SweepWork<Pose<R>> for Positions<'_, R> {
    fn len(&self) -> usize {
        self.batch.pairs.len()
    }

    fn split(self, middle: usize) -> (Self, Self) {
        let (before, after) = self.batch.split(middle);
        let given = self.given;
        (Self { batch: before, given }, Self { batch: after, given })
    }

    fn slots(&self, unit: usize) -> [u32; 2] {
        self.batch.pairs[unit].slots
    }

    fn correct(&mut self, unit: usize, poses: [Pose<R>; 2]) -> [Pose<R>; 2] {
        let slots = self.slots(unit);
        let weights = slots.map(|s| &self.batch.weights[s as usize]);
        let mut pair = TouchingPair::new(poses, weights);
        let (given, points) = (&self.given, self.batch.points(unit));
        match given.friction {
            FrictionRule::Published => {
                for point in points {
                    point.press(&mut pair, slots, given);
                    let mut alone = Budget::new(point.friction, point.lambda, R::ONE, point.drag);
                    point.hold(&mut pair, slots, &mut alone, given);
                }
            }
            FrictionRule::Net => {
                for point in &mut *points {
                    point.press(&mut pair, slots, given);
                }
                for patch in points.chunk_by_mut(|a, b| a.patch == b.patch) {
                    let mut budget = budget(patch, |p| p.lambda, |p| p.drag);
                    for point in patch {
                        point.hold(&mut pair, slots, &mut budget, given);
                    }
                }
            }
        }
        pair.poses
    }
}

/// The velocity pass.
struct Velocities<'a, R> {
    batch: PairRun<'a, R>,
    poses: &'a [Pose<R>],
    origins: &'a [Pose<R>],
    rebound: &'a VelocityTerms<R>,
}

impl<R: Real> SweepWork<Velocity<R>> for Velocities<'_, R> {
    fn len(&self) -> usize {
        self.batch.pairs.len()
    }

    fn split(self, middle: usize) -> (Self, Self) {
        let (before, after) = self.batch.split(middle);
        let Self { poses, origins, rebound, .. } = self;
        let part = |batch| Self { batch, poses, origins, rebound };
        (part(before), part(after))
    }

    fn slots(&self, unit: usize) -> [u32; 2] {
        self.batch.pairs[unit].slots
    }

    fn correct(&mut self, unit: usize, mut velocities: [Velocity<R>; 2]) -> [Velocity<R>; 2] {
        let slots = self.slots(unit);
        let origins = slots.map(|s| &self.origins[s as usize]);
        let places = slots.map(|s| s as usize);
        let poses = places.map(|s| self.poses[s]);
        let pair = TouchingPair::new(poses, places.map(|s| &self.batch.weights[s]));
        let rebound = self.rebound;
        let points = self.batch.points(unit);
        let inverse = R::ONE / rebound.h;
        match rebound.friction {
            FrictionRule::Published => {
                for point in points {
                    if !point.arrive(&pair, origins) {
                        continue;
                    }
                    let load = point.lambda * inverse;
                    let mut alone = Budget::new(point.friction, load, R::ONE, V3::ZERO);
                    let rubbed = point.rub(&pair, &mut velocities, V3::ZERO, &mut alone);
                    point.reflect(&pair, &mut velocities, rebound);
                    point.count(rubbed, rebound);
                }
            }
            FrictionRule::Net => {
                for point in &mut *points {
                    if point.arrive(&pair, origins) {
                        point.reflect(&pair, &mut velocities, rebound);
                    }
                }
                let load = |p: &PatchPoint<R>| (p.lambda * inverse + p.push).max(R::ZERO);
                for patch in points.chunk_by_mut(|a, b| a.patch == b.patch) {
                    let mut budget = budget(patch, load, |p| p.drag * inverse);
                    for point in patch.iter_mut().filter(|point| point.has_arrived()) {
                        let held = point.drag * inverse;
                        let rubbed = point.rub(&pair, &mut velocities, held, &mut budget);
                        point.count(rubbed, rebound);
                    }
                }
            }
        }
        velocities
    }
}
