//! Depths one after the other, each cut into parts that are worked on at once. Groups of one depth do not see each other, so that
//! results do not depend on where they are cut.

use std::ops::Range;

use taut_math::{Fused, Number};

use super::{
    down::{Down, DownTask},
    message::{ChildReply, DownMessage, UpMessage},
    side::TurnRows,
    up::{Deeper, GroupRoom, Up, UpTask},
};
use crate::{lane::V, node::BodyGroups, simd};

/// Groups of a part below which another thread costs more than it gains.
pub(super) const GRAIN: usize = 16;

/// Cuts what there is of groups, or of none, in two.
pub(super) fn cut<T>(all: &mut [T], at: usize) -> (&mut [T], &mut [T]) {
    let at = at.min(all.len());
    all.split_at_mut(at)
}

/// The larger of two largest ones, and the sum of two sums.
pub(super) fn worse(a: [Fused; 2], b: [Fused; 2]) -> [Fused; 2] {
    [a[0].max(b[0]), a[1] + b[1]]
}

/// Depths that follow each other on the way to the roots.
pub(super) struct Ascent<'a, const N: usize> {
    pub(super) all: UpTask<'a>,
    /// Rows and replies of groups, which this is the first of.
    pub(super) first: usize,
    pub(super) turns: &'a mut [TurnRows],
    pub(super) replies: &'a mut [ChildReply<N>],
    /// One per thread that may work here.
    pub(super) rooms: &'a mut [GroupRoom<N>],
}

impl<const N: usize> Ascent<'_, N> {
    /// Goes through `runs`, the first of which hangs on the second; what the last one shows is then in the second room.
    pub(super) fn run(
        &mut self,
        runs: impl Iterator<Item = Range<usize>>,
        messages: &mut [&mut Vec<UpMessage<N>>; 2],
    ) {
        let (all, first) = (self.all, self.first);
        for run in runs {
            let [own, deeper] = messages;
            let (turns, turns_deeper) = cut(self.turns, run.end - first);
            each_up(Up {
                all,
                first: run.start,
                up_messages: &mut own[..run.len()],
                turns: cut(turns, run.start - first).1,
                replies: &mut self.replies[all.plan.joints(first..run.start)..],
                deeper: Deeper { up_messages: deeper, turns: turns_deeper },
                base: run.end,
                rooms: self.rooms,
            });
            messages.reverse();
        }
    }
}

/// Depths that follow each other on the way to the leaves.
pub(super) struct Descent<'a, const N: usize> {
    pub(super) all: DownTask<'a, N>,
    /// Forces of groups, which this is the first of.
    pub(super) first: usize,
    pub(super) forces: &'a mut [V],
    /// How many threads may work here.
    pub(super) pieces: usize,
}

impl<const N: usize> Descent<'_, N> {
    /// Goes through `runs`, the second of which hangs on the first, with which `bodies` begin; these are then what is left. The
    /// first room has what comes from above, of the joints from `first_before` on, and then what goes on, of those told.
    pub(super) fn run(
        &mut self,
        runs: impl Iterator<Item = Range<usize>>,
        mut first_before: usize,
        bodies: &mut BodyGroups<'_>,
        messages: &mut [&mut Vec<DownMessage<N>>; 2],
    ) -> ([Fused; 2], usize) {
        let mut worst = [Fused::ZERO; 2];
        for run in runs {
            let [before, after] = messages;
            let deeper = bodies.split_off(run.len());
            let down = Down {
                all: self.all,
                first: run.start,
                bodies: std::mem::replace(bodies, deeper),
                deeper: bodies,
                base: run.end,
                forces: &mut self.forces[run.start - self.first..run.end - self.first],
                down_messages: after,
                before,
                first_before,
            };
            worst = worse(worst, each_down(down, self.pieces));
            messages.reverse();
            first_before = self.all.plan.slots(run.start).start;
        }
        (worst, first_before)
    }
}

pub(super) fn each_up<const N: usize>(mut up: Up<'_, N>) {
    let pieces = up.rooms.len().min(up.up_messages.len() / GRAIN);
    if pieces < 2 {
        simd::dispatch(up);
        return;
    }
    let cut = up.up_messages.len() * (pieces / 2) / pieces;
    let replies = up.all.plan.joints(up.first..up.first + cut);
    let after = Up {
        first: up.first + cut,
        up_messages: up.up_messages.split_off_mut(cut..).unwrap_or_default(),
        turns: up.turns.split_off_mut(cut..).unwrap_or_default(),
        replies: up.replies.split_off_mut(replies..).unwrap_or_default(),
        rooms: up.rooms.split_off_mut(pieces / 2..).unwrap_or_default(),
        ..up
    };
    rayon::join(|| each_up(up), || each_up(after));
}

pub(super) fn each_down<const N: usize>(mut down: Down<'_, N>, pieces: usize) -> [Fused; 2] {
    let groups = down.forces.len();
    let pieces = pieces.min(groups / GRAIN);
    if pieces < 2 {
        return simd::dispatch(down);
    }
    let cut = groups * (pieces / 2) / pieces;
    let joints = down.all.plan.joints(down.first..down.first + cut);
    let after = Down {
        first: down.first + cut,
        bodies: down.bodies.split_off(cut),
        forces: down.forces.split_off_mut(cut..).unwrap_or_default(),
        down_messages: down.down_messages.split_off_mut(joints..).unwrap_or_default(),
        ..down
    };
    let half = pieces / 2;
    let (left, right) = rayon::join(|| each_down(down, half), || each_down(after, pieces - half));
    worse(left, right)
}
