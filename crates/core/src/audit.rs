//! What an engine says that it compiled, beside the scene that it was given.

use serde::Serialize;

/// What remains to be told of an engine whose own arrays agree with the scene, or depart from it for a stated reason.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AuditFacts {
    /// Tolerances, counts and switches in force under the engine's own names, as RON text.
    pub effective: String,
    /// How the engine holds joints, each law once, in its own words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub laws: Vec<String>,
    /// Where it departs from the scene, with the reason.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub deviations: Vec<String>,
    /// What it does not tell, so that nobody could compare it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub untold: Vec<String>,
}

impl AuditFacts {
    /// What stands beside the status of a row; empty where all was told and agrees.
    pub fn mark(&self) -> &'static str {
        match (self.deviations.is_empty(), self.untold.is_empty()) {
            (true, true) => "",
            (false, _) => ", deviates",
            (true, false) => ", partly audited",
        }
    }
}
