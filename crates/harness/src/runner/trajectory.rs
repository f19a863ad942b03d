//! Trajectories: every frame of a scene, observed with the clock stopped.

use std::{ops::ControlFlow, time::Instant};

use taut_core::{Iteration, Multipliers, Scene, Solver, SolverError};

use super::{
    Bench, Halt, advance_frame,
    observer::{Fingerprint, Gauge, Labelling, Observer},
    reference::References,
};
use crate::{
    record::{RunRow, Spread},
    ruler::{Facts, Moment, Sample},
    spec::Spec,
};

/// What to run besides the solver itself.
#[derive(Clone, Copy, Debug)]
pub struct RunOptions<'a> {
    /// Frames to run.
    pub steps: u32,
    /// What it is compared with.
    pub references: References<'a>,
    /// Which metrics to measure beside those that are always.
    pub asked: &'a [String],
}

/// Runs one row from the scene's initial state; never fails, but may return a row that says why not.
///
/// Labels, hashes and metrics of every frame are written by observers of its own, before `observers`
/// see the frame.
pub fn run(
    bench: &Bench<'_>,
    scene: &Scene,
    spec: &Spec,
    options: &RunOptions<'_>,
    observers: &mut [&mut dyn Observer],
) -> RunRow {
    let mut row = RunRow::new(spec);
    let mut step_times_s = Vec::new();
    bench.with_solver(scene, spec, &mut row, |solver, row| {
        let promised = bench.promises_no_intersection(spec);
        let mut verdict = Labelling::new(scene, promised);
        let mut fingerprint = Fingerprint::default();
        let ruler = bench.setup.metrics.clone().asked_for(options.asked);
        let mut gauge = Gauge(&ruler);
        let own: [&mut dyn Observer; 3] = [&mut verdict, &mut fingerprint, &mut gauge];
        let theirs = observers.iter_mut().map(|observer| &mut **observer as &mut dyn Observer);
        let mut observers: Vec<_> = own.into_iter().chain(theirs).collect();
        let walk = Walk { bench, scene, spec, options };
        walk.all_frames(solver, row, &mut step_times_s, &mut observers)
    });
    row.summarise();
    row.step_time_s = Spread::of(&step_times_s);
    observers.iter_mut().for_each(|observer| observer.end(&mut row));
    row
}

struct Walk<'a> {
    bench: &'a Bench<'a>,
    scene: &'a Scene,
    spec: &'a Spec,
    options: &'a RunOptions<'a>,
}

impl Walk<'_> {
    fn all_frames(
        &self,
        solver: &mut dyn Solver,
        row: &mut RunRow,
        times_s: &mut Vec<f64>,
        observers: &mut [&mut dyn Observer],
    ) -> Result<(), Halt> {
        let initial = self.scene.initial_state();
        let facts = Facts::new(self.scene, &initial);
        let step = self.spec.step(self.scene);
        solver.load(&initial)?;
        observers.iter_mut().for_each(|observer| observer.begin(self.scene, row));
        let (mut state, mut before) = (initial.clone(), initial);
        let mut forces = Multipliers::default();
        for number in 1..=self.options.steps {
            let start = Instant::now();
            let advanced = advance_frame(solver, self.spec, step, self.bench);
            if !advanced.map_err(|error| in_frame(number, error))? {
                return Err(Halt::Cancelled(format!("after {} steps", row.steps)));
            }
            solver.wait()?;
            times_s.push(start.elapsed().as_secs_f64());
            std::mem::swap(&mut state, &mut before);
            solver.read(&mut state)?;
            if !state.is_finite() {
                return Err(Halt::NonFinite(format!("after step {number}")));
            }
            let mut sample = Sample::new(self.scene, &facts, &state, Moment::Frame(number));
            // Of several steps per frame only the end of the last one is known.
            sample.before = (self.spec.substeps == 1).then_some(&before);
            sample.dt = step.dt;
            sample.report = solver.report();
            sample.refined = solver.iteration() != Iteration::Substep;
            let (references, at) = (&self.options.references, number as usize);
            sample.reference = references.named.and_then(|r| r.get(at));
            sample.same_step = references.same_step.and_then(|r| r.get(at));
            sample.motion =
                references.motion.and_then(|m| Some((m.states.get(at)?, m.error_m[at])));
            sample.forces = solver.read_multipliers(&mut forces).then_some(&forces);
            row.steps = number;
            show(observers, &sample, row)?;
            check_finite(row, number)?;
        }
        Ok(())
    }
}

/// Which frame it was that could not be solved; other errors say enough.
fn in_frame(frame: u32, error: SolverError) -> Halt {
    match error {
        SolverError::NotConverged(why) => Halt::NotConverged { frame, why },
        other => other.into(),
    }
}

/// Numbers may be finite in a state and overflow where they are combined.
fn check_finite(row: &RunRow, number: u32) -> Result<(), Halt> {
    let metrics = row.frames.last().map_or(&[][..], |frame| &frame.metrics);
    match metrics.iter().find(|(_, value)| !value.is_finite()) {
        Some((name, value)) => {
            Err(Halt::NonFinite(format!("after step {number}: {name} is {value}")))
        }
        None => Ok(()),
    }
}

/// Shows a sample to all observers.
pub(super) fn show(
    observers: &mut [&mut dyn Observer],
    sample: &Sample<'_>,
    row: &mut RunRow,
) -> Result<(), Halt> {
    let mut asked = None;
    for observer in observers {
        if let ControlFlow::Break(reason) = observer.frame(sample, row) {
            asked = asked.or(Some(reason));
        }
    }
    asked.map_or(Ok(()), |reason| Err(Halt::Cancelled(reason)))
}
