//! The vocabulary of taut: scenes, states, constraints, metrics and the interface of a solver.
//!
//! Everything here is `f64`, in SI units, with z up, and free of devices, threads, clocks and randomness.
//! Rotations map body coordinates to world coordinates. Two-body quantities carry the suffixes
//! `a` and `b`; a relative position is always `a - b`, a relative rotation takes A's joint frame to B's.

pub mod applied;
pub mod audit;
pub mod backend;
pub mod constraint;
pub mod energy;
mod error;
mod formula;
pub mod labels;
pub mod load;
pub mod math;
pub mod metrics;
mod needs;
pub mod protocol;
pub mod scene;
pub mod settings;
pub mod solver;
pub mod state;
pub mod wire;

pub use audit::AuditFacts;
pub use backend::{
    Backend, Determinism, Devices, Given, Info, Introduction, Native, NoDevices, Runs, Table,
};
pub use error::{BuildError, SolverError, Unsupported};
pub use formula::TimeFormula;
pub use math::{Mat3, Quat, Vec3};
pub use needs::Needs;
pub use scene::Scene;
pub use settings::Settings;
pub use solver::{
    ContactForce, Elsewhere, Iteration, Multipliers, Pull, Solver, SolverReport, Stage, StageTime,
    Step,
};
pub use state::{BitHash, BodyState, ParticleState, Placement, State};
