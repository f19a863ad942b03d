//! What joints act on: dynamic bodies and particles, numbered first, then what forces do not move.

use std::collections::BTreeMap;

use taut_core::{
    BodyState, Mat3, ParticleState, Quat, Scene, State, Vec3,
    math::axial,
    scene::{Drive, Motion},
};
use taut_math::{Fused, LANES, Number};
use taut_model::Slots;

use crate::{
    affine::{Affine, Affines},
    body::BodyKind,
    local::LocalInverse,
};

/// A body or particle that forces do not move, or the world.
#[derive(Clone, Copy, Debug, PartialEq)]
struct HeldNode {
    /// At the start of the step.
    state: BodyState,
    /// Whether it moves all the same.
    moving: bool,
}

impl HeldNode {
    fn still(moving: bool) -> Self {
        let (origin, identity) = (Vec3::zeros(), Quat::identity());
        Self { state: BodyState::rigid(origin, identity, origin, origin), moving }
    }

    fn after(&self, time: f64) -> BodyState {
        if !self.moving || time == 0.0 {
            return self.state;
        }
        let BodyState { position, velocity, .. } = self.state;
        let omega = self.state.omega();
        let rotation = Quat::from_scaled_axis(omega * time) * self.state.rotation();
        BodyState::rigid(position + velocity * time, rotation, velocity, omega)
    }
}

/// Where nodes are meant to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StepMoment {
    /// At the start of the step, or of a part of one.
    Start,
    /// In the current iterate.
    Iterate,
}

/// The two nodes of an element, and the principal axes in which it sees them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ElementEnds {
    pub(crate) nodes: [u32; 2],
    pub(crate) axes: [Mat3; 2],
}

/// What is found about each dynamic node in an iteration.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NodeResponse {
    /// The node's rotation, to which loads and increments are turned back.
    pub(crate) rotation: Mat3,
    /// The inverse of its local matrix.
    pub(crate) local: LocalInverse<f64>,
    /// Increment without joints, its frame co-rotated.
    pub(crate) free: Affine,
    /// Load of the joints, its frame co-rotated.
    pub(crate) load: Affine,
}

/// All nodes with their state.
#[derive(Clone, Debug)]
pub(crate) struct Nodes {
    kinds: Vec<BodyKind>,
    kind_of: Vec<u32>,
    /// Where bodies, particles and the world are among the model's nodes, and which node each of these is here.
    slots: Slots,
    of: Vec<u32>,
    /// Where the dynamic nodes were when the step began.
    pub(crate) start: Affines,
    /// Their velocities.
    pub(crate) rate: Affines,
    /// How far they have moved since.
    pub(crate) moved: Affines,
    /// Stiffness that the forces of the last solve give along the principal axes [N m], by groups.
    pub(crate) tension: Vec<[Fused; 3]>,
    /// Empty where chains are solved by lanes.
    pub(crate) responses: Vec<NodeResponse>,
    fixed: Vec<HeldNode>,
    /// Where the others are at the end of the step; the world is the last of them.
    pub(crate) held: Vec<Affine>,
}

/// The dynamic nodes of some consecutive groups, of which several can be worked on at once.
pub(crate) struct BodyGroups<'a> {
    /// As in [`Nodes`].
    pub(crate) start: &'a mut [[Fused; 12]],
    pub(crate) rate: &'a mut [[Fused; 12]],
    pub(crate) moved: &'a mut [[Fused; 12]],
    pub(crate) tension: &'a mut [[Fused; 3]],
    /// Displacements and rates of the step before, where the two-step formula is used.
    pub(crate) before: Option<[&'a [[Fused; 12]]; 2]>,
}

impl BodyGroups<'_> {
    /// Keeps the first `groups` and returns the others.
    pub(crate) fn split_off(&mut self, groups: usize) -> Self {
        Self {
            start: self.start.split_off_mut(groups..).unwrap_or_default(),
            rate: self.rate.split_off_mut(groups..).unwrap_or_default(),
            moved: self.moved.split_off_mut(groups..).unwrap_or_default(),
            tension: self.tension.split_off_mut(groups..).unwrap_or_default(),
            before: self.before.as_mut().map(|all| {
                all.each_mut().map(|places| places.split_off(groups..).unwrap_or_default())
            }),
        }
    }
}

