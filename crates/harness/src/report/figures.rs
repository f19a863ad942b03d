//! What is on file of figures, as the page needs it.

use std::{fs, path::Path};

use anyhow::Context;

use super::html::data_uri;
use crate::{
    Setup,
    checkout::Checkout,
    figure::{
        Claim, ClaimVerdict, Figure, VerdictFile, filed_pictures, heading, ids, load, paper,
        read_verdict,
    },
    plot::{PlotSpec, colour::METHODS, method_of},
};

/// Tables of numbers above this size are named and not put into the page [bytes].
const LARGEST_TABLE: u64 = 200_000;

/// A figure with its files.
pub(super) struct ReportFigure {
    pub(super) figure: Figure,
    pub(super) verdicts: Option<VerdictFile>,
    /// The picture, and that of its other panels where there are any.
    pub(super) pictures: Option<(PlotSpec, Option<PlotSpec>)>,
    /// Its conclusion while that holds, else its title.
    pub(super) heading: String,
    /// What its source names before the figure.
    pub(super) paper: String,
    /// Addresses of pictures that are in the page.
    pub(super) thumb: Option<String>,
    pub(super) film: Option<String>,
    pub(super) motion: Option<String>,
    /// Names and texts of tables.
    pub(super) tables: Vec<(&'static str, String)>,
    /// What is not on file, in words.
    pub(super) missing: Vec<String>,
}

/// The checkout that a folder of figures belongs to; `None` for any other folder.
pub(super) fn root_of(folder: &Path) -> Option<Checkout> {
    let whole = fs::canonicalize(folder).ok()?;
    whole.ends_with("results/figures").then_some(())?;
    let root = whole.parent()?.parent()?;
    root.join("scenes").is_dir().then(|| Checkout::at(root))
}

/// All figures of a checkout, by paper and name.
pub(super) fn read_figures(
    setup: &Setup,
    root: &Checkout,
    light: bool,
) -> anyhow::Result<Vec<ReportFigure>> {
    let mut all = Vec::new();
    for id in ids(root)? {
        let figure = load(root, &id, setup)?;
        all.push(read_figure(setup, root, figure, light)?);
    }
    all.sort_by(|a, b| (&a.paper, &a.figure.id).cmp(&(&b.paper, &b.figure.id)));
    Ok(all)
}

fn read_figure(
    setup: &Setup,
    root: &Checkout,
    figure: Figure,
    light: bool,
) -> anyhow::Result<ReportFigure> {
    let folder = crate::figure::folder(root, &figure.id);
    let verdicts = read_verdict(root, &figure.id, false)?;
    let pictures = match &verdicts {
        Some(_) => Some(filed_pictures(setup, root, &figure.id)?),
        None => None,
    };
    let mut missing = Vec::new();
    if verdicts.is_none() {
        missing.push(format!("no verdict: `taut reproduce {} --bless` makes one", figure.id));
    }
    let image = |names: &[(&str, &str)]| {
        let found = names.iter().find(|(name, _)| folder.join(name).is_file());
        found.map(|(name, kind)| read(&folder.join(name)).map(|bytes| data_uri(kind, &bytes)))
    };
    let thumb = image(&[("thumb.svg", "image/svg+xml"), ("thumb.png", "image/png")]).transpose()?;
    if thumb.is_none() {
        missing.push("no small picture: `taut redraw` makes one".to_owned());
    }
    let (mut film, mut motion, mut tables) = (None, None, Vec::new());
    if !light {
        film = image(&[("film.svg", "image/svg+xml"), ("film.png", "image/png")]).transpose()?;
        motion = image(&[("loop.png", "image/png")]).transpose()?;
        for name in ["baseline.csv", "times.csv"] {
            let path = folder.join(name);
            if fs::metadata(&path).is_ok_and(|facts| facts.len() <= LARGEST_TABLE) {
                tables.push((name, String::from_utf8_lossy(&read(&path)?).into_owned()));
            }
        }
    }
    Ok(ReportFigure {
        heading: heading(&figure, verdicts.as_ref()),
        paper: paper(&figure.source),
        figure,
        verdicts,
        pictures,
        thumb,
        film,
        motion,
        tables,
        missing,
    })
}

fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    fs::read(path).with_context(|| format!("cannot read {}", path.display()))
}

/// The verdicts in the order in which they are told, each with the word that counts it.
pub(super) const VERDICTS: [(&str, &str); 6] = [
    ("holds", "hold"),
    ("deviation", "deviate"),
    ("fails", "fail"),
    ("void", "void"),
    ("unclear", "unclear"),
    ("not judged", "not judged"),
];

impl ReportFigure {
    pub(super) fn id(&self) -> &str {
        &self.figure.id
    }

    /// Checks with what became of them, regressions among them, in the order of the definition.
    pub(super) fn checks(&self) -> impl Iterator<Item = (&Claim, &ClaimVerdict)> {
        let found = self.verdicts.iter().flat_map(|file| &file.claims);
        self.figure.claims.iter().zip(found)
    }

    /// How many claims have a verdict; checks of regression are none.
    pub(super) fn count(&self, verdict: &str) -> usize {
        let claims = self.checks().filter(|(claim, _)| claim.is_claim());
        claims.filter(|(_, found)| found.verdict == verdict).count()
    }

    /// The verdicts of its claims, in words.
    pub(super) fn badge(&self) -> String {
        if self.verdicts.is_none() {
            return "no verdict on file".to_owned();
        }
        let told = VERDICTS.iter().filter_map(|(verdict, word)| {
            let count = self.count(verdict);
            // In the singular, `1 deviates`.
            let ending =
                if count == 1 && ["hold", "deviate", "fail"].contains(word) { "s" } else { "" };
            (count > 0).then(|| format!("{count} {word}{ending}"))
        });
        told.collect::<Vec<_>>().join(" · ")
    }

    /// The methods of its runs, those with a colour first.
    pub(super) fn methods(&self) -> Vec<&str> {
        let runs = self.verdicts.iter().flat_map(|file| &file.runs);
        let mut found: Vec<&str> = runs.map(|run| method_of(&run.backend)).collect();
        let place = |name: &str| METHODS.iter().position(|style| style.method == name);
        found.sort_by_key(|name| (place(name).unwrap_or(METHODS.len()), *name));
        found.dedup();
        found
    }
}
