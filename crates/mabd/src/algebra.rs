//! Small matrices of single numbers or of four bodies side by side, as elimination along joints needs them.

use taut_math::Number;

use crate::dual::blocks::REDUNDANT;

/// A symmetric matrix: its upper triangle by rows.
pub(crate) type S<T> = [T; 6];
/// A matrix by rows.
pub(crate) type RowMatrix<T> = [T; 9];

/// The inverse of a pivot, or zero where it is next to nothing beside `scale`.
#[inline(always)]
fn inverse_pivot<T: Number>(pivot: T, scale: T) -> T {
    pivot.where_above(scale * T::of(REDUNDANT), T::ONE / pivot, T::ZERO)
}

/// The inverse of a symmetric matrix; see `blocks::invert_three`.
#[inline(always)]
pub(crate) fn inverse<T: Number>([b0, b3, b6, b4, b7, b8]: S<T>, scale: [T; 3]) -> S<T> {
    let p0 = inverse_pivot(b0, scale[0]);
    let (l10, l20) = (b3 * p0, b6 * p0);
    let p1 = inverse_pivot(l10.times_less(b3, b4), scale[1]);
    let c21 = l20.times_less(b3, b7);
    let l21 = c21 * p1;
    let p2 = inverse_pivot(l21.times_less(c21, l20.times_less(b6, b8)), scale[2]);
    let m20 = l10.times_plus(l21, T::ZERO - l20);
    let (i22, i12, i02) = (p2, T::ZERO - l21 * p2, m20 * p2);
    let i11 = l21.times_less(i12, p1);
    let i01 = l21.times_less(i02, T::ZERO - l10 * p1);
    let i00 = m20.times_plus(i02, (l10 * p1).times_plus(l10, p0));
    [i00, i01, i02, i11, i12, i22]
}

/// `s v`.
#[inline(always)]
pub(crate) fn times<T: Number>([a, b, c, d, e, f]: &S<T>, [x, y, z]: [T; 3]) -> [T; 3] {
    [
        c.times_plus(z, b.times_plus(y, *a * x)),
        e.times_plus(z, d.times_plus(y, *b * x)),
        f.times_plus(z, e.times_plus(y, *c * x)),
    ]
}

/// `m v`.
#[inline(always)]
pub(crate) fn apply<T: Number>(m: &RowMatrix<T>, v: [T; 3]) -> [T; 3] {
    [
        m[2].times_plus(v[2], m[1].times_plus(v[1], m[0] * v[0])),
        m[5].times_plus(v[2], m[4].times_plus(v[1], m[3] * v[0])),
        m[8].times_plus(v[2], m[7].times_plus(v[1], m[6] * v[0])),
    ]
}

/// `m^T v`.
#[inline(always)]
pub(crate) fn apply_transposed<T: Number>(m: &RowMatrix<T>, v: [T; 3]) -> [T; 3] {
    [
        m[6].times_plus(v[2], m[3].times_plus(v[1], m[0] * v[0])),
        m[7].times_plus(v[2], m[4].times_plus(v[1], m[1] * v[0])),
        m[8].times_plus(v[2], m[5].times_plus(v[1], m[2] * v[0])),
    ]
}

#[inline(always)]
fn columns<T: Copy>(a: [T; 3], b: [T; 3], c: [T; 3]) -> RowMatrix<T> {
    [a[0], b[0], c[0], a[1], b[1], c[1], a[2], b[2], c[2]]
}

#[inline(always)]
fn column<T: Copy>(m: &RowMatrix<T>, j: usize) -> [T; 3] {
    [m[j], m[3 + j], m[6 + j]]
}

/// `s m`.
#[inline(always)]
pub(crate) fn symmetric_times<T: Number>(s: &S<T>, m: &RowMatrix<T>) -> RowMatrix<T> {
    columns(times(s, column(m, 0)), times(s, column(m, 1)), times(s, column(m, 2)))
}

/// `a b`.
#[inline(always)]
pub(crate) fn product<T: Number>(a: &RowMatrix<T>, b: &RowMatrix<T>) -> RowMatrix<T> {
    columns(apply(a, column(b, 0)), apply(a, column(b, 1)), apply(a, column(b, 2)))
}

/// `s - a^T b`, which is known to be symmetric.
#[inline(always)]
pub(crate) fn less<T: Number>(s: &S<T>, a: &RowMatrix<T>, b: &RowMatrix<T>) -> S<T> {
    [
        a[6].times_less(b[6], a[3].times_less(b[3], a[0].times_less(b[0], s[0]))),
        a[6].times_less(b[7], a[3].times_less(b[4], a[0].times_less(b[1], s[1]))),
        a[6].times_less(b[8], a[3].times_less(b[5], a[0].times_less(b[2], s[2]))),
        a[7].times_less(b[7], a[4].times_less(b[4], a[1].times_less(b[1], s[3]))),
        a[7].times_less(b[8], a[4].times_less(b[5], a[1].times_less(b[2], s[4]))),
        a[8].times_less(b[8], a[5].times_less(b[5], a[2].times_less(b[2], s[5]))),
    ]
}

#[inline(always)]
pub(crate) fn transpose<T: Copy>(m: &RowMatrix<T>) -> RowMatrix<T> {
    [m[0], m[3], m[6], m[1], m[4], m[7], m[2], m[5], m[8]]
}

#[inline(always)]
pub(crate) fn sum<T: Number>(a: [T; 3], b: [T; 3]) -> [T; 3] {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

#[inline(always)]
pub(crate) fn difference<T: Number>(a: [T; 3], b: [T; 3]) -> [T; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}
