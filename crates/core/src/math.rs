//! Names for the small dense types used everywhere, and the rotation maps they lack.

use nalgebra::{Matrix3, Rotation3, UnitQuaternion, Vector3};

/// A vector in metres, newtons or whatever its name says.
pub type Vec3 = Vector3<f64>;
/// A 3x3 matrix; rotations map body to world coordinates.
pub type Mat3 = Matrix3<f64>;
/// A unit quaternion mapping body to world coordinates.
pub type Quat = UnitQuaternion<f64>;

/// The cross-product matrix: `skew(u) * v == u x v`.
pub fn skew(u: &Vec3) -> Mat3 {
    u.cross_matrix()
}

/// Axial vector of the skew-symmetric part: `axial(skew(u)) == u`.
pub fn axial(m: &Mat3) -> Vec3 {
    Vec3::new(m.m32 - m.m23, m.m13 - m.m31, m.m21 - m.m12) * 0.5
}

/// The rotation nearest to `frame` in the Frobenius norm (its polar factor).
///
/// A frame that is already a rotation to rounding is only converted, so rigid states survive a
/// round trip. A reflected or singular frame gives the nearest proper rotation.
pub fn polar_rotation(frame: &Mat3) -> Quat {
    let deviation = (frame.transpose() * frame - Mat3::identity()).norm();
    if deviation < 1e-9 && frame.determinant() > 0.0 {
        let mut q = Quat::from_rotation_matrix(&Rotation3::from_matrix_unchecked(*frame));
        q.renormalize();
        return q;
    }
    if deviation < NEAR && frame.determinant() > 0.0 {
        let rotation = Rotation3::from_matrix_unchecked(orthonormal(*frame, deviation));
        return Quat::from_rotation_matrix(&rotation);
    }
    let svd = frame.svd(true, true);
    match (svd.u, svd.v_t) {
        (Some(u), Some(v_t)) => {
            let handedness = (u * v_t).determinant().signum();
            let fix = Mat3::from_diagonal(&Vec3::new(1.0, 1.0, handedness));
            Quat::from_rotation_matrix(&Rotation3::from_matrix_unchecked(u * fix * v_t))
        }
        _ => Quat::identity(),
    }
}

/// The norm of `A^T A - 1` below which steps of Newton and Schulz are faster than singular values.
const NEAR: f64 = 0.5;

/// The polar factor of a frame `A` by steps of Newton and Schulz, each squaring the norm of `A^T A - 1`, which is
/// `deviation` to begin with and below one.
fn orthonormal(mut frame: Mat3, mut deviation: f64) -> Mat3 {
    // After a step it is at most `3/4 e^2 + 1/4 e^3`.
    while deviation > 1e-16 {
        frame = frame * (Mat3::identity() * 1.5 - frame.tr_mul(&frame) * 0.5);
        deviation *= deviation;
    }
    frame
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rotation_of_a_stretched_frame_is_exact_however_it_is_found() {
        let turn = Quat::from_scaled_axis(Vec3::new(0.9, -1.4, 0.6));
        let stretch = Mat3::new(1.0, 0.5, -0.3, 0.5, -0.8, 0.2, -0.3, 0.2, 0.6);
        let mut by_steps = 0;
        for size in [1e-11, 1e-9, 1e-7, 1e-4, 1e-2, 0.05, 0.1, 0.13, 0.2, 0.4] {
            let frame = turn.to_rotation_matrix() * (Mat3::identity() + stretch * size);
            let strain = (frame.tr_mul(&frame) - Mat3::identity()).norm();
            by_steps += u32::from((1e-9..NEAR).contains(&strain));
            let error = polar_rotation(&frame).angle_to(&turn);
            // A frame that is a rotation to rounding is only converted.
            let bound = if strain < 1e-9 { strain } else { 1e-15 };
            assert!(error <= bound, "{size}: {error:e}");
        }
        assert!(by_steps >= 5, "{by_steps}");
    }

    #[test]
    fn a_reflected_frame_has_a_proper_rotation() {
        let frame = Mat3::from_diagonal(&Vec3::new(1.0, 1.0, -1.1));
        assert!(polar_rotation(&frame).to_rotation_matrix().matrix().determinant() > 0.0);
    }
}
