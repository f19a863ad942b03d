//! Which bodies hang on which.

use std::ops::Range;

use taut_core::{Mat3, Vec3};
use taut_math::LANES;

use crate::{chain::JointSlot, joint::JointElement};

/// No node.
pub(super) const NONE: u32 = u32::MAX;

/// Joints to more children than this are better kept sparse.
const CHILDREN_MAX: usize = 8;

/// Most nodes of a branch, of which a depth tells the next what stays in the caches. Of half and of twice as many a tree of
/// 29,000 takes as long, of a quarter 4 % longer since depths become short.
const BRANCH_MAX: usize = 2048;

/// Nodes by depth and number of children, in groups of four: all down to some depth, then what hangs on these, branch by
/// branch. Small trees have no branches.
#[derive(Clone, Debug)]
pub(super) struct TreeOrder {
    /// With [`NONE`] where a group is not full.
    pub(super) nodes: Vec<u32>,
    /// Groups at which the depths begin; one more at the end.
    pub(super) levels: Vec<usize>,
    pub(super) branches: Vec<Branch>,
}

/// What hangs on some groups of the last of the levels.
#[derive(Clone, Debug)]
pub(super) struct Branch {
    /// These groups.
    pub(super) tops: Range<usize>,
    /// Groups at which the depths below begin; one more at the end.
    pub(super) levels: Vec<usize>,
}

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

    /// An order of the nodes in which groups of four alike stand side by side.
    pub(super) fn order(&self) -> TreeOrder {
        let mut nodes: Vec<u32> = (0..self.joints.len() as u32).collect();
        nodes.sort_by_key(|&node| self.depths[node as usize]);
        let mut sizes = vec![1_usize; nodes.len()];
        for &node in nodes.iter().rev() {
            let children = self.children[node as usize].iter();
            sizes[node as usize] += children.map(|&child| sizes[child as usize]).sum::<usize>();
        }
        let mut this = TreeOrder { nodes: vec![], levels: vec![0], branches: vec![] };
        let roots = nodes.partition_point(|&node| self.depths[node as usize] == 0);
        let mut level = nodes[..roots].to_vec();
        while !level.is_empty() {
            let first = this.nodes.len() / LANES;
            level = this.push_level(self, level);
            this.levels.push(this.nodes.len() / LANES);
            if nodes.len() > 2 * BRANCH_MAX && this.cut(self, first, &sizes) {
                break;
            }
        }
        this
    }

    /// The children of groups of nodes, those in one place of the nodes of a group side by side: what the next depth tells is
    /// then read as it stands, mostly.
    fn below(&self, nodes: &[u32]) -> Vec<u32> {
        let children = |node: &u32| self.children.get(*node as usize).map_or(&[][..], |c| c);
        let mut below = Vec::new();
        for group in nodes.chunks(LANES) {
            let most = group.iter().map(|node| children(node).len()).max().unwrap_or(0);
            for place in 0..most {
                below.extend(group.iter().filter_map(|node| children(node).get(place)));
            }
        }
        below
    }
}

impl TreeOrder {
    /// Appends nodes of a depth by their number of children, with [`NONE`] where a group of equal ones is not full; tells what
    /// hangs on them.
    fn push_level(&mut self, graph: &TreeGraph, mut nodes: Vec<u32>) -> Vec<u32> {
        let children = |node: u32| graph.children[node as usize].len();
        let first = self.nodes.len();
        nodes.sort_by_key(|&node| children(node));
        for run in nodes.chunk_by(|&a, &b| children(a) == children(b)) {
            self.nodes.extend_from_slice(run);
            self.nodes.resize(self.nodes.len().next_multiple_of(LANES), NONE);
        }
        graph.below(&self.nodes[first..])
    }

    /// Makes branches of all that hangs on the last level, which begins with group `first`, if none is too large. `sizes` tell
    /// how many nodes there are from each on.
    fn cut(&mut self, graph: &TreeGraph, first: usize, sizes: &[usize]) -> bool {
        let size = |nodes: &[u32]| -> usize {
            nodes.iter().filter_map(|&node| sizes.get(node as usize)).sum()
        };
        let level = self.nodes[first * LANES..].to_vec();
        let mut groups = level.chunks_exact(LANES).map(size);
        if groups.any(|size| size > BRANCH_MAX) {
            return false;
        }
        let mut from = 0;
        while from < level.len() {
            let (mut to, mut nodes) = (from, 0);
            while let Some(group) = level.get(to..to + LANES)
                && nodes + size(group) <= BRANCH_MAX
            {
                (to, nodes) = (to + LANES, nodes + size(group));
            }
            let tops = first + from / LANES..first + to / LANES;
            let mut branch = Branch { tops, levels: vec![self.nodes.len() / LANES] };
            let mut next = graph.below(&level[from..to]);
            while !next.is_empty() {
                next = self.push_level(graph, next);
                branch.levels.push(self.nodes.len() / LANES);
            }
            self.branches.push(branch);
            from = to;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tree in which each node, of so many, has `fork` children as long as there are any.
    fn tree(count: u32, fork: u32) -> TreeGraph {
        let children = |node: u32| (fork * node + 1..fork * node + 1 + fork).filter(|&c| c < count);
        let mut depths = vec![0; count as usize];
        for child in 1..count {
            depths[child as usize] = depths[((child - 1) / fork) as usize] + 1;
        }
        TreeGraph {
            joints: vec![ParentJoint::default(); count as usize],
            children: (0..count).map(|node| children(node).collect()).collect(),
            depths,
            springs: false,
        }
    }

    #[test]
    fn all_nodes_come_once_and_after_their_parents() {
        for (count, fork) in [(100, 3), (3000, 2), (9000, 3), (9000, 1)] {
            let order = tree(count, fork).order();
            let mut places = vec![None; count as usize];
            for (place, &node) in order.nodes.iter().enumerate().filter(|(_, n)| **n != NONE) {
                assert_eq!(places[node as usize].replace(place), None, "{node} came before");
            }
            for child in 1..count {
                let parent = places[((child - 1) / fork) as usize].unwrap();
                assert!(places[child as usize].unwrap() / LANES > parent / LANES);
            }
        }
    }

    #[test]
    fn branches_of_large_trees_take_over_all_that_is_below() {
        assert!(tree(3000, 2).order().branches.is_empty());
        for (count, fork, least) in [(9000, 3, 4), (9000, 1, 1)] {
            let TreeOrder { nodes, levels, branches } = tree(count, fork).order();
            assert!(branches.len() >= least, "{} of {fork}", branches.len());
            let mut next = levels.windows(2).map(|at| at[0]..at[1]).next_back().unwrap();
            let mut below = next.end;
            for Branch { tops, levels } in branches {
                assert_eq!((next.start, below), (tops.start, levels[0]));
                let groups = [tops.clone(), levels[0]..levels[levels.len() - 1]];
                let there = |at: &usize| nodes[*at] != NONE;
                let size =
                    |g: &Range<usize>| (g.start * LANES..g.end * LANES).filter(there).count();
                assert!(groups.iter().map(size).sum::<usize>() <= BRANCH_MAX);
                (next.start, below) = (tops.end, levels[levels.len() - 1]);
            }
            assert_eq!((next.len(), below * LANES), (0, nodes.len()));
        }
    }
}
