//! How one step converges: a state read for every budget of iterations.

use taut_core::{Iteration, Multipliers, Scene, Solver, SolverReport, State, Step};

use super::{
    Bench, Halt, advance, advance_frame,
    observer::{Gauge, Observer},
    trajectory::show,
};
use crate::{
    record::{Convergence, RunRow},
    ruler::{Facts, Moment, Sample},
    spec::Spec,
};

/// Where the traced step starts.
#[derive(Clone, Copy, Debug)]
pub enum TraceStart<'a> {
    /// Every solver from the same state, with empty multipliers.
    Cold(&'a State),
    /// Every solver from where its own frames from the scene's initial state have brought it.
    Warm,
}

/// What to trace.
#[derive(Clone, Copy, Debug)]
pub struct TraceOptions<'a> {
    /// Where the step starts.
    pub start: TraceStart<'a>,
    /// Frames before the step: run by the solver for a warm start, already in the state of a cold one.
    pub warmup: u32,
    /// The backend that solves the same step to tolerance, to measure the distance from; it starts
    /// where the traced solver starts, with its own settings.
    pub reference: Option<&'a Spec>,
}

/// Adds the convergence curve of one step of `spec` to `row`; a failure ends up in its status.
///
/// A refining solver is read after each iteration of one step and once more when the step is
/// closed. A substepping one repeats the step with budgets 1, 2, 4 and so on, since its state
/// within a step is of an earlier time. The step is one of `dt / substeps`. `observers` see every iterate
/// after it has been measured.
pub fn trace(
    bench: &Bench<'_>,
    scene: &Scene,
    spec: &Spec,
    options: &TraceOptions<'_>,
    row: &mut RunRow,
    observers: &mut [&mut dyn Observer],
) {
    let mut origin = None;
    bench.with_solver(scene, spec, row, |solver, row| {
        rewind(bench, scene, solver, spec, options)?;
        let mut state = State::default();
        solver.read(&mut state)?;
        row.steps = options.warmup;
        origin = Some(state);
        Ok(())
    });
    let Some(origin) = origin else { return };
    let target = options.reference.and_then(|reference| {
        let step = Step { dt: spec.step(scene).dt, iterations: reference.iterations };
        solve_from(bench, scene, reference, step, &origin)
    });
    bench.with_solver(scene, spec, row, |solver, row| {
        let name = match options.start {
            TraceStart::Cold(_) => "cold",
            TraceStart::Warm => "warm",
        };
        row.curves.push(Convergence { start: name, warmup: options.warmup, points: Vec::new() });
        let initial = scene.initial_state();
        let mut gauge = Gauge(&bench.setup.metrics);
        let own: &mut dyn Observer = &mut gauge;
        let theirs = observers.iter_mut().map(|observer| &mut **observer as &mut dyn Observer);
        let mut eye = Eye {
            scene,
            facts: Facts::new(scene, &initial),
            observers: std::iter::once(own).chain(theirs).collect(),
            origin: &origin,
            target: target.as_ref(),
            dt: spec.step(scene).dt,
            forces: Multipliers::default(),
        };
        eye.observers.iter_mut().for_each(|observer| observer.begin(scene, row));
        let visit = |solver: &mut dyn Solver, spent, closed| eye.look(solver, spent, closed, row);
        curve(bench, scene, solver, spec, options, visit)
    });
    observers.iter_mut().for_each(|observer| observer.end(row));
}

