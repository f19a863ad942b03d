//! Processes that wait for their next scene, since starting one may take seconds.

use std::sync::{Arc, Mutex, PoisonError};

use crate::link::ProcessLink;

/// At most so many wait; more end.
const MOST: usize = 2;

/// The processes of one program that have nothing to do.
#[derive(Clone, Debug, Default)]
pub(crate) struct Idle(Arc<Mutex<Vec<ProcessLink>>>);

impl Idle {
    pub(crate) fn take(&self) -> Option<ProcessLink> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    /// Keeps a process that is well and has room.
    pub(crate) fn give(&self, link: ProcessLink) {
        // What it has said is of whoever gives it back.
        link.child.hear();
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if link.child.is_well() && waiting.len() < MOST {
            waiting.push(link);
            return;
        }
        // Ending one takes a while, in which others may take theirs.
        drop(waiting);
        drop(link);
    }
}
