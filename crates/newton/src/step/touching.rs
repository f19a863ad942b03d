//! Steps in which bodies touch: finding the points, and what to do where Newton's method alone fails.
//!
//! Three methods take turns. Newton's method on the natural maps solves almost every step in a few
//! iterations. Where it does not, a smooth neighbour of the contact problem, wide at first, is solved by
//! damped Newton steps and narrowed; its solutions keep all forces inside their cones, so that no point
//! has to guess whether it sticks, slides or opens before the others have found their loads. Where that
//! path turns back, forces and ways are projected in turn (the alternating direction method of multipliers,
//! with de Saxce's term from the latest way), slowly but surely, as a better place to start from.
//! Whatever led there, a step is accepted for its natural maps alone.

use taut_collide::{Carried, ContactSet};
use taut_core::{ContactForce, Scene, SolverError, StageTime, Vec3};

use super::{MEMORY, Stepper};
use crate::{
    contact::{ContactPoint, Map},
    system::Merit,
};

/// Factor by which a neighbour is narrowed at first, and the largest that is tried.
const NARROWING: [f64; 2] = [0.1, 0.8];
/// A neighbour is solved once its residual is that share of its width, per root of the number of points.
const CLOSE: f64 = 0.1;
/// Newton steps spent on one width.
const STEPS: u32 = 30;
/// The widest neighbour is at least, the narrowest at most as wide [m].
const WIDTHS: [f64; 2] = [1e-6, 1e-11];
/// A damped step gives up below this fraction.
const SHORTEST_STEP: f64 = 1e-9;
/// Rounds of projections, and how many the first one has; each has twice as many as the one before.
const ROUNDS: u32 = 4;
const PROJECTIONS: u32 = 200;
/// After so many projections the stiffness is reconsidered.
const PATIENCE: u32 = 50;
/// By which factor the stiffness changes, and how far both residuals may be apart before it does.
const STIFFENING: f64 = 4.0;
const BALANCE: f64 = 5.0;

/// The points of contact between steps.
#[derive(Debug)]
pub(super) struct ContactMemory {
    /// `None` where the scene has none.
    set: Option<ContactSet>,
    /// How many nodes may touch: bodies, and particles where any does.
    nodes: usize,
    /// World forces on A in the step before [N].
    worn: Carried<Vec3>,
    /// Forces that the step is started with, in the points' axes [N].
    guess: Vec<Vec3>,
}

impl ContactMemory {
    pub(super) fn new(scene: &Scene) -> Self {
        Self {
            set: ContactSet::new(scene),
            nodes: scene.bodies.len() + scene.touching_particles().len(),
            worn: Carried::default(),
            guess: Vec::new(),
        }
    }
}

impl Stepper {
    /// Forgets the contacts of earlier steps.
    pub(super) fn forget_contacts(&mut self) {
        self.contacts.set.iter_mut().for_each(ContactSet::forget);
        self.contacts.worn.forget();
        self.fixed.touches.clear();
        self.at.forces.clear();
    }

    /// Appends the time spent on finding contacts since the last call.
    pub(crate) fn drain_times(&mut self, out: &mut Vec<StageTime>) {
        if let Some(set) = &mut self.contacts.set {
            set.drain_times(out);
        }
    }

