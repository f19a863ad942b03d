//! Where a worker gets its orders, and tells what came of them.

use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicBool, AtomicUsize, Ordering},
    mpsc::Receiver,
};

use taut_core::Scene;

use super::{board::Board, handhold::Handhold};
use crate::{film::Replayed, spec::Spec};

/// What is asked of a worker.
#[derive(Clone, Debug)]
pub(crate) enum PaneOrder {
    /// Go on to the end of this frame.
    To(u32),
    /// Do one iterate.
    Iterate,
    /// Pull at these from the next frame on.
    Hold(Vec<Handhold>),
    /// Start anew.
    Restart,
    /// Start anew with something else.
    Begin(Arc<Scene>, Box<PaneWork>),
    /// Stop.
    Leave,
}

/// What a worker does.
#[derive(Clone, Debug)]
pub(crate) enum PaneWork {
    /// Runs a solver.
    Solve(Spec),
    /// Plays a run from a recording.
    Play(Arc<Replayed>),
}

/// Where a worker gets its orders and tells what came of them.
pub(super) struct Office {
    /// Behind a lock only because the solver takes its orders in a pool's thread.
    pub(super) inbox: Mutex<Receiver<PaneOrder>>,
    pub(super) board: Arc<Mutex<Board>>,
    pub(super) cancel: Arc<AtomicBool>,
    pub(super) pending: Arc<AtomicUsize>,
}

/// With what a worker begins anew.
pub(super) enum Next {
    /// The same.
    Same,
    /// Something else.
    Other(Arc<Scene>, Box<PaneWork>),
    /// Nothing.
    Nothing,
}

impl Office {
    /// Waits for an order that begins something, once this work is over.
    pub(super) fn rest(&self) -> Next {
        self.done();
        loop {
            if let Some(next) = self.ending(self.take()) {
                return next;
            }
            self.done();
        }
    }

    pub(super) fn ending(&self, order: PaneOrder) -> Option<Next> {
        match order {
            PaneOrder::Restart => Some(Next::Same),
            PaneOrder::Begin(scene, work) => Some(Next::Other(scene, work)),
            PaneOrder::Leave => Some(Next::Nothing),
            PaneOrder::To(_) | PaneOrder::Iterate | PaneOrder::Hold(_) => None,
        }
    }

    pub(super) fn take(&self) -> PaneOrder {
        let inbox = self.inbox.lock().unwrap_or_else(PoisonError::into_inner);
        inbox.recv().unwrap_or(PaneOrder::Leave)
    }

    /// Counts an order as carried out.
    pub(super) fn done(&self) {
        self.pending.fetch_sub(1, Ordering::SeqCst);
    }

    pub(super) fn board(&self) -> MutexGuard<'_, Board> {
        read(&self.board)
    }
}

pub(super) fn read(board: &Mutex<Board>) -> MutexGuard<'_, Board> {
    board.lock().unwrap_or_else(PoisonError::into_inner)
}
