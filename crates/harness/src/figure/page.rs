//! The page of one figure: its picture, what became of its claims and of its runs, from what is on file.

use std::fmt::Write as _;

use super::{Figure, VerdictFile, conclusion, folder, number};
use crate::checkout::Checkout;

/// Markdown for the folder of a figure.
pub(super) fn page(
    root: &Checkout,
    figure: &Figure,
    verdicts: &VerdictFile,
    has_supplement: bool,
) -> String {
    let id = &figure.id;
    let heading = conclusion::heading(figure, Some(verdicts));
    // Writing to a string cannot fail, hence the results that are let go.
    let mut text = format!("# {heading}\n\n{}. Source: {}.\n\n", figure.title, figure.source);
    let shows = heading.replace(['[', ']'], "");
    for view in &figure.views {
        let _ = write!(text, "![{shows}]({})\n\n", view.file(&folder(root, id)));
    }
    let _ = write!(text, "![{shows}](figure.svg)\n\n");
    let _ = write!(text, "{}\n\n", figure.about);
    if let Some(size) = &figure.size {
        let _ = write!(text, "Size here, and the source's in brackets: {size}.\n\n");
    }
    let _ = write!(text, "```\ntaut reproduce {id}\n```\n\n## Claims\n\n");
    text += "| verdict | claim | expected | measured |\n|---|---|---|---|\n";
    for (claim, found) in figure.claims.iter().zip(&verdicts.claims) {
        let why = found.known_deviation.as_ref();
        let why = why.map(|why| format!(". Known deviation: {why}")).unwrap_or_default();
        let kind = if claim.is_claim() { "" } else { " (regression check)" };
        let _ = writeln!(
            text,
            "| {}{kind} | {} | {} | {}{} |",
            found.verdict,
            cell(&found.text),
            cell(&found.check),
            cell(&found.measured),
            cell(&why)
        );
    }
    text += "\n## Runs\n\n| run | backend | iterations | substeps | ended | after |\n|---|---|---|---|---|---|\n";
    for run in &verdicts.runs {
        let after = run.failed_at_s.map(|at| format!("{} s", number(at))).unwrap_or_default();
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {after} |",
            cell(&run.label),
            run.backend,
            run.iterations,
            run.substeps,
            run.status
        );
    }
    if has_supplement {
        text += "\n## More panels\n\n![The other panels](figure-more.svg)\n";
    }
    let _ = write!(
        text,
        "\nMeasured {} with revision {} on {}.\n\n[All figures](../../README.md)\n",
        verdicts.date.split('T').next().unwrap_or_default(),
        verdicts.revision,
        verdicts.machine
    );
    text
}

/// A cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}
