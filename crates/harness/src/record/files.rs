//! Files that are either complete or not there.

use std::{
    fs,
    io::{self, Write},
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
        let made = match chosen {
            Some(path) => fs::create_dir_all(path).map(|()| path.to_owned()),
            None => make_unused("results/local", &format!("{}-{verb}", utc_compact())),
        };
        let path = made.with_context(|| {
            let wanted = chosen.unwrap_or(Path::new("results/local"));
            format!("cannot make the directory {}", wanted.display())
        })?;
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

/// Makes the folder `name`, or with `-2`, `-3`, ... where another run has taken it, also in this moment.
fn make_unused(parent: impl AsRef<Path>, name: &str) -> io::Result<PathBuf> {
    fs::create_dir_all(&parent)?;
    let mut path = parent.as_ref().join(name);
    for number in 2.. {
        match fs::create_dir(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                path = parent.as_ref().join(format!("{name}-{number}"));
            }
            made => return made.map(|()| path),
        }
    }
    unreachable!("numbers do not end")
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
    fn runs_of_one_second_get_folders_of_their_own() {
        let dir = tempfile::tempdir().unwrap();
        let parent = dir.path().join("local");
        let names: Vec<PathBuf> = std::thread::scope(|scope| {
            let runs: Vec<_> =
                (0..8).map(|_| scope.spawn(|| make_unused(&parent, "run").unwrap())).collect();
            runs.into_iter().map(|run| run.join().unwrap()).collect()
        });
        let unlike: std::collections::BTreeSet<_> = names.iter().collect();
        assert_eq!(unlike.len(), 8);
        assert!(unlike.contains(&parent.join("run")) && unlike.contains(&parent.join("run-8")));
    }

    #[test]
    fn an_unwritable_place_is_named() {
        let error = write_atomically(Path::new("/nonexistent/a.csv"), b"").unwrap_err();
        assert!(error.to_string().contains("/nonexistent/a.csv"), "{error}");
    }
}
