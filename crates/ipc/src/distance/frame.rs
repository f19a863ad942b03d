//! The few directions of a pair's twelve coordinates in which its distance bends.

use std::f64::consts::FRAC_1_SQRT_2;

use taut_math::V3;

use super::nearest::Proximity;
use crate::{
    basis::{tangents, unit_or},
    dense::mirrored,
};

/// A symmetric matrix over the columns `γ⊗n, q₁⊗n, q₂⊗n, γ⊗t₁, γ⊗t₂` with `γ` scaled to unit length.
pub(crate) type Reduced = [[f64; 5]; 5];

/// An orthonormal frame of a pair: `n` along the offset, `t` across it, first those along which the nearest points
/// are free to move.
///
/// With the free directions made orthonormal, `EᵀE` is the identity and `∇²D` becomes
///
/// ```text
///   2 [ γγᵀ⊗(I - Σ t_j t_jᵀ) - Σ_j (σ² h_j h_jᵀ⊗nnᵀ + σ (γ h_jᵀ⊗t_j nᵀ + h_j γᵀ⊗n t_jᵀ)) ]
/// ```
///
/// where `r = σ n` and `h_j` is `∂γ/∂β` along `t_j`. The difference in its first term is exact, and all of it lives
/// in the span of `γ⊗n, γ⊗t₁, γ⊗t₂, h_j⊗n`.
pub(crate) struct PairFrame {
    normal: V3<f64>,
    tangents: [V3<f64>; 2],
    /// How many tangents are free directions: 0 for two points, 1 for a point and a line, else 2.
    free: usize,
    /// `σ` [m].
    height: f64,
    /// `|γ|`.
    size: f64,
    /// Of each vertex its entries in the orthonormal `γ/|γ|, q₁, q₂`, which span `γ, h₁, h₂`.
    rows: [[f64; 3]; 4],
    /// Coordinates of `h_j` in that basis [1/m].
    slopes: [[f64; 3]; 2],
}

fn dot4(a: &[f64; 4], b: &[f64; 4]) -> f64 {
    (a[0] * b[0] + a[1] * b[1]) + (a[2] * b[2] + a[3] * b[3])
}

fn combine(points: &[V3<f64>; 4], slope: &[f64; 4]) -> V3<f64> {
    // Every slope has one entry 1, one entry -1 and zeros.
    let (mut plus, mut minus) = (points[0], points[0]);
    for (point, s) in points.iter().zip(slope) {
        if *s > 0.0 {
            plus = *point;
        } else if *s < 0.0 {
            minus = *point;
        }
    }
    plus - minus
}

impl PairFrame {
    #[inline]
    pub(crate) fn new(points: &[V3<f64>; 4], near: &Proximity) -> Self {
        let (slopes, free) = near.kind.slopes();
        let along = tangents(unit_or(near.offset, V3([0.0, 0.0, 1.0])));
        let mut frame = Self {
            normal: unit_or(near.offset, V3([0.0, 0.0, 1.0])),
            tangents: along,
            free,
            height: 0.0,
            size: 0.0,
            rows: [[0.0; 3]; 4],
            slopes: [[0.0; 3]; 2],
        };
        let mut h = [[0.0; 4]; 2];
        match free {
            0 => {}
            1 => {
                let e = combine(points, &slopes[0]);
                let inverse = 1.0 / e.norm();
                let t = e * inverse;
                // Exactly across the line, which the offset is only to rounding.
                let n = near.offset - t * t.dot(near.offset);
                frame.normal = unit_or(n, tangents(t)[0]);
                frame.tangents = [t, frame.normal.cross(t)];
                h[0] = slopes[0].map(|s| s * inverse);
            }
            _ => {
                let (e1, e2) = (combine(points, &slopes[0]), combine(points, &slopes[1]));
                let inverse = 1.0 / e1.norm();
                let t = e1 * inverse;
                let n = e1.cross(e2);
                let area = n.norm();
                // Only the offset is computed with care where the two are nearly parallel.
                let n = unit_or(near.offset, n * (1.0 / area));
                let n = unit_or(n - t * t.dot(n), tangents(t)[0]);
                let n = if n.dot(e1.cross(e2)) < 0.0 { -n } else { n };
                frame.normal = n;
                frame.tangents = [t, n.cross(t)];
                let wide = e1.norm() / area;
                let lean = e2.dot(t) * inverse;
                h[0] = slopes[0].map(|s| s * inverse);
                for i in 0..4 {
                    h[1][i] = (slopes[1][i] - lean * slopes[0][i]) * wide;
                }
            }
        }
        frame.height = frame.normal.dot(near.offset);
        frame.orthonormalise(&near.weights, &h);
        frame
    }

