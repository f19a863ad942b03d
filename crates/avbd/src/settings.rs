//! What can be set on the AVBD solver, and the profiles that set it.

use serde::{Deserialize, Serialize};
use taut_core::BuildError;
use taut_descent::{Collision, InertiaFrame, InitialGuess, Options};
use taut_model::{Order, Precision, Rotation};

/// Settings as given; whatever is left out comes from the profile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AvbdSettings {
    /// Where defaults come from. Default `robust`.
    pub profile: Profile,
    /// See [`Resolved::precision`].
    pub precision: Option<Precision>,
    /// See [`Resolved::order`].
    pub order: Option<Order>,
    /// See [`Resolved::alpha`].
    pub alpha: Option<f64>,
    /// See [`Resolved::gamma`].
    pub gamma: Option<f64>,
    /// See [`Resolved::beta`]: a number sets the absolute rate, overriding the mass-scaled one.
    pub beta: Option<f64>,
    /// See [`Resolved::beta_angular`]: a number sets the absolute rate.
    pub beta_angular: Option<f64>,
    /// See [`Resolved::beta_scale`].
    pub beta_scale: Option<f64>,
    /// See [`Resolved::load_scale`].
    pub load_scale: Option<f64>,
    /// See [`Resolved::k_start`]: a number sets the absolute stiffness.
    pub k_start: Option<f64>,
    /// See [`Resolved::k_start_scale`].
    pub k_start_scale: Option<f64>,
    /// See [`Resolved::carried_scale`].
    pub carried_scale: Option<f64>,
    /// See [`Resolved::k_max`]: a number sets the absolute cap.
    pub k_max: Option<f64>,
    /// See [`Resolved::k_max_scale`].
    pub k_max_scale: Option<f64>,
    /// See [`Resolved::time_unit`].
    pub time_unit: Option<TimeUnit>,
    /// See [`Resolved::scheme`].
    pub scheme: Option<Scheme>,
    /// See [`Resolved::rho_scale`].
    pub rho_scale: Option<f64>,
    /// See [`Resolved::isotropic`].
    pub isotropic: Option<bool>,
    /// See [`Resolved::spring_ramp`].
    pub spring_ramp: Option<bool>,
    /// See [`Resolved::element_ramp`].
    pub element_ramp: Option<bool>,
    /// See [`Resolved::curvature`].
    pub curvature: Option<bool>,
    /// See [`Resolved::spring_curvature`].
    pub spring_curvature: Option<bool>,
    /// See [`Resolved::rescaling`].
    pub rescaling: Option<bool>,
    /// See [`Resolved::post_stabilisation`].
    pub post_stabilisation: Option<bool>,
    /// See [`Resolved::start`].
    pub start: Option<InitialGuess>,
    /// See [`Resolved::rotation`].
    pub rotation: Option<Rotation>,
    /// See [`Resolved::inertia`].
    pub inertia: Option<InertiaFrame>,
    /// See [`Resolved::gyroscopic`].
    pub gyroscopic: Option<bool>,
    /// See [`Resolved::angular_rows`].
    pub angular_rows: Option<AngularRowsSetting>,
    /// See [`Resolved::contacts`].
    pub contacts: Option<ContactStyle>,
    /// See [`Resolved::contact_hessian`].
    pub contact_hessian: Option<ContactHessian>,
    /// See [`Resolved::lanes_per_body`].
    pub lanes_per_body: Option<u32>,
    /// See [`Resolved::bound`].
    pub bound: Option<bool>,
    /// See [`Resolved::collision`].
    pub collision: Option<Collision>,
    /// See [`Resolved::open_gap`].
    pub open_gap: Option<f64>,
}

/// A named set of defaults.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Profile {
    /// Mass-scaled starting stiffness and ramp, so that units and densities do not matter.
    #[default]
    Robust,
    /// The paper's constants in metres, kilograms and seconds.
    Paper,
    /// The same with the step as the unit of time of `beta`: 10 kg/(m h^2), which is 36,000 N/m^2 with 60 steps a second.
    /// The paper names no units; with these its Figs. 8 and 15 come out.
    PaperScaled,
    /// The official 3D demo, quirks included.
    Demo3d,
    /// Automatic penalty in series with the material: no ramp, no starting stiffness.
    Compliant,
}

