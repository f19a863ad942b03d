//! What one run gave: a table of numbers per step, and what is read off it.

use serde::Deserialize;

/// The outcome of one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FigureRow {
    /// Label, unique in the figure.
    pub label: String,
    /// Label shared by the budgets of one entry.
    pub group: String,
    /// Name in the table of backends.
    pub backend: String,
    /// The scene with its parameters: what was solved.
    pub problem: String,
    /// `ok` or what went wrong, as in result files.
    pub status: String,
    /// Why it is not `ok`.
    pub reason: Option<String>,
    /// Whether it ran on a software adapter, whose times say nothing.
    pub software: bool,
    /// Numbers that describe the run as a whole: `iterations`, `dt_s`, scene parameters, ...
    pub facts: Vec<(String, f64)>,
    /// Time per frame in each block of those that it was timed in beside others [s]; empty where no claim asks.
    pub block_times_s: Vec<f64>,
    /// Number of the first step at which runs from starts that rounding cannot tell apart have parted; `None` where
    /// they stay together, or nobody has looked.
    pub horizon: Option<u32>,
    /// How many steps were asked for.
    pub planned: usize,
    /// Quantities after each step made; all equally long.
    pub columns: Vec<(String, Vec<f64>)>,
}

/// Which steps a claim looks at, and how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum StepChoice {
    /// Each step by itself.
    #[default]
    EveryStep,
    /// Each step with a greater number than this by itself; the first step has number 1.
    EveryStepAfter(u32),
    /// Each step up to this number by itself.
    EveryStepUntil(u32),
    /// The step of this number.
    Step(u32),
    /// The last step.
    Final,
    /// Mean over all steps.
    Mean,
    /// Mean over the steps after this one.
    MeanAfter(u32),
    /// Largest of all steps.
    Max,
    /// Largest of the steps after this one.
    MaxAfter(u32),
    /// By how much it rises after the step of this number: the largest later value less the one there.
    RiseAfter(u32),
    /// How it oscillates after this step: the share of later steps at which it turns from rising to falling or back.
    TurnsAfter(u32),
    /// Smallest of all steps.
    Min,
    /// Root of the mean square over all steps.
    Rms,
}

/// A number that stands for a whole run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Statistic {
    /// The last step.
    Final,
    /// Mean over all steps.
    Mean,
    /// Largest of all steps.
    Max,
    /// Smallest of all steps.
    Min,
    /// Root of the mean square over all steps.
    Rms,
}

impl From<Statistic> for StepChoice {
    fn from(statistic: Statistic) -> Self {
        match statistic {
            Statistic::Final => Self::Final,
            Statistic::Mean => Self::Mean,
            Statistic::Rms => Self::Rms,
            Statistic::Max => Self::Max,
            Statistic::Min => Self::Min,
        }
    }
}

impl StepChoice {
    /// The step after which it looks.
    pub fn after(self) -> usize {
        match self {
            Self::EveryStepAfter(n)
            | Self::MeanAfter(n)
            | Self::MaxAfter(n)
            | Self::TurnsAfter(n) => n as usize,
            _ => 0,
        }
    }

    /// Whether it looks at steps one by one.
    pub fn is_every_step(self) -> bool {
        matches!(self, Self::EveryStep | Self::EveryStepAfter(_) | Self::EveryStepUntil(_))
    }

    /// Whether it takes a mean over steps.
    pub fn is_mean(self) -> bool {
        matches!(self, Self::Mean | Self::MeanAfter(_) | Self::Rms)
    }

    /// The values to judge: one per step, or a single one.
    fn reduce(self, values: &[f64]) -> Vec<f64> {
        let values = values.get(self.after()..).unwrap_or(&[]);
        if values.is_empty() {
            return Vec::new();
        }
        let count = values.len() as f64;
        match self {
            Self::EveryStep | Self::EveryStepAfter(_) => values.to_vec(),
            Self::EveryStepUntil(n) => values[..values.len().min(n as usize)].to_vec(),
            Self::Step(n) => {
                values.get((n as usize).saturating_sub(1)).copied().into_iter().collect()
            }
            Self::Final => values.last().copied().into_iter().collect(),
            Self::Mean | Self::MeanAfter(_) => vec![values.iter().sum::<f64>() / count],
            Self::Max | Self::MaxAfter(_) => {
                vec![values.iter().copied().fold(f64::NEG_INFINITY, f64::max)]
            }
            Self::RiseAfter(n) => {
                let Some((start, later)) =
                    values.get((n as usize).saturating_sub(1)..).and_then(<[f64]>::split_first)
                else {
                    return Vec::new();
                };
                vec![later.iter().copied().fold(*start, f64::max) - start]
            }
            Self::TurnsAfter(_) => {
                let rises = values.windows(2).map(|pair| pair[1] - pair[0]);
                let rises: Vec<f64> = rises.collect();
                if rises.len() < 2 || rises.iter().any(|rise| !rise.is_finite()) {
                    // What ended early has no share of steps.
                    return vec![f64::INFINITY];
                }
                let turns = rises.windows(2).filter(|pair| pair[0] * pair[1] < 0.0).count();
                vec![turns as f64 / (rises.len() - 1) as f64]
            }
            Self::Min => vec![values.iter().copied().fold(f64::INFINITY, f64::min)],
            Self::Rms => vec![(values.iter().map(|v| v * v).sum::<f64>() / count).sqrt()],
        }
    }

