//! Four numbers, vectors or matrices side by side, one per lane: four pairs of bodies solved at once.
//!
//! Operations are spelled out per lane, which compilers turn into vector instructions; there is no
//! reordering between lanes, so results do not depend on the machine.

use std::{
    array,
    ops::{Add, Mul, Neg, Sub},
};
use taut_math::{Real, Sym3, V3};

/// How many pairs are solved at once.
pub(crate) const LANES: usize = 4;

/// One number per lane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Wide<R>(pub(crate) [R; LANES]);

/// One vector per lane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Wide3<R>(pub(crate) [Wide<R>; 3]);

/// One symmetric matrix per lane: `xx, yy, zz, xy, xz, yz`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct WideSym<R>(pub(crate) [Wide<R>; 6]);

impl<R: Real> Wide<R> {
    pub(crate) const ZERO: Self = Self([R::ZERO; LANES]);

    #[inline(always)]
    pub(crate) fn splat(x: R) -> Self {
        Self([x; LANES])
    }

    #[inline(always)]
    fn zip(self, o: Self, f: impl Fn(R, R) -> R) -> Self {
        let (a, b) = (self.0, o.0);
        Self([f(a[0], b[0]), f(a[1], b[1]), f(a[2], b[2]), f(a[3], b[3])])
    }

    /// The larger of two numbers; comparisons are plain, so that they are one instruction.
    #[inline(always)]
    pub(crate) fn max(self, o: Self) -> Self {
        self.zip(o, |a, b| if a > b { a } else { b })
    }

    #[inline(always)]
    pub(crate) fn min(self, o: Self) -> Self {
        self.zip(o, |a, b| if a < b { a } else { b })
    }

    /// `a` where this number is above zero, `b` elsewhere.
    #[inline(always)]
    pub(crate) fn positive(self, a: Self, b: Self) -> Self {
        let pick = |i: usize| if self.0[i] > R::ZERO { a.0[i] } else { b.0[i] };
        Self([pick(0), pick(1), pick(2), pick(3)])
    }

    #[inline(always)]
    pub(crate) fn sqrt(self) -> Self {
        Self([self.0[0].sqrt(), self.0[1].sqrt(), self.0[2].sqrt(), self.0[3].sqrt()])
    }

    /// `1 / x` where `x` is above zero, zero elsewhere.
    #[inline(always)]
    pub(crate) fn inverse(self) -> Self {
        let one = |x: R| if x > R::ZERO { R::ONE / x } else { R::ZERO };
        Self([one(self.0[0]), one(self.0[1]), one(self.0[2]), one(self.0[3])])
    }
}

impl<R: Real> Add for Wide<R> {
    type Output = Self;
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        self.zip(o, |a, b| a + b)
    }
}

impl<R: Real> Sub for Wide<R> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, o: Self) -> Self {
        self.zip(o, |a, b| a - b)
    }
}

impl<R: Real> Mul for Wide<R> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, o: Self) -> Self {
        self.zip(o, |a, b| a * b)
    }
}

impl<R: Real> Neg for Wide<R> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self([-self.0[0], -self.0[1], -self.0[2], -self.0[3]])
    }
}

impl<R: Real> Wide3<R> {
    pub(crate) const ZERO: Self = Self([Wide::ZERO; 3]);

    /// From one vector per lane.
    #[inline(always)]
    pub(crate) fn gather(lane: impl Fn(usize) -> V3<R>) -> Self {
        let (a, b, c, d) = (lane(0).0, lane(1).0, lane(2).0, lane(3).0);
        let part = |i: usize| Wide([a[i], b[i], c[i], d[i]]);
        Self([part(0), part(1), part(2)])
    }

    #[inline(always)]
    pub(crate) fn lane(&self, i: usize) -> V3<R> {
        V3([self.0[0].0[i], self.0[1].0[i], self.0[2].0[i]])
    }

    #[inline(always)]
    pub(crate) fn set(&mut self, lane: usize, v: V3<R>) {
        for i in 0..3 {
            self.0[i].0[lane] = v.0[i];
        }
    }

    #[inline(always)]
    pub(crate) fn dot(self, o: Self) -> Wide<R> {
        self.0[0] * o.0[0] + self.0[1] * o.0[1] + self.0[2] * o.0[2]
    }

    #[inline(always)]
    pub(crate) fn cross(self, o: Self) -> Self {
        let (a, b) = (self.0, o.0);
        Self([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])
    }

    #[inline(always)]
    pub(crate) fn scaled(self, s: Wide<R>) -> Self {
        Self([self.0[0] * s, self.0[1] * s, self.0[2] * s])
    }
}

impl<R: Real> Add for Wide3<R> {
    type Output = Self;
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        Self([self.0[0] + o.0[0], self.0[1] + o.0[1], self.0[2] + o.0[2]])
    }
}

impl<R: Real> Sub for Wide3<R> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, o: Self) -> Self {
        Self([self.0[0] - o.0[0], self.0[1] - o.0[1], self.0[2] - o.0[2]])
    }
}

impl<R: Real> WideSym<R> {
    pub(crate) const ZERO: Self = Self([Wide::ZERO; 6]);

    #[inline(always)]
    pub(crate) fn set(&mut self, lane: usize, m: &Sym3<R>) {
        for i in 0..6 {
            self.0[i].0[lane] = m.0[i];
        }
    }

    #[inline(always)]
    pub(crate) fn apply(&self, v: Wide3<R>) -> Wide3<R> {
        let ([xx, yy, zz, xy, xz, yz], [x, y, z]) = (self.0, v.0);
        Wide3([xx * x + xy * y + xz * z, xy * x + yy * y + yz * z, xz * x + yz * y + zz * z])
    }
}

/// Numbers made lane by lane.
pub(crate) fn lanes<R: Real>(f: impl FnMut(usize) -> R) -> Wide<R> {
    Wide(array::from_fn(f))
}
