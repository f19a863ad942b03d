//! A solve with contacts. Those with what does not move are folded into the body's own response, so that
//! chains stay chains and trees stay trees; those between two bodies make one system with them and their joints.
//!
//! A soft row `k/2 (c + g.x)^2` changes an inverse by one rank, `H^-1 - w u u^T` with `u = H^-1 g` and
//! `w = 1/(1/k + g.u)`, and a minimiser `x` by `-w u (c + g.x)`: one row after the other, exactly, for any `k`.

use super::{StepScheme, System};
use crate::{
    affine::Affine,
    contact::StepContacts,
    node::{NodeResponse, Nodes},
    settings::Dual,
};

/// The most choices of who presses and slides that are tried in one solve.
const ROUNDS_MAX: u32 = 32;

/// The same where elastic material has a step iterated on: the next iteration renews all that they are chosen for.
const ROUNDS_ELASTIC: u32 = 6;

/// After how many rounds it is known well enough how far bodies turn that a solve need not be finished which turns them too
/// far.
const ROUNDS_TURNING: u32 = 3;

/// Where an iteration on a part of a step moves nothing further than this the part is solved [m]: joints are open by the
/// square of the angle that this is.
const CONVERGED: f64 = 1e-6;

/// A row folded into a body: `H^-1 g` before it was, and its weight.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Fold {
    reply: Affine,
    weight: f64,
}

impl Fold {
    const NONE: Self = Self { reply: Affine::ZERO, weight: 0.0 };
}

/// What contacts with what does not move change about the bodies, and the loads of the others.
#[derive(Clone, Debug, Default)]
pub(super) struct Folds {
    /// Of each node in turn, room for three for each of its contacts with what does not move, where those of a
    /// node begin, and how many there are.
    rows: Vec<Fold>,
    first: Vec<u32>,
    count: Vec<u32>,
    /// Whether a round of the solve at hand has folded rows in already, and the nodes whose replies the last round changed.
    pub(super) begun: bool,
    changed: Vec<bool>,
    /// Where each node goes without contacts and joints.
    free: Vec<Affine>,
    /// Loads of the contacts between bodies on each node, frames co-rotated.
    pub(super) loads: Vec<Affine>,
    /// How far each node moves in the last linear solve, and in the point reached, frames co-rotated.
    increments: Vec<Affine>,
    reached: Vec<Affine>,
}

impl Folds {
    #[inline(always)]
    fn of(&self, node: usize) -> &[Fold] {
        let Some(&count) = self.count.get(node) else { return &[] };
        let first = self.first[node] as usize;
        &self.rows[first..first + count as usize]
    }

    /// Makes room for the contacts of a step.
    fn make_room(&mut self, contacts: &StepContacts, count: usize) {
        self.first.clear();
        self.first.extend(contacts.folded_starts().iter().map(|first| 3 * first));
        let most = self.first.last().map_or(0, |&most| most as usize);
        self.rows.resize(most, Fold::NONE);
        self.count.clear();
        self.count.resize(count, 0);
        self.changed.clear();
        self.changed.resize(count, true);
        self.begun = false;
        for places in [&mut self.free, &mut self.loads, &mut self.increments, &mut self.reached] {
            places.clear();
            places.resize(count, Affine::ZERO);
        }
    }

    /// Whether a node replies to loads otherwise than in the round before.
    pub(super) fn has_changed(&self, node: usize) -> bool {
        self.changed[node]
    }

    /// How far each node moves in the point reached, frames co-rotated.
    pub(super) fn reached(&self) -> &[Affine] {
        &self.reached
    }

    /// The same, to be changed.
    pub(super) fn reached_mut(&mut self) -> &mut [Affine] {
        &mut self.reached
    }

    /// Load of the contacts between bodies on a node.
    pub(super) fn load(&self, node: usize) -> Affine {
        self.loads.get(node).copied().unwrap_or(Affine::ZERO)
    }

