//! Judging claims on rows.

use super::{Claim, ClaimCheck, FigureRow, StepChoice, Target};

/// A claim after the runs: what was found, and whether that is as expected.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// The sentence.
    pub text: String,
    /// Whether it holds; `None` where this size of the figure, or a machine without an adapter, cannot tell.
    pub holds: Option<bool>,
    /// What was found, in words and numbers.
    pub measured: String,
    /// What should be so.
    pub expected: String,
    /// Why it is known not to hold.
    pub known_deviation: Option<String>,
}

impl Judged {
    /// Whether this is what the definition leads one to expect: a claim that holds, or a marked
    /// deviation that still deviates.
    pub fn is_good(&self) -> bool {
        self.holds.is_none_or(|holds| holds != self.known_deviation.is_some())
    }

    /// One word for tables.
    pub fn verdict(&self) -> &'static str {
        match (self.holds, self.known_deviation.is_some()) {
            (None, _) => "not judged",
            (Some(true), false) => "holds",
            (Some(false), true) => "deviation",
            (Some(false), false) => "FAILS",
            (Some(true), true) => "HOLDS AGAINST ITS MARK",
        }
    }
}

/// Judges all claims; those for full size only are left open in a quick run, and those on rows that this
/// machine has no device for.
pub fn judge(claims: &[Claim], rows: &[FigureRow], quick: bool) -> Vec<Judged> {
    let one = |claim: &Claim| {
        let expected = expectation(&claim.check);
        let (holds, measured) = if quick && claim.full_only {
            (None, "needs the full size".to_owned())
        } else {
            match evaluate(&claim.check, rows) {
                Ok(Finding { holds, measured }) => (Some(holds), measured),
                Err(Missing::Skipped(why)) => (None, why),
                Err(Missing::Wrong(why)) => (Some(false), why),
            }
        };
        let (text, known_deviation) = (claim.text.clone(), claim.known_deviation.clone());
        Judged { text, holds, measured, expected, known_deviation }
    };
    claims.iter().map(one).collect()
}

struct Finding {
    holds: bool,
    measured: String,
}

/// Why there is nothing to judge.
enum Missing {
    /// A run that this machine has no device for.
    Skipped(String),
    /// What should be there.
    Wrong(String),
}

impl From<String> for Missing {
    fn from(why: String) -> Self {
        Self::Wrong(why)
    }
}

/// The check in words.
fn expectation(check: &ClaimCheck) -> String {
    match check {
        ClaimCheck::Less { metric, a, b, at, factor } => {
            let times =
                if *factor == 1.0 { String::new() } else { format!("{} times ", number(*factor)) };
            format!("{metric} of {a} below {times}that of {b} {}", at.words())
        }
        ClaimCheck::Bound { metric, run, at, min, max } => {
            format!("{metric} of {run} {} {}", limits(*min, *max), at.words())
        }
        ClaimCheck::Never { metric, run, below, above } => {
            format!("{metric} of {run} {} at every step", limits(*below, *above))
        }
        ClaimCheck::Order { metric, at, runs } => {
            format!("{metric} {} rises in this order: {}", at.words(), runs.join(", "))
        }
        ClaimCheck::Slope { metric, at, versus, runs, min, max } => format!(
            "{metric} {} of {runs} goes with {versus} to a power from {} to {}",
            at.words(),
            number(*min),
            number(*max)
        ),
        ClaimCheck::Within { metric, run, at, of, absolute, relative } => {
            let target = match of {
                Target::Run(run) => format!("that of {run}"),
                Target::Value(value) => number(*value),
            };
            let (absolute, relative) = (number(*absolute), number(100.0 * relative));
            format!(
                "{metric} of {run} {} within {absolute} or {relative} % of {target}",
                at.words()
            )
        }
        ClaimCheck::Needs { metric, at, min, max, versus, runs, least, most } => format!(
            "{runs} needs {} {versus} for {metric} {} {}",
            limits(*least, *most),
            limits(*min, *max),
            at.words()
        ),
        ClaimCheck::Status { run, is } => format!("{run} ends {}", is.join(" or ")),
    }
}

fn limits(min: Option<f64>, max: Option<f64>) -> String {
    match (min, max) {
        (Some(min), Some(max)) => format!("from {} to {}", number(min), number(max)),
        (Some(min), None) => format!("at or above {}", number(min)),
        (None, Some(max)) => format!("at or below {}", number(max)),
        (None, None) => "anywhere".to_owned(),
    }
}

