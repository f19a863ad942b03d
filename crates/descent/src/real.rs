//! The two precisions a descent solver runs in.

use std::{
    fmt::Debug,
    ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign},
};

use crate::lanes::Lanes;

/// `f32` or `f64`, with just the operations whose results WGSL and Rust agree on to the bit.
///
/// There is no fused multiply-add among them on purpose, and the one transcendental function is made of
/// the others in single precision.
pub trait Real:
    Copy
    + Debug
    + Default
    + PartialOrd
    + Send
    + Sync
    + 'static
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
{
    /// Zero.
    const ZERO: Self;
    /// Four of them.
    type Wide: Lanes<Self>;
    /// One.
    const ONE: Self;
    /// One half.
    const HALF: Self;
    /// Two.
    const TWO: Self;

    /// The nearest value to `x`.
    fn of(x: f64) -> Self;
    /// This value in double precision, exact.
    fn to_f64(self) -> f64;
    /// Square root, correctly rounded.
    fn sqrt(self) -> Self;
    /// Absolute value.
    fn abs(self) -> Self;
    /// Angle of the point `(x, self)` from the x axis, in (-pi, pi].
    fn atan2(self, x: Self) -> Self;
    /// The smaller of two values; `other` where they do not compare. One machine instruction, which the
    /// library's function is not.
    fn min(self, other: Self) -> Self;
    /// The larger of two values; `other` where they do not compare.
    fn max(self, other: Self) -> Self;
}

impl Real for f32 {
    type Wide = wide::f32x4;
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;
    const HALF: Self = 0.5;
    const TWO: Self = 2.0;

    #[expect(
        clippy::cast_possible_truncation,
        reason = "rounding to single precision is the purpose"
    )]
    fn of(x: f64) -> Self {
        x as Self
    }
    fn to_f64(self) -> f64 {
        f64::from(self)
    }
    fn sqrt(self) -> Self {
        Self::sqrt(self)
    }
    fn abs(self) -> Self {
        Self::abs(self)
    }
    fn atan2(self, x: Self) -> Self {
        arc_tangent(self, x)
    }
    fn min(self, other: Self) -> Self {
        if self < other { self } else { other }
    }
    fn max(self, other: Self) -> Self {
        if self > other { self } else { other }
    }
}

/// The arc tangent of `y/x` in the right quadrant, good to 3e-7, as in `shaders/shared/math.wgsl`.
///
/// The quotient of the smaller and the larger coordinate is brought below tan(pi/8), where a polynomial
/// of the ninth degree with the coefficients of the Cephes library does.
fn arc_tangent(y: f32, x: f32) -> f32 {
    const EIGHTH: f32 = std::f32::consts::FRAC_PI_4;
    const QUARTER: f32 = std::f32::consts::FRAC_PI_2;
    let (across, along) = (y.abs(), x.abs());
    let steep = across > along;
    let (small, large) = if steep { (along, across) } else { (across, along) };
    let quotient = if large > 0.0 { small / large } else { 0.0 };
    let folds = quotient > 0.414_213_57;
    let t = if folds { (quotient - 1.0) / (quotient + 1.0) } else { quotient };
    let z = t * t;
    let p = 8.053_744_5e-2 * z - 1.387_768_5e-1;
    let p = p * z + 1.997_771_1e-1;
    let p = p * z - 3.333_295e-1;
    let core = p * z * t + t;
    let angle = if folds { EIGHTH + core } else { core };
    let angle = if steep { QUARTER - angle } else { angle };
    let angle = if x < 0.0 { std::f32::consts::PI - angle } else { angle };
    if y < 0.0 { -angle } else { angle }
}

impl Real for f64 {
    type Wide = wide::f64x4;
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;
    const HALF: Self = 0.5;
    const TWO: Self = 2.0;

    fn of(x: f64) -> Self {
        x
    }
    fn to_f64(self) -> f64 {
        self
    }
    fn sqrt(self) -> Self {
        Self::sqrt(self)
    }
    fn abs(self) -> Self {
        Self::abs(self)
    }
    fn atan2(self, x: Self) -> Self {
        Self::atan2(self, x)
    }
    fn min(self, other: Self) -> Self {
        if self < other { self } else { other }
    }
    fn max(self, other: Self) -> Self {
        if self > other { self } else { other }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn angles_of_all_quadrants_are_those_of_the_library() {
        for i in 0..3900_u16 {
            let angle = f64::from(i) * 0.001_57 - 3.0;
            let (sine, cosine) = (f32::of(angle.sin() * 7.0), f32::of(angle.cos() * 7.0));
            assert!((Real::atan2(sine, cosine).to_f64() - angle).abs() < 5e-7, "{angle}");
        }
        assert_eq!(Real::atan2(0.0_f32, 0.0), 0.0);
        assert_eq!(Real::atan2(0.0_f32, -1.0), std::f32::consts::PI);
    }
}
