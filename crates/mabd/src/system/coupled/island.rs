//! One island as a linear system of bodies and joints.
//!
//! A body that touches others stays in it, by the amounts `y` of the columns of a root of its inverse,
//! `H^-1 = B B^T`: it moves by its free increment and `B y`, and a contact of stiffness `k` is `k (B^T g)(B^T g)^T`
//! on its block, so that many contacts on a body cost no more than one. All others are eliminated beforehand,
//! and leave the dual matrix of their joints, negative:
//!
//! ```text
//! [1 + sum k (B^T g)(B^T g)^T     (G B)^T     ] [y     ]   [-sum k c B^T g]
//! [G B                         -G' H^-1 G'^T  ] [lambda] = [-(C + G f)    ]
//! ```
//!
//! Nodes of material stay as well, with `B = h/sqrt(m)`, and their stiffness `B K B` beside the ones (`island/material.rs`).
//!
//! Where a joint comes after the bodies it holds that stay, every pivot has a known sign, and none is small unless
//! rows say the same twice.

mod graph;
mod joints;
mod material;

use taut_core::Vec3;

use super::{super::StepScheme, System};
use crate::{
    contact::{ContactPoint, StepContacts},
    dual::{
        blocks::DualBlocks,
        degree::{inverse, pattern},
        direct::Direct,
    },
    local::Root,
    simd::{self, Once},
};
use graph::IslandGraph;
use joints::{RowsAtBody, RowsAtNode};
use material::{MaterialBlock, SoftContact};

/// None.
const NONE: u32 = u32::MAX;

/// How far a solution may leave joints open [m or rad], and how often it is corrected at most.
const CLOSED: f64 = 1e-10;
const CORRECTED_MAX: u32 = 3;

/// A body that stays.
#[derive(Clone, Copy, Debug)]
struct KeptBody {
    node: u32,
    vertex: u32,
}

/// A contact between two bodies that stay.
#[derive(Clone, Copy, Debug)]
struct ContactPair {
    point: u32,
    bodies: [u32; 2],
    slot: u32,
    /// Side whose columns are the rows of the block.
    row: u8,
}

/// What of the system of an island differs from the round before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Differs {
    All,
    /// In the first round of a solve in which some nodes stay: what there is of the others, their elements and contacts.
    Nodes,
    /// In later rounds, unless other rows of joints hold.
    Contacts,
}

/// One island.
pub(super) struct Island {
    root: u32,
    /// Whether its matrix is that of the round before.
    is_filled: bool,
    /// Pairs of nodes that touch, ascending.
    touching: Vec<[u32; 2]>,
    blocks: DualBlocks,
    direct: Direct,
    bodies: Vec<KeptBody>,
    /// Element and vertex.
    joints: Vec<(u32, u32)>,
    holds: Vec<RowsAtBody>,
    /// By the block to which they belong.
    couples: Vec<RowsAtNode>,
    /// Of joints that hold a node which touches what does not move, their places above, and of blocks of couples at such a
    /// node, where these begin.
    held_joints: Vec<u32>,
    held_couples: Vec<u32>,
    pairs: Vec<ContactPair>,
    /// Of each body that stays.
    roots: Vec<Root>,
    /// Right-hand side, then solution.
    x: Vec<f64>,
    /// The right-hand side, what the solution leaves of it, and its last correction; empty where neither is looked at.
    rhs: Vec<f64>,
    rest: Vec<f64>,
    change: Vec<f64>,
    /// What joints lack, by rows.
    lacks: Vec<f64>,
    /// Of each pair.
    multipliers: Vec<Vec3>,
    material: Vec<MaterialBlock>,
    soft: Vec<SoftContact>,
}

/// What an island is made of.
#[derive(Clone, Copy)]
pub(super) struct IslandMembers<'a> {
    pub(super) nodes: &'a [u32],
    pub(super) elements: &'a [u32],
    /// Contacts between two bodies, and with particles or triangles of them.
    pub(super) pairs: &'a [u32],
    pub(super) soft: &'a [u32],
}

/// The nodes of a contact, the lower one first.
fn ends(point: &ContactPoint) -> [u32; 2] {
    let [a, b] = point.nodes;
    [a.min(b), a.max(b)]
}

