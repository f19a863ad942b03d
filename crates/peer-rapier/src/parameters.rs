//! Parameters of Rapier that a preset changes.

use super::super::rapier::{
    dynamics::{FrictionModel, IntegrationParameters, SpringCoefficients},
    math::Real,
};
use crate::Preset;

/// Sets what the preset changes; the rest is as Rapier has it.
pub(super) fn apply(preset: Preset, parameters: &mut IntegrationParameters) {
    match preset {
        Preset::Default => {}
        Preset::Best => {
            parameters.friction_model = FrictionModel::Coulomb;
            parameters.warmstart_joints = true;
        }
    }
}

/// Softness of joints, where it is not Rapier's own.
pub(super) fn joint_softness(preset: Preset) -> Option<SpringCoefficients<Real>> {
    match preset {
        Preset::Default | Preset::Best => None,
    }
}
