//! The generators as written. In a member's body `i`, then `j` and `k` count as each one says.

use super::{
    author::{Body, BodyEntry, JointEntry, ParticleEntry, SpringEntry, TriangleEntry},
    expression::{Number, Triple},
};

/// Bodies in a row, each joined to the one before. `i` counts the members; in the joint and the
/// spring it is the later of the two.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(rename = "chain", deny_unknown_fields)]
pub(super) struct Chain {
    pub(super) name: String,
    pub(super) count: Number,
    /// Origin of the first member [m].
    pub(super) start: Triple,
    /// From each member's origin to the next [m].
    pub(super) step: Triple,
    pub(super) body: Body,
    /// Members that are static.
    #[serde(default)]
    pub(super) held: Vec<Number>,
    /// What the first member is joined to, half a step before it.
    pub(super) root: Option<String>,
    pub(super) joint: Option<JointEntry>,
    pub(super) spring: Option<SpringEntry>,
}

/// Bodies on a lattice, joined to their face neighbours. `i, j, k` count along x, y, z; in the joint
/// and the spring they are those of the later of the two.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(rename = "grid", deny_unknown_fields)]
pub(super) struct Grid {
    pub(super) name: String,
    pub(super) counts: Triple,
    /// Origin of member `[0,0,0]` [m].
    pub(super) start: Triple,
    /// Spacing along x, y and z [m].
    pub(super) step: Triple,
    pub(super) body: Body,
    #[serde(default)]
    pub(super) held: Vec<Held>,
    pub(super) joint: Option<JointEntry>,
    pub(super) spring: Option<SpringEntry>,
}

/// Particles on a lattice. `i, j, k` count along x, y, z.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(rename = "grid", deny_unknown_fields)]
pub(super) struct ParticleGrid {
    pub(super) name: String,
    pub(super) counts: Triple,
    pub(super) start: Triple,
    pub(super) step: Triple,
    /// Mass of each [kg].
    pub(super) mass: Number,
    pub(super) velocity: Option<Triple>,
    #[serde(default)]
    pub(super) held: Vec<Held>,
    /// Stiffness of the springs along the axes [N/m].
    pub(super) structural: Option<Number>,
    /// Stiffness of the springs across the faces of the cells [N/m].
    pub(super) shear: Option<Number>,
}

/// Which members of a lattice are held.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(rename = "held", rename_all = "snake_case")]
pub(super) enum Held {
    Corners,
    FirstX,
    LastX,
    FirstY,
    LastY,
    FirstZ,
    LastZ,
    Member(Number, Number, Number),
}

/// Bodies one upon the other along z. `i` counts from the bottom.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(rename = "stack", deny_unknown_fields)]
pub(super) struct Stack {
    pub(super) name: String,
    pub(super) count: Number,
    /// Middle of the lowest member's lower side [m].
    pub(super) start: Triple,
    /// Distance between one member's top and the next one's bottom [m].
    pub(super) gap: Option<Number>,
    pub(super) body: Body,
}

/// Rows of bodies, each one shorter than the row below. `i` counts rows from the bottom, `j` along a row.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(rename = "pyramid", deny_unknown_fields)]
pub(super) struct Pyramid {
    pub(super) name: String,
    /// Rows, and members of the lowest row.
    pub(super) n: Number,
    pub(super) start: Triple,
    /// From one member to the next of its row [m].
    pub(super) along: Triple,
    /// From a row's first member to that of the row above [m].
    pub(super) up: Triple,
    pub(super) body: Body,
}

/// Rows of bodies, every other row shifted. `i` counts rows from the bottom, `j` along a row.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(rename = "wall", deny_unknown_fields)]
pub(super) struct Wall {
    pub(super) name: String,
    pub(super) rows: Number,
    pub(super) columns: Number,
    pub(super) start: Triple,
    pub(super) along: Triple,
    pub(super) up: Triple,
    /// Shift of odd rows as a part of `along`; a half unless given.
    pub(super) shift: Option<Number>,
    pub(super) body: Body,
    /// To the member before in the row and to the member of equal `j` in the row below.
    pub(super) joint: Option<JointEntry>,
}

