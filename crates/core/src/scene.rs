//! A scene after loading: flat lists in SI units, nothing left to expand or to look up.
//!
//! [`crate::load`] makes one from a file.

mod body;
mod drive;
mod elastic;
mod force;
mod joint;
pub(crate) mod mass;
mod shape;

use serde::{Deserialize, Serialize};

pub use crate::energy::Elasticity;
pub use body::{Body, Material, Motion};
pub use drive::{Drive, DrivePath, TimeTurn};
pub use elastic::{Anchor, ElasticPart, MaterialDamping, Tetrahedron};
pub(crate) use elastic::{outer_faces, points};
pub use force::{AppliedForce, ForceKind};
pub use joint::{FastestMotor, Joint, JointKind, Limit, Motor};
pub use shape::{Part, Shape};

use crate::{
    energy::{ENDS_MAX, Energy, FoldEnergy, SheetEnergy, WeightedSum},
    math::{Quat, Vec3},
    state::{BodyState, ParticleState, State},
    wire,
};

/// Everything a backend needs to know to simulate, and a metric to judge.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scene {
    /// Stem of the file the scene came from.
    pub name: String,
    /// What the scene is for.
    pub about: String,
    /// Gravitational acceleration [m/s^2].
    #[serde(with = "wire::numbers")]
    pub gravity: Vec3,
    /// Length of a frame [s].
    pub dt: f64,
    /// How many frames a run has unless asked otherwise.
    pub steps: u32,
    /// Contact handling; `None` where bodies pass through each other.
    pub contacts: Option<Contacts>,
    /// What has its path compared with the reference, as numbers of [`Scene::node`].
    pub watch: Vec<usize>,
    /// Rigid bodies, in creation order.
    pub bodies: Vec<Body>,
    /// Point masses, in creation order.
    pub particles: Vec<Particle>,
    /// Joints, in creation order.
    pub joints: Vec<Joint>,
    /// Springs, in creation order.
    pub springs: Vec<Spring>,
    /// Triangles of thin elastic material, in creation order.
    pub triangles: Vec<ElasticPart<SheetEnergy, 3>>,
    /// Edges along which two triangles resist being folded: the edge's ends, then the corners opposite.
    pub bends: Vec<ElasticPart<FoldEnergy, 4>>,
    /// Tetrahedra of solid elastic material, in creation order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tetrahedra: Vec<Tetrahedron>,
    /// Points held to places in triangles of three others: the point, then the corners; in creation order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ties: Vec<ElasticPart<WeightedSum<f64>, 4>>,
    /// What damps triangles and tetrahedra, in creation order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub material_damping: Vec<MaterialDamping>,
    /// Kinematic bodies that follow a path; at most one of each body.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drives: Vec<Drive>,
    /// Forces from outside that depend on time, in creation order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forces: Vec<AppliedForce>,
}

/// How contacts are made.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contacts {
    /// Bodies closer than this are in contact [m].
    pub margin: f64,
    /// At most so many points are kept of one patch of contact.
    pub points_max: u32,
}

impl Default for Contacts {
    fn default() -> Self {
        Self { margin: 0.01, points_max: 4 }
    }
}

/// A point mass.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Particle {
    /// Unique name, possibly generated; may be empty for members of large generated groups.
    pub name: String,
    /// Mass [kg]; zero for a particle that does not move.
    pub mass: f64,
    /// Initial position [m].
    #[serde(with = "wire::numbers")]
    pub position: Vec3,
    /// Initial velocity [m/s].
    #[serde(with = "wire::numbers")]
    pub velocity: Vec3,
    /// How it touches bodies; one without passes through everything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub touch: Option<Skin>,
}

/// The surface of a particle: it touches bodies as a ball does that does not turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Skin {
    /// Radius of the ball [m]: half the thickness of a cloth; may be zero.
    pub radius: f64,
    /// Surface properties.
    pub material: Material,
    /// Particles and bodies of one group do not touch; nor do particles of one group the triangles of others.
    pub group: Option<u32>,
}

/// What a joint or spring is attached to.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Endpoint {
    /// The world; anchors are world points and bases world rotations.
    #[default]
    World,
    /// A body, by index; anchors and bases are in body coordinates.
    Body(usize),
    /// A particle, by index; anchors and bases are ignored.
    Particle(usize),
}

/// An elastic element between two endpoints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spring {
    /// Unique name, possibly generated; may be empty for members of large generated groups.
    pub name: String,
    /// What it resists.
    pub kind: SpringKind,
    /// One side.
    pub a: Endpoint,
    /// The other side.
    pub b: Endpoint,
    /// Stiffness [N/m] or [N m/rad].
    pub stiffness: f64,
    /// Damping [N s/m] or [N m s/rad]. A step of length `h` sees the energy `c/2h d^2`, `d` being how far the length
    /// has changed, or the bodies have turned against each other, since the step began.
    #[serde(default, skip_serializing_if = "wire::is_zero")]
    pub damping: f64,
}

