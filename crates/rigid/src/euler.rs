//! The two first-order methods, on the same equations of motion as the Runge-Kutta method.
//!
//! Unlike there, the unknown of a turning body is its angular velocity in body axes, as in rigid body
//! solvers: `I dw/dt + w x I w = torque`. Neither method keeps momentum or energy.

use taut_core::{Mat3, Quat, Vec3};

use crate::runge_kutta::{Top, Wheel};

/// Newton steps at most; quadratic convergence needs three or four.
const NEWTON_MAX: usize = 30;
/// A Newton step below this share of the unknown is rounding.
const NEWTON_TOLERANCE: f64 = 1e-15;

impl Top {
    /// Rotation and angular momentum a time `h` [s] later, by backward Euler.
    ///
    /// `I (w' - w) / h + w' x I w' = r x R'^T weight` with `R' = R exp(h w')` and `r` the lever.
    pub(crate) fn implicit(&self, rotation: &Quat, momentum: &Vec3, h: f64) -> (Quat, Vec3) {
        let start = self.inverse * (rotation.inverse() * momentum);
        let mut omega = start;
        for _ in 0..NEWTON_MAX {
            let turn = Quat::from_scaled_axis(omega * h);
            let weight = (rotation * turn).inverse() * self.weight;
            let spin = self.inertia * omega;
            let residual =
                self.inertia * (omega - start) / h + omega.cross(&spin) - self.lever.cross(&weight);
            let gyroscopic = omega.cross_matrix() * self.inertia - spin.cross_matrix();
            // The weight in body axes changes by `h weight x (T dw)`, T the tangent of the exponential map.
            let turning = weight.cross_matrix() * tangent(&(omega * h)) * h;
            let slope = self.inertia / h + gyroscopic - self.lever.cross_matrix() * turning;
            let Some(step) = slope.try_inverse().map(|inverse| inverse * residual) else { break };
            omega -= step;
            if step.norm() <= NEWTON_TOLERANCE * omega.norm() {
                break;
            }
        }
        self.turned(rotation, &omega, h)
    }

    /// Rotation and angular momentum a time `h` [s] later, by the torques at its start.
    pub(crate) fn explicit(&self, rotation: &Quat, momentum: &Vec3, h: f64) -> (Quat, Vec3) {
        let spin = rotation.inverse() * momentum;
        let omega = self.inverse * spin;
        let torque = self.lever.cross(&(rotation.inverse() * self.weight)) - omega.cross(&spin);
        self.turned(rotation, &(omega + self.inverse * torque * h), h)
    }

    /// Rotation and momentum after turning with a constant angular velocity in body axes.
    fn turned(&self, rotation: &Quat, omega: &Vec3, h: f64) -> (Quat, Vec3) {
        let mut turned = rotation * Quat::from_scaled_axis(omega * h);
        turned.renormalize();
        (turned, turned * (self.inertia * omega))
    }
}

/// How `exp(a + da) = exp(a) exp(T da)` depends on its argument, the right Jacobian of rotations.
fn tangent(a: &Vec3) -> Mat3 {
    let (square, cross) = (a.norm_squared(), a.cross_matrix());
    // Series where the quotients would be 0/0; their error is below rounding there.
    let (first, second) = if square < 1e-6 {
        (0.5 - square / 24.0, 1.0 / 6.0 - square / 120.0)
    } else {
        let angle = square.sqrt();
        ((1.0 - angle.cos()) / square, (angle - angle.sin()) / (square * angle))
    };
    Mat3::identity() - cross * first + cross * cross * second
}

impl Wheel {
    /// Angle [rad] and its rate [rad/s] a time `h` [s] later, by backward Euler.
    pub(crate) fn implicit(&self, angle: f64, rate: f64, h: f64) -> (f64, f64) {
        let mut next = rate;
        for _ in 0..NEWTON_MAX {
            let lever = self.rotation(angle + h * next) * self.lever;
            let residual = next - rate - h * self.acceleration(&lever);
            // Turning by a small angle moves the lever along `axis x lever`.
            let slope = 1.0 - h * h * self.acceleration(&self.axis.cross(&lever));
            let step = residual / slope;
            next -= step;
            if step.abs() <= NEWTON_TOLERANCE * next.abs() {
                break;
            }
        }
        (angle + h * next, next)
    }

    /// Angle [rad] and its rate [rad/s] a time `h` [s] later, by the torque at its start.
    pub(crate) fn explicit(&self, angle: f64, rate: f64, h: f64) -> (f64, f64) {
        let next = rate + h * self.acceleration(&(self.rotation(angle) * self.lever));
        (angle + h * next, next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tangent_is_the_derivative_of_the_exponential() {
        for a in [Vec3::new(0.4, -0.9, 1.3), Vec3::new(3e-4, -2e-4, 5e-4)] {
            let exact = tangent(&a);
            for axis in 0..3 {
                let step = Vec3::ith(axis, 1e-6);
                let [up, down] = [a + step, a - step].map(Quat::from_scaled_axis);
                let at = Quat::from_scaled_axis(a).inverse();
                let slope = ((at * up).scaled_axis() - (at * down).scaled_axis()) / 2e-6;
                assert!((exact.column(axis) - slope).norm() < 1e-9, "{a} {axis}");
            }
        }
    }
}
