//! Four numbers that go through the same arithmetic.
//!
//! A loop over an array of four leaves the compiler to guess that its turns belong side by side, and over
//! the length of a contact's arithmetic it guesses wrong. These are vector registers where there are any.
//! Every operation rounds as its scalar twin does, so results do not depend on the registers' width.

use std::{
    fmt::Debug,
    ops::{Add, AddAssign, Mul, Neg, Sub},
};

use wide::{f32x4, f64x4};

/// How many lanes there are.
pub const LANES: usize = 4;

/// Four numbers of one precision.
pub trait Lanes<R: Copy>:
    Copy
    + Debug
    + Send
    + Sync
    + 'static
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Neg<Output = Self>
    + AddAssign
{
    /// Zero in all lanes.
    const ZERO: Self;

    /// The same number in all lanes.
    fn splat(x: R) -> Self;
    /// One number per lane.
    fn of(lanes: [R; LANES]) -> Self;
    /// The numbers, lane by lane.
    fn array(self) -> [R; LANES];
    /// Quotient.
    fn over(self, other: Self) -> Self;
    /// Square root.
    fn sqrt(self) -> Self;
    /// Absolute value.
    fn abs(self) -> Self;
    /// The smaller of two numbers.
    fn min(self, other: Self) -> Self;
    /// The larger of two numbers.
    fn max(self, other: Self) -> Self;
    /// `yes` in lanes where this is greater than `other`, `no` in the others.
    fn where_above(self, other: Self, yes: Self, no: Self) -> Self;
    /// Whether any lane is greater than the same of `other`.
    fn any_above(self, other: Self) -> bool;
    /// Sum of all lanes, in one order on every machine.
    fn sum(self) -> R;

    /// The number in one lane.
    #[inline(always)]
    fn lane(self, i: usize) -> R {
        self.array()[i]
    }

    /// Replaces the number in one lane.
    #[inline]
    fn put(&mut self, i: usize, x: R) {
        let mut lanes = self.array();
        lanes[i] = x;
        *self = Self::of(lanes);
    }
}

impl Lanes<f64> for f64x4 {
    const ZERO: Self = Self::ZERO;

    #[inline(always)]
    fn splat(x: f64) -> Self {
        Self::splat(x)
    }
    #[inline(always)]
    fn of(lanes: [f64; LANES]) -> Self {
        Self::new(lanes)
    }
    #[inline(always)]
    fn array(self) -> [f64; LANES] {
        self.to_array()
    }
    #[inline(always)]
    fn over(self, other: Self) -> Self {
        self / other
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        Self::sqrt(self)
    }
    #[inline(always)]
    fn abs(self) -> Self {
        Self::abs(self)
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        self.fast_min(other)
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        self.fast_max(other)
    }
    #[inline(always)]
    fn where_above(self, other: Self, yes: Self, no: Self) -> Self {
        self.simd_gt(other).bitselect(yes, no)
    }
    #[inline(always)]
    fn any_above(self, other: Self) -> bool {
        self.simd_gt(other).any()
    }
    #[inline(always)]
    fn sum(self) -> f64 {
        let [a, b, c, d] = self.to_array();
        (a + c) + (b + d)
    }
}

impl Lanes<f32> for f32x4 {
    const ZERO: Self = Self::ZERO;

    #[inline(always)]
    fn splat(x: f32) -> Self {
        Self::splat(x)
    }
    #[inline(always)]
    fn of(lanes: [f32; LANES]) -> Self {
        Self::new(lanes)
    }
    #[inline(always)]
    fn array(self) -> [f32; LANES] {
        self.to_array()
    }
    #[inline(always)]
    fn over(self, other: Self) -> Self {
        self / other
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        Self::sqrt(self)
    }
    #[inline(always)]
    fn abs(self) -> Self {
        Self::abs(self)
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        self.fast_min(other)
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        self.fast_max(other)
    }
    #[inline(always)]
    fn where_above(self, other: Self, yes: Self, no: Self) -> Self {
        self.simd_gt(other).bitselect(yes, no)
    }
    #[inline(always)]
    fn any_above(self, other: Self) -> bool {
        self.simd_gt(other).any()
    }
    #[inline(always)]
    fn sum(self) -> f32 {
        let [a, b, c, d] = self.to_array();
        (a + c) + (b + d)
    }
}
