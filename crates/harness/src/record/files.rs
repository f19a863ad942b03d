//! Files that are either complete or not there.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
};

use anyhow::Context;

use crate::machine::utc_compact;

/// The directory of one invocation, and the files written to it so far.
#[derive(Clone, Debug)]
pub struct OutDir {
    path: PathBuf,
    files: Vec<PathBuf>,
}

impl OutDir {
    /// Makes `chosen`, or `results/local/<time>-<verb>` where none was chosen.
    ///
    /// # Errors
    /// When the directory cannot be made.
    pub fn create(chosen: Option<&Path>, verb: &str) -> anyhow::Result<Self> {
        let path = match chosen {
            Some(path) => path.to_owned(),
            None => unused(&Path::new("results/local").join(format!("{}-{verb}", utc_compact()))),
        };
        fs::create_dir_all(&path)
            .with_context(|| format!("cannot make the directory {}", path.display()))?;
        Ok(Self { path, files: Vec::new() })
    }

    /// Where the files go.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes one file, whole or not at all.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&mut self, name: &str, content: &str) -> anyhow::Result<()> {
        let path = self.add(name);
        write_atomically(&path, content.as_bytes())
    }

    /// Lists a file that is written elsewhere, or will be, and returns its path.
    pub fn add(&mut self, name: &str) -> PathBuf {
        let path = self.path.join(name);
        if !self.files.contains(&path) {
            self.files.push(path.clone());
        }
        path
    }

    /// The files in order of writing, as given on the command line plus their names.
    pub fn files(&self) -> Vec<String> {
        self.files.iter().map(|file| file.display().to_string()).collect()
    }
}

/// `path`, or with `-2`, `-3`, ... where a run of the same second has taken it.
fn unused(path: &Path) -> PathBuf {
    let numbered = (2..).map(|n| PathBuf::from(format!("{}-{n}", path.display())));
    std::iter::once(path.to_owned()).chain(numbered).find(|p| !p.exists()).unwrap_or_default()
}

/// Writes `content` beside `path` and renames it there, so that a reader sees all of it or nothing.
///
/// # Errors
/// When either fails; the message names the file.
pub fn write_atomically(path: &Path, content: &[u8]) -> anyhow::Result<()> {
    let temporary = path.with_extension(format!("tmp{}", std::process::id()));
    let written = fs::File::create(&temporary)
        .and_then(|mut file| file.write_all(content).and_then(|()| file.sync_all()))
        .and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written.with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_whole_and_nothing_else_stays() {
        let dir = tempfile::tempdir().unwrap();
        let mut out = OutDir::create(Some(dir.path()), "run").unwrap();
        out.write("a.csv", "first").unwrap();
        out.write("a.csv", "second").unwrap();
        assert_eq!(fs::read_to_string(dir.path().join("a.csv")).unwrap(), "second");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
        assert_eq!(out.files().len(), 1);
    }

    #[test]
    fn an_unwritable_place_is_named() {
        let error = write_atomically(Path::new("/nonexistent/a.csv"), b"").unwrap_err();
        assert!(error.to_string().contains("/nonexistent/a.csv"), "{error}");
    }
}
