//! A method of block descent on a device, as a solver.

use taut_core::{Multipliers, Solver, SolverError, StageTime, State, Step};

use super::Device;

/// What a method does besides the sweeps and its kernels.
pub trait Method {
    /// Takes on the length of a step [s] and the contacts that the host finds for it.
    ///
    /// # Errors
    /// When the device fails.
    fn prepare(&mut self, device: &mut Device, dt: f64) -> Result<(), SolverError>;

    /// Forces of joints and contacts as they stand; whether they could be read.
    fn read_multipliers(&self, device: &mut Device, out: &mut Multipliers) -> bool;

    /// The settings in force, as RON.
    fn resolved_settings(&self) -> String;
}

/// A method and its device.
pub struct OnDevice<M> {
    /// Where the motion is.
    pub device: Device,
    /// The method.
    pub method: M,
}

impl<M: Method> Solver for OnDevice<M> {
    fn load(&mut self, state: &State) -> Result<(), SolverError> {
        self.device.load(state)
    }

    fn begin_step(&mut self, step: Step) -> Result<(), SolverError> {
        self.method.prepare(&mut self.device, step.dt)?;
        self.device.begin(step.dt)
    }

    fn iterate(&mut self) -> Result<(), SolverError> {
        self.device.iterate();
        Ok(())
    }

    fn end_step(&mut self) -> Result<(), SolverError> {
        self.device.end()
    }

    fn read(&mut self, out: &mut State) -> Result<(), SolverError> {
        self.device.read(out)
    }

    fn wait(&mut self) -> Result<(), SolverError> {
        self.device.wait()
    }

    fn drain_times(&mut self, out: &mut Vec<StageTime>) {
        self.device.drain_times(out);
    }

    fn read_multipliers(&mut self, out: &mut Multipliers) -> bool {
        self.method.read_multipliers(&mut self.device, out)
    }

    fn resolved_settings(&self) -> String {
        self.method.resolved_settings()
    }
}
