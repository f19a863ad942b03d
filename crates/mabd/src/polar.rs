//! The rotation of a frame, in the variants that the method knows, of one body or of four.

use taut_core::{Mat3, math::polar_rotation};

use crate::{
    algebra::S,
    lane::{LANES, Lanes, M, Number, dot, product},
};

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

/// Which entries of a symmetric matrix are on its diagonal.
const DIAGONAL: [bool; 6] = [true, false, false, true, false, true];

/// The polar factors of four frames: series and steps are those of [`exact`], in every lane as many as the most
/// strained one needs.
#[inline(always)]
pub(crate) fn rotation(at: M) -> M {
    let strain = strains(at);
    let [e11, e21, e31, e22, e32, e33] = strain;
    let aside = e21 * e21 + e31 * e31 + e32 * e32;
    let squared = e11 * e11 + e22 * e22 + e33 * e33 + aside + aside;
    let worst = squared.largest();
    if worst >= 0.01 {
        return one_by_one(at);
    }
    let square = symmetric_product(strain, strain);
    let mut inner = strain;
    for c in 0..6 {
        let one = Lanes::splat(if DIAGONAL[c] { 0.375 } else { 0.0 });
        let less = strain[c].times_less(Lanes::splat(0.3125), one);
        inner[c] = square[c].times_plus(Lanes::splat(35.0 / 128.0), less);
    }
    let mut series = symmetric_product(square, inner);
    for c in 0..6 {
        let one = Lanes::splat(if DIAGONAL[c] { 1.0 } else { 0.0 });
        series[c] = strain[c].times_less(Lanes::splat(0.5), one) + series[c];
    }
    let mut rotation = product(at, full(series));
    let mut left = worst * worst * worst.sqrt();
    while left > 1e-17 {
        let strain = strains(rotation);
        let mut correction = strain;
        for c in 0..6 {
            let one = Lanes::splat(if DIAGONAL[c] { 1.0 } else { 0.0 });
            correction[c] = strain[c].times_less(Lanes::splat(0.5), one);
        }
        rotation = product(rotation, full(correction));
        left *= left;
    }
    rotation
}

#[cold]
#[inline(never)]
fn one_by_one(at: M) -> M {
    let mut rotation = at;
    for k in 0..LANES {
        let exact = exact(&Mat3::from_fn(|i, j| at[j][i].0[k]));
        for (j, column) in rotation.iter_mut().enumerate() {
            for (i, entry) in column.iter_mut().enumerate() {
                entry.0[k] = exact[(i, j)];
            }
        }
    }
    rotation
}

/// `A^T A - 1` of four frames.
#[inline(always)]
fn strains([a, b, c]: M) -> S<Lanes> {
    let one = Lanes::ONE;
    [dot(a, a) - one, dot(b, a), dot(c, a), dot(b, b) - one, dot(c, b), dot(c, c) - one]
}

/// Squared norm of `A^T A - 1`.
#[inline(always)]
pub(crate) fn squared_strain([a, b, c]: M) -> Lanes {
    let (one, aside) = (Lanes::ONE, [dot(a, b), dot(a, c), dot(b, c)]);
    let along = [dot(a, a) - one, dot(b, b) - one, dot(c, c) - one];
    let twice = dot(aside, aside);
    dot(along, along) + twice + twice
}

/// All entries of a symmetric matrix.
#[inline(always)]
pub(crate) fn full([a, b, c, d, e, f]: S<Lanes>) -> M {
    [[a, b, c], [b, d, e], [c, e, f]]
}

/// The product of two symmetric matrices that commute.
#[inline(always)]
fn symmetric_product(a: S<Lanes>, b: S<Lanes>) -> S<Lanes> {
    let ([a11, a21, a31, a22, a32, a33], [b11, b21, b31, b22, b32, b33]) = (a, b);
    [
        a31.times_plus(b31, a21.times_plus(b21, a11 * b11)),
        a32.times_plus(b31, a22.times_plus(b21, a21 * b11)),
        a33.times_plus(b31, a32.times_plus(b21, a31 * b11)),
        a32.times_plus(b32, a22.times_plus(b22, a21 * b21)),
        a33.times_plus(b32, a32.times_plus(b22, a31 * b21)),
        a33.times_plus(b33, a32.times_plus(b32, a31 * b31)),
    ]
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
