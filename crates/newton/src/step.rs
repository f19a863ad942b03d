//! Newton's method on one step, and halving of steps on which it fails.

mod touching;

use taut_core::{Placement, Quat, Scene, SolverError, State, Vec3};

use self::touching::Contacts;
use crate::{
    linear::SparseSystem,
    rotation::end_omega,
    settings::NewtonSettings,
    system::{Assembly, Fixed, Iterate, Merit, pose},
    topology::{Node, Topology},
    touch::Map,
};

/// A line search gives up below this fraction of Newton's step.
const SHORTEST_STEP: f64 = 1.0 / 1024.0;
/// The same with contacts, and by how much the residual may then rise.
const SHORTEST_DRIFT: f64 = 1e-9;
const DRIFT: f64 = 1e-3;
/// How many earlier merits a step may be compared with. Where bounds switch, or rotations are large,
/// the residual must be allowed to rise for a moment.
const MEMORY: usize = 5;
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

/// The motion of a scene and the step being solved.
pub(crate) struct Stepper {
    topology: Topology,
    matrix: SparseSystem,
    settings: NewtonSettings,
    gravity: Vec3,
    fixed: Fixed,
    /// Motion at the start of the step.
    pub(crate) start: Vec<Placement>,
    /// Joints that exert nothing.
    pub(crate) broken: Vec<bool>,
    contacts: Contacts,
    /// Which equation contacts are held to.
    map: Map,
    /// The current iterate.
    pub(crate) at: Iterate,
    trial: Iterate,
    merit: Merit,
    /// Negated residual at the iterate and at the trial, and the Newton direction; all scaled.
    right: Vec<f64>,
    trial_right: Vec<f64>,
    direction: Vec<f64>,
    correction: Vec<f64>,
    /// Merits of the latest iterates of this step.
    recent: [f64; MEMORY],
    /// Length of the step for which the matrix is factorised.
    factorised: Option<f64>,
    /// The step before this one.
    past: Past,
    /// What remains is rounding.
    settled: bool,
    /// No further progress is possible.
    stuck: bool,
    /// Shortened Newton steps in this step so far.
    shortened: u32,
    /// Share of the compressed springs' second derivatives that the next step after those starts with.
    compression: f64,
    used: u32,
    /// Newton iterations since the last call to [`Self::reset_counters`], over all bisections.
    pub(crate) iterations: u32,
    /// Steps halved since then.
    pub(crate) bisections: u32,
}

