//! Where methods here lose: results of engines of others that none of them comes to in as short a time. Both have
//! presets and nothing else that is set: what is in the open division is neither a loss nor makes up for one.

use std::{collections::BTreeMap, fmt::Write as _};

use ron::value::RawValue;

use super::{
    Figure, ids, load,
    times::{self, TimedPoint},
    with_unit,
};
use crate::{Setup, checkout::Checkout, plot::split_unit, processes, record::Division};

/// Times whose ratio is nearer to 1 are equal: two runs of the same work differ by as much.
const SAME_TIME: f64 = 1.05;

/// A result of an engine that no method here comes to in its time.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Loss {
    /// Figure that it is in.
    pub(crate) figure: String,
    /// What is compared, with its unit.
    quantity: String,
    /// The engine's run, its time for a frame [s] and its result.
    engine: RivalPoint,
    /// The best result here within that time.
    within: Option<RivalPoint>,
    /// The shortest time here for that result or a better one.
    reaching: Option<RivalPoint>,
}

/// A run with its time for a frame [s] and its result.
#[derive(Clone, Debug, PartialEq)]
struct RivalPoint {
    run: String,
    time_s: f64,
    result: f64,
    /// What its time is of, where not of the engine as it is meant to be built.
    timed_as: Option<String>,
}

/// The heads of the columns of [`Loss::cells`].
pub(crate) const LOSS_COLUMNS: [&str; 6] = [
    "figure",
    "what",
    "engine",
    "result in a time",
    "best here in that time",
    "here for that result",
];

impl Loss {
    /// A row of a table.
    pub(crate) fn cells(&self) -> [String; 6] {
        let (what, unit) = split_unit(&self.quantity);
        let said = |point: &RivalPoint| {
            let (result, time) = (with_unit(point.result, unit), with_unit(point.time_s, "s"));
            let what = point.timed_as.as_ref().map(|what| format!(" of {what}"));
            format!("{result} in {time}{}", what.unwrap_or_default())
        };
        let own = |point: &Option<RivalPoint>| {
            point
                .as_ref()
                .map_or("none".to_owned(), |point| format!("{}: {}", point.run, said(point)))
        };
        let engine = (self.engine.run.clone(), said(&self.engine));
        [self.figure.clone(), what, engine.0, engine.1, own(&self.within), own(&self.reaching)]
    }
}

/// The losses in all figures on file, smaller results being the better ones.
///
/// # Errors
/// When a definition or times on file cannot be read.
pub(crate) fn losses(setup: &Setup, root: &Checkout) -> anyhow::Result<Vec<Loss>> {
    let engines = processes::engines(root)?.into_iter();
    let engines: BTreeMap<String, Option<String>> =
        engines.map(|program| (program.name, program.timed_as)).collect();
    let mut found = Vec::new();
    for id in ids(root)? {
        let figure = load(root, &id, setup)?;
        found.extend(of_figure(&figure, &times::read(root, &id)?, &engines));
    }
    Ok(found)
}

/// The same as a table of Markdown.
///
/// # Errors
/// When a definition or times on file cannot be read.
pub fn loss_table(setup: &Setup, root: &Checkout) -> anyhow::Result<String> {
    let mut text = format!("\n| {} |\n|{}\n", LOSS_COLUMNS.join(" | "), "---|".repeat(6));
    for loss in losses(setup, root)? {
        // Writing to a string cannot fail.
        let _ =
            writeln!(text, "| {} |", loss.cells().map(|cell| cell.replace('|', "\\|")).join(" | "));
    }
    Ok(text + "\n")
}

