//! Elimination from the leaves to the roots (after Eq. 36 to 41, along trees).
//!
//! A body shows its own joint how far that joint's rows move under unit multipliers, and where they go
//! without: by itself, and after the joints of its children have been eliminated with all that hangs on
//! them. Groups of one depth do not see each other.

use std::ops::Range;

use pulp::{Simd, WithSimd};
use taut_math::{Fused, LANES, Number};

use super::{
    ChildJoint, TreePlan,
    block::Factor,
    message::{ChildReply, UpMessage, gather_matrix, together},
    side::{JointSide, TurnRows, times_transposed},
};
use crate::{
    affine::Affine,
    free::{FreeResponse, GroupKind, SolveTask},
    lane::{M, Square, V, ZERO3, less, less_rows, pair, transposed_product},
    node::BodyGroups,
    settings::Polar,
    simd::Once,
};

/// How many groups are found out about by themselves before their children are looked at: the instructions for both
/// together are more than the caches for these hold.
const AHEAD: usize = 4;

/// What a group does by itself, and its side of its own joint.
#[derive(Clone)]
struct GroupAhead {
    free: FreeResponse,
    own: JointSide,
}

/// Room for some groups of bodies, of which one after the other has the joints to its children eliminated.
#[derive(Clone)]
pub(super) struct GroupRoom<const N: usize> {
    ahead: [GroupAhead; AHEAD],
    /// The group's sides of these joints in turn, where they go, and diagonals before anything was eliminated.
    sides: Vec<JointSide>,
    tips: Vec<[Fused; N]>,
    scales: Vec<[Fused; N]>,
    /// Of every side with those before it and itself, the own joint's being the last; the [`UpMessage`] has that one's with
    /// itself.
    blocks: Vec<Square<N>>,
    /// By how much the multipliers of joints to children are less under unit ones of those after them, at the same places.
    siblings: Vec<Square<N>>,
    /// What the children in one place show.
    child: UpMessage<N>,
}

impl<const N: usize> GroupRoom<N> {
    /// Room for groups with so many children, at most.
    pub(super) fn new(children: usize) -> Self {
        let blocks = (children + 1) * (children + 2) / 2;
        Self {
            ahead: [const { GroupAhead { free: FreeResponse::NONE, own: JointSide::NONE } }; AHEAD],
            sides: vec![JointSide::NONE; children],
            tips: vec![[Fused::ZERO; N]; children],
            scales: vec![[Fused::ZERO; N]; children],
            blocks: vec![[[Fused::ZERO; N]; N]; blocks],
            siblings: vec![[[Fused::ZERO; N]; N]; blocks],
            child: UpMessage::NONE,
        }
    }
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
    pub(super) replies: &'a mut [ChildReply<N>],
    /// Deeper groups, the first of which is `base`.
    pub(super) deeper: Deeper<'a, N>,
    pub(super) base: usize,
    /// One per thread that may work here.
    pub(super) rooms: &'a mut [GroupRoom<N>],
}

