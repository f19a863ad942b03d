//! The rotational equation of motion in both discretisations, with exact derivatives.

use taut_core::{Mat3, Quat, Vec3, math::skew};

use crate::settings::RotationEquation;

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
        let predicted = if gyroscopic { free_omega(&inertia, omega, h) } else { *omega };
        Self { inertia, momentum: inertia * omega * h, target: cayley(&(predicted * h)) }
    }

    /// Inertial torque times `h^2` [kg m^2 rad] for the rotation `turn` since the start.
    pub(crate) fn torque(&self, form: RotationEquation, turn: &Quat) -> Vec3 {
        match form {
            RotationEquation::Momentum => {
                turn * (self.inertia * turn.scaled_axis()) - self.momentum
            }
            RotationEquation::Variational | RotationEquation::Published => {
                self.inertia * twice_vector(&(turn * self.target.inverse()))
            }
        }
    }

    /// Energy of the deviation from the target times `h^2` [kg m^2]. Its derivative is the torque to
    /// second order in that deviation.
    pub(crate) fn energy(&self, turn: &Quat) -> f64 {
        let deviation = twice_vector(&(turn * self.target.inverse()));
        0.5 * deviation.dot(&(self.inertia * deviation))
    }

    /// Derivative of [`Self::torque`] with respect to a left perturbation of `turn`.
    pub(crate) fn derivative(&self, form: RotationEquation, turn: &Quat) -> Mat3 {
        match form {
            RotationEquation::Momentum => {
                // d(exp(theta) I exp(-theta) theta): the frame turns, and theta itself changes.
                let theta = turn.scaled_axis();
                let r = turn.to_rotation_matrix().into_inner();
                let carried = r * self.inertia;
                carried * left_jacobian_inverse(&theta) - skew(&(carried * theta))
            }
            RotationEquation::Variational | RotationEquation::Published => {
                let q = (turn * self.target.inverse()).into_inner();
                let sign = if q.w < 0.0 { -1.0 } else { 1.0 };
                self.inertia * (Mat3::identity() * q.w - skew(&q.imag())) * sign
            }
        }
    }
}

/// Angular velocity [rad/s] at the end of a step of length `h` in which a body turned by `turn`.
pub(crate) fn end_omega(form: RotationEquation, turn: &Quat, h: f64) -> Vec3 {
    match form {
        RotationEquation::Momentum => turn.scaled_axis() / h,
        RotationEquation::Variational => turn.imag() * (2.0 / (turn.w * h)),
        RotationEquation::Published => twice_vector(turn) / h,
    }
}

/// The rotation whose Cayley vector is `vector` [rad].
fn cayley(vector: &Vec3) -> Quat {
    Quat::from_quaternion(nalgebra::Quaternion::from_parts(1.0, vector * 0.5))
}

/// Angular velocity [rad/s] after a step `h` of free rotation: one Newton step from `omega` on
/// `I (w' - w) + h w' x I w' = 0` in the axes of the step's start.
fn free_omega(inertia: &Mat3, omega: &Vec3, h: f64) -> Vec3 {
    let momentum = inertia * omega;
    let jacobian = inertia + (skew(omega) * inertia - skew(&momentum)) * h;
    let change = jacobian.lu().solve(&(omega.cross(&momentum) * h));
    omega - change.unwrap_or_default()
}

/// `2 vec(q)` of the representative with a non-negative scalar part.
fn twice_vector(q: &Quat) -> Vec3 {
    q.imag() * if q.w < 0.0 { -2.0 } else { 2.0 }
}

/// Inverse of the left Jacobian of the exponential: `d theta = J^-1(theta) delta` for
/// `exp(theta + d theta) = exp(delta) exp(theta)`.
pub(crate) fn left_jacobian_inverse(theta: &Vec3) -> Mat3 {
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
    fn free_spin_about_a_principal_axis_survives_all_forms_but_the_published() {
        let inertia = Mat3::from_diagonal(&Vec3::new(1.0, 2.0, 3.0));
        let (omega, h) = (Vec3::new(0.0, 9.0, 0.0), 0.02);
        for form in
            [RotationEquation::Momentum, RotationEquation::Variational, RotationEquation::Published]
        {
            let spin = Spin::new(&inertia, &Quat::identity(), &omega, true, h);
            let turn = match form {
                RotationEquation::Momentum => Quat::from_scaled_axis(omega * h),
                _ => cayley(&(omega * h)),
            };
            assert!(spin.torque(form, &turn).norm() < 1e-15, "{form:?}");
            let change = end_omega(form, &turn, h).y - 9.0;
            let expected =
                if form == RotationEquation::Published { -9.0 * (1.0 - turn.w) } else { 0.0 };
            assert!((change - expected).abs() < 1e-12, "{form:?} {change:e}");
        }
    }

    #[test]
    fn derivatives_match_central_differences() {
        let inertia = Mat3::new(2.0, 0.3, -0.1, 0.3, 1.0, 0.2, -0.1, 0.2, 3.0);
        let start = Quat::from_scaled_axis(Vec3::new(0.4, -1.1, 0.3));
        let omega = Vec3::new(3.0, -2.0, 5.0);
        let spin = Spin::new(&inertia, &start, &omega, true, 0.05);
        for form in
            [RotationEquation::Momentum, RotationEquation::Variational, RotationEquation::Published]
        {
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
