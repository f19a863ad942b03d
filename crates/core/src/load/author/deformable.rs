//! Cloth and solids as written: generators of particles with the elements between them.

use super::{FrictionSpec, Held, RotationSpec};
use crate::{
    energy::{FoldModel, SheetModel, SolidModel},
    load::expression::{Formula, Triple},
};

/// A sheet of triangles. `sheet[i,j]` are its nodes, `i` counting along and `j` across.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(rename = "cloth", deny_unknown_fields)]
pub(in crate::load) struct Cloth {
    pub(in crate::load) name: String,
    /// Nodes along and across.
    pub(in crate::load) counts: (Formula, Formula),
    /// Node `[0,0]` [m].
    pub(in crate::load) start: Triple,
    /// From one node to the next [m].
    pub(in crate::load) along: Triple,
    pub(in crate::load) across: Triple,
    #[serde(default)]
    pub(in crate::load) pattern: Pattern,
    /// [kg/m^3]
    pub(in crate::load) density: Formula,
    /// [m]
    pub(in crate::load) thickness: Formula,
    pub(in crate::load) membrane: MembraneSpec,
    pub(in crate::load) bending: Option<BendingSpec>,
    /// Whether it is at rest without folds; the initial shape is flat, and so this changes nothing.
    pub(in crate::load) flat: Option<bool>,
    /// Viscosity in its plane [Pa s].
    pub(in crate::load) damping: Option<Formula>,
    /// Lengths at rest over those at the start; one unless given.
    pub(in crate::load) rest_scale: Option<Formula>,
    #[serde(default)]
    pub(in crate::load) held: Vec<Held>,
    pub(in crate::load) velocity: Option<Triple>,
    pub(in crate::load) friction: Option<FrictionSpec>,
    /// Bodies and cloth of one group do not touch.
    pub(in crate::load) group: Option<Formula>,
}

/// Which diagonal parts a cell of cloth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename = "pattern", rename_all = "snake_case")]
pub(in crate::load) enum Pattern {
    /// The same everywhere.
    Uniform,
    /// Either by turns.
    #[default]
    Alternating,
    /// The shorter one, where odd rows are shifted by half a step along.
    Equilateral,
}

/// A body of tetrahedra.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(rename = "solid", deny_unknown_fields)]
pub(in crate::load) struct SolidSpec {
    pub(in crate::load) name: String,
    pub(in crate::load) shape: SolidShape,
    #[serde(default)]
    pub(in crate::load) split: CellSplit,
    /// Of the middle of a lattice or sphere, of the origin of a blob [m].
    pub(in crate::load) position: Option<Triple>,
    pub(in crate::load) rotation: Option<RotationSpec>,
    /// [kg/m^3]
    pub(in crate::load) density: Formula,
    pub(in crate::load) elastic: ElasticSpec,
    /// Viscosity [Pa s].
    pub(in crate::load) damping: Option<Formula>,
    /// Lengths at rest over those at the start; one unless given.
    pub(in crate::load) rest_scale: Option<Formula>,
    #[serde(default)]
    pub(in crate::load) held: Vec<Held>,
    pub(in crate::load) velocity: Option<Triple>,
    pub(in crate::load) friction: Option<FrictionSpec>,
    /// Bodies and cloth of one group do not touch.
    pub(in crate::load) group: Option<Formula>,
}

/// Triangles or tetrahedra from a file beside the scene.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(rename = "mesh", deny_unknown_fields)]
pub(in crate::load) struct MeshSpec {
    pub(in crate::load) name: String,
    /// `.obj`, or `.ele` beside its `.node`.
    pub(in crate::load) file: String,
    /// [m] per unit of the file.
    pub(in crate::load) scale: Option<Formula>,
    /// Where the file's origin is [m].
    pub(in crate::load) position: Option<Triple>,
    pub(in crate::load) rotation: Option<RotationSpec>,
    /// [kg/m^3]
    pub(in crate::load) density: Formula,
    /// Of triangles [m].
    pub(in crate::load) thickness: Option<Formula>,
    pub(in crate::load) membrane: Option<MembraneSpec>,
    pub(in crate::load) bending: Option<BendingSpec>,
    /// Whether triangles are at rest without folds, however the file has them.
    pub(in crate::load) flat: Option<bool>,
    /// Of tetrahedra.
    pub(in crate::load) elastic: Option<ElasticSpec>,
    /// Viscosity, of triangles in their plane [Pa s].
    pub(in crate::load) damping: Option<Formula>,
    /// Lengths at rest over those at the start; one unless given.
    pub(in crate::load) rest_scale: Option<Formula>,
    #[serde(default)]
    pub(in crate::load) held: Vec<Held>,
    pub(in crate::load) velocity: Option<Triple>,
    pub(in crate::load) friction: Option<FrictionSpec>,
    pub(in crate::load) group: Option<Formula>,
}

/// What a solid fills.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(rename = "shape", rename_all = "snake_case", deny_unknown_fields)]
pub(in crate::load) enum SolidShape {
    /// A box of so many cells; nodes are `beam[i,j,k]`.
    Lattice {
        size: Triple,
        counts: Triple,
    },
    Sphere {
        radius: Formula,
        spacing: Formula,
    },
    /// A union of ellipsoids along the axes.
    Blob {
        parts: Vec<EllipsoidSpec>,
        spacing: Formula,
    },
}

/// An ellipsoid of a blob.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(rename = "part", deny_unknown_fields)]
pub(in crate::load) struct EllipsoidSpec {
    pub(in crate::load) centre: Triple,
    pub(in crate::load) radii: Triple,
}

/// Into how many tetrahedra a cell is split.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename = "split", rename_all = "snake_case")]
pub(in crate::load) enum CellSplit {
    /// One in the middle and four corners, mirrored from cell to cell.
    #[default]
    Five,
    /// Around a diagonal, the same in every cell.
    Six,
}

/// What a sheet resists strain in its plane by.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(rename = "membrane", deny_unknown_fields)]
pub(in crate::load) struct MembraneSpec {
    #[serde(default)]
    pub(in crate::load) model: SheetModel,
    /// Young's modulus [Pa].
    pub(in crate::load) young: Formula,
    pub(in crate::load) poisson: Formula,
}

/// How a thin sheet resists bending.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(rename = "bending", deny_unknown_fields)]
pub(in crate::load) struct BendingSpec {
    /// Quadratic across edges that are flat at rest, hinges across others, unless given.
    pub(in crate::load) model: Option<FoldModel>,
    /// Flexural rigidity [N m]; that of the plate of the membrane's material unless given.
    pub(in crate::load) rigidity: Option<Formula>,
}

/// What a solid resists strain by.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(rename = "elastic", deny_unknown_fields)]
pub(in crate::load) struct ElasticSpec {
    #[serde(default)]
    pub(in crate::load) model: SolidModel,
    /// Young's modulus [Pa].
    pub(in crate::load) young: Formula,
    pub(in crate::load) poisson: Formula,
}

/// A tetrahedron between particles, at rest in the initial pose.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(rename = "tetrahedron", deny_unknown_fields)]
pub(in crate::load) struct TetrahedronSpec {
    pub(in crate::load) nodes: [String; 4],
    pub(in crate::load) elastic: ElasticSpec,
    /// Viscosity [Pa s].
    pub(in crate::load) damping: Option<Formula>,
    /// [kg/m^3]; adds to the masses of nodes that are not held.
    pub(in crate::load) density: Option<Formula>,
}
