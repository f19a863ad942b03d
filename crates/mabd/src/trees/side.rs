//! The rows of a joint as one of its bodies sees them: three that hold a point, and where there are springs
//! three that hold the rotation between the bodies.
//!
//! With the axes of a spring in the parent's coordinates `B`, those of the child being its principal ones,
//! frames `P` of the parent and `C` of the child, `T = (P B)^T C`, row `k` is `(T_ji - T_ij) a / (2 sin a)` with
//! `cos a = (tr T - 1) / 2`; its derivative by `T` is `F_k = t (e_j e_i^T - e_i e_j^T) + b_k`. So the gradients
//! are `P B F_k` by the child's frame and `C F_k^T B^T` by the parent's. All three rows are equally soft, so
//! that the axes in which they are written do not matter.

use taut_math::{Fused, Number, Wide};

use super::message::Lanes;
use crate::{
    free::FreeResponse,
    joint::{SMALL_TURN, small_turn_factors, turn_factors},
    lane::{
        M, Square, V, ZERO3, add, conjugate, dot, dot_onto, plus, product, scale, times,
        transposed, transposed_product, transposed_times,
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

    /// Becomes the rows of four joints.
    #[inline(never)]
    pub(super) fn gather(&mut self, from: Lanes<'_, Self>) {
        self.turn = Fused::gather(|k| from[k].0.turn.0[from[k].1]);
        for (i, bend) in self.bend.iter_mut().enumerate() {
            *bend = Fused::gather(|k| from[k].0.bend[i].0[from[k].1]);
        }
    }

    /// The spring between the axes `from` of the parent and the child's frame `at`, and the values of its
    /// rows; see [`turn_factors`].
    #[inline(always)]
    pub(super) fn new(from: M, at: M) -> (Self, V) {
        let t = transposed_product(from, at);
        let [turn, slope] = factors(Fused::ONE + (t[0][0] + t[1][1] + t[2][2]));
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
        let by = |turn| [scale(m[0], turn), scale(m[1], turn), scale(m[2], turn)];
        let (turned, back) = (by(turn), by(-turn));
        let mut rows = [m; 3];
        for (k, row) in rows.iter_mut().enumerate() {
            let (i, j) = ((k + 1) % 3, (k + 2) % 3);
            row[k] = scale(m[k], self.bend[k]);
            for c in 0..3 {
                row[i][c] = m[i][c].times_plus(self.bend[k], turned[j][c]);
                row[j][c] = m[j][c].times_plus(self.bend[k], back[i][c]);
            }
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

/// [`turn_factors`] of four sums.
#[inline(always)]
fn factors(sum: Fused) -> [Fused; 2] {
    let square = sum.times_less(Fused::of(0.25), Fused::ONE).max(Fused::ZERO);
    if square.all_below(Fused::of(SMALL_TURN)) {
        return small_turn_factors(square);
    }
    let [a, b, c, d] = sum.lanes();
    let factors = [turn_factors(a), turn_factors(b), turn_factors(c), turn_factors(d)];
    [0, 1].map(|k| Fused::gather(|lane| factors[lane][k]))
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
    /// Where the anchor is along the axis that all anchors of a group are on, as it counts in the rows, and by how much the
    /// springs' unit multipliers move a point at unit length along it.
    arm: Fused,
    levers: M,
}

impl JointSide {
    pub(super) const NONE: Self = Self {
        anchor: ZERO3,
        child: false,
        gradients: [[ZERO3; 3]; 3],
        replies: [[ZERO3; 3]; 3],
        arm: Fused::ZERO,
        levers: [ZERO3; 3],
    };

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

    /// Finds what [`Self::between_along`] needs.
    #[inline(always)]
    pub(super) fn set_levers<const N: usize>(&mut self, axis: usize, rotation: M) {
        let arm = self.anchor[axis];
        self.arm = if self.child { arm } else { -arm };
        if N > 3 {
            for (lever, reply) in self.levers.iter_mut().zip(&self.replies) {
                *lever = times(rotation, reply[axis]);
            }
        }
    }

    /// [`Self::between`] another where both anchors are on one axis: a unit force at unit length along it moves the
    /// point there by `points`, all else is in proportion.
    #[inline(always)]
    pub(super) fn between_along<const N: usize>(
        &self,
        other: &Self,
        (points, reach): (&M, Fused),
        block: &mut Square<N>,
    ) {
        let both = self.arm * other.arm;
        let reach = if self.child == other.child { reach } else { -reach };
        for i in 0..3 {
            for j in 0..3 {
                let entry = points[j][i];
                block[i][j] = if i == j { entry.times_plus(both, reach) } else { entry * both };
            }
        }
        if N == 3 {
            return;
        }
        for k in 0..3 {
            for l in 0..3 {
                block[3 + k][l] = self.levers[k][l] * other.arm;
                block[l][3 + k] = other.levers[k][l] * self.arm;
                block[3 + k][3 + l] = inner(self.gradients[k], other.replies[l]);
            }
        }
    }

    /// The lower triangle of the same with itself.
    #[inline(always)]
    pub(super) fn itself_along<const N: usize>(
        &self,
        (points, reach): (&M, Fused),
        block: &mut Square<N>,
    ) {
        let both = self.arm * self.arm;
        for i in 0..3 {
            for j in 0..i {
                block[i][j] = points[j][i] * both;
            }
            block[i][i] = points[i][i].times_plus(both, reach);
        }
        if N == 3 {
            return;
        }
        for k in 0..3 {
            block[3 + k][..3].copy_from_slice(&scale(self.levers[k], self.arm));
            for l in 0..=k {
                block[3 + k][3 + l] = inner(self.gradients[k], self.replies[l]);
            }
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lane::matrix;

    #[test]
    fn sides_on_one_axis_are_sides_anywhere() {
        let lanes = |x: f64| Fused([x, 1.5 * x, -x, 0.7 * x]);
        let gradient = |k: usize| matrix(|i, j| lanes(((7 * k + 3 * i + 5 * j) as f64).sin()));
        for (axis, rigid) in [(0, true), (0, false), (1, false), (2, true), (2, false)] {
            let free = FreeResponse::example(rigid);
            let side = |arm: f64, child: bool| {
                let (mut side, mut anchor) = (JointSide::NONE, ZERO3);
                anchor[axis] = lanes(arm);
                side.set(anchor, child);
                let first = if child { 0 } else { 3 };
                let gradients = [gradient(first), gradient(first + 1), gradient(first + 2)];
                side.set_spring(gradients, &free.local);
                side.set_levers::<6>(axis, free.rotation);
                side
            };
            let (own, other, reach) = (side(0.3, true), side(-0.7, false), lanes(0.4));
            for (a, b, same) in [(own, own, true), (other, other, true), (other, own, false)] {
                let (mut anywhere, mut along) = ([[Fused::ZERO; 6]; 6], [[Fused::ZERO; 6]; 6]);
                a.between(&b, same, (&free, reach), &mut anywhere);
                let points = &free.along(axis);
                if same {
                    a.itself_along((points, reach), &mut along);
                } else {
                    a.between_along(&b, (points, reach), &mut along);
                }
                for (x, y) in anywhere.as_flattened().iter().zip(along.as_flattened()) {
                    let least = Fused::of(1e-14);
                    assert!((*x - *y).abs().all_below(least), "axis {axis}: {x:?} {y:?}");
                }
            }
        }
    }

    #[test]
    fn factors_of_four_turns_are_those_of_each() {
        for most in [1e-9, 1e-3, 0.3, 0.49, 0.52, 1.5, 3.1] {
            let sums = [most, 0.5 * most, 0.0, 0.1 * most].map(|turn: f64| 2.0 + 2.0 * turn.cos());
            let four = factors(Fused(sums));
            for (k, &sum) in sums.iter().enumerate() {
                for (four, one) in four.iter().zip(turn_factors(sum)) {
                    let error = four.0[k] / one - 1.0;
                    assert!(error.abs() < 4e-15, "{most}: {error:e}");
                }
            }
        }
    }
}
