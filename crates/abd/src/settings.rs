//! What can be set.

use serde::{Deserialize, Serialize};

/// Settings of vanilla affine body dynamics.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct AbdSettings {
    /// Stiffness of bodies without elastic constants, as the speed of sound `sqrt(kappa/density)` [m/s],
    /// so that heavier bodies are stiffer in proportion. Above 0, default 1000: 1 GPa at 1000 kg/m^3. A
    /// body with Young's modulus E has `kappa = E/8`, the same stiffness against small strains.
    pub wave_speed: f64,
    /// Stiffness of a joint, in units of `(m_a + m_b)/h^2`. Above 0, default 100.
    pub joint_strength: f64,
    /// A Newton step of the frame below this, or of the position below this share of the body's size,
    /// ends the step [1]. Zero or more, default 1e-9.
    pub tolerance: f64,
    /// How bodies that touch are kept apart. Default `ipc`; `none` lets them pass through each other.
    pub contact: ContactModel,
    /// Distance below which the barrier pushes [m]. Zero, the default, takes the scene's contact margin.
    pub d_hat: f64,
    /// Speed of the fastest vertex in a Newton step below which a step with contacts is solved, in lengths of a body
    /// per second [1/s]. Above 0, default 1e-3.
    pub speed_tolerance: f64,
    /// Share of `d_hat` that such a step may not exceed either [1]: within it the forces of contacts hardly change, unless
    /// weight presses bodies into the barrier by less than that. Normal forces of friction are those of the step's start: a block
    /// on a slope slides 1 % too slowly with the default, and as Coulomb's law has it with 1e-5. Above 0, default 1e-3.
    pub gap_tolerance: f64,
    /// Sliding speed below which friction is smooth, in lengths of a body per second [1/s]: what rests creeps by up to
    /// it. Above 0, default 1e-3.
    pub smooth_speed: f64,
    /// How the stiffness of the barrier is found. Default `least`.
    pub stiffness: StiffnessRule,
    /// How systems with contacts are made positive definite. Default `clamp`.
    pub projection: HessianProjection,
    /// Which systems Newton steps are solved with where there are contacts. Default `fresh`.
    pub hessian: HessianUse,
    /// Where the search for the end of a step with contacts begins. Default `not_above`.
    pub first_guess: FirstGuess,
    /// How often normal forces and tangents of friction are renewed in a step, at most: 1, the default, takes those of
    /// its start; more solve the step again with those of its end, until that changes nothing.
    pub friction_lags: u32,
    /// Sides of round surfaces. 3 or more, default 24.
    pub segments: u32,
    /// Whether every accepted iterate is checked exactly for intersections, which ends the run where there is one.
    /// On in builds with debug assertions, else off.
    pub certify: bool,
}

/// How bodies that touch are kept apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ContactModel {
    /// Not at all.
    None,
    /// By an incremental potential: surfaces never meet.
    #[default]
    Ipc,
}

/// How the stiffness of the barrier is found, from masses and lengths alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StiffnessRule {
    /// The least: it resists before distances vanish, and bears the heaviest body at half of the barrier's reach. It is
    /// the same in every step of one length, so that no energy comes in.
    #[default]
    Least,
    /// That which balances the barrier with all other forces when a step begins, from the least to a hundred times
    /// that (Li et al., "Incremental Potential Contact", TOG 2020). Where it rises while the barrier is strained, it
    /// does work.
    Balanced,
}

/// How systems with contacts are made positive definite. Those that are not projected count as indefinite, too, where
/// they lead more than twice as far as the iteration before, or than two bodies are long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HessianProjection {
    /// Not unless they have to be, and then by more mass: Newton's own step near a minimum.
    None,
    /// Negative eigenvalues are set to zero, contact by contact and body by body.
    #[default]
    Clamp,
    /// The same where the system is not positive definite as it is (Longva et al., "Pitfalls of Projection", 2023).
    OnDemand,
}

/// Which systems Newton steps are solved with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HessianUse {
    /// That of every iterate.
    #[default]
    Fresh,
    /// The last one that was factorised, of this step or one before, while steps are short beside `d_hat` and shrink from
    /// one to the next (Shamanskii, "A modification of Newton's method", 1967). Steps still end by the same lengths, and
    /// still lower the energy.
    Kept,
}

/// Where the search for the end of a step begins, from the pose at its start; contacts shorten the way there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FirstGuess {
    /// Where inertia and gravity take bodies.
    Inertia,
    /// The same with that share of gravity which the body followed in the step before: a body at rest begins where it
    /// is (Chen et al., "Vertex Block Descent", TOG 2024, section 3.7).
    Adaptive,
    /// As far towards that as the energy is not above that at the step's start, for each island of bodies that may meet: halved
    /// until it is not. From beyond a hill the search may end above, and what is above by more than bodies have of kinetic
    /// energy has come in. A search that begins at the last pose (Li et al., "Incremental Potential Contact", TOG 2020)
    /// never does.
    #[default]
    NotAbove,
}

impl Default for AbdSettings {
    fn default() -> Self {
        Self {
            wave_speed: 1000.0,
            joint_strength: 100.0,
            tolerance: 1e-9,
            contact: ContactModel::Ipc,
            d_hat: 0.0,
            speed_tolerance: 1e-3,
            gap_tolerance: 1e-3,
            smooth_speed: 1e-3,
            stiffness: StiffnessRule::Least,
            projection: HessianProjection::Clamp,
            hessian: HessianUse::Fresh,
            first_guess: FirstGuess::NotAbove,
            friction_lags: 1,
            segments: 24,
            certify: cfg!(debug_assertions),
        }
    }
}

impl AbdSettings {
    /// What is wrong with the values.
    pub(crate) fn check(&self) -> Result<(), String> {
        let positive = [
            ("wave_speed", self.wave_speed),
            ("joint_strength", self.joint_strength),
            ("speed_tolerance", self.speed_tolerance),
            ("gap_tolerance", self.gap_tolerance),
            ("smooth_speed", self.smooth_speed),
        ];
        for (name, value) in positive {
            if !(value > 0.0 && value.is_finite()) {
                return Err(format!("{name}: expected a positive number, found {value}"));
            }
        }
        for (name, value) in [("tolerance", self.tolerance), ("d_hat", self.d_hat)] {
            if !(value >= 0.0 && value.is_finite()) {
                return Err(format!("{name}: expected zero or more, found {value}"));
            }
        }
        if self.friction_lags < 1 {
            return Err("friction_lags: expected 1 or more, found 0".to_owned());
        }
        if self.segments < 3 {
            return Err(format!("segments: expected 3 or more, found {}", self.segments));
        }
        Ok(())
    }
}
