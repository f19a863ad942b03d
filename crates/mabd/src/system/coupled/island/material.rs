//! Nodes of material in the system of an island: their stiffness, and contacts with particles and triangles of them.
//!
//! A contact with a point `sum w_k x_k` of a triangle has the gradient `-w_k n` at each corner, and adds `k g g^T` to
//! the blocks of the body and of all corners, as a soft row of compliance `1/k` would after its elimination.

use taut_core::Vec3;

use super::{super::super::StepScheme, Island, NONE, System, add_outer, graph::IslandGraph};
use crate::{
    affine::Affine,
    contact::{ContactPoint, CornerShares, StepContacts},
    local::Root,
};

/// Most bodies and nodes at a contact: a body and three corners.
const ENDS: usize = 4;

/// Where the stiffness between two nodes goes.
#[derive(Clone, Copy, Debug)]
pub(super) struct MaterialBlock {
    slot: u32,
    /// The pair among those of the scene.
    pair: u32,
    /// The node of the higher place, then the other.
    bodies: [u32; 2],
    /// Whether the lower one's columns are the rows of the block.
    transposed: bool,
}

/// A contact with a particle or a triangle of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct SoftContact {
    point: u32,
    /// The body, then the particle or the corners; [`NONE`] where forces do not move them, or beyond.
    bodies: [u32; ENDS],
    /// The blocks between them, the later one's columns being the rows.
    slots: [[u32; ENDS]; ENDS],
    multipliers: Vec3,
}

/// The nodes of A and of what is at B, each with its share of the gradient.
fn shares(point: &ContactPoint) -> [(u32, f64); ENDS] {
    let mut shares = [(NONE, 0.0); ENDS];
    shares[0] = (point.nodes[0], 1.0);
    match &point.corners {
        Some(CornerShares { nodes, weights }) => {
            let corners = nodes.iter().zip(weights);
            for (share, (&node, weight)) in shares[1..].iter_mut().zip(corners) {
                *share = (node, -weight);
            }
        }
        None => shares[1] = (point.nodes[1], -1.0),
    }
    shares
}

/// The pairs of a body and the nodes that it touches, the lower one first, that forces move.
pub(super) fn touching(point: &ContactPoint, count: usize) -> impl Iterator<Item = [u32; 2]> {
    let [(body, _), others @ ..] = shares(point);
    let moves = move |node: u32| (node as usize) < count;
    let others = others.into_iter().map(|(node, _)| node);
    let pairs = others.filter(move |&node| moves(node) && moves(body));
    pairs.map(move |node| [node.min(body), node.max(body)])
}

impl Island {
    /// Finds where the blocks of material go.
    pub(super) fn find_material(&mut self, graph: &IslandGraph<'_>) {
        let Some(elastic) = graph.system.elastic.as_deref() else { return };
        for body in 0..self.bodies.len() {
            let Some(place) = elastic.place(self.bodies[body].node as usize) else { continue };
            for &(pair, other) in elastic.coupled(place) {
                // What material couples is one island.
                let lower = graph.body(other).unwrap_or(body);
                let [high, low] = [body, lower].map(|b| self.bodies[b].vertex);
                let (slot, transposed) = (self.slot(high, low), low > high);
                let bodies = [body as u32, lower as u32];
                self.material.push(MaterialBlock { slot, pair, bodies, transposed });
            }
        }
    }

    /// Takes over the contacts of a step with particles and triangles.
    pub(super) fn take_over_soft(&mut self, contacts: &StepContacts, soft: &[u32], count: usize) {
        self.soft.clear();
        for &point in soft {
            let bodies = shares(contacts.point(point)).map(|(node, _)| {
                let found = self.bodies.binary_search_by_key(&node, |body| body.node);
                found.ok().filter(|_| (node as usize) < count).map_or(NONE, |at| at as u32)
            });
            let mut slots = [[NONE; ENDS]; ENDS];
            for (i, &a) in bodies.iter().enumerate().filter(|(_, a)| **a != NONE) {
                for (j, &b) in bodies.iter().enumerate().filter(|(_, b)| **b != NONE) {
                    let [a, b] = [a, b].map(|body| self.bodies[body as usize].vertex);
                    if a >= b {
                        slots[i][j] = self.slot(a, b);
                    }
                }
            }
            self.soft.push(SoftContact { point, bodies, slots, multipliers: Vec3::zeros() });
        }
    }

