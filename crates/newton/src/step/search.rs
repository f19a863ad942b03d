//! One Newton iteration: the direction, and how far to follow it.

use taut_core::{Quat, Vec3};

use super::Stepper;
use crate::{
    iterate::Iterate,
    system::{Assembly, Merit},
};

/// A line search gives up below this fraction of Newton's step.
const SHORTEST_STEP: f64 = 1.0 / 1024.0;
/// The same with contacts, and by how much the residual may then rise.
const SHORTEST_DRIFT: f64 = 1e-9;
const DRIFT: f64 = 1e-3;
/// A kept factorisation must contract the residual at least by this factor.
const CONTRACTION: f64 = 0.2;
/// After that many shortened Newton steps, springs are taken to buckle.
const PATIENCE: u32 = 2;
/// Below this share the second derivatives of compressed springs are left out.
const LEAST_COMPRESSION: f64 = 1.0 / 64.0;
/// Where a full Newton step no longer halves the residual, that many tolerances will do.
const STALL: f64 = 100.0;
/// Above this regularisation a singular matrix is an error.
const LARGEST_REGULARISATION: f64 = 1e-5;

fn norm(values: &[f64]) -> f64 {
    values.iter().map(|x| x * x).sum::<f64>().sqrt()
}

impl Stepper {
    /// Tries a full step with the kept factorisation.
    pub(super) fn chord(&mut self) -> bool {
        self.direction.copy_from_slice(&self.right);
        self.matrix.solve(&mut self.direction);
        let merit = self.along(1.0);
        let good =
            merit.norm <= CONTRACTION * self.merit.norm || merit.within(self.settings.tolerance);
        if good {
            self.accept(merit);
        }
        good
    }

    /// Performs a Newton step, or where springs buckle and Newton's steps keep being shortened, one
    /// that lowers the energy.
    pub(super) fn advance(&mut self) -> bool {
        // The energy knows no contacts.
        let elastic = !(self.topology.springs.is_empty() && self.topology.elastics.is_empty());
        let springs = elastic && self.fixed.touches.is_empty();
        if self.shortened < PATIENCE || !springs {
            return self.factorise(1.0) && self.search();
        }
        while self.factorise(self.compression) {
            let exact = self.compression == 1.0;
            if !exact {
                // No derivative of the residual, so it serves this iteration only.
                self.factorised = None;
            }
            if self.descend(exact) {
                self.compression = (4.0 * self.compression.max(LEAST_COMPRESSION)).min(1.0);
                return true;
            }
            if self.compression == 0.0 {
                return false;
            }
            let less = 0.25 * self.compression;
            self.compression = if less < LEAST_COMPRESSION { 0.0 } else { less };
        }
        false
    }

    /// Follows the direction if it lowers the energy, and shortened where nothing else is left to try;
    /// an exact one also if it halves the residual.
    fn descend(&mut self, exact: bool) -> bool {
        let merit = self.along(1.0);
        if exact && merit.norm <= 0.5 * self.merit.norm {
            self.accept(merit);
            return true;
        }
        self.correction.clear();
        self.correction.extend_from_slice(&self.trial.multipliers);
        let energy = |this: &Self, at: &Iterate| {
            this.fixed.energy(&this.topology, at, &this.correction, &this.broken)
        };
        let before = energy(self, &self.at);
        let shortest = if self.compression == 0.0 { SHORTEST_STEP } else { 0.125 };
        let mut fraction = 1.0;
        while fraction >= shortest {
            let merit = self.along(fraction);
            if energy(self, &self.trial) < before {
                self.accept(merit);
                return true;
            }
            fraction *= 0.5;
        }
        false
    }

    /// Factorises at the iterate and computes the direction; more regularised where it must be.
    pub(super) fn factorise(&mut self, compression: f64) -> bool {
        let mut regularisation = self.settings.regularisation;
        loop {
            let Self { fixed, topology, settings, at, broken, matrix, map, .. } = self;
            let how = Assembly { regularisation, compression, map: *map };
            fixed.assemble(topology, settings, at, broken, how, matrix);
            if matrix.factorise().is_ok() {
                self.direction.copy_from_slice(&self.right);
                self.matrix.solve(&mut self.direction);
                if self.direction.iter().all(|x| x.is_finite()) {
                    self.factorised = Some(self.fixed.h);
                    return true;
                }
            }
            self.factorised = None;
            regularisation = 1e3 * regularisation.max(1e-14);
            if regularisation > LARGEST_REGULARISATION {
                return false;
            }
        }
    }

