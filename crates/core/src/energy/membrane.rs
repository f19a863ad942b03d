//! A triangle of thin material that resists being stretched and sheared, but not being bent.
//!
//! St. Venant-Kirchhoff in the plane (Kim and Eberle, Dynamic Deformables, 2020). With `X_i` the corners at
//! rest in coordinates of their plane, `D = [X_1 - X_0, X_2 - X_0]` and `b_1, b_2` the rows of `D^-1`,
//!
//! ```text
//!   F = [x_1 - x_0, x_2 - x_0] D^-1 = sum_i x_i b_i^T     3x2, with b_0 = -b_1 - b_2
//!   G = (F^T F - 1) / 2                                   Green's strain, zero for every rigid motion
//!   W = V (mu |G|^2 + lambda/2 (tr G)^2)                  V = area times thickness, both at rest
//! ```
//!
//! The stress across a thin sheet is zero, which makes Lamé's second constant `mu = E/(2 (1 + nu))` as in a
//! solid and the first one `lambda = E nu / (1 - nu^2)` (plane stress). With the rows
//! `C = (G_11, G_22, 2 G_12)`, whose last is the angle of shear, `|G|^2 = C_0^2 + C_1^2 + C_2^2 / 2`, so that
//! `W = C^T K C / 2` with
//!
//! ```text
//!              | 1  nu      0      |                  1   |  1  -nu     0      |
//!   K = E V    | nu  1      0      | / (1 - nu^2),  K^-1 = --- | -nu  1      0      |
//!              | 0   0  (1 - nu)/2 |                 E V  |  0   0  2 (1 + nu) |
//! ```
//!
//! Let `f_1, f_2` be the columns of `F`. From `df_a/dx_i = b_ia 1`,
//!
//! ```text
//!   dG_aa/dx_i      = b_ia f_a,               d2G_aa/dx_i dx_j      = b_ia b_ja 1
//!   d(2 G_12)/dx_i  = b_i1 f_2 + b_i2 f_1,    d2(2 G_12)/dx_i dx_j  = (b_i1 b_j2 + b_i2 b_j1) 1
//! ```
//!
//! so the rows' second derivative under the tensions `S = dW/dC` is `(b_i^T S b_j) 1`, and positive for one
//! corner exactly where its own `b_i^T S b_i` is.

use serde::{Deserialize, Serialize};
use taut_math::{LANES, M3, Number, V3, Wide};

use super::{
    Energy, PerRow, Points, ROWS_MAX, RowEnergy, Rows, SheetCorner, SideBySide, cell::isotropic,
    spectrum::Spectrum, symmetric,
};
use crate::Vec3;

/// A triangle whose height is less than this share of its longest edge has no plane [1].
const FLATNESS_MIN: f64 = 1e-9;

/// The energy of one triangle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Membrane<N> {
    /// `b_i` of each corner [1/m].
    slopes: [[N; 2]; 3],
    /// `K_00`, `K_01` and `K_22` [J].
    stiffness: [N; 3],
    /// The same entries of the inverse [1/J].
    compliance: [N; 3],
}

impl Membrane<f64> {
    /// A triangle with the corners `rest` [m] where nothing is stretched, of a thickness [m], Young's
    /// modulus [Pa] and Poisson's ratio; `None` where the corners are on one line.
    pub fn new(rest: &[Vec3; 3], thickness: f64, young: f64, poisson: f64) -> Option<Self> {
        let (first, second) = (rest[1] - rest[0], rest[2] - rest[0]);
        let longest = first.norm().max(second.norm()).max((rest[2] - rest[1]).norm());
        // D = [[base, shift], [0, height]] with the first edge along the plane's x axis.
        let base = first.norm();
        let shift = first.dot(&second) / base;
        let height = first.cross(&second).norm() / base;
        let plane = base.min(height) > FLATNESS_MIN * longest && longest.is_finite();
        if !plane {
            return None;
        }
        let (b1, b2) = ([1.0 / base, -shift / (base * height)], [0.0, 1.0 / height]);
        let b0 = [-b1[0] - b2[0], -b1[1] - b2[1]];
        let modulus = young * thickness * 0.5 * base * height;
        let direct = modulus / (1.0 - poisson * poisson);
        Some(Self {
            slopes: [b0, b1, b2],
            stiffness: [direct, poisson * direct, 0.5 * (1.0 - poisson) * direct],
            compliance: [1.0 / modulus, -poisson / modulus, 2.0 * (1.0 + poisson) / modulus],
        })
    }

    /// Whether its stiffness and compliance neither overflow nor vanish.
    pub fn is_finite(&self) -> bool {
        let entries = || self.stiffness.iter().chain(&self.compliance);
        entries().all(|entry| entry.is_finite()) && self.stiffness[0] > 0.0
    }

