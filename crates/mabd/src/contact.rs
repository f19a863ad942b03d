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

use taut_collide::{Collider, ContactList, Placement, Style};
use taut_core::{ContactForce, Mat3, Scene, StageTime, Vec3};

use crate::{affine::Affine, dual::order::Link, grouped::Grouped, node::Nodes};

/// Friction is found where it changes by less than this share of its bound.
const SETTLED: f64 = 1e-3;
/// Stiffness along the slip of what slides, as a share of the secant's [1]; the tangent's own would be zero.
const SLIDING: f64 = 0.1;
/// Halvings that find how far to go.
const HALVINGS: u32 = 30;

/// One point of contact.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ContactPoint {
    /// Nodes of A and B.
    pub(crate) nodes: [u32; 2],
    /// Points in principal coordinates [m], and where they were when the contact was found.
    anchors: [Vec3; 2],
    from: [Vec3; 2],
    /// Normal and two tangents in the world.
    axes: [Vec3; 3],
    gap: f64,
    /// Static and dynamic coefficient.
    friction: [f64; 2],
    /// Stiffness where it presses [N/m].
    full: f64,
    /// Cosine and sine of the slip in the plane of the tangents, along which the second row is taken.
    along: [f64; 2],
    /// Stiffness of each row [N/m], zero where it exerts nothing, and what is added to the value of the second
    /// so that the force of what slides is the bound [m].
    stiffness: Vec3,
    lead: f64,
    /// Rows in the current iterate, in the point reached and in the one tried [m].
    value: Vec3,
    reached: Vec3,
    tried: Vec3,
    /// Multipliers that the linear solves behind the point reached exert [N].
    held: Vec3,
    /// Pressure that bounds friction, and that of the step before [N].
    pressure: f64,
    before: f64,
}

/// How far an island goes towards where a linear solve leads.
#[derive(Clone, Copy, Debug)]
struct LineSearch {
    /// Whether it is still looking for who presses and slides.
    open: bool,
    /// Whether it goes to the end, wherever its energy is least.
    whole: bool,
    /// Whether contacts, or joints, have chosen otherwise than before in this round.
    news: bool,
    switched: bool,
    /// Shares of the way between which its energy is least.
    low: f64,
    high: f64,
    growth: f64,
}

impl LineSearch {
    const START: Self = Self {
        open: true,
        whole: true,
        news: false,
        switched: false,
        low: 0.0,
        high: 1.0,
        growth: 0.0,
    };
}

/// The contacts of a step.
pub(crate) struct Contacts {
    collider: Collider,
    placements: Vec<Placement>,
    points: Vec<ContactPoint>,
    /// Pressures of the contacts before these [N].
    pressures: Vec<f64>,
    /// Contacts of one moving node, as contact point and side, by node.
    folded: Grouped<(u32, u8)>,
    /// Contacts of two.
    paired: Vec<u32>,
    /// Of each moving node, another of what it touches or is joined to, or itself where it stands for all of
    /// these; and without contacts.
    island_of: Vec<u32>,
    joined: Vec<u32>,
    /// Of each node that stands for an island, how far it goes, and what its energy does there.
    searches: Vec<LineSearch>,
    /// Contacts of islands that do not go to the end of their way.
    slowed: Vec<u32>,
    /// Stiffness in units of reduced mass over squared step [1].
    scale: f64,
}

impl ContactPoint {
    /// Direction of a row in the world.
    fn direction(&self, axis: usize) -> Vec3 {
        let ([_, u, v], [cosine, sine]) = (self.axes, self.along);
        match axis {
            0 => self.axes[0],
            1 => u * cosine + v * sine,
            _ => v * cosine - u * sine,
        }
    }

    /// Derivative of a row with respect to one side, whose frame is co-rotated by `rotation`.
    #[inline]
    pub(crate) fn gradient(&self, side: usize, axis: usize, rotation: &Mat3) -> Affine {
        let direction = self.direction(axis);
        let along = if side == 0 { direction } else { -direction };
        Affine { frame: rotation.tr_mul(&along) * self.anchors[side].transpose(), origin: along }
    }

    /// Value of a row in the current iterate, as its stiffness takes it [m].
    pub(crate) fn value(&self, axis: usize) -> f64 {
        self.turned(&self.value)[axis] + if axis == 1 { self.lead } else { 0.0 }
    }

    /// Stiffness of a row [N/m].
    pub(crate) fn stiffness(&self, axis: usize) -> f64 {
        self.stiffness[axis]
    }

    /// From normal and tangents to the directions of the rows.
    fn turned(&self, v: &Vec3) -> Vec3 {
        let [cosine, sine] = self.along;
        Vec3::new(v.x, cosine * v.y + sine * v.z, cosine * v.z - sine * v.y)
    }

