//! Kinds of joints as words, and what each may say.

use crate::{
    load::{
        author::{self, JointEntry},
        error::{At, Result, SceneError},
        expression::Scope,
    },
    scene::{JointKind, Limit, Motor},
};

/// The kinds as words, before their numbers are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JointWord {
    Ball,
    Hinge,
    Universal,
    Prismatic,
    Cylindrical,
    Fixed,
    Distance,
}

impl JointWord {
    pub(super) fn of(entry: &JointEntry) -> Option<(Self, &author::JointSpec)> {
        match entry {
            JointEntry::Ball(spec) => Some((Self::Ball, spec)),
            JointEntry::Hinge(spec) => Some((Self::Hinge, spec)),
            JointEntry::Universal(spec) => Some((Self::Universal, spec)),
            JointEntry::Prismatic(spec) => Some((Self::Prismatic, spec)),
            JointEntry::Cylindrical(spec) => Some((Self::Cylindrical, spec)),
            JointEntry::Fixed(spec) => Some((Self::Fixed, spec)),
            JointEntry::Distance(spec) => Some((Self::Distance, spec)),
            JointEntry::Attach(_) | JointEntry::Repeat(_) => None,
        }
    }

    pub(super) fn has_axis(self) -> bool {
        self.has_motor() || self == Self::Universal
    }

    pub(super) fn has_basis(self) -> bool {
        self.has_axis() || self == Self::Fixed
    }

    pub(super) fn has_motor(self) -> bool {
        matches!(self, Self::Hinge | Self::Prismatic | Self::Cylindrical)
    }

    pub(super) fn has_limit(self) -> bool {
        self.has_motor() || self == Self::Distance
    }

    /// A field that means nothing to this kind of joint is a mistake, not a wish to ignore.
    pub(super) fn check(self, spec: &author::JointSpec) -> Result<()> {
        let angular = self.has_basis();
        let linear = self != Self::Distance;
        let fields = [
            ("axis", spec.axis.is_some() && !self.has_axis()),
            ("axis_b", spec.axis_b.is_some() && self != Self::Universal),
            ("basis_a", spec.basis_a.is_some() && !angular),
            ("basis_b", spec.basis_b.is_some() && !angular),
            ("length", spec.length.is_some() && linear),
            ("compliance_angular", spec.compliance_angular.is_some() && !angular),
            ("limit", spec.limit.is_some() && !self.has_limit()),
            ("motor", spec.motor.is_some() && !self.has_motor()),
            ("damping", spec.damping.is_some() && !self.has_motor()),
            ("axis_b", self == Self::Universal && spec.axis.is_some() && spec.axis_b.is_none()),
        ];
        match fields.iter().find(|(_, wrong)| *wrong) {
            Some((field, _)) if self == Self::Universal && *field == "axis_b" => {
                Err(SceneError::new("expected B's axis, perpendicular to `axis`")).at(field)
            }
            Some((field, _)) => {
                let kind = format!("{self:?}").to_lowercase();
                Err(SceneError::new(format!("does not apply to a {kind} joint"))).at(field)
            }
            None => refuse_twice(spec),
        }
    }

    /// The kind with its length, whose default is how far the anchors are apart [m].
    pub(super) fn flat(
        self,
        spec: &author::JointSpec,
        apart: f64,
        scope: &Scope,
    ) -> Result<JointKind> {
        Ok(match self {
            Self::Ball => JointKind::Ball,
            Self::Hinge => JointKind::Hinge,
            Self::Universal => JointKind::Universal,
            Self::Prismatic => JointKind::Prismatic,
            Self::Cylindrical => JointKind::Cylindrical,
            Self::Fixed => JointKind::Fixed,
            Self::Distance => {
                JointKind::Distance { length: length(spec, apart, scope).at("length")? }
            }
        })
    }
}

/// What both bases say, an axis may say otherwise.
fn refuse_twice(spec: &author::JointSpec) -> Result<()> {
    let bases = spec.basis_a.is_some() && spec.basis_b.is_some();
    for (field, given) in [("axis", &spec.axis), ("axis_b", &spec.axis_b)] {
        if bases && given.is_some() {
            return Err(SceneError::new("`basis_a` and `basis_b` have it already")).at(field);
        }
    }
    Ok(())
}

fn length(spec: &author::JointSpec, apart: f64, scope: &Scope) -> Result<f64> {
    match &spec.length {
        Some(length) => length.positive(scope),
        None if apart > 0.0 => Ok(apart),
        // Bounds alone need no length.
        None if spec.limit.is_some() => Ok(0.0),
        None => Err(SceneError::new("the anchors coincide: expected a length, or a ball joint")),
    }
}

/// Bounds of the free coordinate.
pub(super) fn limit(
    spec: &author::JointSpec,
    kind: JointKind,
    scope: &Scope,
) -> Result<Option<Limit>> {
    let Some((lower, upper)) = &spec.limit else { return Ok(None) };
    let (lower, upper) = (lower.evaluate(scope)?, upper.evaluate(scope)?);
    if lower > upper {
        let message = format!("expected (lower, upper), found {lower} above {upper}");
        return Err(SceneError::new(message));
    }
    if matches!(kind, JointKind::Distance { .. }) && lower < 0.0 {
        return Err(SceneError::new(format!("a distance is never {lower}, expected zero or more")));
    }
    Ok(Some(Limit { lower, upper }))
}

/// Drive of the free coordinate.
pub(super) fn motor(spec: &author::JointSpec, scope: &Scope) -> Result<Option<Motor>> {
    let Some(motor) = &spec.motor else { return Ok(None) };
    let speed = motor.speed.evaluate(scope).at("speed")?;
    let max_effort = motor.max_effort.positive(scope).at("max_effort")?;
    Ok(Some(Motor { speed, max_effort }))
}
