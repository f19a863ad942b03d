//! Multipliers of least size, where joints close loops.
//!
//! Rows of closed loops may be redundant: the motion then determines multipliers up to a self-stress. In one linear
//! step from poses that hold the rows only to the second order of the step before, redundant rows contradict each
//! other by that much, `c`, and divided by the softness that rounding or `rigid_softness` leaves them it becomes a
//! self-stress without bound. It moves nothing by itself, but bodies in tension resist turning, and joints tell
//! forces. So both are taken from the smallest multipliers that explain the motion as well as its rows are known
//! (the discrepancy principle of Morozov): each row is softened by a share of what its own multiplier moves, such
//! that a contradiction of `c` makes a tension far below what counts against inertia.

use super::System;
use crate::{affine::Affine, joint::RowLaw};

/// Inverse of the part of a body's length by which a self-stress may stretch it in a step, were it free [1].
const CAUTION: f64 = 400.0;

/// Softening [1] under which the motion itself is found: far more than `rigid_softness`, so that no contradiction
/// becomes a stretch, and far less than what any row that is not redundant can do alone.
pub(super) const MOTION: f64 = 1e-6;

/// Below this softening [1] multipliers are as good as those without.
const NOISE_MIN: f64 = 1e-11;
/// Beyond this softening [1] nothing would be left of them.
const NOISE_MAX: f64 = 0.1;

impl System {
    /// The share by which rows are softened for multipliers of least size; `None` where those of the step will do.
    pub(super) fn noise(&self) -> Option<f64> {
        if !self.seeks_least || !self.nodes.is_at_start() {
            return None;
        }
        let mut largest = 0.0_f64;
        for (e, element) in self.elements.iter().enumerate() {
            let first = self.dual.blocks.first[e] as usize;
            for (k, row) in (first..).zip(&element.rows) {
                if !self.rows.live[k] || !matches!(row.law, RowLaw::Held { compliance: 0.0, .. }) {
                    continue;
                }
                // An arm in metres, or a number without unit where the row is an angle.
                let arm = [0, 1].map(|side| self.rows.gradients[k][side].frame.norm());
                let arm = arm[0].max(arm[1]);
                if arm > 0.0 {
                    largest = largest.max(self.rows.errors[k].abs() / arm);
                }
            }
        }
        let noise = CAUTION * largest;
        (noise > NOISE_MIN).then(|| noise.min(NOISE_MAX))
    }

    /// The load of multipliers of least size on a node, where they are others than those of the step.
    pub(super) fn least_load(&self, node: usize) -> Option<Affine> {
        (!self.rows.least.is_empty()).then(|| self.gathered(node, &self.rows.least))
    }
}
