//! Can the claims of a figure fail? Its rows are spoilt in ways that no honest claim survives.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{
    Claim, ClaimCheck, Figure, FigureRow, Judged, Verdict,
    judge::{judge, judge_one},
    plan::{NULL, method},
};

/// What sabotage found of a figure.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sabotage {
    /// Methods that claims name and that can be replaced by one that does nothing while the figure stays good.
    pub replaceable: Vec<String>,
    /// Sentences of judged claims that no sabotage flips and that do not say why.
    pub unfailing: Vec<String>,
    /// Sentences of claims that say why no sabotage flips them, with the reason; and whether one does after all.
    pub excused: Vec<(String, String, bool)>,
}

impl Sabotage {
    /// Its entry in the document of `reproduce --json`.
    pub(super) fn document(&self) -> Value {
        let excused = |(text, why, flips): &(String, String, bool)| json!({ "text": text, "reason": why, "flips": flips });
        json!({
            "replaceable": self.replaceable,
            "unfailing": self.unfailing,
            "excused": self.excused.iter().map(excused).collect::<Vec<_>>(),
        })
    }

    /// Whether every claim can fail, and no excuse is wrong.
    pub fn is_good(&self) -> bool {
        self.replaceable.is_empty()
            && self.unfailing.is_empty()
            && !self.excused.iter().any(|(_, _, flips)| *flips)
    }
}

/// Spoils the rows of a figure. `null_rows` are those of the method that does nothing, in the same order.
///
/// Two questions: does the figure fail with `null` in the place of any one method that its claims name? And does
/// each claim that this size judges flip, for at least one of these, done to one run and to all that it names: the
/// curves of `null` under a label that is still `ok`; its metric times 10, 0.1 or -1, or fixed at a number that the
/// check names, which makes a known deviation hold; the run ended at a third; the curves of two runs swapped, or one
/// taken by the other? What is unclear does not count: it cannot fail. Labels alone void every claim, so they are asked about only where a claim is on the label.
pub(super) fn sabotage(
    figure: &Figure,
    rows: &[FigureRow],
    null_rows: &[FigureRow],
    (own, quick): (&[Judged], bool),
) -> Sabotage {
    let mut found = Sabotage::default();
    let claims = &figure.claims;
    for method in named_methods(claims, rows) {
        let replaced = replace(rows, null_rows, |row| self::method(&row.backend) == method);
        let judged = judge(claims, &replaced, quick);
        let passes = |(own, now): (&Judged, Judged)| {
            own.verdict == Verdict::Unclear || now.verdict.is_good()
        };
        if own.iter().zip(judged).all(passes) {
            found.replaceable.push(method);
        }
    }
    for (claim, judged) in claims.iter().zip(own) {
        if !matches!(judged.verdict, Verdict::Holds | Verdict::Deviation) {
            continue;
        }
        let flips = flips(claim, judged, rows, null_rows);
        let text = claim.text.clone();
        match &claim.unfailing {
            Some(why) => found.excused.push((text, why.clone(), flips)),
            None if !flips => found.unfailing.push(text),
            None => {}
        }
    }
    found
}

/// Methods of the runs that claims name, where this machine ran them.
fn named_methods(claims: &[Claim], rows: &[FigureRow]) -> BTreeSet<String> {
    let named = |row: &&FigureRow| {
        let label = |claim: &Claim| claim.check.names(&row.label, &row.group);
        !row.was_skipped() && row.backend != NULL && claims.iter().any(label)
    };
    rows.iter().filter(named).map(|row| method(&row.backend).to_owned()).collect()
}

fn replace(
    rows: &[FigureRow],
    by: &[FigureRow],
    which: impl Fn(&FigureRow) -> bool,
) -> Vec<FigureRow> {
    let pairs = rows.iter().zip(by);
    pairs.map(|(row, by)| if which(row) { by.clone() } else { row.clone() }).collect()
}

/// Whether any spoilt rows change what is found of a claim.
fn flips(claim: &Claim, judged: &Judged, rows: &[FigureRow], null_rows: &[FigureRow]) -> bool {
    let named: Vec<usize> = (0..rows.len())
        .filter(|&i| claim.check.names(&rows[i].label, &rows[i].group) && rows[i].was_run())
        .collect();
    let with = |i: usize, row: FigureRow| {
        let mut spoilt = rows.to_vec();
        spoilt[i] = row;
        judge_one(claim, &spoilt).verdict != judged.verdict
    };
    let swapped = |i: usize, j: usize| {
        let mut spoilt = rows.to_vec();
        spoilt[i] = take_curves(&rows[i], &rows[j]);
        spoilt[j] = take_curves(&rows[j], &rows[i]);
        judge_one(claim, &spoilt).verdict != judged.verdict
    };
    let is_timed = matches!(claim.check, ClaimCheck::Faster { .. });
    let metric = claim.check.metric().or(is_timed.then_some(""));
    let Some(metric) = metric else {
        // Nothing but the label is looked at.
        let ended =
            |i: usize, status: &str| FigureRow { status: status.to_owned(), ..rows[i].clone() };
        return named.iter().any(|&i| ["ok", "exploded"].iter().any(|end| with(i, ended(i, end))));
    };
    let targets = claim.check.numbers();
    // What a claim finds over all runs of an entry may bear one spoilt run.
    let all = |spoil: &dyn Fn(usize) -> FigureRow| {
        let mut spoilt = rows.to_vec();
        named.iter().for_each(|&i| spoilt[i] = spoil(i));
        judge_one(claim, &spoilt).verdict != judged.verdict
    };
    let each =
        |spoil: &dyn Fn(usize) -> FigureRow| named.iter().any(|&i| with(i, spoil(i))) || all(spoil);
    each(&|i| take_curves(&rows[i], &null_rows[i]))
        || [10.0, 0.1, -1.0].iter().any(|&factor| each(&|i| scaled(&rows[i], metric, factor)))
        || targets.iter().any(|&target| each(&|i| constant(&rows[i], metric, target)))
        || each(&|i| shortened(&rows[i]))
        || named.iter().any(|&i| {
            let others = || named.iter().filter(move |&&j| j != i);
            others().any(|&j| swapped(i, j))
                || others().any(|&j| with(i, take_curves(&rows[i], &rows[j])))
        })
}

