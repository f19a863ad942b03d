//! Work and precision: what error a method has at what cost, problem by problem, each point with its run.

use std::fmt::Write as _;

use super::{
    html::{Cell, Html, escape},
    live,
};
use crate::{
    figure::with_unit,
    plot::{
        self, Axis, Better, Curve, CurveWeight, Dash, ItemRole, MOST_EMPHASISED, Panel, Picture,
        PlotSpec, Reference, Scale, Strip,
    },
    problems::{Problem, ProblemFile, ProblemMethod, ProblemRow, ProblemRows},
};

/// Errors that are asked for [m].
const ASKED: [f64; 2] = [0.01, 0.001];

/// Errors below this are drawn as this: they are rounding [m].
const FLOOR: f64 = 1e-9;

/// Where the row of a budget stands.
fn row_id(row: &ProblemRow) -> String {
    let method = super::cards::slug(&row.method);
    format!("work-{}-{method}-{}-{}", row.problem, row.iterations, row.substeps)
}

/// A length, as far as it means anything.
fn length(error: f64) -> String {
    let floor = with_unit(FLOOR, "m");
    if error < FLOOR { format!("below {floor}") } else { with_unit(error, "m") }
}

/// How a budget is told.
pub(super) fn budget(row: &ProblemRow) -> String {
    match (row.iterations, row.substeps) {
        (1, substeps) if substeps > 1 => format!("{substeps} steps"),
        (iterations, 1) => format!("{iterations} it."),
        (iterations, substeps) => format!("{substeps} × {iterations} it."),
    }
}

/// How a method's curves are dashed, as elsewhere: by how its budget is spent.
pub(super) fn dash(method: &ProblemMethod) -> Dash {
    let settings = method.settings.as_ref().map_or("", |settings| settings.get_ron());
    let by_steps = match plot::method_of(&method.backend) {
        "xpbd" => !settings.contains("mode: iterations"),
        "impulse" => !settings.contains("variant: pgs"),
        _ => method.substeps.len() > 1,
    };
    if by_steps { Dash::Substeps } else { Dash::Iterations }
}

/// The first methods matter, the others are there for comparison.
pub(super) fn weight(place: usize) -> CurveWeight {
    if place < MOST_EMPHASISED { CurveWeight::Emphasis } else { CurveWeight::Context }
}

/// One part for each problem, of which one is open at a time.
pub(super) fn problems(
    page: &mut Html,
    file: &ProblemFile,
    rows: &ProblemRows,
) -> anyhow::Result<()> {
    for (place, problem) in file.problems.iter().enumerate() {
        let open = if place == 0 { " open" } else { "" };
        page.raw(&format!(
            "<details class=\"problem\" name=\"problem\" id=\"work-{0}\"{open}><summary>{1} <span class=\"best\">{2}</span></summary>\n",
            problem.id,
            escape(&problem.title),
            escape(&fastest(problem, rows))
        ));
        let plot = picture(problem, file, rows);
        let over = |drawn: &Picture| links(drawn, &plot, problem, rows);
        page.raw(&format!("<p>{}</p>\n", escape(&plot.subtitle)));
        live::picture(page, &format!("work-{}-plot", problem.id), &plot, &over)?;
        matched(page, problem, file, rows);
        all_rows(page, problem, rows);
        page.raw("</details>\n");
    }
    Ok(())
}

/// Which method solves a problem in the least time.
fn fastest(problem: &Problem, rows: &ProblemRows) -> String {
    match cheapest(rows.timed(&problem.id), problem.tolerance) {
        Some(row) => format!("fastest: {}, {}", row.method, with_unit(row.cost_s, "s")),
        None => "solved by none".to_owned(),
    }
}

/// The cheapest row within an error.
pub(super) fn cheapest<'a>(
    rows: impl Iterator<Item = &'a ProblemRow>,
    error: f64,
) -> Option<&'a ProblemRow> {
    let good = rows.filter(|row| row.judged() <= error);
    good.min_by(|a, b| a.cost_s.total_cmp(&b.cost_s))
}

/// The points of a method, by cost, and the costs of its runs that failed.
fn curve((place, method): (usize, &ProblemMethod), problem: &Problem, rows: &ProblemRows) -> Curve {
    let mut own: Vec<&ProblemRow> =
        rows.timed(&problem.id).filter(|row| row.method == method.label).collect();
    own.sort_by(|a, b| a.cost_s.total_cmp(&b.cost_s));
    let (fine, failed): (Vec<&ProblemRow>, Vec<&ProblemRow>) =
        own.into_iter().partition(|row| row.judged().is_finite());
    Curve {
        label: method.label.clone(),
        backend: method.backend.clone(),
        points: fine.iter().map(|row| (row.cost_s, row.error.max(FLOOR))).collect(),
        weight: weight(place),
        dash: dash(method),
        failed_at: failed.iter().map(|row| row.cost_s).collect(),
        ..Curve::default()
    }
}

