//! What all energies of a tetrahedron share: how far its shape is from that at rest.
//!
//! With the edges at rest `D = [X_1 - X_0, X_2 - X_0, X_3 - X_0]` and `b_1, b_2, b_3` the rows of `D^-1`,
//!
//! ```text
//!   F = [x_1 - x_0, x_2 - x_0, x_3 - x_0] D^-1 = sum_i x_i b_i^T,   b_0 = -b_1 - b_2 - b_3
//!   dF/dx_i along u = u b_i^T
//!   J = det F,   dJ/dx_i = cof(F) b_i,   d2J/dx_i dx_j = -[F (b_i x b_j)]x
//! ```
//!
//! The last is zero for `i = j`: `J` is linear in one corner.

use serde::{Deserialize, Serialize};
use taut_math::{LANES, M3, Number, V3, Wide};

use super::{
    PerRow, Points,
    spectrum::{Columns, Spectrum},
};
use crate::{Mat3, Vec3};

/// A tetrahedron of less than this share of its longest edge's cube has no volume [1].
const FLATNESS_MIN: f64 = 1e-9;

/// Volume of a tetrahedron [m^3], negative where it is inside out.
pub(crate) fn volume([a, b, c, d]: &[Vec3; 4]) -> f64 {
    (b - a).cross(&(c - a)).dot(&(d - a)) / 6.0
}

/// The shape of a tetrahedron at rest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RestShape<N> {
    /// `b_1` to `b_3` [1/m].
    slopes: [[N; 3]; 3],
}

impl RestShape<f64> {
    /// The cell with these corners [m] at rest and its volume [m^3]; `None` where that is not positive.
    pub(super) fn new(rest: &[Vec3; 4]) -> Option<(Self, f64)> {
        let edges = Mat3::from_columns(&[rest[1] - rest[0], rest[2] - rest[0], rest[3] - rest[0]]);
        let mut pairs = (0..4).flat_map(|i| (0..i).map(move |j| (rest[i] - rest[j]).norm()));
        let longest = pairs.by_ref().fold(0.0, f64::max);
        let volume = volume(rest);
        let solid = volume > FLATNESS_MIN * longest.powi(3) && longest.is_finite();
        let inverse = solid.then(|| edges.try_inverse()).flatten()?;
        let slopes = [0, 1, 2].map(|k| [0, 1, 2].map(|c| inverse[(k, c)]));
        Some((Self { slopes }, volume))
    }

    pub(super) fn is_finite(&self) -> bool {
        self.slopes.as_flattened().iter().all(|slope| slope.is_finite())
    }

    pub(super) fn lower<N: Number>(&self) -> RestShape<N> {
        RestShape { slopes: self.slopes.map(|slope| slope.map(N::of)) }
    }
}

impl<W: Wide> RestShape<W> {
    /// One in each lane.
    pub(super) fn side_by_side(cells: [RestShape<W::Lane>; LANES]) -> Self {
        let slope = |k: usize, c: usize| W::gather(|lane| cells[lane].slopes[k][c]);
        Self { slopes: [0, 1, 2].map(|k| [0, 1, 2].map(|c| slope(k, c))) }
    }
}

impl<N: Number> RestShape<N> {
    /// `b_i` [1/m].
    #[inline(always)]
    pub(super) fn slope(&self, i: usize) -> V3<N> {
        self.all_slopes()[i]
    }

    /// `F` by columns. Of differences: far from the origin they keep the digits that the sum would lose.
    #[inline(always)]
    pub(super) fn deformation(&self, x: &Points<N>) -> Columns<N> {
        let [a, b, c] = self.slopes;
        let (e1, e2, e3) = (x[1] - x[0], x[2] - x[0], x[3] - x[0]);
        // No closure over an array: it would not be inlined.
        [
            e1 * a[0] + e2 * b[0] + e3 * c[0],
            e1 * a[1] + e2 * b[1] + e3 * c[1],
            e1 * a[2] + e2 * b[2] + e3 * c[2],
        ]
    }

    /// `b_0` to `b_3` [1/m].
    #[inline(always)]
    pub(super) fn all_slopes(&self) -> [V3<N>; 4] {
        let [a, b, c] = self.slopes;
        let (a, b, c) = (V3(a), V3(b), V3(c));
        [-(a + b + c), a, b, c]
    }
}

impl<N: Number> RestShape<N> {
    /// The singular values of `F`.
    pub(super) fn principal_stretches(&self, x: &Points<N>) -> [N; 3] {
        Spectrum::of(&self.deformation(x)).s
    }
}

