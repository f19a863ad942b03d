//! `taut best`: cost at prescribed accuracy, the cheapest budget of each backend that meets bounds on its errors.

use anyhow::Context;
use serde::Serialize;

use super::{Outcome, SceneTask, Session, json, print, run};
use crate::{
    args::BestArgs,
    progress::Progress,
    record::{Division, Document, ReferenceDocument, RunRow, Status},
    ruler::more_is_better,
    runner::{BLOCKS, Ratio, TimedRow, time_blocks},
    text_table::{TextTable, short},
};

/// What `best.json` holds beside what `run.json` does.
#[derive(Serialize)]
struct BestDocument {
    #[serde(flatten)]
    document: Document,
    /// The bounds.
    within: Vec<MetricBound>,
    /// One for each backend, in the order asked for.
    best: Vec<Cheapest>,
}

#[derive(Clone, Serialize)]
struct MetricBound {
    metric: String,
    bound: f64,
}

/// The cheapest budget of a backend that meets all bounds, or the one that comes nearest.
#[derive(Serialize)]
struct Cheapest {
    /// Label of the row.
    label: String,
    backend: String,
    /// Which of the others it is fair to compare it with.
    division: Division,
    /// Whether it ended `ok` and met all bounds.
    reached: bool,
    iterations: u32,
    substeps: u32,
    /// Largest of value over bound among the metrics; `null` where one was not measured.
    excess: Option<f64>,
    /// Time per frame over whole runs, in turn with the other backends: median of the blocks and its 95 % interval
    /// [s]; of the processor where the row runs on one. `null` where the bounds are not reached.
    cost_s: Option<f64>,
    interval_s: Option<[f64; 2]>,
}

pub(crate) fn main(session: &Session<'_>, args: &BestArgs) -> anyhow::Result<Outcome> {
    let task = session.task(&args.selection)?;
    let bounded: Vec<String> = args.within.iter().map(|(metric, _)| metric.clone()).collect();
    session.bench.setup.metrics.know(&bounded).context("--within")?;
    let wanted = run::wanted_reference(session, &args.course, &task)?;
    let mut out = session.out_dir("best")?;
    let run::MeasuredRuns { runs, reference, motion } =
        run::measure(session, &task, &args.course, &[], wanted, None, &mut |_| Ok(()))?;
    let rows: Vec<RunRow> = runs.into_iter().map(|run| run.row).collect();
    let budgets = args.selection.grid.iterations.len() * args.selection.grid.substeps.len();
    let chosen: Vec<usize> = (0..rows.len())
        .step_by(budgets)
        .map(|first| first + choose(&rows[first..first + budgets], &args.within))
        .collect();
    let best = costs(session, &task, &rows, &chosen, args);
    let tables = [Division::Closed, Division::Open]
        .map(|division| table(division, &best, &rows, &chosen, &args.within));
    let references = ReferenceDocument { reference, motion };
    let document = session.unwritten("best", &task, references, rows, &mut out);
    let outcome = session.outcome(&document.runs);
    let within = args.within.iter();
    let within =
        within.map(|(metric, bound)| MetricBound { metric: metric.clone(), bound: *bound });
    let whole = BestDocument { document, within: within.collect(), best };
    out.write("best.json", &json(&whole)?)?;
    if session.common.json {
        print(&json(&whole)?)?;
        return Ok(outcome);
    }
    session.present(&whole.document, &tables, out.path())
}

/// How many times the worst metric is as large as its bound, or its bound as large as it where more is better.
fn excess(row: &RunRow, within: &[(String, f64)]) -> Option<f64> {
    let share = |(metric, bound): &(String, f64)| {
        let value = row.summary.get(metric)?;
        Some(if more_is_better(metric) { bound / value } else { value.abs() / bound })
    };
    within.iter().map(share).try_fold(0.0, |worst: f64, share| Some(worst.max(share?)))
}

fn meets(row: &RunRow, within: &[(String, f64)]) -> bool {
    row.status == Status::Ok && excess(row, within).is_some_and(|excess| excess <= 1.0)
}

/// Costs that differ by less are the same, measured once as they are; the smaller budget is taken then.
const SAME_COST: f64 = 0.05;

/// The cheapest row of a backend that meets the bounds; else the `ok` one, or if none is any, that comes nearest.
fn choose(rows: &[RunRow], within: &[(String, f64)]) -> usize {
    let cost = |i: &usize| rows[*i].step_time_s.map_or(f64::INFINITY, |time| time.median);
    let nearness = |i: &usize| {
        let failed = f64::from(u8::from(rows[*i].status != Status::Ok));
        (failed, excess(&rows[*i], within).unwrap_or(f64::INFINITY))
    };
    let work = |i: &usize| u64::from(rows[*i].iterations) * u64::from(rows[*i].substeps);
    let good: Vec<usize> = (0..rows.len()).filter(|&i| meets(&rows[i], within)).collect();
    let least = good.iter().map(cost).fold(f64::INFINITY, f64::min);
    let cheap = good.into_iter().filter(|i| cost(i) <= (1.0 + SAME_COST) * least);
    let cheapest = cheap.min_by_key(work);
    cheapest.unwrap_or_else(|| {
        let order = |a: &usize, b: &usize| {
            let ((failed_a, excess_a), (failed_b, excess_b)) = (nearness(a), nearness(b));
            failed_a.total_cmp(&failed_b).then(excess_a.total_cmp(&excess_b))
        };
        (0..rows.len()).min_by(order).unwrap_or(0)
    })
}