/// The time in which a growth of stiffness is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TimeUnit {
    /// The second.
    Second,
    /// The length of a step, or of a sub-step.
    Step,
}

/// How stiffness and multipliers are updated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Scheme {
    /// Hard rows by a multiplier and a growing stiffness, soft rows by a stiffness growing up to the
    /// material's (Eq. 11, 12, 16).
    Ramp,
    /// A fixed penalty in series with the material stiffness, with a multiplier for both.
    Series,
}

/// Which rows lock relative rotations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AngularRowsSetting {
    /// The common model, with a rest pose.
    RestPose,
    /// The official 3D demo's: no rest pose, levered by the squared size.
    Demo3d,
}

/// How contacts are found and which of their rows are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ContactStyle {
    /// As for every backend: gap zero is touching, an open gap may close within the step.
    Common,
    /// The official 3D demo's: its own points on boxes, a rest overlap of a margin, arms that turn.
    Demo3d,
}

/// Stiffness of a sliding contact along its tangents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ContactHessian {
    /// As if it did not slide: the paper's simple option.
    Full,
    /// Scaled down to what would just reach the cone (Eq. 14), along both tangents.
    Rescaled,
    /// The same along the direction of sliding only; across it the point stays as stiff as it was.
    SlipDirection,
}

/// Settings in force.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Resolved {
    /// Where defaults came from.
    pub profile: Profile,
    /// Arithmetic; `f64` in all profiles.
    pub precision: Precision,
    /// Visiting order of the primal sweep; `coloured`, in `demo3d` `reverse_creation`.
    pub order: Order,
    /// Share of the error at the step's start that is not corrected, in \[0, 1\] (Eq. 18).
    pub alpha: f64,
    /// Share of stiffness and multiplier kept from step to step, in \[0, 1\] (Eq. 19).
    pub gamma: f64,
    /// Stiffness growth per error [N/m^2]; `None` where [`Self::beta_scale`] rules (Eq. 12).
    pub beta: Option<f64>,
    /// Stiffness growth per angular error [N m/rad^2]; `None` where [`Self::beta_scale`] rules.
    pub beta_angular: Option<f64>,
    /// Growth in units of effective mass over squared step and length [1]: `beta = scale m/(h^2 L)`.
    pub beta_scale: f64,
    /// Growth in units of the row's own force over squared length [1]: `beta += scale |F|/L^2`. It
    /// lets a joint that carries far more than its bodies weigh stiffen within a few steps. In the
    /// `series` scheme `rho += scale |F|/L` with the force of the step before.
    pub load_scale: f64,
    /// Starting stiffness [N/m or N m/rad]; `None` where [`Self::k_start_scale`] rules (Eq. 10).
    pub k_start: Option<f64>,
    /// Starting stiffness in units of effective mass over squared step [1].
    pub k_start_scale: f64,
    /// Starting stiffness of a hard joint that holds positions, in units of the mass that hangs on it
    /// over squared frame [1], where that is more. Without it a heavy load falls for a while until its
    /// joints have noticed; per substep instead of per frame it would outgrow what few sweeps solve.
    pub carried_scale: f64,
    /// Largest stiffness [N/m or N m/rad]; `None` where [`Self::k_max_scale`] rules.
    pub k_max: Option<f64>,
    /// Largest stiffness in units of effective mass over squared step [1].
    pub k_max_scale: f64,
    /// In which time `beta` and `beta_angular` are told: with `step`, a `beta` of 10 is 10 kg/(m h^2).
    pub time_unit: TimeUnit,
    /// How stiffness and multipliers are updated.
    pub scheme: Scheme,
    /// Penalty of the `series` scheme in units of effective mass over squared step [1].
    pub rho_scale: f64,
    /// One stiffness for the rows of a block instead of one per world axis, which would not turn
    /// with the joint.
    pub isotropic: bool,
    /// Whether springs ramp their stiffness (Eq. 16) instead of using the material's at once.
    pub spring_ramp: bool,
    /// Whether triangles and tetrahedra ramp their stiffness (Eq. 16), too. Off in all profiles.
    pub element_ramp: bool,
    /// Whether joints' second derivatives are lumped into the Hessian (section 3.5).
    pub curvature: bool,
    /// The same for springs.
    pub spring_curvature: bool,
    /// Whether clamped rows lower their stiffness (Eq. 14).
    pub rescaling: bool,
    /// Whether existing error is corrected by a last sweep after velocities are taken.
    pub post_stabilisation: bool,
    /// Where iterations start.
    pub start: InitialGuess,
    /// How rotation vectors and rotations are exchanged.
    pub rotation: Rotation,
    /// In which axes the inertia tensor is used.
    pub inertia: InertiaFrame,
    /// Whether the inertial target includes the gyroscopic torque.
    pub gyroscopic: bool,
    /// Which rows lock relative rotations.
    pub angular_rows: AngularRowsSetting,
    /// How contacts are found and which of their rows are kept.
    pub contacts: ContactStyle,
    /// Stiffness of a sliding contact along its tangents.
    pub contact_hessian: ContactHessian,
    /// Gap beyond which a point without multiplier has no stiffness, none along its normal unless it has
    /// pressed in the step; in units of what can close within a step: free fall through one step, or a
    /// fifth of the contact margin where that is more \[1\].
    /// Stiffness where nothing presses slows bodies down within an iteration. That keeps points that open
    /// and close calm, but neighbours that come and go at the edge of the margin would not let a heap
    /// rest. `inf`: every point keeps its stiffness, as in the paper.
    pub open_gap: f64,
    /// Partial sums over the elements and contacts of a body that has at least twice as many, a power of two up to
    /// 64; 1 in all profiles: one after the other. On a graphics adapter as many invocations share such a body; on
    /// the CPU the sums are the same, so that both give the same bits.
    pub lanes_per_body: u32,
    /// Whether particles move no farther in an iteration than 0.45 of their least distance to triangles and edges of
    /// others, so that none can pass through; in no profile. On the CPU only.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub bound: bool,
    /// Where `avbd-gpu` searches for contacts: on the device wherever its shaders know all shapes of the scene;
    /// `host` gives the bits of the CPU.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub collision: Option<Collision>,
}