fn picture(problem: &Problem, file: &ProblemFile, rows: &ProblemRows) -> PlotSpec {
    let curves = file.methods.iter().enumerate();
    let y = Axis::metric(&problem.metric, Scale::Log);
    let panel = Panel {
        title: format!("Worst {} against time per frame", y.label.trim_end_matches(" max")),
        x: Axis::log("time per frame", "s"),
        y,
        curves: curves.map(|method| curve(method, problem, rows)).collect(),
        references: vec![Reference::Horizontal {
            value: problem.tolerance,
            label: "asked for".to_owned(),
        }],
        better: Better::LowerOfBoth,
        one_per_run: true,
    };
    let set = problem.parameters.iter().map(|(name, value)| format!(", {name}={value}"));
    PlotSpec {
        title: problem.title.clone(),
        subtitle: format!(
            "Scene {}{}; {} frames; each point is a run; errors below {} are drawn there",
            problem.scene,
            set.collect::<String>(),
            problem.steps,
            with_unit(FLOOR, "m")
        ),
        panels: vec![panel],
        strip: Some(Strip { text: fastest(problem, rows), ..Strip::default() }),
    }
}

/// Upon each point and cross, a link to its run. They are not among the stops of the tab key: the same runs stand in the
/// table below.
fn links(drawn: &Picture, plot: &PlotSpec, problem: &Problem, rows: &ProblemRows) -> String {
    let mut text = String::new();
    for curve in plot.panels.iter().flat_map(|panel| &panel.curves) {
        let items = |role: ItemRole| {
            drawn.items.iter().filter(move |item| item.role == role && item.label == curve.label)
        };
        let find = |cost: f64| {
            let mut own = rows.timed(&problem.id).filter(|row| row.method == curve.label);
            own.find(|row| row.cost_s == cost)
        };
        let points = items(ItemRole::Point).zip(curve.points.iter().map(|point| point.0));
        // A cross is two strokes.
        let crosses = items(ItemRole::Cross).step_by(2).zip(curve.failed_at.iter().copied());
        for (item, cost) in points.chain(crosses) {
            let Some(row) = find(cost) else { continue };
            let bounds = item.bounds();
            let (x, y) = ((bounds.left + bounds.right) / 2.0, (bounds.top + bounds.bottom) / 2.0);
            // Writing to a string cannot fail.
            let _ = write!(
                text,
                "<a href=\"#{}\" tabindex=\"-1\"><title>{}</title><circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"7\" fill-opacity=\"0\"/></a>",
                row_id(row),
                escape(&told(row))
            );
        }
    }
    text
}

/// A run in words.
fn told(row: &ProblemRow) -> String {
    let (method, time) = (&row.method, with_unit(row.cost_s, "s"));
    let came_to = if row.judged().is_finite() { length(row.error) } else { row.status.clone() };
    format!("{method}, {}: {came_to} in {time} a frame", budget(row))
}

/// How long each method takes to be as near as is asked for.
fn matched(page: &mut Html, problem: &Problem, file: &ProblemFile, rows: &ProblemRows) {
    let words: Vec<String> =
        ASKED.iter().map(|error| format!("time to reach {}", with_unit(*error, "m"))).collect();
    let mut header = vec!["method"];
    header.extend(words.iter().map(String::as_str));
    header.push("least error");
    let row = |method: &ProblemMethod| {
        let own = || rows.timed(&problem.id).filter(|row| row.method == method.label);
        let mut cells = vec![Cell::text(&method.label)];
        for error in ASKED {
            let all = cheapest(rows.timed(&problem.id), error);
            let found = cheapest(own(), error);
            let is_best = found.is_some() && found == all;
            cells.push(linked(found, "not reached", |row| {
                let time = with_unit(row.cost_s, "s");
                let time = if is_best { format!("<b>{time}</b>") } else { time };
                format!("{time} ({})", budget(row))
            }));
        }
        let least = own().filter(|row| row.judged().is_finite());
        let least = least.min_by(|a, b| a.error.total_cmp(&b.error));
        cells.push(linked(least, "every run failed", |row| {
            format!("{} ({})", length(row.error), budget(row))
        }));
        cells
    };
    let table: Vec<Vec<Cell>> = file.methods.iter().map(row).collect();
    page.rich_table(&format!("At equal errors: {}", problem.title), &header, &table);
}

/// A cell that leads to a run, or says that there is none.
fn linked(row: Option<&ProblemRow>, none: &str, say: impl Fn(&ProblemRow) -> String) -> Cell {
    match row {
        Some(row) => Cell::raw(format!("<a href=\"#{}\">{}</a>", row_id(row), say(row)), ""),
        None => Cell::raw(none.to_owned(), "idle"),
    }
}

fn all_rows(page: &mut Html, problem: &Problem, rows: &ProblemRows) {
    let own = rows.rows.iter().filter(|row| row.problem == problem.id);
    let table: Vec<Vec<Cell>> = own
        .map(|row| {
            // A time of a software adapter says nothing.
            let time = if row.is_timed() { with_unit(row.cost_s, "s") } else { String::new() };
            let error = if row.error.is_finite() { length(row.error) } else { String::new() };
            let mut cells: Vec<Cell> = [
                row.method.as_str(),
                &row.backend,
                &row.iterations.to_string(),
                &row.substeps.to_string(),
                &row.status,
                &error,
                &time,
            ]
            .map(Cell::text)
            .into();
            cells[0].id = row_id(row);
            cells
        })
        .collect();
    let header = [
        "method",
        "backend",
        "iterations",
        "steps a frame",
        "ended",
        "worst error",
        "time per frame",
    ];
    page.raw(&format!("<details class=\"runs\"><summary>{} runs</summary>\n", table.len()));
    page.rich_table(&format!("Runs of {}", problem.id), &header, &table);
    page.raw("</details>\n");
}