/// Times the chosen rows that meet the bounds in turn.
fn costs(
    session: &Session<'_>,
    task: &SceneTask,
    rows: &[RunRow],
    chosen: &[usize],
    args: &BestArgs,
) -> Vec<Cheapest> {
    let steps = args.course.steps.unwrap_or(task.scene.steps);
    let reached: Vec<usize> =
        chosen.iter().copied().filter(|&i| meets(&rows[i], &args.within)).collect();
    let timed: Vec<TimedRow<'_>> = reached
        .iter()
        .map(|&i| TimedRow { scene: &task.scene, spec: &task.specs[i], frames: steps })
        .collect();
    let progress = Progress::new(u64::from(BLOCKS) * timed.len() as u64, "samples in turn");
    let samples = time_blocks(&session.bench, &timed, BLOCKS, &mut || progress.advance(1));
    progress.finish();
    let best = |&i: &usize| {
        let row = &rows[i];
        let place = reached.iter().position(|&other| other == i);
        // Against blocks of a second each, the ratio is the time.
        let time = place.and_then(|place| Ratio::of(&[1.0; BLOCKS as usize], &samples[place]));
        Cheapest {
            label: row.label.clone(),
            backend: row.backend.clone(),
            division: row.division,
            reached: place.is_some(),
            iterations: row.iterations,
            substeps: row.substeps,
            excess: excess(row, &args.within),
            cost_s: time.map(|time| time.median),
            interval_s: time.map(|time| [time.low, time.high]),
        }
    };
    chosen.iter().map(best).collect()
}

/// The rows of a division; titled where it is the open one, to which nothing else is compared.
fn table(
    division: Division,
    best: &[Cheapest],
    rows: &[RunRow],
    chosen: &[usize],
    within: &[(String, f64)],
) -> TextTable {
    let mut table = TextTable::titled(match division {
        Division::Closed => "",
        Division::Open => {
            "open division, with settings of their own: to be compared with nothing else"
        }
    })
    .text("label")
    .text("bounds")
    .number("iterations", "")
    .number("substeps", "")
    .number("cost", "ms")
    .number("from", "ms")
    .number("to", "ms");
    for (metric, _) in within {
        let (words, unit) = crate::plot::split_unit(metric);
        table = table.number(&words, unit);
    }
    for (best, &i) in best.iter().zip(chosen).filter(|(best, _)| best.division == division) {
        let told = match (best.reached, rows[i].status) {
            (true, _) => "met".to_owned(),
            (false, Status::Ok) => "not reached".to_owned(),
            (false, status) => format!("not reached, {}", status.name()),
        };
        let [low, high] = [0, 1].map(|end| best.interval_s.map(|interval| 1e3 * interval[end]));
        let mut cells = vec![best.label.clone(), told, best.iterations.to_string()];
        cells.push(best.substeps.to_string());
        cells.extend([best.cost_s.map(|cost| 1e3 * cost), low, high].map(short));
        cells.extend(within.iter().map(|(metric, _)| short(rows[i].summary.get(metric))));
        table.push(cells);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        record::{Frame, Spread, Summary},
        spec::Spec,
    };

    fn row(status: Status, error_m: f64, time_s: f64) -> RunRow {
        let metrics = vec![("joint_error_max_m".into(), error_m)];
        let frames = [Frame { step: 1, time_s: 0.1, metrics }];
        RunRow {
            status,
            summary: Summary::of(&frames),
            step_time_s: Spread::of(&[time_s]),
            ..RunRow::new(&Spec::new("null", 1))
        }
    }

    #[test]
    fn of_equal_costs_the_smaller_budget_is_best() {
        let within = [("joint_error_max_m".to_owned(), 0.1)];
        let budget = |iterations, time_s| RunRow { iterations, ..row(Status::Ok, 0.01, time_s) };
        assert_eq!(choose(&[budget(4, 1.0), budget(2, 1.04), budget(1, 1.06)], &within), 1);
    }

    #[test]
    fn the_cheapest_that_meets_the_bounds_is_best() {
        let within = [("joint_error_max_m".to_owned(), 0.1)];
        let rows = [
            row(Status::Ok, 0.5, 1.0),
            row(Status::Exploded, 0.01, 1.0),
            row(Status::Ok, 0.05, 3.0),
            row(Status::Ok, -0.02, 2.0),
        ];
        assert_eq!(choose(&rows, &within), 3);
        assert_eq!(choose(&rows[..2], &within), 0, "what exploded is nearest last");
        assert_eq!(choose(&rows[1..2], &within), 0);
        assert!(!meets(&rows[1], &within) && !meets(&rows[0], &within));
        let other = [("penetration_max_m".to_owned(), 0.1)];
        assert_eq!(excess(&rows[3], &other), None);
        assert!(!meets(&rows[3], &other), "what is not measured is not met");
    }
}
