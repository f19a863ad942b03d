//! What one calculates with: numbers in either precision, or several of them side by side.

use std::{
    f64::consts::TAU,
    fmt::Debug,
    ops::{Add, AddAssign, Div, Mul, Neg, Sub},
    sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed},
};

/// How many lanes there are.
pub const LANES: usize = 4;

const FRAC_1_TAU: f64 = 1.0 / TAU;

/// A number, or several that go through the same arithmetic, with just the operations whose results
/// WGSL and Rust agree on to the bit.
///
/// Fused products are the exception: only types that say so round once in [`Number::times_plus`].
pub trait Number:
    Copy
    + Debug
    + Default
    + Send
    + Sync
    + 'static
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
{
    /// Zero.
    const ZERO: Self;
    /// One.
    const ONE: Self;
    /// One half.
    const HALF: Self;
    /// Two.
    const TWO: Self;

    /// The nearest value to `x`, in every lane.
    fn of(x: f64) -> Self;
    /// Square root, correctly rounded.
    fn sqrt(self) -> Self;
    /// Absolute value.
    fn abs(self) -> Self;
    /// The smaller of two values; `other` where they are equal or do not compare. One machine
    /// instruction, which the library's function is not.
    fn min(self, other: Self) -> Self;
    /// The larger of two values; `other` where they are equal or do not compare.
    fn max(self, other: Self) -> Self;
    /// `yes` where this is greater than `other`, else `no`.
    fn where_above(self, other: Self, yes: Self, no: Self) -> Self;

    /// The inverse of what is above zero, else zero.
    #[inline(always)]
    fn inverse_or_zero(self) -> Self {
        self.where_above(Self::ZERO, Self::ONE / self, Self::ZERO)
    }

    /// `self * b + c`.
    #[inline(always)]
    fn times_plus(self, b: Self, c: Self) -> Self {
        self * b + c
    }

    /// `c - self * b`.
    #[inline(always)]
    fn times_less(self, b: Self, c: Self) -> Self {
        c - self * b
    }
}

/// `f32` or `f64`. The one transcendental function is made of the other operations in single precision.
pub trait Real: Number + PartialOrd {
    /// Four of them.
    type Wide: Wide<Lane = Self>;
    /// Holds one of them where several threads read and write, at the cost of a plain load or store.
    type Cell: Debug + Send + Sync;

    /// A cell that holds this value.
    fn cell(self) -> Self::Cell;
    /// What a cell holds.
    fn load(cell: &Self::Cell) -> Self;
    /// Has a cell hold this value.
    fn store(self, cell: &Self::Cell);
    /// This value in double precision, exact.
    fn to_f64(self) -> f64;
    /// Angle of the point `(x, self)` from the x axis, in (-pi, pi].
    fn atan2(self, x: Self) -> Self;
    /// The largest whole number that is not above this one.
    fn floor(self) -> Self;

    /// This angle and the full turns that bring it nearest to another [rad]; twin of `nearest_turn` in
    /// `shaders/shared/math.wgsl`.
    #[inline]
    fn nearest_turn(self, to: Self) -> Self {
        let turns = ((to - self) * Self::of(FRAC_1_TAU) + Self::HALF).floor();
        // Not a bit is changed where there is no turn to add.
        if turns == Self::ZERO { self } else { self + turns * Self::of(TAU) }
    }
}

/// Four numbers of one precision.
pub trait Wide: Number {
    /// The number in one lane.
    type Lane: Real;

    /// One number per lane.
    fn from_lanes(lanes: [Self::Lane; LANES]) -> Self;
    /// The numbers, lane by lane.
    fn lanes(self) -> [Self::Lane; LANES];
    /// The same number in all lanes.
    fn splat(x: Self::Lane) -> Self;
    /// Whether any lane is greater than the same of `other`.
    fn any_above(self, other: Self) -> bool;