    fn local(&self, v: &Vec3) -> Vec3 {
        Vec3::new(self.axes[0].dot(v), self.axes[1].dot(v), self.axes[2].dot(v))
    }

    /// The multipliers that rows exert where they come to `value`, friction bounded by a `pressure`.
    fn law(&self, value: &Vec3, pressure: f64) -> Vec3 {
        let slip = value.y.hypot(value.z);
        let across = if pressure == 0.0 {
            0.0
        } else if self.full * slip <= self.friction[0] * pressure {
            self.full
        } else {
            self.friction[1] * pressure / slip
        };
        Vec3::new(self.full * value.x.min(0.0), across * value.y, across * value.z)
    }

    /// The multipliers that the last linear solve exerts in the point tried.
    fn exerted(&self) -> Vec3 {
        let mut value = self.turned(&self.tried);
        value.y += self.lead;
        let [pressed, along, across] = self.stiffness.component_mul(&value).into();
        let [cosine, sine] = self.along;
        Vec3::new(pressed, cosine * along - sine * across, cosine * across + sine * along)
    }

    /// By how much the energy grows along the way from the point reached to the one tried, a share `t`
    /// of the way on [N m]: what rows exert there beyond what the linear solves do, which balances all else.
    fn growth(&self, t: f64) -> f64 {
        let way = self.tried - self.reached;
        let held = self.held + (self.exerted() - self.held) * t;
        (self.law(&(self.reached + way * t), self.pressure) - held).dot(&way)
    }

    /// Chooses the pieces at the point reached, and bounds friction by a `pressure`; whether that is news.
    fn choose(&mut self, pressure: f64) -> bool {
        let slip = self.reached.y.hypot(self.reached.z);
        let bound = self.friction[0] * pressure;
        self.pressure = pressure;
        (self.along, self.lead) = ([1.0, 0.0], 0.0);
        let normal = if self.reached.x < 0.0 { self.full } else { 0.0 };
        let news = (normal > 0.0) != (self.stiffness.x > 0.0);
        self.stiffness = if pressure == 0.0 {
            Vec3::new(normal, 0.0, 0.0)
        } else if self.full * slip <= bound {
            Vec3::new(normal, self.full, self.full)
        } else {
            let secant = self.friction[1] * pressure / slip;
            self.along = [self.reached.y / slip, self.reached.z / slip];
            self.lead = slip * (1.0 / SLIDING - 1.0);
            Vec3::new(normal, SLIDING * secant, secant)
        };
        let lacks = (self.law(&self.reached, pressure) - self.held).yz().norm();
        news || lacks > SETTLED * bound
    }

    /// What it exerts in the point reached [N].
    fn force(&self) -> Vec3 {
        self.law(&self.reached, self.full * (-self.reached.x).max(0.0))
    }
}

impl Contacts {
    /// The contacts of a scene of `count` moving nodes, of which joints hold `links` together.
    pub(crate) fn new(scene: &Scene, scale: f64, count: usize, links: &[Link]) -> Option<Self> {
        scene.contacts?;
        let mut joined: Vec<u32> = (0..count as u32).collect();
        for link in links {
            if let [Some(a), Some(b)] = *link {
                unite(&mut joined, a, b);
            }
        }
        Some(Self {
            collider: Collider::new(scene, Style::Common),
            placements: Vec::new(),
            points: Vec::new(),
            pressures: Vec::new(),
            folded: Grouped::default(),
            paired: Vec::new(),
            island_of: Vec::with_capacity(count),
            joined,
            searches: vec![LineSearch::START; count],
            slowed: Vec::new(),
            scale,
        })
    }

    /// Forgets all contacts.
    pub(crate) fn forget(&mut self) {
        self.collider.forget();
        self.points.clear();
    }

