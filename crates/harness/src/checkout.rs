//! Where scenes and figures come from: a folder, what the program was built with, or the one before the other.
//!
//! The program holds the scenes and figures of its revision, records and verdicts included and pictures left out, so
//! that it works wherever it is installed. A file in it goes by a path such as `embedded:scenes/rope.ron`.

use std::{
    fs, io,
    path::{Path, PathBuf},
    str,
};

use anyhow::{Context, ensure};
use include_dir::{Dir, include_dir};

/// What `build.rs` has chosen of the checkout that the program was built from.
static EMBEDDED: Dir<'_> = include_dir!("$OUT_DIR/embedded");

/// What paths of files in the program begin with.
const SCHEME: &str = "embedded:";

/// A folder with `scenes` and `results/figures`, or what stands for one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkout {
    folder: Option<PathBuf>,
    /// Whether files of the program stand where the folder has none.
    completed: bool,
}

impl Checkout {
    /// A folder that stands for itself.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self { folder: Some(folder.into()), completed: false }
    }

    /// What the program was built with, and before it the files of a folder, if one is given.
    pub fn embedded(folder: Option<PathBuf>) -> Self {
        Self { folder, completed: true }
    }

    /// What is to be used here: the folder that is `given`, completed; else the nearest folder that has scenes, from the
    /// working directory upwards, as it is; else what the program was built with.
    ///
    /// # Errors
    /// When what is given is no folder.
    pub fn find(given: Option<&Path>) -> anyhow::Result<Self> {
        if let Some(folder) = given {
            ensure!(folder.is_dir(), "--root {}: there is no such folder", folder.display());
            return Ok(Self::embedded(Some(folder.to_owned())));
        }
        let Ok(here) = std::env::current_dir() else { return Ok(Self::embedded(None)) };
        let found = here.ancestors().find(|folder| folder.join("scenes").is_dir());
        Ok(match found {
            // A relative path keeps messages and records free of what lies above.
            Some(found) if found == here => Self::at("."),
            Some(found) => Self::at(found),
            None => Self::embedded(None),
        })
    }

    /// The folder, for those who write or show pictures.
    ///
    /// # Errors
    /// When there is none.
    pub fn folder(&self) -> anyhow::Result<&Path> {
        self.folder.as_deref().context(
            "no folder `scenes` here or above: this asks for a checkout, or for a folder by --root DIR",
        )
    }

    /// Whether a file is in the program and, as the folder stands for itself, not looked for there.
    pub(crate) fn hides(&self, file: &str) -> bool {
        !self.completed && EMBEDDED.get_file(file).is_some()
    }

    /// Where a file of the checkout is or would be on disk, such as `scenes/rope.ron`.
    pub fn on_disk(&self, file: &str) -> PathBuf {
        match &self.folder {
            Some(folder) if folder != Path::new(".") => folder.join(file),
            _ => PathBuf::from(file),
        }
    }

    /// The path by which a file is read: that on disk, or that in the program where only the program has it.
    pub fn path(&self, file: &str) -> PathBuf {
        let on_disk = self.on_disk(file);
        let there = self.folder.is_some() && on_disk.exists();
        if !there && self.completed && EMBEDDED.get_file(file).is_some() {
            return PathBuf::from(format!("{SCHEME}{file}"));
        }
        on_disk
    }

    /// Names of what is in a folder of the checkout, sorted.
    ///
    /// # Errors
    /// When the folder is neither on disk nor in the program, or cannot be read.
    pub fn names(&self, folder: &str) -> io::Result<Vec<String>> {
        let within = EMBEDDED.get_dir(folder).filter(|_| self.completed);
        let within =
            within.map(|dir| dir.entries().iter().filter_map(|entry| entry.path().file_name()));
        let mut names: Vec<String> =
            within.into_iter().flatten().map(|name| name.to_string_lossy().into_owned()).collect();
        let on_disk = self.on_disk(folder);
        if self.folder.is_some() && (on_disk.is_dir() || !self.completed) {
            for entry in fs::read_dir(on_disk)? {
                names.push(entry?.file_name().to_string_lossy().into_owned());
            }
        }
        names.sort();
        names.dedup();
        Ok(names)
    }
}

/// The file in the program that a path stands for, if it does.
pub(crate) fn embedded(path: &Path) -> Option<&'static [u8]> {
    let name = path.to_str()?.strip_prefix(SCHEME)?;
    Some(EMBEDDED.get_file(name)?.contents())
}

/// The text of a file, on disk or in the program; `None` where there is no such file.
///
/// # Errors
/// When it cannot be read, or is not UTF-8.
pub(crate) fn text(path: &Path) -> anyhow::Result<Option<String>> {
    let cannot = || format!("cannot read {}", path.display());
    if let Some(bytes) = embedded(path) {
        return str::from_utf8(bytes).map(|text| Some(text.to_owned())).with_context(cannot);
    }
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(cannot),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own() -> Checkout {
        Checkout::at(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))
    }

    #[test]
    fn what_is_in_the_program_is_what_is_on_disk() {
        let (program, disk) = (Checkout::embedded(None), own());
        let scenes = |root: &Checkout| -> Vec<String> {
            let names = root.names("scenes").unwrap().into_iter();
            names.filter(|name| name.ends_with(".ron")).collect()
        };
        assert_eq!(scenes(&program), scenes(&disk));
        let figures = |root: &Checkout| crate::figure::ids(root).unwrap();
        assert_eq!(figures(&program), figures(&disk));
        let names = ["figure.ron", "baseline.csv", "verdict.json", "spread-quick.csv"];
        let of = |id: &String| names.map(|name| format!("results/figures/{id}/{name}"));
        let scenes = scenes(&disk).into_iter().map(|name| format!("scenes/{name}"));
        for file in scenes.chain(figures(&disk).iter().flat_map(of)) {
            let read = |root: &Checkout| text(&root.path(&file)).unwrap();
            assert_eq!(read(&program), read(&disk), "{file}");
        }
    }

    #[test]
    fn a_folder_stands_before_what_is_in_the_program() {
        let dir = tempfile::tempdir().unwrap();
        let root = Checkout::find(Some(dir.path())).unwrap();
        assert_eq!(root.path("scenes/rope.ron"), Path::new("embedded:scenes/rope.ron"));
        fs::create_dir(dir.path().join("scenes")).unwrap();
        for name in ["rope.ron", "own.ron"] {
            fs::write(dir.path().join("scenes").join(name), "()").unwrap();
        }
        let read = |file: &str| text(&root.path(file)).unwrap();
        assert_eq!(read("scenes/rope.ron").as_deref(), Some("()"));
        assert_eq!(read("scenes/none.ron"), None);
        assert!(read("scenes/net.ron").is_some_and(|text| text.len() > 2));
        let names = root.names("scenes").unwrap();
        assert!(
            ["net.ron", "own.ron", "rope.ron"]
                .iter()
                .all(|name| names.contains(&(*name).to_owned()))
        );
        assert_eq!(Checkout::at(dir.path()).names("scenes").unwrap(), ["own.ron", "rope.ron"]);
        assert!(Checkout::find(Some(&dir.path().join("gone"))).is_err());
    }
}
