//! `taut time`: wall times, nothing read while the clock runs.

use super::{Outcome, Session};
use crate::{
    args::TimeArgs,
    progress::Progress,
    record::{OutDir, ReferenceDocument, RunRow, times_csv},
    runner::{self, TimeOptions},
    text_table::{TextTable, short},
};

pub(crate) fn main(session: &Session<'_>, args: &TimeArgs) -> anyhow::Result<Outcome> {
    let mut task = session.task(&args.selection)?;
    if cfg!(debug_assertions) {
        let warning = "this is a debug build: its times say little, use --release";
        eprintln!("taut: warning: {warning}");
        task.facts.warnings.push(warning.to_owned());
    }
    let mut out = OutDir::create(session.common.out.as_deref(), "time")?;
    let options = TimeOptions {
        warmup: args.warmup,
        samples: args.samples,
        steps_per_sample: args.steps,
        limit_s: args.limit,
    };
    let progress = Progress::new(3 * u64::from(args.samples) * task.specs.len() as u64, "samples");
    let rows: Vec<RunRow> = task
        .specs
        .iter()
        .map(|spec| {
            if session.bench.is_cancelled() {
                return RunRow::skipped(spec, "interrupted before it started");
            }
            progress.start(&spec.label);
            runner::time(&session.bench, &task.scene, spec, &options, &mut || progress.advance(1))
        })
        .collect();
    progress.finish();
    out.write("time.csv", &times_csv(&task.scene.name, &rows.iter().collect::<Vec<_>>()))?;
    let table = table(&rows);
    let document = session.document("time", task, ReferenceDocument::default(), rows, &mut out)?;
    session.present(&document, &table, out.path())
}

fn table(rows: &[RunRow]) -> TextTable {
    let mut table = TextTable::default().text("label").text("status").number("iterations", "");
    for name in ["latency", "+-", "min", "throughput", "collide", "prepare", "iterate", "finish"] {
        table = table.number(name, "ms");
    }
    for row in rows {
        let mut cells = vec![row.label.clone(), row.status_and_mark(), row.iterations.to_string()];
        let values = row.times.as_ref().map(|times| {
            let (one, stages) = (times.step_s, times.stages);
            let many = times.throughput_step_s.median;
            let stages = [stages.collide, stages.prepare, stages.iterate, stages.finish];
            [one.median, one.mad, one.min, many].into_iter().chain(stages).collect::<Vec<_>>()
        });
        match values {
            Some(values) => cells.extend(values.iter().map(|&v| short(Some(1e3 * v)))),
            None => cells.extend((0..8).map(|_| short(None))),
        }
        table.push(cells);
    }
    table
}
