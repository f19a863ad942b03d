//! A scene after loading: flat lists in SI units, nothing left to expand or to look up.
//!
//! [`load_file`] makes one from the authoring form, a RON file with parameters and generators; how
//! to write one is described in `scenes/README.md`.

mod author;
mod body;
mod connect;
mod elastic;
mod error;
mod expand;
mod expression;
mod generate;
mod generators;
mod hull;
mod load;
mod mass;
mod names;
mod validate;

use std::sync::Arc;

pub(crate) use elastic::points;
pub use elastic::{Anchor, ElasticPart, Elasticity};
pub use error::SceneError;
pub use load::{Loaded, load_file, load_str, load_str_within};

use serde::{Deserialize, Serialize};

use crate::{
    energy::{ENDS_MAX, Energy, Membrane},
    math::{Mat3, Quat, Vec3},
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
    /// Bodies whose path is compared with the reference, as indices.
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
    pub triangles: Vec<ElasticPart<Membrane<f64>, 3>>,
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

/// A rigid body. Its frame has its origin at the centre of mass.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Body {
    /// Unique name, possibly generated; may be empty for members of large generated groups.
    pub name: String,
    /// Geometry in body coordinates.
    pub shape: Shape,
    /// Whether and how it moves.
    pub motion: Motion,
    /// Mass [kg]; zero for bodies that are not dynamic.
    pub mass: f64,
    /// Inertia tensor about the centre of mass, in body axes [kg m^2]; zero where not dynamic.
    #[serde(with = "wire::numbers")]
    pub inertia: Mat3,
    /// Surface properties.
    pub material: Material,
    /// Elastic constants; a body without them is rigid.
    pub elasticity: Option<Elasticity>,
    /// Bodies of one group do not touch each other.
    pub group: Option<u32>,
    /// Initial centre of mass [m].
    #[serde(with = "wire::numbers")]
    pub position: Vec3,
    /// Initial rotation, body to world.
    #[serde(with = "wire::numbers")]
    pub rotation: Quat,
    /// Initial velocity of the centre of mass [m/s].
    #[serde(with = "wire::numbers")]
    pub velocity: Vec3,
    /// Initial angular velocity in world axes [rad/s].
    #[serde(with = "wire::numbers")]
    pub omega: Vec3,
}

/// Whether and how a body moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Motion {
    /// By forces.
    #[default]
    Dynamic,
    /// Not at all.
    Static,
    /// With its initial velocity and angular velocity, whatever the forces.
    Kinematic,
}

/// Geometry in body coordinates, which have their origin at the centre of mass.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Shape {
    /// A box.
    Box {
        /// Half extents along the body axes [m].
        #[serde(with = "wire::numbers")]
        half: Vec3,
    },
    /// A sphere.
    Sphere {
        /// Radius [m].
        radius: f64,
    },
    /// A cylinder with hemispherical ends along body z.
    Capsule {
        /// Radius [m].
        radius: f64,
        /// Half the distance between the centres of the ends [m].
        half_length: f64,
    },
    /// A cylinder along body z.
    Cylinder {
        /// Radius [m].
        radius: f64,
        /// Half its length [m].
        half_length: f64,
    },
    /// The convex hull of points.
    Hull {
        /// The points [m].
        #[serde(with = "wire::points")]
        points: Arc<[Vec3]>,
    },
    /// Several shapes moving as one.
    Compound {
        /// Each part with its place in the body.
        #[serde(with = "wire::shared")]
        parts: Arc<[Part]>,
    },
    /// Everything below the plane through the origin, body z outward. Never dynamic.
    HalfSpace,
    /// A surface of triangles, seen from the side from which they run counterclockwise. Never dynamic.
    Mesh {
        /// Corners [m].
        #[serde(with = "wire::points")]
        vertices: Arc<[Vec3]>,
        /// Corner indices of each triangle.
        #[serde(with = "wire::shared")]
        triangles: Arc<[[u32; 3]]>,
    },
}

/// One part of a compound.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// Its geometry, not itself a compound.
    pub shape: Shape,
    /// Where its own origin is in the body [m].
    #[serde(with = "wire::numbers")]
    pub position: Vec3,
    /// How it is turned in the body.
    #[serde(with = "wire::numbers")]
    pub rotation: Quat,
}

