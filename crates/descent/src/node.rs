//! Bodies, particles and the world as the nodes a descent sweep moves.

use taut_core::{BodyState, ParticleState, State};
use taut_math::{Q4, Real, Sym3, V3};
use taut_model::{
    ColourOf, Colouring, End, Model, NodeKind, Order, Pose, Velocity, Wrench, narrow, priority,
};

use crate::options::InertiaFrame;

/// Which elements act on a node, and so which form its block takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acted {
    /// Point rows with one stiffness for all axes.
    ByPoints,
    /// Point rows and rows that only rotate: the translation block is diagonal.
    ByBlocks,
    /// Any.
    ByAny,
    /// Any, and energies of points.
    ByEnergies,
}

/// What a sweep reads and writes of a node: motion since the step's start and inertia.
///
/// Keeping the motion instead of the place keeps the digits of small motions far from the origin.
#[derive(Clone, Copy, Debug)]
pub struct SweepNode<R> {
    /// Translation since the step's start [m].
    pub step: V3<R>,
    /// Rotation since the step's start.
    pub turn: Q4<R>,
    /// Where inertia and gravity alone would take it: translation [m] (Eq. 2).
    pub target_step: V3<R>,
    /// Where inertia alone would take it: rotation.
    pub target_turn: Q4<R>,
    /// Mass over squared step [kg/s^2].
    pub mass: R,
    /// World-axis inertia over squared step [kg m^2/s^2].
    pub inertia: Sym3<R>,
    /// Its range among the incidences.
    pub incidences: [u32; 2],
    /// Its own number.
    pub own: u32,
    /// How it moves.
    pub kind: NodeKind,
    /// Which elements act on it.
    pub acted: Acted,
}

impl<R: Real> SweepNode<R> {
    /// One that does not move and that nothing acts on.
    pub(crate) const RESTING: Self = Self {
        step: V3::ZERO,
        turn: Q4::IDENTITY,
        target_step: V3::ZERO,
        target_turn: Q4::IDENTITY,
        mass: R::ZERO,
        inertia: Sym3::ZERO,
        incidences: [0, 0],
        own: 0,
        kind: NodeKind::Held,
        acted: Acted::ByAny,
    };
}

impl<R> SweepNode<R> {
    /// Its first incidence and one past its last.
    #[inline]
    pub fn range(&self) -> (usize, usize) {
        (self.incidences[0] as usize, self.incidences[1] as usize)
    }
}

/// One end of an element, stored with the node it belongs to.
#[derive(Clone, Copy, Debug)]
pub struct Incidence<R> {
    /// The element.
    pub element: u32,
    /// The node at the element's other end.
    pub other: u32,
    /// The incidence at the element's other end.
    pub twin: u32,
    /// Whether this end is B.
    pub is_b: bool,
    /// World-axis lever arm at the step's start [m].
    pub arm: V3<R>,
    /// What the rotation since then has added to it [m].
    pub arm_change: V3<R>,
}

/// What of a node changes only from step to step.
#[derive(Clone, Copy, Debug)]
pub struct Base<R> {
    /// Position at the step's start [m].
    pub position: V3<R>,
    /// Rotation at the step's start.
    pub rotation: Q4<R>,
    /// Velocity at the step's start [m/s].
    pub velocity: V3<R>,
    /// Angular velocity at the step's start, world axes [rad/s].
    pub omega: V3<R>,
    /// Velocity at the start of the step before [m/s].
    pub previous_velocity: V3<R>,
    /// Mass [kg].
    pub mass: R,
    /// Body-axis inertia [kg m^2].
    pub inertia: Sym3<R>,
}

/// Where everything of the scene is among the nodes, and how they are coloured.
#[derive(Clone, Debug)]
pub struct NodeLayout {
    /// Node of each slot of the model; the world is the last of both.
    pub node_of: Vec<u32>,
    /// How many of the slots are bodies.
    bodies: usize,
    /// First node of each colour, and one past the last; nodes beyond are fixed.
    pub colours: Vec<usize>,
    /// Whether nodes of one colour are independent of each other.
    pub independent: bool,
    /// Nodes of elastic material that nothing holds.
    floating: Vec<u32>,
}

