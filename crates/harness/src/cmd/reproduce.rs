//! `taut reproduce` and `taut regress`: figures run again, their claims judged, their curves compared.

use std::path::Path;

use anyhow::bail;
use serde_json::{Value, json};

use super::{Outcome, Session, json as pretty, print};
use crate::{
    args::FigureArgs,
    backends::LEFT_OUT,
    figure::{self, ReproduceOptions, Reproduced, Sabotage},
    machine::Machine,
    places,
    progress::Progress,
    record::{OutDir, SCHEMA},
    text_table::TextTable,
};

/// What is asked of the figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Questions {
    /// Do the claims hold?
    pub(crate) claims: bool,
    /// Are the curves those that were recorded?
    pub(crate) curves: bool,
    /// Is a better curve as bad as a worse one?
    pub(crate) strict: bool,
    /// Can the claims fail?
    pub(crate) sabotage: bool,
}

impl Questions {
    fn verb(self) -> &'static str {
        if self.claims { "reproduce" } else { "regress" }
    }

    fn is_as_recorded(self, figure: &Reproduced) -> bool {
        figure.is_as_recorded() && !(self.strict && figure.is_better())
    }

    /// Whether a figure gives a good answer.
    fn is_good(self, figure: &Reproduced) -> bool {
        (!self.claims || figure.claims_are_good()) && (!self.curves || self.is_as_recorded(figure))
    }
}

pub(crate) fn main(
    session: &Session<'_>,
    args: &FigureArgs,
    questions: Questions,
) -> anyhow::Result<Outcome> {
    let root = places::root()?;
    let chosen = choose(&root, args, questions)?;
    // All definitions are read before the first run: a mistake should not cost minutes.
    let named = !args.figures.is_empty();
    let mut planned = 0;
    let mut ids = Vec::with_capacity(chosen.len());
    for id in chosen {
        match figure::load(&root, &id, session.bench.setup) {
            Ok(figure) if figure.large && !(args.quick || args.large || named) => {
                eprintln!("taut: {id} is large and left out: name it, or give --large");
                continue;
            }
            Ok(figure) => planned += figure.plan(args.quick).len() as u64,
            // Only what was named must be drawn; of all figures, those that this program can draw.
            Err(error) if !named && error.message.ends_with(LEFT_OUT) => {
                eprintln!("taut: {id} is left out: {error}");
                continue;
            }
            Err(error) => return Err(error.into()),
        }
        ids.push(id);
    }
    let built = Machine::here(1).revision;
    if args.bless && !args.dirty && built.ends_with("-dirty") {
        bail!(
            "this program was built from sources that differ from {built}: commit and build, or give \
             --dirty to bless what nobody can make again"
        );
    }
    let mut out = OutDir::create(session.common.out.as_deref(), questions.verb())?;
    let options = ReproduceOptions {
        root: &root,
        out: out.path(),
        quick: args.quick,
        bless: args.bless,
        sabotage: questions.sabotage,
        starts: args.spread.unwrap_or(if args.quick { 8 } else { 0 }),
    };
    let progress = Progress::new(planned, "runs");
    let mut figures = Vec::new();
    for id in &ids {
        progress.start(id);
        figures.push(figure::reproduce(&session.bench, id, &options, &|_| progress.advance(1))?);
        if session.bench.is_cancelled() {
            break;
        }
    }
    progress.finish();

    let name = format!("{}.json", questions.verb());
    let file = out.add(&name);
    let document = document(session, args, questions, &figures, &file)?;
    out.write(&name, &pretty(&document)?)?;
    if session.common.json {
        print(&pretty(&document)?)?;
    } else {
        let texts: Vec<String> = figures.iter().map(|f| describe(f, questions)).collect();
        print(&format!("{}\nwritten to {}\n", texts.join("\n"), out.path().display()))?;
    }
    Ok(outcome(session, args, questions, &figures))
}

/// The figures asked for; `regress` takes all unless some are named.
fn choose(root: &Path, args: &FigureArgs, questions: Questions) -> anyhow::Result<Vec<String>> {
    let all = args.all || (args.figures.is_empty() && !questions.claims);
    if !all && args.figures.is_empty() {
        bail!("name a figure, or --all; `taut list figures` shows what there is");
    }
    if !all {
        return Ok(args.figures.clone());
    }
    let ids = figure::ids(root)?;
    if ids.is_empty() {
        bail!("there are no figures in {}", root.join("results/figures").display());
    }
    Ok(ids)
}

fn document(
    session: &Session<'_>,
    args: &FigureArgs,
    questions: Questions,
    figures: &[Reproduced],
    file: &Path,
) -> anyhow::Result<Value> {
    let entry = |figure: &Reproduced| match (questions.claims, questions.curves) {
        (false, _) => Ok(figure.regression()),
        (true, false) => figure.document(),
        (true, true) => figure.document_with_curves(),
    };
    let entries = figures.iter().map(entry).collect::<anyhow::Result<Vec<Value>>>()?;
    Ok(json!({
        "schema": SCHEMA,
        "verb": questions.verb(),
        "command": session.command,
        "quick": args.quick,
        "machine": serde_json::to_value(Machine::here(session.bench.threads()))?,
        "figures": entries,
        "files": [file],
    }))
}

fn outcome(
    session: &Session<'_>,
    args: &FigureArgs,
    questions: Questions,
    figures: &[Reproduced],
) -> Outcome {
    if session.bench.is_cancelled() {
        Outcome::Interrupted
    } else if !figures.iter().any(Reproduced::was_measured) {
        Outcome::NothingMeasured
    } else if figures.iter().all(|figure| questions.is_good(figure))
        // What has just been blessed is good by decision.
        || (args.bless && !questions.claims)
    {
        Outcome::Good
    } else {
        Outcome::CheckFailed
    }
}

/// A figure's answer for a terminal.
fn describe(figure: &Reproduced, questions: Questions) -> String {
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
    if let Some(sabotage) = &figure.sabotage {
        text += &describe_sabotage(sabotage);
    }
    if !questions.curves {
        return text;
    }
    let (Some(shifts), Some(differences)) = (&figure.shifts, &figure.differences) else {
        return text + "  nothing recorded: give --bless to record\n";
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
        let measured = [shift.area, shift.end, shift.slope].into_iter().zip(shift.band);
        let numbers = measured.map(|(value, band)| format!("{value:+.4} of {band:.4}"));
        let mut cells = vec![
            shift.change.name().to_owned(),
            (shift.panel + 1).to_string(),
            shift.curve.clone(),
        ];
        cells.extend(numbers);
        table.push(cells);
    }
    text + &table.render()
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
