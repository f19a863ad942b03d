//! What depends on time, as written: motions and forces.

use super::RotationSpec;
use crate::{
    load::expression::{Formula, Triple},
    scene::Motion,
};

/// Whether and how a body moves.
#[derive(Clone, Debug, Default, serde::Deserialize)]
#[serde(rename = "motion", rename_all = "snake_case", deny_unknown_fields)]
pub(in crate::load) enum MotionSpec {
    #[default]
    Dynamic,
    Static,
    Kinematic,
    /// Kinematic, where the time `t` says; what is left out does not change.
    Path {
        position: Option<Triple>,
        rotation: Option<RotationSpec>,
    },
}

impl MotionSpec {
    /// What forces may do to it.
    pub(in crate::load) fn kind(&self) -> Motion {
        match self {
            Self::Dynamic => Motion::Dynamic,
            Self::Static => Motion::Static,
            Self::Kinematic | Self::Path { .. } => Motion::Kinematic,
        }
    }
}

/// A force on a point of a body.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(rename = "force", deny_unknown_fields)]
pub(in crate::load) struct ForceSpec {
    #[serde(default)]
    pub(in crate::load) name: String,
    pub(in crate::load) on: String,
    /// In the coordinates of the shape as written [m]; the centre of mass unless given.
    pub(in crate::load) at: Option<Triple>,
    /// In world axes [N].
    pub(in crate::load) force: Triple,
}

/// A torque on a body.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(rename = "torque", deny_unknown_fields)]
pub(in crate::load) struct TorqueSpec {
    #[serde(default)]
    pub(in crate::load) name: String,
    pub(in crate::load) on: String,
    /// In world axes [N m].
    pub(in crate::load) torque: Triple,
}

/// What pushes the free coordinate of a joint.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(rename = "effort", deny_unknown_fields)]
pub(in crate::load) struct EffortSpec {
    #[serde(default)]
    pub(in crate::load) name: String,
    /// The name of a hinge or slider.
    pub(in crate::load) joint: String,
    /// On B along the coordinate [N m or N].
    pub(in crate::load) effort: Formula,
}
