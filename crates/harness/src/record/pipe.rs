//! What it costs to ask another process, beside the times of its row.

use serde::Serialize;

use super::Spread;

/// Times of requests that solve nothing, as this side sees them, and whether the clocks of both sides agree.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PipeTimes {
    /// A request for nothing [s].
    pub ping_s: Spread,
    /// Reading the state [s].
    pub read_s: Spread,
    /// Loading the state [s].
    pub load_s: Spread,
    /// `agreed`, `disputed`, or `unknown` where the process says nothing or the samples were short.
    pub clock: &'static str,
}
