//! A tetrahedron of stable neo-Hookean material that does not stay pressed to a point.
//!
//! The density of Smith, De Goes and Kim (Stable Neo-Hookean Flesh Simulation, 2018, eq. 14) with its logarithm. With
//! Lamé's constants `mu`, `lambda` of linear elasticity, which it equals for small strains (section 3.4 there),
//!
//! ```text
//!   I = |F|^2,   m = 4/3 mu,   l = lambda + 5/6 mu,   a = 1 + 3/4 m/l
//!   W = V (m/2 (I - 3 - ln((I + 1)/4)) + l/2 (J - a)^2 - l/2 (1 - a)^2)
//! ```
//!
//! Up to a constant it is `C^T K C / 2` of two rows, `C_0 = J - a` with `K_00 = l V` and `C_1 = sqrt(I - ln(I + 1))` with
//! `K_11 = m V`. Without the logarithm a point costs `mu/2 |F|^2` more where it grows, so that it stays one; with it, the
//! volume is the first to tell, and drives it apart. In one corner the second derivative
//! `V (m I/(I + 1) |b|^2 1 + 2 m/(I + 1)^2 w w^T + l v v^T)`, `w = F b`, `v = cof(F) b`, is positive.

use serde::{Deserialize, Serialize};
use taut_math::{M3, Number, Real, V3};

use super::{
    Blocks, Elasticity, PerRow, Points, ROWS_MAX, RowEnergy, Rows,
    cell::{Gains, RestShape, bend_of_volume, cofactors, isotropic, square, times},
    neo_hookean::{diagonal, is_sound, stiffnesses_by_volume},
    spectrum::{Columns, Spectrum, Stiffnesses},
};
use crate::Vec3;

/// Below which [`excess`] is summed up: what is left out is less than rounding.
const SUMMED_MAX: f64 = 0.1;

/// The energy of one tetrahedron.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogNeoHookean<N> {
    cell: RestShape<N>,
    /// `m V` [J].
    shear: N,
    /// `l V` [J].
    bulk: N,
}

impl LogNeoHookean<f64> {
    /// A tetrahedron with the corners `rest` [m] at rest; `None` where its volume is not positive.
    pub fn new(rest: &[Vec3; 4], material: Elasticity) -> Option<Self> {
        let (cell, volume) = RestShape::new(rest)?;
        let [mu, lambda] = material.lame();
        let (shear, bulk) = (4.0 / 3.0 * mu * volume, (lambda + 5.0 / 6.0 * mu) * volume);
        Some(Self { cell, shear, bulk })
    }

    /// Whether its stiffness and compliance neither overflow nor vanish.
    pub fn is_finite(&self) -> bool {
        self.cell.is_finite() && [self.shear, self.bulk].into_iter().all(is_sound)
    }

    /// The same with other numbers.
    pub fn lower<N: Number>(&self) -> LogNeoHookean<N> {
        LogNeoHookean { cell: self.cell.lower(), shear: N::of(self.shear), bulk: N::of(self.bulk) }
    }
}

/// `x - ln(1 + x)`, exact to rounding of its own size.
fn excess<N: Real>(x: N) -> N {
    let x = x.to_f64();
    if x.abs() > SUMMED_MAX {
        return N::of(x - x.ln_1p());
    }
    // ln(1 + x) = 2 artanh(s).
    let s = x / (2.0 + x);
    let odd = [3.0, 5.0, 7.0, 9.0, 11.0].into_iter().rev();
    let sum = odd.fold(0.0, |sum, power: f64| sum * s * s + 1.0 / power);
    N::of(x * s - 2.0 * s.powi(3) * sum)
}

impl<N: Real> LogNeoHookean<N> {
    /// `a`.
    fn rest_volume(&self) -> N {
        N::ONE + N::of(0.75) * self.shear / self.bulk
    }

    /// `m I/(I + 1)`, `2 m/(I + 1)^2` and `l (J - a)`, all times `V`.
    fn slopes(&self, square: N, volume: N) -> [N; 3] {
        let inverse = N::ONE / (square + N::ONE);
        [
            self.shear * (square * inverse),
            self.shear * N::TWO * (inverse * inverse),
            self.bulk * (volume - self.rest_volume()),
        ]
    }

    /// `w`, `v` and the slopes.
    fn at(&self, x: &Points<N>, i: usize) -> (V3<N>, V3<N>, [N; 3]) {
        let (f, b) = (self.cell.deformation(x), self.cell.slope(i));
        let c = cofactors(&f);
        (times(&f, b), times(&c, b), self.slopes(square(&f), f[0].dot(c[0])))
    }

    /// Along the principal directions.
    fn stiffnesses(&self, spectrum: &Spectrum<N>) -> Stiffnesses<N> {
        let s = spectrum.s;
        let square = s[0] * s[0] + s[1] * s[1] + s[2] * s[2];
        let [shear, along, pull] = self.slopes(square, s[0] * s[1] * s[2]);
        let mut all = stiffnesses_by_volume(spectrum, [shear, self.bulk, pull]);
        for i in 0..3 {
            for j in 0..3 {
                all.scale[i][j] += along * (s[i] * s[j]);
            }
        }
        all
    }

    /// The second row, and its first and half of its second derivative by `I`, each times two.
    fn size(f: &Columns<N>) -> [N; 3] {
        let square = square(f);
        let value = excess(square).sqrt();
        let (inverse, over) = (value.inverse_or_zero(), N::ONE / (square + N::ONE));
        let slope = square * over * inverse;
        [value, slope, (N::TWO * (over * over) - slope * slope) * inverse]
    }
}

impl<N: Real> RowEnergy<N> for LogNeoHookean<N> {
    const ENDS: usize = 4;
    const ROWS: usize = 2;

