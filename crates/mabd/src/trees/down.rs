//! From the roots to the leaves: the multipliers of joints, and where bodies go under them.

use pulp::{Simd, WithSimd};
use taut_math::{Fused, Number};

use super::{
    TreePlan,
    block::{Factor, first, last},
    frames_now,
    message::{ChildReply, DownMessage, UpMessage, together},
    side::{TurnRows, pull, wring},
};
use crate::{
    affine::Affine,
    free::{FreeResponse, GroupKind, SolveTask},
    lane::{V, ZERO3, add, minus, product, scale, sub, times, transposed},
    node::BodyGroups,
    settings::Polar,
    simd::Once,
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
    pub(super) replies: &'a [ChildReply<N>],
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
        let mut room = DownMessage::NONE;
        // What hangs on nothing is pulled by nothing.
        let joint = |slot: usize| self.before.get(slot.wrapping_sub(self.first_before));
        let joint = |slot: usize| joint(slot).unwrap_or(const { &DownMessage::NONE });
        let own = together(&plan.from[index], joint, &mut room, DownMessage::gather);
        self.forces[i] = first(&own.multipliers);
        let (mut load, mut sum) = ([ZERO3; 3], ZERO3);
        pull(&mut load, &mut sum, free.rotation, anchors.left, first(&own.multipliers));
        if N > 3 {
            wring(&mut load, free.rotation, own.load);
        }
        let (slots, base) = (plan.slots(index), plan.slots(self.first).start);
        let replies = &replies[plan.joints(0..index)..];
        for (slot, reply) in slots.zip(replies) {
            let (hold, message) = (&plan.holds[slot], &mut self.down_messages[slot - base]);
            message.multipliers = reply.under(&own.multipliers);
            let force = scale(first(&message.multipliers), -Fused::ONE);
            pull(&mut load, &mut sum, free.rotation, hold.anchor, force);
            if N > 3 {
                let children = &plan.children[slot];
                let mut room = TurnRows::NONE;
                let child = together(children, |group| &turns[group], &mut room, TurnRows::gather);
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
