//! What the graph of elements is, and the order in which to eliminate them.

use std::ops::RangeInclusive;

use taut_model::Csr;

/// How many elements stars have: a hub and its rods, of which each leads to one other element at most. With fewer there is
/// little to gain, and more than those of a net would leave zeros in most.
pub(crate) const STAR: RangeInclusive<usize> = 3..=4;

/// Marks a body without a parent.
const NONE: u32 = u32::MAX;

/// The dynamic nodes of an element; `None` where a side is held.
pub(crate) type Link = [Option<u32>; 2];

/// What kind of graph the elements form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum GraphShape {
    /// No node has more than two neighbours, and there is no loop.
    Chains,
    /// No loop.
    Trees,
    /// Loops.
    Graph,
}

/// Elements from the leaves to the root, those that close loops last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EliminationOrder {
    /// Elements in the order of elimination.
    pub(crate) elements: Vec<u32>,
    /// How many of the last ones close loops.
    pub(crate) closures: usize,
    pub(crate) shape: GraphShape,
}

/// For each of so many nodes the elements at it, in ascending order.
pub(crate) fn elements_at(nodes: usize, links: &[Link]) -> Csr {
    let ends = (0..)
        .zip(links)
        .flat_map(|(element, link)| link.iter().flatten().map(move |&node| (node, element)));
    Csr::new(nodes, ends)
}

impl EliminationOrder {
    /// Orders the elements between `nodes` nodes.
    pub(crate) fn new(nodes: usize, links: &[Link]) -> Self {
        let incidence = elements_at(nodes, links);
        let (visited, parents) = breadth_first(&incidence, links);
        let mut elements = Vec::with_capacity(links.len());
        let mut placed = vec![false; links.len()];
        for &node in visited.iter().rev() {
            let parent = parents[node as usize];
            let at = incidence.of(node as usize);
            let alone = at.iter().filter(|&&e| other(&links[e as usize], node).is_none());
            let upwards = at.iter().filter(|&&e| other(&links[e as usize], node) == Some(parent));
            for &element in alone.chain(upwards) {
                placed[element as usize] = true;
                elements.push(element);
            }
        }
        let closing = (0..links.len() as u32).filter(|&e| !placed[e as usize]);
        let trees = elements.len();
        elements.extend(closing);
        let closures = elements.len() - trees;
        let leads_on = |node: usize| {
            incidence
                .of(node)
                .iter()
                .filter(move |&&e| other(&links[e as usize], node as u32).is_some())
        };
        let narrow = (0..nodes).all(|node| leads_on(node).count() <= 2);
        let shape = match closures {
            0 if narrow => GraphShape::Chains,
            0 => GraphShape::Trees,
            _ => GraphShape::Graph,
        };
        Self { elements, closures, shape }
    }
}

/// How many of some links close loops, where all that does not move counts as one node.
pub(crate) fn loops(nodes: usize, links: impl Iterator<Item = Link>) -> usize {
    let mut parents: Vec<u32> = (0..=nodes as u32).collect();
    let mut closing = 0;
    for link in links {
        let [a, b] = link.map(|end| root(&mut parents, end.unwrap_or(nodes as u32)));
        if a == b {
            closing += 1;
        } else {
            parents[a as usize] = b;
        }
    }
    closing
}

/// The root of a node's component, and shorter ways to it.
fn root(parents: &mut [u32], mut node: u32) -> u32 {
    while parents[node as usize] != node {
        parents[node as usize] = parents[parents[node as usize] as usize];
        node = parents[node as usize];
    }
    node
}

/// The node at the other end.
pub(crate) fn other(link: &Link, node: u32) -> Option<u32> {
    match *link {
        [Some(a), Some(b)] => Some(if a == node { b } else { a }),
        _ => None,
    }
}

