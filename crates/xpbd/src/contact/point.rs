//! One point of contact: position pass after section 3.5 of Müller et al. 2020, velocity pass after
//! their section 3.6.
//!
//! With `n` from B to A the constraint is `d = gap + n . (motion of A's anchor - motion of B's) >= 0`.

use taut_collide::{Contact, Grip, Manifold};
use taut_math::{Real, V3};

use super::{Rebound, budget::Budget};
use crate::{
    body::{Bodies, Pose, Twist},
    correct::{Couple, Terms, Yield},
    settings::Friction,
};

/// A point of contact during one step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point<R> {
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
    held: bool,
    /// Whether it is so close that it may bear a part of its pair's load.
    near: bool,
    /// Normal velocity that prediction gave [m/s].
    approach: R,
    /// What the step has exerted on A so far [N s].
    pub(super) impulse: V3<R>,
    /// Normal impulse of the velocity pass [N s].
    pub(super) push: R,
}

/// What the position pass reads beside poses and weights.
#[derive(Clone, Copy)]
pub(super) struct Carried<'a, R> {
    /// Poses at the start of the step or sub-step.
    pub(super) previous: &'a [Pose<R>],
    /// Predicted velocities.
    pub(super) twists: &'a [Twist<R>],
    /// Poses when the contacts were found.
    pub(super) origins: &'a [Pose<R>],
    pub(super) terms: &'a Terms<R>,
    pub(super) friction: Friction,
    /// Points closer than that share the load of their pair [m].
    pub(super) near: R,
}

/// World-axis levers of the point midway between the anchors, where both bodies are pushed so that
/// no angular momentum is made; and how far A's anchor has moved against B's since the contact was found.
struct Reach<R> {
    arm_a: V3<R>,
    arm_b: V3<R>,
    moved: V3<R>,
}

