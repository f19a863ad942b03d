//! `taut draw`: runs of a scene as a film.

use anyhow::{Context, anyhow, ensure};
use taut_core::{BuildError, Scene, settings::instead};
use taut_draw::{apng::MOST_FRAMES, film::CELLS_MAX, list::Sheet, svg, text::fonts};

use super::{Outcome, Session, json, print, run::Ticks};
use crate::{
    args::{DrawArgs, FilmForm},
    figure,
    film::{
        Cameraman, FilmColour, FilmHead, FilmOrder, FilmedRun, VIEWS_SCHEMA, ViewsFile, body_named,
        compose, compose_loop, film_png, frames_at, loop_frames, loop_png, replay, still_png,
    },
    machine::Machine,
    progress::Progress,
    record::{OutDir, ReferenceDocument, RunRow, write_atomically},
    runner::{self, Observer, References, RunOptions},
    text_table::TextTable,
};

pub(crate) fn main(session: &Session<'_>, args: &DrawArgs) -> anyhow::Result<Outcome> {
    fonts()?;
    if !args.figure.is_empty() {
        return of_figures(session, &args.figure);
    }
    let Some(selection) = args.selection() else { return from_recording(session, args) };
    let task = session.task(&selection)?;
    let most = args.steps.unwrap_or(task.scene.steps);
    let order = order(args, &task.scene, most)?;
    ensure_columns(task.specs.len())?;
    let labels: Vec<&str> = task.specs.iter().map(|spec| spec.label.as_str()).collect();
    let backends: Vec<&str> = task.specs.iter().map(|spec| spec.backend.as_str()).collect();
    let ghost = ghost(args, &labels, &backends)?;
    let mut out = session.out_dir("draw")?;
    // Runs go on to the end whatever is drawn, so that fewer frames change no camera.
    let steps = order.frames.iter().copied().fold(most, u32::max);
    let progress = Progress::new(u64::from(steps) * task.specs.len() as u64, "steps");
    let (mut rows, mut filmed): (Vec<RunRow>, Vec<FilmedRun>) = Default::default();
    for spec in &task.specs {
        if session.bench.is_cancelled() {
            break;
        }
        progress.start(&spec.label);
        let mut camera = Cameraman::new(&task.scene, &order.frames, &order.trails);
        let mut ticks = Ticks { progress: &progress, left: steps };
        let observers: &mut [&mut dyn Observer] = &mut [&mut camera, &mut ticks];
        let options = RunOptions { steps, references: References::default(), asked: &[] };
        let row = runner::run(&session.bench, &task.scene, spec, &options, observers);
        filmed.push(camera.finish(&row));
        rows.push(row);
    }
    progress.finish();
    let ghost = ghost.and_then(|run| filmed.get(run));
    write(session, &task.scene, (&order, args.form), (&filmed, ghost), &mut out)?;
    let table = table(&filmed);
    let document = session.document("draw", &task, ReferenceDocument::default(), rows, &mut out)?;
    session.present(&document, &[table], out.path())
}

/// Makes the films of figures anew.
fn of_figures(session: &Session<'_>, ids: &[String]) -> anyhow::Result<Outcome> {
    let root = &session.root;
    let folder = root.folder()?;
    let progress = Progress::new(ids.len() as u64, "figures");
    let mut files = Vec::new();
    for id in ids {
        progress.start(id);
        files.extend(figure::write_views(&session.bench, root, id)?);
        let drawn = figure::redraw(session.bench.setup, root, id, false)?;
        files.extend(drawn.into_iter().map(|file| folder.join(file)));
        progress.advance(1);
    }
    progress.finish();
    print(&if session.common.json {
        json(&serde_json::json!({ "schema": VIEWS_SCHEMA, "verb": "draw", "files": files }))?
    } else {
        files.iter().map(|file| format!("{}\n", file.display())).collect()
    })?;
    Ok(Outcome::Good)
}

/// Draws what was recorded.
fn from_recording(session: &Session<'_>, args: &DrawArgs) -> anyhow::Result<Outcome> {
    let path = args.from.as_deref().context("name a scene, or a recording with --from")?;
    let (scene, runs) = replay(path, &args.backends)?;
    ensure_columns(runs.len())?;
    let last = runs.iter().filter_map(|run| run.frames().max()).max().unwrap_or(0);
    let order = order(args, &scene, last)?;
    for frame in &order.frames {
        ensure!(
            runs.iter().any(|run| run.frames().any(|own| own == *frame)),
            "{} has no frame {frame}: its last is {last}",
            path.display()
        );
    }
    let film = |run| Cameraman::new(&scene, &order.frames, &order.trails).replay(&scene, run);
    let filmed: Vec<FilmedRun> = runs.into_iter().map(film).collect();
    let labels: Vec<&str> = filmed.iter().map(|run| run.label.as_str()).collect();
    let backends: Vec<&str> = filmed.iter().map(|run| run.backend.as_str()).collect();
    let ghost = ghost(args, &labels, &backends)?.map(|run| &filmed[run]);
    let mut out = session.out_dir("draw")?;
    write(session, &scene, (&order, args.form), (&filmed, ghost), &mut out)?;
    print(&if session.common.json {
        json(&serde_json::json!({ "schema": VIEWS_SCHEMA, "verb": "draw", "files": out.files() }))?
    } else {
        format!("{}\nwritten to {}\n", table(&filmed).render(), out.path().display())
    })?;
    Ok(Outcome::Good)
}