/// `Err` says what is missing for a judgement.
fn evaluate(check: &ClaimCheck, rows: &[FigureRow]) -> Result<Finding, Missing> {
    match check {
        ClaimCheck::Less { metric, a, b, at, factor } => {
            let (a, b) = (values(rows, a, metric, *at)?, values(rows, b, metric, *at)?);
            Ok(less(&a, &b, *factor, *at))
        }
        ClaimCheck::Bound { metric, run, at, min, max } => {
            Ok(bound(&values(rows, run, metric, *at)?, *min, *max, *at))
        }
        ClaimCheck::Never { metric, run, below, above } => {
            let values = values(rows, run, metric, StepChoice::EveryStep)?;
            Ok(bound(&values, *below, *above, StepChoice::EveryStep))
        }
        ClaimCheck::Order { metric, at, runs } => {
            let one = |run: &String| worst(rows, run, metric, *at);
            let found = runs.iter().map(one).collect::<Result<Vec<f64>, Missing>>()?;
            let pairs = runs.iter().zip(&found);
            let measured: Vec<String> =
                pairs.map(|(run, &value)| format!("{run} {}", number(value))).collect();
            let holds = found.windows(2).all(|pair| pair[0] < pair[1]);
            Ok(Finding { holds, measured: measured.join(", ") })
        }
        ClaimCheck::Slope { metric, at, versus, runs, min, max } => {
            let power = slope(rows, runs, metric, *at, versus)?;
            let holds = (*min..=*max).contains(&power);
            Ok(Finding { holds, measured: format!("power {}", number(power)) })
        }
        ClaimCheck::Within { metric, run, at, of, absolute, relative } => {
            within(rows, (metric, run, *at), of, (*absolute, *relative))
        }
        ClaimCheck::Needs { metric, at, min, max, versus, runs, least, most } => {
            let needed = needed(rows, runs, (metric, *at), (*min, *max), versus)?;
            let inside = |n: f64| least.is_none_or(|l| n >= l) && most.is_none_or(|m| n <= m);
            Ok(Finding { holds: inside(needed.budget), measured: needed.in_words(versus) })
        }
        ClaimCheck::Status { run, is } => {
            let row = not_skipped(row(rows, run)?)?;
            let reason = row.reason.as_ref().map(|r| format!(" ({r})")).unwrap_or_default();
            Ok(Finding { holds: is.contains(&row.status), measured: row.status.clone() + &reason })
        }
    }
}

fn row<'a>(rows: &'a [FigureRow], label: &str) -> Result<&'a FigureRow, String> {
    rows.iter().find(|row| row.label == label).ok_or_else(|| format!("{label} was not run"))
}

fn why(row: &FigureRow) -> String {
    let reason = row.reason.as_deref().unwrap_or("no reason given");
    format!("{} {}: {reason}", row.label, row.status)
}

fn not_skipped(row: &FigureRow) -> Result<&FigureRow, Missing> {
    if row.was_skipped() { Err(Missing::Skipped(why(row))) } else { Ok(row) }
}

fn values(
    rows: &[FigureRow],
    label: &str,
    metric: &str,
    at: StepChoice,
) -> Result<Vec<f64>, Missing> {
    let row = not_skipped(row(rows, label)?)?;
    if !row.was_run() {
        return Err(why(row).into());
    }
    // A fact, such as a time per step or a parameter of the scene, is one number for the whole run.
    let values = row.fact(metric).map(|fact| vec![fact]).or_else(|| row.values(metric, at));
    let values = values.ok_or_else(|| format!("{label} has no {metric}"))?;
    if values.is_empty() {
        return Err(format!("{label} has no such step, {} {metric}", at.words()).into());
    }
    Ok(values)
}

/// One number: for claims on every step the largest.
fn worst(rows: &[FigureRow], label: &str, metric: &str, at: StepChoice) -> Result<f64, Missing> {
    let values = values(rows, label, metric, at)?;
    Ok(values.into_iter().fold(f64::NEG_INFINITY, f64::max))
}

fn less(a: &[f64], b: &[f64], factor: f64, at: StepChoice) -> Finding {
    // Beyond its end the other run has failed, which any finite value is below.
    let pairs =
        a.iter().enumerate().map(|(i, &a)| (i, a, b.get(i).map_or(f64::INFINITY, |b| factor * b)));
    let failing = pairs.clone().filter(|&(_, a, b)| !(a.is_finite() && a < b)).count();
    let excess = |&(_, a, b): &(usize, f64, f64)| if a.is_finite() { a - b } else { f64::INFINITY };
    let count = a.len();
    let tightest = pairs.max_by(|x, y| excess(x).total_cmp(&excess(y)));
    let measured = tightest.map_or_else(String::new, |(i, a, b)| {
        let pair = format!("{} against {}", number(a), number(b / factor));
        if !at.is_every_step() {
            return pair;
        }
        let step = i + at.after() + 1;
        format!("closest at step {step}: {pair}; not so at {failing} of {count} steps")
    });
    Finding { holds: failing == 0, measured }
}

