//! What stands where, at a glance: figures by claims, and scenes by methods.

use std::{collections::BTreeMap, fmt::Write as _};

use super::{
    figures::ReportFigure,
    html::{Cell, Html, class, escape},
};
use crate::{
    Setup,
    checkout::Checkout,
    matrix::Matrix,
    plot::{colour::METHODS, method_of},
};

/// Statuses of runs, the worst last.
const WORSE: [&str; 8] =
    ["ok", "intersecting", "penetrating", "frozen", "falling", "exploded", "diverged", "failed"];

/// One square per claim, each a link to it.
pub(super) fn claims(page: &mut Html, figures: &[ReportFigure]) {
    let mut rows = Vec::new();
    for figure in figures {
        let id = figure.id();
        let mut squares = String::new();
        for (number, (claim, found)) in figure.checks().enumerate() {
            let verdict = &found.verdict;
            let (kind, round) =
                if claim.is_claim() { ("claim", "") } else { ("regression check", " round") };
            // Writing to a string cannot fail.
            let _ = write!(
                squares,
                "<a class=\"square {}{round}\" href=\"#{id}-claim-{}\" title=\"{kind} {}: {verdict}\" \
                 aria-label=\"{id}, {kind} {}: {verdict}\"></a>",
                mark_class(verdict),
                number + 1,
                number + 1,
                number + 1
            );
        }
        let name = format!("<a href=\"#{id}\">{id}</a>");
        rows.push(vec![
            Cell::raw(name, ""),
            Cell::raw(squares, "squares"),
            Cell::raw(escape(&figure.badge()), "nowrap"),
        ]);
    }
    page.raw(
        "<p class=\"keys\"><span class=\"square holds\"></span> holds \
         <span class=\"square deviation\"></span> known deviation \
         <span class=\"square fails\"></span> fails <span class=\"square void\"></span> void: a run ended otherwise \
         <span class=\"square unclear\"></span> unclear: rounding decides \
         <span class=\"square open\"></span> not judged \
         <span class=\"square holds round\"></span> round: a regression check, which counts as no claim</p>\n",
    );
    page.rich_table("Claims of each figure", &["figure", "claims, in order", "counts"], &rows);
}

/// How squares and marks of a verdict look.
pub(super) fn mark_class(verdict: &str) -> &'static str {
    match verdict {
        "holds" => "holds",
        "deviation" => "deviation",
        "fails" => "fails",
        "void" => "void",
        "unclear" => "unclear",
        _ => "open",
    }
}

/// The worst end of any run of a method in a scene; where a method takes no part, the number of the reason.
pub(super) fn scenes(
    page: &mut Html,
    setup: &Setup,
    root: &Checkout,
    figures: &[ReportFigure],
) -> anyhow::Result<()> {
    let matrix = Matrix::of(&setup.table, root)?;
    let ends = worst_ends(figures);
    let methods = columns(&matrix.backends);
    let mut reasons: Vec<&str> = Vec::new();
    let mut rows = Vec::new();
    for row in &matrix.rows {
        let mut cells = vec![Cell::raw(escape(&row.scene), "")];
        for method in &methods {
            if let Some((worst, figure)) = ends.get(&(row.scene.as_str(), *method)) {
                let markup = format!("<a href=\"#{figure}\">{worst}</a>");
                cells.push(Cell::raw(markup, if *worst == "ok" { "good" } else { class(worst) }));
                continue;
            }
            let own = matrix.backends.iter().zip(&row.refusals);
            let mut own = own.filter(|(backend, _)| method_of(backend) == *method);
            // A method takes a scene if any of its backends does.
            let refusal = own.next().and_then(|(_, refusal)| refusal.as_deref());
            let Some(reason) = refusal.filter(|_| own.all(|(_, refusal)| refusal.is_some())) else {
                cells.push(Cell::raw("·".to_owned(), "idle"));
                continue;
            };
            let place = reasons.iter().position(|known| *known == reason);
            let place = place.unwrap_or_else(|| {
                reasons.push(reason);
                reasons.len() - 1
            });
            let markup = format!("<a href=\"#reason-{0}\">no&nbsp;({0})</a>", place + 1);
            cells.push(Cell::raw(markup, "idle"));
        }
        rows.push(cells);
    }
    let header: Vec<&str> = std::iter::once("scene").chain(methods).collect();
    page.rich_table("Scenes by methods: the worst end of any run on file", &header, &rows);
    page.raw("<p>A word leads to a figure with such a run. · taken, but in no figure.</p>\n<ol class=\"reasons\">\n");
    for (place, reason) in reasons.iter().enumerate() {
        page.raw(&format!("<li id=\"reason-{}\">{}</li>\n", place + 1, escape(reason)));
    }
    page.raw("</ol>\n");
    Ok(())
}

/// Methods of backends, once each, in the order of the palette.
fn columns(backends: &[String]) -> Vec<&str> {
    let mut found: Vec<&str> = Vec::new();
    for method in backends.iter().map(|backend| method_of(backend)) {
        if !found.contains(&method) && method != "null" {
            found.push(method);
        }
    }
    let place = |name: &str| METHODS.iter().position(|style| style.method == name);
    found.sort_by_key(|name| place(name).unwrap_or(METHODS.len()));
    found
}

/// By scene and method, the worst status with the first figure that has it.
fn worst_ends(figures: &[ReportFigure]) -> BTreeMap<(&str, &str), (&'static str, &str)> {
    let mut ends = BTreeMap::new();
    for figure in figures {
        for planned in figure.figure.plan(false) {
            let runs = figure.verdicts.iter().flat_map(|file| &file.runs);
            let Some(run) = runs.into_iter().find(|run| run.label == planned.label) else {
                continue;
            };
            let Some(rank) = WORSE.iter().position(|status| *status == run.status) else {
                continue;
            };
            let scene = figure.figure.runs.iter().find(|spec| spec.label == planned.group);
            let Some(scene) = scene.map(|spec| spec.scene.as_str()) else { continue };
            let entry = ends.entry((scene, method_of(&run.backend))).or_insert((rank, figure.id()));
            if rank > entry.0 {
                *entry = (rank, figure.id());
            }
        }
    }
    ends.into_iter().map(|(key, (rank, figure))| (key, (WORSE[rank], figure))).collect()
}
