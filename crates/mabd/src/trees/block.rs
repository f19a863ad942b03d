//! Symmetric blocks of one joint each, four side by side: what elimination along a tree needs of them.

use taut_math::{Fused, Number};

use crate::{
    algebra::{S, inverse, times as symmetric_times},
    lane::{self, Square, V, ZERO3, sub},
};

/// The inverse of a symmetric block: of the rows of points, and of what these leave of those of springs.
/// Rows that say nothing new have zeros.
pub(super) struct Factor<const N: usize> {
    points: S<Fused>,
    /// The springs' rows with those of points, times the inverse of the latter.
    across: [V; 3],
    springs: S<Fused>,
}

impl<const N: usize> Factor<N> {
    /// Factorises a block; `scale` is its diagonal before anything was eliminated.
    #[inline(always)]
    pub(super) fn new(block: &Square<N>, scale: &[Fused; N]) -> Self {
        let [a, b, c] = [first(&block[0]), first(&block[1]), first(&block[2])];
        let points = inverse([a[0], b[0], c[0], b[1], c[1], c[2]], first(scale));
        let mut this = Self { points, across: [ZERO3; 3], springs: [Fused::ZERO; 6] };
        if N == 3 {
            return this;
        }
        let [a, b, c] = [last(&block[N - 3]), last(&block[N - 2]), last(&block[N - 1])];
        let rows = [first(&block[N - 3]), first(&block[N - 2]), first(&block[N - 1])];
        for (across, row) in this.across.iter_mut().zip(rows) {
            *across = symmetric_times(&points, row);
        }
        let less = |k: usize, l: usize| lane::dot(this.across[k], rows[l]);
        let left = [
            a[0] - less(0, 0),
            b[0] - less(1, 0),
            c[0] - less(2, 0),
            b[1] - less(1, 1),
            c[1] - less(2, 1),
            c[2] - less(2, 2),
        ];
        this.springs = inverse(left, last(scale));
        this
    }

    #[inline(always)]
    pub(super) fn solve(&self, x: &[Fused; N]) -> [Fused; N] {
        let mut points = symmetric_times(&self.points, first(x));
        let mut out = [Fused::ZERO; N];
        if N > 3 {
            let [a, b, c] = self.across;
            let moved = [lane::dot(a, first(x)), lane::dot(b, first(x)), lane::dot(c, first(x))];
            let springs = symmetric_times(&self.springs, sub(last(x), moved));
            let back = lane::times(self.across, springs);
            points = sub(points, back);
            out[N - 3..].copy_from_slice(&springs);
        }
        out[..3].copy_from_slice(&points);
        out
    }
}

#[inline(always)]
pub(super) fn first<const N: usize>(x: &[Fused; N]) -> V {
    [x[0], x[1], x[2]]
}

#[inline(always)]
pub(super) fn last<const N: usize>(x: &[Fused; N]) -> V {
    [x[N - 3], x[N - 2], x[N - 1]]
}
