//! Symmetric matrices with their negative eigenvalues set to zero.
//!
//! The Hessian of a barrier of one pair is not positive semidefinite. [I] clamps its 12x12 form; here the same matrix
//! is clamped in the few directions where it is not zero: 3, 4 or 5 without a mollifier, and 9 with one, which are
//! the differences of vertices. The result is the same to rounding, since the directions are orthonormal.

use std::f64::consts::FRAC_1_SQRT_2;

use crate::{
    dense::mirrored,
    distance::{PairFrame, Reduced},
    eigen::Negative,
};

/// `m` with its negative eigenvalues set to zero. Only its lower triangle is read.
#[inline]
pub fn clamped<const N: usize>(m: &[[f64; N]; N]) -> [[f64; N]; N] {
    let mut out = *m;
    for (value, vector) in Negative::new(m).pairs() {
        for i in 0..N {
            for j in 0..=i {
                out[i][j] -= value * (vector[i] * vector[j]);
            }
        }
    }
    mirrored(&out)
}

/// The clamped Hessian `b'' ∇D∇Dᵀ + b' ∇²D` of a pair with the frame `frame`.
#[inline]
pub(crate) fn clamped_pair(frame: &PairFrame, slope: f64, curvature: f64) -> [[f64; 12]; 12] {
    let m = frame.reduced(slope, curvature);
    let positive = match frame.free() {
        0 => alone(&m),
        1 => line(&m),
        _ => clamped(&m),
    };
    frame.expand(&positive)
}

/// Two points: the frame's columns are eigenvectors.
fn alone(m: &Reduced) -> Reduced {
    let mut out = [[0.0; 5]; 5];
    for i in [0, 3, 4] {
        out[i][i] = m[i][i].max(0.0);
    }
    out
}

/// A point and a line: across both line and offset nothing couples.
fn line(m: &Reduced) -> Reduced {
    const COUPLED: [usize; 3] = [0, 1, 3];
    let inner = clamped(&COUPLED.map(|i| COUPLED.map(|j| m[i][j])));
    let mut out = [[0.0; 5]; 5];
    for (a, i) in COUPLED.into_iter().enumerate() {
        for (b, j) in COUPLED.into_iter().enumerate() {
            out[i][j] = inner[a][b];
        }
    }
    out[4][4] = m[4][4].max(0.0);
    out
}

/// A clamped matrix of two edges over the differences of
/// [`expand_differences`](PairFrame::expand_differences), as one of their twelve coordinates.
#[inline]
pub(crate) fn clamped_differences(h: &[[f64; 9]; 9]) -> [[f64; 12]; 12] {
    let half = clamped(h).map(|row| vertices(&row));
    let mut out = [[0.0; 12]; 12];
    for c in 0..12 {
        let column: [f64; 9] = std::array::from_fn(|r| half[r][c]);
        out[c] = vertices(&column);
    }
    // Rows and columns are rounded in different orders.
    mirrored(&out)
}

/// The vertices that move as the differences tell.
#[inline(always)]
fn vertices(x: &[f64; 9]) -> [f64; 12] {
    let mut out = [0.0; 12];
    for a in 0..3 {
        let (u, v, w) = (FRAC_1_SQRT_2 * x[a], FRAC_1_SQRT_2 * x[3 + a], 0.5 * x[6 + a]);
        (out[a], out[3 + a], out[6 + a], out[9 + a]) = (w - u, w + u, -(w + v), v - w);
    }
    out
}
