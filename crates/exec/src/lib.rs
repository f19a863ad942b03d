//! Solvers in other processes, in any language: a line of JSON is asked, a line is answered, over pipes.
//!
//! A [`Program`] becomes a row of the table as an [`ExecBackend`]. It is started when the row is first used, says what
//! it is and takes, and is sent scenes and states in the form of `taut_core::protocol`. Everything it does has a limit;
//! one that ends, does not answer or does not keep to the protocol is killed with all that it has started, and the
//! reason is told. Its standard error is taken off its hands, the last of it kept, and added to a file where whoever
//! builds solvers names one.

mod audit;
mod checks;
#[cfg(unix)]
mod child;
#[cfg(not(unix))]
#[path = "nowhere.rs"]
mod child;
mod fault;
mod hello;
mod idle;
mod link;
mod presets;
mod program;
mod row;
mod settings;
mod solver;
#[cfg(unix)]
mod tail;
mod words;

pub use child::kill_all;
pub use presets::Presets;
pub use program::{Limits, Program, ProgramEnvironment};
pub use row::ExecBackend;
