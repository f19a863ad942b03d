//! What can be set on the solver of affine bodies.

use serde::{Deserialize, Serialize};
use taut_core::BuildError;

/// Settings of the solver of affine bodies.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct MabdSettings {
    /// How a step is made. Default `one_step`.
    pub integrator: Integrator,
    /// How the rotation of a body is found. Default `exact`.
    pub polar: Polar,
    /// Stiffness that tension gives to a body in the local inverse. Default `diagonal(0.25)`.
    pub geometric: Geometric,
    /// How the joint forces are found. Default `auto`.
    pub dual: Dual,
    /// How a body's own spin is predicted. Default `tangent`.
    pub spin: SpinPrediction,
    /// A step in which turning stretches a body by more than this [1], beyond what its material gives way, is made
    /// again in parts, which are as long as they may be and at least an eighth of it, or one of 32 beside contacts.
    /// Positive; `inf` lets every step pass. Default 0.02.
    pub stretch_limit: f64,
    /// Stiffness of contacts in units of the pair's reduced mass over the squared step [1]. Positive, at most 1e9. What
    /// rests by its own weight sinks in by `g h^2` over this, and what bears others by as much more as these are heavier.
    /// Limits and motors of joints beside contacts are a thousand times as stiff. Default 1000.
    pub contact_stiffness_scale: f64,
    /// Stiffness with which what sticks is held to where it began to, in the same units [1]. Positive. Steps with many
    /// contacts take fewer rounds where it is low. At most 1e9. Default 30.
    pub friction_stiffness_scale: f64,
    /// Largest speed at which what has sunk in is pushed out [m/s]: it keeps it, since velocities are those of positions.
    /// What a step may not push out is no gap to that step. Positive. Default 1.
    pub push_speed_max: f64,
    /// Largest joint error that iterative dual solvers leave [m]. Positive. Default 2e-10.
    pub tolerance: f64,
    /// Where there is elastic material or particles touch: a step is solved once an iteration moves nothing further, and
    /// joints were not further open [m]. Positive. Default 1e-6.
    pub elastic_tolerance: f64,
    /// Softness of bodies stated as rigid where joints close loops, in units of what their inertia lets
    /// give way within a step [1]. Taut nets of strictly rigid bodies bear a load only by forces without
    /// bound: what rounding makes of those opens joints, and closing them adds energy. From 0, which is
    /// strictly rigid, to 1. Default 1e-9.
    pub rigid_softness: f64,
    /// Most inner iterations of an iterative dual solver. At least 1. Default 1000.
    pub dual_iterations: u32,
    /// Whether the errors of hard joint rows stand on the right-hand side (`-C` in Eq. 26). Off, as the paper
    /// displays it, what a step leaves open stays open and adds up. Default on.
    pub feedback: bool,
    /// Whether ball joints take the general path of all joints, to compare with. Default off.
    pub general: bool,
}

/// How a step is made. Iteration count and starting point are part of the physics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Integrator {
    /// One linearised step from the start of the step, frames as they come out. Keeps steady spin
    /// exactly. Iterations beyond the first change nothing.
    #[default]
    OneStep,
    /// The same, then frames become rotations; loses the share `(omega h)^2 / 2` of a spin per step.
    /// Iterations beyond the first change nothing.
    Projected,
    /// Implicit Euler; an iteration is one of Newton's method, from the predicted state.
    ImplicitEuler,
    /// The two-step backward differentiation formula; an iteration is one of Newton's method. Needs two.
    Bdf2,
}

/// How a body's own spin is predicted where a step is one linear solve.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SpinPrediction {
    /// As published: along the tangent, which stretches and costs energy by the square of the turn in a step.
    #[default]
    Tangent,
    /// Along the arc, for bodies that turn by more than a tenth of a radian in a step. Beside contacts a step in which
    /// turning stretches a body by more than `stretch_limit` is first solved again about where bodies have turned.
    Arc,
}

