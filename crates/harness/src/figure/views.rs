//! Views of a figure: films of a few of its runs, which are made for them alone.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, ensure};
use serde::Deserialize;
use taut_core::{BuildError, Scene, settings::nearest};
use taut_draw::{film::CELLS_MAX, list::Sheet, svg, text::fonts};

use super::{Figure, Planned, conclusion, folder, load, read_verdict};
use crate::{
    checkout::{self, Checkout},
    film::{
        CameraChoice, Cameraman, FiledView, FilmColour, FilmHead, FilmOrder, FilmedRun,
        VIEWS_SCHEMA, ViewsFile, body_named, compose, compose_loop, film_png, frames_at,
        loop_frames, loop_png, row_png, still_png,
    },
    machine::Machine,
    places,
    record::write_atomically,
    runner::{Bench, Observer, References, RunOptions, run},
};

/// A film of areas may be so large [bytes].
const LARGEST: usize = 150_000;

/// One view, as a definition says it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ViewSpec {
    /// Name of its file.
    pub id: String,
    /// What it is.
    #[serde(default)]
    pub kind: ViewKind,
    /// Labels of its columns, at most five, all of one scene.
    pub runs: Vec<String>,
    /// Times of its rows, at most five; of a loop its end, of a still its moment [s].
    pub times_s: Vec<f64>,
    /// Where it is seen from.
    #[serde(default)]
    pub camera: CameraChoice,
    /// What colours tell.
    #[serde(default)]
    pub colour: FilmColour,
    /// Anchors of a joint farther apart than this are joined by a red line [m]; what can be seen unless given.
    #[serde(default)]
    pub gaps_m: Option<f64>,
    /// Label of the run whose outline is drawn behind the others.
    #[serde(default)]
    pub ghost: Option<String>,
    /// Bodies whose last second is drawn.
    #[serde(default)]
    pub trails: Vec<String>,
    /// Whether contacts are drawn.
    #[serde(default)]
    pub contacts: bool,
    /// What a reader has to know, such as that sizes differ.
    #[serde(default)]
    pub note: Option<String>,
}

/// What a view is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ViewKind {
    /// Runs side by side, times below each other: as areas, or in pixels where areas would be too many.
    #[default]
    Film,
    /// Runs side by side, moving from the start to one time.
    Loop,
    /// One run at one time, large.
    Still,
}

/// Width and height of a still [px].
const STILL: (f64, f64) = (1600.0, 900.0);

impl Figure {
    /// The view that its small picture is cut from, if there is one.
    pub(super) fn first_film(&self) -> Option<&ViewSpec> {
        self.views.iter().find(|view| view.kind == ViewKind::Film)
    }
}

impl ViewSpec {
    /// Name of its file in the folder of its figure, which tells whether a film is one of areas; so it will be where
    /// there is none.
    pub(super) fn file(&self, folder: &Path) -> String {
        let [areas, pixels] = ["svg", "png"].map(|extension| format!("{}.{extension}", self.id));
        let there = |name: &String| folder.join(name).is_file();
        let in_areas = self.kind == ViewKind::Film && (there(&areas) || !there(&pixels));
        if in_areas { areas } else { pixels }
    }

    /// The runs that it needs: its columns, and its ghost.
    fn labels(&self) -> impl Iterator<Item = &String> {
        self.runs.iter().chain(&self.ghost)
    }

    /// How many runs and times it may have.
    fn limits(&self) -> [usize; 2] {
        match self.kind {
            ViewKind::Film => [CELLS_MAX, CELLS_MAX],
            ViewKind::Loop => [CELLS_MAX, 1],
            ViewKind::Still => [1, 1],
        }
    }

    /// What is drawn, and when.
    fn order(&self, scene: &Scene) -> anyhow::Result<FilmOrder> {
        let trails = self.trails.iter().map(|name| body_named(scene, name));
        let mut frames = frames_at(scene, &self.times_s)?;
        let mut times_s = self.times_s.clone();
        if self.kind == ViewKind::Loop {
            frames = loop_frames(scene, frames[0]);
            times_s = frames.iter().map(|&frame| f64::from(frame) * scene.dt).collect();
        }
        Ok(FilmOrder {
            frames,
            times_s,
            camera: self.camera,
            colour: self.colour,
            gaps_m: self.gaps_m,
            contacts: self.contacts,
            trails: trails.collect::<anyhow::Result<_>>()?,
            cell: (self.kind == ViewKind::Still).then_some(STILL),
        })
    }