    /// What a node does under a load, frames co-rotated.
    #[inline(always)]
    pub(super) fn reply(&self, nodes: &Nodes, node: usize, load: &Affine, h: f64) -> Affine {
        let frame = nodes.responses[node].local.under(&load.frame);
        let mut reply = Affine { frame, origin: load.origin * (h * h / nodes.kind(node).mass) };
        for fold in self.of(node) {
            reply = reply.plus(&fold.reply, -fold.weight * fold.reply.dot(load));
        }
        reply
    }

    /// How far a node moves once contacts are settled, frames co-rotated.
    #[inline(always)]
    pub(super) fn settled(&self, nodes: &Nodes, node: usize, h: f64) -> Affine {
        self.reached.get(node).copied().unwrap_or_else(|| self.increment(nodes, node, h))
    }

    /// How far a node moves under the load that is found for it, frames co-rotated.
    #[inline(always)]
    pub(super) fn increment(&self, nodes: &Nodes, node: usize, h: f64) -> Affine {
        let NodeResponse { free, load, .. } = &nodes.responses[node];
        free.plus(&self.reply(nodes, node, load, h), -1.0)
    }
}

impl System {
    /// Whether joints and contacts are solved for island by island: where contacts are between bodies,
    /// joints close loops, or there is elastic material.
    fn is_coupled(&self, contacts: &StepContacts) -> bool {
        !contacts.paired().is_empty()
            || self.has_elastic()
            || matches!(self.chosen, Dual::Direct | Dual::Schur)
    }

    /// Makes room for the contacts of a step, and finds its islands.
    pub(super) fn prepare(&mut self, contacts: &StepContacts) {
        self.folds.make_room(contacts, self.nodes.count());
        if self.is_coupled(contacts) {
            self.arrange(contacts);
        }
    }

    /// Solves for bodies, joints and contacts together; what comes out is left in the responses.
    pub(super) fn solve_contacts(&mut self, contacts: &mut StepContacts, scheme: &StepScheme) {
        self.is_left = false;
        contacts.evaluate(&self.nodes);
        // What does not move is folded in anew, and replies are without it until then.
        for (node, stays) in self.stays.iter_mut().enumerate() {
            *stays &= !contacts.is_held(node);
        }
        let goes_on = self.goes_on();
        let coupled = self.is_coupled(contacts);
        self.folds.loads.fill(Affine::ZERO);
        self.respond(scheme);
        self.take_on_elastic();
        for node in 0..self.nodes.count() {
            // Where nodes of material would go freely is part of what their systems are given.
            let kept = self.is_elastic(node);
            self.folds.free[node] =
                if kept { Affine::ZERO } else { self.nodes.responses[node].free };
            self.folds.count[node] = 0;
        }
        if !self.elements.is_empty() {
            self.evaluate(scheme);
            self.soften_bounds(contacts.stiffness_scale());
        }
        self.find_increments(contacts, scheme.h);
        if goes_on {
            contacts.go_on();
        } else if self.keeps_contacts {
            contacts.keep();
        } else {
            contacts.predict(&self.nodes, &self.folds.increments);
        }
        self.folds.begun = false;
        let rounds = if self.has_elastic() { ROUNDS_ELASTIC } else { ROUNDS_MAX };
        for round in 0..rounds {
            self.refold(contacts, scheme.h);
            self.reply_again(contacts, scheme.h);
            if coupled {
                self.find_coupled_once(contacts, scheme);
            } else if !self.elements.is_empty() {
                self.find_multipliers_once();
            }
            self.find_increments(contacts, scheme.h);
            self.attempt_bounds(contacts, scheme);
            let Folds { increments, reached, .. } = &mut self.folds;
            contacts.advance(&self.nodes, increments, &mut self.bounded, round);
            for (node, (reached, tried)) in reached.iter_mut().zip(increments).enumerate() {
                if contacts.is_open(node) {
                    let share = contacts.share(node);
                    *reached = reached.times(1.0 - share).plus(tried, share);
                }
            }
            self.choose_soft_bounds(contacts);
            if contacts.close(!coupled) {
                return;
            }
            let left =
                |limit: f64| round + 1 >= ROUNDS_TURNING && self.tangents_stretch_beyond(limit);
            if self.leaves_beyond.is_some_and(left) {
                self.is_left = true;
                return;
            }
        }
    }

