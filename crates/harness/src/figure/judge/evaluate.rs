//! The measured side of claims.

use super::words::number;
use crate::{
    curve::fit_line,
    figure::{Claim, ClaimCheck, FigureRow, LONGEST, MEAN_TIME, StepChoice, TIMED, Target},
    ruler::ITERATIONS_USED,
    runner::Ratio,
};

/// The status of a run of which nothing bad is known.
const OK: &str = "ok";

/// What was found of a check.
pub(super) struct Finding {
    pub(super) holds: bool,
    pub(super) measured: String,
    pub(super) values: Vec<f64>,
}

/// Why there is nothing to judge.
pub(super) enum Missing {
    /// A run that this machine has no device for.
    Skipped(String),
    /// What was measured is on both sides.
    Unclear(String),
    /// A run that is not there, or did not end as it should.
    Void(String),
}

impl From<String> for Missing {
    fn from(why: String) -> Self {
        Self::Void(why)
    }
}

/// `Err` says what is missing for a judgement.
pub(super) fn evaluate(claim: &Claim, rows: &[FigureRow]) -> Result<Finding, Missing> {
    let rows = NamedRows { rows, claim };
    let mut finding = rows.evaluate()?;
    for told in rows.told_ends() {
        finding.measured += &format!("; {told}, as told");
    }
    if let Some(horizon) = rows.horizon() {
        let last = horizon - 1;
        finding.measured += &format!("; up to step {last}, after which rounding parts the runs");
    }
    rows.more_iterations().for_each(|told| finding.measured += &format!("; {told}"));
    Ok(finding)
}

/// The rows that a claim looks at.
#[derive(Clone, Copy)]
struct NamedRows<'a> {
    rows: &'a [FigureRow],
    claim: &'a Claim,
}

impl<'a> NamedRows<'a> {
    fn evaluate(self) -> Result<Finding, Missing> {
        match &self.claim.check {
            ClaimCheck::Less { metric, a, b, at, factor } => {
                let [a, b] = [self.values(a, metric, *at)?, self.values(b, metric, *at)?];
                Ok(less(&a, &b, *factor, *at))
            }
            ClaimCheck::Bound { metric, run, at, min, max } => {
                Ok(bound(&self.values(run, metric, *at)?, *min, *max, *at))
            }
            ClaimCheck::Never { metric, run, below, above } => {
                let values = self.values(run, metric, StepChoice::EveryStep)?;
                Ok(bound(&values, *below, *above, StepChoice::EveryStep))
            }
            ClaimCheck::Order { metric, at, runs } => self.order(metric, *at, runs),
            ClaimCheck::Slope { metric, at, versus, runs, min, max } => {
                let power = self.slope(runs, metric, *at, versus)?;
                let holds = (*min..=*max).contains(&power);
                let measured = format!("power {}", number(power));
                Ok(Finding { holds, measured, values: vec![power] })
            }
            ClaimCheck::Within { metric, run, at, of, absolute, relative } => {
                let found = self.values(run, metric, *at)?;
                let target = match of {
                    Target::Run(other) => self.values(other, metric, *at)?,
                    Target::Value(value) => vec![*value; found.len()],
                };
                Ok(within(&found, &target, *absolute, *relative))
            }
            ClaimCheck::Follows { metric, run, of, at, absolute, relative } => {
                let [own, other] = [self.values(run, metric, *at)?, self.values(of, metric, *at)?];
                Ok(follows(&own, &other, *absolute, *relative))
            }
            ClaimCheck::NeverRises { metric, run, by } => {
                Ok(never_rises(&self.values(run, metric, StepChoice::EveryStep)?, *by))
            }
            ClaimCheck::Converges { metric, run, order } => {
                converges(&self.values(run, metric, StepChoice::EveryStep)?, *order)
            }
            ClaimCheck::Needs { metric, at, min, max, versus, runs, least, most } => {
                let needed = self.needed(runs, (metric, *at), (*min, *max), versus)?;
                let inside = |n: f64| least.is_none_or(|l| n >= l) && most.is_none_or(|m| n <= m);
                let holds = inside(needed.budget);
                Ok(Finding {
                    holds,
                    measured: needed.in_words(versus),
                    values: vec![needed.budget],
                })
            }
            ClaimCheck::Faster { a, b, by, most } => self.faster(a, b, (*by, *most)),
            ClaimCheck::Published { run, step_s, on } => {
                Err(Missing::Skipped(self.beside_published(run, *step_s, on)?))
            }
            ClaimCheck::Status { run, is } => {
                let row = not_skipped(self.row(run)?)?;
                let holds = is.contains(&row.status);
                if !holds && !row.was_run() {
                    return Err(why(row).into());
                }
                let reason = row.reason.as_ref().map(|r| format!(" ({r})")).unwrap_or_default();
                Ok(Finding { holds, measured: row.status.clone() + &reason, values: Vec::new() })
            }
        }
    }

