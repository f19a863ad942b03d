//! Singular values of a deformation, and the second derivatives that isotropic energies have along them.
//!
//! `F = U diag(s) V^T` with rotations `U` and `V`, so that the last singular value is negative where `F` turns
//! its element inside out. An energy that depends on `s` alone has second derivatives that are diagonal in
//! known directions (Smith, De Goes, Kim, Analytic Eigensystems for Isotropic Distortion Energies, 2019; Kim
//! and Eberle, Dynamic Deformables, 2020): three that scale, with the matrix `d2/ds2`, and for each pair of axes
//! one that twists and one that flips.

use taut_math::{M3, Number, V3};

use super::{Blocks, ENDS_MAX};

/// Sweeps of Jacobi rotations; each squares what is left, and double precision needs at most six.
const SWEEPS: usize = 8;

/// The pairs of axes, in the order in which twists and flips are listed: without x, without y, without z.
pub(super) const PAIRS: [[usize; 2]; 3] = [[1, 2], [0, 2], [0, 1]];

/// Three vectors, the columns of a matrix.
pub(super) type Columns<N> = [V3<N>; 3];

/// A deformation along its principal directions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spectrum<N> {
    /// Principal directions after the deformation, a rotation by columns.
    pub(super) u: Columns<N>,
    /// Singular values, falling in size; only the last may be negative.
    pub(super) s: [N; 3],
    /// Principal directions before, a rotation by columns.
    pub(super) v: Columns<N>,
}

/// Second derivatives of an energy density by the deformation, along its principal directions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stiffnesses<N> {
    /// `d2/ds_k ds_l`, symmetric.
    pub(super) scale: [[N; 3]; 3],
    /// Along what turns the principal directions of each pair of axes.
    pub(super) twist: [N; 3],
    /// Along what shears each pair of axes.
    pub(super) flip: [N; 3],
}

/// Cosine and sine of the rotation that takes the middle entry of a symmetric 2x2 matrix to zero.
fn rotation<N: Number>(first: N, middle: N, last: N) -> [N; 2] {
    // tan = sign(z) / (|z| + sqrt(1 + z^2)), z = (last - first) / (2 middle), without division by the middle.
    let difference = last - first;
    let twice = N::TWO * middle;
    let size = (difference * difference + twice * twice).sqrt();
    let below = difference.abs() + size;
    let sign = difference.where_above(N::ZERO, N::ONE, -N::ONE);
    let tangent = sign * twice * below.inverse_or_zero();
    let cosine = N::ONE / (N::ONE + tangent * tangent).sqrt();
    [cosine, tangent * cosine]
}

/// Turns two columns in their plane.
fn turn<N: Number>(columns: &mut Columns<N>, [i, j]: [usize; 2], [cosine, sine]: [N; 2]) {
    let (a, b) = (columns[i], columns[j]);
    columns[i] = a * cosine - b * sine;
    columns[j] = a * sine + b * cosine;
}

fn axes<N: Number>() -> Columns<N> {
    [V3::axis(0), V3::axis(1), V3::axis(2)]
}

/// A unit vector along `v`, or `other` where `v` has no length.
fn unit_or<N: Number>(v: V3<N>, other: V3<N>) -> V3<N> {
    let square = v.dot(v);
    let inverse = square.sqrt().inverse_or_zero();
    V3([0, 1, 2].map(|i| square.where_above(N::ZERO, v.0[i] * inverse, other.0[i])))
}

impl<N: Number> Spectrum<N> {
    /// By rotations of columns until those are square to each other (Hestenes), which keeps the digits that a
    /// root of `F^T F` would lose.
    pub(super) fn of(f: &Columns<N>) -> Self {
        let (mut turned, mut v) = (*f, axes());
        for _ in 0..SWEEPS {
            for pair in PAIRS {
                let [a, b] = pair.map(|i| turned[i]);
                let by = rotation(a.dot(a), a.dot(b), b.dot(b));
                turn(&mut turned, pair, by);
                turn(&mut v, pair, by);
            }
        }
        // A quarter turn exchanges two columns and keeps a rotation one.
        for pair in [[0, 1], [1, 2], [0, 1]] {
            let [a, b] = pair.map(|i| turned[i].dot(turned[i]));
            let by = [b.where_above(a, N::ZERO, N::ONE), b.where_above(a, -N::ONE, N::ZERO)];
            turn(&mut turned, pair, by);
            turn(&mut v, pair, by);
        }
        let first = unit_or(turned[0], V3::axis(0));
        let second = turned[1] - first * first.dot(turned[1]);
        let away = first.0[0].abs().where_above(N::HALF, N::ONE, N::ZERO);
        let across = first.cross(V3([N::ONE - away, away, N::ZERO]));
        let second = unit_or(second, unit_or(across, V3::axis(2)));
        let u = [first, second, first.cross(second)];
        let s = [0, 1, 2].map(|i| u[i].dot(turned[i]));
        Self { u, s, v }
    }