fn norm(values: &[f64]) -> f64 {
    values.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// Motion of every node: bodies, particles, the world.
fn motions(state: &State) -> impl Iterator<Item = Placement> {
    let point = |position, velocity| Placement {
        position,
        rotation: Quat::identity(),
        velocity,
        omega: Vec3::zeros(),
    };
    let bodies = state.bodies.iter().map(Placement::from);
    let particles = state.particles.iter().map(move |p| point(p.position, p.velocity));
    let world = point(Vec3::zeros(), Vec3::zeros());
    bodies.chain(particles).chain(std::iter::once(world))
}

/// What extrapolation needs of the step before.
#[derive(Debug, Default)]
struct Past {
    /// Its length; `None` where there is none to extrapolate from.
    h: Option<f64>,
    /// Velocity and angular velocity of each node at its start.
    rates: Vec<[Vec3; 2]>,
    /// Multipliers of the last two steps, the latest first.
    multipliers: [Vec<f64>; 2],
}

impl Stepper {
    /// A stepper of `scene` at rest at the origin, until motion is given to it.
    pub(crate) fn new(scene: &Scene, settings: NewtonSettings) -> Result<Self, String> {
        let (topology, matrix) = Topology::new(scene, settings.compliance)?;
        let (nodes, size) = (topology.nodes.len(), topology.size);
        let multipliers = vec![0.0; topology.rows.len()];
        let still = Placement {
            position: Vec3::zeros(),
            rotation: Quat::identity(),
            velocity: Vec3::zeros(),
            omega: Vec3::zeros(),
        };
        let at = Iterate {
            shift: vec![Vec3::zeros(); nodes],
            turn: vec![Quat::identity(); nodes],
            multipliers: multipliers.clone(),
            forces: Vec::new(),
            poses: vec![pose(&still); nodes],
        };
        let past = Past {
            h: None,
            rates: vec![[Vec3::zeros(); 2]; nodes],
            multipliers: [multipliers.clone(), multipliers],
        };
        Ok(Self {
            topology,
            matrix,
            settings,
            gravity: scene.gravity,
            fixed: Fixed::default(),
            start: vec![still; nodes],
            broken: vec![false; scene.joints.len()],
            contacts: Contacts::new(scene),
            map: Map::Natural,
            trial: at.clone(),
            at,
            merit: Merit::default(),
            right: vec![0.0; size],
            trial_right: vec![0.0; size],
            direction: vec![0.0; size],
            correction: vec![0.0; size],
            recent: [0.0; MEMORY],
            factorised: None,
            past,
            settled: false,
            stuck: false,
            shortened: 0,
            compression: 1.0,
            used: 0,
            iterations: 0,
            bisections: 0,
        })
    }

    /// The numbering of unknowns and rows.
    pub(crate) fn topology(&self) -> &Topology {
        &self.topology
    }

    /// Takes over the motion of `state` and forgets everything that earlier steps left behind.
    pub(crate) fn load(&mut self, state: &State) {
        for (n, mut motion) in motions(state).enumerate() {
            let Node { extent, kinematic, .. } = self.topology.nodes[n];
            if extent == 0 && !kinematic {
                (motion.velocity, motion.omega) = (Vec3::zeros(), Vec3::zeros());
            }
            self.start[n] = motion;
        }
        self.broken.copy_from_slice(&state.broken);
        self.factorised = None;
        self.past.h = None;
        for multipliers in &mut self.past.multipliers {
            multipliers.fill(0.0);
        }
        self.at.multipliers.fill(0.0);
        for n in 0..self.start.len() {
            (self.at.shift[n], self.at.turn[n]) = (Vec3::zeros(), Quat::identity());
        }
        self.at.pose(&self.start);
        self.forget_contacts();
        self.reset_counters();
    }

    /// Starts counting iterations and bisections anew.
    pub(crate) fn reset_counters(&mut self) {
        (self.iterations, self.bisections) = (0, 0);
    }

    /// Whether the iterate solves the step.
    pub(crate) fn converged(&self) -> bool {
        self.settled || self.merit.within(self.settings.tolerance)
    }

    /// Angular velocity of a node at the end of the step, as the iterate has it [rad/s].
    pub(crate) fn omega(&self, node: usize) -> Vec3 {
        if self.topology.nodes[node].kinematic {
            return self.start[node].omega;
        }
        end_omega(self.settings.rotation, &self.at.turn[node], self.fixed.h)
    }

    /// Velocity of a node at the end of the step, as the iterate has it [m/s].
    pub(crate) fn velocity(&self, node: usize) -> Vec3 {
        self.at.shift[node] / self.fixed.h
    }

    /// Prepares a step of length `h` [s] and guesses its end.
    ///
    /// The guess is free motion under the last multipliers or, after a step of equal length, the
    /// extrapolation of velocities and multipliers: whichever leaves the smaller residual.
    pub(crate) fn begin(&mut self, h: f64) {
        let Self { fixed, topology, start, gravity, settings, .. } = self;
        fixed.prepare(topology, start, gravity, settings, h);
        (self.settled, self.stuck, self.map) = (false, false, Map::Natural);
        (self.used, self.shortened, self.compression) = (0, 0, 1.0);
        for (n, motion) in self.start.iter().enumerate() {
            self.at.shift[n] = self.fixed.drift[n];
            self.at.turn[n] = Quat::from_scaled_axis(motion.omega * h);
        }
        self.at.multipliers.copy_from_slice(&self.past.multipliers[0]);
        self.merit = self.evaluate_iterate();
        if self.past.h == Some(h) {
            self.extrapolate(h);
        }
        self.recent = [self.merit.norm; MEMORY];
    }

    fn extrapolate(&mut self, h: f64) {
        for (n, motion) in self.start.iter().enumerate() {
            let [velocity, omega] = self.past.rates[n];
            self.trial.shift[n] = (motion.velocity * 2.0 - velocity) * h;
            self.trial.turn[n] = Quat::from_scaled_axis((motion.omega * 2.0 - omega) * h);
        }
        let [last, before] = &self.past.multipliers;
        for ((out, last), before) in self.trial.multipliers.iter_mut().zip(last).zip(before) {
            *out = 2.0 * last - before;
        }
        self.trial.forces.clone_from(&self.at.forces);
        let merit = self.evaluate_trial();
        if merit.norm < self.merit.norm {
            self.accept(merit);
        }
    }

    fn evaluate_iterate(&mut self) -> Merit {
        self.at.pose(&self.start);
        let Self { fixed, topology, settings, at, broken, map, right, .. } = self;
        fixed.residual(topology, settings, at, broken, *map, right)
    }

    fn evaluate_trial(&mut self) -> Merit {
        self.trial.pose(&self.start);
        let Self { fixed, topology, settings, trial, broken, map, trial_right, .. } = self;
        fixed.residual(topology, settings, trial, broken, *map, trial_right)
    }

    fn accept(&mut self, merit: Merit) {
        std::mem::swap(&mut self.at, &mut self.trial);
        std::mem::swap(&mut self.right, &mut self.trial_right);
        self.merit = merit;
    }

    /// Performs one Newton iteration unless there is nothing left to do.
    pub(crate) fn refine(&mut self) {
        if self.stuck || self.converged() || self.used == self.settings.max_newton {
            return;
        }
        self.used += 1;
        self.iterations += 1;
        let kept = self.settings.reuse_factorisation && self.factorised == Some(self.fixed.h);
        let advanced = (kept && self.chord()) || self.advance();
        self.stuck = !advanced;
        let merit = self.merit.norm;
        self.recent.rotate_right(1);
        self.recent[0] = merit;
    }

    /// Tries a full step with the kept factorisation.
    fn chord(&mut self) -> bool {
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
    fn advance(&mut self) -> bool {
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
    fn factorise(&mut self, compression: f64) -> bool {
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
    fn along(&mut self, fraction: f64) -> Merit {
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
        for (i, place) in self.topology.places.iter().enumerate() {
            self.trial.forces[i] = self.at.forces[i] + step(place.dof);
        }
        self.evaluate_trial()
    }

    /// Solves the step to tolerance and closes it, in halves where Newton's method fails.
    pub(crate) fn complete(&mut self) -> Result<(), SolverError> {
        if self.fixed.touches.is_empty() {
            self.complete_or_halve(self.settings.max_bisections)
        } else {
            self.complete_touching()
        }
    }

    fn refine_all(&mut self) {
        while !self.converged() && !self.stuck && self.used < self.settings.max_newton {
            self.refine();
        }
    }

    fn complete_or_halve(&mut self, halvings: u32) -> Result<(), SolverError> {
        self.refine_all();
        if self.converged() {
            self.commit();
            return Ok(());
        }
        let h = self.fixed.h;
        if halvings == 0 {
            let Merit { row, force, .. } = self.merit;
            return Err(SolverError::NotConverged(format!(
                "step of {h:e} s, halved {} times, ends with rows off by {row:e} and forces by {force:e} m \
                 after {} iterations; where hard rows leave no room, `compliance: 1e-9` makes some",
                self.bisections, self.used
            )));
        }
        self.bisections += 1;
        for _ in 0..2 {
            self.begin(0.5 * h);
            self.complete_or_halve(halvings - 1)?;
        }
        Ok(())
    }

    /// Makes the iterate the start of the next step.
    pub(crate) fn commit(&mut self) {
        for n in 0..self.start.len() {
            let (velocity, omega) = (self.velocity(n), self.omega(n));
            let motion = &mut self.start[n];
            self.past.rates[n] = [motion.velocity, motion.omega];
            if self.topology.nodes[n].extent > 0 {
                (motion.velocity, motion.omega) = (velocity, omega);
            }
            motion.position += self.at.shift[n];
            motion.rotation = self.at.turn[n] * motion.rotation;
            motion.rotation.renormalize();
        }
        let [last, before] = &mut self.past.multipliers;
        std::mem::swap(last, before);
        last.copy_from_slice(&self.at.multipliers);
        self.past.h = Some(self.fixed.h);
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
