//! Trees whose joints have so many rows, from what they are made of to a solve.

use std::{iter::once, ops::Range};

use taut_math::{Fused, LANES};

use super::{
    TreePlan,
    branches::{BranchesDown, BranchesUp},
    depths::{Ascent, Descent, GRAIN, cut, worse},
    down::{DownTask, ground},
    levels,
    message::{ChildReply, DownMessage, DownPair, UpMessage, UpPair},
    side::TurnRows,
    up::{GroupRoom, UpTask},
};
use crate::{
    affine::Affine,
    chain::JointSlot,
    free::SolveTask,
    lane::{V, ZERO3},
    node::{BodyGroups, Nodes},
};

/// Elements of the joint that a body hangs on.
#[derive(Clone, Copy, Debug)]
pub(super) struct OwnJoint {
    pub(super) ball: Option<JointSlot>,
    pub(super) spring: Option<u32>,
}

/// Trees whose joints have so many rows.
pub(crate) struct TreesWith<const N: usize> {
    plan: TreePlan,
    /// Of every node.
    ends: Vec<OwnJoint>,
    /// Above the branches.
    up_messages: UpPair<N>,
    /// Rows of springs; empty without.
    turns: Vec<TurnRows>,
    forces: Vec<V>,
    /// Of the joints to the children.
    replies: Vec<ChildReply<N>>,
    /// Of the joints to the children, above the branches.
    down_messages: DownPair<N>,
    /// Messages within branches, one pair per thread.
    up_below: Vec<UpPair<N>>,
    down_below: Vec<DownPair<N>>,
    /// One per thread.
    rooms: Vec<GroupRoom<N>>,
    /// Largest squared norm of a strain after the last solve.
    pub(super) strain: f64,
}

impl<const N: usize> TreesWith<N> {
    pub(super) fn new(plan: TreePlan, ends: Vec<OwnJoint>) -> Self {
        let groups = plan.groups();
        let (up_messages, down_messages) = pairs(&plan, levels(&plan.levels));
        Self {
            up_messages,
            turns: vec![TurnRows::NONE; if N > 3 { groups } else { 0 }],
            forces: vec![ZERO3; groups],
            replies: vec![ChildReply::NONE; plan.joints(0..groups)],
            down_messages,
            up_below: Vec::new(),
            down_below: Vec::new(),
            rooms: Vec::new(),
            strain: f64::INFINITY,
            plan,
            ends,
        }
    }

    pub(super) fn set_active(&mut self, active: &[bool], compliance: &[f64]) {
        let of = |element: Option<u32>| match element {
            Some(element) if active[element as usize] => compliance[3 * element as usize],
            _ => f64::INFINITY,
        };
        for (node, ends) in self.ends.iter().enumerate() {
            let from = self.plan.from[node / LANES][node % LANES] as usize;
            let Some(hold) = self.plan.holds.get_mut(from / LANES) else { continue };
            hold.softness[0].0[from % LANES] = of(ends.ball.map(|slot| slot.element));
            hold.softness[1].0[from % LANES] = of(ends.spring);
        }
    }

    pub(super) fn read(&self, lambda: &mut [f64]) {
        for (node, ends) in self.ends.iter().enumerate() {
            let Some(slot) = ends.ball else { continue };
            let force = &self.forces[node / LANES];
            slot.write(lambda, [0, 1, 2].map(|c| force[c].0[node % LANES]));
        }
    }

    fn make_rooms(&mut self) {
        let widest = levels(&self.plan.levels).map(|run| run.len()).max().unwrap_or(0);
        let is_split = widest >= 2 * GRAIN || self.plan.branches.len() > 1;
        let rooms = if is_split { rayon::current_num_threads() } else { 1 };
        if self.rooms.len() != rooms {
            let groups = 0..self.plan.groups();
            let most = groups.map(|group| self.plan.slots(group).len()).max().unwrap_or(0);
            self.rooms.resize(rooms, GroupRoom::new(most));
            let branches = self.plan.branches.iter();
            let runs = branches.flat_map(|b| once(b.tops.clone()).chain(levels(&b.levels)));
            let (up, down) = pairs(&self.plan, runs);
            self.up_below.resize(rooms, up);
            self.down_below.resize(rooms, down);
        }
    }

