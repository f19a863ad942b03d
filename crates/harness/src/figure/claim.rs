//! Claims: sentences about a figure, each with the check that stands for it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{ProbeSpec, StepChoice, is_clocked};

/// A sentence about the figure, with the check that stands for it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// Name by which a conclusion rests on it.
    #[serde(default)]
    pub id: Option<String>,
    /// The sentence.
    pub text: String,
    /// What must be so.
    pub check: ClaimCheck,
    /// Where the numbers come from that its metric is held against; every check with such numbers says so.
    #[serde(default)]
    pub basis: Option<Basis>,
    /// Why it is known not to hold; the figure fails if it starts to.
    #[serde(default)]
    pub known_deviation: Option<String>,
    /// Judged only at full size, because the quick size does not show it.
    #[serde(default)]
    pub full_only: bool,
    /// Judged only at the quick size, which shows something else than the full one.
    #[serde(default)]
    pub quick_only: bool,
    /// How runs that it names may end, by label of the run or of its entry; `ok` alone unless given. A claim on a
    /// run that ended otherwise is void.
    #[serde(default)]
    pub ends: BTreeMap<String, Vec<String>>,
    /// Why methods with different budgets are compared.
    #[serde(default)]
    pub unequal_budget: Option<String>,
    /// Why no sabotage of its runs makes it fail (see `sabotage`).
    #[serde(default)]
    pub unfailing: Option<String>,
    /// Whether it compares motions step by step, which starts that rounding cannot tell apart part in time; found
    /// when the figure is loaded.
    #[serde(skip)]
    pub follows_motion: bool,
}

/// Where the numbers of a check come from. None of them is read off a result but a [`Basis::Regression`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// The source prints them.
    Source,
    /// A closed form gives the value; what is left to the check is how near it counts as met.
    ClosedForm,
    /// Another run of the figure gives the value, a reference or a twin.
    Reference,
    /// The source says it in a word, and the sentence tells what number the word is read as: none at all, a half, a
    /// length of the scene.
    Reading,
    /// Nothing but results here: the check holds what was measured, and does not count as a claim.
    Regression,
}

/// The metrics that compare a motion with another.
const OF_MOTION: [&str; 4] = [
    "watched_error_rms_m",
    "distance_to_reference_rms_m",
    "distance_to_step_m",
    "distance_to_motion_m",
];

impl Claim {
    /// Whether it counts as a claim: a check that only holds what was measured here does not.
    pub fn is_claim(&self) -> bool {
        self.basis != Some(Basis::Regression)
    }

    /// Finds whether it compares motions step by step.
    pub(super) fn find_motion(&mut self, probes: &BTreeMap<String, ProbeSpec>) {
        let at = match self.check {
            ClaimCheck::Less { at, .. }
            | ClaimCheck::Within { at, of: Target::Run(_), .. }
            | ClaimCheck::Follows { at, .. } => at,
            _ => return,
        };
        let of_motion = |name: &str| {
            OF_MOTION.contains(&name) || probes.get(name).is_some_and(ProbeSpec::is_of_motion)
        };
        self.follows_motion = at.is_every_step() && self.check.metric().is_some_and(of_motion);
    }
}

