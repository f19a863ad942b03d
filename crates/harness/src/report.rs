//! One self-contained page of results: how claims stand, pictures, films, runs, and what precision costs.
//!
//! It reads only what is on file, so a report of old results needs no run. The page asks nothing of anybody: style,
//! script, pictures and data are in it, and without the script it is as complete, only less handy.

mod cards;
mod figures;
mod folder;
mod heat;
mod html;
mod live;
mod page;
mod profile;
mod section;
mod style;
#[cfg(test)]
mod tests;
mod work;

use std::path::{Path, PathBuf};

use anyhow::bail;

use crate::Setup;

/// What to gather.
#[derive(Clone, Copy, Debug)]
pub struct ReportOptions<'a> {
    /// Folders of figures, or with what verbs have written.
    pub folders: &'a [PathBuf],
    /// Whether films, loops and tables of numbers are left out.
    pub light: bool,
    /// Another folder of figures, whose verdicts are compared with these.
    pub with: Option<&'a Path>,
}

/// Makes the page.
///
/// # Errors
/// When a folder cannot be read or holds nothing to report, or what is on file of a figure is malformed.
pub fn report(setup: &Setup, options: ReportOptions<'_>) -> anyhow::Result<String> {
    let ReportOptions { folders, .. } = options;
    let mut roots = folders.iter().filter_map(|folder| figures::root_of(folder));
    let root = roots.next();
    if roots.next().is_some() {
        bail!("two folders of figures: give one, and the other by --with");
    }
    if root.is_none() && options.with.is_some() {
        bail!("--with compares figures, but no folder of figures is reported");
    }
    let others: Vec<&Path> = folders
        .iter()
        .map(PathBuf::as_path)
        .filter(|folder| figures::root_of(folder).is_none())
        .collect();
    page::page(setup, root.as_ref(), &others, options)
}
