//! The one loop that drives every solver: trajectories, convergence curves and times.
//!
//! A solver is built, run and dropped inside one task of the bench's pool, behind a guard that
//! turns a panic into a reason. Three functions share [`advance`]: [`run`] reads once per frame
//! with the clock stopped, [`trace`] reads once per iteration and has no clock, and both show what they
//! read to [`Observer`]s; [`time`] has a clock and does not read.

mod blocks;
mod guard;
mod moved;
mod observer;
mod pipe;
mod reference;
#[cfg(test)]
mod tests;
mod time;
mod trace;
mod trajectory;
mod true_motion;
mod words;

use std::{
    any::Any,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use anyhow::Context;
use taut_core::{
    Backend, BuildError, Devices, Runs, Scene, Settings, Solver, SolverError, Step,
    settings::nearest,
};

pub(crate) use self::guard::catch;
#[cfg(feature = "view")]
pub(crate) use self::observer::Labelling;
use self::words::WordFiles;
pub use self::{
    blocks::{BLOCKS, Ratio, TimedRow, time_blocks},
    guard::silence_guarded_panics,
    moved::{WatchedPath, moved_start},
    observer::{Keep, KeptForces, KeptStates, Observer},
    reference::{ReferenceRuns, References},
    time::{TimeOptions, time},
    trace::{TraceOptions, TraceStart, trace},
    trajectory::{RunOptions, run},
    true_motion::TrueMotion,
};

use crate::{
    Setup, adapter,
    backends::left_out,
    record::{Division, RunDevice, RunRow, Status},
    spec::{EXEC, Spec},
};

/// Where a command that was not given as a backend may come from.
const COMMANDS: &str =
    "commands are given by -b or by a file of --backends, and by nothing that is on file";

/// What every measurement needs: the setup of the program, a pool of threads, a way to stop early.
#[derive(Debug)]
pub struct Bench<'a> {
    /// The backends that can be named.
    pub setup: &'a Setup,
    /// Set to stop after the solver step in progress.
    pub cancel: &'a AtomicBool,
    pool: rayon::ThreadPool,
    /// What solvers in other processes say beside their answers.
    pub(crate) words: Arc<WordFiles>,
}

impl<'a> Bench<'a> {
    /// A bench whose solvers may use `threads` threads; times are comparable at equal counts only.
    ///
    /// # Errors
    /// When the threads cannot be started.
    pub fn new(setup: &'a Setup, threads: usize, cancel: &'a AtomicBool) -> anyhow::Result<Self> {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .with_context(|| format!("cannot start {threads} threads"))?;
        Ok(Self { setup, cancel, pool, words: Arc::default() })
    }

    /// One that does a share of this one's work, on a thread of its own.
    ///
    /// # Errors
    /// When the thread cannot be started.
    pub(crate) fn worker(&self) -> anyhow::Result<Self> {
        Ok(Self { words: Arc::clone(&self.words), ..Self::new(self.setup, 1, self.cancel)? })
    }

    /// How many threads a solver may use.
    pub fn threads(&self) -> usize {
        self.pool.current_num_threads()
    }

    /// The backend of that name.
    ///
    /// # Errors
    /// Names what there is, and the nearest name for a typing mistake.
    pub fn find(&self, name: &str) -> anyhow::Result<&'a dyn Backend> {
        let table = &self.setup.table;
        if let Some(backend) = table.get(name) {
            return Ok(&**backend);
        }
        let names: Vec<&str> = table.names().collect();
        let hint = match (left_out(name), nearest(name, &names)) {
            _ if name.starts_with(EXEC) => COMMANDS.to_owned(),
            (Some(why), _) => why.to_owned(),
            (None, Some(near)) => format!("did you mean `{near}`?"),
            (None, None) => format!("there are {}", names.join(", ")),
        };
        anyhow::bail!("unknown backend `{name}`: {hint}")
    }

    /// Whether the backend of a row promises that no surfaces of bodies ever meet.
    pub(crate) fn promises_no_intersection(&self, spec: &Spec) -> bool {
        self.find(&spec.backend).is_ok_and(|backend| backend.info().promises_no_intersection)
    }

    /// Whether Ctrl-C or another watcher has asked to stop.
    pub fn is_cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }

    /// Checks that `spec` names a backend and that its settings can be read for this scene.
    ///
    /// Whatever else is wrong with building it is left to become a row.
    ///
    /// # Errors
    /// An unknown backend, or settings that it does not understand.
    pub fn check(&self, scene: &Scene, spec: &Spec) -> anyhow::Result<()> {
        let backend = self.find(&spec.backend)?;
        let built = self.pool.install(|| {
            guard::catch(|| build(backend, scene, &spec.settings).map(drop)).unwrap_or(Ok(()))
        });
        match built {
            Err(error @ BuildError::Settings(_)) => {
                Err(anyhow::Error::new(error).context(format!("backend `{}`", spec.backend)))
            }
            _ => Ok(()),
        }
    }

    /// Runs `body` on a freshly built solver; whatever stops it early ends up in `row`.
    pub(crate) fn with_solver(
        &self,
        scene: &Scene,
        spec: &Spec,
        row: &mut RunRow,
        body: impl FnOnce(&mut dyn Solver, &mut RunRow) -> Result<(), Halt> + Send,
    ) {
        self.with_solver_made(false, scene, spec, row, body);
    }

    /// The same for times, which are to owe nothing to what was run before: where another process solves, it is a new one.
    pub(crate) fn with_fresh_solver(
        &self,
        scene: &Scene,
        spec: &Spec,
        row: &mut RunRow,
        body: impl FnOnce(&mut dyn Solver, &mut RunRow) -> Result<(), Halt> + Send,
    ) {
        self.with_solver_made(true, scene, spec, row, body);
    }

    fn with_solver_made(
        &self,
        anew: bool,
        scene: &Scene,
        spec: &Spec,
        row: &mut RunRow,
        body: impl FnOnce(&mut dyn Solver, &mut RunRow) -> Result<(), Halt> + Send,
    ) {
        let backend = match self.find(&spec.backend) {
            Ok(backend) => backend,
            Err(error) => return row.set(Status::Failed, error.to_string()),
        };
        let devices = OfProcess { words: self.words.of(&spec.label), anew };
        let halted = self.pool.install(|| {
            guard::catch(|| {
                backend.supports(scene).map_err(BuildError::from)?;
                let mut solver = backend.build(scene, &spec.settings, &devices)?;
                row.settings = solver.resolved_settings();
                row.division = Division::of(spec.settings.as_str(), self.threads());
                row.warnings = solver.warnings();
                row.audit = solver.audit();
                row.device = device(backend);
                body(&mut *solver, row)?;
                solver.check_capacity().map_err(Halt::from)
            })
        });
        match halted {
            Ok(Ok(())) => {}
            Ok(Err(halt)) => halt.mark(row),
            Err(message) => row.set(Status::Failed, format!("panicked: {message}")),
        }
    }
}

