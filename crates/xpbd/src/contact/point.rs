//! One point of contact: position pass after section 3.5 of Müller et al. 2020, velocity pass after
//! their section 3.6.
//!
//! With `n` from B to A the constraint is `d = gap + n . (motion of A's anchor - motion of B's) >= 0`.

use taut_collide::{Contact, Grip, Manifold};
use taut_math::{Real, V3};
use taut_model::{Pose, Velocity};

use super::{VelocityTerms, budget::Budget, pair::TouchingPair};
use crate::{body::PositionBodies, correct::Terms, settings::FrictionRule};

/// A point of contact during one step.
#[derive(Clone, Copy, Debug)]
pub(super) struct PatchPoint<R> {
    /// Anchor on A in its coordinates [m].
    anchor_a: V3<R>,
    /// Anchor on B in its coordinates [m].
    anchor_b: V3<R>,
    /// Unit vector from B to A.
    pub(super) normal: V3<R>,
    /// World-axis levers when the contact was found [m].
    levers: [V3<R>; 2],
    /// Whether either body may roll, which turns its material away from the point.
    round: [bool; 2],
    /// Gap when the contact was found [m].
    gap: R,
    /// Way from B's anchor to A's when the contact was found [m].
    apart: V3<R>,
    /// Static and dynamic coefficients of friction.
    pub(super) friction: [R; 2],
    restitution: R,
    /// Which patch of its pair it belongs to.
    pub(super) patch: u32,
    /// Normal multiplier, times `h^2` [N s^2].
    pub(super) lambda: R,
    /// Tangential multiplier, times `h^2` [N s^2].
    pub(super) drag: V3<R>,
    /// Where it is held, as motion of A's anchor against B's since the contact was found [m].
    place: V3<R>,
    /// Whether it is held there.
    stuck: bool,
    /// Whether static friction has stopped it in this step or sub-step.
    grip: Grip,
    /// Whether it is so close that it may bear a part of its pair's load.
    near: bool,
    /// Normal velocity that prediction gave [m/s].
    approach: R,
    /// How far its anchors had moved when the step or sub-step began [m], where that is known.
    before: Option<V3<R>>,
    /// Levers and motion at its end, where the velocity pass has looked at them.
    end: Option<Reach<R>>,
    /// What the step has exerted on A so far [N s].
    pub(super) impulse: V3<R>,
    /// Normal impulse of the velocity pass [N s].
    pub(super) push: R,
}

/// What the position pass reads beside poses and weights.
#[derive(Clone, Copy)]
pub(super) struct PositionTerms<'a, R> {
    /// Poses at the start of the step or sub-step.
    pub(super) previous: &'a [Pose<R>],
    /// Predicted velocities.
    pub(super) velocities: &'a [Velocity<R>],
    /// Poses when the contacts were found.
    pub(super) origins: &'a [Pose<R>],
    pub(super) terms: &'a Terms<R>,
    pub(super) friction: FrictionRule,
    /// Points closer than that share the load of their pair [m].
    pub(super) near: R,
}

/// World-axis levers of the point midway between the anchors, where both bodies are pushed so that
/// no angular momentum is made; and how far A's anchor has moved against B's since the contact was found.
#[derive(Clone, Copy, Debug)]
struct Reach<R> {
    arms: [V3<R>; 2],
    moved: V3<R>,
}

impl<R: Real> PatchPoint<R> {
    pub(super) fn new(
        contact: &Contact,
        manifold: &Manifold,
        round: [bool; 2],
        bodies: &PositionBodies<R>,
    ) -> Self {
        let [anchor_a, anchor_b] = contact.anchors().map(|anchor| V3::of(&anchor));
        let [a, b] = contact.nodes().map(|i| &bodies.now.poses[i as usize]);
        let levers = [a.rotation.rotate(anchor_a), b.rotation.rotate(anchor_b)];
        Self {
            anchor_a,
            anchor_b,
            normal: V3::of(&contact.normal),
            levers,
            round,
            gap: R::of(contact.gap),
            apart: (a.position - b.position) + (levers[0] - levers[1]),
            friction: [Grip::Sticks, Grip::Slides].map(|grip| R::of(manifold.friction(grip))),
            restitution: R::of(manifold.restitution),
            patch: 0,
            lambda: R::ZERO,
            drag: V3::ZERO,
            place: V3::ZERO,
            stuck: false,
            grip: Grip::Slides,
            near: false,
            approach: R::ZERO,
            before: None,
            end: None,
            impulse: V3::ZERO,
            push: R::ZERO,
        }
    }

