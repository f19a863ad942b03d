//! Chains of ball joints, block by block: bodies four at a time, then elimination along the joints.
//!
//! The nodes are put into an order in which this is done side by side: all chains in a row are cut
//! into segments of equal length, four consecutive segments form a block, and a group of four nodes
//! holds the same link of each. A joint is stored with the node at its right. What holds a body to
//! something that forces do not move is a pin; it is eliminated within its body.

mod segments;
mod span;

use taut_core::Vec3;
use taut_math::{Fused, LANES, Number};

use crate::{
    free::{Anchored, GroupTable, Passed, SolveTask},
    joint::JointElement,
    lane::{V, ZERO3},
    node::Nodes,
    simd,
};
use segments::{Reduce, Substitute};
use span::{Kept, Span};

/// The longest segment: what is kept of four of them stays in a cache of a quarter of a MiB. Twice as long ones are
/// 2 % faster, but leave the joints of a million links open by more than 1e-9 m.
const LENGTH_MAX: usize = 64;

/// No element.
const NONE: u32 = u32::MAX;

/// The element of a joint, and whether that calls the left side B.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct JointSlot {
    pub(crate) element: u32,
    pub(crate) flipped: bool,
}

impl JointSlot {
    const FREE: Self = Self { element: NONE, flipped: false };

    /// Writes the multipliers of its element.
    pub(crate) fn write(&self, lambda: &mut [f64], force: [f64; 3]) {
        let at = 3 * self.element as usize;
        for (to, from) in lambda[at..at + 3].iter_mut().zip(force) {
            *to = if self.flipped { -from } else { from };
        }
    }
}

/// What holds one end of a body to what forces do not move.
#[derive(Clone, Debug, PartialEq)]
struct Pin {
    node: u32,
    at_right: bool,
    slot: JointSlot,
    /// Where it is held: which of what forces do not move, and anchor.
    held: u32,
    anchor: Vec3,
    /// Infinite where it has broken.
    compliance: f64,
    /// Its multiplier under no other forces, and by how much forces at the same and at the other end
    /// lower it.
    answer: [f64; 3],
    own: [f64; 9],
    between: [f64; 9],
    force: [f64; 3],
}

/// The chains of a scene, ready to be solved.
pub(crate) struct Chains {
    /// Nodes of a segment; groups of a block.
    length: usize,
    /// Joints at the left of each node, and their compliance by groups, infinite where there is none.
    slots: Vec<JointSlot>,
    compliance: Vec<Fused>,
    /// In the order of their nodes.
    pins: Vec<Pin>,
    constants: GroupTable,
    /// Every segment as one stretch, and the multipliers between them, one more at the end.
    segments: Vec<Passed<f64>>,
    replies: Vec<[f64; 9]>,
    edges: Vec<[f64; 3]>,
    /// Room for one block.
    kept: Vec<Kept>,
    /// What each group passes on to its joints where there is one block only, and nothing where there are more.
    passed: Vec<Passed<Fused>>,
    /// Multipliers of the joints at the left of each group.
    forces: Vec<V>,
    /// Largest squared norm of a strain after the last solve.
    strain: f64,
}

/// Element and side.
type ElementEnd = (u32, usize);

/// The chains that elements form between nodes.
struct ChainOrder {
    /// Nodes in a row, and the joint that each has at its left and at its right.
    nodes: Vec<u32>,
    joints: Vec<[Option<ElementEnd>; 2]>,
}

impl ChainOrder {
    /// Nodes in the order of their chains; `None` where three joints meet or a chain is closed.
    fn new(elements: &[JointElement], count: usize) -> Option<Self> {
        let mut near: Vec<[Option<ElementEnd>; 2]> = vec![[None; 2]; count];
        for (e, element) in (0..).zip(elements) {
            let at = element.nodes.map(|node| node as usize);
            if at.iter().any(|&node| node >= count) {
                continue;
            }
            for (side, node) in at.into_iter().enumerate() {
                *near[node].iter_mut().find(|end| end.is_none())? = Some((e, side));
            }
        }
        let mut this = Self { nodes: Vec::with_capacity(count), joints: Vec::with_capacity(count) };
        let mut seen = vec![false; count];
        for start in 0..count {
            if seen[start] || near[start][1].is_some() {
                continue;
            }
            let (mut node, mut left) = (start, None);
            loop {
                seen[node] = true;
                let came = left.map(|(e, _): ElementEnd| e);
                let right = near[node].into_iter().flatten().find(|(e, _)| Some(*e) != came);
                this.nodes.push(node as u32);
                this.joints.push([left, right]);
                let Some((e, side)) = right else { break };
                node = elements[e as usize].nodes[1 - side] as usize;
                left = Some((e, 1 - side));
            }
        }
        (this.nodes.len() == count).then_some(this)
    }
}