    /// The rotation `U V^T` that is nearest to the deformation, by columns.
    pub(super) fn rotation(&self) -> Columns<N> {
        [0, 1, 2].map(|c| self.along(V3([0, 1, 2].map(|k| self.v[k].0[c]))))
    }

    /// `U w`.
    pub(super) fn along(&self, w: V3<N>) -> V3<N> {
        self.u[0] * w.0[0] + self.u[1] * w.0[1] + self.u[2] * w.0[2]
    }

    /// `V^T b`.
    pub(super) fn before(&self, b: V3<N>) -> V3<N> {
        V3(self.v.map(|v| v.dot(b)))
    }

    /// `sum_bd d2W/dF_ab dF_cd b_b d_d`: what the density's second derivatives come to between two points whose
    /// part in the deformation is `b` and `d`.
    pub(super) fn between(&self, stiffnesses: &Stiffnesses<N>, b: V3<N>, d: V3<N>) -> M3<N> {
        let (b, d) = (self.before(b).0, self.before(d).0);
        let Stiffnesses { scale, twist, flip } = stiffnesses;
        let mut m = [[N::ZERO; 3]; 3];
        for (r, row) in m.iter_mut().enumerate() {
            for (c, entry) in row.iter_mut().enumerate() {
                *entry = scale[r][c] * (b[r] * d[c]);
            }
        }
        for (k, [i, j]) in PAIRS.into_iter().enumerate() {
            let (even, odd) = ((flip[k] + twist[k]) * N::HALF, (flip[k] - twist[k]) * N::HALF);
            m[i][i] += even * (b[j] * d[j]);
            m[j][j] += even * (b[i] * d[i]);
            m[i][j] += odd * (b[j] * d[i]);
            m[j][i] += odd * (b[i] * d[j]);
        }
        // U m U^T, row by row.
        let half = m.map(|row| self.along(V3(row)));
        let row = |r: usize| {
            half[0] * self.u[0].0[r] + half[1] * self.u[1].0[r] + half[2] * self.u[2].0[r]
        };
        M3([row(0), row(1), row(2)])
    }
}

impl<N: Number> Spectrum<N> {
    /// [`Self::between`] all pairs of points with these parts in the deformation.
    pub(super) fn blocks(
        &self,
        stiffnesses: &Stiffnesses<N>,
        parts: [V3<N>; ENDS_MAX],
    ) -> Blocks<N> {
        parts.map(|b| parts.map(|d| self.between(stiffnesses, b, d)))
    }
}

impl<N: Number> Stiffnesses<N> {
    /// The nearest ones without a direction along which the density bends down.
    pub(super) fn clamped(&self) -> Self {
        let positive = |x: N| x.max(N::ZERO);
        Self {
            scale: positive_part(&self.scale),
            twist: self.twist.map(positive),
            flip: self.flip.map(positive),
        }
    }

    /// A share of these and the rest of the clamped ones.
    pub(super) fn bent_by(&self, share: N) -> Self {
        let clamped = self.clamped();
        let rest = N::ONE - share;
        let mixed = |a: [N; 3], b: [N; 3]| [0, 1, 2].map(|i| a[i] * share + b[i] * rest);
        Self {
            scale: [0, 1, 2].map(|r| mixed(self.scale[r], clamped.scale[r])),
            twist: mixed(self.twist, clamped.twist),
            flip: mixed(self.flip, clamped.flip),
        }
    }
}

