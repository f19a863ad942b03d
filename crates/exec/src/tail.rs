//! What a program says on standard error: taken off its hands, the last of it kept.

use std::{
    collections::VecDeque,
    io::Read,
    sync::{Arc, Mutex, PoisonError},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

/// So much is kept [bytes].
const KEPT: usize = 64 * 1024;
/// Last words are told up to so many characters.
const TOLD: usize = 200;
/// Words of a program that has ended are waited for so long.
const PATIENCE: Duration = Duration::from_millis(500);

/// The end of a stream that a thread reads for as long as there is one.
#[derive(Debug)]
pub(crate) struct Tail {
    kept: Arc<Mutex<VecDeque<u8>>>,
    reader: Option<JoinHandle<()>>,
}

impl Tail {
    pub(crate) fn of(mut stream: impl Read + Send + 'static) -> Self {
        let kept = Arc::new(Mutex::new(VecDeque::new()));
        let shared = Arc::clone(&kept);
        let reader = move || {
            let mut part = [0; 16 * 1024];
            while let Ok(count @ 1..) = stream.read(&mut part) {
                let mut kept = shared.lock().unwrap_or_else(PoisonError::into_inner);
                kept.extend(&part[..count]);
                let over = kept.len().saturating_sub(KEPT);
                kept.drain(..over);
            }
        };
        // Without a thread the program may block once it has said much, which a limit ends.
        let reader = thread::Builder::new().name("standard error".to_owned()).spawn(reader).ok();
        Self { kept, reader }
    }

    /// The last line of a program that has ended; empty where it said nothing.
    pub(crate) fn last_words(&self) -> String {
        let begin = Instant::now();
        let reads = |tail: &Self| tail.reader.as_ref().is_some_and(|reader| !reader.is_finished());
        while reads(self) && begin.elapsed() < PATIENCE {
            thread::sleep(Duration::from_millis(1));
        }
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes: Vec<u8> = kept.iter().copied().collect();
        let text = String::from_utf8_lossy(&bytes);
        let last = text.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
        let plain = |c: char| if c.is_control() { ' ' } else { c };
        last.trim().chars().take(TOLD).map(plain).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_is_told_and_a_flood_is_not_kept() {
        let mut text = "w".repeat(1_000_000);
        text += "\nassert failed: island.c:12\n\n";
        let tail = Tail::of(std::io::Cursor::new(text.into_bytes()));
        assert_eq!(tail.last_words(), "assert failed: island.c:12");
        assert!(tail.kept.lock().unwrap().len() <= KEPT);
        assert_eq!(Tail::of(std::io::empty()).last_words(), "");
    }
}