    /// Backtracks along Newton's direction until the residual falls below the worst of the recent
    /// ones, or the next correction with the same matrix is shorter than this one.
    ///
    /// The second test (Deuflhard's natural monotonicity) measures the distance to the solution
    /// instead of the forces; on a chain that a heavy load keeps straight these grow before they fall.
    /// Close to the tolerance only a full step is tried, and the step is settled once that does not help.
    fn search(&mut self) -> bool {
        let close = self.merit.within_rounding(STALL * self.settings.tolerance);
        let allowed = self.recent.iter().copied().fold(0.0, f64::max);
        let length = norm(&self.direction);
        let mut fraction = 1.0;
        // Forces of redundant points drift along until one of them opens, which may be soon, and no
        // error falls before.
        let touching = !self.fixed.touches.is_empty();
        let (shortest, slack) =
            if touching { (SHORTEST_DRIFT, DRIFT) } else { (SHORTEST_STEP, 0.0) };
        while fraction >= shortest {
            let merit = self.along(fraction);
            if close {
                self.settled = merit.norm > 0.5 * self.merit.norm;
                if merit.norm < self.merit.norm {
                    self.accept(merit);
                }
                return true;
            }
            if merit.norm <= (1.0 + slack - 1e-4 * fraction) * allowed
                || merit.within(self.settings.tolerance)
                || self.next_correction(&merit) <= (1.0 - 0.25 * fraction) * length
            {
                self.accept(merit);
                return true;
            }
            fraction *= 0.5;
            self.shortened += u32::from(fraction == 0.5);
        }
        false
    }

    /// Length of the correction that the same matrix would make at the trial.
    fn next_correction(&mut self, merit: &Merit) -> f64 {
        if !merit.norm.is_finite() {
            return f64::INFINITY;
        }
        self.correction.clear();
        self.correction.extend_from_slice(&self.trial_right);
        self.matrix.solve(&mut self.correction);
        norm(&self.correction)
    }

    /// Evaluates the trial a fraction of the direction away from the iterate.
    pub(super) fn along(&mut self, fraction: f64) -> Merit {
        let step = |dof: usize| -> Vec3 {
            Vec3::from_fn(|i, _| fraction * self.fixed.scale[dof + i] * self.direction[dof + i])
        };
        for (n, node) in self.topology.nodes.iter().enumerate() {
            self.trial.shift[n] = self.at.shift[n];
            self.trial.turn[n] = self.at.turn[n];
            if node.extent >= 3 {
                self.trial.shift[n] += step(node.dof);
            }
            if node.extent == 6 {
                let delta = Quat::from_scaled_axis(step(node.dof + 3));
                self.trial.turn[n] = delta * self.at.turn[n];
            }
        }
        for (r, row) in self.topology.rows.iter().enumerate() {
            let change = fraction * self.fixed.scale[row.dof] * self.direction[row.dof];
            self.trial.multipliers[r] = self.at.multipliers[r] + change;
        }
        for (i, unknowns) in self.topology.contacts.iter().enumerate() {
            self.trial.forces[i] = self.at.forces[i] + step(unknowns.dof);
        }
        self.evaluate_trial()
    }
}

#[cfg(test)]
impl Stepper {
    /// Moves every unknown away from the iterate by up to 0.3 m, 0.3 rad or 20 N.
    pub(crate) fn disturb(&mut self, mut number: impl FnMut() -> f64) {
        let primal = self.topology.primal();
        for (i, value) in self.direction.iter_mut().enumerate() {
            let reach = if i < primal { 0.3 } else { 20.0 };
            *value = reach * number() / self.fixed.scale[i];
        }
        let merit = self.along(1.0);
        self.accept(merit);
    }

    /// Largest difference between the matrix and central differences, relative to one plus the entry.
    pub(crate) fn derivative_error(&mut self) -> f64 {
        let Self { fixed, topology, settings, at, broken, matrix, map, .. } = self;
        let how = Assembly { regularisation: 0.0, compression: 1.0, map: *map };
        fixed.assemble(topology, settings, at, broken, how, matrix);
        let mut worst = 0.0_f64;
        for column in 0..self.topology.size {
            let exact = self.matrix.dense_column(column);
            let step = 1e-6 / self.fixed.scale[column];
            self.direction.fill(0.0);
            self.direction[column] = step;
            self.along(1.0);
            let ahead = self.trial_right.clone();
            self.along(-1.0);
            for (exact, (ahead, behind)) in exact.iter().zip(ahead.iter().zip(&self.trial_right)) {
                let difference = (behind - ahead) / (2.0 * step);
                worst = worst.max((difference - exact).abs() / (1.0 + exact.abs()));
            }
        }
        worst
    }
}
