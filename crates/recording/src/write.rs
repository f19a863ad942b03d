//! Writes recordings: member by member as they come, complete under their name only at the end.

use std::{
    fs::{self, File},
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

use zip::{CompressionMethod, DateTime, ZipWriter, write::SimpleFileOptions};

use crate::{About, Array};

/// Writes one recording beside its place, as `FILE.npz.partial`, until it is complete.
pub struct Archivist {
    zip: ZipWriter<BufWriter<File>>,
    path: PathBuf,
    partial: PathBuf,
}

impl Archivist {
    /// Begins the recording that will be at `path`.
    ///
    /// # Errors
    /// When the file cannot be made.
    pub fn create(path: &Path) -> io::Result<Self> {
        let mut partial = path.as_os_str().to_owned();
        partial.push(".partial");
        let partial = PathBuf::from(partial);
        let zip = ZipWriter::new(BufWriter::new(File::create(&partial)?));
        Ok(Self { zip, path: path.to_owned(), partial })
    }

    /// Where the recording will be.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Adds an array.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn array(&mut self, name: &str, array: &Array) -> io::Result<()> {
        self.bytes(name, &array.to_bytes())
    }

    /// Adds a text.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn text(&mut self, name: &str, text: &str) -> io::Result<()> {
        self.bytes(name, text.as_bytes())
    }

    /// Adds what is known of the runs, closes the file and gives it its name.
    ///
    /// # Errors
    /// When any of it cannot be done; the file then keeps the name that ends in `.partial`.
    pub fn finish(mut self, about: &About) -> io::Result<()> {
        self.text("recording.json", &(serde_json::to_string_pretty(about)? + "\n"))?;
        let file = self.zip.finish()?.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.sync_all()?;
        fs::rename(&self.partial, &self.path)
    }

    fn bytes(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        // The date is that of the format's first day: equal runs give equal bytes.
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Stored)
            .last_modified_time(DateTime::default())
            .large_file(bytes.len() >= u32::MAX as usize);
        self.zip.start_file(name, options)?;
        self.zip.write_all(bytes)
    }
}