impl Nodes {
    /// The nodes of a scene, or why one of them cannot be simulated.
    pub(crate) fn new(scene: &Scene) -> Result<Self, String> {
        let (mut kinds, slots) = (Kinds::default(), Slots::new(scene));
        let mut this = Self {
            kinds: Vec::new(),
            kind_of: Vec::new(),
            slots,
            of: Vec::with_capacity(slots.count()),
            start: Affines::default(),
            rate: Affines::default(),
            moved: Affines::default(),
            tension: Vec::new(),
            responses: Vec::new(),
            fixed: Vec::new(),
            held: Vec::new(),
        };
        let bodies = scene.bodies.iter().filter(|body| body.is_dynamic()).count();
        let particles = scene.particles.iter().filter(|particle| particle.mass > 0.0).count();
        let dynamic = u32::try_from(bodies + particles).map_err(|_| "too many bodies")?;
        let mut add = |kind: Option<BodyKind>, driven: bool| match kind {
            Some(kind) => {
                this.of.push(this.kind_of.len() as u32);
                this.kind_of.push(kinds.index(kind));
            }
            None => {
                this.of.push(dynamic + this.fixed.len() as u32);
                this.fixed.push(HeldNode::still(driven));
            }
        };
        for body in &scene.bodies {
            let kind = if body.is_dynamic() { Some(BodyKind::of(body)?) } else { None };
            add(kind, body.motion == Motion::Kinematic);
        }
        for particle in &scene.particles {
            add((particle.mass > 0.0).then(|| BodyKind::particle(particle.mass)), false);
        }
        add(None, false);
        this.kinds = kinds.list;
        let count = this.kind_of.len();
        this.start = Affines::new(count, 1.0);
        this.rate = Affines::new(count, 0.0);
        this.moved = Affines::new(count, 0.0);
        this.tension = vec![[Fused::ZERO; 3]; this.start.groups.len()];
        this.held = vec![Affine::ZERO; this.fixed.len()];
        this.hold(0.0);
        Ok(this)
    }

