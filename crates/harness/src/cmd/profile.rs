//! `taut profile`: what each method takes to solve each problem of `results/profiles.ron`.

use std::path::PathBuf;

use anyhow::{Context, bail};
use serde::Serialize;
use taut_core::{Settings, load::Loaded, settings::nearest};

use super::{Outcome, SceneTask, Session, json, print, run};
use crate::{
    args::{Course, ProfileArgs},
    places,
    problems::{Problem, ProblemFile, ProblemMethod, ProblemRow, ProblemRows, problems},
    record::{OutDir, RunRow, SCHEMA, SceneFacts},
    runner::{TimedRow, time_blocks},
    spec::Spec,
    text_table::{TextTable, short},
};

/// How many times each run is timed, in turn with the others; the middle one counts.
const BLOCKS: u32 = 3;

/// The `--json` document.
#[derive(Serialize)]
struct ProfileDocument {
    schema: u32,
    verb: &'static str,
    rows: Vec<RowDocument>,
    files: Vec<String>,
}

#[derive(Serialize)]
struct RowDocument {
    problem: String,
    method: String,
    backend: String,
    iterations: u32,
    substeps: u32,
    device: String,
    status: String,
    error_m: Option<f64>,
    time_s: Option<f64>,
}

pub(crate) fn main(session: &Session<'_>, args: &ProfileArgs) -> anyhow::Result<Outcome> {
    let root = session.root.folder()?;
    let Some(file) = problems(root)? else {
        bail!("no results/profiles.ron, which says what is asked");
    };
    let chosen = chosen(&file, &args.problems)?;
    // A wrong parameter is told before anything runs.
    for problem in &chosen {
        scene(session, problem)?;
    }
    let mut out = session.out_dir("profile")?;
    let machine = crate::machine::Machine::here(session.bench.threads());
    let mut found = ProblemRows {
        provenance: vec![
            (
                "machine".to_owned(),
                format!("{}, {} cores, {}", machine.cpu, machine.cores, machine.os),
            ),
            ("revision".to_owned(), machine.revision.to_owned()),
            ("date".to_owned(), machine.time.clone()),
            // Where else it writes says nothing of the times.
            ("command".to_owned(), "taut profile --bless".to_owned()),
        ],
        rows: Vec::new(),
    };
    for problem in chosen {
        found.rows.extend(solve(session, &file.methods, problem)?);
        if session.bench.is_cancelled() {
            break;
        }
        // Each finished problem is on file before the next begins.
        out.write("profiles.csv", &found.text())?;
    }
    if session.bench.is_cancelled() {
        return Ok(Outcome::Interrupted);
    }
    if args.bless {
        found.write(root)?;
    }
    present(session, &found, &out)?;
    Ok(Outcome::Good)
}

/// The problems that are named; all where none is.
fn chosen<'a>(file: &'a ProblemFile, names: &[String]) -> anyhow::Result<Vec<&'a Problem>> {
    if names.is_empty() {
        return Ok(file.problems.iter().collect());
    }
    let known: Vec<&str> = file.problems.iter().map(|problem| problem.id.as_str()).collect();
    let find = |name: &String| match file.problems.iter().find(|problem| problem.id == *name) {
        Some(problem) => Ok(problem),
        None => match nearest(name, &known) {
            Some(near) => bail!("no problem `{name}`: did you mean `{near}`?"),
            None => bail!("no problem `{name}`: there are {}", known.join(", ")),
        },
    };
    names.iter().map(find).collect()
}

/// The file and scene of a problem.
fn scene(session: &Session<'_>, problem: &Problem) -> anyhow::Result<(PathBuf, Loaded)> {
    let set: Vec<(String, f64)> = problem.parameters.clone().into_iter().collect();
    let found = places::load(&session.root, &problem.scene, &set);
    found.with_context(|| format!("problem `{}`", problem.id))
}

