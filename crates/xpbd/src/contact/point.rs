//! One point of contact per lane: position pass after section 3.5 of Müller et al. 2020, velocity pass after
//! their section 3.6.
//!
//! With `n` from B to A the constraint is `d = gap + n . (motion of A's anchor - motion of B's) >= 0`.

use taut_math::{Number, Real, V3, Wide};
use taut_model::{Pose, Velocity};

use super::{
    VelocityTerms,
    batch::TouchPatch,
    budget::Budget,
    lanes::{pick, pick_vector, positive, size},
    pair::TouchingPair,
};
use crate::{correct::Terms, settings::FrictionRule};

/// Points of contact during one step, one per lane. Conditions are one where they hold, else zero.
#[derive(Clone, Copy, Debug)]
pub(super) struct TouchPoint<W> {
    /// Anchors on A and B in their coordinates [m].
    pub(super) anchors: [V3<W>; 2],
    /// World-axis levers when the contact was found [m].
    pub(super) levers: [V3<W>; 2],
    /// Way from B's anchor to A's when the contact was found [m].
    pub(super) apart: V3<W>,
    /// Gap when the contact was found [m]; of no lane's point far beyond any contact.
    pub(super) gap: W,
    /// Normal multiplier, times `h^2` [N s^2].
    pub(super) lambda: W,
    /// Tangential multiplier, times `h^2` [N s^2].
    pub(super) drag: V3<W>,
    /// Where it is held, as motion of A's anchor against B's since the contact was found [m].
    pub(super) place: V3<W>,
    /// Whether it is held there.
    pub(super) stuck: W,
    /// Whether static friction has stopped it in this step or sub-step.
    pub(super) sticks: W,
    /// Whether it is so close that it may bear a part of its pair's load.
    pub(super) near: W,
    /// Normal velocity that prediction gave [m/s]; of pairs that may bounce.
    pub(super) approach: W,
    /// How far its anchors had moved when the step or sub-step began [m].
    pub(super) before: V3<W>,
    /// Levers during the velocity pass [m].
    pub(super) arms: [V3<W>; 2],
    /// What the step has exerted on A so far [N s].
    pub(super) impulse: V3<W>,
    /// Normal impulse of the velocity pass [N s].
    pub(super) push: W,
}

/// What the position pass reads beside poses and weights.
#[derive(Clone, Copy)]
pub(super) struct PositionTerms<'a, R> {
    /// Predicted velocities.
    pub(super) velocities: &'a [Velocity<R>],
    pub(super) terms: &'a Terms<R>,
    pub(super) friction: FrictionRule,
    /// Points closer than that share the load of their pair [m].
    pub(super) near: R,
}

/// World-axis levers of the point midway between the anchors, where both bodies are pushed so that
/// no angular momentum is made; and how far A's anchor has moved against B's since the contact was found.
#[derive(Clone, Copy, Debug)]
struct Reach<W> {
    arms: [V3<W>; 2],
    moved: V3<W>,
}

impl<W: Wide> TouchPoint<W> {
    /// How far A's anchor is from where it is held against B in one lane [m]; `None` where it is not held.
    pub(super) fn strain(&self, lane: usize) -> Option<V3<W::Lane>> {
        let held = self.stuck.lane(lane) > W::Lane::ZERO;
        held.then(|| self.before.lane(lane) - self.place.lane(lane))
    }

    /// Whether it bears a part of its pair's load. One sweep may leave a point out that should be pressed.
    #[inline(always)]
    pub(super) fn bears(&self) -> W {
        positive(self.near.max(self.lambda))
    }

    /// Above zero where anything presses or holds it.
    #[inline(always)]
    fn acts(&self) -> W {
        self.near.max(self.lambda).max(size(self.drag))
    }
}

/// The part of a vector along the surfaces.
#[inline(always)]
fn across<W: Wide>(normal: V3<W>, v: V3<W>) -> V3<W> {
    v - normal * normal.dot(v)
}

/// `a / b` where `b` is above zero, else zero.
#[inline(always)]
fn ratio<W: Wide>(a: W, b: W) -> W {
    pick(b, a / b, W::ZERO)
}

