//! Figures: definitions with claims, read from `results/figures/<id>/figure.ron`.
//!
//! A definition says which runs to make, what to draw of them and which sentences of the paper the
//! curves must bear out. Everything here is data; `reproduce` runs it.

mod band;
pub mod baseline;
mod claim;
mod conclusion;
mod curves;
mod gallery;
mod guest;
mod judge;
mod load;
mod losses;
mod measure;
mod page;
mod picture;
mod plan;
mod probe;
mod profile;
mod record;
mod redraw;
mod reproduce;
mod row;
mod sabotage;
mod spread;
mod starts;
mod times;
mod verdict;
mod views;

use std::{collections::BTreeMap, path::PathBuf};

use ron::value::RawValue;
use serde::Deserialize;

pub(crate) use self::losses::{LOSS_COLUMNS, losses};
pub use self::{
    claim::{Basis, Claim, ClaimCheck, Target},
    conclusion::{Conclusion, MeasuredValue, heading, with_unit},
    curves::{PanelCurves, collect, write_csv},
    gallery::{counts, front_thumbs, gallery, paper, pictures as picture_table, unfiled},
    guest::{Guest, load_with},
    judge::{Judged, StartCount, Verdict, judge, number},
    load::{LoadError, load, parse},
    losses::loss_table,
    measure::{Beside, MeasuredFigure, measure},
    picture::{Drawn, pictures},
    plan::Planned,
    probe::{ProbeSpec, Probes},
    profile::ProfileSpec,
    redraw::{filed_pictures, redraw},
    reproduce::{ReproduceOptions, Reproduced, reproduce},
    row::{FigureRow, Statistic, StepChoice},
    sabotage::Sabotage,
    verdict::{ClaimVerdict, RunVerdict, VerdictFile, definition_hash, read as read_verdict},
    views::{ViewKind, ViewSpec, write_views},
};
use crate::{
    checkout::{Checkout, embedded},
    plot::Scale,
    ruler::{ARC_RATIO, SECONDS},
};

/// A figure as its file defines it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// Name of its folder.
    #[serde(skip)]
    pub id: String,
    /// Metrics measured on demand that it names.
    #[serde(skip)]
    pub asked: Vec<String>,
    /// Who takes part beside its own runs.
    #[serde(skip)]
    pub guest: Option<Guest>,
    /// Heading of the picture.
    pub title: String,
    /// Publication and figure that it reproduces.
    pub source: String,
    /// What it shows and what to look at.
    pub about: String,
    /// The full size here against the source's, for the report; nothing is run by it, so verdicts outlive a change of
    /// this line.
    #[serde(default)]
    pub size: Option<String>,
    /// What is measured in each run.
    #[serde(default)]
    pub measure: MeasureSpec,
    /// Quantities beside the metrics, by name; a name ends in its unit.
    #[serde(default)]
    pub probes: BTreeMap<String, ProbeSpec>,
    /// The runs, in the order of the legend.
    pub runs: Vec<RunSpec>,
    /// What is drawn.
    pub plot: Plot,
    /// What the source says of the figure.
    pub claims: Vec<Claim>,
    /// Most steps per frame of the runs from which the motion without steps is extrapolated; `distance_to_motion_m`
    /// and `distance_to_step_m` are measured where it is given.
    #[serde(default)]
    pub motion: Option<u32>,
    /// How far a curve may move from the recorded one.
    #[serde(default)]
    pub band: Band,
    /// How the figure shrinks for a quick check.
    #[serde(default)]
    pub quick: Quick,
    /// What it shows, in one sentence.
    #[serde(default)]
    pub conclusion: Option<Conclusion>,
    /// Films of some of its runs; they change nothing in runs or checks, so verdicts outlive a change of this line.
    #[serde(default)]
    pub views: Vec<ViewSpec>,
    /// Whether it takes many minutes or gigabytes at full size: then it is made when it is named, or all are with
    /// `--large`.
    #[serde(default)]
    pub large: bool,
}