/// Statements about rows that a program can judge. A metric may also be a fact of the run, such as
/// `step_time_s`; claims on times belong to the full size, since small runs end before they settle.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ClaimCheck {
    /// `metric` of run `a` is below `factor` times that of run `b`.
    Less {
        /// Metric or probe.
        metric: String,
        /// The run that should be lower.
        a: String,
        /// The run that should be higher.
        b: String,
        /// When.
        at: StepChoice,
        /// 1 unless given.
        #[serde(default = "unit")]
        factor: f64,
    },
    /// `metric` of a run lies between `min` and `max`.
    Bound {
        /// Metric or probe.
        metric: String,
        /// The run.
        run: String,
        /// When; every step unless given.
        #[serde(default)]
        at: StepChoice,
        /// Lower bound.
        #[serde(default)]
        min: Option<f64>,
        /// Upper bound.
        #[serde(default)]
        max: Option<f64>,
    },
    /// At no step is `metric` of the run below `below` or above `above`.
    Never {
        /// Metric or probe.
        metric: String,
        /// The run.
        run: String,
        /// Forbidden below this.
        #[serde(default)]
        below: Option<f64>,
        /// Forbidden above this.
        #[serde(default)]
        above: Option<f64>,
    },
    /// The runs, from the smallest to the largest `metric`.
    Order {
        /// Metric or probe.
        metric: String,
        /// When.
        at: StepChoice,
        /// The runs in rising order.
        runs: Vec<String>,
    },
    /// The power of `metric` in `versus`, fitted on log axes over the budgets of one entry of runs.
    Slope {
        /// Metric or probe.
        metric: String,
        /// When.
        at: StepChoice,
        /// `iterations`, `substeps`, `work` or `dt_s`.
        versus: String,
        /// Label of the entry.
        runs: String,
        /// Smallest power.
        min: f64,
        /// Largest power.
        max: f64,
    },
    /// `metric` of a run differs from that of another run, or from a value, by at most `absolute`
    /// or `relative` times it.
    Within {
        /// Metric or probe.
        metric: String,
        /// The run.
        run: String,
        /// When.
        at: StepChoice,
        /// What it is compared with.
        of: Target,
        /// Largest difference, in the metric's unit.
        #[serde(default)]
        absolute: f64,
        /// Largest difference, as a share of the target.
        #[serde(default)]
        relative: f64,
    },
    /// The curve of `metric` of a run follows that of another: the root of the mean square of their difference is
    /// at most `absolute`, or `relative` times the root of the mean square of the other.
    Follows {
        /// Metric or probe.
        metric: String,
        /// The run.
        run: String,
        /// The run that it follows.
        of: String,
        /// Over which steps; all unless given.
        #[serde(default)]
        at: StepChoice,
        /// Largest difference, in the metric's unit.
        #[serde(default)]
        absolute: f64,
        /// Largest difference, as a share of the other curve.
        #[serde(default)]
        relative: f64,
    },
    /// From no step to the next does `metric` rise by more than `by`.
    NeverRises {
        /// Metric or probe.
        metric: String,
        /// The run.
        run: String,
        /// Largest rise, in the metric's unit.
        by: f64,
    },
    /// The last three values of `metric` before it stops falling do so with at least this order: the fall of the
    /// logarithm in the last iteration is so many times that in the one before.
    Converges {
        /// Metric or probe.
        metric: String,
        /// The run.
        run: String,
        /// 1 for linear, 2 for quadratic convergence.
        order: f64,
    },
    /// The fewest `versus` among the budgets of one entry of runs, from which on `metric` keeps its
    /// bounds with every larger budget too, lies between `least` and `most`. Where no budget does,
    /// it is taken for more than the largest.
    Needs {
        /// Metric or probe.
        metric: String,
        /// When.
        at: StepChoice,
        /// Lower bound of the metric.
        #[serde(default)]
        min: Option<f64>,
        /// Upper bound of the metric.
        #[serde(default)]
        max: Option<f64>,
        /// `iterations`, `substeps` or `work`.
        versus: String,
        /// Label of the entry.
        runs: String,
        /// The fewest that may be needed.
        #[serde(default)]
        least: Option<f64>,
        /// The most that may be needed.
        #[serde(default)]
        most: Option<f64>,
    },
    /// A run takes less time per frame than another, in a ratio from `by` to `most`: both in turn, block by block, and
    /// the whole 95 % interval of the ratio is within or outside.
    Faster {
        /// The faster run.
        a: String,
        /// The slower run.
        b: String,
        /// How many times as long the slower one takes at least; 1 unless given.
        #[serde(default = "unit")]
        by: f64,
        /// How many times as long it takes at most.
        #[serde(default)]
        most: Option<f64>,
    },
    /// A time that was published for a run on another machine: told beside the time here, and never judged.
    Published {
        /// The run.
        run: String,
        /// The published time per frame [s].
        step_s: f64,
        /// The machine or engine that it was published for.
        on: String,
    },
    /// A run ends with this label.
    Status {
        /// The run.
        run: String,
        /// Any of these: `ok`, `diverged`, `exploded`, `frozen`, `falling`, `penetrating`, `intersecting`.
        is: Vec<String>,
    },
}

