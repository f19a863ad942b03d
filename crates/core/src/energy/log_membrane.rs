//! A triangle of thin neo-Hookean material, which resists being pressed to nothing without bound.
//!
//! With `F` (3x2), Green's strain `G` and the volume `V` at rest of [`super::Membrane`], `J^2 = det(F^T F)` and the
//! constants of plane stress, `lambda = E nu / (1 - nu^2)`,
//!
//! ```text
//!   W = V (mu/2 (|F|^2 - 2 - 2 ln J) + lambda/2 (ln J)^2)
//! ```
//!
//! which is Hooke's law for small strains and infinite where the triangle has no area. In the rows
//! `C = (G_11, G_22, 2 G_12)` of the strain, `|F|^2 - 2 = 2 (C_0 + C_1)` and
//! `J^2 = D = (1 + 2 C_0) (1 + 2 C_1) - C_2^2`, so that `W` is a function of them, though not a quadratic one.
//!
//! Along the principal directions, with `c = lambda ln J - mu` and `k, l` the two axes in the plane,
//!
//! ```text
//!   d2W/ds_k^2 = V (mu + (lambda - c)/s_k^2),    twist = V (mu + c/(s_k s_l)),    out of the plane = V (mu + c/s_k^2)
//!   d2W/ds_k ds_l = V lambda/(s_k s_l),           flip = V (mu - c/(s_k s_l))
//! ```

use serde::{Deserialize, Serialize};
use taut_math::{M3, Number, Real, V3};

use super::{
    Blocks, ENDS_MAX, Membrane, PerRow, Points, ROWS_MAX, RowEnergy, Rows,
    spectrum::{Spectrum, Stiffnesses},
};
use crate::Vec3;

/// The energy of one triangle.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogMembrane<N> {
    /// Has the same rows.
    strain: Membrane<N>,
    /// `mu V` [J].
    shear: N,
    /// `lambda V` [J].
    bulk: N,
}

impl LogMembrane<f64> {
    /// A triangle with the corners `rest` [m] where nothing is stretched, of a thickness [m], Young's
    /// modulus [Pa] and Poisson's ratio; `None` where the corners are on one line.
    pub fn new(rest: &[Vec3; 3], thickness: f64, young: f64, poisson: f64) -> Option<Self> {
        let strain = Membrane::new(rest, thickness, young, poisson)?;
        let [direct, across, _] = strain.hooke();
        Some(Self { strain, shear: 0.5 * (direct - across), bulk: across })
    }

    /// Whether its stiffness neither overflows nor vanishes.
    pub fn is_finite(&self) -> bool {
        self.strain.is_finite()
    }

    /// The same with other numbers.
    pub fn lower<N: Number>(&self) -> LogMembrane<N> {
        LogMembrane {
            strain: self.strain.lower(),
            shear: N::of(self.shear),
            bulk: N::of(self.bulk),
        }
    }
}

/// `ln(1 + x)`.
fn log_of_one_plus<N: Real>(x: N) -> N {
    N::of(x.to_f64().ln_1p())
}

/// `D - 1`, exact to rounding of its own size.
#[inline]
fn area_gain<N: Number>([along, across, angle, ..]: &PerRow<N>) -> N {
    let (a, b) = (*along * N::TWO, *across * N::TWO);
    a + b + a * b - *angle * *angle
}

/// `dD/dC`.
#[inline]
fn area_slope<N: Number>([along, across, angle, ..]: &PerRow<N>) -> [N; 3] {
    let of = |strain: N| (N::ONE + strain * N::TWO) * N::TWO;
    [of(*across), of(*along), *angle * -N::TWO]
}

impl<N: Real> LogMembrane<N> {
    /// `dW/dD` [J].
    #[inline]
    fn pressure(&self, gain: N) -> N {
        let bulk = self.bulk * log_of_one_plus(gain) * N::HALF;
        (bulk - self.shear) * N::HALF / (N::ONE + gain)
    }

    fn stiffnesses(&self, spectrum: &Spectrum<N>) -> Stiffnesses<N> {
        let [first, second, _] = spectrum.s;
        let area = first * second;
        let c = self.bulk * log_of_one_plus(area - N::ONE) - self.shear;
        let [over_first, over_second] = [first, second].map(|s| N::ONE / (s * s));
        let (mu, zero) = (self.shear, N::ZERO);
        let cross = self.bulk / area;
        let scale = [
            [mu + (self.bulk - c) * over_first, cross, zero],
            [cross, mu + (self.bulk - c) * over_second, zero],
            [zero; 3],
        ];
        let [around, along] = [mu + c * over_second, mu + c * over_first];
        let twist = [around, along, mu + c / area];
        Stiffnesses { scale, twist, flip: [around, along, mu - c / area] }
    }

    fn spectrum(&self, x: &Points<N>) -> Spectrum<N> {
        let [first, second] = self.strain.deformation(x);
        Spectrum::of(&[first, second, V3::ZERO])
    }

    /// Each corner's part in the deformation [1/m].
    fn parts(&self) -> Points<N> {
        let [a, b, c] = self.strain.slopes().map(|[u, v]| V3([u, v, N::ZERO]));
        [a, b, c, V3::ZERO]
    }
}

impl<N: Real> RowEnergy<N> for LogMembrane<N> {
    const ENDS: usize = 3;
    const ROWS: usize = 3;

    fn principal_stretches(&self, x: &Points<N>) -> Option<[N; 3]> {
        self.strain.principal_stretches(x)
    }

    #[inline]
    fn rows(&self, x: &Points<N>) -> Rows<N> {
        self.strain.rows(x)
    }

