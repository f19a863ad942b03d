//! Settings that mean the same in every method.

use serde::{Deserialize, Serialize};

/// Arithmetic a solver runs in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Precision {
    /// Single.
    F32,
    /// Double.
    #[default]
    F64,
}

/// In which order nodes or units are visited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// Colour by colour; those of one colour do not touch and may be visited at once.
    #[default]
    Coloured,
    /// Bodies, then particles, or joints, then springs, in the order of the scene.
    Creation,
    /// The last created first.
    ReverseCreation,
}

/// How rotation vectors and rotations are exchanged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Rotation {
    /// As published (AVBD Eq. 20, 21): `q + (0,w) q / 2` normalised one way, `2 vec(q q'^-1)` the other,
    /// which are not inverse to each other, so that free spin decays.
    Published,
    /// The Cayley map both ways, `2 vec(q)/scalar(q)`: free spin is kept exactly.
    #[default]
    Cayley,
}