    /// What contradicts the figure's plan, with the name that is wrong.
    pub(super) fn mistake(&self, plan: &[Planned]) -> Option<(String, &str)> {
        let id = self.id.as_str();
        let named = |text: String| Some((format!("view `{id}`: {text}"), id));
        let plain = id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
        if !plain || id.is_empty() {
            return named("its name is that of a file: letters, digits and dashes".to_owned());
        }
        let counts = [(self.runs.len(), "runs"), (self.times_s.len(), "times")];
        for ((count, what), most) in counts.into_iter().zip(self.limits()) {
            if !(1..=most).contains(&count) {
                let expected = if most == 1 { "one".to_owned() } else { format!("one to {most}") };
                return named(format!("{count} {what}: expected {expected}"));
            }
        }
        if let Some(fault) = self.colour.fault() {
            return named(fault);
        }
        let labels: Vec<&str> = plan.iter().map(|planned| planned.label.as_str()).collect();
        let mut chosen = Vec::new();
        for label in self.labels() {
            let Some(planned) = plan.iter().find(|planned| planned.label == *label) else {
                let near = nearest(label, &labels);
                let hint = near.map(|near| format!(" (did you mean `{near}`?)"));
                let text =
                    format!("view `{id}`: unknown run `{label}`{}", hint.unwrap_or_default());
                return Some((text, label));
            };
            chosen.push((planned, label));
        }
        let first = chosen[0].0;
        let strange = chosen.iter().find(|(planned, _)| {
            planned.run.scene != first.run.scene || planned.run.parameters != first.run.parameters
        });
        strange.map(|(_, label)| {
            let text =
                format!("view `{id}`: `{label}` is of another scene than `{}`", self.runs[0]);
            (text, label.as_str())
        })
    }

    /// Whether a view on file is of this definition.
    fn is_filed(&self, filed: &FiledView) -> bool {
        self.id == filed.id && self.runs == filed.runs && self.times_s == filed.times_s
    }
}

/// Reads `views.json` of a figure.
///
/// # Errors
/// When it is there and cannot be read.
pub(super) fn read(root: &Checkout, id: &str) -> anyhow::Result<Option<ViewsFile>> {
    let path = folder(root, id).join("views.json");
    let Some(text) = checkout::text(&path)? else { return Ok(None) };
    let cannot = || format!("cannot read {}", path.display());
    let file: ViewsFile = serde_json::from_str(&text).with_context(cannot)?;
    ensure!(
        file.schema == VIEWS_SCHEMA,
        "{}: version {} is not {VIEWS_SCHEMA}",
        path.display(),
        file.schema
    );
    Ok(Some(file))
}

/// Names of the files of a figure's views that are missing or of another definition, as far as this can be seen
/// without making their runs.
///
/// # Errors
/// When `views.json` is there and cannot be read.
pub(super) fn outdated(root: &Checkout, figure: &Figure) -> anyhow::Result<Vec<String>> {
    let filed = read(root, &figure.id)?.map(|file| file.views).unwrap_or_default();
    let mut files = Vec::new();
    for view in &figure.views {
        let name = view.file(&folder(root, &figure.id));
        let there = folder(root, &figure.id).join(&name).is_file();
        if !there || !filed.iter().any(|filed| view.is_filed(filed)) {
            files.push(name);
        }
    }
    if filed.iter().any(|filed| !figure.views.iter().any(|view| view.is_filed(filed))) {
        files.push("views.json".to_owned());
    }
    Ok(files)
}

/// Makes the films of a figure and writes them beside its definition, with the cameras of those on file. Returns the
/// files.
///
/// # Errors
/// When a run cannot be set up, or a file cannot be read or written.
pub fn write_views(bench: &Bench<'_>, root: &Checkout, id: &str) -> anyhow::Result<Vec<PathBuf>> {
    let figure = load(root, id, bench.setup)?;
    if figure.views.is_empty() {
        return Ok(Vec::new());
    }
    fonts()?;
    let verdicts = read_verdict(root, id, false)?;
    let kept = read(root, id)?.map(|file| file.views).unwrap_or_default();
    let title = verdicts.and_then(|verdicts| conclusion::sentence(&figure, &verdicts));
    let title = title.unwrap_or_else(|| figure.title.clone());
    let plan = figure.plan(false);
    let mut takes = takes(root, &figure, &plan)?;
    shoot(bench, &plan, &mut takes)?;
    let (mut files, mut views) = (Vec::new(), Vec::new());
    for take in takes {
        let view = take.view;
        let kept = kept.iter().find(|kept| kept.id == view.id);
        match take.develop(&title, kept) {
            Ok((picture, filed)) => {
                files.extend(picture.write(&folder(root, id), view)?);
                views.push(filed);
            }
            Err(error) if error.is::<BuildError>() => {
                // As a row is for which there is no adapter: what is on file stays.
                eprintln!("taut: figure `{id}`, view `{}`: skipped: {error:#}", view.id);
                views.extend(kept.cloned());
            }
            Err(error) => {
                return Err(error.context(format!("figure `{id}`, view `{}`", view.id)));
            }
        }
    }
    let revision = Machine::here(1).revision.to_owned();
    let file = ViewsFile { schema: VIEWS_SCHEMA, revision, views };
    let path = folder(root, id).join("views.json");
    write_atomically(&path, format!("{}\n", serde_json::to_string_pretty(&file)?).as_bytes())?;
    files.push(path);
    Ok(files)
}