fn ensure_columns(count: usize) -> anyhow::Result<()> {
    ensure!(
        (1..=CELLS_MAX).contains(&count),
        "{count} runs: a film has one to {CELLS_MAX} columns: name fewer with -b"
    );
    Ok(())
}

/// What the film shows of a scene whose runs have so many frames.
fn order(args: &DrawArgs, scene: &Scene, steps: u32) -> anyhow::Result<FilmOrder> {
    let is_loop = args.form == Some(FilmForm::Apng);
    let frames = match (&args.frames[..], &args.times[..]) {
        ([], []) if is_loop => loop_frames(scene, steps),
        ([], []) => (1..=CELLS_MAX as u32).map(|i| i * steps / CELLS_MAX as u32).collect(),
        ([], times) => frames_at(scene, times)?,
        (frames, _) => frames.to_vec(),
    };
    let (most, what) = if is_loop { (MOST_FRAMES, "a loop") } else { (CELLS_MAX, "a film") };
    ensure!(frames.len() <= most, "{} times: {what} has at most {most}", frames.len());
    let trails = args.trails.iter().map(|name| body_named(scene, name));
    let times_s = frames.iter().map(|&frame| f64::from(frame) * scene.dt).collect();
    Ok(FilmOrder {
        frames,
        times_s,
        camera: args.camera,
        colour: args.colour.unwrap_or_else(|| FilmColour::fitting(scene)),
        gaps_m: args.gaps,
        contacts: args.contacts,
        trails: trails.collect::<anyhow::Result<_>>()?,
        cell: args.size,
    })
}

/// The row that is the ghost, by its label, or its backend where only one has it.
fn ghost(args: &DrawArgs, labels: &[&str], backends: &[&str]) -> anyhow::Result<Option<usize>> {
    let Some(wanted) = args.ghost.as_deref() else { return Ok(None) };
    let by_label = labels.iter().position(|label| *label == wanted);
    let by_backend = || backends.iter().position(|backend| *backend == wanted);
    let none = || format!("--ghost {wanted}: no such row: {}", instead(wanted, labels));
    by_label.or_else(by_backend).map(Some).with_context(none)
}

fn write(
    session: &Session<'_>,
    scene: &Scene,
    (order, form): (&FilmOrder, Option<FilmForm>),
    runs: (&[FilmedRun], Option<&FilmedRun>),
    out: &mut OutDir,
) -> anyhow::Result<()> {
    let title = if scene.about.is_empty() { scene.name.clone() } else { scene.about.clone() };
    let head = FilmHead { id: "film".to_owned(), title, notes: Vec::new() };
    let (name, file, view) = if form == Some(FilmForm::Apng) {
        let (pages, view) = compose_loop(scene, order, head, runs, None);
        ("film.png", loop_png(pages), view)
    } else {
        let (sheet, view) = compose(scene, order, head, runs, None);
        let (name, file) = picture(sheet, form, order.cell.is_some());
        (name, file, view)
    };
    match file {
        Ok(bytes) => write_atomically(&out.add(name), &bytes)?,
        // As a row is, for which there is no adapter.
        Err(error) if error.is::<BuildError>() => eprintln!("taut: {name}: skipped: {error:#}"),
        Err(error) => return Err(error.context(name)),
    }
    let revision = Machine::here(session.bench.threads()).revision.to_owned();
    let file = ViewsFile { schema: VIEWS_SCHEMA, revision, views: vec![view] };
    out.write("views.json", &json(&file)?)?;
    Ok(())
}

/// Name and content of a film in the form that was asked for, or in one that can hold it; with a size of its own a
/// single cell is a still.
fn picture(
    sheet: Sheet,
    form: Option<FilmForm>,
    sized: bool,
) -> (&'static str, anyhow::Result<Vec<u8>>) {
    let faces = sheet.faces_max();
    match form {
        None if faces <= svg::FACES_MAX => ("film.svg", Ok(svg::sheet(&sheet).into_bytes())),
        Some(FilmForm::Svg) if faces > svg::FACES_MAX => {
            let most = svg::FACES_MAX;
            let error = anyhow!("a cell has {faces} faces, and SVG takes {most}: try `--as png`");
            ("film.svg", Err(error))
        }
        Some(FilmForm::Svg) => ("film.svg", Ok(svg::sheet(&sheet).into_bytes())),
        _ if sized && sheet.cells.len() == 1 => ("film.png", still_png(sheet)),
        _ => ("film.png", film_png(sheet)),
    }
}

fn table(runs: &[FilmedRun]) -> TextTable {
    let mut table = TextTable::default().text("label").text("status").number("failed at", "s");
    for run in runs {
        let failed = run.failed_at_s.map(|at| format!("{at:.3}")).unwrap_or_default();
        table.push(vec![run.label.clone(), run.status.clone(), failed]);
    }
    table
}