    /// What `f` tells of each lane; from registers, where arrays that are filled one by one are waited for.
    #[inline(always)]
    fn gather(f: impl Fn(usize) -> Self::Lane) -> Self {
        Self::from_lanes([f(0), f(1), f(2), f(3)])
    }

    /// What is in lane `i` of number `k`, in lane `k` of number `i`.
    #[inline(always)]
    fn transposed([a, b, c, d]: [Self; LANES]) -> [Self; LANES] {
        let row = |i| Self::from_lanes([a.lane(i), b.lane(i), c.lane(i), d.lane(i)]);
        [row(0), row(1), row(2), row(3)]
    }

    /// Sum of all lanes, in one order on every machine.
    #[inline(always)]
    fn sum(self) -> Self::Lane {
        let [a, b, c, d] = self.lanes();
        (a + c) + (b + d)
    }

    /// The number in one lane.
    #[inline(always)]
    fn lane(self, i: usize) -> Self::Lane {
        self.lanes()[i]
    }

    /// Replaces the number in one lane.
    #[inline]
    fn put(&mut self, i: usize, x: Self::Lane) {
        let mut lanes = self.lanes();
        lanes[i] = x;
        *self = Self::from_lanes(lanes);
    }
}

macro_rules! number {
    ($real:ty) => {
        impl Number for $real {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const HALF: Self = 0.5;
            const TWO: Self = 2.0;

            #[inline(always)]
            fn of(x: f64) -> Self {
                x as $real
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
                if self < other { self } else { other }
            }
            #[inline(always)]
            fn max(self, other: Self) -> Self {
                if self > other { self } else { other }
            }
            #[inline(always)]
            fn where_above(self, other: Self, yes: Self, no: Self) -> Self {
                if self > other { yes } else { no }
            }
        }
    };
}
number!(f32);
number!(f64);

/// Cells hold the bits of a number.
macro_rules! cell {
    ($atomic:ty) => {
        type Cell = $atomic;

        #[inline(always)]
        fn cell(self) -> Self::Cell {
            <$atomic>::new(self.to_bits())
        }
        #[inline(always)]
        fn load(cell: &Self::Cell) -> Self {
            Self::from_bits(cell.load(Relaxed))
        }
        #[inline(always)]
        fn store(self, cell: &Self::Cell) {
            cell.store(self.to_bits(), Relaxed);
        }
    };
}

impl Real for f32 {
    type Wide = wide::f32x4;
    cell!(AtomicU32);

    #[inline(always)]
    fn to_f64(self) -> f64 {
        f64::from(self)
    }
    #[inline]
    fn atan2(self, x: Self) -> Self {
        arc_tangent(self, x)
    }
    #[inline(always)]
    fn floor(self) -> Self {
        Self::floor(self)
    }
}

impl Real for f64 {
    type Wide = wide::f64x4;
    cell!(AtomicU64);

    #[inline(always)]
    fn to_f64(self) -> f64 {
        self
    }
    #[inline]
    fn atan2(self, x: Self) -> Self {
        Self::atan2(self, x)
    }
    #[inline(always)]
    fn floor(self) -> Self {
        Self::floor(self)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_turns_bring_an_angle_nearest_to_another() {
        for turns in -3..=3 {
            for (angle, to) in [(0.3, 0.1), (-3.0, -2.0), (3.1, 3.1), (-3.1, 3.1)] {
                let whole = f64::from(turns) * TAU;
                let found = Real::nearest_turn(angle, to + whole);
                assert!((found - to - whole).abs() <= std::f64::consts::PI + 1e-12);
                assert!((((found - angle) / TAU).fract()).abs() < 1e-12);
                let single = Real::nearest_turn(angle as f32, (to + whole) as f32);
                assert!((f64::from(single) - found).abs() < 1e-5, "{single} {found}");
            }
        }
        assert_eq!(Real::nearest_turn(-0.0_f64, 3.0).to_bits(), (-0.0_f64).to_bits());
    }

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
