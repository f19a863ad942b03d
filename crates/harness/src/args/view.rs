//! What `taut view` takes.

use std::path::PathBuf;

use clap::Args;

use super::parameter;

#[derive(Debug, Args)]
pub(crate) struct ViewArgs {
    /// Scene file, the name of a file in `scenes`, or a recording
    #[arg(value_name = "SCENE|FILE.npz")]
    pub(crate) subject: String,
    /// Backend with settings, `NAME[:key=value,..]`, optionally labelled, `LABEL=NAME:..`; up to four panes, beside those of a
    /// recording
    #[arg(short, long = "backend", value_name = "BACKEND")]
    pub(crate) backends: Vec<String>,
    /// Iterations per solver step; several make one pane each
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "10",
        value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) iterations: Vec<u32>,
    /// Solver steps per frame; several make one pane each
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "1",
        value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) substeps: Vec<u32>,
    /// Value of a scene parameter
    #[arg(long, value_name = "KEY=VALUE", value_parser = parameter)]
    pub(crate) set: Vec<(String, f64)>,
    /// Go on to this frame at once
    #[arg(long, value_name = "FRAME", default_value_t = 0)]
    pub(crate) after: u32,
    /// Write a picture of the window to this file and close it
    #[arg(long, value_name = "FILE.png")]
    pub(crate) screenshot: Option<PathBuf>,
}
