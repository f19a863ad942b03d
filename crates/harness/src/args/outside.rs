//! What has to do with solvers in other programs, and which backends a command line names.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{Selection, Verb, parameter};
use crate::spec;

/// Which other programs may be started.
#[derive(Clone, Debug, Args)]
pub(crate) struct ProgramArgs {
    /// File that names programs as backends, `backends.ron`; repeatable, beside those of $TAUT_BACKENDS
    #[arg(long = "backends", global = true, value_name = "FILE")]
    pub(crate) backend_files: Vec<PathBuf>,
    /// Start no other program as a backend, whoever names it
    #[arg(long, global = true)]
    pub(crate) no_exec: bool,
}

#[derive(Debug, Args)]
pub(crate) struct NewSolverArgs {
    /// Language of the solver
    pub(crate) language: Language,
    /// Folder that the files are written to; it is made where there is none
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
}

/// Languages that there is a start in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Language {
    /// Python 3.8 and its standard library.
    Python,
    /// C++17 and a header of its own.
    Cpp,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// Scene file, or the name of a file in `scenes`
    pub(crate) scene: String,
    /// Form of the scene
    #[arg(long, value_name = "FORM")]
    pub(crate) to: SceneFormat,
    /// Value of a scene parameter
    #[arg(long, value_name = "KEY=VALUE", value_parser = parameter)]
    pub(crate) set: Vec<(String, f64)>,
}

/// Forms of a scene for other programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SceneFormat {
    /// What solvers in other processes are sent, schema 1.
    Json,
}

impl Verb {
    /// The backends that are named, as they are written.
    pub(crate) fn backends(&self) -> Vec<&str> {
        match self {
            Self::Run(args) => with(&args.selection, &args.course.reference),
            Self::Best(args) => with(&args.selection, &args.course.reference),
            Self::Trace(args) => with(&args.selection, &args.reference),
            Self::Time(args) => strings(&args.selection.backends),
            Self::Draw(args) => strings(&args.backends),
            Self::Verify(args) => strings(&args.backends),
            Self::Regress(args) => args.guest.backend.as_deref().into_iter().collect(),
            Self::View(args) => strings(&args.backends),
            _ => Vec::new(),
        }
    }
}

fn strings(names: &[String]) -> Vec<&str> {
    names.iter().map(String::as_str).collect()
}

/// The backends of a selection, and what they are compared with.
fn with<'a>(selection: &'a Selection, reference: &'a Option<String>) -> Vec<&'a str> {
    let mut named = strings(&selection.backends);
    named.extend(reference.as_deref().map(|text| spec::with_substeps(text).0));
    named
}
