//! What a measurement leaves behind: rows, their summaries, and the files they go to.
//!
//! A row exists for everything that was asked for. Where it could not be measured, or not to the
//! end, its status says so and its reason says why.

mod csv;
mod document;
mod files;
mod pipe;
mod sensitivity;
mod terms;

use serde::{Serialize, Serializer, ser::SerializeMap};
use taut_core::{AuditFacts, BitHash, labels::Label};

pub(crate) use self::document::scene_hash;
pub use self::{
    csv::{
        contact_forces_csv, frames_csv, joint_forces_csv, names_csv, number, particles_csv,
        states_csv, times_csv, trace_csv,
    },
    document::{
        Document, MotionFacts, ReferenceDocument, ReferenceFacts, SCHEMA, SceneCounts, SceneFacts,
    },
    files::{OutDir, write_atomically},
    pipe::PipeTimes,
    sensitivity::{MetricSpread, Sensitivity},
    terms::{Division, RunDevice},
};

use crate::{
    ruler::{self, Metrics},
    spec::Spec,
};

/// How a row ended. The first seven are labels of a finished measurement, the others say why there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Nothing suspicious.
    #[default]
    Ok,
    /// A number was not finite.
    Diverged,
    /// The energy left its bound.
    Exploded,
    /// It hardly moved although the load on it is not balanced.
    Frozen,
    /// A jointed body fell as if it were free.
    Falling,
    /// Surfaces of bodies met although the backend promises that none do.
    Intersecting,
    /// A body was inside another, or went through it.
    Penetrating,
    /// The backend does not take this scene.
    Unsupported,
    /// The backend reported an error or panicked.
    Failed,
    /// It was never started.
    Skipped,
}

impl Status {
    /// The name used in files and tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Diverged => "diverged",
            Self::Exploded => "exploded",
            Self::Frozen => "frozen",
            Self::Falling => "falling",
            Self::Intersecting => "intersecting",
            Self::Penetrating => "penetrating",
            Self::Unsupported => "unsupported",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
        }
    }

    /// Whether the backend ran: a labelled run is a result too.
    pub fn is_measured(self) -> bool {
        !matches!(self, Self::Unsupported | Self::Failed | Self::Skipped)
    }
}

impl From<Label> for Status {
    fn from(label: Label) -> Self {
        match label {
            Label::Ok => Self::Ok,
            Label::Diverged => Self::Diverged,
            Label::Exploded => Self::Exploded,
            Label::Frozen => Self::Frozen,
            Label::Falling => Self::Falling,
            Label::Intersecting => Self::Intersecting,
            Label::Penetrating => Self::Penetrating,
        }
    }
}

/// Everything known about one row.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RunRow {
    /// Name of the row, unique within its run.
    pub label: String,
    /// Name of the backend.
    pub backend: String,
    /// Iterations per solver step.
    pub iterations: u32,
    /// Solver steps per frame.
    pub substeps: u32,
    /// The settings in force, every default filled in, as RON; as given where nothing was built.
    pub settings: String,
    /// What it may be compared with.
    pub division: Division,
    /// Where it was computed.
    pub device: RunDevice,
    /// How it ended.
    pub status: Status,
    /// Why it is not `ok`, or why it stopped early; empty otherwise.
    pub reason: String,
    /// What its solver warns of.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// What its engine says that it compiled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audit: Option<AuditFacts>,
    /// What its steps left unsolved on average, where that is much; a method may be stopped early on purpose, so this
    /// stands beside the status.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unconverged: Option<String>,
    /// When it was first found to be anything but `ok`, or could not go on [s].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed_at_s: Option<f64>,
    /// Frames completed.
    pub steps: u32,
    /// Of the bits of every frame's state, in order: equal for equal motion.
    #[serde(serialize_with = "as_hexadecimal", skip_serializing_if = "Option::is_none")]
    pub state_hash: Option<BitHash>,
    /// Of the bits of every frame's joint and contact forces, where the solver tells them.
    #[serde(serialize_with = "as_hexadecimal", skip_serializing_if = "Option::is_none")]
    pub force_hash: Option<BitHash>,
    /// The metrics of each frame, in order.
    #[serde(skip)]
    pub frames: Vec<Frame>,
    /// The metrics over the run: see [`Summary::of`]. Empty where nothing was measured.
    pub summary: Summary,
    /// Wall time per frame without reads and metrics [s].
    pub step_time_s: Option<Spread>,
    /// How far its results move with a start moved by rounding errors, where that was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sensitivity: Option<Sensitivity>,
    /// Convergence curves of one step.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub curves: Vec<Convergence>,
    /// Times by stage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub times: Option<Times>,
    /// Times in turn with the other rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_turn: Option<TimesInTurn>,
}

