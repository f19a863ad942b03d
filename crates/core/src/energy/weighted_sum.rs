//! A stiff sum of four points whose weights sum up to zero.
//!
//! ```text
//!   C = sum_i K_i x_i,   sum_i K_i = 0,   W = k/2 |C|^2
//! ```
//!
//! Neither shifts nor turns of the points cost anything where the sum is zero. A flat fold is one
//! ([`WeightedSum::bending`]), and so is what holds a point to a triangle ([`WeightedSum::tie`]).

use serde::{Deserialize, Serialize};
use taut_math::{LANES, M3, Number, Wide};

use super::{Energy, PerRow, Points, ROWS_MAX, RowEnergy, Rows, SideBySide, symmetric};

/// The energy of one sum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WeightedSum<N> {
    /// `K_1` to `K_3`; `K_0` is minus their sum.
    pub(super) weights: [N; 3],
    /// `k`.
    pub(super) stiffness: N,
    /// Its inverse.
    pub(super) compliance: N,
}

impl WeightedSum<f64> {
    /// Whether its stiffness and compliance neither overflow nor vanish.
    pub fn is_finite(&self) -> bool {
        self.stiffness.is_finite() && self.compliance.is_finite() && self.stiffness > 0.0
    }

    /// `d2W/dx_i dx_j` as a factor on the identity [N/m]: it is the same wherever the points are.
    pub fn coupling(&self, i: usize, j: usize) -> f64 {
        let weights = self.all_weights();
        self.stiffness * weights[i] * weights[j]
    }

    /// The same with other numbers.
    pub fn lower<N: Number>(&self) -> WeightedSum<N> {
        WeightedSum {
            weights: self.weights.map(N::of),
            stiffness: N::of(self.stiffness),
            compliance: N::of(self.compliance),
        }
    }
}

impl<W: Wide> SideBySide<W> for WeightedSum<W> {
    fn side_by_side(energies: [&Energy<W::Lane>; LANES]) -> Option<Self> {
        let mut all = [WeightedSum::default(); LANES];
        for (own, energy) in all.iter_mut().zip(energies) {
            let Energy::WeightedSum(sum) = energy else { return None };
            *own = *sum;
        }
        Some(Self {
            weights: [0, 1, 2].map(|k| W::gather(|lane| all[lane].weights[k])),
            stiffness: W::gather(|lane| all[lane].stiffness),
            compliance: W::gather(|lane| all[lane].compliance),
        })
    }

    #[inline(always)]
    fn sized_rows<const SIZE: usize>(&self, x: &Points<W>) -> Rows<W, SIZE> {
        self.rows_at(x)
    }
}

impl<N: Number> WeightedSum<N> {
    fn all_weights(&self) -> [N; 4] {
        let [k1, k2, k3] = self.weights;
        [-(k1 + k2 + k3), k1, k2, k3]
    }

    /// In room for `SIZE` rows.
    #[inline(always)]
    fn rows_at<const SIZE: usize>(&self, x: &Points<N>) -> Rows<N, SIZE> {
        let [k1, k2, k3] = self.weights;
        // Differences first: far from the origin they keep the digits that the plain sum would lose.
        let sum = (x[1] - x[0]) * k1 + (x[2] - x[0]) * k2 + (x[3] - x[0]) * k3;
        let mut rows = Rows::ZERO;
        for (r, &value) in sum.0.iter().enumerate() {
            rows.value[r] = value;
            for (i, weight) in self.all_weights().into_iter().enumerate() {
                rows.gradient[r][i].0[r] = weight;
            }
        }
        rows
    }
}

impl<N: Number> RowEnergy<N> for WeightedSum<N> {
    const ENDS: usize = 4;
    const ROWS: usize = 3;

    #[inline]
    fn rows(&self, x: &Points<N>) -> Rows<N> {
        self.rows_at(x)
    }

    #[inline]
    fn curvature(&self, _: &Points<N>, _: &PerRow<N>, _: usize, _: usize) -> M3<N> {
        M3::ZERO
    }

    #[inline]
    fn stiffness(&self, _: &Rows<N>) -> [PerRow<N>; ROWS_MAX] {
        symmetric([self.stiffness, N::ZERO, self.stiffness])
    }

    #[inline]
    fn compliance(&self) -> Option<[PerRow<N>; ROWS_MAX]> {
        Some(symmetric([self.compliance, N::ZERO, self.compliance]))
    }
}