/// Surface properties. A pair of bodies uses the geometric mean of the coefficients of friction and
/// the larger restitution.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Material {
    /// Coefficient of static friction [1].
    pub friction_static: f64,
    /// Coefficient of dynamic friction [1].
    pub friction_dynamic: f64,
    /// Share of the approach speed that an impact gives back, in \[0, 1\].
    pub restitution: f64,
}

impl Default for Material {
    fn default() -> Self {
        Self { friction_static: 0.5, friction_dynamic: 0.5, restitution: 0.0 }
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

/// A joint between two endpoints. Its rows are defined in [`crate::constraint`].
///
/// The joint basis has its x axis along a hinge's or slider's axis. A universal joint keeps A's x
/// axis perpendicular to B's y axis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Joint {
    /// Unique name, possibly generated; may be empty for members of large generated groups.
    pub name: String,
    /// Which motions it locks.
    pub kind: JointKind,
    /// One side.
    pub a: Endpoint,
    /// The other side.
    pub b: Endpoint,
    /// Anchor on A, in A's coordinates [m].
    #[serde(with = "wire::numbers")]
    pub anchor_a: Vec3,
    /// Anchor on B, in B's coordinates [m].
    #[serde(with = "wire::numbers")]
    pub anchor_b: Vec3,
    /// Rotation of the joint basis on A: joint to A coordinates.
    #[serde(with = "wire::numbers")]
    pub basis_a: Quat,
    /// Rotation of the joint basis on B: joint to B coordinates.
    #[serde(with = "wire::numbers")]
    pub basis_b: Quat,
    /// Compliance of the rows that lock positions [m/N]; zero is hard.
    pub compliance_linear: f64,
    /// Compliance of the rows that lock rotations [rad/(N m)]; zero is hard.
    pub compliance_angular: f64,
    /// Bounds of the free coordinate: hinge angle [rad], slider displacement [m], or distance [m].
    pub limit: Option<Limit>,
    /// Drive of the free coordinate of a hinge or slider.
    pub motor: Option<Motor>,
    /// The joint breaks above this force [N]; infinite never.
    #[serde(with = "wire::upper_bound")]
    pub break_force: f64,
    /// The joint breaks above this torque [N m]; infinite never.
    #[serde(with = "wire::upper_bound")]
    pub break_torque: f64,
}

/// Which relative motions a joint locks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum JointKind {
    /// The anchors coincide.
    Ball,
    /// The anchors coincide and the x axes of the bases stay parallel.
    Hinge,
    /// The anchors coincide and A's x axis stays perpendicular to B's y axis.
    Universal,
    /// B's anchor stays on the line through A's anchor along A's x axis; the bases stay parallel.
    Prismatic,
    /// B's anchor stays on the line through A's anchor along A's x axis; the x axes of the bases stay
    /// parallel.
    Cylindrical,
    /// The anchors coincide and the bases stay parallel.
    Fixed,
    /// The anchors keep a distance, or with a limit stay within its bounds.
    Distance {
        /// The distance kept where there is no limit [m].
        length: f64,
    },
}

/// Bounds of a joint's free coordinate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limit {
    /// Smallest value allowed.
    #[serde(with = "wire::lower_bound")]
    pub lower: f64,
    /// Largest value allowed.
    #[serde(with = "wire::upper_bound")]
    pub upper: f64,
}

/// A drive that holds the rate of a joint's free coordinate with bounded effort.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Motor {
    /// Target rate of B relative to A [rad/s or m/s].
    pub speed: f64,
    /// Largest torque or force it may use [N m or N].
    pub max_effort: f64,
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
    /// Relative rotation of the bases: energy `k/2 |2 vec(q)|^2` with `q` the rotation from A's
    /// basis to B's, equal to `k/2 angle^2` for small angles and monotone up to a half turn.
    Angular {
        /// Rotation of the rest basis on A.
        #[serde(with = "wire::numbers")]
        basis_a: Quat,
        /// Rotation of the rest basis on B.
        #[serde(with = "wire::numbers")]
        basis_b: Quat,
    },
}

