//! How much mass hangs or rests on each joint and contact: a guess of its load before anything has moved.
//!
//! Links are followed breadth first from whatever is held in place (or, where nothing is, from the
//! heaviest node). Each node hands its mass and what it carries itself to the links that lead back, in
//! equal shares to the nodes at their other ends. On trees this is exact: the mass beyond the link.

use crate::csr::Csr;

/// Shares out masses over links again and again.
#[derive(Clone, Debug, Default)]
pub struct Supported {
    /// Neighbour and link, node by node, sorted.
    links_of: Csr<(u32, u32)>,
    depth: Vec<u32>,
    /// Nodes in the order in which they were reached.
    order: Vec<u32>,
    heaviest: Vec<u32>,
    load: Vec<f64>,
    masses: Vec<f64>,
}

impl Supported {
    /// Mass that each link carries [kg]; zero for links between equals. Several links of one pair, such
    /// as the points of a contact, carry the same mass.
    ///
    /// `masses` are the nodes' masses [kg], zero for those that are held in place.
    pub fn over(&mut self, masses: &[f64], links: &[[u32; 2]]) -> &[f64] {
        let both = |(link, &[a, b]): (u32, &[u32; 2])| [(a, (b, link)), (b, (a, link))];
        self.links_of.fill(masses.len(), (0..).zip(links).flat_map(both));
        (0..masses.len()).for_each(|node| self.links_of.of_mut(node).sort_unstable());
        self.descend(masses);
        self.load.clear();
        self.load.extend_from_slice(masses);
        self.masses.clear();
        self.masses.resize(links.len(), 0.0);
        for &node in self.order.iter().rev() {
            let node = node as usize;
            let neighbours = self.links_of.of(node);
            let back = |&&(other, _): &&(u32, u32)| self.depth[other as usize] < self.depth[node];
            // Links of one pair follow each other.
            let mut parents = 0_u32;
            let mut last = u32::MAX;
            for &(other, _) in neighbours.iter().filter(back) {
                parents += u32::from(other != last);
                last = other;
            }
            let share = self.load[node] / f64::from(parents.max(1));
            last = u32::MAX;
            for &(other, link) in neighbours.iter().filter(back) {
                self.masses[link as usize] = share;
                if other != last {
                    self.load[other as usize] += share;
                }
                last = other;
            }
        }
        &self.masses
    }

    /// What the last [`Self::over`] found [kg].
    pub fn masses(&self) -> &[f64] {
        &self.masses
    }

    /// Measures how far each node is from what holds it.
    fn descend(&mut self, masses: &[f64]) {
        let all = || (0..).zip(masses);
        self.depth.clear();
        self.depth.resize(masses.len(), u32::MAX);
        self.order.clear();
        for (node, _) in all().filter(|&(_, &mass)| mass == 0.0) {
            self.depth[node as usize] = 0;
            self.order.push(node);
        }
        self.spread(0);
        self.heaviest.clear();
        let unreached = |node: &u32| self.depth[*node as usize] == u32::MAX;
        self.heaviest.extend(all().map(|(node, _)| node).filter(unreached));
        let mass = |node: u32| masses[node as usize];
        self.heaviest.sort_unstable_by(|&a, &b| mass(b).total_cmp(&mass(a)).then(a.cmp(&b)));
        for i in 0..self.heaviest.len() {
            let node = self.heaviest[i];
            if self.depth[node as usize] == u32::MAX {
                self.depth[node as usize] = 0;
                self.order.push(node);
                self.spread(self.order.len() - 1);
            }
        }
    }

    /// Reaches everything linked to the nodes reached since `first`.
    fn spread(&mut self, first: usize) {
        let mut next = first;
        while let Some(&node) = self.order.get(next) {
            for &(other, _) in self.links_of.of(node as usize) {
                if self.depth[other as usize] == u32::MAX {
                    self.depth[other as usize] = self.depth[node as usize] + 1;
                    self.order.push(other);
                }
            }
            next += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn supported(masses: &[f64], links: &[[u32; 2]]) -> Vec<f64> {
        Supported::default().over(masses, links).to_vec()
    }

    #[test]
    fn a_hanging_chain_carries_what_is_below() {
        let links = [[0, 1], [1, 2], [2, 3]];
        assert_eq!(supported(&[0.0, 1.0, 2.0, 50.0], &links), [53.0, 52.0, 50.0]);
    }

    #[test]
    fn a_free_chain_hangs_on_its_heaviest_body() {
        let links = [[0, 1], [1, 2], [2, 3]];
        assert_eq!(supported(&[30.0, 1.0, 1.0, 40.0], &links), [30.0, 31.0, 32.0]);
    }

    #[test]
    fn two_ropes_share_a_load() {
        let links = [[0, 1], [0, 2], [1, 3], [2, 3]];
        assert_eq!(supported(&[0.0, 1.0, 1.0, 10.0], &links), [6.0, 6.0, 5.0, 5.0]);
    }
}
