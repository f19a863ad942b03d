//! Up to three scalar rows that are solved at once: axes, twists, lines, distances, limits, motors.
//!
//! Values and gradients are those of [`taut_core::constraint`], so that what is held is what is judged.

use taut_core::constraint::{Geometry, RowKind};
use taut_math::{Q4, Real, Sym3, V3};
use taut_model::{Gradient, Pair, Side, gradient};

use super::{
    Couple, Load, Pull,
    point::{inverse, spanned},
};
use crate::body::{Mobility, Pose};

/// Which rows a block has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RowSet {
    /// Parallel x axes: `Dot(1, 0)`, `Dot(2, 0)`.
    Axis,
    /// Parallel bases: `Twist(0..3)`.
    Twist,
    /// B's anchor on A's x axis: `Slide(1)`, `Slide(2)`.
    Line,
    /// A single row.
    One(RowKind),
}

/// How the impulse of a block is bounded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Role<R> {
    /// Not at all.
    Lock,
    /// Pushes inwards only [m or rad].
    Limit { lower: R, upper: R },
    /// By the effort [N or N m]; the speed is in m/s or rad/s.
    Motor { speed: R, max_effort: R },
}

/// Where a joint or spring holds its two sides, in their coordinates.
#[derive(Clone, Copy, Debug)]
pub(super) struct Anchors<R> {
    pub(super) anchor_a: V3<R>,
    pub(super) anchor_b: V3<R>,
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
pub(super) struct Rows<R> {
    anchors: Anchors<R>,
    set: RowSet,
    role: Role<R>,
    /// Value aimed at [m or rad].
    rest: R,
    /// [m/N or rad/(N m)]
    compliance: R,
    jacobians: [Jacobian<R>; 3],
    /// World-axis lever of B's anchor [m].
    arm_b: V3<R>,
    /// Inverse of `J M^-1 J^T + compliance / h^2`.
    mass: Sym3<R>,
    /// `compliance / h^2`.
    softness: R,
    /// Values less what is aimed at, at the present pose.
    value: V3<R>,
    /// The same at the start of the sub-step, to which compliant rows are held.
    held: V3<R>,
    /// Impulses so far; of a limit those of the lower and of the upper bound, neither negative.
    lambda: V3<R>,
}

impl RowSet {
    /// How many rows it has.
    fn count(self) -> usize {
        match self {
            Self::One(_) => 1,
            Self::Axis | Self::Line => 2,
            Self::Twist => 3,
        }
    }

    fn row(self, i: usize) -> RowKind {
        match self {
            Self::One(row) => row,
            Self::Axis => RowKind::Dot(1 + i, 0),
            Self::Line => RowKind::Slide(1 + i),
            Self::Twist => RowKind::Twist(i),
        }
    }
}

impl<R: Real> Anchors<R> {
    pub(super) fn of(geometry: &Geometry) -> Self {
        Self {
            anchor_a: V3::of(&geometry.anchor_a),
            anchor_b: V3::of(&geometry.anchor_b),
            basis_a: Q4::of(&geometry.basis_a),
            basis_b: Q4::of(&geometry.basis_b),
        }
    }

    fn pair(&self, poses: [&Pose<R>; 2]) -> Pair<R> {
        let [qa, qb] = poses.map(|p| p.rotation);
        let (arm_a, arm_b) = (qa.rotate(self.anchor_a), qb.rotate(self.anchor_b));
        Pair {
            arm_a,
            arm_b,
            offset: spanned(poses, [arm_a, arm_b]),
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

    fn new(on_a: &Gradient<R>, on_b: &Gradient<R>, sides: [&Mobility<R>; 2]) -> Self {
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
    fn rate(&self, couple: &Couple<R>) -> R {
        self.linear.dot(couple.a.linear - couple.b.linear)
            + self.angular_a.dot(couple.a.angular)
            + self.angular_b.dot(couple.b.angular)
    }

    /// `J M^-1 J'^T`.
    fn coupling(&self, other: &Self, inverse_masses: R) -> R {
        self.linear.dot(other.linear) * inverse_masses
            + self.angular_a.dot(other.turn_a)
            + self.angular_b.dot(other.turn_b)
    }

    #[inline(always)]
    fn apply<'a>(&self, mut couple: Couple<'a, R>, impulse: R) -> Couple<'a, R> {
        let push = self.linear * impulse;
        couple.a.linear += push * couple.mobility_a.inverse_mass;
        couple.a.angular += self.turn_a * impulse;
        couple.b.linear += -(push * couple.mobility_b.inverse_mass);
        couple.b.angular += self.turn_b * impulse;
        couple
    }
}

impl<R: Real> Rows<R> {
    pub(super) fn new(
        anchors: Anchors<R>,
        set: RowSet,
        role: Role<R>,
        rest: f64,
        compliance: f64,
    ) -> Self {
        let zero = V3::ZERO;
        Self {
            anchors,
            set,
            role,
            rest: R::of(rest),
            compliance: R::of(compliance),
            jacobians: [Jacobian::NONE; 3],
            arm_b: zero,
            mass: Sym3::ZERO,
            softness: R::ZERO,
            value: zero,
            held: zero,
            lambda: zero,
        }
    }