/// One row for each budget of each method.
fn solve(
    session: &Session<'_>,
    methods: &[ProblemMethod],
    problem: &Problem,
) -> anyhow::Result<Vec<ProblemRow>> {
    let (file, loaded) = scene(session, problem)?;
    let mut specs = Vec::new();
    for method in methods {
        for &iterations in &method.iterations {
            for &substeps in &method.substeps {
                let settings = method.settings.as_ref().map(|s| s.get_ron().to_owned());
                let settings = settings.map(Settings::from_ron).unwrap_or_default();
                let label = format!("{} {iterations} {substeps}", method.label);
                let backend = method.backend.clone();
                specs.push(Spec { label, backend, settings, iterations, substeps });
            }
        }
    }
    for spec in &specs {
        session.bench.check(&loaded.scene, spec)?;
    }
    let facts = SceneFacts::of(&loaded, &file);
    let task = SceneTask { scene: loaded.scene, facts, specs };
    let course = Course { steps: Some(problem.steps), reference: None, finest: None };
    // Nothing is compared with a motion that the metric does not ask for.
    let compares =
        problem.metric.starts_with("distance_to") || problem.metric.starts_with("watched");
    let wanted = if compares { run::Wanted::Motion } else { run::Wanted::Nothing };
    let runs = run::measure(session, &task, &course, &[], wanted, None, &mut |_| Ok(()))?.runs;
    let rows: Vec<RunRow> = runs.into_iter().map(|run| run.row).collect();
    let times = times(session, &task, &rows, problem.steps);
    let budgets = |method: &ProblemMethod| method.iterations.len() * method.substeps.len();
    let owners = methods.iter().flat_map(|method| std::iter::repeat_n(method, budgets(method)));
    let row = |((row, owner), cost_s): ((&RunRow, &ProblemMethod), f64)| ProblemRow {
        problem: problem.id.clone(),
        method: owner.label.clone(),
        backend: row.backend.clone(),
        iterations: row.iterations,
        substeps: row.substeps,
        device: row.device.name().to_owned(),
        status: row.status.name().to_owned(),
        error: row.summary.get(&problem.metric).map_or(f64::INFINITY, f64::abs),
        cost_s,
    };
    Ok(rows.iter().zip(owners).zip(times).map(row).collect())
}

/// Time per frame of each row that ended well, all in turn [s]; infinite for the others.
fn times(session: &Session<'_>, task: &SceneTask, rows: &[RunRow], frames: u32) -> Vec<f64> {
    let good: Vec<usize> = (0..rows.len()).filter(|&i| rows[i].status.is_measured()).collect();
    let timed: Vec<TimedRow<'_>> = good
        .iter()
        .map(|&i| TimedRow { scene: &task.scene, spec: &task.specs[i], frames })
        .collect();
    let samples = time_blocks(&session.bench, &timed, BLOCKS, &mut || {});
    let mut times = vec![f64::INFINITY; rows.len()];
    for (place, mut samples) in good.into_iter().zip(samples) {
        samples.sort_by(f64::total_cmp);
        if let Some(&middle) = samples.get(samples.len() / 2) {
            times[place] = middle;
        }
    }
    times
}

fn present(session: &Session<'_>, found: &ProblemRows, out: &OutDir) -> anyhow::Result<()> {
    let finite = |v: f64| v.is_finite().then_some(v);
    if session.common.json {
        let row = |row: &ProblemRow| RowDocument {
            problem: row.problem.clone(),
            method: row.method.clone(),
            backend: row.backend.clone(),
            iterations: row.iterations,
            substeps: row.substeps,
            device: row.device.clone(),
            status: row.status.clone(),
            error_m: finite(row.error),
            time_s: finite(row.cost_s),
        };
        let rows = found.rows.iter().map(row).collect();
        let files = out.files();
        return print(&json(&ProfileDocument { schema: SCHEMA, verb: "profile", rows, files })?);
    }
    let table = TextTable::default().text("problem").text("method").number("iterations", "");
    let mut table =
        table.number("substeps", "").text("status").number("error", "m").number("time", "ms");
    for row in &found.rows {
        table.push(vec![
            row.problem.clone(),
            row.method.clone(),
            row.iterations.to_string(),
            row.substeps.to_string(),
            row.status.clone(),
            short(finite(row.error)),
            short(finite(1e3 * row.cost_s)),
        ]);
    }
    print(&format!("{}\nwritten to {}\n", table.render(), out.path().display()))
}
