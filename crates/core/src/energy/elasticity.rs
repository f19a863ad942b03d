//! The constants of isotropic linear elasticity.

use serde::{Deserialize, Serialize};

/// Isotropic linear elasticity.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Elasticity {
    /// Young's modulus [Pa].
    pub young: f64,
    /// Poisson ratio [1].
    pub poisson: f64,
}

impl Elasticity {
    /// Lamé's constants of a solid, the shear modulus `mu = E/(2 (1 + nu))` and
    /// `lambda = E nu/((1 + nu) (1 - 2 nu))` [Pa].
    pub fn lame(&self) -> [f64; 2] {
        let Self { young, poisson } = *self;
        let mu = young / (2.0 * (1.0 + poisson));
        [mu, young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson))]
    }
}
