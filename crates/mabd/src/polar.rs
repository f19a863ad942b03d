//! The rotation of a frame, in the variants that the method knows, of one body or of four.

use taut_core::{Mat3, math::polar_rotation};
use taut_math::{Fused, LANES, Number, Wide};

use crate::{
    algebra::S,
    lane::{M, dot, product, scale},
};

/// The rotation of one frame, as a matrix.
pub(crate) fn polar_matrix(frame: &Mat3) -> Mat3 {
    polar_rotation(frame).to_rotation_matrix().into_inner()
}

/// What polar factors are calculated with.
pub(crate) trait Frames: Number {
    /// Whether frames whose squared strains are these are near enough to rotations for a series.
    fn is_near(at: &M<Self>, squared: Self) -> bool;
    /// Whether it is above `least` in some lane.
    fn is_above(self, least: f64) -> bool;
    /// The rotations of frames that are not: each by `one`, or where that was called for one, by other means.
    fn apart(at: M<Self>, one: fn(M<f64>) -> M<f64>) -> M<Self>;
}

impl Frames for f64 {
    #[inline(always)]
    fn is_near(at: &M<Self>, squared: Self) -> bool {
        squared < 0.25 && Mat3::from(*at).determinant() > 0.0
    }

    #[inline(always)]
    fn is_above(self, least: f64) -> bool {
        self > least
    }

    #[cold]
    #[inline(never)]
    fn apart(at: M<Self>, _one: fn(M<f64>) -> M<f64>) -> M<Self> {
        if at.as_flattened().iter().all(|x| x.is_finite()) {
            polar_matrix(&at.into()).data.0
        } else {
            // The runner sees what diverges.
            [[Self::NAN; 3]; 3]
        }
    }
}

impl Frames for Fused {
    #[inline(always)]
    fn is_near(_at: &M<Self>, squared: Self) -> bool {
        squared.all_below(Self::of(0.01))
    }

    #[inline(always)]
    fn is_above(self, least: f64) -> bool {
        self.any_above(Self::of(least))
    }

    #[cold]
    #[inline(never)]
    fn apart(at: M<Self>, one: fn(M<f64>) -> M<f64>) -> M<Self> {
        let mut rotations = at;
        for k in 0..LANES {
            let rotation = one(at.map(|column| column.map(|entry| entry.0[k])));
            for (to, from) in rotations.as_flattened_mut().iter_mut().zip(rotation.as_flattened()) {
                to.0[k] = *from;
            }
        }
        rotations
    }
}

/// The polar factors of frames to rounding.
#[inline(always)]
pub(crate) fn exact<N: Frames>(at: M<N>) -> M<N> {
    let strain = strain(at);
    let squared = squared(&strain);
    if !N::is_near(&at, squared) {
        return N::apart(at, exact::<f64>);
    }
    // (1 + E)^(-1/2) to fourth order, then steps of Newton and Schulz, each squaring the error.
    let square = symmetric_product(strain, strain);
    let mut inner = strain;
    for c in 0..6 {
        let one = N::of(if DIAGONAL[c] { 0.375 } else { 0.0 });
        let less = strain[c].times_less(N::of(0.3125), one);
        inner[c] = square[c].times_plus(N::of(35.0 / 128.0), less);
    }
    let mut series = symmetric_product(square, inner);
    for (series, step) in series.iter_mut().zip(schulz(strain)) {
        *series = step + *series;
    }
    let mut rotation = product(at, full(series));
    // Its error is below the fifth power: nothing more to do for strains below 4e-4. In every lane as many steps
    // as the most strained one needs. Errors are compared by their squares.
    let mut left = squared * squared * squared * squared * squared;
    while left.is_above(1e-34) {
        rotation = product(rotation, full(schulz(self::strain(rotation))));
        left = left * left;
    }
    rotation
}

/// One step of Newton and Schulz from the frames, or their polar factors where that is no good.
#[inline(always)]
pub(crate) fn single<N: Frames>(at: M<N>) -> M<N> {
    let strain = strain(at);
    if N::is_near(&at, squared(&strain)) {
        product(at, full(schulz(strain)))
    } else {
        N::apart(at, single::<f64>)
    }
}

/// Turns each column by the frame and gives it back its length (Alg. 1).
#[inline(always)]
pub(crate) fn blockwise<N: Number>(frame: M<N>, columns: M<N>) -> M<N> {
    let mut turned = product(frame, columns);
    for (turned, column) in turned.iter_mut().zip(columns) {
        let (before, after) = (dot(column, column).sqrt(), dot(*turned, *turned).sqrt());
        *turned = scale(*turned, after.where_above(N::ZERO, before / after, N::ZERO));
    }
    turned
}

/// Which entries of a symmetric matrix are on its diagonal.
const DIAGONAL: [bool; 6] = [true, false, false, true, false, true];

/// `1 - E / 2`.
#[inline(always)]
fn schulz<N: Number>(strain: S<N>) -> S<N> {
    let mut step = strain;
    for c in 0..6 {
        let one = N::of(if DIAGONAL[c] { 1.0 } else { 0.0 });
        step[c] = strain[c].times_less(N::of(0.5), one);
    }
    step
}

/// Sum of the squares of all entries.
#[inline(always)]
fn squared<N: Number>([e11, e21, e31, e22, e32, e33]: &S<N>) -> N {
    let aside = *e21 * *e21 + *e31 * *e31 + *e32 * *e32;
    *e11 * *e11 + *e22 * *e22 + *e33 * *e33 + aside + aside
}

/// `A^T A - 1`, twice the Green strain.
#[inline(always)]
pub(crate) fn strain<N: Number>([a, b, c]: M<N>) -> S<N> {
    let one = N::ONE;
    [dot(a, a) - one, dot(b, a), dot(c, a), dot(b, b) - one, dot(c, b), dot(c, c) - one]
}

/// Squared norm of `A^T A - 1`.
#[inline(always)]
pub(crate) fn squared_strain([a, b, c]: M) -> Fused {
    let (one, aside) = (Fused::ONE, [dot(a, b), dot(a, c), dot(b, c)]);
    let along = [dot(a, a) - one, dot(b, b) - one, dot(c, c) - one];
    let twice = dot(aside, aside);
    dot(along, along) + twice + twice
}

/// All entries of a symmetric matrix.
#[inline(always)]
pub(crate) fn full<N: Number>([a, b, c, d, e, f]: S<N>) -> M<N> {
    [[a, b, c], [b, d, e], [c, e, f]]
}

/// The product of two symmetric matrices that commute.
#[inline(always)]
fn symmetric_product<N: Number>(a: S<N>, b: S<N>) -> S<N> {
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
            let error = (Mat3::from(exact(frame.data.0)) - turn).norm();
            assert!(error < 2e-14, "{stretch}: {error:e}");
        }
    }

    #[test]
    fn a_single_step_is_wrong_by_the_square_of_the_strain() {
        let error = |stretch| {
            let (turn, frame) = frame(stretch);
            (Mat3::from(single(frame.data.0)) - turn).norm()
        };
        let ratio = error(1e-3) / error(5e-4);
        assert!((ratio - 4.0).abs() < 0.05, "{ratio}");
    }

    #[test]
    fn reflected_and_singular_frames_still_give_rotations() {
        for bad in [Mat3::from_diagonal(&Vec3::new(1.0, 1.0, -1.0)), Mat3::zeros()] {
            let rotation = Mat3::from(exact(bad.data.0));
            assert!((rotation.tr_mul(&rotation) - Mat3::identity()).norm() < 1e-12);
            assert!(rotation.determinant() > 0.0);
        }
    }
}
