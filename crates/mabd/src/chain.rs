//! Chains of ball joints, block by block: bodies eight at a time, then block Thomas along the joints.
//!
//! The forward pass finds each body's response, couples it to the joint before and after it and
//! eliminates that joint; the backward pass finds the response again, which is cheaper than to fetch
//! it from memory, and moves the body. What is stored per joint is one 3x3 block and a vector. Joint
//! `j` of a chain lies left of its body `j`; the last one lies right of the last body. Joints that do
//! not exist have no multiplier.

mod local;
mod thomas;

use std::collections::BTreeMap;

use pulp::NullaryFnOnce;
use taut_core::Vec3;

use crate::{
    body::Kind,
    joint::Element,
    lane::{LANES, Lanes},
    node::Nodes,
};

/// Groups of eight bodies that are handled together, so that what passes between them stays in cache.
const BLOCK: usize = 8;

/// A joint of a chain.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Slot {
    /// Its element, and whether that calls the left side B.
    element: u32,
    flipped: bool,
    compliance: f64,
}

/// The constants of eight bodies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Constants {
    mass: Lanes,
    second: [Lanes; 3],
    softness: Lanes,
    ratio: Lanes,
    left: [Lanes; 3],
    right: [Lanes; 3],
    rigid: bool,
    /// Whether all anchors lie on the first axis.
    axial: bool,
}

/// The chains of a scene, ready to be solved.
#[derive(Clone, Debug)]
pub(crate) struct Chains {
    /// Where each chain ends: its last node, excluded. Joint `node + chain` lies left of a node.
    ends: Vec<u32>,
    /// By joint; `None` at free ends.
    slots: Vec<Option<Slot>>,
    /// Which constants each group of bodies has.
    group_of: Vec<u32>,
    constants: Vec<Constants>,
    /// Where the fixed side of a joint is held: node and anchor.
    held: BTreeMap<u32, (u32, Vec3)>,
    /// `D^-1 O` and `D^-1 b` of each joint, then its multiplier in place of the latter.
    factors: Vec<[f64; 9]>,
    forces: Vec<[f64; 3]>,
    /// Joints that have broken hold nothing.
    broken: Vec<bool>,
}

/// Kind of a body and where its joints are.
type Link = (Kind, Vec3, Vec3);

impl Chains {
    /// The chains that the elements form, if they are ball joints along consecutive nodes.
    pub(crate) fn new(elements: &[Element], compliance: &[f64], nodes: &Nodes) -> Option<Self> {
        let count = nodes.count();
        let none = vec![None; count];
        // Joint at the left and right of each node, as element and side.
        let (mut lefts, mut rights) = (none.clone(), none);
        let dynamic = |element: &&Element| element.nodes.iter().all(|&n| (n as usize) < count);
        for (e, element) in elements.iter().enumerate().filter(|(_, e)| dynamic(e)) {
            let [a, b] = element.nodes.map(|node| node as usize);
            let (left, right) = if a + 1 == b {
                ((a, 0), (b, 1))
            } else if b + 1 == a {
                ((b, 1), (a, 0))
            } else {
                return None;
            };
            // Two joints between the same bodies are no chain.
            let taken = rights[left.0].replace((e as u32, left.1)).is_some();
            if lefts[right.0].replace((e as u32, right.1)).is_some() || taken {
                return None;
            }
        }
        for (e, element) in elements.iter().enumerate().filter(|(_, e)| !dynamic(e)) {
            let side = usize::from(element.nodes[0] as usize >= count);
            let node = element.nodes[side] as usize;
            let end = if lefts[node].is_none() { &mut lefts } else { &mut rights };
            if end[node].replace((e as u32, side)).is_some() {
                return None;
            }
        }
        Some(Self::lay(elements, compliance, nodes, &lefts, &rights))
    }

