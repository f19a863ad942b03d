//! From the roots to the leaves: the multipliers of joints, and where bodies go under them.

use pulp::{Simd, WithSimd};
use taut_math::{Fused, Number};

use super::{
    TreePlan,
    block::{Factor, first, last},
    frames_now,
    message::{DownMessage, UpMessage, gather_turns},
    side::{TurnRows, pull, wring},
};
use crate::{
    affine::Affine,
    free::{FreeResponse, GroupKind, Once, SolveTask},
    lane::{V, ZERO3, add, minus, product, scale, sub, times, transposed},
    node::BodyGroups,
    settings::Polar,
};

/// Finds the multipliers of the joints that hold the roots.
pub(super) fn ground<const N: usize>(
    plan: &TreePlan,
    (up_messages, turns): (&[UpMessage<N>], &[TurnRows]),
    held: &[Affine],
    down_messages: &mut [DownMessage<N>],
) {
    for (group, answer) in down_messages.iter_mut().enumerate() {
        let (message, hold) = (&up_messages[group], &plan.holds[group]);
        let (at, centre) = plan.held(group, held);
        let point = add(times(at, hold.anchor), centre);
        let (mut block, mut scale, mut gap) = (message.own, message.scale, message.tip);
        for i in 0..N {
            block[i][i] += hold.softness[i / 3];
            scale[i] += hold.softness[i / 3];
        }
        for (gap, point) in gap.iter_mut().zip(point) {
            *gap = *gap - point;
        }
        answer.multipliers = Factor::new(&block, &scale).solve(&gap);
        if N > 3 {
            answer.load =
                product(at, product(hold.basis, turns[group].sum(last(&answer.multipliers))));
        }
    }
}

/// What all groups on the way to the leaves look at.
#[derive(Clone, Copy)]
pub(super) struct DownTask<'a, const N: usize> {
    pub(super) plan: &'a TreePlan,
    pub(super) task: &'a SolveTask<'a>,
    /// Of all groups.
    pub(super) turns: &'a [TurnRows],
    pub(super) replies: &'a [[Fused; N]],
}

/// Some consecutive groups of one depth on the way to the leaves.
pub(super) struct Down<'a, const N: usize> {
    pub(super) all: DownTask<'a, N>,
    /// The first group.
    pub(super) first: usize,
    pub(super) bodies: BodyGroups<'a>,
    /// All groups from `base` on, among them the children.
    pub(super) deeper: &'a BodyGroups<'a>,
    pub(super) base: usize,
    pub(super) forces: &'a mut [V],
    /// Of the joints to the children.
    pub(super) down_messages: &'a mut [DownMessage<N>],
    /// Of those before, and the first of these.
    pub(super) before: &'a [DownMessage<N>],
    pub(super) first_before: usize,
}

impl<const N: usize> Down<'_, N> {
    /// Finds the multipliers of the joints to the children and moves the bodies.
    #[inline(always)]
    fn descend(&mut self, i: usize, worst: &mut [Fused; 2]) {
        let DownTask { plan, task, turns, replies } = self.all;
        let index = self.first + i;
        let GroupKind { constants, anchors } = plan.constants.at(index);
        // To keep it from the way up would take longer than to find it again.
        let free = FreeResponse::new(&self.bodies, constants, task, i, Polar::Exact);
        let own = DownMessage::gather(self.before, self.first_before, &plan.from[index]);
        self.forces[i] = first(&own.multipliers);
        let (mut load, mut sum) = ([ZERO3; 3], ZERO3);
        pull(&mut load, &mut sum, free.rotation, anchors.left, first(&own.multipliers));
        if N > 3 {
            wring(&mut load, free.rotation, own.load);
        }
        let (slots, base) = (plan.slots(index), plan.slots(self.first).start);
        let mut end = plan.replies[index + 1] as usize;
        for (later, slot) in slots.rev().enumerate() {
            let hold = &plan.holds[slot];
            let (message, after) = self.down_messages[slot - base..].split_at_mut(1);
            let begin = end - 1 - (later + 1) * N;
            let replies = &replies[begin..end];
            end = begin;
            let mut x = replies[0];
            for (u, reply) in replies[1..].chunks_exact(N).enumerate() {
                let known = if u < later { &after[u].multipliers } else { &own.multipliers };
                for (reply, known) in reply.iter().zip(known) {
                    for (x, reply) in x.iter_mut().zip(reply) {
                        *x = reply.times_less(*known, *x);
                    }
                }
            }
            let message = &mut message[0];
            message.multipliers = x;
            let force = scale(first(&message.multipliers), -Fused::ONE);
            pull(&mut load, &mut sum, free.rotation, hold.anchor, force);
            if N > 3 {
                let children = &plan.children[slot];
                let child = gather_turns(turns, 0, children);
                let between = product(hold.basis, child.sum(last(&message.multipliers)));
                message.load = product(free.at, between);
                let frames = frames_now(self.deeper, self.base, children);
                wring(&mut load, free.rotation, product(frames, transposed(between)));
            }
        }
        let turned = minus(free.frame, free.local.apply(load));
        let turned = product(free.rotation, turned);
        let shift = sub(free.origin, scale(sum, constants.reach));
        let tension = [load[0][0], load[1][1], load[2][2]];
        free.finish((&mut self.bodies, i), task, (turned, shift), tension, worst);
    }
}

impl<const N: usize> WithSimd for Down<'_, N> {
    /// The largest squared norm of a strain, and the sum of all.
    type Output = [Fused; 2];

    #[inline(always)]
    fn with_simd<W: Simd>(mut self, simd: W) -> [Fused; 2] {
        let mut worst = [Fused::ZERO; 2];
        for i in 0..self.forces.len() {
            let once = Once;
            simd.vectorize(
                #[inline(always)]
                || {
                    once.spend();
                    self.descend(i, &mut worst)
                },
            );
        }
        worst
    }
}
