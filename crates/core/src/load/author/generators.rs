//! The generators as written. In a member's body `i`, then `j` and `k` count as each one says.

use super::{
    BodyEntry, BodySpec, ForceEntry, FrictionSpec, JointEntry, ParticleEntry, SpringEntry,
    TetrahedronEntry, TriangleEntry,
};
use crate::load::expression::{Formula, Triple};

/// Bodies in a row, each joined to the one before. `i` counts the members; in the joint and the
/// spring it is the later of the two.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(rename = "chain", deny_unknown_fields)]
pub(in crate::load) struct Chain {
    pub(in crate::load) name: String,
    pub(in crate::load) count: Formula,
    /// Origin of the first member [m].
    pub(in crate::load) start: Triple,
    /// From each member's origin to the next [m].
    pub(in crate::load) step: Triple,
    pub(in crate::load) body: BodySpec,
    /// Members that are static.
    #[serde(default)]
    pub(in crate::load) held: Vec<Formula>,
    /// What the first member is joined to, half a step before it.
    pub(in crate::load) root: Option<String>,
    pub(in crate::load) joint: Option<JointEntry>,
    pub(in crate::load) spring: Option<SpringEntry>,
}

/// Bodies on a lattice, joined to their face neighbours. `i, j, k` count along x, y, z; in the joint
/// and the spring they are those of the later of the two.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(rename = "grid", deny_unknown_fields)]
pub(in crate::load) struct Grid {
    pub(in crate::load) name: String,
    pub(in crate::load) counts: Triple,
    /// Origin of member `[0,0,0]` [m].
    pub(in crate::load) start: Triple,
    /// Spacing along x, y and z [m].
    pub(in crate::load) step: Triple,
    pub(in crate::load) body: BodySpec,
    #[serde(default)]
    pub(in crate::load) held: Vec<Held>,
    pub(in crate::load) joint: Option<JointEntry>,
    pub(in crate::load) spring: Option<SpringEntry>,
}

/// Particles on a lattice. `i, j, k` count along x, y, z.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(rename = "grid", deny_unknown_fields)]
pub(in crate::load) struct ParticleGrid {
    pub(in crate::load) name: String,
    pub(in crate::load) counts: Triple,
    pub(in crate::load) start: Triple,
    pub(in crate::load) step: Triple,
    /// Mass of each [kg].
    pub(in crate::load) mass: Formula,
    pub(in crate::load) velocity: Option<Triple>,
    /// As of a single particle.
    pub(in crate::load) radius: Option<Formula>,
    pub(in crate::load) friction: Option<FrictionSpec>,
    pub(in crate::load) group: Option<Formula>,
    #[serde(default)]
    pub(in crate::load) held: Vec<Held>,
    /// Stiffness of the springs along the axes [N/m].
    pub(in crate::load) structural: Option<Formula>,
    /// Stiffness of the springs across the faces of the cells [N/m].
    pub(in crate::load) shear: Option<Formula>,
}

/// Which members of a lattice are held.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(rename = "held", rename_all = "snake_case")]
pub(in crate::load) enum Held {
    Corners,
    FirstX,
    LastX,
    FirstY,
    LastY,
    FirstZ,
    LastZ,
    Member(Formula, Formula, Formula),
    /// Whose place at the start is within.
    Inside(Region),
}

/// A part of space.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(rename = "region", rename_all = "snake_case", deny_unknown_fields)]
pub(in crate::load) enum Region {
    Box { centre: Triple, size: Triple },
    Sphere { centre: Triple, radius: Formula },
}

/// Bodies one upon the other along z. `i` counts from the bottom.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(rename = "stack", deny_unknown_fields)]
pub(in crate::load) struct Stack {
    pub(in crate::load) name: String,
    pub(in crate::load) count: Formula,
    /// Middle of the lowest member's lower side [m].
    pub(in crate::load) start: Triple,
    /// Distance between one member's top and the next one's bottom [m].
    pub(in crate::load) gap: Option<Formula>,
    pub(in crate::load) body: BodySpec,
}

/// Rows of bodies, each one shorter than the row below. `i` counts rows from the bottom, `j` along a row.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(rename = "pyramid", deny_unknown_fields)]
pub(in crate::load) struct Pyramid {
    pub(in crate::load) name: String,
    /// Rows, and members of the lowest row.
    pub(in crate::load) n: Formula,
    pub(in crate::load) start: Triple,
    /// From one member to the next of its row [m].
    pub(in crate::load) along: Triple,
    /// From a row's first member to that of the row above [m].
    pub(in crate::load) up: Triple,
    pub(in crate::load) body: BodySpec,
}

/// Rows of bodies, every other row shifted. `i` counts rows from the bottom, `j` along a row.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(rename = "wall", deny_unknown_fields)]
pub(in crate::load) struct Wall {
    pub(in crate::load) name: String,
    pub(in crate::load) rows: Formula,
    pub(in crate::load) columns: Formula,
    pub(in crate::load) start: Triple,
    pub(in crate::load) along: Triple,
    pub(in crate::load) up: Triple,
    /// Shift of odd rows as a part of `along`; a half unless given.
    pub(in crate::load) shift: Option<Formula>,
    pub(in crate::load) body: BodySpec,
    /// To the member before in the row and to the member of equal `j` in the row below.
    pub(in crate::load) joint: Option<JointEntry>,
}

