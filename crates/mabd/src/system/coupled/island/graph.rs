//! The graph of an island, and the order in which it is eliminated.

use taut_core::Vec3;
use taut_model::Csr;

use super::System;
use crate::dual::dissection::dissect_by;

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

    fn points(&self) -> Vec<Vec3> {
        let bodies = self.bodies.iter().map(|&node| self.system.nodes.at_start(node).origin);
        bodies.chain(self.elements.iter().map(|&e| self.system.element_point(e))).collect()
    }

    /// Vertices in an order of elimination, elements after the bodies they hold.
    pub(super) fn order(&self, edges: &[[u32; 2]]) -> Vec<u32> {
        if self.bodies.is_empty() {
            // Elements are numbered in the order in which the scene's joints are best eliminated.
            return (0..self.elements.len() as u32).collect();
        }
        let count = self.count();
        let ends = (0..).zip(edges).flat_map(|(e, edge)| edge.map(|v| (v, e)));
        let at_vertex: Csr = Csr::new(count, ends);
        let order =
            dissect_by(edges.len(), &self.points(), |v| at_vertex.of(v as usize).iter().copied());
        let mut place = vec![0_u32; count];
        order.iter().zip(0..).for_each(|(&v, i)| place[v as usize] = i);
        let mut keys: Vec<(u32, bool, u32)> = (0..count as u32)
            .map(|v| {
                let is_element = v as usize >= self.bodies.len();
                let bodies = at_vertex.of(v as usize).iter().map(|&e| edges[e as usize][0]);
                let held = bodies.filter(|&b| is_element && (b as usize) < self.bodies.len());
                let last = held.map(|b| place[b as usize]).max().unwrap_or(0);
                (last.max(place[v as usize]), is_element, v)
            })
            .collect();
        keys.sort_unstable();
        keys.into_iter().map(|(_, _, v)| v).collect()
    }
}
