//! Bodies, particles and the world as the nodes a descent sweep moves.

use taut_core::{
    Placement, Scene, State,
    math::polar_rotation,
    scene::{Endpoint, Motion},
    state::{BodyState, ParticleState},
};
use taut_math::{M3, Q4, Real, Sym3, V3};

use crate::{colour, element::Definition};

/// In which order nodes are visited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// Colour by colour; the nodes of one colour do not touch and may move at once.
    #[default]
    Coloured,
    /// Bodies, then particles, in the order of the scene.
    Creation,
    /// The last created first.
    ReverseCreation,
}

/// What a node can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// Moved by the solver: translation and rotation.
    Body,
    /// Moved by the solver: translation only.
    Particle,
    /// Not moved by forces.
    Fixed,
}

/// Which elements act on a node, and so which form its block takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acted {
    /// Point rows with one stiffness for all axes.
    ByPoints,
    /// Point rows and rows that only rotate: the translation block is diagonal.
    ByBlocks,
    /// Any.
    ByAny,
}

/// What a sweep reads and writes of a node: motion since the step's start and inertia.
///
/// Keeping the motion instead of the place keeps the digits of small motions far from the origin.
#[derive(Clone, Copy, Debug)]
pub struct Node<R> {
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
    /// What it can do.
    pub kind: NodeKind,
    /// Which elements act on it.
    pub acted: Acted,
}

impl<R> Node<R> {
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
    pub sway: V3<R>,
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
    /// Whether it moves by a prescribed velocity.
    pub kinematic: bool,
}

/// Where everything of the scene is among the nodes, and how they are coloured.
#[derive(Clone, Debug)]
pub struct Layout {
    /// Node of each body.
    pub bodies: Vec<u32>,
    /// Node of each particle.
    pub particles: Vec<u32>,
    /// Node of the world.
    pub world: u32,
    /// First node of each colour, and one past the last; nodes beyond are fixed.
    pub colours: Vec<usize>,
    /// Whether nodes of one colour are independent of each other.
    pub independent: bool,
}

impl Layout {
    /// Orders the nodes of a scene and colours them over the elements that couple them.
    pub fn new(scene: &Scene, definitions: &[Definition], order: Order) -> Self {
        let bodies = scene.bodies.len();
        let total = bodies + scene.particles.len();
        let slot = |endpoint| match endpoint {
            Endpoint::Body(i) => Some(i),
            Endpoint::Particle(i) => Some(bodies + i),
            Endpoint::World => None,
        };
        let moves: Vec<bool> = (0..bodies)
            .map(Endpoint::Body)
            .chain((0..scene.particles.len()).map(Endpoint::Particle))
            .map(|endpoint| scene.is_dynamic(endpoint))
            .collect();
        let edges: Vec<(usize, usize)> = definitions
            .iter()
            .filter_map(|d| Some((slot(d.a)?, slot(d.b)?)))
            .filter(|&(a, b)| moves[a] && moves[b])
            .collect();
        let colours = match order {
            Order::Coloured => colour::colour(total, &edges),
            Order::Creation | Order::ReverseCreation => vec![0; total],
        };
        let mut sorted: Vec<usize> = (0..total).collect();
        if order == Order::ReverseCreation {
            sorted.reverse();
        }
        sorted.sort_by_key(|&i| if moves[i] { colours[i] } else { u32::MAX });
        let mut node_of = vec![0; total];
        for (node, &i) in sorted.iter().enumerate() {
            node_of[i] = narrow(node);
        }
        let moving = moves.iter().filter(|&&m| m).count();
        let mut starts: Vec<usize> = (0..moving)
            .filter(|&n| n == 0 || colours[sorted[n]] != colours[sorted[n - 1]])
            .collect();
        starts.push(moving);
        Self {
            particles: node_of.split_off(bodies),
            bodies: node_of,
            world: narrow(total),
            colours: starts,
            independent: order == Order::Coloured,
        }
    }

    /// The node of an endpoint.
    pub fn node(&self, endpoint: Endpoint) -> u32 {
        match endpoint {
            Endpoint::World => self.world,
            Endpoint::Body(i) => self.bodies[i],
            Endpoint::Particle(i) => self.particles[i],
        }
    }