    /// Gram and Schmidt on `γ, h₁, h₂`.
    #[inline]
    fn orthonormalise(&mut self, weights: &[f64; 4], h: &[[f64; 4]; 2]) {
        self.size = dot4(weights, weights).sqrt();
        let mut basis = [weights.map(|w| w / self.size), [0.0; 4], [0.0; 4]];
        for j in 0..self.free {
            let mut rest = h[j];
            for (i, basis) in basis.iter().enumerate().take(j + 1) {
                let along = dot4(&rest, basis);
                self.slopes[j][i] = along;
                for (rest, b) in rest.iter_mut().zip(basis) {
                    *rest -= along * b;
                }
            }
            let norm = dot4(&rest, &rest).sqrt();
            self.slopes[j][j + 1] = norm;
            basis[j + 1] = rest.map(|x| x / norm);
        }
        for (i, row) in self.rows.iter_mut().enumerate() {
            *row = [basis[0][i], basis[1][i], basis[2][i]];
        }
    }

    /// How many tangents are free directions.
    pub(crate) fn free(&self) -> usize {
        self.free
    }

    /// `slope ∇²D + curvature ∇D∇Dᵀ` in the frame's columns.
    #[inline]
    pub(crate) fn reduced(&self, slope: f64, curvature: f64) -> Reduced {
        let mut m = [[0.0; 5]; 5];
        let square = self.size * self.size;
        let (d, s) = (self.height, 2.0 * slope);
        for j in 0..self.free {
            let h = &self.slopes[j];
            for a in 0..3 {
                for b in 0..3 {
                    m[a][b] -= s * d * d * (h[a] * h[b]);
                }
                let mixed = -s * d * self.size * h[a];
                m[a][3 + j] = mixed;
                m[3 + j][a] = mixed;
            }
        }
        m[0][0] += square * (4.0 * curvature * d * d + s);
        for j in self.free..2 {
            m[3 + j][3 + j] = s * square;
        }
        m
    }

    /// A matrix over the frame's columns as one of the twelve coordinates.
    #[inline]
    pub(crate) fn expand(&self, m: &Reduced) -> [[f64; 12]; 12] {
        mirrored(&self.spread(m, &self.rows))
    }

    /// The lower triangle of the same in an orthonormal basis of differences: `(a1 - a0)/√2`, `(b1 - b0)/√2` and
    /// `(a0 + a1 - b0 - b1)/2`, which is all there is as long as nothing changes when all vertices move alike.
    #[inline]
    pub(crate) fn expand_differences(&self, m: &Reduced) -> [[f64; 9]; 9] {
        let [a0, a1, b0, b1] = self.rows;
        let rows = [0, 1, 2].map(|c| {
            let first = (a1[c] - a0[c]) * FRAC_1_SQRT_2;
            let second = (b1[c] - b0[c]) * FRAC_1_SQRT_2;
            [first, second, 0.5 * ((a0[c] + a1[c]) - (b0[c] + b1[c]))]
        });
        self.spread(m, &[0, 1, 2].map(|i| [rows[0][i], rows[1][i], rows[2][i]]))
    }

    /// The lower triangle of a matrix over the frame's columns in `K` vectors that have the entries `rows` in
    /// `γ/|γ|, q₁, q₂`.
    #[inline(always)]
    fn spread<const K: usize, const N: usize>(
        &self,
        m: &Reduced,
        rows: &[[f64; 3]; K],
    ) -> [[f64; N]; N] {
        let (n, [t1, t2]) = (self.normal, self.tangents);
        // Across the normal in both directions: the same 3x3 matrix for every two vectors, times weights.
        let first = t1 * m[3][3] + t2 * m[3][4];
        let second = t1 * m[3][4] + t2 * m[4][4];
        let flat = [0, 1, 2].map(|a| first * t1.0[a] + second * t2.0[a]);
        let mut sides = [V3::ZERO; K];
        let mut tops = [[0.0; 3]; K];
        for i in 0..K {
            let row = &rows[i];
            let entry = |c: usize| row[0] * m[0][c] + row[1] * m[1][c] + row[2] * m[2][c];
            tops[i] = [entry(0), entry(1), entry(2)];
            sides[i] = t1 * entry(3) + t2 * entry(4);
        }
        let mut h = [[0.0; N]; N];
        for i in 0..K {
            for k in 0..=i {
                let (wi, wk) = (rows[i][0], rows[k][0]);
                let [x, y, z] = [0, 1, 2].map(|c| tops[i][c] * rows[k][c]);
                let left = n * (x + y + z) + sides[k] * wi;
                let right = sides[i] * wk;
                let both = wi * wk;
                for a in 0..3 {
                    let line = n * left.0[a] + right * n.0[a] + flat[a] * both;
                    h[3 * i + a][3 * k..3 * k + 3].copy_from_slice(&line.0);
                }
            }
        }
        h
    }
}
