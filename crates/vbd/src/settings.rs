//! What can be set on the VBD solver.

use serde::{Deserialize, Serialize};
use taut_core::BuildError;
use taut_descent::{Collision, InitialGuess, Options};
use taut_model::{Order, Precision, Rotation};

/// Settings of the VBD solver.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct VbdSettings {
    /// Arithmetic the solver runs in. Default `f64`.
    pub precision: Precision,
    /// Visiting order of the sweep. Default `coloured`.
    pub order: Order,
    /// Penalty stiffness of hard rows [N/m or N m/rad], the same for all, > 0; none (default) uses
    /// [`Self::stiffness_scale`].
    pub stiffness: Option<f64>,
    /// Penalty stiffness of hard rows in units of effective mass over squared frame [1], > 0.
    /// Default 1e4: of the powers of ten the one nearest to the reference on a chain with a 50,000:1
    /// load at 20 sweeps, and the stiffest that lets no such chain bounce. Less sags; more slows
    /// convergence until the load hangs in the air, and gains energy.
    pub stiffness_scale: f64,
    /// Penalty stiffness of contacts [N/m], the same for all, > 0; none (default) uses
    /// [`Self::contact_stiffness_scale`].
    pub contact_stiffness: Option<f64>,
    /// Penalty stiffness of a point of contact in units of effective mass over squared frame [1], > 0.
    /// Default 10: stiffer ones hold loads better, but throw a falling heap apart.
    pub contact_stiffness_scale: f64,
    /// Damping of a growing overlap, as a share of the stiffness [s], >= 0. Default 0.
    pub contact_damping: f64,
    /// Sliding speed at which friction reaches Coulomb's [m/s], > 0. Default 0.01. What is slower than
    /// this creeps: friction holds nothing at rest.
    pub friction_speed: f64,
    /// Whether second derivatives of the rows are lumped into the Hessian. Default on: without it
    /// heavily loaded lever arms and springs overshoot.
    pub curvature: bool,
    /// Whether the inertial target includes the gyroscopic torque. Default on, as in the forward
    /// step of the document.
    pub gyroscopic: bool,
    /// Where iterations start. Default `target`, the inertial target.
    pub start: InitialGuess,
    /// How rotation vectors and rotations are exchanged. Default `cayley`.
    pub rotation: Rotation,
    /// Stiffness ramp of the rigid document's last section. Default none: plain VBD.
    pub ramp: Option<Ramp>,
    /// Factor by which a sweep is taken to shrink the error of particles, in \[0, 1), for Chebyshev's acceleration of
    /// those that touch nothing. Default none: plain sweeps. Too large a value makes them diverge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chebyshev: Option<f64>,
    /// Partial sums over the elements and contacts of a body that has at least twice as many, a power of two up to
    /// 64. Default 1: one after the other. On a graphics adapter as many invocations share such a body; on the CPU
    /// the sums are the same, so that both give the same bits.
    pub lanes_per_body: u32,
    /// Whether particles move no farther in an iteration than 0.45 of their least distance to triangles and edges of
    /// others, so that none can pass through (Chen et al., Offset Geometric Contact, 2025). Bodies are not bounded.
    /// Default off: it searches in each iteration, and what must move far takes more of them. On the CPU only.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub bound: bool,
    /// Where `vbd-gpu` searches for contacts: by default on the device wherever its shaders know all shapes of the
    /// scene; `host` gives the bits of the CPU.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub collision: Option<Collision>,
}

/// Penalties that start low and grow with the violation up to the stiffness above.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Ramp {
    /// Growth per violation [N/m^2 or N m/rad^2], >= 0.
    pub beta: f64,
    /// Share of the stiffness kept from step to step, in \[0, 1\].
    pub gamma: f64,
    /// Least stiffness [N/m or N m/rad], >= 0.
    pub k_start: f64,
}

impl Default for Ramp {
    fn default() -> Self {
        Self { beta: 1e5, gamma: 0.99, k_start: 100.0 }
    }
}

impl Default for VbdSettings {
    fn default() -> Self {
        Self {
            precision: Precision::F64,
            order: Order::Coloured,
            stiffness: None,
            stiffness_scale: 1e4,
            contact_stiffness: None,
            contact_stiffness_scale: 10.0,
            contact_damping: 0.0,
            friction_speed: 0.01,
            curvature: true,
            gyroscopic: true,
            start: InitialGuess::Target,
            rotation: Rotation::Cayley,
            ramp: None,
            chebyshev: None,
            lanes_per_body: 1,
            bound: false,
            collision: None,
        }
    }
}

impl VbdSettings {
    /// Checks ranges.
    ///
    /// # Errors
    /// [`BuildError::Settings`] naming the setting that is out of range.
    pub fn check(&self) -> Result<(), BuildError> {
        Options::check_lanes(self.lanes_per_body)?;
        let ramp = self.ramp.unwrap_or_default();
        let rho = self.chebyshev.unwrap_or(0.0);
        let positive = |x: f64| x.is_finite() && x > 0.0;
        let not_negative = |x: f64| x.is_finite() && x >= 0.0;
        let checks = [
            ("stiffness", self.stiffness.unwrap_or(1.0), positive(self.stiffness.unwrap_or(1.0))),
            ("stiffness_scale", self.stiffness_scale, positive(self.stiffness_scale)),
            (
                "contact_stiffness",
                self.contact_stiffness.unwrap_or(1.0),
                positive(self.contact_stiffness.unwrap_or(1.0)),
            ),
            (
                "contact_stiffness_scale",
                self.contact_stiffness_scale,
                positive(self.contact_stiffness_scale),
            ),
            ("contact_damping", self.contact_damping, not_negative(self.contact_damping)),
            ("chebyshev", rho, (0.0..1.0).contains(&rho)),
            ("friction_speed", self.friction_speed, positive(self.friction_speed)),
            ("ramp.beta", ramp.beta, not_negative(ramp.beta)),
            ("ramp.gamma", ramp.gamma, (0.0..=1.0).contains(&ramp.gamma)),
            ("ramp.k_start", ramp.k_start, not_negative(ramp.k_start)),
        ];
        match checks.into_iter().find(|(_, _, fine)| !fine) {
            Some((name, value, _)) => {
                Err(BuildError::Settings(format!("{name} is {value}, which is out of range")))
            }
            None => Ok(()),
        }
    }
}