    fn row(self, label: &str) -> Result<&'a FigureRow, String> {
        let row = self.rows.iter().find(|row| row.label == label);
        row.ok_or_else(|| format!("{label} was not run"))
    }

    /// What a step takes here beside what was published, or that it was not timed.
    fn beside_published(self, run: &str, step_s: f64, on: &str) -> Result<String, Missing> {
        let row = self.judged_row(run)?;
        let fact = |name| row.fact(name).map(|s| number(1e3 * s));
        let times = (fact(MEAN_TIME), fact(TIMED), fact(LONGEST));
        let (Some(mean), Some(median), Some(most)) = times else {
            return Ok(format!("{run} was not timed"));
        };
        let there = number(1e3 * step_s);
        Ok(format!(
            "published {there} ms ({on}), here {mean} ms on average over all steps, \
             {median} ms in the median, {most} ms at most"
        ))
    }

    /// Whether a run ended as the claim says beforehand: `ok` unless it says otherwise.
    fn ended_as_told(self, row: &FigureRow) -> bool {
        let ends = &self.claim.ends;
        match ends.get(&row.label).or_else(|| ends.get(&row.group)) {
            Some(told) => told.contains(&row.status),
            None => row.status == OK,
        }
    }

    /// The named runs that did not end well, where the claim says so beforehand.
    fn told_ends(self) -> impl Iterator<Item = String> + 'a {
        let check = &self.claim.check;
        let is_status = matches!(check, ClaimCheck::Status { .. });
        let named = self.rows.iter().filter(|row| check.names(&row.label, &row.group));
        let ended = named.filter(move |row| !is_status && row.status != OK);
        ended.map(|row| format!("{} {}", row.label, row.status))
    }

    /// The named runs whose solvers took more iterations for a step than they were given.
    fn more_iterations(self) -> impl Iterator<Item = String> + 'a {
        let check = &self.claim.check;
        let named = self.rows.iter().filter(|row| check.names(&row.label, &row.group));
        named.filter_map(|row| {
            let (used, given) = (row.column(ITERATIONS_USED)?, row.fact("iterations")?);
            let most = used.iter().copied().fold(0.0, f64::max);
            let mean = used.iter().sum::<f64>() / used.len() as f64;
            let told = format!("{} took {} iterations a step", row.label, number(mean));
            (most > given).then(|| format!("{told} on average and {} at most", number(most)))
        })
    }

    /// A run that there is something to judge of: it ended as told.
    fn judged_row(self, label: &str) -> Result<&'a FigureRow, Missing> {
        let row = not_skipped(self.row(label)?)?;
        if row.was_run() && self.ended_as_told(row) { Ok(row) } else { Err(why(row).into()) }
    }

    /// Number of the first step at which any of the named runs is not to be followed any more, where the claim
    /// follows motions.
    fn horizon(self) -> Option<usize> {
        let check = &self.claim.check;
        let named = self.rows.iter().filter(|row| check.names(&row.label, &row.group));
        let first = named.filter_map(|row| row.horizon).min();
        first.filter(|_| self.claim.follows_motion).map(|step| step as usize)
    }

    fn values(self, label: &str, metric: &str, at: StepChoice) -> Result<Vec<f64>, Missing> {
        let mut values = values(self.judged_row(label)?, metric, at)?;
        if let Some(horizon) = self.horizon() {
            values.truncate(horizon.saturating_sub(1 + at.after()));
            if values.is_empty() {
                let told = format!("rounding parts the runs at step {horizon}");
                return Err(Missing::Unclear(told));
            }
        }
        Ok(values)
    }

    fn order(self, metric: &str, at: StepChoice, runs: &[String]) -> Result<Finding, Missing> {
        let one = |run: &String| self.values(run, metric, at).map(worst);
        let values = runs.iter().map(one).collect::<Result<Vec<f64>, Missing>>()?;
        let pairs = runs.iter().zip(&values);
        let measured: Vec<String> =
            pairs.map(|(run, &value)| format!("{run} {}", number(value))).collect();
        let holds = values.windows(2).all(|pair| pair[0] < pair[1]);
        Ok(Finding { holds, measured: measured.join(", "), values })
    }

    fn faster(self, a: &str, b: &str, (by, most): (f64, Option<f64>)) -> Result<Finding, Missing> {
        let [a, b] = [self.judged_row(a)?, self.judged_row(b)?];
        if a.software || b.software {
            return Err(Missing::Skipped("a software adapter's times say nothing".to_owned()));
        }
        let ratio = Ratio::of(&a.block_times_s, &b.block_times_s);
        let Some(ratio) = ratio else {
            return Err(format!("{} and {} were not timed in turn", a.label, b.label).into());
        };
        let Ratio { low, median, high } = ratio;
        let blocks = a.block_times_s.len();
        let measured = format!(
            "{} times as long, from {} to {} in {blocks} blocks",
            number(median),
            number(low),
            number(high)
        );
        let most = most.unwrap_or(f64::INFINITY);
        let (within, outside) = (low >= by && high <= most, high < by || low > most);
        if !within && !outside {
            return Err(Missing::Unclear(measured));
        }
        Ok(Finding { holds: within, measured, values: vec![low, median, high] })
    }

    /// All runs of an entry with the budget of each, from the smallest.
    fn entry(self, label: &str, versus: &str) -> Result<Vec<(f64, &'a FigureRow)>, Missing> {
        let rows = self.rows.iter().filter(|row| row.group == label);
        let budget = |row: &'a FigureRow| {
            let budget = not_skipped(row)?.fact(versus);
            let budget = budget.ok_or_else(|| format!("{} has no {versus}", row.label))?;
            Ok((budget, row))
        };
        let mut budgets = rows.map(budget).collect::<Result<Vec<_>, Missing>>()?;
        budgets.sort_by(|a, b| a.0.total_cmp(&b.0));
        Ok(budgets)
    }

    /// The smallest budget of one entry with which, and with all larger ones, a metric is in bounds. A run that
    /// did not end well had too little, but for the largest budget, which must end as told.
    fn needed(
        self,
        group: &str,
        (metric, at): (&str, StepChoice),
        (min, max): (Option<f64>, Option<f64>),
        versus: &str,
    ) -> Result<Needed, Missing> {
        let budgets = self.entry(group, versus)?;
        let Some(&(tried, largest)) = budgets.last() else {
            return Err(format!("{group} was not run").into());
        };
        self.judged_row(&largest.label)?;
        let mut needed = Needed { budget: f64::INFINITY, step_time_s: None, tried };
        for (budget, row) in budgets.into_iter().rev() {
            if !row.was_run() {
                return Err(why(row).into());
            }
            if row.status != OK || !bound(&values(row, metric, at)?, min, max, at).holds {
                break;
            }
            (needed.budget, needed.step_time_s) = (budget, row.fact(TIMED));
        }
        Ok(needed)
    }

    /// Least-squares power of `metric` in `versus` over the budgets of one entry.
    fn slope(
        self,
        group: &str,
        metric: &str,
        at: StepChoice,
        versus: &str,
    ) -> Result<f64, Missing> {
        let mut points = Vec::new();
        for (x, row) in self.entry(group, versus)? {
            let y = worst(self.values(&row.label, metric, at)?);
            if !(y.is_finite() && y > 0.0 && x > 0.0) {
                let y = number(y);
                return Err(format!("{} has {metric} {y}, no power law", row.label).into());
            }
            points.push((x.ln(), y.ln()));
        }
        if points.len() < 2 {
            return Err(format!("{group} has fewer than two budgets").into());
        }
        Ok(fit_line(&points))
    }
}

