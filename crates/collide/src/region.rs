//! Where two features overlap, seen along a normal.
//!
//! Both features are projected along the normal onto one plane. The corners of the overlap are corners
//! of one feature inside the other, and crossings of their outlines; each gives one point on either
//! surface, so that the two points differ along the normal only. Which of the two features is called A
//! plays no role, so nothing changes when the better reference face is a matter of rounding.

use taut_core::Vec3;

use crate::{
    feature::{Feature, Outline},
    name::{name, sort},
};

/// A point of contact in the frame in which the pair is treated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Point {
    /// On A's surface [m].
    pub(crate) a: Vec3,
    /// On B's surface [m].
    pub(crate) b: Vec3,
    /// `normal . (a - b)` [m].
    pub(crate) gap: f64,
    /// Which features meet.
    pub(crate) id: u64,
}

/// Corners this far outside, as a share of the size, still count as inside.
const SLACK: f64 = 1e-7;
/// Points closer than this share of the size are one.
const MERGE: f64 = 1e-5;

/// Appends the corners of the overlap of two features; `size` [m] scales tolerances.
pub(crate) fn overlap(normal: &Vec3, size: f64, a: &Feature, b: &Feature, points: &mut Vec<Point>) {
    let mut out = Overlap { normal, size, first: points.len(), points };
    for (corner, &id) in a.corners.iter().zip(&a.ids) {
        if let Some(under) = out.opposite(corner, b) {
            out.push(*corner, under, name(sort::CORNER_A, id, 0));
        }
    }
    for (corner, &id) in b.corners.iter().zip(&b.ids) {
        if let Some(over) = out.opposite(corner, a) {
            out.push(over, *corner, name(sort::CORNER_B, 0, id));
        }
    }
    match (a.outline, b.outline) {
        (Outline::Point, _) | (_, Outline::Point) => {}
        (Outline::Disc, Outline::Disc) => out.discs(a, b),
        (Outline::Disc, _) => edges(b, |ends, id| {
            out.rim(a, &ends, |out, rim, edge, k| {
                out.push(rim, edge, name(sort::CROSSING, k, id));
            });
        }),
        (_, Outline::Disc) => edges(a, |ends, id| {
            out.rim(b, &ends, |out, rim, edge, k| {
                out.push(edge, rim, name(sort::CROSSING, id, k));
            });
        }),
        _ => edges(a, |ends_a, id_a| {
            edges(b, |ends_b, id_b| out.cross(&ends_a, &ends_b, id_a, id_b));
        }),
    }
}

/// Calls `visit` with the ends of each edge and a number for it.
fn edges(feature: &Feature, mut visit: impl FnMut([Vec3; 2], u32)) {
    let (corners, ids) = (&feature.corners, &feature.ids);
    let count = match feature.outline {
        Outline::Segment => 1,
        Outline::Polygon => corners.len(),
        Outline::Point | Outline::Disc => 0,
    };
    for i in 0..count {
        let j = (i + 1) % corners.len();
        visit([corners[i], corners[j]], ids[i].min(ids[j]) << 16 | ids[i].max(ids[j]));
    }
}

/// An overlap in the making.
struct Overlap<'a> {
    normal: &'a Vec3,
    size: f64,
    first: usize,
    points: &'a mut Vec<Point>,
}

