//! Forces from outside that depend on time, as a scene states them; what they come to is [`crate::applied`].

use serde::{Deserialize, Serialize};

use crate::{formula::TimeFormula, math::Vec3, wire};

/// A force, a torque or an effort that acts whatever moves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AppliedForce {
    /// Unique name, possibly generated; may be empty.
    pub name: String,
    /// What acts where.
    pub kind: ForceKind,
}

/// What an [`AppliedForce`] is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ForceKind {
    /// A force on a point of a dynamic body.
    Force {
        /// The body, by its place in the scene.
        body: usize,
        /// The point, in body coordinates [m].
        #[serde(with = "wire::numbers")]
        at: Vec3,
        /// In world axes [N].
        force: [TimeFormula; 3],
    },
    /// A torque on a dynamic body.
    Torque {
        /// The body, by its place in the scene.
        body: usize,
        /// In world axes [N m].
        torque: [TimeFormula; 3],
    },
    /// What pushes the free coordinate of a hinge or slider up, on B, and on A the other way.
    Effort {
        /// The joint, by its place in the scene.
        joint: usize,
        /// [N m or N]
        effort: TimeFormula,
    },
}
