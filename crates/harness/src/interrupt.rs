//! Ctrl-C: the first asks the runner to stop after the step in progress, the second ends the program.

use std::{
    process,
    sync::{
        Once,
        atomic::{AtomicBool, Ordering},
    },
};

static ASKED: AtomicBool = AtomicBool::new(false);

/// The flag that Ctrl-C sets, with the handler in place.
pub(crate) fn flag() -> &'static AtomicBool {
    static HANDLER: Once = Once::new();
    HANDLER.call_once(|| {
        // Without a handler Ctrl-C ends the program at once: files are whole or absent even then.
        let _ = ctrlc::set_handler(|| {
            if ASKED.swap(true, Ordering::Relaxed) {
                process::exit(130);
            }
            eprintln!("taut: finishing the step in progress; Ctrl-C again to stop at once");
        });
    });
    &ASKED
}
