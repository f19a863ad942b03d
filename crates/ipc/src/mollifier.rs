//! What makes edge-edge barriers vanish smoothly as the edges become parallel ([I] Eq. 24).

use taut_math::V3;

/// Squared sines of no more than this are rounding of the edges themselves.
const PARALLEL: f64 = 1.0 / (1_u128 << 100) as f64;

/// The mollifier `m(c) = (2 - c/ε_x) c/ε_x` of `c = |u x v|²` below `ε_x`, else 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mollifier {
    /// `c = |u x v|²` [m⁴].
    pub cross_squared: f64,
    /// `m(c)`, from 0 to 1.
    pub value: f64,
    /// `m'(c)` [1/m⁴].
    pub slope: f64,
    /// `m''(c)` [1/m⁸].
    pub curvature: f64,
    u: V3<f64>,
    v: V3<f64>,
    n: V3<f64>,
}

/// `ε_x = 1e-3 |u|²|v|²` [m⁴] of the lengths of both edges at rest.
#[inline]
pub fn threshold(rest_a: f64, rest_b: f64) -> f64 {
    let product = rest_a * rest_b;
    1e-3 * product * product
}

impl Mollifier {
    /// Of the edges `a0, a1` and `b0, b1` with the threshold `eps_x` [m⁴].
    #[inline]
    pub fn new(points: &[V3<f64>; 4], eps_x: f64) -> Self {
        let [a0, a1, b0, b1] = *points;
        let (u, v) = (a1 - a0, b1 - b0);
        let mut n = u.cross(v);
        let mut c = n.dot(n);
        if c <= PARALLEL * u.dot(u) * v.dot(v) {
            (n, c) = (V3::ZERO, 0.0);
        }
        let (value, slope, curvature) = if c < eps_x {
            let x = c / eps_x;
            ((2.0 - x) * x, 2.0 * (1.0 - x) / eps_x, -2.0 / (eps_x * eps_x))
        } else {
            (1.0, 0.0, 0.0)
        };
        Self { cross_squared: c, value, slope, curvature, u, v, n }
    }

    /// Whether it differs from 1 or has derivatives.
    #[inline]
    pub fn is_active(&self) -> bool {
        self.slope != 0.0 || self.value != 1.0
    }

    /// `∇m` by the edges `u` and `v` [1/m]: `∇c` is `2 v x n` and `2 n x u`.
    #[inline(always)]
    pub(crate) fn edge_gradients(&self) -> [V3<f64>; 2] {
        let s = 2.0 * self.slope;
        [self.v.cross(self.n) * s, self.n.cross(self.u) * s]
    }

    /// `∇²m = m'' ∇c∇cᵀ + m' ∇²c` by `u` and `u`, by `u` (rows) and `v`, and by `v` and `v` [1/m²].
    #[inline(always)]
    pub(crate) fn edge_hessians(&self) -> [[[f64; 3]; 3]; 3] {
        let (u, v) = (self.u, self.v);
        let (uu, vv, uv) = (u.dot(u), v.dot(v), u.dot(v));
        let (du, dv) = (v.cross(self.n), self.n.cross(u));
        let (s, k) = (2.0 * self.slope, 4.0 * self.curvature);
        let one = |a: usize, b: usize| if a == b { 1.0 } else { 0.0 };
        let (x, y) = (u.0, v.0);
        let mixed = |a, b| 2.0 * x[a] * y[b] - y[a] * x[b] - uv * one(a, b);
        let (p, q) = (du.0, dv.0);
        [
            block(|a, b| s * (vv * one(a, b) - y[a] * y[b]) + k * (p[a] * p[b])),
            block(|a, b| s * mixed(a, b) + k * (p[a] * q[b])),
            block(|a, b| s * (uu * one(a, b) - x[a] * x[b]) + k * (q[a] * q[b])),
        ]
    }

    /// `∇m` of the four vertices [1/m].
    #[inline]
    pub fn gradient(&self) -> [f64; 12] {
        let [du, dv] = self.edge_gradients();
        let mut out = [0.0; 12];
        for (i, x) in [-du, du, -dv, dv].into_iter().enumerate() {
            out[3 * i..3 * i + 3].copy_from_slice(&x.0);
        }
        out
    }

    /// `∇²m` of the four vertices [1/m²].
    #[inline]
    pub fn hessian(&self) -> [[f64; 12]; 12] {
        let [first, mixed, second] = self.edge_hessians();
        let mut h = [[0.0; 12]; 12];
        for a in 0..3 {
            for b in 0..3 {
                spread(&mut h, 0, 0, a, b, first[a][b]);
                spread(&mut h, 6, 6, a, b, second[a][b]);
                spread(&mut h, 0, 6, a, b, mixed[a][b]);
                spread(&mut h, 6, 0, b, a, mixed[a][b]);
            }
        }
        h
    }
}

/// A 3x3 matrix of what `entry` tells of row and column.
#[inline(always)]
fn block(entry: impl Fn(usize, usize) -> f64) -> [[f64; 3]; 3] {
    [0, 1, 2].map(|a| [0, 1, 2].map(|b| entry(a, b)))
}

/// An entry by two edges as entries by their vertices, first and second of each, from coordinates `row` and `column` on.
#[inline(always)]
fn spread(h: &mut [[f64; 12]; 12], row: usize, column: usize, a: usize, b: usize, x: f64) {
    h[row + a][column + b] = x;
    h[row + 3 + a][column + 3 + b] = x;
    h[row + a][column + 3 + b] = -x;
    h[row + 3 + a][column + b] = -x;
}
