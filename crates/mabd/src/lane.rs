//! Four numbers, vectors or matrices side by side, one per lane: four bodies at once.
//!
//! Operations are spelled out per lane, which compilers turn into vector instructions; nothing is
//! reordered between lanes, so results do not depend on the instructions there are. Products that are
//! added are rounded once; processors without such an instruction get the same bits from a slow call.
//! So all that calculates much with lanes runs where pulp has chosen the instructions.
//! Arrays are filled by loops and literals: the functions of arrays that take closures become calls
//! and copies here.

use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub};

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
    /// The same number in every lane.
    fn of(x: f64) -> Self;
    fn sqrt(self) -> Self;
    /// `yes` where this is greater than `other`, else `no`.
    fn where_above(self, other: Self, yes: Self, no: Self) -> Self;

    /// `self * b + c`.
    fn times_plus(self, b: Self, c: Self) -> Self;
    /// `c - self * b`.
    fn times_less(self, b: Self, c: Self) -> Self;
}

impl Number for f64 {
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;

    #[inline(always)]
    fn of(x: f64) -> Self {
        x
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        Self::sqrt(self)
    }

    #[inline(always)]
    fn where_above(self, other: Self, yes: Self, no: Self) -> Self {
        if self > other { yes } else { no }
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
    fn of(x: f64) -> Self {
        Self::splat(x)
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        let mut out = self.0;
        for x in &mut out {
            *x = x.sqrt();
        }
        Self(out)
    }

    #[inline(always)]
    fn where_above(self, other: Self, yes: Self, no: Self) -> Self {
        let mut out = no.0;
        for (k, out) in out.iter_mut().enumerate() {
            *out = if self.0[k] > other.0[k] { yes.0[k] } else { *out };
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

/// A vector, or one per lane.
pub(crate) type V<N = Lanes> = [N; 3];

/// A matrix, or one per lane, by columns.
pub(crate) type M<N = Lanes> = [V<N>; 3];

pub(crate) const ZERO3: V = [Lanes::ZERO; 3];

/// A matrix from its entries by row and column.
#[inline(always)]
pub(crate) fn matrix(f: impl Fn(usize, usize) -> Lanes) -> M {
    let column = |j: usize| [f(0, j), f(1, j), f(2, j)];
    [column(0), column(1), column(2)]
}

#[inline(always)]
pub(crate) fn add<N: Number>(a: V<N>, b: V<N>) -> V<N> {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

#[inline(always)]
pub(crate) fn sub<N: Number>(a: V<N>, b: V<N>) -> V<N> {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

#[inline(always)]
pub(crate) fn scale<N: Number>(a: V<N>, s: N) -> V<N> {
    [a[0] * s, a[1] * s, a[2] * s]
}

#[inline(always)]
pub(crate) fn dot<N: Number>(a: V<N>, b: V<N>) -> N {
    a[2].times_plus(b[2], a[1].times_plus(b[1], a[0] * b[0]))
}

/// `c + a . b`.
#[inline(always)]
pub(crate) fn dot_onto<N: Number>(a: V<N>, b: V<N>, c: N) -> N {
    a[2].times_plus(b[2], a[1].times_plus(b[1], a[0].times_plus(b[0], c)))
}

/// `m v`.
#[inline(always)]
pub(crate) fn times<N: Number>(m: M<N>, v: V<N>) -> V<N> {
    [
        m[2][0].times_plus(v[2], m[1][0].times_plus(v[1], m[0][0] * v[0])),
        m[2][1].times_plus(v[2], m[1][1].times_plus(v[1], m[0][1] * v[0])),
        m[2][2].times_plus(v[2], m[1][2].times_plus(v[1], m[0][2] * v[0])),
    ]
}

/// `m^T v`.
#[inline(always)]
pub(crate) fn transposed_times<N: Number>(m: M<N>, v: V<N>) -> V<N> {
    [dot(m[0], v), dot(m[1], v), dot(m[2], v)]
}

/// `a b`.
#[inline(always)]
pub(crate) fn product<N: Number>(a: M<N>, b: M<N>) -> M<N> {
    [times(a, b[0]), times(a, b[1]), times(a, b[2])]
}

/// `a^T b`.
#[inline(always)]
pub(crate) fn transposed_product<N: Number>(a: M<N>, b: M<N>) -> M<N> {
    [transposed_times(a, b[0]), transposed_times(a, b[1]), transposed_times(a, b[2])]
}

/// `a w a^T`.
#[inline(always)]
pub(crate) fn conjugate<N: Number>(a: M<N>, w: M<N>) -> M<N> {
    let left = product(a, w);
    let row = |j: usize| [a[0][j], a[1][j], a[2][j]];
    [times(left, row(0)), times(left, row(1)), times(left, row(2))]
}

#[inline(always)]
pub(crate) fn plus<N: Number>(a: M<N>, b: M<N>) -> M<N> {
    [add(a[0], b[0]), add(a[1], b[1]), add(a[2], b[2])]
}

#[inline(always)]
pub(crate) fn minus<N: Number>(a: M<N>, b: M<N>) -> M<N> {
    [sub(a[0], b[0]), sub(a[1], b[1]), sub(a[2], b[2])]
}

#[inline(always)]
pub(crate) fn transposed<N: Number>([a, b, c]: M<N>) -> M<N> {
    [[a[0], b[0], c[0]], [a[1], b[1], c[1]], [a[2], b[2], c[2]]]
}
