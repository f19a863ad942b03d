//! Branches of large trees: each goes all the way from its leaves to what it hangs on, and back, so that what its depths tell
//! each other stays in the caches. Several threads take different ones.

use taut_math::{Fused, Number};

use super::{
    TreePlan,
    down::Down,
    graph::Branch,
    levels,
    message::{DownMessage, DownPair, UpMessage, UpPair},
    side::TurnRows,
    up::{Deeper, GroupRoom, Up},
};
use crate::{affine::Affine, free::SolveTask, lane::V, node::BodyGroups, simd};

/// Some consecutive branches on the way to the roots.
pub(super) struct BranchesUp<'a, const N: usize> {
    pub(super) plan: &'a TreePlan,
    pub(super) task: &'a SolveTask<'a>,
    /// All bodies, and what holds the roots.
    pub(super) bodies: &'a BodyGroups<'a>,
    pub(super) held: &'a [Affine],
    pub(super) branches: &'a [Branch],
    /// What the groups show that they hang on.
    pub(super) up_messages: &'a mut [UpMessage<N>],
    /// Of these groups, and of those below.
    pub(super) turns: [&'a mut [TurnRows]; 2],
    pub(super) replies: [&'a mut [[Fused; N]]; 2],
    /// One per thread that may work here.
    pub(super) rooms: &'a mut [GroupRoom<N>],
    pub(super) below: &'a mut [UpPair<N>],
}

/// The first groups of some branches, which they hang on and below.
fn firsts(branches: &[Branch]) -> [usize; 2] {
    branches.first().map_or([0; 2], |branch| [branch.tops.start, branch.levels[0]])
}

/// Cuts what there is of groups, or of none, in two.
pub(super) fn cut<T>(all: &mut [T], at: usize) -> (&mut [T], &mut [T]) {
    let at = at.min(all.len());
    all.split_at_mut(at)
}

impl<const N: usize> BranchesUp<'_, N> {
    /// Goes to the roots of all.
    pub(super) fn run(mut self) {
        let pieces = self.rooms.len().min(self.branches.len());
        if pieces < 2 {
            return self.one_by_one();
        }
        let middle = self.branches.len() * (pieces / 2) / pieces;
        let (branches, others) = self.branches.split_at(middle);
        let (from, to) = (firsts(branches), firsts(others));
        let kept =
            |side: usize| (self.plan.replies[to[side]] - self.plan.replies[from[side]]) as usize;
        let [turns, turns_below] = &mut self.turns;
        let [replies, replies_below] = &mut self.replies;
        let after = BranchesUp {
            branches: others,
            up_messages: self.up_messages.split_off_mut(to[0] - from[0]..).unwrap_or_default(),
            turns: [
                turns.split_off_mut(to[0] - from[0]..).unwrap_or_default(),
                turns_below.split_off_mut(to[1] - from[1]..).unwrap_or_default(),
            ],
            replies: [
                replies.split_off_mut(kept(0)..).unwrap_or_default(),
                replies_below.split_off_mut(kept(1)..).unwrap_or_default(),
            ],
            rooms: self.rooms.split_off_mut(pieces / 2..).unwrap_or_default(),
            below: self.below.split_off_mut(pieces / 2..).unwrap_or_default(),
            ..self
        };
        let before = BranchesUp { branches, ..self };
        rayon::join(|| before.run(), || after.run());
    }

    fn one_by_one(self) {
        let Self { plan, task, bodies, held, branches, rooms, .. } = self;
        let ([top, low], [turns_tops, turns]) = (firsts(branches), self.turns);
        let ([replies_tops, replies], Some(below)) = (self.replies, self.below.first_mut()) else {
            return;
        };
        let [mut own, mut deeper] = below.each_mut();
        let reply = |group: usize, from: usize| (plan.replies[group] - plan.replies[from]) as usize;
        for Branch { tops, levels: depths } in branches {
            for run in levels(depths).rev() {
                let (own_turns, turns) = cut(turns, run.end - low);
                simd::dispatch(Up {
                    plan,
                    task,
                    bodies,
                    held,
                    first: run.start,
                    up_messages: &mut own[..run.len()],
                    turns: cut(own_turns, run.start - low).1,
                    replies: &mut replies[reply(run.start, low)..],
                    deeper: Deeper { up_messages: deeper, turns },
                    base: run.end,
                    rooms: &mut *rooms,
                });
                std::mem::swap(&mut own, &mut deeper);
            }
            simd::dispatch(Up {
                plan,
                task,
                bodies,
                held,
                first: tops.start,
                up_messages: &mut self.up_messages[tops.start - top..tops.end - top],
                turns: cut(turns_tops, tops.start - top).1,
                replies: &mut replies_tops[reply(tops.start, top)..],
                deeper: Deeper { up_messages: deeper, turns: cut(turns, depths[0] - low).1 },
                base: depths[0],
                rooms: &mut *rooms,
            });
        }
    }
}

