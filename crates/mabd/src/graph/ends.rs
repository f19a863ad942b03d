//! Which joints the bodies of a graph have, four bodies at a time.

use std::collections::BTreeMap;

use taut_core::Vec3;
use taut_math::{Fused, LANES};
use taut_model::Csr;

use crate::{
    dual::blocks::DualBlocks,
    joint::JointElement,
    lane::{V, ZERO3},
};

/// No node.
const NONE: u32 = u32::MAX;

/// Marks the place of a block that was set before.
pub(super) const ADDS: u32 = 1 << 31;

/// Side A counts with plus, side B with minus.
const SIGNS: [i8; 2] = [1, -1];

/// A joint at each of four bodies. Small, since all of them are read twice in a step.
#[derive(Clone, Copy, Debug)]
pub(super) struct GroupEnd {
    /// The first one where there is none.
    pub(super) elements: [u32; LANES],
    /// Where they are at their bodies, among those of all groups.
    anchor: u32,
    /// Zero where there is no joint or it has broken.
    signs: [i8; LANES],
}

impl GroupEnd {
    /// Signs with which the joints count.
    #[inline(always)]
    pub(super) fn sign(&self) -> Fused {
        let [a, b, c, d] = self.signs;
        Fused([f64::from(a), f64::from(b), f64::from(c), f64::from(d)])
    }
}

/// What does not move at one side of an element.
#[derive(Clone, Copy, Debug)]
pub(super) struct HeldEnd {
    pub(super) element: usize,
    /// Among the nodes that forces do not move.
    pub(super) node: u32,
    pub(super) anchor: Vec3,
    /// Zero where it has broken.
    pub(super) sign: f64,
}

/// The joints of all groups.
#[derive(Debug, Default)]
pub(super) struct GraphEnds {
    /// First of each group's entries in `ends` and in `pairs`.
    first: Vec<[u32; 2]>,
    ends: Vec<GroupEnd>,
    /// Signs of all ends while they are whole.
    signs: Vec<[i8; LANES]>,
    /// Places of joints at bodies, equal ones once.
    anchors: Vec<V>,
    /// Of each group, the principal axes of its bodies that joints are on or between.
    axes: Vec<[bool; 3]>,
    /// Where the blocks of an end and those up to it lie.
    pairs: Vec<[u32; LANES]>,
    pub(super) held: Vec<HeldEnd>,
    held_signs: Vec<f64>,
    /// What is added to the diagonal entries of each element: its compliance, or one where it has broken.
    pub(super) softness: Vec<[f64; 3]>,
}

/// Nodes by fours that have equally many elements, in the order of their first ones.
fn grouped(ends: &Csr<(u32, u8)>) -> Vec<u32> {
    let mut nodes: Vec<u32> = (0..ends.count() as u32).collect();
    nodes.sort_by_key(|&node| ends.of(node as usize).first().map_or(NONE, |end| end.0));
    let most = nodes.iter().map(|&node| ends.of(node as usize).len()).max().unwrap_or(0);
    let mut waiting: Vec<Vec<u32>> = vec![Vec::new(); most + 1];
    let mut order = Vec::with_capacity(nodes.len() + LANES * waiting.len());
    for node in nodes {
        let waiting = &mut waiting[ends.of(node as usize).len()];
        waiting.push(node);
        if waiting.len() == LANES {
            order.append(waiting);
        }
    }
    for mut rest in waiting.into_iter().filter(|rest| !rest.is_empty()) {
        rest.resize(LANES, NONE);
        order.append(&mut rest);
    }
    order
}

impl GraphEnds {
    /// The nodes in an order by groups, and the joints of these. Of so many nodes those at elements are dynamic that
    /// are below `count`.
    pub(super) fn new(
        elements: &[JointElement],
        count: usize,
        blocks: &DualBlocks,
    ) -> (Vec<u32>, Self) {
        let mut this = Self { softness: vec![[0.0; 3]; elements.len()], ..Self::default() };
        let (mut sides, mut known) = (Vec::new(), BTreeMap::new());
        for (e, element) in elements.iter().enumerate() {
            for (side, &node) in (0..).zip(&element.nodes) {
                let anchor = element.anchors[usize::from(side)];
                if (node as usize) < count {
                    sides.push((node, (e as u32, side)));
                } else {
                    let node = node - count as u32;
                    let sign = f64::from(SIGNS[usize::from(side)]);
                    this.held.push(HeldEnd { element: e, node, anchor, sign });
                    this.held_signs.push(sign);
                }
            }
        }
        let ends = Csr::new(count, sides.into_iter());
        let order = grouped(&ends);
        let mut set = vec![false; blocks.values.len()];
        this.first.push([0, 0]);
        for nodes in order.chunks_exact(LANES) {
            this.add_group(elements, &ends, nodes, &mut known);
            this.add_pairs(&ends, nodes, blocks, &mut set);
            this.first.push([this.ends.len() as u32, this.pairs.len() as u32]);
        }
        (order, this)
    }

