//! `taut reproduce` and `taut regress`: figures run again, their claims judged, their curves compared.

mod words;

use std::path::Path;

use anyhow::bail;
use serde_json::{Value, json};

use self::words::{describe, markdown};
use super::{Outcome, Session, json as pretty, print};
use crate::{
    args::{FigureArgs, RegressArgs},
    checkout::Checkout,
    figure::{self, Guest, ReproduceOptions, Reproduced},
    machine::Machine,
    progress::Progress,
    record::SCHEMA,
    spec::Named,
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
    /// Is the answer what is recorded from now on?
    pub(crate) bless: bool,
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

/// What curves are held to beside or instead of what is committed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Holding<'a> {
    guest: Option<Guest>,
    baseline: Option<&'a Path>,
}

/// Compares curves with recorded ones: those of figures, or of a backend that takes part in them.
pub(crate) fn regress(session: &Session<'_>, args: &RegressArgs) -> anyhow::Result<Outcome> {
    let strict = args.figures.strict;
    let bless = args.figures.bless;
    let questions = Questions { claims: false, curves: true, strict, sabotage: false, bless };
    let guest = match (&args.guest.backend, &args.guest.like) {
        (Some(backend), Some(like)) => {
            if args.figures.figures.is_empty() {
                bail!("--as takes part in figures that are named: `taut list figures` shows them");
            }
            let spec = Named::parse(backend)?.spec(1, 1);
            session.bench.find(&spec.backend)?;
            let (label, backend, settings) = (spec.label, spec.backend, spec.settings);
            Some(Guest { label, backend, settings, like: like.clone() })
        }
        _ => None,
    };
    main(session, &args.figures, questions, Holding { guest, baseline: args.baseline.as_deref() })
}

pub(crate) fn main(
    session: &Session<'_>,
    args: &FigureArgs,
    questions: Questions,
    holding: Holding<'_>,
) -> anyhow::Result<Outcome> {
    let root = &session.root;
    let (ids, planned) = planned(session, args, questions, holding.guest.as_ref())?;
    if args.bless && holding.baseline.is_none() {
        root.folder()?;
    }
    let built = Machine::here(1).revision;
    if args.bless && !args.dirty && built.ends_with("-dirty") {
        bail!(
            "this program was built from sources that differ from {built}: commit and build, or give \
             --dirty to bless what nobody can make again"
        );
    }
    let mut out = session.out_dir(questions.verb())?;
    let options = ReproduceOptions {
        root,
        out: out.path(),
        quick: args.quick,
        bless: args.bless,
        guest: holding.guest.as_ref(),
        baseline: holding.baseline,
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
    if !questions.claims {
        out.write("regress.md", &markdown(&figures, questions))?;
    }
    if session.common.json {
        print(&pretty(&document)?)?;
    } else {
        let texts: Vec<String> = figures.iter().map(|f| describe(f, questions)).collect();
        print(&format!("{}\nwritten to {}\n", texts.join("\n"), out.path().display()))?;
    }
    Ok(outcome(session, args, questions, &figures))
}

/// The figures to make and how many runs they have. All definitions are read before the first run: a mistake should not
/// cost minutes.
fn planned(
    session: &Session<'_>,
    args: &FigureArgs,
    questions: Questions,
    guest: Option<&Guest>,
) -> anyhow::Result<(Vec<String>, u64)> {
    let named = !args.figures.is_empty();
    let (mut ids, mut planned) = (Vec::new(), 0);
    for id in choose(&session.root, args, questions)? {
        let setup = session.bench.setup;
        let figure = figure::load_with(&session.root, &id, setup, (guest, args.quick))?;
        if figure.large && !(args.quick || args.large || named) {
            eprintln!("taut: {id} is large and left out: name it, or give --large");
            continue;
        }
        planned += figure.plan(args.quick).len() as u64;
        ids.push(id);
    }
    Ok((ids, planned))
}

/// The figures asked for; `regress` takes all unless some are named.
fn choose(root: &Checkout, args: &FigureArgs, questions: Questions) -> anyhow::Result<Vec<String>> {
    let all = args.all || (args.figures.is_empty() && !questions.claims);
    if !all && args.figures.is_empty() {
        bail!("name a figure, or --all; `taut list figures` shows what there is");
    }
    if !all {
        return Ok(args.figures.clone());
    }
    let ids = figure::ids(root)?;
    if ids.is_empty() {
        bail!("there are no figures in {}", root.on_disk("results/figures").display());
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
        // Whoever takes part wants to see among whom.
        (false, _) if figure.figure.guest.is_some() => figure.document_with_curves(),
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
