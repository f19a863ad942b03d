//! Two triangles of thin material that share an edge and resist being folded away from their angle at rest.
//!
//! Discrete shells (Grinspun et al. 2003). With `x_0, x_1` the ends of the edge `e = x_1 - x_0` and `x_2, x_3` the
//! corners opposite to it,
//!
//! ```text
//!   N_0 = e x (x_2 - x_0),  N_1 = (x_3 - x_0) x e,      theta = atan2((N_0 x N_1).e/|e|, N_0.N_1)
//!   W = k/2 (theta - theta_rest)^2,                     k = D |e|^2 / (A_0 + A_1) at rest
//! ```
//!
//! where `D` is the flexural rigidity of a plate [N m] and `A` are areas. The paper prints three times this stiffness;
//! with the factor one it agrees with [`super::WeightedSum::bending`] for small angles and with the plate on equilateral triangles.
//! With `m = N/|N|^2` and `t_2, t_3` where the feet of the corners are along the edge,
//!
//! ```text
//!   d theta/dx_2 = -|e| m_0,    d theta/dx_0 = -(1 - t_2) d theta/dx_2 - (1 - t_3) d theta/dx_3
//!   d theta/dx_3 = -|e| m_1,    d theta/dx_1 =      -t_2  d theta/dx_2 -      t_3  d theta/dx_3
//!   dm = (1 - 2 n n^T) dN / |N|^2,  n = N/|N|,          dt_2 = (e.dx + (x_2 - x_0).de - 2 t_2 e.de) / |e|^2
//! ```
//!
//! and second derivatives follow by the product rule. Those of one corner alone are as often negative as positive. The
//! system of one corner has their positive part, so that a step of it never overshoots.

use std::f64::consts::{PI, TAU};

use serde::{Deserialize, Serialize};
use taut_math::{M3, Number, Real, V3};

use super::{PerRow, Points, ROWS_MAX, RowEnergy, Rows, pull, spectrum::positive_part};
use crate::Vec3;

/// A triangle whose height over the shared edge is less than this share of it has no plane [1].
const FLATNESS_MIN: f64 = 1e-9;

/// The energy of one shared edge.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hinge<N> {
    /// Angle between the normals at rest [rad].
    rest: N,
    /// `D |e|^2 / (A_0 + A_1)` [N m].
    stiffness: N,
    /// Its inverse [1/(N m)].
    compliance: N,
}

/// Places of the corners as seen along the edge.
struct FoldGeometry<N> {
    edge: V3<N>,
    length: N,
    /// Each corner opposite, from the first end of the edge.
    arms: [V3<N>; 2],
    /// The normals, twice as long as their triangle has area.
    normals: [V3<N>; 2],
    /// Where each corner's foot is, as a share of the edge.
    feet: [N; 2],
}

impl<N: Number> FoldGeometry<N> {
    #[inline]
    fn of(x: &Points<N>) -> Self {
        let edge = x[1] - x[0];
        let arms = [x[2] - x[0], x[3] - x[0]];
        let normals = [edge.cross(arms[0]), arms[1].cross(edge)];
        let square = edge.dot(edge);
        let feet = arms.map(|arm| arm.dot(edge) * square.inverse_or_zero());
        Self { edge, length: square.sqrt(), arms, normals, feet }
    }

    /// `d theta/dx_i`.
    #[inline]
    fn gradient(&self) -> Points<N> {
        let [second, third] = self
            .normals
            .map(|normal| normal * (-self.length * normal.dot(normal).inverse_or_zero()));
        let [t2, t3] = self.feet;
        let first = second * (t2 - N::ONE) + third * (t3 - N::ONE);
        [first, -(second * t2 + third * t3), second, third]
    }

    /// `d N_k/dx_j`.
    fn normal_slope(&self, k: usize, j: usize) -> M3<N> {
        // d(e x a) = e x da - a x de, with de = dx_1 - dx_0 and da = dx_(2 + k) - dx_0.
        let sign = if k == 0 { N::ONE } else { -N::ONE };
        let (edge, arm) = (self.edge * sign, self.arms[k] * sign);
        match j {
            0 => M3::skew(arm - edge),
            1 => M3::skew(-arm),
            _ if j == k + 2 => M3::skew(edge),
            _ => M3::ZERO,
        }
    }

