//! What elements exert on B, and when that is more than a joint bears.

use std::ops::AddAssign;

use taut_core::{Scene, scene::Joint};
use taut_math::{Real, V3};

use crate::{
    form::Form,
    row::{Gradient, Pair, Side, gradient},
};

/// A force, and a torque beside that of the force at its point; or impulses of both.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wrench<R> {
    /// [N or N s]
    pub force: V3<R>,
    /// [N m or N m s]
    pub torque: V3<R>,
}

impl<R: Real> Wrench<R> {
    /// None.
    pub const ZERO: Self = Self { force: V3::ZERO, torque: V3::ZERO };

    /// On B at its anchor, of a row that pulls with `force` along `gradient` on B; `arm_b` goes from B's centre to
    /// the anchor [m].
    #[inline]
    pub fn of_row(gradient: &Gradient<R>, arm_b: V3<R>, force: R) -> Self {
        let push = gradient.linear * -force;
        Self { force: push, torque: gradient.angular * -force - arm_b.cross(push) }
    }

    /// On B at its anchor, in world axes, of an element whose rows pull with `force`.
    pub fn on_b(form: Form, pair: &Pair<R>, force: V3<R>) -> Self {
        let of_row =
            |i| Self::of_row(&gradient(form.row(i), pair, Side::B), pair.arm_b, force.0[i]);
        match form {
            Form::Point => Self { force, torque: V3::ZERO },
            Form::Twist => {
                let ([x, y, z], f) = (pair.twist_gradients(), force.0);
                Self { force: V3::ZERO, torque: -(x * f[0] + y * f[1] + z * f[2]) }
            }
            Form::Turn => {
                let torque = -pair.basis_a.rotate(pair.along_turn(force));
                Self { force: V3::ZERO, torque }
            }
            Form::Line | Form::Axis | Form::Row(_) => {
                let mut sum = of_row(0);
                (1..form.rows()).for_each(|i| sum += of_row(i));
                sum
            }
        }
    }
}

impl<R: Real> AddAssign for Wrench<R> {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        self.force += other.force;
        self.torque += other.torque;
    }
}

/// What a joint bears before it breaks; infinite where it never does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Strength<R> {
    /// [N]
    pub force: R,
    /// [N m]
    pub torque: R,
}

impl<R: Real> Strength<R> {
    /// That of a joint.
    pub fn of(joint: &Joint) -> Self {
        Self { force: R::of(joint.break_force), torque: R::of(joint.break_torque) }
    }

    /// Whether a force and a torque of these sizes break the joint.
    #[inline]
    pub fn fails(&self, force: R, torque: R) -> bool {
        force > self.force || torque > self.torque
    }
}

/// Whether any joint of a scene can break.
pub fn breakable(scene: &Scene) -> bool {
    scene.joints.iter().any(|joint| joint.break_force.min(joint.break_torque) < f64::INFINITY)
}

#[cfg(test)]
mod tests {
    use taut_math::Q4;

    use super::*;

    #[test]
    fn blocks_exert_the_sum_of_their_rows() {
        let tilt = Q4::IDENTITY.advanced(V3([0.1, -0.2, 0.05]));
        let pair = Pair {
            arm_a: V3([0.3, 0.1, -0.2]),
            arm_b: V3([-0.1, 0.4, 0.2]),
            offset: V3([0.01, -0.02, 0.03]),
            basis_a: Q4::IDENTITY,
            basis_b: tilt,
        };
        let force = V3([3.0, -1.0, 2.0]);
        for form in [Form::Point, Form::Line, Form::Axis, Form::Twist, Form::Turn] {
            let whole = Wrench::on_b(form, &pair, force);
            let mut sum = Wrench::<f64>::ZERO;
            for (row, f) in form.kinds().zip(force.0) {
                sum += Wrench::of_row(&gradient(row, &pair, Side::B), pair.arm_b, f);
            }
            let gap = (whole.force - sum.force).norm() + (whole.torque - sum.torque).norm();
            assert!(gap < 1e-14, "{form:?}");
        }
    }
}