/// What a spring resists.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum SpringKind {
    /// Stretch: energy `k/2 (|xA - xB| - rest)^2`.
    Linear {
        /// Anchor on A, in A's coordinates [m].
        #[serde(with = "wire::numbers")]
        anchor_a: Vec3,
        /// Anchor on B, in B's coordinates [m].
        #[serde(with = "wire::numbers")]
        anchor_b: Vec3,
        /// Length without force [m].
        rest_length: f64,
    },
    /// Relative rotation of the bases: energy `k/2 angle^2`, so that the torque is `k angle` about the axis of the
    /// rotation from A's basis to B's. The angle is at most half a turn; beyond it the spring pulls on the other way
    /// round.
    Angular {
        /// Rotation of the rest basis on A.
        #[serde(with = "wire::numbers")]
        basis_a: Quat,
        /// Rotation of the rest basis on B.
        #[serde(with = "wire::numbers")]
        basis_b: Quat,
    },
}

impl Scene {
    /// The state at time zero.
    pub fn initial_state(&self) -> State {
        State {
            time_s: 0.0,
            bodies: self
                .bodies
                .iter()
                .map(|b| BodyState::rigid(b.position, b.rotation, b.velocity, b.omega))
                .collect(),
            particles: self
                .particles
                .iter()
                .map(|p| ParticleState { position: p.position, velocity: p.velocity })
                .collect(),
            broken: vec![false; self.joints.len()],
        }
    }

    /// Every energy of points that is given back, and what those are fixed to.
    pub fn energies(&self) -> impl Iterator<Item = (Energy<f64>, [Anchor; ENDS_MAX])> + '_ {
        let triangles = self.triangles.iter();
        let triangles = triangles.map(|part| (part.energy.into(), part.anchors()));
        let bends = self.bends.iter().map(|part| (part.energy.into(), part.anchors()));
        let tetrahedra = self.tetrahedra.iter().map(|t| (t.energy.into(), t.anchors()));
        let ties = self.ties.iter().map(|part| (Energy::WeightedSum(part.energy), part.anchors()));
        triangles.chain(bends).chain(tetrahedra).chain(ties)
    }

    /// What damps material, as energies of a step that has yet to begin, and what their points are fixed to.
    pub fn dampings(&self) -> impl Iterator<Item = (Energy<f64>, [Anchor; ENDS_MAX])> + '_ {
        self.material_damping.iter().map(|one| (one.energy.into(), one.ends))
    }

    /// The outer faces of the solids of tetrahedra, by particles, counter-clockwise seen from outside.
    pub fn solid_faces(&self) -> Vec<[usize; 3]> {
        outer_faces(self.tetrahedra.iter().map(|one| one.nodes))
    }

    /// The particles, where any of them can touch a body; else none.
    pub fn touching_particles(&self) -> &[Particle] {
        let touch = self.contacts.is_some() && self.particles.iter().any(|p| p.touch.is_some());
        if touch { &self.particles } else { &[] }
    }

    /// Triangles that touch, by their particles: those, of sheets and on solids, whose three corners all touch. Both
    /// their sides touch bodies.
    pub fn touching_triangles(&self) -> Vec<[usize; 3]> {
        let particles = self.touching_particles();
        let touches = |i: usize| particles.get(i).is_some_and(|particle| particle.touch.is_some());
        let corner = |anchor: &Anchor| match anchor.end {
            Endpoint::Particle(i) => touches(i).then_some(i),
            Endpoint::Body(_) | Endpoint::World => None,
        };
        let whole = |part: &ElasticPart<SheetEnergy, 3>| {
            let [a, b, c] = &part.ends;
            Some([corner(a)?, corner(b)?, corner(c)?])
        };
        let sheets = self.triangles.iter().filter_map(whole);
        let solids = self.solid_faces().into_iter().filter(|face| face.iter().all(|&i| touches(i)));
        sheets.chain(solids).collect()
    }

    /// Whether a particle may touch a triangle of others: any triangle touches, and not all particles that do are
    /// of one group.
    pub fn touches_itself(&self) -> bool {
        let touching = || self.touching_particles().iter().filter_map(|particle| particle.touch);
        let group = touching().next().and_then(|skin| skin.group);
        let apart = group.is_some() && touching().all(|skin| skin.group == group);
        !apart && touching().nth(3).is_some() && !self.touching_triangles().is_empty()
    }

    /// Number of what an endpoint is on, bodies counted first, then particles.
    pub fn node(&self, endpoint: Endpoint) -> Option<usize> {
        match endpoint {
            Endpoint::World => None,
            Endpoint::Body(i) => Some(i),
            Endpoint::Particle(i) => Some(self.bodies.len() + i),
        }
    }

    /// Whether forces move an endpoint.
    pub fn is_dynamic(&self, endpoint: Endpoint) -> bool {
        match endpoint {
            Endpoint::World => false,
            Endpoint::Body(i) => self.bodies[i].is_dynamic(),
            Endpoint::Particle(i) => self.particles[i].mass > 0.0,
        }
    }
}
