//! `taut run`: trajectories, every frame measured.

use std::ops::ControlFlow;

use taut_core::{Scene, State};

use super::{Outcome, SceneTask, Session, plots};
use crate::{
    args::RunArgs,
    plot::split_unit,
    progress::Progress,
    record::{OutDir, ReferenceFacts, RunRow, Sensitivity, frames_csv, states_csv},
    ruler::Sample,
    runner::{self, Keep, KeptStates, Observer, RunOptions, moved_start},
    spec::{self, Spec},
    text_table::{TextTable, short},
};

/// The metrics that the table shows, where they apply: worst of the run.
const SHOWN: &[&str] = &[
    "joint_error_max_m",
    "joint_angle_error_max_rad",
    "spring_strain_max",
    "watched_error_rms_m",
    "distance_to_reference_rms_m",
    "energy_drift_j",
    "penetration_max_m",
];

pub(crate) fn main(session: &Session<'_>, args: &RunArgs) -> anyhow::Result<Outcome> {
    let task = session.task(&args.selection)?;
    let steps = args.steps.unwrap_or(task.scene.steps);
    if let Some(step) = args.states.iter().find(|&&step| step > steps) {
        anyhow::bail!(
            "--states asks for step {step}, but the run has {steps}: give --steps {step}"
        );
    }
    let reference = choose_reference(session, args, &task)?;
    let mut out = OutDir::create(session.common.out.as_deref(), "run")?;
    let (mut runs, facts) = measure(session, &task, steps, &args.states, reference.as_ref());
    if let Some(starts) = args.spread {
        add_sensitivity(session, &task, steps, starts, &mut runs);
    }

    let rows: Vec<&RunRow> = runs.iter().map(|run| &run.row).collect();
    let name = task.scene.name.clone();
    out.write("frames.csv", &frames_csv(&name, &rows))?;
    if !args.states.is_empty() {
        let states: Vec<(&RunRow, &[(u32, State)])> =
            runs.iter().map(|run| (&run.row, run.states.as_slice())).collect();
        out.write("states.csv", &states_csv(&states))?;
    }
    plots::trajectories(&name, &rows, &session.palette(), &mut out)?;
    let rows: Vec<RunRow> = runs.into_iter().map(|run| run.row).collect();
    let table = table(&rows, args.spread.is_some());
    let document = session.document("run", task, facts, rows, &mut out)?;
    session.present(&document, &table, out.path())
}

/// A row with the states that were asked for, each with its frame.
struct KeptRun {
    row: RunRow,
    states: Vec<(u32, State)>,
}

/// What the rows are compared with: a row of its own where one is equal, else one more run.
enum ChosenReference {
    Row(usize),
    Extra(Spec),
}

fn choose_reference(
    session: &Session<'_>,
    args: &RunArgs,
    task: &SceneTask,
) -> anyhow::Result<Option<ChosenReference>> {
    let Some(text) = &args.reference else {
        // The reference solves each step to tolerance, so the finest in time is the best.
        let newtons = task.specs.iter().enumerate().filter(|(_, s)| s.backend == "newton");
        return Ok(newtons.max_by_key(|(_, s)| s.substeps).map(|(i, _)| ChosenReference::Row(i)));
    };
    if text == "none" {
        return Ok(None);
    }
    let most = task.specs.iter().map(|s| s.iterations).max().unwrap_or(1);
    let mut spec = spec::reference(text, most)?;
    session.bench.check(&task.scene, &spec)?;
    let backend = session.bench.find(&spec.backend)?;
    if let Err(reason) = backend.supports(&task.scene) {
        anyhow::bail!("`{text}` cannot be the reference: {reason}");
    }
    spec.label = format!("reference {text}");
    let equal = |row: &Spec| Spec { label: spec.label.clone(), ..row.clone() } == spec;
    let row = task.specs.iter().position(equal);
    Ok(Some(row.map_or(ChosenReference::Extra(spec), ChosenReference::Row)))
}