/// The corners of the face opposite to each corner, counter-clockwise seen from there.
pub(crate) const FACES: [[usize; 3]; 4] = [[1, 3, 2], [0, 2, 3], [0, 3, 1], [0, 1, 2]];

/// `F b` for `F` by columns.
#[inline(always)]
pub(super) fn times<N: Number>(f: &Columns<N>, b: V3<N>) -> V3<N> {
    f[0] * b.0[0] + f[1] * b.0[1] + f[2] * b.0[2]
}

/// `|F|^2`.
#[inline(always)]
pub(super) fn square<N: Number>([a, b, c]: &Columns<N>) -> N {
    a.dot(*a) + b.dot(*b) + c.dot(*c)
}

/// `F^T u`.
#[inline(always)]
pub(super) fn transposed_times<N: Number>(f: &Columns<N>, u: V3<N>) -> V3<N> {
    V3(f.map(|column| column.dot(u)))
}

/// The cofactors of a matrix, by columns.
#[inline(always)]
pub(super) fn cofactors<N: Number>([a, b, c]: &Columns<N>) -> Columns<N> {
    [b.cross(*c), c.cross(*a), a.cross(*b)]
}

/// `d2J/dx_i dx_j`.
#[inline]
pub(super) fn bend_of_volume<N: Number>(f: &Columns<N>, bi: V3<N>, bj: V3<N>) -> M3<N> {
    M3::skew(-times(f, bi.cross(bj)))
}

/// `s 1`.
#[inline(always)]
pub(super) fn isotropic<N: Number>(s: N) -> M3<N> {
    let zero = N::ZERO;
    M3([V3([s, zero, zero]), V3([zero, s, zero]), V3([zero, zero, s])])
}

/// The symmetric matrix, by columns, with which weights of six rows count a symmetric one's entries
/// `11, 22, 33, 23, 13, 12`; rows of two axes are twice an entry.
#[inline]
pub(super) fn symmetric<N: Number>(weights: &PerRow<N>) -> Columns<N> {
    let [xx, yy, zz, yz, xz, xy] = *weights;
    [V3([xx, xy, xz]), V3([xy, yy, yz]), V3([xz, yz, zz])]
}

/// `G_11, G_22, G_33, 2 G_23, 2 G_13, 2 G_12` of `G = (F^T F - 1) / 2`.
#[inline]
pub(super) fn strain<N: Number>([a, b, c]: &Columns<N>) -> PerRow<N> {
    let along = |f: &V3<N>| (f.dot(*f) - N::ONE) * N::HALF;
    [along(a), along(b), along(c), b.dot(*c), a.dot(*c), a.dot(*b)]
}

/// By how much a deformation is off from one that keeps the shape, each exact to rounding of its own size near rest, where
/// `|F|^2` and `J` cancel.
///
/// From Green's strain `G`: with `J^2 - 1 = 2 tr G + r`, `r = 4 (minors of G) + 8 det G`,
/// `|F|^2 - 3 - 2 (J - 1) = (2 tr G (J - 1) - 2 r) / (J + 1)`.
pub(super) struct Gains<N> {
    /// `|F|^2 - 3`.
    pub(super) square: N,
    /// `J - 1`.
    pub(super) volume: N,
    /// The first less twice the second.
    pub(super) shape: N,
}

impl<N: Number> Gains<N> {
    pub(super) fn of(f: &Columns<N>) -> Self {
        let volume = f[0].dot(f[1].cross(f[2]));
        let [a, b, c, d, e, g] = strain(f);
        let trace = N::TWO * (a + b + c);
        // d, e and g are twice the entries of the strain.
        let four = N::TWO * N::TWO;
        let minors = four * (a * b + b * c + a * c) - (d * d + e * e + g * g);
        let determinant =
            N::TWO * (four * (a * b * c) + d * e * g - (a * d * d + b * e * e + c * g * g));
        let rest = minors + determinant;
        let one_more = volume + N::ONE;
        let gained = (trace + rest) / one_more;
        let shape = (trace * gained - N::TWO * rest) / one_more;
        // Turned inside out nothing cancels, but the denominator may vanish.
        Self {
            square: trace,
            volume: volume.where_above(N::ZERO, gained, volume - N::ONE),
            shape: volume.where_above(N::ZERO, shape, trace - N::TWO * (volume - N::ONE)),
        }
    }
}
