//! What motion is judged by: pure functions of a scene and the state read back, in `f64`.
//!
//! What is left out, on purpose:
//! - Rows with compliance. A compliant joint gives way by as much as its load demands, and that load
//!   is not in the state, so its deviation says nothing about the solver. Only rows whose compliance
//!   is zero count as joint error; what a compliant joint stores is part of the energy.
//! - Broken joints, and joints between two endpoints that no force moves.
//! - Elastic energy inside an affine body.

mod balance;
mod energy;
mod joints;
mod material;
mod momentum;
mod trajectory;
mod under;
mod work;

use crate::{Mat3, Scene, State};

pub use balance::imbalance_share_max;
pub(crate) use energy::motion_energy_j;
pub use energy::{MechanicalEnergy, energy, objective_gap_j, objective_j};
pub use joints::{JointError, Measured, anchors, joint_error_m, joint_errors, measured_joints};
pub use material::{MaterialStrain, material_strain};
pub use momentum::{Momentum, is_free, momentum};
pub use trajectory::{pose_distance_rms_m, spring_strain_max, watched_error_rms_m};
pub use under::bodies_under_cloth;
pub(crate) use work::forces_work_j;
pub use work::{WorkDone, has_work, work};

/// Largest `|singular value - 1|` of any dynamic body's frame [1].
///
/// The smallest singular value of a reflected frame counts as negative: such a body is inside out.
pub fn stretch_max(scene: &Scene, state: &State) -> f64 {
    let dynamic = scene.bodies.iter().zip(&state.bodies).filter(|(body, _)| body.is_dynamic());
    dynamic.map(|(_, s)| stretch(&s.frame)).fold(0.0, f64::max)
}

fn stretch(frame: &Mat3) -> f64 {
    // With e an eigenvalue of F^T F - 1, the singular value is sqrt(1 + e); written so that nothing
    // cancels where the frame is a rotation to rounding.
    let eigenvalues = (frame.transpose() * frame - Mat3::identity()).symmetric_eigenvalues();
    let excess = |e: f64| e / (1.0 + (1.0 + e).max(0.0).sqrt());
    let largest = eigenvalues.iter().map(|&e| excess(e).abs()).fold(0.0, f64::max);
    if frame.determinant() < 0.0 { largest.max(2.0 + excess(eigenvalues.min())) } else { largest }
}

#[cfg(test)]
mod tests;
