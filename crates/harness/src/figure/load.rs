//! Reading figure definitions, with messages that say where and what.

use std::{
    collections::BTreeSet,
    ffi::OsStr,
    path::{Path, PathBuf},
};

use taut_core::settings::nearest;

use super::{
    Claim, ClaimCheck, Figure, PanelSpec, Planned, ProbeSpec, ProfileSpec, SHORTEST, TIMED, Target,
    filed, is_time,
};
use crate::{
    Setup,
    backends::left_out,
    checkout::{self, Checkout},
    plot::MOST_EMPHASISED,
};

/// A definition that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadError {
    /// File.
    pub path: PathBuf,
    /// Line, from 1; 0 where none can be named.
    pub line: usize,
    /// Column, from 1.
    pub column: usize,
    /// What is wrong, with a near name where there is one.
    pub message: String,
}

impl std::fmt::Display for LoadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { path, line, column, message } = self;
        match line {
            0 => write!(f, "{}: {message}", path.display()),
            _ => write!(f, "{}:{line}:{column}: {message}", path.display()),
        }
    }
}

impl std::error::Error for LoadError {}

/// Reads and checks `results/figures/<id>/figure.ron` against the backends and metrics there are.
///
/// # Errors
/// [`LoadError`] when there is no such figure, or its file is malformed or contradicts itself.
pub fn load(root: &Checkout, id: &str, setup: &Setup) -> Result<Figure, LoadError> {
    let path = filed(root, id, "figure.ron");
    let fail = |message| LoadError { path: path.clone(), line: 0, column: 0, message };
    // Results are written to a folder of the figure's name.
    if Path::new(id).file_name() != Some(OsStr::new(id)) {
        return Err(fail(format!("`{id}` is a path, not the name of a figure")));
    }
    let unknown = || {
        let ids = super::ids(root).unwrap_or_default();
        let known: Vec<&str> = ids.iter().map(String::as_str).collect();
        fail(format!("no figure `{id}`{}", hint(id, &known)))
    };
    let text = checkout::text(&path).map_err(|error| fail(error.root_cause().to_string()))?;
    let text = text.ok_or_else(unknown)?;
    parse(&text, id, &path, setup)
}

/// Reads and checks the text of a definition.
///
/// # Errors
/// As [`load`].
pub fn parse(text: &str, id: &str, path: &Path, setup: &Setup) -> Result<Figure, LoadError> {
    let options =
        ron::Options::default().with_default_extension(ron::extensions::Extensions::IMPLICIT_SOME);
    let mut figure: Figure = options.from_str(text).map_err(|error| LoadError {
        path: path.to_owned(),
        line: error.span.start.line,
        column: error.span.start.col,
        message: explain(&error.code),
    })?;
    (figure.id, figure.asked) = (id.to_owned(), setup.metrics.named_in(text));
    figure.claims.iter_mut().for_each(|claim| claim.find_motion(&figure.probes));
    check(&figure, setup).map_err(|Wrong { what, quoted }| {
        let (line, column) = quoted.map_or((0, 0), |name| find(text, &name));
        LoadError { path: path.to_owned(), line, column, message: what }
    })?;
    Ok(figure)
}

fn explain(error: &ron::Error) -> String {
    match error {
        ron::Error::NoSuchStructField { expected, found, .. } => {
            format!("unknown field `{found}`{}", hint_or_list(found, expected))
        }
        ron::Error::NoSuchEnumVariant { expected, found, .. } => {
            format!("unknown variant `{found}`{}", hint_or_list(found, expected))
        }
        ron::Error::MissingStructField { field, outer } => {
            let place = outer.as_ref().map(|o| format!(" of `{o}`")).unwrap_or_default();
            format!("field `{field}`{place} is missing")
        }
        other => other.to_string(),
    }
}

fn hint(found: &str, known: &[&str]) -> String {
    nearest(found, known).map(|name| format!(" (did you mean `{name}`?)")).unwrap_or_default()
}

fn hint_or_list(found: &str, known: &[&str]) -> String {
    match hint(found, known) {
        hint if hint.is_empty() => format!(", expected one of {}", known.join(", ")),
        hint => hint,
    }
}