    /// The same with other numbers.
    pub fn lower<N: Number>(&self) -> Membrane<N> {
        Membrane {
            slopes: self.slopes.map(|slope| slope.map(N::of)),
            stiffness: self.stiffness.map(N::of),
            compliance: self.compliance.map(N::of),
        }
    }
}

impl<W: Wide> SideBySide<W> for Membrane<W> {
    fn side_by_side(energies: [&Energy<W::Lane>; LANES]) -> Option<Self> {
        let mut all = [Membrane::default(); LANES];
        for (own, energy) in all.iter_mut().zip(energies) {
            let Energy::Membrane(membrane) = energy else { return None };
            *own = *membrane;
        }
        let slope = |k: usize, c: usize| W::gather(|lane| all[lane].slopes[k][c]);
        Some(Self {
            slopes: [0, 1, 2].map(|k| [0, 1].map(|c| slope(k, c))),
            stiffness: [0, 1, 2].map(|k| W::gather(|lane| all[lane].stiffness[k])),
            compliance: [0, 1, 2].map(|k| W::gather(|lane| all[lane].compliance[k])),
        })
    }

    #[inline(always)]
    fn sized_rows<const SIZE: usize>(&self, x: &Points<W>) -> Rows<W, SIZE> {
        self.rows_at(x)
    }
}

impl<N: Number> Membrane<N> {
    /// `K_00`, `K_01` and `K_22` [J].
    pub(super) fn hooke(&self) -> [N; 3] {
        self.stiffness
    }

    /// What corner `i` needs.
    pub(super) fn corner(&self, i: usize) -> SheetCorner<N> {
        let slopes = SheetCorner::<N>::others(i).map(|j| self.slopes[j]);
        SheetCorner { slopes, stiffness: self.stiffness }
    }

    /// `b_i` of each corner [1/m].
    pub(super) fn slopes(&self) -> [[N; 2]; 3] {
        self.slopes
    }

    /// `F` by columns. Of differences: far from the origin they keep the digits that a sum over corners would lose.
    #[inline(always)]
    pub(super) fn deformation(&self, x: &Points<N>) -> [V3<N>; 2] {
        let [_, b1, b2] = self.slopes;
        let (first, second) = (x[1] - x[0], x[2] - x[0]);
        [first * b1[0] + second * b2[0], first * b1[1] + second * b2[1]]
    }

    /// In room for `SIZE` rows.
    #[inline(always)]
    fn rows_at<const SIZE: usize>(&self, x: &Points<N>) -> Rows<N, SIZE> {
        let f = self.deformation(x);
        let mut rows = Rows::ZERO;
        rows.value[0] = (f[0].dot(f[0]) - N::ONE) * N::HALF;
        rows.value[1] = (f[1].dot(f[1]) - N::ONE) * N::HALF;
        rows.value[2] = f[0].dot(f[1]);
        for (i, b) in self.slopes.into_iter().enumerate() {
            rows.gradient[0][i] = f[0] * b[0];
            rows.gradient[1][i] = f[1] * b[1];
            rows.gradient[2][i] = f[1] * b[0] + f[0] * b[1];
        }
        rows
    }
}

impl<N: Number> RowEnergy<N> for Membrane<N> {
    const ENDS: usize = 3;
    const ROWS: usize = 3;

    /// The two in the plane, and one for the thickness, of which the model says nothing.
    fn principal_stretches(&self, x: &Points<N>) -> Option<[N; 3]> {
        let f = self.deformation(x);
        let [a, b, _] = Spectrum::of(&[f[0], f[1], V3::ZERO]).s;
        Some([a, b, N::ONE])
    }

    #[inline]
    fn rows(&self, x: &Points<N>) -> Rows<N> {
        self.rows_at(x)
    }

    #[inline]
    fn curvature(&self, _: &Points<N>, weights: &PerRow<N>, i: usize, j: usize) -> M3<N> {
        let ([i1, i2], [j1, j2]) = (self.slopes[i], self.slopes[j]);
        let [direct, across, shear, ..] = *weights;
        let s = direct * (i1 * j1) + across * (i2 * j2) + shear * (i1 * j2 + i2 * j1);
        isotropic(s)
    }

    #[inline]
    fn stiffness(&self, _: &Rows<N>) -> [PerRow<N>; ROWS_MAX] {
        symmetric(self.stiffness)
    }

    #[inline]
    fn compliance(&self) -> Option<[PerRow<N>; ROWS_MAX]> {
        Some(symmetric(self.compliance))
    }
}

#[cfg(test)]
mod tests {
    use super::{
        super::{Energy, tests::check},
        *,
    };

    const THICKNESS: f64 = 0.02;
    const YOUNG: f64 = 300.0;
    const POISSON: f64 = 0.3;

