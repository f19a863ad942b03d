//! Augmented vertex block descent (Giles, Diaz, Yuksel, SIGGRAPH 2025) for bodies and particles.
//!
//! A step minimises inertia plus the energy of all constraints by visiting one body after another and
//! taking a Newton step in its six coordinates (the primal sweep, shared with VBD in
//! [`taut_descent`]). A hard row has no energy of its own: it pulls with `F = k C + lambda` (Eq. 9),
//! and after each sweep the multiplier takes over that force (Eq. 11) while the stiffness `k` grows
//! with the error (Eq. 12). A row of finite stiffness starts weak and grows to its material value
//! (Eq. 16), so that soft neighbours are heard first. Only a share `1 - alpha` of the error that a
//! step starts with is corrected (Eq. 18), and stiffness and multipliers are kept from step to step,
//! shrunk by `gamma` (Eq. 19). Limits and motors are rows with bounded force (section 3.2). A contact
//! is three rows per point, linear in the step's motion (section 4), whose pressure is bounded by
//! zero and whose friction by the cone. Second derivatives enter as column norms (section 3.5). The
//! paper's constants fit its own units; the `robust` profile scales them with mass, step, size and
//! the load that rests on a row, `demo3d` repeats the authors' 3D demo, and `compliant` replaces the
//! ramp by a fixed penalty in series with the material.

mod contact;
mod dual;
mod element_ramp;
#[cfg(feature = "gpu")]
mod gpu;
mod method;
mod settings;

use taut_core::{Backend, BuildError, Devices, Info, Native, Needs, Scene, Settings, Solver};
use taut_descent::{Collision, OnHost};
use taut_model::Precision;

#[cfg(feature = "gpu")]
pub use gpu::BACKEND_GPU;
use method::Avbd;
pub use settings::{
    AngularRowsSetting, AvbdSettings, ContactHessian, ContactStyle, Profile, Resolved, Scheme,
};

const TAKES: Needs = Needs::MULTIBODY.without(Needs::RESTITUTION);

/// The row of the table of backends.
pub const BACKEND: Native = Native {
    info: Info::new(
        "avbd-cpu",
        "augmented vertex block descent: block descent with multipliers and a stiffness ramp",
        "Giles, Diaz, Yuksel, Augmented Vertex Block Descent, ACM TOG 44(4), 2025; \
         mass-scaled constants by default",
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
    let settings = settings.parse::<AvbdSettings>()?.resolve()?;
    Collision::refuse_device(settings.collision)?;
    BACKEND.supports(scene)?;
    Ok(match settings.precision {
        Precision::F32 => Box::new(OnHost::new(scene, Avbd::<f32>::new(scene, settings))),
        Precision::F64 => Box::new(OnHost::new(scene, Avbd::<f64>::new(scene, settings))),
    })
}