/// How the rotation of a body is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Polar {
    /// The polar factor to rounding.
    #[default]
    Exact,
    /// One step of Newton and Schulz, wrong by three eighths of the squared strain.
    NewtonSchulz,
    /// No rotation of the load: the frame itself turns it, block by block, and lengths are restored
    /// (Alg. 1). Joints use one step of Newton and Schulz, since they need a matrix.
    Blockwise,
}

/// Stiffness that tension gives to a body.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Geometric {
    /// As published; stable while `12 h^2 tension / (mass length) < 4`.
    None,
    /// Along each principal axis, what exceeds this share [1] of the inertia over `h^2`. From 0 to 4.
    Diagonal(f64),
}

/// How the joint forces are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Dual {
    /// By what the graph of joints is: chains, trees, a few loops, or more. Where joints that hold angles close
    /// loops, also through what does not move, `direct`, since their rows are redundant as a rule. What other
    /// ways leave open by more than `tolerance` where there are loops is solved by `direct` from then on.
    #[default]
    Auto,
    /// Block elimination along chains (Eq. 36 to 41).
    Thomas,
    /// Block elimination from the leaves to the root of a tree, without fill-in.
    Tree,
    /// A tree, and the Schur complement of the joints that close loops.
    Schur,
    /// Conjugate gradients on what is left after eliminating a set of chains, preconditioned by a
    /// symmetric sweep over the others.
    Cg,
    /// Block Gauss-Seidel along chains of all directions, forwards and backwards.
    Sweeps,
    /// Sparse Cholesky factorisation.
    Direct,
    /// The paper's elimination over the bodies of a tree (ABD-ABA, Alg. 2, Eq. 50 to 57), as printed: to show
    /// what it leaves, never for results. It closes the joints, but its forces are those of other bodies where
    /// joints have turned, and where bodies are soft. Elastic bodies without limits, motors and contacts only.
    AbaPrinted,
}

/// Stiffest contacts and friction, in shares of what inertia is in a step [1].
const STIFFNESS_SCALE_MAX: f64 = 1e9;

impl Default for MabdSettings {
    fn default() -> Self {
        Self {
            integrator: Integrator::OneStep,
            polar: Polar::Exact,
            geometric: Geometric::Diagonal(0.25),
            dual: Dual::Auto,
            spin: SpinPrediction::Tangent,
            stretch_limit: 0.02,
            contact_stiffness_scale: 1000.0,
            friction_stiffness_scale: 30.0,
            push_speed_max: 1.0,
            tolerance: 2e-10,
            elastic_tolerance: 1e-6,
            rigid_softness: 1e-9,
            dual_iterations: 1000,
            feedback: true,
            general: false,
        }
    }
}

impl Integrator {
    /// Whether a step is one linear solve from where it starts.
    pub(crate) fn is_linear(self) -> bool {
        matches!(self, Self::OneStep | Self::Projected)
    }
}

impl Geometric {
    /// Of the inertia, what tension must exceed; `None` where it has no part.
    pub(crate) fn share(self) -> Option<f64> {
        match self {
            Self::None => None,
            Self::Diagonal(share) => Some(share),
        }
    }
}

impl MabdSettings {
    /// Whether ball joints take the path of all joints.
    pub(crate) fn is_general(&self) -> bool {
        self.general || !self.feedback || self.dual == Dual::AbaPrinted
    }

    /// The settings as they are for scenes with or without `elastic` material or particles that touch, or why there are
    /// none.
    pub(crate) fn in_force(mut self, elastic: bool) -> Result<Self, String> {
        if !elastic {
            return Ok(self);
        }
        let refused =
            |what| Err(format!("`{what}` takes neither elastic material nor particles that touch"));
        if self.dual == Dual::AbaPrinted {
            return refused("dual: aba_printed");
        }
        match self.integrator {
            Integrator::OneStep => self.integrator = Integrator::ImplicitEuler,
            Integrator::ImplicitEuler | Integrator::Bdf2 => {}
            Integrator::Projected => return refused("integrator: projected"),
        }
        Ok(self)
    }

