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
    Backend, Build, BuildError, Determinism, Info, Scene, Settings, Solver, Unsupported,
};

/// The row of the table of backends.
pub const BACKEND: Backend = Backend {
    info: Info {
        name: "abd-cpu",
        summary: "affine bodies with an orthogonality energy, full Newton and penalty joints",
        reference: "Lan et al., Affine Body Dynamics (SIGGRAPH 2022); joints as penalties, no contact",
        determinism: Determinism::Bitwise,
    },
    supports,
    build: Build::Cpu(build),
};

fn supports(scene: &Scene) -> Result<(), Unsupported> {
    joint::unsupported(scene).map_or(Ok(()), |reason| Err(Unsupported(reason)))
}

fn build(scene: &Scene, settings: &Settings) -> Result<Box<dyn Solver>, BuildError> {
    supports(scene)?;
    let settings: AbdSettings = settings.parse()?;
    settings.check().map_err(BuildError::Settings)?;
    Ok(Box::new(Abd::new(scene, settings)?))
}
