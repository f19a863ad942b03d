//! The one ruler: every number by which solvers are compared, from the state read back.
//!
//! All of it is a pure function of a scene and a state, in `f64`; names end in their unit.
//!
//! What is left out, on purpose:
//! - Rows with compliance. A compliant joint gives way by as much as its load demands, and that load
//!   is not in the state, so its deviation says nothing about the solver. Only rows whose compliance
//!   is zero count as joint error; what a compliant joint stores is part of the energy.
//! - Broken joints, and joints between two endpoints that no force moves.
//! - Elastic energy inside an affine body.

mod energy;
mod joints;
mod momentum;
mod trajectory;

use crate::{Mat3, Scene, State};

pub(crate) use energy::motion_energy_j;
pub use energy::{MechanicalEnergy, energy, objective_gap_j, objective_j};
pub use joints::{JointError, joint_errors};
pub(crate) use joints::{anchors, measured};
pub use momentum::{Momentum, momentum};
pub use trajectory::{distance_to_reference_rms_m, watched_error_rms_m};

/// Every metric there is, in the order in which they are reported.
pub const NAMES: &[&str] = &[
    "joint_error_max_m",
    "joint_error_rms_m",
    "joint_angle_error_max_rad",
    "watched_error_rms_m",
    "stretch_max",
    "spring_strain_max",
    "energy_j",
    "energy_drift_j",
    "momentum_drift_linear_kg_m_s",
    "momentum_drift_angular_kg_m2_s",
    "distance_to_reference_rms_m",
    "objective_gap_j",
];

/// Measures the states of one scene.
///
/// It keeps a copy of the scene, and what conserved quantities were at the start.
#[derive(Clone, Debug)]
pub struct Ruler {
    scene: Scene,
    applies: Applies,
    start: Start,
}

/// Which metrics a scene has anything to say about.
#[derive(Clone, Copy, Debug)]
struct Applies {
    joint_error: bool,
    joint_angle: bool,
    stretch: bool,
    strain: bool,
    momentum: bool,
}

/// Values at the start of the run.
#[derive(Clone, Copy, Debug)]
struct Start {
    time_s: f64,
    energy_j: f64,
    momentum: Momentum,
}

impl Ruler {
    /// A ruler for runs of `scene` that start at `initial`, from where drifts are counted.
    pub fn new(scene: &Scene, initial: &State) -> Self {
        let applies = Applies {
            joint_error: scene.joints.iter().any(|j| measured(scene, j).linear),
            joint_angle: scene.joints.iter().any(|j| measured(scene, j).angular),
            stretch: scene.bodies.iter().any(|b| b.is_dynamic()),
            strain: trajectory::has_strain(scene),
            momentum: momentum::is_free(scene),
        };
        let start = Start {
            time_s: initial.time_s,
            energy_j: energy(scene, initial).total_j(),
            momentum: momentum(scene, initial),
        };
        Self { scene: scene.clone(), applies, start }
    }

    /// The metrics that apply, in the order of [`NAMES`].
    ///
    /// `reference` is the state of a trusted solution at the same time; without it the distances to
    /// one are absent. `objective_gap_j` needs the state before the step: see [`objective_gap_j`].
    pub fn measure(&self, state: &State, reference: Option<&State>) -> Vec<(&'static str, f64)> {
        let (scene, applies) = (&self.scene, self.applies);
        let mut values = Vec::with_capacity(NAMES.len());
        let joints = joint_errors(scene, state);
        if applies.joint_error {
            values.push(("joint_error_max_m", joints.max_m));
            values.push(("joint_error_rms_m", joints.rms_m));
        }
        if applies.joint_angle {
            values.push(("joint_angle_error_max_rad", joints.angle_max_rad));
        }
        if let Some(error) = reference.and_then(|r| watched_error_rms_m(scene, state, r)) {
            values.push(("watched_error_rms_m", error));
        }
        if applies.stretch {
            values.push(("stretch_max", stretch_max(scene, state)));
        }
        if applies.strain {
            values.push(("spring_strain_max", trajectory::spring_strain_max(scene, state)));
        }
        let energy_j = energy(scene, state).total_j();
        values.push(("energy_j", energy_j));
        values.push(("energy_drift_j", energy_j - self.start.energy_j));
        if applies.momentum {
            let [linear, angular] = self.momentum_drift(state);
            values.push(("momentum_drift_linear_kg_m_s", linear));
            values.push(("momentum_drift_angular_kg_m2_s", angular));
        }
        if let Some(distance) = reference.and_then(|r| distance_to_reference_rms_m(scene, state, r))
        {
            values.push(("distance_to_reference_rms_m", distance));
        }
        values
    }

    /// Change of both momenta that gravity does not explain; the angular one is about the common
    /// centre of mass, where uniform gravity has no torque.
    fn momentum_drift(&self, state: &State) -> [f64; 2] {
        let (now, start) = (momentum(&self.scene, state), self.start.momentum);
        let impulse = self.scene.gravity * (now.mass_kg * (state.time_s - self.start.time_s));
        let linear = now.linear_kg_m_s - start.linear_kg_m_s - impulse;
        let angular = now.angular_kg_m2_s - start.angular_kg_m2_s;
        [linear.norm(), angular.norm()]
    }
}

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
