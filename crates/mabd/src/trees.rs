//! Trees of ball joints with angular springs, four bodies of one depth at a time.
//!
//! The nodes are put into an order in which this is done side by side: by depth, the roots first, then by
//! the number of children, so that a group of four is treated alike. Trees need not be of one shape or
//! connected; what is left over in a group is a point mass that nothing holds. A joint is stored with the
//! parent, and a root hangs on what forces do not move, or on nothing. Large trees are cut into branches
//! below some depth, so that what one depth tells the next stays in the caches.

mod block;
mod branches;
mod depths;
mod down;
mod graph;
mod message;
mod part;
mod side;
mod up;

use std::ops::Range;

use taut_math::{Fused, LANES, Number, Wide};

use crate::{
    affine::{Affine, frame},
    free::{Anchored, GroupKind, GroupTable, SolveTask},
    joint::JointElement,
    lane::{M, V, ZERO3, matrix, plus, product},
    node::{BodyGroups, Nodes},
};
use graph::{Branch, NONE, TreeGraph, TreeOrder};
use message::{Lanes, gather_matrix, together};
use part::{OwnJoint, TreesWith};

/// The joints of a group of bodies to their children in one place, or of roots to what holds them.
#[derive(Clone, Copy, Debug)]
struct ChildJoint {
    /// Anchor on the parent.
    anchor: V,
    /// Axes of the springs in the parent's coordinates, where those in the child's are its principal ones.
    basis: M,
    /// Compliance of the ball joint and of the springs, infinite where there is none.
    softness: [Fused; 2],
}

/// Which bodies and joints there are; changes only as joints break and with the length of steps.
struct TreePlan {
    /// Groups of each depth begin here; one more at the end. Where there are branches, these go on from the last.
    levels: Vec<usize>,
    branches: Vec<Branch>,
    /// First of the joints of each group to its children; those of the roots come before all.
    first_slot: Vec<u32>,
    /// The axis of its bodies on which all joints of a group are.
    axis: Vec<Option<usize>>,
    /// Nodes of the children, and the constants of the joints.
    children: Vec<[u32; LANES]>,
    holds: Vec<ChildJoint>,
    /// Of each group: its parents (or what holds it), and the joint and lane that its own one is.
    parents: Vec<[u32; LANES]>,
    from: Vec<[u32; LANES]>,
    constants: GroupTable,
}

impl TreePlan {
    /// How many groups there are.
    fn groups(&self) -> usize {
        self.constants.groups()
    }

    /// The joints of a group to its children.
    #[inline(always)]
    fn slots(&self, group: usize) -> Range<usize> {
        self.first_slot[group] as usize..self.first_slot[group + 1] as usize
    }

    /// How many joints to their children consecutive groups have.
    #[inline(always)]
    fn joints(&self, groups: Range<usize>) -> usize {
        (self.first_slot[groups.end] - self.first_slot[groups.start]) as usize
    }

    /// Where what holds a group of roots is.
    #[inline(always)]
    fn held(&self, group: usize, held: &[Affine]) -> (M, V) {
        let places = self.parents[group].map(|parent| &held[parent as usize]);
        let centre = |i: usize| Fused::gather(|k| places[k].origin[i]);
        let at = matrix(|i, j| Fused::gather(|k| places[k].frame[(i, j)]));
        (at, [centre(0), centre(1), centre(2)])
    }

    /// The axes in which a group's own springs are written, in world coordinates.
    #[inline(always)]
    fn axes(&self, group: usize, bodies: &BodyGroups<'_>, held: &[Affine]) -> M {
        let mut room = [ZERO3; 3];
        let basis =
            |slot: usize| &self.holds.get(slot).unwrap_or(const { &ChildJoint::NONE }).basis;
        let basis = *together(&self.from[group], basis, &mut room, gather_matrix);
        if group < self.levels[1] {
            return product(self.held(group, held).0, basis);
        }
        product(frames_now(bodies, 0, &self.parents[group]), basis)
    }
}