/// Bodies around a circle about z, their x axes along it. `i` counts the members.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(rename = "ring", deny_unknown_fields)]
pub(in crate::load) struct Ring {
    pub(in crate::load) name: String,
    pub(in crate::load) count: Formula,
    pub(in crate::load) centre: Triple,
    pub(in crate::load) radius: Formula,
    /// Turn of the first member from the x direction [degrees].
    pub(in crate::load) phase: Option<Formula>,
    pub(in crate::load) body: BodySpec,
    /// To the member before; the first member's to the last closes the ring.
    pub(in crate::load) joint: Option<JointEntry>,
}

/// `n x n` hubs in the xy plane with rods between neighbours, all joined by ball joints.
///
/// Hubs are named `<name>_hub[i,j]`, rods from there along x and y `<name>_rod_x[i,j]` and
/// `<name>_rod_y[i,j]`.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(rename = "net", deny_unknown_fields)]
pub(in crate::load) struct Net {
    pub(in crate::load) name: String,
    pub(in crate::load) n: Formula,
    /// Centre of the first hub [m].
    pub(in crate::load) start: Triple,
    /// Distance of neighbouring hubs [m].
    pub(in crate::load) spacing: Formula,
    /// Distance of a joint from its hub's centre [m].
    pub(in crate::load) socket: Formula,
    pub(in crate::load) hub: BodySpec,
    /// Made along x; turned where it runs along y.
    pub(in crate::load) rod: BodySpec,
    /// Which hubs are joined to the world at their centres.
    pub(in crate::load) pinned: Pinned,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename = "pinned", rename_all = "snake_case")]
pub(in crate::load) enum Pinned {
    Nothing,
    Corners,
    /// All hubs with `i = 0`.
    Edge,
}

/// Links end to end along a path of their own, each made along its x axis and turned to lie on it.
/// `i` counts the links; in the joint and the spring it is the later of the two.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(rename = "path", deny_unknown_fields)]
pub(in crate::load) struct Path {
    pub(in crate::load) name: String,
    pub(in crate::load) count: Formula,
    /// Where the first link begins [m].
    pub(in crate::load) start: Triple,
    /// From a link's beginning to its end [m].
    pub(in crate::load) along: Triple,
    pub(in crate::load) body: BodySpec,
    /// What the first link's beginning is joined to.
    pub(in crate::load) root: Option<String>,
    /// What the last link's end is joined to; the first link closes the path to a loop.
    pub(in crate::load) tip: Option<String>,
    /// Every so many links, one is held to the world where it begins, by a ball joint.
    pub(in crate::load) pin_every: Option<Formula>,
    pub(in crate::load) joint: Option<JointEntry>,
    pub(in crate::load) spring: Option<SpringEntry>,
}

/// Segments that branch, each made along its own z axis. `i` counts levels from the root, `j` the
/// segments of a level.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(rename = "tree", deny_unknown_fields)]
pub(in crate::load) struct Tree {
    pub(in crate::load) name: String,
    /// Levels, the root's included.
    pub(in crate::load) depth: Formula,
    /// Segments after which the tree ends, in the middle of a level if need be.
    pub(in crate::load) count: Option<Formula>,
    /// Segments of this level that grow from the end of each of the level below; of `i` alone.
    pub(in crate::load) branches: Formula,
    /// Foot of the root segment [m].
    pub(in crate::load) start: Triple,
    /// Length of a segment [m].
    pub(in crate::load) length: Formula,
    /// Angle of a segment to the one it grows from [degrees].
    pub(in crate::load) spread: Formula,
    /// Turn of each level's branches about their parents [degrees].
    pub(in crate::load) twist: Option<Formula>,
    /// How far a segment bends down from the direction it grows in, at most to the vertical [degrees].
    pub(in crate::load) sag: Option<Formula>,
    pub(in crate::load) body: BodySpec,
    /// What the root segment is joined to.
    pub(in crate::load) root: Option<String>,
    pub(in crate::load) joint: Option<JointEntry>,
    pub(in crate::load) spring: Option<SpringEntry>,
}

/// Entries again and again, with one more index variable.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(rename = "repeat", deny_unknown_fields)]
pub(in crate::load) struct Repeat {
    pub(in crate::load) count: Formula,
    #[serde(default)]
    pub(in crate::load) bodies: Vec<BodyEntry>,
    #[serde(default)]
    pub(in crate::load) particles: Vec<ParticleEntry>,
    #[serde(default)]
    pub(in crate::load) joints: Vec<JointEntry>,
    #[serde(default)]
    pub(in crate::load) springs: Vec<SpringEntry>,
    #[serde(default)]
    pub(in crate::load) triangles: Vec<TriangleEntry>,
    #[serde(default)]
    pub(in crate::load) tetrahedra: Vec<TetrahedronEntry>,
    #[serde(default)]
    pub(in crate::load) forces: Vec<ForceEntry>,
}
