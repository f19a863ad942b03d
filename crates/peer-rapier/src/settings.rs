//! What can be set on Rapier.

use serde::{Deserialize, Serialize};

/// Settings of Rapier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct RapierSettings {
    /// Which of its parameters are used. Default `default`.
    pub preset: Preset,
}

/// A choice of Rapier's `IntegrationParameters`. Step and number of sub-steps always come from the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Preset {
    /// As Rapier has them.
    #[default]
    Default,
    /// As they did best on `heavy-top`, `stack-ratio` and `pyramid44`.
    Best,
}
