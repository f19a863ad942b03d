//! Verdicts on file: what a figure's claims and runs came to when it was last blessed.
//!
//! `verdict.json` lies beside the recorded curves, `verdict-quick.json` holds the quick form. Both say of what
//! definition they are, so that a changed figure cannot go by an old verdict.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use anyhow::Context;
use serde::{Deserialize, Serialize};
use taut_core::BitHash;

use super::{Figure, FigureRow, Judged, StartCount, filed};
use crate::{
    checkout::{self, Checkout},
    places,
    record::{Division, RunRow, Status},
    ruler::ITERATIONS_USED,
};

/// Version of these files.
const SCHEMA: u32 = 1;

/// What a figure came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VerdictFile {
    /// Version of this file.
    pub schema: u32,
    /// Whether this is the quick form.
    pub quick: bool,
    /// Hash of `figure.ron` and of the scenes that it names.
    pub definition: String,
    /// Revision of the program's sources.
    pub revision: String,
    /// When, UTC.
    pub date: String,
    /// Processor and operating system.
    pub machine: String,
    /// Graphics adapter; `none` where no run used one.
    pub adapter: String,
    /// How long all runs took [s].
    pub seconds: f64,
    /// The claims, in the order of the definition.
    pub claims: Vec<ClaimVerdict>,
    /// The runs, in the order of the definition.
    pub runs: Vec<RunVerdict>,
}

/// What became of a claim.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClaimVerdict {
    /// The sentence.
    pub text: String,
    /// What should be so, in words.
    pub check: String,
    /// One of the words of [`super::Verdict`].
    pub verdict: String,
    /// What was found, in words.
    pub measured: String,
    /// The numbers in it; those that are not finite are `null`.
    pub values: Vec<Option<f64>>,
    /// Why it is known not to hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known_deviation: Option<String>,
    /// From how many starts that rounding cannot tell apart the check is met; absent where nobody has looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub starts: Option<StartCount>,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunVerdict {
    /// Its label.
    pub label: String,
    /// Its backend.
    pub backend: String,
    /// Iterations per step.
    pub iterations: u32,
    /// Steps per frame.
    pub substeps: u32,
    /// Which rows it is fair to compare it with; absent in files of before it was told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub division: Option<Division>,
    /// Where it was computed: `cpu`, `gpu` or `software`.
    pub device: String,
    /// `ok`, or what went wrong.
    pub status: String,
    /// When it first went wrong [s].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed_at_s: Option<f64>,
    /// Number of the first step at which runs from starts that rounding cannot tell apart have parted by 0.1 % of the
    /// scene's size; absent where they stay together, or nobody has looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub horizon: Option<u32>,
    /// Most iterations of a step, where the solver took more than it was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iterations_used: Option<u32>,
    /// Why; empty where it is `ok`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// Hash of the bits of every frame's state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state_hash: Option<String>,
}

impl RunVerdict {
    /// Whether it ran, and ended otherwise than `ok`.
    pub fn has_failed(&self) -> bool {
        !["ok", "unsupported", "skipped"].contains(&self.status.as_str())
    }
}

impl VerdictFile {
    /// The verdicts on a figure's claims and runs, made by the program that asks.
    pub(super) fn new(
        definition: String,
        quick: bool,
        claims: &[Judged],
        (runs, rows): (&[RunRow], &[FigureRow]),
        seconds: f64,
    ) -> Self {
        let machine = crate::machine::Machine::here(1);
        let finite = |value: &f64| value.is_finite().then_some(*value);
        let claim = |claim: &Judged| ClaimVerdict {
            text: claim.text.clone(),
            check: claim.expected.clone(),
            verdict: claim.verdict.as_str().to_owned(),
            measured: claim.measured.clone(),
            values: claim.values.iter().map(finite).collect(),
            known_deviation: claim.known_deviation.clone(),
            starts: claim.starts,
        };
        let run = |(run, row): (&RunRow, &FigureRow)| RunVerdict {
            label: run.label.clone(),
            backend: run.backend.clone(),
            iterations: run.iterations,
            substeps: run.substeps,
            division: Some(run.division),
            device: run.device.name().to_owned(),
            status: run.status.name().to_owned(),
            failed_at_s: run.failed_at_s,
            horizon: row.horizon,
            iterations_used: more_iterations(row),
            reason: run.reason.clone(),
            state_hash: run.state_hash.map(|hash| format!("{:016x}", hash.value())),
        };
        Self {
            schema: SCHEMA,
            quick,
            definition,
            revision: machine.revision.to_owned(),
            date: machine.time,
            machine: format!("{}, {} cores, {}", machine.cpu, machine.cores, machine.os),
            adapter: machine.adapter,
            seconds,
            claims: claims.iter().map(claim).collect(),
            runs: runs.iter().zip(rows).map(run).collect(),
        }
    }