/// Why a measurement ended before it was complete.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Halt {
    #[error(transparent)]
    Build(#[from] BuildError),
    #[error(transparent)]
    Solver(#[from] SolverError),
    #[error("not converged in frame {frame}: {why}")]
    NotConverged { frame: u32, why: String },
    #[error("non-finite state {0}")]
    NonFinite(String),
    #[error("interrupted {0}")]
    Cancelled(String),
}

impl Halt {
    fn mark(&self, row: &mut RunRow) {
        let status = match self {
            Self::Build(BuildError::Unsupported(_)) => Status::Unsupported,
            Self::Build(BuildError::NoDevice(_)) => Status::Skipped,
            Self::Build(_) | Self::Solver(_) | Self::NotConverged { .. } => Status::Failed,
            Self::NonFinite(_) => Status::Diverged,
            // What was measured until then keeps the status it has earned.
            Self::Cancelled(_) if row.steps > 0 || !row.curves.is_empty() => row.status,
            Self::Cancelled(_) => Status::Skipped,
        };
        row.set(status, self.to_string());
    }
}

/// Where a backend that was built computes.
fn device(backend: &dyn Backend) -> RunDevice {
    match backend.runs() {
        Runs::OnGpu if adapter::is_software() => RunDevice::Software,
        Runs::OnGpu | Runs::OnGpuOfItsOwn => RunDevice::Gpu,
        Runs::OnCpu => RunDevice::Cpu,
    }
}

/// Makes a solver for a scene that the backend supports, on the devices of this process.
///
/// # Errors
/// Those of the backend's own `build`.
pub fn build(
    backend: &dyn Backend,
    scene: &Scene,
    settings: &Settings,
) -> Result<Box<dyn Solver>, BuildError> {
    backend.build(scene, settings, &OfProcess::default())
}

/// The devices of this process, opened when a backend first needs them, and what is made of other processes.
#[derive(Debug, Default)]
struct OfProcess {
    words: Option<PathBuf>,
    anew: bool,
}

impl Devices for OfProcess {
    fn gpu(&self) -> Result<&dyn Any, BuildError> {
        adapter::gpu()
    }

    fn words(&self) -> Option<&Path> {
        self.words.as_deref()
    }

    fn anew(&self) -> bool {
        self.anew
    }
}

/// Takes one solver step.
///
/// # Errors
/// Those of the solver.
pub fn advance(solver: &mut dyn Solver, step: Step) -> Result<(), SolverError> {
    solver.advance(step, 1)
}

/// Takes the solver steps of many frames, unless asked to stop; another process in one request.
fn advance_frames(
    solver: &mut dyn Solver,
    spec: &Spec,
    step: Step,
    frames: u32,
    bench: &Bench<'_>,
) -> Result<bool, SolverError> {
    if solver.elsewhere().is_some() {
        let steps = frames.saturating_mul(spec.substeps);
        return if bench.is_cancelled() {
            Ok(false)
        } else {
            solver.advance(step, steps).map(|()| true)
        };
    }
    for _ in 0..frames {
        if !advance_frame(solver, spec, step, bench)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Takes the solver steps of one frame, unless asked to stop between them.
fn advance_frame(
    solver: &mut dyn Solver,
    spec: &Spec,
    step: Step,
    bench: &Bench<'_>,
) -> Result<bool, SolverError> {
    for _ in 0..spec.substeps {
        if bench.is_cancelled() {
            return Ok(false);
        }
        advance(solver, step)?;
    }
    Ok(true)
}
