//! One correction: how two bodies move so that one element of a joint or spring is met.
//!
//! Every correction is the scalar Newton step of Müller et al. 2020, Eq. 2 to 9 and 11 to 16,
//! `dlambda = -(C + a lambda) / (wA + wB + a)` with `a = alpha / h^2`, along the direction of the error.
//! The direction is left unnormalised, `e = |C| n`, which saves a root and a division: with
//! `t = r x e` the generalised inverse mass is `w = 1/m + t . I^-1 t / |e|^2`.

use taut_core::constraint::RowKind;
use taut_descent::{
    math::{M3, Q4, Sym3, V3},
    real::Real,
    row::{Pair, Side, gradient},
};

use crate::{
    body::{Pose, Weight},
    layout::{Element, Frame, Kind, Role},
    settings::Blocks,
};

/// What a unit has exerted on B so far, times `h^2`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load<R> {
    /// Sum of forces [N s^2].
    pub(crate) force: V3<R>,
    /// Sum of torques beside those of the force at B's anchor [N m s^2].
    pub(crate) torque: V3<R>,
}

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
    pub(crate) blocks: Blocks,
    /// Whether this is the first sweep, before which multipliers are zero.
    pub(crate) fresh: bool,
}

/// The two bodies of a unit while it is corrected.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Couple<'a, R> {
    pub(crate) poses: [Pose<R>; 2],
    pub(crate) weights: [&'a Weight<R>; 2],
}

impl<R: Real> Load<R> {
    pub(crate) const NONE: Self = Self { force: V3::ZERO, torque: V3::ZERO };
}

/// How one body answers an impulse: `w |e|^2` and the change of rotation in body axes, before scaling.
#[derive(Clone, Copy)]
struct Response<R> {
    work: R,
    turn: V3<R>,
}

impl<R: Real> Weight<R> {
    /// To a force along `e` at the world-axis lever `arm`.
    #[inline]
    fn under_force(&self, rotation: Q4<R>, arm: V3<R>, e: V3<R>) -> Response<R> {
        let push = self.inverse_mass * e.dot(e);
        let Response { work, turn } = self.under_torque(rotation, arm.cross(e));
        Response { work: push + work, turn }
    }

    /// To a torque along `t`. The inertia is that of the current rotation.
    #[inline]
    fn under_torque(&self, rotation: Q4<R>, t: V3<R>) -> Response<R> {
        if !self.turns {
            return Response { work: R::ZERO, turn: V3::ZERO };
        }
        let local = rotation.conjugate().rotate(t);
        let turn = self.inverse_inertia.apply(local);
        Response { work: local.dot(turn), turn }
    }
}

impl<R: Real> Pose<R> {
    /// Moves by an impulse `push` and a body-axis turn: Eq. 6 to 9, with `[I^-1 t, 0] q` written
    /// in body axes as `q [.., 0]`.
    #[inline]
    fn give_way(&mut self, weight: &Weight<R>, push: V3<R>, turn: V3<R>) {
        self.position += push * weight.inverse_mass;
        if weight.turns {
            let half = Q4 { v: turn * R::HALF, w: R::ONE };
            self.rotation = self.rotation.times(half).normalised();
        }
    }
}

