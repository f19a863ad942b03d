//! Files of what programs say on standard error.

use std::{
    fs::{File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
};

/// A file grows no longer by what is said [bytes].
const LOGGED: u64 = 16 << 20;
/// What a file that is full ends with.
const CUT: &str = "\n[what follows is left out]\n";

/// A file that is made when something is first said, and has a greatest length. That it cannot be written fails nothing.
#[derive(Debug)]
pub(crate) struct WordsLog {
    path: PathBuf,
    file: Option<File>,
}

impl WordsLog {
    pub(crate) fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), file: None }
    }

    #[cfg_attr(not(unix), expect(dead_code, reason = "nothing is listened to there"))]
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn add(&mut self, words: &[u8]) {
        if !words.is_empty() {
            let _ = self.try_to_add(words);
        }
    }

    fn try_to_add(&mut self, words: &[u8]) -> io::Result<()> {
        let file = match self.file.take() {
            Some(file) => file,
            None => OpenOptions::new().append(true).create(true).open(&self.path)?,
        };
        let file = self.file.insert(file);
        // Others may add to it as well.
        let room = LOGGED.saturating_sub(file.metadata()?.len());
        if room == 0 {
            return Ok(());
        }
        let room = usize::try_from(room).unwrap_or(usize::MAX);
        if words.len() <= room {
            return file.write_all(words);
        }
        file.write_all(&words[..room])?;
        file.write_all(CUT.as_bytes())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::fs;

    use super::*;

    /// A folder that goes when the test ends.
    pub(crate) struct Folder(pub(crate) PathBuf);

    impl Folder {
        pub(crate) fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("taut-{name}-{}", std::process::id()));
            fs::create_dir_all(&path).unwrap();
            Self(path)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_file_is_full_in_the_end() {
        let folder = Folder::new("full");
        let path = folder.0.join("x.log");
        let mut log = WordsLog::new(&path);
        let part = vec![b'w'; 5 << 20];
        (0..6).for_each(|_| log.add(&part));
        WordsLog::new(&path).add(b"more");
        let length = LOGGED as usize + CUT.len();
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!((text.len(), text.ends_with(CUT)), (length, true));
        WordsLog::new(&folder.0.join("missing/x.log")).add(b"told to nobody");
    }
}
