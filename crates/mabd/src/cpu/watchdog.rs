//! The watchdog over steps that turn bodies further than a linear solve can follow.
//!
//! A linear solve moves a body that turns by `w` within a step along the tangent, and so stretches it by `w^2/2`,
//! which no joint error shows (`arc.rs` can foresee what a body's own spin turns, not what forces do). A step in
//! which that exceeds the limit is made again in shorter parts; the next one begins with as many, until the stretch
//! allows for fewer. What is left after eight parts, 32 beside contacts, goes through implicit Euler, which is
//! stable but takes energy. What a body's material gives way does not count. With `spin: arc`, beside contacts, the
//! step and then each of its parts is first solved again about the turns found (`turns.rs`).

use taut_core::{BodyState, Mat3, math::polar_rotation};
use taut_math::LANES;

use super::Mabd;
use crate::{
    affine::{Affine, frame},
    contact::Begins,
    lane::plus,
    polar::squared_strain,
    settings::Integrator,
    simd,
    system::StepScheme,
};

/// In how many parts a step is made again, and by how many iterations each: one is a linear solve from where
/// the part begins, more are Newton's on implicit Euler. Beside contacts these converge by a factor only, and shorter
/// linear parts come first.
const LINEAR: [(u32, u32); 4] = [(2, 1), (4, 1), (8, 1), (8, 8)];
const IN_TOUCH: [(u32, u32); 6] = [(2, 1), (4, 1), (8, 1), (16, 1), (32, 1), (8, 8)];
const IMPLICIT: [(u32, u32); 5] = [(1, 3), (1, 8), (2, 8), (4, 8), (8, 8)];

/// How steps are divided.
#[derive(Debug, Default)]
pub(super) struct Watchdog {
    /// Parts with which the next step begins; none are one.
    parts: u32,
    /// Length of the parts of the step at hand [s], once it is made in parts.
    part: Option<f64>,
    /// State at the start of the step at hand, which is made again from there.
    saved: Vec<[Affine; 2]>,
    fixed: Vec<BodyState>,
    /// Nodes that are predicted along their arcs, and their starts and rates before.
    pub(super) turned: Vec<(u32, [Affine; 2])>,
    /// Whether bodies may turn fast in the next step.
    pub(super) fast: bool,
}

impl Watchdog {
    /// Begins with whole steps.
    pub(super) fn forget(&mut self) {
        (self.parts, self.part, self.fast) = (1, None, true);
        self.turned.clear();
    }

    /// Whether the step before needed to be divided.
    pub(super) fn begins_divided(&self) -> bool {
        self.parts > 1
    }

    /// Length of the parts of the step at hand [s], if it is made in parts.
    pub(super) fn part(&self) -> Option<f64> {
        self.part
    }
}

impl Mabd {
    /// Begins a step with as many parts as the step before needed.
    pub(super) fn divide(&mut self) {
        self.save();
        let parts = self.watchdog.parts;
        self.iterations = Some(0);
        // Iterations of parts do not go on from each other: all are made at once.
        self.settled = true;
        let refines = self.refines() || self.system.has_elastic();
        let iterations = if refines { self.step.iterations } else { 1 };
        self.attempt(parts, iterations, false);
    }

    /// Makes a step again in which bodies are stretched too much. The length of the parts that ended it [s],
    /// the last of which is left uncommitted; `None` if it was made as a whole.
    pub(super) fn watch(&mut self) -> Option<f64> {
        let limit = self.settings.stretch_limit;
        if !limit.is_finite() {
            return None;
        }
        let mut parts = if self.watchdog.part.is_some() { self.watchdog.parts } else { 1 };
        if self.is_stretched(limit) || self.turns_far_in_touch() {
            parts = self.retry(parts);
        }
        // Half as many parts stretch four times as much, where they do not follow turns.
        let followed =
            self.follows_turns() && self.iterations.is_some_and(|used| used <= 2 * parts);
        let eases = parts > 1 && (followed || !self.is_stretched(0.25 * limit));
        self.watchdog.parts = if eases { parts / 2 } else { parts };
        self.watchdog.part.take()
    }

    fn save(&mut self) {
        let nodes = &mut self.system.nodes;
        for (node, [start, rate]) in self.watchdog.turned.drain(..) {
            nodes.start.set(node as usize, &start);
            nodes.rate.set(node as usize, &rate);
            nodes.moved.set(node as usize, &Affine::ZERO);
        }
        let nodes = &self.system.nodes;
        let mut saved = std::mem::take(&mut self.watchdog.saved);
        saved.clear();
        saved.extend((0..nodes.count()).map(|n| [nodes.start.get(n), self.rate(n)]));
        self.watchdog.fixed = nodes.fixed_states();
        (self.watchdog.saved, self.resumed) = (saved, None);
    }

