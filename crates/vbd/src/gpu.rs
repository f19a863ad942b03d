//! The step on a graphics adapter.

use bytemuck::{Pod, Zeroable};
use taut_core::{
    Backend, BuildError, Devices, Info, Multipliers, Native, Scene, Settings, Solver, SolverError,
};
use taut_descent::{
    Collision, ContactLaw, Definition, Role, System,
    device::{self, Breaking, ContactKernels, Device, Method, OnDevice, unbuilt},
    patch::lane,
};
use taut_gpu::Gpu;
use taut_math::Number;

use crate::{
    TAKES,
    contact::{self, Penalty},
    cpu::{configure, full_stiffness, model},
    settings::{self, Precision, VbdSettings},
};

/// The row of the table of backends for graphics adapters.
pub const BACKEND_GPU: Native = Native {
    info: Info::new(
        "vbd-gpu",
        "the same on a graphics adapter, all bodies of a colour at once",
        "Chen, Liu, Yang, Yuksel, Vertex Block Descent, ACM TOG 43(4), 2024, and \
         Rigid Body Dynamics with VBD, Section I",
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
    let settings: VbdSettings = settings.parse()?;
    settings.check()?;
    BACKEND_GPU.supports(scene)?;
    solver(gpu, scene, settings)
}

/// What works on contacts.
const CONTACTS: ContactKernels =
    ContactKernels { shader: "vbd/contact.wgsl", follow: None, stabilise: None };

struct Vbd {
    settings: VbdSettings,
    scene: Scene,
    penalty: Penalty<f32>,
    dt: f64,
}

/// As `shaders/vbd/ramp.wgsl` has it.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct Ramp {
    start: f32,
    full: f32,
    grows: u32,
    beta: f32,
}

impl Ramp {
    fn of(definition: &Definition, full: f32, ramp: &settings::Ramp) -> Self {
        Self {
            start: f32::of(ramp.k_start),
            full,
            grows: u32::from(definition.role != Role::Spring),
            beta: f32::of(ramp.beta),
        }
    }
}

/// How contacts that the device finds start, as `Start` in `shaders/vbd/contact.wgsl`.
fn start(scene: &Scene, settings: &VbdSettings) -> [u32; 4] {
    let ramp = settings.ramp.unwrap_or_default();
    // Negative where the scale rules.
    let stiffness = settings.contact_stiffness.unwrap_or(-1.0);
    let scale = settings.contact_stiffness_scale / (scene.dt * scene.dt);
    [stiffness, scale, ramp.k_start, ramp.gamma].map(|x| f32::of(x).to_bits())
}

/// The method on a device.
///
/// # Errors
/// When settings are not for devices, or the device has no room for the scene.
fn solver(gpu: &Gpu, scene: &Scene, settings: VbdSettings) -> Result<Box<dyn Solver>, BuildError> {
    let model = model(&settings);
    device::check(&model)?;
    let built = Device::new(gpu, scene, model, |system| configure(system, &settings));
    let mut device = built.map_err(unbuilt)?;
    device.break_joints(Breaking::EveryStep).map_err(unbuilt)?;
    let full = |d: &Definition| f32::of(full_stiffness(d, &settings, scene.dt));
    device.stiffness = device.system.definitions.iter().map(full).collect();
    if let Some(ramp) = settings.ramp {
        let ramps: Vec<_> =
            device.system.definitions.iter().map(|d| Ramp::of(d, full(d), &ramp)).collect();
        // What grows starts anew with every state.
        let grown = device.stiffness.iter_mut().zip(&ramps).filter(|(_, r)| r.grows != 0);
        grown.for_each(|(stiffness, _)| *stiffness = 0.0);
        device.decay[0] = f32::of(ramp.gamma);
        let buffer = gpu.upload("stiffness ramps", &ramps).map_err(unbuilt)?;
        let entries = ["warm_start", "update"];
        device.hook("vbd/ramp.wgsl", entries, "ramps", &buffer).map_err(unbuilt)?;
    }
    let collision = Collision::choose(settings.collision, scene)?;
    device.touch_by(CONTACTS, collision).map_err(unbuilt)?;
    let penalty = Penalty::new(&settings, scene.dt);
    device.govern(penalty.to_bits(&settings), &[start(scene, &settings)])?;
    device.load(&scene.initial_state())?;
    let settings =
        VbdSettings { precision: Precision::F32, collision: Some(collision), ..settings };
    let method = Vbd { settings, scene: scene.clone(), penalty, dt: scene.dt };
    Ok(Box::new(OnDevice { device, method }))
}

impl Method for Vbd {
    fn prepare(&mut self, device: &mut Device, dt: f64) -> Result<(), SolverError> {
        if dt != self.dt {
            self.dt = dt;
            self.penalty = Penalty::new(&self.settings, dt);
            let begin = start(&self.scene, &self.settings);
            device.govern(self.penalty.to_bits(&self.settings), &[begin])?;
        }
        let (scene, settings) = (&self.scene, &self.settings);
        device.detect(dt, |touch, limits| {
            contact::prepare(touch, scene, settings);
            let full = |backing| contact::full_stiffness(backing, settings, scene.dt);
            limits.extend(touch.backings.iter().map(|backing| [0.0, full(backing), 0.0, 0.0]));
        })
    }

    fn read_multipliers(&self, device: &mut Device, out: &mut Multipliers) -> bool {
        let penalty = &self.penalty;
        let force = |system: &System<f32>, index| system.penalty_force(index);
        device.read_multipliers(out, force, |system, patch, i| {
            let [a, b] = patch.nodes.map(|n| &system.nodes[n as usize]);
            lane::<f32>(&penalty.push(patch, &patch.value(a, b)).force, i)
        })
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
        taut_gpu::assert_layout!("vbd/ramp.wgsl", Ramp { start, full, grows, beta });
    }
}
