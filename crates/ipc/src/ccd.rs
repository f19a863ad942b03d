//! Continuous collision detection: how far four vertices may move along straight lines before their features touch.
//!
//! [`additive`] is the default. [`cubic`] finds roots of the coplanarity polynomial instead, and [`curved`] moves
//! vertices along the arcs of rigid bodies; both exist for comparison. Answers may be early, never late: at the share
//! that is told the features are apart, whatever the reason for stopping.

pub mod additive;
pub mod cubic;
pub mod curved;
mod motion;

pub use motion::{Features, PairSweep, placing};
