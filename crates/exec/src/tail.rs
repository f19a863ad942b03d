//! What a program says on standard error: taken off its hands, the last of it kept, and added to a file where there is
//! one.

use std::{
    collections::VecDeque,
    io::{self, ErrorKind, Read},
    os::fd::{AsFd, OwnedFd},
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use nix::{
    fcntl::{FcntlArg, OFlag, fcntl},
    poll::{PollFd, PollFlags, PollTimeout, poll},
};

use crate::words::WordsLog;

/// So much is kept [bytes].
const KEPT: usize = 64 * 1024;
/// Last words are told up to so many characters.
const TOLD: usize = 200;
/// Words of a program that has ended are waited for so long.
const PATIENCE: Duration = Duration::from_millis(500);
/// So much is taken at a time [bytes], and so often in a row: together more than a pipe holds.
const PART: usize = 16 * 1024;
const PARTS: u32 = 8;

/// The end of a stream that a thread reads for as long as there is one.
#[derive(Debug)]
pub(crate) struct Tail {
    heard: Arc<Mutex<Heard>>,
    reader: Option<JoinHandle<()>>,
}

/// What both threads share; whoever holds it reads.
struct Heard {
    /// Never blocks.
    stream: Box<dyn Read + Send>,
    kept: VecDeque<u8>,
    /// How many of the bytes kept are in no file, the last of them.
    unlogged: usize,
    log: Option<WordsLog>,
}

impl std::fmt::Debug for Heard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Heard").field("kept", &self.kept.len()).field("log", &self.log).finish()
    }
}

impl Heard {
    /// Takes what is there; `false` where no more will come.
    fn hear(&mut self) -> bool {
        let mut part = [0; PART];
        for _ in 0..PARTS {
            match self.stream.read(&mut part) {
                Ok(0) => return false,
                Ok(count) => self.keep(&part[..count]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return error.kind() == ErrorKind::WouldBlock,
            }
        }
        true
    }

    fn keep(&mut self, part: &[u8]) {
        self.kept.extend(part);
        let over = self.kept.len().saturating_sub(KEPT);
        self.kept.drain(..over);
        match &mut self.log {
            Some(log) => log.add(part),
            None => self.unlogged = (self.unlogged + part.len()).min(self.kept.len()),
        }
    }
}

impl Tail {
    /// Listens to a stream.
    ///
    /// # Errors
    /// It cannot be read without waiting.
    pub(crate) fn of(stream: impl Read + AsFd + Send + 'static) -> io::Result<Self> {
        fcntl(stream.as_fd(), FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
        let watched = stream.as_fd().try_clone_to_owned()?;
        let stream = Box::new(stream);
        let heard = Heard { stream, kept: VecDeque::new(), unlogged: 0, log: None };
        let heard = Arc::new(Mutex::new(heard));
        let shared = Arc::clone(&heard);
        let reader = move || while comes(&watched) && lock(&shared).hear() {};
        // Without a thread the program may block once it has said much, which a limit ends.
        let reader = thread::Builder::new().name("standard error".to_owned()).spawn(reader).ok();
        Ok(Self { heard, reader })
    }

    /// Takes what was said until now, so that it is where it belongs before anything changes.
    pub(crate) fn hear(&self) {
        lock(&self.heard).hear();
    }

    /// From now on what is said is added to this file, and what was said before there was any.
    pub(crate) fn log_to(&self, path: Option<&Path>) {
        let mut heard = lock(&self.heard);
        heard.hear();
        if heard.log.as_ref().map(|log| log.path()) == path {
            return;
        }
        heard.log = path.map(WordsLog::new);
        if let Some(mut log) = heard.log.take() {
            let said: Vec<u8> = heard.kept.iter().copied().collect();
            log.add(&said[said.len() - heard.unlogged..]);
            (heard.unlogged, heard.log) = (0, Some(log));
        }
    }

    /// Waits, not for ever, until all was heard that a program has said which has ended.
    pub(crate) fn finish(&self) {
        let begin = Instant::now();
        let reads = |tail: &Self| tail.reader.as_ref().is_some_and(|reader| !reader.is_finished());
        while reads(self) && begin.elapsed() < PATIENCE {
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// What was said last.
    pub(crate) fn words(&self) -> Vec<u8> {
        lock(&self.heard).kept.iter().copied().collect()
    }

    /// The last line of a program that has ended; empty where it said nothing.
    pub(crate) fn last_words(&self) -> String {
        self.finish();
        let bytes = self.words();
        let text = String::from_utf8_lossy(&bytes);
        let last = text.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
        let plain = |c: char| if c.is_control() { ' ' } else { c };
        last.trim().chars().take(TOLD).map(plain).collect()
    }
}

fn lock(heard: &Mutex<Heard>) -> MutexGuard<'_, Heard> {
    heard.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits until a stream has something to say, or has ended; `false` where that cannot be known.
fn comes(stream: &OwnedFd) -> bool {
    loop {
        match poll(&mut [PollFd::new(stream.as_fd(), PollFlags::POLLIN)], PollTimeout::NONE) {
            Ok(_) => return true,
            Err(nix::errno::Errno::EINTR) => {}
            Err(_) => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        fs,
        io::{PipeWriter, Write},
    };

    use super::*;
    use crate::words::tests::Folder;

    fn tail() -> (PipeWriter, Tail) {
        let (read, write) = io::pipe().unwrap();
        (write, Tail::of(read).unwrap())
    }

    #[test]
    fn the_last_line_is_told_and_a_flood_is_not_kept() {
        let (mut write, said) = tail();
        write.write_all("w".repeat(1_000_000).as_bytes()).unwrap();
        write.write_all(b"\nassert failed: island.c:12\n\n").unwrap();
        drop(write);
        assert_eq!(said.last_words(), "assert failed: island.c:12");
        assert!(said.words().len() <= KEPT);
        let (write, silent) = tail();
        drop(write);
        assert_eq!(silent.last_words(), "");
    }

    #[test]
    fn each_file_gets_what_was_said_while_it_was_the_one() {
        let folder = Folder::new("words");
        let [a, b, none] = ["a.log", "b.log", "none.log"].map(|name| folder.0.join(name));
        let (mut write, said) = tail();
        write.write_all(b"loading\n").unwrap();
        said.log_to(None);
        write.write_all(b"loaded\n").unwrap();
        said.log_to(Some(&a));
        write.write_all(b"of a\n").unwrap();
        said.log_to(Some(&a));
        write.write_all(b"of a too\n").unwrap();
        said.log_to(Some(&b));
        write.write_all(b"of b\n").unwrap();
        said.log_to(Some(&none));
        said.log_to(None);
        drop(write);
        said.finish();
        let read = |path: &Path| fs::read_to_string(path).unwrap();
        assert_eq!(read(&a), "loading\nloaded\nof a\nof a too\n");
        assert_eq!(read(&b), "of b\n");
        assert!(!none.exists(), "nothing was said");
    }
}
