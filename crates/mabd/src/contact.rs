//! Contacts as an implicit penalty, which the paper names without details, with Coulomb friction.
//!
//! Every point has three soft rows, the gap and the displacement along two tangents, with energy `k/2 C^2` where it
//! presses. Along the tangents `C` counts from where it began to stick: what it exerted at the end of a step is how far
//! it is stretched at the start of the next (Cundall and Strack 1979), so that what sticks does not creep under a
//! load however soft these rows are. They are softer than those of the gap: who slides is then found in fewer rounds.
//!
//! For given pressures that and friction are a convex function of where bodies go, quadratic in pieces: sticking is a
//! spring until that would exceed the cone, then of constant size. So each round is a step of Newton's method on the
//! pieces at hand, and goes as far along as the function falls, island by island: who presses and who slides can
//! change in every round, but cannot go back and forth while pressures are given. These follow from round to round:
//! friction is bounded by the pressure that the linear solves so far exert, which balances all else, and in the first
//! round by that of the step before (`search.rs` tells what is done where that goes round in circles).
//!
//! Along the tangents all points of a body are as stiff, whatever presses on them, and each slides by itself. Where static
//! friction exceeds dynamic friction, those that bear little slide first and leave their share to the others, so that a body
//! can begin to slide before all of its static friction is used up: a box half as high as wide, with coefficients of 0.6 and
//! 0.4, does so on a slope of 0.54.
//!
//! A particle touches as a body without frame does, and a point of a triangle moves by the shares of its corners.
//!
//! Signs: the normal points from B to A; a multiplier is stiffness times value, so that pressure is
//! negative, and it acts on A along `-lambda`.

mod bounded;
mod point;
mod search;
mod spine;

use taut_collide::{Contact, ContactList, ContactSet, Grip, Manifold, Site, frame};
use taut_core::{ContactForce, Placement, Quat, Scene, StageTime, Vec3, math::polar_rotation};
use taut_math::V3;
use taut_model::{Csr, Islands};

use crate::{
    dual::order::Link,
    node::{Nodes, StepMoment},
    settings::MabdSettings,
};
pub(crate) use bounded::BoundedRow;
pub(crate) use point::{ContactPoint, CornerShares};
use search::LineSearch;
pub(crate) use spine::Roundness;
use spine::{Rim, Spines};

/// What a detection of contacts begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Begins {
    /// A step after the one before.
    Step,
    /// A part of a step after the part before.
    Part,
    /// The part at hand, or the step, once more, what was made of it being undone.
    PartAgain,
    StepAgain,
}

/// What is known of a contact from before.
#[derive(Clone, Copy, Debug, Default)]
struct PastContact {
    /// Pressure [N].
    pressure: f64,
    /// Multipliers along the tangents in the world when the step, or the part of it, begins, and when the step did [N].
    grips: Vec3,
    grips_at_step: Vec3,
}

/// The contacts of a step.
pub(crate) struct StepContacts {
    /// None where islands are all there is to know.
    set: Option<ContactSet>,
    /// Whether particles touch.
    with_particles: bool,
    spines: Spines,
    points: Vec<ContactPoint>,
    /// Sides of contacts that stay where they are while a body spins, by contact.
    rims: Vec<Rim>,
    /// Of the contacts before these.
    known: Vec<PastContact>,
    /// Contacts of one moving node, as contact point and side, by node.
    folded: Csr<(u32, u8)>,
    /// Contacts of two.
    paired: Vec<u32>,
    /// Contacts with particles that move, or with triangles of them.
    soft: Vec<u32>,
    /// What joints and contacts hold together, and joints alone.
    islands: Islands,
    joined: Islands,
    /// Of each node that stands for an island, how far it goes, and what its energy does there.
    searches: Vec<LineSearch>,
    /// Contacts, and limits and motors, of islands that do not go to the end of their way, and the nodes that stand for these.
    slowed: [Vec<u32>; 2],
    slowed_islands: Vec<u32>,
    /// Stiffness where they press and where they stick, in units of reduced mass over squared step [1].
    scales: [f64; 2],
    /// Largest speed at which what has sunk in is pushed out [m/s].
    push_speed_max: f64,
    /// How far apart bodies are at most beyond what they are foreseen to move that contacts are found between them [m].
    margin: f64,
}