/// All nodes, breadth first from the roots of their components, and the parent of each.
///
/// A root is a node held to what does not move where there is one, else one with few elements.
fn breadth_first(incidence: &Csr, links: &[Link]) -> (Vec<u32>, Vec<u32>) {
    let nodes = incidence.count();
    let held = |node: usize| {
        incidence.of(node).iter().any(|&e| other(&links[e as usize], node as u32).is_none())
    };
    let mut roots: Vec<u32> = (0..nodes as u32).collect();
    roots.sort_by_key(|&node| (!held(node as usize), incidence.of(node as usize).len()));
    let (mut visited, mut parents) = (Vec::with_capacity(nodes), vec![NONE; nodes]);
    let mut seen = vec![false; nodes];
    for root in roots {
        if std::mem::replace(&mut seen[root as usize], true) {
            continue;
        }
        let mut next = visited.len();
        visited.push(root);
        while let Some(&node) = visited.get(next) {
            next += 1;
            for &element in incidence.of(node as usize) {
                let Some(far) = other(&links[element as usize], node) else { continue };
                if !std::mem::replace(&mut seen[far as usize], true) {
                    parents[far as usize] = node;
                    visited.push(far);
                }
            }
        }
    }
    (visited, parents)
}

/// For each element, the later ones that share a node with it, ascending.
pub(crate) fn couplings(nodes: usize, links: &[Link]) -> Vec<Vec<u32>> {
    let incidence = elements_at(nodes, links);
    let later = |(element, link): (usize, &Link)| {
        let near = link.iter().flatten().flat_map(|&node| incidence.of(node as usize));
        let mut later: Vec<u32> = near.copied().filter(|&e| e as usize > element).collect();
        later.sort_unstable();
        later.dedup();
        later
    };
    links.iter().enumerate().map(later).collect()
}

#[cfg(test)]
mod tests {
    use super::{super::tree::fill, *};

    fn chain(links: u32) -> Vec<Link> {
        let middle = (1..links).map(|i| [Some(i - 1), Some(i)]);
        std::iter::once([None, Some(0)]).chain(middle).collect()
    }

    /// Body `i` hangs on body `i / 3`, in an order that is not that of a tree.
    fn bush(count: u32) -> Vec<Link> {
        (0..count - 1).map(|i| (i * 7) % (count - 1) + 1).map(|i| [Some(i / 3), Some(i)]).collect()
    }

    fn blocks(nodes: usize, links: &[Link], order: &EliminationOrder) -> [usize; 2] {
        let ordered: Vec<Link> = order.elements.iter().map(|&e| links[e as usize]).collect();
        let pattern = couplings(nodes, &ordered);
        [pattern.iter().map(Vec::len).sum(), fill(&pattern).iter().map(Vec::len).sum()]
    }

    #[test]
    fn chains_trees_and_loops_are_told_apart() {
        assert_eq!(EliminationOrder::new(9, &chain(9)).shape, GraphShape::Chains);
        assert_eq!(EliminationOrder::new(60, &bush(60)).shape, GraphShape::Trees);
        let mut pinned = chain(9);
        pinned.push([Some(8), None]);
        let order = EliminationOrder::new(9, &pinned);
        assert_eq!((order.shape, order.closures), (GraphShape::Chains, 0));
        assert_eq!(loops(9, pinned.into_iter()), 1);
        let mut ring = chain(9);
        ring.push([Some(8), Some(0)]);
        let order = EliminationOrder::new(9, &ring);
        assert_eq!((order.shape, order.closures), (GraphShape::Graph, 1));
        assert_eq!((loops(9, ring.into_iter()), loops(60, bush(60).into_iter())), (1, 0));
    }

    #[test]
    fn every_element_is_ordered_once() {
        for links in [chain(9), bush(60)] {
            let mut elements = EliminationOrder::new(60, &links).elements;
            elements.sort_unstable();
            assert!(elements.iter().enumerate().all(|(i, &e)| i == e as usize));
        }
    }

    #[test]
    fn nothing_is_filled_in_from_the_leaves_of_a_tree_to_its_root() {
        for links in [chain(9), bush(60)] {
            let order = EliminationOrder::new(60, &links);
            let [before, after] = blocks(60, &links, &order);
            assert_eq!(before, after);
            // The check can fail: the opposite order fills in where a node has several children.
            let reversed = EliminationOrder {
                elements: order.elements.iter().rev().copied().collect(),
                ..order
            };
            let [before, after] = blocks(60, &links, &reversed);
            assert_eq!(before < after, links.len() > 9);
        }
    }
}
