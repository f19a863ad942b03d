//! The barrier of one pair of features, with its derivatives by the four vertices.

use std::f64::consts::FRAC_1_SQRT_2;

use taut_math::V3;

use crate::{
    barrier::{Barrier, barrier},
    distance::{PairFrame, Proximity, edge_edge, point_triangle, weighted},
    mollifier::Mollifier,
    psd::{clamped_differences, clamped_pair},
};

/// `b(D)` of a point and a triangle, or `m b(D)` of two edges, with the stiffness κ = 1: whoever sums them up
/// multiplies by it, clamped or not.
///
/// Meant for pairs that are nearer than `d̂`; others have zeros for all that it tells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BarrierPair {
    points: [V3<f64>; 4],
    near: Proximity,
    barrier: Barrier,
    /// None where it is 1, as it always is for a point and a triangle.
    mollifier: Option<Mollifier>,
}

impl BarrierPair {
    /// A point and a triangle, `p, t0, t1, t2`, with the barrier's support below `d_hat` [m].
    #[inline]
    pub fn point_triangle(points: &[V3<f64>; 4], d_hat: f64) -> Self {
        Self::new(points, point_triangle(points), d_hat, None)
    }

    /// Two edges, `a0, a1, b0, b1`, with the barrier's support below `d_hat` [m] and the mollifier's below `eps_x`
    /// [m⁴], which [`crate::mollifier::threshold`] makes of lengths at rest.
    #[inline]
    pub fn edge_edge(points: &[V3<f64>; 4], eps_x: f64, d_hat: f64) -> Self {
        let mollifier = Some(Mollifier::new(points, eps_x)).filter(Mollifier::is_active);
        Self::new(points, edge_edge(points), d_hat, mollifier)
    }

    /// Of a pair whose nearest points are known.
    #[inline]
    pub fn new(
        points: &[V3<f64>; 4],
        near: Proximity,
        d_hat: f64,
        mollifier: Option<Mollifier>,
    ) -> Self {
        let barrier = barrier(near.squared, d_hat * d_hat);
        Self { points: *points, near, barrier, mollifier }
    }

    /// The nearest points.
    pub fn near(&self) -> &Proximity {
        &self.near
    }

    /// `m` [-].
    pub fn mollification(&self) -> f64 {
        self.mollifier.map_or(1.0, |mollifier| mollifier.value)
    }

    /// `m b` [m⁴].
    #[inline]
    pub fn value(&self) -> f64 {
        self.mollification() * self.barrier.value
    }

    /// `λ/κ = -2 m b' d` [m³], the size of the force that pushes the features apart (section 6).
    #[inline]
    pub fn normal_force(&self) -> f64 {
        -2.0 * self.mollification() * self.barrier.slope * self.near.squared.sqrt()
    }

    /// `∇(m b)` [m³].
    #[inline]
    pub fn gradient(&self) -> [f64; 12] {
        let push = 2.0 * self.mollification() * self.barrier.slope;
        let mut g = weighted(&self.near.weights, self.near.offset * push);
        if let Some(mollifier) = &self.mollifier {
            for (g, m) in g.iter_mut().zip(mollifier.gradient()) {
                *g += self.barrier.value * m;
            }
        }
        g
    }

    /// `∇²(m b)` [m²], indefinite.
    pub fn hessian(&self) -> [[f64; 12]; 12] {
        let frame = PairFrame::new(&self.points, &self.near);
        let m = self.mollification();
        let reduced = frame.reduced(m * self.barrier.slope, m * self.barrier.curvature);
        let mut h = frame.expand(&reduced);
        if let Some(mollifier) = &self.mollifier {
            let along = weighted(&self.near.weights, self.near.offset * (2.0 * self.barrier.slope));
            let across = mollifier.gradient();
            let bend = mollifier.hessian();
            for i in 0..12 {
                for j in 0..12 {
                    h[i][j] += self.barrier.value * bend[i][j]
                        + (along[i] * across[j] + across[i] * along[j]);
                }
            }
        }
        h
    }

    /// [`Self::hessian`] with its negative eigenvalues set to zero.
    #[inline]
    pub fn hessian_psd(&self) -> [[f64; 12]; 12] {
        let frame = PairFrame::new(&self.points, &self.near);
        let Some(mollifier) = &self.mollifier else {
            return clamped_pair(&frame, self.barrier.slope, self.barrier.curvature);
        };
        let (m, b) = (mollifier.value, &self.barrier);
        let mut h = frame.expand_differences(&frame.reduced(m * b.slope, m * b.curvature));
        self.add_mollifier(&mut h, mollifier);
        clamped_differences(&h)
    }

    /// Adds `b ∇²m + ∇m∇bᵀ + ∇b∇mᵀ` to the lower triangle over differences, of which the first is `u/√2` and the second
    /// `v/√2`; the mollifier knows no third.
    #[inline(always)]
    fn add_mollifier(&self, h: &mut [[f64; 9]; 9], mollifier: &Mollifier) {
        let push = self.near.offset * (2.0 * self.barrier.slope);
        let [a0, a1, b0, b1] = self.near.weights;
        let along =
            [push * (a1 - a0), push * (b1 - b0), push * ((a0 + a1 - b0 - b1) * FRAC_1_SQRT_2)];
        let across = mollifier.edge_gradients();
        let [first, mixed, second] = mollifier.edge_hessians();
        let twice = 2.0 * self.barrier.value;
        for a in 0..3 {
            for c in 0..3 {
                let ([u, v], [p, q]) =
                    ([0, 1].map(|i| across[i].0[a]), [0, 1].map(|i| across[i].0[c]));
                let ([x, y, z], [r, s, _]) = (along.map(|g| g.0[a]), along.map(|g| g.0[c]));
                h[a][c] += twice * first[a][c] + (x * p + u * r);
                h[3 + a][c] += twice * mixed[c][a] + (y * p + v * r);
                h[3 + a][3 + c] += twice * second[a][c] + (y * q + v * s);
                h[6 + a][c] += z * p;
                h[6 + a][3 + c] += z * q;
            }
        }
    }
}
