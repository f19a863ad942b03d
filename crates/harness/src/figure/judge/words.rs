//! Checks and numbers in words.

use crate::figure::{ClaimCheck, Target};

/// The check in words.
pub(super) fn expectation(check: &ClaimCheck) -> String {
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
        ClaimCheck::Follows { metric, run, of, at, absolute, relative } => {
            let (absolute, relative) = (number(*absolute), number(100.0 * relative));
            let at = at.words();
            format!("{metric} of {run} follows {of} {at} to {absolute} or {relative} % (rms)")
        }
        ClaimCheck::NeverRises { metric, run, by } => {
            format!("{metric} of {run} never rises by more than {} in a step", number(*by))
        }
        ClaimCheck::Converges { metric, run, order } => {
            format!("{metric} of {run} falls with an order of at least {}", number(*order))
        }
        ClaimCheck::Needs { metric, at, min, max, versus, runs, least, most } => format!(
            "{runs} needs {} {versus} for {metric} {} {}",
            limits(*least, *most),
            limits(*min, *max),
            at.words()
        ),
        ClaimCheck::Faster { a, b, by, most } => {
            let most = most.map_or_else(String::new, |most| format!(", at most {}", number(most)));
            format!("{b} takes at least {}{most} times as long as {a}", number(*by))
        }
        ClaimCheck::Published { run, step_s, on } => {
            format!("{run}: {} ms were published ({on})", number(1e3 * step_s))
        }
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
