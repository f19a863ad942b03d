//! What `taut view` takes.

use std::path::PathBuf;

use clap::Args;

use super::RowGrid;

#[derive(Debug, Args)]
pub(crate) struct ViewArgs {
    /// Scene file, the name of a file in `scenes`, or a recording
    #[arg(value_name = "SCENE|FILE.npz")]
    pub(crate) subject: String,
    /// Backend with settings, `NAME[:key=value,..]`, optionally labelled, `LABEL=NAME:..`; each row is a pane, up to four with
    /// those of a recording
    #[arg(short, long = "backend", value_name = "BACKEND")]
    pub(crate) backends: Vec<String>,
    #[command(flatten)]
    pub(crate) grid: RowGrid,
    /// Go on to this frame at once
    #[arg(long, value_name = "FRAME", default_value_t = 0)]
    pub(crate) after: u32,
    /// Write a picture of the window to this file and close it
    #[arg(long, value_name = "FILE.png")]
    pub(crate) screenshot: Option<PathBuf>,
}
