//! The reproducibility report: what of each paper stands, from the verdicts on file.

use std::{collections::BTreeMap, fmt::Write as _, path::Path};

use super::{Claim, ClaimVerdict, Figure, VerdictFile, ids, load, read_verdict};
use crate::{Setup, backends::LEFT_OUT};

/// A figure with its verdicts at full size, where there are any.
struct ReportedFigure {
    figure: Figure,
    file: Option<VerdictFile>,
}

/// Markdown tables, one per paper, with every deviation and its reason.
///
/// # Errors
/// When a definition or a verdict cannot be read.
pub fn gallery(setup: &Setup, root: &Path) -> anyhow::Result<String> {
    let mut papers: BTreeMap<String, Vec<ReportedFigure>> = BTreeMap::new();
    for id in ids(root)? {
        let figure = match load(root, &id, setup) {
            Err(error) if error.message.ends_with(LEFT_OUT) => continue,
            loaded => loaded?,
        };
        let file = read_verdict(root, &id, false)?;
        papers.entry(paper(&figure.source)).or_default().push(ReportedFigure { figure, file });
    }
    let seconds = |large: bool| -> f64 {
        let all = papers.values().flatten().filter(|one| one.figure.large == large);
        all.filter_map(|one| one.file.as_ref()).map(|file| file.seconds).sum()
    };
    // Writing to a string cannot fail, hence the results that are let go.
    let mut text = format!(
        "\nAll figures together took {}, and the large ones {} more.\n",
        minutes(seconds(false)),
        minutes(seconds(true))
    );
    for (paper, entries) in &papers {
        let _ = write!(text, "\n## {paper}\n\n{}", table(entries));
        let findings = findings(entries);
        if !findings.is_empty() {
            let _ = write!(text, "\n{findings}");
        }
    }
    Ok(text)
}

/// What a source names before its figure.
fn paper(source: &str) -> String {
    let ends = [", Fig", ", Table", "; "];
    let end = ends.iter().filter_map(|end| source.find(end)).min().unwrap_or(source.len());
    source[..end].to_owned()
}

fn table(entries: &[ReportedFigure]) -> String {
    let mut text = "| figure | shows | size here (source's) | sentences | holds | deviates | fails or void | not judged | \
                    regression | runs that failed | time | measured |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n"
        .to_owned();
    for ReportedFigure { figure, file } in entries {
        let id = &figure.id;
        let _ = write!(
            text,
            "| [{id}](figures/{id}/figure.svg) | {} | {} |",
            figure.title.replace('|', "\\|"),
            figure.size.as_deref().unwrap_or("as in the source").replace('|', "\\|")
        );
        let Some(file) = file else {
            text += " | | | | | | | | not on file |\n";
            continue;
        };
        // Verdicts are in the order of the definition.
        let (regressions, claims): (Vec<_>, Vec<_>) =
            figure.claims.iter().zip(&file.claims).partition(|(claim, _)| !claim.is_claim());
        let count = |of: &[(&Claim, &ClaimVerdict)], verdicts: &[&str]| {
            of.iter().filter(|(_, found)| verdicts.contains(&found.verdict.as_str())).count()
        };
        // Sentences that go on with dots are one with that before.
        let sentences = claims.iter().filter(|(claim, _)| !claim.text.starts_with("...")).count();
        let ended = file.runs.iter().filter(|run| run.status != "ok").count();
        let date = file.date.split('T').next().unwrap_or_default();
        let _ = writeln!(
            text,
            " {sentences} | {} | {} | {} | {} | {} of {} | {ended} of {} | {} | {date}, {} |",
            count(&claims, &["holds"]),
            count(&claims, &["deviation"]),
            count(&claims, &["fails", "void"]),
            count(&claims, &["unclear", "not judged"]),
            count(&regressions, &["holds"]),
            regressions.len(),
            file.runs.len(),
            minutes(file.seconds),
            file.revision
        );
    }
    text
}

/// A duration, in seconds up to two minutes.
fn minutes(seconds: f64) -> String {
    if seconds < 120.0 { format!("{seconds:.0} s") } else { format!("{:.0} min", seconds / 60.0) }
}

/// One line for each claim that does not hold.
fn findings(entries: &[ReportedFigure]) -> String {
    let mut text = String::new();
    for ReportedFigure { figure, file } in entries {
        for claim in file.iter().flat_map(|file| &file.claims) {
            let why = match claim.verdict.as_str() {
                "deviation" => claim.known_deviation.as_deref().unwrap_or_default(),
                "fails" | "void" => &claim.measured,
                _ => continue,
            };
            let _ = writeln!(text, "- {}, {}: \"{}\" {why}", figure.id, claim.verdict, claim.text);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::splice::splice;

    #[test]
    fn a_paper_is_what_stands_before_its_figure() {
        assert_eq!(paper("A, B: Title (X 2025), Fig. 8"), "A, B: Title (X 2025)");
        assert_eq!(paper("A: Title (X 2025), Table 1; by rule"), "A: Title (X 2025)");
        assert_eq!(paper("mechanics"), "mechanics");
    }

    #[test]
    fn the_report_is_up_to_date() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let readme = std::fs::read_to_string(root.join("results/README.md")).unwrap();
        let gallery = gallery(&Setup::default(), &root).unwrap();
        let spliced = splice(&readme, "figures", &gallery).unwrap();
        assert!(readme == spliced, "run `cargo run -- list --splice results/README.md`");
    }
}