    /// `d t_(2 + k)/dx_j`.
    fn foot_slope(&self, k: usize, j: usize) -> V3<N> {
        let over = (self.length * self.length).inverse_or_zero();
        let along = self.edge * over;
        let across = self.arms[k] * over - along * (N::TWO * self.feet[k]);
        match j {
            0 => -(along + across),
            1 => across,
            _ if j == k + 2 => along,
            _ => V3::ZERO,
        }
    }

    /// `d2 theta/dx_(2 + k) dx_j`.
    fn opposite_slope(&self, k: usize, j: usize) -> M3<N> {
        let normal = self.normals[k];
        let over = normal.dot(normal).inverse_or_zero();
        let unit_square = over * N::TWO;
        let slope = self.normal_slope(k, j);
        // |e| (1 - 2 n n^T) dN / |N|^2 + m d|e|.
        let folded = M3::outer(normal * unit_square, slope.apply_transposed(normal));
        let turned = slope.plus(folded.times(-N::ONE)).times(self.length * over);
        let along = self.edge * self.length.inverse_or_zero();
        let stretched = match j {
            0 => M3::outer(normal * over, -along),
            1 => M3::outer(normal * over, along),
            _ => M3::ZERO,
        };
        turned.plus(stretched).times(-N::ONE)
    }

    /// `d2 theta/dx_i dx_j`.
    fn curvature(&self, i: usize, j: usize) -> M3<N> {
        if i >= 2 {
            return self.opposite_slope(i - 2, j);
        }
        let gradient = self.gradient();
        let mut sum = M3::ZERO;
        for k in 0..2 {
            // -(1 - t) or -t of the corner's gradient.
            let (share, sign) =
                if i == 0 { (self.feet[k] - N::ONE, N::ONE) } else { (-self.feet[k], -N::ONE) };
            let shifted = M3::outer(gradient[k + 2] * sign, self.foot_slope(k, j));
            sum = sum.plus(self.opposite_slope(k, j).times(share)).plus(shifted);
        }
        sum
    }
}

impl<N: Real> FoldGeometry<N> {
    /// Angle between the normals [rad].
    #[inline]
    fn angle(&self) -> N {
        let [first, second] = self.normals;
        let sine = first.cross(second).dot(self.edge) * self.length.inverse_or_zero();
        sine.atan2(first.dot(second))
    }
}

impl Hinge<f64> {
    /// Two triangles on the edge between the first two points `rest` [m] and of a flexural rigidity [N m];
    /// `None` where they have no area.
    pub fn new(rest: &[Vec3; 4], rigidity: f64) -> Option<Self> {
        let fold: FoldGeometry<f64> = FoldGeometry::of(&rest.map(|x| V3::of(&x)));
        let areas = fold.normals.map(|normal| 0.5 * normal.dot(normal).sqrt());
        let square = fold.length * fold.length;
        let solid = areas.iter().all(|&area| area > FLATNESS_MIN * square && area.is_finite());
        let stiffness = rigidity * square / (areas[0] + areas[1]);
        let compliance = 1.0 / stiffness;
        solid.then(|| Self { rest: fold.angle(), stiffness, compliance })
    }

    /// Two triangles of these shapes that are at rest in one plane.
    pub fn flattened(rest: &[Vec3; 4], rigidity: f64) -> Option<Self> {
        Self::new(rest, rigidity).map(|hinge| Self { rest: 0.0, ..hinge })
    }

    /// Whether its stiffness and compliance neither overflow nor vanish.
    pub fn is_finite(&self) -> bool {
        self.stiffness.is_finite() && self.compliance.is_finite() && self.stiffness > 0.0
    }

    /// The same with other numbers.
    pub fn lower<N: Number>(&self) -> Hinge<N> {
        Hinge {
            rest: N::of(self.rest),
            stiffness: N::of(self.stiffness),
            compliance: N::of(self.compliance),
        }
    }
}

