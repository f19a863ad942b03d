//! Consecutive blocks of segments with everything that is written while they are solved, so that
//! several parts can be solved at once. Blocks do not see each other but through the multipliers
//! between segments, so that results do not depend on where the parts are cut.

use super::{Chains, Pin};
use crate::{
    affine::Affine,
    algebra::M,
    free::{FreeResponse, GroupConstants, Passed, SolveTask},
    lane::{LANES, Lanes, V, ZERO3},
    node::{BodyGroups, Nodes},
};

/// Blocks of a part below which another thread costs more than it gains.
const GRAIN: usize = 4;

/// What is kept of a group of bodies while its segments are solved.
#[derive(Clone, Copy)]
pub(super) struct Kept {
    pub(super) free: FreeResponse,
    /// `N` and `y` of the joint at its left.
    pub(super) reply: M<Lanes>,
    pub(super) answer: V,
}

impl Kept {
    pub(super) const NONE: Self =
        Self { free: FreeResponse::NONE, reply: [Lanes::ZERO; 9], answer: ZERO3 };
}

/// The pins of some consecutive groups.
pub(super) struct Pins<'a> {
    pub(super) list: &'a mut [Pin],
    /// Where what holds them is.
    pub(super) held: &'a [Affine],
    /// The first group.
    first: usize,
}

impl<'a> Pins<'a> {
    /// The group of a pin, counted from the first one.
    #[inline(always)]
    pub(super) fn group(&self, pin: usize) -> Option<usize> {
        Some(self.list.get(pin)?.node as usize / LANES - self.first)
    }

    /// Those of the first `groups`, and the others.
    fn split(self, groups: usize) -> (Self, Self) {
        let Self { list, held, first } = self;
        let second = first + groups;
        let cut = list.partition_point(|pin| (pin.node as usize) < second * LANES);
        let (before, after) = list.split_at_mut(cut);
        (Self { list: before, held, first }, Self { list: after, held, first: second })
    }
}

/// Some consecutive blocks.
pub(super) struct Span<'a> {
    /// Groups of a block.
    pub(super) length: usize,
    pub(super) bodies: BodyGroups<'a>,
    pub(super) constants: &'a [GroupConstants],
    /// Per group.
    pub(super) group_of: &'a [u32],
    pub(super) compliance: &'a [Lanes],
    pub(super) forces: &'a mut [V],
    /// What each group passes on to its joints; empty where there is more than one block.
    pub(super) passed: &'a mut [Passed<Lanes>],
    pub(super) pins: Pins<'a>,
    /// Per segment, and one more at the end.
    pub(super) segments: &'a mut [Passed<f64>],
    pub(super) edges: &'a [[f64; 3]],
    /// Room for one block, or for one per thread that may work on the span.
    pub(super) kept: &'a mut [Kept],
}

impl<'a> Span<'a> {
    /// All blocks.
    pub(super) fn whole(
        chains: &'a mut Chains,
        nodes: &'a mut Nodes,
        task: &SolveTask<'a>,
    ) -> Self {
        let (bodies, held) = nodes.bodies(task.before);
        Self {
            length: chains.length,
            bodies,
            constants: &chains.constants,
            group_of: &chains.group_of,
            compliance: &chains.compliance,
            forces: &mut chains.forces,
            passed: &mut chains.passed,
            pins: Pins { list: &mut chains.pins, held, first: 0 },
            segments: &mut chains.segments,
            edges: &chains.edges,
            kept: &mut chains.kept,
        }
    }

    /// How many blocks it has.
    pub(super) fn blocks(&self) -> usize {
        self.group_of.len() / self.length
    }

    /// Does `work` on it in at most as many pieces as it has room for, and adds up what they say.
    pub(super) fn each<T: Send>(
        self,
        work: &(impl Fn(Span<'_>) -> T + Sync),
        add: fn(T, T) -> T,
    ) -> T {
        let pieces = (self.kept.len() / self.length).min(self.blocks() / GRAIN);
        if pieces < 2 {
            return work(self);
        }
        let cut = self.blocks() * (pieces / 2) / pieces;
        let (left, right) = self.split(cut, pieces / 2);
        let (left, right) = rayon::join(|| left.each(work, add), || right.each(work, add));
        add(left, right)
    }

    /// The first `blocks` and the others, the former with `rooms` of the rooms.
    fn split(self, blocks: usize, rooms: usize) -> (Self, Self) {
        let Self { length, constants, .. } = self;
        let groups = blocks * length;
        let (bodies, bodies_after) = self.bodies.split(groups);
        let (group_of, group_of_after) = self.group_of.split_at(groups);
        let (compliance, compliance_after) = self.compliance.split_at(groups);
        let (forces, forces_after) = self.forces.split_at_mut(groups);
        let (pins, pins_after) = self.pins.split(groups);
        let (segments, segments_after) = self.segments.split_at_mut(blocks * LANES);
        let (kept, kept_after) = self.kept.split_at_mut(rooms * length);
        let before = Self {
            length,
            bodies,
            constants,
            group_of,
            compliance,
            forces,
            passed: &mut [],
            pins,
            segments,
            edges: &self.edges[..=blocks * LANES],
            kept,
        };
        let after = Self {
            length,
            bodies: bodies_after,
            constants,
            group_of: group_of_after,
            compliance: compliance_after,
            forces: forces_after,
            passed: &mut [],
            pins: pins_after,
            segments: segments_after,
            edges: &self.edges[blocks * LANES..],
            kept: kept_after,
        };
        (before, after)
    }
}

impl Chains {
    /// Makes room for as many pieces as are worth it.
    pub(super) fn make_rooms(&mut self) {
        let most = self.blocks() / GRAIN;
        let rooms = if most < 2 { 1 } else { most.min(rayon::current_num_threads()) };
        if self.kept.len() != rooms * self.length {
            self.kept.resize(rooms * self.length, Kept::NONE);
        }
    }
}
