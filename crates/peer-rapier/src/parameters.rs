//! Settings as Rapier takes them.

use super::{
    super::rapier::dynamics::{FrictionModel, IntegrationParameters},
    real,
};
use crate::{Friction, RapierSettings};

/// Passes on what the settings say of sub-steps of length `h` [s]; the rest is as Rapier has it.
pub(super) fn apply(settings: RapierSettings, h: f64, parameters: &mut IntegrationParameters) {
    let settings = settings.resolved();
    let stepwise = settings.contact_frequency_share.map(|share| share / h);
    if let Some(frequency_hz) = stepwise.or(settings.contact_frequency_hz) {
        parameters.contact_softness.natural_frequency = real(frequency_hz);
        parameters.static_contact_softness.natural_frequency = real(2.0 * frequency_hz);
    }
    if let Some(ratio) = settings.contact_damping_ratio {
        parameters.contact_softness.damping_ratio = real(ratio);
        parameters.static_contact_softness.damping_ratio = real(ratio);
    }
    if let Some(passes) = settings.passes {
        parameters.num_internal_pgs_iterations = passes as usize;
    }
    if let Some(warm) = settings.warmstart_joints {
        parameters.warmstart_joints = warm;
    }
    if let Some(model) = settings.friction_model {
        parameters.friction_model = match model {
            Friction::Simplified => FrictionModel::Simplified,
            Friction::Coulomb => FrictionModel::Coulomb,
        };
    }
}
