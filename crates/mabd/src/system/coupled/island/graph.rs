//! The graph of an island, and the order in which it is eliminated.

use faer::{
    dyn_stack::{MemBuffer, MemStack},
    sparse::{SymbolicSparseColMat, linalg::amd},
};

use super::System;

/// Bodies that stay, then elements, as vertices of a graph, each with what it shares with others.
pub(super) struct IslandGraph<'a> {
    pub(super) system: &'a System,
    /// Nodes that stay, ascending.
    pub(super) bodies: Vec<u32>,
    pub(super) elements: &'a [u32],
    pub(super) touching: &'a [[u32; 2]],
}

impl IslandGraph<'_> {
    pub(super) fn body(&self, node: u32) -> Option<usize> {
        self.bodies.binary_search(&node).ok()
    }

    pub(super) fn count(&self) -> usize {
        self.bodies.len() + self.elements.len()
    }

    /// Pairs of vertices of bodies that touch, bodies and elements that hold them, and elements at one body.
    pub(super) fn edges(&self) -> Vec<[u32; 2]> {
        let moves = |node: u32| (node as usize) < self.system.nodes.count();
        let vertex = |node: u32| self.body(node).map(|b| b as u32);
        let mut edges: Vec<[u32; 2]> = Vec::new();
        for [a, b] in self.touching {
            edges.extend(vertex(*a).zip(vertex(*b)).map(|(a, b)| [a, b]));
        }
        edges.extend(self.links());
        let first = self.bodies.len() as u32;
        for (element, at) in self.elements.iter().zip(first..) {
            for node in self.system.elements[*element as usize].nodes {
                if let Some(body) = vertex(node) {
                    edges.push([body, at]);
                } else if moves(node) {
                    let others = self.system.incidence.at(node as usize).iter();
                    let before = others.filter(|(other, _)| other < element);
                    let places = before.filter_map(|(o, _)| self.elements.binary_search(o).ok());
                    edges.extend(places.map(|place| [first + place as u32, at]));
                }
            }
        }
        edges.sort_unstable();
        edges.dedup();
        edges
    }

    /// Pairs of vertices of nodes that material couples.
    fn links(&self) -> impl Iterator<Item = [u32; 2]> {
        let elastic = self.system.elastic.as_deref();
        let nodes = (0..).zip(&self.bodies);
        nodes.flat_map(move |(vertex, &node)| {
            let place = elastic.and_then(|elastic| Some((elastic, elastic.place(node as usize)?)));
            let others = place.map_or(&[][..], |(elastic, place)| elastic.coupled(place));
            let others = others.iter().filter(move |(_, other)| *other != node);
            others.filter_map(move |&(_, other)| Some([self.body(other)? as u32, vertex]))
        })
    }

    /// Vertices in an order of elimination in which every element has a pivot of its own.
    ///
    /// An element that is held by bodies that stay alone has none until one of them is eliminated. Most have a
    /// body to themselves, after which they come at once; the others come after all of theirs.
    pub(super) fn order(&self, edges: &[[u32; 2]]) -> Result<Vec<u32>, String> {
        if self.bodies.is_empty() {
            // Elements are numbered in the order in which the scene's joints are best eliminated.
            return Ok((0..self.elements.len() as u32).collect());
        }
        let first = self.bodies.len() as u32;
        let owners = self.owners();
        let group = |v: u32| v.checked_sub(first).and_then(|e| owners[e as usize]).unwrap_or(v);
        let mut pairs: Vec<[u32; 2]> = edges.iter().map(|edge| edge.map(group)).collect();
        pairs.retain(|[a, b]| a != b);
        pairs.sort_unstable();
        pairs.dedup();
        let place = least_degree(self.count(), &pairs)?;
        let key = |v: u32| {
            let own = place[group(v) as usize];
            let waits = v >= first && group(v) == v;
            let holders = waits.then(|| self.holders((v - first) as usize));
            let places = holders.into_iter().flatten().map(|body| place[body as usize]);
            (places.fold(own, usize::max), v)
        };
        let mut order: Vec<u32> = (0..self.count() as u32).collect();
        order.sort_by_cached_key(|&v| key(v));
        Ok(order)
    }

    /// The bodies that hold an element, all of which stay; none where it is held by one that is eliminated
    /// beforehand.
    fn holders(&self, element: usize) -> impl Iterator<Item = u32> {
        let nodes = self.system.elements[self.elements[element] as usize].nodes;
        let count = self.system.nodes.count();
        let leaves = |node: u32| (node as usize) < count && self.body(node).is_none();
        let has_pivot = nodes.into_iter().any(leaves);
        let bodies = nodes.map(|node| self.body(node).map(|body| body as u32));
        bodies.into_iter().flatten().filter(move |_| !has_pivot)
    }

    /// For each element a body that holds it and no other element has, with a column for each of its rows.
    fn owners(&self) -> Vec<Option<u32>> {
        let mut held = vec![0_u32; self.bodies.len()];
        for element in 0..self.elements.len() {
            self.holders(element).for_each(|body| held[body as usize] += 1);
        }
        let mut taken = vec![false; self.bodies.len()];
        (0..self.elements.len())
            .map(|element| {
                let rows = self.system.elements[self.elements[element] as usize].rows.len();
                let free = self.holders(element).filter(|&body| !taken[body as usize]);
                let free = free.filter(|&body| {
                    self.system.columns(self.bodies[body as usize] as usize) >= rows
                });
                // Those that others have less use for, as ends of chains.
                let body = free.min_by_key(|&body| (held[body as usize], body))?;
                taken[body as usize] = true;
                Some(body)
            })
            .collect()
    }
}

/// Where each of so many vertices comes in an order of least degree; `edges` join them, ascending.
fn least_degree(count: usize, edges: &[[u32; 2]]) -> Result<Vec<usize>, String> {
    let first = (0..=count as u32).map(|v| edges.partition_point(|edge| edge[0] < v)).collect();
    let rows = edges.iter().map(|&[_, row]| row as usize).collect();
    let graph = SymbolicSparseColMat::new_checked(count, count, first, None, rows);
    let (mut order, mut place) = (vec![0; count], vec![0; count]);
    let need = amd::order_maybe_unsorted_scratch::<usize>(count, edges.len());
    let mut scratch = MemBuffer::try_new(need).map_err(|error| format!("{error:?}"))?;
    let (stack, control) = (MemStack::new(&mut scratch), amd::Control::default());
    amd::order_maybe_unsorted(&mut order, &mut place, graph.as_ref(), control, stack)
        .map_err(|error| format!("order of elimination: {error}"))?;
    Ok(place)
}
