//! The command line.

mod figures;
mod list;
mod outside;
mod view;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::{
    film::{CameraChoice, FilmColour},
    runner::BLOCKS,
};

pub(crate) use self::{
    figures::{
        FigureArgs, GalleryArgs, ProfileArgs, RedrawArgs, RegressArgs, ReportArgs, ReproduceArgs,
    },
    list::{ListArgs, What},
    outside::{ExportArgs, Language, NewSolverArgs, ProgramArgs, SceneFormat},
    view::ViewArgs,
};

/// Compares multibody solvers on identical scenes with one ruler.
///
/// Exit status: 0 good (a labelled run is a result too), 1 a claim, a regression check or a
/// conformance check failed, 2 bad usage or input, 3 nothing could be measured, 130 interrupted
/// (what was measured until then is written).
#[derive(Debug, Parser)]
#[command(name = "taut", version, propagate_version = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) verb: Verb,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// What all verbs take.
#[derive(Clone, Debug, Args)]
pub(crate) struct Common {
    /// Print one JSON document on standard output instead of text
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Folder whose `scenes` and `results/figures` are used, before those that are built in [default: the nearest
    /// folder upwards with `scenes`, alone; else what is built in]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
    /// Where files go [default: results/local/<time>-<verb>]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Graphics adapter for backends on the GPU: part of its name, or its number in `list adapters`
    /// [default: the likely fastest]
    #[arg(long, global = true, value_name = "NAME")]
    pub(crate) adapter: Option<String>,
    /// Threads a solver may use; times are comparable at equal counts only
    #[arg(long, global = true, value_name = "N", default_value_t = 1,
        value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: u16,
    /// Metrics to measure beside those that always are: intersections, intersecting_bodies, distance_min_m, or what README lists
    #[arg(long, global = true, value_name = "METRIC", value_delimiter = ',')]
    pub(crate) measure: Vec<String>,
    #[command(flatten)]
    pub(crate) programs: ProgramArgs,
    /// Seed of whatever is random
    #[arg(long, global = true, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Show backends, scenes and figures, and which backend takes which scene
    List(ListArgs),
    /// Load and validate scenes; show counts and warnings
    Check(CheckArgs),
    /// Run trajectories and measure every frame
    Run(RunArgs),
    /// Record how one step converges, from a common cold start and from each solver's warm start
    Trace(TraceArgs),
    /// Measure wall times, without reading any state while the clock runs
    Time(TimeArgs),
    /// Tell where two recordings part: the first number that differs, and how the distance grows
    Compare(CompareArgs),
    /// Draw runs of a scene as a film: one column for each run, one row for each time
    Draw(DrawArgs),
    /// Find what each backend's cheapest budget is that meets bounds on its errors
    Best(BestArgs),
    /// Record what each method takes to solve each problem of the performance profile
    Profile(ProfileArgs),
    /// Make the generated parts of the front pages: counts, pictures and tables
    Gallery(GalleryArgs),
    /// Gather results into one self-contained page
    Report(ReportArgs),
    /// Run published figures, draw them and judge what their papers say of them
    Reproduce(ReproduceArgs),
    /// Draw the committed pictures of figures again from what is on file, without any solver
    Redraw(RedrawArgs),
    /// Compare the curves of figures with the recorded ones; all figures unless some are named
    Regress(RegressArgs),
    /// Hold backends to what the interface and mechanics ask of them
    Verify(VerifyArgs),
    /// Write a scene as other programs read it
    Export(ExportArgs),
    /// Start a solver in another language: its files, which work as they are
    NewSolver(NewSolverArgs),
    /// Watch runs of a scene side by side in a window, or recorded ones
    View(ViewArgs),
}

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// Scene files, or names of files in `scenes`
    #[arg(required = true, value_name = "SCENE")]
    pub(crate) scenes: Vec<String>,
    /// Value of a scene parameter
    #[arg(long, value_name = "KEY=VALUE", value_parser = parameter)]
    pub(crate) set: Vec<(String, f64)>,
}

/// A length, not negative.
fn distance(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() && value >= 0.0 => Ok(value),
        _ => Err("expected a distance that is not negative, such as 1e-9".to_owned()),
    }
}

/// What to measure: a scene and rows.
#[derive(Debug, Args)]
pub(crate) struct Selection {
    /// Scene file, or the name of a file in `scenes`
    pub(crate) scene: String,
    /// Backend with settings, `NAME[:key=value,..]`, optionally labelled, `LABEL=NAME:..`; repeatable
    #[arg(short, long = "backend", required = true, value_name = "BACKEND")]
    pub(crate) backends: Vec<String>,
    #[command(flatten)]
    pub(crate) grid: RowGrid,
}

/// The budgets of each backend, and the parameters of the scene.
#[derive(Clone, Debug, Args)]
pub(crate) struct RowGrid {
    /// Iterations per solver step; several make one row each
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "10",
        value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) iterations: Vec<u32>,
    /// Solver steps per frame; several make one row each
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "1",
        value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) substeps: Vec<u32>,
    /// Value of a scene parameter
    #[arg(long, value_name = "KEY=VALUE", value_parser = parameter)]
    pub(crate) set: Vec<(String, f64)>,
}