fn sorted(contacts: &StepContacts, members: &IslandMembers<'_>, count: usize) -> Vec<[u32; 2]> {
    let pairs = members.pairs.iter().map(|&t| ends(contacts.point(t)));
    let soft = members.soft.iter().flat_map(|&t| material::touching(contacts.point(t), count));
    let mut all: Vec<[u32; 2]> = pairs.chain(soft).collect();
    all.sort_unstable();
    all.dedup();
    all
}

impl Island {
    /// The island of these members.
    pub(super) fn new(
        system: &System,
        contacts: &StepContacts,
        members: &IslandMembers<'_>,
    ) -> Self {
        let IslandMembers { nodes, elements, .. } = *members;
        let touching = sorted(contacts, members, system.nodes.count());
        let mut bodies: Vec<u32> = touching.iter().flatten().copied().collect();
        bodies.extend(nodes.iter().filter(|&&node| system.is_elastic(node as usize)));
        bodies.sort_unstable();
        bodies.dedup();
        let graph = IslandGraph { system, bodies, elements, touching: &touching };
        let edges = graph.edges();
        let size = |v: u32| match graph.bodies.get(v as usize) {
            Some(&node) => system.columns(node as usize) as u8,
            None => {
                system.elements[elements[v as usize - graph.bodies.len()] as usize].rows.len() as u8
            }
        };
        let sizes: Vec<u8> = (0..graph.count() as u32).map(size).collect();
        let order = graph.order(&edges, &sizes);
        let place = inverse(&order);
        let pattern = pattern(&edges, &place);
        let sizes: Vec<u8> = order.iter().map(|&v| sizes[v as usize]).collect();
        let blocks = DualBlocks::new(&sizes, &pattern);
        let is_body = |v: &u32| (*v as usize) < graph.bodies.len();
        let sign = |v: &u32| std::iter::repeat_n(if is_body(v) { 1 } else { -1 }, size(*v).into());
        let signs: Vec<i8> = order.iter().flat_map(sign).collect();
        let direct = Direct::mixed(&blocks, &signs);
        let count = graph.bodies.len();
        let held = graph.bodies.iter().zip(&place);
        let mut this = Self {
            root: nodes.first().copied().unwrap_or(NONE),
            is_filled: false,
            x: vec![0.0; blocks.rows()],
            rhs: Vec::new(),
            rest: Vec::new(),
            change: Vec::new(),
            lacks: vec![0.0; blocks.rows()],
            bodies: held.map(|(&node, &vertex)| KeptBody { node, vertex }).collect(),
            joints: elements.iter().copied().zip(place[count..].iter().copied()).collect(),
            holds: Vec::new(),
            couples: Vec::new(),
            held_joints: Vec::new(),
            held_couples: Vec::new(),
            pairs: Vec::new(),
            roots: Vec::with_capacity(count),
            multipliers: Vec::new(),
            material: Vec::new(),
            soft: Vec::new(),
            touching: Vec::new(),
            blocks,
            direct,
        };
        this.find_slots(system, &graph);
        this.find_material(&graph);
        this.touching = touching;
        this
    }

    /// Where a block lies.
    fn slot(&self, a: u32, b: u32) -> u32 {
        if a == b {
            return self.blocks.diagonal[a as usize];
        }
        // Vertices that share something are coupled, so the block is there.
        self.blocks.find(a.max(b), a.min(b) as usize).unwrap_or(0)
    }

    pub(super) fn root(&self) -> usize {
        self.root as usize
    }

    /// Keeps it for another step: it takes no part in the solves of this one.
    pub(super) fn set_aside(&mut self) {
        self.is_filled = false;
    }

    pub(super) fn has_pairs(&self) -> bool {
        !self.touching.is_empty()
    }

    /// Whether contacts are between the same bodies as those for which it was made.
    pub(super) fn fits(
        &self,
        system: &System,
        contacts: &StepContacts,
        members: &IslandMembers<'_>,
    ) -> bool {
        self.touching == sorted(contacts, members, system.nodes.count())
    }

    /// Takes over the contacts of a step.
    pub(super) fn take_over(
        &mut self,
        system: &System,
        contacts: &StepContacts,
        members: &IslandMembers<'_>,
    ) {
        self.pairs.clear();
        for &point in members.pairs {
            let nodes = contacts.point(point).nodes;
            let bodies = nodes.map(|node| {
                self.bodies.binary_search_by_key(&node, |body| body.node).unwrap_or(0) as u32
            });
            let [a, b] = bodies.map(|body| self.bodies[body as usize].vertex);
            let (slot, row) = (self.slot(a, b), u8::from(b > a));
            self.pairs.push(ContactPair { point, bodies, slot, row });
        }
        self.multipliers.clear();
        self.multipliers.resize(members.pairs.len(), Vec3::zeros());
        self.take_over_soft(contacts, members.soft, system.nodes.count());
        self.find_held(system, contacts);
    }

