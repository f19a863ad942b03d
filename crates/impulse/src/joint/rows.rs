//! Up to three scalar rows that are solved at once: axes, twists, lines, distances, limits, motors.
//!
//! Values and gradients are those of [`taut_core::constraint`], so that what is held is what is judged.

use taut_math::{Q4, Real, Sym3, V3};
use taut_model::{
    Element, End, Form, Gradient, Pair, Pose, Role, Side, Softness, Wrench, counted, gradient,
};

use super::{Pass, VelocityPair, reaction::BlockReaction};
use crate::body::WorldWeight;

/// Where a joint or spring holds its two sides, in their coordinates.
#[derive(Clone, Copy, Debug)]
struct Anchors<R> {
    anchor_a: V3<R>,
    anchor_b: V3<R>,
    basis_a: Q4<R>,
    basis_b: Q4<R>,
}

/// Gradient of one row and how both sides answer to it. The linear gradient on B is minus that on A.
#[derive(Clone, Copy, Debug)]
struct Jacobian<R> {
    linear: V3<R>,
    angular_a: V3<R>,
    angular_b: V3<R>,
    /// Inverse inertia times the angular gradient.
    turn_a: V3<R>,
    turn_b: V3<R>,
}

/// A block of rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowBlock<R> {
    anchors: Anchors<R>,
    form: Form,
    role: Role,
    /// Value aimed at [m or rad].
    rest: R,
    jacobians: [Jacobian<R>; 3],
    /// World-axis lever of B's anchor [m].
    arm_b: V3<R>,
    pub(super) reaction: BlockReaction<R>,
}

impl<R: Real> Anchors<R> {
    fn of([a, b]: &[End; 2]) -> Self {
        Self {
            anchor_a: V3::of(&a.anchor),
            anchor_b: V3::of(&b.anchor),
            basis_a: Q4::of(&a.basis),
            basis_b: Q4::of(&b.basis),
        }
    }

    fn pair(&self, poses: [&Pose<R>; 2]) -> Pair<R> {
        let [qa, qb] = poses.map(|p| p.rotation);
        let (arm_a, arm_b) = (qa.rotate(self.anchor_a), qb.rotate(self.anchor_b));
        Pair {
            arm_a,
            arm_b,
            offset: poses[0].position - poses[1].position + (arm_a - arm_b),
            basis_a: qa.times(self.basis_a),
            basis_b: qb.times(self.basis_b),
        }
    }
}

impl<R: Real> Jacobian<R> {
    const NONE: Self = Self {
        linear: V3::ZERO,
        angular_a: V3::ZERO,
        angular_b: V3::ZERO,
        turn_a: V3::ZERO,
        turn_b: V3::ZERO,
    };

    fn new(on_a: &Gradient<R>, on_b: &Gradient<R>, sides: [&WorldWeight<R>; 2]) -> Self {
        Self {
            linear: on_a.linear,
            angular_a: on_a.angular,
            angular_b: on_b.angular,
            turn_a: sides[0].inverse_inertia.apply(on_a.angular),
            turn_b: sides[1].inverse_inertia.apply(on_b.angular),
        }
    }

    /// `J v`.
    #[inline(always)]
    fn rate(&self, pair: &VelocityPair<R>) -> R {
        self.linear.dot(pair.a.linear - pair.b.linear)
            + self.angular_a.dot(pair.a.angular)
            + self.angular_b.dot(pair.b.angular)
    }

    /// `J M^-1 J'^T`.
    fn coupling(&self, other: &Self, inverse_masses: R) -> R {
        self.linear.dot(other.linear) * inverse_masses
            + self.angular_a.dot(other.turn_a)
            + self.angular_b.dot(other.turn_b)
    }

    #[inline(always)]
    fn apply<'a>(&self, mut pair: VelocityPair<'a, R>, impulse: R) -> VelocityPair<'a, R> {
        let push = self.linear * impulse;
        pair.a.linear += push * pair.weight_a.inverse_mass;
        pair.a.angular += self.turn_a * impulse;
        pair.b.linear += -(push * pair.weight_b.inverse_mass);
        pair.b.angular += self.turn_b * impulse;
        pair
    }
}

impl<R: Real> RowBlock<R> {
    pub(super) fn new(element: &Element, ends: &[End; 2]) -> Self {
        Self {
            anchors: Anchors::of(ends),
            form: element.form,
            role: element.role,
            rest: R::of(element.target),
            jacobians: [Jacobian::NONE; 3],
            arm_b: V3::ZERO,
            reaction: BlockReaction::new(match element.role {
                // Of a sub-step of one second.
                Role::Damp { damping } => Softness::Stiffness(damping),
                _ => element.softness,
            }),
        }
    }