    /// How far A's anchor is from where it is held against B [m]; `None` where it is not held.
    pub(super) fn strain(&self, a: &Pose<R>, b: &Pose<R>, origins: [&Pose<R>; 2]) -> Option<V3<R>> {
        self.stuck.then(|| self.reach(a, b, origins).moved - self.place)
    }

    /// Continues a point that was held with such a strain [m].
    pub(super) fn resume(&mut self, strain: V3<R>) {
        self.place = self.across(-strain);
        self.stuck = true;
    }

    /// Whether it bears a part of its pair's load. One sweep may leave a point out that should be pressed.
    pub(super) fn bears(&self) -> bool {
        self.near || self.lambda > R::ZERO
    }

    /// The tangential part of a vector.
    #[inline]
    fn across(&self, v: V3<R>) -> V3<R> {
        v - self.normal * self.normal.dot(v)
    }

    /// Differences of places instead of places, so that single precision keeps its digits.
    #[inline(always)]
    fn reach(&self, a: &Pose<R>, b: &Pose<R>, origins: [&Pose<R>; 2]) -> Reach<R> {
        let (arm_a, moved_a) = self.lever(0, self.anchor_a, a, origins[0]);
        let (arm_b, moved_b) = self.lever(1, self.anchor_b, b, origins[1]);
        let centres = (a.position - origins[0].position) - (b.position - origins[1].position);
        let moved = centres + (moved_a - moved_b);
        let half = (self.apart + moved) * R::HALF;
        Reach { arms: [arm_a - half, arm_b + half], moved }
    }

    /// Lever of one side, and how far turning has moved its end.
    ///
    /// The lowest point of a rolling ball is always new material. Followed to first order, it neither
    /// rises nor lets the ball sink.
    #[inline(always)]
    fn lever(&self, side: usize, anchor: V3<R>, now: &Pose<R>, then: &Pose<R>) -> (V3<R>, V3<R>) {
        let start = self.levers[side];
        if self.round[side] {
            let turn = now.rotation.times(then.rotation.conjugate());
            let sign = if turn.w < R::ZERO { -R::TWO } else { R::TWO };
            return (start, (turn.v * sign).cross(start));
        }
        let arm = now.rotation.rotate(anchor);
        (arm, arm - start)
    }

    /// The position pass across the normal: corrects penetration.
    #[inline(always)]
    pub(super) fn press(
        &mut self,
        pair: &mut TouchingPair<'_, R>,
        slots: [u32; 2],
        given: &PositionTerms<'_, R>,
    ) {
        let slots = slots.map(|s| s as usize);
        let origins = slots.map(|s| &given.origins[s]);
        let reach = self.reach(&pair.poses[0], &pair.poses[1], origins);
        if given.terms.fresh {
            (self.lambda, self.drag, self.push) = (R::ZERO, V3::ZERO, R::ZERO);
            self.before = self.end.take().map(|end| end.moved);
            let velocities = slots.map(|s| given.velocities[s]);
            self.approach = self.normal.dot(relative_velocity(&reach, &velocities));
        }
        self.separate(pair, &reach, given);
    }

    /// The position pass along the surfaces: static friction, all or nothing.
    ///
    /// What would stop the point is spent if the budget has it; what would bring it back to where it began
    /// to stick, as far as the budget goes.
    #[inline(always)]
    pub(super) fn hold(
        &mut self,
        pair: &mut TouchingPair<'_, R>,
        slots: [u32; 2],
        budget: &mut Budget<R>,
        given: &PositionTerms<'_, R>,
    ) {
        if !self.bears() && self.drag == V3::ZERO {
            (self.stuck, self.grip) = (false, Grip::Slides);
            return;
        }
        let slots = slots.map(|s| s as usize);
        let origins = slots.map(|s| &given.origins[s]);
        let before = match self.before {
            Some(before) => before,
            None => {
                let [a, b] = slots.map(|s| &given.previous[s]);
                self.reach(a, b, origins).moved
            }
        };
        self.before = Some(before);
        if given.terms.fresh && !(self.stuck && given.friction == FrictionRule::Net) {
            self.place = before;
        }
        let reach = self.reach(&pair.poses[0], &pair.poses[1], origins);
        let undoing = |slip: V3<R>| {
            let (_, work) = pair.response(reach.arms, slip);
            let share = if work > R::ZERO { slip.dot(slip) / work } else { R::ZERO };
            slip * -(given.terms.relaxation * share)
        };
        let stop = self.drag + undoing(self.across(reach.moved - before));
        self.grip = budget.grip(self.drag, stop);
        let next = if self.grip == Grip::Sticks {
            let back = undoing(self.across(before - self.place));
            stop + back * budget.part(self.drag, stop, back)
        } else {
            V3::ZERO
        };
        let change = next - self.drag;
        self.drag = next;
        budget.spent += change;
        if change != V3::ZERO {
            let (turns, _) = pair.response(reach.arms, change);
            pair.push(turns, change, R::ONE);
        }
    }

