//! The step on a graphics adapter.

use bytemuck::{Pod, Zeroable};
use taut_core::{BuildError, Multipliers, Scene, Solver, SolverError, StageTime, State, Step};
use taut_descent::{
    Real,
    device::{self, Breaking, ContactKernels, Device, fault},
    patch::lane,
};
use taut_gpu::{Buffer, Gpu};

use crate::{
    contact::ContactRamps,
    cpu::{cone, configure, decay, model},
    dual,
    settings::{ContactHessian, Precision, Resolved},
};

/// What works on contacts.
const CONTACTS: ContactKernels = ContactKernels {
    shader: "avbd/contact.wgsl",
    follow: Some("follow"),
    stabilise: Some("stabilise"),
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
    contact_ramps: ContactRamps<f32>,
    scene: Scene,
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
        let model = model(&settings);
        device::check(&model)?;
        let built = Device::new(gpu, scene, model, |system| configure(system, &settings));
        let mut device = built.map_err(fault)?;
        device.decay = decay(&settings);
        let ramps = make_ramps(&device, &settings, scene.dt, scene.dt);
        let alpha = f32::of(settings.kept());
        let kept = |ramp: &dual::Ramp<f32>| if ramp.regularised { alpha } else { 0.0 };
        device.kept = ramps.iter().map(kept).collect();
        device.takes_over = ramps.iter().map(|ramp| ramp.share == 1.0).collect();
        device.break_joints(Breaking::EverySweep).map_err(fault)?;
        if settings.post_stabilisation {
            device.stabilise().map_err(fault)?;
        }
        let all: Vec<Ramp> = ramps.iter().map(Into::into).collect();
        let buffer = gpu.upload("stiffness ramps", &all).map_err(fault)?;
        let entries = ["warm_start", "update"];
        device.hook("avbd/dual.wgsl", entries, "ramps", &buffer).map_err(fault)?;
        device.touch_by(CONTACTS).map_err(fault)?;
        device.govern(law(scene, &settings, scene.dt))?;
        device.load(&scene.initial_state())?;
        let settings = Resolved { precision: Precision::F32, ..settings };
        Ok(Self {
            gpu: gpu.clone(),
            device,
            settings,
            ramps,
            buffer,
            contact_ramps: ContactRamps::new(settings, scene.dt, scene.dt),
            scene: scene.clone(),
            dt: scene.dt,
        })
    }

    fn scale_ramps(&mut self, dt: f64) -> Result<(), SolverError> {
        self.device.wait()?;
        self.dt = dt;
        self.ramps = make_ramps(&self.device, &self.settings, dt, self.scene.dt);
        self.contact_ramps = ContactRamps::new(self.settings, dt, self.scene.dt);
        self.device.govern(law(&self.scene, &self.settings, dt))?;
        let all: Vec<Ramp> = self.ramps.iter().map(Into::into).collect();
        self.gpu.write(&self.buffer, 0, &all).map_err(fault)
    }
}

/// The law of contact as `shaders/avbd/contact.wgsl` has it.
fn law(scene: &Scene, settings: &Resolved, dt: f64) -> [u32; 4] {
    let cone = cone(scene, settings, dt);
    // Shaders need not know infinity; no gap is larger than this.
    let open = f32::of(cone.open).min(3.4e38);
    let hessian = match cone.hessian {
        ContactHessian::SlipDirection => 0,
        ContactHessian::Full => 1,
        ContactHessian::Rescaled => 2,
    };
    [open.to_bits(), hessian, 0, 0]
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
        let ([gamma, retain], alpha) = (decay(&self.settings), self.settings.kept());
        let ramps = &mut self.contact_ramps;
        self.device.detect(step.dt, |touch, limits| {
            ramps.regularise(touch, alpha);
            ramps.warm_start(touch, gamma, retain);
            limits.extend(ramps.limits());
        })?;
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
        let force =
            |system: &taut_descent::System<f32>, index: usize| ramps[index].force(system, index);
        self.device.read_multipliers(out, force, |_, patch, i| lane::<f32>(&patch.lambda, i))
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
