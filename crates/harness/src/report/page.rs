//! The whole page: head, heat maps, gallery, figures, work and precision, and what a reader should bear in mind.

use std::{collections::BTreeSet, fs, path::Path};

use anyhow::Context;

use super::{
    ReportOptions,
    cards::{gallery, slug},
    figures::{ReportFigure, read_figures},
    folder::write_folder,
    heat,
    html::{Html, escape},
    profile::profile,
    section::section,
    style::{Dress, UPLOT_LICENCE},
    work,
};
use crate::{
    Setup,
    checkout::Checkout,
    figure::{LOSS_COLUMNS, VerdictFile, losses},
    plot::colour::{METHODS, hex},
    problems::{ProblemRows, problems},
};

/// Makes the page of a checkout's figures, if there is one, and of other folders.
pub(super) fn page(
    setup: &Setup,
    root: Option<&Checkout>,
    folders: &[&Path],
    options: ReportOptions<'_>,
) -> anyhow::Result<String> {
    let mut body = Html::new(options.light);
    if let Some(root) = root {
        let figures = read_figures(setup, root, options.light)?;
        head(&mut body, &figures);
        if let Some(other) = options.with {
            compared(&mut body, &figures, other)?;
        }
        body.raw("<section id=\"claims\">\n<h2>How the claims stand</h2>\n");
        heat::claims(&mut body, &figures);
        body.raw("</section>\n<section id=\"scenes\">\n<h2>How methods fare in each scene</h2>\n");
        heat::scenes(&mut body, setup, root, &figures)?;
        body.raw("</section>\n<section id=\"gallery\">\n<h2>All figures</h2>\n");
        body.raw(&gallery(&figures));
        body.raw("</section>\n");
        for paper in papers(&figures) {
            body.raw(&format!("<section class=\"paper\" id=\"{}\">\n", slug(paper)));
            body.heading(2, paper);
            for figure in figures.iter().filter(|figure| figure.paper == paper) {
                section(&mut body, figure)?;
            }
            body.raw("</section>\n");
        }
        work_and_precision(&mut body, root.folder()?)?;
        lost(&mut body, setup, root)?;
    } else {
        body.raw("<header><h1>taut report</h1></header>\n<main id=\"main\">\n");
    }
    for folder in folders {
        write_folder(&mut body, folder)?;
    }
    foot(&mut body);
    Ok(whole(&body.finish()))
}

/// The text between what every page begins and ends with.
fn whole(body: &str) -> String {
    let dress = Dress::new();
    let [uplot, script] = dress.scripts;
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>taut report</title>\n\
         <style>{}</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#main\">Skip to the results</a>\n{body}\
         <script>{uplot}</script>\n<script>{script}</script>\n</body>\n</html>\n",
        dress.policy(),
        dress.style
    )
}

/// The papers in the order of the figures.
fn papers(figures: &[ReportFigure]) -> Vec<&str> {
    let mut papers: Vec<&str> = figures.iter().map(|figure| figure.paper.as_str()).collect();
    papers.dedup();
    papers
}

fn head(page: &mut Html, figures: &[ReportFigure]) {
    let count = |verdict: &str| figures.iter().map(|figure| figure.count(verdict)).sum::<usize>();
    let claims = figures.iter().flat_map(|figure| figure.checks());
    let judged = claims.filter(|(claim, _)| claim.is_claim()).count() - count("not judged");
    let bad = count("fails") + count("void");
    let bad = if bad == 0 { String::new() } else { format!(" · {bad} failures") };
    page.raw(&format!(
        "<header>\n<h1>Which solver holds its constraints, at what cost?</h1>\n\
         <p class=\"lead\">taut runs multibody solvers on identical scenes, judges them with one ruler, from outside and in double \
         precision, and checks what papers say of them.</p>\n\
         <p class=\"counts\"><b>{}</b> figures · <b>{}</b> of <b>{judged}</b> claims hold · <b>{}</b> known deviations{bad}</p>\n\
         <p class=\"made\">{}</p>\n\
         <button type=\"button\" id=\"theme\" hidden>Light or dark</button>\n</header>\n",
        figures.len(),
        count("holds"),
        count("deviation"),
        provenance(figures)
    ));
    page.raw("<nav aria-label=\"Contents\">\n<ul class=\"parts\">\n");
    for (id, words) in [
        ("claims", "Claims"),
        ("scenes", "Scenes"),
        ("gallery", "Gallery"),
        ("work", "Work and precision"),
        ("losses", "Where methods here lose"),
        ("about", "Bias, palette, licences"),
    ] {
        page.raw(&format!("<li><a href=\"#{id}\">{words}</a></li>\n"));
    }
    page.raw("</ul>\n");
    for paper in papers(figures) {
        let own = figures.iter().filter(|figure| figure.paper == paper);
        let links = own.map(|figure| format!("<a href=\"#{0}\">{0}</a>", figure.id()));
        page.raw(&format!(
            "<p><a class=\"paper-link\" href=\"#{}\">{}</a> <span class=\"ids\">{}</span></p>\n",
            slug(paper),
            escape(paper),
            links.collect::<Vec<_>>().join(" ")
        ));
    }
    page.raw("</nav>\n<main id=\"main\">\n");
}

