//! Joints and contacts between bodies together, island by island.
//!
//! Islands are what joints and contacts hold together. Each is one sparse system, whose pattern is analysed
//! when it forms: those that only joints make once, those of contacts in the step in which they change.

mod island;

use std::collections::BTreeMap;

use taut_model::Csr;

use super::{StepScheme, System};
use crate::{affine::Affine, contact::StepContacts};
use island::{Differs, Island, IslandMembers};

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
    /// Contacts with particles, likewise.
    soft: Csr,
}

impl Coupled {
    fn members(&self, root: usize) -> IslandMembers<'_> {
        IslandMembers {
            nodes: self.nodes.of(root),
            elements: self.elements.of(root),
            pairs: self.pairs.of(root),
            soft: self.soft.of(root),
        }
    }
}

impl System {
    /// Finds the islands of a step whose contacts have been found.
    pub(super) fn arrange(&mut self, contacts: &StepContacts) {
        let mut coupled = std::mem::take(&mut self.coupled);
        self.arrange_islands(&mut coupled, contacts);
        self.coupled = coupled;
    }

    fn arrange_islands(&self, coupled: &mut Coupled, contacts: &StepContacts) {
        let (count, island_of) = (self.nodes.count(), contacts.island_of());
        let mut still = std::mem::take(&mut coupled.still);
        let mut before: Vec<Option<Island>> = Vec::new();
        for island in coupled.islands.drain(..) {
            if island.has_pairs() {
                before.push(Some(island));
            } else {
                still.insert(island.root(), island);
            }
        }
        coupled.nodes.fill(count, island_of.iter().copied().zip(0..));
        let all = 0..self.elements.len() as u32;
        coupled.elements.fill(count, all.map(|e| (island_of[self.mover(e)], e)));
        let island = |&t: &u32| (contacts.island(t as usize) as u32, t);
        coupled.pairs.fill(count, contacts.paired().iter().map(island));
        coupled.soft.fill(count, contacts.soft().iter().map(island));
        for root in 0..count {
            let members = coupled.members(root);
            let between = |&t: &u32| contacts.point(t).only_mover(count).is_none();
            let touches = !members.pairs.is_empty() || members.soft.iter().any(between);
            let elastic = members.nodes.iter().any(|&node| self.is_elastic(node as usize));
            if members.elements.is_empty() && !touches && !elastic {
                continue;
            }
            let kept = if touches {
                let root_of = |island: &Option<Island>| island.as_ref().map_or(root, Island::root);
                let at = before.binary_search_by_key(&root, root_of).ok();
                let island = at.and_then(|at| before[at].take());
                island.filter(|island| island.fits(self, contacts, &members))
            } else {
                still.remove(&root)
            };
            let mut island = kept.unwrap_or_else(|| Island::new(self, contacts, &members));
            island.take_over(self, contacts, &members);
            coupled.islands.push(island);
        }
        still.values_mut().for_each(Island::set_aside);
        coupled.still = still;
    }

    /// Finds the multipliers of joints and contacts of all islands that are not settled, bounded rows being as
    /// they are, and the loads that they make.
    pub(super) fn find_coupled_once(&mut self, contacts: &StepContacts, scheme: &StepScheme) {
        self.clear_open(contacts);
        let mut differs = match (std::mem::replace(&mut self.folds.begun, true), &self.stays[..]) {
            (true, _) => Differs::Contacts,
            (false, []) => Differs::All,
            (false, _) => Differs::Nodes,
        };
        if !self.bounds.is_empty() {
            if self.apply_bounds() {
                differs = Differs::All;
            }
            self.gather_open_loads(contacts);
        }
        let mut coupled = std::mem::take(&mut self.coupled);
        each(&mut coupled.islands, &|island: &mut Island| {
            if contacts.is_open(island.root()) {
                island.solve(self, contacts, scheme, differs);
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

    /// Gathers the loads of bodies; nodes of material go where the system has told, whatever acts on them.
    fn gather_open_loads(&mut self, contacts: &StepContacts) {
        for node in (0..self.nodes.count()).filter(|&node| contacts.is_open(node)) {
            if !self.is_elastic(node) {
                self.nodes.responses[node].load = self.gathered(node, &self.rows.lambda);
            }
        }
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