/// What is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum MeasureSpec {
    /// Every metric after each step of a run.
    #[default]
    Trajectory,
    /// Every metric after each iteration of one step, against the run's reference solving it.
    Trace {
        /// Frames that each solver takes by itself before the traced step.
        warmup: u32,
    },
    /// Wall times only.
    Time {
        /// Frames before the clock starts.
        warmup: u32,
        /// Frames timed.
        samples: u32,
    },
}

/// One or more runs of a backend: one per combination of `over`, `iterations` and `substeps`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunSpec {
    /// Name in legends and claims; with several budgets the budget is appended.
    pub label: String,
    /// Stem of a file in `scenes`.
    pub scene: String,
    /// Parameters of the scene that differ from its defaults.
    #[serde(default)]
    pub parameters: BTreeMap<String, f64>,
    /// Name in the table of backends.
    pub backend: String,
    /// A parameter of the scene that takes several values, with a run for each.
    #[serde(default)]
    pub over: Option<ParameterSweep>,
    /// The backend's settings.
    #[serde(default)]
    pub settings: Option<Box<RawValue>>,
    /// Iterations per step.
    pub iterations: Vec<u32>,
    /// Steps per frame.
    #[serde(default = "one")]
    pub substeps: Vec<u32>,
    /// Frames; the scene's own number unless given.
    #[serde(default)]
    pub steps: Option<u32>,
    /// Label of the run whose trajectory is the reference of this one.
    #[serde(default)]
    pub reference: Option<String>,
    /// Whether a software adapter would take hours at full size: the run is skipped there.
    #[serde(default)]
    pub needs_hardware: bool,
}

/// A parameter of a scene and the values that it takes.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ParameterSweep {
    /// Its name.
    pub parameter: String,
    /// One run for each, with the value at the end of its label.
    pub values: Vec<f64>,
}

fn one() -> Vec<u32> {
    vec![1]
}

/// The picture.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plot {
    /// The panels, row by row.
    pub panels: Vec<PanelSpec>,
}

/// One pair of axes.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PanelSpec {
    /// Heading.
    #[serde(default)]
    pub title: String,
    /// Which runs it shows, by label; `AVBD*` takes all that start so. Empty takes all.
    #[serde(default)]
    pub runs: Vec<String>,
    /// The curves to look at, at most five; the first five unless given.
    #[serde(default)]
    pub emphasis: Vec<String>,
    /// Whether it stands in the report only.
    #[serde(default)]
    pub supplement: bool,
    /// Horizontal axis.
    pub x: AxisSpec,
    /// Vertical axis: a metric or a probe.
    pub y: AxisSpec,
    /// Draws one point per run instead of one per step: this statistic of `y`, joined over the
    /// budgets of one entry of `runs`.
    #[serde(default)]
    pub statistic: Option<Statistic>,
    /// Draws the share of (scene, target) pairs that methods meet, against what it costs them.
    #[serde(default)]
    pub profile: Option<ProfileSpec>,
    /// Lines to compare with.
    #[serde(default)]
    pub references: Vec<ReferenceSpec>,
}

/// One axis of a panel.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AxisSpec {
    /// `time_s`, `step`, in a trace `iteration`, a metric, a probe; for panels of statistics also `iterations`, `substeps`,
    /// `work`, `dt_s`, `bodies` (that forces move), `step_time_s` (median), `step_time_min_s`, or a parameter of
    /// the scene.
    pub quantity: String,
    /// Linear or logarithmic.
    #[serde(default)]
    pub scale: Scale,
    /// Ends of the axis; fitted unless given.
    #[serde(default)]
    pub range: Option<(f64, f64)>,
    /// Text of the axis; made from the quantity unless given.
    #[serde(default)]
    pub label: Option<String>,
}

/// A line to compare curves with.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ReferenceSpec {
    /// A constant value of y.
    Horizontal {
        /// The value, in the unit of the axis.
        value: f64,
        /// Text in the legend.
        label: String,
    },
    /// A constant value of x.
    Vertical {
        /// The value, in the unit of the axis.
        value: f64,
        /// Text in the legend.
        label: String,
    },
    /// A power law through a point.
    Slope {
        /// The point.
        through: (f64, f64),
        /// The power.
        exponent: f64,
        /// Text in the legend.
        label: String,
    },
    /// One result from elsewhere.
    Point {
        /// Where, in the units of the axes.
        at: (f64, f64),
        /// Text beside the point.
        label: String,
    },
}

