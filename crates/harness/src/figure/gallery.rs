//! The reproducibility report: what of each paper stands, from the verdicts on file.

use std::{collections::BTreeMap, fmt::Write as _};

use super::{
    Claim, ClaimVerdict, Figure, VerdictFile, conclusion, folder, ids, load, read_verdict,
};
use crate::{Setup, checkout::Checkout, places::scene_names};

/// A figure with its verdicts at full size, where there are any.
struct ReportedFigure {
    figure: Figure,
    file: Option<VerdictFile>,
}

/// Markdown tables, one per paper, with every deviation and its reason.
///
/// # Errors
/// When a definition or a verdict cannot be read.
pub fn gallery(setup: &Setup, root: &Checkout) -> anyhow::Result<String> {
    let papers = reported(setup, root)?;
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

/// All figures by the paper that they are from.
fn reported(
    setup: &Setup,
    root: &Checkout,
) -> anyhow::Result<BTreeMap<String, Vec<ReportedFigure>>> {
    let mut papers: BTreeMap<String, Vec<ReportedFigure>> = BTreeMap::new();
    for id in ids(root)? {
        let figure = load(root, &id, setup)?;
        let file = read_verdict(root, &id, false)?;
        papers.entry(paper(&figure.source)).or_default().push(ReportedFigure { figure, file });
    }
    Ok(papers)
}

/// What a source names before its figure.
pub fn paper(source: &str) -> String {
    let ends = [", Fig", ", Table", "; "];
    let end = ends.iter().filter_map(|end| source.find(end)).min().unwrap_or(source.len());
    source[..end].to_owned()
}

/// One line: how much there is, and how much of it holds.
///
/// # Errors
/// When a definition or a verdict cannot be read.
pub fn counts(setup: &Setup, root: &Checkout) -> anyhow::Result<String> {
    let papers = reported(setup, root)?;
    let all: Vec<&ReportedFigure> = papers.values().flatten().collect();
    let verdicts = || {
        let with = all.iter().filter_map(|one| Some((&one.figure, one.file.as_ref()?)));
        let pairs = with.flat_map(|(figure, file)| figure.claims.iter().zip(&file.claims));
        pairs.filter(|(claim, _)| claim.is_claim()).map(|(_, found)| found.verdict.as_str())
    };
    let count = |verdict: &str| verdicts().filter(|own| *own == verdict).count();
    let judged = verdicts().count() - count("not judged");
    Ok(format!(
        "\n{} figures · {} scenes · {} of {judged} claims hold · {} known deviations, each with its reason\n\n",
        all.len(),
        scene_names(root)?.len(),
        count("holds"),
        count("deviation")
    ))
}

/// Figures whose small pictures stand on the front page, in two rows.
const FRONT: [[&str; 3]; 2] =
    [["avbd-fig08", "avbd-fig10", "avbd-fig11"], ["mabd-fig11", "mabd-fig21", "avbd-fig01"]];

/// The small pictures of the front page with what they show, and where all are.
///
/// # Errors
/// When a definition or a verdict cannot be read.
pub fn front_thumbs(setup: &Setup, root: &Checkout) -> anyhow::Result<String> {
    let mut text = "\n| | | |\n|---|---|---|\n".to_owned();
    for ids in FRONT {
        let mut cells = Vec::new();
        for id in ids {
            let figure = load(root, id, setup)?;
            let shows = read_verdict(root, id, false)?
                .and_then(|file| conclusion::sentence(&figure, &file));
            let shows = shows.unwrap_or_else(|| figure.title.clone()).replace('|', "\\|");
            cells.push(format!(
                "[<img src=\"results/figures/{id}/{}\" width=\"260\" alt=\"{}\">](results/figures/{id})<br>{shows}",
                figure.thumb(root),
                shows.replace('"', "'")
            ));
        }
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    let _ = write!(text, "\n[All {} figures](results/README.md)\n\n", ids(root)?.len());
    Ok(text)
}

/// A table of pictures for each paper: small picture, what it shows, how its claims stand.
///
/// # Errors
/// When a definition or a verdict cannot be read.
pub fn pictures(setup: &Setup, root: &Checkout) -> anyhow::Result<String> {
    let mut text = String::new();
    for (paper, entries) in reported(setup, root)? {
        // Writing to a string cannot fail, hence the results that are let go.
        let _ = write!(text, "\n### {paper}\n\n| picture | shows | claims |\n|---|---|---|\n");
        for ReportedFigure { figure, file } in &entries {
            let Some(file) = file else { continue };
            let id = &figure.id;
            let shows = conclusion::heading(figure, Some(file));
            let claims =
                figure.claims.iter().zip(&file.claims).filter(|(claim, _)| claim.is_claim());
            let claims: Vec<&str> = claims.map(|(_, found)| found.verdict.as_str()).collect();
            let counts = [
                ("holds", "hold"),
                ("deviation", "deviate"),
                ("fails", "fail"),
                ("void", "are void"),
            ];
            let counts = counts.into_iter().filter_map(|(verdict, word)| {
                let count = claims.iter().filter(|own| **own == verdict).count();
                (count > 0).then(|| format!("{count} {word}"))
            });
            let _ = writeln!(
                text,
                "| [<img src=\"figures/{id}/{}\" width=\"260\" alt=\"{}\">](figures/{id}) | {} ([{id}](figures/{id})) | {} |",
                figure.thumb(root),
                shows.replace('"', "'"),
                shows.replace('|', "\\|"),
                counts.collect::<Vec<_>>().join(" · ")
            );
        }
    }
    Ok(text)
}

/// The files that figures show themselves by and that are not there: a picture, or a verdict.
///
/// # Errors
/// When the folder of figures cannot be read.
pub fn unfiled(root: &Checkout) -> anyhow::Result<Vec<String>> {
    let mut missing = Vec::new();
    for id in ids(root)? {
        // A small picture is drawn or a film's last row, of either kind.
        for names in [&["verdict.json"][..], &["figure.svg"], &["thumb.png", "thumb.svg"]] {
            if !names.iter().any(|name| folder(root, &id).join(name).is_file()) {
                missing.push(format!("results/figures/{id}/{}", names[0]));
            }
        }
    }
    Ok(missing)
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
            figure.size.as_deref().unwrap_or("not told").replace('|', "\\|")
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
        let ended = file.runs.iter().filter(|run| run.has_failed()).count();
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
        let root = Checkout::at(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
        let readme = std::fs::read_to_string(root.on_disk("results/README.md")).unwrap();
        let setup = Setup::default().with_engines(&root).unwrap();
        let gallery = gallery(&setup, &root).unwrap();
        let spliced = splice(&readme, "figures", &gallery).unwrap();
        let spliced = splice(&spliced, "pictures", &pictures(&setup, &root).unwrap()).unwrap();
        assert!(readme == spliced, "run `cargo run -- gallery`");
    }
}