    /// How many nodes there are, the world included.
    pub fn len(&self) -> usize {
        self.world as usize + 1
    }

    /// Never: the world is always there.
    pub fn is_empty(&self) -> bool {
        false
    }
}

/// An index as stored in nodes and elements.
pub(crate) fn narrow(index: usize) -> u32 {
    u32::try_from(index).expect("fewer than 2^32 nodes and elements")
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
            kinematic: false,
        }
    }

    /// The mass properties of a body, at rest at the origin.
    pub fn of_body(body: &taut_core::scene::Body) -> Self {
        let mut base = Self::resting();
        base.kinematic = body.motion == Motion::Kinematic;
        if body.is_dynamic() {
            base.mass = R::of(body.mass);
            base.inertia = Sym3::of(&body.inertia);
        }
        base
    }

    /// Takes over a body's motion and forgets the step before.
    pub fn load_body(&mut self, state: &BodyState) {
        self.position = V3::of(&state.position);
        self.rotation = Q4::of(&polar_rotation(&state.frame));
        self.velocity = V3::of(&state.velocity);
        self.omega = V3::of(&state.omega());
        self.previous_velocity = self.velocity;
    }

    /// Takes over a particle's motion and forgets the step before.
    pub fn load_particle(&mut self, state: &ParticleState) {
        self.position = V3::of(&state.position);
        self.velocity = V3::of(&state.velocity);
        self.previous_velocity = self.velocity;
    }

    /// Where the body is at the step's start and how it moves, for collision detection.
    pub fn placement(&self) -> Placement {
        Placement {
            position: self.position.to_f64(),
            rotation: self.rotation.to_f64(),
            velocity: self.velocity.to_f64(),
            omega: self.omega.to_f64(),
        }
    }

    /// World-axis inertia [kg m^2].
    pub fn world_inertia(&self) -> Sym3<R> {
        self.inertia.rotated(&self.rotation.matrix())
    }

    /// Angular velocity after a step of free rotation [rad/s].
    ///
    /// One Newton step of `I (w' - w) + h w' x I w' = 0` in the frame at the step's start, which is
    /// stable for any step where the explicit gyroscopic torque is not.
    pub fn free_omega(&self, inertia: &Sym3<R>, h: R) -> V3<R> {
        let (w, l) = (self.omega, inertia.apply(self.omega));
        let residual = w.cross(l) * h;
        // d(w x I w) = [w]x I - [I w]x.
        let [xx, yy, zz, xy, xz, yz] = inertia.0;
        let rows = [V3([xx, xy, xz]), V3([xy, yy, yz]), V3([xz, yz, zz])];
        let spin = |c: usize| w.cross(rows[c]);
        let columns = [spin(0), spin(1), spin(2)];
        let momentum = M3::skew(l);
        let jacobian =
            |i: usize, j: usize| rows[i].0[j] + (columns[j].0[i] - momentum.0[i].0[j]) * h;
        let column = |j: usize| V3([jacobian(0, j), jacobian(1, j), jacobian(2, j)]);
        let (c0, c1, c2) = (column(0), column(1), column(2));
        let determinant = c0.dot(c1.cross(c2));
        if determinant.abs() > R::ZERO {
            let scale = R::ONE / determinant;
            let solved = V3([
                residual.dot(c1.cross(c2)),
                c0.dot(residual.cross(c2)),
                c0.dot(c1.cross(residual)),
            ]);
            w - solved * scale
        } else {
            w
        }
    }
}

/// Writes the state of one body from its base and the motion since the step's start.
pub(crate) fn body_state<R: Real>(base: &Base<R>, velocity: V3<R>, omega: V3<R>) -> BodyState {
    BodyState::rigid(
        base.position.to_f64(),
        base.rotation.to_f64(),
        velocity.to_f64(),
        omega.to_f64(),
    )
}

/// Copies loaded body and particle motion into the bases.
pub(crate) fn load_bases<R: Real>(bases: &mut [Base<R>], layout: &Layout, state: &State) {
    for (body, &node) in state.bodies.iter().zip(&layout.bodies) {
        bases[node as usize].load_body(body);
    }
    for (particle, &node) in state.particles.iter().zip(&layout.particles) {
        bases[node as usize].load_particle(particle);
    }
}
