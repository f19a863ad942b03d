//! Additive continuous collision detection ([C] Algorithm 1): steps that cannot use up the distance there is.

use taut_math::V3;

use super::motion::{Features, PairSweep, ROUNDING};

/// How boldly the search goes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepRule {
    /// Share of the distance that one step may use up, above 0 and below 1.
    pub share: f64,
    /// Share of the first distance that is left at the end, above 0 and below 1. The less it is, the nearer the
    /// answer is to the impact, and the closer features may pass each other unnoticed.
    pub keep: f64,
    /// Steps before the search ends where it is, which costs a shorter motion and no safety.
    pub rounds: usize,
}

impl Default for StepRule {
    /// That of [C] and of the IPC Toolkit: nine tenths, and a tenth is left.
    fn default() -> Self {
        Self { share: 0.9, keep: 0.1, rounds: 1000 }
    }
}

/// The share of the motion of a point against a triangle that leaves them apart; `None` where all of `t_max` does.
///
/// `start` and `moves` are those of `p, t0, t1, t2` [m]. Zero where they touch at the start.
#[inline]
pub fn point_triangle(start: &[V3<f64>; 4], moves: &[V3<f64>; 4], t_max: f64) -> Option<f64> {
    let sweep = PairSweep::new(Features::PointTriangle, start, moves);
    safe_share(&sweep, 0.0, t_max, StepRule::default())
}

/// The same of two edges `a0, a1, b0, b1`.
#[inline]
pub fn edge_edge(start: &[V3<f64>; 4], moves: &[V3<f64>; 4], t_max: f64) -> Option<f64> {
    let sweep = PairSweep::new(Features::EdgeEdge, start, moves);
    safe_share(&sweep, 0.0, t_max, StepRule::default())
}

/// The largest `t` found at which a pair is still more than `apart` [m] away from each other, by at least the
/// rule's share of what it is at the start; `None` if that holds beyond `t_max`.
///
/// Each step is one in which the distance certainly keeps its share, by the bound of [C] on its speed or by its linear
/// change along the normal, whichever lets go farther. With the first alone, features that slide along each other would
/// take as many steps as the way is longer than the distance. So the distance does not reach `apart` anywhere up to
/// the told time, however many rounds were made.
#[inline]
pub fn safe_share(sweep: &PairSweep, apart: f64, t_max: f64, rule: StepRule) -> Option<f64> {
    if sweep.speed() == 0.0 {
        return None;
    }
    let mut here = sweep.outlook(0.0);
    let mut left = here.distance - apart;
    // What is not a number is not known to be apart.
    let is_apart = left > 0.0;
    if !is_apart {
        return Some(0.0);
    }
    let least = rule.keep * left;
    let mut t = 0.0;
    for _ in 0..rule.rounds {
        let next = t + here.reach(apart + (1.0 - rule.share) * left);
        if next > t_max && t + here.reach(apart + least) > t_max {
            return None;
        }
        // From the start each time: sums of steps would gather their roundings.
        let ahead = sweep.outlook(next.min(t_max));
        let keeps = ahead.distance - apart >= least;
        if !keeps {
            // Nearer than is to be left, but to here that much is left for certain.
            return Some(t + here.reach(apart + least).max(0.0));
        }
        if next > t_max {
            return None;
        }
        (t, left, here) = (next, ahead.distance - apart, ahead);
    }
    Some(t)
}

/// The same of a point over a half-space: `height` [m] over its surface, and the change `fall` [m] of the height
/// as t goes from 0 to 1; `largest` [m] is the largest coordinate that the height was computed from.
#[inline]
pub fn half_space(height: f64, fall: f64, largest: f64, t_max: f64) -> Option<f64> {
    let left = height - ROUNDING * largest;
    if fall >= 0.0 {
        return None;
    }
    let t = StepRule::default().share * left.max(0.0) / -fall;
    if t > t_max { None } else { Some(t) }
}