    /// The unilateral constraint. The sum of all corrections pushes; a single one may take back.
    #[inline(always)]
    fn separate(
        &mut self,
        pair: &mut TouchingPair<'_, R>,
        reach: &Reach<R>,
        given: &PositionTerms<'_, R>,
    ) {
        let distance = self.gap + self.normal.dot(reach.moved);
        self.near = distance < given.near;
        if distance >= R::ZERO && self.lambda == R::ZERO {
            return;
        }
        let (turns, work) = pair.response(reach.arms, self.normal);
        if work <= R::ZERO {
            return;
        }
        let next = (self.lambda - given.terms.relaxation * distance / work).max(R::ZERO);
        let change = next - self.lambda;
        self.lambda = next;
        pair.push(turns, self.normal, change);
    }

    /// Looks where the step or sub-step has led, before the velocity pass; whether anything presses or holds it.
    #[inline(always)]
    pub(super) fn arrive(&mut self, pair: &TouchingPair<'_, R>, origins: [&Pose<R>; 2]) -> bool {
        let bears = self.bears() || self.drag != V3::ZERO;
        self.end = bears.then(|| self.reach(&pair.poses[0], &pair.poses[1], origins));
        bears
    }

    /// Whether anything presses or holds it at the end of the step or sub-step.
    pub(super) fn has_arrived(&self) -> bool {
        self.end.is_some()
    }

    /// Adds what the step or sub-step has exerted, with `rubbed` [N s] in the velocity pass.
    pub(super) fn count(&mut self, rubbed: V3<R>, rebound: &VelocityTerms<R>) {
        if rebound.counts {
            let held = (self.normal * self.lambda + self.drag) * (R::ONE / rebound.h);
            self.impulse += held + self.normal * self.push + rubbed;
        }
    }

    /// Dynamic friction (Eq. 30) of a point that has arrived and that static friction has given the impulse `held`
    /// [N s]. Returns the impulse on A [N s].
    ///
    /// As printed, the equation compares a force with a velocity; impulses are meant.
    #[inline(always)]
    pub(super) fn rub(
        &mut self,
        pair: &TouchingPair<'_, R>,
        velocities: &mut [Velocity<R>; 2],
        held: V3<R>,
        budget: &mut Budget<R>,
    ) -> V3<R> {
        let Some(reach) = self.end else { return V3::ZERO };
        let slip = self.across(relative_velocity(&reach, velocities));
        let (turns, work) = pair.response(reach.arms, slip);
        let share = if work > R::ZERO { slip.dot(slip) / work } else { R::ZERO };
        let part = budget.share(self.grip, held, slip * -share);
        self.stuck = part == R::ONE;
        let scale = -(share * part);
        let change = slip * scale;
        budget.spent += change;
        pair.accelerate(velocities, turns, slip, scale);
        change
    }

    /// Restitution (Eq. 34) of a point that has arrived, which without a bounce takes away what pushing apart has added.
    #[inline(always)]
    pub(super) fn reflect(
        &mut self,
        pair: &TouchingPair<'_, R>,
        velocities: &mut [Velocity<R>; 2],
        rebound: &VelocityTerms<R>,
    ) {
        self.push = R::ZERO;
        let Some(reach) = self.end.filter(|_| self.lambda > R::ZERO) else { return };
        let (turns, work) = pair.response(reach.arms, self.normal);
        if work <= R::ZERO {
            return;
        }
        let bounces = self.approach.abs() > rebound.threshold;
        let restitution = if bounces { self.restitution } else { R::ZERO };
        let aim = (-(restitution * self.approach)).max(R::ZERO);
        self.push = (aim - self.normal.dot(relative_velocity(&reach, velocities))) / work;
        pair.accelerate(velocities, turns, self.normal, self.push);
    }
}

/// Velocity of A's anchor against B's [m/s].
#[inline]
fn relative_velocity<R: Real>(reach: &Reach<R>, [a, b]: &[Velocity<R>; 2]) -> V3<R> {
    (a.linear + a.angular.cross(reach.arms[0])) - (b.linear + b.angular.cross(reach.arms[1]))
}
