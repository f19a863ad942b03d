//! Four numbers, vectors or matrices side by side, one per lane: four bodies at once.
//!
//! Operations are spelled out per lane, which compilers turn into vector instructions; nothing is
//! reordered between lanes, so results do not depend on the instructions there are. Products that are
//! added are rounded once; processors without such an instruction get the same bits from a slow call.
//! So all that calculates much with lanes runs where pulp has chosen the instructions.
//! Arrays are filled by loops and literals: the functions of arrays that take closures become calls
//! and copies here.

use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub};

use crate::dual::blocks::REDUNDANT;

/// How many bodies are handled at once. With four, a matrix per lane stays within the sixteen vector registers of
/// AVX2; with eight it does not, which makes chains half as slow again.
pub(crate) const LANES: usize = 4;

/// One number per lane.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(align(32))]
pub(crate) struct Lanes(pub(crate) [f64; LANES]);

impl Lanes {
    pub(crate) const ZERO: Self = Self([0.0; LANES]);
    pub(crate) const ONE: Self = Self([1.0; LANES]);

    #[inline(always)]
    pub(crate) fn splat(x: f64) -> Self {
        Self([x; LANES])
    }

    /// What `f` tells of each lane; from registers, where arrays that are filled one by one are waited for.
    #[inline(always)]
    pub(crate) fn pick(f: impl Fn(usize) -> f64) -> Self {
        Self([f(0), f(1), f(2), f(3)])
    }

    #[inline(always)]
    fn zip(self, o: Self, f: impl Fn(f64, f64) -> f64) -> Self {
        let mut out = [0.0; LANES];
        for (out, (a, b)) in out.iter_mut().zip(self.0.iter().zip(&o.0)) {
            *out = f(*a, *b);
        }
        Self(out)
    }

    #[inline(always)]
    pub(crate) fn max(self, o: Self) -> Self {
        self.zip(o, |a, b| if a > b { a } else { b })
    }

    #[inline(always)]
    pub(crate) fn sqrt(self) -> Self {
        let mut out = self.0;
        for x in &mut out {
            *x = x.sqrt();
        }
        Self(out)
    }

    /// The largest of the lanes, none of them negative; infinite where one is not a number.
    #[inline(always)]
    pub(crate) fn largest(self) -> f64 {
        let [a, b, c, d] = self.0;
        let larger = |a: f64, b: f64| if a > b { a } else { b };
        let largest = larger(larger(a, b), larger(c, d));
        let sum = (a + b) + (c + d);
        if sum.is_nan() { f64::INFINITY } else { largest }
    }

    /// Whether any lane exceeds that of `o`.
    #[inline(always)]
    pub(crate) fn exceeds(self, o: Self) -> bool {
        let mut any = false;
        for k in 0..LANES {
            any |= self.0[k] > o.0[k];
        }
        any
    }
}

/// What elimination along joints calculates with: one chain, or four side by side.
pub(crate) trait Number:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    const ZERO: Self;
    const ONE: Self;

    /// The inverse of a pivot, or zero where it is next to nothing beside `scale`.
    fn inverse_pivot(self, scale: Self) -> Self;
    /// `self * b + c`.
    fn times_plus(self, b: Self, c: Self) -> Self;
    /// `c - self * b`.
    fn times_less(self, b: Self, c: Self) -> Self;
}

impl Number for f64 {
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;

    #[inline(always)]
    fn inverse_pivot(self, scale: Self) -> Self {
        if self > REDUNDANT * scale { 1.0 / self } else { 0.0 }
    }

    // Rounded twice: what calculates with single numbers is not compiled for fused products.
    #[inline(always)]
    fn times_plus(self, b: Self, c: Self) -> Self {
        self * b + c
    }

    #[inline(always)]
    fn times_less(self, b: Self, c: Self) -> Self {
        c - self * b
    }
}

impl Number for Lanes {
    const ZERO: Self = Self::ZERO;
    const ONE: Self = Self::ONE;

    #[inline(always)]
    fn inverse_pivot(self, scale: Self) -> Self {
        let inverse = Self::ONE / self;
        let least = scale * Self::splat(REDUNDANT);
        let mut out = inverse.0;
        for (out, (pivot, least)) in out.iter_mut().zip(self.0.iter().zip(&least.0)) {
            *out = if pivot > least { *out } else { 0.0 };
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

macro_rules! operator {
    ($trait:ident, $method:ident, $op:tt) => {
        impl $trait for Lanes {
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

impl Neg for Lanes {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self::ZERO - self
    }
}

impl AddAssign for Lanes {
    #[inline(always)]
    fn add_assign(&mut self, o: Self) {
        *self = *self + o;
    }
}

/// One vector per lane.
pub(crate) type V = [Lanes; 3];

/// One matrix per lane, by columns.
pub(crate) type M = [V; 3];

pub(crate) const ZERO3: V = [Lanes::ZERO; 3];

/// A matrix from its entries by row and column.
#[inline(always)]
pub(crate) fn matrix(f: impl Fn(usize, usize) -> Lanes) -> M {
    let column = |j: usize| [f(0, j), f(1, j), f(2, j)];
    [column(0), column(1), column(2)]
}

#[inline(always)]
pub(crate) fn add(a: V, b: V) -> V {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

#[inline(always)]
pub(crate) fn sub(a: V, b: V) -> V {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

#[inline(always)]
pub(crate) fn scale(a: V, s: Lanes) -> V {
    [a[0] * s, a[1] * s, a[2] * s]
}

#[inline(always)]
pub(crate) fn dot(a: V, b: V) -> Lanes {
    a[2].times_plus(b[2], a[1].times_plus(b[1], a[0] * b[0]))
}

/// `c + a . b`.
#[inline(always)]
pub(crate) fn dot_onto(a: V, b: V, c: Lanes) -> Lanes {
    a[2].times_plus(b[2], a[1].times_plus(b[1], a[0].times_plus(b[0], c)))
}

/// `m v`.
#[inline(always)]
pub(crate) fn times(m: M, v: V) -> V {
    [
        m[2][0].times_plus(v[2], m[1][0].times_plus(v[1], m[0][0] * v[0])),
        m[2][1].times_plus(v[2], m[1][1].times_plus(v[1], m[0][1] * v[0])),
        m[2][2].times_plus(v[2], m[1][2].times_plus(v[1], m[0][2] * v[0])),
    ]
}

/// `m^T v`.
#[inline(always)]
pub(crate) fn transposed_times(m: M, v: V) -> V {
    [dot(m[0], v), dot(m[1], v), dot(m[2], v)]
}

/// `a b`.
#[inline(always)]
pub(crate) fn product(a: M, b: M) -> M {
    [times(a, b[0]), times(a, b[1]), times(a, b[2])]
}

/// `a^T b`.
#[inline(always)]
pub(crate) fn transposed_product(a: M, b: M) -> M {
    [transposed_times(a, b[0]), transposed_times(a, b[1]), transposed_times(a, b[2])]
}

/// `a w a^T`.
#[inline(always)]
pub(crate) fn conjugate(a: M, w: M) -> M {
    let left = product(a, w);
    let row = |j: usize| [a[0][j], a[1][j], a[2][j]];
    [times(left, row(0)), times(left, row(1)), times(left, row(2))]
}

#[inline(always)]
pub(crate) fn plus(a: M, b: M) -> M {
    [add(a[0], b[0]), add(a[1], b[1]), add(a[2], b[2])]
}

#[inline(always)]
pub(crate) fn minus(a: M, b: M) -> M {
    [sub(a[0], b[0]), sub(a[1], b[1]), sub(a[2], b[2])]
}
