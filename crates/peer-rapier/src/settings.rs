//! What can be set on Rapier.

use serde::{Deserialize, Serialize};
use taut_core::BuildError;

/// Settings of Rapier. What is not given is as the preset has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct RapierSettings {
    /// Which parameters are used where nothing else is said. Default `default`.
    pub preset: Preset,
    /// Natural frequency of the springs that contacts are [Hz], positive; contacts with what does not move
    /// have twice as much, as in Rapier.
    pub contact_frequency_hz: Option<f64>,
    /// The same as a share of the rate of sub-steps [1], positive; it wins over the frequency.
    pub contact_frequency_share: Option<f64>,
    /// Their damping ratio [1], positive.
    pub contact_damping_ratio: Option<f64>,
    /// Passes over all constraints in a sub-step, at least 1.
    pub passes: Option<u32>,
    /// Whether joints start from the impulses of the step before.
    pub warmstart_joints: Option<bool>,
    /// How friction is solved.
    pub friction_model: Option<Friction>,
}

/// A choice of Rapier's `IntegrationParameters`. Step and number of sub-steps always come from the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Preset {
    /// As Rapier has them.
    #[default]
    Default,
    /// As they did best here, see [`RapierSettings::resolved`].
    Best,
}

/// How Rapier solves friction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Friction {
    /// Two rows and a twist at the middle of each manifold.
    Simplified,
    /// Two rows at every point.
    Coulomb,
}

impl RapierSettings {
    /// The same settings with nothing left open.
    ///
    /// The best preset differs in its contacts: they are as stiff as sub-steps allow. On `heavy-top`,
    /// `stack-ratio` and `pyramid44`, at 4 to 20 sub-steps, that is what lowered penetration without a
    /// gain of energy; more passes, friction at every point and warm-started joints did not pay there, on
    /// `friction-slide`, `bridge` or `chain50-swing`.
    pub fn resolved(self) -> Self {
        let (frequency_hz, share) = match self.preset {
            Preset::Default => (Some(30.0), None),
            Preset::Best => (None, Some(0.2)),
        };
        let given = self.contact_frequency_hz;
        Self {
            preset: self.preset,
            contact_frequency_hz: given.or(frequency_hz),
            contact_frequency_share: self
                .contact_frequency_share
                .or(share.filter(|_| given.is_none())),
            contact_damping_ratio: self.contact_damping_ratio.or(Some(10.0)),
            passes: self.passes.or(Some(1)),
            warmstart_joints: self.warmstart_joints.or(Some(false)),
            friction_model: self.friction_model.or(Some(Friction::Simplified)),
        }
    }

    /// Checks the ranges.
    ///
    /// # Errors
    ///
    /// [`BuildError::Settings`] naming the setting that is out of range.
    pub fn check(&self) -> Result<(), BuildError> {
        let numbers = [
            ("contact_frequency_hz", self.contact_frequency_hz),
            ("contact_frequency_share", self.contact_frequency_share),
            ("contact_damping_ratio", self.contact_damping_ratio),
            ("passes", self.passes.map(f64::from)),
        ];
        for (name, value) in numbers {
            if let Some(value) = value.filter(|x| !(*x > 0.0 && x.is_finite())) {
                let text = format!("{name} is {value} but must be positive and finite");
                return Err(BuildError::Settings(text));
            }
        }
        Ok(())
    }
}
