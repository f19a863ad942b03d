//! Which bodies hang on which.

use taut_core::{Mat3, Vec3};
use taut_math::LANES;

use crate::{chain::JointSlot, joint::JointElement};

/// No node.
pub(super) const NONE: u32 = u32::MAX;

/// Joints to more children than this are better kept sparse.
const CHILDREN_MAX: usize = 8;

/// What a body hangs on its parent, or on what forces do not move, by.
#[derive(Clone, Debug, Default)]
pub(super) struct ParentJoint {
    /// Which of what forces do not move, for roots.
    pub(super) held: Option<u32>,
    /// On the parent and on the body.
    pub(super) anchors: [Vec3; 2],
    pub(super) ball: Option<JointSlot>,
    /// The element of the springs, and their axes in the parent's coordinates, where those in the body's
    /// are its principal ones.
    pub(super) spring: Option<(u32, Mat3)>,
}

/// The trees that elements form.
pub(super) struct TreeGraph {
    /// Of every node.
    pub(super) joints: Vec<ParentJoint>,
    pub(super) children: Vec<Vec<u32>>,
    depths: Vec<u32>,
    /// Whether there are any.
    pub(super) springs: bool,
}

impl TreeGraph {
    /// The trees of `count` nodes; `None` where elements are others than ball joints that form trees, each
    /// held at most once, and springs along them.
    pub(super) fn new(elements: &[JointElement], count: usize) -> Option<Self> {
        let is_node = |node: u32| (node as usize) < count;
        let mut near: Vec<Vec<(u32, usize)>> = vec![Vec::new(); count];
        let mut springs = Vec::new();
        for (e, element) in (0..).zip(elements) {
            if element.is_turn() {
                springs.push(e);
            } else if element.is_point() {
                for side in (0..2).filter(|&side| is_node(element.nodes[side])) {
                    near[element.nodes[side] as usize].push((e, side));
                }
            } else {
                return None;
            }
        }
        let mut this = Self {
            joints: vec![ParentJoint::default(); count],
            children: vec![Vec::new(); count],
            depths: vec![NONE; count],
            springs: !springs.is_empty(),
        };
        let is_held = |&(e, side): &(u32, usize)| !is_node(elements[e as usize].nodes[1 - side]);
        let held = (0..count).filter(|&node| near[node].iter().any(is_held));
        for root in held.chain(0..count) {
            if this.depths[root] == NONE {
                this.grow(root, elements, &near)?;
            }
        }
        for e in springs {
            this.add_spring(e, &elements[e as usize])?;
        }
        Some(this)
    }

    /// The tree of a root.
    fn grow(
        &mut self,
        root: usize,
        elements: &[JointElement],
        near: &[Vec<(u32, usize)>],
    ) -> Option<()> {
        self.depths[root] = 0;
        let mut visited = vec![root as u32];
        let mut next = 0;
        while let Some(&node) = visited.get(next) {
            next += 1;
            let at = node as usize;
            for &(e, side) in &near[at] {
                let element = &elements[e as usize];
                let own = self.joints[at].ball.is_some_and(|slot| slot.element == e);
                if own {
                    continue;
                }
                let far = element.nodes[1 - side];
                let anchors = [element.anchors[1 - side], element.anchors[side]];
                let Some(depth) = self.depths.get(far as usize) else {
                    // What does not move holds a root, and once.
                    if at != root || self.joints[at].ball.is_some() {
                        return None;
                    }
                    let held = Some(far - self.joints.len() as u32);
                    // The rows are those of A's point minus B's, and here of the child's minus the parent's.
                    let ball = Some(JointSlot { element: e, flipped: side == 1 });
                    self.joints[at] = ParentJoint { held, anchors, ball, spring: None };
                    continue;
                };
                if *depth != NONE {
                    return None;
                }
                self.depths[far as usize] = self.depths[at] + 1;
                let ball = Some(JointSlot { element: e, flipped: side == 0 });
                let [theirs, ours] = anchors;
                let joint = ParentJoint { held: None, anchors: [ours, theirs], ball, spring: None };
                self.joints[far as usize] = joint;
                self.children[at].push(far);
                visited.push(far);
            }
            if self.children[at].len() > CHILDREN_MAX {
                return None;
            }
        }
        Some(())
    }

    /// Adds springs between a body and what it hangs on.
    fn add_spring(&mut self, e: u32, element: &JointElement) -> Option<()> {
        let count = self.joints.len() as u32;
        let [a, b] = element.nodes;
        let hangs = |child: u32, parent: u32| match self.joints.get(child as usize) {
            Some(joint) if parent >= count => joint.held == Some(parent - count),
            Some(_) => self.children[parent as usize].contains(&child),
            None => false,
        };
        let [of_a, of_b] = element.bases;
        let (child, basis) = if hangs(b, a) {
            (b, of_a * of_b.transpose())
        } else if hangs(a, b) {
            (a, of_b * of_a.transpose())
        } else {
            return None;
        };
        let spring = &mut self.joints[child as usize].spring;
        if spring.is_some() {
            return None;
        }
        *spring = Some((e, basis));
        Some(())
    }

    /// The nodes by depth and number of children, with [`NONE`] where a group of equal ones is not full,
    /// and the groups at which the depths begin, one more at the end.
    pub(super) fn order(&self) -> (Vec<u32>, Vec<usize>) {
        let class = |node: u32| {
            let node = node as usize;
            (self.depths[node], self.children[node].len())
        };
        let mut nodes: Vec<u32> = (0..self.joints.len() as u32).collect();
        nodes.sort_by_key(|&node| class(node));
        let (mut order, mut levels) = (Vec::with_capacity(nodes.len()), vec![0]);
        for run in nodes.chunk_by(|&a, &b| class(a) == class(b)) {
            // Depths follow each other without gaps.
            while levels.len() <= class(run[0]).0 as usize {
                levels.push(order.len() / LANES);
            }
            order.extend_from_slice(run);
            order.resize(order.len().next_multiple_of(LANES), NONE);
        }
        levels.push(order.len() / LANES);
        (order, levels)
    }
}
