//! An order of elimination by least degree: next comes what reaches the fewest rows then (Tinney and Walker 1967), by
//! the quotient graph and the bounds of degrees of Amestoy, Davis and Duff (1996). Beside a dissection by places it
//! fills in less where what touches fills space, as heaps do.

use std::{cmp::Reverse, collections::BinaryHeap};

use taut_model::Csr;

/// No vertex.
const NONE: u32 = u32::MAX;

/// A graph of which some vertices have been eliminated.
struct Quotient<'a> {
    sizes: &'a [u8],
    /// Of each vertex that is left, others that are left, and cliques that it is in.
    near: Vec<Vec<u32>>,
    cliques: Vec<Vec<u32>>,
    /// Of each eliminated vertex the clique that it has left; of one taken over nothing.
    members: Vec<Vec<u32>>,
    /// Rows that each clique still has.
    weights: Vec<u32>,
    /// Rows that each vertex that is left reaches, at most.
    degrees: Vec<u32>,
    gone: Vec<bool>,
    /// Who was last seen by whom, and how much of a clique lies beside the latest.
    seen: Vec<u32>,
    asked: Vec<u32>,
    beside: Vec<u32>,
}

/// Vertices of so many rows in an order of elimination, given `edges`, each after those that it `waits` for.
pub(crate) fn least_degree(sizes: &[u8], edges: &[[u32; 2]], waits: &Csr<u32>) -> Vec<u32> {
    let count = sizes.len();
    let mut graph = Quotient::new(sizes, edges);
    let mut waiting: Vec<u32> = (0..count).map(|v| waits.of(v).len() as u32).collect();
    let followers =
        (0..count).flat_map(|v| waits.of(v).iter().map(move |&first| (first, v as u32)));
    let followers = Csr::new(count, followers);
    let mut queue = BinaryHeap::with_capacity(count);
    for v in (0..count as u32).filter(|&v| waiting[v as usize] == 0) {
        queue.push(Reverse((graph.degrees[v as usize], v)));
    }
    let mut order = Vec::with_capacity(count);
    while let Some(Reverse((degree, v))) = queue.pop() {
        if graph.gone[v as usize] || graph.degrees[v as usize] != degree {
            continue;
        }
        graph.eliminate(v);
        order.push(v);
        for &follower in followers.of(v as usize) {
            waiting[follower as usize] -= 1;
            if waiting[follower as usize] == 0 {
                queue.push(Reverse((graph.degrees[follower as usize], follower)));
            }
        }
        for &other in &graph.members[v as usize] {
            if waiting[other as usize] == 0 {
                queue.push(Reverse((graph.degrees[other as usize], other)));
            }
        }
    }
    order
}

/// Where each vertex stands in an order of all, or the order of such places.
pub(crate) fn inverse(order: &[u32]) -> Vec<u32> {
    let mut places = vec![0; order.len()];
    order.iter().zip(0..).for_each(|(&v, place)| places[v as usize] = place);
    places
}

/// For each vertex in an order, by where they stand in it, the later ones that `edges` join to it, ascending.
pub(crate) fn pattern(edges: &[[u32; 2]], places: &[u32]) -> Vec<Vec<u32>> {
    let mut pattern = vec![Vec::new(); places.len()];
    for edge in edges {
        let [a, b] = edge.map(|v| places[v as usize]);
        pattern[a.min(b) as usize].push(a.max(b));
    }
    pattern.iter_mut().for_each(|later: &mut Vec<u32>| later.sort_unstable());
    pattern
}

impl<'a> Quotient<'a> {
    fn new(sizes: &'a [u8], edges: &[[u32; 2]]) -> Self {
        let count = sizes.len();
        let mut near = vec![Vec::new(); count];
        for &[a, b] in edges {
            near[a as usize].push(b);
            near[b as usize].push(a);
        }
        let weight = |others: &Vec<u32>| others.iter().map(|&v| u32::from(sizes[v as usize])).sum();
        Self {
            degrees: near.iter().map(weight).collect(),
            near,
            cliques: vec![Vec::new(); count],
            members: vec![Vec::new(); count],
            weights: vec![0; count],
            gone: vec![false; count],
            seen: vec![NONE; count],
            asked: vec![NONE; count],
            beside: vec![0; count],
            sizes,
        }
    }

    fn size(&self, v: u32) -> u32 {
        u32::from(self.sizes[v as usize])
    }

