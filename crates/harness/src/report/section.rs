//! One figure: its conclusion, film and picture beside its claims, how to make it again, and its runs.

use std::fmt::Write as _;

use super::{
    figures::ReportFigure,
    heat::mark_class,
    html::{Cell, Html, data_uri, escape},
    live,
};
use crate::{
    figure::{Claim, ClaimVerdict, Planned, RunVerdict, number},
    plot::Picture,
};

pub(super) fn section(page: &mut Html, figure: &ReportFigure) -> anyhow::Result<()> {
    let id = figure.id();
    page.raw(&format!(
        "<section class=\"figure\" id=\"{id}\" aria-labelledby=\"{id}-head\">\n<h3 id=\"{id}-head\">{} \
         <a class=\"anchor\" href=\"#{id}\" aria-label=\"Link to {id}\">#</a></h3>\n\
         <p class=\"sub\"><b>{id}</b> {}. {}.</p>\n",
        escape(&figure.heading),
        escape(figure.figure.title.trim_end_matches('.')),
        escape(figure.figure.source.trim_end_matches('.')),
    ));
    for missing in &figure.missing {
        page.raw(&format!("<p class=\"missing\">{}</p>\n", escape(missing)));
    }
    page.raw("<div class=\"columns\">\n<div class=\"pictures\">\n");
    films(page, figure);
    if let Some((picture, _)) = &figure.pictures {
        live::picture(page, &format!("{id}-plot"), picture, &plain)?;
    }
    page.raw(&format!(
        "<div class=\"tools\"><button type=\"button\" class=\"explore\" hidden>Explore values</button>\
         <span class=\"tip\" hidden>Drag zooms, Esc goes back, arrows move the cursor.</span></div>\n\
         <p class=\"about\">{}</p>\n",
        escape(&figure.figure.about)
    ));
    remake(page, figure);
    page.raw("</div>\n<div class=\"claims\">\n");
    claims(page, figure);
    page.raw("</div>\n</div>\n");
    runs(page, figure);
    if let Some((_, Some(more))) = &figure.pictures {
        page.raw("<details class=\"more\"><summary>More panels</summary>\n");
        live::picture(page, &format!("{id}-more"), more, &plain)?;
        page.raw("</details>\n");
    }
    page.raw("</section>\n");
    Ok(())
}

/// Nothing is laid upon a picture.
fn plain(_: &Picture) -> String {
    String::new()
}

fn films(page: &mut Html, figure: &ReportFigure) {
    let id = figure.id();
    let alt = escape(&figure.heading);
    if let Some(film) = &figure.film {
        page.raw(&format!(
            "<figure class=\"film\"><div class=\"scroll\" role=\"region\" aria-label=\"Film of {id}\" tabindex=\"0\">\
             <img class=\"card\" src=\"{film}\" width=\"800\" alt=\"Film, a column for each run and a row for each time: {alt}\">\
             </div></figure>\n"
        ));
    }
    if let Some(motion) = &figure.motion {
        // Who does not want motion gets the small picture, which stands still.
        let still = figure.thumb.as_ref().map_or_else(String::new, |thumb| {
            format!("<source media=\"(prefers-reduced-motion: reduce)\" srcset=\"{thumb}\">")
        });
        page.raw(&format!(
            "<details class=\"loop\"><summary>Play the motion</summary><picture>{still}\
             <img class=\"card\" src=\"{motion}\" width=\"800\" loading=\"lazy\" alt=\"The runs side by side in motion: {alt}\">\
             </picture></details>\n"
        ));
    }
}

/// The command, and the numbers behind the curves.
fn remake(page: &mut Html, figure: &ReportFigure) {
    let id = figure.id();
    page.raw(&format!(
        "<p class=\"remake\"><code>taut reproduce {id}</code> \
         <button type=\"button\" class=\"copy\" data-text=\"taut reproduce {id}\" hidden>Copy</button>"
    ));
    for (name, text) in &figure.tables {
        page.raw(&format!(
            " <a download=\"{id}-{name}\" href=\"{}\">{name}</a>",
            data_uri("text/csv", text.as_bytes())
        ));
    }
    page.raw("</p>\n");
    if let Some(size) = &figure.figure.size {
        page.raw(&format!(
            "<p class=\"size\">Size here, and the source's in brackets: {}.</p>\n",
            escape(size)
        ));
    }
}

