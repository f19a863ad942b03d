//! Two anchors held together: three rows in world axes, solved at once by their 3x3 matrix.

use taut_math::{M3, Q4, Real, Sym3, V3};

use super::{Couple, Pull, rows::Anchors};
use crate::body::{Mobility, Pose};

/// The rows `Point(0..3)` of a joint.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point<R> {
    /// Anchors in the coordinates of their bodies [m].
    anchor_a: V3<R>,
    anchor_b: V3<R>,
    /// [m/N]
    compliance: R,
    /// World-axis levers of the anchors [m].
    arm_a: V3<R>,
    arm_b: V3<R>,
    /// Inverse of `J M^-1 J^T + compliance / h^2` [kg].
    mass: Sym3<R>,
    /// `compliance / h^2` [1/kg].
    softness: R,
    /// `xA - xB` at the present pose [m].
    value: V3<R>,
    /// The same at the start of the sub-step, to which compliant rows are held.
    held: V3<R>,
    /// Impulse on A so far [N s].
    pub(super) lambda: V3<R>,
}

/// How an impulse at an arm moves that arm's end: `1/m - [r] I^-1 [r]`.
fn response<R: Real>(mobility: &Mobility<R>, arm: V3<R>) -> Sym3<R> {
    let turn = mobility.inverse_inertia.rotated(&M3::skew(arm));
    Sym3::diagonal(V3([mobility.inverse_mass; 3])).plus(turn)
}

/// Inverse of a symmetric matrix, zero in directions in which it does not resist.
pub(super) fn inverse<R: Real>(m: &Sym3<R>) -> Sym3<R> {
    let [x, y, z] = [0, 1, 2].map(|i| m.solve(V3::axis(i)).0);
    Sym3([x[0], y[1], z[2], y[0], z[0], z[1]])
}

/// From B's anchor to A's, both levers being rotated from the same frame of the world.
pub(super) fn spanned<R: Real>(poses: [&Pose<R>; 2], arms: [V3<R>; 2]) -> V3<R> {
    (poses[0].position - poses[1].position) + (arms[0] - arms[1])
}

impl<R: Real> Point<R> {
    pub(super) fn new(anchors: &Anchors<R>, compliance: f64) -> Self {
        let zero = V3::ZERO;
        Self {
            anchor_a: anchors.anchor_a,
            anchor_b: anchors.anchor_b,
            compliance: R::of(compliance),
            arm_a: zero,
            arm_b: zero,
            mass: Sym3::ZERO,
            softness: R::ZERO,
            value: zero,
            held: zero,
            lambda: zero,
        }
    }

    pub(super) fn prepare(
        &mut self,
        poses: [&Pose<R>; 2],
        sides: [&Mobility<R>; 2],
        inverse_square: R,
    ) {
        let turned = |q: Q4<R>, anchor: V3<R>| q.rotate(anchor);
        self.arm_a = turned(poses[0].rotation, self.anchor_a);
        self.arm_b = turned(poses[1].rotation, self.anchor_b);
        self.value = spanned(poses, [self.arm_a, self.arm_b]);
        self.softness = self.compliance * inverse_square;
        let resistance = response(sides[0], self.arm_a).plus(response(sides[1], self.arm_b));
        self.mass = inverse(&resistance.plus(Sym3::diagonal(V3([self.softness; 3]))));
    }

    pub(super) fn warm_start<'a>(&mut self, couple: Couple<'a, R>) -> Couple<'a, R> {
        self.held = self.value;
        self.apply(couple, self.lambda)
    }

    #[inline(always)]
    pub(super) fn solve<'a>(&mut self, couple: Couple<'a, R>, pull: &Pull<R>) -> Couple<'a, R> {
        let (a, b) = (&couple.a, &couple.b);
        let rate =
            (a.linear + a.angular.cross(self.arm_a)) - (b.linear + b.angular.cross(self.arm_b));
        let change = if self.compliance > R::ZERO {
            // The implicit spring: lambda = -h (C + h J v) / compliance.
            let wanted = rate + self.held * pull.inverse_h + self.lambda * self.softness;
            -self.mass.apply(wanted)
        } else if pull.bias {
            let soft = &pull.soft.joint;
            self.mass.apply(rate + self.value * soft.rate) * -soft.mass
                + self.lambda * -soft.impulse
        } else {
            -self.mass.apply(rate)
        };
        self.lambda += change;
        self.apply(couple, change)
    }

    #[inline(always)]
    fn apply<'a>(&self, mut couple: Couple<'a, R>, impulse: V3<R>) -> Couple<'a, R> {
        let (a, b) = (couple.mobility_a, couple.mobility_b);
        couple.a.linear += impulse * a.inverse_mass;
        couple.a.angular += a.inverse_inertia.apply(self.arm_a.cross(impulse));
        couple.b.linear += -(impulse * b.inverse_mass);
        couple.b.angular += -b.inverse_inertia.apply(self.arm_b.cross(impulse));
        couple
    }
}