/// What a view became.
enum ViewPicture {
    /// Areas, as text.
    Areas(String),
    /// Pixels, with those of the small picture that is cut from a film.
    Pixels(Vec<u8>, Option<Vec<u8>>),
}

impl ViewPicture {
    /// A film in areas, if these are few enough to be kept, else in pixels.
    fn of_film(sheet: Sheet) -> anyhow::Result<Self> {
        if sheet.faces_max() <= svg::FACES_MAX {
            let text = svg::sheet(&sheet);
            if text.len() <= LARGEST {
                return Ok(Self::Areas(text));
            }
        }
        Ok(Self::Pixels(film_png(sheet.clone())?, Some(row_png(sheet)?)))
    }

    /// Puts it into the folder of its figure, in place of what it was before. Returns the files.
    fn write(&self, folder: &Path, view: &ViewSpec) -> anyhow::Result<Vec<PathBuf>> {
        let path = |extension: &str| folder.join(format!("{}.{extension}", view.id));
        let mut files = vec![path(if matches!(self, Self::Areas(_)) { "svg" } else { "png" })];
        match self {
            Self::Areas(text) => write_atomically(&files[0], text.as_bytes())?,
            Self::Pixels(bytes, thumb) => {
                write_atomically(&files[0], bytes)?;
                if let Some(thumb) = thumb {
                    files.push(folder.join("thumb.png"));
                    write_atomically(&files[1], thumb)?;
                }
            }
        }
        if view.kind == ViewKind::Film {
            let mut old = vec![path(if matches!(self, Self::Areas(_)) { "png" } else { "svg" })];
            if matches!(self, Self::Pixels(..)) {
                old.push(folder.join("thumb.svg"));
            }
            for old in old.iter().filter(|old| old.is_file()) {
                fs::remove_file(old).with_context(|| format!("cannot remove {}", old.display()))?;
            }
        }
        Ok(files)
    }
}

/// A view whose runs are being made.
struct Take<'a> {
    view: &'a ViewSpec,
    scene: Scene,
    order: FilmOrder,
    /// What is kept of its runs and its ghost, by label.
    runs: BTreeMap<&'a str, FilmedRun>,
    /// Why a run could not be built.
    refused: Option<anyhow::Error>,
}

/// The views of a figure before their runs.
fn takes<'a>(
    root: &Checkout,
    figure: &'a Figure,
    plan: &[Planned],
) -> anyhow::Result<Vec<Take<'a>>> {
    let take = |view: &'a ViewSpec| {
        let first = found(plan, &view.runs[0])?;
        let path = places::named(root, &first.run.scene);
        let parameters: Vec<(String, f64)> =
            first.run.parameters.iter().map(|(name, &value)| (name.clone(), value)).collect();
        let scene = places::load_checked(&path, &parameters)?.scene;
        let order = view.order(&scene)?;
        Ok(Take { view, scene, order, runs: BTreeMap::new(), refused: None })
    };
    figure.views.iter().map(take).collect()
}

fn found<'p>(plan: &'p [Planned], label: &str) -> anyhow::Result<&'p Planned> {
    let found = plan.iter().find(|planned| planned.label == label);
    found.with_context(|| format!("no run `{label}`"))
}

/// Makes every run that views show once, whatever the number of views.
fn shoot(bench: &Bench<'_>, plan: &[Planned], takes: &mut [Take<'_>]) -> anyhow::Result<()> {
    let mut labels: Vec<&str> = Vec::new();
    for label in takes.iter().flat_map(|take| take.view.labels()) {
        if !labels.contains(&label.as_str()) {
            labels.push(label);
        }
    }
    for label in labels {
        let planned = found(plan, label)?;
        let wants = |take: &&Take<'_>| take.view.labels().any(|own| own == label);
        let shown: Vec<&Take<'_>> = takes.iter().filter(wants).collect();
        let filmed = filmed(bench, planned, &shown);
        let takes = takes.iter_mut().filter(|take| wants(&&**take));
        match filmed {
            Ok(filmed) => takes.zip(filmed).for_each(|(take, run)| {
                take.runs.insert(label, run);
            }),
            Err(error) => match error.downcast::<BuildError>() {
                Ok(refusal) => takes.for_each(|take| take.refused = Some(refusal.clone().into())),
                Err(error) => return Err(error),
            },
        }
    }
    Ok(())
}