    fn principal_stretches(&self, x: &Points<N>) -> Option<[N; 3]> {
        Some(self.cell.principal_stretches(x))
    }

    fn rows(&self, x: &Points<N>) -> Rows<N> {
        let f = self.cell.deformation(x);
        let c = cofactors(&f);
        let [size, slope, _] = Self::size(&f);
        let mut rows = Rows::ZERO;
        rows.value[0] = f[0].dot(c[0]) - self.rest_volume();
        rows.value[1] = size;
        for i in 0..4 {
            let b = self.cell.slope(i);
            rows.gradient[0][i] = times(&c, b);
            rows.gradient[1][i] = times(&f, b) * slope;
        }
        rows
    }

    fn curvature(&self, x: &Points<N>, weights: &PerRow<N>, i: usize, j: usize) -> M3<N> {
        let f = self.cell.deformation(x);
        let [bi, bj] = [i, j].map(|k| self.cell.slope(k));
        let [_, slope, bend] = Self::size(&f);
        let size =
            isotropic(bi.dot(bj) * slope).plus(M3::outer(times(&f, bi) * bend, times(&f, bj)));
        bend_of_volume(&f, bi, bj).times(weights[0]).plus(size.times(weights[1]))
    }

    fn stiffness(&self, _: &Rows<N>) -> [PerRow<N>; ROWS_MAX] {
        diagonal([self.bulk, self.shear])
    }

    fn compliance(&self) -> Option<[PerRow<N>; ROWS_MAX]> {
        Some(diagonal([self.bulk, self.shear].map(|k| N::ONE / k)))
    }

    /// Zero at rest, without differences of what cancels near it: with `q = (I - 3)/4`,
    /// `W = V (3/8 m (I - 3 - 2 (J - 1)) + m/2 (q - ln(1 + q)) + l/2 (J - 1)^2)`.
    fn energy(&self, x: &Points<N>) -> N {
        let gains = Gains::of(&self.cell.deformation(x));
        let shear = N::of(0.75) * gains.shape + excess(gains.square * N::of(0.25));
        N::HALF * (self.shear * shear + self.bulk * (gains.volume * gains.volume))
    }

    /// Without the root of the second row, which has no gradient where the tetrahedron is a point.
    fn force(&self, x: &Points<N>, i: usize) -> V3<N> {
        let (w, v, [shear, _, pull]) = self.at(x, i);
        -(w * shear + v * pull)
    }

    fn block(&self, x: &Points<N>, i: usize, j: usize, bent: N) -> M3<N> {
        self.blocks(x, bent)[i][j]
    }

    fn blocks(&self, x: &Points<N>, bent: N) -> Blocks<N> {
        let spectrum = Spectrum::of(&self.cell.deformation(x));
        let stiffnesses = self.stiffnesses(&spectrum).bent_by(bent);
        spectrum.blocks(&stiffnesses, self.cell.all_slopes())
    }

    fn vertex(&self, x: &Points<N>, i: usize) -> (V3<N>, M3<N>) {
        let (w, v, [shear, along, pull]) = self.at(x, i);
        let b = self.cell.slope(i);
        let block = M3::outer(v * self.bulk, v).plus(M3::outer(w * along, w));
        (-(w * shear + v * pull), block.plus(isotropic(shear * b.dot(b))))
    }
}

#[cfg(test)]
mod tests {
    use super::{super::tests::points, *};
    use crate::energy::NeoHookean;

    const MATERIAL: Elasticity = Elasticity { young: 1e6, poisson: 0.3 };

    fn cube_corner(scale: f64) -> [Vec3; 4] {
        [Vec3::zeros(), Vec3::x(), Vec3::y(), Vec3::z()].map(|x| x * scale)
    }

    #[test]
    fn growing_alike_in_all_directions_is_resisted_as_by_the_derivative_of_its_density() {
        let solid = LogNeoHookean::new(&cube_corner(1.0), MATERIAL).unwrap();
        let [mu, lambda] = MATERIAL.lame();
        let (m, l) = (4.0 / 3.0 * mu, lambda + 5.0 / 6.0 * mu);
        for s in [0.3_f64, 0.8, 1.0, 1.7] {
            // P = m F - m F/(I + 1) + l (J - a) cof F, on a corner V P b.
            let pull =
                m * s - m * s / (3.0 * s * s + 1.0) + l * (s.powi(3) - 1.0 - 0.75 * m / l) * s * s;
            let force = solid.force(&points(cube_corner(s)), 1);
            let expected = V3([-pull / 6.0, 0.0, 0.0]);
            assert!((force - expected).norm() < 1e-9 * MATERIAL.young, "{s}: {force:?}");
        }
    }

    #[test]
    fn a_point_is_driven_apart_where_the_form_without_logarithm_keeps_it() {
        let x = points(cube_corner(1e-3));
        let with = LogNeoHookean::new(&cube_corner(1.0), MATERIAL).unwrap().force(&x, 1).0[0];
        let without = NeoHookean::new(&cube_corner(1.0), MATERIAL).unwrap().force(&x, 1).0[0];
        assert!(with > 0.0 && without < 0.0, "{with} {without}");
    }

    #[test]
    fn small_excess_has_all_its_digits() {
        // x^2/2 - x^3/3 + x^4/4 - ..
        for x in [-0.09_f64, -1e-3, 1e-9, 0.02, 0.099, 0.101] {
            let series: f64 = (2..60).map(|k| (-x).powi(k) / f64::from(k)).sum();
            assert!((excess(x) / series - 1.0).abs() < 1e-13, "{x}: {} {series}", excess(x));
        }
    }
}
