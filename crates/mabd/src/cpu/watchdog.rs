//! The watchdog over steps that turn bodies further than a linear solve can follow.
//!
//! A linear solve moves a body that turns by `w` within a step along the tangent, and so stretches it by `w^2/2`,
//! which no joint error shows (`arc.rs` can foresee what a body's own spin turns, not what forces do). A step in
//! which that exceeds the limit is made again in parts, each as long as the limit allows: one that stretches bodies
//! further is halved, and the next is twice as long where that should do. The next step begins with parts of the length
//! of the last, or twice that. Where not even an eighth of a step will do, or one of 32 parts beside contacts, the step
//! goes through implicit Euler, which is stable but takes energy. What a body's material gives way does not count. With
//! `spin: arc`, beside contacts, the step and then each of its parts is first solved again about the turns found
//! (`turns.rs`).

use taut_core::{BodyState, Mat3, Multipliers, Vec3};
use taut_math::{Fused, LANES, Number};

use super::{Mabd, arc::TurnedNode, turns::Way};
use crate::{
    affine::{Affine, frame},
    contact::Begins,
    lane::plus,
    polar::{polar_matrix, squared_strain},
    settings::Integrator,
    simd,
    system::StepScheme,
};

/// How many of the shortest linear parts make a step: each is one solve from where it begins. Beside contacts there are
/// shorter ones, since iterations on implicit Euler converge by a factor only there.
const PARTS_MAX: u32 = 8;
const PARTS_MAX_IN_TOUCH: u32 = 32;

/// In how many equal parts a step is made again, and by how many of Newton's iterations on implicit Euler each, where
/// linear parts do not do and where steps are implicit.
const LAST: [(u32, u32); 1] = [(8, 8)];
const IMPLICIT: [(u32, u32); 5] = [(1, 3), (1, 8), (2, 8), (4, 8), (8, 8)];

/// How many times the limit a solve that is not finished has to exceed that it is left so [1].
const LEFT: f64 = 1.5;

/// Where nodes are at the start of a step, or of a part of one.
#[derive(Debug, Default)]
struct Start {
    nodes: Vec<[Affine; 2]>,
    tension: Vec<[Fused; 3]>,
    /// Whether the tension is known.
    tense: bool,
    fixed: Vec<BodyState>,
}

/// How steps are divided.
#[derive(Debug, Default)]
pub(super) struct Watchdog {
    /// How many parts of the length with which the next step begins make a step; none are one.
    parts: u32,
    /// Length of the part at hand [s], once the step is made in parts.
    part: Option<f64>,
    /// Linear solves of the part at hand.
    solves: u32,
    /// How long the parts of the step at hand are that are done [s], and what each joint has exerted in them [N s, N m s].
    done_s: f64,
    impulses: Vec<[Vec3; 2]>,
    /// From where the step at hand is made again, and its last part.
    step_start: Start,
    part_start: Start,
    /// Nodes that are predicted along their arcs, and their starts and rates before.
    pub(super) turned: Vec<TurnedNode>,
    /// How nodes are turned on from solve to solve.
    pub(super) ways: Vec<Way>,
    /// Whether bodies may turn fast in the next step.
    pub(super) fast: bool,
}

impl Watchdog {
    /// Begins with whole steps.
    pub(super) fn forget(&mut self) {
        (self.parts, self.part, self.fast) = (1, None, true);
        self.turned.clear();
        self.begin();
    }

    /// Begins a step, of which nothing is done.
    pub(super) fn begin(&mut self) {
        self.done_s = 0.0;
        self.impulses.clear();
    }

    /// Adds what joints exert in a part of length `h` [s] that is done.
    fn add_impulses(&mut self, forces: &Multipliers, h: f64) {
        self.done_s += h;
        self.impulses.resize(forces.joint_force.len(), [Vec3::zeros(); 2]);
        let exerted = forces.joint_force.iter().zip(&forces.joint_torque);
        for ([linear, angular], (force, torque)) in self.impulses.iter_mut().zip(exerted) {
            *linear += force * h;
            *angular += torque * h;
        }
    }

    /// Makes what joints exert in the last part of a step of `dt` [s] their average over all of it.
    pub(super) fn average(&self, forces: &mut Multipliers, dt: f64) {
        let exerted = forces.joint_force.iter_mut().zip(&mut forces.joint_torque);
        for ([linear, angular], (force, torque)) in self.impulses.iter().zip(exerted) {
            *force = (*linear + *force * (dt - self.done_s)) / dt;
            *torque = (*angular + *torque * (dt - self.done_s)) / dt;
        }
    }

    /// Whether the step before needed to be divided.
    pub(super) fn begins_divided(&self) -> bool {
        self.parts > 1
    }

    /// Length of the last part of the step at hand [s], if it is made in parts.
    pub(super) fn part(&self) -> Option<f64> {
        self.part
    }
}