impl Chains {
    /// The chains that elements form, if they are ball joints along paths and pins at either end of
    /// a link. Puts the nodes into their order.
    pub(crate) fn new(
        elements: &[JointElement],
        compliance: &[f64],
        nodes: &mut Nodes,
    ) -> Option<Self> {
        let count = nodes.count();
        let path = ChainOrder::new(elements, count)?;
        let anchor = |end: ElementEnd| elements[end.0 as usize].anchors[end.1];
        let mut anchors: Vec<[Vec3; 2]> = Vec::with_capacity(count);
        for joints in &path.joints {
            anchors.push(joints.map(|end| end.map_or(Vec3::zeros(), anchor)));
        }
        let mut place = vec![0; count];
        for (i, &node) in (0..).zip(&path.nodes) {
            place[node as usize] = i;
        }
        let pins = pins(elements, count, &path, &place, &mut anchors)?;

        let blocks = count.div_ceil(LANES * LENGTH_MAX).max(1);
        let length = count.div_ceil(LANES * blocks).max(1);
        let slots = blocks * LANES * length;
        let to_slot = |i: usize| {
            let (block, within) = (i / (LANES * length), i % (LANES * length));
            ((block * length + within % length) * LANES + within / length) as u32
        };
        let mut order = vec![NONE; slots];
        for (i, &node) in path.nodes.iter().enumerate() {
            order[to_slot(i) as usize] = node;
        }
        nodes.rearrange(&order);
        let from_slot = |slot: usize| {
            let (group, lane) = (slot / LANES, slot % LANES);
            (group / length * LANES + lane) * length + group % length
        };
        let link = |slot: usize| -> Anchored {
            let at = anchors.get(from_slot(slot)).copied().unwrap_or([Vec3::zeros(); 2]);
            (*nodes.kind(slot), at[0], at[1])
        };
        let mut this = Self {
            length,
            slots: vec![JointSlot::FREE; slots],
            compliance: vec![Fused::of(f64::INFINITY); slots / LANES],
            pins,
            constants: GroupTable::new(slots / LANES, link),
            segments: vec![Passed::NONE; blocks * LANES],
            replies: vec![[0.0; 9]; blocks * LANES],
            edges: vec![[0.0; 3]; blocks * LANES + 1],
            kept: vec![Kept::NONE; length],
            passed: vec![Passed::NONE; if blocks == 1 { length } else { 0 }],
            forces: vec![ZERO3; slots / LANES],
            strain: f64::INFINITY,
        };
        for (i, joints) in path.joints.iter().enumerate() {
            if let Some((element, side)) = joints[0] {
                // The body is the right side of the joint.
                this.slots[to_slot(i) as usize] = JointSlot { element, flipped: side == 0 };
            }
        }
        for pin in &mut this.pins {
            pin.node = to_slot(pin.node as usize);
        }
        this.pins.sort_by_key(|pin| pin.node);
        this.set_active(&vec![true; elements.len()], compliance);
        Some(this)
    }

    fn blocks(&self) -> usize {
        self.segments.len() / LANES
    }

    /// Lets broken elements go; `compliance` is that of every row.
    pub(crate) fn set_active(&mut self, active: &[bool], compliance: &[f64]) {
        let of = |element: u32| match active.get(element as usize) {
            Some(true) => compliance[3 * element as usize],
            _ => f64::INFINITY,
        };
        for (slots, lanes) in self.slots.chunks_exact(LANES).zip(&mut self.compliance) {
            for (slot, lane) in slots.iter().zip(&mut lanes.0) {
                *lane = of(slot.element);
            }
        }
        for pin in &mut self.pins {
            pin.compliance = of(pin.slot.element);
        }
    }

    /// Writes the multipliers of the last solve, element by element.
    pub(crate) fn read(&self, lambda: &mut [f64]) {
        for (i, slot) in self.slots.iter().enumerate().filter(|(_, slot)| slot.element != NONE) {
            let force = &self.forces[i / LANES];
            slot.write(lambda, [0, 1, 2].map(|c| force[c].0[i % LANES]));
        }
        self.pins.iter().for_each(|pin| pin.slot.write(lambda, pin.force));
    }

    /// Largest squared norm of `A^T A - 1` that the last solve left.
    pub(crate) fn strain(&self) -> f64 {
        self.strain
    }

    /// One linearised solve of everything.
    pub(crate) fn solve(&mut self, nodes: &mut Nodes, task: &SolveTask<'_>) {
        self.constants.set_step(task.h, 0.0);
        self.make_rooms();
        let reduce = |span: Span<'_>| simd::dispatch(Reduce { span, task });
        Span::whole(self, nodes, task).each(&reduce, |(), ()| ());
        segments::couple(self);
        let substitute = |span: Span<'_>| simd::dispatch(Substitute { span, task });
        let add = |a: [Fused; 2], b: [Fused; 2]| [a[0].max(b[0]), a[1] + b[1]];
        let [most, sum] = Span::whole(self, nodes, task).each(&substitute, add);
        self.strain = if sum.largest().is_finite() { most.largest() } else { f64::INFINITY };
        if task.resumes {
            std::mem::swap(&mut nodes.rate, &mut nodes.moved);
        }
    }
}

/// What holds bodies to what forces do not move. Gives bodies without a joint at an end the anchor of a
/// pin there; `None` where a pin is elsewhere.
fn pins(
    elements: &[JointElement],
    count: usize,
    path: &ChainOrder,
    place: &[u32],
    anchors: &mut [[Vec3; 2]],
) -> Option<Vec<Pin>> {
    let mut pins = Vec::new();
    // Whether the ends of a link are taken.
    let mut taken: Vec<[bool; 2]> =
        path.joints.iter().map(|joints| joints.map(|end| end.is_some())).collect();
    for (element, e) in (0..).zip(elements) {
        let Some(side) = e.nodes.iter().position(|&node| node as usize >= count) else { continue };
        let i = place[e.nodes[1 - side] as usize] as usize;
        let at = e.anchors[1 - side];
        let end = (0..2)
            .find(|&end| taken[i][end] && anchors[i][end] == at)
            .or_else(|| (0..2).find(|&end| !taken[i][end]))?;
        anchors[i][end] = at;
        taken[i][end] = true;
        pins.push(Pin {
            node: i as u32,
            at_right: end == 1,
            slot: JointSlot { element, flipped: side == 0 },
            held: e.nodes[side] - count as u32,
            anchor: e.anchors[side],
            compliance: 0.0,
            answer: [0.0; 3],
            own: [0.0; 9],
            between: [0.0; 9],
            force: [0.0; 3],
        });
    }
    Some(pins)
}
