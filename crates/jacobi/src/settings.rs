//! What can be set on the Jacobi solver.

use serde::{Deserialize, Serialize};
use taut_core::BuildError;
use taut_model::Precision;

/// Settings of the Jacobi solver.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct JacobiSettings {
    /// Arithmetic the solver runs in. Default `f64` on the CPU; always `f32` on an adapter.
    pub precision: Option<Precision>,
    /// What is done about the drift of positions, which the constraint on velocities does not see.
    /// Default `none`, as published.
    pub drift: Drift,
    /// Share of each multiplier's correction that is taken \[1\], in (0, 2). Default 1, as published. Bodies
    /// with many joints need less: all their joints correct the same motion at once.
    pub relaxation: f64,
    /// What the multipliers of the step before are used for. Default `on`.
    pub warm_start: WarmStart,
    /// Whether free rotation feels the gyroscopic torque, which the document leaves out. Default on; it
    /// vanishes for balls and cubes.
    pub gyroscopic: bool,
}

/// What is done about the drift of positions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Drift {
    /// Nothing, as published.
    #[default]
    None,
    /// Joints aim at a velocity that takes away this share of the error within the step \[1\], in (0, 1\]
    /// (Baumgarte).
    Baumgarte(f64),
}

/// What the multipliers of the step before are used for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WarmStart {
    /// Nothing: every step starts without forces.
    Off,
    /// The step starts with them, and with the velocities that they lead to (Eq. 5).
    #[default]
    On,
    /// The step starts with them, but with free velocities, as in the document's listing: the first
    /// iteration corrects again what they already hold, so they count twice.
    Listing,
}

impl Default for JacobiSettings {
    fn default() -> Self {
        Self {
            precision: None,
            drift: Drift::None,
            relaxation: 1.0,
            warm_start: WarmStart::On,
            gyroscopic: true,
        }
    }
}

impl JacobiSettings {
    /// Checks ranges.
    ///
    /// # Errors
    /// [`BuildError::Settings`] naming the setting that is out of range.
    pub fn check(&self) -> Result<(), BuildError> {
        let wrong = |name: &str, value: f64, range: &str| {
            Err(BuildError::Settings(format!("{name} is {value} but must be in {range}")))
        };
        let converges = self.relaxation > 0.0 && self.relaxation < 2.0;
        if !converges {
            return wrong("relaxation", self.relaxation, "(0, 2)");
        }
        match self.drift {
            Drift::Baumgarte(share) if share > 0.0 && share <= 1.0 => Ok(()),
            Drift::Baumgarte(share) => wrong("drift", share, "(0, 1]"),
            Drift::None => Ok(()),
        }
    }

    /// Share of the error that a step is to take away \[1\].
    pub(crate) fn share(&self) -> f64 {
        match self.drift {
            Drift::None => 0.0,
            Drift::Baumgarte(share) => share,
        }
    }
}
