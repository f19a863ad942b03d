//! Lagged friction of one pair: normal force, weights and tangents are those of the step's start ([I] Eq. 16-19).

use taut_math::V3;

/// How the energy of sliding grows with the way slid: smooth below the distance `eps`, dry friction beyond.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Smoothing {
    /// `f₀(y)` [m].
    pub value: f64,
    /// `f₁(y)/y` [1/m].
    pub slope_per_way: f64,
    /// `f₂(y)` [1/m].
    pub curvature: f64,
}

/// At the way `way` = `y` [m] with `eps` = `ε_v h` [m], both at least zero.
#[inline]
pub fn smoothing(way: f64, eps: f64) -> Smoothing {
    if way >= eps {
        let slope_per_way = if way > 0.0 { 1.0 / way } else { 0.0 };
        return Smoothing { value: way, slope_per_way, curvature: 0.0 };
    }
    let x = way / eps;
    Smoothing {
        value: eps * (x * x * (1.0 - x / 3.0) + 1.0 / 3.0),
        slope_per_way: (2.0 - x) / eps,
        curvature: (2.0 - 2.0 * x) / eps,
    }
}

/// The friction of one pair after some way, with derivatives by the displacements of its four vertices.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlidingPair {
    weights: [f64; 4],
    /// Along the way, then across it: unit vectors in the tangent plane.
    directions: [V3<f64>; 2],
    strength: f64,
    way: f64,
    smoothing: Smoothing,
}

impl SlidingPair {
    /// `weights` are `γ` and `tangents` an orthonormal pair across the normal, both of the step's start;
    /// `displacements` [m] are since then. `strength` = `μ λ` [N], or in units of κ as
    /// [`crate::pair::BarrierPair::normal_force`] tells λ; `eps` = `ε_v h` [m].
    #[inline]
    pub fn new(
        weights: &[f64; 4],
        tangents: &[V3<f64>; 2],
        displacements: &[V3<f64>; 4],
        strength: f64,
        eps: f64,
    ) -> Self {
        let d = displacements;
        let moved =
            (d[0] * weights[0] + d[1] * weights[1]) + (d[2] * weights[2] + d[3] * weights[3]);
        let [t1, t2] = *tangents;
        let (a, b) = (t1.dot(moved), t2.dot(moved));
        let way = (a * a + b * b).sqrt();
        // Without a way all directions are alike.
        let (c, s) = if way > 0.0 { (a / way, b / way) } else { (1.0, 0.0) };
        Self {
            weights: *weights,
            directions: [t1 * c + t2 * s, t2 * c - t1 * s],
            strength,
            way,
            smoothing: smoothing(way, eps),
        }
    }

    /// `y = |Tᵀ Σ γ_i Δx_i|` [m].
    pub fn way(&self) -> f64 {
        self.way
    }

    /// `μ λ f₀(y)` [J].
    pub fn value(&self) -> f64 {
        self.strength * self.smoothing.value
    }

    /// `μ λ (f₁/y) γ⊗Tu` [N].
    #[inline]
    pub fn gradient(&self) -> [f64; 12] {
        let push = self.strength * self.smoothing.slope_per_way * self.way;
        crate::distance::weighted(&self.weights, self.directions[0] * push)
    }

    /// `μ λ γγᵀ⊗T[..]Tᵀ` [N/m]: `f₂` along the way and `f₁/y` across it, so that it is positive semidefinite as
    /// it stands.
    #[inline]
    pub fn hessian(&self) -> [[f64; 12]; 12] {
        let [along, across] = self.directions;
        let first = self.strength * self.smoothing.curvature;
        let second = self.strength * self.smoothing.slope_per_way;
        let mut h = [[0.0; 12]; 12];
        for a in 0..3 {
            for b in 0..3 {
                let (x, y) = (along.0[a] * along.0[b], across.0[a] * across.0[b]);
                let x = first * x + second * y;
                for i in 0..4 {
                    for k in 0..4 {
                        h[3 * i + a][3 * k + b] = (self.weights[i] * self.weights[k]) * x;
                    }
                }
            }
        }
        h
    }
}
