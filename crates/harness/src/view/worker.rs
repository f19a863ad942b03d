//! One solver at work in a thread of its own: it takes orders, and hands over finished states without ever waiting
//! for the window.

use std::{
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc::{self, Sender},
    },
    thread::{self, JoinHandle},
};

use taut_core::Scene;

use super::{
    board::Board,
    office::{Next, Office, PaneOrder, PaneWork, read},
    shift::SolverShift,
};
use crate::{
    Setup,
    film::Replayed,
    record::{RunRow, Status},
    ruler::{Facts, Moment, Sample},
    runner::Bench,
    spec::Spec,
};

/// A thread that runs one pane, for as long as this lives.
#[derive(Debug)]
pub(crate) struct Worker {
    orders: Sender<PaneOrder>,
    board: Arc<Mutex<Board>>,
    cancel: Arc<AtomicBool>,
    /// Orders that are not carried out yet.
    pending: Arc<AtomicUsize>,
    thread: Option<JoinHandle<()>>,
}

impl Worker {
    /// Starts to work with a pool of `threads` threads, and keeps states in `room` bytes.
    ///
    /// # Errors
    /// When threads cannot be started.
    pub(crate) fn start(
        setup: &Setup,
        threads: usize,
        scene: Arc<Scene>,
        work: PaneWork,
        room: usize,
    ) -> anyhow::Result<Self> {
        let (orders, inbox) = mpsc::channel();
        let board = Arc::new(Mutex::new(Board::new(room)));
        let (cancel, pending) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(1)));
        let office = Office {
            inbox: Mutex::new(inbox),
            board: Arc::clone(&board),
            cancel: Arc::clone(&cancel),
            pending: Arc::clone(&pending),
        };
        let setup = setup.clone();
        // Found here, where it can still be told.
        drop(Bench::new(&setup, threads, &cancel)?);
        let thread = thread::Builder::new().name("pane".to_owned());
        let thread = thread.spawn(move || office.run(&setup, threads, scene, work))?;
        Ok(Self { orders, board, cancel, pending, thread: Some(thread) })
    }

    /// Asks for something; what makes the frame in progress worthless stops it.
    pub(crate) fn order(&self, order: PaneOrder) {
        if matches!(order, PaneOrder::Restart | PaneOrder::Begin(..) | PaneOrder::Leave) {
            self.cancel.store(true, Ordering::SeqCst);
        }
        self.pending.fetch_add(1, Ordering::SeqCst);
        // A thread that has gone away has told so on its board.
        if self.orders.send(order).is_err() {
            self.pending.fetch_sub(1, Ordering::SeqCst);
        }
    }

    /// What it has told.
    pub(crate) fn board(&self) -> MutexGuard<'_, Board> {
        read(&self.board)
    }

    /// Whether something that was asked for is still to be done.
    pub(crate) fn is_busy(&self) -> bool {
        self.pending.load(Ordering::SeqCst) > 0
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.order(PaneOrder::Leave);
        self.thread.take().map(JoinHandle::join);
    }
}

impl Office {
    fn run(&self, setup: &Setup, threads: usize, mut scene: Arc<Scene>, mut work: PaneWork) {
        loop {
            self.cancel.store(false, Ordering::SeqCst);
            self.board().begin(Arc::new(scene.initial_state()));
            let next = match &work {
                PaneWork::Solve(spec) => self.solve(setup, threads, &scene, spec),
                PaneWork::Play(run) => self.play(setup, &scene, run),
            };
            match next {
                Next::Same => {}
                Next::Other(other, task) => (scene, work) = (other, *task),
                Next::Nothing => return,
            }
        }
    }

    fn solve(&self, setup: &Setup, threads: usize, scene: &Scene, spec: &Spec) -> Next {
        let mut row = RunRow::new(spec);
        let mut next = None;
        match Bench::new(setup, threads, &self.cancel) {
            Ok(bench) => bench.with_solver(scene, spec, &mut row, |solver, row| {
                let mut shift = SolverShift::new(self, &bench, scene, spec);
                let ended = shift.attend(solver, row);
                next = shift.next;
                ended
            }),
            Err(error) => row.set(Status::Failed, format!("{error:#}")),
        }
        if next.is_none() {
            let mut board = self.board();
            (board.status, board.reason) = (row.status.name().to_owned(), row.reason.clone());
            board.failed_at_s = row.failed_at_s.or(Some(f64::from(row.steps) * scene.dt));
            board.over = true;
        }
        next.unwrap_or_else(|| self.rest())
    }

    /// Plays a recorded run up to the frames asked for, and measures it as if it were made now.
    fn play(&self, setup: &Setup, scene: &Scene, run: &Replayed) -> Next {
        let facts = Facts::new(scene, &scene.initial_state());
        {
            let mut board = self.board();
            board.status.clone_from(&run.status);
            (board.failed_at_s, board.can_be_pulled) = (run.failed_at_s, Some(false));
        }
        self.done();
        // The board has the start already.
        let mut left = run.states.iter().filter(|(frame, _)| *frame > 0).peekable();
        loop {
            match self.take() {
                PaneOrder::To(frame) => {
                    while let Some((at, state)) = left.next_if(|(at, _)| *at <= frame) {
                        let sample = Sample::new(scene, &facts, state, Moment::Frame(*at));
                        let metrics = setup.metrics.measure(&sample);
                        let mut board = self.board();
                        board.ring.push(*at, Arc::new(state.clone()));
                        board.history.push((*at, metrics));
                    }
                    let mut board = self.board();
                    (board.over, board.reached) = (left.peek().is_none(), frame);
                    drop(board);
                    self.done();
                }
                order => match self.ending(order) {
                    Some(next) => return next,
                    None => self.done(),
                },
            }
        }
    }
}