    pub(super) fn solve(&mut self, nodes: &mut Nodes, task: &SolveTask<'_>) {
        self.plan.constants.set_step(task.h, 0.0);
        self.make_rooms();
        let (bodies, held) = nodes.bodies(task.before);
        self.ascend(&bodies, held, task);
        let [above, _] = &mut self.down_messages;
        let above = &mut above[..self.plan.levels[1]];
        ground(&self.plan, (&self.up_messages[0], &self.turns), held, above);
        let [most, sum] = self.descend(bodies, task);
        self.strain = if sum.largest().is_finite() { most.largest() } else { f64::INFINITY };
    }

    /// From the leaves to the roots; what these show is then in the first of the two rooms for that.
    fn ascend(&mut self, bodies: &BodyGroups<'_>, held: &[Affine], task: &SolveTask<'_>) {
        let Self { plan, up_messages, turns, replies, rooms, up_below, .. } = self;
        let all = UpTask { plan, task, bodies, held };
        let mut messages = up_messages.each_mut();
        if plan.levels.len() % 2 == 1 {
            messages.reverse();
        }
        let mut runs = levels(&plan.levels).rev();
        if !plan.branches.is_empty()
            && let Some(last) = runs.next()
        {
            let (turns, turns_below) = cut(turns, last.end);
            let (replies, replies_below) = replies.split_at_mut(plan.joints(0..last.end));
            BranchesUp {
                all,
                branches: &plan.branches,
                up_messages: messages[0],
                turns: [cut(turns, last.start).1, turns_below],
                replies: [&mut replies[plan.joints(0..last.start)..], replies_below],
                rooms: &mut *rooms,
                below: up_below,
            }
            .run();
            messages.reverse();
        }
        Ascent { all, first: 0, turns, replies, rooms }.run(runs, &mut messages);
    }

    /// From the roots to the leaves; tells the largest squared norm of a strain, and the sum of all.
    fn descend(&mut self, mut bodies: BodyGroups<'_>, task: &SolveTask<'_>) -> [Fused; 2] {
        let Self { plan, turns, replies, forces, down_messages, down_below, .. } = self;
        let all = DownTask { plan, task, turns, replies };
        let mut messages = down_messages.each_mut();
        let mut runs = levels(&plan.levels);
        let last = if plan.branches.is_empty() { None } else { runs.next_back() };
        let mut descent = Descent { all, first: 0, forces, pieces: self.rooms.len() };
        let (worst, first_before) = descent.run(runs, 0, &mut bodies, &mut messages);
        let Some(last) = last else { return worst };
        let below = bodies.split_off(last.len());
        let (forces, forces_below) = forces.split_at_mut(last.end);
        let of_branches = BranchesDown {
            all,
            branches: &plan.branches,
            bodies: [bodies, below],
            forces: [&mut forces[last.start..], forces_below],
            before: messages[0],
            first_before,
            below: down_below,
        }
        .run();
        worse(worst, of_branches)
    }
}

/// Room for messages of two depths that follow each other among `runs` of groups.
fn pairs<const N: usize>(
    plan: &TreePlan,
    runs: impl Iterator<Item = Range<usize>>,
) -> (UpPair<N>, DownPair<N>) {
    let (mut groups, mut most) = (0, 0);
    for run in runs {
        groups = run.len().max(groups);
        // What holds the roots counts as one joint each.
        most = run.len().max(plan.joints(run)).max(most);
    }
    let (up, down) = (vec![UpMessage::NONE; groups], vec![DownMessage::NONE; most]);
    ([up.clone(), up], [down.clone(), down])
}