    fn lay(
        elements: &[Element],
        compliance: &[f64],
        nodes: &Nodes,
        lefts: &[Option<(u32, usize)>],
        rights: &[Option<(u32, usize)>],
    ) -> Self {
        let count = nodes.count();
        let dynamic = |element: u32| {
            elements[element as usize].nodes.iter().all(|&node| (node as usize) < count)
        };
        let slot = |(element, side): (u32, usize), at_left: bool| Slot {
            element,
            // At the left of a body, the body is the right side of the joint.
            flipped: (side == 0) == at_left,
            compliance: compliance[3 * element as usize],
        };
        let mut this = Self {
            ends: Vec::new(),
            slots: Vec::new(),
            group_of: Vec::new(),
            constants: Vec::new(),
            held: BTreeMap::new(),
            factors: Vec::new(),
            forces: Vec::new(),
            broken: Vec::new(),
        };
        let held = |(element, side): (u32, usize)| {
            let element = &elements[element as usize];
            (element.nodes[1 - side], element.anchors[1 - side])
        };
        for node in 0..count {
            if let Some(at) = lefts[node].filter(|at| !dynamic(at.0)) {
                this.held.insert(this.slots.len() as u32, held(at));
            }
            this.slots.push(lefts[node].map(|at| slot(at, true)));
            if rights[node].is_some_and(|at| dynamic(at.0)) {
                continue;
            }
            if let Some(at) = rights[node] {
                this.held.insert(this.slots.len() as u32, held(at));
            }
            this.slots.push(rights[node].map(|at| slot(at, false)));
            this.ends.push(node as u32 + 1);
        }
        this.factors = vec![[0.0; 9]; this.slots.len()];
        this.forces = vec![[0.0; 3]; this.slots.len()];
        this.broken = vec![false; this.slots.len()];
        let anchor = |at: Option<(u32, usize)>| {
            at.map_or(Vec3::zeros(), |(e, side)| elements[e as usize].anchors[side])
        };
        let link = |node: usize| -> Link {
            match node < count {
                true => (*nodes.kind(node), anchor(lefts[node]), anchor(rights[node])),
                false => (Kind::particle(1.0), Vec3::zeros(), Vec3::zeros()),
            }
        };
        this.number_constants(count, link);
        this
    }

    /// Constants of each group of bodies, equal ones once.
    fn number_constants(&mut self, count: usize, link: impl Fn(usize) -> Link) {
        let mut known = BTreeMap::new();
        for group in 0..count.div_ceil(LANES) {
            let links: [Link; LANES] = std::array::from_fn(|k| link(LANES * group + k));
            let key: Vec<u64> = links.iter().flat_map(bits).collect();
            let next = self.constants.len() as u32;
            let index = *known.entry(key).or_insert(next);
            if index == next {
                self.constants.push(Constants::new(&links));
            }
            self.group_of.push(index);
        }
    }

    /// Lets broken elements go.
    pub(crate) fn set_active(&mut self, active: &[bool]) {
        for (broken, slot) in self.broken.iter_mut().zip(&self.slots) {
            *broken = slot.is_some_and(|slot| !active[slot.element as usize]);
        }
    }

    /// Writes the multipliers of the last solve, element by element.
    pub(crate) fn read(&self, lambda: &mut [f64]) {
        for (slot, force) in self.slots.iter().zip(&self.forces) {
            let Some(slot) = slot else { continue };
            let at = 3 * slot.element as usize;
            for (to, from) in lambda[at..at + 3].iter_mut().zip(force) {
                *to = if slot.flipped { -from } else { *from };
            }
        }
    }

    /// One linearised solve of everything.
    pub(crate) fn solve(&mut self, nodes: &mut Nodes, task: &Task<'_>) {
        pulp::Arch::new().dispatch(Solve { chains: self, nodes, task });
    }
}

fn bits((kind, left, right): &Link) -> impl Iterator<Item = u64> {
    let scalars = [kind.mass, kind.softness, kind.ratio];
    let vectors = [kind.second, *left, *right];
    scalars.into_iter().chain(vectors.into_iter().flat_map(<[f64; 3]>::from)).map(f64::to_bits)
}

impl Constants {
    fn new(links: &[Link; LANES]) -> Self {
        let lanes = |value: &dyn Fn(&Link) -> f64| Lanes(std::array::from_fn(|k| value(&links[k])));
        let vector = |value: &dyn Fn(&Link) -> Vec3| -> [Lanes; 3] {
            std::array::from_fn(|i| lanes(&|link| value(link)[i]))
        };
        Self {
            mass: lanes(&|link| link.0.mass),
            second: vector(&|link| link.0.second),
            softness: lanes(&|link| link.0.softness),
            ratio: lanes(&|link| link.0.ratio),
            left: vector(&|link| link.1),
            right: vector(&|link| link.2),
            axial: links.iter().all(|(_, x, y)| x.yz() == y.yz() && x.yz().norm() == 0.0),
            rigid: links.iter().all(|link| link.0.softness == 0.0),
        }
    }
}

/// What a solve is asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Task<'a> {
    /// Length by which inertia is divided twice [s].
    pub(crate) h: f64,
    /// Displacements and rates of the step before, where the two-step formula is used.
    pub(crate) before: Option<&'a [crate::lane::Places; 2]>,
    pub(crate) gravity: Vec3,
    /// Share of the inertia that tension must exceed; `None` without geometric stiffness.
    pub(crate) geometric: Option<f64>,
    /// Only finds the tension.
    pub(crate) probes: bool,
}

struct Solve<'a, 'b> {
    chains: &'a mut Chains,
    nodes: &'a mut Nodes,
    task: &'a Task<'b>,
}

impl NullaryFnOnce for Solve<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { chains, nodes, task } = self;
        thomas::forward(chains, nodes, task);
        thomas::backward(chains, nodes, task);
    }
}
