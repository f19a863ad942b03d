//! Making a figure's runs.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    ops::ControlFlow,
    sync::Arc,
    thread,
    time::Instant,
};

use anyhow::Context;
use taut_core::{Scene, State};

use super::{
    Claim, ClaimCheck, Figure, FigureRow, LONGEST, MEAN_TIME, MeasureSpec, Planned, Probes,
    SHORTEST, TIMED, plan::null_key,
};
use crate::{
    adapter,
    backends::left_out,
    checkout::Checkout,
    parallel::in_parallel,
    places,
    record::{RunDevice, RunRow, metric, metric_names},
    ruler::{Moment, Sample},
    runner::{
        BLOCKS, Bench, Keep, KeptStates, Observer, ReferenceRuns, References, RunOptions,
        TimeOptions, TimedRow, TraceOptions, TraceStart, TrueMotion, WatchedPath, moved_start, run,
        time, time_blocks, trace,
    },
    spec::Spec,
};

/// A figure's runs, in the order of its definition.
#[derive(Debug, Default)]
pub struct MeasuredFigure {
    /// For result files.
    pub runs: Vec<RunRow>,
    /// For curves and claims.
    pub rows: Vec<FigureRow>,
    /// What the method that does nothing gives in the place of each row, under the same labels; empty unless asked
    /// for.
    pub null_rows: Vec<FigureRow>,
    /// The same rows from each moved start that was asked for.
    pub moved_rows: Vec<Vec<FigureRow>>,
    /// What the loader had to say of the scenes.
    pub warnings: Vec<String>,
    /// How long all took but the moved starts [s].
    pub seconds: f64,
}

/// What is measured beside a figure's own runs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Beside {
    /// The method that does nothing in the place of each row.
    pub null: bool,
    /// The whole from so many starts that rounding cannot tell from the scenes' own.
    pub starts: u32,
}

/// A scene as one run needs it.
struct LoadedScene {
    scene: Scene,
    parameters: Vec<(String, f64)>,
}

/// A run with its scene and outcome.
struct Job<'a> {
    planned: &'a Planned,
    loaded: &'a LoadedScene,
    spec: Spec,
    steps: u32,
    /// Why it is not made here.
    skipped: Option<&'static str>,
}

/// Why a run is not made by this program on this machine.
fn skipped(planned: &Planned, quick: bool) -> Option<&'static str> {
    left_out(&planned.run.backend).or_else(|| {
        let lacking = planned.run.needs_hardware && !quick && !adapter::is_hardware();
        lacking.then_some("at this size a software adapter would take hours")
    })
}

/// What a run is compared with.
#[derive(Clone, Copy)]
struct ReferenceRun<'a> {
    spec: &'a Spec,
    states: &'a [State],
}

struct Done {
    run: RunRow,
    row: FigureRow,
    /// All states of a run that others are compared with, the initial one included.
    states: Vec<State>,
    /// Where it went, to see when runs from moved starts part with it.
    path: Option<WatchedPath>,
}

/// Reads the probes at every frame, against the reference's states from the initial one on.
struct ProbedFrames<'a> {
    probes: Probes<'a>,
    reference: Option<&'a [State]>,
    values: Vec<Vec<f64>>,
}

impl Observer for ProbedFrames<'_> {
    fn frame(&mut self, sample: &Sample<'_>, _row: &mut RunRow) -> ControlFlow<String> {
        if let Moment::Frame(frame) = sample.moment {
            let reference = self.reference.and_then(|states| states.get(frame as usize));
            self.values.push(self.probes.measure(sample.state, reference));
        }
        ControlFlow::Continue(())
    }
}

