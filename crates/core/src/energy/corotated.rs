//! A tetrahedron of linear elastic material that turns with it.
//!
//! With the polar decomposition `F = R S`,
//!
//! ```text
//!   W = V (mu |F - R|^2 + lambda/2 (tr S - 3)^2) = V (mu |S - 1|^2 + lambda/2 (tr(S - 1))^2)
//! ```
//!
//! which is Hooke's law for the rows `C = (S_11 - 1, S_22 - 1, S_33 - 1, 2 S_23, 2 S_13, 2 S_12)`. Where `F` turns by
//! `dR = R [w]x`, symmetry of `S` demands `(tr S 1 - S) w = axis of the skew part of R^T dF`; for
//! `dF = u b^T` that is `b x R^T u`, and `dS = R^T dF - [w]x S`.
//!
//! With `R` held the second derivative in one corner is `V (2 mu |b|^2 1 + lambda (R b)(R b)^T)`. It is softer than the
//! exact one where the material is pulled so far that `lambda (tr S - 3) > 2 mu`; there what `R` adds is counted, too, so
//! that the block of one corner is positive and nowhere softer than the exact one.

use serde::{Deserialize, Serialize};
use taut_math::{M3, Number, V3};

use super::{
    Blocks, Elasticity, PerRow, Points, ROWS_MAX, RowEnergy, Rows,
    cell::{RestShape, symmetric, times, transposed_times},
    hooke::Hooke,
    spectrum::{Columns, Spectrum, Stiffnesses},
    st_venant::ENTRIES,
};
use crate::Vec3;

/// The energy of one tetrahedron.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Corotated<N> {
    cell: RestShape<N>,
    hooke: Hooke<N>,
}

impl Corotated<f64> {
    /// A tetrahedron with the corners `rest` [m] at rest; `None` where its volume is not positive.
    pub fn new(rest: &[Vec3; 4], material: Elasticity) -> Option<Self> {
        let (cell, volume) = RestShape::new(rest)?;
        Some(Self { cell, hooke: Hooke::new(material, volume) })
    }

    /// Whether its stiffness and compliance neither overflow nor vanish.
    pub fn is_finite(&self) -> bool {
        self.cell.is_finite() && self.hooke.is_finite()
    }

    /// The same with other numbers.
    pub fn lower<N: Number>(&self) -> Corotated<N> {
        Corotated { cell: self.cell.lower(), hooke: self.hooke.lower() }
    }
}

/// A deformation taken apart into turning and stretching.
struct PolarParts<N> {
    /// `R` by columns.
    rotation: Columns<N>,
    /// `S` by columns, and the sum of its diagonal.
    stretch: Columns<N>,
    trace: N,
    /// `(tr S 1 - S)^-1` by columns.
    yielding: Columns<N>,
}

impl<N: Number> PolarParts<N> {
    fn of(f: &Columns<N>) -> Self {
        Self::from(&Spectrum::of(f))
    }

    fn from(spectrum: &Spectrum<N>) -> Self {
        let [a, b, c] = spectrum.s;
        let along = |values: [N; 3]| {
            [0, 1, 2].map(|k| {
                let entry = |i: usize| spectrum.v[i] * (values[i] * spectrum.v[i].0[k]);
                entry(0) + entry(1) + entry(2)
            })
        };
        // Two values that sum to zero make the rotation jump: no finite number is right there.
        let pairs = [b + c, a + c, a + b].map(|sum| N::ONE / sum);
        Self {
            rotation: spectrum.rotation(),
            stretch: along(spectrum.s),
            trace: a + b + c,
            yielding: along(pairs),
        }
    }

    /// `S - 1` as rows.
    fn rows(&self) -> PerRow<N> {
        ENTRIES.map(|[p, q]| {
            let entry = self.stretch[p].0[q];
            if p == q { entry - N::ONE } else { entry + entry }
        })
    }

    /// By what `R` turns where `F` changes by `u b^T`.
    fn turn(&self, b: V3<N>, u: V3<N>) -> V3<N> {
        times(&self.yielding, b.cross(transposed_times(&self.rotation, u)))
    }

    /// How `S` changes, by columns.
    fn stretched(&self, b: V3<N>, u: V3<N>) -> Columns<N> {
        let (turn, r) = (self.turn(b, u), transposed_times(&self.rotation, u));
        [0, 1, 2].map(|k| r * b.0[k] - turn.cross(self.stretch[k]))
    }
}

/// `(M_32 - M_23, M_13 - M_31, M_21 - M_12)` of the product `M` of two symmetric matrices by columns.
fn skew_part<N: Number>(a: &Columns<N>, b: &Columns<N>) -> V3<N> {
    // M_rc = a_r . b_c.
    let entry = |r: usize, c: usize| a[r].dot(b[c]);
    V3([entry(2, 1) - entry(1, 2), entry(0, 2) - entry(2, 0), entry(1, 0) - entry(0, 1)])
}

