//! The motion of everything in a scene at one instant: what solvers load and what metrics judge.

use serde::{Deserialize, Serialize};

use crate::{
    math::{Mat3, Quat, Vec3, axial, polar_rotation, skew},
    wire,
};

/// Positions and velocities of all bodies and particles, and what has broken so far.
///
/// Bodies carry an affine frame instead of a rotation so that affine solvers are judged on what
/// they computed; a rigid solver fills it with a rotation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct State {
    /// Time since the start of the scene [s].
    #[serde(with = "wire::maybe_number")]
    pub time_s: f64,
    /// One entry per body of the scene, in scene order.
    pub bodies: Vec<BodyState>,
    /// One entry per particle of the scene, in scene order.
    pub particles: Vec<ParticleState>,
    /// Whether each joint has broken, in scene order.
    pub broken: Vec<bool>,
}

/// The motion of one body.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BodyState {
    /// Centre of mass in the world [m].
    #[serde(with = "wire::maybe_numbers")]
    pub position: Vec3,
    /// Body-to-world map; its columns are the body axes in the world.
    #[serde(with = "wire::maybe_numbers")]
    pub frame: Mat3,
    /// Velocity of the centre of mass [m/s].
    #[serde(with = "wire::maybe_numbers")]
    pub velocity: Vec3,
    /// Time derivative of `frame` [1/s].
    #[serde(with = "wire::maybe_numbers")]
    pub frame_rate: Mat3,
}

/// Where something rigid is and how it moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placement {
    /// Centre of mass in the world [m].
    pub position: Vec3,
    /// Body to world.
    pub rotation: Quat,
    /// Velocity of the centre of mass [m/s].
    pub velocity: Vec3,
    /// Angular velocity in world axes [rad/s].
    pub omega: Vec3,
}

/// The motion of one point mass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ParticleState {
    /// Position in the world [m].
    #[serde(with = "wire::maybe_numbers")]
    pub position: Vec3,
    /// Velocity [m/s].
    #[serde(with = "wire::maybe_numbers")]
    pub velocity: Vec3,
}

impl BodyState {
    /// The state of a rigid body with angular velocity `omega` in world axes [rad/s].
    pub fn rigid(position: Vec3, rotation: Quat, velocity: Vec3, omega: Vec3) -> Self {
        let frame = rotation.to_rotation_matrix().into_inner();
        Self { position, frame, velocity, frame_rate: skew(&omega) * frame }
    }

    /// The rotation nearest to the frame.
    pub fn rotation(&self) -> Quat {
        polar_rotation(&self.frame)
    }

    /// Angular velocity in world axes [rad/s]; for an affine frame that of its polar factor's axes.
    pub fn omega(&self) -> Vec3 {
        self.omega_about(&self.rotation())
    }

    /// The same where the rotation nearest to the frame is known.
    fn omega_about(&self, rotation: &Quat) -> Vec3 {
        let rotation = rotation.to_rotation_matrix().into_inner();
        axial(&(self.frame_rate * rotation.transpose()))
    }

    /// World position of a point given in body coordinates [m].
    pub fn point(&self, local: &Vec3) -> Vec3 {
        self.position + self.frame * local
    }
}

impl Placement {
    /// World position of a point given in body coordinates [m].
    #[inline]
    pub fn point(&self, local: &Vec3) -> Vec3 {
        self.position + self.rotation * local
    }
}

impl From<&BodyState> for Placement {
    fn from(state: &BodyState) -> Self {
        let rotation = state.rotation();
        Self {
            position: state.position,
            rotation,
            velocity: state.velocity,
            omega: state.omega_about(&rotation),
        }
    }
}

impl From<&ParticleState> for Placement {
    /// A particle has no rotation.
    fn from(state: &ParticleState) -> Self {
        Self {
            position: state.position,
            rotation: Quat::identity(),
            velocity: state.velocity,
            omega: Vec3::zeros(),
        }
    }
}

impl State {
    /// Where everything is and how it moves: bodies, then particles, as [`crate::Scene::node`] counts them.
    pub fn placements(&self) -> impl Iterator<Item = Placement> + Clone + '_ {
        self.bodies.iter().map(Placement::from).chain(self.particles.iter().map(Placement::from))
    }

    /// FNV-1a hash of every bit of the state; equal runs must give equal hashes.
    pub fn hash(&self) -> u64 {
        let mut hash = BitHash::default();
        self.add_to(&mut hash);
        hash.value()
    }

    /// Adds every bit of the state to a hash of several.
    pub fn add_to(&self, hash: &mut BitHash) {
        for b in &self.bodies {
            let vectors = b.position.iter().chain(b.frame.iter());
            hash.numbers(vectors.chain(b.velocity.iter()).chain(b.frame_rate.iter()));
        }
        for p in &self.particles {
            hash.numbers(p.position.iter().chain(&p.velocity));
        }
        self.broken.iter().for_each(|&broken| hash.byte(u8::from(broken)));
    }

    /// Whether every number in the state is finite.
    pub fn is_finite(&self) -> bool {
        self.bodies.iter().all(|b| {
            let vectors = b.position.iter().chain(b.frame.iter());
            vectors.chain(b.velocity.iter()).chain(b.frame_rate.iter()).all(|x| x.is_finite())
        }) && self
            .particles
            .iter()
            .all(|p| p.position.iter().chain(&p.velocity).all(|x| x.is_finite()))
    }
}

/// FNV-1a hash of the bits of numbers, for telling whether two programs computed the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BitHash(u64);

impl Default for BitHash {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl BitHash {
    /// Adds the bits of `numbers` in their order.
    pub fn numbers<'a>(&mut self, numbers: impl IntoIterator<Item = &'a f64>) {
        for number in numbers {
            number.to_bits().to_le_bytes().into_iter().for_each(|byte| self.byte(byte));
        }
    }

    /// Adds the bytes of a text in their order.
    pub fn text(&mut self, text: &str) {
        text.bytes().for_each(|byte| self.byte(byte));
    }

    fn byte(&mut self, byte: u8) {
        self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    }

    /// The hash of all that was added.
    pub fn value(self) -> u64 {
        self.0
    }
}