    /// Adds the ends of four nodes; `known` are the anchors that there are.
    fn add_group(
        &mut self,
        elements: &[JointElement],
        ends: &Csr<(u32, u8)>,
        nodes: &[u32],
        known: &mut BTreeMap<Vec<u64>, u32>,
    ) {
        let mut axes = [false; 3];
        for i in 0..ends.of(nodes[0] as usize).len() {
            let (mut joints, mut signs, mut anchors) = ([0; LANES], [0; LANES], ZERO3);
            for (k, &node) in nodes.iter().enumerate().filter(|(_, node)| **node != NONE) {
                let (element, side) = ends.of(node as usize)[i];
                joints[k] = element;
                signs[k] = SIGNS[usize::from(side)];
                let anchor = elements[element as usize].anchors[usize::from(side)];
                // What is left beside an axis by rounding is dropped: joints stay open by more.
                let rounding = 2.0 * f64::EPSILON * anchor.amax();
                for i in (0..3).filter(|&i| anchor[i].abs() > rounding) {
                    anchors[i].0[k] = anchor[i];
                    axes[i] = true;
                }
            }
            let bits = anchors.iter().flat_map(|x| x.0).map(f64::to_bits).collect();
            let next = self.anchors.len() as u32;
            let anchor = *known.entry(bits).or_insert(next);
            if anchor == next {
                self.anchors.push(anchors);
            }
            self.ends.push(GroupEnd { elements: joints, anchor, signs });
            self.signs.push(signs);
        }
        // One of them at least.
        axes[0] |= axes == [false; 3];
        self.axes.push(axes);
    }

    /// Adds where blocks of pairs of ends of four nodes lie; where there is none, zero is added to any.
    fn add_pairs(
        &mut self,
        ends: &Csr<(u32, u8)>,
        nodes: &[u32],
        blocks: &DualBlocks,
        set: &mut [bool],
    ) {
        for i in 0..ends.of(nodes[0] as usize).len() {
            for j in 0..=i {
                let mut slots = [ADDS; LANES];
                for (k, &node) in nodes.iter().enumerate().filter(|(_, node)| **node != NONE) {
                    let ends = ends.of(node as usize);
                    let (row, column) = (ends[i].0, ends[j].0 as usize);
                    let at = if row as usize == column {
                        Some(blocks.diagonal[column])
                    } else {
                        blocks.find(row, column)
                    };
                    // Elements at one node are coupled, so the block is there.
                    let at = at.unwrap_or(0);
                    let before = std::mem::replace(&mut set[at as usize], true);
                    slots[k] = if before { at | ADDS } else { at };
                }
                self.pairs.push(slots);
            }
        }
    }

    /// Whether each block is set by some group.
    pub(super) fn covers(&self, blocks: &DualBlocks) -> bool {
        let set = self.pairs.iter().flatten().filter(|slot| **slot & ADDS == 0).count();
        let below: usize = (0..blocks.count()).map(|column| blocks.below(column).len()).sum();
        set == blocks.count() + below
    }

    /// The ends of a group, and the places of their pairs.
    #[inline(always)]
    pub(super) fn at(&self, group: usize) -> (&[GroupEnd], &[[u32; LANES]]) {
        let ([end, pair], [last, last_pair]) = (self.first[group], self.first[group + 1]);
        (&self.ends[end as usize..last as usize], &self.pairs[pair as usize..last_pair as usize])
    }

    /// Where the joints of an end are at their bodies.
    #[inline(always)]
    pub(super) fn anchor(&self, end: &GroupEnd) -> V {
        self.anchors[end.anchor as usize]
    }

    /// The principal axes of a group's bodies that its joints are on or between.
    #[inline(always)]
    pub(super) fn axes(&self, group: usize) -> [bool; 3] {
        self.axes[group]
    }

    /// Lets broken elements go; `compliance` is that of every row.
    pub(super) fn set_active(&mut self, active: &[bool], compliance: &[f64]) {
        for (end, signs) in self.ends.iter_mut().zip(&self.signs) {
            for (k, &element) in end.elements.iter().enumerate() {
                end.signs[k] = if active[element as usize] { signs[k] } else { 0 };
            }
        }
        for (end, sign) in self.held.iter_mut().zip(&self.held_signs) {
            end.sign = if active[end.element] { *sign } else { 0.0 };
        }
        let rows = active.iter().zip(compliance.chunks_exact(3));
        for (softness, (&active, rows)) in self.softness.iter_mut().zip(rows) {
            *softness = if active { [rows[0], rows[1], rows[2]] } else { [1.0; 3] };
        }
    }
}