fn why(row: &FigureRow) -> String {
    let reason = row.reason.as_deref().unwrap_or("no reason given");
    format!("{} {}: {reason}", row.label, row.status)
}

fn not_skipped(row: &FigureRow) -> Result<&FigureRow, Missing> {
    if row.was_skipped() { Err(Missing::Skipped(why(row))) } else { Ok(row) }
}

fn values(row: &FigureRow, metric: &str, at: StepChoice) -> Result<Vec<f64>, Missing> {
    // A fact, such as a time per step or a parameter of the scene, is one number for the whole run.
    let values = row.fact(metric).map(|fact| vec![fact]).or_else(|| row.values(metric, at));
    let values = values.ok_or_else(|| format!("{} has no {metric}", row.label))?;
    if values.is_empty() {
        return Err(format!("{} has no such step, {} {metric}", row.label, at.words()).into());
    }
    Ok(values)
}

/// One number: for claims on every step the largest.
fn worst(values: Vec<f64>) -> f64 {
    values.into_iter().fold(f64::NEG_INFINITY, f64::max)
}

fn less(a: &[f64], b: &[f64], factor: f64, at: StepChoice) -> Finding {
    // Beyond its end the other run has failed, which any finite value is below.
    let pairs =
        a.iter().enumerate().map(|(i, &a)| (i, a, b.get(i).map_or(f64::INFINITY, |b| factor * b)));
    let failing = pairs.clone().filter(|&(_, a, b)| !(a.is_finite() && a < b)).count();
    let excess = |&(_, a, b): &(usize, f64, f64)| if a.is_finite() { a - b } else { f64::INFINITY };
    let count = a.len();
    let tightest = pairs.max_by(|x, y| excess(x).total_cmp(&excess(y)));
    let values = tightest.map_or_else(Vec::new, |(_, a, b)| vec![a, b / factor]);
    let measured = tightest.map_or_else(String::new, |(i, a, b)| {
        let pair = format!("{} against {}", number(a), number(b / factor));
        if !at.is_every_step() {
            return pair;
        }
        let step = i + at.after() + 1;
        format!("closest at step {step}: {pair}; not so at {failing} of {count} steps")
    });
    Finding { holds: failing == 0, measured, values }
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
    let values = if low == high { vec![low] } else { vec![low, high] };
    Finding { holds, measured, values }
}