    /// In words, for messages.
    pub fn words(self) -> String {
        match self {
            Self::EveryStep => "at every step".to_owned(),
            Self::EveryStepAfter(n) => format!("at every step after {n}"),
            Self::EveryStepUntil(n) => format!("at every step until {n}"),
            Self::Step(n) => format!("at step {n}"),
            Self::Final => "at the end".to_owned(),
            Self::Mean => "on average".to_owned(),
            Self::MeanAfter(n) => format!("on average after step {n}"),
            Self::Max => "at most".to_owned(),
            Self::MaxAfter(n) => format!("at most after step {n}"),
            Self::RiseAfter(n) => format!("by its rise after step {n}"),
            Self::TurnsAfter(n) => format!("by its turns after step {n}"),
            Self::Min => "at least".to_owned(),
            Self::Rms => "by root mean square".to_owned(),
        }
    }
}

impl FigureRow {
    /// Whether there is anything to judge.
    pub fn was_run(&self) -> bool {
        !matches!(self.status.as_str(), "failed" | "unsupported" | "skipped")
    }

    /// Whether this machine has no device for it.
    pub fn was_skipped(&self) -> bool {
        self.status == "skipped"
    }

    /// A quantity after each step made.
    pub fn column(&self, name: &str) -> Option<&[f64]> {
        self.columns.iter().find(|(own, _)| own == name).map(|(_, values)| values.as_slice())
    }

    /// A number that describes the run as a whole.
    pub fn fact(&self, name: &str) -> Option<f64> {
        self.facts.iter().find(|(own, _)| own == name).map(|&(_, value)| value)
    }

    /// Replaces a number that describes the run as a whole.
    pub(super) fn set_fact(&mut self, name: &str, value: f64) {
        self.facts.retain(|(own, _)| own != name);
        self.facts.push((name.to_owned(), value));
    }

    /// A quantity at the steps asked for. Steps that a diverged run did not reach, and values that
    /// are not numbers, count as infinite: a run does not get better by ending early.
    pub fn values(&self, name: &str, at: StepChoice) -> Option<Vec<f64>> {
        let column = self.column(name)?;
        let judged = |v: f64| if v.is_nan() { f64::INFINITY } else { v };
        let mut values: Vec<f64> = column.iter().map(|&v| judged(v)).collect();
        values.resize(self.planned.max(values.len()), f64::INFINITY);
        Some(at.reduce(&values))
    }

    /// A statistic of a quantity, or a fact of the run.
    pub fn statistic(&self, name: &str, statistic: Statistic) -> Option<f64> {
        if let Some(fact) = self.fact(name) {
            return Some(fact);
        }
        self.values(name, statistic.into())?.first().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(values: &[f64], planned: usize) -> FigureRow {
        let columns = vec![("e_m".to_owned(), values.to_vec())];
        FigureRow { planned, columns, ..FigureRow::default() }
    }

    #[test]
    fn reductions_respect_their_window() {
        let row = row(&[9.0, 1.0, 2.0, 3.0], 4);
        let value = |at| row.values("e_m", at).unwrap();
        assert_eq!(value(StepChoice::EveryStepAfter(2)), [2.0, 3.0]);
        assert_eq!(value(StepChoice::EveryStepUntil(2)), [9.0, 1.0]);
        assert_eq!(value(StepChoice::EveryStepUntil(9)).len(), 4);
        assert_eq!(value(StepChoice::Step(3)), [2.0]);
        assert!(value(StepChoice::Step(5)).is_empty());
        assert_eq!(value(StepChoice::MeanAfter(1)), [2.0]);
        assert_eq!(value(StepChoice::MaxAfter(1)), [3.0]);
        assert_eq!(value(StepChoice::Min), [1.0]);
        assert_eq!(value(StepChoice::RiseAfter(2)), [2.0]);
        assert_eq!(value(StepChoice::RiseAfter(1)), [0.0]);
        assert!(value(StepChoice::RiseAfter(9)).is_empty());
        assert_eq!(value(StepChoice::TurnsAfter(0)), [0.5], "down, then up twice");
        assert_eq!(value(StepChoice::TurnsAfter(1)), [0.0]);
        assert_eq!(value(StepChoice::TurnsAfter(2)), [f64::INFINITY]);
        assert_eq!(value(StepChoice::Final), [3.0]);
        assert!(value(StepChoice::MeanAfter(9)).is_empty());
        assert_eq!(row.statistic("e_m", Statistic::Rms), Some((95.0_f64 / 4.0).sqrt()));
    }

    #[test]
    fn ending_early_is_not_better() {
        let row = row(&[1.0, f64::NAN], 4);
        assert_eq!(row.values("e_m", StepChoice::EveryStep).unwrap()[1..], [f64::INFINITY; 3]);
        assert_eq!(row.statistic("e_m", Statistic::Mean), Some(f64::INFINITY));
    }
}