/// Bodies around a circle about z, their x axes along it. `i` counts the members.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(rename = "ring", deny_unknown_fields)]
pub(super) struct Ring {
    pub(super) name: String,
    pub(super) count: Number,
    pub(super) centre: Triple,
    pub(super) radius: Number,
    /// Turn of the first member from the x direction [degrees].
    pub(super) phase: Option<Number>,
    pub(super) body: Body,
    /// To the member before; the first member's to the last closes the ring.
    pub(super) joint: Option<JointEntry>,
}

/// `n x n` hubs in the xy plane with rods between neighbours, all joined by ball joints.
///
/// Hubs are named `<name>_hub[i,j]`, rods from there along x and y `<name>_rod_x[i,j]` and
/// `<name>_rod_y[i,j]`.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(rename = "net", deny_unknown_fields)]
pub(super) struct Net {
    pub(super) name: String,
    pub(super) n: Number,
    /// Centre of the first hub [m].
    pub(super) start: Triple,
    /// Distance of neighbouring hubs [m].
    pub(super) spacing: Number,
    /// Distance of a joint from its hub's centre [m].
    pub(super) socket: Number,
    pub(super) hub: Body,
    /// Made along x; turned where it runs along y.
    pub(super) rod: Body,
    /// Which hubs are joined to the world at their centres.
    pub(super) pinned: Pinned,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename = "pinned", rename_all = "snake_case")]
pub(super) enum Pinned {
    Nothing,
    Corners,
    /// All hubs with `i = 0`.
    Edge,
}

/// Links end to end along a path of their own, each made along its x axis and turned to lie on it.
/// `i` counts the links; in the joint and the spring it is the later of the two.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(rename = "path", deny_unknown_fields)]
pub(super) struct Path {
    pub(super) name: String,
    pub(super) count: Number,
    /// Where the first link begins [m].
    pub(super) start: Triple,
    /// From a link's beginning to its end [m].
    pub(super) along: Triple,
    pub(super) body: Body,
    /// What the first link's beginning is joined to.
    pub(super) root: Option<String>,
    /// What the last link's end is joined to; the first link closes the path to a loop.
    pub(super) tip: Option<String>,
    /// Every so many links, one is held to the world where it begins, by a ball joint.
    pub(super) pin_every: Option<Number>,
    pub(super) joint: Option<JointEntry>,
    pub(super) spring: Option<SpringEntry>,
}

/// Segments that branch, each made along its own z axis. `i` counts levels from the root, `j` the
/// segments of a level.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(rename = "tree", deny_unknown_fields)]
pub(super) struct Tree {
    pub(super) name: String,
    /// Levels, the root's included.
    pub(super) depth: Number,
    /// Segments after which the tree ends, in the middle of a level if need be.
    pub(super) count: Option<Number>,
    /// Segments of this level that grow from the end of each of the level below; of `i` alone.
    pub(super) branches: Number,
    /// Foot of the root segment [m].
    pub(super) start: Triple,
    /// Length of a segment [m].
    pub(super) length: Number,
    /// Angle of a segment to the one it grows from [degrees].
    pub(super) spread: Number,
    /// Turn of each level's branches about their parents [degrees].
    pub(super) twist: Option<Number>,
    /// How far a segment bends down from the direction it grows in, at most to the vertical [degrees].
    pub(super) sag: Option<Number>,
    pub(super) body: Body,
    /// What the root segment is joined to.
    pub(super) root: Option<String>,
    pub(super) joint: Option<JointEntry>,
    pub(super) spring: Option<SpringEntry>,
}

/// Entries again and again, with one more index variable.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(rename = "repeat", deny_unknown_fields)]
pub(super) struct Repeat {
    pub(super) count: Number,
    #[serde(default)]
    pub(super) bodies: Vec<BodyEntry>,
    #[serde(default)]
    pub(super) particles: Vec<ParticleEntry>,
    #[serde(default)]
    pub(super) joints: Vec<JointEntry>,
    #[serde(default)]
    pub(super) springs: Vec<SpringEntry>,
    #[serde(default)]
    pub(super) triangles: Vec<TriangleEntry>,
}
