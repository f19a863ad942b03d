//! The classical fourth-order method, and the two equations of motion it is used on.

use taut_core::{Mat3, Quat, Vec3};

/// Advances `y' = f(y)` by `h`.
fn rk4<const N: usize>(y: &[f64; N], h: f64, f: impl Fn(&[f64; N]) -> [f64; N]) -> [f64; N] {
    let along = |k: &[f64; N], h: f64| std::array::from_fn(|i| y[i] + h * k[i]);
    let k1 = f(y);
    let k2 = f(&along(&k1, 0.5 * h));
    let k3 = f(&along(&k2, 0.5 * h));
    let k4 = f(&along(&k3, h));
    std::array::from_fn(|i| y[i] + h / 6.0 * (k1[i] + 2.0 * (k2[i] + k3[i]) + k4[i]))
}

/// A body turning about a point that does not move relative to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Top {
    /// Inertia about the point, in body axes [kg m^2].
    pub(crate) inertia: Mat3,
    /// Its inverse.
    pub(crate) inverse: Mat3,
    /// From the point to the centre of mass, in body axes [m].
    pub(crate) lever: Vec3,
    /// Weight at the centre of mass [N]; zero where the point falls along.
    pub(crate) weight: Vec3,
}

impl Top {
    /// Angular momentum about the point in world axes [kg m^2/s].
    pub(crate) fn momentum(&self, rotation: &Quat, omega: &Vec3) -> Vec3 {
        rotation * (self.inertia * (rotation.inverse() * omega))
    }

    /// Angular velocity in world axes [rad/s].
    pub(crate) fn omega(&self, rotation: &Quat, momentum: &Vec3) -> Vec3 {
        rotation * (self.inverse * (rotation.inverse() * momentum))
    }

    /// Rotation and angular momentum a time `h` [s] later.
    ///
    /// Momentum in world axes is the unknown because a free body then keeps it exactly.
    pub(crate) fn advance(&self, rotation: &Quat, momentum: &Vec3, h: f64) -> (Quat, Vec3) {
        let pack = |q: [f64; 4], l: Vec3| [q[0], q[1], q[2], q[3], l.x, l.y, l.z];
        let rates = |y: &[f64; 7]| {
            let q = nalgebra::Quaternion::new(y[3], y[0], y[1], y[2]);
            // The stages leave the unit sphere by a little; the direction is what they mean.
            let rotation = Quat::from_quaternion(q);
            let omega = self.omega(&rotation, &Vec3::new(y[4], y[5], y[6]));
            let rate = nalgebra::Quaternion::from_imag(omega) * q * 0.5;
            pack(rate.coords.into(), (rotation * self.lever).cross(&self.weight))
        };
        let y = rk4(&pack(rotation.coords.into(), *momentum), h, rates);
        let q = nalgebra::Quaternion::new(y[3], y[0], y[1], y[2]);
        (Quat::from_quaternion(q), Vec3::new(y[4], y[5], y[6]))
    }
}

/// A body turning about a fixed axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Wheel {
    /// Moment about the axis [kg m^2].
    pub(crate) moment: f64,
    /// Unit axis in world axes.
    pub(crate) axis: Vec3,
    /// From the axis to the centre of mass at angle zero, in world axes [m].
    pub(crate) lever: Vec3,
    /// Weight at the centre of mass [N].
    pub(crate) weight: Vec3,
}

impl Wheel {
    /// The rotation at an angle [rad], relative to angle zero.
    pub(crate) fn rotation(&self, angle: f64) -> Quat {
        Quat::from_scaled_axis(self.axis * angle)
    }

    /// Angular acceleration with the centre of mass at `lever` [rad/s^2].
    pub(crate) fn acceleration(&self, lever: &Vec3) -> f64 {
        self.axis.dot(&lever.cross(&self.weight)) / self.moment
    }

    /// Angle [rad] and its rate [rad/s] a time `h` [s] later.
    pub(crate) fn advance(&self, angle: f64, rate: f64, h: f64) -> (f64, f64) {
        let [angle, rate] = rk4(&[angle, rate], h, |&[angle, rate]| {
            [rate, self.acceleration(&(self.rotation(angle) * self.lever))]
        });
        (angle, rate)
    }
}
