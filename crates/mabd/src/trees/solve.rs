//! Elimination from the leaves to the roots, and back (after Eq. 36 to 41, along trees).
//!
//! A body shows its own joint how far that joint's rows move under unit multipliers, and where they go
//! without: by itself, and after the joints of its children have been eliminated with all that hangs on
//! them. Groups of one depth do not see each other.

use pulp::{NullaryFnOnce, Simd, WithSimd};

use super::{
    ChildJoint, TreePlan,
    block::{Factor, Square, dot, first, last},
    side::{JointSide, TwistRows, pull, times_transposed, transposed, twist},
};
use crate::{
    affine::{Affine, frame, group, origin},
    chain::squared_strain,
    free::{FreeResponse, GroupConstants, SolveTask},
    lane::{
        LANES, Lanes, M, V, ZERO3, add, matrix, minus, plus, product, scale, sub, times,
        transposed_product,
    },
    node::BodyGroups,
};

/// What a group of bodies shows to the joints to its parents.
#[derive(Clone, Copy)]
pub(super) struct UpMessage<const N: usize> {
    own: Square<N>,
    /// Diagonal before anything was eliminated.
    scale: [Lanes; N],
    tip: [Lanes; N],
    twist: TwistRows,
}

impl<const N: usize> UpMessage<N> {
    pub(super) const NONE: Self = Self {
        own: [[Lanes::ZERO; N]; N],
        scale: [Lanes::ZERO; N],
        tip: [Lanes::ZERO; N],
        twist: TwistRows::NONE,
    };

    /// Becomes what four bodies show that are not side by side; `all` begins with group `base`.
    #[inline(always)]
    fn gather(&mut self, all: &[Self], base: usize, nodes: &[u32; LANES]) {
        let from = nodes.map(|node| &all[node as usize / LANES - base]);
        let lane = nodes.map(|node| node as usize % LANES);
        for i in 0..N {
            for j in 0..=i {
                self.own[i][j] = Lanes::pick(|k| from[k].own[i][j].0[lane[k]]);
            }
            self.scale[i] = Lanes::pick(|k| from[k].scale[i].0[lane[k]]);
            self.tip[i] = Lanes::pick(|k| from[k].tip[i].0[lane[k]]);
        }
        if N > 3 {
            self.twist = Self::gather_twists(all, base, nodes);
        }
    }

    #[inline(always)]
    fn gather_twists(all: &[Self], base: usize, nodes: &[u32; LANES]) -> TwistRows {
        let from = nodes.map(|node| &all[node as usize / LANES - base].twist);
        let lane = nodes.map(|node| node as usize % LANES);
        let bend = |i: usize| Lanes::pick(|k| from[k].bend[i].0[lane[k]]);
        let turn = Lanes::pick(|k| from[k].turn.0[lane[k]]);
        TwistRows { turn, bend: [bend(0), bend(1), bend(2)] }
    }
}

/// Frames of four bodies that are not side by side; `all` begins with group `base`.
#[inline(always)]
fn gather_frames(all: &[FreeResponse], base: usize, nodes: &[u32; LANES]) -> M {
    let from = nodes.map(|node| &all[node as usize / LANES - base].at);
    let lane = nodes.map(|node| node as usize % LANES);
    matrix(|i, j| Lanes::pick(|k| from[k][j][i].0[lane[k]]))
}

/// The multipliers of a joint, and the load of its springs on the child's frame in world axes.
#[derive(Clone, Copy)]
pub(super) struct DownMessage<const N: usize> {
    multipliers: [Lanes; N],
    load: M,
}

impl<const N: usize> DownMessage<N> {
    pub(super) const NONE: Self = Self { multipliers: [Lanes::ZERO; N], load: [ZERO3; 3] };

    #[inline(always)]
    fn gather(all: &[Self], from: &[u32; LANES]) -> Self {
        let lane = from.map(|at| at as usize % LANES);
        // What hangs on nothing is pulled by nothing.
        let from = from.map(|at| all.get(at as usize / LANES).unwrap_or(&Self::NONE));
        let mut out = Self::NONE;
        for i in 0..N {
            out.multipliers[i] = Lanes::pick(|k| from[k].multipliers[i].0[lane[k]]);
        }
        if N > 3 {
            out.load = matrix(|i, j| Lanes::pick(|k| from[k].load[j][i].0[lane[k]]));
        }
        out
    }
}