impl AvbdSettings {
    /// Fills in the profile and checks ranges.
    ///
    /// # Errors
    /// [`BuildError::Settings`] naming the setting that is out of range.
    pub fn resolve(&self) -> Result<Resolved, BuildError> {
        let base = self.profile.defaults();
        let resolved = Resolved {
            profile: self.profile,
            precision: self.precision.unwrap_or(base.precision),
            order: self.order.unwrap_or(base.order),
            alpha: self.alpha.unwrap_or(base.alpha),
            gamma: self.gamma.unwrap_or(base.gamma),
            beta: overridden(self.beta, self.beta_scale, base.beta),
            beta_angular: overridden(self.beta_angular, self.beta_scale, base.beta_angular),
            beta_scale: self.beta_scale.unwrap_or(base.beta_scale),
            load_scale: self.load_scale.unwrap_or(base.load_scale),
            k_start: overridden(self.k_start, self.k_start_scale, base.k_start),
            k_start_scale: self.k_start_scale.unwrap_or(base.k_start_scale),
            carried_scale: self.carried_scale.unwrap_or(base.carried_scale),
            k_max: overridden(self.k_max, self.k_max_scale, base.k_max),
            k_max_scale: self.k_max_scale.unwrap_or(base.k_max_scale),
            time_unit: self.time_unit.unwrap_or(base.time_unit),
            scheme: self.scheme.unwrap_or(base.scheme),
            rho_scale: self.rho_scale.unwrap_or(base.rho_scale),
            isotropic: self.isotropic.unwrap_or(base.isotropic),
            spring_ramp: self.spring_ramp.unwrap_or(base.spring_ramp),
            element_ramp: self.element_ramp.unwrap_or(base.element_ramp),
            curvature: self.curvature.unwrap_or(base.curvature),
            spring_curvature: self.spring_curvature.unwrap_or(base.spring_curvature),
            rescaling: self.rescaling.unwrap_or(base.rescaling),
            post_stabilisation: self.post_stabilisation.unwrap_or(base.post_stabilisation),
            start: self.start.unwrap_or(base.start),
            rotation: self.rotation.unwrap_or(base.rotation),
            inertia: self.inertia.unwrap_or(base.inertia),
            gyroscopic: self.gyroscopic.unwrap_or(base.gyroscopic),
            angular_rows: self.angular_rows.unwrap_or(base.angular_rows),
            contacts: self.contacts.unwrap_or(base.contacts),
            contact_hessian: self.contact_hessian.unwrap_or(base.contact_hessian),
            open_gap: self.open_gap.unwrap_or(base.open_gap),
            lanes_per_body: self.lanes_per_body.unwrap_or(base.lanes_per_body),
            bound: self.bound.unwrap_or(base.bound),
            collision: self.collision,
        };
        resolved.check()?;
        Ok(resolved)
    }
}

