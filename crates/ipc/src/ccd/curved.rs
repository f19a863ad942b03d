//! Continuous collision detection of rigid bodies along their arcs, after [R]; for comparison only.
//!
//! Both the position and the rotation vector of a body change linearly. An interval of the motion is replaced by chords,
//! and the features are kept apart by what arcs and chords can differ.

use taut_math::V3;

use super::{
    additive::{StepRule, safe_share},
    motion::{Features, PairSweep},
};

/// Intervals before the search ends where it is.
const PARTS: usize = 1000;
/// Arcs and chords may differ by this share of the distance.
const DEVIATION: f64 = 0.5;
/// Below this share of the first distance the pair counts as touching.
const IMPACT: f64 = 0.2;

/// A rigid body's motion as t goes from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RigidSweep {
    /// Position of the body's origin at 0 and at 1 [m].
    pub position: [V3<f64>; 2],
    /// Rotation vector at 0 and at 1 [rad].
    pub rotation: [V3<f64>; 2],
}

impl RigidSweep {
    /// Where the point `x` [m] in body coordinates is at `t`: `R(θ(t)) x + p(t)`.
    pub fn point(&self, x: V3<f64>, t: f64) -> V3<f64> {
        let between = |[a, b]: [V3<f64>; 2]| a + (b - a) * t;
        turned(between(self.rotation), x) + between(self.position)
    }

    /// How much the rotation vector changes [rad].
    fn turn(&self) -> f64 {
        (self.rotation[1] - self.rotation[0]).norm()
    }
}

/// Rodrigues' formula, with the half angle so that small ones lose no digits.
fn turned(theta: V3<f64>, x: V3<f64>) -> V3<f64> {
    let angle = theta.norm();
    if angle == 0.0 {
        return x;
    }
    let axis = theta * (1.0 / angle);
    let (sine, cosine) = (0.5 * angle).sin_cos();
    let across = axis.cross(x);
    x + across * (2.0 * sine * cosine) + axis.cross(across) * (2.0 * sine * sine)
}

/// The share of the motion of two rigid bodies that leaves a pair of their features apart, at most about a fifth
/// of the first distance before they touch; `None` where all of the motion does.
///
/// `rest` [m] are the four vertices in the coordinates of their bodies: `p` of the first and `t0, t1, t2` of the second,
/// or `a0, a1` of the first and `b0, b1` of the second.
pub fn safe_share_of_arcs(
    features: Features,
    rest: &[V3<f64>; 4],
    bodies: &[RigidSweep; 2],
) -> Option<f64> {
    let first = if features == Features::PointTriangle { 1 } else { 2 };
    let body = |i: usize| &bodies[usize::from(i >= first)];
    let at = |t: f64| [0, 1, 2, 3].map(|i| body(i).point(rest[i], t));
    let reach = |range: std::ops::Range<usize>| range.map(|i| rest[i].norm()).fold(0.0, f64::max);
    // Along a line of rotation vectors a point at the radius ρ is accelerated by at most ρ θ'², so that a chord
    // over the angle θ is off by at most ρ θ²/8. That is ρ (1 - cos(θ/2)) of [R] and a little more, and holds too
    // where the axis changes.
    let arcs = [(reach(0..first), bodies[0].turn()), (reach(first..4), bodies[1].turn())];
    let deviation = |step: f64| {
        arcs.iter().map(|(radius, turn)| radius * (turn * step).powi(2) / 8.0).sum::<f64>()
    };
    let chord = |from: f64, to: f64| {
        let (start, end) = (at(from), at(to));
        PairSweep::new(features, &start, &[0, 1, 2, 3].map(|i| end[i] - start[i]))
    };
    let (mut t, mut step) = (0.0, 1.0_f64);
    let mut first_distance = None;
    for _ in 0..PARTS {
        let distance = chord(t, t).distance(0.0);
        let first_distance = *first_distance.get_or_insert(distance);
        let is_apart = distance > 0.0 && distance >= IMPACT * first_distance;
        if !is_apart {
            return Some(t);
        }
        step = step.min(1.0 - t);
        while deviation(step) >= DEVIATION * distance {
            step *= 0.5;
        }
        // A last step that was halved to nothing would never arrive.
        if t + step <= t {
            return Some(t);
        }
        match safe_share(&chord(t, t + step), deviation(step), 1.0, StepRule::default()) {
            Some(share) if share > 0.0 => t += share * step,
            Some(_) => return Some(t),
            None if t + step >= 1.0 => return None,
            None => {
                t += step;
                step *= 2.0;
            }
        }
    }
    Some(t)
}