/// Room for the joints of one group of bodies: those of the children in turn, then its own.
#[derive(Clone)]
pub(super) struct GroupRoom<const N: usize> {
    sides: Vec<JointSide>,
    tips: Vec<[Lanes; N]>,
    scales: Vec<[Lanes; N]>,
    /// Of every side with those before it and itself.
    blocks: Vec<Square<N>>,
    /// What the children in one place show.
    child: UpMessage<N>,
}

impl<const N: usize> GroupRoom<N> {
    pub(super) fn new(sides: usize) -> Self {
        Self {
            sides: vec![JointSide::NONE; sides],
            tips: vec![[Lanes::ZERO; N]; sides],
            scales: vec![[Lanes::ZERO; N]; sides],
            blocks: vec![[[Lanes::ZERO; N]; N]; sides * (sides + 1) / 2],
            child: UpMessage::NONE,
        }
    }
}

/// Where the block of side `u` with side `v`, not after it, is.
#[inline(always)]
fn pair(u: usize, v: usize) -> usize {
    u * (u + 1) / 2 + v
}

/// Some consecutive groups of one depth on the way to the roots.
pub(super) struct Up<'a, const N: usize> {
    pub(super) plan: &'a TreePlan,
    pub(super) task: &'a SolveTask<'a>,
    /// All bodies, and what holds the roots.
    pub(super) bodies: &'a BodyGroups<'a>,
    pub(super) held: &'a [Affine],
    /// The first group.
    pub(super) first: usize,
    pub(super) kept: &'a mut [FreeResponse],
    pub(super) up_messages: &'a mut [UpMessage<N>],
    pub(super) replies: &'a mut [[Lanes; N]],
    /// Deeper groups, the first of which is `base`.
    pub(super) deeper: (&'a [FreeResponse], &'a [UpMessage<N>]),
    pub(super) base: usize,
    /// One per thread that may work here.
    pub(super) rooms: &'a mut [GroupRoom<N>],
}

/// What a group does by itself, and its side of its own joint.
struct RespondFree<'a, const N: usize> {
    bodies: &'a BodyGroups<'a>,
    task: &'a SolveTask<'a>,
    constants: &'a GroupConstants,
    group: usize,
    /// Axes of the springs, in world coordinates.
    axes: M,
    free: &'a mut FreeResponse,
    side: &'a mut JointSide,
    message: &'a mut UpMessage<N>,
}

impl<const N: usize> NullaryFnOnce for RespondFree<'_, N> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { bodies, task, constants, group, axes, free, side, message } = self;
        *free = FreeResponse::new(bodies, constants, task, group);
        side.set(constants.left, true);
        if N == 3 {
            message.tip = side.tip(free);
            return;
        }
        let (twist, value) = TwistRows::new(axes, free.at);
        let gradients = twist.rows(transposed_product(free.rotation, axes));
        side.set_spring(gradients, &free.local);
        message.tip = side.tip(free);
        for (tip, value) in message.tip[3..].iter_mut().zip(value) {
            *tip += value;
        }
        message.twist = twist;
    }
}

/// The side of the children in one place.
struct Child<'a, const N: usize> {
    hold: &'a ChildJoint,
    deeper: (&'a [FreeResponse], &'a [UpMessage<N>]),
    base: usize,
    children: &'a [u32; LANES],
    free: &'a FreeResponse,
    side: &'a mut JointSide,
    tip: &'a mut [Lanes; N],
}

impl<const N: usize> NullaryFnOnce for Child<'_, N> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { hold, deeper: (kept, up_messages), base, children, free, side, tip } = self;
        side.set(hold.anchor, false);
        if N > 3 {
            let twist = UpMessage::gather_twists(up_messages, base, children);
            let turned = transposed_product(free.rotation, gather_frames(kept, base, children));
            let mut gradients = twist.rows_transposed(turned);
            for gradient in &mut gradients {
                *gradient = times_transposed(*gradient, hold.basis);
            }
            side.set_spring(gradients, &free.local);
        }
        *tip = side.tip(free);
    }
}

struct Between<'a, const N: usize> {
    sides: [&'a JointSide; 2],
    own: bool,
    free: &'a FreeResponse,
    reach: Lanes,
    block: &'a mut Square<N>,
}

impl<const N: usize> NullaryFnOnce for Between<'_, N> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { sides: [u, v], own, free, reach, block } = self;
        u.between(v, own, (free, reach), block);
    }
}

