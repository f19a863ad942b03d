//! The rotation of a frame, in the variants that the method knows.

use taut_core::{Mat3, math::polar_rotation};

/// A strain `A^T A - 1` beyond which Newton and Schulz's step is not trusted.
const STRAIN_MAX: f64 = 0.5;

/// `A^T A - 1`, twice the Green strain.
#[inline(always)]
fn strain(frame: &Mat3) -> Mat3 {
    frame.tr_mul(frame) - Mat3::identity()
}

/// The polar factor of a frame to rounding.
#[inline(always)]
pub(crate) fn exact(frame: &Mat3) -> Mat3 {
    let strain = strain(frame);
    let squared = strain.norm_squared();
    // Also when the frame is not finite.
    if !(squared < STRAIN_MAX * STRAIN_MAX && frame.determinant() > 0.0) {
        return fallback(frame);
    }
    // (1 + E)^(-1/2) to fourth order, then steps of Newton and Schulz, each squaring the error.
    let square = strain * strain;
    let series = Mat3::identity() - strain * 0.5 + square * 0.375 - square * strain * 0.3125
        + square * square * (35.0 / 128.0);
    let mut rotation = frame * series;
    // Its error is below the fifth power: nothing more to do for strains below 4e-4.
    let mut left = squared * squared * squared.sqrt();
    while left > 1e-17 {
        rotation = schulz(&rotation);
        left *= left;
    }
    rotation
}

/// One step of Newton and Schulz from the frame, or the polar factor where that is no good.
#[inline(always)]
pub(crate) fn single(frame: &Mat3) -> Mat3 {
    let strain = strain(frame);
    if strain.norm_squared() < STRAIN_MAX * STRAIN_MAX && frame.determinant() > 0.0 {
        frame * (Mat3::identity() - strain * 0.5)
    } else {
        fallback(frame)
    }
}

#[inline(always)]
fn schulz(frame: &Mat3) -> Mat3 {
    frame * (Mat3::identity() - strain(frame) * 0.5)
}

#[cold]
#[inline(never)]
fn fallback(frame: &Mat3) -> Mat3 {
    if frame.iter().all(|x| x.is_finite()) {
        polar_rotation(frame).to_rotation_matrix().into_inner()
    } else {
        // The runner sees what diverges.
        Mat3::repeat(f64::NAN)
    }
}

#[cfg(test)]
mod tests {
    use taut_core::{Quat, Vec3};

    use super::*;

    fn frame(stretch: f64) -> (Mat3, Mat3) {
        let turn =
            Quat::from_scaled_axis(Vec3::new(0.9, -1.4, 0.6)).to_rotation_matrix().into_inner();
        let strain = Mat3::new(1.0, 0.5, -0.3, 0.5, -0.8, 0.2, -0.3, 0.2, 0.6) * stretch;
        (turn, turn * (Mat3::identity() + strain))
    }

    #[test]
    fn the_polar_factor_is_exact_for_small_and_large_strain() {
        for stretch in [0.0, 1e-9, 1e-4, 1e-3, 1e-2, 0.05, 0.1, 0.2, 0.4] {
            let (turn, frame) = frame(stretch);
            let error = (exact(&frame) - turn).norm();
            assert!(error < 2e-14, "{stretch}: {error:e}");
        }
    }

    #[test]
    fn a_single_step_is_wrong_by_the_square_of_the_strain() {
        let error = |stretch| {
            let (turn, frame) = frame(stretch);
            (single(&frame) - turn).norm()
        };
        let ratio = error(1e-3) / error(5e-4);
        assert!((ratio - 4.0).abs() < 0.05, "{ratio}");
    }

    #[test]
    fn reflected_and_singular_frames_still_give_rotations() {
        for bad in [Mat3::from_diagonal(&Vec3::new(1.0, 1.0, -1.0)), Mat3::zeros()] {
            let rotation = exact(&bad);
            assert!((rotation.tr_mul(&rotation) - Mat3::identity()).norm() < 1e-12);
            assert!(rotation.determinant() > 0.0);
        }
    }
}
