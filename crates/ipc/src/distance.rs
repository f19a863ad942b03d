//! Squared distances of point-triangle and edge-edge pairs with their exact derivatives.
//!
//! With the nearest points as weights `γ` of the four vertices, `r = Σ γ_i x_i` and the directions
//! `E_k = ∂r/∂β_k` of their free parameters,
//!
//! ```text
//!   D = |r|²      ∇D = 2 γ⊗r      ∇²D = 2 [ γγᵀ⊗I - W (EᵀE)⁻¹ Wᵀ ],   W_k = γ⊗E_k + (∂γ/∂β_k)⊗r
//! ```
//!
//! Nothing else is needed: the envelope theorem removes the derivatives of the parameters from `∇D`, and the Schur
//! complement of the parameters is the second term of `∇²D`. Vectors of twelve numbers hold the coordinates of the
//! four vertices one after the other: `p, t0, t1, t2` of a point and a triangle, `a0, a1, b0, b1` of two edges.

mod careful;
mod frame;
mod nearest;

pub(crate) use frame::{PairFrame, Reduced};
pub use nearest::{PairKind, Proximity, edge_edge, height, point_triangle};
use taut_math::V3;

/// `∇D = 2 γ⊗r` [m].
pub fn gradient(near: &Proximity) -> [f64; 12] {
    weighted(&near.weights, near.offset * 2.0)
}

/// `∇²D`, of the kind of pair that was found; symmetric, not positive semidefinite.
///
/// Between two kinds the Hessian jumps, and it grows without bound as two edges become parallel or a triangle
/// loses its area.
pub fn hessian(points: &[V3<f64>; 4], near: &Proximity) -> [[f64; 12]; 12] {
    let frame = PairFrame::new(points, near);
    frame.expand(&frame.reduced(1.0, 0.0))
}

/// `γ⊗v`.
#[inline]
pub(crate) fn weighted(weights: &[f64; 4], v: V3<f64>) -> [f64; 12] {
    let mut out = [0.0; 12];
    for (out, weight) in out.chunks_exact_mut(3).zip(weights) {
        out.copy_from_slice(&(v * *weight).0);
    }
    out
}