impl Mabd {
    /// Begins a step with parts as short as the last of the step before.
    pub(super) fn divide(&mut self) {
        self.settle();
        self.system.nodes.moved.clear();
        self.save_step();
        let parts = self.watchdog.parts;
        self.iterations = Some(0);
        // Iterations of parts do not go on from each other: all are made at once.
        self.settled = true;
        if self.makes_linear_parts() {
            self.watchdog.parts = self.make_linear_parts(parts);
            return;
        }
        let refines = self.refines() || self.system.has_elastic();
        let iterations = if refines { self.step.iterations } else { 1 };
        self.make_equal_parts(parts, iterations, false);
    }

    /// Whether a step that is divided is made in parts of one linear solve each.
    fn makes_linear_parts(&self) -> bool {
        self.settings.integrator.is_linear() && !self.system.has_elastic()
    }

    /// Makes a step again in which bodies are stretched too much. The length of the parts that ended it [s],
    /// the last of which is left uncommitted; `None` if it was made as a whole.
    pub(super) fn watch(&mut self) -> Option<f64> {
        let limit = self.settings.stretch_limit;
        if !limit.is_finite() {
            return None;
        }
        let divided = self.watchdog.part.is_some();
        let mut parts = if divided { self.watchdog.parts } else { 1 };
        // Linear parts have been judged one by one.
        let judged = divided && self.makes_linear_parts();
        // Where turns are followed, following them asks the same.
        let fails =
            || self.follows_turns() || self.is_stretched(limit) || self.turns_far_in_touch(1.0);
        if !judged && fails() {
            parts = self.retry(parts);
        }
        self.watchdog.parts = if parts > 1 && self.eases() { parts / 2 } else { parts };
        self.watchdog.part.take()
    }

    /// Makes a step again whose solve was left unfinished, so that it can be read.
    pub(super) fn finish_what_is_left(&mut self) {
        self.watchdog.parts = self.retry(1);
    }

    /// Whether parts twice as long should do.
    fn eases(&self) -> bool {
        if self.turns_far_in_touch(0.5) {
            return false;
        }
        // They stretch four times as much, where they do not follow turns.
        let followed = self.follows_turns() && self.watchdog.solves <= 2;
        followed || !self.is_stretched(0.25 * self.settings.stretch_limit)
    }

    /// Notes where the step at hand starts.
    fn save_step(&mut self) {
        let nodes = &mut self.system.nodes;
        for TurnedNode { node, before: [start, rate], .. } in self.watchdog.turned.drain(..) {
            nodes.start.set(node as usize, &start);
            nodes.rate.set(node as usize, &rate);
            nodes.moved.set(node as usize, &Affine::ZERO);
        }
        let mut start = std::mem::take(&mut self.watchdog.step_start);
        self.save(&mut start);
        (self.watchdog.step_start, self.resumed) = (start, None);
    }

    /// Notes where nodes are that go on from the end of a part.
    fn save(&self, start: &mut Start) {
        let nodes = &self.system.nodes;
        start.nodes.clear();
        start.nodes.extend((0..nodes.count()).map(|n| [nodes.start.get(n), self.rate(n)]));
        start.tension.clone_from(&nodes.tension);
        start.tense = self.tense;
        start.fixed = nodes.fixed_states();
    }

    /// Puts nodes back to where a step, or a part of one, starts.
    fn put_back(&mut self, is_part: bool) {
        if !is_part {
            self.watchdog.begin();
        }
        let Watchdog { step_start, part_start, .. } = &self.watchdog;
        let start = if is_part { part_start } else { step_start };
        self.system.nodes.restore(&start.nodes, &start.tension, &start.fixed);
        self.tense = start.tense;
        self.system.reset(&self.broken);
    }

    /// Makes a step again that was made in `before` parts; in how many it is made now, if all were as the last.
    fn retry(&mut self, before: u32) -> u32 {
        if self.watchdog.part.is_none() {
            let limit = self.settings.stretch_limit;
            if self.follows_turns() && self.solve_about_turns(self.step.dt, limit) {
                return 1;
            }
            self.save_step();
            // That of a solve which is not to be trusted.
            self.watchdog.step_start.tension.fill([Fused::ZERO; 3]);
            self.watchdog.step_start.tense = false;
        }
        if self.makes_linear_parts() {
            self.put_back(false);
            return self.make_linear_parts(2);
        }
        let elastic = [2, 4, 8].map(|parts| (parts, self.step.iterations));
        let attempts = if self.system.has_elastic() { &elastic[..] } else { &IMPLICIT };
        let is_made = |(parts, _): &&(u32, u32)| self.system.has_elastic() && *parts <= before;
        // The last is made again, since this time it must end.
        let made = attempts.iter().take_while(is_made).count().min(attempts.len() - 1);
        self.make_again(&attempts[made..])
    }

