//! The life of one solver in its pane: it takes orders, and every frame is judged and measured as in a run.

use std::{sync::Arc, time::Instant};

use taut_core::{Iteration, Multipliers, Pull, Scene, Solver, State};

use super::{
    board::WithinFrame,
    handhold::Handhold,
    office::{Next, Office, PaneOrder},
};
use crate::{
    record::RunRow,
    ruler::{Facts, Moment, Sample},
    runner::{Bench, Halt, Labelling, Observer},
    spec::Spec,
};

/// A solver from its start to its end, with everything that is known of its run.
pub(super) struct SolverShift<'a> {
    office: &'a Office,
    bench: &'a Bench<'a>,
    scene: &'a Scene,
    spec: &'a Spec,
    facts: Facts,
    verdict: Labelling,
    /// The state after the last frame, and the one before it.
    state: State,
    before: State,
    forces: Multipliers,
    frame: u32,
    /// Steps of the frame in progress that are done, and iterates of the next step.
    steps: u32,
    spent: Option<u32>,
    holds: Vec<Handhold>,
    /// Whether pulls were set that are to be taken back.
    pulls: bool,
    /// What follows, if it was ordered.
    pub(super) next: Option<Next>,
}

impl<'a> SolverShift<'a> {
    pub(super) fn new(
        office: &'a Office,
        bench: &'a Bench<'a>,
        scene: &'a Scene,
        spec: &'a Spec,
    ) -> Self {
        let initial = scene.initial_state();
        Self {
            office,
            bench,
            scene,
            spec,
            facts: Facts::new(scene, &initial),
            verdict: Labelling::new(scene, bench.promises_no_intersection(spec)),
            before: initial.clone(),
            state: initial,
            forces: Multipliers::default(),
            frame: 0,
            steps: 0,
            spent: None,
            holds: Vec::new(),
            pulls: false,
            next: None,
        }
    }

    /// Takes orders until one of them ends this, or the solver cannot go on.
    pub(super) fn attend(&mut self, solver: &mut dyn Solver, row: &mut RunRow) -> Result<(), Halt> {
        solver.load(&self.state)?;
        {
            let mut board = self.office.board();
            board.settings.clone_from(&row.settings);
            board.iteration = solver.iteration();
        }
        self.office.done();
        loop {
            let order = self.office.take();
            match order {
                PaneOrder::To(frame) => {
                    while self.frame < frame && !self.bench.is_cancelled() {
                        self.finish_frame(solver, row)?;
                    }
                }
                PaneOrder::Iterate => self.iterate_once(solver, row)?,
                PaneOrder::Hold(holds) => self.holds = holds,
                order => {
                    self.next = self.office.ending(order);
                    if self.next.is_some() {
                        return Ok(());
                    }
                }
            }
            self.office.done();
        }
    }

    /// Goes on to the end of the frame, as the runner does.
    fn finish_frame(&mut self, solver: &mut dyn Solver, row: &mut RunRow) -> Result<(), Halt> {
        let whole = self.steps == 0 && self.spent.is_none();
        let start = Instant::now();
        while !self.advance(solver)? {
            if self.spent.is_none() && self.bench.is_cancelled() {
                return Ok(());
            }
        }
        solver.wait()?;
        let elapsed_s = start.elapsed().as_secs_f64();
        self.close_frame(solver, row, whole.then_some(elapsed_s))
    }

    /// Does one iterate and shows where it led.
    fn iterate_once(&mut self, solver: &mut dyn Solver, row: &mut RunRow) -> Result<(), Halt> {
        if self.advance(solver)? {
            return self.close_frame(solver, row, None);
        }
        let mut state = State::default();
        solver.read(&mut state)?;
        if !state.is_finite() {
            return Err(Halt::NonFinite(format!("within step {}", self.frame + 1)));
        }
        let spent = self.spent.unwrap_or(0);
        let within = WithinFrame { steps: self.steps, spent, state: Arc::new(state) };
        self.office.board().within = Some(within);
        Ok(())
    }

    /// The next call of `iterate` with what belongs before and after it; whether the frame is complete.
    fn advance(&mut self, solver: &mut dyn Solver) -> Result<bool, Halt> {
        let spent = match self.spent {
            Some(spent) => spent,
            None => {
                if self.steps == 0 {
                    self.pull(solver);
                }
                solver.begin_step(self.spec.step(self.scene))?;
                0
            }
        };
        solver.iterate()?;
        self.spent = Some(spent + 1);
        if spent + 1 < self.spec.iterations {
            return Ok(false);
        }
        solver.end_step()?;
        (self.spent, self.steps) = (None, self.steps + 1);
        Ok(self.steps == self.spec.substeps)
    }

    /// Sets the pulls of the frame that starts.
    fn pull(&mut self, solver: &mut dyn Solver) {
        if self.holds.is_empty() && !self.pulls {
            return;
        }
        let pulls: Vec<Pull> =
            self.holds.iter().map(|hold| hold.pull(self.scene, &self.state)).collect();
        let taken = solver.set_pulls(&pulls);
        self.pulls = taken && !pulls.is_empty();
        let mut board = self.office.board();
        board.can_be_pulled = Some(taken);
        board.pulled |= self.pulls;
    }

    /// Reads, judges and measures the end of a frame that took `elapsed_s` [s], if that is known.
    fn close_frame(
        &mut self,
        solver: &mut dyn Solver,
        row: &mut RunRow,
        elapsed_s: Option<f64>,
    ) -> Result<(), Halt> {
        (self.frame, self.steps) = (self.frame + 1, 0);
        std::mem::swap(&mut self.state, &mut self.before);
        solver.read(&mut self.state)?;
        row.steps = self.frame;
        if !self.state.is_finite() {
            return Err(Halt::NonFinite(format!("after step {}", self.frame)));
        }
        let moment = Moment::Frame(self.frame);
        let mut sample = Sample::new(self.scene, &self.facts, &self.state, moment);
        sample.before = (self.spec.substeps == 1).then_some(&self.before);
        sample.dt = self.spec.step(self.scene).dt;
        sample.refined = solver.iteration() != Iteration::Substep;
        sample.report = solver.report();
        sample.forces = solver.read_multipliers(&mut self.forces).then_some(&self.forces);
        // A verdict does not stop a run that somebody watches.
        let _ = self.verdict.frame(&sample, row);
        let metrics = self.bench.setup.metrics.measure(&sample);
        let mut board = self.office.board();
        board.ring.push(self.frame, Arc::new(self.state.clone()));
        (board.within, board.reached) = (None, self.frame);
        board.history.push((self.frame, metrics));
        (board.status, board.reason) = (row.status.name().to_owned(), row.reason.clone());
        board.failed_at_s = row.failed_at_s;
        board.frame_s = elapsed_s.or(board.frame_s);
        Ok(())
    }
}
