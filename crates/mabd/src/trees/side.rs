//! The rows of a joint as one of its bodies sees them: three that hold a point, and where there are springs
//! three that hold the rotation between the bodies.
//!
//! With the axes of a spring in the parent's coordinates `B`, those of the child being its principal ones,
//! frames `P` of the parent and `C` of the child, `T = (P B)^T C`, row `k` is `(T_ji - T_ij) a / (2 sin a)` with
//! `cos a = (tr T - 1) / 2`; its derivative by `T` is `F_k = t (e_j e_i^T - e_i e_j^T) + b_k`. So the gradients
//! are `P B F_k` by the child's frame and `C F_k^T B^T` by the parent's. All three rows are equally soft, so
//! that the axes in which they are written do not matter.

use taut_math::{Fused, Number, Wide};

use super::block::Square;
use crate::{
    free::FreeResponse,
    joint::turn_factors,
    lane::{
        M, V, ZERO3, add, conjugate, dot, dot_onto, plus, product, scale, sub, times, transposed,
        transposed_product, transposed_times,
    },
    local::LocalInverse,
};

/// The derivatives `F_k` of a spring's rows.
#[derive(Clone, Copy)]
pub(super) struct TurnRows {
    pub(super) turn: Fused,
    pub(super) bend: V,
}

impl TurnRows {
    pub(super) const NONE: Self = Self { turn: Fused::ZERO, bend: ZERO3 };

    /// The spring between the axes `from` of the parent and the child's frame `at`, and the values of its
    /// rows; see [`turn_factors`].
    #[inline(always)]
    pub(super) fn new(from: M, at: M) -> (Self, V) {
        let t = transposed_product(from, at);
        let sum = Fused::ONE + (t[0][0] + t[1][1] + t[2][2]);
        let [a, b, c, d] = sum.lanes();
        let factors = [turn_factors(a), turn_factors(b), turn_factors(c), turn_factors(d)];
        let [turn, slope] = [0, 1].map(|k| Fused::gather(|lane| factors[lane][k]));
        let value = scale([t[1][2] - t[2][1], t[2][0] - t[0][2], t[0][1] - t[1][0]], turn);
        (Self { turn, bend: scale(value, slope) }, value)
    }

    /// `m F_k` for all rows.
    #[inline(always)]
    pub(super) fn rows(&self, m: M) -> [M; 3] {
        self.all(m, self.turn)
    }

    /// `m F_k^T` for all rows.
    #[inline(always)]
    pub(super) fn rows_transposed(&self, m: M) -> [M; 3] {
        self.all(m, -self.turn)
    }

    #[inline(always)]
    fn all(&self, m: M, turn: Fused) -> [M; 3] {
        let turned = [scale(m[0], turn), scale(m[1], turn), scale(m[2], turn)];
        let mut rows = [m; 3];
        for (k, row) in rows.iter_mut().enumerate() {
            let (i, j) = ((k + 1) % 3, (k + 2) % 3);
            for column in row.iter_mut() {
                *column = scale(*column, self.bend[k]);
            }
            row[i] = add(row[i], turned[j]);
            row[j] = sub(row[j], turned[i]);
        }
        rows
    }

    /// `sum_k multiplier_k F_k`.
    #[inline(always)]
    pub(super) fn sum(&self, multipliers: V) -> M {
        let along = dot(self.bend, multipliers);
        let [x, y, z] = scale(multipliers, self.turn);
        // Row `k` has `t` at `ji`, by columns `[i][j]`.
        [[along, z, -y], [-z, along, x], [y, -x, along]]
    }
}

/// One body's side of a joint.
#[derive(Clone, Copy)]
pub(super) struct JointSide {
    anchor: V,
    /// Whether the body is the child, which counts with plus.
    child: bool,
    /// Gradients of the spring's rows, frames co-rotated, and what unit multipliers move.
    gradients: [M; 3],
    replies: [M; 3],
}

impl JointSide {
    pub(super) const NONE: Self =
        Self { anchor: ZERO3, child: false, gradients: [[ZERO3; 3]; 3], replies: [[ZERO3; 3]; 3] };

    /// Of a ball joint without a spring.
    #[inline(always)]
    pub(super) fn set(&mut self, anchor: V, child: bool) {
        (self.anchor, self.child) = (anchor, child);
    }

    /// Adds a spring with these gradients.
    #[inline(always)]
    pub(super) fn set_spring(&mut self, gradients: [M; 3], local: &LocalInverse<Fused>) {
        self.gradients = gradients;
        for (reply, gradient) in self.replies.iter_mut().zip(gradients) {
            *reply = local.apply(gradient);
        }
    }

    #[inline(always)]
    fn signed(&self, v: V) -> V {
        if self.child { v } else { [-v[0], -v[1], -v[2]] }
    }

    /// Where the body by itself would take the rows: points, and by how much the spring's values would change.
    #[inline(always)]
    pub(super) fn tip<const N: usize>(&self, free: &FreeResponse) -> [Fused; N] {
        let mut tip = [Fused::ZERO; N];
        let point = self.signed(free.tip(self.anchor));
        tip[..3].copy_from_slice(&point);
        if N > 3 {
            for k in 0..3 {
                tip[3 + k] = inner(self.gradients[k], free.frame);
            }
        }
        tip
    }

    /// How far unit multipliers of `other` move these rows, by rows. With itself, the lower triangle.
    #[inline(always)]
    pub(super) fn between<const N: usize>(
        &self,
        other: &Self,
        own: bool,
        (free, reach): (&FreeResponse, Fused),
        block: &mut Square<N>,
    ) {
        let points = conjugate(free.rotation, free.local.between(self.anchor, other.anchor));
        let same = self.child == other.child;
        for i in 0..3 {
            for j in 0..if own { i + 1 } else { 3 } {
                let entry = if i == j { points[j][i] + reach } else { points[j][i] };
                block[i][j] = if same { entry } else { -entry };
            }
        }
        if N == 3 {
            return;
        }
        for k in 0..3 {
            // The inverse is symmetric, so that what a row does to a point is what the point does to it.
            let row = other.signed(times(free.rotation, times(self.replies[k], other.anchor)));
            block[3 + k][..3].copy_from_slice(&row);
            for l in 0..if own { k + 1 } else { 3 } {
                block[3 + k][3 + l] = inner(self.gradients[k], other.replies[l]);
            }
            if !own {
                let moved = times(free.rotation, times(other.replies[k], self.anchor));
                let column = self.signed(moved);
                for i in 0..3 {
                    block[i][3 + k] = column[i];
                }
            }
        }
    }
}

/// Adds the load of a force at a point, co-rotated, to the sum of both.
#[inline(always)]
pub(super) fn pull(load: &mut M, sum: &mut V, rotation: M, anchor: V, force: V) {
    let turned = transposed_times(rotation, force);
    for (column, x) in load.iter_mut().zip(anchor) {
        *column = add(*column, scale(turned, x));
    }
    *sum = add(*sum, force);
}

/// Adds the load of springs on a frame in world axes.
#[inline(always)]
pub(super) fn wring(load: &mut M, rotation: M, world: M) {
    *load = plus(*load, transposed_product(rotation, world));
}

/// `a b^T`.
#[inline(always)]
pub(super) fn times_transposed(a: M, b: M) -> M {
    product(a, transposed(b))
}

#[inline(always)]
fn inner(a: M, b: M) -> Fused {
    dot_onto(a[2], b[2], dot_onto(a[1], b[1], dot(a[0], b[0])))
}