/// Velocity of A's anchor against B's [m/s].
#[inline(always)]
fn relative_velocity<W: Wide>(arms: &[V3<W>; 2], [a, b]: &[Velocity<W>; 2]) -> V3<W> {
    (a.linear + a.angular.cross(arms[0])) - (b.linear + b.angular.cross(arms[1]))
}

impl<R: Real> TouchingPair<'_, R> {
    /// Differences of places instead of places, so that single precision keeps its digits.
    #[inline(always)]
    fn reach(&self, point: &TouchPoint<R::Wide>) -> Reach<R::Wide> {
        let (arm_a, moved_a) = self.lever(0, point);
        let (arm_b, moved_b) = self.lever(1, point);
        let ([a, b], origins) = (&self.poses, &self.batch.origins);
        let centres = (a.position - origins[0]) - (b.position - origins[1]);
        let moved = centres + (moved_a - moved_b);
        let half = (point.apart + moved) * R::Wide::HALF;
        Reach { arms: [arm_a - half, arm_b + half], moved }
    }

    /// Lever of one side, and how far turning has moved its end.
    ///
    /// The lowest point of a rolling ball is always new material. Followed to first order, it neither
    /// rises nor lets the ball sink.
    #[inline(always)]
    fn lever(&self, side: usize, point: &TouchPoint<R::Wide>) -> (V3<R::Wide>, V3<R::Wide>) {
        let (start, Pose { rotation, .. }) = (point.levers[side], &self.poses[side]);
        let arm = rotation.rotate(point.anchors[side]);
        let Some(rolling) = &self.batch.rolling else { return (arm, arm - start) };
        let turn = rotation.times(rolling.origins[side].conjugate());
        let two = R::Wide::TWO;
        let sign = R::Wide::ZERO.where_above(turn.w, -two, two);
        let (round, rolled) = (rolling.round[side], (turn.v * sign).cross(start));
        (pick_vector(round, start, arm), pick_vector(round, rolled, arm - start))
    }
}

/// A point and what it is corrected with.
pub(super) struct Visit<'v, 'b, R: Real> {
    pub(super) point: &'v mut TouchPoint<R::Wide>,
    pub(super) patch: &'v TouchPatch<R::Wide>,
    pub(super) pair: &'v mut TouchingPair<'b, R>,
}

impl<R: Real> Visit<'_, '_, R> {
    /// The position pass across the normal: corrects penetration. `predicted` are the velocities that prediction gave,
    /// for pairs that may bounce.
    ///
    /// The constraint is unilateral: the sum of all corrections pushes; a single one may take back.
    #[inline(always)]
    pub(super) fn press(
        self,
        predicted: Option<&[Velocity<R::Wide>; 2]>,
        given: &PositionTerms<'_, R>,
    ) {
        let Self { point, patch, pair } = self;
        let zero = R::Wide::ZERO;
        let reach = pair.reach(point);
        if given.terms.fresh {
            (point.lambda, point.drag) = (zero, V3::ZERO);
            if let Some(velocities) = predicted {
                point.approach = patch.normal.dot(relative_velocity(&reach.arms, velocities));
            }
        }
        let distance = point.gap + patch.normal.dot(reach.moved);
        point.near = positive(R::Wide::splat(given.near) - distance);
        let active = (-distance).max(point.lambda);
        if !active.any_above(zero) {
            return;
        }
        let (turns, work) = pair.response(reach.arms, patch.normal);
        let step = ratio(R::Wide::splat(given.terms.relaxation) * distance, work);
        let next = (point.lambda - step).max(zero);
        let change = next - point.lambda;
        point.lambda = next;
        pair.push(turns, patch.normal, change, active);
    }

