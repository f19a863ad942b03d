//! The step on the CPU: integrators, the watchdog over stretch, and the interface.

mod arc;
mod turns;
mod watchdog;

use taut_core::{
    Multipliers, Pull, Scene, Solver, SolverError, SolverReport, StageTime, State, Step,
    scene::{Drive, FastestMotor, Joint},
};
use taut_math::{Fused, LANES, Number};

use crate::{
    affine::{self, Affine, frame},
    contact::Begins,
    elastic,
    lane::{minus, plus},
    polar,
    pulled::Pulled,
    settings::{Integrator, MabdSettings},
    simd::{self, Once},
    system::{StepScheme, System},
};
use watchdog::Watchdog;

/// The solver of one scene.
pub(crate) struct Mabd {
    settings: MabdSettings,
    system: System,
    pulled: Pulled,
    drives: Vec<Drive>,
    /// Force and torque above which each joint breaks; empty where none does.
    strengths: Vec<[f64; 2]>,
    broken: Vec<bool>,
    fastest: FastestMotor,
    forces: Multipliers,
    step: Step,
    /// Calls of `iterate` since the step began; none between steps.
    done: Option<u32>,
    /// Whether a solve since loading has found the tension.
    tense: bool,
    /// Length of the steps whose history the two-step formula can use [s].
    history: Option<f64>,
    /// Length of the last step where its displacements are not yet added to its start [s].
    pending: Option<f64>,
    /// Length of the step whose displacements stand in place of the rates [s].
    resumed: Option<f64>,
    watchdog: Watchdog,
    /// Linear solves, or iterations, of the last step.
    iterations: Option<u32>,
    /// Whether more iterations of the step at hand would change nothing.
    settled: bool,
    time_s: f64,
}

impl Mabd {
    pub(crate) fn new(scene: &Scene, settings: MabdSettings) -> Result<Self, String> {
        let breaks = |j: &Joint| j.break_force.min(j.break_torque).is_finite();
        let strengths = if scene.joints.iter().any(breaks) {
            scene.joints.iter().map(|j| [j.break_force, j.break_torque]).collect()
        } else {
            Vec::new()
        };
        let settings = settings.in_force(elastic::is_in(scene))?;
        let mut this = Self {
            system: System::new(scene, &settings)?,
            settings,
            pulled: Pulled::of(scene),
            drives: scene.drives.clone(),
            strengths,
            broken: vec![false; scene.joints.len()],
            fastest: FastestMotor::of(scene),
            forces: Multipliers::default(),
            step: Step { dt: scene.dt, iterations: 1 },
            done: None,
            tense: false,
            history: None,
            pending: None,
            resumed: None,
            watchdog: Watchdog::default(),
            iterations: None,
            settled: false,
            time_s: 0.0,
        };
        this.settings.dual = this.system.chosen();
        this.take(&scene.initial_state());
        Ok(this)
    }

    fn take(&mut self, state: &State) {
        self.broken.clone_from(&state.broken);
        self.system.nodes.load(state);
        self.pulled.forget();
        if let Some(contacts) = &mut self.system.contacts {
            contacts.forget();
        }
        self.system.reset(&self.broken);
        self.system.forget_turns();
        (self.time_s, self.done) = (state.time_s, None);
        (self.tense, self.history, self.iterations) = (false, None, None);
        (self.pending, self.resumed) = (None, None);
        self.watchdog.forget();
    }

    /// How steps of length `h` [s] are made under the settings and the history there is.
    fn scheme(&self, h: f64) -> StepScheme {
        let two_step = self.settings.integrator == Integrator::Bdf2 && self.history == Some(h);
        StepScheme { h: if two_step { h * (2.0 / 3.0) } else { h }, two_step }
    }

    /// Whether iterations go on from each other, beginning at the predicted state.
    fn refines(&self) -> bool {
        matches!(self.settings.integrator, Integrator::ImplicitEuler | Integrator::Bdf2)
    }

    /// Puts every node where it would go without forces.
    fn predict(&mut self, h: f64) {
        let nodes = &mut self.system.nodes;
        let h = Fused::of(h);
        for (moved, rate) in nodes.moved.groups.iter_mut().zip(nodes.rate.groups.iter()) {
            *moved = rate.map(|x| x * h);
        }
    }

    /// One linearised solve; the first since loading finds the tension before.
    fn solve(&mut self, scheme: &StepScheme) {
        let probes = !self.tense && self.system.needs_tension();
        if probes {
            self.settle();
        }
        self.pulled.press(&mut self.system.nodes, scheme);
        if probes {
            let leaves_beyond = self.system.leaves_beyond.take();
            self.system.solve(scheme, true, false);
            self.system.leaves_beyond = leaves_beyond;
        }
        self.tense = true;
        self.resumed = self.pending.take();
        self.system.solve(scheme, false, self.resumed.is_some());
        self.pulled.release(&mut self.system.nodes);
    }