fn of_figure(
    figure: &Figure,
    points: &[TimedPoint],
    engines: &BTreeMap<String, Option<String>>,
) -> Vec<Loss> {
    let mut found = Vec::new();
    for (place, panel) in figure.plot.panels.iter().enumerate() {
        if !panel.x.quantity.starts_with("step_time") || panel.statistic.is_none() {
            continue;
        }
        let shown = points.iter().filter(|point| {
            point.panel == place && point.y.is_finite() && is_closed(figure, point)
        });
        let (rivals, own): (Vec<_>, Vec<_>) =
            shown.partition(|point| engines.contains_key(&point.backend));
        for engine in rivals {
            let in_time = |point: &&&TimedPoint| point.x <= SAME_TIME * engine.x;
            let as_good = |point: &&&TimedPoint| point.y <= engine.y;
            if own.iter().any(|point| in_time(&point) && as_good(&point)) {
                continue;
            }
            let within = own.iter().filter(in_time).min_by(|a, b| a.y.total_cmp(&b.y));
            let reaching = own.iter().filter(as_good).min_by(|a, b| a.x.total_cmp(&b.x));
            found.push(Loss {
                figure: figure.id.clone(),
                quantity: panel.y.quantity.clone(),
                engine: RivalPoint { timed_as: engines[&engine.backend].clone(), ..rival(engine) },
                within: within.map(|point| rival(point)),
                reaching: reaching.map(|point| rival(point)),
            });
        }
    }
    found
}

/// Whether the run that a point is of is in the closed division, as far as its settings go: figures run on one thread.
fn is_closed(figure: &Figure, point: &TimedPoint) -> bool {
    let run = figure.runs.iter().find(|run| run.label == point.curve);
    let settings = run.and_then(|run| run.settings.as_deref()).map_or("()", RawValue::get_ron);
    Division::of(settings, 1) == Division::Closed
}

fn rival(point: &TimedPoint) -> RivalPoint {
    RivalPoint { run: point.run.clone(), time_s: point.x, result: point.y, timed_as: None }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn a_loss_is_what_nobody_here_comes_to_in_its_time() {
        let root = Checkout::at(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
        let setup = Setup::default().with_engines(&root).unwrap();
        let figure = load(&root, "peers-pyramid", &setup).unwrap();
        let point = |backend: &str, x: f64, y: f64| TimedPoint {
            panel: 0,
            curve: backend.to_owned(),
            backend: backend.to_owned(),
            run: format!("{backend} {x}"),
            x,
            y,
        };
        let own = [point("avbd-cpu", 1e-3, 2e-3), point("avbd-cpu", 4e-3, 1e-3)];
        let engines = [("mujoco".to_owned(), Some("wasm".to_owned()))].into();
        let of = |x: f64, y: f64| {
            let points = [&own[..], &[point("mujoco", x, y)]].concat();
            of_figure(&figure, &points, &engines)
        };
        assert_eq!(of(1e-3, 2e-3), [], "a draw is no loss");
        assert_eq!(of(0.98e-3, 2e-3), [], "nor is what is a draw to the clock");
        let [sooner] = &of(0.5e-3, 2e-3)[..] else { panic!("a loss") };
        assert!(sooner.within.is_none());
        assert_eq!(sooner.reaching.as_ref().unwrap().run, "avbd-cpu 0.001");
        let [better] = &of(5e-3, 0.5e-3)[..] else { panic!("a loss") };
        assert_eq!(better.within.as_ref().unwrap().run, "avbd-cpu 0.004");
        assert!(better.reaching.is_none());
        assert_eq!(
            better.cells()[3..],
            ["0.5 mm in 5 ms of wasm", "avbd-cpu 0.004: 1 mm in 4 ms", "none"]
        );
    }

    #[test]
    fn the_open_division_neither_wins_nor_loses() {
        let root = Checkout::at(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
        let setup = Setup::default().with_engines(&root).unwrap();
        let figure = load(&root, "peers-chain50", &setup).unwrap();
        let engines = ["mujoco", "pybullet"].map(|name| (name.to_owned(), None)).into();
        let lost = |curve: &str, backend: &str| {
            let (curve, backend) = (curve.to_owned(), backend.to_owned());
            let point =
                TimedPoint { panel: 0, curve, backend, run: String::new(), x: 1e-3, y: 1e-3 };
            of_figure(&figure, &[point], &engines).len()
        };
        assert_eq!(lost("MuJoCo, best", "mujoco"), 1, "a preset is closed");
        assert_eq!(lost("Bullet", "pybullet"), 0, "it has coordinates of its own choice");
    }
}
