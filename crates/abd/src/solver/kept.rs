//! Newton steps with the factor of an earlier iterate.
//!
//! Where bodies rest, the Hessian hardly changes from step to step, and finding and factorising it is most of the work. A step
//! with an earlier one, `p = -H^-1 g` of the present gradient, leaves an error of `|1 - H^-1 H_now| |p|`: where that is a
//! small share, steps shrink by it from one to the next, and the length of the last bounds what is left as that of a
//! Newton step does. A first step shows no such share, since an earlier Hessian may be stiffer than that of now; unless it is
//! all but nothing, a second one has to.

use super::Abd;
use crate::{HessianUse, matrix::SIZE};

/// Steps with a kept factor are no longer than this share of the barrier's reach, within which its forces change
/// little [1].
const SHORT: f64 = 0.1;
/// And, in each island, no longer than this share of the one before in the same step of time [1].
const SHRINKS: f64 = 0.3;
/// Steps of no more than this share of what ends a step do not have to shrink [1].
const SURE: f64 = 1e-3;

impl Abd {
    /// Finds the direction of an iteration and how far vertices move along it. Returns the length below which an island has
    /// settled [m]; none where no positive definite system was found.
    pub(super) fn find_step(&mut self) -> Option<f64> {
        let enough = self.enough();
        let is_kept = self.settings.hessian == HessianUse::Kept;
        let is_first = self.before.is_empty();
        let serves = is_kept && self.solve_with_kept(SURE * enough);
        if !serves {
            if !self.solve() {
                return None;
            }
            self.set_motion();
            self.find_moves();
        }
        if is_kept {
            self.islands.most(&self.moves, &mut self.before);
        }
        Some(if serves && is_first { SURE * enough } else { enough })
    }

    /// Finds the direction by the last factor; `false` where there is none for what moves, or where it does not serve.
    /// Steps of islands need not shrink below `nothing` [m].
    fn solve_with_kept(&mut self, nothing: f64) -> bool {
        // After a step that was cut short the next one is hardly shorter.
        if self.is_cut || !self.matrix.has_factor_of(|body| self.islands.is_awake(body)) {
            return false;
        }
        self.assemble_whole_gradient();
        self.find_direction();
        for (body, step) in self.direction.chunks_exact_mut(SIZE).enumerate() {
            if !self.islands.is_awake(body) {
                step.fill(0.0);
            }
        }
        self.set_motion();
        let farthest = self.find_moves();
        let short = SHORT * self.contact.as_ref().map_or(0.0, |contact| contact.d_hat());
        self.islands.most(&self.moves, &mut self.now);
        let mut shrinks = self.now.iter().zip(&self.before);
        let serves =
            farthest <= short && shrinks.all(|(now, before)| *now <= nothing.max(SHRINKS * before));
        if !serves {
            self.direction.fill(0.0);
            self.set_motion();
        }
        serves
    }

    /// Makes sure that no factor is taken for that of a system.
    pub(super) fn forget_factors(&mut self) {
        self.matrix.forget_factor();
        if let Some(spare) = &mut self.spare {
            spare.forget_factor();
        }
    }
}