    /// The position pass along the surfaces: static friction, all or nothing.
    ///
    /// What would stop the point is spent if the budget has it; what would bring it back to where it began
    /// to stick, as far as the budget goes.
    #[inline(always)]
    pub(super) fn hold(self, budget: &mut Budget<R::Wide>, given: &PositionTerms<'_, R>) {
        let Self { point, patch, pair } = self;
        let zero = R::Wide::ZERO;
        let on = positive(point.acts());
        point.stuck = point.stuck * on;
        point.sticks = zero;
        if !on.any_above(zero) {
            return;
        }
        if given.terms.fresh {
            let anew = match given.friction {
                FrictionRule::Net => on - point.stuck,
                FrictionRule::Published => on,
            };
            point.place = pick_vector(anew, point.before, point.place);
        }
        let reach = pair.reach(point);
        let relaxation = R::Wide::splat(given.terms.relaxation);
        let undoing = |slip: V3<R::Wide>| {
            let (_, work) = pair.response(reach.arms, slip);
            slip * -(relaxation * ratio(slip.dot(slip), work))
        };
        let stop = point.drag + undoing(across(patch.normal, reach.moved - point.before));
        point.sticks = budget.grip(point.drag, stop) * on;
        let mut next = V3::ZERO;
        if point.sticks.any_above(zero) {
            let back = undoing(across(patch.normal, point.before - point.place));
            let part = budget.part(point.sticks, point.drag, stop, back);
            next = pick_vector(point.sticks, stop + back * part, V3::ZERO);
        }
        let change = next - point.drag;
        point.drag = next;
        budget.spent += change;
        let live = size(change);
        if live.any_above(zero) {
            let (turns, _) = pair.response(reach.arms, change);
            pair.push(turns, change, R::Wide::ONE, live);
        }
    }

    /// Looks where the step or sub-step has led, before the velocity pass. If it `counts`, the next one begins here.
    #[inline(always)]
    pub(super) fn arrive(self, counts: bool) {
        let Self { point, pair, .. } = self;
        let reach = pair.reach(point);
        point.arms = reach.arms;
        if counts {
            point.before = reach.moved;
        }
    }

    /// Restitution (Eq. 34) of a point that is pressed, which without a bounce takes away what pushing apart has added.
    #[inline(always)]
    pub(super) fn reflect(
        self,
        velocities: &mut [Velocity<R::Wide>; 2],
        rebound: &VelocityTerms<R>,
    ) {
        let Self { point, patch, pair } = self;
        let zero = R::Wide::ZERO;
        point.push = zero;
        if !point.lambda.any_above(zero) {
            return;
        }
        let (turns, work) = pair.response(point.arms, patch.normal);
        let mut aim = zero;
        if pair.batch.bounces {
            let threshold = R::Wide::splat(rebound.threshold);
            let bounces = positive(point.approach.abs() - threshold);
            aim = (-(bounces * patch.restitution * point.approach)).max(zero);
        }
        let speed = patch.normal.dot(relative_velocity(&point.arms, velocities));
        point.push = pick(point.lambda, ratio(aim - speed, work), zero);
        pair.accelerate(velocities, turns, patch.normal, point.push);
    }

    /// Dynamic friction (Eq. 30) of a point that static friction has given the impulse `held` [N s]. Returns the
    /// impulse on A [N s]. If it `counts`, the step or sub-step ends here.
    ///
    /// As printed, the equation compares a force with a velocity; impulses are meant.
    #[inline(always)]
    pub(super) fn rub(
        self,
        velocities: &mut [Velocity<R::Wide>; 2],
        held: V3<R::Wide>,
        budget: &mut Budget<R::Wide>,
        counts: bool,
    ) -> V3<R::Wide> {
        let Self { point, patch, pair } = self;
        let on = positive(point.acts());
        // Whether it is held is told by the end alone, neither by other lanes nor by those who look before.
        if counts {
            point.stuck = R::Wide::ZERO;
        }
        if !on.any_above(R::Wide::ZERO) {
            return V3::ZERO;
        }
        let slip = across(patch.normal, relative_velocity(&point.arms, velocities));
        let (turns, work) = pair.response(point.arms, slip);
        let share = ratio(slip.dot(slip), work);
        let part = budget.share(on, point.sticks, held, slip * -share);
        if counts {
            point.stuck = on * pick(R::Wide::ONE - part, R::Wide::ZERO, R::Wide::ONE);
        }
        let scale = -(share * part * on);
        let change = slip * scale;
        budget.spent += change;
        pair.accelerate(velocities, turns, slip, scale);
        change
    }
}

impl<W: Wide> TouchPoint<W> {
    /// Adds what the step or sub-step has exerted, with `rubbed` [N s] in the velocity pass.
    #[inline(always)]
    pub(super) fn count(&mut self, normal: V3<W>, rubbed: V3<W>, inverse_h: W) {
        let held = (normal * self.lambda + self.drag) * inverse_h;
        self.impulse += held + normal * self.push + rubbed;
    }
}
