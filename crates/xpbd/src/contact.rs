//! Contacts of one step: which pairs touch, in which order they are corrected, and the two passes.
//!
//! Contacts are found once per step. Between two queries a point keeps its anchors and its normal; its
//! gap follows from how far the anchors have moved since. A pair of bodies is one unit, and its points
//! are corrected one after the other, those of four pairs of one colour side by side. Joints come before
//! contacts, so that contacts have the last word.

mod batch;
mod budget;
mod fill;
mod lanes;
mod pair;
mod passes;
mod point;
mod ridden;

use std::array;

use taut_collide::{Carried, ContactList, ContactSet};
use taut_core::{ContactForce, Scene, StageTime, scene::Shape};
use taut_math::{LANES, Real, V3};
use taut_model::{
    ColourOf, Colouring, Graph, Model, Motions, Node, Order, Pose, Velocity, narrow, priority,
};

use crate::{
    body::PositionBodies,
    colours::{Schedule, UnitRun, within},
    correct::Terms,
    exchange::Exchange,
    settings::FrictionRule,
};
use fill::{FillSource, LaneGroup, TouchBatches};
use passes::{Positions, Velocities};
use point::PositionTerms;
use ridden::RiddenContact;

/// Points closer than this share of the margin share the load of their pair.
const NEAR: f64 = 0.1;

/// All contacts of a step.
#[derive(Debug)]
pub(crate) struct ContactPasses<R: Real> {
    set: ContactSet,
    order: Order,
    /// Points closer than that share the load of their pair [m].
    near: R,
    found: FoundPairs,
    before: FoundPairs,
    /// First patch in the list of each pair, and one past its last.
    ranges: Vec<[u32; 2]>,
    /// Patches with triangles and edges of particles, and their points; their batches come after those of the pairs.
    on_faces: Vec<u32>,
    faces: Vec<RiddenContact<R>>,
    /// How many batches pairs have.
    of_pairs: usize,
    /// Colour of each pair.
    colours: Vec<u32>,
    /// Places among those pairs, batch after batch.
    visits: Vec<u32>,
    /// First of these visits of each batch, and one past the last.
    groups: Vec<[u32; 2]>,
    schedule: Schedule,
    graph: Graph,
    colouring: Colouring,
    /// How many nodes may touch: bodies, and particles where any does.
    nodes: usize,
    /// Nodes that forces move.
    moves: Vec<bool>,
    /// Where the world is, the end of lanes without a pair.
    world: u32,
    touching: TouchBatches<R>,
    /// How each point of the list is held at the start of its step [m], if it is.
    strains: Carried<Option<V3<R>>>,
    /// Bodies that may roll.
    round: Vec<bool>,
    /// Room for what several threads change.
    poses: Exchange<Pose<R>>,
    velocities: Exchange<Velocity<R>>,
}

