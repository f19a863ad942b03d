//! `taut trace`: how one step converges.

use taut_core::State;

use super::{Outcome, Session, Task, plots};
use crate::{
    args::TraceArgs,
    plot::split_unit,
    progress::Progress,
    record::{OutDir, ReferenceFacts, RunRow, metric, trace_csv},
    runner::{self, Keep, RunOptions, Spec, Start, TraceOptions},
    spec,
    table::{Table, short},
};

/// The metrics that the table shows, where they apply.
const SHOWN: &[&str] = &["joint_error_max_m", "distance_to_reference_rms_m", "objective_gap_j"];

pub(crate) fn main(session: &Session<'_>, args: &TraceArgs) -> anyhow::Result<Outcome> {
    let mut task = session.task(&args.selection)?;
    let reference = spec::reference(&args.reference, 1)?;
    session.bench.check(&task.scene, &reference)?;
    let mut out = OutDir::create(session.common.out.as_deref(), "trace")?;
    let progress = Progress::new(1 + 2 * task.specs.len() as u64, "curves");
    progress.start(&reference.label);
    let cold = snapshot(session, &task, &reference, args.warmup);
    progress.advance(1);
    let (state, supported) = match &cold {
        Ok((state, _)) => (state.clone(), Some(&reference)),
        Err(reason) => {
            let warning = format!("the cold start is the initial state: {reason}");
            eprintln!("taut: warning: {warning}");
            task.facts.warnings.push(warning);
            (task.scene.initial_state(), None)
        }
    };
    let starts = [
        (Start::Cold(&state), if cold.is_ok() { args.warmup } else { 0 }),
        (Start::Warm, args.warmup),
    ];
    let rows: Vec<RunRow> = task
        .specs
        .iter()
        .map(|spec| {
            let mut row = RunRow::new(spec);
            progress.start(&spec.label);
            for (start, warmup) in starts {
                if !row.status.is_measured() {
                    break;
                }
                let options = TraceOptions { start, warmup, reference: supported };
                runner::trace(&session.bench, &task.scene, spec, &options, &mut row);
                progress.advance(1);
            }
            row
        })
        .collect();
    progress.finish();
    let facts = cold.ok().map(|(_, facts)| facts);
    let shown: Vec<&RunRow> = rows.iter().collect();
    out.write("trace.csv", &trace_csv(&task.scene.name, &shown))?;
    plots::convergence(&task.scene.name, &shown, &mut out)?;
    let table = table(&rows);
    let document = session.document("trace", task, facts, rows, &mut out)?;
    session.present(&document, &table, out.path())
}

/// The state after `frames` frames of the reference, or why there is none.
fn snapshot(
    session: &Session<'_>,
    task: &Task,
    reference: &Spec,
    frames: u32,
) -> Result<(State, ReferenceFacts), String> {
    let last = [frames];
    let options = RunOptions { steps: frames, reference: None, keep: Keep::After(&last) };
    let mut run = runner::run(&session.bench, &task.scene, reference, &options, &mut |_| {});
    let facts = ReferenceFacts::of(reference, &run.row);
    match run.states.pop() {
        Some((_, state)) => Ok((state, facts)),
        None => {
            Err(format!("`{}` {}: {}", reference.backend, run.row.status.name(), run.row.reason))
        }
    }
}

/// One line per curve, with its values when the step is closed.
fn table(rows: &[RunRow]) -> Table {
    let mut table =
        Table::default().text("label").text("status").text("start").number("iterations", "");
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
