//! Contacts of spheres with everything convex, and of capsules with each other: closed forms.

use taut_core::Vec3;

use crate::{
    name::{name, sort},
    nearest::{direction, perpendicular, segments},
    region::Point,
    solid::{RoundedSolid, Solid},
    transform::Transform,
};

/// A sphere of radius `radius` at `centre` against a solid. The normal points to the sphere; `a` is on
/// the sphere.
pub(crate) fn sphere(
    centre: &Vec3,
    radius: f64,
    solid: &RoundedSolid,
    place: &Transform,
) -> (Vec3, Point) {
    let found = solid.core.nearest(&place.local(centre));
    let normal = place.turn(&found.normal).normalize();
    let a = centre - normal * radius;
    let b = place.point(&found.surface) + normal * solid.round;
    (normal, Point { a, b, gap: normal.dot(&(a - b)), id: name(sort::CLOSEST, 0, 0) })
}

/// Two capsules: appends one point, or two where they lie side by side. The normal points to A.
pub(crate) fn capsules(
    a: (&RoundedSolid, &Transform),
    b: (&RoundedSolid, &Transform),
    half: [f64; 2],
    points: &mut Vec<Point>,
) -> Vec3 {
    let [axis_a, axis_b] = [a.1, b.1].map(|place| place.axis(2));
    let ends = |place: &Transform, reach: Vec3| [place.position - reach, place.position + reach];
    let (ends_a, ends_b) = (ends(a.1, axis_a * half[0]), ends(b.1, axis_b * half[1]));
    let [on_a, on_b] = segments(&ends_a, &ends_b);
    // Axes that cross have no direction between them; across both is where they are thinnest.
    let across = axis_a.cross(&axis_b).try_normalize(1e-6);
    let otherwise = across.unwrap_or_else(|| perpendicular(&axis_a));
    let (normal, _) = direction(&(on_a - on_b), otherwise);
    let round = |on_a: Vec3, on_b: Vec3, id| {
        let (a, b) = (a.0.surface(a.1, &on_a, &-normal), b.0.surface(b.1, &on_b, &normal));
        Point { a, b, gap: normal.dot(&(a - b)), id }
    };
    match side_by_side(&ends_a, &ends_b, &normal) {
        Some(lines) => {
            let both = (0..).zip(lines);
            points.extend(both.map(|(k, [a, b])| round(a, b, name(sort::LINE, k, k))));
        }
        None => points.push(round(on_a, on_b, name(sort::CLOSEST, 0, 0))),
    }
    normal
}

/// Where two nearly parallel lines run side by side, seen along a normal: the pairs of points at either
/// end of that, ordered along A.
pub(crate) fn side_by_side(a: &[Vec3; 2], b: &[Vec3; 2], normal: &Vec3) -> Option<[[Vec3; 2]; 2]> {
    /// Sine of the largest angle between lines that count as parallel.
    const PARALLEL: f64 = 0.05;
    let flat = |v: Vec3| v - normal * normal.dot(&v);
    let (u, v) = (flat(a[1] - a[0]), flat(b[1] - b[0]));
    let (uu, vv) = (u.norm_squared(), v.norm_squared());
    if uu == 0.0 || u.cross(&v).norm_squared() > PARALLEL.powi(2) * uu * vv {
        return None;
    }
    // Parameters of B's ends along A, and where on B a parameter of A is.
    let [s0, s1] = [b[0], b[1]].map(|end| u.dot(&(end - a[0])) / uu);
    let (low, high) = (s0.min(s1).max(0.0), s0.max(s1).min(1.0));
    // What they share must be a line and not a point.
    if high - low <= 1e-3 {
        return None;
    }
    let pair = |s: f64| {
        let t = ((s - s0) / (s1 - s0)).clamp(0.0, 1.0);
        [a[0] + (a[1] - a[0]) * s, b[0] + (b[1] - b[0]) * t]
    };
    Some([pair(low), pair(high)])
}
