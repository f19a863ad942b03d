//! Branches of large trees: each goes all the way from its leaves to what it hangs on, and back, so that what its depths tell
//! each other stays in the caches. Several threads take different ones.

use std::ops::Range;

use taut_math::{Fused, Number};

use super::{
    depths::{Ascent, Descent, cut, each_down, each_up, worse},
    down::{Down, DownTask},
    graph::Branch,
    levels,
    message::{ChildReply, DownMessage, DownPair, UpMessage, UpPair},
    side::TurnRows,
    up::{Deeper, GroupRoom, Up, UpTask},
};
use crate::{lane::V, node::BodyGroups};

/// The first groups of some branches, which they hang on and below.
fn firsts(branches: &[Branch]) -> [usize; 2] {
    branches.first().map_or([0; 2], |branch| [branch.tops.start, branch.levels[0]])
}

/// Two parts of branches for so many threads, and what groups the first has, which they hang on and below.
fn halves(branches: &[Branch], pieces: usize) -> ([&[Branch]; 2], [Range<usize>; 2]) {
    let (some, others) = branches.split_at(branches.len() * (pieces / 2) / pieces);
    let ([top, low], [top_end, low_end]) = (firsts(some), firsts(others));
    ([some, others], [top..top_end, low..low_end])
}

/// Some consecutive branches on the way to the roots.
pub(super) struct BranchesUp<'a, const N: usize> {
    pub(super) all: UpTask<'a>,
    pub(super) branches: &'a [Branch],
    /// What the groups show that they hang on.
    pub(super) up_messages: &'a mut [UpMessage<N>],
    /// Of these groups, and of those below.
    pub(super) turns: [&'a mut [TurnRows]; 2],
    pub(super) replies: [&'a mut [ChildReply<N>]; 2],
    /// One per thread that may work here.
    pub(super) rooms: &'a mut [GroupRoom<N>],
    pub(super) below: &'a mut [UpPair<N>],
}

impl<const N: usize> BranchesUp<'_, N> {
    /// Goes to the roots of all.
    pub(super) fn run(mut self) {
        let pieces = self.rooms.len().min(self.branches.len());
        if pieces < 2 {
            return self.one_by_one();
        }
        let ([branches, others], [tops, below]) = halves(self.branches, pieces);
        let kept = [&tops, &below].map(|groups| self.all.plan.joints(groups.clone()));
        let [turns, turns_below] = &mut self.turns;
        let [replies, replies_below] = &mut self.replies;
        let after = BranchesUp {
            branches: others,
            up_messages: self.up_messages.split_off_mut(tops.len()..).unwrap_or_default(),
            turns: [
                turns.split_off_mut(tops.len()..).unwrap_or_default(),
                turns_below.split_off_mut(below.len()..).unwrap_or_default(),
            ],
            replies: [
                replies.split_off_mut(kept[0]..).unwrap_or_default(),
                replies_below.split_off_mut(kept[1]..).unwrap_or_default(),
            ],
            rooms: self.rooms.split_off_mut(pieces / 2..).unwrap_or_default(),
            below: self.below.split_off_mut(pieces / 2..).unwrap_or_default(),
            ..self
        };
        let before = BranchesUp { branches, ..self };
        rayon::join(|| before.run(), || after.run());
    }

    fn one_by_one(self) {
        let (all, [top, low]) = (self.all, firsts(self.branches));
        let ([turns_tops, turns], [replies_tops, replies]) = (self.turns, self.replies);
        let Some(below) = self.below.first_mut() else { return };
        let mut messages = below.each_mut();
        let mut ascent = Ascent { all, first: low, turns, replies, rooms: self.rooms };
        for Branch { tops, levels: depths } in self.branches {
            ascent.run(levels(depths).rev(), &mut messages);
            each_up(Up {
                all,
                first: tops.start,
                up_messages: &mut self.up_messages[tops.start - top..tops.end - top],
                turns: cut(turns_tops, tops.start - top).1,
                replies: &mut replies_tops[all.plan.joints(top..tops.start)..],
                deeper: Deeper {
                    up_messages: messages[1],
                    turns: cut(ascent.turns, depths[0] - low).1,
                },
                base: depths[0],
                rooms: ascent.rooms,
            });
        }
    }
}

/// Some consecutive branches on the way to the leaves.
pub(super) struct BranchesDown<'a, const N: usize> {
    pub(super) all: DownTask<'a, N>,
    pub(super) branches: &'a [Branch],
    /// The groups that they hang on, and those below.
    pub(super) bodies: [BodyGroups<'a>; 2],
    pub(super) forces: [&'a mut [V]; 2],
    /// Of the joints before these groups, and the first of these.
    pub(super) before: &'a [DownMessage<N>],
    pub(super) first_before: usize,
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
        let ([branches, others], [tops, below]) = halves(self.branches, pieces);
        let [bodies, bodies_below] = &mut self.bodies;
        let [forces, forces_below] = &mut self.forces;
        let after = BranchesDown {
            branches: others,
            bodies: [bodies.split_off(tops.len()), bodies_below.split_off(below.len())],
            forces: [
                forces.split_off_mut(tops.len()..).unwrap_or_default(),
                forces_below.split_off_mut(below.len()..).unwrap_or_default(),
            ],
            below: self.below.split_off_mut(pieces / 2..).unwrap_or_default(),
            ..self
        };
        let before = BranchesDown { branches, ..self };
        let (left, right) = rayon::join(|| before.run(), || after.run());
        worse(left, right)
    }

    fn one_by_one(self) -> [Fused; 2] {
        let (all, pieces, [top, low]) = (self.all, self.below.len(), firsts(self.branches));
        let [mut bodies, mut bodies_below] = self.bodies;
        let [forces_tops, forces] = self.forces;
        let mut worst = [Fused::ZERO; 2];
        let Some(below) = self.below.first_mut() else { return worst };
        let mut messages = below.each_mut();
        let mut descent = Descent { all, first: low, forces, pieces };
        // In the opposite order, so that what was written last is read first, out of the caches.
        for Branch { tops, levels: depths } in self.branches.iter().rev() {
            let mut deeper = bodies_below.split_off(depths[0] - low);
            let down = Down {
                all,
                first: tops.start,
                bodies: bodies.split_off(tops.start - top),
                deeper: &deeper,
                base: depths[0],
                forces: &mut forces_tops[tops.start - top..tops.end - top],
                down_messages: messages[0],
                before: self.before,
                first_before: self.first_before,
            };
            worst = worse(worst, each_down(down, pieces));
            let first = all.plan.slots(tops.start).start;
            let (most, _) = descent.run(levels(depths), first, &mut deeper, &mut messages);
            worst = worse(worst, most);
        }
        worst
    }
}