    /// The dynamic nodes, and where the others are at the end of the step.
    pub(crate) fn bodies<'a>(
        &'a mut self,
        before: Option<&'a [Affines; 2]>,
    ) -> (BodyGroups<'a>, &'a [Affine]) {
        let bodies = BodyGroups {
            start: &mut self.start.groups,
            rate: &mut self.rate.groups,
            moved: &mut self.moved.groups,
            tension: &mut self.tension,
            before: before.map(|[moved, slower]| [&moved.groups[..], &slower.groups[..]]),
        };
        (bodies, &self.held)
    }

    /// How many bodies and particles there are.
    pub(crate) fn counts(&self) -> [usize; 2] {
        [self.slots.bodies as usize, self.slots.particles as usize]
    }

    /// The nodes of bodies and of particles, in scene order.
    fn movers(&self) -> (&[u32], &[u32]) {
        let (bodies, rest) = self.of.split_at(self.slots.bodies as usize);
        (bodies, &rest[..self.slots.particles as usize])
    }

    /// How many nodes forces move; they come first.
    pub(crate) fn count(&self) -> usize {
        self.kind_of.len()
    }

    /// Puts the dynamic nodes into another order, `order` telling which one comes where; the rest are
    /// point masses that nothing touches. Those that forces do not move still come after them.
    pub(crate) fn rearrange(&mut self, order: &[u32]) {
        let (before, count) = (self.count(), order.len());
        let mut place = vec![0; before];
        let filler = self.kinds.len() as u32;
        self.kinds.push(BodyKind::particle(1.0));
        let mut kind_of = vec![filler; count];
        for (to, &from) in (0..).zip(order) {
            if let Some(kind) = self.kind_of.get(from as usize) {
                kind_of[to as usize] = *kind;
                place[from as usize] = to;
            }
        }
        self.kind_of = kind_of;
        for node in &mut self.of {
            *node = match place.get(*node as usize) {
                Some(&to) => to,
                None => *node - before as u32 + count as u32,
            };
        }
        self.start = Affines::new(count, 1.0);
        self.rate = Affines::new(count, 0.0);
        self.moved = Affines::new(count, 0.0);
        self.tension = vec![[Fused::ZERO; 3]; self.start.groups.len()];
        let rest = Affine { frame: Mat3::identity(), origin: Vec3::zeros() };
        for (to, _) in order.iter().enumerate().filter(|(_, from)| **from as usize >= before) {
            self.start.set(to, &rest);
        }
    }

    /// Makes room for one response per node.
    pub(crate) fn make_room(&mut self) {
        let local = LocalInverse::of(&BodyKind::particle(1.0), &Vec3::repeat(1.0));
        let none =
            NodeResponse { rotation: Mat3::zeros(), local, free: Affine::ZERO, load: Affine::ZERO };
        self.responses = vec![none; self.count()];
    }

    /// Whether no node has moved since the step began.
    pub(crate) fn is_at_start(&self) -> bool {
        self.moved.groups.iter().flatten().all(|x| *x == Fused::ZERO)
    }

    /// Stiffness that tension gives along the principal axes of a node.
    #[inline(always)]
    pub(crate) fn tension(&self, node: usize) -> Vec3 {
        let group = &self.tension[node / LANES];
        Vec3::new(group[0].0[node % LANES], group[1].0[node % LANES], group[2].0[node % LANES])
    }

    /// Sets what [`Nodes::tension`] tells.
    #[inline(always)]
    pub(crate) fn set_tension(&mut self, node: usize, tension: &Vec3) {
        for (to, from) in self.tension[node / LANES].iter_mut().zip(tension.iter()) {
            to.0[node % LANES] = *from;
        }
    }

    /// The constants of a dynamic node.
    #[inline(always)]
    pub(crate) fn kind(&self, node: usize) -> &BodyKind {
        &self.kinds[self.kind_of[node] as usize]
    }

    /// The node of a body of the scene.
    pub(crate) fn node_of_body(&self, body: usize) -> u32 {
        self.of[body]
    }

    /// The node of a body, a particle or the world, as the model counts them.
    pub(crate) fn node_of(&self, slot: u32) -> u32 {
        self.of[slot as usize]
    }

    /// Principal axes in which a node sees its anchors; those of the body where forces do not move it.
    pub(crate) fn axes(&self, node: u32) -> Mat3 {
        let node = node as usize;
        if node < self.count() { self.kind(node).axes } else { Mat3::identity() }
    }

    /// Mass of a node [kg]; infinite where forces do not move it.
    pub(crate) fn mass(&self, node: u32) -> f64 {
        let node = node as usize;
        if node < self.count() { self.kind(node).mass } else { f64::INFINITY }
    }

    /// Where a node is at the start of the step.
    pub(crate) fn at_start(&self, node: u32) -> Affine {
        let node = node as usize;
        if node < self.count() {
            return self.start.get(node);
        }
        let BodyState { frame, position, .. } = self.fixed[node - self.count()].state;
        Affine { frame, origin: position }
    }

    /// Where a node is at a moment.
    pub(crate) fn at(&self, node: u32, moment: StepMoment) -> Affine {
        match moment {
            StepMoment::Start => self.at_start(node),
            StepMoment::Iterate => self.place(node),
        }
    }

    /// The state of every body of the scene at a moment, with its rates at the start of the step.
    pub(crate) fn bodies_at(&self, moment: StepMoment) -> impl Iterator<Item = BodyState> {
        self.movers().0.iter().map(move |&node| {
            let (at, place) = (node as usize, self.at(node, moment));
            if at >= self.count() {
                let state = self.fixed[at - self.count()].state;
                return BodyState { position: place.origin, frame: place.frame, ..state };
            }
            self.body_state(at, &place, &self.rate.get(at))
        })
    }

    /// Where every particle of the scene is at a moment, and how fast at the start of the step.
    pub(crate) fn particles_at(&self, moment: StepMoment) -> impl Iterator<Item = ParticleState> {
        self.movers().1.iter().map(move |&node| {
            let (at, position) = (node as usize, self.at(node, moment).origin);
            let velocity = match at.checked_sub(self.count()) {
                None => self.rate.get(at).origin,
                Some(held) => self.fixed[held].state.velocity,
            };
            ParticleState { position, velocity }
        })
    }

    /// A dynamic node in the axes of its body.
    fn body_state(&self, node: usize, place: &Affine, rate: &Affine) -> BodyState {
        let axes = self.kind(node).axes.transpose();
        BodyState {
            position: place.origin,
            frame: place.frame * axes,
            velocity: rate.origin,
            frame_rate: rate.frame * axes,
        }
    }

    /// The nodes that two of the model's are; `None` where forces move neither.
    pub(crate) fn ends(&self, slots: [u32; 2]) -> Option<ElementEnds> {
        let nodes = slots.map(|slot| self.of[slot as usize]);
        let moves = |node: u32| (node as usize) < self.count();
        let axes = nodes.map(|node| self.axes(node));
        nodes.into_iter().any(moves).then_some(ElementEnds { nodes, axes })
    }

    /// Puts what forces do not move where it is `time` [s] after the start of the step.
    pub(crate) fn hold(&mut self, time: f64) {
        for (held, fixed) in self.held.iter_mut().zip(&self.fixed) {
            let BodyState { frame, position, .. } = fixed.after(time);
            *held = Affine { frame, origin: position };
        }
    }

    /// Has a body follow its path within a step of `h` [s] that ends at `end_s` [s].
    pub(crate) fn drive(&mut self, drive: &Drive, end_s: f64, h: f64) {
        let fixed = self.of[drive.body] as usize - self.count();
        let state = &mut self.fixed[fixed].state;
        let rotation = state.rotation();
        let [velocity, omega] = drive.rates((state.position, rotation), end_s, h);
        *state = BodyState::rigid(state.position, rotation, velocity, omega);
    }

    /// Ends a step of length `h` [s] for what forces do not move.
    pub(crate) fn advance_fixed(&mut self, h: f64) {
        for fixed in &mut self.fixed {
            fixed.state = fixed.after(h);
        }
    }

    /// Where a node is in the current iterate.
    #[inline(always)]
    pub(crate) fn place(&self, node: u32) -> Affine {
        let node = node as usize;
        if node < self.count() {
            self.start.get(node).plus(&self.moved.get(node), 1.0)
        } else {
            self.held[node - self.count()]
        }
    }

    /// Takes a state over.
    pub(crate) fn load(&mut self, state: &State) {
        for (i, state) in state.bodies.iter().enumerate() {
            let node = self.of[i] as usize;
            if node < self.count() {
                let axes = self.kind(node).axes;
                let place = Affine { frame: state.frame * axes, origin: state.position };
                let rate = Affine { frame: state.frame_rate * axes, origin: state.velocity };
                self.start.set(node, &place);
                self.rate.set(node, &rate);
            } else {
                let fixed = node - self.count();
                self.fixed[fixed].state = *state;
            }
        }
        for (i, state) in state.particles.iter().enumerate() {
            let node = self.of[self.slots.bodies as usize + i] as usize;
            if node < self.count() {
                let place = Affine { frame: Mat3::identity(), origin: state.position };
                self.start.set(node, &place);
                self.rate.set(node, &Affine { frame: Mat3::zeros(), origin: state.velocity });
            } else {
                let fixed = node - self.count();
                self.fixed[fixed].state.position = state.position;
                self.fixed[fixed].state.velocity = state.velocity;
            }
        }
        self.moved.clear();
        self.tension.fill([Fused::ZERO; 3]);
        self.hold(0.0);
    }

    /// States of what forces do not move, at the start of the step.
    pub(crate) fn fixed_states(&self) -> Vec<BodyState> {
        self.fixed.iter().map(|fixed| fixed.state).collect()
    }

    /// Goes back to the start of a step, places and rates of dynamic nodes being `saved`.
    pub(crate) fn restore(
        &mut self,
        saved: &[[Affine; 2]],
        tension: &[[Fused; 3]],
        fixed: &[BodyState],
    ) {
        for (node, [start, rate]) in saved.iter().enumerate() {
            self.start.set(node, start);
            self.rate.set(node, rate);
        }
        for (to, from) in self.fixed.iter_mut().zip(fixed) {
            to.state = *from;
        }
        self.moved.clear();
        self.tension.copy_from_slice(tension);
    }

    /// Writes bodies and particles; `velocity` is that of a dynamic node, and what forces do not move
    /// is where it is `elapsed` [s] after the start of the step.
    pub(crate) fn read(&self, out: &mut State, elapsed: f64, velocity: impl Fn(usize) -> Affine) {
        let (count, (bodies, particles)) = (self.count(), self.movers());
        out.bodies.clear();
        out.bodies.extend(bodies.iter().map(|&node| {
            if (node as usize) < count {
                let (place, rate) = (self.place(node), velocity(node as usize));
                return self.body_state(node as usize, &place, &rate);
            }
            self.fixed[node as usize - count].after(elapsed)
        }));
        out.particles.clear();
        out.particles.extend(particles.iter().map(|&node| {
            if (node as usize) < count {
                let (position, rate) = (self.place(node).origin, velocity(node as usize));
                return ParticleState { position, velocity: rate.origin };
            }
            let BodyState { position, velocity, .. } = self.fixed[node as usize - count].state;
            ParticleState { position, velocity }
        }));
    }
}

/// Kinds by number, equal ones once.
#[derive(Default)]
struct Kinds {
    known: BTreeMap<Vec<u64>, u32>,
    list: Vec<BodyKind>,
}

impl Kinds {
    fn index(&mut self, kind: BodyKind) -> u32 {
        let scalars = [kind.mass, kind.softness, kind.ratio];
        let all = scalars.iter().chain(&kind.second).chain(&kind.axes);
        let key = all.map(|x| x.to_bits()).collect();
        *self.known.entry(key).or_insert_with(|| {
            self.list.push(kind);
            self.list.len() as u32 - 1
        })
    }
}

/// Torque about the centre of mass of a load on a frame [N m].
pub(crate) fn torque(frame: &Mat3, load: &Mat3) -> Vec3 {
    axial(&(load * frame.transpose())) * 2.0
}