/// Eliminates the joints to the children in one place.
struct EliminateChild<'a, const N: usize> {
    /// Of which side, of how many.
    child: usize,
    count: usize,
    room: &'a mut GroupRoom<N>,
    deeper: &'a [UpMessage<N>],
    base: usize,
    children: &'a [u32; LANES],
    softness: [Lanes; 2],
    replies: &'a mut [[Lanes; N]],
}

impl<const N: usize> NullaryFnOnce for EliminateChild<'_, N> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { child, count, room, deeper, base, children, softness, replies } = self;
        room.child.gather(deeper, base, children);
        let (blocks, message) = (&mut room.blocks, &room.child);
        let mut block = blocks[pair(child, child)];
        let (mut scale, mut gap) = (room.scales[child], room.tips[child]);
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
            for (row, (tip, own)) in
                rows.iter_mut().zip(room.tips[u].iter_mut().zip(&blocks[pair(u, child)]))
            {
                *row = factor.solve(own);
                *tip = *tip - dot(row, &gap);
            }
            for v in child + 1..=u {
                // The upper triangle of a symmetric block is not read.
                let other = blocks[pair(v, child)];
                for (to, row) in blocks[pair(u, v)].iter_mut().zip(rows.iter()) {
                    for (entry, other) in to.iter_mut().zip(&other) {
                        *entry = *entry - dot(row, other);
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
        let Self {
            plan,
            task,
            bodies,
            held,
            first,
            kept,
            up_messages,
            replies,
            deeper,
            base,
            rooms,
        } = self;
        let Some(room) = rooms.first_mut() else { return };
        let start = plan.replies[first] as usize;
        for (i, (free, message)) in kept.iter_mut().zip(up_messages).enumerate() {
            let group = first + i;
            let constants = &plan.constants[plan.group_of[group] as usize];
            let slots = plan.slots(group);
            let (count, reach) = (slots.len() + 1, constants.reach);
            let axes = if N > 3 { plan.axes(group, bodies, held) } else { [ZERO3; 3] };
            let side = &mut room.sides[count - 1];
            let own = &mut *free;
            simd.vectorize(RespondFree {
                bodies,
                task,
                constants,
                group,
                axes,
                free: own,
                side,
                message,
            });
            let free = &*free;
            room.tips[count - 1] = message.tip;
            for (c, slot) in slots.clone().enumerate() {
                let (hold, children) = (&plan.holds[slot], &plan.children[slot]);
                let (side, tip) = (&mut room.sides[c], &mut room.tips[c]);
                simd.vectorize(Child { hold, deeper, base, children, free, side, tip });
            }
            for u in 0..count {
                for v in 0..=u {
                    let sides = [&room.sides[u], &room.sides[v]];
                    let block = &mut room.blocks[pair(u, v)];
                    simd.vectorize(Between { sides, own: u == v, free, reach, block });
                }
                room.scales[u] = diagonal(&room.blocks[pair(u, u)]);
            }
            let mut at = plan.replies[group] as usize - start;
            for (child, slot) in slots.enumerate() {
                let end = at + 1 + (count - 1 - child) * N;
                let (softness, children) = (plan.holds[slot].softness, &plan.children[slot]);
                let (deeper, replies) = (deeper.1, &mut replies[at..end]);
                let room = &mut *room;
                simd.vectorize(EliminateChild {
                    child,
                    count,
                    room,
                    deeper,
                    base,
                    children,
                    softness,
                    replies,
                });
                at = end;
            }
            let last = count - 1;
            (message.scale, message.tip) = (room.scales[last], room.tips[last]);
            for (i, row) in message.own.iter_mut().enumerate() {
                row[..=i].copy_from_slice(&room.blocks[pair(last, last)][i][..=i]);
            }
        }
    }
}

#[inline(always)]
fn diagonal<const N: usize>(block: &Square<N>) -> [Lanes; N] {
    let mut out = [Lanes::ZERO; N];
    for (i, (out, row)) in out.iter_mut().zip(block).enumerate() {
        *out = row[i];
    }
    out
}

/// Finds the multipliers of the joints that hold the roots.
pub(super) fn ground<const N: usize>(
    plan: &TreePlan,
    up_messages: &[UpMessage<N>],
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
                product(at, product(hold.basis, message.twist.sum(last(&answer.multipliers))));
        }
    }
}

