//! Rotation vectors and their derivatives.

use crate::{Mat3, Vec3, math::skew};

use super::unit;

/// A rotation vector `phi` of at most half a turn.
///
/// A small rotation `d` before it, in the same axes, changes it by `J d` with the inverse of the left Jacobian of the
/// rotation group, `J = I - [phi]/2 + c [phi]^2` and `c = 1/a^2 - cot(a/2)/(2 a)` at `a = |phi|`. As `J^T phi = phi`,
/// an energy `k/2 |phi|^2` exerts the torque `k phi`.
pub(super) struct Turning {
    pub(super) phi: Vec3,
    /// `c`.
    bend: f64,
    /// `dc/da / a`.
    bend_slope: f64,
}

/// Angles below this go by series, where differences of large numbers would lose digits [rad].
const SMALL_TURN: f64 = 0.3;

impl Turning {
    /// From the quaternion's scalar part, not negative, and its vector part.
    pub(super) fn new(w: f64, v: &Vec3) -> Self {
        let s = v.norm();
        let a = 2.0 * s.atan2(w);
        let phi = if s > 0.0 { v * (a / s) } else { v * 2.0 };
        let square = a * a;
        if a < SMALL_TURN {
            let series = |[p, q, r, t]: [f64; 4]| p + square * (q + square * (r + square * t));
            let bend = series([1.0 / 12.0, 1.0 / 720.0, 1.0 / 30240.0, 1.0 / 1_209_600.0]);
            let slope = [1.0 / 360.0, 1.0 / 7560.0, 1.0 / 201_600.0, 1.0 / 5_987_520.0];
            return Self { phi, bend, bend_slope: series(slope) };
        }
        let cotangent = w / s;
        let bend = 1.0 / square - cotangent / (2.0 * a);
        let slope = -2.0 / (square * a) + cotangent / (2.0 * square) + 1.0 / (4.0 * a * s * s);
        Self { phi, bend, bend_slope: slope / a }
    }

    /// `J`.
    pub(super) fn jacobian(&self) -> Mat3 {
        let cross = skew(&self.phi);
        Mat3::identity() - cross * 0.5 + cross * cross * self.bend
    }

    /// Second derivative of a component by a rotation before it.
    ///
    /// Along `d` the vector moves by `u = J d`, and `J d` itself by
    /// `-u x d / 2 + (dc/da / a) (phi . u) phi x (phi x d) + c (u x (phi x d) + phi x (u x d))`.
    pub(super) fn hessian(&self, axis: usize) -> Mat3 {
        let (e, phi, c) = (unit(axis), &self.phi, self.bend);
        let (jacobian, cross) = (self.jacobian(), skew(phi));
        let across = skew(&e) * 0.5 - skew(&e) * cross * c - skew(&e.cross(phi)) * c;
        let stretched = phi * (cross * cross * e).transpose() * self.bend_slope;
        let form = jacobian.transpose() * across + stretched;
        (form + form.transpose()) * 0.5
    }
}
