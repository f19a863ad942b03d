//! Hooke's law of an isotropic solid, for six strains of which the last three are angles of shear.
//!
//! ```text
//!       | l+2m  l     l            |               1   |  1  -n  -n             |
//!       | l     l+2m  l            |              ---  | -n   1  -n             |
//!   K = | l     l     l+2m         | V,   K^-1 =  E V  | -n  -n   1             |
//!       |              m           |                   |         2(1+n)         |
//!       |                 m        |                   |             2(1+n)     |
//!       |                    m     |                   |                 2(1+n) |
//! ```
//!
//! with Lamé's constants `l` and `m`, Young's modulus `E` and Poisson's ratio `n`.

use serde::{Deserialize, Serialize};
use taut_math::Number;

use super::{Elasticity, PerRow, ROWS_MAX};

/// Hooke's law of a piece of material.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Hooke<N> {
    /// `mu V` [J].
    pub(super) shear: N,
    /// `lambda V` [J].
    pub(super) bulk: N,
}

impl Hooke<f64> {
    /// Of a volume [m^3] of material.
    pub(super) fn new(material: Elasticity, volume: f64) -> Self {
        let [mu, lambda] = material.lame();
        Self { shear: mu * volume, bulk: lambda * volume }
    }

    pub(super) fn is_finite(&self) -> bool {
        let sound = self.shear > 0.0 && (1.0 / self.shear).is_finite();
        sound && (3.0 * self.bulk + 2.0 * self.shear).is_finite()
    }

    pub(super) fn lower<N: Number>(&self) -> Hooke<N> {
        Hooke { shear: N::of(self.shear), bulk: N::of(self.bulk) }
    }
}

/// The matrix of an isotropic law.
fn isotropic<N: Number>(direct: N, across: N, shear: N) -> [PerRow<N>; ROWS_MAX] {
    let mut matrix = [[N::ZERO; ROWS_MAX]; ROWS_MAX];
    for (r, row) in matrix.iter_mut().enumerate() {
        if r < 3 {
            row[..3].fill(across);
            row[r] = direct;
        } else {
            row[r] = shear;
        }
    }
    matrix
}

impl<N: Number> Hooke<N> {
    /// `K` [J].
    #[inline]
    pub(super) fn stiffness(&self) -> [PerRow<N>; ROWS_MAX] {
        isotropic(self.bulk + N::TWO * self.shear, self.bulk, self.shear)
    }

    /// `K^-1` [1/J].
    #[inline]
    pub(super) fn compliance(&self) -> [PerRow<N>; ROWS_MAX] {
        let (m, l) = (self.shear, self.bulk);
        let three = N::ONE + N::TWO;
        // E = m (3 l + 2 m) / (l + m), n = l / (2 (l + m)).
        let below = m * (three * l + N::TWO * m);
        isotropic((l + m) / below, -(l * N::HALF) / below, N::ONE / m)
    }

    /// `K C` [J], the stresses.
    #[inline(always)]
    pub(super) fn tension(&self, strain: &PerRow<N>) -> PerRow<N> {
        let [a, b, c, d, e, f] = *strain;
        let (twice, sum) = (self.shear * N::TWO, self.bulk * (a + b + c));
        [
            twice * a + sum,
            twice * b + sum,
            twice * c + sum,
            self.shear * d,
            self.shear * e,
            self.shear * f,
        ]
    }
}