    /// Finds the contacts of a step of `h` [s] from where the nodes are at its start.
    pub(crate) fn detect(&mut self, nodes: &Nodes, broken: &[bool], h: f64) {
        self.placements.clear();
        self.placements.extend(nodes.bodies_at_start().map(|state| Placement::from(&state)));
        let list = self.collider.detect(&self.placements, broken, h);
        self.pressures.clear();
        self.pressures.extend(self.points.iter().map(|point| point.pressure));
        self.points.clear();
        for manifold in &list.manifolds {
            let ends = manifold.bodies.map(|body| nodes.node_of_body(body as usize));
            let lightness: f64 = ends.iter().map(|&node| 1.0 / nodes.mass(node)).sum();
            let axes = frame(&manifold.normal);
            for contact in &list.contacts[manifold.range()] {
                let world = [contact.anchor_a, contact.anchor_b];
                let anchors = [0, 1].map(|side| nodes.axes(ends[side]).tr_mul(&world[side]));
                let at = [0, 1].map(|side| nodes.at_start(ends[side]).point(&anchors[side]));
                self.points.push(ContactPoint {
                    nodes: ends,
                    anchors,
                    from: at,
                    axes,
                    gap: contact.gap,
                    friction: [manifold.friction_static, manifold.friction_dynamic],
                    full: self.scale / (lightness * h * h),
                    along: [1.0, 0.0],
                    stiffness: Vec3::zeros(),
                    lead: 0.0,
                    value: Vec3::zeros(),
                    reached: Vec3::zeros(),
                    tried: Vec3::zeros(),
                    held: Vec3::zeros(),
                    pressure: 0.0,
                    before: self.pressures.get(contact.previous as usize).copied().unwrap_or(0.0),
                });
            }
        }
        self.sort(nodes.count());
    }

    /// Tells contacts with what forces do not move from those between two that they do.
    fn sort(&mut self, count: usize) {
        self.paired.clear();
        self.island_of.clone_from(&self.joined);
        for point in &self.points {
            if point.only_mover(count).is_none() {
                let [a, b] = point.nodes;
                unite(&mut self.island_of, a, b);
            }
        }
        // Nodes stand for none before them, so that those are told by then.
        for node in 0..count {
            self.island_of[node] = self.island_of[self.island_of[node] as usize];
        }
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
        &self.island_of
    }

    /// Whether a node's island is still looking for who presses and slides.
    pub(crate) fn is_open(&self, node: usize) -> bool {
        self.searches[self.island_of[node] as usize].open
    }

    /// Lets all islands look again.
    #[cfg(test)]
    pub(crate) fn reopen(&mut self) {
        self.searches.fill(LineSearch::START);
    }

    /// Notes that a joint of a node's island has changed what it does.
    pub(crate) fn switch(&mut self, node: usize) {
        self.searches[self.island_of[node] as usize].switched = true;
    }

    /// Ends a round: islands without news are settled, or all at once if they are solved `together`. Tells
    /// whether all are.
    pub(crate) fn close(&mut self, together: bool) -> bool {
        let fresh = |search: &LineSearch| search.open && (search.news || search.switched);
        let any = self.searches.iter().any(fresh);
        for search in &mut self.searches {
            search.open = if together { any } else { fresh(search) };
            (search.whole, search.switched) = (search.switched, false);
        }
        !any
    }

    /// Values of all rows in the current iterate; nothing presses yet, and no island is settled.
    pub(crate) fn evaluate(&mut self, nodes: &Nodes) {
        self.searches.fill(LineSearch::START);
        for point in &mut self.points {
            let [a, b] = [0, 1].map(|side| {
                nodes.place(point.nodes[side]).point(&point.anchors[side]) - point.from[side]
            });
            point.value = point.local(&(a - b)) + Vec3::new(point.gap, 0.0, 0.0);
            (point.stiffness, point.held) = (Vec3::zeros(), Vec3::zeros());
            point.lead = 0.0;
        }
    }

    /// Takes over where rows of islands that are not settled come to when nodes move on by `increments`, frames
    /// co-rotated.
    fn attempt(&mut self, nodes: &Nodes, increments: &[Affine]) {
        for t in 0..self.points.len() {
            if !self.search(t).open {
                continue;
            }
            let point = &mut self.points[t];
            point.tried = point.value;
            for side in 0..2 {
                let node = point.nodes[side] as usize;
                let Some(response) = nodes.responses.get(node) else { continue };
                let moved = increments[node];
                let to = response.rotation * (moved.frame * point.anchors[side]) + moved.origin;
                let change = point.local(&to);
                point.tried += if side == 0 { change } else { -change };
            }
        }
    }

    /// Decides who presses and slides from where nodes would go without contact.
    pub(crate) fn predict(&mut self, nodes: &Nodes, increments: &[Affine]) {
        self.attempt(nodes, increments);
        for point in &mut self.points {
            point.reached = point.tried;
            point.choose(point.before);
        }
    }

    /// Goes towards where a linear solve leads, to its end where joints have changed what they do, and decides
    /// anew who presses and slides there.
    ///
    /// The first way need not keep the joints, nor one before which a motor or limit has changed what it
    /// does: these are gone to their ends.
    pub(crate) fn advance(&mut self, nodes: &Nodes, increments: &[Affine]) {
        self.attempt(nodes, increments);
        self.find_shares();
        for t in 0..self.points.len() {
            let LineSearch { open, high: share, .. } = *self.search(t);
            if !open {
                continue;
            }
            let point = &mut self.points[t];
            point.held += (point.exerted() - point.held) * share;
            point.reached += (point.tried - point.reached) * share;
            let news = point.choose((-point.held.x).max(0.0)) || share < 1.0;
            self.search_mut(t).news |= news;
        }
    }

