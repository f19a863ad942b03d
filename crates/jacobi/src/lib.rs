//! Jacobi iteration over point constraints of rigid bodies, as derived in "A Minimal GPU Jacobi Solver for
//! Rigid Body Point Constraints".
//!
//! A step first gives every body its free velocity `V*`, then solves `A lambda = J V* / h` for the forces of
//! the joints, with `A = J M^-1 J^T`, and takes `V = V* - h M^-1 J^T lambda` (Eq. 5). An iteration is two
//! passes. The multiplier pass corrects each joint by its own 3x3 block of `A`, whose inverse is made once
//! per step: `lambda += A_ll^-1 J_l V / h`. The velocity pass sums the joints of each body, listed in CSR,
//! anew from `V*`. No thread writes where another reads, so both passes run at once on all of their kind.
//!
//! Where the document leaves something open, or where its listing departs from its own equations, a setting
//! says what is done ([`JacobiSettings`]): drift of positions, relaxation, warm starting, gyroscopic torque.
//! Its rate of a quaternion multiplies the angular velocity, which it measures in the world, from the right;
//! here it is multiplied from the left, as world axes ask for. The inverse inertia is turned, not inverted
//! anew. Joints are balls, between bodies or to the world; others are refused.

mod cpu;
#[cfg(feature = "gpu")]
mod gpu;
#[cfg(feature = "gpu")]
mod layout;
mod settings;
mod step;
mod system;

use taut_core::{Backend, BuildError, Devices, Info, Native, Needs, Scene, Settings, Solver};
use taut_model::Precision;

#[cfg(feature = "gpu")]
pub use gpu::BACKEND_GPU;
#[cfg(feature = "gpu")]
pub use layout::bytes_per_stage;
pub use settings::{Drift, JacobiSettings, WarmStart};

const REFERENCE: &str = "A Minimal GPU Jacobi Solver for Rigid Body Point Constraints; rotations multiplied from the left";

const TAKES: Needs = Needs::POINTS.with(Needs::DRIVEN);

/// The row of the table of backends for the CPU.
pub const BACKEND_CPU: Native = Native {
    info: Info::new(
        "jacobi-cpu",
        "Jacobi iteration over ball joints: all joints at once, then all bodies",
        REFERENCE,
    ),
    takes: TAKES,
    refuses: |_| Ok(()),
    build: build_on_cpu,
};

fn parse(scene: &Scene, settings: &Settings) -> Result<JacobiSettings, BuildError> {
    let settings: JacobiSettings = settings.parse()?;
    settings.check()?;
    BACKEND_CPU.supports(scene)?;
    Ok(settings)
}

fn build_on_cpu(
    scene: &Scene,
    settings: &Settings,
    _: &dyn Devices,
) -> Result<Box<dyn Solver>, BuildError> {
    let settings = parse(scene, settings)?;
    Ok(match settings.precision.unwrap_or(Precision::F64) {
        Precision::F32 => Box::new(cpu::OnCpu::<f32>::new(scene, settings)),
        Precision::F64 => Box::new(cpu::OnCpu::<f64>::new(scene, settings)),
    })
}
