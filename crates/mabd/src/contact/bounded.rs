//! Limits and motors of joints beside contacts: soft rows with bounded multipliers, so that islands go as far along
//! their ways as the energy of these falls, too.
//!
//! Rigid ones would have none to compare: an island would have to go to the end of each way before which a limit has
//! changed what it does, and limits and contacts that choose anew in turn can go round in circles. Both are convex
//! functions of where a row comes to, quadratic in pieces: a limit is a spring beyond it, a motor one until that
//! would exceed its effort.

use crate::joint::RowLaw;

/// How much stiffer these rows are than contacts [1]. What motors give way adds up from step to step, and limits hold
/// against them; and a limit bears what hangs from its joint, which may be much heavier than the two bodies that its
/// stiffness is measured by, and gives back what it stored when it gave way.
const STIFFER: f64 = 1000.0;

/// Below this share of its value [1] what a motor lacks is rounding.
const ROUNDING: f64 = 1e-14;

/// A limit or a motor in the search of its island.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BoundedRow {
    /// Which of the system's bounded rows it is, and a node that it acts on and forces move.
    pub(crate) bound: u32,
    pub(crate) node: u32,
    law: RowLaw,
    /// Multiplier by value where it holds [N/m or N m/rad].
    stiffness: f64,
    /// Where a motor should be at the end of the step.
    target: f64,
    /// Value in the point reached and in the one tried, and the multipliers that the linear solves behind them exert.
    reached: f64,
    tried: f64,
    held: f64,
    exerted: f64,
}

impl BoundedRow {
    /// One that a unit multiplier moves by `softness`, beside contacts that are `scale` times as stiff as theirs asks for.
    /// Where its gradient vanishes it does nothing.
    pub(crate) fn new(
        [bound, node]: [u32; 2],
        (law, target): (RowLaw, f64),
        softness: f64,
        scale: f64,
    ) -> Self {
        let stiffness = if softness > 0.0 { STIFFER * scale / softness } else { 0.0 };
        Self {
            bound,
            node,
            law,
            stiffness,
            target,
            reached: 0.0,
            tried: 0.0,
            held: 0.0,
            exerted: 0.0,
        }
    }

    /// Value by multiplier where it holds [m/N or rad/(N m)].
    pub(crate) fn compliance(&self) -> f64 {
        if self.stiffness > 0.0 { 1.0 / self.stiffness } else { 1.0 }
    }

    /// Takes over where a linear solve leads, and what it exerts there.
    pub(crate) fn attempt(&mut self, value: f64, multiplier: f64) {
        (self.tried, self.exerted) = (value, multiplier);
    }

    /// The multiplier that it exerts where it comes to `value`.
    fn exerts(&self, value: f64) -> f64 {
        match self.law {
            RowLaw::Held { .. } | RowLaw::Damped { .. } => 0.0,
            RowLaw::Limit(limit) => {
                let beyond = (value - limit.upper).max(0.0) + (value - limit.lower).min(0.0);
                self.stiffness * beyond
            }
            RowLaw::Motor(motor) => {
                let wished = self.stiffness * (value - self.target);
                wished.clamp(-motor.max_effort, motor.max_effort)
            }
        }
    }

    /// By how much the energy grows along the way from the point reached to the one tried, a share `t` of the way on.
    pub(super) fn growth(&self, t: f64) -> f64 {
        let way = self.tried - self.reached;
        let held = self.held + (self.exerted - self.held) * t;
        (self.exerts(self.reached + way * t) - held) * way
    }

    /// Goes a share of the way on.
    pub(super) fn advance(&mut self, share: f64) {
        self.held += (self.exerted - self.held) * share;
        self.reached += (self.tried - self.reached) * share;
    }

    /// Square of what it should exert in the point reached beyond what the linear solves do, and of these.
    pub(super) fn imbalance(&self) -> [f64; 2] {
        let mut lacks = self.exerts(self.reached) - self.held;
        if matches!(self.law, RowLaw::Motor(_)) {
            let rounding = ROUNDING * self.stiffness * (1.0 + self.reached.abs());
            lacks = (lacks.abs() - rounding).max(0.0);
        }
        [lacks * lacks, self.held * self.held]
    }

    /// What it does in the point reached: its multiplier unless it holds, and at which value it does.
    pub(crate) fn piece(&self) -> (Option<f64>, f64) {
        if self.stiffness == 0.0 {
            return (Some(0.0), self.target);
        }
        match self.law {
            RowLaw::Held { .. } | RowLaw::Damped { .. } => (None, self.target),
            RowLaw::Limit(limit) => {
                let held = if self.reached > limit.upper { limit.upper } else { limit.lower };
                let free = (limit.lower..=limit.upper).contains(&self.reached);
                (free.then_some(0.0), held)
            }
            RowLaw::Motor(motor) => {
                let exerted = self.exerts(self.reached);
                let bound = exerted.abs() >= motor.max_effort;
                (bound.then_some(exerted), self.target)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use taut_core::scene::{Limit, Motor};

    use super::*;

    fn rows() -> [BoundedRow; 2] {
        let limit = RowLaw::Limit(Limit { lower: -0.2, upper: 0.5 });
        let motor = RowLaw::Motor(Motor { speed: 1.0, max_effort: 3.0 });
        [limit, motor].map(|law| BoundedRow::new([0, 0], (law, 0.1), 1.0, 0.01))
    }

    /// The piece at a point is the law's tangent there: a linear solve that it leads nowhere is settled.
    #[test]
    fn pieces_are_tangents_of_the_law() {
        for mut row in rows() {
            for value in [-0.9, -0.2001, -0.1, 0.0999, 0.1001, 0.45, 0.7] {
                row.reached = value;
                let (given, held) = row.piece();
                let exerted = given.unwrap_or(row.stiffness * (value - held));
                assert!((exerted - row.exerts(value)).abs() < 1e-12, "{:?} at {value}", row.law);
                row.held = exerted;
                assert!(row.imbalance()[0] < 1e-20);
                let h = 1e-7;
                let slope = (row.exerts(value + h) - row.exerts(value - h)) / (2.0 * h);
                let tangent = if given.is_none() { row.stiffness } else { 0.0 };
                assert!((slope - tangent).abs() < 1e-4 * row.stiffness, "{:?} at {value}", row.law);
            }
        }
    }

    /// Along a way on which a linear solve keeps to one piece and its end lies on another, energy falls until the law
    /// exerts as much as the solve does, and grows beyond.
    #[test]
    fn energy_is_least_where_the_law_meets_the_solve() {
        let [mut limit, _] = rows();
        limit.attempt(0.0, 0.0);
        limit.advance(1.0);
        // Free until 0.5, where a solve without the limit goes to 1 and leaves nothing exerted.
        limit.attempt(1.0, 0.0);
        assert_eq!(limit.growth(0.5), 0.0);
        assert!(limit.growth(0.6) > 0.0);
        assert!((limit.growth(1.0) - limit.stiffness * 0.5).abs() < 1e-12);
    }
}