impl GroupAhead {
    /// Finds the side, the springs' axes being these in the world. Tells the tip.
    #[inline(always)]
    fn respond<const N: usize>(
        &mut self,
        (anchor, axis): (V, Option<usize>),
        axes: M,
        rows: Option<&mut TurnRows>,
    ) -> [Fused; N] {
        let Self { free, own } = self;
        own.set(anchor, true);
        let mut springs = ZERO3;
        if let Some(rows) = rows {
            (*rows, springs) = TurnRows::new(axes, free.at);
            own.set_spring(rows.rows(transposed_product(free.rotation, axes)), &free.local);
        }
        let mut tip: [Fused; N] = own.tip(free);
        if N > 3 {
            for (tip, value) in tip[3..].iter_mut().zip(springs) {
                *tip += value;
            }
        }
        if let Some(axis) = axis {
            own.set_levers::<N>(axis, free.rotation);
        }
        tip
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
            let (mut room, mut at) = (TurnRows::NONE, [ZERO3; 3]);
            let turns = |group: usize| &deeper.turns[group - base];
            let turns = together(children, turns, &mut room, TurnRows::gather);
            let frames = |group: usize| &deeper.up_messages[group - base].at;
            let frames = together(children, frames, &mut at, gather_matrix);
            let turned = transposed_product(free.rotation, *frames);
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
    /// What the joints to so many children and the own one of a group looked ahead at do to each other, whose anchors
    /// may all be on one axis.
    #[inline(always)]
    fn fill<W: Simd>(
        &mut self,
        simd: W,
        (at, children): (usize, usize),
        reach: Fused,
        axis: Option<usize>,
        message: &mut UpMessage<N>,
    ) {
        let once = Once;
        if let Some(axis) = axis {
            simd.vectorize(
                #[inline(always)]
                || {
                    once.spend();
                    self.fill_along((at, children), reach, axis, &mut message.own)
                },
            );
        } else {
            self.fill_anywhere(simd, (at, children), reach, &mut message.own);
        }
        for u in 0..children {
            self.scales[u] = diagonal(&self.blocks[pair(u, u)]);
        }
        message.scale = diagonal(&message.own);
    }

    #[inline(always)]
    fn fill_anywhere<W: Simd>(
        &mut self,
        simd: W,
        (at, children): (usize, usize),
        reach: Fused,
        last: &mut Square<N>,
    ) {
        let GroupAhead { free, own } = &self.ahead[at];
        let side = |u: usize| if u < children { &self.sides[u] } else { own };
        for u in 0..=children {
            for v in 0..=u {
                let at = &mut self.blocks[pair(u, v)];
                let block = if v < children { at } else { &mut *last };
                let once = Once;
                simd.vectorize(
                    #[inline(always)]
                    || {
                        once.spend();
                        side(u).between(side(v), u == v, (free, reach), block)
                    },
                );
            }
        }
    }

    #[inline(always)]
    fn fill_along(
        &mut self,
        (at, children): (usize, usize),
        reach: Fused,
        axis: usize,
        last: &mut Square<N>,
    ) {
        let GroupAhead { free, own } = &self.ahead[at];
        for side in &mut self.sides[..children] {
            side.set_levers::<N>(axis, free.rotation);
        }
        let points = &free.along(axis);
        let side = |u: usize| if u < children { &self.sides[u] } else { own };
        for u in 0..=children {
            for v in 0..u {
                side(u).between_along(side(v), (points, reach), &mut self.blocks[pair(u, v)]);
            }
            let at = &mut self.blocks[pair(u, u)];
            let block = if u < children { at } else { &mut *last };
            side(u).itself_along((points, reach), block);
        }
    }

    /// Eliminates the joints to the children in one place, which is the side `child`, `last` being that of the own joint. Their
    /// multipliers are then `reply.alone` less the own joint's times `reply.own`, and less those of the children after them
    /// times rows of `siblings`.
    #[inline(always)]
    fn eliminate(
        &mut self,
        (child, last): (usize, usize),
        (deeper, base): (&[UpMessage<N>], usize),
        children: &[u32; LANES],
        softness: [Fused; 2],
        (reply, shown): (&mut ChildReply<N>, &mut UpMessage<N>),
    ) {
        let (blocks, siblings) = (&mut self.blocks, &mut self.siblings);
        let mut block = blocks[pair(child, child)];
        let (mut scale, mut gap) = (self.scales[child], self.tips[child]);
        let of = |group: usize| &deeper[group - base];
        let message = together(children, of, &mut self.child, UpMessage::gather);
        for i in 0..N {
            for (entry, more) in block[i][..=i].iter_mut().zip(&message.own[i]) {
                *entry += *more;
            }
            block[i][i] += softness[i / 3];
            scale[i] += message.scale[i] + softness[i / 3];
            gap[i] += message.tip[i];
        }
        let factor = Factor::new(&block, &scale);
        reply.alone = factor.solve(&gap);
        for u in child + 1..=last {
            let (before, others) = blocks.split_at_mut(pair(u, child + 1));
            let with = &before[pair(u, child)];
            let (rows, tip, block) = if u < last {
                (&mut siblings[pair(u, child)], &mut self.tips[u], &mut others[u - child - 1])
            } else {
                (&mut reply.own, &mut shown.tip, &mut shown.own)
            };
            for (row, (tip, with)) in rows.iter_mut().zip(tip.iter_mut().zip(with)) {
                *row = factor.solve(with);
                *tip = less(row, &gap, *tip);
            }
            for i in 0..N {
                // Loops whose length is known are written out.
                for j in 0..N {
                    if j <= i {
                        block[i][j] = less(&rows[i], &with[j], block[i][j]);
                    }
                }
            }
            for (v, block) in (child + 1..u).zip(others) {
                let with = &before[pair(v, child)];
                for (to, row) in block.iter_mut().zip(rows.iter()) {
                    for (entry, with) in to.iter_mut().zip(with) {
                        *entry = less(row, with, *entry);
                    }
                }
            }
        }
    }

    /// Makes the `replies` of children those to the own joint alone, whatever the children after them exert.
    #[inline(always)]
    fn settle(&self, replies: &mut [ChildReply<N>]) {
        for child in (0..replies.len().saturating_sub(1)).rev() {
            let (before, after) = replies.split_at_mut(child + 1);
            let Some(reply) = before.last_mut() else { return };
            for (v, other) in (child + 1..).zip(after.iter()) {
                let rows = &self.siblings[pair(v, child)];
                reply.alone = less_rows(&other.alone, rows, reply.alone);
                for (own, other) in reply.own.iter_mut().zip(&other.own) {
                    *own = less_rows(other, rows, *own);
                }
            }
        }
    }
}

impl<const N: usize> Up<'_, N> {
    /// Finds what groups do by themselves, counted from the first one.
    #[inline(always)]
    fn look_ahead<W: Simd>(&mut self, simd: W, groups: Range<usize>) {
        let UpTask { plan, task, bodies, held } = self.all;
        let Some(room) = self.rooms.first_mut() else { return };
        for (i, ahead) in groups.zip(&mut room.ahead) {
            let group = self.first + i;
            let GroupKind { constants, anchors } = plan.constants.at(group);
            let axes = if N > 3 { plan.axes(group, bodies, held) } else { [ZERO3; 3] };
            let anchor = (anchors.left, plan.axis[group]);
            let (message, rows) = (&mut self.up_messages[i], self.turns.get_mut(i));
            let once = Once;
            simd.vectorize(
                #[inline(always)]
                || {
                    once.spend();
                    ahead.free = FreeResponse::new(bodies, constants, task, group, Polar::Exact);
                    message.tip = ahead.respond(anchor, axes, rows);
                },
            );
            if N > 3 {
                message.at = ahead.free.at;
            }
        }
    }