    /// Makes a step again that was made in `before` parts; in how many parts it is made now.
    fn retry(&mut self, before: u32) -> u32 {
        let linear = self.settings.integrator.is_linear();
        let elastic = [2, 4, 8].map(|parts| (parts, self.step.iterations));
        let attempts: &[(u32, u32)] = match (self.system.has_elastic(), linear) {
            (true, _) => &elastic,
            (_, true) if self.system.contacts.is_some() => &IN_TOUCH,
            (_, true) => &LINEAR,
            _ => &IMPLICIT,
        };
        let mut made = before;
        if self.watchdog.part.is_none() {
            let limit = self.settings.stretch_limit;
            let turns = self.follows_turns() && self.is_stretched(limit);
            if turns && self.solve_about_turns(self.step.dt, limit) {
                return 1;
            }
            self.save();
        }
        for (attempt, &(parts, iterations)) in attempts.iter().enumerate() {
            if (linear && iterations == 1 || self.system.has_elastic()) && parts <= before {
                continue;
            }
            self.system.nodes.restore(&self.watchdog.saved, &self.watchdog.fixed);
            self.system.reset(&self.broken);
            self.tense = false;
            made = parts;
            if self.attempt(parts, iterations, attempt + 1 == attempts.len()) {
                break;
            }
        }
        made
    }

    /// One attempt at a step in equal parts, to the end if it `must`; whether it stayed within the
    /// limit. The last part is left uncommitted.
    fn attempt(&mut self, parts: u32, iterations: u32, must: bool) -> bool {
        let h = self.step.dt / f64::from(parts);
        let scheme = StepScheme { h, two_step: false };
        self.watchdog.part = Some(h);
        for part in 0..parts {
            let begins = if part > 0 { Begins::Part } else { Begins::StepAgain };
            if part > 0 {
                self.finish(h, &scheme);
                self.settle();
            }
            self.set_off(self.time_s + h * f64::from(part), h);
            self.system.aim_motors(h);
            self.system.detect(&self.broken, h, begins);
            self.system.nodes.hold(h);
            if iterations > 1 && !self.system.has_elastic() {
                self.predict(h);
            } else {
                self.predict_arcs(h);
            }
            for iteration in 0..iterations {
                // Who presses and slides is known from the iteration before.
                self.system.keeps_contacts = iteration > 0;
                self.solve(&scheme);
                self.count_solve();
                if self.is_settled() || self.system.has_converged() {
                    break;
                }
            }
            self.system.keeps_contacts = false;
            if self.settings.integrator == Integrator::Projected {
                self.project();
            }
            let limit = self.settings.stretch_limit;
            let turns = iterations == 1 && self.follows_turns();
            let done = match self.is_stretched(limit) {
                true => turns && self.solve_about_turns(h, limit),
                false => !self.turns_far_in_touch(),
            };
            if !must && !done {
                return false;
            }
        }
        true
    }

    /// Whether the last solve stretched a body by more than the limit [1] beyond what its material gives way,
    /// or is not finite.
    pub(super) fn is_stretched(&self, limit: f64) -> bool {
        let nodes = &self.system.nodes;
        // Half the norm of the strain is at least the largest stretch but for its square.
        let allowed = 1.8 * limit.min(0.1);
        if self.system.strain().is_some_and(|squared| squared <= allowed * allowed) {
            return false;
        }
        simd::dispatch(|| {
            (0..nodes.start.groups.len()).any(|group| {
                let at = plus(frame(&nodes.start.groups[group]), frame(&nodes.moved.groups[group]));
                let squared = squared_strain(at).largest();
                squared > allowed * allowed && self.is_group_stretched(group, limit)
            })
        })
    }

    #[cold]
    fn is_group_stretched(&self, group: usize, limit: f64) -> bool {
        let nodes = &self.system.nodes;
        let last = nodes.count().min((group + 1) * LANES);
        (group * LANES..last).any(|node| {
            let excess = self.excess(node, limit);
            excess.is_nan() || excess > limit
        })
    }

    /// How far the last solve stretched a node beyond what its material gives way [1]; what is within `limit` need not be
    /// the least that can be said.
    fn excess(&self, node: usize, limit: f64) -> f64 {
        let nodes = &self.system.nodes;
        let at = nodes.place(node as u32).frame;
        let from = match self.system.rotation(node) {
            Some(rotation) => rotation,
            None if self.settings.integrator.is_linear() => {
                polar_matrix(&nodes.start.get(node).frame)
            }
            None => return stretch(&(at.tr_mul(&at) - Mat3::identity())),
        };
        let local = from.tr_mul(&at);
        let turn = 0.5 * (local - local.transpose());
        // Of `1 + turn` two singular values are this root.
        let turning = (1.0 + 0.5 * turn.norm_squared()).sqrt() - 1.0;
        if self.watchdog.turned.is_empty() || turning <= limit {
            return turning;
        }
        // What an arc has turned stretches nothing.
        turning.min(stretch(&(at.tr_mul(&at) - Mat3::identity())))
    }
}

pub(super) fn polar_matrix(frame: &Mat3) -> Mat3 {
    polar_rotation(frame).to_rotation_matrix().into_inner()
}

/// Largest `|singular value - 1|` of a frame whose `A^T A - 1` is given [1].
fn stretch(strain: &Mat3) -> f64 {
    if !strain.iter().all(|x| x.is_finite()) {
        return f64::INFINITY;
    }
    let excess = |e: f64| ((1.0 + e).max(0.0).sqrt() - 1.0).abs();
    strain.symmetric_eigenvalues().iter().map(|&e| excess(e)).fold(0.0, f64::max)
}
