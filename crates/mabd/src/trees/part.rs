//! Groups of one depth cut into parts that are worked on at once. They do not see each other, so that
//! results do not depend on where they are cut.

use taut_math::{Fused, LANES, Number};

use super::{
    TreePlan,
    down::{Down, ground},
    message::{DownMessage, UpMessage},
    up::{GroupRoom, Up},
};
use crate::{
    chain::JointSlot,
    free::{FreeResponse, SolveTask},
    lane::{V, ZERO3},
    node::Nodes,
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
    up_messages: Vec<UpMessage<N>>,
    forces: Vec<V>,
    /// Of the joints to the children, as many as the plan says.
    replies: Vec<[Fused; N]>,
    down_messages: Vec<DownMessage<N>>,
    /// One per thread.
    rooms: Vec<GroupRoom<N>>,
    /// Largest squared norm of a strain after the last solve.
    pub(super) strain: f64,
}

impl<const N: usize> TreesWith<N> {
    pub(super) fn new(plan: TreePlan, ends: Vec<OwnJoint>) -> Self {
        let groups = plan.groups();
        let replies = plan.replies[groups] as usize;
        Self {
            kept: vec![FreeResponse::NONE; groups],
            up_messages: vec![UpMessage::NONE; groups],
            forces: vec![ZERO3; groups],
            replies: vec![[Fused::ZERO; N]; replies],
            down_messages: vec![DownMessage::NONE; plan.holds.len()],
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
        let widest = self.plan.levels.windows(2).map(|at| at[1] - at[0]).max().unwrap_or(0);
        let rooms = if widest < 2 * GRAIN { 1 } else { rayon::current_num_threads() };
        if self.rooms.len() != rooms {
            let groups = 0..self.plan.groups();
            let most = groups.map(|group| self.plan.slots(group).len()).max().unwrap_or(0);
            self.rooms.resize(rooms, GroupRoom::new(most + 1));
        }
    }

    pub(super) fn solve(&mut self, nodes: &mut Nodes, task: &SolveTask<'_>) {
        self.plan.constants.set_step(task.h, 0.0);
        self.make_rooms();
        let plan = &self.plan;
        let (bodies, held) = nodes.bodies(task.before);
        for at in plan.levels.windows(2).rev() {
            let (first, base) = (at[0], at[1]);
            let (kept, kept_deeper) = self.kept[first..].split_at_mut(base - first);
            let (up_messages, up_messages_deeper) =
                self.up_messages[first..].split_at_mut(base - first);
            let up = Up {
                plan,
                task,
                bodies: &bodies,
                held,
                first,
                kept,
                up_messages,
                replies: &mut self.replies[plan.replies[first] as usize..],
                deeper: (&*kept_deeper, &*up_messages_deeper),
                base,
                rooms: &mut self.rooms,
            };
            each_up(up);
        }
        let roots = plan.levels[1];
        ground(plan, &self.up_messages, held, &mut self.down_messages[..roots]);
        let (mut most, mut sum, mut bodies) = (Fused::ZERO, Fused::ZERO, bodies);
        for at in plan.levels.windows(2) {
            let (first, end) = (at[0], at[1]);
            let others = bodies.split_off(end - first);
            let (before, down_messages) = self.down_messages.split_at_mut(plan.slots(first).start);
            let (kept, up_messages, replies) = (&self.kept, &self.up_messages, &self.replies);
            let forces = &mut self.forces[first..end];
            let down = Down {
                plan,
                task,
                first,
                bodies: std::mem::replace(&mut bodies, others),
                forces,
                down_messages,
                before,
                kept,
                up_messages,
                replies,
            };
            let worst = each_down(down, self.rooms.len());
            (most, sum) = (most.max(worst[0]), sum + worst[1]);
        }
        self.strain = if sum.largest().is_finite() { most.largest() } else { f64::INFINITY };
    }
}

fn each_up<const N: usize>(mut up: Up<'_, N>) {
    let pieces = up.rooms.len().min(up.kept.len() / GRAIN);
    if pieces < 2 {
        pulp::Arch::new().dispatch(up);
        return;
    }
    let cut = up.kept.len() * (pieces / 2) / pieces;
    let replies = (up.plan.replies[up.first + cut] - up.plan.replies[up.first]) as usize;
    let after = Up {
        first: up.first + cut,
        kept: up.kept.split_off_mut(cut..).unwrap_or_default(),
        up_messages: up.up_messages.split_off_mut(cut..).unwrap_or_default(),
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
        return pulp::Arch::new().dispatch(down);
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