    /// Eliminates the joints of such groups to their children.
    #[inline(always)]
    fn eliminate<W: Simd>(&mut self, simd: W, groups: Range<usize>) {
        let (deeper, base, plan) = (self.deeper, self.base, self.all.plan);
        let Some(room) = self.rooms.first_mut() else { return };
        for (at, i) in groups.enumerate() {
            let (group, message) = (self.first + i, &mut self.up_messages[i]);
            let reach = plan.constants.at(group).constants.reach;
            let (slots, free) = (plan.slots(group), &room.ahead[at].free);
            let last = slots.len();
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
            room.fill(simd, (at, last), reach, plan.axis[group], message);
            let replies = &mut self.replies[plan.joints(self.first..group)..][..last];
            for (child, (slot, reply)) in slots.zip(&mut *replies).enumerate() {
                let (softness, children) = (plan.holds[slot].softness, &plan.children[slot]);
                let (deeper, to) = ((deeper.up_messages, base), (reply, &mut *message));
                let once = Once;
                simd.vectorize(
                    #[inline(always)]
                    || {
                        once.spend();
                        room.eliminate((child, last), deeper, children, softness, to)
                    },
                );
            }
            if last > 1 {
                let once = Once;
                simd.vectorize(
                    #[inline(always)]
                    || {
                        once.spend();
                        room.settle(replies)
                    },
                );
            }
        }
    }
}

impl<const N: usize> WithSimd for Up<'_, N> {
    type Output = ();

    #[inline(always)]
    fn with_simd<W: Simd>(mut self, simd: W) {
        let count = self.up_messages.len();
        for from in (0..count).step_by(AHEAD) {
            let groups = from..count.min(from + AHEAD);
            self.look_ahead(simd, groups.clone());
            self.eliminate(simd, groups);
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