    /// What is recorded of a figure and compared: all, or the ends of the guest's runs where there is one.
    pub(super) fn held(&self, figure: &Figure) -> Self {
        let mut held = self.clone();
        if figure.guest.is_some() {
            held.claims.clear();
            held.runs.retain(|run| figure.is_guest(&run.label));
        }
        held
    }

    /// The horizons on file, into the rows of the same labels.
    pub(super) fn recall_horizons(&self, rows: &mut [FigureRow]) {
        for row in rows {
            let old = self.runs.iter().find(|old| old.label == row.label);
            row.horizon = old.and_then(|old| old.horizon);
        }
    }

    /// How what was found now differs from what is on file, one sentence each; skipped runs and claims that cannot be
    /// judged on this machine are no difference.
    pub(crate) fn differences(&self, now: &Self) -> Vec<String> {
        let mut found = Vec::new();
        if self.definition != now.definition {
            found.push("the figure or a scene of it has changed since its verdict".to_owned());
        }
        for old in &self.runs {
            let Some(new) = now.runs.iter().find(|new| new.label == old.label) else {
                found.push(format!("{} was {} and is not run any more", old.label, old.status));
                continue;
            };
            let skipped =
                [&old.status, &new.status].into_iter().any(|s| s == Status::Skipped.name());
            if new.status != old.status && !skipped {
                found.push(format!("{} was {}, is {}", old.label, old.status, new.status));
            }
        }
        for new in &now.runs {
            if !self.runs.iter().any(|old| old.label == new.label) {
                found.push(format!("{} is new", new.label));
            }
        }
        let open = super::Verdict::NotJudged.as_str();
        for old in &self.claims {
            let new = now.claims.iter().find(|new| new.text == old.text && new.check == old.check);
            let Some(new) = new else { continue };
            let left_open = [&old.verdict, &new.verdict].into_iter().any(|verdict| verdict == open);
            if new.verdict != old.verdict && !left_open {
                found.push(format!("{} was `{}`, is `{}`", old.text, old.verdict, new.verdict));
            }
        }
        found
    }
}

/// The most iterations for a step of a run, where that is more than it was given.
fn more_iterations(row: &FigureRow) -> Option<u32> {
    let used = row.column(ITERATIONS_USED)?.iter().copied().fold(0.0, f64::max);
    (used > row.fact("iterations")?).then_some(used as u32)
}

/// Name of the file in a figure's folder.
pub(super) fn file_name(quick: bool) -> &'static str {
    if quick { "verdict-quick.json" } else { "verdict.json" }
}

/// The verdicts on file of a figure; `None` where there are none.
///
/// # Errors
/// When the file cannot be read, or is of another version.
pub fn read(root: &Checkout, id: &str, quick: bool) -> anyhow::Result<Option<VerdictFile>> {
    read_file(&filed(root, id, file_name(quick)))
}

/// The verdicts in a file; `None` where there is none.
///
/// # Errors
/// As [`read`].
pub(super) fn read_file(path: &Path) -> anyhow::Result<Option<VerdictFile>> {
    let Some(text) = checkout::text(path)? else { return Ok(None) };
    let file: VerdictFile =
        serde_json::from_str(&text).with_context(|| path.display().to_string())?;
    anyhow::ensure!(
        file.schema == SCHEMA,
        "{}: version {}, this program reads {SCHEMA}",
        path.display(),
        file.schema
    );
    Ok(Some(file))
}

/// A definition without what only tells of the figure and changes nothing in its runs or checks: its size, titles, where
/// numbers come from, what its pictures show and its conclusion. Each stands on a line of its own, or after a comma
/// within one.
fn without_remarks(text: &str) -> String {
    const LINES: [&str; 7] =
        ["size: ", "basis: ", "id: ", "emphasis: ", "supplement: ", "conclusion: ", "views: "];
    const WITHIN: [&str; 2] = [", basis: ", ", id: "];
    let is_remark = |line: &&str| {
        let line = line.trim();
        LINES.iter().any(|remark| line.starts_with(remark)) || is_title(line)
    };
    let mut kept = String::new();
    for line in text.split_inclusive('\n').filter(|line| !is_remark(line)) {
        let mut line = line.to_owned();
        for remark in WITHIN {
            while let Some(start) = line.find(remark) {
                let tail = &line[start + remark.len()..];
                let is_word = |c: char| c.is_ascii_alphanumeric() || "_-\"".contains(c);
                let length = tail.find(|c| !is_word(c)).unwrap_or(tail.len());
                line.replace_range(start..start + remark.len() + length, "");
            }
        }
        kept += &line;
    }
    kept
}

