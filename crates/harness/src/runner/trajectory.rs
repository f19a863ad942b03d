//! Trajectories: every frame of a scene, judged with the clock stopped.

use std::time::Instant;

use taut_core::{BitHash, Multipliers, Scene, Solver, State, labels::Judge};

use super::{
    Bench, Halt, Spec, advance_frame,
    gauge::{Gauge, Taken},
};
use crate::record::{Frame, RunRow, Spread};

/// What to run besides the solver itself.
#[derive(Clone, Copy, Debug)]
pub struct RunOptions<'a> {
    /// Frames to run.
    pub steps: u32,
    /// States of the reference, index 0 the initial one; shorter than the run where it stopped.
    pub reference: Option<&'a [State]>,
    /// Which states to keep.
    pub keep: Keep<'a>,
}

/// Which states of a run to keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep<'a> {
    /// None.
    Nothing,
    /// Those after the given steps; step 0 is the initial state.
    After(&'a [u32]),
    /// All, the initial one included.
    Everything,
}

impl Keep<'_> {
    fn wants(self, step: u32) -> bool {
        match self {
            Self::Nothing => false,
            Self::After(steps) => steps.contains(&step),
            Self::Everything => true,
        }
    }
}

/// A measured trajectory.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// The row for tables and files.
    pub row: RunRow,
    /// The states asked for, each with its step.
    pub states: Vec<(u32, State)>,
}

/// Runs one row from the scene's initial state; never fails, but may return a row that says why not.
///
/// `on_step` is called after every frame with its number.
pub fn run(
    bench: &Bench<'_>,
    scene: &Scene,
    spec: &Spec,
    options: &RunOptions<'_>,
    on_step: &mut (dyn FnMut(u32) + Send),
) -> Run {
    let mut states = Vec::new();
    let mut row = RunRow::new(spec);
    let mut step_times_s = Vec::new();
    bench.with_solver(scene, spec, &mut row, |solver, row| {
        let mut walk = Walk { bench, scene, spec, options, states: &mut states, on_step };
        walk.all_frames(solver, row, &mut step_times_s)
    });
    row.summarise();
    row.step_time_s = Spread::of(&step_times_s);
    Run { row, states }
}

struct Walk<'a> {
    bench: &'a Bench<'a>,
    scene: &'a Scene,
    spec: &'a Spec,
    options: &'a RunOptions<'a>,
    states: &'a mut Vec<(u32, State)>,
    on_step: &'a mut (dyn FnMut(u32) + Send),
}

impl Walk<'_> {
    fn all_frames(
        &mut self,
        solver: &mut dyn Solver,
        row: &mut RunRow,
        times_s: &mut Vec<f64>,
    ) -> Result<(), Halt> {
        let initial = self.scene.initial_state();
        let mut gauge = Gauge::new(self.scene, &initial);
        let mut judge = Judge::new(self.scene, &initial);
        let step = self.spec.step(self.scene);
        solver.load(&initial)?;
        self.keep(0, &initial);
        let (mut state, mut before) = (initial.clone(), initial);
        let mut forces = Multipliers::default();
        let (mut state_hash, mut force_hash) = (BitHash::default(), BitHash::default());
        for number in 1..=self.options.steps {
            let start = Instant::now();
            if !advance_frame(solver, self.spec, step, self.bench)? {
                return Err(Halt::Cancelled(format!("after {} steps", row.steps)));
            }
            solver.wait()?;
            times_s.push(start.elapsed().as_secs_f64());
            std::mem::swap(&mut state, &mut before);
            solver.read(&mut state)?;
            if !state.is_finite() {
                return Err(Halt::NonFinite(format!("after step {number}")));
            }
            let reference = self.options.reference.and_then(|r| r.get(number as usize));
            judge.observe(&state, reference);
            // Of several steps per frame only the end of the last one is known.
            let before = (self.spec.substeps == 1).then_some(&before);
            let forces = solver.read_multipliers(&mut forces).then_some(&forces);
            state.add_to(&mut state_hash);
            row.state_hash = Some(state_hash);
            if let Some(forces) = forces {
                forces.add_to(&mut force_hash);
                row.force_hash = Some(force_hash);
            }
            let taken = Taken { forces, before, dt: step.dt };
            row.frames.push(Frame {
                step: number,
                time_s: f64::from(number) * self.scene.dt,
                metrics: gauge.measure(&state, reference, Some(taken)),
            });
            row.steps = number;
            (row.status, row.reason) = (judge.label().into(), judge.reason().to_owned());
            self.keep(number, &state);
            (self.on_step)(number);
        }
        Ok(())
    }

    fn keep(&mut self, step: u32, state: &State) {
        if self.options.keep.wants(step) {
            self.states.push((step, state.clone()));
        }
    }
}