/// How long trajectories are, and what they are compared with.
#[derive(Debug, Args)]
pub(crate) struct Course {
    /// Frames to run [default: the scene's own number]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) steps: Option<u32>,
    /// Backend whose trajectory the others are compared with, `NAME[:key=value,..][@SUBSTEPS]`, or
    /// `none` [default: the true motion; where it cannot be found, the finest `newton` among the rows]
    #[arg(long, value_name = "BACKEND")]
    pub(crate) reference: Option<String>,
    /// Most solver steps per frame from which the true motion is extrapolated [default: what some
    /// seconds allow]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=65536))]
    pub(crate) finest: Option<u32>,
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) selection: Selection,
    #[command(flatten)]
    pub(crate) course: Course,
    /// Write the poses after these steps to states.csv, those of particles to particles.csv, the forces that solvers
    /// tell to joint_forces.csv and contact_forces.csv, and what their numbers stand for to names.csv; 0 is the
    /// initial state
    #[arg(long, value_name = "N", value_delimiter = ',')]
    pub(crate) states: Vec<u32>,
    /// Repeat each row from so many starts moved by rounding errors, and tell how far the metrics move
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) spread: Option<u32>,
    #[command(flatten)]
    pub(crate) recording: RecordArgs,
}

/// What of the motion to record.
#[derive(Debug, Default, Args)]
pub(crate) struct RecordArgs {
    /// Record the motion of every run as arrays that numpy reads and `taut compare` compares
    #[arg(long, value_name = "FILE.npz")]
    pub(crate) record: Option<PathBuf>,
    /// Record the start and every N-th frame
    #[arg(long, value_name = "N", default_value_t = 1, requires = "record",
        value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) every: u32,
    /// Record in single precision, half as large
    #[arg(long, requires = "record")]
    pub(crate) single: bool,
    /// Record velocities too
    #[arg(long, requires = "record")]
    pub(crate) velocities: bool,
    /// Record the iterates of the first step of these frames too, each from a run of its own to there
    #[arg(long, value_name = "FRAME", value_delimiter = ',', requires = "record",
        value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) iterates: Vec<u32>,
}

#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// A recording
    #[arg(value_name = "A.npz")]
    pub(crate) a: PathBuf,
    /// Another of the same scene
    #[arg(value_name = "B.npz")]
    pub(crate) b: PathBuf,
    /// Compare run X of A with run Y of B, by their labels; repeatable [default: all, in their order]
    #[arg(long, value_name = "X=Y")]
    pub(crate) run: Vec<String>,
    /// Distance up to which numbers count as equal; 0 asks for equal bits
    #[arg(long, value_name = "DISTANCE", default_value_t = 0.0, value_parser = distance)]
    pub(crate) tolerance: f64,
}

#[derive(Debug, Args)]
pub(crate) struct TraceArgs {
    #[command(flatten)]
    pub(crate) selection: Selection,
    /// Frames before the traced step
    #[arg(long, value_name = "N", default_value_t = 30)]
    pub(crate) warmup: u32,
    /// Backend that makes the snapshot of the cold start and solves the step to tolerance,
    /// `NAME[:key=value,..][@SUBSTEPS]` [default: newton]
    #[arg(long, value_name = "BACKEND")]
    pub(crate) reference: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct TimeArgs {
    #[command(flatten)]
    pub(crate) selection: Selection,
    /// Frames before the clock starts
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) warmup: u32,
    /// Samples of single frames, of the throughput and of the stages each, where time allows
    #[arg(long, value_name = "N", default_value_t = 100,
        value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) samples: u32,
    /// Frames in one sample of the throughput; more of solvers in other processes, until the pipe does not show
    #[arg(long, value_name = "N", default_value_t = 10,
        value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) steps: u32,
    /// Time after which a kind with at least three samples takes no more [s]
    #[arg(long, value_name = "SECONDS", default_value_t = 5.0)]
    pub(crate) limit: f64,
    /// Blocks in which all rows are timed in turn, from the start of the scene each time; 0 leaves that out
    #[arg(long, value_name = "N", default_value_t = BLOCKS)]
    pub(crate) blocks: u32,
}