/// The nearest matrix to a symmetric one that has no negative eigenvalue.
pub(super) fn positive_part<N: Number>(matrix: &[[N; 3]; 3]) -> [[N; 3]; 3] {
    let mut columns = matrix.map(V3);
    let mut vectors = axes();
    for _ in 0..SWEEPS {
        for [i, j] in PAIRS {
            let by = rotation(columns[i].0[i], columns[i].0[j], columns[j].0[j]);
            turn(&mut columns, [i, j], by);
            columns = transposed(&columns);
            turn(&mut columns, [i, j], by);
            columns = transposed(&columns);
            turn(&mut vectors, [i, j], by);
        }
    }
    let mut part = [[N::ZERO; 3]; 3];
    for (k, vector) in vectors.into_iter().enumerate() {
        let value = columns[k].0[k].max(N::ZERO);
        for (r, row) in part.iter_mut().enumerate() {
            for (c, entry) in row.iter_mut().enumerate() {
                *entry += value * (vector.0[r] * vector.0[c]);
            }
        }
    }
    part
}

fn transposed<N: Number>(columns: &Columns<N>) -> Columns<N> {
    [0, 1, 2].map(|r| V3([0, 1, 2].map(|c| columns[c].0[r])))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn product(spectrum: &Spectrum<f64>) -> Columns<f64> {
        [0, 1, 2].map(|c| spectrum.along(V3([0, 1, 2].map(|k| spectrum.s[k] * spectrum.v[k].0[c]))))
    }

    fn is_rotation(columns: &Columns<f64>) -> bool {
        let [a, b, c] = *columns;
        let off = a.dot(b).abs().max(a.dot(c).abs()).max(b.dot(c).abs());
        let norms = [a, b, c].map(|v| (v.norm() - 1.0).abs());
        off.max(norms[0]).max(norms[1]).max(norms[2]) < 1e-14 && a.cross(b).dot(c) > 0.0
    }

    #[test]
    fn any_deformation_is_taken_apart_into_rotations_and_falling_values() {
        let skew = [[1.0, 0.2, -0.4], [0.3, 0.9, 0.1], [-0.2, 0.5, 1.3]];
        let inverted = [[1.0, 0.2, -0.4], [0.3, 0.9, 0.1], [0.2, -0.5, -1.3]];
        let flat = [[1.0, 0.0, 0.5], [0.2, 0.0, 0.1], [0.7, 0.0, -0.3]];
        let line = [[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [-1.0, -2.0, -3.0]];
        let tiny = [[1e-9, 0.0, 0.0], [0.0, 3.0, 1e-9], [0.0, 0.0, 3.0]];
        for matrix in [skew, inverted, flat, line, tiny, [[0.0; 3]; 3], [[1.0, 0.0, 0.0]; 3]] {
            let f = matrix.map(V3);
            let spectrum = Spectrum::of(&f);
            assert!(is_rotation(&spectrum.u) && is_rotation(&spectrum.v), "{spectrum:?}");
            let [a, b, c] = spectrum.s;
            assert!(a >= b && b >= c.abs() - 1e-15, "{:?}", spectrum.s);
            for (found, expected) in product(&spectrum).iter().zip(f) {
                assert!((*found - expected).norm() < 1e-14 * (1.0 + a), "{spectrum:?}");
            }
        }
    }

    #[test]
    fn clamping_takes_away_just_what_is_negative() {
        let scale = [[1.0, 2.0, 0.5], [2.0, 1.0, -0.3], [0.5, -0.3, 0.7]];
        let given = Stiffnesses { scale, twist: [1.0, -1.0, 0.0], flip: [-2.0, 2.0, 3.0] };
        let clamped = given.clamped();
        assert_eq!((clamped.twist, clamped.flip), ([1.0, 0.0, 0.0], [0.0, 2.0, 3.0]));
        let matrix = |scale: [[f64; 3]; 3]| crate::Mat3::from_fn(|r, c| scale[r][c]);
        let eigen = matrix(scale).symmetric_eigen();
        let expected = eigen.eigenvectors
            * crate::Mat3::from_diagonal(&eigen.eigenvalues.map(|x| x.max(0.0)))
            * eigen.eigenvectors.transpose();
        assert!((matrix(clamped.scale) - expected).norm() < 1e-14);
    }
}
