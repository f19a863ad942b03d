//! Affine body dynamics as first published: the slow baseline that co-rotated variants are measured against.
//!
//! A body is an affine map `x = A X + t` of twelve numbers `q`, the columns of `A` and then `t`, so that
//! every point is linear in them: four control points move a whole embedded mesh ([`EmbeddedMesh`]). A step of
//! implicit Euler minimises
//!
//! ```text
//!   E(q) = |q - q_n - h q'_n - h^2 g|_M^2 / (2 h^2)  +  sum kappa V |A A^T - 1|^2  +  sum k/2 |x_a - x_b|^2
//! ```
//!
//! by Newton's method with a line search. The second term makes a body nearly rigid; because its Hessian
//! follows the body's turns, the system is assembled and factorised anew in every iteration, and where it
//! is not positive definite the Hessian of each body is projected. Joints are coinciding points, linear
//! in `q`, held by a penalty: one for a ball joint, two for a hinge, four for a weld. They therefore give
//! way a little, by the load over the stiffness.
//!
//! Implicit Euler on affine coordinates damps rotation: a spin `w` loses `h w^2` of itself per second, twice as
//! much as a rigid body would. Contact belongs into `E` as one more sum, an incremental potential with
//! its own bound on the line search; it is not here, and scenes with contacts are refused.
//!
//! Sources: Lan et al., "Affine Body Dynamics" (SIGGRAPH 2022), for the energy; Chen et al., "A Unified
//! Newton Barrier Method for Multibody Dynamics" (SIGGRAPH 2022), for the joints, without their change
//! of variables. `iterate` is one Newton iteration, and does nothing once converged.

mod control;
mod energy;
mod envelope;
mod joint;
mod settings;
mod solver;
#[cfg(test)]
mod solver_tests;

pub use control::{ControlTetrahedron, EmbeddedMesh};
pub use settings::AbdSettings;
use solver::Abd;
use taut_core::{
    Backend, BuildError, Devices, Info, Native, Needs, Scene, Settings, Solver, Unsupported,
    scene::JointKind,
};

/// The row of the table of backends.
pub const BACKEND: Native = Native {
    info: Info::new(
        "abd-cpu",
        "affine bodies with an orthogonality energy, full Newton and penalty joints",
        "Lan et al., Affine Body Dynamics (SIGGRAPH 2022); joints as penalties, no contact",
    ),
    takes: Needs::POINTS.with(Needs::DOTS).with(Needs::TWISTS).with(Needs::DRIVEN),
    refuses,
    build,
};

fn refuses(scene: &Scene) -> Result<(), Unsupported> {
    let made_of_points =
        |kind| matches!(kind, JointKind::Ball | JointKind::Hinge | JointKind::Fixed);
    match scene.joints.iter().position(|joint| !made_of_points(joint.kind)) {
        Some(i) => Err(Unsupported(format!("joint {i} is not made of coinciding points"))),
        None => Ok(()),
    }
}

fn build(
    scene: &Scene,
    settings: &Settings,
    _: &dyn Devices,
) -> Result<Box<dyn Solver>, BuildError> {
    BACKEND.supports(scene)?;
    let settings: AbdSettings = settings.parse()?;
    settings.check().map_err(BuildError::Settings)?;
    Ok(Box::new(Abd::new(scene, settings)?))
}
