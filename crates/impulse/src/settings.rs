//! What can be set on the impulse solver.

use serde::{Deserialize, Serialize};
use taut_core::BuildError;
use taut_model::Precision;

/// Settings of the impulse solver. It has no constant that would have to fit a scene.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct ImpulseSettings {
    /// Arithmetic the solver runs in. Default `f64`.
    pub precision: Precision,
    /// What an iteration is. Default `substeps`.
    pub variant: Variant,
    /// How overlap is taken back. Default `soft` by sub-steps, `baumgarte` by `pgs`: the sweeps of one
    /// long step find the sag of soft contacts, which is `g dt^2` per weight borne.
    pub contact_stabilisation: Option<Stabilisation>,
    /// How errors of joints are taken back. Default `soft`.
    pub joint_stabilisation: Stabilisation,
    /// Frequency of soft contacts \[Hz\], in (0, inf\]; they are never stiffer than the sweeps of a
    /// sub-step (or step) keep stable, a fifth of its rate with one relaxation. Default `inf`, so stiff.
    pub contact_hertz: f64,
    /// Damping ratio of soft contacts \[1\], in [0, inf). Default 0.5.
    pub contact_damping: f64,
    /// Frequency of hard joints \[Hz\], likewise. Default `inf`.
    pub joint_hertz: f64,
    /// Damping ratio of hard joints \[1\], in [0, inf). Default 2.
    pub joint_damping: f64,
    /// Share of an error that `baumgarte` takes back per sub-step or step \[1\], in (0, 1\]. Default 0.2.
    pub baumgarte: f64,
    /// Overlap of contacts that `baumgarte` leaves, as a share of what a body falls in a sub-step or step
    /// from rest, `g h^2` \[1\], in [0, inf). Default 2.
    pub slop: f64,
    /// Largest speed at which overlapping bodies are pushed apart \[m/s\], in (0, inf\]. Default 3.
    pub push_speed_max: f64,
    /// Sweeps without bias after the motion of each sub-step or step. Default 1.
    pub relax: u32,
    /// Share of the last impulses that a step starts from \[1\], in [0, 1\]. Default 1.
    pub warm_start: f64,
    /// Slower approaches do not bounce \[m/s\], in [0, inf). Default 0.5.
    pub restitution_threshold: f64,
    /// Which friction impulses are allowed. Default `cone`.
    pub friction: FrictionShape,
    /// In which order contacts are visited. Default `coloured`.
    pub order: ContactOrder,
    /// Whether the gyroscopic torque counts. Default on.
    pub gyroscopic: bool,
}

/// What one iteration is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Variant {
    /// A sub-step of `dt / iterations` with one sweep (TGS, Macklin et al. 2019).
    #[default]
    Substeps,
    /// One of the sweeps of a single step (PGS, Catto 2005).
    Pgs,
}

/// How errors of position are taken back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stabilisation {
    /// By a damped spring of given frequency, integrated implicitly (Catto 2011).
    #[default]
    Soft,
    /// By a speed in proportion to the error (Baumgarte 1972).
    Baumgarte,
}

/// Which friction impulses are allowed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FrictionShape {
    /// Those within Coulomb's cone: the tangential impulse is clamped as a vector.
    #[default]
    Cone,
    /// Each of two tangents by itself: cheaper, and up to `sqrt(2)` stronger along the diagonals.
    Box,
}

/// In which order contacts are visited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ContactOrder {
    /// Colour by colour, four at once, no two of which share a moving body.
    #[default]
    Coloured,
    /// As the collision query lists them, sorted by pair.
    List,
}

impl Default for ImpulseSettings {
    fn default() -> Self {
        Self {
            precision: Precision::F64,
            variant: Variant::Substeps,
            contact_stabilisation: None,
            joint_stabilisation: Stabilisation::Soft,
            contact_hertz: f64::INFINITY,
            contact_damping: 0.5,
            joint_hertz: f64::INFINITY,
            joint_damping: 2.0,
            baumgarte: 0.2,
            slop: 2.0,
            push_speed_max: 3.0,
            relax: 1,
            warm_start: 1.0,
            restitution_threshold: 0.5,
            friction: FrictionShape::Cone,
            order: ContactOrder::Coloured,
            gyroscopic: true,
        }
    }
}

impl ImpulseSettings {
    /// With everything spelled out that depends on other settings.
    pub fn resolved(self) -> Self {
        let fitting = match self.variant {
            Variant::Substeps => Stabilisation::Soft,
            Variant::Pgs => Stabilisation::Baumgarte,
        };
        Self { contact_stabilisation: self.contact_stabilisation.or(Some(fitting)), ..self }
    }

    /// Checks ranges.
    ///
    /// # Errors
    /// [`BuildError::Settings`] naming the setting that is out of range.
    pub fn check(&self) -> Result<(), BuildError> {
        let positive = |x: f64| x > 0.0;
        let at_least_zero = |x: f64| x >= 0.0 && x.is_finite();
        check(["contact_hertz", "in (0, inf]"], self.contact_hertz, positive)?;
        check(["joint_hertz", "in (0, inf]"], self.joint_hertz, positive)?;
        check(["contact_damping", "in [0, inf)"], self.contact_damping, at_least_zero)?;
        check(["joint_damping", "in [0, inf)"], self.joint_damping, at_least_zero)?;
        check(["baumgarte", "in (0, 1]"], self.baumgarte, |x| x > 0.0 && x <= 1.0)?;
        check(["slop", "in [0, inf)"], self.slop, at_least_zero)?;
        check(["push_speed_max", "in (0, inf]"], self.push_speed_max, positive)?;
        check(["warm_start", "in [0, 1]"], self.warm_start, |x| (0.0..=1.0).contains(&x))?;
        let threshold = self.restitution_threshold;
        check(["restitution_threshold", "in [0, inf)"], threshold, at_least_zero)
    }
}

fn check(
    [name, range]: [&str; 2],
    value: f64,
    holds: impl Fn(f64) -> bool,
) -> Result<(), BuildError> {
    if holds(value) {
        return Ok(());
    }
    Err(BuildError::Settings(format!("{name} is {value} but must be {range}")))
}

#[cfg(test)]
mod tests {
    use taut_core::Settings;

    use super::*;

    #[test]
    fn bad_values_are_named() {
        let message = |text: &str| {
            let parsed = Settings::from_ron(text).parse::<ImpulseSettings>();
            parsed.and_then(|s| s.check()).unwrap_err().to_string()
        };
        assert!(message("(baumgarte: 2)").contains("baumgarte is 2 but must be in (0, 1]"));
        assert!(message("(contact_hertz: NaN)").contains("contact_hertz"));
        assert!(message("(variant: substep)").contains("did you mean `substeps`?"));
        assert!(message("(relx: 1)").contains("did you mean `relax`?"));
    }

    #[test]
    fn no_bound_on_stiffness_is_written_as_inf() {
        let text = ron::to_string(&ImpulseSettings::default()).unwrap();
        let again: ImpulseSettings = Settings::from_ron(text).parse().unwrap();
        assert_eq!(again, ImpulseSettings::default());
    }
}
