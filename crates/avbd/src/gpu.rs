//! The method on a graphics adapter.

use bytemuck::{Pod, Zeroable};
use taut_core::{Backend, BuildError, Devices, Info, Native, Scene, Settings, Solver};
use taut_descent::{
    Collision, ContactStore, Options, System,
    device::{Breaking, ContactKernels, DeviceMethod, DeviceSpec, ElementStart, OnDevice},
};
use taut_math::Number;
use taut_model::Precision;
use taut_model_gpu::open;

use crate::{
    TAKES, dual,
    method::{Avbd, decay},
    settings::{AvbdSettings, ContactHessian, Resolved, Scheme},
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
    let gpu = open(devices)?;
    let settings: AvbdSettings = settings.parse()?;
    if settings.precision == Some(Precision::F64) {
        return Err(BuildError::Settings("precision is f32 on a graphics adapter".to_owned()));
    }
    let settings = settings.resolve()?;
    if settings.element_ramp {
        let message =
            "element_ramp is not on graphics adapters, which take no elastic elements yet";
        return Err(BuildError::Settings(message.to_owned()));
    }
    BACKEND_GPU.supports(scene)?;
    Options::refuse_bound(settings.bound)?;
    let collision = Some(Collision::choose(settings.collision, scene)?);
    let settings = Resolved { precision: Precision::F32, collision, ..settings };
    Ok(Box::new(OnDevice::new(gpu, scene, Avbd::new(scene, settings))?))
}

/// As `shaders/avbd/dual.wgsl` has it.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Ramp {
    start: f32,
    cap: f32,
    beta: f32,
    load: f32,
    share: f32,
    flags: u32,
    pad_0: u32,
    pad_1: u32,
}

/// The law of contact as `shaders/avbd/contact.wgsl` has it.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Cone {
    open: f32,
    hessian: u32,
    pad_0: u32,
    pad_1: u32,
}

/// How contacts that the device finds start, as `shaders/avbd/contact.wgsl` has it.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Start {
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

impl DeviceMethod for Avbd<f32> {
    type Law = Cone;
    type Begin = Start;
    type Ramp = Ramp;
    const CONTACTS: ContactKernels = ContactKernels {
        shader: "avbd/contact.wgsl",
        follow: Some("follow"),
        stabilise: Some("stabilise"),
    };

    fn spec(&self) -> DeviceSpec {
        DeviceSpec {
            breaking: Breaking::EverySweep,
            stabilise: self.settings.post_stabilisation,
            decay: decay(&self.settings),
            collision: self.settings.collision.unwrap_or(Collision::Host),
            elements: Some("avbd/dual.wgsl"),
        }
    }

    fn scale(&mut self, system: &System<f32>, dt: f64) {
        self.scale_to(system, dt);
    }

    fn law(&self) -> Cone {
        Cone {
            // Shaders need not know infinity; no gap is larger than this.
            open: f32::of(self.cone.open).min(3.4e38),
            hessian: match self.cone.hessian {
                ContactHessian::SlipDirection => 0,
                ContactHessian::Full => 1,
                ContactHessian::Rescaled => 2,
            },
            pad_0: 0,
            pad_1: 0,
        }
    }

    fn begin(&self) -> Start {
        let s = self.settings.in_seconds(self.dt());
        // Negative where a scale rules.
        let given = |x: Option<f64>| f32::of(x.unwrap_or(-1.0));
        Start {
            k_start: given(s.k_start),
            k_start_scale: f32::of(s.k_start_scale),
            carried_scale: f32::of(s.carried_scale),
            k_max: given(s.k_max),
            k_max_scale: f32::of(s.k_max_scale),
            beta: given(s.beta),
            beta_scale: f32::of(s.beta_scale),
            load_scale: f32::of(s.load_scale),
            rho_scale: given(Some(s.rho_scale).filter(|_| s.scheme == Scheme::Series)),
            pace: f32::of(1.0 / (self.frame * self.frame)),
            part: f32::of(1.0 - s.kept()),
            pad: 0,
        }
    }

    fn ramps(&self, _system: &System<f32>) -> Vec<Ramp> {
        self.ramps.iter().map(Into::into).collect()
    }

    fn starts(&self, _system: &System<f32>) -> Vec<ElementStart> {
        let alpha = f32::of(self.settings.kept());
        let start = |ramp: &dual::Ramp<f32>| ElementStart {
            kept: if ramp.regularised { alpha } else { 0.0 },
            stiffness: 0.0,
            takes_over: ramp.share == 1.0,
        };
        self.ramps.iter().map(start).collect()
    }

    fn prepare_contacts(&mut self, contacts: &mut ContactStore<f32>) -> Vec<[f32; 4]> {
        let [gamma, retain] = decay(&self.settings);
        self.contact_ramps.regularise(contacts, self.settings.kept());
        self.contact_ramps.warm_start(contacts, gamma, retain);
        self.contact_ramps.limits().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structures_are_those_of_the_shaders() {
        taut_gpu::assert_layout!(
            "avbd/dual.wgsl",
            Ramp { start, cap, beta, load, share, flags, pad_0, pad_1 }
        );
        taut_gpu::assert_layout!("avbd/contact.wgsl", Cone { open, hessian, pad_0, pad_1 });
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
