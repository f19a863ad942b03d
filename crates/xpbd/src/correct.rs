//! One correction: how two bodies move so that one element of a joint or spring is met.
//!
//! Every correction is the scalar Newton step of Müller et al. 2020, Eq. 2 to 9 and 11 to 16,
//! `dlambda = -(C + a lambda) / (wA + wB + a)` with `a = alpha / h^2`, along the direction of the error.
//! The direction is left unnormalised, `e = |C| n`, which saves a root and a division: with
//! `t = r x e` the generalised inverse mass is `w = 1/m + t . I^-1 t / |e|^2`.

use taut_core::constraint::RowKind;
use taut_math::{M3, Q4, Real, Sym3, V3};
use taut_model::{Form, Pair, Pose, Role, Side, Wrench, counted, gradient};

use crate::{
    body::Weight,
    layout::{ElementFrame, PackedElement},
    settings::PointRule,
};

/// What all corrections of a sweep share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms<R> {
    /// `1 / h^2`.
    pub(crate) inverse_square: R,
    /// `h^2`, which turns efforts into multipliers.
    pub(crate) square: R,
    /// Factor on every correction.
    pub(crate) relaxation: R,
    /// How points are corrected.
    pub(crate) blocks: PointRule,
    /// Whether this is the first sweep, before which multipliers are zero.
    pub(crate) fresh: bool,
    /// Whether the blocks of a joint are corrected there and back.
    pub(crate) symmetric: bool,
}

/// One body while it is corrected.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BodyEnd<'a, R> {
    pub(crate) pose: Pose<R>,
    pub(crate) weight: &'a Weight<R>,
}

/// The two bodies of a unit while it is corrected. Passed by value to stay in registers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BodyPair<'a, R> {
    pub(crate) a: BodyEnd<'a, R>,
    pub(crate) b: BodyEnd<'a, R>,
}

/// How one body answers an impulse: `w |e|^2` and the change of rotation in body axes, before scaling.
#[derive(Clone, Copy)]
pub(crate) struct BodyResponse<R> {
    work: R,
    pub(crate) turn: V3<R>,
}

impl<'a, R: Real> BodyPair<'a, R> {
    /// The bodies in two slots.
    #[inline(always)]
    pub(crate) fn at(slots: [u32; 2], poses: &[Pose<R>], weights: &'a [Weight<R>]) -> Self {
        let [a, b] = slots.map(|s| s as usize);
        Self::of([poses[a], poses[b]], [&weights[a], &weights[b]])
    }

    /// Two bodies at these poses.
    #[inline(always)]
    pub(crate) fn of(poses: [Pose<R>; 2], weights: [&'a Weight<R>; 2]) -> Self {
        let [a, b] = poses;
        Self {
            a: BodyEnd { pose: a, weight: weights[0] },
            b: BodyEnd { pose: b, weight: weights[1] },
        }
    }
}

impl<R: Real> BodyEnd<'_, R> {
    /// Answer to a force along `e` at the world-axis lever `arm`.
    #[inline(always)]
    fn under_force(&self, arm: V3<R>, e: V3<R>) -> BodyResponse<R> {
        let push = self.weight.inverse_mass * e.dot(e);
        let BodyResponse { work, turn } = self.under_torque(arm.cross(e));
        BodyResponse { work: push + work, turn }
    }

    /// Answer to a torque along `t`. The inertia is that of the current rotation.
    #[inline(always)]
    pub(crate) fn under_torque(&self, t: V3<R>) -> BodyResponse<R> {
        if !self.weight.turns {
            return BodyResponse { work: R::ZERO, turn: V3::ZERO };
        }
        let local = self.pose.rotation.conjugate().rotate(t);
        let turn = self.weight.inverse_inertia.apply(local);
        BodyResponse { work: local.dot(turn), turn }
    }

    /// Moves by an impulse `push` and a body-axis turn: Eq. 6 to 9, with `[I^-1 t, 0] q` written
    /// in body axes as `q [.., 0]`.
    #[inline(always)]
    pub(crate) fn moved(mut self, push: V3<R>, turn: V3<R>) -> Self {
        self.pose.position += push * self.weight.inverse_mass;
        self.turned(turn)
    }

    #[inline(always)]
    fn turned(mut self, turn: V3<R>) -> Self {
        if self.weight.turns {
            let half = Q4 { v: turn * R::HALF, w: R::ONE };
            self.pose.rotation = self.pose.rotation.times(half).normalised();
        }
        self
    }