impl Overlap<'_> {
    fn push(&mut self, a: Vec3, b: Vec3, id: u64) {
        let near = (MERGE * self.size).powi(2);
        if self.points[self.first..].iter().all(|p| (p.a - a).norm_squared() > near) {
            self.points.push(Point { a, b, gap: self.normal.dot(&(a - b)), id });
        }
    }

    /// The point of a polygon or disc that a line along the normal through `point` meets.
    fn opposite(&self, point: &Vec3, on: &Feature) -> Option<Vec3> {
        let slack = SLACK * self.size;
        let slope = on.normal.dot(self.normal);
        match on.outline {
            Outline::Polygon => {
                let sign = slope.signum();
                let inside = |ends: [Vec3; 2]| {
                    let side = self.normal.cross(&(ends[1] - ends[0])) * sign;
                    side.dot(&(point - ends[0])) >= -slack * side.norm()
                };
                let mut all = true;
                edges(on, |ends, _| all = all && inside(ends));
                let height = on.normal.dot(&(on.corners[0] - point)) / slope;
                (all && slope != 0.0).then(|| point + self.normal * height)
            }
            Outline::Disc => {
                let height = on.normal.dot(&(on.centre - point)) / slope;
                let met = point + self.normal * height;
                let inside = (met - on.centre).norm() <= on.radius + slack;
                (inside && slope != 0.0).then_some(met)
            }
            Outline::Point | Outline::Segment => None,
        }
    }

    /// The crossing of two edges.
    fn cross(&mut self, a: &[Vec3; 2], b: &[Vec3; 2], id_a: u32, id_b: u32) {
        let (along_a, along_b) = (a[1] - a[0], b[1] - b[0]);
        let between = b[0] - a[0];
        let area = along_a.cross(&along_b).dot(self.normal);
        if area * area <= 1e-20 * along_a.norm_squared() * along_b.norm_squared() {
            return;
        }
        let s = between.cross(&along_b).dot(self.normal) / area;
        let t = between.cross(&along_a).dot(self.normal) / area;
        if (0.0..=1.0).contains(&s) && (0.0..=1.0).contains(&t) {
            let (on_a, on_b) = (a[0] + along_a * s, b[0] + along_b * t);
            self.push(on_a, on_b, name(sort::CROSSING, id_a, id_b));
        }
    }

    /// Crossings of an edge with the rim of a disc: calls `found` with the points on the rim and on
    /// the edge, and which of the two crossings it is.
    fn rim(
        &mut self,
        disc: &Feature,
        ends: &[Vec3; 2],
        mut found: impl FnMut(&mut Self, Vec3, Vec3, u32),
    ) {
        let slope = disc.normal.dot(self.normal);
        if slope == 0.0 {
            return;
        }
        let [p, q] = ends.map(|end| {
            let height = disc.normal.dot(&(disc.centre - end)) / slope;
            end + self.normal * height - disc.centre
        });
        // |p + t (q - p)| = radius.
        let d = q - p;
        let (square, half, rest) =
            (d.norm_squared(), p.dot(&d), p.norm_squared() - disc.radius.powi(2));
        let root = half * half - square * rest;
        if square == 0.0 || root <= 0.0 {
            return;
        }
        for (k, sign) in [(0, -1.0), (1, 1.0)] {
            let t = (-half + sign * root.sqrt()) / square;
            if (0.0..=1.0).contains(&t) {
                let edge = ends[0] + (ends[1] - ends[0]) * t;
                found(self, disc.centre + p + d * t, edge, k);
            }
        }
    }

    /// Crossings of the rims of two discs that are nearly across the normal. Seen along it their rims
    /// are circles to second order in the tilt; what is missing is made up for along the radius.
    fn discs(&mut self, a: &Feature, b: &Feature) {
        /// Cosine of the largest tilt. Beyond it only the lowest points matter.
        const LEVEL: f64 = 0.995;
        if a.normal.dot(self.normal).abs().min(b.normal.dot(self.normal).abs()) < LEVEL {
            return;
        }
        let between = b.centre - a.centre;
        let across = between - self.normal * self.normal.dot(&between);
        let distance = across.norm();
        if distance <= (a.radius - b.radius).abs() || distance >= a.radius + b.radius {
            return;
        }
        let along = (distance.powi(2) + a.radius.powi(2) - b.radius.powi(2)) / (2.0 * distance);
        let aside = (a.radius.powi(2) - along.powi(2)).max(0.0).sqrt();
        let (x, y) = (across / distance, self.normal.cross(&across) / distance);
        for (k, sign) in [(0, -1.0), (1, 1.0)] {
            let from = a.centre + x * along + y * (aside * sign);
            let onto = |disc: &Feature| {
                let slope = disc.normal.dot(self.normal);
                let met = from + self.normal * (disc.normal.dot(&(disc.centre - from)) / slope);
                disc.centre + (met - disc.centre).cap_magnitude(disc.radius)
            };
            let (on_a, on_b) = (onto(a), onto(b));
            self.push(on_a, on_b, name(sort::CROSSING, k, k));
        }
    }
}
