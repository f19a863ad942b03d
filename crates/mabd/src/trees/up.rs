//! Elimination from the leaves to the roots (after Eq. 36 to 41, along trees).
//!
//! A body shows its own joint how far that joint's rows move under unit multipliers, and where they go
//! without: by itself, and after the joints of its children have been eliminated with all that hangs on
//! them. Groups of one depth do not see each other.

use pulp::{Simd, WithSimd};
use taut_math::{Fused, LANES, Number};

use super::{
    ChildJoint, TreePlan,
    block::{Factor, Square, less},
    message::{UpMessage, gather_frames, gather_turns},
    side::{JointSide, TurnRows, times_transposed},
};
use crate::{
    affine::Affine,
    free::{FreeResponse, GroupKind, Once, SolveTask},
    lane::{M, ZERO3, transposed_product},
    node::BodyGroups,
    settings::Polar,
};

/// Room for the joints of one group of bodies: those of the children in turn, then its own.
#[derive(Clone)]
pub(super) struct GroupRoom<const N: usize> {
    sides: Vec<JointSide>,
    tips: Vec<[Fused; N]>,
    scales: Vec<[Fused; N]>,
    /// Of every side with those before it and itself.
    blocks: Vec<Square<N>>,
    /// What the children in one place show.
    child: UpMessage<N>,
}

impl<const N: usize> GroupRoom<N> {
    pub(super) fn new(sides: usize) -> Self {
        Self {
            sides: vec![JointSide::NONE; sides],
            tips: vec![[Fused::ZERO; N]; sides],
            scales: vec![[Fused::ZERO; N]; sides],
            blocks: vec![[[Fused::ZERO; N]; N]; sides * (sides + 1) / 2],
            child: UpMessage::NONE,
        }
    }
}

/// Where the block of side `u` with side `v`, not after it, is.
#[inline(always)]
fn pair(u: usize, v: usize) -> usize {
    u * (u + 1) / 2 + v
}

/// What is known of the groups of the next depth.
#[derive(Clone, Copy)]
pub(super) struct Deeper<'a, const N: usize> {
    pub(super) up_messages: &'a [UpMessage<N>],
    /// Of springs only.
    pub(super) turns: &'a [TurnRows],
}

/// What all groups on the way to the roots look at.
#[derive(Clone, Copy)]
pub(super) struct UpTask<'a> {
    pub(super) plan: &'a TreePlan,
    pub(super) task: &'a SolveTask<'a>,
    /// All bodies, and what holds the roots.
    pub(super) bodies: &'a BodyGroups<'a>,
    pub(super) held: &'a [Affine],
}

/// Some consecutive groups of one depth on the way to the roots.
pub(super) struct Up<'a, const N: usize> {
    pub(super) all: UpTask<'a>,
    /// The first group.
    pub(super) first: usize,
    pub(super) up_messages: &'a mut [UpMessage<N>],
    pub(super) turns: &'a mut [TurnRows],
    pub(super) replies: &'a mut [[Fused; N]],
    /// Deeper groups, the first of which is `base`.
    pub(super) deeper: Deeper<'a, N>,
    pub(super) base: usize,
    /// One per thread that may work here.
    pub(super) rooms: &'a mut [GroupRoom<N>],
}

/// What a group does by itself, and its side of its own joint, whose springs have these axes in the world.
#[inline(always)]
fn respond<const N: usize>(
    free: &FreeResponse,
    axes: M,
    side: &mut JointSide,
    tip: &mut [Fused; N],
    rows: Option<&mut TurnRows>,
) {
    let Some(rows) = rows else {
        *tip = side.tip(free);
        return;
    };
    let (turns, value) = TurnRows::new(axes, free.at);
    *rows = turns;
    let gradients = turns.rows(transposed_product(free.rotation, axes));
    side.set_spring(gradients, &free.local);
    *tip = side.tip(free);
    for (tip, value) in tip[3..].iter_mut().zip(value) {
        *tip += value;
    }
}

impl ChildJoint {
    /// The side of the bodies in the joints to their children in one place; tells its tip.
    #[inline(always)]
    fn child_side<const N: usize>(
        &self,
        free: &FreeResponse,
        deeper: Deeper<'_, N>,
        base: usize,
        children: &[u32; LANES],
        side: &mut JointSide,
    ) -> [Fused; N] {
        side.set(self.anchor, false);
        if N > 3 {
            let turns = gather_turns(deeper.turns, base, children);
            let frames = gather_frames(deeper.up_messages, base, children);
            let turned = transposed_product(free.rotation, frames);
            let mut gradients = turns.rows_transposed(turned);
            for gradient in &mut gradients {
                *gradient = times_transposed(*gradient, self.basis);
            }
            side.set_spring(gradients, &free.local);
        }
        side.tip(free)
    }
}

impl<const N: usize> GroupRoom<N> {
    /// What the sides, so many, do to each other, whose anchors may all be on one axis.
    #[inline(always)]
    fn fill<W: Simd>(
        &mut self,
        simd: W,
        count: usize,
        body: (&FreeResponse, Fused),
        axis: Option<usize>,
    ) {
        let once = Once;
        if let Some(axis) = axis {
            simd.vectorize(
                #[inline(always)]
                || {
                    once.spend();
                    self.fill_along(axis, count, body)
                },
            );
        } else {
            self.fill_anywhere(simd, count, body);
        }
        for u in 0..count {
            self.scales[u] = diagonal(&self.blocks[pair(u, u)]);
        }
    }