/// Where and when the verdicts were made: the newest, and what others there are.
fn provenance(figures: &[ReportFigure]) -> String {
    let files: Vec<&VerdictFile> = figures.iter().filter_map(|f| f.verdicts.as_ref()).collect();
    let Some(newest) = files.iter().max_by(|a, b| a.date.cmp(&b.date)) else {
        return "nothing on file".to_owned();
    };
    let day = |date: &str| date.split('T').next().unwrap_or_default().to_owned();
    let oldest = files.iter().map(|file| day(&file.date)).min().unwrap_or_default();
    let revisions: BTreeSet<&str> = files.iter().map(|file| file.revision.as_str()).collect();
    let machines: BTreeSet<&str> = files.iter().map(|file| file.machine.as_str()).collect();
    let machines: Vec<String> = machines.into_iter().map(escape).collect();
    format!(
        "Measured {oldest} to {}, newest revision {} ({} in all), on {}",
        day(&newest.date),
        escape(&newest.revision),
        revisions.len(),
        machines.join("; ")
    )
}

/// How verdicts and ends of runs differ from those of another folder of figures.
fn compared(page: &mut Html, figures: &[ReportFigure], other: &Path) -> anyhow::Result<()> {
    let mut rows = Vec::new();
    let mut found = 0;
    for figure in figures {
        let path = other.join(figure.id()).join("verdict.json");
        let Some(own) = figure.verdicts.as_ref().filter(|_| path.is_file()) else { continue };
        let text =
            fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let there: VerdictFile =
            serde_json::from_str(&text).with_context(|| path.display().to_string())?;
        found += 1;
        for difference in there.differences(own) {
            rows.push(vec![figure.id().to_owned(), difference]);
        }
    }
    anyhow::ensure!(found > 0, "no verdicts in {}: expected FIGURE/verdict.json", other.display());
    page.raw("<section id=\"compared\">\n<h2>What differs from the other results</h2>\n");
    page.paragraph(&format!("{found} figures are in {} too.", other.display()));
    match rows.is_empty() {
        true => page.paragraph("All verdicts and ends of runs are the same there."),
        false => page.table("There, and here", &["figure", "difference"], &rows),
    }
    page.raw("</section>\n");
    Ok(())
}

fn work_and_precision(page: &mut Html, root: &Path) -> anyhow::Result<()> {
    page.raw("<section id=\"work\">\n<h2>Work and precision</h2>\n");
    let rows = ProblemRows::read(root)?;
    match problems(root)? {
        Some(file) if !rows.rows.is_empty() => {
            let facts = rows.provenance.iter().map(|(name, value)| format!("{name} {value}"));
            page.paragraph(&format!(
                "Each problem is a scene with a metric and a tolerance; solved is what ends well within it. Times are of \
                 one thread, whole runs in turn, by the processor's clock ({}). Software adapters take no part.",
                facts.collect::<Vec<_>>().join("; ")
            ));
            page.heading(3, "Performance profile");
            profile(page, &file, &rows)?;
            page.heading(3, "Error against time, problem by problem");
            work::problems(page, &file, &rows)?;
        }
        _ => page.paragraph("Nothing on file: `taut profile --bless` records it."),
    }
    page.raw("</section>\n");
    Ok(())
}

/// Where engines of others are ahead.
fn lost(page: &mut Html, setup: &Setup, root: &Checkout) -> anyhow::Result<()> {
    page.raw("<section id=\"losses\">\n<h2>Where methods here lose</h2>\n");
    page.paragraph(
        "Results of engines of others that no method here comes to in as short a time, to 5 %, in figures that have both; \
         smaller results are better. Engines run in processes of their own, and their times include what asking them costs.",
    );
    let rows: Vec<Vec<String>> =
        losses(setup, root)?.iter().map(|loss| loss.cells().to_vec()).collect();
    match rows.is_empty() {
        true => page.paragraph("None on file."),
        false => page.table("An engine, and the best here", &LOSS_COLUMNS, &rows),
    }
    page.raw("</section>\n");
    Ok(())
}

fn foot(page: &mut Html) {
    page.raw("<section id=\"about\">\n<h2>Bias, palette, licences</h2>\n<h3>Bias</h3>\n");
    page.paragraph(
        "The authors of taut wrote all its backends, and cared about AVBD first. Many scenes come from the papers of AVBD \
         and M-ABD. Every method runs at settings that are told with its runs, mostly defaults that were chosen once for \
         all scenes; somebody who knows a method well may find better ones. Verdicts are of one revision; most do not \
         depend on the machine, but times do. More in README.md.",
    );
    page.raw("<h3>Palette</h3>\n<ul class=\"palette\">\n");
    for style in METHODS {
        page.raw(&format!(
            "<li><svg width=\"28\" height=\"14\" viewBox=\"0 0 28 14\" aria-hidden=\"true\"><path d=\"M2 7H26\" \
             stroke=\"{}\" stroke-width=\"4\" fill=\"none\"/></svg> {}</li>\n",
            hex(style.light),
            style.method
        ));
    }
    page.raw("</ul>\n");
    page.paragraph(
        "Colour is the method; dashes tell how a budget was spent: solid for iterations of one step, dashed for steps within \
         the frame, dotted for single precision. Black is the reference, grey is for comparison, a red cross is where a run failed.",
    );
    page.raw("<h3>Licences</h3>\n");
    page.paragraph("taut: MIT or Apache-2.0. Curves to explore are drawn by uPlot 1.6.32:");
    page.details("Licence of uPlot", UPLOT_LICENCE);
    page.raw("</section>\n</main>\n");
}
