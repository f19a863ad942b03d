//! Whichever material a triangle is made of.

use serde::{Deserialize, Serialize};

use super::{Elasticity, Energy, LogMembrane, Membrane};
use crate::Vec3;

/// What the stress in a thin sheet is made of its strain by; both are Hooke's law for small strains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SheetModel {
    /// [`Membrane`].
    #[default]
    Stvk,
    /// [`LogMembrane`].
    NeoHookean,
}

/// The energy of one triangle.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum SheetEnergy {
    /// See [`Membrane`].
    Stvk(Membrane<f64>),
    /// See [`LogMembrane`].
    NeoHookean(LogMembrane<f64>),
}

impl SheetEnergy {
    /// A triangle with the corners `rest` [m] where nothing is stretched and of a thickness [m]; `None` where the
    /// corners are on one line.
    pub fn new(
        model: SheetModel,
        rest: &[Vec3; 3],
        thickness: f64,
        material: Elasticity,
    ) -> Option<Self> {
        let Elasticity { young, poisson } = material;
        Some(match model {
            SheetModel::Stvk => Self::Stvk(Membrane::new(rest, thickness, young, poisson)?),
            SheetModel::NeoHookean => {
                Self::NeoHookean(LogMembrane::new(rest, thickness, young, poisson)?)
            }
        })
    }

    /// Whether its stiffness and compliance neither overflow nor vanish.
    pub fn is_finite(&self) -> bool {
        match self {
            Self::Stvk(sheet) => sheet.is_finite(),
            Self::NeoHookean(sheet) => sheet.is_finite(),
        }
    }
}

impl From<SheetEnergy> for Energy<f64> {
    fn from(sheet: SheetEnergy) -> Self {
        match sheet {
            SheetEnergy::Stvk(sheet) => Self::Membrane(sheet),
            SheetEnergy::NeoHookean(sheet) => Self::LogMembrane(sheet),
        }
    }
}

impl From<Membrane<f64>> for SheetEnergy {
    fn from(sheet: Membrane<f64>) -> Self {
        Self::Stvk(sheet)
    }
}
