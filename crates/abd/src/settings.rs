//! What can be set.

use serde::{Deserialize, Serialize};

/// Settings of vanilla affine body dynamics.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct AbdSettings {
    /// Stiffness of bodies without elastic constants, as the speed of sound `sqrt(kappa/density)` [m/s],
    /// so that heavier bodies are stiffer in proportion. Above 0, default 1000: 1 GPa at 1000 kg/m^3. A
    /// body with Young's modulus E has `kappa = E/8`, the same stiffness against small strains.
    pub wave_speed: f64,
    /// Stiffness of a joint, in units of `(m_a + m_b)/h^2`. Above 0, default 100.
    pub joint_strength: f64,
    /// A Newton step of the frame below this, or of the position below this share of the body's size,
    /// ends the step [1]. Zero or more, default 1e-9.
    pub tolerance: f64,
}

impl Default for AbdSettings {
    fn default() -> Self {
        Self { wave_speed: 1000.0, joint_strength: 100.0, tolerance: 1e-9 }
    }
}

impl AbdSettings {
    /// What is wrong with the values.
    pub(crate) fn check(&self) -> Result<(), String> {
        let positive = [("wave_speed", self.wave_speed), ("joint_strength", self.joint_strength)];
        for (name, value) in positive {
            if !(value > 0.0 && value.is_finite()) {
                return Err(format!("{name}: expected a positive number, found {value}"));
            }
        }
        if self.tolerance >= 0.0 && self.tolerance.is_finite() {
            return Ok(());
        }
        Err(format!("tolerance: expected zero or more, found {}", self.tolerance))
    }
}