/// Some consecutive groups of one depth on the way to the leaves.
pub(super) struct Down<'a, const N: usize> {
    pub(super) plan: &'a TreePlan,
    pub(super) task: &'a SolveTask<'a>,
    /// The first group.
    pub(super) first: usize,
    pub(super) bodies: BodyGroups<'a>,
    pub(super) forces: &'a mut [V],
    /// Of the joints to the children.
    pub(super) down_messages: &'a mut [DownMessage<N>],
    /// Of those before.
    pub(super) before: &'a [DownMessage<N>],
    /// Of all groups.
    pub(super) kept: &'a [FreeResponse],
    pub(super) up_messages: &'a [UpMessage<N>],
    pub(super) replies: &'a [[Lanes; N]],
}

/// Finds the multipliers of the joints to the children and moves the bodies.
struct Move<'a, 'b, const N: usize> {
    down: &'a mut Down<'b, N>,
    i: usize,
    worst: &'a mut [Lanes; 2],
}

impl<const N: usize> NullaryFnOnce for Move<'_, '_, N> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { down, i, worst } = self;
        let (plan, index) = (down.plan, down.first + i);
        let kept = &down.kept[index];
        let constants = &plan.constants[plan.group_of[index] as usize];
        let own = DownMessage::gather(down.before, &plan.from[index]);
        down.forces[i] = first(&own.multipliers);
        let (mut load, mut sum) = ([ZERO3; 3], ZERO3);
        pull(&mut load, &mut sum, kept.rotation, constants.left, first(&own.multipliers));
        if N > 3 {
            twist(&mut load, kept.rotation, own.load);
        }
        let (slots, base) = (plan.slots(index), plan.slots(down.first).start);
        let mut end = plan.replies[index + 1] as usize;
        for (later, slot) in slots.rev().enumerate() {
            let hold = &plan.holds[slot];
            let (message, after) = down.down_messages[slot - base..].split_at_mut(1);
            let begin = end - 1 - (later + 1) * N;
            let replies = &down.replies[begin..end];
            end = begin;
            let mut x = replies[0];
            for (u, reply) in replies[1..].chunks_exact(N).enumerate() {
                let known = if u < later { &after[u].multipliers } else { &own.multipliers };
                for (reply, known) in reply.iter().zip(known) {
                    for (x, reply) in x.iter_mut().zip(reply) {
                        *x = *x - *reply * *known;
                    }
                }
            }
            let message = &mut message[0];
            message.multipliers = x;
            let force = scale(first(&message.multipliers), -Lanes::ONE);
            pull(&mut load, &mut sum, kept.rotation, hold.anchor, force);
            if N > 3 {
                let children = &plan.children[slot];
                let child = UpMessage::gather_twists(down.up_messages, 0, children);
                let between = product(hold.basis, child.sum(last(&message.multipliers)));
                message.load = product(kept.at, between);
                let frames = gather_frames(down.kept, 0, children);
                twist(&mut load, kept.rotation, product(frames, transposed(between)));
            }
        }
        let turned = minus(kept.frame, kept.local.apply(load));
        let turned = product(kept.rotation, turned);
        let shift = sub(kept.origin, scale(sum, constants.reach));
        let Down { bodies, task, .. } = down;
        if task.geometric.is_some() {
            bodies.tension[i] = [-load[0][0], -load[1][1], -load[2][2]];
        }
        if task.probes {
            return;
        }
        if task.resumes {
            bodies.start[i] = group(kept.at, kept.centre);
            bodies.rate[i] = group(turned, shift);
        } else {
            let moved = &mut bodies.moved[i];
            let (before, from) = (frame(moved), origin(moved));
            *moved = group(plus(before, turned), add(from, shift));
        }
        let strain = squared_strain(plus(kept.at, turned));
        *worst = [worst[0].max(strain), worst[1] + strain];
    }
}

impl<const N: usize> WithSimd for Down<'_, N> {
    /// The largest squared norm of a strain, and the sum of all.
    type Output = [Lanes; 2];

    #[inline(always)]
    fn with_simd<W: Simd>(mut self, simd: W) -> [Lanes; 2] {
        let mut worst = [Lanes::ZERO; 2];
        for i in 0..self.forces.len() {
            simd.vectorize(Move { down: &mut self, i, worst: &mut worst });
        }
        worst
    }
}
