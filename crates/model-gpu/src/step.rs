//! What solvers on a device share besides their shaders: what is left to submit of a step, its times, and faults.

use taut_core::{BuildError, Devices, SolverError, Stage, StageTime, Unsupported};
use taut_gpu::{Clock, Gpu, GpuError};

/// What of a step was asked for and is still to be submitted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Due {
    /// Its beginning.
    pub begin: bool,
    /// So many iterations.
    pub iterations: u32,
    /// Its end.
    pub finish: bool,
}

impl Due {
    /// What is due, if anything; nothing is afterwards.
    pub fn take(&mut self) -> Option<Self> {
        let due = std::mem::take(self);
        (due.begin || due.iterations > 0 || due.finish).then_some(due)
    }
}

/// Appends the times of stages that the device's clock has recorded under their names.
pub fn drain_times(clock: &mut Clock, gpu: &Gpu, out: &mut Vec<StageTime>) {
    let mut laps = Vec::new();
    if clock.drain(gpu, &mut laps).is_ok() {
        out.extend(laps.iter().map(|lap| StageTime {
            stage: match lap.stage {
                "collide" => Stage::Collide,
                "prepare" => Stage::Prepare,
                "iterate" => Stage::Iterate,
                _ => Stage::Finish,
            },
            pass: lap.stage,
            seconds: lap.seconds,
        }));
    }
}

/// A fault of the device as one of a solver.
pub fn fault(error: GpuError) -> SolverError {
    match error {
        GpuError::TooLarge { what, count, fits, .. } => {
            SolverError::Capacity { resource: what, needed: count, limit: fits }
        }
        other => SolverError::DeviceLost(other.to_string()),
    }
}

/// The graphics device of whoever builds solvers.
///
/// # Errors
/// Why there is none that a solver can use.
pub fn open(devices: &dyn Devices) -> Result<&Gpu, BuildError> {
    Gpu::of(devices.gpu()?).map_err(|error| BuildError::NoDevice(error.to_string()))
}

/// A fault of the device as a reason why there is no solver: a scene too large for the adapter is one that
/// it does not support, and the message names the limit and what would fit.
pub fn unbuilt(error: GpuError) -> BuildError {
    match error {
        GpuError::TooLarge { .. } => Unsupported(error.to_string()).into(),
        other => fault(other).into(),
    }
}
