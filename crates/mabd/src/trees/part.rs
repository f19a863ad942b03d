//! Groups of one depth cut into parts that are worked on at once. They do not see each other, so that
//! results do not depend on where they are cut.

use taut_math::{Fused, LANES, Number};

use super::{
    TreePlan,
    down::{Down, ground},
    message::{DownMessage, UpMessage},
    side::TurnRows,
    up::{Deeper, GroupRoom, Up},
};
use crate::{
    affine::Affine,
    chain::JointSlot,
    free::{FreeResponse, SolveTask},
    lane::{V, ZERO3},
    node::{BodyGroups, Nodes},
    simd,
};

/// Groups of a part below which another thread costs more than it gains.
const GRAIN: usize = 16;

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
    /// Per group.
    kept: Vec<FreeResponse>,
    /// Of two depths that follow each other.
    up_messages: [Vec<UpMessage<N>>; 2],
    /// Rows of springs; empty without.
    turns: Vec<TurnRows>,
    forces: Vec<V>,
    /// Of the joints to the children, as many as the plan says.
    replies: Vec<[Fused; N]>,
    /// Of the joints to the children, of two depths that follow each other.
    down_messages: [Vec<DownMessage<N>>; 2],
    /// One per thread.
    rooms: Vec<GroupRoom<N>>,
    /// Largest squared norm of a strain after the last solve.
    pub(super) strain: f64,
}

impl<const N: usize> TreesWith<N> {
    pub(super) fn new(plan: TreePlan, ends: Vec<OwnJoint>) -> Self {
        let groups = plan.groups();
        let replies = plan.replies[groups] as usize;
        let (widest, most) = (plan.widest(), plan.most_joints());
        Self {
            kept: vec![FreeResponse::NONE; groups],
            up_messages: [vec![UpMessage::NONE; widest], vec![UpMessage::NONE; widest]],
            turns: vec![TurnRows::NONE; if N > 3 { groups } else { 0 }],
            forces: vec![ZERO3; groups],
            replies: vec![[Fused::ZERO; N]; replies],
            down_messages: [vec![DownMessage::NONE; most], vec![DownMessage::NONE; most]],
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
        let rooms = if self.plan.widest() < 2 * GRAIN { 1 } else { rayon::current_num_threads() };
        if self.rooms.len() != rooms {
            let groups = 0..self.plan.groups();
            let most = groups.map(|group| self.plan.slots(group).len()).max().unwrap_or(0);
            self.rooms.resize(rooms, GroupRoom::new(most + 1));
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
        let Self { plan, kept, up_messages: [own, deeper], turns, replies, rooms, .. } = self;
        let (mut own, mut deeper) = (own, deeper);
        if plan.levels.len() % 2 == 1 {
            std::mem::swap(&mut own, &mut deeper);
        }
        for at in plan.levels.windows(2).rev() {
            let (first, base) = (at[0], at[1]);
            let (kept, kept_deeper) = kept[first..].split_at_mut(base - first);
            let (turns, turns_deeper) = match turns.get_mut(first..) {
                Some(turns) if N > 3 => turns.split_at_mut(base - first),
                _ => Default::default(),
            };
            each_up(Up {
                plan,
                task,
                bodies,
                held,
                first,
                kept,
                up_messages: &mut own[..base - first],
                turns,
                replies: &mut replies[plan.replies[first] as usize..],
                deeper: Deeper { kept: kept_deeper, up_messages: deeper, turns: turns_deeper },
                base,
                rooms,
            });
            std::mem::swap(&mut own, &mut deeper);
        }
    }

    /// From the roots to the leaves; tells the largest squared norm of a strain, and the sum of all.
    fn descend(&mut self, bodies: BodyGroups<'_>, task: &SolveTask<'_>) -> [Fused; 2] {
        let Self { plan, kept, turns, replies, forces, down_messages: [before, after], .. } = self;
        let (mut before, mut after, mut base) = (before, after, 0);
        let (mut most, mut sum, mut bodies) = (Fused::ZERO, Fused::ZERO, bodies);
        for at in plan.levels.windows(2) {
            let (first, end) = (at[0], at[1]);
            let others = bodies.split_off(end - first);
            let down = Down {
                plan,
                task,
                first,
                bodies: std::mem::replace(&mut bodies, others),
                forces: &mut forces[first..end],
                down_messages: after,
                before,
                base,
                kept,
                turns,
                replies,
            };
            let worst = each_down(down, self.rooms.len());
            (most, sum) = (most.max(worst[0]), sum + worst[1]);
            std::mem::swap(&mut before, &mut after);
            base = plan.slots(first).start;
        }
        [most, sum]
    }
}

fn each_up<const N: usize>(mut up: Up<'_, N>) {
    let pieces = up.rooms.len().min(up.kept.len() / GRAIN);
    if pieces < 2 {
        simd::dispatch(up);
        return;
    }
    let cut = up.kept.len() * (pieces / 2) / pieces;
    let replies = (up.plan.replies[up.first + cut] - up.plan.replies[up.first]) as usize;
    let after = Up {
        first: up.first + cut,
        kept: up.kept.split_off_mut(cut..).unwrap_or_default(),
        up_messages: up.up_messages.split_off_mut(cut..).unwrap_or_default(),
        turns: up.turns.split_off_mut(cut..).unwrap_or_default(),
        replies: up.replies.split_off_mut(replies..).unwrap_or_default(),
        rooms: up.rooms.split_off_mut(pieces / 2..).unwrap_or_default(),
        ..up
    };
    rayon::join(|| each_up(up), || each_up(after));
}

fn each_down<const N: usize>(mut down: Down<'_, N>, pieces: usize) -> [Fused; 2] {
    let groups = down.forces.len();
    let pieces = pieces.min(groups / GRAIN);
    if pieces < 2 {
        return simd::dispatch(down);
    }
    let cut = groups * (pieces / 2) / pieces;
    let joints = down.plan.slots(down.first + cut).start - down.plan.slots(down.first).start;
    let after = Down {
        first: down.first + cut,
        bodies: down.bodies.split_off(cut),
        forces: down.forces.split_off_mut(cut..).unwrap_or_default(),
        down_messages: down.down_messages.split_off_mut(joints..).unwrap_or_default(),
        ..down
    };
    let half = pieces / 2;
    let (left, right) = rayon::join(|| each_down(down, half), || each_down(after, pieces - half));
    [left[0].max(right[0]), left[1] + right[1]]
}