impl StepContacts {
    /// The contacts of a scene of `count` moving nodes, of which joints and material hold `links` together.
    pub(crate) fn new(
        scene: &Scene,
        settings: &MabdSettings,
        count: usize,
        links: impl Iterator<Item = Link>,
    ) -> Self {
        let mut joined = Islands::default();
        joined.start(count);
        for link in links {
            if let [Some(a), Some(b)] = link {
                joined.join(a, b);
            }
        }
        Self {
            set: ContactSet::new(scene),
            with_particles: !scene.touching_particles().is_empty(),
            spines: Spines::new(scene),
            points: Vec::new(),
            rims: Vec::new(),
            known: Vec::new(),
            folded: Csr::default(),
            paired: Vec::new(),
            soft: Vec::new(),
            islands: joined.clone(),
            joined,
            searches: vec![LineSearch::START; count],
            slowed: Default::default(),
            slowed_islands: Vec::with_capacity(count),
            scales: [settings.contact_stiffness_scale, settings.friction_stiffness_scale],
            push_speed_max: settings.push_speed_max,
            margin: scene.contacts.map_or(f64::INFINITY, |contacts| contacts.margin),
        }
    }

    /// Forgets all contacts.
    pub(crate) fn forget(&mut self) {
        self.set.iter_mut().for_each(ContactSet::forget);
        self.points.clear();
        self.rims.clear();
    }

    /// Finds the contacts of a step of `h` [s], or of a part of one, from where the nodes are at its start.
    pub(crate) fn detect(&mut self, nodes: &Nodes, broken: &[bool], h: f64, begins: Begins) {
        self.known.clear();
        self.known.extend(self.points.iter().map(|point| point.known(begins)));
        self.points.clear();
        self.rims.clear();
        if let Some(mut set) = self.set.take() {
            let list = set.detect(self.placements(nodes, StepMoment::Start), broken, h);
            self.take_points(list, nodes, h);
            self.set = Some(set);
        }
        self.sort(nodes.count());
    }

    /// Adds to the contacts of the step at hand, or of a part of one, those at which bodies have sunk in by the current iterate
    /// that come to them, if one of these is needed: all at once, since a body that one keeps out sinks in at the next. What is
    /// known of the others stays. Whether one is needed.
    pub(crate) fn detect_more(&mut self, nodes: &Nodes, broken: &[bool], h: f64) -> bool {
        let Some(mut set) = self.set.take() else { return false };
        let found = (nodes, StepMoment::Iterate);
        let adds = |manifold: &Manifold, contact: &Contact, there: &[u32]| {
            let mut point = self.new_point(contact, manifold, found, h);
            let met = point.come_to(contact.gap, nodes, self.push_speed_max * h)?;
            // A point that has gone round with what is not round tells nothing of what took its place.
            let tells =
                |known: &u32| self.points[*known as usize].reached.x < 0.5 * point.reached.x;
            (!there.iter().any(tells)).then_some(met)
        };
        let list = set.detect_more(self.placements(nodes, StepMoment::Iterate), broken, adds);
        let Some(list) = list else {
            self.set = Some(set);
            return false;
        };
        let (known, rims) = (self.points.clone(), std::mem::take(&mut self.rims));
        self.points.clear();
        for manifold in &list.manifolds {
            for contact in &list.contacts[manifold.range()] {
                let (place, before) = (self.points.len() as u32, contact.previous);
                if let Some(point) = known.get(before as usize) {
                    let first = rims.partition_point(|rim| rim.point < before);
                    let own = rims[first..].iter().take_while(|rim| rim.point == before);
                    self.rims.extend(own.map(|rim| Rim { point: place, ..*rim }));
                    self.points.push(*point);
                } else {
                    let mut point = self.new_point(contact, manifold, found, h);
                    self.add_rims(&point, found);
                    point.start_from(contact.gap, nodes, self.push_speed_max * h);
                    self.points.push(point);
                }
            }
        }
        self.set = Some(set);
        self.sort(nodes.count());
        true
    }

