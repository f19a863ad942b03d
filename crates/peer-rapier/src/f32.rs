//! Rapier in single precision.

use rapier3d as rapier;

#[expect(clippy::duplicate_mod, reason = "one text for two crates that differ in a type only")]
#[path = "solver.rs"]
mod solver;

use taut_core::audit::AuditPrecision;

pub(crate) use solver::{build, refuses};

/// What it calculates with.
const PRECISION: AuditPrecision = AuditPrecision::F32;

/// A number as Rapier takes it.
fn real(x: f64) -> f32 {
    x as f32
}

/// A number that Rapier gave.
fn wide(x: f32) -> f64 {
    f64::from(x)
}