impl<R: Real> Couple<'_, R> {
    /// Corrects one element; `lambda` is its multiplier.
    #[inline]
    pub(crate) fn correct(
        &mut self,
        element: &Element<R>,
        frame: &Frame<R>,
        lambda: &mut V3<R>,
        load: &mut Load<R>,
        terms: &Terms<R>,
    ) {
        if terms.fresh {
            *lambda = V3::ZERO;
        }
        match element.kind {
            Kind::Point => self.correct_point(element, lambda, load, terms),
            Kind::Distance => self.correct_distance(element, lambda, load, terms),
            Kind::Line => self.correct_line(element, frame, lambda, load, terms),
            Kind::Axis => self.correct_axis(element, frame, lambda, load, terms),
            Kind::Twist => self.correct_twist(element, frame, lambda, load, terms),
            Kind::Row(row) => self.correct_row(row, element, frame, &mut lambda.0[0], load, terms),
        }
    }

    #[inline]
    fn arms(&self, element: &Element<R>) -> [V3<R>; 2] {
        [0, 1].map(|i| self.poses[i].rotation.rotate(element.anchors[i]))
    }

    #[inline]
    fn offset(&self, arms: [V3<R>; 2]) -> V3<R> {
        (self.poses[0].position - self.poses[1].position) + (arms[0] - arms[1])
    }

    #[inline]
    fn basis(&self, side: usize, frame: &Frame<R>) -> Q4<R> {
        self.poses[side].rotation.times(frame.bases[side])
    }

    fn pair(&self, element: &Element<R>, frame: &Frame<R>) -> Pair<R> {
        let arms = self.arms(element);
        Pair {
            arm_a: arms[0],
            arm_b: arms[1],
            offset: self.offset(arms),
            basis_a: self.basis(0, frame),
            basis_b: self.basis(1, frame),
        }
    }

    /// Current value of a scalar row.
    pub(crate) fn value(&self, row: RowKind, element: &Element<R>, frame: &Frame<R>) -> R {
        gradient(row, &self.pair(element, frame), Side::A).value
    }

    /// Drives the error `e`, whose gradient on A is along itself, to zero. Returns the impulse on A.
    #[inline]
    fn pull(&mut self, arms: [V3<R>; 2], e: V3<R>, softness: R, terms: &Terms<R>) -> V3<R> {
        let [a, b] =
            [0, 1].map(|i| self.weights[i].under_force(self.poses[i].rotation, arms[i], e));
        let square = e.dot(e);
        let resistance = a.work + b.work + softness * square;
        if resistance <= R::ZERO {
            return V3::ZERO;
        }
        let s = -(terms.relaxation * square / resistance);
        let impulse = e * s;
        self.poses[0].give_way(self.weights[0], impulse, a.turn * s);
        self.poses[1].give_way(self.weights[1], -impulse, b.turn * -s);
        impulse
    }

    /// The same for a rotation error of squared size `square` with gradient `t` on A, both times
    /// its size. Returns the factor on the error that gives the multiplier.
    #[inline]
    fn wring(&mut self, t: V3<R>, square: R, softness: R, terms: &Terms<R>) -> R {
        let [a, b] = [0, 1].map(|i| self.weights[i].under_torque(self.poses[i].rotation, t));
        let resistance = a.work + b.work + softness * square;
        if resistance <= R::ZERO {
            return R::ZERO;
        }
        let s = -(terms.relaxation * square / resistance);
        self.poses[0].give_way(self.weights[0], V3::ZERO, a.turn * s);
        self.poses[1].give_way(self.weights[1], V3::ZERO, b.turn * -s);
        s
    }

    #[inline]
    fn correct_point(
        &mut self,
        element: &Element<R>,
        lambda: &mut V3<R>,
        load: &mut Load<R>,
        terms: &Terms<R>,
    ) {
        let arms = self.arms(element);
        let softness = element.compliance * terms.inverse_square;
        let error = self.offset(arms) + *lambda * softness;
        let impulse = match terms.blocks {
            Blocks::Direction => self.pull(arms, error, softness, terms),
            Blocks::Matrix => self.pull_by_matrix(element, arms, error, softness, terms),
        };
        *lambda += impulse;
        load.force += -impulse;
    }

    /// All three rows at once: `(M + a) impulse = -error`.
    fn pull_by_matrix(
        &mut self,
        element: &Element<R>,
        arms: [V3<R>; 2],
        error: V3<R>,
        softness: R,
        terms: &Terms<R>,
    ) -> V3<R> {
        let mut matrix = Sym3::diagonal(V3([softness; 3]));
        for i in [0, 1] {
            matrix = matrix.plus(mobility(self.weights[i], &self.poses[i], element.anchors[i]));
        }
        let impulse = matrix.solve(error) * -terms.relaxation;
        for (i, impulse) in [impulse, -impulse].into_iter().enumerate() {
            let response = self.weights[i].under_force(self.poses[i].rotation, arms[i], impulse);
            self.poses[i].give_way(self.weights[i], impulse, response.turn);
        }
        impulse
    }

    #[inline]
    fn correct_distance(
        &mut self,
        element: &Element<R>,
        lambda: &mut V3<R>,
        load: &mut Load<R>,
        terms: &Terms<R>,
    ) {
        let arms = self.arms(element);
        let offset = self.offset(arms);
        let length = offset.norm();
        if length <= R::ZERO {
            return;
        }
        let n = offset * (R::ONE / length);
        let softness = element.compliance * terms.inverse_square;
        let error = n * ((length - element.rest) + softness * lambda.0[0]);
        let impulse = self.pull(arms, error, softness, terms);
        lambda.0[0] += impulse.dot(n);
        load.force += -impulse;
    }

    fn correct_line(
        &mut self,
        element: &Element<R>,
        frame: &Frame<R>,
        lambda: &mut V3<R>,
        load: &mut Load<R>,
        terms: &Terms<R>,
    ) {
        let arms = self.arms(element);
        let (offset, basis) = (self.offset(arms), self.basis(0, frame));
        let along = basis.rotate(V3::axis(0));
        let softness = element.compliance * terms.inverse_square;
        let error = offset + along * -along.dot(offset) + basis.rotate(*lambda) * softness;
        // Both impulses act at B's anchor, so that the pair makes no angular momentum.
        let impulse = self.pull([arms[0] - offset, arms[1]], error, softness, terms);
        if softness > R::ZERO {
            *lambda += basis.conjugate().rotate(impulse);
        }
        load.force += -impulse;
    }

    /// Eq. 20 with the joint's x axes. Hard rows turn about the common normal by the sine of the
    /// angle, as published; compliant ones use the gradient of their energy.
    fn correct_axis(
        &mut self,
        element: &Element<R>,
        frame: &Frame<R>,
        lambda: &mut V3<R>,
        load: &mut Load<R>,
        terms: &Terms<R>,
    ) {
        let (a, b) = (self.basis(0, frame), self.basis(1, frame));
        let along = b.rotate(V3::axis(0));
        let softness = element.compliance * terms.inverse_square;
        // Components of B's axis across A's are the two rows.
        let mut rows = a.conjugate().rotate(along) + *lambda * softness;
        rows.0[0] = R::ZERO;
        let across = a.rotate(rows);
        let t = if softness > R::ZERO {
            across.cross(along)
        } else {
            across.cross(a.rotate(V3::axis(0)))
        };
        let s = self.wring(t, rows.dot(rows), softness, terms);
        *lambda += rows * s;
        load.torque += t * -s;
    }

    /// Eq. 18 and 19. Hard rows as published, compliant ones with the gradient of their energy.
    fn correct_twist(
        &mut self,
        element: &Element<R>,
        frame: &Frame<R>,
        lambda: &mut V3<R>,
        load: &mut Load<R>,
        terms: &Terms<R>,
    ) {
        let (a, b) = (self.basis(0, frame), self.basis(1, frame));
        let turn = a.conjugate().times(b);
        let sign = if turn.w < R::ZERO { -R::ONE } else { R::ONE };
        let (w, v) = (turn.w * sign, turn.v * sign);
        let softness = element.compliance * terms.inverse_square;
        let rows = v * R::TWO + *lambda * softness;
        let way = if softness > R::ZERO { rows * w + v.cross(rows) } else { rows };
        let t = -a.rotate(way);
        let s = self.wring(t, rows.dot(rows), softness, terms);
        *lambda += rows * s;
        load.torque += t * -s;
    }

    fn correct_row(
        &mut self,
        row: RowKind,
        element: &Element<R>,
        frame: &Frame<R>,
        lambda: &mut R,
        load: &mut Load<R>,
        terms: &Terms<R>,
    ) {
        let pair = self.pair(element, frame);
        let sides = [Side::A, Side::B].map(|side| gradient(row, &pair, side));
        let [a, b] =
            [0, 1].map(|i| self.weights[i].under_torque(self.poses[i].rotation, sides[i].angular));
        let push = |i: usize| self.weights[i].inverse_mass * sides[i].linear.dot(sides[i].linear);
        let weight = push(0) + push(1) + a.work + b.work;
        if weight <= R::ZERO {
            return;
        }
        let value = sides[0].value;
        let next = next_multiplier(*lambda, value, weight, row, element, frame, terms);
        let change = next - *lambda;
        *lambda = next;
        self.poses[0].give_way(self.weights[0], sides[0].linear * change, a.turn * change);
        self.poses[1].give_way(self.weights[1], sides[1].linear * change, b.turn * change);
        let force = sides[1].linear * change;
        load.force += force;
        load.torque += sides[1].angular * change - pair.arm_b.cross(force);
    }
}

