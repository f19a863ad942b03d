//! What figures came to, in words and tables.

use super::Questions;
use crate::{
    figure::{Judged, Reproduced, Sabotage, baseline::Shift},
    text_table::TextTable,
};

/// A figure's answer for a terminal.
pub(super) fn describe(figure: &Reproduced, questions: Questions) -> String {
    let mut text = format!("{}: {}\n", figure.figure.id, figure.figure.title);
    for run in figure.runs.iter().filter(|run| !run.reason.is_empty()) {
        text += &format!("  {}: {}: {}\n", run.label, run.status.name(), run.reason);
    }
    if questions.claims {
        for claim in &figure.claims {
            let regression = if claim.is_claim() { "" } else { " (a regression check)" };
            text += &format!("  {:<10} {}{regression}\n", claim.verdict.as_str(), claim.text);
            text += &format!("  {:<10} {}\n", "", claim.measured);
            if let Some(why) = &claim.known_deviation {
                text += &format!("  {:<10} known deviation: {why}\n", "");
            }
        }
    }
    if figure.figure.guest.is_some() {
        text += &format!("  {}\n", counted(&figure.claims));
    }
    if let Some(sabotage) = &figure.sabotage {
        text += &describe_sabotage(sabotage);
    }
    if !questions.curves {
        return text;
    }
    let (Some(shifts), Some(differences)) = (&figure.shifts, &figure.differences) else {
        return text + &format!("  {}\n", unrecorded(questions));
    };
    for difference in differences {
        text += &format!("  changed    {difference}\n");
    }
    if figure.is_better() {
        text += "  better than recorded: look into it, then give --bless\n";
    }
    let mut table = TextTable::default()
        .text("change")
        .text("panel")
        .text("curve")
        .number("area", "")
        .number("end", "")
        .number("slope", "");
    for shift in shifts {
        table.push(cells(shift).to_vec());
    }
    text + &table.render()
}

/// What there is to say where nothing was on file.
fn unrecorded(questions: Questions) -> &'static str {
    if questions.bless { "recorded" } else { "nothing recorded: give --bless to record" }
}

/// How the claims of a figure stand, counted.
fn counted(claims: &[Judged]) -> String {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for verdict in claims.iter().map(|claim| claim.verdict.as_str()) {
        match counts.iter_mut().find(|(known, _)| *known == verdict) {
            Some((_, count)) => *count += 1,
            None => counts.push((verdict, 1)),
        }
    }
    let words: Vec<String> = counts.iter().map(|(word, count)| format!("{count} {word}")).collect();
    format!("the figure's own claims: {}", words.join(", "))
}

/// How a curve moved, each measure beside what it may be.
fn cells(shift: &Shift) -> [String; 6] {
    let measured = |value: f64, band: f64| format!("{value:+.4} of {band:.4}");
    let [area, end, slope] = shift.band;
    [
        shift.change.name().to_owned(),
        (shift.panel + 1).to_string(),
        shift.curve.clone(),
        measured(shift.area, area),
        measured(shift.end, end),
        measured(shift.slope, slope),
    ]
}

/// How all curves moved, for a page that is read where the check has run.
pub(super) fn markdown(figures: &[Reproduced], questions: Questions) -> String {
    let mut text = String::new();
    for Reproduced { figure, runs, claims, shifts, differences, .. } in figures {
        text += &format!("## {}: {}\n\n", figure.id, figure.title);
        let ended = runs.iter().filter(|run| !run.reason.is_empty());
        for run in ended.filter(|run| figure.guest.is_none() || figure.is_guest(&run.label)) {
            text += &format!("- {}: {}: {}\n", run.label, run.status.name(), run.reason);
        }
        if figure.guest.is_some() {
            text += &format!("- {}\n", counted(claims));
        }
        for difference in differences.iter().flatten() {
            text += &format!("- changed: {difference}\n");
        }
        let Some(shifts) = shifts.as_ref().filter(|_| differences.is_some()) else {
            text += &format!("{}\n\n", unrecorded(questions));
            continue;
        };
        text += "\n| change | panel | curve | area | end | slope |\n|---|---|---|---|---|---|\n";
        for shift in shifts {
            text += &format!("| {} |\n", cells(shift).map(|c| c.replace('|', "\\|")).join(" | "));
        }
        text += "\n";
    }
    text
}

fn describe_sabotage(found: &Sabotage) -> String {
    let mut text = String::new();
    for method in &found.replaceable {
        text += &format!("  sabotage   passes with `null` in the place of {method}\n");
    }
    for claim in &found.unfailing {
        text += &format!("  sabotage   cannot fail: {claim}\n");
    }
    for (claim, why, flips) in &found.excused {
        let but = if *flips { ": BUT IT DOES, take the excuse away" } else { "" };
        text += &format!("  sabotage   said not to fail ({why}): {claim}{but}\n");
    }
    text
}