/// Some consecutive branches on the way to the leaves.
pub(super) struct BranchesDown<'a, const N: usize> {
    pub(super) plan: &'a TreePlan,
    pub(super) task: &'a SolveTask<'a>,
    pub(super) branches: &'a [Branch],
    /// The groups that they hang on, and those below.
    pub(super) bodies: [BodyGroups<'a>; 2],
    pub(super) forces: [&'a mut [V]; 2],
    /// Of the joints before these groups, and the first of these.
    pub(super) before: &'a [DownMessage<N>],
    pub(super) first_before: usize,
    /// Of all groups.
    pub(super) turns: &'a [TurnRows],
    pub(super) replies: &'a [[Fused; N]],
    /// One per thread that may work here.
    pub(super) below: &'a mut [DownPair<N>],
}

impl<const N: usize> BranchesDown<'_, N> {
    /// Goes to the leaves of all; tells the largest squared norm of a strain, and the sum of all.
    pub(super) fn run(mut self) -> [Fused; 2] {
        let pieces = self.below.len().min(self.branches.len());
        if pieces < 2 {
            return self.one_by_one();
        }
        let middle = self.branches.len() * (pieces / 2) / pieces;
        let (branches, others) = self.branches.split_at(middle);
        let (from, to) = (firsts(branches), firsts(others));
        let [tops, deeper] = &mut self.bodies;
        let [forces, forces_below] = &mut self.forces;
        let after = BranchesDown {
            branches: others,
            bodies: [tops.split_off(to[0] - from[0]), deeper.split_off(to[1] - from[1])],
            forces: [
                forces.split_off_mut(to[0] - from[0]..).unwrap_or_default(),
                forces_below.split_off_mut(to[1] - from[1]..).unwrap_or_default(),
            ],
            below: self.below.split_off_mut(pieces / 2..).unwrap_or_default(),
            ..self
        };
        let before = BranchesDown { branches, ..self };
        let (left, right) = rayon::join(|| before.run(), || after.run());
        [left[0].max(right[0]), left[1] + right[1]]
    }

    fn one_by_one(self) -> [Fused; 2] {
        let Self { plan, task, branches, turns, replies, .. } = self;
        let ([top, low], mut worst) = (firsts(branches), [Fused::ZERO; 2]);
        let [mut bodies, mut bodies_below] = self.bodies;
        let [forces, forces_below] = self.forces;
        let Some(below) = self.below.first_mut() else { return worst };
        let [mut before, mut after] = below.each_mut();
        // In the opposite order, so that what was written last is read first, out of the caches.
        for Branch { tops, levels: depths } in branches.iter().rev() {
            let mut deeper = bodies_below.split_off(depths[0] - low);
            let mut down = |down: Down<'_, N>| {
                let [most, sum] = simd::dispatch(down);
                worst = [worst[0].max(most), worst[1] + sum];
            };
            down(Down {
                plan,
                task,
                first: tops.start,
                bodies: bodies.split_off(tops.start - top),
                deeper: &deeper,
                base: depths[0],
                forces: &mut forces[tops.start - top..tops.end - top],
                down_messages: before,
                before: self.before,
                first_before: self.first_before,
                turns,
                replies,
            });
            let mut first_before = plan.slots(tops.start).start;
            for run in levels(depths) {
                let others = deeper.split_off(run.len());
                let own = std::mem::replace(&mut deeper, others);
                down(Down {
                    plan,
                    task,
                    first: run.start,
                    bodies: own,
                    deeper: &deeper,
                    base: run.end,
                    forces: &mut forces_below[run.start - low..run.end - low],
                    down_messages: after,
                    before,
                    first_before,
                    turns,
                    replies,
                });
                std::mem::swap(&mut before, &mut after);
                first_before = plan.slots(run.start).start;
            }
        }
        worst
    }
}