/// The groups between neighbouring ones of `starts`.
fn levels(starts: &[usize]) -> impl DoubleEndedIterator<Item = Range<usize>> {
    starts.windows(2).map(|at| at[0]..at[1])
}

/// Frames in the current iterate of four nodes; `bodies` begin with group `base`.
#[inline(always)]
fn frames_now(bodies: &BodyGroups<'_>, base: usize, nodes: &[u32; LANES]) -> M {
    let mut rooms = [[Fused::ZERO; 12]; 2];
    let [start, moved] = &mut rooms;
    let start = together(nodes, |group| &bodies.start[group - base], start, gather_frame);
    let moved = together(nodes, |group| &bodies.moved[group - base], moved, gather_frame);
    plus(frame(start), frame(moved))
}

/// Gathers a frame, without where it is.
#[inline(never)]
fn gather_frame(to: &mut [Fused; 12], from: Lanes<'_, [Fused; 12]>) {
    for (c, entry) in to.iter_mut().enumerate().take(9) {
        *entry = Fused::gather(|k| from[k].0[c].0[from[k].1]);
    }
}

/// The trees of a scene, ready to be solved.
pub(crate) enum Trees {
    /// Of ball joints alone.
    Points(TreesWith<3>),
    /// With springs.
    Springs(TreesWith<6>),
}

/// Does the same for both.
macro_rules! either {
    ($all:expr, $trees:ident => $what:expr) => {
        match $all {
            Trees::Points($trees) => $what,
            Trees::Springs($trees) => $what,
        }
    };
}

impl Trees {
    /// The trees that elements form, if they are ball joints, and springs that turn the bodies of such
    /// joints. Puts the nodes into their order.
    pub(crate) fn new(
        elements: &[JointElement],
        compliance: &[f64],
        nodes: &mut Nodes,
    ) -> Option<Self> {
        let count = nodes.count();
        let graph = TreeGraph::new(elements, count)?;
        let TreeOrder { nodes: order, levels, branches } = graph.order();
        let mut slot_of = vec![NONE; count];
        for (slot, &node) in (0..).zip(&order) {
            if node != NONE {
                slot_of[node as usize] = slot;
            }
        }
        nodes.rearrange(&order);
        let link = |slot: usize| -> Anchored {
            let own = order[slot];
            let left = graph.joints.get(own as usize).map(|joint| joint.anchors[1]);
            (*nodes.kind(slot), left.unwrap_or_default(), Default::default())
        };
        let constants = GroupTable::new(order.len() / LANES, link);
        let plan = TreePlan::new(&graph, &order, &slot_of, (levels, branches), constants, nodes);
        let ends = |&node: &u32| {
            let joint = graph.joints.get(node as usize);
            let spring = joint.and_then(|joint| joint.spring);
            OwnJoint {
                ball: joint.and_then(|joint| joint.ball),
                spring: spring.map(|spring| spring.0),
            }
        };
        let ends: Vec<OwnJoint> = order.iter().map(ends).collect();
        let mut this = if graph.springs {
            Self::Springs(TreesWith::new(plan, ends))
        } else {
            Self::Points(TreesWith::new(plan, ends))
        };
        this.set_active(&vec![true; elements.len()], compliance);
        Some(this)
    }

    /// Lets broken elements go; `compliance` is that of every row.
    pub(crate) fn set_active(&mut self, active: &[bool], compliance: &[f64]) {
        either!(self, trees => trees.set_active(active, compliance));
    }

    /// Writes the multipliers of the last solve's ball joints, element by element.
    pub(crate) fn read(&self, lambda: &mut [f64]) {
        either!(self, trees => trees.read(lambda));
    }

    /// Largest squared norm of `A^T A - 1` that the last solve left.
    pub(crate) fn strain(&self) -> f64 {
        either!(self, trees => trees.strain)
    }

    /// One linearised solve of everything.
    pub(crate) fn solve(&mut self, nodes: &mut Nodes, task: &SolveTask<'_>) {
        either!(self, trees => trees.solve(nodes, task));
        if task.resumes {
            std::mem::swap(&mut nodes.rate, &mut nodes.moved);
        }
    }
}

