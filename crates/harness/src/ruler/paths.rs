//! What searches for impacts cost along straight lines and along arcs, as metrics for whoever asks for them.
//!
//! They alone in the ruler look at a clock: that of [`PathProbe`], while no solver is timed.
//!
//! [`PathProbe`]: taut_collide::PathProbe

use taut_collide::PathMeasures;

use super::{Metric, touching};

/// How many times as long a search along arcs takes, the only metric of a clock that claims may be about.
pub(crate) const ARC_RATIO: &str = "ccd_arc_ratio";

/// Times per pair along lines by steps, by the cubic, and along arcs, over all frames so far.
pub(crate) const SECONDS: [&str; 3] = ["ccd_line_s", "ccd_cubic_s", "ccd_arc_s"];

pub(super) fn metrics() -> Vec<Metric> {
    let of = |name, read: fn(PathMeasures) -> Option<f64>| {
        touching(name, move |s| read(s.paths()?)).on_demand()
    };
    vec![
        of("ccd_pairs", |paths| Some(paths.pairs as f64)),
        of("ccd_line_share", |paths| Some(paths.line_share)),
        of("ccd_arc_share", |paths| Some(paths.arc_share)),
        of("ccd_share_difference", |paths| Some((paths.arc_share - paths.line_share).abs())),
        of(SECONDS[0], |paths| Some(paths.seconds?[0])),
        of(SECONDS[1], |paths| Some(paths.seconds?[1])),
        of(SECONDS[2], |paths| Some(paths.seconds?[2])),
        of(ARC_RATIO, |paths| {
            let [line_s, _, arc_s] = paths.seconds?;
            Some(arc_s / line_s)
        }),
    ]
}
