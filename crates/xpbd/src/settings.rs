//! What can be set on the XPBD solver.

use serde::{Deserialize, Serialize};
use taut_core::BuildError;
use taut_model::{Order, Precision, Rotation};

/// Settings of the XPBD solver. It has no constant that would have to fit a scene.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct XpbdSettings {
    /// Arithmetic the solver runs in. Default `f64`.
    pub precision: Precision,
    /// What an iteration is. Default `substeps`.
    pub mode: Mode,
    /// In which order joints and springs are corrected. Default `coloured`.
    pub order: Order,
    /// How the three rows of a point are corrected. Default `direction`.
    pub blocks: PointRule,
    /// In which order the rows of one joint are corrected in a sub-step. Default `symmetric`, a departure.
    pub rows: RowOrder,
    /// How angular velocities and rotations are exchanged. Default `published`, by which free spin
    /// decays by the share `(h omega)^2 / 8` in each step or sub-step `h`; `cayley` keeps it.
    pub rotation: Rotation,
    /// Whether the prediction includes the gyroscopic torque. Default on.
    pub gyroscopic: bool,
    /// How friction is found. Default `net`, a departure; every default but this and `rows` is as published.
    pub friction: FrictionRule,
    /// Factor on every correction [1], in (0, 2). Default 1, the plain Gauss-Seidel step.
    pub relaxation: f64,
}

/// What one iteration is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// A sub-step of `dt / iterations` with one sweep over the joints (Macklin et al. 2019).
    #[default]
    Substeps,
    /// One of the sweeps of a single step; multipliers start at zero (Macklin et al. 2016).
    Iterations,
}

/// How the rows that hold two points together are corrected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PointRule {
    /// Along the error, with one generalised inverse mass (Müller et al. 2020).
    #[default]
    Direction,
    /// All three rows at once by their 3x3 matrix, exact for one joint up to second order.
    Matrix,
}

/// In which order the blocks of one joint are corrected in a sub-step: rotations, motor, limit, points.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RowOrder {
    /// There, and back again to the first. See the crate's documentation.
    #[default]
    Symmetric,
    /// Each once (Müller et al. 2020). Two hinges in series then gain energy without bound, the faster the
    /// shorter the sub-steps.
    Forward,
}

/// How friction is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FrictionRule {
    /// As published, but points of a patch share its load evenly and hold as long as the patch does,
    /// what sticks is held where it began to stick, and both passes together stay within the cone
    /// over the normal impulse of both.
    #[default]
    Net,
    /// Static friction holds positions against the start of each step or sub-step, all or nothing;
    /// dynamic friction slows velocities, also where a point sticks; and each has the whole cone over
    /// the normal multiplier of the position pass (Müller et al. 2020). What a sweep leaves over is
    /// forgotten and points that cannot hold alone let go, so that bodies at rest creep, on inclines by
    /// about `g h`; and what slides is braked by an amount that depends on the order of its points.
    Published,
}

impl Default for XpbdSettings {
    fn default() -> Self {
        Self {
            precision: Precision::F64,
            mode: Mode::Substeps,
            order: Order::Coloured,
            blocks: PointRule::Direction,
            rows: RowOrder::Symmetric,
            rotation: Rotation::Published,
            gyroscopic: true,
            friction: FrictionRule::Net,
            relaxation: 1.0,
        }
    }
}

impl XpbdSettings {
    /// Checks ranges.
    ///
    /// # Errors
    /// [`BuildError::Settings`] naming the setting that is out of range.
    pub fn check(&self) -> Result<(), BuildError> {
        let relaxation = self.relaxation;
        if relaxation > 0.0 && relaxation < 2.0 {
            return Ok(());
        }
        Err(BuildError::Settings(format!("relaxation is {relaxation} but must be in (0, 2)")))
    }
}

#[cfg(test)]
mod tests {
    use taut_core::Settings;

    use super::*;

    #[test]
    fn defaults_are_the_published_method() {
        let settings: XpbdSettings = Settings::default().parse().unwrap();
        assert_eq!(settings, XpbdSettings::default());
        assert_eq!(settings.mode, Mode::Substeps);
        assert_eq!(
            (settings.blocks, settings.rotation),
            (PointRule::Direction, Rotation::Published)
        );
    }

    #[test]
    fn bad_values_are_named() {
        let message = |text: &str| {
            let parsed = Settings::from_ron(text).parse::<XpbdSettings>();
            parsed.and_then(|s| s.check()).unwrap_err().to_string()
        };
        assert!(message("(relaxation: 2)").contains("relaxation is 2 but must be in (0, 2)"));
        assert!(message("(relaxation: NaN)").contains("relaxation"));
        assert!(message("(mode: substep)").contains("did you mean `substeps`?"));
        assert!(message("(relaxtion: 1)").contains("did you mean `relaxation`?"));
    }
}
