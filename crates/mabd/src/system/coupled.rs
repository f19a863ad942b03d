//! Joints and contacts between bodies together, island by island.
//!
//! Islands are what joints and contacts hold together. Each is one sparse system, whose pattern is analysed
//! when it forms: those that only joints make once, those of contacts in the step in which they change.

mod island;

use std::collections::BTreeMap;

use taut_core::Vec3;
use taut_model::Csr;

use super::{StepScheme, System};
use crate::{affine::Affine, contact::StepContacts};
use island::Island;

/// The islands of a step that need a linear solve.
#[derive(Default)]
pub(super) struct Coupled {
    /// In the order of their lowest nodes.
    islands: Vec<Island>,
    /// Those that only joints make, by their lowest node.
    still: BTreeMap<usize, Island>,
    /// Nodes, elements and contacts between two nodes by the lowest node of their island.
    nodes: Csr,
    elements: Csr,
    pairs: Csr,
}

impl System {
    /// Finds the islands of a step whose contacts have been found, or why one of them cannot be solved.
    pub(super) fn arrange(&mut self, contacts: &StepContacts) -> Result<(), String> {
        let mut coupled = std::mem::take(&mut self.coupled);
        let done = self.arrange_islands(&mut coupled, contacts);
        self.coupled = coupled;
        done
    }

    fn arrange_islands(
        &self,
        coupled: &mut Coupled,
        contacts: &StepContacts,
    ) -> Result<(), String> {
        let (count, island_of) = (self.nodes.count(), contacts.island_of());
        let Coupled { islands, still, nodes, elements, pairs } = coupled;
        let mut before: Vec<Option<Island>> = Vec::new();
        for island in islands.drain(..) {
            if island.has_pairs() {
                before.push(Some(island));
            } else {
                still.insert(island.root(), island);
            }
        }
        nodes.fill(count, island_of.iter().copied().zip(0..));
        let all = 0..self.elements.len() as u32;
        elements.fill(count, all.map(|e| (island_of[self.mover(e)], e)));
        let island = |&t: &u32| (island_of[contacts.point(t).nodes[0] as usize], t);
        pairs.fill(count, contacts.paired().iter().map(island));
        for root in 0..count {
            if elements.of(root).is_empty() && pairs.of(root).is_empty() {
                continue;
            }
            let kept = if pairs.of(root).is_empty() {
                still.remove(&root)
            } else {
                let root_of = |island: &Option<Island>| island.as_ref().map_or(root, Island::root);
                let at = before.binary_search_by_key(&root, root_of).ok();
                let island = at.and_then(|at| before[at].take());
                island.filter(|island| island.fits(contacts, pairs.of(root)))
            };
            let mut island = match kept {
                Some(island) => island,
                None => {
                    let members = [nodes.of(root), elements.of(root)];
                    Island::new(self, contacts, members, pairs.of(root))?
                }
            };
            island.take_over(contacts, pairs.of(root));
            islands.push(island);
        }
        Ok(())
    }

    /// Finds the multipliers of joints and contacts of all islands that are not settled, bounded rows being as
    /// they are, and the loads that they make.
    pub(super) fn find_coupled_once(&mut self, contacts: &StepContacts, scheme: &StepScheme) {
        self.clear_open(contacts);
        if !self.bounds.is_empty() {
            self.apply_bounds();
            self.gather_open_loads(contacts);
        }
        let mut coupled = std::mem::take(&mut self.coupled);
        each(&mut coupled.islands, &|island: &mut Island| {
            if contacts.is_open(island.root()) {
                island.solve(self, contacts, scheme);
            }
        });
        for island in coupled.islands.iter().filter(|island| contacts.is_open(island.root())) {
            island.read(self, contacts);
        }
        self.coupled = coupled;
        self.gather_open_loads(contacts);
    }

    /// Forgets multipliers and loads of islands that are not settled.
    fn clear_open(&mut self, contacts: &StepContacts) {
        for (e, element) in self.elements.iter().enumerate() {
            if contacts.is_open(self.mover(e as u32)) {
                let first = self.dual.blocks.first[e] as usize;
                self.rows.lambda[first..first + element.rows.len()].fill(0.0);
            }
        }
        for node in (0..self.nodes.count()).filter(|&node| contacts.is_open(node)) {
            self.folds.loads[node] = Affine::ZERO;
            self.nodes.responses[node].load = Affine::ZERO;
        }
    }

    fn gather_open_loads(&mut self, contacts: &StepContacts) {
        for node in (0..self.nodes.count()).filter(|&node| contacts.is_open(node)) {
            self.nodes.responses[node].load = self.gathered(node, &self.rows.lambda);
        }
    }

    /// Where an element lies [m].
    fn element_point(&self, element: u32) -> Vec3 {
        let element = &self.elements[element as usize];
        self.nodes.at_start(element.nodes[0]).point(&element.anchors[0])
    }
}

/// Works on all islands, several at once where there are threads.
fn each(islands: &mut [Island], work: &(impl Fn(&mut Island) + Sync)) {
    if islands.len() < 2 || rayon::current_num_threads() == 1 {
        islands.iter_mut().for_each(work);
        return;
    }
    let (left, right) = islands.split_at_mut(islands.len() / 2);
    rayon::join(|| each(left, work), || each(right, work));
}

#[cfg(test)]
#[path = "coupled_tests.rs"]
mod tests;
