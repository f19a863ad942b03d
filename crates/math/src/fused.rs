//! Four numbers whose sums of products round once.
//!
//! Operations are spelled out per lane, which compilers turn into vector instructions; nothing is
//! reordered between lanes, so results do not depend on the instructions there are. Processors without
//! an instruction for fused products get the same bits from a slow call. So all that calculates much
//! with these runs where pulp has chosen the instructions, and everything is always inlined.
//! Arrays are filled by loops and literals: the functions of arrays that take closures become calls
//! and copies here.

use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub};

use bytemuck::{Pod, Zeroable};

use crate::number::{LANES, Number, Wide};

/// One number per lane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C, align(32))]
pub struct Fused(pub [f64; LANES]);

impl Fused {
    #[inline(always)]
    fn each(self, f: impl Fn(f64) -> f64) -> Self {
        let mut out = self.0;
        for x in &mut out {
            *x = f(*x);
        }
        Self(out)
    }

    #[inline(always)]
    fn zip(self, o: Self, f: impl Fn(f64, f64) -> f64) -> Self {
        let mut out = self.0;
        for (a, b) in out.iter_mut().zip(&o.0) {
            *a = f(*a, *b);
        }
        Self(out)
    }

    /// Whether it is less than the other in every lane.
    #[inline(always)]
    pub fn all_below(self, o: Self) -> bool {
        let mut all = true;
        for k in 0..LANES {
            all &= self.0[k] < o.0[k];
        }
        all
    }

    /// The largest of the lanes, none of them negative; infinite where one is not a number.
    #[inline(always)]
    pub fn largest(self) -> f64 {
        let [a, b, c, d] = self.0;
        let larger = |a: f64, b: f64| if a > b { a } else { b };
        let largest = larger(larger(a, b), larger(c, d));
        let sum = (a + b) + (c + d);
        if sum.is_nan() { f64::INFINITY } else { largest }
    }
}

impl Number for Fused {
    const ZERO: Self = Self([0.0; LANES]);
    const ONE: Self = Self([1.0; LANES]);
    const HALF: Self = Self([0.5; LANES]);
    const TWO: Self = Self([2.0; LANES]);

    #[inline(always)]
    fn of(x: f64) -> Self {
        Self([x; LANES])
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        self.each(f64::sqrt)
    }

    #[inline(always)]
    fn abs(self) -> Self {
        self.each(f64::abs)
    }

    #[inline(always)]
    fn min(self, o: Self) -> Self {
        self.zip(o, |a, b| if a < b { a } else { b })
    }

    #[inline(always)]
    fn max(self, o: Self) -> Self {
        self.zip(o, |a, b| if a > b { a } else { b })
    }

    #[inline(always)]
    fn where_above(self, o: Self, yes: Self, no: Self) -> Self {
        let mut out = no.0;
        for (k, out) in out.iter_mut().enumerate() {
            *out = if self.0[k] > o.0[k] { yes.0[k] } else { *out };
        }
        Self(out)
    }

    #[inline(always)]
    fn times_plus(self, b: Self, c: Self) -> Self {
        let mut out = c.0;
        for (out, (a, b)) in out.iter_mut().zip(self.0.iter().zip(&b.0)) {
            *out = a.mul_add(*b, *out);
        }
        Self(out)
    }

    #[inline(always)]
    fn times_less(self, b: Self, c: Self) -> Self {
        let mut out = c.0;
        for (out, (a, b)) in out.iter_mut().zip(self.0.iter().zip(&b.0)) {
            *out = (-a).mul_add(*b, *out);
        }
        Self(out)
    }
}

impl Wide for Fused {
    type Lane = f64;

    #[inline(always)]
    fn from_lanes(lanes: [f64; LANES]) -> Self {
        Self(lanes)
    }

    #[inline(always)]
    fn lanes(self) -> [f64; LANES] {
        self.0
    }

    #[inline(always)]
    fn splat(x: f64) -> Self {
        Self::of(x)
    }

    #[inline(always)]
    fn any_above(self, o: Self) -> bool {
        let mut any = false;
        for k in 0..LANES {
            any |= self.0[k] > o.0[k];
        }
        any
    }
}

macro_rules! operator {
    ($trait:ident, $method:ident, $op:tt) => {
        impl $trait for Fused {
            type Output = Self;
            #[inline(always)]
            fn $method(self, o: Self) -> Self {
                self.zip(o, |a, b| a $op b)
            }
        }
    };
}
operator!(Add, add, +);
operator!(Sub, sub, -);
operator!(Mul, mul, *);
operator!(Div, div, /);

/// Zero less the number: minus zero does not occur where the number is zero.
impl Neg for Fused {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self::ZERO - self
    }
}

impl AddAssign for Fused {
    #[inline(always)]
    fn add_assign(&mut self, o: Self) {
        *self = *self + o;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_products_are_rounded_once() {
        let x = 1.0 + f64::EPSILON;
        let square = Fused::of(x).times_less(Fused::of(x), Fused::of(x * x));
        assert_eq!(square, Fused::of(x.mul_add(-x, x * x)));
        assert_ne!(square, Fused::ZERO);
        assert_eq!(x.times_less(x, x * x), 0.0);
    }

    #[test]
    fn the_largest_lane_is_infinite_where_one_is_not_a_number() {
        assert_eq!(Fused([1.0, 3.0, 2.0, 0.0]).largest(), 3.0);
        assert_eq!(Fused([1.0, f64::NAN, 2.0, 0.0]).largest(), f64::INFINITY);
    }

    #[test]
    fn a_number_that_is_none_is_not_below() {
        let two = Fused::of(2.0);
        assert!(Fused([1.0, -3.0, 1.9, 0.0]).all_below(two));
        assert!(!Fused([1.0, 2.0, 1.9, 0.0]).all_below(two));
        assert!(!Fused([1.0, f64::NAN, 1.9, 0.0]).all_below(two));
    }
}
