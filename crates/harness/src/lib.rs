//! The library behind the `taut` program.

pub mod backends;
pub mod figure;
pub mod plot;
