//! The step on a graphics adapter, for scenes without contacts.

use taut_core::{BuildError, Multipliers, Scene, Solver, SolverError, StageTime, State, Step};
use taut_descent::{
    Real,
    device::{self, Device, fault},
};
use taut_gpu::Gpu;

use crate::{
    cpu::{configure, full_stiffness, model},
    settings::{Precision, VbdSettings},
};

pub(crate) struct Vbd {
    device: Device,
    settings: VbdSettings,
}

impl Vbd {
    pub(crate) fn new(gpu: &Gpu, scene: &Scene, settings: VbdSettings) -> Result<Self, BuildError> {
        if settings.ramp.is_some() {
            return Err(BuildError::Settings("ramp is none on a graphics adapter".to_owned()));
        }
        let model = model(&settings);
        device::check(&model)?;
        let built = Device::new(gpu, scene, model, |system| configure(system, &settings));
        let mut device = built.map_err(fault)?;
        let full = |d| f32::of(full_stiffness(d, &settings, scene.dt));
        device.stiffness = device.system.definitions.iter().map(full).collect();
        device.load(&scene.initial_state())?;
        Ok(Self { device, settings: VbdSettings { precision: Precision::F32, ..settings } })
    }
}

impl Solver for Vbd {
    fn load(&mut self, state: &State) -> Result<(), SolverError> {
        self.device.load(state)
    }

    fn begin_step(&mut self, step: Step) -> Result<(), SolverError> {
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
        self.device.read_multipliers(out, |system, index| system.penalty_force(index))
    }

    fn resolved_settings(&self) -> String {
        ron::to_string(&self.settings).unwrap_or_default()
    }
}