/// Runs the reference, then all rows in order.
fn measure(
    session: &Session<'_>,
    task: &SceneTask,
    steps: u32,
    kept: &[u32],
    reference: Option<&ChosenReference>,
) -> (Vec<KeptRun>, Option<ReferenceFacts>) {
    let (own_row, spec) = match reference {
        None => (None, None),
        Some(ChosenReference::Row(index)) => (Some(*index), Some(&task.specs[*index])),
        Some(ChosenReference::Extra(spec)) => (None, Some(spec)),
    };
    let count = task.specs.len() + usize::from(spec.is_some() && own_row.is_none());
    let progress = Progress::new(u64::from(steps) * count as u64, "steps");
    let run_one = |spec: &Spec, reference: Option<&[State]>, keep| {
        one_row(session, task, spec, &RunOptions { steps, reference }, keep, &progress)
    };
    let mut trusted = spec.map(|spec| run_one(spec, None, Keep::Everything));
    let facts = spec.zip(trusted.as_ref()).map(|(spec, run)| ReferenceFacts::of(spec, &run.row));
    let path: Option<Vec<State>> = trusted
        .as_mut()
        .map(|run| std::mem::take(&mut run.states).into_iter().map(|(_, state)| state).collect());
    let mut runs = Vec::new();
    for (index, spec) in task.specs.iter().enumerate() {
        runs.push(match trusted.take_if(|_| own_row == Some(index)) {
            Some(run) => KeptRun { states: pick(path.as_deref(), kept), ..run },
            None => run_one(spec, path.as_deref(), Keep::After(kept)),
        });
    }
    progress.finish();
    (runs, facts)
}

fn one_row(
    session: &Session<'_>,
    task: &SceneTask,
    spec: &Spec,
    options: &RunOptions<'_>,
    keep: Keep<'_>,
    progress: &Progress,
) -> KeptRun {
    if session.bench.is_cancelled() {
        let row = RunRow::skipped(spec, "interrupted before it started");
        return KeptRun { row, states: Vec::new() };
    }
    progress.start(&spec.label);
    let mut kept = KeptStates::new(keep);
    let mut ticks = Ticks { progress, left: options.steps };
    let row = runner::run(&session.bench, &task.scene, spec, options, &mut [&mut kept, &mut ticks]);
    KeptRun { row, states: kept.states }
}

/// Moves the bar of progress by frames.
struct Ticks<'a> {
    progress: &'a Progress,
    left: u32,
}

impl Observer for Ticks<'_> {
    fn frame(&mut self, _sample: &Sample<'_>, _row: &mut RunRow) -> ControlFlow<String> {
        self.progress.advance(1);
        self.left -= 1;
        ControlFlow::Continue(())
    }

    fn end(&mut self, _row: &mut RunRow) {
        // A row that ended early leaves nothing to wait for.
        self.progress.advance(u64::from(self.left));
    }
}

/// The states of a whole trajectory after the given steps, in the order of time.
fn pick(path: Option<&[State]>, steps: &[u32]) -> Vec<(u32, State)> {
    let numbered = (0..).zip(path.unwrap_or_default());
    let wanted = numbered.filter(|(step, _)| steps.contains(step));
    wanted.map(|(step, state)| (step, state.clone())).collect()
}

/// Runs every measured row again from moved starts. No reference: it would have to move, too.
fn add_sensitivity(
    session: &Session<'_>,
    task: &SceneTask,
    steps: u32,
    starts: u32,
    runs: &mut [KeptRun],
) {
    let progress = Progress::new(u64::from(starts) * runs.len() as u64, "moved runs");
    let scenes: Vec<Scene> = (0..starts).map(|seed| moved_start(&task.scene, seed)).collect();
    for (spec, run) in task.specs.iter().zip(runs).filter(|(_, run)| run.row.status.is_measured()) {
        progress.start(&spec.label);
        let mut moved = Vec::new();
        for scene in &scenes {
            let options = RunOptions { steps, reference: None };
            moved.push(runner::run(&session.bench, scene, spec, &options, &mut []));
            progress.advance(1);
        }
        // What was cut short is no spread.
        if !session.bench.is_cancelled() {
            run.row.sensitivity = Some(Sensitivity::of(&run.row, &moved));
        }
    }
    progress.finish();
}

fn table(rows: &[RunRow], spread: bool) -> TextTable {
    let shown: Vec<&str> = SHOWN
        .iter()
        .copied()
        .filter(|name| rows.iter().any(|row| row.summary.get(name).is_some()))
        .collect();
    let mut table = TextTable::default()
        .text("label")
        .text("status")
        .number("iterations", "")
        .number("substeps", "")
        .number("steps", "")
        .number("step time", "ms");
    for name in &shown {
        let (words, unit) = split_unit(name);
        table = table.number(&words, unit);
        if spread {
            table = table.number("spread", "decades");
        }
    }
    for row in rows {
        let mut cells = vec![
            row.label.clone(),
            row.status_and_mark(),
            row.iterations.to_string(),
            row.substeps.to_string(),
            row.steps.to_string(),
            short(row.step_time_s.map(|spread| 1e3 * spread.median)),
        ];
        for name in &shown {
            cells.push(short(row.summary.get(name)));
            if spread {
                let found = row.sensitivity.iter().flat_map(|s| &s.metrics);
                let area = found.filter(|m| m.name == **name).map(|m| m.area).next();
                cells.push(short(area));
            }
        }
        table.push(cells);
    }
    table
}