    /// How far a unit impulse at `anchor` moves that anchor, in world axes: `1/m - [r] I^-1 [r]`.
    fn mobility(&self, anchor: V3<R>) -> Sym3<R> {
        let local = self.weight.inverse_inertia.rotated(&M3::skew(anchor));
        let push = Sym3::diagonal(V3([self.weight.inverse_mass; 3]));
        local.rotated(&self.pose.rotation.matrix()).plus(push)
    }
}

/// How two bodies answer opposite forces, before scaling.
#[derive(Clone, Copy)]
pub(crate) struct PairResponse<R> {
    turn_a: V3<R>,
    turn_b: V3<R>,
}

impl<R: Real> PairResponse<R> {
    /// Moves both bodies by the impulse `e s` on A and its opposite on B.
    #[inline(always)]
    pub(crate) fn by<'w>(self, pair: BodyPair<'w, R>, e: V3<R>, s: R) -> BodyPair<'w, R> {
        let impulse = e * s;
        BodyPair {
            a: pair.a.moved(impulse, self.turn_a * s),
            b: pair.b.moved(-impulse, self.turn_b * -s),
        }
    }
}

/// World-axis levers of both anchors, and the way from B's anchor to A's.
#[derive(Clone, Copy)]
struct PairSpan<R> {
    arm_a: V3<R>,
    arm_b: V3<R>,
    offset: V3<R>,
}

