//! What a definition must not contradict: backends, metrics, and itself.

use std::collections::BTreeSet;

use super::Wrong;
use crate::{
    Setup,
    backends::left_out,
    figure::{
        Claim, ClaimCheck, Figure, LONGEST, MEAN_TIME, PanelSpec, Planned, ProbeSpec, ProfileSpec,
        SHORTEST, TIMED, Target, is_clocked, is_time,
    },
    plot::MOST_EMPHASISED,
};

/// Checks a definition against the backends and metrics there are.
pub(super) fn check(figure: &Figure, setup: &Setup) -> Result<(), Wrong> {
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
        if !backends.contains(&run.backend.as_str()) && left_out(&run.backend).is_none() {
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
    check_clock(claim)?;
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

/// Times are compared by claims of their own, and ratios of times at full size.
fn check_clock(claim: &Claim) -> Result<(), Wrong> {
    if let Some(time) = claim.check.metric().filter(|metric| is_time(metric)) {
        let what = format!(
            "`{time}` is of this machine: compare runs by `faster`, or tell of `published` times"
        );
        return Err(Wrong::named(what, time));
    }
    if let Some(ratio) =
        claim.check.metric().filter(|metric| is_clocked(metric) && !claim.full_only)
    {
        let what = format!("`{ratio}` is by the clock: its claims are `full_only`");
        return Err(Wrong::named(what, ratio));
    }
    Ok(())
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
const FACTS: [&str; 9] =
    ["iterations", "substeps", "work", "dt_s", "bodies", TIMED, SHORTEST, MEAN_TIME, LONGEST];

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