/// Steps are not converged where the mean of one of these metrics is larger than that.
const UNCONVERGED: [(&str, f64, &str); 2] = [
    ("joint_error_share_max", 0.1, "a joint is open for its size"),
    ("imbalance_share_max", 0.5, "forces on something miss its change of momentum"),
];

/// The metrics of one frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Frame {
    /// Number of the frame, from 1.
    pub step: u32,
    /// Time since the start of the scene [s].
    pub time_s: f64,
    /// What was measured.
    pub metrics: Metrics,
}

/// How one step converged.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Convergence {
    /// `cold`: from the reference's snapshot; `warm`: after the solver's own warm-up.
    pub start: &'static str,
    /// Frames run before the step.
    pub warmup: u32,
    /// The points, by iterations spent.
    pub points: Vec<TracePoint>,
}

/// The state of one step after so many iterations.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TracePoint {
    /// Iterations spent.
    pub iteration: u32,
    /// Whether the step was closed: some solvers stabilise there.
    pub closed: bool,
    /// What was measured.
    #[serde(serialize_with = "as_map")]
    pub metrics: Metrics,
}

/// Wall times of a row.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Times {
    /// Iterations per solver step.
    pub iterations: u32,
    /// Frames run before the clock started.
    pub warmup: u32,
    /// Time of single frames, waited for one by one: latency [s].
    pub step_s: Spread,
    /// How many frames make one sample of the throughput.
    pub steps_per_sample: u32,
    /// Time per frame of many frames in a row, waited for at their end: throughput [s].
    pub throughput_step_s: Spread,
    /// What the same frames took of processors, which other programs do not take away, where the row runs on one and
    /// the system tells [s].
    pub throughput_processor_s: Option<Spread>,
    /// Time per frame by stage.
    pub stages: Stages,
    /// What asking costs, where another process solves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pipe: Option<PipeTimes>,
}

/// Times taken in turn with the other rows, block by block, and what they say against the first row's.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TimesInTurn {
    /// Frames of the runs, each from the scene's initial state.
    pub frames: u32,
    /// Mean time per frame in each block, of the processor where the row runs on one [s].
    pub samples_s: Vec<f64>,
    /// Lower end, median and upper end of how many times as long as the first row it takes: 95 %.
    pub ratio: Option<[f64; 3]>,
    /// Width of the interval of the first row against itself, at least 0.02: what is not told apart.
    pub noise_band: Option<f64>,
    /// `first`, `faster`, `slower` or `not separable`.
    pub verdict: &'static str,
}

/// Time per frame by stage, median over the samples [s].
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Stages {
    /// Finding contacts, where the backend tells.
    pub collide: f64,
    /// The rest of `begin_step`.
    pub prepare: f64,
    /// All iterations.
    pub iterate: f64,
    /// `end_step`.
    pub finish: f64,
}

/// Centre and width of a sample, both robust against outliers, and its mean, in which they count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Spread {
    /// Median.
    pub median: f64,
    /// Median distance from the median.
    pub mad: f64,
    /// Mean.
    pub mean: f64,
    /// Smallest value.
    pub min: f64,
    /// Largest value.
    pub max: f64,
    /// How many values.
    pub samples: usize,
}

