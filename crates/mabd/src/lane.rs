//! Vectors and matrices of single numbers or of four bodies side by side, one per lane.
//!
//! Arrays are filled by loops and literals: the functions of arrays that take closures become calls
//! and copies here.

use taut_math::{Fused, Number};

/// A vector, or one per lane.
pub(crate) type V<N = Fused> = [N; 3];

/// A matrix, or one per lane, by columns.
pub(crate) type M<N = Fused> = [V<N>; 3];

/// A matrix for each lane, by rows. Of a symmetric one only the lower triangle is filled.
pub(crate) type Square<const N: usize> = [[Fused; N]; N];

pub(crate) const ZERO3: V = [Fused::ZERO; 3];

/// A matrix from its entries by row and column.
#[inline(always)]
pub(crate) fn matrix(f: impl Fn(usize, usize) -> Fused) -> M {
    let column = |j: usize| [f(0, j), f(1, j), f(2, j)];
    [column(0), column(1), column(2)]
}

#[inline(always)]
pub(crate) fn add<N: Number>(a: V<N>, b: V<N>) -> V<N> {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

#[inline(always)]
pub(crate) fn sub<N: Number>(a: V<N>, b: V<N>) -> V<N> {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

#[inline(always)]
pub(crate) fn scale<N: Number>(a: V<N>, s: N) -> V<N> {
    [a[0] * s, a[1] * s, a[2] * s]
}

/// `c + a s`.
#[inline(always)]
pub(crate) fn onto<N: Number>(a: V<N>, s: N, c: V<N>) -> V<N> {
    [a[0].times_plus(s, c[0]), a[1].times_plus(s, c[1]), a[2].times_plus(s, c[2])]
}

#[inline(always)]
pub(crate) fn dot<N: Number>(a: V<N>, b: V<N>) -> N {
    a[2].times_plus(b[2], a[1].times_plus(b[1], a[0] * b[0]))
}

/// `c + a . b`.
#[inline(always)]
pub(crate) fn dot_onto<N: Number>(a: V<N>, b: V<N>, c: N) -> N {
    a[2].times_plus(b[2], a[1].times_plus(b[1], a[0].times_plus(b[0], c)))
}

/// `m v`.
#[inline(always)]
pub(crate) fn times<N: Number>(m: M<N>, v: V<N>) -> V<N> {
    [
        m[2][0].times_plus(v[2], m[1][0].times_plus(v[1], m[0][0] * v[0])),
        m[2][1].times_plus(v[2], m[1][1].times_plus(v[1], m[0][1] * v[0])),
        m[2][2].times_plus(v[2], m[1][2].times_plus(v[1], m[0][2] * v[0])),
    ]
}

/// `m^T v`.
#[inline(always)]
pub(crate) fn transposed_times<N: Number>(m: M<N>, v: V<N>) -> V<N> {
    [dot(m[0], v), dot(m[1], v), dot(m[2], v)]
}

/// `a b`.
#[inline(always)]
pub(crate) fn product<N: Number>(a: M<N>, b: M<N>) -> M<N> {
    [times(a, b[0]), times(a, b[1]), times(a, b[2])]
}

/// `a^T b`.
#[inline(always)]
pub(crate) fn transposed_product<N: Number>(a: M<N>, b: M<N>) -> M<N> {
    [transposed_times(a, b[0]), transposed_times(a, b[1]), transposed_times(a, b[2])]
}

/// `a w a^T`.
#[inline(always)]
pub(crate) fn conjugate<N: Number>(a: M<N>, w: M<N>) -> M<N> {
    let left = product(a, w);
    let row = |j: usize| [a[0][j], a[1][j], a[2][j]];
    [times(left, row(0)), times(left, row(1)), times(left, row(2))]
}

#[inline(always)]
pub(crate) fn plus<N: Number>(a: M<N>, b: M<N>) -> M<N> {
    [add(a[0], b[0]), add(a[1], b[1]), add(a[2], b[2])]
}

#[inline(always)]
pub(crate) fn minus<N: Number>(a: M<N>, b: M<N>) -> M<N> {
    [sub(a[0], b[0]), sub(a[1], b[1]), sub(a[2], b[2])]
}

#[inline(always)]
pub(crate) fn transposed<N: Number>([a, b, c]: M<N>) -> M<N> {
    [[a[0], b[0], c[0]], [a[1], b[1], c[1]], [a[2], b[2], c[2]]]
}

/// Where a row and a column, not after it, lie in a lower triangle by rows.
#[inline(always)]
pub(crate) fn pair(row: usize, column: usize) -> usize {
    row * (row + 1) / 2 + column
}

/// `c - a . b`.
#[inline(always)]
pub(crate) fn less<const N: usize>(a: &[Fused; N], b: &[Fused; N], c: Fused) -> Fused {
    let mut left = c;
    for (a, b) in a.iter().zip(b) {
        left = a.times_less(*b, left);
    }
    left
}

/// `c` less `rows`, each times its entry of `a`.
#[inline(always)]
pub(crate) fn less_rows<const N: usize>(
    a: &[Fused; N],
    rows: &Square<N>,
    mut c: [Fused; N],
) -> [Fused; N] {
    for (a, row) in a.iter().zip(rows) {
        for (c, entry) in c.iter_mut().zip(row) {
            *c = entry.times_less(*a, *c);
        }
    }
    c
}
