//! The library behind the `taut` program.

pub mod backends;
pub mod figure;
pub mod machine;
mod measure;
pub mod plot;
pub mod record;
pub mod report;
pub mod runner;
