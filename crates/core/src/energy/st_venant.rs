//! A tetrahedron of St. Venant-Kirchhoff material: Hooke's law for Green's strain.
//!
//! ```text
//!   G = (F^T F - 1) / 2,   W = V (mu |G|^2 + lambda/2 (tr G)^2)
//! ```
//!
//! With the rows `C = (G_11, G_22, G_33, 2 G_23, 2 G_13, 2 G_12)` this is `C^T K C / 2`. From
//! `dF/dx_i along u = u b_i^T`, with `f_a` the columns of `F`,
//!
//! ```text
//!   dG_ab/dx_i = (b_ia f_b + b_ib f_a) / 2,   d2G_ab/dx_i dx_j = (b_ia b_jb + b_ib b_ja) / 2  times 1
//! ```
//!
//! so that rows under the stress `S = dW/dG` bend by `(b_i^T S b_j) 1`. Pressed to less than 58 % of its length the
//! material softens and then gives way: that is the model's, not a solver's.

use serde::{Deserialize, Serialize};
use taut_math::{M3, Number, V3};

use super::{
    Elasticity, PerRow, Points, ROWS_MAX, RowEnergy, Rows,
    cell::{RestShape, isotropic, strain, symmetric, times},
    hooke::Hooke,
};
use crate::Vec3;

/// Which axes a row is about; rows of two axes are twice an entry of the strain.
pub(super) const ENTRIES: [[usize; 2]; 6] = [[0, 0], [1, 1], [2, 2], [1, 2], [0, 2], [0, 1]];

/// The energy of one tetrahedron.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StVenantKirchhoff<N> {
    cell: RestShape<N>,
    hooke: Hooke<N>,
}

impl StVenantKirchhoff<f64> {
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
    pub fn lower<N: Number>(&self) -> StVenantKirchhoff<N> {
        StVenantKirchhoff { cell: self.cell.lower(), hooke: self.hooke.lower() }
    }
}

impl<N: Number> RowEnergy<N> for StVenantKirchhoff<N> {
    const ENDS: usize = 4;
    const ROWS: usize = 6;

    fn principal_stretches(&self, x: &Points<N>) -> Option<[N; 3]> {
        Some(self.cell.principal_stretches(x))
    }

    #[inline]
    fn rows(&self, x: &Points<N>) -> Rows<N> {
        let f = self.cell.deformation(x);
        let mut rows = Rows { value: strain(&f), ..Rows::ZERO };
        for i in 0..4 {
            let b = self.cell.slope(i).0;
            for (gradient, [p, q]) in rows.gradient.iter_mut().zip(ENTRIES) {
                gradient[i] = if p == q { f[p] * b[p] } else { f[p] * b[q] + f[q] * b[p] };
            }
        }
        rows
    }

    #[inline]
    fn curvature(&self, _: &Points<N>, weights: &PerRow<N>, i: usize, j: usize) -> M3<N> {
        let [b, d] = [i, j].map(|k| self.cell.slope(k));
        isotropic(b.dot(times(&symmetric(weights), d)))
    }

    #[inline]
    fn stiffness(&self, _: &Rows<N>) -> [PerRow<N>; ROWS_MAX] {
        self.hooke.stiffness()
    }

    #[inline]
    fn compliance(&self) -> Option<[PerRow<N>; ROWS_MAX]> {
        Some(self.hooke.compliance())
    }

    #[inline]
    fn force(&self, x: &Points<N>, i: usize) -> V3<N> {
        let f = self.cell.deformation(x);
        let stress = symmetric(&self.hooke.tension(&strain(&f)));
        -times(&f, times(&stress, self.cell.slope(i)))
    }

    /// `V ((b^T S b)^+ 1 + (mu + lambda) w w^T + mu |b|^2 F F^T)` with `w = F b`.
    #[inline]
    fn vertex(&self, x: &Points<N>, i: usize) -> (V3<N>, M3<N>) {
        let f = self.cell.deformation(x);
        let b = self.cell.slope(i);
        let pressed = times(&symmetric(&self.hooke.tension(&strain(&f))), b);
        let (w, bent) = (times(&f, b), b.dot(pressed).max(N::ZERO));
        let (shear, both) = (self.hooke.shear * b.dot(b), self.hooke.shear + self.hooke.bulk);
        let columns = f.map(|column| M3::outer(column * shear, column));
        let block = M3::outer(w * both, w).plus(isotropic(bent));
        let block = columns.into_iter().fold(block, M3::plus);
        (-times(&f, pressed), block)
    }
}