    /// Solves for bodies and joints.
    pub(super) fn solve(
        &mut self,
        system: &System,
        contacts: &StepContacts,
        scheme: &StepScheme,
        mut differs: Differs,
    ) {
        let is_filled = std::mem::replace(&mut self.is_filled, true);
        if !is_filled || !self.material.is_empty() || !self.soft.is_empty() {
            differs = Differs::All;
        }
        if differs == Differs::All {
            self.blocks.values.fill(0.0);
        }
        let once = Once;
        simd::dispatch(
            #[inline(always)]
            || {
                once.spend();
                if differs != Differs::Contacts {
                    self.assemble_holds(system, scheme, differs);
                }
                self.assemble_joints(system, differs);
                self.assemble_bodies(system, contacts);
                self.assemble_pairs(system, contacts, scheme);
                self.assemble_material(system, contacts, scheme);
            },
        );
        self.solve_closely(system);
        self.find_soft_multipliers(system, contacts, scheme);
        for i in 0..self.pairs.len() {
            let point = contacts.point(self.pairs[i].point);
            for axis in 0..3 {
                let stiffness = point.stiffness(axis);
                self.multipliers[i][axis] = if stiffness > 0.0 {
                    let (images, value) = self.images(system, point, i, axis, scheme);
                    let moved = [0, 1].map(|side| {
                        let body = self.bodies[self.pairs[i].bodies[side] as usize];
                        let first = self.blocks.first[body.vertex as usize] as usize;
                        let y = &self.x[first..first + self.blocks.size(body.vertex as usize)];
                        y.iter().zip(&images[side]).map(|(y, g)| y * g).sum::<f64>()
                    });
                    stiffness * (value + moved[0] + moved[1])
                } else {
                    0.0
                };
            }
        }
    }

    /// Solves the system. Where stiff contacts leave little of what else is in a pivot, that does not close all joints, and is
    /// corrected by what it leaves, unless that makes no less of it: rows that contradict each other stay as they are.
    fn solve_closely(&mut self, system: &System) {
        let checks = !self.bodies.is_empty() && !self.joints.is_empty();
        if checks {
            self.rhs.clone_from(&self.x);
        }
        self.direct.solve(&self.blocks, &mut self.x);
        if !checks {
            return;
        }
        let mut open = self.find_rest(system);
        for _ in 0..CORRECTED_MAX {
            if open <= CLOSED || !open.is_finite() {
                return;
            }
            self.direct.correct(&mut self.x, &self.rest, &mut self.change);
            let before = std::mem::replace(&mut open, self.find_rest(system));
            if open.is_nan() || open > 0.5 * before {
                self.x.iter_mut().zip(&self.change).for_each(|(x, change)| *x -= change);
                return;
            }
        }
    }

    /// Finds what the solution leaves of the right-hand side; how far it leaves hard rows of joints open [m or rad].
    fn find_rest(&mut self, system: &System) -> f64 {
        self.rest.clone_from(&self.rhs);
        self.blocks.subtract_product(&self.x, &mut self.rest);
        let mut open = 0.0_f64;
        for &(element, vertex) in &self.joints {
            let first = self.blocks.first[vertex as usize] as usize;
            for (at, row) in (first..).zip(joints::rows_of(system, element)) {
                if system.rows.compliance[row] == 0.0 {
                    open = open.max(self.rest[at].abs());
                }
            }
        }
        open
    }

    /// Gradients of a row of a pair by the columns of both bodies, and its value where they go under the loads
    /// that are given.
    #[inline(always)]
    fn images(
        &self,
        system: &System,
        point: &ContactPoint,
        pair: usize,
        axis: usize,
        scheme: &StepScheme,
    ) -> ([[f64; Root::COLUMNS]; 2], f64) {
        let mut value = point.value(axis);
        let images = [0, 1].map(|side| {
            let node = point.nodes[side] as usize;
            let gradient = point.gradient(side, axis, &system.nodes.responses[node].rotation);
            value += gradient.dot(&system.folds.increment(&system.nodes, node, scheme.h));
            let root = &self.roots[self.pairs[pair].bodies[side] as usize];
            root.project(&gradient.frame, &gradient.origin)
        });
        (images, value)
    }

