//! `taut list`: what there is, and what takes what.

use std::{borrow::Cow, fs, path::Path};

use anyhow::Context;
use serde::Serialize;
use taut_core::{Backend, Determinism, Introduction};

use super::{Outcome, Session, json, print};
use crate::{
    Setup, adapter,
    args::{ListArgs, What},
    checkout::Checkout,
    features, figure,
    matrix::Matrix,
    record::{SCHEMA, write_atomically},
    splice::splice,
    text_table::TextTable,
};

/// The `--json` document.
#[derive(Serialize)]
struct ListDocument<'a> {
    schema: u32,
    verb: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    backends: Option<Vec<BackendEntry<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scenes: Option<Vec<SceneEntry>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    figures: Option<Vec<FigureEntry>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    adapters: Option<Vec<AdapterEntry>>,
}

#[derive(Serialize)]
struct BackendEntry<'a> {
    name: &'a str,
    summary: Cow<'a, str>,
    reference: Cow<'a, str>,
    deterministic: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
}

impl<'a> BackendEntry<'a> {
    /// What is known of a backend, or what it says of itself where it is asked.
    fn of(backend: &'a dyn Backend, asked: bool) -> Self {
        let info = backend.info();
        let mut this = Self {
            name: &info.name,
            summary: Cow::Borrowed(&info.summary),
            reference: Cow::Borrowed(&info.reference),
            deterministic: info.determinism == Determinism::Bitwise,
            version: None,
        };
        if asked {
            this.version = Some(match backend.introduction() {
                Ok(Introduction { version, summary, reference }) => {
                    this.deterministic = backend.determinism() == Determinism::Bitwise;
                    this.summary = summary.map_or(this.summary, Cow::Owned);
                    this.reference = reference.map_or(this.reference, Cow::Owned);
                    // Of what is part of this program, its own.
                    version.unwrap_or_else(|| env!("CARGO_PKG_VERSION").to_owned())
                }
                Err(why) => why,
            });
        }
        this
    }
}

#[derive(Serialize)]
struct SceneEntry {
    name: String,
    about: String,
    support: Vec<SupportRow>,
}

#[derive(Serialize)]
struct SupportRow {
    backend: String,
    supported: bool,
    reason: String,
}

#[derive(Serialize)]
struct FigureEntry {
    id: String,
    title: String,
    source: String,
}

#[derive(Serialize)]
struct AdapterEntry {
    name: String,
    interface: String,
    driver: String,
    software: bool,
}

pub(crate) fn main(session: &Session<'_>, args: &ListArgs) -> anyhow::Result<Outcome> {
    let table = &session.bench.setup.table;
    if let Some(file) = &args.splice {
        return splice_file(session, file).map(|()| Outcome::Good);
    }
    let wants = |what| args.what.is_none_or(|only| only == what);
    let entries = table.iter().map(|backend| BackendEntry::of(&**backend, args.probe));
    let root = &session.root;
    let matrix = wants(What::Scenes).then(|| Matrix::of(table, root)).transpose()?;
    let document = ListDocument {
        schema: SCHEMA,
        verb: "list",
        backends: wants(What::Backends).then(|| entries.collect()),
        scenes: matrix.map(scene_entries),
        figures: wants(What::Figures).then(|| figures(root, session.bench.setup)).transpose()?,
        // Drivers may be slow to ask, so only on request.
        adapters: (args.what == Some(What::Adapters)).then(adapters),
    };
    print(&if session.common.json { json(&document)? } else { in_words(&document) })?;
    Ok(Outcome::Good)
}

/// Replaces each generated section that a file has.
fn splice_file(session: &Session<'_>, file: &Path) -> anyhow::Result<()> {
    let (_, spliced) = spliced(session.bench.setup, &session.root, file)?;
    write_atomically(file, spliced.as_bytes())
}