    /// Stiffness of material and of contacts with it, and what inertia and material leave.
    pub(super) fn assemble_material(
        &mut self,
        system: &System,
        contacts: &StepContacts,
        scheme: &StepScheme,
    ) {
        let Some(elastic) = system.elastic.as_deref() else { return };
        for &MaterialBlock { slot, pair, bodies, transposed } in &self.material {
            let [a, b] = bodies.map(|body| self.roots[body as usize].reach());
            let block = elastic.block(pair).times(a * b).0;
            let values = &mut self.blocks.values[slot as usize..slot as usize + 9];
            for (k, value) in values.iter_mut().enumerate() {
                let (i, j) = if transposed { (k % 3, k / 3) } else { (k / 3, k % 3) };
                *value += block[i].0[j];
            }
        }
        for (body, root) in self.bodies.iter().zip(&self.roots) {
            let Some(place) = elastic.place(body.node as usize) else { continue };
            let first = self.blocks.first[body.vertex as usize] as usize;
            let mut residual = elastic.residual(place, scheme.h);
            if !system.bounds.is_empty() {
                // No other multipliers are known yet than those given.
                residual -= system.gathered(body.node as usize, &system.rows.lambda).origin;
            }
            self.x[first..first + 3].copy_from_slice((residual * root.reach()).as_slice());
        }
        for i in 0..self.soft.len() {
            let SoftContact { point, bodies, slots, .. } = self.soft[i];
            let point = contacts.point(point);
            for axis in (0..3).filter(|&axis| point.stiffness(axis) > 0.0) {
                let stiffness = point.stiffness(axis);
                let (images, value) = self.soft_images(system, point, &bodies, axis, scheme);
                for (a, &body) in bodies.iter().enumerate().filter(|(_, body)| **body != NONE) {
                    let vertex = self.bodies[body as usize].vertex as usize;
                    let (first, m) = (self.blocks.first[vertex] as usize, self.blocks.size(vertex));
                    for (x, g) in self.x[first..first + m].iter_mut().zip(&images[a]) {
                        *x -= stiffness * value * g;
                    }
                    for (b, &slot) in slots[a].iter().enumerate().filter(|(_, s)| **s != NONE) {
                        let other = self.bodies[bodies[b] as usize].vertex as usize;
                        let (n, at) = (self.blocks.size(other), slot as usize);
                        let block = &mut self.blocks.values[at..at + m * n];
                        add_outer(block, &images[a][..m], &images[b][..n], stiffness);
                    }
                }
            }
        }
    }

    /// Gradients of a row by the columns of all that takes part, and its value where bodies go under the loads that
    /// are given.
    fn soft_images(
        &self,
        system: &System,
        point: &ContactPoint,
        bodies: &[u32; ENDS],
        axis: usize,
        scheme: &StepScheme,
    ) -> ([[f64; Root::COLUMNS]; ENDS], f64) {
        let mut value = point.value(axis);
        let mut images = [[0.0; Root::COLUMNS]; ENDS];
        let shares = shares(point);
        for (k, &body) in bodies.iter().enumerate().filter(|(_, body)| **body != NONE) {
            let (node, share) = (shares[k].0 as usize, shares[k].1);
            let gradient = if k == 0 {
                point.gradient(0, axis, &system.nodes.responses[node].rotation)
            } else {
                Affine { origin: point.direction(axis) * share, ..Affine::ZERO }
            };
            if k == 0 {
                value += gradient.dot(&system.folds.increment(&system.nodes, node, scheme.h));
            }
            images[k] = self.roots[body as usize].project(&gradient.frame, &gradient.origin);
        }
        (images, value)
    }

    /// Finds what contacts with particles and triangles exert in the solution.
    pub(super) fn find_soft_multipliers(
        &mut self,
        system: &System,
        contacts: &StepContacts,
        scheme: &StepScheme,
    ) {
        for i in 0..self.soft.len() {
            let SoftContact { point, bodies, .. } = self.soft[i];
            let point = contacts.point(point);
            let mut multipliers = Vec3::zeros();
            for axis in (0..3).filter(|&axis| point.stiffness(axis) > 0.0) {
                let (images, mut value) = self.soft_images(system, point, &bodies, axis, scheme);
                for (&body, image) in bodies.iter().zip(&images).filter(|(b, _)| **b != NONE) {
                    let vertex = self.bodies[body as usize].vertex as usize;
                    let first = self.blocks.first[vertex] as usize;
                    let y = &self.x[first..first + self.blocks.size(vertex)];
                    value += y.iter().zip(image).map(|(y, g)| y * g).sum::<f64>();
                }
                multipliers[axis] = point.stiffness(axis) * value;
            }
            self.soft[i].multipliers = multipliers;
        }
    }

    /// Writes how far nodes of material move, and adds the loads of what touches them to bodies.
    pub(super) fn read_material(&self, system: &mut System, contacts: &StepContacts) {
        for soft in &self.soft {
            let point = contacts.point(soft.point);
            let node = point.nodes[0] as usize;
            if soft.bodies[0] == NONE {
                continue;
            }
            for axis in (0..3).filter(|&axis| point.stiffness(axis) > 0.0) {
                let rotation = &system.nodes.responses[node].rotation;
                let gradient = point.gradient(0, axis, rotation);
                let load = &mut system.folds.loads[node];
                *load = load.plus(&gradient, soft.multipliers[axis]);
            }
        }
        for (body, root) in self.bodies.iter().zip(&self.roots) {
            if system.is_elastic(body.node as usize) {
                let first = self.blocks.first[body.vertex as usize] as usize;
                let y = Vec3::from_column_slice(&self.x[first..first + 3]);
                let origin = y * root.reach();
                system.nodes.responses[body.node as usize].free = Affine { origin, ..Affine::ZERO };
            }
        }
    }
}