impl ClaimCheck {
    /// The quantity that it looks at.
    pub(super) fn metric(&self) -> Option<&str> {
        match self {
            Self::Less { metric, .. }
            | Self::Bound { metric, .. }
            | Self::Never { metric, .. }
            | Self::Order { metric, .. }
            | Self::Slope { metric, .. }
            | Self::Within { metric, .. }
            | Self::Follows { metric, .. }
            | Self::Converges { metric, .. }
            | Self::NeverRises { metric, .. }
            | Self::Needs { metric, .. } => Some(metric),
            Self::Faster { .. } | Self::Published { .. } | Self::Status { .. } => None,
        }
    }

    /// Labels of the single runs that it names.
    pub(super) fn runs(&self) -> Vec<&str> {
        match self {
            Self::Less { a, b, .. } | Self::Faster { a, b, .. } => vec![a, b],
            Self::Within { run, of: Target::Run(of), .. } | Self::Follows { run, of, .. } => {
                vec![run, of]
            }
            Self::Bound { run, .. }
            | Self::Never { run, .. }
            | Self::Within { run, .. }
            | Self::Converges { run, .. }
            | Self::NeverRises { run, .. }
            | Self::Published { run, .. }
            | Self::Status { run, .. } => vec![run],
            Self::Order { runs, .. } => runs.iter().map(String::as_str).collect(),
            Self::Slope { .. } | Self::Needs { .. } => Vec::new(),
        }
    }

    /// Label of the entry all of whose runs it looks at.
    pub(super) fn entry(&self) -> Option<&str> {
        match self {
            Self::Slope { runs, .. } | Self::Needs { runs, .. } => Some(runs),
            _ => None,
        }
    }

    /// Whether it looks at a clock.
    pub(super) fn is_timed(&self) -> bool {
        matches!(self, Self::Faster { .. } | Self::Published { .. })
            || self.metric().is_some_and(is_clocked)
    }

    /// Whether somebody chose a number for it.
    pub(super) fn has_limits(&self) -> bool {
        match self {
            Self::Less { factor, .. } => *factor != 1.0,
            Self::Faster { by, most, .. } => *by != 1.0 || most.is_some(),
            Self::Bound { .. }
            | Self::Never { .. }
            | Self::Slope { .. }
            | Self::Within { .. }
            | Self::Follows { .. }
            | Self::Converges { .. }
            | Self::NeverRises { .. }
            | Self::Needs { .. } => true,
            Self::Order { .. } | Self::Published { .. } | Self::Status { .. } => false,
        }
    }

    /// The numbers that its metric is held against.
    pub(super) fn numbers(&self) -> Vec<f64> {
        let limits = match self {
            Self::Bound { min, max, .. } | Self::Needs { min, max, .. } => [*min, *max],
            Self::Never { below, above, .. } => [*below, *above],
            Self::Within { of: Target::Value(value), .. } => [Some(*value), None],
            _ => [None, None],
        };
        limits.into_iter().flatten().collect()
    }

    /// Whether it looks at this run.
    pub fn names(&self, label: &str, group: &str) -> bool {
        self.runs().contains(&label) || self.entry() == Some(group)
    }
}

fn unit() -> f64 {
    1.0
}

/// What a value is compared with.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Target {
    /// The same metric of another run.
    Run(String),
    /// A number in the metric's unit.
    Value(f64),
}
