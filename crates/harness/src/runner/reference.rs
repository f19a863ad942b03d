//! Trusted trajectories of a scene, all of them runs of the reference solver.

use std::{collections::BTreeMap, sync::Arc};

use taut_core::{Iteration, Scene, Settings, State};

use super::{Bench, Halt, advance_frame, build, guard, true_motion::TrueMotion};
use crate::{record::RunRow, spec::Spec};

/// The solver whose steps are implicit Euler solved to tolerance.
const TRUSTED: &str = "newton";

/// Steps of one node that the reference may take unless it is told how fine to be: some seconds.
const WORK_MAX: f64 = 3e5;

/// How many steps without contact take as long as one with.
const CONTACT_WORK: f64 = 30.0;

/// How exactly the steps are solved from which the true motion is extrapolated [m or rad]: to rounding, for what is
/// left of a step is divided by its length twice before it has grown to a path.
const TIGHT: f64 = 1e-15;

/// The true motion is fine enough where its error is this share of the longest way.
const FINE: f64 = 1e-6;

/// What a run is compared with; index 0 of each trajectory is the initial state, and each may be shorter than the run.
#[derive(Clone, Copy, Debug, Default)]
pub struct References<'a> {
    /// The one that was asked for.
    pub named: Option<&'a [State]>,
    /// Implicit Euler solved to tolerance at the run's own steps.
    pub same_step: Option<&'a [State]>,
    /// The motion without steps.
    pub motion: Option<&'a TrueMotion>,
}

/// Makes the reference trajectories of one scene, each once.
#[derive(Debug)]
pub struct ReferenceRuns<'a> {
    bench: &'a Bench<'a>,
    scene: &'a Scene,
    frames: u32,
    /// Most steps per frame; `None` for as many as take some seconds.
    finest: Option<u32>,
    /// Runs by their steps per frame, as the backend comes.
    runs: BTreeMap<u32, Option<Arc<[State]>>>,
}

impl<'a> ReferenceRuns<'a> {
    /// Of so many frames of `scene`, with at most `finest` steps each.
    pub fn new(bench: &'a Bench<'a>, scene: &'a Scene, frames: u32, finest: Option<u32>) -> Self {
        Self { bench, scene, frames, finest, runs: BTreeMap::new() }
    }

    /// The motion without steps.
    ///
    /// # Errors
    /// Why there is none: the reference solver does not take the scene, or too few of its runs are affordable.
    pub fn true_motion(&mut self) -> Result<TrueMotion, String> {
        let backend = self.bench.find(TRUSTED).map_err(|e| e.to_string())?;
        backend.supports(self.scene).map_err(|e| e.to_string())?;
        if !self.affords(1 + 2) {
            return Err("the scene is too large to be solved again with finer steps".to_owned());
        }
        let (mut done, mut substeps) = (Vec::<(u32, Vec<State>)>::new(), 1);
        let mut motion: Option<TrueMotion> = None;
        // Levels since the last that brought anything.
        let mut idle = 0;
        let mut failure = String::new();
        while self.affords(2 * substeps - 1) {
            let settings = Settings::from_ron(format!("(tolerance: {TIGHT:e})"));
            let spec = Spec { substeps, settings, ..Spec::new(TRUSTED, 1) };
            match path(self.bench, self.scene, &spec, self.frames) {
                Ok(path) => done.push((substeps, path)),
                Err(reason) => failure = reason,
            }
            if self.bench.is_cancelled() {
                return Err("interrupted".to_owned());
            }
            if done.len() >= 2 {
                let found = TrueMotion::of(self.scene, &done);
                let error = found.error_max_m();
                let enough = error <= FINE * found.way_max_m(self.scene);
                if motion.as_ref().is_none_or(|best| error < best.error_max_m()) {
                    (motion, idle) = (Some(found), 0);
                } else {
                    idle += 1;
                }
                // Two levels may agree by chance; what rounding decides grows as steps shrink.
                if done.len() >= 3 && (enough || idle >= 2) {
                    break;
                }
            }
            substeps *= 2;
        }
        motion.ok_or(failure)
    }

    /// Implicit Euler solved to tolerance at the steps of `spec`, where that is affordable.
    pub fn same_step(&mut self, spec: &Spec) -> Option<Arc<[State]>> {
        let substeps = self.bench.steps_per_frame(self.scene, spec)?;
        if !self.affords(substeps) {
            return None;
        }
        let spec = Spec { substeps, ..Spec::new(TRUSTED, 1) };
        let made = || path(self.bench, self.scene, &spec, self.frames).ok().map(Arc::from);
        self.runs.entry(substeps).or_insert_with(made).clone()
    }

    /// Whether so many steps per frame in all are not too many.
    fn affords(&self, substeps: u32) -> bool {
        if let Some(finest) = self.finest {
            return substeps < 2 * finest;
        }
        let bodies = self.scene.bodies.iter().filter(|body| body.is_dynamic()).count();
        let nodes = bodies + self.scene.particles.len();
        let steps = f64::from(self.frames) * f64::from(substeps);
        let factor = if self.scene.contacts.is_some() { CONTACT_WORK } else { 1.0 };
        factor * nodes as f64 * steps <= WORK_MAX
    }
}

impl Bench<'_> {
    /// How many steps a solver takes in a frame; some take one for each iteration. `None` where it cannot be built.
    fn steps_per_frame(&self, scene: &Scene, spec: &Spec) -> Option<u32> {
        let backend = self.find(&spec.backend).ok()?;
        let built = self.pool.install(|| {
            guard::catch(|| {
                build(backend, scene, &spec.settings).map(|solver| solver.iteration()).ok()
            })
        });
        match built.ok()?? {
            Iteration::Refine | Iteration::Rerun => Some(spec.substeps),
            Iteration::Substep => spec.substeps.checked_mul(spec.iterations),
        }
    }
}

/// All states of a run that nothing else is wanted of.
fn path(bench: &Bench<'_>, scene: &Scene, spec: &Spec, frames: u32) -> Result<Vec<State>, String> {
    let mut row = RunRow::new(spec);
    let mut states = vec![scene.initial_state()];
    bench.with_solver(scene, spec, &mut row, |solver, _| {
        solver.load(&states[0])?;
        let step = spec.step(scene);
        for frame in 1..=frames {
            if !advance_frame(solver, spec, step, bench)? {
                return Err(Halt::Cancelled(format!("after {} steps", frame - 1)));
            }
            let mut state = State::default();
            solver.read(&mut state)?;
            if !state.is_finite() {
                return Err(Halt::NonFinite(format!("after step {frame}")));
            }
            states.push(state);
        }
        Ok(())
    });
    let whole = states.len() == frames as usize + 1;
    let steps = spec.substeps;
    whole
        .then_some(states)
        .ok_or_else(|| format!("`{TRUSTED}` with {steps} substep(s): {}", row.reason))
}
