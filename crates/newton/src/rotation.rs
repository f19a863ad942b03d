//! The rotational equation of motion in both discretisations, with exact derivatives.

use taut_core::{Mat3, Quat, Vec3, math::skew};

use crate::settings::Rotation;

/// Rotational data of one body that stays the same throughout a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spin {
    /// World inertia at the start of the step [kg m^2].
    inertia: Mat3,
    /// `h` times the angular momentum at the start [kg m^2 rad].
    momentum: Vec3,
    /// Rotation from the start pose to the target pose of the variational form.
    target: Quat,
}

impl Spin {
    /// Data of a step of length `h` [s] from rotation `start` and angular velocity `omega` [rad/s].
    pub(crate) fn new(
        inertia: &Mat3,
        start: &Quat,
        omega: &Vec3,
        gyroscopic: bool,
        h: f64,
    ) -> Self {
        let r = start.to_rotation_matrix().into_inner();
        let inertia = r * inertia * r.transpose();
        let momentum = inertia * omega;
        let mut predicted = *omega;
        if gyroscopic && let Some(inverse) = inertia.try_inverse() {
            predicted -= inverse * omega.cross(&momentum) * h;
        }
        Self { inertia, momentum: momentum * h, target: Quat::from_scaled_axis(predicted * h) }
    }

    /// Inertial torque times `h^2` [kg m^2 rad] for the rotation `turn` since the start.
    pub(crate) fn torque(&self, form: Rotation, turn: &Quat) -> Vec3 {
        match form {
            Rotation::Momentum => turn * (self.inertia * turn.scaled_axis()) - self.momentum,
            Rotation::Variational => self.inertia * twice_vector(&(turn * self.target.inverse())),
        }
    }

    /// Derivative of [`Self::torque`] with respect to a left perturbation of `turn`.
    pub(crate) fn derivative(&self, form: Rotation, turn: &Quat) -> Mat3 {
        match form {
            Rotation::Momentum => {
                // d(exp(theta) I exp(-theta) theta): the frame turns, and theta itself changes.
                let theta = turn.scaled_axis();
                let r = turn.to_rotation_matrix().into_inner();
                let carried = r * self.inertia;
                carried * left_jacobian_inverse(&theta) - skew(&(carried * theta))
            }
            Rotation::Variational => {
                let q = (turn * self.target.inverse()).into_inner();
                let sign = if q.w < 0.0 { -1.0 } else { 1.0 };
                self.inertia * (Mat3::identity() * q.w - skew(&q.imag())) * sign
            }
        }
    }
}

/// Angular velocity [rad/s] at the end of a step of length `h` in which a body turned by `turn`.
pub(crate) fn end_omega(form: Rotation, turn: &Quat, h: f64) -> Vec3 {
    match form {
        Rotation::Momentum => turn.scaled_axis() / h,
        Rotation::Variational => twice_vector(turn) / h,
    }
}

/// Rotation in a step of length `h` that ends with angular velocity `omega`: inverts [`end_omega`].
pub(crate) fn turn_for(omega: &Vec3, h: f64) -> Quat {
    Quat::from_scaled_axis(omega * h)
}

/// `2 vec(q)` of the representative with a non-negative scalar part.
fn twice_vector(q: &Quat) -> Vec3 {
    q.imag() * if q.w < 0.0 { -2.0 } else { 2.0 }
}

/// Inverse of the left Jacobian of the exponential: `d theta = J^-1(theta) delta` for
/// `exp(theta + d theta) = exp(delta) exp(theta)`.
fn left_jacobian_inverse(theta: &Vec3) -> Mat3 {
    let square = theta.norm_squared();
    let angle = square.sqrt();
    // The closed form cancels below about 1e-2; the next term of the series is angle^4 / 30240.
    let factor = if angle < 1e-2 {
        1.0 / 12.0 + square / 720.0
    } else {
        1.0 / square - (1.0 + angle.cos()) / (2.0 * angle * angle.sin())
    };
    let k = skew(theta);
    Mat3::identity() - k * 0.5 + k * k * factor
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derivatives_match_central_differences() {
        let inertia = Mat3::new(2.0, 0.3, -0.1, 0.3, 1.0, 0.2, -0.1, 0.2, 3.0);
        let start = Quat::from_scaled_axis(Vec3::new(0.4, -1.1, 0.3));
        let omega = Vec3::new(3.0, -2.0, 5.0);
        let spin = Spin::new(&inertia, &start, &omega, true, 0.05);
        for form in [Rotation::Momentum, Rotation::Variational] {
            for scale in [1e-4, 0.3, 2.0] {
                let turn = Quat::from_scaled_axis(Vec3::new(0.3, 0.8, -0.5) * scale);
                let exact = spin.derivative(form, &turn);
                for i in 0..3 {
                    let at = |sign: f64| {
                        let delta = Vec3::ith(i, sign * 1e-6);
                        spin.torque(form, &(Quat::from_scaled_axis(delta) * turn))
                    };
                    let difference = (at(1.0) - at(-1.0)) / 2e-6;
                    let error = (difference - exact.column(i)).norm();
                    assert!(error < 1e-8, "{form:?} {scale} {i}: {error:e}");
                }
            }
        }
    }
}