    /// Counts a linear solve of the step at hand.
    fn count_solve(&mut self) {
        self.iterations = self.iterations.map(|solves| solves + 1);
    }

    /// Whether the last solve has changed so little that the step is solved, where material has it iterated on.
    fn is_settled(&self) -> bool {
        self.system.has_elastic() && self.system.latest_change() <= self.settings.elastic_tolerance
    }

    /// Commits the last step if that is still to be done.
    fn settle(&mut self) {
        if let Some(h) = self.pending.take() {
            self.commit(&StepScheme { h, two_step: false });
        }
    }

    /// Has bodies follow their paths, forces act and dampers resist in a step or part of one of length `h` [s] that
    /// starts at `start_s` [s].
    fn set_off(&mut self, start_s: f64, h: f64) {
        for drive in &self.drives {
            self.system.nodes.drive(drive, start_s + h, h);
        }
        self.pulled.apply(&self.system.nodes, start_s + 0.5 * h, &self.broken);
        self.system.aim_dampers(h);
    }

    /// Ends a step of length `h` [s].
    fn finish(&mut self, h: f64, scheme: &StepScheme) {
        debug_assert!(!self.system.is_left, "a solve that was left is solved again");
        // The next solve reads the displacements anyway, and can add them.
        if self.system.can_resume() && self.done != Some(0) {
            self.pending = Some(h);
        } else {
            self.commit(scheme);
        }
        self.resumed = None;
        self.system.nodes.advance_fixed(h);
        self.system.nodes.hold(0.0);
        self.history = self.system.before.is_some().then_some(h);
    }

    /// The rate of a node at the start of the step.
    fn rate(&self, node: usize) -> Affine {
        let nodes = &self.system.nodes;
        match (self.pending, self.resumed) {
            (Some(h), _) => over(&nodes.moved.get(node), h),
            (None, Some(h)) => over(&nodes.rate.get(node), h),
            (None, None) => nodes.rate.get(node),
        }
    }

    /// Velocities of a group of nodes that have moved under `scheme`.
    fn velocity(&self, group: usize, scheme: &StepScheme) -> [Fused; 12] {
        let (moved, h) = (&self.system.nodes.moved.groups[group], Fused::of(scheme.h));
        let before = self.system.before.as_ref().filter(|_| scheme.two_step);
        match before.map(|[before, _]| &before.groups[group]) {
            Some(before) => {
                let third = Fused::of(1.0 / 3.0);
                std::array::from_fn(|c| (moved[c] - before[c] * third) / h)
            }
            None => moved.map(|x| x / h),
        }
    }

    /// Makes the displacements of a step final.
    fn commit(&mut self, scheme: &StepScheme) {
        for group in 0..self.system.nodes.start.groups.len() {
            let velocity = self.velocity(group, scheme);
            let nodes = &mut self.system.nodes;
            let moved = nodes.moved.groups[group];
            if let Some([before, slower]) = &mut self.system.before {
                before.groups[group] = moved;
                slower.groups[group] = nodes.rate.groups[group];
            }
            for (start, moved) in nodes.start.groups[group].iter_mut().zip(&moved) {
                *start += *moved;
            }
            nodes.rate.groups[group] = velocity;
            nodes.moved.groups[group] = [Fused::ZERO; 12];
        }
    }

    /// Moves every frame of the current iterate to its rotation.
    fn project(&mut self) {
        let nodes = &mut self.system.nodes;
        let once = Once;
        simd::dispatch(
            #[inline(always)]
            || {
                once.spend();
                for (moved, start) in nodes.moved.groups.iter_mut().zip(nodes.start.groups.iter()) {
                    let start = frame(start);
                    let turned = polar::exact(plus(start, frame(moved)));
                    let origin = affine::origin(moved);
                    affine::put(moved, minus(turned, start), origin);
                }
            },
        );
    }

    /// Reads what joints exert on average over the step.
    fn read_joint_forces(&mut self) {
        self.system.joint_forces(self.broken.len(), &mut self.forces);
        self.watchdog.average(&mut self.forces, self.step.dt);
    }

    fn break_joints(&mut self) {
        self.read_joint_forces();
        for (j, [force, torque]) in self.strengths.iter().enumerate() {
            let found = [self.forces.joint_force[j].norm(), self.forces.joint_torque[j].norm()];
            self.broken[j] |= found[0] > *force || found[1] > *torque;
        }
        self.system.set_broken(&self.broken);
    }
}

