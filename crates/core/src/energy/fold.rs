//! However two triangles resist being folded.

use serde::{Deserialize, Serialize};

use super::{Energy, Hinge, WeightedSum};
use crate::Vec3;

/// What resists a fold; both are that of a plate for small angles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FoldModel {
    /// [`WeightedSum::bending`].
    Quadratic,
    /// [`Hinge`].
    Hinge,
}

/// The energy of one shared edge.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum FoldEnergy {
    /// See [`WeightedSum::bending`].
    Quadratic(WeightedSum<f64>),
    /// See [`Hinge`].
    Hinge(Hinge<f64>),
}

impl FoldEnergy {
    /// Two triangles on the edge between the first two points `rest` [m] and of a flexural rigidity [N m], by a model
    /// or, where none is given, by the quadratic one if they lie in one plane and by a hinge else. They are at rest as
    /// they are or, if `flat`, without a fold. `None` where they have no area, or are folded and the model knows none.
    pub fn new(
        model: Option<FoldModel>,
        rest: &[Vec3; 4],
        rigidity: f64,
        flat: bool,
    ) -> Option<Self> {
        let quadratic = || {
            let bending = match flat {
                true => WeightedSum::flat_bending(rest, rigidity),
                false => WeightedSum::bending(rest, rigidity),
            };
            bending.map(Self::Quadratic)
        };
        let hinge = || {
            let hinge = match flat {
                true => Hinge::flattened(rest, rigidity),
                false => Hinge::new(rest, rigidity),
            };
            hinge.map(Self::Hinge)
        };
        match model {
            None => quadratic().or_else(hinge),
            Some(FoldModel::Quadratic) => quadratic(),
            Some(FoldModel::Hinge) => hinge(),
        }
    }

    /// Whether its stiffness and compliance neither overflow nor vanish.
    pub fn is_finite(&self) -> bool {
        match self {
            Self::Quadratic(bending) => bending.is_finite(),
            Self::Hinge(hinge) => hinge.is_finite(),
        }
    }
}

impl From<FoldEnergy> for Energy<f64> {
    fn from(fold: FoldEnergy) -> Self {
        match fold {
            FoldEnergy::Quadratic(bending) => Self::WeightedSum(bending),
            FoldEnergy::Hinge(hinge) => Self::Hinge(hinge),
        }
    }
}

impl From<WeightedSum<f64>> for FoldEnergy {
    fn from(bending: WeightedSum<f64>) -> Self {
        Self::Quadratic(bending)
    }
}