impl<N: Number> Corotated<N> {
    fn stiffnesses(&self, spectrum: &Spectrum<N>) -> Stiffnesses<N> {
        let [a, b, c] = spectrum.s;
        let (shear, bulk) = (self.hooke.shear * N::TWO, self.hooke.bulk);
        let mut scale = [[bulk; 3]; 3];
        (0..3).for_each(|k| scale[k][k] = bulk + shear);
        let three = N::ONE + N::TWO;
        let pull = N::TWO * (bulk * (a + b + c - three) - shear);
        Stiffnesses {
            scale,
            twist: [b + c, a + c, a + b].map(|sum| shear + pull / sum),
            flip: [shear; 3],
        }
    }

    /// The same without what makes the material softer as it turns.
    fn held(&self, exact: Stiffnesses<N>) -> Stiffnesses<N> {
        let shear = self.hooke.shear * N::TWO;
        Stiffnesses { twist: exact.twist.map(|twist| twist.max(shear)), ..exact }
    }

    /// `P b` with the first Piola-Kirchhoff stress `P` times the volume.
    fn pull(&self, f: &Columns<N>, polar: &PolarParts<N>, b: V3<N>) -> V3<N> {
        let three = N::ONE + N::TWO;
        let (rb, shear) = (times(&polar.rotation, b), self.hooke.shear * N::TWO);
        (times(f, b) - rb) * shear + rb * (self.hooke.bulk * (polar.trace - three))
    }
}

impl<N: Number> RowEnergy<N> for Corotated<N> {
    const ENDS: usize = 4;
    const ROWS: usize = 6;

    fn principal_stretches(&self, x: &Points<N>) -> Option<[N; 3]> {
        Some(self.cell.principal_stretches(x))
    }

    fn rows(&self, x: &Points<N>) -> Rows<N> {
        let polar = PolarParts::of(&self.cell.deformation(x));
        let mut rows = Rows { value: polar.rows(), ..Rows::ZERO };
        for i in 0..4 {
            let b = self.cell.slope(i);
            for c in 0..3 {
                let change = polar.stretched(b, V3::axis(c));
                for (gradient, [p, q]) in rows.gradient.iter_mut().zip(ENTRIES) {
                    let twice = change[p].0[q] + change[q].0[p];
                    gradient[i].0[c] = if p == q { twice * N::HALF } else { twice };
                }
            }
        }
        rows
    }

    /// With the weights as a matrix `W`, `a` the skew part of `S W` and `p = (tr S 1 - S)^-1 a`, the rows' gradient
    /// is `R (W b_i + p x b_i)`; this is its change.
    fn curvature(&self, x: &Points<N>, weights: &PerRow<N>, i: usize, j: usize) -> M3<N> {
        let polar = PolarParts::of(&self.cell.deformation(x));
        let weights = symmetric(weights);
        let [bi, bj] = [i, j].map(|k| self.cell.slope(k));
        let skewed = skew_part(&polar.stretch, &weights);
        let p = times(&polar.yielding, skewed);
        let along = times(&weights, bi) + p.cross(bi);
        let mut columns = [V3::ZERO; 3];
        for (c, column) in columns.iter_mut().enumerate() {
            let u = V3::axis(c);
            let (turn, change) = (polar.turn(bj, u), polar.stretched(bj, u));
            let trace = change[0].0[0] + change[1].0[1] + change[2].0[2];
            let yielded = p * trace - times(&change, p);
            let dp = times(&polar.yielding, skew_part(&change, &weights) - yielded);
            *column = times(&polar.rotation, turn.cross(along) + dp.cross(bi));
        }
        let [a, b, c] = columns;
        M3([0, 1, 2].map(|r| V3([a.0[r], b.0[r], c.0[r]])))
    }

    #[inline]
    fn stiffness(&self, _: &Rows<N>) -> [PerRow<N>; ROWS_MAX] {
        self.hooke.stiffness()
    }

    #[inline]
    fn compliance(&self) -> Option<[PerRow<N>; ROWS_MAX]> {
        Some(self.hooke.compliance())
    }

    fn force(&self, x: &Points<N>, i: usize) -> V3<N> {
        let f = self.cell.deformation(x);
        -self.pull(&f, &PolarParts::of(&f), self.cell.slope(i))
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
        let f = self.cell.deformation(x);
        let (spectrum, b) = (Spectrum::of(&f), self.cell.slope(i));
        let polar = PolarParts::from(&spectrum);
        (-self.pull(&f, &polar, b), spectrum.between(&self.held(self.stiffnesses(&spectrum)), b, b))
    }
}