/// An absolute value wins, then a scale given by the user switches the profile's absolute value off.
fn overridden(absolute: Option<f64>, scale: Option<f64>, base: Option<f64>) -> Option<f64> {
    absolute.or(if scale.is_some() { None } else { base })
}

impl Resolved {
    /// Share of the error at a step's start that its iterations leave (Eq. 18).
    pub(crate) fn kept(&self) -> f64 {
        if self.post_stabilisation { 1.0 } else { self.alpha }
    }

    /// With the growth of stiffness in seconds, for steps of length `h` \[s\].
    pub(crate) fn in_seconds(self, h: f64) -> Self {
        let scaled = |value: Option<f64>| match self.time_unit {
            TimeUnit::Second => value,
            TimeUnit::Step => value.map(|value| value / (h * h)),
        };
        Self {
            beta: scaled(self.beta),
            beta_angular: scaled(self.beta_angular),
            time_unit: TimeUnit::Second,
            ..self
        }
    }

    fn check(&self) -> Result<(), BuildError> {
        Options::check_lanes(self.lanes_per_body)?;
        let share = 0.0..=1.0;
        let optional = [
            ("beta", self.beta),
            ("beta_angular", self.beta_angular),
            ("k_start", self.k_start),
            ("k_max", self.k_max),
        ];
        let scales = [
            ("beta_scale", self.beta_scale),
            ("load_scale", self.load_scale),
            ("k_start_scale", self.k_start_scale),
            ("carried_scale", self.carried_scale),
            ("k_max_scale", self.k_max_scale),
            ("rho_scale", self.rho_scale),
        ];
        let wrong = |name: &str, value: f64, range: &str| {
            Err(BuildError::Settings(format!("{name} is {value} but must be {range}")))
        };
        for (name, value) in [("alpha", self.alpha), ("gamma", self.gamma)] {
            if !share.contains(&value) {
                return wrong(name, value, "in [0, 1]");
            }
        }
        if self.open_gap.is_nan() || self.open_gap < 0.0 {
            return wrong("open_gap", self.open_gap, "not negative");
        }
        let given = optional.iter().filter_map(|&(name, value)| Some((name, value?)));
        for (name, value) in given.chain(scales) {
            if !(value.is_finite() && value >= 0.0) {
                return wrong(name, value, "finite and not negative");
            }
        }
        Ok(())
    }
}

impl Resolved {
    /// Without what the project adds.
    fn as_published(self) -> Self {
        Self {
            isotropic: false,
            load_scale: 0.0,
            carried_scale: 0.0,
            rescaling: false,
            rotation: Rotation::Published,
            gyroscopic: false,
            contact_hessian: ContactHessian::Full,
            open_gap: f64::INFINITY,
            ..self
        }
    }

    /// With the constants of the paper's Table 2; it gives no starting and no largest stiffness.
    fn of_the_paper(self) -> Self {
        Self {
            beta: Some(10.0),
            beta_angular: Some(10.0),
            k_start: Some(1.0),
            k_max: Some(1e10),
            ..self
        }
    }
}