    pub(super) fn prepare(
        &mut self,
        poses: [&Pose<R>; 2],
        sides: [&WorldWeight<R>; 2],
        inverse_square: R,
        h: R,
    ) {
        let damps = matches!(self.role, Role::Damp { .. });
        if damps && self.form == Form::Turn {
            let [a, b] = poses.map(|pose| pose.rotation);
            self.anchors.basis_b = b.conjugate().times(a.times(self.anchors.basis_a)).normalised();
        }
        let pair = self.anchors.pair(poses);
        self.arm_b = pair.arm_b;
        let reaction = &mut self.reaction;
        reaction.softness = reaction.compliance * inverse_square;
        if damps {
            reaction.softness = reaction.softness * h;
        }
        for i in 0..self.form.rows() {
            let row = self.form.row(i);
            let (on_a, on_b) = (gradient(row, &pair, Side::A), gradient(row, &pair, Side::B));
            let value = on_a.value - self.rest;
            // Full turns are counted from the step before.
            reaction.value.0[i] =
                if damps { R::ZERO } else { counted(row, value, reaction.value.0[i]) };
            self.jacobians[i] = Jacobian::new(&on_a, &on_b, sides);
        }
        let inverse_masses = sides[0].inverse_mass + sides[1].inverse_mass;
        let [x, y, z] = &self.jacobians;
        let entry = |p: &Jacobian<R>, q: &Jacobian<R>| p.coupling(q, inverse_masses);
        let mut resistance =
            Sym3([entry(x, x), entry(y, y), entry(z, z), entry(x, y), entry(x, z), entry(y, z)]);
        for i in 0..self.form.rows() {
            resistance.0[i] += reaction.softness;
        }
        reaction.resist(&resistance);
    }

    pub(super) fn warm_start<'a>(&mut self, pair: VelocityPair<'a, R>) -> VelocityPair<'a, R> {
        self.reaction.hold();
        self.apply(pair, self.impulse())
    }

    /// Impulse along each row so far.
    fn impulse(&self) -> V3<R> {
        let lambda = self.reaction.lambda;
        match self.role {
            Role::Limit { .. } => V3([lambda.0[0] - lambda.0[1], R::ZERO, R::ZERO]),
            Role::Lock | Role::Store | Role::Damp { .. } | Role::Motor { .. } => lambda,
        }
    }

    #[inline(always)]
    fn apply<'a>(&self, mut pair: VelocityPair<'a, R>, impulse: V3<R>) -> VelocityPair<'a, R> {
        for i in 0..self.form.rows() {
            pair = self.jacobians[i].apply(pair, impulse.0[i]);
        }
        pair
    }

    #[inline(always)]
    pub(super) fn solve<'a>(
        &mut self,
        pair: VelocityPair<'a, R>,
        pass: &Pass<R>,
    ) -> VelocityPair<'a, R> {
        match self.role {
            Role::Lock | Role::Store | Role::Damp { .. } => self.solve_lock(pair, pass),
            Role::Limit { lower, upper } => self.solve_limit(pair, [lower, upper].map(R::of), pass),
            Role::Motor { speed, max_effort } => {
                let rate = self.jacobians[0].rate(&pair);
                let bound = R::of(max_effort) * pass.h;
                let BlockReaction { lambda, mass, .. } = &mut self.reaction;
                let next = lambda.0[0] + (R::of(speed) - rate) * mass.0[0];
                let next = next.max(-bound).min(bound);
                let change = next - lambda.0[0];
                lambda.0[0] = next;
                self.jacobians[0].apply(pair, change)
            }
        }
    }

    #[inline(always)]
    fn solve_lock<'a>(&mut self, pair: VelocityPair<'a, R>, pass: &Pass<R>) -> VelocityPair<'a, R> {
        let mut rate = V3::ZERO;
        for i in 0..self.form.rows() {
            rate.0[i] = self.jacobians[i].rate(&pair);
        }
        let change = self.reaction.answer(rate, pass);
        self.apply(pair, change)
    }

    /// Lower and upper bound in turn, each a row that only pushes; away from a bound it lets the
    /// coordinate come just so far in one sub-step.
    fn solve_limit<'a>(
        &mut self,
        mut pair: VelocityPair<'a, R>,
        bounds: [R; 2],
        pass: &Pass<R>,
    ) -> VelocityPair<'a, R> {
        let soft = &pass.soft.joint;
        let BlockReaction { value, lambda: lambdas, mass, .. } = &mut self.reaction;
        for (i, (bound, sign)) in bounds.into_iter().zip([R::ONE, -R::ONE]).enumerate() {
            let room = (value.0[0] - bound) * sign;
            let rate = self.jacobians[0].rate(&pair) * sign;
            let lambda = lambdas.0[i];
            let change = if room > R::ZERO {
                -(rate + room * pass.inverse_h) * mass.0[0]
            } else if pass.bias {
                -(rate + room * soft.rate) * mass.0[0] * soft.mass - lambda * soft.impulse
            } else {
                -rate * mass.0[0]
            };
            let next = (lambda + change).max(R::ZERO);
            lambdas.0[i] = next;
            pair = self.jacobians[0].apply(pair, (next - lambda) * sign);
        }
        pair
    }

    /// Adds its impulse on B to `load`.
    pub(super) fn add_to(&self, load: &mut Wrench<R>) {
        let impulse = self.impulse();
        for i in 0..self.form.rows() {
            let row = &self.jacobians[i];
            let lambda = impulse.0[i];
            let push = row.linear * -lambda;
            load.force += push;
            load.torque += row.angular_b * lambda - self.arm_b.cross(push);
        }
    }
}
