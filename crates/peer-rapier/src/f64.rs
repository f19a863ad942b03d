//! Rapier in double precision.

use rapier3d_f64 as rapier;

#[path = "solver.rs"]
mod solver;

use taut_core::audit::AuditPrecision;

pub(crate) use solver::{build, refuses};

/// What it calculates with.
const PRECISION: AuditPrecision = AuditPrecision::F64;

/// A number as Rapier takes it.
fn real(x: f64) -> f64 {
    x
}

/// A number that Rapier gave.
fn wide(x: f64) -> f64 {
    x
}
