//! Vertex block descent for rigid bodies and particles, by penalties alone.
//!
//! Chen, Liu, Yang and Yuksel (2024) minimise the implicit Euler objective by visiting one vertex
//! after another and taking a Newton step while all others stand still; "Rigid Body Dynamics with
//! VBD, Section I" extends the vertex to a body with a 6x6 system, solved through two 3x3 ones. Both
//! have only energies, so a hard row is a stiff penalty here: the stiffer it is, the smaller its
//! violation at convergence and the slower that convergence. By default the penalty is scaled with
//! the effective mass and the frame, so that it means the same for light and heavy scenes. The sweep
//! is the one AVBD uses ([`taut_descent`]), with multipliers left at zero. Limits are one-sided
//! penalties, and so are contacts, whose friction is regularised: it holds nothing slower than
//! [`VbdSettings::friction_speed`]. A motor is a penalty on the angle left to go in the step, clamped to its effort. The
//! document's ramp (stiffness growing with the violation) is a setting, off by default, and so is the acceleration of
//! sweeps over particles by Chebyshev's polynomials.

mod accelerate;
mod contact;
#[cfg(feature = "gpu")]
mod gpu;
mod method;
mod settings;

use taut_core::{Backend, BuildError, Devices, Info, Native, Needs, Scene, Settings, Solver};
use taut_descent::{Collision, OnHost};
use taut_model::Precision;

#[cfg(feature = "gpu")]
pub use gpu::BACKEND_GPU;
use method::Vbd;
pub use settings::{Ramp, VbdSettings};

const TAKES: Needs = Needs::MULTIBODY.without(Needs::RESTITUTION);

/// The row of the table of backends.
pub const BACKEND: Native = Native {
    info: Info::new(
        "vbd-cpu",
        "vertex block descent: penalties, one body after another",
        "Chen, Liu, Yang, Yuksel, Vertex Block Descent, ACM TOG 43(4), 2024, and \
         Rigid Body Dynamics with VBD, Section I",
    ),
    takes: TAKES
        .with(Needs::ENERGIES)
        .with(Needs::LOG_MEMBRANES)
        .with(Needs::TOUCHING_PARTICLES)
        .with(Needs::SOFT_CONTACTS)
        .with(Needs::TIMED)
        .with(Needs::DAMPING),
    refuses: |_| Ok(()),
    build,
};

fn build(
    scene: &Scene,
    settings: &Settings,
    _: &dyn Devices,
) -> Result<Box<dyn Solver>, BuildError> {
    let settings: VbdSettings = settings.parse()?;
    settings.check()?;
    Collision::refuse_device(settings.collision)?;
    BACKEND.supports(scene)?;
    Ok(match settings.precision {
        Precision::F32 => Box::new(OnHost::new(scene, Vbd::<f32>::new(scene, settings))),
        Precision::F64 => Box::new(OnHost::new(scene, Vbd::<f64>::new(scene, settings))),
    })
}
