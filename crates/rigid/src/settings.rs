//! What can be set.

use serde::{Deserialize, Serialize};

/// Settings of the single-body integrator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct RigidSettings {
    /// Method of integration. Default `rk4`.
    pub integrator: Integrator,
}

/// How the equations of motion are integrated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Integrator {
    /// The classical Runge-Kutta method of fourth order.
    #[default]
    Rk4,
    /// Backward Euler on rotations, each step solved by Newton's method; of first order. The baseline
    /// that papers on affine bodies call implicit rigid body dynamics.
    Implicit,
    /// Forces at the start of the step, poses by the velocities at its end; of first order.
    Explicit,
}