/// Makes all runs of a figure; those that nothing times share the cores.
///
/// `on_run` is called with each finished row, from any thread.
///
/// # Errors
/// When a scene cannot be loaded or settings cannot be read. What goes wrong later is a row.
pub fn measure(
    bench: &Bench<'_>,
    root: &Checkout,
    figure: &Figure,
    quick: bool,
    beside: Beside,
    on_run: &(dyn Fn(&RunRow) + Sync),
) -> anyhow::Result<MeasuredFigure> {
    let begin = Instant::now();
    let mut plan = figure.plan(quick);
    let own = plan.len();
    if beside.null {
        plan.extend(figure.plan_of_null(&plan));
    }
    let mut scenes: BTreeMap<String, LoadedScene> = BTreeMap::new();
    let mut warnings = Vec::new();
    for planned in &plan {
        if let Entry::Vacant(place) = scenes.entry(scene_key(planned)) {
            let loaded = load_scene(root, planned, &mut warnings)
                .with_context(|| format!("figure `{}`, run `{}`", figure.id, planned.label))?;
            place.insert(loaded);
        }
    }
    let mut jobs = Vec::new();
    for planned in &plan {
        let job = job(planned, &scenes[&scene_key(planned)], quick);
        if job.skipped.is_none() {
            let checked = bench.check(&job.loaded.scene, &job.spec);
            checked.with_context(|| format!("figure `{}`, run `{}`", figure.id, planned.label))?;
        }
        jobs.push(job);
    }
    let yardsticks = yardsticks(bench, figure, &jobs, quick, &mut warnings);
    let done = run_all(bench, figure, &jobs, &yardsticks, on_run)?;
    let times = time_in_turn(bench, figure, &jobs, quick);
    let seconds = begin.elapsed().as_secs_f64();
    let mut measured = MeasuredFigure { warnings, seconds, ..MeasuredFigure::default() };
    let moved = (0..beside.starts)
        .map(|seed| moved(bench, figure, (&plan[..own], quick), &scenes, &yardsticks, seed))
        .collect::<anyhow::Result<Vec<_>>>()?;
    let horizons: Vec<Option<u32>> = (0..own).map(|i| horizon(&done[i], &moved, i)).collect();
    for done in moved {
        let rows = done.into_iter().zip(&horizons);
        let rows = rows.map(|(done, &horizon)| FigureRow { horizon, ..done.row });
        measured.moved_rows.push(rows.collect());
    }
    let mut null = Vec::new();
    for (i, (mut one, times)) in done.into_iter().zip(times).enumerate() {
        one.row.block_times_s = times;
        one.row.horizon = horizons.get(i).copied().flatten();
        if i < own {
            measured.runs.push(one.run);
            measured.rows.push(one.row);
        } else {
            null.push(one.row);
        }
    }
    if beside.null {
        measured.null_rows = plan[..own].iter().map(|p| null_row(p, &plan[own..], &null)).collect();
    }
    Ok(measured)
}

/// When runs from moved starts part with run number `i`.
fn horizon(own: &Done, moved: &[Vec<Done>], i: usize) -> Option<u32> {
    let others = moved.iter().filter_map(|done| done[i].path.clone());
    own.path.as_ref()?.horizon(&others.collect::<Vec<_>>())
}

/// A plan's runs from moved starts; what they are compared with stays.
fn moved(
    bench: &Bench<'_>,
    figure: &Figure,
    (plan, quick): (&[Planned], bool),
    scenes: &BTreeMap<String, LoadedScene>,
    yardsticks: &[Yardsticks],
    seed: u32,
) -> anyhow::Result<Vec<Done>> {
    let moved = |loaded: &LoadedScene| LoadedScene {
        scene: moved_start(&loaded.scene, seed),
        parameters: loaded.parameters.clone(),
    };
    let scenes: BTreeMap<&String, LoadedScene> =
        scenes.iter().map(|(key, loaded)| (key, moved(loaded))).collect();
    let jobs: Vec<Job<'_>> = plan
        .iter()
        .map(|p| {
            let job = job(p, &scenes[&scene_key(p)], quick);
            Job { skipped: job.skipped.or((!figure.is_moved(p)).then_some("not held")), ..job }
        })
        .collect();
    run_all(bench, figure, &jobs, yardsticks, &|_| {})
}

/// What stands for a run where its method does nothing.
fn null_row(planned: &Planned, plan: &[Planned], rows: &[FigureRow]) -> FigureRow {
    let place = plan.iter().position(|null| null.group == null_key(planned));
    let mut row = place.map(|place| rows[place].clone()).unwrap_or_default();
    (row.label, row.group) = (planned.label.clone(), planned.group.clone());
    row.set_fact("iterations", f64::from(planned.iterations));
    row.set_fact("work", f64::from(planned.iterations * planned.substeps));
    row
}