    /// Finds the contacts of a step of length `h` [s] that starts now.
    pub(crate) fn detect(&mut self, h: f64) -> Result<(), SolverError> {
        let ContactMemory { set, nodes, worn, guess } = &mut self.contacts;
        let Some(set) = set else { return Ok(()) };
        let touches = &mut self.fixed.touches;
        for (worn, (touch, force)) in
            worn.now_mut().iter_mut().zip(touches.iter().zip(&self.at.forces))
        {
            *worn = touch.world(force);
        }
        let list = set.detect(self.start[..*nodes].iter().copied(), &self.broken, h);
        worn.follow(list, |_, _, force| force.copied().unwrap_or_default());
        touches.clear();
        guess.clear();
        for manifold in &list.manifolds {
            let range = manifold.range();
            for (contact, force) in list.contacts[range.clone()].iter().zip(&worn.now()[range]) {
                let touch =
                    ContactPoint::new(contact, manifold, &self.start, &self.topology.nodes, h);
                guess.push(touch.guess(force));
                touches.push(touch);
            }
        }
        self.at.forces.clone_from(guess);
        self.trial.forces.clone_from(guess);
        if let Some(analysed) = self.topology.touch(touches.iter().map(|touch| touch.nodes)) {
            self.matrix = analysed.map_err(SolverError::NotConverged)?;
            self.factorised = None;
            for values in [&mut self.right, &mut self.trial_right, &mut self.direction] {
                values.clear();
                values.resize(self.topology.size, 0.0);
            }
        }
        Ok(())
    }

    /// Writes what the contacts of the step exert.
    pub(crate) fn report_contacts(&self, out: &mut Vec<ContactForce>) {
        out.clear();
        let touches = self.fixed.touches.iter().zip(&self.at.forces);
        if let Some(set) = &self.contacts.set {
            set.report(touches.map(|(touch, force)| touch.world(force)), out);
        }
    }

    /// Solves a step with contacts and closes it. The contacts are those of the whole step, so that it
    /// is not halved.
    pub(super) fn complete_touching(&mut self) -> Result<(), SolverError> {
        self.refine_all();
        if !self.acceptable() {
            self.at.forces.clone_from(&self.contacts.guess);
            self.begin(self.fixed.h);
            self.follow(self.loading());
        }
        for round in 0..ROUNDS {
            if self.acceptable() {
                break;
            }
            self.project(PROJECTIONS << round);
            let projected = self.at.clone();
            self.refine_all();
            if !self.acceptable() {
                self.at = projected;
                self.hold_to(Map::Natural);
                self.follow(10.0 * self.merit.contact);
            }
        }
        if self.acceptable() {
            self.commit();
            return Ok(());
        }
        let Merit { row, force, contact, .. } = self.merit;
        let hint = if row.max(force) > self.settings.contact_tolerance {
            "; where hard rows leave no room, `compliance: 1e-9` makes some"
        } else {
            ""
        };
        Err(SolverError::NotConverged(format!(
            "step of {:e} s with {} contacts ends with natural maps off by {contact:e}, rows by {row:e} \
             and forces by {force:e} m after {} iterations{hint}",
            self.fixed.h,
            self.fixed.touches.len(),
            self.iterations
        )))
    }

    /// Whether the iterate solves the step as well as a step with contacts must be solved.
    fn acceptable(&self) -> bool {
        let Merit { row, force, contact, norm, .. } = self.merit;
        let worst = row.max(force).max(contact);
        self.converged() || (norm.is_finite() && worst <= self.settings.contact_tolerance)
    }

    /// Changes the equation that contacts are held to.
    fn hold_to(&mut self, map: Map) {
        self.map = map;
        self.merit = self.evaluate_iterate();
        self.factorised = None;
        (self.stuck, self.settled, self.used) = (false, false, 0);
        self.recent = [self.merit.norm; MEMORY];
    }

    /// Size of forces and overlaps of the contacts [m].
    fn loading(&self) -> f64 {
        let touches = self.fixed.touches.iter().zip(&self.at.forces);
        let weight = self.gravity.norm() * self.fixed.h * self.fixed.h;
        touches.map(|(touch, force)| touch.loading(&self.at, force)).fold(weight, f64::max)
    }

    /// Approaches the solution of the step from wide to narrow neighbours, then by Newton's method.
    fn follow(&mut self, width: f64) {
        let mut width = width.max(WIDTHS[0]);
        let mut narrowing = NARROWING[0];
        self.solve_neighbour(width);
        let mut solved = self.at.clone();
        while width > WIDTHS[1] {
            let next = narrowing * width;
            if self.solve_neighbour(next) {
                width = next;
                solved.clone_from(&self.at);
                narrowing = narrowing.powf(1.5).max(NARROWING[0]);
            } else {
                narrowing = narrowing.sqrt();
                if narrowing > NARROWING[1] {
                    break;
                }
                self.at.clone_from(&solved);
            }
        }
        self.hold_to(Map::Natural);
        self.refine_all();
    }

