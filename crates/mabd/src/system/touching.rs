//! A solve with contacts. Those with what does not move are folded into the body's own response, so that
//! chains stay chains and trees stay trees; those between two bodies are rows of their own, solved by
//! conjugate gradients around the dual solve of the joints.
//!
//! A soft row `k/2 (c + g.x)^2` changes an inverse by one rank, `H^-1 - w u u^T` with `u = H^-1 g` and
//! `w = 1/(1/k + g.u)`, and a minimiser `x` by `-w u (c + g.x)`: one row after the other, exactly, for any `k`.

use super::{Scheme, System};
use crate::{
    contact::Contacts,
    node::{Nodes, Place, Response},
};

/// The most choices of who presses and slides that are tried in one solve.
const ROUNDS_MAX: u32 = 16;
/// Largest error that conjugate gradients leave [m], and the most iterations.
const ERROR_MAX: f64 = 1e-10;
const ITERATIONS_MAX: u32 = 500;

/// A row folded into a body: `H^-1 g` before it was, and its weight.
#[derive(Clone, Copy, Debug)]
struct Fold {
    reply: Place,
    weight: f64,
}

/// A row between two bodies.
#[derive(Clone, Copy, Debug)]
struct Pair {
    nodes: [usize; 2],
    gradients: [Place; 2],
    /// Value in the current iterate [m].
    error: f64,
    compliance: f64,
    /// Inverse of how far a unit multiplier moves the row, joints let alone.
    conditioner: f64,
}

/// What contacts with what does not move change about the bodies, and the loads of the others.
#[derive(Clone, Debug, Default)]
pub(super) struct Touching {
    /// Of each node in turn.
    folds: Vec<Fold>,
    folds_first: Vec<u32>,
    /// Loads of the pairs on each node, frames co-rotated.
    loads: Vec<Place>,
    /// How far each node moves in the last linear solve, and in the point reached, frames co-rotated.
    increments: Vec<Place>,
    reached: Vec<Place>,
}

/// The rows between bodies: their multipliers, and the vectors of conjugate gradients.
#[derive(Clone, Debug, Default)]
pub(super) struct Pairing {
    pairs: Vec<Pair>,
    lambda: Vec<f64>,
    residual: Vec<f64>,
    direction: Vec<f64>,
    trial: Vec<f64>,
    answer: Vec<f64>,
}

impl Touching {
    fn folds(&self, node: usize) -> &[Fold] {
        let Some(&first) = self.folds_first.get(node) else { return &[] };
        let last = self.folds_first.get(node + 1).map_or(self.folds.len(), |&l| l as usize);
        &self.folds[first as usize..last]
    }

    /// Load of the contacts between bodies on a node.
    pub(super) fn load(&self, node: usize) -> Place {
        self.loads.get(node).copied().unwrap_or(Place::ZERO)
    }

    /// What a node does under a load, frames co-rotated.
    #[inline(always)]
    pub(super) fn reply(&self, nodes: &Nodes, node: usize, load: &Place, h: f64) -> Place {
        let frame = nodes.responses[node].local.apply(&load.frame);
        let mut reply = Place { frame, origin: load.origin * (h * h / nodes.kind(node).mass) };
        for fold in self.folds(node) {
            reply = reply.plus(&fold.reply, -fold.weight * fold.reply.dot(load));
        }
        reply
    }

    /// How far a node moves once contacts are settled, frames co-rotated.
    #[inline(always)]
    pub(super) fn settled(&self, nodes: &Nodes, node: usize, h: f64) -> Place {
        self.reached.get(node).copied().unwrap_or_else(|| self.increment(nodes, node, h))
    }

    /// How far a node moves under the load that is found for it, frames co-rotated.
    #[inline(always)]
    pub(super) fn increment(&self, nodes: &Nodes, node: usize, h: f64) -> Place {
        let Response { free, load, .. } = &nodes.responses[node];
        free.plus(&self.reply(nodes, node, load, h), -1.0)
    }
}

impl System {
    /// Solves for bodies, joints and contacts together; what comes out is left in the responses.
    pub(super) fn solve_touching(&mut self, contacts: &mut Contacts, scheme: &Scheme) {
        contacts.evaluate(&self.nodes);
        self.touching.loads.clear();
        self.touching.loads.resize(self.nodes.count(), Place::ZERO);
        self.touching.reached.clear();
        self.touching.reached.resize(self.nodes.count(), Place::ZERO);
        self.respond_folded(contacts, scheme);
        self.find_increments(scheme.h);
        contacts.predict(&self.nodes, &self.touching.increments);
        // The first way need not keep the joints, nor one before which a motor or limit has changed what it
        // does: these are gone to their ends.
        let mut whole = true;
        for round in 0..ROUNDS_MAX {
            self.respond_folded(contacts, scheme);
            self.touching.loads.fill(Place::ZERO);
            if !self.elements.is_empty() {
                self.evaluate(scheme);
                // Motors and limits choose along with contacts, once they have chosen without.
                if round == 0 {
                    self.find_multipliers(scheme);
                } else {
                    self.find_multipliers_once();
                }
            }
            let mut pairing = std::mem::take(&mut self.pairing);
            self.find_pairs(&mut pairing, contacts, scheme.h);
            self.solve_pairs(&mut pairing, scheme.h);
            self.pairing = pairing;
            self.find_increments(scheme.h);
            let switched = self.choose_bounds(scheme);
            let Touching { increments, reached, .. } = &mut self.touching;
            let settled = !contacts.advance(&self.nodes, increments, whole) && !switched;
            whole = switched;
            for (node, (reached, tried)) in reached.iter_mut().zip(increments).enumerate() {
                let share = contacts.share(node);
                *reached = reached.times(1.0 - share).plus(tried, share);
            }
            if settled {
                return;
            }
        }
    }

