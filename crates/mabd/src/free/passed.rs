//! What a stretch of bodies, one or more, shows the joints at its two ends.

use taut_math::{Fused, Number};

use super::{FreeResponse, GroupKind};
use crate::{
    algebra::{RowMatrix, S},
    lane::{self, V, add, conjugate, scale, times},
};

/// One end of a stretch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StretchEnd<N> {
    /// What unit forces there do there, in world axes.
    pub(crate) own: S<N>,
    /// Its diagonal before anything was eliminated.
    pub(crate) scale: [N; 3],
    /// Where the end would go without joints.
    pub(crate) tip: [N; 3],
}

/// Both ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Passed<N> {
    pub(crate) left: StretchEnd<N>,
    pub(crate) right: StretchEnd<N>,
    /// What forces at the right end do at the left one.
    pub(crate) across: RowMatrix<N>,
}

impl<N: Number> StretchEnd<N> {
    /// An end of bodies of which none is eliminated.
    #[inline(always)]
    fn new(own: S<N>, tip: [N; 3]) -> Self {
        Self { own, scale: [own[0], own[3], own[5]], tip }
    }
}

impl StretchEnd<Fused> {
    /// The end of one body at `x` [m] along its first axis, given what unit forces do at unit distance.
    #[inline(always)]
    fn along((unit, reach): (S<Fused>, Fused), axis: V, middle: V, x: Fused) -> Self {
        Self::new(grounded(multiple(unit, x * x), reach), add(scale(axis, x), middle))
    }
}

impl<N: Number> Passed<N> {
    /// Of what does not give way.
    pub(crate) const NONE: Self = {
        let end = StretchEnd { own: [N::ZERO; 6], scale: [N::ZERO; 3], tip: [N::ZERO; 3] };
        Self { left: end, right: end, across: [N::ZERO; 9] }
    };
}

impl Passed<Fused> {
    /// One of four stretches.
    #[inline(always)]
    pub(crate) fn lane(&self, k: usize) -> Passed<f64> {
        let end = |end: &StretchEnd<Fused>| StretchEnd {
            own: lane_of(&end.own, k),
            scale: lane_of(&end.scale, k),
            tip: lane_of(&end.tip, k),
        };
        Passed { left: end(&self.left), right: end(&self.right), across: lane_of(&self.across, k) }
    }

    /// Replaces one of four stretches.
    #[inline(always)]
    pub(crate) fn put_lane(&mut self, k: usize, passed: &Passed<f64>) {
        let ends = [(&mut self.left, &passed.left), (&mut self.right, &passed.right)];
        for (to, from) in ends {
            put_lane(&mut to.own, k, &from.own);
            put_lane(&mut to.scale, k, &from.scale);
            put_lane(&mut to.tip, k, &from.tip);
        }
        put_lane(&mut self.across, k, &passed.across);
    }
}

#[inline(always)]
fn lane_of<const N: usize>(from: &[Fused; N], k: usize) -> [f64; N] {
    let mut to = [0.0; N];
    for (to, from) in to.iter_mut().zip(from) {
        *to = from.0[k];
    }
    to
}

#[inline(always)]
fn put_lane<const N: usize>(to: &mut [Fused; N], k: usize, from: &[f64; N]) {
    for (to, from) in to.iter_mut().zip(from) {
        to.0[k] = *from;
    }
}

impl FreeResponse {
    /// What the bodies pass on to the joints at their left and right.
    #[inline(always)]
    pub(crate) fn pass(&self, kind: GroupKind<'_>, passed: &mut Passed<Fused>) {
        let GroupKind { constants, anchors } = kind;
        let (x, y) = (anchors.left, anchors.right);
        let reach = constants.reach;
        if !anchors.axial {
            let own = conjugate(self.rotation, self.local.between(x, x));
            passed.left = StretchEnd::new(grounded(upper(own), reach), self.tip(x));
            let own = conjugate(self.rotation, self.local.between(y, y));
            passed.right = StretchEnd::new(grounded(upper(own), reach), self.tip(y));
            let [a, b, c] = conjugate(self.rotation, self.local.between(x, y));
            passed.across =
                [a[0] + reach, b[0], c[0], a[1], b[1] + reach, c[1], a[2], b[2], c[2] + reach];
            return;
        }
        // Along the first axis all three blocks are multiples of one.
        let [a, b, c] = self.rotation;
        let [d, e, f] = self.local.along(0);
        let (u, v, w) = (scale(a, d), scale(b, e), scale(c, f));
        let unit = [
            w[0].times_plus(c[0], v[0].times_plus(b[0], u[0] * a[0])),
            w[0].times_plus(c[1], v[0].times_plus(b[1], u[0] * a[1])),
            w[0].times_plus(c[2], v[0].times_plus(b[2], u[0] * a[2])),
            w[1].times_plus(c[1], v[1].times_plus(b[1], u[1] * a[1])),
            w[1].times_plus(c[2], v[1].times_plus(b[2], u[1] * a[2])),
            w[2].times_plus(c[2], v[2].times_plus(b[2], u[2] * a[2])),
        ];
        let axis = add(self.at[0], times(self.rotation, self.frame[0]));
        let middle = add(self.centre, self.origin);
        passed.left = StretchEnd::along((unit, reach), axis, middle, x[0]);
        passed.right = StretchEnd::along((unit, reach), axis, middle, y[0]);
        let [m11, m12, m13, m22, m23, m33] = grounded(multiple(unit, x[0] * y[0]), reach);
        passed.across = [m11, m12, m13, m12, m22, m23, m13, m23, m33];
    }
}

#[inline(always)]
fn multiple([a, b, c, d, e, f]: S<Fused>, factor: Fused) -> S<Fused> {
    [a * factor, b * factor, c * factor, d * factor, e * factor, f * factor]
}

/// With `reach` on the diagonal, in the order of the upper triangle by rows.
#[inline(always)]
fn grounded([a, b, c, d, e, f]: S<Fused>, reach: Fused) -> S<Fused> {
    [a + reach, b, c, d + reach, e, f + reach]
}

#[inline(always)]
fn upper([a, b, c]: lane::M) -> S<Fused> {
    [a[0], b[0], c[0], b[1], c[1], c[2]]
}