#[derive(Debug, Args)]
pub(crate) struct DrawArgs {
    /// Scene file, or the name of a file in `scenes`
    #[arg(required_unless_present_any = ["from", "figure"])]
    pub(crate) scene: Option<String>,
    /// Backend with settings, `NAME[:key=value,..]`, optionally labelled, `LABEL=NAME:..`; repeatable
    #[arg(short, long = "backend", required_unless_present_any = ["from", "figure"], value_name = "BACKEND")]
    pub(crate) backends: Vec<String>,
    #[command(flatten)]
    pub(crate) grid: RowGrid,
    /// Make the films of a figure instead and write them beside its definition, with its small picture and page;
    /// repeatable
    #[arg(long, value_name = "FIGURE", conflicts_with_all = ["scene", "backends", "from", "frames", "times"])]
    pub(crate) figure: Vec<String>,
    /// Draw a recording instead; `-b` then names runs by their labels
    #[arg(long, value_name = "FILE.npz", conflicts_with_all = ["scene", "set", "steps"])]
    pub(crate) from: Option<PathBuf>,
    /// Frames to run; the camera fits all of them [default: the scene's own number]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) steps: Option<u32>,
    /// Frames to draw, one row each; 0 is the start
    #[arg(long, value_name = "N", value_delimiter = ',', conflicts_with = "times")]
    pub(crate) frames: Vec<u32>,
    /// Times to draw [s] [default: five, from the first fifth to the end]
    #[arg(long, value_name = "SECONDS", value_delimiter = ',')]
    pub(crate) times: Vec<f64>,
    /// `auto`, `front`, `iso` or `at=(x,y,z) from=(x,y,z) fov=30`
    #[arg(long, value_name = "CAMERA", default_value = "auto")]
    pub(crate) camera: CameraChoice,
    /// What colours tell: `joint_error`, `speed`, `penetration`, `method` or `plain` [default: errors of joints where
    /// there are any]
    #[arg(long, value_name = "QUANTITY")]
    pub(crate) colour: Option<FilmColour>,
    /// Join anchors of a joint that are farther apart by a red line [m] [default: what can be seen]
    #[arg(long, value_name = "M", value_parser = distance)]
    pub(crate) gaps: Option<f64>,
    /// Draw this run's outline behind the others; a backend name or label of a row
    #[arg(long, value_name = "LABEL")]
    pub(crate) ghost: Option<String>,
    /// Draw points of contact with their normals
    #[arg(long)]
    pub(crate) contacts: bool,
    /// Draw the last second of a body's path; repeatable
    #[arg(long, value_name = "BODY")]
    pub(crate) trails: Vec<String>,
    /// Form of the picture [default: svg, or png where there are too many faces for it]
    #[arg(long = "as", value_name = "FORM", value_enum)]
    pub(crate) form: Option<FilmForm>,
    /// Width and height of a cell [px]; as png, the only cell is then drawn without anything around it [default: what
    /// fits a page of 800]
    #[arg(long, value_name = "WxH", value_parser = cell_size)]
    pub(crate) size: Option<(f64, f64)>,
}

impl DrawArgs {
    /// What to run; `None` where nothing is.
    pub(crate) fn selection(&self) -> Option<Selection> {
        Some(Selection {
            scene: self.scene.clone()?,
            backends: self.backends.clone(),
            grid: self.grid.clone(),
        })
    }
}

/// Forms of a film.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FilmForm {
    /// Lines and areas, for up to some thousand faces.
    Svg,
    /// Pixels, by a graphics adapter, with shadows.
    Png,
    /// A loop of one row of cells, by a graphics adapter.
    Apng,
}

#[derive(Debug, Args)]
#[command(mut_arg("iterations", |grid| grid.default_value("1,2,4,8,16,32,64,128,256")))]
pub(crate) struct BestArgs {
    #[command(flatten)]
    pub(crate) selection: Selection,
    #[command(flatten)]
    pub(crate) course: Course,
    /// Bounds on the worst of metrics over the run; all have to be met
    #[arg(long, required = true, value_name = "METRIC=BOUND", value_delimiter = ',',
        value_parser = bound)]
    pub(crate) within: Vec<(String, f64)>,
}

#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// Backend to verify; repeatable [default: all]
    #[arg(short, long = "backend", value_name = "NAME")]
    pub(crate) backends: Vec<String>,
}

/// Width and height of a cell [px].
fn cell_size(text: &str) -> Result<(f64, f64), String> {
    let expected = || format!("`{text}` is no size: expected WIDTHxHEIGHT such as 320x240");
    let (width, height) = text.split_once('x').ok_or_else(expected)?;
    let length = |text: &str| text.parse::<u32>().ok().filter(|px| (40..=4000).contains(px));
    let size = length(width).zip(length(height)).ok_or_else(expected)?;
    Ok((f64::from(size.0), f64::from(size.1)))
}

/// A metric with its bound.
fn bound(text: &str) -> Result<(String, f64), String> {
    let (name, value) = parameter(text).map_err(|e| e.replace("KEY=VALUE", "METRIC=BOUND"))?;
    if value <= 0.0 {
        return Err(format!("the bound of `{name}` is {value} but must be positive"));
    }
    Ok((name, value))
}

/// A scene parameter with its value.
fn parameter(text: &str) -> Result<(String, f64), String> {
    let (name, value) = text.split_once('=').ok_or("expected KEY=VALUE")?;
    let number: f64 = value.trim().parse().map_err(|_| format!("`{value}` is not a number"))?;
    if !number.is_finite() {
        return Err(format!("`{value}` is not finite"));
    }
    Ok((name.trim().to_owned(), number))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn parameters_are_finite_numbers() {
        assert_eq!(parameter("links=4e2"), Ok(("links".to_owned(), 400.0)));
        for bad in ["links", "links=", "links=many", "links=inf", "links=nan"] {
            assert!(parameter(bad).is_err(), "{bad}");
        }
    }
}