/// A row with the curves of another, and what it is called and how it ended of its own.
fn take_curves(row: &FigureRow, of: &FigureRow) -> FigureRow {
    let mut taken = row.clone();
    taken.columns.clone_from(&of.columns);
    taken.block_times_s.clone_from(&of.block_times_s);
    taken
}

fn scaled(row: &FigureRow, metric: &str, factor: f64) -> FigureRow {
    let mut scaled = row.clone();
    if let Some((_, values)) = scaled.columns.iter_mut().find(|(name, _)| name == metric) {
        values.iter_mut().for_each(|value| *value *= factor);
    } else if let Some(value) = row.fact(metric) {
        scaled.set_fact(metric, factor * value);
    }
    scaled.block_times_s.iter_mut().for_each(|time| *time *= factor);
    scaled
}

fn constant(row: &FigureRow, metric: &str, target: f64) -> FigureRow {
    let mut still = row.clone();
    if let Some((_, values)) = still.columns.iter_mut().find(|(name, _)| name == metric) {
        values.fill(target);
    }
    still
}

fn shortened(row: &FigureRow) -> FigureRow {
    let mut short = row.clone();
    for (_, values) in &mut short.columns {
        values.truncate(values.len() / 3);
    }
    short
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::{Setup, figure::parse};

    fn found(claims: &str, null_status: &str) -> Sabotage {
        let text = format!(
            r#"(title: "t", source: "s", about: "a",
                runs: [
                    (label: "A", scene: "s", backend: "avbd-cpu", iterations: [1]),
                    (label: "B", scene: "s", backend: "vbd-cpu", iterations: [1]),
                ],
                plot: (panels: [(x: (quantity: "time_s"), y: (quantity: "energy_j"))]),
                claims: [{claims}])"#
        );
        let figure = parse(&text, "test", Path::new("figure.ron"), &Setup::default()).unwrap();
        let row = |label: &str, backend: &str, status: &str, values: [f64; 3]| FigureRow {
            label: label.to_owned(),
            group: label.to_owned(),
            backend: backend.to_owned(),
            status: status.to_owned(),
            planned: 3,
            columns: vec![("energy_j".to_owned(), values.to_vec())],
            ..FigureRow::default()
        };
        let rows =
            [row("A", "avbd-cpu", "ok", [1.0, 2.0, 3.0]), row("B", "vbd-cpu", "ok", [4.0; 3])];
        let null = ["A", "B"].map(|label| row(label, "null", null_status, [1.0; 3]));
        sabotage(&figure, &rows, &null, (&judge(&figure.claims, &rows, true), true))
    }

    const LESS: &str =
        r#"(text: "less", check: less(metric: "energy_j", a: "A", b: "B", at: every_step))"#;

    #[test]
    fn a_figure_that_null_passes_is_found() {
        assert!(found(LESS, "frozen").is_good());
        // Its energy stays below that of B: only the label tells that it did nothing.
        assert_eq!(found(LESS, "ok").replaceable, ["avbd"]);
        let full_only = LESS.replace("at: every_step)", "at: every_step), full_only: true");
        assert_eq!(found(&full_only, "frozen").replaceable, ["avbd", "vbd"], "nothing is judged");
    }

    #[test]
    fn a_claim_that_cannot_fail_is_found_unless_it_says_why() {
        let sure = r#"(text: "sure", check: bound(metric: "energy_j", run: "A", at: min, min: -1), basis: reading)"#;
        // Neither less of it, nor a third, nor the least allowed is below the least.
        let sure = sure.replace("min: -1", "min: -4");
        assert_eq!(found(&sure, "frozen").unfailing, ["sure"]);
        let sure = sure.replace("min: -4)", "min: -4), unfailing: \"w\"");
        assert!(found(&sure, "frozen").is_good());
        let less = LESS.replace("at: every_step)", "at: every_step), unfailing: \"w\"");
        assert_eq!(found(&less, "frozen").excused, [("less".to_owned(), "w".to_owned(), true)]);
        assert!(!found(&less, "frozen").is_good(), "it can fail after all");
    }

    #[test]
    fn a_claim_on_a_label_flips_with_the_label() {
        let status = r#"(text: "ends", check: status(run: "A", is: ["ok"]))"#;
        assert!(found(status, "frozen").is_good());
        let any = r#"(text: "any", check: status(run: "A", is: ["ok", "exploded"]))"#;
        assert_eq!(found(any, "frozen").unfailing, ["any"]);
    }
}
