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

    /// `∇c` of the four vertices [m³]: `2 v x n` by `u`, `2 n x u` by `v`.
    #[inline]
    fn cross_gradient(&self) -> [f64; 12] {
        let du = self.v.cross(self.n) * 2.0;
        let dv = self.n.cross(self.u) * 2.0;
        let mut out = [0.0; 12];
        for (i, x) in [-du, du, -dv, dv].into_iter().enumerate() {
            out[3 * i..3 * i + 3].copy_from_slice(&x.0);
        }
        out
    }

    /// `∇m` of the four vertices [1/m].
    #[inline]
    pub fn gradient(&self) -> [f64; 12] {
        self.cross_gradient().map(|x| x * self.slope)
    }

    /// `∇²m = m'' ∇c∇cᵀ + m' ∇²c` [1/m²].
    #[inline]
    pub fn hessian(&self) -> [[f64; 12]; 12] {
        let g = self.cross_gradient();
        let (u, v) = (self.u, self.v);
        let (uu, vv, uv) = (u.dot(u), v.dot(v), u.dot(v));
        let mut h = [[0.0; 12]; 12];
        for a in 0..3 {
            for b in 0..3 {
                let one = if a == b { 1.0 } else { 0.0 };
                let s = 2.0 * self.slope;
                let first = s * (vv * one - v.0[a] * v.0[b]);
                let second = s * (uu * one - u.0[a] * u.0[b]);
                let mixed = s * (2.0 * u.0[a] * v.0[b] - v.0[a] * u.0[b] - uv * one);
                spread(&mut h, 0, 0, a, b, first);
                spread(&mut h, 6, 6, a, b, second);
                spread(&mut h, 0, 6, a, b, mixed);
                spread(&mut h, 6, 0, b, a, mixed);
            }
        }
        for (row, x) in h.iter_mut().zip(&g) {
            for (entry, y) in row.iter_mut().zip(&g) {
                *entry += self.curvature * (x * y);
            }
        }
        h
    }
}

/// An entry by two differences of vertices as entries by the vertices: first and second of each, from coordinates
/// `row` and `column` on.
#[inline(always)]
fn spread(h: &mut [[f64; 12]; 12], row: usize, column: usize, a: usize, b: usize, x: f64) {
    h[row + a][column + b] = x;
    h[row + 3 + a][column + 3 + b] = x;
    h[row + a][column + 3 + b] = -x;
    h[row + 3 + a][column + b] = -x;
}