    /// How much of the way to where the last solve led a node goes.
    pub(crate) fn share(&self, node: usize) -> f64 {
        self.searches[self.island_of[node] as usize].high
    }

    /// The node that stands for the island of a contact.
    fn island(&self, point: usize) -> usize {
        let point = &self.points[point];
        let mover = point.nodes[point.only_mover(self.island_of.len()).unwrap_or(0)];
        self.island_of[mover as usize] as usize
    }

    fn search(&self, point: usize) -> &LineSearch {
        &self.searches[self.island(point)]
    }

    fn search_mut(&mut self, point: usize) -> &mut LineSearch {
        let island = self.island(point);
        &mut self.searches[island]
    }

    /// How much of the way lowers the energy of each island.
    fn find_shares(&mut self) {
        for search in &mut self.searches {
            *search = LineSearch { news: false, low: 0.0, high: 1.0, growth: 0.0, ..*search };
        }
        for t in 0..self.points.len() {
            if self.search(t).open && !self.search(t).whole {
                let growth = self.points[t].growth(1.0);
                self.search_mut(t).growth += growth;
            }
        }
        self.slowed.clear();
        for t in 0..self.points.len() {
            if self.search(t).growth > 0.0 {
                self.slowed.push(t as u32);
            }
        }
        if self.slowed.is_empty() {
            return;
        }
        for search in &mut self.searches {
            search.low = if search.growth > 0.0 { 0.0 } else { 1.0 };
        }
        for _ in 0..HALVINGS {
            self.halve();
        }
    }

    /// Halves what is left of the ways of islands that do not go to the end.
    fn halve(&mut self) {
        self.searches.iter_mut().for_each(|search| search.growth = 0.0);
        for i in 0..self.slowed.len() {
            let t = self.slowed[i] as usize;
            let LineSearch { low, high, .. } = *self.search(t);
            let growth = self.points[t].growth(0.5 * (low + high));
            self.search_mut(t).growth += growth;
        }
        for search in self.searches.iter_mut().filter(|search| search.low < 1.0) {
            let middle = 0.5 * (search.low + search.high);
            let side = if search.growth <= 0.0 { &mut search.low } else { &mut search.high };
            *side = middle;
        }
    }

    /// Writes the force of every contact, in the order of detection.
    pub(crate) fn read_forces(&self, out: &mut Vec<ContactForce>) {
        out.clear();
        let ContactList { contacts, manifolds } = self.collider.list();
        for manifold in manifolds {
            let range = manifold.range();
            for (contact, point) in contacts[range.clone()].iter().zip(&self.points[range]) {
                let a = &self.placements[contact.bodies[0] as usize];
                let force = point.force();
                let pushed = point.axes.iter().zip(&force).map(|(axis, f)| *axis * -*f);
                out.push(ContactForce {
                    bodies: contact.bodies,
                    point: a.position + a.rotation * contact.anchor_a,
                    normal: contact.normal,
                    gap: contact.gap,
                    friction: point.friction,
                    force: pushed.sum(),
                });
            }
        }
    }

    /// Appends the time spent on finding contacts since the last call.
    pub(crate) fn drain_times(&mut self, out: &mut Vec<StageTime>) {
        self.collider.drain_times(out);
    }
}

impl ContactPoint {
    /// The side that forces move, if they do not move the other.
    fn only_mover(&self, count: usize) -> Option<usize> {
        match self.nodes.map(|node| (node as usize) < count) {
            [true, true] => None,
            [a_moves, _] => Some(usize::from(!a_moves)),
        }
    }
}

/// The node that stands for the island of another.
fn root(island_of: &[u32], mut node: u32) -> u32 {
    while island_of[node as usize] != node {
        node = island_of[node as usize];
    }
    node
}

fn unite(island_of: &mut [u32], a: u32, b: u32) {
    let [a, b] = [root(island_of, a), root(island_of, b)];
    // The lower stands for both, which keeps paths short where neighbours are numbered in turn.
    island_of[a.max(b) as usize] = a.min(b);
}

/// A right-handed frame whose first axis is the normal.
fn frame(normal: &Vec3) -> [Vec3; 3] {
    let least = normal.iamin();
    let first = normal.cross(&Vec3::ith(least, 1.0)).normalize();
    [*normal, first, normal.cross(&first)]
}

#[cfg(test)]
#[path = "contact_tests.rs"]
mod tests;
