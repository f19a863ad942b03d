//! `taut trace`: how one step converges.

use taut_core::State;

use super::{Outcome, SceneTask, Session, plots};
use crate::{
    args::TraceArgs,
    plot::split_unit,
    progress::Progress,
    record::{ReferenceDocument, ReferenceFacts, RunRow, metric, trace_csv},
    runner::{self, Keep, KeptStates, References, RunOptions, TraceOptions, TraceStart},
    spec::{self, Spec},
    text_table::{TextTable, short},
};

/// The metrics that the table shows, where they apply.
const SHOWN: &[&str] = &[
    "joint_error_max_m",
    "distance_to_reference_rms_m",
    "objective_gap_j",
    "penetration_max_m",
    "contact_residual_max_m",
];

pub(crate) fn main(session: &Session<'_>, args: &TraceArgs) -> anyhow::Result<Outcome> {
    let mut task = session.task(&args.selection)?;
    let reference = choose_reference(session, args, &task)?;
    let mut out = session.out_dir("trace")?;
    let progress = Progress::new(1 + 2 * task.specs.len() as u64, "curves");
    progress.start("reference");
    let cold = match &reference {
        Some(reference) => snapshot(session, &task, reference, args.warmup),
        None => Err("this program has no backend `newton`".to_owned()),
    };
    progress.advance(1);
    let starts = match &cold {
        Ok((state, _)) => Starts { cold: state.clone(), frames: args.warmup, reference },
        Err(reason) => {
            let warning = format!("the cold start is the initial state: {reason}");
            eprintln!("taut: warning: {warning}");
            task.facts.warnings.push(warning);
            Starts { cold: task.scene.initial_state(), frames: 0, reference: None }
        }
    };
    let rows: Vec<RunRow> = task
        .specs
        .iter()
        .map(|spec| {
            progress.start(&spec.label);
            let row = both_curves(session, &task, spec, args.warmup, &starts);
            progress.advance(2);
            row
        })
        .collect();
    progress.finish();
    let reference = cold.ok().map(|(_, facts)| facts);
    let references = ReferenceDocument { reference, ..ReferenceDocument::default() };
    let shown: Vec<&RunRow> = rows.iter().collect();
    out.write("trace.csv", &trace_csv(&task.scene.name, &shown))?;
    plots::convergence(&task.scene.name, &shown, &mut out)?;
    let table = table(&rows);
    let document = session.document("trace", &task, references, rows, &mut out)?;
    session.present(&document, &[table], out.path())
}

/// What the cold curves start from.
struct Starts {
    cold: State,
    /// Frames that led to it.
    frames: u32,
    reference: Option<Spec>,
}

fn both_curves(
    session: &Session<'_>,
    task: &SceneTask,
    spec: &Spec,
    warmup: u32,
    starts: &Starts,
) -> RunRow {
    let mut row = RunRow::new(spec);
    for (start, warmup) in
        [(TraceStart::Cold(&starts.cold), starts.frames), (TraceStart::Warm, warmup)]
    {
        if session.bench.is_cancelled() && row.curves.is_empty() {
            return RunRow::skipped(spec, "interrupted before it started");
        }
        if row.status.is_measured() {
            let options = TraceOptions { start, warmup, reference: starts.reference.as_ref() };
            runner::trace(&session.bench, &task.scene, spec, &options, &mut row, &mut []);
        }
    }
    row
}

/// The reference asked for; else `newton`, which a table of other backends may lack.
fn choose_reference(
    session: &Session<'_>,
    args: &TraceArgs,
    task: &SceneTask,
) -> anyhow::Result<Option<Spec>> {
    let text = match &args.reference {
        Some(text) => text,
        None if session.bench.find("newton").is_err() => return Ok(None),
        None => "newton",
    };
    let reference = spec::reference(text, 1)?;
    session.bench.check(&task.scene, &reference)?;
    Ok(Some(reference))
}

/// The state after `frames` frames of the reference, or why there is none.
fn snapshot(
    session: &Session<'_>,
    task: &SceneTask,
    reference: &Spec,
    frames: u32,
) -> Result<(State, ReferenceFacts), String> {
    let last = [frames];
    let options = RunOptions { steps: frames, references: References::default(), asked: &[] };
    let mut kept = KeptStates::new(Keep::After(&last));
    let row = runner::run(&session.bench, &task.scene, reference, &options, &mut [&mut kept]);
    let facts = ReferenceFacts::of(reference, &row);
    match kept.states.pop() {
        Some((_, state)) => Ok((state, facts)),
        None => Err(format!("`{}` {}: {}", reference.backend, row.status.name(), row.reason)),
    }
}

/// One line per curve, with its values when the step is closed.
fn table(rows: &[RunRow]) -> TextTable {
    let mut table =
        TextTable::default().text("label").text("status").text("start").number("iterations", "");
    for name in SHOWN {
        let (words, unit) = split_unit(name);
        table = table.number(&words, unit);
    }
    for row in rows {
        let status = row.status.name().to_owned();
        for curve in &row.curves {
            let Some(end) = curve.points.last() else { continue };
            let mut cells = vec![
                row.label.clone(),
                status.clone(),
                curve.start.to_owned(),
                end.iteration.to_string(),
            ];
            cells.extend(SHOWN.iter().map(|name| short(metric(&end.metrics, name))));
            table.push(cells);
        }
        if row.curves.is_empty() {
            let mut cells = vec![row.label.clone(), status, "-".to_owned(), "-".to_owned()];
            cells.extend(SHOWN.iter().map(|_| short(None)));
            table.push(cells);
        }
    }
    table
}
