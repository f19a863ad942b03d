//! The reference: implicit Euler in f64, each step solved to tolerance by Newton's method on all unknowns.
//!
//! One step of length `h` finds displacements, rotations and one multiplier per joint row such that
//! momenta change by `h` times the forces at the end of the step, every hard row is at its target,
//! every compliant row gives way by its compliance times its multiplier, and every limit and motor
//! obeys its bound. The Jacobian is exact, second derivatives of the rows and the gyroscopic term
//! included, and factorised by faer's sparse LU with partial pivoting and a fill-reducing ordering made
//! once per scene. A line search guards every iteration: the residual or the next correction must
//! shrink, or, where compressed springs buckle, the incremental energy must fall. A step on which all
//! that fails is halved. Nothing is approximated but time, so what remains is the first-order error
//! of implicit Euler: linear momentum is kept to rounding, angular momentum and energy to first order
//! in `h`.
//!
//! Dampers of springs are springs of stiffness `c / h` that are at rest where the step begins, those of joints rows that
//! give way by `h / c` times their multiplier since then.
//!
//! Redundant joints make the constraint block singular. It is regularised by a tiny negative
//! diagonal in the Jacobian only; because residuals are exact, the iteration still ends with every
//! hard row at its target, and only the split of force between redundant rows is arbitrary.
//!
//! Contacts are found once, at the start of a step. With the levers, the normal and the gap of that
//! moment each point obeys, for its force `(l, t)` and its way `(g, d)` in the step,
//!
//! ```text
//!   g = gap + n . (uA + thetaA x rA - uB - thetaB x rB),   d likewise along the surfaces
//!   0 <= l,  0 <= g,  l g = 0,   |t| <= mu l,   t = -mu l d / |d| where d is not zero
//! ```
//!
//! which is implicit Euler with Signorini's condition and Coulomb's cone, solved together with the joints.
//! The coefficient `mu` is the static one where the points were at rest against each other when the step
//! began, else the dynamic one. A step is accepted only if its natural maps are below `contact_tolerance`;
//! they are printed where they are not. That certificate says that a solution was found, not that it is
//! the only one: Coulomb's law allows several, and redundant points share their load in many ways. What
//! overlaps when a step begins does not when it ends, and no speed is given back, so that scenes with
//! restitution are refused, and so are those of more bodies than can be solved in reasonable time.
//!
//! `iterate` is one Newton iteration, and does nothing once converged; `end_step` finishes the rest
//! unless `complete` is off.

mod contact;
mod elastic;
mod friction;
mod iterate;
#[cfg(test)]
mod jacobian_tests;
mod law;
mod linear;
mod rotation;
mod settings;
mod solver;
mod step;
mod system;
mod topology;

pub use settings::{NewtonSettings, RotationEquation};
use solver::Newton;
use taut_core::{
    Backend, BuildError, Devices, Info, Native, Needs, Scene, Settings, Solver, Unsupported,
};

/// The row of the table of backends.
pub const BACKEND: Native = Native {
    info: Info::new(
        "newton",
        "reference: implicit Euler solved to tolerance by global Newton on the KKT system",
        "none; textbook implicit Euler with multipliers, Newton's method and sparse LU",
    ),
    takes: Needs::MULTIBODY
        .without(Needs::RESTITUTION)
        .with(Needs::ENERGIES)
        .with(Needs::LOG_MEMBRANES)
        .with(Needs::TOUCHING_PARTICLES)
        .with(Needs::SOFT_CONTACTS)
        .with(Needs::TIMED)
        .with(Needs::DAMPING),
    refuses,
    build,
};

fn refuses(scene: &Scene) -> Result<(), Unsupported> {
    topology::unsupported(scene).map_or(Ok(()), |reason| Err(Unsupported(reason)))
}

fn build(
    scene: &Scene,
    settings: &Settings,
    _: &dyn Devices,
) -> Result<Box<dyn Solver>, BuildError> {
    BACKEND.supports(scene)?;
    Ok(Box::new(Newton::new(scene, settings.parse()?)?))
}