    /// Where what may touch is at a moment, and at which rates it moves.
    fn placements(&self, nodes: &Nodes, moment: StepMoment) -> impl Iterator<Item = Placement> {
        let bodies = nodes.bodies_at(moment).map(|state| Placement::from(&state));
        let particles = nodes.particles_at(moment).map(|state| Placement {
            position: state.position,
            rotation: Quat::identity(),
            velocity: state.velocity,
            omega: Vec3::zeros(),
        });
        let with_particles = self.with_particles;
        bodies.chain(particles.filter(move |_| with_particles))
    }

    fn take_points(&mut self, list: &ContactList, nodes: &Nodes, h: f64) {
        for manifold in &list.manifolds {
            for contact in &list.contacts[manifold.range()] {
                let found = (nodes, StepMoment::Start);
                let point = self.new_point(contact, manifold, found, h);
                self.add_rims(&point, found);
                self.points.push(point);
            }
        }
    }

    /// Notes where the next point stays while a body spins that is found at a moment.
    fn add_rims(&mut self, point: &ContactPoint, (nodes, moment): (&Nodes, StepMoment)) {
        for side in 0..2 {
            let Roundness::About(axis) = point.roundness[side] else { continue };
            if point.is_on_spine(side) {
                continue;
            }
            let node = point.nodes[side];
            self.rims.push(Rim {
                point: self.points.len() as u32,
                side: side as u8,
                node,
                found: point.anchors[side],
                axis,
                rotation: polar_rotation(&nodes.at(node, moment).frame),
            });
        }
    }

    /// Has points on rims stay where they are while bodies spin.
    fn spin_rims(&mut self, nodes: &Nodes) {
        for rim in &self.rims {
            let core = rim.core(&nodes.place(rim.node).frame);
            self.points[rim.point as usize].cores[rim.side as usize] = core;
        }
    }

    fn new_point(
        &self,
        contact: &Contact,
        manifold: &Manifold,
        (nodes, moment): (&Nodes, StepMoment),
        h: f64,
    ) -> ContactPoint {
        let axes = frame(V3::<f64>::of(&manifold.normal)).map(V3::to_f64);
        let corners = CornerShares::of(contact, nodes);
        let ends = contact.sites.map(|site| match (site, &corners) {
            (Site::Triangle { .. }, Some(corners)) => corners.mover(nodes.count()),
            (site, _) => nodes.node_of(site.node()),
        });
        let lightness: f64 = [0, 1].map(|side| lightness(side, ends, &corners, nodes)).iter().sum();
        let inertia = 1.0 / (lightness * h * h);
        let [full, grip] = self.scales.map(|scale| scale * inertia);
        let world = contact.anchors();
        let axes_of = ends.map(|node| nodes.axes(node));
        let anchors = [0, 1].map(|side| axes_of[side].tr_mul(&world[side]));
        let cores = [0, 1].map(|side| {
            let behind = self.spine_behind(contact, side, ends[side], (nodes, moment));
            behind.map_or(anchors[side], |point| axes_of[side].tr_mul(&point))
        });
        let known = self.known.get(contact.previous as usize);
        let PastContact { pressure, grips, grips_at_step } = known.copied().unwrap_or_default();
        let [across, along] = [1, 2].map(|axis| axes[axis].dot(&grips) / grip);
        let left_in = (-contact.gap - self.push_speed_max * h).max(0.0);
        let of_particles = !matches!(contact.sites[1], Site::Body { .. });
        let mut point = ContactPoint {
            nodes: ends,
            corners,
            soft: of_particles && (ends[1] as usize) < nodes.count(),
            anchors,
            cores,
            axes,
            offset: Vec3::new(contact.gap + left_in, across, along),
            friction: [Grip::Sticks, Grip::Slides].map(|grip| manifold.friction(grip)),
            full,
            grip,
            inertia,
            roundness: [0, 1].map(|side| self.roundness(contact, side, ends[side], nodes)),
            before: pressure,
            grips_at_part: grips,
            grips_at_step,
            ..ContactPoint::NONE
        };
        point.from = point.apart(|node| nodes.at_start(node));
        point
    }

    /// How a side of a contact may turn and be where it was, in principal coordinates.
    fn roundness(&self, contact: &Contact, side: usize, node: u32, nodes: &Nodes) -> Roundness {
        let Site::Body { node: body, .. } = contact.sites[side] else { return Roundness::Any };
        match self.spines.roundness(body) {
            Roundness::About(axis) => Roundness::About(axis.map(|v| nodes.axes(node).tr_mul(&v))),
            other => other,
        }
    }