    /// Checks ranges.
    ///
    /// # Errors
    /// [`BuildError::Settings`] naming the setting that is out of range.
    pub fn check(&self) -> Result<(), BuildError> {
        let wrong = |text: String| Err(BuildError::Settings(text));
        // Only steps and speeds may be without bound; rows far stiffer than inertia would leave it to rounding.
        let positive = [
            ("stretch_limit", self.stretch_limit, f64::INFINITY),
            ("contact_stiffness_scale", self.contact_stiffness_scale, STIFFNESS_SCALE_MAX),
            ("friction_stiffness_scale", self.friction_stiffness_scale, STIFFNESS_SCALE_MAX),
            ("push_speed_max", self.push_speed_max, f64::INFINITY),
            ("tolerance", self.tolerance, f64::MAX),
            ("elastic_tolerance", self.elastic_tolerance, f64::MAX),
        ];
        for (name, value, most) in positive {
            if value.is_nan() || value <= 0.0 {
                return wrong(format!("`{name}` is {value} but must be positive"));
            }
            if value > most {
                return wrong(format!("`{name}` is {value} but must be at most {most:e}"));
            }
        }
        if self.spin == SpinPrediction::Arc && !self.integrator.is_linear() {
            let message = "`spin: arc` predicts a step of one solve, which `integrator` is none";
            return wrong(message.to_owned());
        }
        if !(0.0..=1.0).contains(&self.rigid_softness) {
            return wrong(format!(
                "`rigid_softness` is {} but must be from 0 to 1",
                self.rigid_softness
            ));
        }
        if self.dual_iterations == 0 {
            return wrong("`dual_iterations` must be at least 1".to_owned());
        }
        if let Geometric::Diagonal(share) = self.geometric
            && !(0.0..=4.0).contains(&share)
        {
            return wrong(format!("`geometric: diagonal({share})` must be from 0 to 4"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use taut_core::Settings;

    use super::*;

    #[test]
    fn bad_values_are_named() {
        let message = |text: &str| {
            let parsed = Settings::from_ron(text).parse::<MabdSettings>();
            parsed.and_then(|s| s.check()).unwrap_err().to_string()
        };
        assert!(message("(stretch_limit: 0)").contains("`stretch_limit` is 0"));
        assert!(message("(tolerance: NaN)").contains("`tolerance` is NaN"));
        assert!(message("(elastic_tolerance: -1)").contains("`elastic_tolerance` is -1"));
        assert!(message("(contact_stiffness_scale: inf)").contains("at most 1e9"));
        assert!(message("(spin: arc, integrator: bdf2)").contains("`spin: arc`"));
        assert!(message("(rigid_softness: -1)").contains("`rigid_softness` is -1"));
        assert!(message("(dual_iterations: 0)").contains("at least 1"));
        assert!(message("(geometric: diagonal(-1))").contains("from 0 to 4"));
        assert!(message("(integrator: bdf)").contains("did you mean `bdf2`?"));
    }

    #[test]
    fn elastic_material_is_iterated_on() {
        let of = |text: &str| {
            let settings = Settings::from_ron(text).parse::<MabdSettings>().unwrap();
            settings.in_force(true).map(|settings| settings.integrator)
        };
        assert_eq!(of("()"), Ok(Integrator::ImplicitEuler));
        assert_eq!(of("(integrator: bdf2)"), Ok(Integrator::Bdf2));
        assert!(of("(integrator: projected)").unwrap_err().contains("projected"));
        assert!(of("(dual: aba_printed)").unwrap_err().contains("aba_printed"));
    }

    #[test]
    fn settings_survive_a_round_trip() {
        let settings =
            MabdSettings { geometric: Geometric::Diagonal(0.5), ..MabdSettings::default() };
        let text = ron::to_string(&settings).unwrap();
        assert_eq!(Settings::from_ron(text).parse::<MabdSettings>().unwrap(), settings);
    }
}