impl Spread {
    /// The spread of `samples`; `None` of none.
    pub fn of(samples: &[f64]) -> Option<Self> {
        let mut sorted = samples.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (min, max) = (*sorted.first()?, *sorted.last()?);
        let median = median(&sorted);
        let mut distances: Vec<f64> = sorted.iter().map(|x| (x - median).abs()).collect();
        distances.sort_by(f64::total_cmp);
        let mean = sorted.iter().sum::<f64>() / sorted.len() as f64;
        Some(Self { median, mad: self::median(&distances), mean, min, max, samples: sorted.len() })
    }
}

/// Median of sorted, non-empty values.
fn median(sorted: &[f64]) -> f64 {
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[middle] } else { 0.5 * (sorted[middle - 1] + sorted[middle]) }
}

/// The metrics over a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary(Vec<(String, f64)>);

impl Summary {
    /// For every metric of `frames` its worst value (largest magnitude, sign kept; the least where more is better) under its
    /// own name, its mean as `<name>_mean` and its last value as `<name>_final`.
    pub fn of(frames: &[Frame]) -> Self {
        let mut summary = Vec::new();
        for name in metric_names(frames.iter().map(|f| &f.metrics)) {
            let values: Vec<f64> = frames.iter().filter_map(|f| metric(&f.metrics, name)).collect();
            let Some(&last) = values.last() else { continue };
            let worst = ruler::worst(name, &values);
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            summary.push((name.to_owned(), worst));
            summary.push((format!("{name}_mean"), mean));
            summary.push((format!("{name}_final"), last));
        }
        Self(summary)
    }

    /// The value of that name.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.0.iter().find(|(n, _)| n == name).map(|&(_, value)| value)
    }

    /// Names and values in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, f64)> {
        self.0.iter().map(|(name, value)| (name.as_str(), *value))
    }

    /// Whether nothing was measured.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The value of that name among `metrics`.
pub fn metric(metrics: &Metrics, name: &str) -> Option<f64> {
    metrics.iter().find(|(n, _)| *n == name).map(|&(_, value)| value)
}

/// The names that occur, in order of first occurrence.
pub fn metric_names<'m>(rows: impl IntoIterator<Item = &'m Metrics>) -> Vec<&'m str> {
    let mut names: Vec<&str> = Vec::new();
    for metrics in rows {
        for (name, _) in metrics {
            if !names.contains(&&**name) {
                names.push(name);
            }
        }
    }
    names
}

impl Serialize for Summary {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize_pairs(self.iter(), serializer)
    }
}

fn as_map<S: Serializer>(metrics: &Metrics, serializer: S) -> Result<S::Ok, S::Error> {
    serialize_pairs(metrics.iter().map(|(name, value)| (&**name, *value)), serializer)
}

/// As text: readers of JSON round numbers of 64 bits.
fn as_hexadecimal<S: Serializer>(hash: &Option<BitHash>, serializer: S) -> Result<S::Ok, S::Error> {
    hash.map(|hash| format!("{:016x}", hash.value())).serialize(serializer)
}

fn serialize_pairs<'n, S: Serializer>(
    pairs: impl Iterator<Item = (&'n str, f64)>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(None)?;
    for (name, value) in pairs {
        map.serialize_entry(name, &value)?;
    }
    map.end()
}

impl RunRow {
    /// A row about to be measured.
    pub fn new(spec: &Spec) -> Self {
        Self {
            label: spec.label.clone(),
            backend: spec.backend.clone(),
            iterations: spec.iterations,
            substeps: spec.substeps,
            settings: spec.settings.as_str().to_owned(),
            division: Division::of(spec.settings.as_str(), 1),
            ..Self::default()
        }
    }

    /// A row that was never started.
    pub fn skipped(spec: &Spec, reason: &str) -> Self {
        Self { status: Status::Skipped, reason: reason.to_owned(), ..Self::new(spec) }
    }