/// Runs of equal scenes share one, so that their references fit.
fn scene_key(planned: &Planned) -> String {
    format!("{} {:?}", planned.run.scene, planned.run.parameters)
}

fn load_scene(
    root: &Checkout,
    planned: &Planned,
    warnings: &mut Vec<String>,
) -> anyhow::Result<LoadedScene> {
    let name = &planned.run.scene;
    let path = places::named(root, name);
    let overrides: Vec<(String, f64)> =
        planned.run.parameters.iter().map(|(name, &value)| (name.clone(), value)).collect();
    let loaded = places::load_checked(&path, &overrides)?;
    warnings.extend(loaded.warnings.iter().map(|warning| format!("{name}: {warning}")));
    Ok(LoadedScene { scene: loaded.scene, parameters: loaded.parameters })
}

fn job<'a>(planned: &'a Planned, loaded: &'a LoadedScene, quick: bool) -> Job<'a> {
    let steps = planned.run.steps.unwrap_or(loaded.scene.steps);
    Job { planned, loaded, spec: planned.spec(), steps, skipped: skipped(planned, quick) }
}

/// Times the rows whose speed claims compare, and those of the method that does nothing in their place.
fn time_in_turn(
    bench: &Bench<'_>,
    figure: &Figure,
    jobs: &[Job<'_>],
    quick: bool,
) -> Vec<Vec<f64>> {
    let judged = |claim: &&Claim| !(if quick { claim.full_only } else { claim.quick_only });
    let faster = |claim: &&Claim| matches!(claim.check, ClaimCheck::Faster { .. });
    let claims: Vec<&Claim> = figure.claims.iter().filter(judged).filter(faster).collect();
    let named = |p: &Planned| claims.iter().any(|claim| claim.check.names(&p.label, &p.group));
    let keys: Vec<String> =
        jobs.iter().filter(|job| named(job.planned)).map(|job| null_key(job.planned)).collect();
    let wanted: Vec<usize> = (0..jobs.len())
        .filter(|&i| jobs[i].skipped.is_none())
        .filter(|&i| named(jobs[i].planned) || keys.contains(&jobs[i].planned.group))
        .collect();
    let timed: Vec<TimedRow<'_>> = wanted
        .iter()
        .map(|&i| TimedRow {
            scene: &jobs[i].loaded.scene,
            spec: &jobs[i].spec,
            frames: jobs[i].steps,
        })
        .collect();
    let mut all = vec![Vec::new(); jobs.len()];
    for (i, times) in wanted.into_iter().zip(time_blocks(bench, &timed, BLOCKS, &mut || {})) {
        all[i] = times;
    }
    all
}

/// What a run is compared with beside the reference that it names.
#[derive(Clone, Debug, Default)]
struct Yardsticks {
    motion: Option<Arc<TrueMotion>>,
    same_step: Option<Arc<[State]>>,
}

/// Finds the motion without steps of each scene, and implicit Euler solved to tolerance at the steps of each run, where
/// the figure asks for them.
fn yardsticks(
    bench: &Bench<'_>,
    figure: &Figure,
    jobs: &[Job<'_>],
    quick: bool,
    warnings: &mut Vec<String>,
) -> Vec<Yardsticks> {
    let mut all = vec![Yardsticks::default(); jobs.len()];
    let Some(most) = figure.motion else { return all };
    let finest = figure.quick.motion.filter(|_| quick).unwrap_or(most);
    let mut scenes: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (i, job) in jobs.iter().enumerate() {
        scenes.entry(scene_key(job.planned)).or_default().push(i);
    }
    for places in scenes.values() {
        let scene = &jobs[places[0]].loaded.scene;
        let frames = places.iter().map(|&i| jobs[i].steps).max().unwrap_or(0);
        let mut runs = ReferenceRuns::new(bench, scene, frames, Some(finest));
        let motion = match runs.true_motion() {
            Ok(motion) => Some(Arc::new(motion)),
            Err(reason) => {
                warnings.push(format!("{}: no motion to compare with: {reason}", scene.name));
                None
            }
        };
        for &i in places {
            let same_step = runs.same_step(&jobs[i].spec);
            all[i] = Yardsticks { motion: motion.clone(), same_step };
        }
    }
    all
}

/// References first, since the others need their states.
///
/// Runs that nothing times go side by side, each worker with a bench of one thread: that keeps the
/// cores busier than threads inside small solvers, and gives the same numbers.
fn run_all(
    bench: &Bench<'_>,
    figure: &Figure,
    jobs: &[Job<'_>],
    yardsticks: &[Yardsticks],
    on_run: &(dyn Fn(&RunRow) + Sync),
) -> anyhow::Result<Vec<Done>> {
    let wanted: Vec<&str> =
        jobs.iter().filter_map(|job| job.planned.run.reference.as_deref()).collect();
    let is_reference = |job: &Job<'_>| wanted.contains(&job.planned.label.as_str());
    let (first, rest): (Vec<usize>, Vec<usize>) =
        (0..jobs.len()).partition(|&i| is_reference(&jobs[i]));
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let count = if figure.is_timed() { 0 } else { cores.min(jobs.len()) };
    let own = (0..count).map(|_| bench.worker());
    let own = own.collect::<anyhow::Result<Vec<_>>>()?;
    let workers: Vec<&Bench<'_>> = if own.is_empty() { vec![bench] } else { own.iter().collect() };

    let references = in_parallel(&workers, &first, |bench, i| {
        let done = one(bench, figure, &jobs[i], None, None);
        on_run(&done.run);
        done
    });
    let others = in_parallel(&workers, &rest, |bench, i| {
        let job = &jobs[i];
        let label = job.planned.run.reference.as_deref();
        let place = first.iter().position(|&i| Some(jobs[i].planned.label.as_str()) == label);
        let reference = place.map(|place| ReferenceRun {
            spec: &jobs[first[place]].spec,
            states: &references[place].states,
        });
        let done = one(bench, figure, job, reference, Some(&yardsticks[i]));
        on_run(&done.run);
        done
    });
    let mut all: Vec<(usize, Done)> = first.into_iter().zip(references).collect();
    all.extend(rest.into_iter().zip(others));
    all.sort_by_key(|(i, _)| *i);
    Ok(all.into_iter().map(|(_, done)| done).collect())
}

fn one(
    bench: &Bench<'_>,
    figure: &Figure,
    job: &Job<'_>,
    reference: Option<ReferenceRun<'_>>,
    yardsticks: Option<&Yardsticks>,
) -> Done {
    // What others are compared with is compared with nothing.
    let is_reference = yardsticks.is_none();
    if let Some(why) = job.skipped {
        let run = RunRow::skipped(&job.spec, why);
        return Done { row: empty_row(job, &run), run, states: Vec::new(), path: None };
    }
    let scene = &job.loaded.scene;
    match figure.measure {
        MeasureSpec::Trajectory => {
            let keep = if is_reference { Keep::Everything } else { Keep::Nothing };
            let reference = reference.map(|reference| reference.states);
            let references = References {
                named: reference,
                same_step: yardsticks.and_then(|beside| beside.same_step.as_deref()),
                motion: yardsticks.and_then(|beside| beside.motion.as_deref()),
            };
            let options = RunOptions { steps: job.steps, references, asked: &figure.asked };
            let mut kept = KeptStates::new(keep);
            let mut path = WatchedPath::new(scene);
            let probes = Probes::new(scene, &figure.probes);
            let mut probed = ProbedFrames { probes, reference, values: Vec::new() };
            let observers: &mut [&mut dyn Observer] = &mut [&mut kept, &mut path, &mut probed];
            let run = run(bench, scene, &job.spec, &options, observers);
            let states = kept.states.into_iter().map(|(_, state)| state).collect();
            Done { row: trajectory_row(job, &run, &probed), run, states, path: Some(path) }
        }
        MeasureSpec::Trace { warmup } => {
            let mut run = RunRow::new(&job.spec);
            let reference = reference.map(|reference| reference.spec);
            let options = TraceOptions { start: TraceStart::Warm, warmup, reference };
            trace(bench, scene, &job.spec, &options, &mut run, &mut []);
            Done { row: trace_row(job, &run), run, states: Vec::new(), path: None }
        }
        MeasureSpec::Time { warmup, samples } => {
            // A figure has many rows; none may take more than a few seconds.
            let options = TimeOptions { warmup, samples, steps_per_sample: 1, limit_s: 5.0 };
            let run = time(bench, scene, &job.spec, &options, &mut || {});
            Done { row: empty_row(job, &run), run, states: Vec::new(), path: None }
        }
    }
}

/// What is known of a run before its columns.
fn empty_row(job: &Job<'_>, run: &RunRow) -> FigureRow {
    let count = f64::from;
    let (iterations, substeps) = (job.spec.iterations, job.spec.substeps);
    let mut facts = vec![
        ("iterations".to_owned(), count(iterations)),
        ("substeps".to_owned(), count(substeps)),
        ("work".to_owned(), count(iterations) * count(substeps)),
        ("dt_s".to_owned(), job.spec.step(&job.loaded.scene).dt),
        (
            "bodies".to_owned(),
            job.loaded.scene.bodies.iter().filter(|b| b.is_dynamic()).count() as f64,
        ),
    ];
    // A software adapter's times say nothing, so panels over time leave it out.
    let software = run.device == RunDevice::Software;
    let timed = run.step_time_s.filter(|_| !software);
    if let Some(time) = timed {
        let times = [
            (TIMED, time.median),
            (SHORTEST, time.min),
            (MEAN_TIME, time.mean),
            (LONGEST, time.max),
        ];
        facts.extend(times.map(|(name, seconds)| (name.to_owned(), seconds)));
    }
    facts.extend(job.loaded.parameters.iter().cloned());
    FigureRow {
        label: run.label.clone(),
        group: job.planned.group.clone(),
        backend: run.backend.clone(),
        problem: scene_key(job.planned),
        status: run.status.name().to_owned(),
        reason: (!run.reason.is_empty()).then(|| run.reason.clone()),
        software,
        facts,
        block_times_s: Vec::new(),
        horizon: None,
        planned: job.steps as usize,
        columns: Vec::new(),
    }
}

fn trajectory_row(job: &Job<'_>, run: &RunRow, probed: &ProbedFrames<'_>) -> FigureRow {
    let mut row = empty_row(job, run);
    if run.frames.is_empty() {
        return row;
    }
    let column = |of: &dyn Fn(&crate::record::Frame) -> f64| run.frames.iter().map(of).collect();
    row.columns.push(("step".to_owned(), column(&|frame| f64::from(frame.step))));
    row.columns.push(("time_s".to_owned(), column(&|frame| frame.time_s)));
    for name in metric_names(run.frames.iter().map(|frame| &frame.metrics)) {
        let value = |frame: &crate::record::Frame| metric(&frame.metrics, name).unwrap_or(f64::NAN);
        row.columns.push((name.to_owned(), column(&value)));
    }
    for (i, name) in probed.probes.names().enumerate() {
        let values = probed.values.iter().map(|values| values[i]).collect();
        row.columns.push((name.to_owned(), values));
    }
    row
}

/// One entry per iteration of the traced step.
fn trace_row(job: &Job<'_>, run: &RunRow) -> FigureRow {
    let mut row = empty_row(job, run);
    let Some(curve) = run.curves.first() else { return row };
    let column =
        |of: &dyn Fn(&crate::record::TracePoint) -> f64| curve.points.iter().map(of).collect();
    row.planned = curve.points.len();
    row.columns.push(("iteration".to_owned(), column(&|point| f64::from(point.iteration))));
    for name in metric_names(curve.points.iter().map(|point| &point.metrics)) {
        let value =
            |point: &crate::record::TracePoint| metric(&point.metrics, name).unwrap_or(f64::NAN);
        row.columns.push((name.to_owned(), column(&value)));
    }
    row
}