    #[inline(always)]
    fn fill_anywhere<W: Simd>(&mut self, simd: W, count: usize, body: (&FreeResponse, Fused)) {
        for u in 0..count {
            for v in 0..=u {
                let sides = [&self.sides[u], &self.sides[v]];
                let block = &mut self.blocks[pair(u, v)];
                let once = Once;
                simd.vectorize(
                    #[inline(always)]
                    || {
                        once.spend();
                        sides[0].between(sides[1], u == v, body, block)
                    },
                );
            }
        }
    }

    #[inline(always)]
    fn fill_along(&mut self, axis: usize, count: usize, (free, reach): (&FreeResponse, Fused)) {
        let points = &free.along(axis);
        for u in 0..count {
            self.sides[u].set_levers::<N>(axis, free.rotation);
            for v in 0..=u {
                let block = &mut self.blocks[pair(u, v)];
                self.sides[u].between_along(&self.sides[v], u == v, (points, reach), block);
            }
        }
    }

    /// Eliminates the joints to the children in one place, which is the side `child` of `count`.
    #[inline(always)]
    fn eliminate(
        &mut self,
        (child, count): (usize, usize),
        (deeper, base): (&[UpMessage<N>], usize),
        children: &[u32; LANES],
        softness: [Fused; 2],
        replies: &mut [[Fused; N]],
    ) {
        self.child.gather(deeper, base, children);
        let (blocks, message) = (&mut self.blocks, &self.child);
        let mut block = blocks[pair(child, child)];
        let (mut scale, mut gap) = (self.scales[child], self.tips[child]);
        for i in 0..N {
            for (entry, more) in block[i][..=i].iter_mut().zip(&message.own[i]) {
                *entry += *more;
            }
            block[i][i] += softness[i / 3];
            scale[i] += message.scale[i] + softness[i / 3];
            gap[i] += message.tip[i];
        }
        let factor = Factor::new(&block, &scale);
        let Some((answer, mut replies)) = replies.split_first_mut() else { return };
        *answer = factor.solve(&gap);
        for u in child + 1..count {
            let (rows, later) = replies.split_at_mut(N);
            let Ok(rows) = <&mut Square<N>>::try_from(rows) else { return };
            let pairs = self.tips[u].iter_mut().zip(&blocks[pair(u, child)]);
            for (row, (tip, own)) in rows.iter_mut().zip(pairs) {
                *row = factor.solve(own);
                *tip = less(row, &gap, *tip);
            }
            for v in child + 1..=u {
                // The upper triangle of a symmetric block is not read.
                let other = blocks[pair(v, child)];
                for (to, row) in blocks[pair(u, v)].iter_mut().zip(rows.iter()) {
                    for (entry, other) in to.iter_mut().zip(&other) {
                        *entry = less(row, other, *entry);
                    }
                }
            }
            replies = later;
        }
    }
}

impl<const N: usize> WithSimd for Up<'_, N> {
    type Output = ();

    #[inline(always)]
    fn with_simd<W: Simd>(self, simd: W) {
        let Self { all, first, deeper, base, replies, .. } = self;
        let UpTask { plan, task, bodies, held } = all;
        let Some(room) = self.rooms.first_mut() else { return };
        let turns = self.turns;
        let mut free = FreeResponse::NONE;
        for (i, message) in self.up_messages.iter_mut().enumerate() {
            let group = first + i;
            let GroupKind { constants, anchors } = plan.constants.at(group);
            let slots = plan.slots(group);
            let (count, last, reach) = (slots.len() + 1, slots.len(), constants.reach);
            let axes = if N > 3 { plan.axes(group, bodies, held) } else { [ZERO3; 3] };
            let side = &mut room.sides[last];
            let (tip, rows) = (&mut message.tip, turns.get_mut(i));
            let once = Once;
            simd.vectorize(
                #[inline(always)]
                || {
                    once.spend();
                    free = FreeResponse::new(bodies, constants, task, group, Polar::Exact);
                    side.set(anchors.left, true);
                    respond(&free, axes, side, tip, rows);
                },
            );
            if N > 3 {
                message.at = free.at;
            }
            let free = &free;
            room.tips[last] = message.tip;
            for (c, slot) in slots.clone().enumerate() {
                let (hold, children) = (&plan.holds[slot], &plan.children[slot]);
                let (side, tip) = (&mut room.sides[c], &mut room.tips[c]);
                let once = Once;
                simd.vectorize(
                    #[inline(always)]
                    || {
                        once.spend();
                        *tip = hold.child_side(free, deeper, base, children, side)
                    },
                );
            }
            room.fill(simd, count, (free, reach), plan.axis[group]);
            let mut at = (plan.replies[group] - plan.replies[first]) as usize;
            for (child, slot) in slots.enumerate() {
                let end = at + 1 + (count - 1 - child) * N;
                let (softness, children) = (plan.holds[slot].softness, &plan.children[slot]);
                let (deeper, replies) = ((deeper.up_messages, base), &mut replies[at..end]);
                let once = Once;
                simd.vectorize(
                    #[inline(always)]
                    || {
                        once.spend();
                        room.eliminate((child, count), deeper, children, softness, replies)
                    },
                );
                at = end;
            }
            (message.scale, message.tip) = (room.scales[last], room.tips[last]);
            for (i, row) in message.own.iter_mut().enumerate() {
                row[..=i].copy_from_slice(&room.blocks[pair(last, last)][i][..=i]);
            }
        }
    }
}

#[inline(always)]
fn diagonal<const N: usize>(block: &Square<N>) -> [Fused; N] {
    let mut out = [Fused::ZERO; N];
    for (i, (out, row)) in out.iter_mut().zip(block).enumerate() {
        *out = row[i];
    }
    out
}
