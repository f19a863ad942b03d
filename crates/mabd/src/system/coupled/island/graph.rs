//! The graph of an island, and the order in which it is eliminated.

use taut_model::Csr;

use super::System;
use crate::dual::degree::least_degree;

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

    /// Vertices of so many rows in an order of elimination, elements after the bodies they hold.
    pub(super) fn order(&self, edges: &[[u32; 2]], sizes: &[u8]) -> Vec<u32> {
        if self.bodies.is_empty() {
            // Elements are numbered in the order in which the scene's joints are best eliminated.
            return (0..self.elements.len() as u32).collect();
        }
        let bodies = self.bodies.len() as u32;
        let held = edges.iter().filter(|[body, at]| *body < bodies && *at >= bodies);
        let waits = Csr::new(self.count(), held.map(|&[body, at]| (at, body)));
        least_degree(sizes, edges, &waits)
    }
}