fn over(place: &Affine, h: f64) -> Affine {
    Affine { frame: place.frame / h, origin: place.origin / h }
}

impl Solver for Mabd {
    fn load(&mut self, state: &State) -> Result<(), SolverError> {
        let [bodies, particles] = self.system.nodes.counts();
        let counts = [
            ("bodies", bodies, state.bodies.len()),
            ("particles", particles, state.particles.len()),
            ("joints", self.broken.len(), state.broken.len()),
        ];
        for (what, expected, found) in counts {
            if expected != found {
                return Err(SolverError::StateMismatch { what, expected, found });
            }
        }
        self.take(state);
        Ok(())
    }

    fn begin_step(&mut self, step: Step) -> Result<(), SolverError> {
        self.fastest.check(step.dt)?;
        (self.step, self.done, self.iterations) = (step, Some(0), Some(0));
        self.watchdog.begin();
        // Pulls and arcs start from rates, which are those of a committed step.
        let sees_spin = self.takes_arcs() && self.watchdog.fast;
        let commits = self.refines() || !self.pulled.is_empty() || sees_spin;
        if commits || self.pending.is_some_and(|h| h != step.dt) {
            self.settle();
        }
        self.pulled.begin(&self.system.nodes);
        self.set_off(self.time_s, step.dt);
        self.system.aim_motors(step.dt);
        self.system.detect(&self.broken, step.dt, Begins::Step);
        self.system.nodes.hold(step.dt);
        self.settled = false;
        if self.refines() && !self.system.has_elastic() {
            self.predict(step.dt);
        }
        self.predict_arcs(step.dt);
        Ok(())
    }

    fn iterate(&mut self) -> Result<(), SolverError> {
        let done = self.done.unwrap_or(0);
        self.done = Some(done + 1);
        if done > 0 && !self.refines() || self.settled {
            return Ok(());
        }
        if self.watchdog.begins_divided() {
            self.divide();
            return Ok(());
        }
        let scheme = self.scheme(self.step.dt);
        self.leave_beyond(true);
        self.solve(&scheme);
        if self.settings.integrator == Integrator::Projected {
            self.project();
        }
        self.iterations = Some(done + 1);
        self.settled = self.is_settled();
        if self.system.is_left {
            self.finish_what_is_left();
        }
        Ok(())
    }

    fn end_step(&mut self) -> Result<(), SolverError> {
        let mut scheme = self.scheme(self.step.dt);
        let mut h = self.step.dt;
        if self.done == Some(0) {
            // No iteration, no forces: bodies go on as they were.
            self.settle();
            self.predict(h);
            scheme = StepScheme { h, two_step: false };
        } else if let Some(part) = self.watch() {
            h = part;
            scheme = StepScheme { h, two_step: false };
        }
        self.look_for_spin();
        if !self.strengths.is_empty() {
            self.break_joints();
        }
        self.finish(h, &scheme);
        self.time_s += self.step.dt;
        self.done = None;
        Ok(())
    }

    fn read(&mut self, out: &mut State) -> Result<(), SolverError> {
        out.broken.clone_from(&self.broken);
        let Some(done) = self.done else {
            out.time_s = self.time_s;
            self.system.nodes.read(out, 0.0, |node| self.rate(node));
            return Ok(());
        };
        out.time_s = self.time_s + self.step.dt;
        // Within a step that is made in parts, the last of them stands for it.
        let part = self.watchdog.part().filter(|_| done > 0);
        let scheme = match part {
            Some(h) => StepScheme { h, two_step: false },
            None => self.scheme(self.step.dt),
        };
        self.system.nodes.read(out, part.unwrap_or(self.step.dt), |node| match done {
            0 => self.rate(node),
            _ => affine::place(&self.velocity(node / LANES, &scheme), node % LANES),
        });
        Ok(())
    }

    fn read_multipliers(&mut self, out: &mut Multipliers) -> bool {
        self.read_joint_forces();
        if let Some(contacts) = &self.system.contacts {
            contacts.read_forces(&mut self.forces.contacts);
        }
        out.clone_from(&self.forces);
        true
    }

    fn set_pulls(&mut self, pulls: &[Pull]) -> bool {
        self.pulled.set(pulls);
        true
    }

    fn drain_times(&mut self, out: &mut Vec<StageTime>) {
        if let Some(contacts) = &mut self.system.contacts {
            contacts.drain_times(out);
        }
    }

    fn resolved_settings(&self) -> String {
        ron::to_string(&self.settings).unwrap_or_else(|_| "()".to_owned())
    }

    fn report(&self) -> SolverReport {
        SolverReport { iterations_used: self.iterations, ..SolverReport::default() }
    }
}
