//! The barrier of one pair of features, with its derivatives by the four vertices.

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
        if self.mollifier.is_some() {
            return clamped_differences(&self.hessian());
        }
        let frame = PairFrame::new(&self.points, &self.near);
        clamped_pair(&frame, self.barrier.slope, self.barrier.curvature)
    }
}
