//! What hides what: an order in which convex pieces can be painted over each other.

use std::{cmp::Reverse, collections::BinaryHeap};

use taut_core::Vec3;

use crate::{
    camera::Lens,
    flat::{Pixel, PixelBox},
};

/// Pieces that have less than this in common do not hide each other [px^2].
const LEAST_AREA: f64 = 0.05;

/// Something convex, or a stretch of a line, as it is seen.
#[derive(Clone, Debug)]
pub(crate) struct PaintedPiece {
    /// Its outline, convex and in one direction of turning; two points of a line.
    pub(crate) outline: Vec<Pixel>,
    /// Where it is in space.
    pub(crate) extent: Extent3,
    /// Depth of its middle [m].
    pub(crate) depth: f64,
}

/// Where a piece is in space, as much as a ray needs to know.
#[derive(Clone, Debug)]
pub(crate) enum Extent3 {
    /// Where `n . x <= d` for all planes `(n, d)` [m].
    Solid(Vec<(Vec3, f64)>),
    /// On a plane `n . x = d` [m].
    Flat(Vec3, f64),
    /// Between two points [m].
    Line([Vec3; 2]),
}

/// Numbers of the pieces, those first that others hide.
///
/// Of two that overlap in the picture the one is nearer that a ray through their common part meets first, which is
/// exact unless they are inside each other. What hides each other in a circle, and all else, goes by depth, then number.
pub(crate) fn painting_order(pieces: &[PaintedPiece], lens: &Lens) -> Vec<usize> {
    let mut over: Vec<Vec<usize>> = vec![Vec::new(); pieces.len()];
    let mut waits_for = vec![0_usize; pieces.len()];
    for (a, b) in overlapping(pieces) {
        let (first, second) = match nearer(&pieces[a], &pieces[b], lens) {
            None => continue,
            Some(true) => (b, a),
            Some(false) => (a, b),
        };
        over[first].push(second);
        waits_for[second] += 1;
    }
    // Bits of floats of one sign are ordered as they are; depths are finite here.
    let key = |i: usize| (Depth(pieces[i].depth), Reverse(i));
    let mut ready: BinaryHeap<_> =
        (0..pieces.len()).filter(|&i| waits_for[i] == 0).map(key).collect();
    let mut left: BinaryHeap<_> = (0..pieces.len()).map(key).collect();
    let mut painted = vec![false; pieces.len()];
    let mut order = Vec::with_capacity(pieces.len());
    // Out of a circle the way is by depth.
    while let Some((_, Reverse(next))) = ready.pop().or_else(|| left.pop()) {
        if std::mem::replace(&mut painted[next], true) {
            continue;
        }
        order.push(next);
        for &above in &over[next] {
            waits_for[above] -= 1;
            if waits_for[above] == 0 {
                ready.push(key(above));
            }
        }
    }
    order
}

/// Depths in their total order.
#[derive(Clone, Copy, PartialEq)]
struct Depth(f64);

impl Eq for Depth {}

