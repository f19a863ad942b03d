//! What a collision query answers.

use std::ops::Range;

use taut_core::{BodyState, Quat, Vec3};

/// Stands for "no contact" where an index is expected.
pub const NONE: u32 = u32::MAX;

/// Where a body is and how it moves: all that detection knows of a state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placement {
    /// Centre of mass [m].
    pub position: Vec3,
    /// Body to world.
    pub rotation: Quat,
    /// Velocity of the centre of mass [m/s].
    pub velocity: Vec3,
    /// Angular velocity in world axes [rad/s].
    pub omega: Vec3,
}

impl From<&BodyState> for Placement {
    fn from(state: &BodyState) -> Self {
        Self {
            position: state.position,
            rotation: state.rotation(),
            velocity: state.velocity,
            omega: state.omega(),
        }
    }
}

/// One point of contact between two bodies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// The two bodies by index in the scene, A first. At least one of them is dynamic.
    pub bodies: [u32; 2],
    /// Point on A's surface, in A's coordinates [m].
    pub anchor_a: Vec3,
    /// Point on B's surface, in B's coordinates [m].
    pub anchor_b: Vec3,
    /// Unit vector from B to A, in the world.
    pub normal: Vec3,
    /// `normal . (xA - xB)` [m]; negative where the bodies overlap.
    pub gap: f64,
    /// Which features meet, unique among the contacts of a pair.
    pub feature: u64,
    /// Index in the list before this one of the contact that this one continues, or [`NONE`].
    pub previous: u32,
}

/// Consecutive contacts of one pair of bodies that share a normal.
#[derive(Clone, Debug, PartialEq)]
pub struct Manifold {
    /// The two bodies by index in the scene, A first.
    pub bodies: [u32; 2],
    /// Unit vector from B to A, in the world.
    pub normal: Vec3,
    /// Its contacts.
    pub contacts: Range<u32>,
    /// Coefficient of static friction of the pair [1].
    pub friction_static: f64,
    /// Coefficient of dynamic friction of the pair [1].
    pub friction_dynamic: f64,
    /// Restitution of the pair [1].
    pub restitution: f64,
}

impl Manifold {
    /// Its contacts, as a range of indices.
    pub fn range(&self) -> Range<usize> {
        self.contacts.start as usize..self.contacts.end as usize
    }
}

/// The answer of one collision query, sorted by pair.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ContactList {
    /// All points of contact, manifold by manifold.
    pub contacts: Vec<Contact>,
    /// Which of them belong together.
    pub manifolds: Vec<Manifold>,
}

impl ContactList {
    /// Drops all contacts and keeps the memory.
    pub fn clear(&mut self) {
        self.contacts.clear();
        self.manifolds.clear();
    }

    /// Appends another list, whose contacts continue the same list as these.
    pub(crate) fn append(&mut self, other: &Self) {
        let shift = self.contacts.len() as u32;
        self.contacts.extend_from_slice(&other.contacts);
        self.manifolds.extend(other.manifolds.iter().map(|m| Manifold {
            contacts: m.contacts.start + shift..m.contacts.end + shift,
            ..m.clone()
        }));
    }
}
