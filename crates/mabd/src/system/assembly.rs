//! The dual matrix and its right-hand side, gathered node by node so that the order of sums is fixed.

use taut_model::Csr;

use super::System;
use crate::{
    affine::Affine,
    dual::{blocks::DualBlocks, order::Link},
};

/// Which elements meet at each node, and where the blocks that couple them lie.
#[derive(Clone, Debug)]
pub(crate) struct NodeBlocks {
    /// Element and side, in the order of the elements.
    ends: Csr<(u32, u8)>,
    /// First of each node's entries in `slots`.
    slots_first: Vec<u32>,
    /// For each pair of ends at a node, the later one first, where its block lies.
    slots: Vec<u32>,
}

impl NodeBlocks {
    pub(crate) fn new(nodes: usize, links: &[Link], blocks: &DualBlocks) -> Self {
        let sides = (0..).zip(links).flat_map(|(element, link)| {
            let sides = (0..).zip(link);
            sides.filter_map(move |(side, node)| Some(((*node)?, (element, side))))
        });
        let mut this =
            Self { ends: Csr::new(nodes, sides), slots_first: vec![0], slots: Vec::new() };
        for node in 0..nodes {
            let ends = this.ends.of(node);
            for (i, &(row, _)) in ends.iter().enumerate() {
                for &(column, _) in &ends[..i] {
                    // Elements at one node are coupled, so the block is there.
                    this.slots.push(blocks.find(row, column as usize).unwrap_or(0));
                }
            }
            this.slots_first.push(this.slots.len() as u32);
        }
        this
    }

    #[inline(always)]
    pub(super) fn at(&self, node: usize) -> &[(u32, u8)] {
        self.ends.of(node)
    }

    pub(super) fn slots(&self, node: usize) -> &[u32] {
        &self.slots[self.slots_first[node] as usize..self.slots_first[node + 1] as usize]
    }
}

impl System {
    /// Fills the dual matrix. Rows that are not live stand alone.
    pub(super) fn assemble(&mut self) {
        let blocks = &mut self.dual.blocks;
        blocks.values.fill(0.0);
        for node in 0..self.nodes.count() {
            let mut slots = self.incidence.slots(node).iter();
            let ends = self.incidence.at(node);
            for (i, &(row, row_side)) in ends.iter().enumerate() {
                for &(column, column_side) in &ends[..i] {
                    let slot = slots.next().map_or(0, |&slot| slot as usize);
                    let pair = [(row, row_side), (column, column_side)];
                    add_block(
                        blocks,
                        slot,
                        pair,
                        &self.rows.gradients,
                        &self.rows.replies,
                        &self.rows.live,
                    );
                }
                let (slot, own) = (blocks.diagonal[row as usize] as usize, (row, row_side));
                add_block(
                    blocks,
                    slot,
                    [own, own],
                    &self.rows.gradients,
                    &self.rows.replies,
                    &self.rows.live,
                );
            }
        }
        for element in 0..blocks.count() {
            let (n, first) = (blocks.size(element), blocks.first[element] as usize);
            let at = blocks.diagonal[element] as usize;
            for k in 0..n {
                let entry = &mut blocks.values[at + k * n + k];
                *entry = if self.rows.live[first + k] {
                    *entry + self.rows.compliance[first + k]
                } else {
                    1.0
                };
            }
        }
    }

    /// `G H^-1 r + C`, with the given multipliers of rows that are not live in `r`.
    pub(super) fn gather_rhs(&mut self) {
        for e in 0..self.elements.len() {
            let first = self.dual.blocks.first[e] as usize;
            for k in first..first + self.elements[e].rows.len() {
                self.rows.rhs[k] =
                    if self.rows.live[k] { self.lack(e, k) } else { self.rows.lambda[k] };
            }
        }
    }

    /// What a row lacks where bodies go under the loads that are given.
    #[inline(always)]
    pub(super) fn lack(&self, element: usize, row: usize) -> f64 {
        let mut value = self.rows.errors[row];
        for (side, &node) in self.ends[element].iter().enumerate() {
            let Some(response) = self.nodes.responses.get(node as usize) else {
                continue;
            };
            let (gradient, reply) =
                (&self.rows.gradients[row][side], &self.rows.replies[row][side]);
            value += gradient.dot(&response.free) - reply.dot(&response.load);
        }
        value
    }
}

#[inline(always)]
fn add_block(
    blocks: &mut DualBlocks,
    slot: usize,
    [(row, row_side), (column, column_side)]: [(u32, u8); 2],
    gradients: &[[Affine; 2]],
    replies: &[[Affine; 2]],
    live: &[bool],
) {
    let (r0, c0) = (blocks.first[row as usize] as usize, blocks.first[column as usize] as usize);
    let (m, n) = (blocks.size(row as usize), blocks.size(column as usize));
    for i in 0..m {
        for j in 0..n {
            if live[r0 + i] && live[c0 + j] {
                let gradient = &gradients[r0 + i][row_side as usize];
                let reply = &replies[c0 + j][column_side as usize];
                blocks.values[slot + i * n + j] += gradient.dot(reply);
            }
        }
    }
}
