//! Rapier, a widely used engine, as a backend: what a user would pick instead, judged by the same ruler.
//!
//! A scene becomes one Rapier world. Bodies keep the mass and inertia of the scene, since colliders
//! weigh nothing; every part of a compound is a collider of its own; coefficients of friction are
//! combined by their geometric mean and restitutions by the larger one, as scenes define it; bodies
//! that a joint connects do not touch, nor do bodies of one group. The margin and the number of
//! points of a scene's contacts are not passed on: Rapier has its own. Bodies never sleep, so that a
//! frame costs the same work as elsewhere, and the caps on its speed and on its rotation per step are
//! off; what the world holds is compared with the scene when a solver is built.
//! Rapier solves a step in one call, in `Step::iterations` sub-steps (its `num_solver_iterations`),
//! which the last `iterate` makes; until then a state read is that of the step before. Rapier runs on
//! one thread, and on one machine equal inputs give equal bits.
//!
//! What it cannot express it refuses, see [`BACKEND_F64`]: particles, compliance,
//! joints that break or keep a distance, universal joints (it locks a component of the rotation
//! vector, which is another motion), and static friction that differs from the dynamic one.

mod supports;

mod settings;

#[path = "f32.rs"]
mod single;

#[path = "f64.rs"]
mod double;

use taut_core::{Info, Native, Needs};

pub use settings::{Friction, Preset, RapierSettings};

const TAKES: Needs = Needs::MULTIBODY
    .without(Needs::PARTICLES)
    .without(Needs::COMPLIANCE)
    .without(Needs::BREAKING)
    .without(Needs::ANGULAR_SPRINGS);

/// The row of the table of backends in double precision.
pub const BACKEND_F64: Native = Native {
    info: Info::new(
        "rapier-f64",
        "the engine Rapier in double precision: soft contacts and joints in sub-steps",
        REFERENCE,
    ),
    takes: TAKES,
    refuses: double::refuses,
    build: double::build,
};

/// The row of the table of backends in single precision.
pub const BACKEND_F32: Native = Native {
    info: Info::new(
        "rapier-f32",
        "the engine Rapier in single precision: soft contacts and joints in sub-steps",
        REFERENCE,
    ),
    takes: TAKES,
    refuses: single::refuses,
    build: single::build,
};

const REFERENCE: &str = "Rapier 0.36 (rapier.rs), its own parameters unless `preset: best`";