/// How far a measured curve may be from the recorded one. On a log axis lengths are in decades, on
/// a linear one in shares of the recorded curve's extent.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Band {
    /// Area between the curves per length of the horizontal axis.
    pub area: f64,
    /// Difference of the mean over the last tenth.
    pub end: f64,
    /// Difference of the slopes of fitted lines, over the whole length of the horizontal axis.
    pub slope: f64,
    /// Smaller values on a log axis count as this: rounding errors are not worth a comparison.
    pub floor: f64,
}

impl Default for Band {
    fn default() -> Self {
        Self { area: 0.05, end: 0.1, slope: 0.1, floor: 1e-12 }
    }
}

/// What a quick check makes smaller. Checks and their thresholds stay as they are.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Quick {
    /// Frames of every run, at most.
    pub steps: Option<u32>,
    /// Budgets above this many iterations times substeps are left out, except of reference runs.
    pub work: Option<u32>,
    /// Substeps of reference runs, at most.
    pub reference_substeps: Option<u32>,
    /// Most steps per frame for the motion without steps, where the figure measures against it.
    pub motion: Option<u32>,
    /// Values of [`RunSpec::over`] above this are left out.
    pub over: Option<f64>,
    /// Parameters by scene that replace those of the runs.
    pub parameters: BTreeMap<String, BTreeMap<String, f64>>,
}

impl Figure {
    /// Name of its small picture, which is the last row of its first film and like that in areas or in pixels, else
    /// its first panel without text.
    pub fn thumb(&self, root: &Checkout) -> &'static str {
        let film = self.first_film().map(|view| view.file(&folder(root, &self.id)));
        if film.is_some_and(|film| film.ends_with(".svg")) { "thumb.svg" } else { "thumb.png" }
    }

    /// Whether a row is of a run that software adapters do not make at full size.
    fn needs_hardware(&self, row: &FigureRow) -> bool {
        self.runs.iter().any(|run| run.needs_hardware && run.label == row.group)
    }

    /// Whether anything drawn or claimed depends on a clock.
    pub fn is_timed(&self) -> bool {
        matches!(self.measure, MeasureSpec::Time { .. })
            || self.claims.iter().any(|claim| claim.check.is_timed())
            || self.plot.panels.iter().any(|panel| !panel.is_repeatable())
    }
}

/// The median time of a step; like [`SHORTEST`] it differs between equal runs.
pub const TIMED: &str = "step_time_s";

/// The shortest time of a step, which tells most of a method where other programs share the machine.
pub const SHORTEST: &str = "step_time_min_s";

/// The mean time of a step, in which those of landings count, too.
pub const MEAN_TIME: &str = "step_time_mean_s";

/// The longest time of a step.
pub const LONGEST: &str = "step_time_max_s";

/// Whether a quantity is a time by the clock.
fn is_time(quantity: &str) -> bool {
    [TIMED, SHORTEST, MEAN_TIME, LONGEST].contains(&quantity) || SECONDS.contains(&quantity)
}

/// Whether a quantity differs between equal runs: a time, or the ratio of two that were taken in turn.
fn is_clocked(quantity: &str) -> bool {
    is_time(quantity) || quantity == ARC_RATIO
}

/// Folder of a figure's definition and records on disk, whether it is there or not.
pub fn folder(root: &Checkout, id: &str) -> PathBuf {
    root.on_disk(&format!("results/figures/{id}"))
}

/// A file of a figure, on disk or in the program.
fn filed(root: &Checkout, id: &str, name: &str) -> PathBuf {
    root.path(&format!("results/figures/{id}/{name}"))
}

/// Names of all figures of a checkout, sorted.
///
/// # Errors
/// When the folder of figures cannot be read.
pub fn ids(root: &Checkout) -> std::io::Result<Vec<String>> {
    let mut ids = root.names("results/figures")?;
    ids.retain(|id| {
        let definition = filed(root, id, "figure.ron");
        embedded(&definition).is_some() || definition.is_file()
    });
    Ok(ids)
}