impl Body {
    /// A dynamic box of uniform density [kg/m^3] with full extents `size` [m], at rest at the origin.
    pub fn solid_box(size: Vec3, density: f64) -> Self {
        let mass = density * size.x * size.y * size.z;
        let square = size.component_mul(&size);
        let diagonal = Vec3::new(square.y + square.z, square.x + square.z, square.x + square.y)
            * (mass / 12.0);
        Self {
            name: String::new(),
            shape: Shape::Box { half: size * 0.5 },
            motion: Motion::Dynamic,
            mass,
            inertia: Mat3::from_diagonal(&diagonal),
            material: Material::default(),
            elasticity: None,
            group: None,
            position: Vec3::zeros(),
            rotation: Quat::identity(),
            velocity: Vec3::zeros(),
            omega: Vec3::zeros(),
        }
    }

    /// This body with its centre of mass at `position` [m].
    #[must_use]
    pub fn at(mut self, position: Vec3) -> Self {
        self.position = position;
        self
    }

    /// This body made immovable.
    #[must_use]
    pub fn fixed(mut self) -> Self {
        (self.motion, self.mass, self.inertia) = (Motion::Static, 0.0, Mat3::zeros());
        self
    }

    /// Whether forces move it.
    pub fn is_dynamic(&self) -> bool {
        self.motion == Motion::Dynamic
    }
}

impl Joint {
    /// A hard joint of the given kind, anchored at both origins, without limit, motor or break threshold.
    pub fn new(kind: JointKind, a: Endpoint, b: Endpoint) -> Self {
        Self {
            name: String::new(),
            kind,
            a,
            b,
            anchor_a: Vec3::zeros(),
            anchor_b: Vec3::zeros(),
            basis_a: Quat::identity(),
            basis_b: Quat::identity(),
            compliance_linear: 0.0,
            compliance_angular: 0.0,
            limit: None,
            motor: None,
            break_force: f64::INFINITY,
            break_torque: f64::INFINITY,
        }
    }

    /// This joint with anchors in the coordinates of either side [m].
    #[must_use]
    pub fn anchored(mut self, anchor_a: Vec3, anchor_b: Vec3) -> Self {
        (self.anchor_a, self.anchor_b) = (anchor_a, anchor_b);
        self
    }
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

    /// Every energy of points, and what those are fixed to.
    pub fn energies(&self) -> impl Iterator<Item = (Energy<f64>, [Anchor; ENDS_MAX])> + '_ {
        self.triangles.iter().map(|part| (Energy::Membrane(part.energy), part.anchors()))
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

impl Shape {
    /// Full extents of the box around the shape along the body axes [m].
    pub fn extent(&self) -> Vec3 {
        let (lowest, highest) = self.bounds();
        highest - lowest
    }

    /// Lowest and highest corner of the box around the shape, in body coordinates [m].
    pub fn bounds(&self) -> (Vec3, Vec3) {
        let symmetric = |half: Vec3| (-half, half);
        match self {
            Self::Box { half } => symmetric(*half),
            Self::Sphere { radius } => symmetric(Vec3::repeat(*radius)),
            Self::Capsule { radius, half_length } => {
                symmetric(Vec3::new(*radius, *radius, radius + half_length))
            }
            Self::Cylinder { radius, half_length } => {
                symmetric(Vec3::new(*radius, *radius, *half_length))
            }
            Self::HalfSpace => {
                (Vec3::repeat(f64::NEG_INFINITY), Vec3::new(f64::INFINITY, f64::INFINITY, 0.0))
            }
            Self::Hull { points: corners } | Self::Mesh { vertices: corners, .. } => {
                corners.iter().fold(
                    (Vec3::repeat(f64::INFINITY), Vec3::repeat(f64::NEG_INFINITY)),
                    |(low, high), point| (low.inf(point), high.sup(point)),
                )
            }
            Self::Compound { parts } => parts.iter().fold(
                (Vec3::repeat(f64::INFINITY), Vec3::repeat(f64::NEG_INFINITY)),
                |(low, high), part| {
                    let (part_low, part_high) = part.bounds();
                    (low.inf(&part_low), high.sup(&part_high))
                },
            ),
        }
    }
}

impl Part {
    /// Box around the part in the body's coordinates, from the turned box around its shape.
    fn bounds(&self) -> (Vec3, Vec3) {
        let (low, high) = self.shape.bounds();
        let (middle, half) = ((low + high) * 0.5, (high - low) * 0.5);
        let reach = self.rotation.to_rotation_matrix().into_inner().abs() * half;
        let centre = self.position + self.rotation * middle;
        (centre - reach, centre + reach)
    }
}