impl PartialOrd for Depth {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Depth {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// Pairs whose boxes overlap, found along x.
fn overlapping(pieces: &[PaintedPiece]) -> Vec<(usize, usize)> {
    let boxes: Vec<PixelBox> =
        pieces.iter().map(|piece| PixelBox::around(&piece.outline)).collect();
    let mut by_left: Vec<usize> = (0..pieces.len()).collect();
    by_left.sort_by(|&a, &b| boxes[a].left.total_cmp(&boxes[b].left).then(a.cmp(&b)));
    let mut pairs = Vec::new();
    for (place, &a) in by_left.iter().enumerate() {
        for &b in by_left[place + 1..].iter().take_while(|&&b| boxes[b].left <= boxes[a].right) {
            if boxes[a].top <= boxes[b].bottom && boxes[b].top <= boxes[a].bottom {
                pairs.push((a.min(b), a.max(b)));
            }
        }
    }
    pairs.sort_unstable();
    pairs
}

/// Whether `a` is nearer to the eye than `b` where both are seen; `None` where they have nothing in common, or are
/// equally near.
fn nearer(a: &PaintedPiece, b: &PaintedPiece, lens: &Lens) -> Option<bool> {
    let at = common_point(&a.outline, &b.outline)?;
    let (origin, direction) = ray(lens, at);
    let [first, second] = [a, b].map(|piece| entry(&piece.extent, &origin, &direction));
    let (first, second) = (first?, second?);
    let tie = 1e-6 * (first.abs() + second.abs());
    ((first - second).abs() > tie).then_some(first < second)
}

/// A ray through a pixel: a point of it, and its direction away from the eye, one metre deep.
fn ray(lens: &Lens, at: Pixel) -> (Vec3, Vec3) {
    let x = (at.0 - 0.5 * lens.size.0) / lens.scale;
    let y = (0.5 * lens.size.1 - at.1) / lens.scale;
    let across = lens.right * x + lens.up * y;
    match lens.distance {
        None => (lens.target + across, -lens.towards),
        Some(distance) => (lens.target + lens.towards * distance, across / distance - lens.towards),
    }
}

/// How deep along a ray a piece begins [m].
fn entry(extent: &Extent3, origin: &Vec3, direction: &Vec3) -> Option<f64> {
    match extent {
        Extent3::Flat(normal, offset) => {
            let rate = normal.dot(direction);
            (rate != 0.0).then(|| (offset - normal.dot(origin)) / rate)
        }
        Extent3::Solid(planes) => {
            let (mut enters, mut leaves) = (f64::NEG_INFINITY, f64::INFINITY);
            for (normal, offset) in planes {
                let (rate, room) = (normal.dot(direction), offset - normal.dot(origin));
                if rate < 0.0 {
                    enters = enters.max(room / rate);
                } else if rate > 0.0 {
                    leaves = leaves.min(room / rate);
                }
            }
            (enters.is_finite() && enters <= leaves + 1e-3 * enters.abs()).then_some(enters)
        }
        Extent3::Line([a, b]) => {
            // The depth of the point of the line that is nearest to the ray.
            let along = b - a;
            let (d, w) = (direction, a - origin);
            let (dd, de, ee) = (d.dot(d), d.dot(&along), along.dot(&along));
            let share = (de * d.dot(&w) - dd * along.dot(&w)) / (dd * ee - de * de);
            let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.5 };
            Some((w + along * share).dot(d) / dd)
        }
    }
}

/// The middle of what two outlines have in common.
fn common_point(a: &[Pixel], b: &[Pixel]) -> Option<Pixel> {
    let (line, area) = match (a.len(), b.len()) {
        (2, 2) => return None,
        (2, _) => (a, b),
        _ => (b, a),
    };
    let common = clipped(line, area);
    let middle = |points: &[Pixel]| {
        let sum = points.iter().fold((0.0, 0.0), |s, p| (s.0 + p.0, s.1 + p.1));
        (sum.0 / points.len() as f64, sum.1 / points.len() as f64)
    };
    let enough = match common.len() {
        0 | 1 => false,
        2 => (common[0].0 - common[1].0).hypot(common[0].1 - common[1].1) > LEAST_AREA,
        _ => area_of(&common).abs() > LEAST_AREA,
    };
    enough.then(|| middle(&common))
}

/// Area of a polygon, positive where it turns as the outlines of [`hull`] do [px^2].
fn area_of(points: &[Pixel]) -> f64 {
    let next = points.iter().cycle().skip(1);
    points.iter().zip(next).map(|(p, q)| 0.5 * (p.0 * q.1 - q.0 * p.1)).sum()
}

/// The part of a convex polygon or line inside a convex area (Sutherland and Hodgman 1974).
fn clipped(subject: &[Pixel], area: &[Pixel]) -> Vec<Pixel> {
    let mut points = subject.to_vec();
    for (i, from) in area.iter().enumerate() {
        let to = area[(i + 1) % area.len()];
        let inside =
            |p: &Pixel| (to.0 - from.0) * (p.1 - from.1) - (to.1 - from.1) * (p.0 - from.0);
        points = half(&points, inside);
        if points.is_empty() {
            break;
        }
    }
    points
}

/// The part of a polygon, or of a line of two points, where a linear function is not negative.
pub(crate) fn half<P: Copy + Between>(points: &[P], inside: impl Fn(&P) -> f64) -> Vec<P> {
    let mut out = Vec::with_capacity(points.len() + 1);
    for (i, p) in points.iter().enumerate() {
        let value = inside(p);
        if value >= 0.0 {
            out.push(*p);
        }
        // A line does not close.
        if points.len() == 2 && i == 1 {
            break;
        }
        let next = &points[(i + 1) % points.len()];
        let then = inside(next);
        if (value < 0.0) != (then < 0.0) {
            out.push(p.between(next, value / (value - then)));
        }
    }
    out
}

/// Points between which there are others.
pub(crate) trait Between {
    /// A point a share of the way to another.
    fn between(&self, other: &Self, share: f64) -> Self;
}

impl Between for Pixel {
    fn between(&self, other: &Self, share: f64) -> Self {
        (self.0 + share * (other.0 - self.0), self.1 + share * (other.1 - self.1))
    }
}

impl Between for Vec3 {
    fn between(&self, other: &Self, share: f64) -> Self {
        self + (other - self) * share
    }
}

/// The convex hull of points (Andrew 1979), with positive [`area_of`].
pub(crate) fn hull(points: &[Pixel]) -> Vec<Pixel> {
    let mut sorted = points.to_vec();
    sorted.sort_by(|p, q| p.0.total_cmp(&q.0).then(p.1.total_cmp(&q.1)));
    sorted.dedup();
    if sorted.len() < 3 {
        return sorted;
    }
    let turn = |o: Pixel, p: Pixel, q: Pixel| (p.0 - o.0) * (q.1 - o.1) - (p.1 - o.1) * (q.0 - o.0);
    let chain = |points: &mut dyn Iterator<Item = Pixel>| {
        let mut chain: Vec<Pixel> = Vec::new();
        for p in points {
            while chain.len() > 1 && turn(chain[chain.len() - 2], chain[chain.len() - 1], p) <= 0.0
            {
                chain.pop();
            }
            chain.push(p);
        }
        chain.pop();
        chain
    };
    let mut outline = chain(&mut sorted.iter().copied());
    outline.extend(chain(&mut sorted.iter().rev().copied()));
    outline
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::camera::{Camera, Projection};

    fn lens() -> Lens {
        let camera = Camera {
            target_m: [0.0; 3],
            azimuth_deg: -90.0,
            elevation_deg: 0.0,
            projection: Projection::Orthographic { height_m: 10.0 },
        };
        Lens::new(&camera, (100.0, 100.0))
    }

    /// A rectangle in the picture on the plane `y = depth + slope x`.
    fn sheet(x: (f64, f64), z: (f64, f64), depth: f64, slope: f64) -> PaintedPiece {
        let lens = lens();
        let at = |x: f64, z: f64| Vec3::new(x, depth + slope * x, z);
        let corners = [at(x.0, z.0), at(x.1, z.0), at(x.1, z.1), at(x.0, z.1)];
        let outline = hull(&corners.map(|c| lens.project(&c).at));
        let normal = Vec3::new(-slope, 1.0, 0.0);
        let middle = corners.iter().sum::<Vec3>() / 4.0;
        let depth_of_middle = lens.project(&middle).depth;
        let extent = Extent3::Flat(normal, normal.dot(&corners[0]));
        PaintedPiece { outline, extent, depth: depth_of_middle }
    }

    #[test]
    fn what_is_farther_is_painted_first() {
        let pieces =
            [sheet((0.0, 1.0), (0.0, 1.0), 1.0, 0.0), sheet((0.5, 2.0), (0.0, 1.0), 3.0, 0.0)];
        assert_eq!(painting_order(&pieces, &lens()), [1, 0]);
    }

    #[test]
    fn a_long_piece_is_where_it_is_seen_and_not_where_its_middle_is() {
        // The long one has its middle far behind, but passes in front of the small one at x = -4.
        let long = sheet((-5.0, 5.0), (0.0, 1.0), 4.0, 1.0);
        let small = sheet((-4.5, -3.5), (0.0, 1.0), 2.0, 0.0);
        assert!(long.depth > small.depth);
        assert_eq!(painting_order(&[small, long], &lens()), [0, 1]);
    }

    #[test]
    fn a_circle_is_broken_and_everything_is_painted_once() {
        let pieces: Vec<PaintedPiece> = (0..5)
            .map(|i| sheet((f64::from(i), f64::from(i) + 1.5), (0.0, 1.0), f64::from(i % 3), 0.9))
            .collect();
        let mut order = painting_order(&pieces, &lens());
        order.sort_unstable();
        assert_eq!(order, [0, 1, 2, 3, 4]);
    }

    #[test]
    fn hulls_turn_one_way_and_clip_each_other() {
        let square = hull(&[(0.0, 0.0), (2.0, 0.0), (1.0, 1.0), (2.0, 2.0), (0.0, 2.0)]);
        assert_eq!(square.len(), 4);
        assert!((area_of(&square) - 4.0).abs() < 1e-12);
        let moved: Vec<Pixel> = square.iter().map(|p| (p.0 + 1.0, p.1 + 1.5)).collect();
        assert!((area_of(&clipped(&moved, &square)) - 0.5).abs() < 1e-12);
        assert_eq!(clipped(&[(-1.0, 1.0), (1.0, 1.0)], &square), [(0.0, 1.0), (1.0, 1.0)]);
    }
}
