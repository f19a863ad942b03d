//! Consecutive blocks of segments with everything that is written while they are solved, so that
//! several parts can be solved at once. Blocks do not see each other but through the multipliers
//! between segments, so that results do not depend on where the parts are cut.

use taut_math::{Fused, LANES, Number};

use super::{Chains, Pin};
use crate::{
    affine::Affine,
    algebra::RowMatrix,
    free::{FreeResponse, GroupKinds, Passed, SolveTask},
    lane::{V, ZERO3},
    node::{BodyGroups, Nodes},
};

/// Blocks of a part below which another thread costs more than it gains.
const GRAIN: usize = 4;

/// What is kept of a group of bodies while its segments are solved.
#[derive(Clone, Copy)]
pub(super) struct Kept {
    pub(super) free: FreeResponse,
    /// `N` and `y` of the joint at its left.
    pub(super) reply: RowMatrix<Fused>,
    pub(super) answer: V,
}

impl Kept {
    pub(super) const NONE: Self =
        Self { free: FreeResponse::NONE, reply: [Fused::ZERO; 9], answer: ZERO3 };
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

    /// Keeps those of the first `groups` and returns the others.
    fn split_off(&mut self, groups: usize) -> Self {
        let first = self.first + groups;
        let cut = self.list.partition_point(|pin| (pin.node as usize) < first * LANES);
        let list = self.list.split_off_mut(cut..).unwrap_or_default();
        Self { list, held: self.held, first }
    }
}

/// Some consecutive blocks.
pub(super) struct Span<'a> {
    /// Groups of a block.
    pub(super) length: usize,
    pub(super) bodies: BodyGroups<'a>,
    pub(super) kinds: GroupKinds<'a>,
    /// Per group.
    pub(super) compliance: &'a [Fused],
    pub(super) forces: &'a mut [V],
    /// What each group passes on to its joints; empty where there is more than one block.
    pub(super) passed: &'a mut [Passed<Fused>],
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
            kinds: chains.constants.all(),
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
        self.kinds.count() / self.length
    }

    /// Does `work` on it in at most as many pieces as it has room for, and adds up what they say.
    pub(super) fn each<T: Send>(
        mut self,
        work: &(impl Fn(Span<'_>) -> T + Sync),
        add: fn(T, T) -> T,
    ) -> T {
        let pieces = (self.kept.len() / self.length).min(self.blocks() / GRAIN);
        if pieces < 2 {
            return work(self);
        }
        let cut = self.blocks() * (pieces / 2) / pieces;
        let after = self.split_off(cut, pieces / 2);
        let (left, right) = rayon::join(|| self.each(work, add), || after.each(work, add));
        add(left, right)
    }

    /// Keeps the first `blocks` with `rooms` of the rooms and returns the others.
    fn split_off(&mut self, blocks: usize, rooms: usize) -> Self {
        let groups = blocks * self.length;
        let edges = self.edges;
        self.edges = &edges[..=blocks * LANES];
        self.passed = &mut [];
        Self {
            length: self.length,
            bodies: self.bodies.split_off(groups),
            kinds: self.kinds.split_off(groups),
            compliance: self.compliance.split_off(groups..).unwrap_or_default(),
            forces: self.forces.split_off_mut(groups..).unwrap_or_default(),
            passed: &mut [],
            pins: self.pins.split_off(groups),
            segments: self.segments.split_off_mut(blocks * LANES..).unwrap_or_default(),
            edges: &edges[blocks * LANES..],
            kept: self.kept.split_off_mut(rooms * self.length..).unwrap_or_default(),
        }
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
