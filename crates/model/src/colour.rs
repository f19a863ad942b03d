//! Greedy colours of nodes or of units, the same on every device.
//!
//! Colours are given one by one in the order of a key. With a hash of the index for a key that is what rounds of
//! "every uncoloured node whose priority beats its uncoloured neighbours takes the smallest free colour" (Jones and
//! Plassmann) arrive at, whatever runs in parallel, and unlike "the lower index wins" it ends after a few rounds on
//! lattices.

use std::cmp::Reverse;

use crate::{graph::Graph, narrow};

/// A finalising hash with good avalanche: neighbours get unrelated priorities.
pub fn priority(index: u32) -> u32 {
    let mut x = index.wrapping_mul(0x9e37_79b9) ^ 0x5bd1_e995;
    x = (x ^ (x >> 16)).wrapping_mul(0x85eb_ca6b);
    x = (x ^ (x >> 13)).wrapping_mul(0xc2b2_ae35);
    x ^ (x >> 16)
}

/// What gets colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColourOf {
    /// Nodes, so that no unit moves two of one colour.
    Nodes,
    /// Units, so that no node is moved by two of one colour.
    Units,
}

/// Colours graphs again and again; keeps its buffers.
#[derive(Clone, Debug, Default)]
pub struct Colouring {
    keys: Vec<u32>,
    /// What gets colours, by falling key.
    order: Vec<u32>,
    colours: Vec<u32>,
    /// Colours taken in each group of things that may not share one: a bit each, so many words per group.
    taken: Vec<u64>,
    words: usize,
}

impl Colouring {
    /// The colour of each node or unit, the smallest that is free at its turn: by falling `key`, equals by index.
    pub fn colour(&mut self, graph: &Graph, side: ColourOf, key: impl Fn(u32) -> u32) -> &[u32] {
        // What may not share a colour is a group: the nodes of a unit, or the units of a node.
        let (groups_of, groups) = match side {
            ColourOf::Nodes => (&graph.units_of, graph.nodes_of.count()),
            ColourOf::Units => (&graph.nodes_of, graph.units_of.count()),
        };
        self.sort(groups_of.count(), key);
        self.words = self.words.max(1);
        self.taken.clear();
        self.taken.resize(groups * self.words, 0);
        self.colours.clear();
        self.colours.resize(self.order.len(), 0);
        for i in 0..self.order.len() {
            let item = self.order[i] as usize;
            let own = groups_of.of(item);
            let (word, bit) = self.free(own);
            for &group in own {
                self.taken[group as usize * self.words + word] |= 1 << bit;
            }
            self.colours[item] = narrow(64 * word) + bit;
        }
        &self.colours
    }

    /// Sorts by falling key, unless that is known from the call before.
    fn sort(&mut self, count: usize, key: impl Fn(u32) -> u32) {
        let all = 0..narrow(count);
        if self.keys.len() == count && all.clone().zip(&self.keys).all(|(i, &k)| key(i) == k) {
            return;
        }
        self.keys.clear();
        self.keys.extend(all.clone().map(key));
        self.order.clear();
        self.order.extend(all);
        let keys = &self.keys;
        self.order.sort_unstable_by_key(|&i| (Reverse(keys[i as usize]), i));
    }

    /// Word and bit of the first colour that none of the groups has.
    fn free(&mut self, groups: &[u32]) -> (usize, u32) {
        for word in 0..self.words {
            let at = |&group: &u32| self.taken[group as usize * self.words + word];
            let taken = groups.iter().map(at).fold(0, |all, one| all | one);
            if taken != u64::MAX {
                return (word, taken.trailing_ones());
            }
        }
        self.widen();
        (self.words / 2, 0)
    }

    /// Makes room for twice as many colours.
    fn widen(&mut self) {
        let wide = |group: &[u64]| group.iter().copied().chain(vec![0; group.len()]).collect();
        self.taken = self.taken.chunks(self.words).flat_map::<Vec<u64>, _>(wide).collect();
        self.words *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(nodes: usize, units: &[[u32; 2]]) -> Graph {
        let ends = (0..).zip(units).flat_map(|(unit, nodes)| nodes.map(|node| (unit, node)));
        let mut graph = Graph::default();
        graph.fill(nodes, units.len(), ends);
        graph
    }

    #[test]
    fn neighbours_never_share_a_colour() {
        let side = 20;
        let mut edges = vec![];
        for i in 0..side * side {
            if i % side + 1 < side {
                edges.push([i, i + 1]);
            }
            if i + side < side * side {
                edges.push([i, i + side]);
            }
        }
        let lattice = graph((side * side) as usize, &edges);
        let mut colouring = Colouring::default();
        let colours = colouring.colour(&lattice, ColourOf::Nodes, priority);
        assert!(edges.iter().all(|e| colours[e[0] as usize] != colours[e[1] as usize]));
        assert!(colours.iter().all(|&c| c <= 4), "a lattice of degree four needs at most five");
        let of_nodes = colours.to_vec();
        colouring.colour(&lattice, ColourOf::Units, priority);
        assert_eq!(colouring.colour(&lattice, ColourOf::Nodes, priority), of_nodes);
    }

    #[test]
    fn lonely_nodes_take_the_first_colour() {
        let mut colouring = Colouring::default();
        assert_eq!(colouring.colour(&graph(3, &[]), ColourOf::Nodes, priority), [0, 0, 0]);
    }

    #[test]
    fn units_at_one_node_all_differ_however_many_there_are() {
        let spokes: Vec<[u32; 2]> = (1..200).map(|i| [0, i]).collect();
        let mut colouring = Colouring::default();
        let colours = colouring.colour(&graph(200, &spokes), ColourOf::Units, |_| 0);
        assert!(colours.iter().copied().eq(0..199));
    }
}
