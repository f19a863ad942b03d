//! What can be set, with units and defaults.

use serde::{Deserialize, Serialize};

/// Settings of the reference solver.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct NewtonSettings {
    /// Largest residual of any equation once converged [m or rad]; forces count by the displacement
    /// that they cause in one step, `h^2 f / m`. Positive; default 1e-12. Never asked to be below
    /// what rounding of the scene's positions and forces allows.
    pub tolerance: f64,
    /// Newton iterations after which a step counts as failed and is bisected. At least 1; default 100.
    pub max_newton: u32,
    /// How often a step may be halved before it is an error. Default 12.
    pub max_bisections: u32,
    /// Whether `end_step` iterates on until converged when the budget was too small; without it the
    /// step ends at the last iterate. Default true.
    pub complete: bool,
    /// Keep a factorisation while it still contracts the residual at least fivefold. The solution is
    /// the same within `tolerance`, the path to it is not. Default true.
    pub reuse_factorisation: bool,
    /// Regularisation of the constraint block relative to its diagonal, so that redundant rows
    /// can be factorised. It changes the path, never the solution. At least 0; default 1e-11.
    pub regularisation: f64,
    /// The same for points of contact, relative to how far a force moves its own point. It decides how
    /// redundant points share their load. At least 0; default 1e-7.
    pub contact_regularisation: f64,
    /// Largest residual of any equation of a step with contacts, the natural maps of the contact problem
    /// among them, with which the step is accepted where `tolerance` is out of reach [m or rad].
    /// Positive; default 1e-8.
    pub contact_tolerance: f64,
    /// Compliance of rows that the scene makes hard [m/N or rad/(N m)]. At least 0; default 0. A net
    /// stretched straight between its pins has no finite forces that carry its weight; with 1e-9 it has.
    pub compliance: f64,
    /// Discretisation of rotation. Default `momentum`.
    pub rotation: RotationEquation,
    /// With `variational` or `published` rotation: whether the target includes the gyroscopic torque. Default true.
    pub gyroscopic: bool,
}

impl Default for NewtonSettings {
    fn default() -> Self {
        Self {
            tolerance: 1e-12,
            max_newton: 100,
            max_bisections: 12,
            complete: true,
            reuse_factorisation: true,
            regularisation: 1e-11,
            contact_regularisation: 1e-7,
            contact_tolerance: 1e-8,
            compliance: 0.0,
            rotation: RotationEquation::Momentum,
            gyroscopic: true,
        }
    }
}

/// How the rotational equation of motion is discretised.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RotationEquation {
    /// Implicit Euler of angular momentum: `(R1 I R1^T w1 - R0 I R0^T w0) / h = torque` with
    /// `w1 = log(R1 R0^T) / h`.
    #[default]
    Momentum,
    /// As block descent does: `I0 2 vec(q1 y^-1) / h^2 = torque` with the world inertia `I0` and the
    /// target `y` frozen at the start of the step, and rotation vectors by the Cayley map.
    Variational,
    /// The same with the published way back, `w1 = 2 vec(q1 q0^-1) / h`, under which free spin decays.
    Published,
}