    fn find_increments(&mut self, h: f64) {
        let mut increments = std::mem::take(&mut self.touching.increments);
        increments.clear();
        let nodes = &self.nodes;
        increments.extend((0..nodes.count()).map(|node| self.touching.increment(nodes, node, h)));
        self.touching.increments = increments;
    }

    /// All nodes alone, but with what they touch that does not move.
    fn respond_folded(&mut self, contacts: &Contacts, scheme: &Scheme) {
        self.touching.folds.clear();
        self.touching.folds_first.clear();
        for node in 0..self.nodes.count() {
            self.respond(node, scheme);
            self.touching.folds_first.push(self.touching.folds.len() as u32);
            let rotation = self.nodes.responses[node].rotation;
            for (touch, side) in contacts.folded(node) {
                for axis in (0..3).filter(|&axis| touch.stiffness(axis) > 0.0) {
                    let gradient = touch.gradient(side, axis, &rotation);
                    let row = (touch.value(axis), touch.stiffness(axis));
                    self.fold(node, &gradient, row, scheme.h);
                }
            }
        }
    }

    fn fold(&mut self, node: usize, gradient: &Place, (value, stiffness): (f64, f64), h: f64) {
        let reply = self.touching.reply(&self.nodes, node, gradient, h);
        let weight = 1.0 / (1.0 / stiffness + gradient.dot(&reply));
        let free = &mut self.nodes.responses[node].free;
        let ahead = value + gradient.dot(free);
        *free = free.plus(&reply, -weight * ahead);
        self.touching.folds.push(Fold { reply, weight });
    }

    /// The rows between bodies that exert something.
    fn find_pairs(&self, pairing: &mut Pairing, contacts: &Contacts, h: f64) {
        let Pairing { pairs, lambda, .. } = pairing;
        pairs.clear();
        lambda.clear();
        for touch in contacts.paired() {
            for axis in (0..3).filter(|&axis| touch.stiffness(axis) > 0.0) {
                let nodes = touch.nodes.map(|node| node as usize);
                let gradients = [0, 1].map(|side| {
                    touch.gradient(side, axis, &self.nodes.responses[nodes[side]].rotation)
                });
                let moved = [0, 1].map(|side| {
                    let gradient = &gradients[side];
                    gradient.dot(&self.touching.reply(&self.nodes, nodes[side], gradient, h))
                });
                let compliance = 1.0 / touch.stiffness(axis);
                let conditioner = 1.0 / (moved[0] + moved[1] + compliance);
                let error = touch.value(axis);
                pairs.push(Pair { nodes, gradients, error, compliance, conditioner });
                lambda.push(touch.multiplier(axis));
            }
        }
    }

    /// Multipliers of the pairs by conjugate gradients, those of the joints following.
    fn solve_pairs(&mut self, pairing: &mut Pairing, h: f64) {
        let Pairing { pairs, lambda, residual, direction, trial, answer } = pairing;
        if pairs.is_empty() {
            return;
        }
        self.leave(pairs, lambda, residual, h);
        direction.clear();
        direction.extend(pairs.iter().zip(&*residual).map(|(p, r)| p.conditioner * r));
        let mut descent = dot(residual, direction);
        for _ in 0..ITERATIONS_MAX {
            if residual.iter().all(|r| r.abs() <= ERROR_MAX) {
                break;
            }
            trial.clear();
            trial.extend(lambda.iter().zip(&*direction).map(|(l, d)| l + d));
            self.leave(pairs, trial, answer, h);
            answer.iter_mut().zip(&*residual).for_each(|(a, r)| *a = r - *a);
            let curvature = dot(direction, answer);
            if curvature.is_nan() || curvature <= 0.0 {
                break;
            }
            let step = descent / curvature;
            lambda.iter_mut().zip(&*direction).for_each(|(l, d)| *l += step * d);
            residual.iter_mut().zip(&*answer).for_each(|(r, a)| *r -= step * a);
            let conditioned = |(p, r): (&Pair, &f64)| p.conditioner * r * r;
            let next: f64 = pairs.iter().zip(&*residual).map(conditioned).sum();
            let keep = next / descent;
            descent = next;
            for ((d, p), r) in direction.iter_mut().zip(&*pairs).zip(&*residual) {
                *d = p.conditioner * r + keep * *d;
            }
        }
        self.leave(pairs, lambda, residual, h);
    }

    /// Applies multipliers of the pairs, lets the joints follow, and finds what the rows then lack,
    /// `c + G x - lambda / k`.
    fn leave(&mut self, pairs: &[Pair], lambda: &[f64], out: &mut Vec<f64>, h: f64) {
        self.touching.loads.fill(Place::ZERO);
        for (pair, &lambda) in pairs.iter().zip(lambda) {
            for (&node, gradient) in pair.nodes.iter().zip(&pair.gradients) {
                let load = &mut self.touching.loads[node];
                *load = load.plus(gradient, lambda);
            }
        }
        self.settle_joints();
        out.clear();
        out.extend(pairs.iter().zip(lambda).map(|(pair, &lambda)| {
            let moved = [0, 1].map(|side| {
                let increment = self.touching.increment(&self.nodes, pair.nodes[side], h);
                pair.gradients[side].dot(&increment)
            });
            pair.error + (moved[0] + moved[1]) - pair.compliance * lambda
        }));
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