fn bound(values: &[f64], min: Option<f64>, max: Option<f64>, at: StepChoice) -> Finding {
    let inside = |&v: &f64| {
        v.is_finite() && min.is_none_or(|min| v >= min) && max.is_none_or(|max| v <= max)
    };
    let holds = values.iter().all(inside);
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let measured = match values.iter().position(|v| !inside(v)) {
        Some(i) if at.is_every_step() => {
            let step = i + at.after() + 1;
            format!("{} to {}, outside first at step {step}", number(low), number(high))
        }
        _ if values.len() == 1 => number(low),
        _ => format!("{} to {}", number(low), number(high)),
    };
    Finding { holds, measured }
}

fn within(
    rows: &[FigureRow],
    (metric, run, at): (&str, &str, StepChoice),
    of: &Target,
    (absolute, relative): (f64, f64),
) -> Result<Finding, Missing> {
    let found = values(rows, run, metric, at)?;
    let target = match of {
        Target::Run(other) => values(rows, other, metric, at)?,
        Target::Value(value) => vec![*value; found.len()],
    };
    let off = |(&a, &b): (&f64, &f64)| (a - b).abs() - absolute.max(relative * b.abs());
    let holds = found.len() == target.len()
        && found.iter().zip(&target).all(|pair| pair.0.is_finite() && off(pair) <= 0.0);
    let farthest = found.iter().zip(&target).max_by(|&x, &y| off(x).total_cmp(&off(y)));
    let measured = farthest
        .map_or_else(String::new, |(&a, &b)| format!("{} against {}", number(a), number(b)));
    Ok(Finding { holds, measured })
}

/// The smallest budget that is enough.
struct Needed {
    /// Infinite where none is.
    budget: f64,
    /// What that costs per frame, where it was timed [s].
    step_time_s: Option<f64>,
    /// The largest budget that was tried.
    tried: f64,
}

impl Needed {
    fn in_words(&self, versus: &str) -> String {
        if self.budget.is_infinite() {
            return format!("more than {} {versus}", number(self.tried));
        }
        let cost = self.step_time_s.map(|s| format!(", {} ms per frame", number(1e3 * s)));
        format!("{} {versus}{}", number(self.budget), cost.unwrap_or_default())
    }
}

/// The smallest budget of one entry with which, and with all larger ones, a metric is in bounds.
fn needed(
    rows: &[FigureRow],
    group: &str,
    (metric, at): (&str, StepChoice),
    (min, max): (Option<f64>, Option<f64>),
    versus: &str,
) -> Result<Needed, Missing> {
    let mut budgets = Vec::new();
    for row in rows.iter().filter(|row| row.group == group) {
        let budget = row.fact(versus).ok_or_else(|| format!("{} has no {versus}", row.label))?;
        let values = values(rows, &row.label, metric, at)?;
        budgets.push((budget, bound(&values, min, max, at).holds, row.fact(super::TIMED)));
    }
    budgets.sort_by(|a, b| b.0.total_cmp(&a.0));
    let tried = budgets.first().map(|budget| budget.0);
    let tried = tried.ok_or_else(|| format!("{group} was not run"))?;
    let enough = budgets.into_iter().take_while(|(_, holds, _)| *holds).last();
    Ok(match enough {
        Some((budget, _, step_time_s)) => Needed { budget, step_time_s, tried },
        None => Needed { budget: f64::INFINITY, step_time_s: None, tried },
    })
}

/// Least-squares power of `metric` in `versus` over the budgets of one entry.
fn slope(
    rows: &[FigureRow],
    group: &str,
    metric: &str,
    at: StepChoice,
    versus: &str,
) -> Result<f64, Missing> {
    let mut points = Vec::new();
    for row in rows.iter().filter(|row| row.group == group) {
        let y = worst(rows, &row.label, metric, at)?;
        let x = row.fact(versus).ok_or_else(|| format!("{} has no {versus}", row.label))?;
        if !(y.is_finite() && y > 0.0 && x > 0.0) {
            return Err(format!("{} has {metric} {}, no power law", row.label, number(y)).into());
        }
        points.push((x.ln(), y.ln()));
    }
    if points.len() < 2 {
        return Err(format!("{group} has fewer than two budgets").into());
    }
    Ok(fit_line(&points))
}

/// Slope of the least-squares line.
pub(super) fn fit_line(points: &[(f64, f64)]) -> f64 {
    let n = points.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / n;
    let (mx, my) = (mean(|p| p.0), mean(|p| p.1));
    let (mut xx, mut xy) = (0.0, 0.0);
    for &(x, y) in points {
        xx += (x - mx) * (x - mx);
        xy += (x - mx) * (y - my);
    }
    if xx > 0.0 { xy / xx } else { 0.0 }
}

/// Four digits, with an exponent where that is shorter.
pub fn number(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    let exponent = value.abs().log10().floor() as i32;
    if !(-3..6).contains(&exponent) {
        return format!("{value:.3e}");
    }
    let decimals = (3 - exponent).max(0) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

#[cfg(test)]
mod tests;