/// The multiplier of a scalar row after its correction, within its bounds.
fn next_multiplier<R: Real>(
    lambda: R,
    value: R,
    weight: R,
    row: RowKind,
    element: &Element<R>,
    frame: &Frame<R>,
    terms: &Terms<R>,
) -> R {
    let gain = terms.relaxation / weight;
    match frame.role {
        Role::Lock => {
            let softness = element.compliance * terms.inverse_square;
            let error = (value - element.rest) + softness * lambda;
            lambda - terms.relaxation * error / (weight + softness)
        }
        Role::Limit { lower, upper } => {
            // The multiplier that would bring the row to either bound, if that pushes inwards.
            let from_below = (lambda + (lower - value) * gain).max(R::ZERO);
            let from_above = (lambda + (upper - value) * gain).min(R::ZERO);
            from_below + from_above
        }
        Role::Motor { max_effort, .. } => {
            let value = if row == RowKind::Angle { near(value, element.rest) } else { value };
            let bound = max_effort * terms.square;
            (lambda + (element.rest - value) * gain).max(-bound).min(bound)
        }
    }
}

/// The angle equal to `angle` up to full turns that is nearest to `target` [rad].
fn near<R: Real>(angle: R, target: R) -> R {
    use std::f64::consts::TAU;
    let turns = ((target - angle).to_f64() / TAU).round();
    angle + R::of(turns * TAU)
}

/// How far a unit impulse at `anchor` moves that anchor, in world axes: `1/m - [r] I^-1 [r]`.
fn mobility<R: Real>(weight: &Weight<R>, pose: &Pose<R>, anchor: V3<R>) -> Sym3<R> {
    let local = weight.inverse_inertia.rotated(&M3::skew(anchor));
    let push = Sym3::diagonal(V3([weight.inverse_mass; 3]));
    local.rotated(&pose.rotation.matrix()).plus(push)
}

#[cfg(test)]
mod tests;
