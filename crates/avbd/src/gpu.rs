//! The step on a graphics adapter, for scenes without contacts.

use bytemuck::{Pod, Zeroable};
use taut_core::{BuildError, Multipliers, Scene, Solver, SolverError, StageTime, State, Step};
use taut_descent::{
    Real,
    device::{self, Device, fault},
};
use taut_gpu::{Buffer, Gpu};

use crate::{
    cpu::{configure, decay, model},
    dual,
    settings::{Precision, Resolved},
};

/// As `shaders/avbd/dual.wgsl` has it.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct Ramp {
    start: f32,
    cap: f32,
    beta: f32,
    load: f32,
    share: f32,
    flags: u32,
    pad_0: u32,
    pad_1: u32,
}

pub(crate) struct Avbd {
    gpu: Gpu,
    device: Device,
    settings: Resolved,
    ramps: Vec<dual::Ramp<f32>>,
    buffer: Buffer<Ramp>,
    frame_s: f64,
    dt: f64,
}

impl From<&dual::Ramp<f32>> for Ramp {
    fn from(ramp: &dual::Ramp<f32>) -> Self {
        Self {
            start: ramp.start,
            // Shaders need not know infinity; no stiffness is larger than this.
            cap: ramp.cap.min(3.4e38),
            beta: ramp.beta,
            load: ramp.load,
            share: ramp.share,
            flags: u32::from(ramp.isotropic) | u32::from(ramp.fixed) << 1,
            pad_0: 0,
            pad_1: 0,
        }
    }
}

impl Avbd {
    pub(crate) fn new(gpu: &Gpu, scene: &Scene, settings: Resolved) -> Result<Self, BuildError> {
        if settings.post_stabilisation {
            let message = "post_stabilisation is off on a graphics adapter";
            return Err(BuildError::Settings(message.to_owned()));
        }
        let model = model(&settings);
        device::check(&model)?;
        let built = Device::new(gpu, scene, model, |system| configure(system, &settings));
        let mut device = built.map_err(fault)?;
        device.decay = decay(&settings);
        let ramps = make_ramps(&device, &settings, scene.dt, scene.dt);
        let kept =
            |ramp: &dual::Ramp<f32>| if ramp.regularised { f32::of(settings.alpha) } else { 0.0 };
        device.kept = ramps.iter().map(kept).collect();
        let all: Vec<Ramp> = ramps.iter().map(Into::into).collect();
        let buffer = gpu.upload("stiffness ramps", &all).map_err(fault)?;
        let entries = ["warm_start", "update"];
        device.hook("avbd/dual.wgsl", entries, "ramps", &buffer).map_err(fault)?;
        device.load(&scene.initial_state())?;
        let settings = Resolved { precision: Precision::F32, ..settings };
        let (frame_s, dt) = (scene.dt, scene.dt);
        Ok(Self { gpu: gpu.clone(), device, settings, ramps, buffer, frame_s, dt })
    }

    fn scale_ramps(&mut self, dt: f64) -> Result<(), SolverError> {
        self.device.wait()?;
        self.dt = dt;
        self.ramps = make_ramps(&self.device, &self.settings, dt, self.frame_s);
        let all: Vec<Ramp> = self.ramps.iter().map(Into::into).collect();
        self.gpu.write(&self.buffer, 0, &all).map_err(fault)
    }
}

fn make_ramps(device: &Device, settings: &Resolved, dt: f64, frame_s: f64) -> Vec<dual::Ramp<f32>> {
    let all = device.system.definitions.iter();
    all.map(|definition| dual::Ramp::new(definition, settings, dt, frame_s)).collect()
}

impl Solver for Avbd {
    fn load(&mut self, state: &State) -> Result<(), SolverError> {
        self.device.load(state)
    }

    fn begin_step(&mut self, step: Step) -> Result<(), SolverError> {
        if step.dt != self.dt {
            self.scale_ramps(step.dt)?;
        }
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
        let ramps = &self.ramps;
        self.device.read_multipliers(out, |system, index| ramps[index].force(system, index))
    }

    fn resolved_settings(&self) -> String {
        ron::to_string(&self.settings).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ramps_are_those_of_the_shader() {
        taut_gpu::assert_layout!(
            "avbd/dual.wgsl",
            Ramp { start, cap, beta, load, share, flags, pad_0, pad_1 }
        );
    }
}
