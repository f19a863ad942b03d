//! How much mass hangs or rests on each joint and contact: a guess of its load before anything has moved.
//!
//! Links are followed breadth first from whatever is held in place (or, where nothing is, from the
//! heaviest node). Each node hands its mass and what it carries itself to the links that lead back, in
//! equal shares to the nodes at their other ends. On trees this is exact: the mass beyond the link.

use crate::element::{Definition, Role};

/// Mass that each element carries [kg]; zero for springs and for joints between equals.
///
/// `masses` are the nodes' masses, zero for fixed ones, and `ends` the nodes of each element.
pub fn carried_masses(masses: &[f64], definitions: &[Definition], ends: &[[u32; 2]]) -> Vec<f64> {
    let holds = |d: &Definition| d.role == Role::Lock && d.is_hard();
    let joints: Vec<usize> = (0..ends.len()).filter(|&i| holds(&definitions[i])).collect();
    let links: Vec<[u32; 2]> = joints.iter().map(|&i| ends[i]).collect();
    let mut shares = Shares::default();
    let mut carried = vec![0.0; ends.len()];
    for (&joint, &mass) in joints.iter().zip(shares.over(masses, &links)) {
        carried[joint] = mass;
    }
    carried
}

/// Shares out masses over links again and again.
#[derive(Clone, Debug, Default)]
pub struct Shares {
    start: Vec<usize>,
    /// Neighbour and link, node by node.
    items: Vec<(usize, usize)>,
    depth: Vec<u32>,
    /// Nodes in the order in which they were reached.
    order: Vec<usize>,
    heaviest: Vec<usize>,
    load: Vec<f64>,
    carried: Vec<f64>,
}

impl Shares {
    /// Mass that each link carries [kg]; zero for links between equals. Several links of one pair, such
    /// as the points of a contact, carry the same mass.
    pub fn over(&mut self, masses: &[f64], links: &[[u32; 2]]) -> &[f64] {
        self.connect(masses.len(), links);
        self.descend(masses);
        self.load.clear();
        self.load.extend_from_slice(masses);
        self.carried.clear();
        self.carried.resize(links.len(), 0.0);
        for &node in self.order.iter().rev() {
            let neighbours = &self.items[self.start[node]..self.start[node + 1]];
            let back = |&&(other, _): &&(usize, usize)| self.depth[other] < self.depth[node];
            // Links of one pair follow each other.
            let mut parents = 0_u32;
            let mut last = usize::MAX;
            for &(other, _) in neighbours.iter().filter(back) {
                parents += u32::from(other != last);
                last = other;
            }
            let share = self.load[node] / f64::from(parents.max(1));
            last = usize::MAX;
            for &(other, link) in neighbours.iter().filter(back) {
                self.carried[link] = share;
                if other != last {
                    self.load[other] += share;
                }
                last = other;
            }
        }
        &self.carried
    }

    /// Sorts both ends of all links by node and neighbour.
    fn connect(&mut self, nodes: usize, links: &[[u32; 2]]) {
        self.start.clear();
        self.start.resize(nodes + 1, 0);
        for n in links.iter().flatten() {
            self.start[*n as usize] += 1;
        }
        let mut total = 0;
        for start in &mut self.start {
            total += *start;
            *start = total;
        }
        self.items.clear();
        self.items.resize(total, (0, 0));
        for (link, &[a, b]) in links.iter().enumerate() {
            for (from, to) in [(a as usize, b as usize), (b as usize, a as usize)] {
                self.start[from] -= 1;
                self.items[self.start[from]] = (to, link);
            }
        }
        for n in 0..nodes {
            self.items[self.start[n]..self.start[n + 1]].sort_unstable();
        }
    }

    /// Measures how far each node is from what holds it.
    fn descend(&mut self, masses: &[f64]) {
        self.depth.clear();
        self.depth.resize(masses.len(), u32::MAX);
        self.order.clear();
        for node in (0..masses.len()).filter(|&n| masses[n] == 0.0) {
            self.depth[node] = 0;
            self.order.push(node);
        }
        self.spread(0);
        self.heaviest.clear();
        let unreached = (0..masses.len()).filter(|&n| self.depth[n] == u32::MAX);
        self.heaviest.extend(unreached);
        self.heaviest.sort_unstable_by(|&a, &b| masses[b].total_cmp(&masses[a]).then(a.cmp(&b)));
        for i in 0..self.heaviest.len() {
            let node = self.heaviest[i];
            if self.depth[node] == u32::MAX {
                self.depth[node] = 0;
                self.order.push(node);
                self.spread(self.order.len() - 1);
            }
        }
    }

    /// Reaches everything linked to the nodes reached since `first`.
    fn spread(&mut self, first: usize) {
        let mut next = first;
        while let Some(&node) = self.order.get(next) {
            for &(other, _) in &self.items[self.start[node]..self.start[node + 1]] {
                if self.depth[other] == u32::MAX {
                    self.depth[other] = self.depth[node] + 1;
                    self.order.push(other);
                }
            }
            next += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use taut_core::{
        Scene, Vec3,
        scene::{Body, Endpoint, Joint, JointKind},
    };

    use super::*;
    use crate::element::{AngularRows, definitions};

    fn carried(masses: &[f64], joints: &[[usize; 2]]) -> Vec<f64> {
        let mut scene = Scene::default();
        for &mass in masses {
            let body = Body::solid_box(Vec3::repeat(1.0), mass);
            scene.bodies.push(if mass == 0.0 { body.fixed() } else { body });
        }
        scene.joints = joints
            .iter()
            .map(|&[a, b]| Joint::new(JointKind::Ball, Endpoint::Body(a), Endpoint::Body(b)))
            .collect();
        let narrow = |i: usize| u32::try_from(i).unwrap();
        let ends: Vec<[u32; 2]> = joints.iter().map(|&[a, b]| [narrow(a), narrow(b)]).collect();
        carried_masses(masses, &definitions(&scene, AngularRows::RestPose), &ends)
    }

    #[test]
    fn a_hanging_chain_carries_what_is_below() {
        assert_eq!(carried(&[0.0, 1.0, 2.0, 50.0], &[[0, 1], [1, 2], [2, 3]]), [53.0, 52.0, 50.0]);
    }

    #[test]
    fn a_free_chain_hangs_on_its_heaviest_body() {
        assert_eq!(carried(&[30.0, 1.0, 1.0, 40.0], &[[0, 1], [1, 2], [2, 3]]), [30.0, 31.0, 32.0]);
    }

    #[test]
    fn two_ropes_share_a_load() {
        let joints = [[0, 1], [0, 2], [1, 3], [2, 3]];
        assert_eq!(carried(&[0.0, 1.0, 1.0, 10.0], &joints), [6.0, 6.0, 5.0, 5.0]);
    }
}