    pub(super) fn forget(&mut self) {
        self.lambda = V3::ZERO;
    }

    pub(super) fn scale(&mut self, factor: R) {
        self.lambda = self.lambda * factor;
    }

    pub(super) fn prepare(
        &mut self,
        poses: [&Pose<R>; 2],
        sides: [&Mobility<R>; 2],
        inverse_square: R,
    ) {
        let pair = self.anchors.pair(poses);
        self.arm_b = pair.arm_b;
        self.softness = self.compliance * inverse_square;
        for i in 0..self.set.count() {
            let row = self.set.row(i);
            let (on_a, on_b) = (gradient(row, &pair, Side::A), gradient(row, &pair, Side::B));
            self.value.0[i] = on_a.value - self.rest;
            self.jacobians[i] = Jacobian::new(&on_a, &on_b, sides);
        }
        let inverse_masses = sides[0].inverse_mass + sides[1].inverse_mass;
        let [x, y, z] = &self.jacobians;
        let entry = |p: &Jacobian<R>, q: &Jacobian<R>| p.coupling(q, inverse_masses);
        let mut resistance =
            Sym3([entry(x, x), entry(y, y), entry(z, z), entry(x, y), entry(x, z), entry(y, z)]);
        for i in 0..self.set.count() {
            resistance.0[i] += self.softness;
        }
        self.mass = inverse(&resistance);
    }

    pub(super) fn warm_start<'a>(&mut self, couple: Couple<'a, R>) -> Couple<'a, R> {
        self.held = self.value;
        let impulse = match self.role {
            Role::Limit { .. } => V3([self.lambda.0[0] - self.lambda.0[1], R::ZERO, R::ZERO]),
            _ => self.lambda,
        };
        self.apply(couple, impulse)
    }

    #[inline(always)]
    fn apply<'a>(&self, mut couple: Couple<'a, R>, impulse: V3<R>) -> Couple<'a, R> {
        for i in 0..self.set.count() {
            couple = self.jacobians[i].apply(couple, impulse.0[i]);
        }
        couple
    }

    #[inline(always)]
    pub(super) fn solve<'a>(&mut self, couple: Couple<'a, R>, pull: &Pull<R>) -> Couple<'a, R> {
        match self.role {
            Role::Lock => self.solve_lock(couple, pull),
            Role::Limit { lower, upper } => self.solve_limit(couple, [lower, upper], pull),
            Role::Motor { speed, max_effort } => {
                let rate = self.jacobians[0].rate(&couple);
                let bound = max_effort * pull.h;
                let next = self.lambda.0[0] + (speed - rate) * self.mass.0[0];
                let next = next.max(-bound).min(bound);
                let change = next - self.lambda.0[0];
                self.lambda.0[0] = next;
                self.jacobians[0].apply(couple, change)
            }
        }
    }

    #[inline(always)]
    fn solve_lock<'a>(&mut self, couple: Couple<'a, R>, pull: &Pull<R>) -> Couple<'a, R> {
        let mut rate = V3::ZERO;
        for i in 0..self.set.count() {
            rate.0[i] = self.jacobians[i].rate(&couple);
        }
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

    /// Lower and upper bound in turn, each a row that only pushes; away from a bound it lets the
    /// coordinate come just so far in one sub-step.
    fn solve_limit<'a>(
        &mut self,
        mut couple: Couple<'a, R>,
        bounds: [R; 2],
        pull: &Pull<R>,
    ) -> Couple<'a, R> {
        let soft = &pull.soft.joint;
        for (i, (bound, sign)) in bounds.into_iter().zip([R::ONE, -R::ONE]).enumerate() {
            let room = (self.value.0[0] - bound) * sign;
            let rate = self.jacobians[0].rate(&couple) * sign;
            let lambda = self.lambda.0[i];
            let change = if room > R::ZERO {
                -(rate + room * pull.inverse_h) * self.mass.0[0]
            } else if pull.bias {
                -(rate + room * soft.rate) * self.mass.0[0] * soft.mass - lambda * soft.impulse
            } else {
                -rate * self.mass.0[0]
            };
            let next = (lambda + change).max(R::ZERO);
            self.lambda.0[i] = next;
            couple = self.jacobians[0].apply(couple, (next - lambda) * sign);
        }
        couple
    }

    /// Adds its impulse on B to `load`.
    pub(super) fn add_to(&self, load: &mut Load<R>) {
        for i in 0..self.set.count() {
            let row = &self.jacobians[i];
            let lambda = match self.role {
                Role::Limit { .. } => self.lambda.0[0] - self.lambda.0[1],
                _ => self.lambda.0[i],
            };
            let push = row.linear * -lambda;
            load.force += push;
            load.torque += row.angular_b * lambda - self.arm_b.cross(push);
        }
    }
}