impl NodeLayout {
    /// Orders the nodes of a model and colours them over the elements that couple them.
    pub fn new(model: &Model, order: Order) -> Self {
        let total = model.slots.count();
        let moves = |slot: usize| model.nodes[slot].moves();
        let colours = match order {
            Order::Coloured => {
                let mut colouring = Colouring::default();
                colouring.colour(&model.graph(), ColourOf::Nodes, priority).to_vec()
            }
            Order::Creation | Order::ReverseCreation => vec![0; total],
        };
        let mut sorted: Vec<usize> = (0..total).collect();
        if order == Order::ReverseCreation {
            sorted[..total - 1].reverse();
        }
        sorted.sort_by_key(|&slot| if moves(slot) { colours[slot] } else { u32::MAX });
        let mut node_of = vec![0; total];
        for (node, &slot) in sorted.iter().enumerate() {
            node_of[slot] = narrow(node);
        }
        let moving = model.nodes.iter().filter(|node| node.moves()).count();
        let mut starts: Vec<usize> = (0..moving)
            .filter(|&n| n == 0 || colours[sorted[n]] != colours[sorted[n - 1]])
            .collect();
        starts.push(moving);
        Self {
            floating: model.floating_material().iter().map(|&n| node_of[n as usize]).collect(),
            node_of,
            bodies: model.slots.bodies as usize,
            colours: starts,
            independent: order == Order::Coloured,
        }
    }

    /// Nodes of the bodies, in scene order.
    #[inline]
    pub fn bodies(&self) -> &[u32] {
        &self.node_of[..self.bodies]
    }

    /// Nodes of the particles, in scene order.
    #[inline]
    pub fn particles(&self) -> &[u32] {
        &self.node_of[self.bodies..self.node_of.len() - 1]
    }

    /// The nodes of both ends of an element.
    pub fn pair(&self, ends: &[End; 2]) -> [u32; 2] {
        [0, 1].map(|side| self.node_of[ends[side].node as usize])
    }

    /// How many nodes there are, the world included.
    pub fn len(&self) -> usize {
        self.node_of.len()
    }

    /// Never: the world is always there.
    pub fn is_empty(&self) -> bool {
        false
    }
}

impl<R: Real> Base<R> {
    /// A node at rest at the origin.
    pub fn resting() -> Self {
        Self {
            position: V3::ZERO,
            rotation: Q4::IDENTITY,
            velocity: V3::ZERO,
            omega: V3::ZERO,
            previous_velocity: V3::ZERO,
            mass: R::ZERO,
            inertia: Sym3::ZERO,
        }
    }

    /// The mass properties of a node, at rest at the origin.
    pub fn of(node: &taut_model::Node) -> Self {
        Self { mass: R::of(node.mass), inertia: Sym3::of(&node.inertia), ..Self::resting() }
    }

    /// Takes over a body's motion and forgets the step before.
    pub fn load_body(&mut self, state: &BodyState) {
        let (pose, velocity) = (Pose::of(state), Velocity::of(state));
        (self.position, self.rotation) = (pose.position, pose.rotation);
        (self.velocity, self.omega) = (velocity.linear, velocity.angular);
        self.previous_velocity = self.velocity;
    }

    /// Takes over a particle's motion and forgets the step before.
    fn load_particle(&mut self, state: &ParticleState) {
        self.position = V3::of(&state.position);
        self.velocity = V3::of(&state.velocity);
        self.previous_velocity = self.velocity;
    }

    /// Where it is at the step's start.
    pub fn pose(&self) -> Pose<R> {
        Pose { position: self.position, rotation: self.rotation }
    }

    /// How it moves at the step's start.
    pub fn rates(&self) -> Velocity<R> {
        Velocity { linear: self.velocity, angular: self.omega }
    }

    /// The same with the velocity that a force and torque give it in `h` [s].
    pub(crate) fn kicked(&self, wrench: &Wrench<R>, h: R, frame: InertiaFrame) -> Self {
        let inertia = self.inertia_in(frame);
        Self {
            velocity: self.velocity + wrench.force * (h / self.mass),
            omega: self.omega + inertia.solve(wrench.torque) * h,
            ..*self
        }
    }

    /// Inertia as it resists turning in world axes [kg m^2].
    pub(crate) fn inertia_in(&self, frame: InertiaFrame) -> Sym3<R> {
        match frame {
            InertiaFrame::World => self.world_inertia(),
            InertiaFrame::Body => self.inertia,
        }
    }

    /// World-axis inertia [kg m^2].
    pub fn world_inertia(&self) -> Sym3<R> {
        self.inertia.rotated(&self.rotation.matrix())
    }
}

/// Copies loaded body and particle motion into the bases; `fall` is what gravity adds to a velocity in a step.
///
/// The step before is taken to have been one of free fall for elastic material that nothing holds. A sweep moves stiff
/// material by little more than its strain, so that from rest a body of many particles would hardly fall, and what it did
/// not fall in one step it would not start with in the next.
pub(crate) fn load_bases<R: Real>(
    bases: &mut [Base<R>],
    layout: &NodeLayout,
    state: &State,
    fall: V3<R>,
) {
    for (body, &node) in state.bodies.iter().zip(layout.bodies()) {
        bases[node as usize].load_body(body);
    }
    for (particle, &node) in state.particles.iter().zip(layout.particles()) {
        bases[node as usize].load_particle(particle);
    }
    for &node in &layout.floating {
        let base = &mut bases[node as usize];
        base.previous_velocity = base.velocity - fall;
    }
}