impl<R: Real> BodyPair<'_, R> {
    /// Corrects one element; `lambda` is its multiplier.
    #[inline]
    pub(crate) fn correct(
        self,
        element: &PackedElement<R>,
        frame: &ElementFrame<R>,
        lambda: &mut V3<R>,
        load: &mut Wrench<R>,
        terms: &Terms<R>,
    ) -> Self {
        if terms.fresh {
            *lambda = V3::ZERO;
        }
        match element.form {
            Form::Point => self.correct_point(element, lambda, load, terms),
            Form::Row(RowKind::Distance) if !element.bounded => {
                self.correct_distance(element, lambda, load, terms)
            }
            Form::Line => self.correct_line(element, frame, lambda, load, terms),
            Form::Axis => self.correct_axis(element, frame, lambda, load, terms),
            Form::Twist => self.correct_twist(element, frame, lambda, load, terms),
            Form::Turn => self.correct_turn(element, frame, lambda, load, terms),
            Form::Row(row) => self.correct_row(row, element, frame, &mut lambda.0[0], load, terms),
        }
    }

    #[inline(always)]
    fn span(&self, element: &PackedElement<R>) -> PairSpan<R> {
        let arm_a = self.a.pose.rotation.rotate(element.anchor_a);
        let arm_b = self.b.pose.rotation.rotate(element.anchor_b);
        let offset = (self.a.pose.position - self.b.pose.position) + (arm_a - arm_b);
        PairSpan { arm_a, arm_b, offset }
    }

    /// Joint bases of A and B, joint to world.
    #[inline]
    fn bases(&self, frame: &ElementFrame<R>) -> (Q4<R>, Q4<R>) {
        let basis_a = self.a.pose.rotation.times(frame.basis_a);
        (basis_a, self.b.pose.rotation.times(frame.basis_b))
    }

    fn pair(&self, element: &PackedElement<R>, frame: &ElementFrame<R>) -> Pair<R> {
        let PairSpan { arm_a, arm_b, offset } = self.span(element);
        let (basis_a, basis_b) = self.bases(frame);
        Pair { arm_a, arm_b, offset, basis_a, basis_b }
    }

    /// Current value of a scalar row.
    pub(crate) fn value(
        &self,
        row: RowKind,
        element: &PackedElement<R>,
        frame: &ElementFrame<R>,
    ) -> R {
        gradient(row, &self.pair(element, frame), Side::A).value
    }

    /// Answer to opposite forces along `e` at both levers, and `(wA + wB) |e|^2`.
    #[inline(always)]
    pub(crate) fn response(&self, arm_a: V3<R>, arm_b: V3<R>, e: V3<R>) -> (PairResponse<R>, R) {
        let (a, b) = (self.a.under_force(arm_a, e), self.b.under_force(arm_b, e));
        (PairResponse { turn_a: a.turn, turn_b: b.turn }, a.work + b.work)
    }

    /// Drives the error `e`, whose gradient on A is along itself, to zero. Returns the impulse on A.
    #[inline(always)]
    fn pulled(
        self,
        arm_a: V3<R>,
        arm_b: V3<R>,
        e: V3<R>,
        softness: R,
        terms: &Terms<R>,
    ) -> (Self, V3<R>) {
        let (response, work) = self.response(arm_a, arm_b, e);
        let square = e.dot(e);
        let resistance = work + softness * square;
        if resistance <= R::ZERO {
            return (self, V3::ZERO);
        }
        let s = -(terms.relaxation * square / resistance);
        (response.by(self, e, s), e * s)
    }

    /// The same for a rotation error of squared size `square` with gradient `t` on A, both times
    /// its size. Returns the factor on the error that gives the multiplier.
    #[inline]
    fn wrung(self, t: V3<R>, square: R, softness: R, terms: &Terms<R>) -> (Self, R) {
        let (a, b) = (self.a.under_torque(t), self.b.under_torque(t));
        let resistance = a.work + b.work + softness * square;
        if resistance <= R::ZERO {
            return (self, R::ZERO);
        }
        let s = -(terms.relaxation * square / resistance);
        (Self { a: self.a.turned(a.turn * s), b: self.b.turned(b.turn * -s) }, s)
    }

    #[inline(always)]
    fn correct_point(
        self,
        element: &PackedElement<R>,
        lambda: &mut V3<R>,
        load: &mut Wrench<R>,
        terms: &Terms<R>,
    ) -> Self {
        let span = self.span(element);
        let softness = element.compliance * terms.inverse_square;
        let error = span.offset + *lambda * softness;
        let (after, impulse) = match terms.blocks {
            PointRule::Direction => self.pulled(span.arm_a, span.arm_b, error, softness, terms),
            PointRule::Matrix => self.pulled_by_matrix(element, &span, error, softness, terms),
        };
        *lambda += impulse;
        load.force += -impulse;
        after
    }

    /// All three rows at once: `(M + a) impulse = -error`.
    fn pulled_by_matrix(
        self,
        element: &PackedElement<R>,
        span: &PairSpan<R>,
        error: V3<R>,
        softness: R,
        terms: &Terms<R>,
    ) -> (Self, V3<R>) {
        let matrix = Sym3::diagonal(V3([softness; 3]))
            .plus(self.a.mobility(element.anchor_a))
            .plus(self.b.mobility(element.anchor_b));
        let impulse = matrix.solve(error) * -terms.relaxation;
        let a = self.a.under_force(span.arm_a, impulse);
        let b = self.b.under_force(span.arm_b, -impulse);
        let moved = Self { a: self.a.moved(impulse, a.turn), b: self.b.moved(-impulse, b.turn) };
        (moved, impulse)
    }

    #[inline(always)]
    fn correct_distance(
        self,
        element: &PackedElement<R>,
        lambda: &mut V3<R>,
        load: &mut Wrench<R>,
        terms: &Terms<R>,
    ) -> Self {
        let span = self.span(element);
        let length = span.offset.norm();
        if length <= R::ZERO {
            return self;
        }
        let n = span.offset * (R::ONE / length);
        let softness = element.compliance * terms.inverse_square;
        let error = n * ((length - element.rest) + softness * lambda.0[0]);
        let (after, impulse) = self.pulled(span.arm_a, span.arm_b, error, softness, terms);
        lambda.0[0] += impulse.dot(n);
        load.force += -impulse;
        after
    }

    fn correct_line(
        self,
        element: &PackedElement<R>,
        frame: &ElementFrame<R>,
        lambda: &mut V3<R>,
        load: &mut Wrench<R>,
        terms: &Terms<R>,
    ) -> Self {
        let PairSpan { arm_a, arm_b, offset } = self.span(element);
        let (basis, _) = self.bases(frame);
        let along = basis.rotate(V3::axis(0));
        let softness = element.compliance * terms.inverse_square;
        let error = offset + along * -along.dot(offset) + basis.rotate(*lambda) * softness;
        // Both impulses act at B's anchor, so that the pair makes no angular momentum.
        let (after, impulse) = self.pulled(arm_a - offset, arm_b, error, softness, terms);
        *lambda += basis.conjugate().rotate(impulse);
        load.force += -impulse;
        after
    }

    /// Eq. 20 with the joint's x axes. Hard rows turn about the common normal by the sine of the
    /// angle, as published; compliant ones use the gradient of their energy.
    fn correct_axis(
        self,
        element: &PackedElement<R>,
        frame: &ElementFrame<R>,
        lambda: &mut V3<R>,
        load: &mut Wrench<R>,
        terms: &Terms<R>,
    ) -> Self {
        let (a, b) = self.bases(frame);
        let along = b.rotate(V3::axis(0));
        let softness = element.compliance * terms.inverse_square;
        // Components of B's axis across A's are the two rows.
        let mut rows = a.conjugate().rotate(along) + *lambda * softness;
        rows.0[0] = R::ZERO;
        let across = a.rotate(rows);
        let normal = if softness > R::ZERO { along } else { a.rotate(V3::axis(0)) };
        let t = across.cross(normal);
        let (after, s) = self.wrung(t, rows.dot(rows), softness, terms);
        *lambda += rows * s;
        load.torque += t * -s;
        after
    }

    /// Eq. 18 and 19. Hard rows as published, compliant ones with the gradient of their energy.
    fn correct_twist(
        self,
        element: &PackedElement<R>,
        frame: &ElementFrame<R>,
        lambda: &mut V3<R>,
        load: &mut Wrench<R>,
        terms: &Terms<R>,
    ) -> Self {
        let (a, b) = self.bases(frame);
        let turn = a.conjugate().times(b);
        let sign = if turn.w < R::ZERO { -R::ONE } else { R::ONE };
        let (w, v) = (turn.w * sign, turn.v * sign);
        let softness = element.compliance * terms.inverse_square;
        let rows = v * R::TWO + *lambda * softness;
        let way = if softness > R::ZERO { rows * w + v.cross(rows) } else { rows };
        let t = -a.rotate(way);
        let (after, s) = self.wrung(t, rows.dot(rows), softness, terms);
        *lambda += rows * s;
        load.torque += t * -s;
        after
    }

    /// An angular spring: `rows` are those of its rotation vector, whose gradients are taken along them.
    fn correct_turn(
        self,
        element: &PackedElement<R>,
        frame: &ElementFrame<R>,
        lambda: &mut V3<R>,
        load: &mut Wrench<R>,
        terms: &Terms<R>,
    ) -> Self {
        let pair = self.pair(element, frame);
        let softness = element.compliance * terms.inverse_square;
        let rows = pair.turn() + *lambda * softness;
        let t = -pair.basis_a.rotate(pair.along_turn(rows));
        let (after, s) = self.wrung(t, rows.dot(rows), softness, terms);
        *lambda += rows * s;
        load.torque += t * -s;
        after
    }

    fn correct_row(
        self,
        row: RowKind,
        element: &PackedElement<R>,
        frame: &ElementFrame<R>,
        lambda: &mut R,
        load: &mut Wrench<R>,
        terms: &Terms<R>,
    ) -> Self {
        let pair = self.pair(element, frame);
        let on_a = gradient(row, &pair, Side::A);
        let on_b = gradient(row, &pair, Side::B);
        let (a, b) = (self.a.under_torque(on_a.angular), self.b.under_torque(on_b.angular));
        let push_a = self.a.weight.inverse_mass * on_a.linear.dot(on_a.linear);
        let push_b = self.b.weight.inverse_mass * on_b.linear.dot(on_b.linear);
        let weight = push_a + push_b + a.work + b.work;
        if weight <= R::ZERO {
            return self;
        }
        let next = next_multiplier(*lambda, on_a.value, weight, row, element, frame, terms);
        let change = next - *lambda;
        *lambda = next;
        let force = on_b.linear * change;
        load.force += force;
        load.torque += on_b.angular * change - pair.arm_b.cross(force);
        Self {
            a: self.a.moved(on_a.linear * change, a.turn * change),
            b: self.b.moved(force, b.turn * change),
        }
    }
}

