//! The method on a graphics adapter.

use bytemuck::{Pod, Zeroable};
use taut_core::{Backend, BuildError, Devices, Info, Native, Scene, Settings, Solver};
use taut_descent::{
    Collision, ContactStore, Options, System,
    device::{Breaking, ContactKernels, DeviceMethod, DeviceSpec, ElementStart, OnDevice},
};
use taut_math::Number;
use taut_model::{Precision, Role};
use taut_model_gpu::open;

use crate::{
    TAKES,
    contact::{self, Penalty as Law},
    method::Vbd,
    settings::VbdSettings,
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
    let gpu = open(devices)?;
    let settings: VbdSettings = settings.parse()?;
    settings.check()?;
    if settings.chebyshev.is_some() {
        let message = "chebyshev is not on graphics adapters yet; vbd-cpu has it";
        return Err(BuildError::Settings(message.to_owned()));
    }
    Options::refuse_bound(settings.bound)?;
    BACKEND_GPU.supports(scene)?;
    let collision = Some(Collision::choose(settings.collision, scene)?);
    let settings = VbdSettings { precision: Precision::F32, collision, ..settings };
    Ok(Box::new(OnDevice::new(gpu, scene, Vbd::new(scene, settings))?))
}

/// As `shaders/vbd/ramp.wgsl` has it.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Ramp {
    start: f32,
    full: f32,
    grows: u32,
    beta: f32,
}

/// The law of contact as `shaders/vbd/contact.wgsl` has it.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Penalty {
    damping: f32,
    reach: f32,
    beta: f32,
    grows: u32,
}

/// How contacts that the device finds start, as `shaders/vbd/contact.wgsl` has it.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Start {
    stiffness: f32,
    scale: f32,
    k_start: f32,
    gamma: f32,
}

impl DeviceMethod for Vbd<f32> {
    type Law = Penalty;
    type Begin = Start;
    type Ramp = Ramp;
    const CONTACTS: ContactKernels =
        ContactKernels { shader: "vbd/contact.wgsl", follow: None, stabilise: None };

    fn spec(&self) -> DeviceSpec {
        DeviceSpec {
            breaking: Breaking::EveryStep,
            stabilise: false,
            decay: [self.settings.ramp.map_or(1.0, |ramp| f32::of(ramp.gamma)), 1.0],
            collision: self.settings.collision.unwrap_or(Collision::Host),
            elements: self.settings.ramp.map(|_| "vbd/ramp.wgsl"),
        }
    }

    fn scale(&mut self, _system: &System<f32>, dt: f64) {
        self.penalty = Law::new(&self.settings, dt);
    }

    fn law(&self) -> Penalty {
        let (law, ramp) = (&self.penalty, self.settings.ramp);
        Penalty {
            damping: law.damping,
            reach: law.reach,
            beta: ramp.map_or(0.0, |ramp| f32::of(ramp.beta)),
            grows: u32::from(ramp.is_some()),
        }
    }

    fn begin(&self) -> Start {
        let (settings, ramp) = (&self.settings, self.settings.ramp.unwrap_or_default());
        Start {
            // Negative where the scale rules.
            stiffness: f32::of(settings.contact_stiffness.unwrap_or(-1.0)),
            scale: f32::of(settings.contact_stiffness_scale / (self.frame * self.frame)),
            k_start: f32::of(ramp.k_start),
            gamma: f32::of(ramp.gamma),
        }
    }

    fn ramps(&self, system: &System<f32>) -> Vec<Ramp> {
        let ramp = self.settings.ramp.unwrap_or_default();
        let (start, beta) = (f32::of(ramp.k_start), f32::of(ramp.beta));
        let all = system.definitions.iter().zip(&self.full);
        all.map(|(definition, &full)| {
            let grows = u32::from(definition.role != Role::Store);
            Ramp { start, full, grows, beta }
        })
        .collect()
    }

    fn starts(&self, system: &System<f32>) -> Vec<ElementStart> {
        let all = system.definitions.iter().zip(&self.full);
        all.map(|(definition, &full)| {
            // What grows starts anew with every state.
            let grows = self.settings.ramp.is_some() && definition.role != Role::Store;
            ElementStart { stiffness: if grows { 0.0 } else { full }, ..ElementStart::default() }
        })
        .collect()
    }

    fn prepare_contacts(&mut self, contacts: &mut ContactStore<f32>) -> Vec<[f32; 4]> {
        let (settings, frame) = (&self.settings, self.frame);
        contact::prepare(contacts, settings, frame);
        let full = |memory| contact::full_stiffness(memory, settings, frame);
        contacts.memories.iter().map(|memory| [0.0, full(memory), 0.0, 0.0]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structures_are_those_of_the_shaders() {
        taut_gpu::assert_layout!("vbd/ramp.wgsl", Ramp { start, full, grows, beta });
        taut_gpu::assert_layout!("vbd/contact.wgsl", Penalty { damping, reach, beta, grows });
        taut_gpu::assert_layout!("vbd/contact.wgsl", Start { stiffness, scale, k_start, gamma });
    }
}
