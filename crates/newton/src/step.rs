//! Newton's method on one step, and halving of steps on which it fails.

mod search;
mod touching;

use taut_core::{Placement, Quat, Scene, SolverError, State, Vec3, scene::Drive};
use taut_math::{Q4, V3};
use taut_model::Pulls;

use self::touching::ContactMemory;
use crate::{
    contact::Map,
    iterate::{Iterate, pose},
    linear::SparseSystem,
    rotation::end_omega,
    settings::NewtonSettings,
    system::{Fixed, Merit},
    topology::{Topology, TopologyNode},
};

/// How many earlier merits a step may be compared with. Where bounds switch, or rotations are large,
/// the residual must be allowed to rise for a moment.
const MEMORY: usize = 5;

/// The motion of a scene and the step being solved.
pub(crate) struct Stepper {
    topology: Topology,
    matrix: SparseSystem,
    settings: NewtonSettings,
    gravity: Vec3,
    pub(crate) pulls: Pulls<f64>,
    drives: Vec<Drive>,
    /// Time at the start of the step [s].
    time_s: f64,
    fixed: Fixed,
    /// Motion at the start of the step.
    pub(crate) start: Vec<Placement>,
    /// Joints that exert nothing.
    pub(crate) broken: Vec<bool>,
    contacts: ContactMemory,
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
            pulls: Pulls::of(scene),
            drives: scene.drives.clone(),
            time_s: 0.0,
            fixed: Fixed::default(),
            start: vec![still; nodes],
            broken: vec![false; scene.joints.len()],
            contacts: ContactMemory::new(scene),
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
            let TopologyNode { extent, kinematic, .. } = self.topology.nodes[n];
            if extent == 0 && !kinematic {
                (motion.velocity, motion.omega) = (Vec3::zeros(), Vec3::zeros());
            }
            self.start[n] = motion;
        }
        self.broken.copy_from_slice(&state.broken);
        self.pulls.forget();
        self.time_s = state.time_s;
        self.fixed.forget_turns();
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

    /// Finds what the pulls come to in the step that starts, whether or not it will be halved.
    pub(crate) fn begin_pulls(&mut self) {
        let (nodes, start) = (&self.topology.nodes, &self.start);
        self.pulls.begin(|body| {
            let turns = nodes.get(body)?.extent == 6;
            turns.then(|| V3::of(&start[body].position))
        });
    }

    /// Has bodies follow their paths within a step of length `h` [s].
    pub(crate) fn drive(&mut self, h: f64) {
        for drive in &self.drives {
            let motion = &mut self.start[drive.body];
            let from = (motion.position, motion.rotation);
            [motion.velocity, motion.omega] = drive.rates(from, self.time_s + h, h);
        }
    }

    /// Prepares a step of length `h` [s] and guesses its end.
    ///
    /// The guess is free motion under the last multipliers or, after a step of equal length, the
    /// extrapolation of velocities and multipliers: whichever leaves the smaller residual.
    pub(crate) fn begin(&mut self, h: f64) {
        self.drive(h);
        let Self { fixed, topology, start, gravity, pulls, settings, .. } = self;
        let posed = |body: usize| taut_model::Pose {
            position: V3::of(&start[body].position),
            rotation: Q4::of(&start[body].rotation),
        };
        pulls.apply(self.time_s + 0.5 * h, &self.broken, posed);
        topology.damp(start, h);
        fixed.prepare(topology, start, gravity, settings, h);
        fixed.pull(topology, start, pulls, settings);
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
            let moves = self.topology.nodes[n].extent > 0;
            // A path says where what is driven goes.
            let [velocity, omega] = match moves {
                true => self.past.rates[n],
                false => [motion.velocity, motion.omega],
            };
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
        self.time_s += self.fixed.h;
    }
}
