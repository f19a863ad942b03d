//! Joints in the system of an island: their rows at the bodies that stay, and with each other at those that do not.

use std::ops::Range;

use super::{super::super::StepScheme, Differs, Island, KeptBody, System, graph::IslandGraph};
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
        self.holds.sort_by_key(|hold| hold.slot);
        self.couples.sort_by_key(|couple| couple.slot);
    }

    /// Rows of the joints at bodies that stay, and the blocks of joints without any others.
    #[inline(always)]
    pub(super) fn assemble_holds(
        &mut self,
        system: &System,
        scheme: &StepScheme,
        differs: Differs,
    ) {
        let is_new = differs == Differs::All;
        let is_renewed = |element: u32| is_new || system.rows.renewed[element as usize];
        self.find_roots(system, scheme, is_new);
        for block in self.holds.chunk_by(|a, b| a.slot == b.slot) {
            let RowsAtBody { slot, element, body, .. } = block[0];
            if !is_renewed(element) {
                continue;
            }
            let n = self.blocks.size(self.bodies[body as usize].vertex as usize);
            let values =
                &mut self.blocks.values[slot as usize..][..rows_of(system, element).len() * n];
            values.fill(0.0);
            for hold in block {
                for (row, out) in rows_of(system, element).zip(values.chunks_exact_mut(n)) {
                    if system.rows.live[row] {
                        let Affine { frame, origin } =
                            &system.rows.gradients[row][hold.side as usize];
                        let image = self.roots[body as usize].project(frame, origin);
                        out.iter_mut().zip(&image).for_each(|(out, g)| *out += g);
                    }
                }
            }
        }
        for &(element, vertex) in self.joints.iter().filter(|(element, _)| is_renewed(*element)) {
            let own = rows_of(system, element);
            let at = self.blocks.diagonal[vertex as usize] as usize;
            let block = &mut self.blocks.values[at..][..own.len() * own.len()];
            block.fill(0.0);
            add_compliance(system, block, own);
        }
    }

    /// The roots of all bodies, or of those that have changed.
    fn find_roots(&mut self, system: &System, scheme: &StepScheme, is_new: bool) {
        if is_new {
            let root = |body: &KeptBody| system.root(body.node as usize, scheme);
            self.roots.clear();
            self.roots.extend(self.bodies.iter().map(root));
            return;
        }
        for (body, root) in self.bodies.iter().zip(&mut self.roots) {
            if system.folds.has_changed(body.node as usize) {
                *root = system.root(body.node as usize, scheme);
            }
        }
    }

    /// Rows of the joints with each other, and what they lack. Those that are not live stand alone.
    #[inline(always)]
    pub(super) fn assemble_joints(&mut self, system: &System, differs: Differs) {
        let is_renewed = |e: u32| differs == Differs::All || system.rows.renewed[e as usize];
        if differs == Differs::Contacts {
            for i in 0..self.held_couples.len() {
                let rest = &self.couples[self.held_couples[i] as usize..];
                let count = rest.iter().take_while(|couple| couple.slot == rest[0].slot).count();
                let block = &rest[..count];
                if block.iter().any(|couple| system.folds.has_changed(couple.node as usize)) {
                    fill_block(&mut self.blocks.values, system, block);
                }
            }
        } else {
            for block in self.couples.chunk_by(|a, b| a.slot == b.slot) {
                if is_renewed(block[0].row.0) || is_renewed(block[0].column.0) {
                    fill_block(&mut self.blocks.values, system, block);
                }
            }
        }
        // Bodies under no load of bounded rows, and without contacts, go where they went in the round before.
        if differs == Differs::Contacts && system.bounds.is_empty() {
            for i in 0..self.held_joints.len() {
                self.find_lacks(system, self.joints[self.held_joints[i] as usize]);
            }
        } else {
            for i in 0..self.joints.len() {
                if !system.bounds.is_empty() || is_renewed(self.joints[i].0) {
                    self.find_lacks(system, self.joints[i]);
                }
            }
        }
        self.x.copy_from_slice(&self.lacks);
    }

    /// What the rows of a joint lack that are live.
    #[inline(always)]
    fn find_lacks(&mut self, system: &System, (element, vertex): (u32, u32)) {
        let first = self.blocks.first[vertex as usize] as usize;
        for (at, row) in (first..).zip(rows_of(system, element)) {
            let lacks = system.rows.live[row].then(|| -system.lack(element as usize, row));
            self.lacks[at] = lacks.unwrap_or(0.0);
        }
    }

    /// Finds the joints and the blocks of joints at nodes that touch what does not move.
    pub(super) fn find_held(&mut self, system: &System, contacts: &StepContacts) {
        let is_held = |node: u32| contacts.is_held(node as usize);
        self.held_joints.clear();
        self.held_couples.clear();
        for (at, &(element, _)) in (0..).zip(&self.joints) {
            if system.ends[element as usize].into_iter().any(is_held) {
                self.held_joints.push(at);
            }
        }
        let mut first = 0;
        for block in self.couples.chunk_by(|a, b| a.slot == b.slot) {
            if block.iter().any(|couple| is_held(couple.node)) {
                self.held_couples.push(first);
            }
            first += block.len() as u32;
        }
    }
}

/// The rows of an element.
#[inline(always)]
pub(super) fn rows_of(system: &System, element: u32) -> Range<usize> {
    let first = &system.dual.blocks.first[element as usize..];
    first[0] as usize..first[1] as usize
}

/// Fills the block of two elements, or of one with itself, by all that couples them.
#[inline(always)]
fn fill_block(values: &mut [f64], system: &System, couples: &[RowsAtNode]) {
    let RowsAtNode { slot, row: (element, _), column: (other, _), .. } = couples[0];
    let [r, c] = [element, other].map(|e| rows_of(system, e));
    let values = &mut values[slot as usize..][..r.len() * c.len()];
    values.fill(0.0);
    for couple in couples {
        let mut entries = values.iter_mut();
        for i in rows_of(system, couple.row.0) {
            for (j, value) in rows_of(system, couple.column.0).zip(&mut entries) {
                if system.rows.live[i] && system.rows.live[j] {
                    let gradient = &system.rows.gradients[i][couple.row.1 as usize];
                    *value -= gradient.dot(&system.rows.replies[j][couple.column.1 as usize]);
                }
            }
        }
    }
    if element == other {
        add_compliance(system, values, r);
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
