//! The step on a graphics adapter.

use bytemuck::{Pod, Zeroable};
use taut_core::{
    Backend, BuildError, Devices, Info, Multipliers, Native, Scene, Settings, Solver, SolverError,
};
use taut_descent::{
    Collision, System,
    device::{self, Breaking, ContactKernels, Device, Method, OnDevice, fault, unbuilt},
    patch::lane,
};
use taut_gpu::{Buffer, Gpu};
use taut_math::Number;

use crate::{
    TAKES,
    contact::ContactRamps,
    cpu::{cone, configure, decay, model},
    dual,
    settings::{AvbdSettings, ContactHessian, Precision, Resolved, Scheme},
};

/// The row of the table of backends for graphics adapters.
pub const BACKEND_GPU: Native = Native {
    info: Info::new(
        "avbd-gpu",
        "the same on a graphics adapter, all bodies of a colour at once",
        "Giles, Diaz, Yuksel, Augmented Vertex Block Descent, ACM TOG 44(4), 2025; \
         mass-scaled constants by default",
    )
    .on_gpu(),
    takes: TAKES,
    refuses: |_| Ok(()),
    build: build_on_gpu,
};

fn build_on_gpu(
    scene: &Scene,
    settings: &Settings,
    devices: &dyn Devices,
) -> Result<Box<dyn Solver>, BuildError> {
    let device = devices.gpu()?;
    let gpu = Gpu::of(device).map_err(|error| BuildError::NoDevice(error.to_string()))?;
    let settings: AvbdSettings = settings.parse()?;
    if settings.precision == Some(Precision::F64) {
        return Err(BuildError::Settings("precision is f32 on a graphics adapter".to_owned()));
    }
    let settings = settings.resolve()?;
    BACKEND_GPU.supports(scene)?;
    solver(gpu, scene, settings)
}

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

/// How contacts that the device finds start, as `shaders/avbd/contact.wgsl` has it.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct Start {
    k_start: f32,
    k_start_scale: f32,
    carried_scale: f32,
    k_max: f32,
    k_max_scale: f32,
    beta: f32,
    beta_scale: f32,
    load_scale: f32,
    rho_scale: f32,
    pace: f32,
    part: f32,
    pad: u32,
}

impl Start {
    fn words(scene: &Scene, s: &Resolved) -> [[u32; 4]; 3] {
        // Negative where a scale rules.
        let given = |x: Option<f64>| f32::of(x.unwrap_or(-1.0));
        let start = Self {
            k_start: given(s.k_start),
            k_start_scale: f32::of(s.k_start_scale),
            carried_scale: f32::of(s.carried_scale),
            k_max: given(s.k_max),
            k_max_scale: f32::of(s.k_max_scale),
            beta: given(s.beta),
            beta_scale: f32::of(s.beta_scale),
            load_scale: f32::of(s.load_scale),
            rho_scale: given(Some(s.rho_scale).filter(|_| s.scheme == Scheme::Series)),
            pace: f32::of(1.0 / (scene.dt * scene.dt)),
            part: f32::of(1.0 - s.kept()),
            pad: 0,
        };
        bytemuck::cast(start)
    }
}

struct Avbd {
    gpu: Gpu,
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

/// The method on a device.
///
/// # Errors
/// When settings are not for devices, or the device has no room for the scene.
fn solver(gpu: &Gpu, scene: &Scene, settings: Resolved) -> Result<Box<dyn Solver>, BuildError> {
    let model = model(&settings);
    device::check(&model)?;
    let built = Device::new(gpu, scene, model, |system| configure(system, &settings));
    let mut device = built.map_err(unbuilt)?;
    device.decay = decay(&settings);
    let ramps = make_ramps(&device, &settings, scene.dt, scene.dt);
    let alpha = f32::of(settings.kept());
    let kept = |ramp: &dual::Ramp<f32>| if ramp.regularised { alpha } else { 0.0 };
    device.kept = ramps.iter().map(kept).collect();
    device.takes_over = ramps.iter().map(|ramp| ramp.share == 1.0).collect();
    device.break_joints(Breaking::EverySweep).map_err(unbuilt)?;
    if settings.post_stabilisation {
        device.stabilise().map_err(unbuilt)?;
    }
    let all: Vec<Ramp> = ramps.iter().map(Into::into).collect();
    let buffer = gpu.upload("stiffness ramps", &all).map_err(unbuilt)?;
    let entries = ["warm_start", "update"];
    device.hook("avbd/dual.wgsl", entries, "ramps", &buffer).map_err(unbuilt)?;
    let collision = Collision::choose(settings.collision, scene)?;
    device.touch_by(CONTACTS, collision).map_err(unbuilt)?;
    device.govern(law(scene, &settings, scene.dt), &Start::words(scene, &settings))?;
    device.load(&scene.initial_state())?;
    let settings = Resolved { precision: Precision::F32, collision: Some(collision), ..settings };
    let method = Avbd {
        gpu: gpu.clone(),
        settings,
        ramps,
        buffer,
        contact_ramps: ContactRamps::new(settings, scene.dt, scene.dt),
        scene: scene.clone(),
        dt: scene.dt,
    };
    Ok(Box::new(OnDevice { device, method }))
}

impl Avbd {
    fn scale_ramps(&mut self, device: &mut Device, dt: f64) -> Result<(), SolverError> {
        device.wait()?;
        self.dt = dt;
        self.ramps = make_ramps(device, &self.settings, dt, self.scene.dt);
        self.contact_ramps = ContactRamps::new(self.settings, dt, self.scene.dt);
        let begin = Start::words(&self.scene, &self.settings);
        device.govern(law(&self.scene, &self.settings, dt), &begin)?;
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

impl Method for Avbd {
    fn prepare(&mut self, device: &mut Device, dt: f64) -> Result<(), SolverError> {
        if dt != self.dt {
            self.scale_ramps(device, dt)?;
        }
        let ([gamma, retain], alpha) = (decay(&self.settings), self.settings.kept());
        let ramps = &mut self.contact_ramps;
        device.detect(dt, |touch, limits| {
            ramps.regularise(touch, alpha);
            ramps.warm_start(touch, gamma, retain);
            limits.extend(ramps.limits());
        })
    }

    fn read_multipliers(&self, device: &mut Device, out: &mut Multipliers) -> bool {
        let force = |system: &System<f32>, index: usize| self.ramps[index].force(system, index);
        device.read_multipliers(out, force, |_, patch, i| lane::<f32>(&patch.lambda, i))
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
        taut_gpu::assert_layout!(
            "avbd/contact.wgsl",
            Start {
                k_start,
                k_start_scale,
                carried_scale,
                k_max,
                k_max_scale,
                beta,
                beta_scale,
                load_scale,
                rho_scale,
                pace,
                part,
                pad
            }
        );
    }
}
