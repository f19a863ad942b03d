//! Ctrl-C: the first asks the runner to stop after the step in progress, the second ends the program.

use std::{
    process,
    sync::{
        Mutex, Once, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

/// Signals that come so soon after the first are the first.
const TWICE: Duration = Duration::from_millis(500);

static ASKED: AtomicBool = AtomicBool::new(false);
static FIRST: Mutex<Option<Instant>> = Mutex::new(None);

/// The flag that Ctrl-C sets, with the handler in place.
pub(crate) fn flag() -> &'static AtomicBool {
    static HANDLER: Once = Once::new();
    HANDLER.call_once(|| {
        // Without a handler Ctrl-C ends the program at once: files are whole or absent even then.
        let _ = ctrlc::set_handler(|| {
            let now = Instant::now();
            let mut first = FIRST.lock().unwrap_or_else(PoisonError::into_inner);
            match *first {
                // Whoever stops a program may tell it, and then its group, by which it hears it twice.
                Some(then) if now.duration_since(then) < TWICE => return,
                Some(_) => {
                    taut_exec::kill_all();
                    process::exit(130)
                }
                None => *first = Some(now),
            }
            ASKED.store(true, Ordering::Relaxed);
            eprintln!("taut: finishing the step in progress; Ctrl-C again to stop at once");
        });
    });
    &ASKED
}
