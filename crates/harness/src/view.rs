//! A window over up to four runs of one scene: while they are made, or recorded ones.
//!
//! Every solver has a thread of its own ([`worker`]), which hands over finished states and never waits for the window.
//! [`desk`] keeps the panes at one scene time and knows no window; [`window`] draws it with the renderer of pictures.

mod board;
mod chart;
mod desk;
mod errand;
mod handhold;
mod knobs;
mod office;
mod pane;
mod picked;
mod picture;
mod ring;
mod save;
mod settings_panel;
mod shift;
mod sight;
mod stage;
mod window;
mod worker;

use std::{
    path::{Path, PathBuf},
    sync::{Arc, PoisonError},
};

use anyhow::{Context, anyhow, bail, ensure};
use eframe::egui::{self, ViewportBuilder};
use taut_core::Scene;

use crate::{Setup, adapter, checkout::Checkout, film::replay, places, runner::Bench, spec};
pub use desk::{Desk, PANES_MAX};
pub(crate) use desk::{PaneSubject, SceneSource};
pub(crate) use errand::Errand;
pub use picture::png;
pub use window::ViewWindow;

/// Size of the window in points.
const SIZE: [f32; 2] = [1280.0, 800.0];

/// The scene that was named, where it comes from, and what was recorded of it.
///
/// # Errors
/// When there is none, or it cannot be loaded.
pub(crate) fn subject(
    root: &Checkout,
    argument: &str,
    set: &[(String, f64)],
) -> anyhow::Result<(Scene, SceneSource, Vec<PaneSubject>)> {
    let source = |parameters| SceneSource {
        root: root.clone(),
        argument: argument.to_owned(),
        set: set.to_vec(),
        parameters,
    };
    if !argument.ends_with(".npz") {
        let (file, loaded) = places::load(root, argument, set)?;
        for warning in &loaded.warnings {
            eprintln!("taut: warning: {}: {warning}", file.display());
        }
        return Ok((loaded.scene, source(loaded.parameters), vec![]));
    }
    ensure!(set.is_empty(), "--set: the parameters of a recording are those that it was made with");
    let (scene, runs) = replay(Path::new(argument), &[])?;
    let recorded = runs.into_iter().map(|run| PaneSubject::Recorded(Arc::new(run))).collect();
    Ok((scene, source(vec![]), recorded))
}

/// A window over runs of a scene, without opening it: what tests show to themselves.
///
/// # Errors
/// When the scene or a backend cannot be read, when there is no adapter or panes are too many.
pub fn unopened(setup: &Setup, argument: &str, backends: &[&str]) -> anyhow::Result<ViewWindow> {
    let backends: Vec<String> = backends.iter().map(|&name| name.to_owned()).collect();
    let specs = spec::rows(&backends, &[10], &[1])?;
    let cancel = std::sync::atomic::AtomicBool::new(false);
    let bench = Bench::new(setup, 1, &cancel)?;
    for spec in &specs {
        bench.find(&spec.backend)?;
    }
    let (scene, source, recorded) = subject(&Checkout::find(None)?, argument, &[])?;
    let live = specs.into_iter().map(PaneSubject::Live);
    let subjects = recorded.into_iter().chain(live).collect();
    let desk = Desk::open(setup, 1, scene, source, subjects)?;
    let folder = std::env::temp_dir().join("taut-view");
    Ok(ViewWindow::new(desk, adapter::painter()?, folder, Errand::default()))
}

/// Opens a window over runs of a scene, and returns when it is closed.
///
/// # Errors
/// When panes are too many, when there is no adapter or no display, or when a picture cannot be written.
pub(crate) fn open(
    setup: &Setup,
    threads: usize,
    (scene, source): (Scene, SceneSource),
    subjects: Vec<PaneSubject>,
    folder: PathBuf,
    errand: Errand,
) -> anyhow::Result<()> {
    if subjects.is_empty() {
        bail!("nothing to watch: name backends with -b, such as `-b avbd-cpu -b xpbd-cpu`");
    }
    let title = format!("taut: {}", scene.name);
    let painter = adapter::painter()?;
    let desk = Desk::open(setup, threads, scene, source, subjects)?;
    let fault = Arc::clone(&errand.fault);
    let viewport = ViewportBuilder::default().with_inner_size(SIZE).with_title(&title);
    let options = eframe::NativeOptions { viewport, ..eframe::NativeOptions::default() };
    let window = ViewWindow::new(desk, painter, folder, errand);
    let opened = eframe::run_native(
        &title,
        options,
        Box::new(|creation| {
            creation.egui_ctx.set_theme(egui::Theme::Light);
            Ok(Box::new(window))
        }),
    );
    // What went wrong stands last, behind places in sources that say nothing to whoever runs this.
    let words = |error: eframe::Error| {
        let text = error.to_string();
        let last = text.lines().next().unwrap_or_default().rsplit(": ").next();
        anyhow!("{}", last.unwrap_or_default().trim_end_matches('.'))
    };
    opened.map_err(words).context("no window can be opened here: taut view needs a display")?;
    let fault = fault.lock().unwrap_or_else(PoisonError::into_inner).take();
    fault.map_or(Ok(()), |fault| Err(anyhow!("{fault}")))
}