/// Pairs in contact, in the order in which they were found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct FoundPairs {
    slots: Vec<[u32; 2]>,
    /// How many patches and points each has: batches are best made of pairs that are alike.
    shapes: Vec<u32>,
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
            found: FoundPairs::default(),
            before: FoundPairs::default(),
            ranges: vec![],
            on_faces: vec![],
            faces: vec![],
            of_pairs: 0,
            colours: vec![],
            visits: vec![],
            groups: vec![],
            schedule: Schedule::serial(),
            graph: Graph::default(),
            colouring: Colouring::default(),
            nodes: scene.bodies.len() + scene.touching_particles().len(),
            moves: model.nodes.iter().map(Node::moves).collect(),
            world: model.slots.world(),
            touching: TouchBatches::default(),
            strains: Carried::default(),
            round: scene.bodies.iter().map(|body| is_round(&body.shape)).collect(),
            poses: Exchange::default(),
            velocities: Exchange::default(),
        })
    }

    /// Forgets all contacts.
    pub(crate) fn forget(&mut self) {
        self.set.forget();
        self.touching.clear();
        self.faces.clear();
        self.of_pairs = 0;
        self.strains.forget();
    }

    /// Appends the time spent on finding contacts since the last call.
    pub(crate) fn drain_times(&mut self, out: &mut Vec<StageTime>) {
        self.set.drain_times(out);
    }

    /// Finds the contacts of a step of length `dt` [s] that starts now.
    pub(crate) fn detect(&mut self, bodies: &mut PositionBodies<R>, broken: &[bool], dt: f64) {
        self.remember();
        std::mem::swap(&mut self.found, &mut self.before);
        let places = (0..self.nodes).map(|node| bodies.now.placement(node));
        let list = self.set.detect(places, broken, dt);
        self.strains.follow(list, |_, _, before| before.copied().flatten());
        self.found.take(list, self.nodes, &mut self.ranges, &mut self.on_faces);
        bodies.dismount();
        self.faces.clear();
        let touched = self.on_faces.iter().map(|&m| list.manifolds[m as usize].range().start);
        let mounted = touched.map(|contact| RiddenContact::mount(&list.contacts[contact], bodies));
        self.faces.extend(mounted);
        if self.found != self.before {
            self.arrange();
        }
        self.gather(bodies);
    }

    /// Notes how the points of the list before are held.
    fn remember(&mut self) {
        let TouchBatches { points, places, .. } = &self.touching;
        for (strain, place) in self.strains.now_mut().iter_mut().zip(places) {
            *strain = points[place.point as usize].strain(place.lane as usize);
        }
    }

    /// Brings the pairs into the order of a sweep.
    fn arrange(&mut self) {
        let count = self.found.slots.len();
        self.visits.clear();
        self.visits.extend(0..narrow(count));
        self.groups.clear();
        match self.order {
            Order::Coloured => self.arrange_colours(),
            Order::Creation => {}
            Order::ReverseCreation => self.visits.reverse(),
        }
        if self.order != Order::Coloured {
            // One after the other, since neighbours may share a body.
            self.groups.extend((0..narrow(count)).map(|i| [i, i + 1]));
        }
    }

    /// The same by colours, each in batches of pairs that are alike.
    fn arrange_colours(&mut self) {
        let Self { found, before, colours, visits, groups, graph, moves, schedule, nodes, .. } =
            self;
        let slots = &found.slots;
        if *slots != before.slots {
            let both = (0..).zip(slots).flat_map(|(pair, slots)| slots.map(|s| (pair, s)));
            let moving = both.filter(|&(_, slot)| moves[slot as usize]);
            graph.fill(*nodes, slots.len(), moving);
            // A key of the pair, not of its place: most colours survive a new contact.
            let mixed = |[a, b]: [u32; 2]| a.wrapping_mul(0x85eb_ca6b) ^ b;
            let key = |i: u32| priority(mixed(slots[i as usize]));
            colours.clear();
            colours.extend_from_slice(self.colouring.colour(graph, ColourOf::Units, key));
        }
        let colour = |&i: &u32| colours[i as usize];
        visits.sort_unstable_by_key(|i| (colour(i), found.shapes[*i as usize], *i));
        let mut first = 0;
        for run in visits.chunk_by(|i, j| colour(i) == colour(j)) {
            for batch in run.chunks(LANES) {
                groups.push([first, first + narrow(batch.len())]);
                first += narrow(batch.len());
            }
        }
        schedule.rebuild(groups.iter().map(|group| colour(&visits[group[0] as usize])));
    }

    fn gather(&mut self, bodies: &PositionBodies<R>) {
        let list = self.set.list();
        let (round, strains) = (&self.round[..], self.strains.now());
        let source = FillSource { list, bodies, round, strains };
        self.touching.start(list.contacts.len());
        for &group in &self.groups {
            let visits = &self.visits[within(group, 0)];
            let of = |&pair: &u32| &list.manifolds[within(self.ranges[pair as usize], 0)];
            let manifolds = array::from_fn(|lane| visits.get(lane).map_or(&[][..], of));
            let slots = lanes(visits, &self.found.slots, self.world);
            self.touching.push(&LaneGroup { slots, manifolds }, &source);
        }
        self.of_pairs = self.groups.len();
        for (&patch, contact) in self.on_faces.iter().zip(&self.faces) {
            let patch = &list.manifolds[patch as usize];
            let mut slots = [[self.world; LANES]; 2];
            [slots[0][0], slots[1][0]] = contact.slots;
            let mut manifolds = [&[][..]; LANES];
            manifolds[0] = std::slice::from_ref(patch);
            self.touching.push(&LaneGroup { slots, manifolds }, &source);
        }
    }

    /// Position pass: keeps bodies apart, and holds what sticks.
    pub(crate) fn sweep(
        &mut self,
        bodies: &mut PositionBodies<R>,
        terms: &Terms<R>,
        friction: FrictionRule,
    ) {
        let Motions { poses, velocities, .. } = &mut bodies.now;
        let given = PositionTerms { velocities, terms, friction, near: self.near };
        let (pairs, faces) = self.touching.run().split(self.of_pairs);
        self.schedule.sweep(&Positions(given), pairs, poses, &mut self.poses);
        ridden::sweep(&self.faces, &Positions(given), faces, poses);
    }

    /// Velocity pass: friction of what slides, and restitution.
    pub(crate) fn rebound(&mut self, bodies: &mut PositionBodies<R>, rebound: &VelocityTerms<R>) {
        let Motions { poses, velocities, .. } = &mut bodies.now;
        self.faces.iter().for_each(|contact| contact.fetch(poses));
        let (pairs, faces) = self.touching.run().split(self.of_pairs);
        let pass = Velocities { poses, rebound };
        self.schedule.sweep(&pass, pairs, velocities, &mut self.velocities);
        ridden::sweep(&self.faces, &pass, faces, velocities);
    }

    /// Mean forces over a step of length `dt` [s], in the order of the list.
    pub(crate) fn forces(&self, dt: f64, out: &mut Vec<ContactForce>) {
        let TouchBatches { points, places, .. } = &self.touching;
        let forces = places.iter().map(|place| {
            points[place.point as usize].impulse.lane(place.lane as usize).to_f64() / dt
        });
        self.set.report(forces, out);
    }
}

