//! Symmetric matrices with their negative eigenvalues set to zero.
//!
//! The Hessian of a barrier of one pair is not positive semidefinite. [I] clamps its 12x12 form; here the same matrix
//! is clamped in the few directions where it is not zero: 3, 4 or 5 without a mollifier, and 9 with one, which are
//! the differences of vertices. The result is the same to rounding, since the directions are orthonormal.

use crate::{
    distance::{PairFrame, Reduced},
    eigen::symmetric,
};

/// `m` with its negative eigenvalues set to zero. Only its lower triangle is read.
#[inline]
pub fn clamped<const N: usize>(m: &[[f64; N]; N]) -> [[f64; N]; N] {
    let (values, vectors) = symmetric(m);
    let mut out = [[0.0; N]; N];
    for (value, vector) in values.iter().zip(&vectors) {
        if *value > 0.0 {
            for (row, x) in out.iter_mut().zip(vector) {
                for (entry, y) in row.iter_mut().zip(vector) {
                    *entry += value * (x * y);
                }
            }
        }
    }
    out
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

/// The clamped form of a matrix of twelve coordinates that does not change when all four vertices move by the same:
/// rows and columns of such a one sum to zero, and what is left are three differences.
pub fn clamped_differences(h: &[[f64; 12]; 12]) -> [[f64; 12]; 12] {
    let mut half = [[0.0; 9]; 12];
    for (half, row) in half.iter_mut().zip(h) {
        *half = differences(row);
    }
    let mut inner = [[0.0; 9]; 9];
    for c in 0..9 {
        let column: [f64; 12] = std::array::from_fn(|r| half[r][c]);
        let column = differences(&column);
        for r in 0..9 {
            inner[r][c] = column[r];
        }
    }
    let positive = clamped(&inner);
    let mut half = [[0.0; 9]; 12];
    for c in 0..9 {
        let column: [f64; 9] = std::array::from_fn(|r| positive[r][c]);
        for (half, x) in half.iter_mut().zip(vertices(&column)) {
            half[c] = x;
        }
    }
    let out = half.map(|row| vertices(&row));
    // The two sides of the diagonal are rounded in different orders.
    std::array::from_fn(|i| std::array::from_fn(|j| out[i.max(j)][i.min(j)]))
}

/// Coordinates in the orthonormal basis `(1, 1, -1, -1)/2, (1, -1, 1, -1)/2, (1, -1, -1, 1)/2` of differences.
#[inline(always)]
fn differences(x: &[f64; 12]) -> [f64; 9] {
    let mut out = [0.0; 9];
    for a in 0..3 {
        let (x0, x1, x2, x3) = (x[a], x[3 + a], x[6 + a], x[9 + a]);
        let (p, q, r, s) = (x0 + x1, x2 + x3, x0 - x1, x2 - x3);
        (out[a], out[3 + a], out[6 + a]) = (0.5 * (p - q), 0.5 * (r + s), 0.5 * (r - s));
    }
    out
}

/// What [`differences`] takes to `x`, of the vectors that sum to zero.
#[inline(always)]
fn vertices(x: &[f64; 9]) -> [f64; 12] {
    let mut out = [0.0; 12];
    for a in 0..3 {
        let (p, q, r) = (0.5 * x[a], 0.5 * x[3 + a], 0.5 * x[6 + a]);
        let (s, d) = (q + r, q - r);
        out[a] = p + s;
        out[3 + a] = p - s;
        out[6 + a] = d - p;
        out[9 + a] = -(p + d);
    }
    out
}
