//! What `taut list` is asked for.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Only these
    pub(crate) what: Option<What>,
    /// Replace the support matrix, or the table of figures, between the markers of this Markdown file
    #[arg(long, value_name = "FILE")]
    pub(crate) splice: Option<PathBuf>,
    /// Start the backends that are other programs, and ask what they are and of which version
    #[arg(long)]
    pub(crate) probe: bool,
}

/// What can be listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum What {
    Backends,
    Scenes,
    Figures,
    Adapters,
}
