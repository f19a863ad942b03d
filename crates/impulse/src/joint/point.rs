//! Two anchors held together: three rows in world axes, solved at once by their 3x3 matrix.

use taut_math::{M3, Real, Sym3, V3};
use taut_model::{Element, End, Pose};

use super::{Pass, VelocityPair, reaction::BlockReaction};
use crate::body::WorldWeight;

/// The rows `Point(0..3)` of a joint.
#[derive(Clone, Copy, Debug)]
pub(super) struct AnchorBlock<R> {
    /// Anchors in the coordinates of their bodies [m].
    anchor_a: V3<R>,
    anchor_b: V3<R>,
    /// World-axis levers of the anchors [m].
    arm_a: V3<R>,
    arm_b: V3<R>,
    /// Of the rows `xA - xB` [m] in world axes; impulses act on A.
    pub(super) reaction: BlockReaction<R>,
}

/// How an impulse at an arm moves that arm's end: `1/m - [r] I^-1 [r]`.
fn response<R: Real>(weight: &WorldWeight<R>, arm: V3<R>) -> Sym3<R> {
    let turn = weight.inverse_inertia.rotated(&M3::skew(arm));
    Sym3::diagonal(V3([weight.inverse_mass; 3])).plus(turn)
}

impl<R: Real> AnchorBlock<R> {
    pub(super) fn new(element: &Element, [a, b]: &[End; 2]) -> Self {
        Self {
            anchor_a: V3::of(&a.anchor),
            anchor_b: V3::of(&b.anchor),
            arm_a: V3::ZERO,
            arm_b: V3::ZERO,
            reaction: BlockReaction::new(element.softness),
        }
    }

    pub(super) fn prepare(
        &mut self,
        poses: [&Pose<R>; 2],
        sides: [&WorldWeight<R>; 2],
        inverse_square: R,
    ) {
        self.arm_a = poses[0].rotation.rotate(self.anchor_a);
        self.arm_b = poses[1].rotation.rotate(self.anchor_b);
        let reaction = &mut self.reaction;
        reaction.value = poses[0].position - poses[1].position + (self.arm_a - self.arm_b);
        reaction.softness = reaction.compliance * inverse_square;
        let resistance = response(sides[0], self.arm_a).plus(response(sides[1], self.arm_b));
        let softness = Sym3::diagonal(V3([reaction.softness; 3]));
        reaction.resist(&resistance.plus(softness));
    }

    pub(super) fn warm_start<'a>(&mut self, pair: VelocityPair<'a, R>) -> VelocityPair<'a, R> {
        self.reaction.hold();
        self.apply(pair, self.reaction.lambda)
    }

    #[inline(always)]
    pub(super) fn solve<'a>(
        &mut self,
        pair: VelocityPair<'a, R>,
        pass: &Pass<R>,
    ) -> VelocityPair<'a, R> {
        let (a, b) = (&pair.a, &pair.b);
        let rate =
            (a.linear + a.angular.cross(self.arm_a)) - (b.linear + b.angular.cross(self.arm_b));
        let change = self.reaction.answer(rate, pass);
        self.apply(pair, change)
    }

    #[inline(always)]
    fn apply<'a>(&self, mut pair: VelocityPair<'a, R>, impulse: V3<R>) -> VelocityPair<'a, R> {
        let (a, b) = (pair.weight_a, pair.weight_b);
        pair.a.linear += impulse * a.inverse_mass;
        pair.a.angular += a.inverse_inertia.apply(self.arm_a.cross(impulse));
        pair.b.linear += -(impulse * b.inverse_mass);
        pair.b.angular += -b.inverse_inertia.apply(self.arm_b.cross(impulse));
        pair
    }
}