    /// Blocks of the bodies that stay, with what they touch that does not move.
    #[inline(always)]
    fn assemble_bodies(&mut self, system: &System, contacts: &StepContacts) {
        for (&KeptBody { node, vertex }, root) in self.bodies.iter().zip(&self.roots) {
            let node = node as usize;
            let (n, at) =
                (self.blocks.size(vertex as usize), self.blocks.diagonal[vertex as usize]);
            let block = &mut self.blocks.values[at as usize..at as usize + n * n];
            block.fill(0.0);
            (0..n).for_each(|k| block[k * n + k] = 1.0);
            let rotation = &system.nodes.responses[node].rotation;
            for (point, side) in contacts.folded(node) {
                for axis in (0..3).filter(|&axis| point.stiffness(axis) > 0.0) {
                    let gradient = point.gradient(side, axis, rotation);
                    let image = root.project(&gradient.frame, &gradient.origin);
                    add_outer(block, &image[..n], &image[..n], point.stiffness(axis));
                }
            }
        }
    }

    /// What contacts between bodies add.
    #[inline(always)]
    fn assemble_pairs(&mut self, system: &System, contacts: &StepContacts, scheme: &StepScheme) {
        for &ContactPair { bodies, slot, .. } in &self.pairs {
            let sizes = bodies.map(|b| self.blocks.size(self.bodies[b as usize].vertex as usize));
            let block = &mut self.blocks.values[slot as usize..];
            block[..sizes.iter().product()].fill(0.0);
        }
        for i in 0..self.pairs.len() {
            let ContactPair { point, bodies, slot, row } = self.pairs[i];
            let point = contacts.point(point);
            for axis in (0..3).filter(|&axis| point.stiffness(axis) > 0.0) {
                let stiffness = point.stiffness(axis);
                let (images, value) = self.images(system, point, i, axis, scheme);
                let vertices = bodies.map(|body| self.bodies[body as usize].vertex as usize);
                for (vertex, image) in vertices.into_iter().zip(&images) {
                    let (n, at) = (self.blocks.size(vertex), self.blocks.diagonal[vertex] as usize);
                    let block = &mut self.blocks.values[at..at + n * n];
                    add_outer(block, &image[..n], &image[..n], stiffness);
                    let first = self.blocks.first[vertex] as usize;
                    for (x, g) in self.x[first..first + n].iter_mut().zip(image) {
                        *x -= stiffness * value * g;
                    }
                }
                let (r, c) = (row as usize, 1 - row as usize);
                let [m, n] = [r, c].map(|side| self.blocks.size(vertices[side]));
                let block = &mut self.blocks.values[slot as usize..slot as usize + m * n];
                add_outer(block, &images[r][..m], &images[c][..n], stiffness);
            }
        }
    }

    /// Writes the multipliers of joints and adds the loads of contacts.
    pub(super) fn read(&self, system: &mut System, contacts: &StepContacts) {
        for &(element, vertex) in &self.joints {
            let from = self.blocks.first[vertex as usize] as usize;
            let first = system.dual.blocks.first[element as usize] as usize;
            for k in 0..self.blocks.size(vertex as usize) {
                if system.rows.live[first + k] {
                    system.rows.lambda[first + k] = self.x[from + k];
                }
            }
        }
        for (pair, multipliers) in self.pairs.iter().zip(&self.multipliers) {
            let point = contacts.point(pair.point);
            for axis in (0..3).filter(|&axis| point.stiffness(axis) > 0.0) {
                for side in 0..2 {
                    let node = point.nodes[side] as usize;
                    let rotation = &system.nodes.responses[node].rotation;
                    let gradient = point.gradient(side, axis, rotation);
                    let load = &mut system.folds.loads[node];
                    *load = load.plus(&gradient, multipliers[axis]);
                }
            }
        }
        self.read_material(system, contacts);
    }
}

/// `block += weight left right^T`.
#[inline(always)]
fn add_outer(block: &mut [f64], left: &[f64], right: &[f64], weight: f64) {
    for (out, l) in block.chunks_exact_mut(right.len()).zip(left) {
        let scaled = weight * l;
        out.iter_mut().zip(right).for_each(|(out, r)| *out += scaled * r);
    }
}
