//! Two bodies that touch, in world axes.
//!
//! The points of a pair ask many times how its bodies answer, so their inverse inertia is turned into the world once a
//! visit, and again where a point has turned a body by more than 0.2 mrad.

use taut_math::{Q4, Real, Sym3, V3};
use taut_model::{Pose, Velocity};

use crate::body::Weight;

/// Largest excess of a squared length over one [1] whose square is lost in rounding.
const SMALL: f64 = 1e-8;

/// Inverse mass [1/kg] and inverse inertia in world axes [1/(kg m^2)] of a body; zero for what forces do not move.
#[derive(Clone, Copy, Debug)]
struct TurnedWeight<R> {
    inverse_mass: R,
    inverse_inertia: Sym3<R>,
}

impl<R: Real> TurnedWeight<R> {
    /// Of a body with this pose.
    #[inline(always)]
    fn of(weight: &Weight<R>, pose: &Pose<R>) -> Self {
        let [xx, yy, zz, xy, xz, yz] = weight.inverse_inertia.0;
        // Equal moments without products are those of every axis.
        let round = xx == yy && yy == zz && [xy, xz, yz] == [R::ZERO; 3];
        let turned = if round {
            weight.inverse_inertia
        } else {
            weight.inverse_inertia.rotated(&pose.rotation.matrix())
        };
        let inverse_inertia = if weight.turns { turned } else { Sym3::ZERO };
        Self { inverse_mass: weight.inverse_mass, inverse_inertia }
    }
}

/// A unit quaternion turned by a world-axis rotation vector, and whether that is large.
///
/// Nearly all corrections are so small that `1.5 - square / 2` is the inverse length to rounding; a root and a
/// division would make up half of the time that the next point waits for this one.
#[inline(always)]
fn advanced<R: Real>(q: Q4<R>, turn: V3<R>) -> (Q4<R>, bool) {
    let half = Q4 { v: turn * R::HALF, w: R::ONE };
    let turned = half.times(q);
    let excess = (turned.v.dot(turned.v) + turned.w * turned.w) - R::ONE;
    if excess.abs() > R::of(SMALL) {
        return (turned.normalised(), true);
    }
    let scale = R::ONE - excess * R::HALF;
    (Q4 { v: turned.v * scale, w: turned.w * scale }, false)
}

/// Two bodies of a pair while they are corrected.
#[derive(Clone, Copy)]
pub(super) struct TouchingPair<'a, R> {
    pub(super) poses: [Pose<R>; 2],
    weights: [TurnedWeight<R>; 2],
    own: [&'a Weight<R>; 2],
}

/// How they answer opposite impulses, before scaling: the turn of either.
#[derive(Clone, Copy)]
pub(super) struct Turns<R>([V3<R>; 2]);

impl<'a, R: Real> TouchingPair<'a, R> {
    /// Two bodies at these poses.
    #[inline(always)]
    pub(super) fn new(poses: [Pose<R>; 2], own: [&'a Weight<R>; 2]) -> Self {
        let weight = |side: usize| TurnedWeight::of(own[side], &poses[side]);
        Self { poses, weights: [weight(0), weight(1)], own }
    }

    /// Answer to opposite impulses along `e` at both world-axis levers, and `(wA + wB) |e|^2`.
    #[inline(always)]
    pub(super) fn response(&self, arms: [V3<R>; 2], e: V3<R>) -> (Turns<R>, R) {
        let [a, b] = &self.weights;
        let (lever_a, lever_b) = (arms[0].cross(e), arms[1].cross(e));
        let turns = [a.inverse_inertia.apply(lever_a), b.inverse_inertia.apply(lever_b)];
        let straight = (a.inverse_mass + b.inverse_mass) * e.dot(e);
        (Turns(turns), straight + (lever_a.dot(turns[0]) + lever_b.dot(turns[1])))
    }

    /// Moves both bodies by the impulse `e s` on A and its opposite on B (Eq. 6 to 9).
    #[inline(always)]
    pub(super) fn push(&mut self, turns: Turns<R>, e: V3<R>, s: R) {
        for (side, s) in [s, -s].into_iter().enumerate() {
            let (pose, weight) = (&mut self.poses[side], &mut self.weights[side]);
            if weight.inverse_mass <= R::ZERO {
                continue;
            }
            pose.position += e * (weight.inverse_mass * s);
            let (rotation, far) = advanced(pose.rotation, turns.0[side] * s);
            pose.rotation = rotation;
            if far {
                *weight = TurnedWeight::of(self.own[side], pose);
            }
        }
    }

    /// The same for velocities (Eq. 33).
    #[inline(always)]
    pub(super) fn accelerate(
        &self,
        velocities: &mut [Velocity<R>; 2],
        turns: Turns<R>,
        e: V3<R>,
        s: R,
    ) {
        for (side, s) in [s, -s].into_iter().enumerate() {
            velocities[side].linear += e * (self.weights[side].inverse_mass * s);
            velocities[side].angular += turns.0[side] * s;
        }
    }
}
