//! Reads recordings of this version and every older one.

use std::{
    fs::File,
    io::{BufReader, Read},
    path::{Path, PathBuf},
};

use zip::{ZipArchive, result::ZipError};

use crate::{About, Array, FORMAT, VERSION};

/// Why a recording cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// The file is missing or may not be read.
    #[error("cannot read {0}: {1}")]
    File(PathBuf, #[source] std::io::Error),
    /// The directory at the end of the archive is missing or wrong.
    #[error("{0} is truncated or no recording: record it again with `taut run .. --record`")]
    Archive(PathBuf, #[source] ZipError),
    /// A member is missing or damaged.
    #[error("{0}: `{1}` {2}: record it again with `taut run .. --record`")]
    Member(PathBuf, String, String),
    /// Written by a newer program.
    #[error("{0} is of version {1}, but this program reads up to {VERSION}: use a newer taut")]
    Newer(PathBuf, u32),
}

/// An open recording.
pub struct Recording {
    /// What was run.
    pub about: About,
    path: PathBuf,
    archive: ZipArchive<BufReader<File>>,
}

impl Recording {
    /// Opens a recording.
    ///
    /// # Errors
    /// When it is no recording, not a whole one, or of a newer version.
    pub fn open(path: &Path) -> Result<Self, RecordingError> {
        let file =
            File::open(path).map_err(|error| RecordingError::File(path.to_owned(), error))?;
        let archive = ZipArchive::new(BufReader::new(file));
        let archive = archive.map_err(|error| RecordingError::Archive(path.to_owned(), error))?;
        let mut opened = Self { about: About::default(), path: path.to_owned(), archive };
        let name = "recording.json";
        let json = opened.bytes(name)?;
        // The version first: what else a newer one holds is not known.
        let value: serde_json::Value = serde_json::from_slice(&json)
            .map_err(|error| opened.wrong(name, format!("is no JSON: {error}")))?;
        if value["format"] != FORMAT {
            return Err(opened.wrong(name, format!("does not say the format `{FORMAT}`")));
        }
        match value["version"].as_u64().and_then(|version| u32::try_from(version).ok()) {
            Some(1..=VERSION) => {}
            Some(newer) => return Err(RecordingError::Newer(path.to_owned(), newer)),
            None => return Err(opened.wrong(name, "has no version")),
        }
        opened.about = serde_json::from_value(value)
            .map_err(|error| opened.wrong(name, format!("cannot be understood: {error}")))?;
        Ok(opened)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether there is a member of that name.
    pub fn has(&self, name: &str) -> bool {
        self.archive.index_for_name(name).is_some()
    }

    /// A member that is an array.
    ///
    /// # Errors
    /// When it is missing or damaged.
    pub fn array(&mut self, name: &str) -> Result<Array, RecordingError> {
        let bytes = self.bytes(name)?;
        Array::from_bytes(&bytes).map_err(|reason| self.wrong(name, reason))
    }

    /// The text of the scene.
    ///
    /// # Errors
    /// When it is missing or damaged.
    pub fn scene_text(&mut self) -> Result<String, RecordingError> {
        let bytes = self.bytes("scene.ron")?;
        String::from_utf8(bytes).map_err(|_| self.wrong("scene.ron", "is not UTF-8"))
    }

    /// An error about one member.
    pub(crate) fn wrong(&self, name: &str, reason: impl Into<String>) -> RecordingError {
        RecordingError::Member(self.path.clone(), name.to_owned(), reason.into())
    }

    fn bytes(&mut self, name: &str) -> Result<Vec<u8>, RecordingError> {
        let mut bytes = Vec::new();
        let read = match self.archive.by_name(name) {
            Ok(mut member) => member.read_to_end(&mut bytes).map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        match read {
            Ok(_) => Ok(bytes),
            Err(reason) => Err(self.wrong(name, format!("cannot be read: {reason}"))),
        }
    }
}