impl Profile {
    fn defaults(self) -> Resolved {
        let robust = Resolved {
            profile: self,
            precision: Precision::F64,
            order: Order::Coloured,
            alpha: 0.95,
            gamma: 0.99,
            beta: None,
            beta_angular: None,
            beta_scale: 28.0,
            load_scale: 1.0,
            k_start: None,
            k_start_scale: 1.0,
            carried_scale: 0.1,
            k_max: None,
            k_max_scale: 1e9,
            time_unit: TimeUnit::Second,
            scheme: Scheme::Ramp,
            rho_scale: 1.0,
            isotropic: true,
            spring_ramp: true,
            element_ramp: false,
            curvature: true,
            spring_curvature: true,
            rescaling: true,
            post_stabilisation: false,
            start: InitialGuess::Adaptive,
            rotation: Rotation::Cayley,
            inertia: InertiaFrame::World,
            gyroscopic: true,
            angular_rows: AngularRowsSetting::RestPose,
            contacts: ContactStyle::Common,
            contact_hessian: ContactHessian::SlipDirection,
            open_gap: 1.0,
            lanes_per_body: 1,
            bound: false,
            collision: None,
        };
        let published = robust.as_published();
        let paper = published.of_the_paper();
        match self {
            Self::Robust => robust,
            Self::Paper => paper,
            Self::PaperScaled => Resolved { time_unit: TimeUnit::Step, ..paper },
            Self::Demo3d => Resolved {
                order: Order::ReverseCreation,
                alpha: 0.99,
                gamma: 0.999,
                beta: Some(1e4),
                beta_angular: Some(100.0),
                k_start: Some(1.0),
                k_max: Some(1e10),
                spring_ramp: false,
                spring_curvature: false,
                inertia: InertiaFrame::Body,
                angular_rows: AngularRowsSetting::Demo3d,
                contacts: ContactStyle::Demo3d,
                ..published
            },
            // The published choice, alpha 0, gamma 0.999 and a penalty of one reduced mass per squared
            // step, gains energy without bound where a load is much heavier than the links it hangs
            // on: the multiplier then integrates the error from step to step, undamped.
            Self::Compliant => {
                Resolved { scheme: Scheme::Series, rho_scale: 10.0, load_scale: 0.0, ..robust }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use taut_core::Settings;

    use super::*;

    fn resolve(text: &str) -> Result<Resolved, BuildError> {
        Settings::from_ron(text).parse::<AvbdSettings>()?.resolve()
    }

    #[test]
    fn explicit_keys_win_over_the_profile() {
        let settings = resolve("(profile: demo3d, precision: f32, beta: 5)").unwrap();
        assert_eq!(settings.order, Order::ReverseCreation);
        assert_eq!((settings.beta, settings.beta_angular), (Some(5.0), Some(100.0)));
        assert_eq!(settings.precision, Precision::F32);
        assert_eq!(resolve("(profile: demo3d, beta_scale: 3)").unwrap().beta, None);
    }

    #[test]
    fn constants_per_step_grow_as_the_step_shrinks() {
        let scaled = resolve("(profile: paper_scaled)").unwrap();
        assert_eq!(scaled.beta, Some(10.0));
        let second = scaled.in_seconds(0.5);
        assert_eq!((second.beta, second.beta_angular), (Some(40.0), Some(40.0)));
        assert_eq!((second.k_start, second.k_max), (scaled.k_start, scaled.k_max));
        assert_eq!(second, second.in_seconds(0.1), "told in seconds already");
        let of_masses = resolve("(profile: paper_scaled, beta_scale: 3)").unwrap();
        assert_eq!(of_masses.in_seconds(0.5).beta, None, "a scale has no unit");
    }

    #[test]
    fn bad_values_are_named() {
        let message = |text: &str| resolve(text).unwrap_err().to_string();
        assert!(message("(alpha: 1.5)").contains("alpha is 1.5 but must be in [0, 1]"));
        assert!(message("(gamma: NaN)").contains("gamma"));
        assert!(message("(beta: -1)").contains("beta is -1"));
        for lanes in ["0", "3", "128"] {
            let message = message(&format!("(lanes_per_body: {lanes})"));
            assert!(message.contains("power of two up to 64"), "{message}");
        }
        assert!(message("(betta: 1)").contains("did you mean `beta`?"));
    }
}
