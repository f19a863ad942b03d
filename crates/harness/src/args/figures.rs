//! What verbs over figures take.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct RedrawArgs {
    /// Names of folders in `results/figures`
    #[arg(value_name = "FIGURE", required_unless_present = "all")]
    pub(crate) figures: Vec<String>,
    /// All figures
    #[arg(long, conflicts_with = "figures")]
    pub(crate) all: bool,
    /// Write nothing; exit with 1 and name each file that is not as it would be drawn
    #[arg(long)]
    pub(crate) check: bool,
}

#[derive(Debug, Args)]
pub(crate) struct GalleryArgs {
    /// Write nothing; exit with 1 where a page is not as it would be made
    #[arg(long)]
    pub(crate) check: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ProfileArgs {
    /// Ids of problems in `results/profiles.ron` [default: all]
    #[arg(value_name = "PROBLEM", conflicts_with = "bless")]
    pub(crate) problems: Vec<String>,
    /// Replace `results/profiles.csv` by what is measured now
    #[arg(long)]
    pub(crate) bless: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// Folders of figures, or with what other verbs have written [default: `results/figures`]
    #[arg(value_name = "DIR")]
    pub(crate) folders: Vec<PathBuf>,
    /// Leave films, loops, tables of numbers and forms for small screens out, for a page to be sent
    #[arg(long)]
    pub(crate) light: bool,
    /// Another folder of figures, of another machine or revision: tell which verdicts and ends of runs differ
    #[arg(long, value_name = "OTHER")]
    pub(crate) with: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ReproduceArgs {
    #[command(flatten)]
    pub(crate) figures: FigureArgs,
    /// Compare the curves with the recorded ones too, as `regress` does
    #[arg(long)]
    pub(crate) regress: bool,
    /// Ask each claim whether it can fail: rows are spoilt, and `null` put in the place of each method
    #[arg(long)]
    pub(crate) sabotage: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RegressArgs {
    #[command(flatten)]
    pub(crate) figures: FigureArgs,
    #[command(flatten)]
    pub(crate) guest: GuestArgs,
    /// Folder with a record for each figure, in the place of that beside its definition; --bless writes there
    #[arg(long, value_name = "DIR")]
    pub(crate) baseline: Option<PathBuf>,
}

/// A backend that takes part in figures beside their own runs.
#[derive(Debug, Default, Args)]
pub(crate) struct GuestArgs {
    /// Backend that is drawn beside the figure's own runs and alone held to the baseline, `[LABEL=]NAME[:key=value,..]`
    /// or `[LABEL=]exec:COMMAND`
    #[arg(long = "as", value_name = "BACKEND", requires_all = ["like", "baseline"])]
    pub(crate) backend: Option<String>,
    /// Run, or entry of runs, of the figure whose scene and budget it takes
    #[arg(long, value_name = "RUN", requires = "backend")]
    pub(crate) like: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct FigureArgs {
    /// Names of folders in `results/figures`
    #[arg(value_name = "FIGURE", conflicts_with = "all")]
    pub(crate) figures: Vec<String>,
    /// All figures
    #[arg(long)]
    pub(crate) all: bool,
    /// With --all, also figures that take many minutes or gigabytes at full size
    #[arg(long)]
    pub(crate) large: bool,
    /// Smaller sizes for a quick check; claims that need the full size are not judged
    #[arg(long)]
    pub(crate) quick: bool,
    /// Replace the committed picture and recorded curves by what is measured now
    #[arg(long)]
    pub(crate) bless: bool,
    /// With --bless, from how many moved starts the spread of the recorded curves is found, by which they are compared
    /// from then on [default: 8 with --quick, else 0]
    #[arg(long, value_name = "N", requires = "bless",
        value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) spread: Option<u32>,
    /// With --bless, also when the program was built from sources that differ from their revision
    #[arg(long, requires = "bless")]
    pub(crate) dirty: bool,
    /// Where curves are compared with recorded ones: fail where one became better, too
    #[arg(long)]
    pub(crate) strict: bool,
}
