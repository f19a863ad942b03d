//! The same as `assembly.rs` where every element is three rows that hold two points together: the
//! gradients need not be stored, and blocks are conjugations of 3x3 matrices.

use taut_core::{Mat3, Vec3};

use super::{StepScheme, System};
use crate::affine::Affine;

/// Side A counts with plus, side B with minus.
const SIGNS: [f64; 2] = [1.0, -1.0];

impl System {
    /// Fills the dual matrix: `R W R^T` for every pair of anchors of a body, and `h^2/m`.
    pub(super) fn assemble_points(&mut self, scheme: &StepScheme) {
        let blocks = &mut self.dual.blocks;
        blocks.values.fill(0.0);
        for node in 0..self.nodes.count() {
            let response = &self.nodes.responses[node];
            let rotation = &response.rotation;
            // Added after turning, else a rotation that is not quite one would open the joints.
            let reach =
                Mat3::from_diagonal_element(scheme.h * scheme.h / self.nodes.kind(node).mass);
            let mut slots = self.incidence.slots(node).iter();
            let ends = self.incidence.at(node);
            for (i, &(row, row_side)) in ends.iter().enumerate() {
                let x = &self.elements[row as usize].anchors[row_side as usize];
                let live = self.active[row as usize];
                for &(column, column_side) in &ends[..i] {
                    let slot = slots.next().map_or(0, |&slot| slot as usize);
                    if !(live && self.active[column as usize]) {
                        continue;
                    }
                    let y = &self.elements[column as usize].anchors[column_side as usize];
                    let between =
                        rotation * response.local.of_anchors(x, y) * rotation.transpose() + reach;
                    let sign = SIGNS[row_side as usize] * SIGNS[column_side as usize];
                    add(&mut blocks.values[slot..slot + 9], &between, sign);
                }
                if live {
                    let own =
                        rotation * response.local.of_anchors(x, x) * rotation.transpose() + reach;
                    let slot = blocks.diagonal[row as usize] as usize;
                    add(&mut blocks.values[slot..slot + 9], &own, 1.0);
                }
            }
        }
        for (element, &live) in self.active.iter().enumerate() {
            let at = blocks.diagonal[element] as usize;
            for k in 0..3 {
                blocks.values[at + 4 * k] +=
                    if live { self.rows.compliance[3 * element + k] } else { 1.0 };
            }
        }
    }

    /// Distance of the anchors where the bodies would go alone.
    pub(super) fn gather_points_rhs(&mut self) {
        for (e, element) in self.elements.iter().enumerate() {
            let mut gap = Vec3::zeros();
            if self.active[e] {
                for (side, sign) in SIGNS.into_iter().enumerate() {
                    let (node, anchor) = (element.nodes[side], &element.anchors[side]);
                    let place = self.nodes.place(node);
                    let mut tip = place.frame * anchor + place.origin;
                    if let Some(response) = self.nodes.responses.get(node as usize) {
                        tip += response.rotation * (response.free.frame * anchor)
                            + response.free.origin;
                    }
                    gap += tip * sign;
                }
            }
            self.rows.rhs[3 * e..3 * e + 3].copy_from_slice(gap.as_slice());
        }
    }

    /// Loads of the multipliers at every node.
    pub(super) fn gather_points_loads(&mut self) {
        for node in 0..self.nodes.count() {
            let rotation = self.nodes.responses[node].rotation;
            let mut load = Affine::ZERO;
            for &(element, side) in self.incidence.at(node) {
                let e = element as usize;
                let force = Vec3::from_column_slice(&self.rows.lambda[3 * e..3 * e + 3])
                    * SIGNS[side as usize];
                let anchor = &self.elements[e].anchors[side as usize];
                load.frame += rotation.tr_mul(&force) * anchor.transpose();
                load.origin += force;
            }
            self.nodes.responses[node].load = load;
        }
    }
}

#[inline(always)]
fn add(values: &mut [f64], block: &Mat3, sign: f64) {
    for i in 0..3 {
        for j in 0..3 {
            values[3 * i + j] += block[(i, j)] * sign;
        }
    }
}
