//! `taut time`: wall times, nothing read while the clock runs.

use super::{Outcome, SceneTask, Session};
use crate::{
    args::TimeArgs,
    progress::Progress,
    record::{ReferenceDocument, RunRow, TimesInTurn, times_csv},
    runner::{self, Ratio, TimeOptions, TimedRow, time_blocks},
    text_table::{TextTable, short},
};

pub(crate) fn main(session: &Session<'_>, args: &TimeArgs) -> anyhow::Result<Outcome> {
    let mut task = session.task(&args.selection)?;
    if cfg!(debug_assertions) {
        let warning = "this is a debug build: its times say little, use --release";
        eprintln!("taut: warning: {warning}");
        task.facts.warnings.push(warning.to_owned());
    }
    let mut out = session.out_dir("time")?;
    let options = TimeOptions {
        warmup: args.warmup,
        samples: args.samples,
        steps_per_sample: args.steps,
        limit_s: args.limit,
    };
    let progress = Progress::new(3 * u64::from(args.samples) * task.specs.len() as u64, "samples");
    let mut rows: Vec<RunRow> = task
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
    if args.blocks > 0 {
        time_in_turn(session, &task, args, &mut rows);
    }
    out.write("time.csv", &times_csv(&task.scene.name, &rows.iter().collect::<Vec<_>>()))?;
    let table = table(&rows);
    let document = session.document("time", &task, ReferenceDocument::default(), rows, &mut out)?;
    session.present(&document, &[table], out.path())
}

/// Times all rows that could be timed in turn, the first of them twice: against itself it tells the noise.
fn time_in_turn(session: &Session<'_>, task: &SceneTask, args: &TimeArgs, rows: &mut [RunRow]) {
    let able: Vec<usize> = (0..rows.len()).filter(|&i| rows[i].times.is_some()).collect();
    let Some(&first) = able.first() else { return };
    let slowest = able.iter().filter_map(|&i| Some(rows[i].times.as_ref()?.step_s.median));
    let slowest = slowest.fold(0.0, f64::max);
    // A block of a row takes no longer than a kind of samples may, unless a single frame does.
    let affordable =
        (args.limit / f64::from(args.blocks) / slowest.max(f64::MIN_POSITIVE)).max(1.0);
    let frames = f64::from(task.scene.steps).min(affordable) as u32;
    let timed: Vec<TimedRow<'_>> = able
        .iter()
        .chain([&first])
        .map(|&i| TimedRow { scene: &task.scene, spec: &task.specs[i], frames })
        .collect();
    let progress = Progress::new(u64::from(args.blocks) * timed.len() as u64, "samples in turn");
    let samples = time_blocks(&session.bench, &timed, args.blocks, &mut || progress.advance(1));
    progress.finish();
    let (own, again) = (&samples[0], &samples[able.len()]);
    let band = Ratio::of(own, again).map(|ratio| ratio.noise_band());
    for (&i, samples) in able.iter().zip(&samples) {
        if samples.is_empty() {
            continue;
        }
        let ratio = Ratio::of(own, samples).filter(|_| i != first);
        let verdict = match (ratio, band) {
            _ if i == first => "first",
            (Some(ratio), Some(band)) => ratio.verdict(band),
            _ => "not separable",
        };
        rows[i].in_turn = Some(TimesInTurn {
            frames,
            samples_s: samples.clone(),
            ratio: ratio.map(|Ratio { low, median, high }| [low, median, high]),
            noise_band: band,
            verdict,
        });
    }
}

fn table(rows: &[RunRow]) -> TextTable {
    let mut table = TextTable::default().text("label").text("status").number("iterations", "");
    let in_turn = rows.iter().filter(|row| row.in_turn.is_some()).count() > 1;
    for name in ["latency", "+-", "min", "throughput", "collide", "prepare", "iterate", "finish"] {
        table = table.number(name, "ms");
    }
    if in_turn {
        table = table.text("against the first, 95 %").text("verdict");
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
        if in_turn {
            let of = |told: &dyn Fn(&TimesInTurn) -> String| row.in_turn.as_ref().map(told);
            let ratio = of(&|times| match times.ratio {
                Some([low, median, high]) => format!("{median:.3} [{low:.3}, {high:.3}]"),
                None => String::new(),
            });
            cells.push(ratio.unwrap_or_default());
            cells.push(of(&|times| times.verdict.to_owned()).unwrap_or_default());
        }
        table.push(cells);
    }
    table
}