    /// Whether a node turns so far to the point reached that the tangent stretches it by more than this [1].
    fn tangents_stretch_beyond(&self, limit: f64) -> bool {
        let allowed = (1.0 + limit) * (1.0 + limit) - 1.0;
        self.folds.reached.iter().enumerate().any(|(node, reached)| {
            let rotation = &self.nodes.responses[node].rotation;
            let local = rotation.tr_mul(&self.nodes.place(node as u32).frame) + reached.frame;
            (local - local.transpose()).norm_squared() > 8.0 * allowed
        })
    }

    /// Whether the last solve with contacts, but without material, has moved nothing by more than [`CONVERGED`].
    pub(crate) fn has_converged(&self) -> bool {
        self.contacts.is_some() && !self.has_elastic() && self.largest_move() <= CONVERGED
    }

    /// How far nodes move whose islands are not settled.
    fn find_increments(&mut self, contacts: &StepContacts, h: f64) {
        for node in (0..self.nodes.count()).filter(|&node| contacts.is_open(node)) {
            self.folds.increments[node] = self.folds.increment(&self.nodes, node, h);
        }
    }

    /// Folds what nodes touch that does not move into them anew.
    pub(super) fn refold(&mut self, contacts: &StepContacts, h: f64) {
        let keeps_free = self.folds.begun && !self.has_elastic();
        for node in (0..self.nodes.count()).filter(|&node| contacts.is_open(node)) {
            let response = &mut self.nodes.responses[node];
            if keeps_free && !contacts.is_held(node) {
                response.load = Affine::ZERO;
                self.folds.changed[node] = false;
                continue;
            }
            (response.free, response.load) = (self.folds.free[node], Affine::ZERO);
            let before = std::mem::take(&mut self.folds.count[node]);
            let stays = self.stays.get(node).is_some_and(|stays| *stays);
            let mut changed = !self.folds.begun && !stays;
            let rotation = self.nodes.responses[node].rotation;
            for (point, side) in contacts.folded(node) {
                for axis in (0..3).filter(|&axis| point.stiffness(axis) > 0.0) {
                    let gradient = point.gradient(side, axis, &rotation);
                    let row = (point.value(axis), point.stiffness(axis));
                    changed |= self.fold(node, &gradient, row, h);
                }
            }
            self.folds.changed[node] = changed || self.folds.count[node] != before;
        }
    }

    /// Folds one row in; whether it differs from the one in its place in the round before.
    fn fold(
        &mut self,
        node: usize,
        gradient: &Affine,
        (value, stiffness): (f64, f64),
        h: f64,
    ) -> bool {
        let reply = self.folds.reply(&self.nodes, node, gradient, h);
        let weight = 1.0 / (1.0 / stiffness + gradient.dot(&reply));
        let free = &mut self.nodes.responses[node].free;
        let ahead = value + gradient.dot(free);
        *free = free.plus(&reply, -weight * ahead);
        let count = &mut self.folds.count[node];
        let at = self.folds.first[node] + *count;
        *count += 1;
        let row = Fold { reply, weight };
        row != std::mem::replace(&mut self.folds.rows[at as usize], row)
    }

    /// Replies of the rows of joints at nodes that touch what does not move, where they have changed.
    pub(super) fn reply_again(&mut self, contacts: &StepContacts, h: f64) {
        let first = &self.dual.blocks.first;
        for node in 0..self.nodes.count() {
            if !contacts.is_held(node) || !contacts.is_open(node) || !self.folds.changed[node] {
                continue;
            }
            for &(element, side) in self.incidence.at(node) {
                let [element, side] = [element as usize, side as usize];
                for row in first[element] as usize..first[element + 1] as usize {
                    let gradient = &self.rows.gradients[row][side];
                    self.rows.replies[row][side] = self.folds.reply(&self.nodes, node, gradient, h);
                }
            }
        }
    }
}
