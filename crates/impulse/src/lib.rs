//! Sequential impulses: projected Gauss-Seidel on velocities with warm starting (Catto 2005), soft
//! constraints (Catto 2011) and sub-steps (Macklin et al. 2019, Catto 2024).
//!
//! Every row of a joint or contact asks for a relative velocity, and each body pair in turn gets the
//! impulse that grants it: `d lambda = -(J M^-1 J^T)^-1 (J v + bias)`. Impulses add up, the sums are
//! clamped (contacts push, friction stays in its cone, motors have a largest effort), and the next
//! step or sub-step starts from them. By default an iteration is a sub-step: gravity, warm start, one
//! sweep with a soft bias against the error of position, integration, and a sweep without bias that
//! takes back the velocity which the bias put in. Contacts are found once per step; between sub-steps
//! their gaps follow the linearised motion of their anchors, while joints are linearised anew. With
//! `variant: pgs` iterations are sweeps of one long step instead, whose contacts are rigid and take
//! overlap back at a speed (Baumgarte). Compliant joints and springs are
//! implicit springs, and gyroscopic torque is implicit too. Departures: joints and contacts are as stiff
//! as the sweeps of a sub-step keep stable instead of at a fixed frequency, friction opposes slip
//! exactly where it slides, and joints report (and break by) their mean force over the sub-steps.
//! Sweeps are serial: joints and springs in list order, then contacts colour by colour, so that
//! threads cannot matter.

mod body;
mod contact;
mod cpu;
mod joint;
mod settings;
mod softness;

use taut_core::{Backend, BuildError, Devices, Info, Native, Needs, Scene, Settings, Solver};
use taut_model::Precision;

pub use settings::{FrictionShape, ImpulseSettings, Stabilisation, Variant};

/// The row of the table of backends.
pub const BACKEND: Native = Native {
    info: Info::new(
        "impulse-cpu",
        "sequential impulses: soft constraints, warm starting, sub-steps or iterations",
        "Catto, Iterative Dynamics with Temporal Coherence, GDC 2005; Catto, Soft \
         Constraints, GDC 2011; Catto, Solver2D, 2024; Macklin et al., Small Steps, SCA 2019",
    ),
    takes: Needs::MULTIBODY.with(Needs::TIMED).with(Needs::DAMPING),
    refuses: |_| Ok(()),
    build,
};

fn build(
    scene: &Scene,
    settings: &Settings,
    _: &dyn Devices,
) -> Result<Box<dyn Solver>, BuildError> {
    let settings: ImpulseSettings = settings.parse()?;
    settings.check()?;
    let settings = settings.resolved();
    BACKEND.supports(scene)?;
    Ok(match settings.precision {
        Precision::F32 => Box::new(cpu::Impulse::<f32>::new(scene, settings)),
        Precision::F64 => Box::new(cpu::Impulse::<f64>::new(scene, settings)),
    })
}