    /// A right triangle with legs of 0.5 m and 0.4 m, its corners mapped by a linear map.
    fn strained(map: impl Fn(Vec3) -> Vec3) -> (Membrane<f64>, Points<f64>, f64) {
        let rest = [Vec3::new(0.2, 0.1, 0.3), Vec3::new(0.7, 0.1, 0.3), Vec3::new(0.2, 0.5, 0.3)];
        let membrane = Membrane::new(&rest, THICKNESS, YOUNG, POISSON).unwrap();
        let [a, b, c] = rest.map(|corner| V3::of(&map(corner)));
        (membrane, [a, b, c, V3::ZERO], 0.5 * 0.5 * 0.4 * THICKNESS)
    }

    #[test]
    fn it_is_an_energy() {
        let corners =
            [Vec3::new(0.1, 0.2, 0.3), Vec3::new(1.0, 0.4, 0.2), Vec3::new(0.3, 1.2, 0.6)];
        let membrane = Membrane::new(&corners, 0.1, 100.0, 0.3).unwrap();
        let [a, b, c] = corners.map(|corner| V3::of(&corner));
        check(&Energy::Membrane(membrane), &[a, b, c, V3::ZERO]);
    }

    #[test]
    fn pulled_in_one_direction_it_obeys_young_and_poisson() {
        // Green's strain e along x, and -nu e across.
        let e = 0.05;
        let (along, across) = ((1.0 + 2.0 * e).sqrt(), (1.0 - 2.0 * POISSON * e).sqrt());
        let (membrane, x, volume) = strained(|p| Vec3::new(along * p.x, across * p.y, p.z));
        let rows = membrane.rows(&x);
        assert!((rows.value[0] - e).abs() < 1e-15 && (rows.value[1] + POISSON * e).abs() < 1e-15);
        let tension = membrane.tension(&rows);
        assert!((tension[0] - volume * YOUNG * e).abs() < 1e-14, "{tension:?}");
        assert!(tension[1].abs() < 1e-15 && tension[2].abs() < 1e-15, "{tension:?}");
        assert!((membrane.energy(&x) - 0.5 * volume * YOUNG * e * e).abs() < 1e-15);
    }

    #[test]
    fn sheared_it_obeys_the_shear_modulus() {
        // An angle of shear g with both sides kept: F^T F = [[1, sin g], [sin g, 1]].
        let g: f64 = 0.1;
        let (membrane, x, volume) =
            strained(|p| Vec3::new(p.x + g.sin() * p.y, g.cos() * p.y, p.z));
        let mu = YOUNG / (2.0 * (1.0 + POISSON));
        let expected = 0.5 * volume * mu * g.sin().powi(2);
        assert!((membrane.energy(&x) - expected).abs() < 1e-15);
    }

    #[test]
    fn one_corner_has_the_block_of_the_closed_form() {
        // V ((b^T S b)^+ 1 + (mu + lambda) w w^T + mu |b|^2 F F^T), w = F b.
        let (membrane, x, volume) = strained(|p| Vec3::new(1.1 * p.x + 0.2 * p.y, 0.9 * p.y, p.x));
        let (mu, lambda) =
            (YOUNG / (2.0 * (1.0 + POISSON)), YOUNG * POISSON / (1.0 - POISSON * POISSON));
        let rows = membrane.rows(&x);
        let tension = membrane.tension(&rows);
        for i in 0..3 {
            let b = membrane.slopes[i];
            let f = [0, 1].map(|a| {
                let column = (0..3).map(|j| x[j].to_f64() * membrane.slopes[j][a]);
                column.sum::<Vec3>()
            });
            let w = f[0] * b[0] + f[1] * b[1];
            let square = b[0] * b[0] + b[1] * b[1];
            let bent = tension[0] * b[0] * b[0]
                + tension[1] * b[1] * b[1]
                + 2.0 * tension[2] * b[0] * b[1];
            let columns = f[0] * f[0].transpose() + f[1] * f[1].transpose();
            let expected = (w * w.transpose() * (mu + lambda) + columns * (mu * square)) * volume
                + crate::Mat3::identity() * bent.max(0.0);
            let (_, block) = membrane.vertex(&x, i);
            for r in 0..3 {
                for c in 0..3 {
                    assert!((block.0[r].0[c] - expected[(r, c)]).abs() < 1e-12, "{i} {r} {c}");
                }
            }
        }
    }

    #[test]
    fn corners_on_one_line_have_no_energy() {
        let line = [Vec3::zeros(), Vec3::new(1.0, 1.0, 0.0), Vec3::new(3.0, 3.0, 0.0)];
        assert_eq!(Membrane::new(&line, 1.0, 1.0, 0.0), None);
        assert_eq!(Membrane::new(&[Vec3::zeros(); 3], 1.0, 1.0, 0.0), None);
        let sliver = [Vec3::zeros(), Vec3::new(1.0, 0.0, 0.0), Vec3::new(0.5, 1e-6, 0.0)];
        assert!(Membrane::new(&sliver, 1.0, 1.0, 0.0).is_some());
    }
}