    /// Makes a step again in equal parts, by the first of these attempts that is within the limit, or by the last; in how
    /// many parts.
    fn make_again(&mut self, attempts: &[(u32, u32)]) -> u32 {
        let mut made = 1;
        for (attempt, &(parts, iterations)) in attempts.iter().enumerate() {
            self.put_back(false);
            made = parts;
            if self.make_equal_parts(parts, iterations, attempt + 1 == attempts.len()) {
                break;
            }
        }
        made
    }

    /// Makes the step at hand in linear parts, of which the first is one of `parts`; how many there were if all were as
    /// the last. That one is left uncommitted.
    fn make_linear_parts(&mut self, mut parts: u32) -> u32 {
        let in_touch = self.system.contacts.is_some();
        let most = if in_touch { PARTS_MAX_IN_TOUCH } else { PARTS_MAX };
        let (mut done, mut begins) = (0, Begins::StepAgain);
        loop {
            let (h, length) = (self.step.dt / f64::from(parts), most / parts);
            let start_s = self.time_s + self.step.dt * (f64::from(done) / f64::from(most));
            let ok = self.make_part(begins, start_s, h, 1);
            if ok {
                done += length;
                if done == most {
                    return parts;
                }
                if done % (2 * length) == 0 && self.eases() {
                    parts /= 2;
                }
                self.end_part(h);
                let mut start = std::mem::take(&mut self.watchdog.part_start);
                self.save(&mut start);
                self.watchdog.part_start = start;
                begins = Begins::Part;
            } else if parts < most {
                self.put_back(done > 0);
                parts *= 2;
                begins = if done > 0 { Begins::PartAgain } else { Begins::StepAgain };
            } else {
                return self.make_again(&LAST);
            }
        }
    }

    /// One attempt at a step in equal parts, to the end if it `must`; whether it stayed within the
    /// limit. The last part is left uncommitted.
    fn make_equal_parts(&mut self, parts: u32, iterations: u32, must: bool) -> bool {
        let h = self.step.dt / f64::from(parts);
        for part in 0..parts {
            let begins = if part > 0 { Begins::Part } else { Begins::StepAgain };
            if part > 0 {
                self.end_part(h);
            }
            let start_s = self.time_s + h * f64::from(part);
            if !self.make_part(begins, start_s, h, iterations) && !must {
                return false;
            }
        }
        true
    }

    /// Commits a part.
    fn end_part(&mut self, h: f64) {
        self.system.joint_forces(self.broken.len(), &mut self.forces);
        self.watchdog.add_impulses(&self.forces, h);
        self.finish(h, &StepScheme { h, two_step: false });
        self.settle();
        self.watchdog.turned.clear();
    }

    /// Makes a part of length `h` [s] from where nodes are, which it leaves uncommitted; whether it stayed within the limit.
    fn make_part(&mut self, begins: Begins, start_s: f64, h: f64, iterations: u32) -> bool {
        let scheme = StepScheme { h, two_step: false };
        let before = self.iterations.unwrap_or(0);
        self.watchdog.part = Some(h);
        // Motors and dampers act on what they hold from where the part starts.
        self.system.nodes.hold(0.0);
        self.set_off(start_s, h);
        self.system.aim_motors(h);
        self.system.detect(&self.broken, h, begins);
        self.system.nodes.hold(h);
        if iterations > 1 && !self.system.has_elastic() {
            self.predict(h);
        } else {
            self.predict_arcs(h);
        }
        self.leave_beyond(iterations == 1);
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
        let done = match turns {
            true => self.solve_about_turns(h, limit),
            false => !self.is_stretched(limit) && !self.turns_far_in_touch(1.0),
        };
        self.watchdog.solves = self.iterations.unwrap_or(0) - before;
        done
    }

    /// Has solves left unfinished that are solved again about turns anyway, if they are `linear`.
    pub(super) fn leave_beyond(&mut self, linear: bool) {
        let limit = LEFT * self.settings.stretch_limit;
        self.system.leaves_beyond = (linear && self.follows_turns()).then_some(limit);
    }

    /// Whether the last solve stretched a body by more than the limit [1] beyond what its material gives way,
    /// is not finite or not finished.
    pub(super) fn is_stretched(&self, limit: f64) -> bool {
        if self.system.is_left {
            return true;
        }
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

/// Largest `|singular value - 1|` of a frame whose `A^T A - 1` is given [1].
fn stretch(strain: &Mat3) -> f64 {
    if !strain.iter().all(|x| x.is_finite()) {
        return f64::INFINITY;
    }
    let excess = |e: f64| ((1.0 + e).max(0.0).sqrt() - 1.0).abs();
    strain.symmetric_eigenvalues().iter().map(|&e| excess(e)).fold(0.0, f64::max)
}