impl TreePlan {
    fn new(
        graph: &TreeGraph,
        order: &[u32],
        slot_of: &[u32],
        (levels, branches): (Vec<usize>, Vec<Branch>),
        constants: GroupTable,
        nodes: &Nodes,
    ) -> Self {
        let groups = order.len() / LANES;
        let world = nodes.held.len() as u32 - 1;
        let mut this = Self {
            first_slot: Vec::with_capacity(groups + 1),
            axis: Vec::with_capacity(groups),
            children: vec![[0; LANES]; levels[1]],
            holds: vec![ChildJoint::NONE; levels[1]],
            parents: vec![[0; LANES]; groups],
            from: vec![[0; LANES]; groups],
            levels,
            branches,
            constants,
        };
        for (group, lanes) in order.chunks_exact(LANES).enumerate() {
            this.first_slot.push(this.holds.len() as u32);
            if group < this.levels[1] {
                for (k, &node) in lanes.iter().enumerate() {
                    let joint = graph.joints.get(node as usize);
                    this.parents[group][k] = joint.and_then(|joint| joint.held).unwrap_or(world);
                    this.from[group][k] = (group * LANES + k) as u32;
                    if let Some(joint) = joint {
                        this.holds[group].set(k, joint);
                    }
                }
            }
            let children = |node: u32| graph.children.get(node as usize).map_or(&[][..], |c| c);
            let most = lanes.iter().map(|&node| children(node).len()).max().unwrap_or(0);
            for c in 0..most {
                let slot = this.holds.len();
                let mut hold = ChildJoint::NONE;
                let mut of = [NONE; LANES];
                for (k, &node) in lanes.iter().enumerate() {
                    let Some(&child) = children(node).get(c) else { continue };
                    let at = slot_of[child as usize] as usize;
                    of[k] = at as u32;
                    this.parents[at / LANES][at % LANES] = (group * LANES + k) as u32;
                    this.from[at / LANES][at % LANES] = (slot * LANES + k) as u32;
                    hold.set(k, &graph.joints[child as usize]);
                }
                // Lanes without a child look at another's.
                let any = of.iter().copied().find(|&node| node != NONE).unwrap_or(0);
                this.children.push(of.map(|node| if node == NONE { any } else { node }));
                this.holds.push(hold);
            }
            this.axis.push(common_axis(this.constants.at(group), &this.holds, most));
        }
        this.first_slot.push(this.holds.len() as u32);
        // What is left over in a group looks at the first of its lanes, and hangs on nothing.
        for (group, lanes) in order.chunks_exact(LANES).enumerate().skip(this.levels[1]) {
            for (k, &node) in lanes.iter().enumerate() {
                if node == NONE {
                    this.parents[group][k] = this.parents[group][0];
                    this.from[group][k] = NONE;
                }
            }
        }
        this
    }
}

/// The principal axis on which the bodies' own joints and the last so many, to their children, are in every lane.
fn common_axis(kind: GroupKind<'_>, holds: &[ChildJoint], children: usize) -> Option<usize> {
    let (own, holds) = (kind.anchors.left, &holds[holds.len() - children..]);
    let is_on = |anchor: V, axis| (0..3).all(|i| i == axis || anchor[i] == Fused::ZERO);
    (0..3).find(|&axis| is_on(own, axis) && holds.iter().all(|hold| is_on(hold.anchor, axis)))
}

impl ChildJoint {
    const NONE: Self =
        Self { anchor: ZERO3, basis: [ZERO3; 3], softness: [Fused([f64::INFINITY; LANES]); 2] };

    fn set(&mut self, k: usize, joint: &graph::ParentJoint) {
        let basis = joint.spring.map(|spring| spring.1);
        for i in 0..3 {
            self.anchor[i].0[k] = joint.anchors[0][i];
            for j in 0..3 {
                let plain = if i == j { 1.0 } else { 0.0 };
                self.basis[j][i].0[k] = basis.map_or(plain, |basis| basis[(i, j)]);
            }
        }
    }
}