    /// The point of a spine behind one side of a contact between bodies, in body coordinates [m].
    fn spine_behind(
        &self,
        contact: &Contact,
        side: usize,
        node: u32,
        (nodes, moment): (&Nodes, StepMoment),
    ) -> Option<Vec3> {
        let [Site::Body { .. }, Site::Body { .. }] = contact.sites else { return None };
        let Site::Body { node: body, anchor } = contact.sites[side] else { return None };
        if !self.spines.has(body) {
            return None;
        }
        let inwards = if side == 0 { contact.normal } else { -contact.normal };
        let rotation = polar_rotation(&nodes.at(node, moment).frame);
        let inwards = nodes.axes(node) * rotation.inverse_transform_vector(&inwards);
        self.spines.behind(body, &anchor, &inwards)
    }

    /// Tells contacts with what forces do not move from those between two that they do.
    fn sort(&mut self, count: usize) {
        self.paired.clear();
        self.islands.start_from(&self.joined);
        self.soft.clear();
        for (t, point) in (0..).zip(&self.points) {
            if point.soft {
                self.soft.push(t);
            }
            if point.only_mover(count).is_none() {
                let [a, b] = point.nodes;
                self.islands.join(a, b);
            }
        }
        self.islands.settle();
        self.slowed[0].clear();
        self.slowed[0].reserve(self.points.len());
        let movers = || {
            let hard = (0..).zip(&self.points).filter(|(_, point)| !point.soft);
            hard.map(|(t, point)| (t, point, point.only_mover(count)))
        };
        self.paired.extend(movers().filter(|(_, _, mover)| mover.is_none()).map(|(t, _, _)| t));
        let one = |(t, point, mover): (u32, &ContactPoint, Option<usize>)| {
            mover.map(|side| (point.nodes[side], (t, side as u8)))
        };
        self.folded.fill(count, movers().filter_map(one));
    }

    /// How far each body may move otherwise than foreseen so that none meet that are no contact [m].
    pub(crate) fn stray_max(&self) -> f64 {
        0.5 * self.margin
    }

    /// Stiffness of what presses, in units of inertia over the squared step [1].
    pub(crate) fn stiffness_scale(&self) -> f64 {
        self.scales[0]
    }

    /// Contacts of a node with what forces do not move, with the node's side.
    pub(crate) fn folded(&self, node: usize) -> impl Iterator<Item = (&ContactPoint, usize)> {
        let at = self.folded.of(node).iter();
        at.map(|&(point, side)| (&self.points[point as usize], side as usize))
    }

    /// Whether forces move a node and not all that it touches.
    pub(crate) fn is_held(&self, node: usize) -> bool {
        node < self.island_of().len() && !self.folded.of(node).is_empty()
    }

    /// How many contacts with what forces do not move come before those of each node, and how many there are.
    pub(crate) fn folded_starts(&self) -> &[u32] {
        self.folded.starts()
    }

    /// Contacts between two nodes that forces move, in the order of detection.
    pub(crate) fn paired(&self) -> &[u32] {
        &self.paired
    }

    /// Contacts with particles that forces move, or with triangles of them, in the order of detection.
    pub(crate) fn soft(&self) -> &[u32] {
        &self.soft
    }

    /// Contacts that press.
    pub(crate) fn pressing(&self) -> impl Iterator<Item = &ContactPoint> {
        self.points.iter().filter(|point| point.stiffness(0) > 0.0)
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
        if let Some(set) = &self.set {
            set.report(self.points.iter().map(exerted), out);
        }
    }

    /// Appends the time spent on finding contacts since the last call.
    pub(crate) fn drain_times(&mut self, out: &mut Vec<StageTime>) {
        self.set.iter_mut().for_each(|set| set.drain_times(out));
    }
}

/// How far a unit of force moves one side, over the squared step [1/kg].
fn lightness(side: usize, ends: [u32; 2], corners: &Option<CornerShares>, nodes: &Nodes) -> f64 {
    match (side, corners) {
        (1, Some(corners)) => corners.lightness(nodes),
        _ => 1.0 / nodes.mass(ends[side]),
    }
}