/// The text of a file, and the same with each generated section as it would be made now.
pub(super) fn spliced(
    setup: &Setup,
    root: &Checkout,
    file: &Path,
) -> anyhow::Result<(String, String)> {
    let name = file.display();
    let text = fs::read_to_string(file).with_context(|| format!("cannot read {name}"))?;
    let matrix = || anyhow::Ok(Matrix::of(&setup.table, root)?.markdown());
    let figures = || figure::gallery(setup, root);
    let pictures = || figure::picture_table(setup, root);
    let counts = || figure::counts(setup, root);
    let thumbs = || figure::front_thumbs(setup, root);
    let losses = || figure::loss_table(setup, root);
    let engines = || features::markdown(&setup.table);
    let sections: [(&str, &dyn Fn() -> anyhow::Result<String>); 7] = [
        ("matrix", &matrix),
        ("figures", &figures),
        ("pictures", &pictures),
        ("counts", &counts),
        ("thumbs", &thumbs),
        ("losses", &losses),
        ("engines", &engines),
    ];
    let mut spliced = text.clone();
    let mut found = false;
    for (section, content) in sections {
        if splice(&text, section, "").is_some() {
            spliced = splice(&spliced, section, &content()?).unwrap_or(spliced);
            found = true;
        }
    }
    anyhow::ensure!(found, "{name}: no markers such as `<!-- matrix:begin -->`");
    Ok((text, spliced))
}

fn scene_entries(matrix: Matrix) -> Vec<SceneEntry> {
    let backends = matrix.backends;
    let rows = matrix.rows.into_iter().map(|row| SceneEntry {
        name: row.scene,
        about: row.about,
        support: backends
            .iter()
            .zip(row.refusals)
            .map(|(backend, refusal)| SupportRow {
                backend: backend.clone(),
                supported: refusal.is_none(),
                reason: refusal.unwrap_or_default(),
            })
            .collect(),
    });
    rows.collect()
}

fn figures(root: &Checkout, setup: &Setup) -> anyhow::Result<Vec<FigureEntry>> {
    // A checkout without figures has none, which is no error.
    let ids = figure::ids(root).unwrap_or_default();
    let load = |id: String| {
        let figure = figure::load(root, &id, setup)?;
        Ok(FigureEntry { id, title: figure.title, source: figure.source })
    };
    ids.into_iter().map(load).collect()
}

fn adapters() -> Vec<AdapterEntry> {
    let entry = |(words, software)| {
        let [name, interface, driver]: [String; 3] = words;
        AdapterEntry { name, interface, driver, software }
    };
    adapter::all().into_iter().map(entry).collect()
}

fn in_words(document: &ListDocument<'_>) -> String {
    let mut parts = Vec::new();
    if let Some(backends) = &document.backends {
        let mut table = TextTable::default().text("backend").text("does").text("after");
        if backends.iter().any(|b| b.version.is_some()) {
            table = table.text("version");
        }
        for b in backends {
            let cells = [b.name, &*b.summary, &*b.reference].map(str::to_owned);
            table.push(cells.into_iter().chain(b.version.clone()).collect());
        }
        parts.push(table.render());
    }
    if let Some(scenes) = &document.scenes {
        parts.push(support_in_words(scenes));
    }
    if let Some(figures) = &document.figures {
        let mut table = TextTable::default().text("figure").text("shows").text("from");
        for f in figures {
            table.push(vec![f.id.clone(), f.title.clone(), f.source.clone()]);
        }
        parts.push(table.render());
    }
    if let Some(adapters) = &document.adapters {
        let mut table =
            TextTable::default().text("number").text("adapter").text("through").text("kind");
        for (number, a) in adapters.iter().enumerate() {
            let kind = if a.software { "software" } else { "hardware" };
            let through = format!("{} {}", a.interface, a.driver);
            table.push(vec![number.to_string(), a.name.clone(), through, kind.to_owned()]);
        }
        parts.push(table.render());
        if adapters.is_empty() {
            parts.push(format!("no graphics adapter was found; {}\n", adapter::REMEDY));
        }
    }
    parts.join("\n")
}

fn support_in_words(scenes: &[SceneEntry]) -> String {
    let mut table = TextTable::default().text("scene");
    for support in scenes.first().map_or(&[][..], |scene| &scene.support) {
        table = table.text(&support.backend);
    }
    let mut reasons = Vec::new();
    for scene in scenes {
        let yes_or_no = |s: &SupportRow| if s.supported { "yes" } else { "no" }.to_owned();
        let cells = scene.support.iter().map(yes_or_no);
        table.push(std::iter::once(scene.name.clone()).chain(cells).collect());
        for s in scene.support.iter().filter(|s| !s.supported) {
            reasons.push(format!("{} on {}: {}\n", s.backend, scene.name, s.reason));
        }
    }
    format!("{}{}", table.render(), reasons.concat())
}
