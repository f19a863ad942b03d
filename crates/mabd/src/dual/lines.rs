//! Chains through a graph of elements: every element belongs to one, along which the dual matrix is
//! block tridiagonal.

use taut_core::Vec3;
use taut_model::Csr;

use super::order::{Link, elements_at};

/// The largest cosine between two anchors that still go straight on.
const STRAIGHT: f64 = -0.5;

/// Elements line by line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lines {
    /// Elements in the order of their lines; those of the first colour, which share no node with each
    /// other, come first.
    pub(crate) elements: Vec<u32>,
    /// First position of each line, and how many elements there are.
    pub(crate) starts: Vec<u32>,
    /// How many lines are of the first colour.
    pub(crate) first_colour: usize,
}

/// A graph being taken apart.
struct Walker<'a> {
    incidence: Csr,
    links: &'a [Link],
    anchors: &'a [[Vec3; 2]],
    taken: Vec<bool>,
    /// The last line that passed each node.
    passed: Vec<u32>,
}

impl Lines {
    /// Walks straight on over every node: to the element whose anchor lies most opposite.
    pub(crate) fn new(nodes: usize, links: &[Link], anchors: &[[Vec3; 2]]) -> Self {
        let mut walker = Walker {
            incidence: elements_at(nodes, links),
            links,
            anchors,
            taken: vec![false; links.len()],
            passed: vec![u32::MAX; nodes],
        };
        let mut lines: Vec<Vec<u32>> = Vec::new();
        for seed in 0..links.len() as u32 {
            if walker.taken[seed as usize] {
                continue;
            }
            let number = lines.len() as u32;
            walker.taken[seed as usize] = true;
            for node in links[seed as usize].iter().flatten() {
                walker.passed[*node as usize] = number;
            }
            let mut line = walker.walk(seed, 0, number);
            line.reverse();
            line.push(seed);
            line.extend(walker.walk(seed, 1, number));
            lines.push(line);
        }
        Self::coloured(nodes, links, lines)
    }

    /// The longest lines take the first colour where they can.
    fn coloured(nodes: usize, links: &[Link], mut lines: Vec<Vec<u32>>) -> Self {
        lines.sort_by_key(|line| std::cmp::Reverse(line.len()));
        let mut owned = vec![false; nodes];
        let (mut first, mut others) = (Vec::new(), Vec::new());
        for line in lines {
            let at = |e: &u32| links[*e as usize].into_iter().flatten().map(|n| n as usize);
            if line.iter().flat_map(at).any(|node| owned[node]) {
                others.push(line);
            } else {
                line.iter().flat_map(at).for_each(|node| owned[node] = true);
                first.push(line);
            }
        }
        let first_colour = first.len();
        let (mut elements, mut starts) = (Vec::with_capacity(links.len()), vec![0]);
        for line in first.into_iter().chain(others) {
            elements.extend(line);
            starts.push(elements.len() as u32);
        }
        Self { elements, starts, first_colour }
    }
}

impl Walker<'_> {
    /// Elements beyond one side of an element, in the order in which they are met.
    fn walk(&mut self, seed: u32, side: usize, number: u32) -> Vec<u32> {
        let (mut line, mut element, mut side) = (Vec::new(), seed, side);
        while let Some(node) = self.links[element as usize][side] {
            let Some((next, near)) = self.opposite(element, side, node, number) else { break };
            self.taken[next as usize] = true;
            line.push(next);
            (element, side) = (next, 1 - near);
            if let Some(far) = self.links[element as usize][side] {
                self.passed[far as usize] = number;
            }
        }
        line
    }

    /// The free element at a node whose anchor is most opposite, and its side there; one that leads
    /// back to the line would couple more than neighbours.
    fn opposite(&self, element: u32, side: usize, node: u32, number: u32) -> Option<(u32, usize)> {
        let from = self.anchors[element as usize][side];
        let (mut best, mut least) = (None, STRAIGHT);
        for &other in self.incidence.of(node as usize) {
            if self.taken[other as usize] {
                continue;
            }
            let near = usize::from(self.links[other as usize][0] != Some(node));
            let far = self.links[other as usize][1 - near];
            if far.is_some_and(|far| self.passed[far as usize] == number) {
                continue;
            }
            let to = self.anchors[other as usize][near];
            let scale = from.norm() * to.norm();
            // What is held at the centre has no direction, and leads anywhere.
            let cosine = if scale > 0.0 { from.dot(&to) / scale } else { STRAIGHT };
            if cosine <= least {
                (best, least) = (Some((other, near)), cosine);
            }
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `n` by `n` hubs joined by single elements, rows along x before columns along y.
    fn grid(n: u32) -> (Vec<Link>, Vec<[Vec3; 2]>) {
        let at = |i: u32, j: u32| Some(i * n + j);
        let (mut links, mut anchors) = (Vec::new(), Vec::new());
        for i in 0..n {
            for j in 1..n {
                links.push([at(i, j - 1), at(i, j)]);
                anchors.push([Vec3::x(), -Vec3::x()]);
                links.push([at(j - 1, i), at(j, i)]);
                anchors.push([Vec3::y(), -Vec3::y()]);
            }
        }
        (links, anchors)
    }

    #[test]
    fn a_net_falls_apart_into_its_rows_and_columns() {
        let (links, anchors) = grid(5);
        let lines = Lines::new(25, &links, &anchors);
        assert_eq!((lines.starts.len() - 1, lines.first_colour), (10, 5));
        assert!(lines.starts.windows(2).all(|pair| pair[1] - pair[0] == 4));
        let mut elements = lines.elements.clone();
        elements.sort_unstable();
        assert!(elements.iter().enumerate().all(|(i, &e)| i == e as usize));
    }

    #[test]
    fn a_ring_is_cut_open() {
        let links: Vec<Link> = (0..6).map(|i| [Some(i), Some((i + 1) % 6)]).collect();
        let lines = Lines::new(6, &links, &[[Vec3::x(), -Vec3::x()]; 6]);
        let coupled =
            |a: u32, b: u32| links[a as usize].iter().any(|node| links[b as usize].contains(node));
        for pair in lines.starts.windows(2) {
            let line = &lines.elements[pair[0] as usize..pair[1] as usize];
            for (i, &a) in line.iter().enumerate() {
                for (j, &b) in line.iter().enumerate().skip(i + 1) {
                    assert_eq!(coupled(a, b), j == i + 1, "{line:?}");
                }
            }
        }
    }
}