fn curve(
    bench: &Bench<'_>,
    scene: &Scene,
    solver: &mut dyn Solver,
    spec: &Spec,
    options: &TraceOptions<'_>,
    mut visit: impl FnMut(&mut dyn Solver, u32, bool) -> Result<(), Halt>,
) -> Result<(), Halt> {
    let step = spec.step(scene);
    match solver.iteration() {
        Iteration::Refine => {
            rewind(bench, scene, solver, spec, options)?;
            solver.begin_step(step)?;
            visit(solver, 0, false)?;
            for iteration in 1..=step.iterations {
                if bench.is_cancelled() {
                    return Err(Halt::Cancelled(format!("after {} iterations", iteration - 1)));
                }
                solver.iterate()?;
                visit(solver, iteration, false)?;
            }
            solver.end_step()?;
            visit(solver, step.iterations, true)
        }
        Iteration::Rerun | Iteration::Substep => {
            for iterations in budgets(step.iterations) {
                rewind(bench, scene, solver, spec, options)?;
                advance(solver, Step { iterations, ..step })?;
                visit(solver, iterations, true)?;
            }
            Ok(())
        }
    }
}

/// 1, 2, 4 and so on below `most`, then `most` itself.
fn budgets(most: u32) -> impl Iterator<Item = u32> {
    let doubled = std::iter::successors(Some(1_u32), |n| n.checked_mul(2));
    doubled.take_while(move |&n| n < most).chain([most])
}

/// Brings the solver to the start of the traced step.
fn rewind(
    bench: &Bench<'_>,
    scene: &Scene,
    solver: &mut dyn Solver,
    spec: &Spec,
    options: &TraceOptions<'_>,
) -> Result<(), Halt> {
    match options.start {
        TraceStart::Cold(state) => solver.load(state)?,
        TraceStart::Warm => {
            solver.load(&scene.initial_state())?;
            for done in 0..options.warmup {
                if !advance_frame(solver, spec, spec.step(scene), bench)? {
                    return Err(Halt::Cancelled(format!("after {done} steps of warm-up")));
                }
            }
        }
    }
    Ok(())
}

/// The end of one step of the reference from `origin`; `None` where it cannot tell.
fn solve_from(
    bench: &Bench<'_>,
    scene: &Scene,
    reference: &Spec,
    step: Step,
    origin: &State,
) -> Option<State> {
    let mut end = None;
    bench.with_solver(scene, reference, &mut RunRow::new(reference), |solver, _| {
        solver.load(origin)?;
        advance(solver, step)?;
        let mut state = State::default();
        solver.read(&mut state)?;
        end = state.is_finite().then_some(state);
        Ok(())
    });
    end
}

/// Shows the iterates of one step to observers.
struct Eye<'a> {
    scene: &'a Scene,
    facts: Facts,
    observers: Vec<&'a mut dyn Observer>,
    /// Where the step starts.
    origin: &'a State,
    /// Where it ends for the reference.
    target: Option<&'a State>,
    dt: f64,
    forces: Multipliers,
}

impl Eye<'_> {
    fn look(
        &mut self,
        solver: &mut dyn Solver,
        spent: u32,
        closed: bool,
        row: &mut RunRow,
    ) -> Result<(), Halt> {
        let mut state = State::default();
        solver.read(&mut state)?;
        if !state.is_finite() {
            return Err(Halt::NonFinite(format!("after iteration {spent}")));
        }
        let moment = Moment::Iteration { spent, closed };
        // The forces that a step starts from belong to the step before it.
        let told = solver.read_multipliers(&mut self.forces) && spent > 0;
        let mut sample = Sample::new(self.scene, &self.facts, &state, moment);
        sample.before = Some(self.origin);
        sample.dt = self.dt;
        (sample.reference, sample.target) = (self.target, self.target);
        sample.forces = told.then_some(&self.forces);
        sample.report = if spent > 0 { solver.report() } else { SolverReport::default() };
        show(&mut self.observers, &sample, row)
    }
}

#[cfg(test)]
mod tests {
    use super::budgets;

    #[test]
    fn budgets_double_and_end_at_the_largest() {
        assert_eq!(budgets(1).collect::<Vec<_>>(), [1]);
        assert_eq!(budgets(20).collect::<Vec<_>>(), [1, 2, 4, 8, 16, 20]);
        assert_eq!(budgets(32).collect::<Vec<_>>(), [1, 2, 4, 8, 16, 32]);
    }
}