/// One run, as each of some views of its scene keeps it.
fn filmed(
    bench: &Bench<'_>,
    planned: &Planned,
    takes: &[&Take<'_>],
) -> anyhow::Result<Vec<FilmedRun>> {
    let (spec, scene) = (planned.spec(), &takes[0].scene);
    bench.check(scene, &spec)?;
    let mut cameras: Vec<Cameraman<'_>> = takes
        .iter()
        .map(|take| Cameraman::new(scene, &take.order.frames, &take.order.trails))
        .collect();
    let last = takes.iter().flat_map(|take| take.order.frames.iter().copied()).max().unwrap_or(0);
    let steps = planned.run.steps.unwrap_or(scene.steps).max(last);
    let options = RunOptions { steps, references: References::default(), asked: &[] };
    let mut observers: Vec<&mut dyn Observer> =
        cameras.iter_mut().map(|camera| camera as &mut dyn Observer).collect();
    let row = run(bench, scene, &spec, &options, &mut observers);
    ensure!(!bench.is_cancelled(), "interrupted: the films on file stay");
    ensure!(row.status.is_measured(), "{}: {}: {}", row.label, row.status.name(), row.reason);
    Ok(cameras.into_iter().map(|camera| camera.finish(&row)).collect())
}

impl Take<'_> {
    /// The picture, once its runs are made, with the camera of one on file.
    fn develop(
        mut self,
        title: &str,
        kept: Option<&FiledView>,
    ) -> anyhow::Result<(ViewPicture, FiledView)> {
        if let Some(refusal) = self.refused {
            return Err(refusal);
        }
        let view = self.view;
        let ghost = view.ghost.as_ref().map(|label| self.runs[label.as_str()].clone());
        let mut runs = Vec::new();
        for label in &view.runs {
            runs.push(self.runs.remove(label.as_str()).with_context(|| {
                format!("`{label}` stands in two columns, or its run was not made")
            })?);
        }
        let (id, notes) = (view.id.clone(), view.note.iter().cloned().collect());
        let head = FilmHead { id, title: title.to_owned(), notes };
        let shown = (&runs[..], ghost.as_ref());
        if view.kind == ViewKind::Loop {
            let (pages, filed) = compose_loop(&self.scene, &self.order, head, shown, kept);
            // Kept by what was asked for.
            let filed = FiledView {
                times_s: view.times_s.clone(),
                frames: frames_at(&self.scene, &view.times_s)?,
                ..filed
            };
            return Ok((ViewPicture::Pixels(loop_png(pages)?, None), filed));
        }
        let (sheet, filed) = compose(&self.scene, &self.order, head, shown, kept);
        let picture = match view.kind {
            ViewKind::Still => ViewPicture::Pixels(still_png(sheet)?, None),
            ViewKind::Film | ViewKind::Loop => ViewPicture::of_film(sheet)?,
        };
        Ok((picture, filed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Setup;

    fn mistake(views: &str) -> String {
        let text = format!(
            "(title: \"t\", source: \"s\", about: \"a\", views: [{views}], runs: [\
             (label: \"A\", scene: \"rope\", backend: \"null\", iterations: [1]),\
             (label: \"B\", scene: \"net\", backend: \"null\", iterations: [1])],\
             plot: (panels: [(x: (quantity: \"time_s\"), y: (quantity: \"joint_error_max_m\"))]), claims: [])"
        );
        super::super::parse(&text, "f", Path::new("f.ron"), &Setup::default())
            .map_or_else(|error| error.message, |_| String::new())
    }

    #[test]
    fn views_name_runs_of_one_scene() {
        assert_eq!(mistake("(id: \"film\", runs: [\"A\"], times_s: [1])"), "");
        let wrong = [
            ("(id: \"film\", runs: [\"a\"], times_s: [1])", "did you mean `A`?"),
            ("(id: \"film\", runs: [\"A\", \"B\"], times_s: [1])", "another scene"),
            ("(id: \"film\", runs: [\"A\"], times_s: [])", "0 times"),
            ("(id: \"a/b\", runs: [\"A\"], times_s: [1])", "that of a file"),
            (
                "(id: \"film\", runs: [\"A\"], times_s: [1], colour: speed(min: 2, max: 1))",
                "0 < min < max",
            ),
        ];
        for (view, expected) in wrong {
            let found = mistake(view);
            assert!(found.contains(expected), "{view}: {found}");
        }
    }
}
