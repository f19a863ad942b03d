//! The two precisions a descent solver runs in.

use std::{
    fmt::Debug,
    ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign},
};

use crate::lanes::Lanes;

/// `f32` or `f64`, with just the operations whose results WGSL and Rust agree on to the bit.
///
/// There is no fused multiply-add and no transcendental function among them on purpose.
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
    fn min(self, other: Self) -> Self {
        if self < other { self } else { other }
    }
    fn max(self, other: Self) -> Self {
        if self > other { self } else { other }
    }
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
    fn min(self, other: Self) -> Self {
        if self < other { self } else { other }
    }
    fn max(self, other: Self) -> Self {
        if self > other { self } else { other }
    }
}