/// The multiplier of a scalar row after its correction, within its bounds.
fn next_multiplier<R: Real>(
    lambda: R,
    value: R,
    weight: R,
    row: RowKind,
    element: &PackedElement<R>,
    frame: &ElementFrame<R>,
    terms: &Terms<R>,
) -> R {
    let gain = terms.relaxation / weight;
    match frame.role {
        Role::Lock | Role::Store | Role::Damp { .. } => {
            let softness = element.compliance * terms.inverse_square;
            let value = counted(row, value, element.rest);
            let error = (value - element.rest) + softness * lambda;
            lambda - terms.relaxation * error / (weight + softness)
        }
        Role::Limit { lower, upper } => {
            let value = counted(row, value, element.rest);
            // The multiplier that would bring the row to either bound, if that pushes inwards.
            let from_below = (lambda + (R::of(lower) - value) * gain).max(R::ZERO);
            let from_above = (lambda + (R::of(upper) - value) * gain).min(R::ZERO);
            from_below + from_above
        }
        Role::Motor { max_effort, .. } => {
            let value = counted(row, value, element.rest);
            let bound = R::of(max_effort) * terms.square;
            (lambda + (element.rest - value) * gain).max(-bound).min(bound)
        }
    }
}

#[cfg(test)]
mod tests;