impl<R: Real> Point<R> {
    pub(super) fn new(
        contact: &Contact,
        manifold: &Manifold,
        round: [bool; 2],
        bodies: &Bodies<R>,
    ) -> Self {
        let [anchor_a, anchor_b] = contact.anchors().map(|anchor| V3::of(&anchor));
        let [a, b] = contact.nodes().map(|i| &bodies.poses[i as usize]);
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
            held: false,
            near: false,
            approach: R::ZERO,
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
    #[inline]
    fn reach(&self, a: &Pose<R>, b: &Pose<R>, origins: [&Pose<R>; 2]) -> Reach<R> {
        let (arm_a, moved_a) = self.lever(0, self.anchor_a, a, origins[0]);
        let (arm_b, moved_b) = self.lever(1, self.anchor_b, b, origins[1]);
        let centres = (a.position - origins[0].position) - (b.position - origins[1].position);
        let moved = centres + (moved_a - moved_b);
        let half = (self.apart + moved) * R::HALF;
        Reach { arm_a: arm_a - half, arm_b: arm_b + half, moved }
    }

    /// Lever of one side, and how far turning has moved its end.
    ///
    /// The lowest point of a rolling ball is always new material. Followed to first order, it neither
    /// rises nor lets the ball sink.
    #[inline]
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
    pub(super) fn press<'w>(
        &mut self,
        couple: Couple<'w, R>,
        slots: [u32; 2],
        carried: &Carried<'_, R>,
    ) -> Couple<'w, R> {
        let slots = slots.map(|s| s as usize);
        let origins = slots.map(|s| &carried.origins[s]);
        let reach = self.reach(&couple.a.pose, &couple.b.pose, origins);
        if carried.terms.fresh {
            (self.lambda, self.drag, self.push) = (R::ZERO, V3::ZERO, R::ZERO);
            let twists = slots.map(|s| carried.twists[s]);
            self.approach = self.normal.dot(velocity(&reach, &twists));
        }
        self.separate(couple, &reach, carried)
    }

    /// The position pass along the surfaces: static friction, all or nothing.
    ///
    /// What would stop the point is spent if the budget has it; what would bring it back to where it began
    /// to stick, as far as the budget goes.
    pub(super) fn hold<'w>(
        &mut self,
        couple: Couple<'w, R>,
        slots: [u32; 2],
        budget: &mut Budget<R>,
        carried: &Carried<'_, R>,
    ) -> Couple<'w, R> {
        if !self.bears() && self.drag == V3::ZERO {
            (self.stuck, self.held) = (false, false);
            return couple;
        }
        let slots = slots.map(|s| s as usize);
        let origins = slots.map(|s| &carried.origins[s]);
        let [a, b] = slots.map(|s| &carried.previous[s]);
        let before = self.reach(a, b, origins).moved;
        if carried.terms.fresh && !(self.stuck && carried.friction == Friction::Net) {
            self.place = before;
        }
        let reach = self.reach(&couple.a.pose, &couple.b.pose, origins);
        let undoing = |slip: V3<R>| {
            let (_, work) = couple.yielding(reach.arm_a, reach.arm_b, slip);
            let share = if work > R::ZERO { slip.dot(slip) / work } else { R::ZERO };
            slip * -(carried.terms.relaxation * share)
        };
        let stop = self.drag + undoing(self.across(reach.moved - before));
        self.held = budget.holds(self.drag, stop);
        let next = if self.held {
            let back = undoing(self.across(before - self.place));
            stop + back * budget.part(self.drag, stop, back)
        } else {
            V3::ZERO
        };
        let change = next - self.drag;
        self.drag = next;
        budget.spent += change;
        if change == V3::ZERO {
            return couple;
        }
        let (pulled, _) = couple.yielding(reach.arm_a, reach.arm_b, change);
        pulled.by(couple, change, R::ONE)
    }

    /// The unilateral constraint. The sum of all corrections pushes; a single one may take back.
    #[inline]
    fn separate<'w>(
        &mut self,
        couple: Couple<'w, R>,
        reach: &Reach<R>,
        carried: &Carried<'_, R>,
    ) -> Couple<'w, R> {
        let distance = self.gap + self.normal.dot(reach.moved);
        self.near = distance < carried.near;
        if distance >= R::ZERO && self.lambda == R::ZERO {
            return couple;
        }
        let (pushed, work) = couple.yielding(reach.arm_a, reach.arm_b, self.normal);
        if work <= R::ZERO {
            return couple;
        }
        let next = (self.lambda - carried.terms.relaxation * distance / work).max(R::ZERO);
        let change = next - self.lambda;
        self.lambda = next;
        pushed.by(couple, self.normal, change)
    }

    /// What the velocity pass needs of a point; `None` where nothing presses or holds it.
    pub(super) fn touch<'w>(
        &self,
        couple: Couple<'w, R>,
        origins: [&Pose<R>; 2],
    ) -> Option<Touch<'w, R>> {
        let reach = self.reach(&couple.a.pose, &couple.b.pose, origins);
        (self.bears() || self.drag != V3::ZERO).then_some(Touch { couple, reach })
    }

    /// Adds what the step or sub-step has exerted, with `rubbed` [N s] in the velocity pass.
    pub(super) fn count(&mut self, rubbed: V3<R>, rebound: &Rebound<R>) {
        if rebound.counts {
            let held = (self.normal * self.lambda + self.drag) * (R::ONE / rebound.h);
            self.impulse += held + self.normal * self.push + rubbed;
        }
    }

    /// Dynamic friction (Eq. 30) of a point that static friction has given the impulse `held` [N s].
    /// Returns the impulse on A [N s].
    ///
    /// As printed, the equation compares a force with a velocity; impulses are meant.
    #[inline]
    pub(super) fn rub(
        &mut self,
        touch: &Touch<'_, R>,
        twists: &mut [Twist<R>; 2],
        held: V3<R>,
        budget: &mut Budget<R>,
    ) -> V3<R> {
        let slip = self.across(touch.velocity(twists));
        let work = touch.along(slip).1;
        let share = if work > R::ZERO { slip.dot(slip) / work } else { R::ZERO };
        let stop = slip * -share;
        let part = budget.share(self.held, held, stop);
        self.stuck = part == R::ONE;
        let change = stop * part;
        budget.spent += change;
        touch.along(change).0.accelerate(twists, &touch.couple, change, R::ONE);
        change
    }

    /// Restitution (Eq. 34), which without a bounce takes away what pushing apart has added.
    #[inline]
    pub(super) fn reflect(
        &mut self,
        touch: &Touch<'_, R>,
        twists: &mut [Twist<R>; 2],
        rebound: &Rebound<R>,
    ) {
        self.push = R::ZERO;
        let (pushed, work) = touch.along(self.normal);
        if work <= R::ZERO || self.lambda <= R::ZERO {
            return;
        }
        let bounces = self.approach.abs() > rebound.threshold;
        let restitution = if bounces { self.restitution } else { R::ZERO };
        let aim = (-(restitution * self.approach)).max(R::ZERO);
        self.push = (aim - self.normal.dot(touch.velocity(twists))) / work;
        pushed.accelerate(twists, &touch.couple, self.normal, self.push);
    }
}

/// Two bodies at a point while their velocities are corrected.
pub(super) struct Touch<'w, R> {
    couple: Couple<'w, R>,
    reach: Reach<R>,
}

impl<R: Real> Touch<'_, R> {
    /// Answer to opposite impulses along `e`, and `(wA + wB) |e|^2`.
    #[inline]
    fn along(&self, e: V3<R>) -> (Yield<R>, R) {
        self.couple.yielding(self.reach.arm_a, self.reach.arm_b, e)
    }

    #[inline]
    fn velocity(&self, twists: &[Twist<R>; 2]) -> V3<R> {
        velocity(&self.reach, twists)
    }
}

/// Velocity of A's anchor against B's [m/s].
#[inline]
fn velocity<R: Real>(reach: &Reach<R>, [a, b]: &[Twist<R>; 2]) -> V3<R> {
    (a.velocity + a.omega.cross(reach.arm_a)) - (b.velocity + b.omega.cross(reach.arm_b))
}
