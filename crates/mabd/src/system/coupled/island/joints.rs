//! Joints in the system of an island: their rows at the bodies that stay, and with each other at those that do not.

use std::ops::Range;

use super::{super::super::StepScheme, Island, System, graph::IslandGraph};
use crate::{affine::Affine, contact::StepContacts};

/// The rows of an element by the columns of a body that stays.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowsAtBody {
    slot: u32,
    element: u32,
    side: u8,
    body: u32,
}

/// The rows of two elements, or of one with itself, at a body that was eliminated, the later one first.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowsAtNode {
    slot: u32,
    node: u32,
    row: (u32, u8),
    column: (u32, u8),
}

impl Island {
    /// Finds where the rows of joints go.
    pub(super) fn find_slots(&mut self, system: &System, graph: &IslandGraph<'_>) {
        for &(element, vertex) in &self.joints {
            for (side, node) in system.elements[element as usize].nodes.into_iter().enumerate() {
                if let Some(body) = graph.body(node) {
                    let slot = self.slot(vertex, self.bodies[body].vertex);
                    let (body, side) = (body as u32, side as u8);
                    self.holds.push(RowsAtBody { slot, element, side, body });
                    continue;
                }
                if node as usize >= system.nodes.count() {
                    continue;
                }
                for &(other, other_side) in system.incidence.at(node as usize) {
                    let Ok(at) = graph.elements.binary_search(&other) else { continue };
                    let column = self.joints[at].1;
                    let (row, end) = ((element, side as u8), (other, other_side));
                    // An element may hold a body with both sides.
                    if column < vertex || column == vertex && end.1 <= row.1 {
                        let slot = self.slot(vertex, column);
                        self.couples.push(RowsAtNode { slot, node, row, column: end });
                        if column == vertex && end.1 < row.1 {
                            self.couples.push(RowsAtNode { slot, node, row: end, column: row });
                        }
                    }
                }
            }
        }
        self.couples.sort_by_key(|couple| couple.slot);
    }

    /// Rows of the joints at bodies that stay, and the blocks of joints without any others.
    #[inline(always)]
    pub(super) fn assemble_holds(&mut self, system: &System, scheme: &StepScheme) {
        self.roots.clear();
        self.roots.extend(self.bodies.iter().map(|body| system.root(body.node as usize, scheme)));
        let rows = &system.dual.blocks.first;
        for &RowsAtBody { slot, element, side, body } in &self.holds {
            let n = self.blocks.size(self.bodies[body as usize].vertex as usize);
            let first = rows[element as usize] as usize;
            let block = self.blocks.values[slot as usize..].chunks_exact_mut(n);
            for (row, out) in (first..rows[element as usize + 1] as usize).zip(block) {
                if system.rows.live[row] {
                    let Affine { frame, origin } = &system.rows.gradients[row][side as usize];
                    let image = self.roots[body as usize].project(frame, origin);
                    out.iter_mut().zip(&image).for_each(|(out, g)| *out += g);
                }
            }
        }
        for &(element, vertex) in &self.joints {
            let own = rows[element as usize] as usize..rows[element as usize + 1] as usize;
            let at = self.blocks.diagonal[vertex as usize] as usize;
            add_compliance(system, &mut self.blocks.values[at..][..own.len() * own.len()], own);
        }
    }

    /// Rows of the joints with each other, and what they lack. Those that are not live stand alone.
    #[inline(always)]
    pub(super) fn assemble_joints(
        &mut self,
        system: &System,
        contacts: &StepContacts,
        is_new: bool,
    ) {
        let rows = &system.dual.blocks.first;
        let all = |e: u32| rows[e as usize] as usize..rows[e as usize + 1] as usize;
        for block in self.couples.chunk_by(|a, b| a.slot == b.slot) {
            if !is_new && !block.iter().any(|couple| system.folds.has_changed(couple.node as usize))
            {
                continue;
            }
            let RowsAtNode { slot, row: (element, _), column: (other, _), .. } = block[0];
            let [r, c] = [element, other].map(all);
            let values = &mut self.blocks.values[slot as usize..][..r.len() * c.len()];
            values.fill(0.0);
            for couple in block {
                let mut entries = values.iter_mut();
                for i in all(couple.row.0) {
                    for (j, value) in all(couple.column.0).zip(&mut entries) {
                        if system.rows.live[i] && system.rows.live[j] {
                            let gradient = &system.rows.gradients[i][couple.row.1 as usize];
                            *value -=
                                gradient.dot(&system.rows.replies[j][couple.column.1 as usize]);
                        }
                    }
                }
            }
            if element == other {
                add_compliance(system, values, r);
            }
        }
        for &(element, vertex) in &self.joints {
            let first = self.blocks.first[vertex as usize] as usize;
            // Bodies under no load of bounded rows, and without contacts, go where they went in the round before.
            let moves = is_new
                || !system.bounds.is_empty()
                || system.elements[element as usize]
                    .nodes
                    .iter()
                    .any(|&n| contacts.is_held(n as usize));
            for (at, row) in (first..).zip(all(element)).filter(|&(_, row)| system.rows.live[row]) {
                if moves {
                    self.lacks[at] = -system.lack(element as usize, row);
                }
                self.x[at] = self.lacks[at];
            }
        }
    }
}

/// Completes the block of a joint's own rows.
#[inline(always)]
fn add_compliance(system: &System, block: &mut [f64], rows: Range<usize>) {
    let n = rows.len();
    for (k, row) in rows.enumerate() {
        let entry = &mut block[k * n + k];
        *entry = if system.rows.live[row] { *entry - system.rows.compliance[row] } else { -1.0 };
    }
}
