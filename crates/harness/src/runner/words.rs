//! Where it is kept what solvers in other processes say beside their answers: a file for each label, in the folder of
//! the verb that runs them.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::{Mutex, OnceLock, PoisonError},
};

/// A name is no longer [characters], its ending not counted.
const LONGEST: usize = 100;

/// Files by label; none before there is a folder.
#[derive(Debug, Default)]
pub(crate) struct WordFiles {
    folder: OnceLock<PathBuf>,
    /// Names of files.
    named: Mutex<BTreeMap<String, String>>,
}

impl WordFiles {
    /// From now on words are kept in this folder, unless they are in another one already.
    pub(crate) fn keep_in(&self, folder: &Path) {
        let _ = self.folder.set(folder.to_owned());
    }

    /// The file for a label. What it holds of an earlier invocation goes; nothing is written yet.
    pub(crate) fn of(&self, label: &str) -> Option<PathBuf> {
        let folder = self.folder.get()?;
        let mut named = self.named.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(name) = named.get(label) {
            return Some(folder.join(name));
        }
        let plain = plain(label);
        let numbered = (2..).map(|number| format!("{plain}-{number}.log"));
        let mut names = std::iter::once(format!("{plain}.log")).chain(numbered);
        let name = names.find(|name| !named.values().any(|taken| taken == name))?;
        let path = folder.join(&name);
        // There mostly is none.
        let _ = fs::remove_file(&path);
        named.insert(label.to_owned(), name);
        Some(path)
    }

    /// The name of a label's file, where something was said.
    pub(crate) fn written(&self, label: &str) -> Option<String> {
        let named = self.named.lock().unwrap_or_else(PoisonError::into_inner);
        let name = named.get(label)?;
        self.folder.get()?.join(name).is_file().then(|| name.clone())
    }
}

/// A label as the name of a file: what may mean something to a shell or a system becomes `_`.
fn plain(label: &str) -> String {
    let safe = |c: char| c.is_ascii_alphanumeric() || "-_.+=@".contains(c);
    let name: String = label.chars().take(LONGEST).map(|c| if safe(c) { c } else { '_' }).collect();
    if name.starts_with(['.', '-']) || name.is_empty() { format!("_{name}") } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_label_has_a_file_with_a_safe_name() {
        let folder = tempfile::tempdir().unwrap();
        let files = WordFiles::default();
        assert_eq!(files.of("a"), None, "nobody keeps it");
        files.keep_in(folder.path());
        let name = |label: &str| {
            let path = files.of(label).unwrap();
            assert_eq!(path.parent(), Some(folder.path()), "{label}");
            path.file_name().unwrap().to_str().unwrap().to_owned()
        };
        let cases = [
            ("AVBD 20", "AVBD_20.log"),
            ("AVBD_20", "AVBD_20-2.log"),
            ("exec:python3 '../x.py'", "exec_python3__.._x.py_.log"),
            ("../../etc/passwd", "_.._.._etc_passwd.log"),
            ("-rf", "_-rf.log"),
            ("", "_.log"),
            ("né", "n_.log"),
        ];
        for _ in 0..2 {
            for (label, due) in cases {
                assert_eq!(name(label), due);
            }
        }
        assert!(name(&"x".repeat(5000)).len() < 200);
    }

    #[test]
    fn what_an_earlier_invocation_wrote_goes_once() {
        let folder = tempfile::tempdir().unwrap();
        let old = folder.path().join("a.log");
        fs::write(&old, "old").unwrap();
        let files = WordFiles::default();
        files.keep_in(folder.path());
        assert_eq!(files.written("a"), None, "it is not of this one");
        let path = files.of("a").unwrap();
        assert!(!old.exists());
        assert_eq!(files.written("a"), None);
        fs::write(&path, "new").unwrap();
        assert_eq!(files.of("a"), Some(path));
        assert_eq!(files.written("a").as_deref(), Some("a.log"));
    }
}
