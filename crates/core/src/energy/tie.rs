//! A point stuck to a place in a triangle of three others.
//!
//! ```text
//!   C = x_0 - w_1 x_1 - w_2 x_2 - w_3 x_3,   w_1 + w_2 + w_3 = 1,   W = k/2 |C|^2
//! ```
//!
//! The weights are constant: the place moves with the triangle, and nothing follows how that turns.

use serde::{Deserialize, Serialize};
use taut_math::{M3, Number};

use super::{PerRow, Points, ROWS_MAX, RowEnergy, Rows, symmetric};

/// The energy of one tie.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VertexTie<N> {
    /// `w_1` to `w_3`.
    weights: [N; 3],
    /// `k` [N/m].
    stiffness: N,
    /// Its inverse [m/N].
    compliance: N,
}

impl VertexTie<f64> {
    /// A tie of these weights, which are divided by their sum, and of a stiffness [N/m]; `None` where that sum is not
    /// positive.
    pub fn new(weights: [f64; 3], stiffness: f64) -> Option<Self> {
        let sum: f64 = weights.iter().sum();
        let weights = weights.map(|weight| weight / sum);
        (sum > 0.0).then_some(Self { weights, stiffness, compliance: 1.0 / stiffness })
    }

    /// Whether its stiffness and compliance neither overflow nor vanish.
    pub fn is_finite(&self) -> bool {
        self.stiffness.is_finite() && self.compliance.is_finite() && self.stiffness > 0.0
    }

    /// The same with other numbers.
    pub fn lower<N: Number>(&self) -> VertexTie<N> {
        VertexTie {
            weights: self.weights.map(N::of),
            stiffness: N::of(self.stiffness),
            compliance: N::of(self.compliance),
        }
    }
}

impl<N: Number> RowEnergy<N> for VertexTie<N> {
    const ENDS: usize = 4;
    const ROWS: usize = 3;

    #[inline]
    fn rows(&self, x: &Points<N>) -> Rows<N> {
        let [a, b, c] = self.weights;
        // Differences first: far from the origin they keep the digits that the plain sum would lose.
        let sum = (x[0] - x[1]) * a + (x[0] - x[2]) * b + (x[0] - x[3]) * c;
        let mut rows = Rows::ZERO;
        for (r, &value) in sum.0.iter().enumerate() {
            rows.value[r] = value;
            for (i, weight) in [a + b + c, -a, -b, -c].into_iter().enumerate() {
                rows.gradient[r][i].0[r] = weight;
            }
        }
        rows
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

#[cfg(test)]
mod tests {
    use taut_math::V3;

    use super::{
        super::{Energy, tests::check},
        *,
    };

    #[test]
    fn it_is_an_energy() {
        let tie = VertexTie::new([1.0, 2.0, 1.0], 300.0).unwrap();
        let corners = [V3([0.1, 0.2, 0.3]), V3([1.0, 0.4, 0.2]), V3([0.3, 1.2, 0.6])];
        let place = corners[0] * 0.25 + corners[1] * 0.5 + corners[2] * 0.25;
        check(&Energy::VertexTie(tie), &[place, corners[0], corners[1], corners[2]]);
    }

    #[test]
    fn weights_need_a_sum() {
        assert_eq!(VertexTie::new([1.0, -1.0, 0.0], 1.0), None);
        assert!(!VertexTie::new([1.0, 1.0, 1.0], 1e-320).unwrap().is_finite());
    }
}