impl<N: Real> RowEnergy<N> for Hinge<N> {
    const ENDS: usize = 4;
    const ROWS: usize = 1;

    #[inline]
    fn rows(&self, x: &Points<N>) -> Rows<N> {
        let fold = FoldGeometry::of(x);
        let mut rows = Rows::ZERO;
        // The way round is the shorter one.
        let away = fold.angle() - self.rest;
        let away = away.where_above(N::of(PI), away - N::of(TAU), away);
        rows.value[0] = N::of(-PI).where_above(away, away + N::of(TAU), away);
        rows.gradient[0] = fold.gradient();
        rows
    }

    #[inline]
    fn curvature(&self, x: &Points<N>, weights: &PerRow<N>, i: usize, j: usize) -> M3<N> {
        FoldGeometry::of(x).curvature(i, j).times(weights[0])
    }

    #[inline]
    fn stiffness(&self, _: &Rows<N>) -> [PerRow<N>; ROWS_MAX] {
        single(self.stiffness)
    }

    #[inline]
    fn compliance(&self) -> Option<[PerRow<N>; ROWS_MAX]> {
        Some(single(self.compliance))
    }

    #[inline]
    fn vertex(&self, x: &Points<N>, i: usize) -> (V3<N>, M3<N>) {
        let rows = self.rows(x);
        let tension = self.tension(&rows);
        let bent = FoldGeometry::of(x).curvature(i, i).times(tension[0]).0.map(|row| row.0);
        let slope = rows.gradient[0][i];
        let straight = M3::outer(slope * self.stiffness, slope);
        let bent = M3(positive_part(&bent).map(V3));
        (pull(&rows, &tension, 1, i), straight.plus(bent))
    }
}

/// The matrix of one row.
fn single<N: Number>(entry: N) -> [PerRow<N>; ROWS_MAX] {
    let mut matrix = [[N::ZERO; ROWS_MAX]; ROWS_MAX];
    matrix[0][0] = entry;
    matrix
}

#[cfg(test)]
mod tests {
    use super::{
        super::{
            Energy, WeightedSum,
            tests::{check, points},
        },
        *,
    };

    const RIGIDITY: f64 = 3.0;

    /// Two unequal triangles, the second turned out of the plane of the first by an angle [rad].
    fn folded(angle: f64) -> [Vec3; 4] {
        let side = Vec3::new(0.2, -0.4 * angle.cos(), 0.4 * angle.sin());
        [Vec3::zeros(), Vec3::new(0.8, 0.0, 0.0), Vec3::new(0.3, 0.5, 0.0), side]
    }

    #[test]
    fn it_is_an_energy() {
        for rest in [0.0, 0.7, -2.0] {
            let hinge = Hinge::new(&folded(rest), RIGIDITY).unwrap();
            check(&Energy::Hinge(hinge), &points(folded(rest)));
        }
    }

    #[test]
    fn its_angle_is_that_by_which_it_was_folded() {
        for rest in [0.0, 1.0, 3.0] {
            let hinge = Hinge::new(&folded(rest), RIGIDITY).unwrap();
            for angle in [-0.3, 0.2, 0.5_f64] {
                let rows = hinge.rows(&points(folded(rest + angle)));
                assert!((rows.value[0].abs() - angle.abs()).abs() < 1e-14, "{rest} {angle}");
            }
        }
    }

    #[test]
    fn a_small_fold_costs_what_the_quadratic_model_does() {
        let (hinge, bending) = (
            Hinge::new(&folded(0.0), RIGIDITY).unwrap(),
            WeightedSum::bending(&folded(0.0), RIGIDITY).unwrap(),
        );
        let x = points(folded(1e-3));
        let (found, expected) = (hinge.energy(&x), bending.energy(&x));
        assert!((found / expected - 1.0).abs() < 1e-6, "{found} {expected}");
    }

    #[test]
    fn what_has_no_area_has_no_hinge() {
        let [a, b, c, _] = folded(0.0);
        assert_eq!(Hinge::new(&[a, b, c, b * 2.0], 1.0), None);
        assert_eq!(Hinge::new(&[a, a, b, c], 1.0), None);
    }
}
