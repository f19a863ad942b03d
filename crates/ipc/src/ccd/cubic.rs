//! Continuous collision detection by the first root of the coplanarity cubic: the conservative alternative.
//!
//! Features can only touch while the four vertices lie in one plane, where
//! `f(t) = (x₁ - x₀)·((x₂ - x₀) x (x₃ - x₀))` is zero. With rounding, `f` tells nothing where it is not above its own error;
//! the first interval of those in which the features come near enough decides.

use taut_math::V3;

use super::{
    additive::{StepRule, safe_share},
    motion::{Features, PairSweep},
};

/// Bound of the error of `f` in units of rounding of the cube of the largest coordinate.
const ERROR: f64 = 32.0 * f64::EPSILON;
/// Where the interval in which `f` tells nothing is longer than this, the cubic is as good as zero.
const VAGUE: f64 = 1e-3;
/// Halvings that bring an interval of t down to neighbouring numbers.
const HALVINGS: usize = 60;

/// The share of the motion of a point against a triangle that leaves them apart; `None` where all of `t_max` does.
/// Shapes and units as in [`super::additive::point_triangle`].
pub fn point_triangle(start: &[V3<f64>; 4], moves: &[V3<f64>; 4], t_max: f64) -> Option<f64> {
    safe(&PairSweep::new(Features::PointTriangle, start, moves), t_max)
}

/// The same of two edges `a0, a1, b0, b1`.
pub fn edge_edge(start: &[V3<f64>; 4], moves: &[V3<f64>; 4], t_max: f64) -> Option<f64> {
    safe(&PairSweep::new(Features::EdgeEdge, start, moves), t_max)
}

fn safe(sweep: &PairSweep, t_max: f64) -> Option<f64> {
    if sweep.speed() == 0.0 {
        return None;
    }
    let is_apart = sweep.distance(0.0) > 0.0;
    if !is_apart {
        return Some(0.0);
    }
    let rule = StepRule::default();
    let cubic = Cubic::of(sweep, t_max);
    for [from, to] in cubic.monotone(t_max) {
        let Some([low, high]) = cubic.silent(from, to) else { continue };
        if high - low > VAGUE * t_max {
            return safe_share(sweep, 0.0, t_max, rule);
        }
        // The inside test, widened by what can happen within the interval.
        if sweep.distance(low) <= sweep.speed() * (high - low) + sweep.rounding() {
            let share = rule.share * low;
            // A root so early that nothing is left of its share is for steps by distance.
            return if share > 0.0 { Some(share) } else { safe_share(sweep, 0.0, t_max, rule) };
        }
    }
    None
}

/// `f(t) = c₀ + c₁ t + c₂ t² + c₃ t³` and the bound of its error for t in 0..t_max.
struct Cubic {
    c: [f64; 4],
    error: f64,
}

impl Cubic {
    fn of(sweep: &PairSweep, t_max: f64) -> Self {
        let (start, end) = (sweep.at(0.0), sweep.at(1.0));
        let x = [1, 2, 3].map(|i| start[i] - start[0]);
        let d = [1, 2, 3].map(|i| (end[i] - start[i]) - (end[0] - start[0]));
        let triple = |a: V3<f64>, b: V3<f64>, c: V3<f64>| a.dot(b.cross(c));
        let c = [
            triple(x[0], x[1], x[2]),
            triple(d[0], x[1], x[2]) + triple(x[0], d[1], x[2]) + triple(x[0], x[1], d[2]),
            triple(x[0], d[1], d[2]) + triple(d[0], x[1], d[2]) + triple(d[0], d[1], x[2]),
            triple(d[0], d[1], d[2]),
        ];
        let mut largest = 0.0_f64;
        for (x, d) in x.iter().zip(&d) {
            for axis in 0..3 {
                largest = largest.max(x.0[axis].abs() + d.0[axis].abs() * t_max.max(1.0));
            }
        }
        // Six triple products of six terms each, and their sums.
        Self { c, error: 6.0 * ERROR * largest * largest * largest }
    }

    fn value(&self, t: f64) -> f64 {
        let [c0, c1, c2, c3] = self.c;
        c0 + t * (c1 + t * (c2 + t * c3))
    }

    /// Intervals of 0..t_max in order, between the roots of the derivative. Where those are a little off, `f` is so
    /// flat that its error covers what is missed.
    fn monotone(&self, t_max: f64) -> impl Iterator<Item = [f64; 2]> {
        let [_, c1, c2, c3] = self.c;
        let (a, half, c) = (3.0 * c3, c2, c1);
        let under = half * half - a * c;
        let mut cuts = [0.0, t_max, t_max, t_max];
        if under > 0.0 {
            let q = -(half + under.sqrt().copysign(half));
            let roots = [q / a, c / q];
            // Not a number, and infinite, where the derivative is linear or constant.
            let inside = |t: f64| if t > 0.0 && t < t_max { t } else { t_max };
            let [first, second] = roots.map(inside);
            (cuts[1], cuts[2]) = (first.min(second), first.max(second));
        }
        (0..3).map(move |i| [cuts[i], cuts[i + 1]]).filter(|[from, to]| from < to)
    }

    /// The part of a monotone interval where `f` is not above its error, widened to both sides by a halving's width.
    fn silent(&self, from: f64, to: f64) -> Option<[f64; 2]> {
        let (first, last) = (self.value(from), self.value(to));
        let above = |f: f64| f > self.error;
        let below = |f: f64| f < -self.error;
        if (above(first) && above(last)) || (below(first) && below(last)) {
            return None;
        }
        let silent_start = !above(first) && !below(first);
        let silent_end = !above(last) && !below(last);
        let low = if silent_start {
            from
        } else {
            let outside = |f: f64| if first > 0.0 { above(f) } else { below(f) };
            self.boundary(from, to, outside)[0]
        };
        let high = if silent_end {
            to
        } else {
            let inside = |f: f64| if last > 0.0 { !above(f) } else { !below(f) };
            self.boundary(from, to, inside)[1]
        };
        Some([low, high])
    }

    /// Neighbouring times of which the first has `holds` and the second has not.
    fn boundary(&self, mut from: f64, mut to: f64, holds: impl Fn(f64) -> bool) -> [f64; 2] {
        for _ in 0..HALVINGS {
            let middle = 0.5 * (from + to);
            if holds(self.value(middle)) {
                from = middle;
            } else {
                to = middle;
            }
        }
        [from, to]
    }
}
