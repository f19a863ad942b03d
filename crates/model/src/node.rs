//! Bodies, particles and the world as one list of nodes.

use taut_core::{
    Mat3, Scene, Vec3,
    scene::{Endpoint, Motion},
};

use crate::narrow;

/// Where everything is among the nodes: bodies, then particles, both in scene order, then the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slots {
    /// How many bodies.
    pub bodies: u32,
    /// How many particles.
    pub particles: u32,
}

impl Slots {
    /// Those of a scene.
    pub fn new(scene: &Scene) -> Self {
        Self { bodies: narrow(scene.bodies.len()), particles: narrow(scene.particles.len()) }
    }

    /// The node of an endpoint.
    #[inline]
    pub fn of(self, endpoint: Endpoint) -> u32 {
        match endpoint {
            Endpoint::Body(i) => narrow(i),
            Endpoint::Particle(i) => self.bodies + narrow(i),
            Endpoint::World => self.world(),
        }
    }

    /// The node of the world, the last.
    #[inline]
    pub fn world(self) -> u32 {
        self.bodies + self.particles
    }

    /// How many nodes there are, the world included.
    #[inline]
    pub fn count(self) -> usize {
        self.world() as usize + 1
    }
}

/// How a node moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// By forces: translation and rotation.
    Body,
    /// By forces: translation only.
    Particle,
    /// At a prescribed velocity.
    Driven,
    /// Not at all.
    Held,
}

/// A body, a particle or the world.
#[derive(Clone, Debug)]
pub struct Node {
    /// How it moves.
    pub kind: NodeKind,
    /// Mass [kg]; zero for what forces do not move.
    pub mass: f64,
    /// Inertia in body axes [kg m^2]; zero for all but dynamic bodies.
    pub inertia: Mat3,
    /// Its inverse [1/(kg m^2)]; zero where there is none, so that the body does not turn.
    pub inverse_inertia: Mat3,
    /// Full extents along the body axes [m]; zero for all but bodies.
    pub extent: Vec3,
}

impl Node {
    fn held(extent: Vec3) -> Self {
        let (kind, none) = (NodeKind::Held, Mat3::zeros());
        Self { kind, mass: 0.0, inertia: none, inverse_inertia: none, extent }
    }

    /// Whether forces move it.
    #[inline]
    pub fn moves(&self) -> bool {
        matches!(self.kind, NodeKind::Body | NodeKind::Particle)
    }

    /// Inverse mass [1/kg]; zero for what forces do not move.
    #[inline]
    pub fn inverse_mass(&self) -> f64 {
        if self.mass > 0.0 { 1.0 / self.mass } else { 0.0 }
    }

    /// Whether all principal moments are equal, so that its inertia does not turn with it and a spin feels no gyroscopic
    /// torque; of what does not turn too.
    pub fn is_isotropic(&self) -> bool {
        let mean = self.inertia.trace() / 3.0;
        let apart = (self.inertia - Mat3::identity() * mean).abs().max();
        // What has no inverse does not turn.
        self.inverse_inertia == Mat3::zeros() || apart <= 1e-12 * mean
    }

    fn body(body: &taut_core::scene::Body) -> Self {
        let held = Self::held(body.shape.extent());
        match body.motion {
            Motion::Static => held,
            Motion::Kinematic => Self { kind: NodeKind::Driven, ..held },
            Motion::Dynamic => Self {
                kind: NodeKind::Body,
                mass: body.mass,
                inertia: body.inertia,
                inverse_inertia: body.inertia.try_inverse().unwrap_or_default(),
                ..held
            },
        }
    }

    fn particle(particle: &taut_core::scene::Particle) -> Self {
        let kind = if particle.mass > 0.0 { NodeKind::Particle } else { NodeKind::Held };
        Self { kind, mass: particle.mass, ..Self::held(Vec3::zeros()) }
    }
}

/// All nodes of a scene, in the order of its [`Slots`].
pub(crate) fn nodes(scene: &Scene) -> Vec<Node> {
    let bodies = scene.bodies.iter().map(Node::body);
    let particles = scene.particles.iter().map(Node::particle);
    bodies.chain(particles).chain([Node::held(Vec3::zeros())]).collect()
}