fn within(found: &[f64], target: &[f64], absolute: f64, relative: f64) -> Finding {
    let off = |(&a, &b): (&f64, &f64)| (a - b).abs() - absolute.max(relative * b.abs());
    let holds = found.len() == target.len()
        && found.iter().zip(target).all(|pair| pair.0.is_finite() && off(pair) <= 0.0);
    let farthest = found.iter().zip(target).max_by(|&x, &y| off(x).total_cmp(&off(y)));
    let measured = farthest
        .map_or_else(String::new, |(&a, &b)| format!("{} against {}", number(a), number(b)));
    let values = farthest.map_or_else(Vec::new, |(&a, &b)| vec![a, b]);
    Finding { holds, measured, values }
}

/// Root of the mean square of the difference of two curves, against that of the other.
fn follows(own: &[f64], other: &[f64], absolute: f64, relative: f64) -> Finding {
    let rms = |squares: f64| (squares / other.len() as f64).sqrt();
    let apart = rms(own.iter().zip(other).map(|(a, b)| (a - b).powi(2)).sum());
    let allowed = absolute.max(relative * rms(other.iter().map(|b| b * b).sum()));
    // What is not a number holds nothing.
    let holds = own.len() == other.len() && apart <= allowed;
    let measured = format!("{} apart, at most {}", number(apart), number(allowed));
    Finding { holds, measured, values: vec![apart] }
}

fn never_rises(values: &[f64], by: f64) -> Finding {
    let rises = values.windows(2).map(|pair| pair[1] - pair[0]).enumerate();
    let most = rises.max_by(|a, b| a.1.total_cmp(&b.1));
    // One value rises from nothing, and what is not a number holds nothing.
    let Some((step, rise)) = most else {
        return Finding { holds: false, measured: "one value".to_owned(), values: vec![] };
    };
    let measured = format!("the largest change is {}, in step {}", number(rise), step + 2);
    Finding { holds: rise <= by, measured, values: vec![rise] }
}

/// The order with which the last three values that fall do so.
fn converges(values: &[f64], least: f64) -> Result<Finding, Missing> {
    let falls = |pair: &[f64]| 0.0 < pair[1] && pair[1] < pair[0];
    let last = values.windows(2).rposition(falls).filter(|&i| i > 0 && falls(&values[i - 1..]));
    let Some(i) = last else {
        return Err("nothing falls twice in succession".to_owned().into());
    };
    let [a, b, c] = [0, 1, 2].map(|k| values[i - 1 + k]);
    let order = (b / c).ln() / (a / b).ln();
    let [first, second, third] = [a, b, c].map(number);
    let measured = format!("order {} from {first}, {second}, {third}", number(order));
    Ok(Finding { holds: order >= least, measured, values: vec![order] })
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