    #[inline]
    fn curvature(&self, x: &Points<N>, weights: &PerRow<N>, i: usize, j: usize) -> M3<N> {
        self.strain.curvature(x, weights, i, j)
    }

    fn stiffness(&self, rows: &Rows<N>) -> [PerRow<N>; ROWS_MAX] {
        let gain = area_gain(&rows.value);
        let (pressure, area) = (self.pressure(gain), N::ONE + gain);
        let steeper = (self.bulk * N::HALF * N::HALF / area - pressure) / area;
        let slope = area_slope(&rows.value);
        let mut matrix = [[N::ZERO; ROWS_MAX]; ROWS_MAX];
        for (row, &a) in matrix.iter_mut().zip(&slope) {
            for (entry, &b) in row.iter_mut().zip(&slope) {
                *entry = steeper * (a * b);
            }
        }
        let twice = pressure * N::TWO;
        matrix[0][1] += twice * N::TWO;
        matrix[1][0] += twice * N::TWO;
        matrix[2][2] += -twice;
        matrix
    }

    #[inline]
    fn compliance(&self) -> Option<[PerRow<N>; ROWS_MAX]> {
        None
    }

    #[inline]
    fn tension(&self, rows: &Rows<N>) -> PerRow<N> {
        let pressure = self.pressure(area_gain(&rows.value));
        let [along, across, angle] = area_slope(&rows.value).map(|slope| slope * pressure);
        let mut tension = [N::ZERO; ROWS_MAX];
        (tension[0], tension[1], tension[2]) = (self.shear + along, self.shear + across, angle);
        tension
    }

    fn energy(&self, x: &Points<N>) -> N {
        let rows = self.strain.rows(x);
        // Twice ln J.
        let log = log_of_one_plus(area_gain(&rows.value));
        let stretch = (rows.value[0] + rows.value[1]) * N::TWO - log;
        (self.shear * stretch + self.bulk * (log * log) * N::HALF * N::HALF) * N::HALF
    }

    fn block(&self, x: &Points<N>, i: usize, j: usize, bent: N) -> M3<N> {
        let spectrum = self.spectrum(x);
        let parts = self.parts();
        spectrum.between(&self.stiffnesses(&spectrum).bent_by(bent), parts[i], parts[j])
    }

    fn blocks(&self, x: &Points<N>, bent: N) -> Blocks<N> {
        let spectrum = self.spectrum(x);
        let mut blocks = spectrum.blocks(&self.stiffnesses(&spectrum).bent_by(bent), self.parts());
        blocks[ENDS_MAX - 1] = [M3::ZERO; ENDS_MAX];
        blocks
    }

    fn vertex(&self, x: &Points<N>, i: usize) -> (V3<N>, M3<N>) {
        let spectrum = self.spectrum(x);
        let part = self.parts()[i];
        let stiffnesses = self.stiffnesses(&spectrum).clamped();
        (self.force(x, i), spectrum.between(&stiffnesses, part, part))
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{Energy, tests::check},
        *,
    };

    const YOUNG: f64 = 300.0;
    const POISSON: f64 = 0.3;

    fn corners() -> [Vec3; 3] {
        [Vec3::new(0.1, 0.2, 0.3), Vec3::new(1.0, 0.4, 0.2), Vec3::new(0.3, 1.2, 0.6)]
    }

    #[test]
    fn it_is_an_energy() {
        let [a, b, c] = corners();
        let membrane = LogMembrane::new(&[a, b, c], 0.1, YOUNG, POISSON).unwrap();
        check(&Energy::LogMembrane(membrane), &[V3::of(&a), V3::of(&b), V3::of(&c), V3::ZERO]);
    }

    #[test]
    fn its_stress_is_that_of_the_closed_form() {
        // P = mu F + (lambda ln J - mu) F (F^T F)^-1 on edges square to each other.
        let rest = [Vec3::zeros(), Vec3::x(), Vec3::y()];
        let membrane = LogMembrane::new(&rest, 0.1, YOUNG, POISSON).unwrap();
        let (mu, lambda) =
            (YOUNG / (2.0 * (1.0 + POISSON)), YOUNG * POISSON / (1.0 - POISSON * POISSON));
        let (s, t): (f64, f64) = (1.4, 0.6);
        let x = [V3::ZERO, V3([s, 0.0, 0.0]), V3([0.0, 0.0, t]), V3::ZERO];
        let along = |k: f64| mu * k + (lambda * (s * t).ln() - mu) / k;
        let expected = [along(s), along(t)].map(|p| -0.05 * p);
        let found = [membrane.force(&x, 1).0[0], membrane.force(&x, 2).0[2]];
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12 * YOUNG, "{found} {expected}");
        }
    }

    #[test]
    fn small_strains_cost_what_hooke_says() {
        let [a, b, c] = corners();
        let membrane = LogMembrane::new(&[a, b, c], 0.1, YOUNG, POISSON).unwrap();
        let green = Membrane::new(&[a, b, c], 0.1, YOUNG, POISSON).unwrap();
        let strain = crate::Mat3::new(1.0, 0.3, -0.2, 0.3, -0.5, 0.4, -0.2, 0.4, 0.7) * 1e-5;
        let [a, b, c] = [a, b, c].map(|x| V3::of(&(x + strain * x)));
        let x = [a, b, c, V3::ZERO];
        let (found, expected) = (membrane.energy(&x), green.energy(&x));
        assert!((found / expected - 1.0).abs() < 1e-4, "{found} {expected}");
    }
}