fn claims(page: &mut Html, figure: &ReportFigure) {
    let plan = figure.figure.plan(false);
    let badge = escape(&figure.badge());
    page.raw(&format!("<h4>Claims <span class=\"count\">{badge}</span></h4>\n<ol>\n"));
    for (number, (claim, found)) in figure.checks().enumerate() {
        page.raw(&one_claim(figure.id(), number + 1, (claim, found), &plan));
    }
    page.raw("</ol>\n");
}

/// What a verdict is told by beside its word: a shape that needs no colour.
fn mark(verdict: &str) -> &'static str {
    match verdict {
        "holds" => "✓",
        "deviation" => "╱",
        "fails" | "void" => "✕",
        "unclear" => "◐",
        _ => "○",
    }
}

fn one_claim(
    id: &str,
    number: usize,
    (claim, found): (&Claim, &ClaimVerdict),
    plan: &[Planned],
) -> String {
    // A curve bears the label of its run, or that of the entry where each point is a run.
    let mut named: Vec<&str> = Vec::new();
    for planned in plan.iter().filter(|p| claim.check.names(&p.label, &p.group)) {
        for name in [planned.label.as_str(), planned.group.as_str()] {
            if !named.contains(&name) {
                named.push(name);
            }
        }
    }
    let named = serde_json::to_string(&named).unwrap_or_default();
    let verdict = &found.verdict;
    let kind = if claim.is_claim() { "" } else { " <i>regression check</i>" };
    let mut text = format!(
        "<li class=\"claim {}\" id=\"{id}-claim-{number}\" data-claim=\"{number}\" data-runs=\"{}\" tabindex=\"0\">\n\
         <p><span class=\"verdict\">{} {verdict}</span>{kind} <span class=\"sentence\">{}</span></p>\n\
         <dl><dt>expected</dt><dd>{}</dd>",
        mark_class(verdict),
        escape(&named),
        mark(verdict),
        escape(&found.text),
        escape(&found.check)
    );
    // Writing to a string cannot fail, hence the results that are let go.
    if !found.measured.is_empty() {
        let _ = write!(text, "<dt>measured</dt><dd>{}</dd>", escape(&found.measured));
    }
    if let Some(why) = &found.known_deviation {
        let _ = write!(text, "<dt>why</dt><dd class=\"why\">{}</dd>", escape(why));
    }
    text + "</dl></li>\n"
}

fn runs(page: &mut Html, figure: &ReportFigure) {
    let Some(file) = &figure.verdicts else { return };
    let id = figure.id();
    let plan = figure.figure.plan(false);
    let header = [
        "run",
        "backend",
        "iterations",
        "steps a frame",
        "ended",
        "failed at",
        "on",
        "scene",
        "settings",
        "reason",
    ];
    let rows: Vec<Vec<Cell>> = file
        .runs
        .iter()
        .enumerate()
        .map(|(place, run)| {
            let planned = plan.iter().find(|planned| planned.label == run.label);
            let mut cells = cells(run, planned);
            if let Some(first) = cells.first_mut() {
                first.id = format!("{id}-run-{}", place + 1);
            }
            cells
        })
        .collect();
    page.raw(&format!(
        "<details class=\"runs\"><summary>{} runs, measured {} with revision {}</summary>\n<p>{}; adapter: {}; {} s in all.</p>\n",
        file.runs.len(),
        escape(file.date.split('T').next().unwrap_or_default()),
        escape(&file.revision),
        escape(&file.machine),
        escape(&file.adapter),
        number(file.seconds)
    ));
    page.rich_table(&format!("Runs of {id}"), &header, &rows);
    page.raw("</details>\n");
}

fn cells(run: &RunVerdict, planned: Option<&Planned>) -> Vec<Cell> {
    let scene = planned.map_or_else(String::new, |planned| {
        let set = planned.run.parameters.iter().map(|(name, value)| format!(" {name}={value}"));
        format!("{}{}", planned.run.scene, set.collect::<String>())
    });
    let settings = planned.and_then(|planned| planned.run.settings.as_ref());
    let settings = settings.map_or("defaults", |settings| settings.get_ron().trim());
    let failed = run.failed_at_s.map(|at| format!("{} s", number(at))).unwrap_or_default();
    [
        run.label.as_str(),
        &run.backend,
        &run.iterations.to_string(),
        &run.substeps.to_string(),
        &run.status,
        &failed,
        &run.device,
        &scene,
        settings,
        &run.reason,
    ]
    .map(Cell::text)
    .into()
}