/// Whether a body of this shape may roll.
fn is_round(shape: &Shape) -> bool {
    matches!(shape, Shape::Sphere { .. } | Shape::Capsule { .. } | Shape::Cylinder { .. })
}

/// Both ends of the pairs in each lane.
fn lanes(visits: &[u32], slots: &[[u32; 2]], world: u32) -> [[u32; LANES]; 2] {
    let end = |side: usize, lane: usize| {
        visits.get(lane).map_or(world, |&pair| slots[pair as usize][side])
    };
    [0, 1].map(|side| array::from_fn(|lane| end(side, lane)))
}

impl FoundPairs {
    /// Takes over the pairs of a list, and where the patches of each are. Those with triangles and edges, which
    /// come after all `nodes`, are set aside.
    fn take(
        &mut self,
        list: &ContactList,
        nodes: usize,
        ranges: &mut Vec<[u32; 2]>,
        on_faces: &mut Vec<u32>,
    ) {
        self.slots.clear();
        self.shapes.clear();
        ranges.clear();
        on_faces.clear();
        let mut first = 0;
        for pair in list.manifolds.chunk_by(|m, n| m.owners == n.owners) {
            let last = first + narrow(pair.len());
            if pair[0].owners[1] as usize >= nodes {
                on_faces.extend(first..last);
                first = last;
                continue;
            }
            let counts = pair.iter().map(|m| m.contacts.len());
            let most = counts.clone().max().unwrap_or(0).min(0xff);
            let all = counts.sum::<usize>().min(0xff);
            self.slots.push(pair[0].owners);
            self.shapes.push(narrow((pair.len().min(0xffff) << 16) | (most << 8) | all));
            ranges.push([first, last]);
            first = last;
        }
    }
}