    /// The status for a table, marked where steps were left unsolved, the times beside it say nothing, or an engine
    /// departs from the scene or does not tell all of what it holds.
    pub fn status_and_mark(&self) -> String {
        let mut cell = self.status.name().to_owned();
        if self.unconverged.is_some() {
            cell += ", unconverged";
        }
        if self.device == RunDevice::Software {
            cell += ", software";
        }
        cell += self.audit.as_ref().map_or("", AuditFacts::mark);
        cell
    }

    /// Sets how the row ended and why.
    pub fn set(&mut self, status: Status, reason: String) {
        self.status = status;
        // A label found before a run was cut short stays the reason, with the cut beside it.
        self.reason = if self.reason.is_empty() || reason.is_empty() {
            reason
        } else {
            format!("{}; {reason}", self.reason)
        };
    }

    /// Fills the summary from the frames, and tells what they left unsolved.
    pub fn summarise(&mut self) {
        self.summary = Summary::of(&self.frames);
        let left = UNCONVERGED.iter().filter_map(|&(metric, bound, words)| {
            let share = self.summary.get(&format!("{metric}_mean"))?;
            let much = share > bound || share.is_nan();
            much.then(|| format!("{words} by {:.0} % on average", 100.0 * share))
        });
        let left: Vec<String> = left.collect();
        self.unconverged = (!left.is_empty()).then(|| left.join("; "));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_is_robust_and_exact() {
        let spread = Spread::of(&[5.0, 1.0, 2.0, 100.0]).unwrap();
        let expected =
            Spread { median: 3.5, mad: 2.0, mean: 27.0, min: 1.0, max: 100.0, samples: 4 };
        assert_eq!(spread, expected);
        assert_eq!(Spread::of(&[]), None);
    }

    #[test]
    fn the_worst_has_the_largest_magnitude_and_keeps_its_sign() {
        let frame =
            |step, drift| Frame { step, time_s: 0.0, metrics: vec![("drift_j".into(), drift)] };
        let summary = Summary::of(&[frame(1, 1.0), frame(2, -6.0), frame(3, 2.0)]);
        let got: Vec<_> = summary.iter().collect();
        assert_eq!(got, [("drift_j", -6.0), ("drift_j_mean", -1.0), ("drift_j_final", 2.0)]);
    }

    #[test]
    fn steps_left_unsolved_are_told_beside_the_status() {
        let told = |name: &'static str, values: [f64; 2]| {
            let frame = |value| Frame { step: 1, time_s: 0.0, metrics: vec![(name.into(), value)] };
            let mut row = RunRow { frames: values.map(frame).into(), ..RunRow::default() };
            row.summarise();
            (row.status_and_mark(), row.unconverged)
        };
        assert_eq!(told("imbalance_share_max", [0.9, 0.05]), ("ok".to_owned(), None));
        let (status, why) = told("imbalance_share_max", [0.9, 0.3]);
        assert_eq!(status, "ok, unconverged");
        assert!(why.expect("told").contains("by 60 %"));
        assert!(told("joint_error_share_max", [0.0, f64::NAN]).1.is_some());
    }

    #[test]
    fn a_row_serialises_with_the_fields_of_the_schema() {
        let mut row = RunRow::new(&Spec::new("null", 4));
        row.frames =
            vec![Frame { step: 1, time_s: 0.1, metrics: vec![("joint_error_max_m".into(), 0.5)] }];
        row.summarise();
        row.step_time_s = Spread::of(&[0.25]);
        let json = serde_json::to_value(&row).unwrap();
        assert_eq!(json["summary"]["joint_error_max_m_final"], 0.5);
        assert_eq!(json["step_time_s"]["median"], 0.25);
        assert_eq!((&json["status"], &json["iterations"]), (&"ok".into(), &4.into()));
        assert!(json.get("frames").is_none() && json.get("times").is_none());
    }
}