/// Line and column of a quoted name's first mention.
fn find(text: &str, name: &str) -> (usize, usize) {
    let Some(offset) = text.find(&format!("\"{name}\"")) else { return (0, 0) };
    let before = &text[..offset];
    let line_start = before.rfind('\n').map_or(0, |i| i + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

/// A contradiction, with a name by which its place may be found.
struct Wrong {
    what: String,
    quoted: Option<String>,
}

impl Wrong {
    fn named(what: String, name: &str) -> Self {
        Self { what, quoted: Some(name.to_owned()) }
    }

    fn unknown(what: &str, name: &str, known: &[&str]) -> Self {
        Self::named(format!("unknown {what} `{name}`{}", hint_or_list(name, known)), name)
    }
}

fn check(figure: &Figure, setup: &Setup) -> Result<(), Wrong> {
    check_runs(figure, setup)?;
    check_panels(figure, setup)?;
    for claim in &figure.claims {
        check_claim(figure, setup, claim)?;
    }
    let ids: Vec<&str> = figure.claims.iter().filter_map(|claim| claim.id.as_deref()).collect();
    let concluded = figure.conclusion.as_ref().and_then(|c| Some((c.mistake(&ids)?, &*c.text)));
    let viewed = figure.views.iter().find_map(|view| view.mistake(&figure.plan(false)));
    concluded.or(viewed).map_or(Ok(()), |(what, name)| Err(Wrong::named(what, name)))
}

fn check_runs(figure: &Figure, setup: &Setup) -> Result<(), Wrong> {
    let backends: Vec<&str> = setup.table.names().collect();
    let plan = figure.plan(false);
    let mut labels = BTreeSet::new();
    for planned in &plan {
        if !labels.insert(planned.label.as_str()) {
            let what = format!("two runs are called `{}`", planned.label);
            return Err(Wrong::named(what, &planned.group));
        }
    }
    for run in &figure.runs {
        if !backends.contains(&run.backend.as_str()) && !left_out(&run.backend) {
            return Err(Wrong::unknown("backend", &run.backend, &backends));
        }
        if run.iterations.is_empty() || run.iterations.contains(&0) {
            let what = format!("`{}` needs `iterations` of at least 1", run.label);
            return Err(Wrong::named(what, &run.label));
        }
        if run.substeps.is_empty() || run.substeps.contains(&0) || run.steps == Some(0) {
            let what = format!("`{}` needs `substeps` and `steps` of at least 1", run.label);
            return Err(Wrong::named(what, &run.label));
        }
        let Some(reference) = &run.reference else { continue };
        let Some(other) = plan.iter().find(|p| p.label == *reference) else {
            let known: Vec<&str> = labels.into_iter().collect();
            return Err(Wrong::unknown("run", reference, &known));
        };
        if other.run.scene != run.scene || other.run.parameters != run.parameters {
            let what = format!("reference `{reference}` of `{}` is another scene", run.label);
            return Err(Wrong::named(what, reference));
        }
        if other.run.reference.is_some() {
            let what = format!("reference `{reference}` cannot have a reference of its own");
            return Err(Wrong::named(what, reference));
        }
    }
    Ok(())
}

fn check_panels(figure: &Figure, setup: &Setup) -> Result<(), Wrong> {
    if figure.plot.panels.is_empty() {
        return Err(Wrong { what: "the plot has no panels".to_owned(), quoted: None });
    }
    for panel in &figure.plot.panels {
        for pattern in &panel.runs {
            let found = figure.plan(false).iter().any(|p| p.matches(pattern));
            if !found {
                return Err(unknown_run(figure, pattern));
            }
        }
        if let Some(profile) = &panel.profile {
            check_profile(figure, panel, profile)?;
        }
        check_emphasis(figure, panel)?;
        let facts = panel.statistic.is_some();
        known_quantity(figure, setup, &panel.x.quantity, facts)?;
        known_quantity(figure, setup, &panel.y.quantity, facts)?;
    }
    Ok(())
}

fn check_emphasis(figure: &Figure, panel: &PanelSpec) -> Result<(), Wrong> {
    if panel.emphasis.len() > MOST_EMPHASISED {
        let what = format!("at most {MOST_EMPHASISED} curves of a panel are emphasised");
        return Err(Wrong::named(what, &panel.title));
    }
    let known: Vec<String> = match (&panel.profile, panel.statistic) {
        (Some(profile), _) => profile.methods.keys().cloned().collect(),
        (None, Some(_)) => figure.runs.iter().map(|run| run.label.clone()).collect(),
        (None, None) => figure.plan(false).into_iter().map(|planned| planned.label).collect(),
    };
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    let unknown = panel.emphasis.iter().find(|name| !known.contains(&name.as_str()));
    unknown.map_or(Ok(()), |name| Err(Wrong::unknown("curve", name, &known)))
}

fn check_profile(figure: &Figure, panel: &PanelSpec, profile: &ProfileSpec) -> Result<(), Wrong> {
    let titled = |what: &str| Wrong::named(what.to_owned(), &panel.title);
    if panel.statistic.is_none() {
        return Err(titled("a profile takes a `statistic` of each run"));
    }
    if let Some(mistake) = profile.mistake() {
        return Err(titled(mistake));
    }
    let groups: Vec<&str> = figure.runs.iter().map(|run| run.label.as_str()).collect();
    let mut entries = profile.methods.values().flatten();
    let unknown = entries.find(|entry| !groups.contains(&entry.as_str()));
    unknown.map_or(Ok(()), |entry| Err(Wrong::unknown("entry of runs", entry, &groups)))
}

/// How a run may end.
const ENDS: [&str; 10] = [
    "ok",
    "intersecting",
    "penetrating",
    "falling",
    "frozen",
    "exploded",
    "diverged",
    "failed",
    "unsupported",
    "skipped",
];

fn check_claim(figure: &Figure, setup: &Setup, claim: &Claim) -> Result<(), Wrong> {
    let check = &claim.check;
    match check {
        ClaimCheck::Bound { metric, min, max, .. } => needs_a_limit(metric, min, max)?,
        ClaimCheck::Never { metric, below, above, .. } => needs_a_limit(metric, below, above)?,
        ClaimCheck::Needs { metric, min, max, least, most, .. } => {
            needs_a_limit(metric, min, max)?;
            needs_a_limit(metric, least, most)?;
        }
        ClaimCheck::Within { metric, of: Target::Run(_), at, .. }
            if at.is_mean() && figure.probes.get(metric).is_some_and(ProbeSpec::is_of_place) =>
        {
            let what = format!("the means of `{metric}` say little of the motion: use `follows`");
            return Err(Wrong::named(what, metric));
        }
        ClaimCheck::Follows { metric, at, .. } if !at.is_every_step() => {
            let what = format!("`{metric}` follows step by step: use `every_step` and the like");
            return Err(Wrong::named(what, metric));
        }
        _ => {}
    }
    if let Some(time) = check.metric().filter(|metric| is_time(metric)) {
        let what = format!(
            "`{time}` is of this machine: compare runs by `faster`, or tell of `published` times"
        );
        return Err(Wrong::named(what, time));
    }
    let groups: Vec<&str> = figure.runs.iter().map(|run| run.label.as_str()).collect();
    if let Some(entry) = check.entry().filter(|entry| !groups.contains(entry)) {
        return Err(Wrong::unknown("entry of runs", entry, &groups));
    }
    if let ClaimCheck::Slope { versus, .. } | ClaimCheck::Needs { versus, .. } = check {
        known_quantity(figure, setup, versus, true)?;
    }
    let plan = figure.plan(false);
    for run in check.runs() {
        if !plan.iter().any(|planned| planned.label == run) {
            return Err(unknown_run(figure, run));
        }
    }
    for (run, ends) in &claim.ends {
        let mut named =
            plan.iter().filter(|planned| planned.label == *run || planned.group == *run);
        if !named.any(|planned| check.names(&planned.label, &planned.group)) {
            let what = format!("`ends` tells of `{run}`, which the claim does not name");
            return Err(Wrong::named(what, run));
        }
        if let Some(end) = ends.iter().find(|end| !ENDS.contains(&end.as_str())) {
            return Err(Wrong::unknown("end of a run", end, &ENDS));
        }
    }
    if claim.full_only && claim.quick_only {
        return Err(Wrong::named(
            "a claim is for the full or for the quick size".to_owned(),
            &claim.text,
        ));
    }
    check_budgets(claim, &plan)?;
    if check.has_limits() != claim.basis.is_some() {
        let what = match claim.basis {
            None => {
                "say under `basis` where its numbers come from: `source`, `closed_form`, `reference`, `reading` \
                     or `regression`"
            }
            Some(_) => "`basis` tells where numbers come from, and the check has none",
        };
        return Err(Wrong::named(what.to_owned(), &claim.text));
    }
    check.metric().map_or(Ok(()), |metric| known_quantity(figure, setup, metric, true))
}

/// Methods are compared at equal budgets, or the claim says why not. References have no budget: they are taken
/// for the truth.
fn check_budgets(claim: &Claim, plan: &[Planned]) -> Result<(), Wrong> {
    let runs = claim.check.runs();
    let is_reference = |label: &str| plan.iter().any(|p| p.run.reference.as_deref() == Some(label));
    let rivals: Vec<&Planned> = plan
        .iter()
        .filter(|p| runs.contains(&p.label.as_str()) && !is_reference(&p.label))
        .collect();
    for pair in rivals.windows(2) {
        let work = |p: &Planned| p.iterations * p.substeps;
        let [a, b] = [pair[0], pair[1]];
        let unequal = a.method() != b.method() && work(a) != work(b);
        if unequal && claim.unequal_budget.is_none() {
            let [work_a, work_b] = [work(a), work(b)];
            let what = format!(
                "`{}` has {work_a} iterations a frame and `{}` {work_b}: say why under `unequal_budget`",
                a.label, b.label
            );
            return Err(Wrong::named(what, &claim.text));
        }
    }
    Ok(())
}

fn needs_a_limit(metric: &str, low: &Option<f64>, high: &Option<f64>) -> Result<(), Wrong> {
    if low.is_none() && high.is_none() {
        return Err(Wrong::named(format!("the claim on `{metric}` has no limit"), metric));
    }
    Ok(())
}

fn unknown_run(figure: &Figure, name: &str) -> Wrong {
    let plan = figure.plan(false);
    let labels: Vec<&str> = plan.iter().map(|planned| planned.label.as_str()).collect();
    Wrong::unknown("run", name, &labels)
}

/// Facts of a run that need no scene to be known.
const FACTS: [&str; 7] = ["iterations", "substeps", "work", "dt_s", "bodies", TIMED, SHORTEST];

fn known_quantity(figure: &Figure, setup: &Setup, name: &str, facts: bool) -> Result<(), Wrong> {
    let mut known: Vec<&str> = vec!["time_s", "step", "iteration"];
    known.extend(figure.probes.keys().map(String::as_str));
    known.extend(setup.metrics.names());
    if facts {
        known.extend(FACTS);
        known.extend(figure.runs.iter().flat_map(|run| run.parameters.keys().map(String::as_str)));
    }
    if known.contains(&name) { Ok(()) } else { Err(Wrong::unknown("quantity", name, &known)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"(
    title: "t",
    source: "s",
    about: "a",
    probes: {"height_m": coordinate(of: "ball", axis: z)},
    runs: [
        (label: "ref", scene: "s", backend: "null", iterations: [1]),
        (label: "A", scene: "s", backend: "null", iterations: [1, 2], reference: "ref"),
    ],
    plot: (panels: [(
        runs: ["A*"],
        x: (quantity: "time_s"),
        y: (quantity: "height_m"),
    )]),
    claims: [(text: "c", check: never(metric: "height_m", run: "A 2", below: 0), basis: reading)],
    quick: (steps: 3, work: 1),
)"#;

    fn error(from: &str, to: &str) -> String {
        assert!(GOOD.contains(from), "{from}");
        let text = GOOD.replacen(from, to, 1);
        parse(&text, "test", Path::new("figure.ron"), &Setup::default()).unwrap_err().to_string()
    }

    #[test]
    fn a_good_definition_is_read() {
        let figure = parse(GOOD, "test", Path::new("figure.ron"), &Setup::default()).unwrap();
        let labels: Vec<String> = figure.plan(false).into_iter().map(|p| p.label).collect();
        assert_eq!(labels, ["ref", "A 1", "A 2"]);
        let quick = figure.plan(true);
        assert_eq!(quick.len(), 2, "budgets above the quick work are left out");
        assert!(quick.iter().all(|p| p.run.steps == Some(3)));
    }

    #[test]
    fn mistakes_are_named_with_their_place() {
        assert_eq!(
            error("scene: \"s\"", "scen: \"s\""),
            "figure.ron:7:24: unknown field `scen` (did you mean `scene`?)"
        );
        assert_eq!(
            error("never(", "newer("),
            "figure.ron:15:33: unknown variant `newer` (did you mean `never`?)"
        );
        assert_eq!(
            error("run: \"A 2\"", "run: \"A 3\""),
            "figure.ron:15:64: unknown run `A 3` (did you mean `A 1`?)"
        );
        assert_eq!(
            error("y: (quantity: \"height_m\")", "y: (quantity: \"heigth_m\")"),
            "figure.ron:13:23: unknown quantity `heigth_m` (did you mean `height_m`?)"
        );
        assert_eq!(
            error("backend: \"null\"", "backend: \"nul\""),
            "figure.ron:7:45: unknown backend `nul` (did you mean `null`?)"
        );
        assert_eq!(
            error("title: \"t\",", ""),
            "figure.ron:17:1: field `title` of `Figure` is missing"
        );
        assert!(error("iterations: [1]", "iterations: [0]").contains("at least 1"));
        assert!(error("below: 0", "").contains("has no limit"));
        assert!(error(", basis: reading", "").contains("where its numbers come from"));
        let claim = "below: 0)";
        assert!(
            error(claim, "below: 0), ends: {\"A 1\": [\"ok\"]}").contains("does not name"),
            "an end of a run that the claim does not name"
        );
        assert!(
            error(claim, "below: 0), ends: {\"A 2\": [\"exploded\", \"frosen\"]}")
                .contains("unknown end of a run `frosen` (did you mean `frozen`?)")
        );
        let check = "never(metric: \"height_m\", run: \"A 2\", below: 0)";
        assert!(
            error(check, "within(metric: \"height_m\", run: \"A 2\", at: mean, of: run(\"ref\"))")
                .contains("use `follows`")
        );
        assert!(
            error(check, "follows(metric: \"height_m\", run: \"A 2\", of: \"ref\", at: mean)")
                .contains("step by step")
        );
        assert!(
            error(check, "bound(metric: \"step_time_s\", run: \"A 2\", max: 1)")
                .contains("compare runs by `faster`")
        );
        assert!(error("label: \"A\"", "label: \"ref\"").contains("unknown"));
        assert!(error("reference: \"ref\"", "reference: \"A 1\"").contains("of its own"));
        assert!(error("[1, 2]", "[1, 1]").contains("two runs"));
        assert!(error("quick:", "#quick:").contains("figure.ron:16:5"));
    }

    #[test]
    fn methods_are_compared_at_equal_budgets_unless_a_claim_says_why_not() {
        let rival =
            "(label: \"B\", scene: \"s\", backend: \"newton\", iterations: [4]),\n    ],\n    plot";
        let text = GOOD.replace("],\n    plot", rival).replace(
            "never(metric: \"height_m\", run: \"A 2\", below: 0), basis: reading",
            "less(metric: \"height_m\", a: \"A 2\", b: \"B\", at: final)",
        );
        let parsed = |text: &str| parse(text, "test", Path::new("figure.ron"), &Setup::default());
        let found = parsed(&text).unwrap_err().to_string();
        assert!(
            found.ends_with(
                "`A 2` has 2 iterations a frame and `B` 4: say why under `unequal_budget`"
            ),
            "{found}"
        );
        assert!(parsed(&text.replace("at: final)", "at: final), unequal_budget: \"so\"")).is_ok());
        assert!(parsed(&text.replace("iterations: [4]", "iterations: [2]")).is_ok());
        assert!(parsed(&text.replace("b: \"B\"", "b: \"ref\"")).is_ok(), "taken for the truth");
        assert!(parsed(&text.replace("\"newton\"", "\"null\"")).is_ok(), "one method");
    }
}
