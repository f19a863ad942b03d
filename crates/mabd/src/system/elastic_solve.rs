//! What elastic material adds to a solve: its nodes stay in the systems of islands, iterations go on from each other,
//! and an island whose elements would be pressed flat goes only part of its way.

use super::{StepScheme, System};
use crate::{affine::Affine, contact::StepContacts, joint::RowLaw};

impl System {
    /// Whether a step is iterated on because of elastic material or particles that touch.
    pub(crate) fn has_elastic(&self) -> bool {
        self.elastic.is_some()
    }

    /// Whether a node stays in the systems of islands with three unknowns.
    #[inline(always)]
    pub(super) fn is_elastic(&self, node: usize) -> bool {
        self.elastic.as_ref().is_some_and(|elastic| elastic.place(node).is_some())
    }

    /// Whether an iteration of the step at hand has led to the current iterate.
    pub(super) fn goes_on(&self) -> bool {
        self.elastic.is_some() && !self.nodes.is_at_start()
    }

    /// How far the last solve with elastic material moved anything, or how far joints were open before it, whichever
    /// is more [m].
    pub(crate) fn latest_change(&self) -> f64 {
        self.latest_change
    }

    /// Evaluates material where nodes are, once bodies have responded.
    pub(super) fn take_on_elastic(&mut self) {
        if let Some(elastic) = &mut self.elastic {
            elastic.evaluate(&self.nodes);
        }
    }

    /// Lets islands go as far as material allows, and notes how far that is.
    pub(super) fn hold_back(&mut self, contacts: &StepContacts, scheme: &StepScheme) {
        let Some(elastic) = &mut self.elastic else { return };
        let increments = self.folds.reached_mut();
        let island_of = contacts.island_of();
        if let Some(shares) = elastic.shares(increments, island_of, scheme.h) {
            for (increment, &island) in increments.iter_mut().zip(island_of) {
                *increment = increment.times(shares[island as usize]);
            }
        }
        self.latest_change = self.opening().max(self.largest_move());
    }

    /// How far hard rows were from their targets [m or rad].
    fn opening(&self) -> f64 {
        let mut largest = 0.0_f64;
        for (e, element) in self.elements.iter().enumerate() {
            let first = self.dual.blocks.first[e] as usize;
            for (k, row) in (first..).zip(&element.rows) {
                let hard = matches!(row.law, RowLaw::Held { compliance: 0.0, .. });
                if hard && self.rows.live[k] {
                    largest = largest.max(self.rows.errors[k].abs());
                }
            }
        }
        largest
    }

    /// How far a node moves, or a point of it as far from its centre as its radius of gyration [m]; infinite where one
    /// is not finite.
    pub(super) fn largest_move(&self) -> f64 {
        let mut largest = 0.0_f64;
        for (node, Affine { frame, origin }) in self.folds.reached().iter().enumerate() {
            let kind = self.nodes.kind(node);
            let radius = (kind.second.max() / kind.mass).sqrt();
            let moved =
                origin.norm() + if self.is_elastic(node) { 0.0 } else { radius * frame.norm() };
            largest = largest.max(if moved.is_finite() { moved } else { f64::INFINITY });
        }
        largest
    }
}