    /// Makes a clique of what a vertex reaches.
    fn eliminate(&mut self, pivot: u32) {
        let p = pivot as usize;
        self.gone[p] = true;
        self.seen[p] = pivot;
        let mut clique = std::mem::take(&mut self.near[p]);
        for e in std::mem::take(&mut self.cliques[p]) {
            clique.append(&mut self.members[e as usize]);
            self.weights[e as usize] = 0;
        }
        clique.retain(|&v| {
            let new = !self.gone[v as usize] && self.seen[v as usize] != pivot;
            self.seen[v as usize] = pivot;
            new
        });
        // Cliques that were taken over are empty; of the others the pivot is no longer one.
        let weight: u32 = clique.iter().map(|&v| self.size(v)).sum();
        for &v in &clique {
            let mut cliques = std::mem::take(&mut self.cliques[v as usize]);
            cliques.retain(|&e| self.weights[e as usize] > 0);
            for &e in &cliques {
                if self.asked[e as usize] != pivot {
                    self.asked[e as usize] = pivot;
                    self.beside[e as usize] = self.weights[e as usize];
                }
                self.beside[e as usize] -= self.size(v);
            }
            self.cliques[v as usize] = cliques;
        }
        self.weights[p] = weight;
        for &v in &clique {
            let mut cliques = std::mem::take(&mut self.cliques[v as usize]);
            // What has nothing beside the new clique is part of it.
            cliques.retain(|&e| self.beside[e as usize] > 0);
            let mut near = std::mem::take(&mut self.near[v as usize]);
            near.retain(|&u| !self.gone[u as usize] && self.seen[u as usize] != pivot);
            let own = weight - self.size(v);
            let others: u32 = cliques.iter().map(|&e| self.beside[e as usize]).sum();
            let direct: u32 = near.iter().map(|&u| self.size(u)).sum();
            self.degrees[v as usize] = (own + others + direct).min(self.degrees[v as usize] + own);
            cliques.push(pivot);
            (self.cliques[v as usize], self.near[v as usize]) = (cliques, near);
        }
        self.members[p] = clique;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dual::tree::fill;

    /// Edges of a cubic grid of `n` vertices along each side, each with its neighbours.
    fn grid(n: u32) -> Vec<[u32; 2]> {
        let mut edges = Vec::new();
        for v in 0..n * n * n {
            for (step, along) in [(1, v % n), (n, v / n % n), (n * n, v / (n * n))] {
                if along + 1 < n {
                    edges.push([v, v + step]);
                }
            }
        }
        edges
    }

    fn filled(edges: &[[u32; 2]], order: &[u32]) -> usize {
        fill(&pattern(edges, &inverse(order))).iter().map(Vec::len).sum()
    }

    #[test]
    fn a_block_fills_in_less_than_in_the_order_of_its_vertices() {
        let (n, none) = (9, Csr::new(729, std::iter::empty()));
        let edges = grid(n);
        let order = least_degree(&[3; 729], &edges, &none);
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert!(sorted.iter().copied().eq(0..729));
        let given: Vec<u32> = (0..729).collect();
        let [least, plain] = [order, given].map(|order| filled(&edges, &order));
        assert!(2 * least < plain, "{least} of {plain}");
    }

    #[test]
    fn a_tree_does_not_fill_in() {
        let edges: Vec<[u32; 2]> = (1..200).map(|v| [v / 3, v]).collect();
        let order = least_degree(&[6; 200], &edges, &Csr::new(200, std::iter::empty()));
        assert_eq!(filled(&edges, &order), edges.len());
    }

    #[test]
    fn what_waits_comes_later() {
        // Vertices in a row, every other one of few rows, which waits for both its neighbours.
        let edges: Vec<[u32; 2]> = (1..50).map(|v| [v - 1, v]).collect();
        let sizes: Vec<u8> = (0..50).map(|v| if v % 2 == 1 { 1 } else { 12 }).collect();
        let neighbours = |v: u32| [v - 1, v + 1].into_iter().filter(|&v| v < 50);
        let pairs = (1..50).step_by(2).flat_map(|v| neighbours(v).map(move |first| (v, first)));
        let order = least_degree(&sizes, &edges, &Csr::new(50, pairs));
        let place = |v: u32| order.iter().position(|&other| other == v);
        for v in (1..50).step_by(2) {
            assert!(neighbours(v).all(|first| place(first) < place(v)));
        }
    }
}
