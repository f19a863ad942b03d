//! Four numbers that go through the same arithmetic.
//!
//! A loop over an array of four leaves the compiler to guess that its turns belong side by side, and over
//! the length of a contact's arithmetic it guesses wrong. These are vector registers where there are any.
//! Every operation rounds as its scalar twin does, so results do not depend on the registers' width.

use wide::{f32x4, f64x4};

use crate::number::{LANES, Number, Wide};

macro_rules! quad {
    ($quad:ty, $lane:ty) => {
        impl Number for $quad {
            const ZERO: Self = Self::ZERO;
            const ONE: Self = Self::ONE;
            const HALF: Self = Self::HALF;
            const TWO: Self = Self::new([2.0; LANES]);

            #[inline(always)]
            fn of(x: f64) -> Self {
                Self::splat(x as $lane)
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
        }

        impl Wide for $quad {
            type Lane = $lane;

            #[inline(always)]
            fn from_lanes(lanes: [$lane; LANES]) -> Self {
                Self::new(lanes)
            }
            #[inline(always)]
            fn lanes(self) -> [$lane; LANES] {
                self.to_array()
            }
            #[inline(always)]
            fn splat(x: $lane) -> Self {
                Self::splat(x)
            }
            #[inline(always)]
            fn transposed(columns: [Self; LANES]) -> [Self; LANES] {
                Self::transpose(columns)
            }
            #[inline(always)]
            fn any_above(self, other: Self) -> bool {
                self.simd_gt(other).any()
            }
            #[inline(always)]
            fn put(&mut self, i: usize, x: $lane) {
                // In place: a register made of an array that was just written has to wait for it.
                self.as_mut_array()[i] = x;
            }
            #[inline(always)]
            fn lane(self, i: usize) -> $lane {
                self.as_array()[i]
            }
        }
    };
}
quad!(f32x4, f32);
quad!(f64x4, f64);