    fn solve_neighbour(&mut self, width: f64) -> bool {
        self.hold_to(Map::Smooth(width));
        let enough = CLOSE * width * (self.fixed.touches.len() as f64).sqrt();
        for _ in 0..STEPS {
            if self.merit.norm <= enough {
                return true;
            }
            if !self.damped() {
                return false;
            }
        }
        self.merit.norm <= enough
    }

    /// One Newton step, shortened until the residual falls. Where none does and something may buckle, one without
    /// the second derivatives of what is compressed, along which its energy falls.
    fn damped(&mut self) -> bool {
        if self.damped_with(1.0) {
            return true;
        }
        let found = self.buckles() && self.damped_with(0.0);
        self.factorised = None;
        found
    }

    /// Whether anything could.
    fn buckles(&self) -> bool {
        !(self.topology.springs.is_empty() && self.topology.elastics.is_empty())
    }

    fn damped_with(&mut self, compression: f64) -> bool {
        if !self.factorise(compression) {
            return false;
        }
        let mut fraction = 1.0;
        while fraction >= SHORTEST_STEP {
            let merit = self.along(fraction);
            if merit.norm <= (1.0 - 1e-4 * fraction) * self.merit.norm {
                self.accept(merit);
                self.iterations += 1;
                return true;
            }
            fraction *= 0.5;
        }
        false
    }

    /// Projects forces and ways in turn, `count` times or until both agree.
    fn project(&mut self, count: u32) {
        self.begin(self.fixed.h);
        let mut stiffness = 1.0;
        for (touch, force) in self.fixed.touches.iter_mut().zip(&self.at.forces) {
            touch.aim(force);
        }
        let mut forces = self.at.forces.clone();
        self.factorised = None;
        // What is compressed may buckle, and each step looks anew how.
        let buckles = self.buckles();
        let compression = if buckles { 0.0 } else { 1.0 };
        for i in 1..=count {
            self.map = Map::Spring(stiffness);
            self.merit = self.evaluate_iterate();
            if self.factorised.is_some() && !buckles {
                self.direction.copy_from_slice(&self.right);
                self.matrix.solve(&mut self.direction);
            } else if !self.factorise(compression) {
                break;
            }
            let merit = self.along(1.0);
            self.accept(merit);
            self.iterations += 1;
            let mut apart = [0.0_f64; 2];
            for (touch, force) in self.fixed.touches.iter_mut().zip(&mut forces) {
                let (projected, moved) = touch.project(&self.at, stiffness);
                *force = projected;
                apart = [apart[0].max(moved[0]), apart[1].max(moved[1])];
            }
            if i % PATIENCE == 0 {
                if apart[0].max(apart[1]) < 0.1 * self.settings.contact_tolerance {
                    break;
                }
                stiffness = self.restiffened(stiffness, apart);
            }
        }
        self.at.forces = forces;
        self.hold_to(Map::Natural);
    }

    /// The stiffness that brings both residuals nearer to each other.
    fn restiffened(&mut self, old: f64, apart: [f64; 2]) -> f64 {
        let new = if apart[0] > BALANCE * apart[1] {
            old * STIFFENING
        } else if apart[1] > BALANCE * apart[0] {
            old / STIFFENING
        } else {
            return old;
        };
        self.fixed.touches.iter_mut().for_each(|touch| touch.restiffen(old, new));
        self.factorised = None;
        new
    }
}

#[cfg(test)]
impl Stepper {
    /// Holds contacts to a neighbour of that width [m].
    pub(crate) fn soften(&mut self, width: f64) {
        self.hold_to(Map::Smooth(width));
    }
}
