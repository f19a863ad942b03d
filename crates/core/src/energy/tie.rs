//! A point stuck to a place in a triangle of three others.
//!
//! ```text
//!   C = x_0 - w_1 x_1 - w_2 x_2 - w_3 x_3,   w_1 + w_2 + w_3 = 1,   W = k/2 |C|^2
//! ```
//!
//! The weights are constant: the place moves with the triangle, and nothing follows how that turns.

use super::WeightedSum;

impl WeightedSum<f64> {
    /// A tie of these weights, which are divided by their sum, and of a stiffness [N/m]; `None` where that sum is not
    /// positive.
    pub fn tie(weights: [f64; 3], stiffness: f64) -> Option<Self> {
        let sum: f64 = weights.iter().sum();
        let weights = weights.map(|weight| -weight / sum);
        (sum > 0.0).then_some(Self { weights, stiffness, compliance: 1.0 / stiffness })
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
        let tie = WeightedSum::tie([1.0, 2.0, 1.0], 300.0).unwrap();
        let corners = [V3([0.1, 0.2, 0.3]), V3([1.0, 0.4, 0.2]), V3([0.3, 1.2, 0.6])];
        let place = corners[0] * 0.25 + corners[1] * 0.5 + corners[2] * 0.25;
        check(&Energy::WeightedSum(tie), &[place, corners[0], corners[1], corners[2]]);
    }

    #[test]
    fn weights_need_a_sum() {
        assert_eq!(WeightedSum::tie([1.0, -1.0, 0.0], 1.0), None);
        assert!(!WeightedSum::tie([1.0, 1.0, 1.0], 1e-320).unwrap().is_finite());
    }
}
