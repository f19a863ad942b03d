//! Four vertices on their way, and how fast the distance between their features can fall.

use taut_math::V3;

use crate::distance::{Proximity, edge_edge, point_triangle};

/// What the four vertices of a pair are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Features {
    /// `p, t0, t1, t2`.
    PointTriangle,
    /// `a0, a1, b0, b1`.
    EdgeEdge,
}

impl Features {
    /// The nearest points of a pair of these, whose vertices are at `points` [m].
    #[inline(always)]
    pub fn nearest(self, points: &[V3<f64>; 4]) -> Proximity {
        match self {
            Self::PointTriangle => point_triangle(points),
            Self::EdgeEdge => edge_edge(points),
        }
    }
}

/// The straight motion of a pair, `x_i + t Δ_i` [m] for t in 0..1, without what all four vertices share.
///
/// It is taken as exact, until [`PairSweep::rounded_again`] says otherwise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairSweep {
    features: Features,
    start: [V3<f64>; 4],
    moves: [V3<f64>; 4],
    speed: f64,
    rounding: f64,
}

/// What rounding can add to a distance, relative to the largest coordinate.
pub(crate) const ROUNDING: f64 = 1.0 / (1_u64 << 48) as f64;

/// The same of two points that are placed anew, each by three sums of products, relative to the largest coordinate in
/// the world: five roundings of either along three axes.
const PLACING: f64 = 1.0 / (1_u64 << 49) as f64;

/// What placing vertices whose coordinates are no larger than `largest` [m] adds to their distance [m].
pub fn placing(largest: f64) -> f64 {
    PLACING * largest
}

impl PairSweep {
    /// From `start`, by `moves` as t goes from 0 to 1.
    #[inline]
    pub fn new(features: Features, start: &[V3<f64>; 4], moves: &[V3<f64>; 4]) -> Self {
        let mean = ((moves[0] + moves[1]) + (moves[2] + moves[3])) * 0.25;
        // Written out, since `map` over arrays may not be inlined. The first is not zero where it is not finite.
        let [a, b, c, d] = *start;
        let mut sweep = Self {
            features,
            start: [start[0] - a, b - a, c - a, d - a],
            moves: [moves[0] - mean, moves[1] - mean, moves[2] - mean, moves[3] - mean],
            speed: 0.0,
            rounding: 0.0,
        };
        // Also of the motion as it was given: whoever subtracted two positions has rounded it.
        let mut largest = 0.0_f64;
        for (x, m) in sweep.start.iter().zip(moves) {
            for axis in 0..3 {
                largest = largest.max(x.0[axis].abs() + m.0[axis].abs());
            }
        }
        sweep.rounding = ROUNDING * largest;
        let [a, b, c, d] = sweep.moves;
        let [a, b, c, d] = [a.dot(a), b.dot(b), c.dot(c), d.dot(d)];
        sweep.speed = match features {
            Features::PointTriangle => a.sqrt() + b.max(c).max(d).sqrt(),
            Features::EdgeEdge => a.max(b).sqrt() + c.max(d).sqrt(),
        };
        sweep
    }

    /// The same for vertices that are rounded again where the motion ends, their coordinates being no larger than
    /// `largest` [m] there: far from the origin that is much more than what is rounded here.
    #[must_use]
    pub fn rounded_again(mut self, largest: f64) -> Self {
        self.rounding += placing(largest);
        self
    }

    /// The vertices at `t`, relative to where the first was at the start.
    #[inline(always)]
    pub(crate) fn at(&self, t: f64) -> [V3<f64>; 4] {
        let ([a, b, c, d], [i, j, k, l]) = (self.start, self.moves);
        [a + i * t, b + j * t, c + k * t, d + l * t]
    }

    /// Distance at `t` [m], less what rounding can have added.
    #[inline]
    pub fn distance(&self, t: f64) -> f64 {
        self.features.nearest(&self.at(t)).squared.sqrt() - self.rounding
    }

    /// What bounds the distance from `t` on.
    #[inline(always)]
    pub(crate) fn outlook(&self, t: f64) -> Outlook {
        let points = self.at(t);
        let near = self.features.nearest(&points);
        let distance = near.squared.sqrt();
        let n = near.offset * (1.0 / distance);
        let along = |x: &[V3<f64>; 4]| [n.dot(x[0]), n.dot(x[1]), n.dot(x[2]), n.dot(x[3])];
        // Every vertex of the first feature against every one of the second.
        let features = self.features;
        let apart = |[a, b, c, d]: [f64; 4]| match features {
            Features::PointTriangle => [a - b, a - c, a - d, a - d],
            Features::EdgeEdge => [a - c, a - d, b - c, b - d],
        };
        let rounding = self.rounding;
        let [a, b, c, d] = apart(along(&points));
        Outlook {
            distance: distance - rounding,
            gaps: [a - rounding, b - rounding, c - rounding, d - rounding],
            rates: apart(along(&self.moves)),
            speed: self.speed,
        }
    }

    /// Bound of the change of distance as t goes from 0 to 1 [m].
    #[inline(always)]
    pub fn speed(&self) -> f64 {
        self.speed
    }

    /// `δ`: what rounding can add to a distance [m].
    pub(crate) fn rounding(&self) -> f64 {
        self.rounding
    }

    /// Before this `t` no contact is possible; infinite where nothing moves. Pairs taken in its order let the least
    /// share found cut off most of the others.
    #[inline]
    pub fn earliest(&self) -> f64 {
        if self.speed > 0.0 { self.outlook(0.0).reach(0.0).max(0.0) } else { f64::INFINITY }
    }
}

/// What of a sweep at one time bounds how its distance goes on.
pub(crate) struct Outlook {
    /// Distance [m], less what rounding can have added.
    pub(crate) distance: f64,
    /// Along the normal between the nearest points, from each vertex of the second feature to each of the first [m].
    gaps: [f64; 4],
    /// How those change as t goes from 0 to 1 [m].
    rates: [f64; 4],
    speed: f64,
}

impl Outlook {
    /// A time for which the distance stays at `rest` [m] or above, 0 or more for a `rest` below the distance.
    ///
    /// The distance falls by no more than the speed allows. It also is no less than the least gap along any fixed
    /// direction, and gaps are linear in time: what slides along, or leaves, is let go far.
    #[inline(always)]
    pub(crate) fn reach(&self, rest: f64) -> f64 {
        let mut straight = f64::INFINITY;
        for (gap, rate) in self.gaps.iter().zip(&self.rates) {
            let limit = if *rate < 0.0 {
                (gap - rest) / -rate
            } else if *rate >= 0.0 && *gap >= rest {
                f64::INFINITY
            } else {
                0.0
            };
            straight = straight.min(limit);
        }
        straight.max((self.distance - rest) / self.speed)
    }
}