/// Whether a line has a title and nothing else.
fn is_title(line: &str) -> bool {
    let text = line.strip_prefix("title: \"").and_then(|rest| rest.strip_suffix("\","));
    text.is_some_and(|text| !text.contains('"'))
}

/// Hash of a figure's definition and of the scenes that it names, as they are on file, but for what only tells of the figure.
///
/// # Errors
/// When one cannot be read.
pub fn definition_hash(root: &Checkout, figure: &Figure) -> anyhow::Result<String> {
    let scenes: BTreeSet<&str> = figure.runs.iter().map(|run| run.scene.as_str()).collect();
    let read = |path: PathBuf| {
        checkout::text(&path)?.with_context(|| format!("cannot read {}", path.display()))
    };
    let mut hash = BitHash::default();
    hash.text(&without_remarks(&read(filed(root, &figure.id, "figure.ron"))?));
    for scene in scenes {
        hash.text(&read(places::named(root, scene))?);
    }
    if let Some(guest) = &figure.guest {
        // Another budget is another run, under the same label.
        hash.text(&guest.like);
    }
    Ok(format!("{:016x}", hash.value()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(status: &str, verdict: &str) -> VerdictFile {
        let run = RunVerdict {
            label: "A".to_owned(),
            backend: "null".to_owned(),
            iterations: 1,
            substeps: 1,
            division: Some(Division::Closed),
            device: "cpu".to_owned(),
            status: status.to_owned(),
            failed_at_s: None,
            horizon: None,
            iterations_used: None,
            reason: String::new(),
            state_hash: None,
        };
        let claim = ClaimVerdict {
            text: "it falls".to_owned(),
            check: "below".to_owned(),
            verdict: verdict.to_owned(),
            measured: String::new(),
            values: vec![Some(1.0), None],
            known_deviation: None,
            starts: None,
        };
        VerdictFile {
            schema: SCHEMA,
            quick: false,
            definition: "0".to_owned(),
            revision: "r".to_owned(),
            date: "d".to_owned(),
            machine: "m".to_owned(),
            adapter: "none".to_owned(),
            seconds: 1.0,
            claims: vec![claim],
            runs: vec![run],
        }
    }

    #[test]
    fn a_changed_end_verdict_or_definition_is_a_difference() {
        let old = file("ok", "holds");
        assert!(old.differences(&old).is_empty());
        assert_eq!(old.differences(&file("exploded", "holds")), ["A was ok, is exploded"]);
        assert_eq!(old.differences(&file("ok", "void")), ["it falls was `holds`, is `void`"]);
        assert!(old.differences(&file("skipped", "not judged")).is_empty(), "no device here");
        let other = VerdictFile { definition: "1".to_owned(), ..old.clone() };
        assert!(old.differences(&other)[0].contains("has changed"));
        let fewer = VerdictFile { runs: Vec::new(), ..old.clone() };
        assert_eq!(old.differences(&fewer), ["A was ok and is not run any more"]);
        assert_eq!(fewer.differences(&old), ["A is new"]);
    }

    #[test]
    fn remarks_change_no_definition() {
        assert!(!is_title("title: \"a\", about: \"b\","), "what else is on the line counts");
        let bare = "(\n    runs: [],\n            check: a(b: 1),\n        (text: \"t\", check: c(d: 2)),\n)";
        let told = "(\n    title: \"a\",\n    size: \"one\",\n    views: [(id: \"film\")],\n    runs: [],\n            check: a(b: 1),\n            basis: closed_form,\n        \
                    (text: \"t\", check: c(d: 2), basis: reading),\n)";
        assert_eq!(without_remarks(told), bare);
        assert_eq!(without_remarks(bare), bare);
    }

    #[test]
    fn a_file_is_read_as_it_was_written() {
        let old = file("ok", "holds");
        let text = serde_json::to_string_pretty(&old).unwrap();
        assert_eq!(serde_json::from_str::<VerdictFile>(&text).unwrap(), old);
    }
}
