//! Closed forms: the surface point nearest to a point, the closest points of two segments, and where they cross.

use taut_core::Vec3;

/// The surface point of a core that is nearest to a point.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Nearest {
    /// On the surface [m].
    pub(crate) surface: Vec3,
    /// Outward unit normal: from the surface to the point where that is outside.
    pub(crate) normal: Vec3,
    /// Distance, negative inside [m].
    pub(crate) distance: f64,
}

impl Nearest {
    /// Of a point that is not inside, with a normal to take where the point is on the surface.
    pub(crate) fn outside(point: &Vec3, surface: Vec3, otherwise: Vec3) -> Self {
        let (normal, distance) = direction(&(point - surface), otherwise);
        Self { surface, normal, distance }
    }
}

/// Direction and length of a vector, with a direction to take where it has none.
pub(crate) fn direction(vector: &Vec3, otherwise: Vec3) -> (Vec3, f64) {
    // Scaled first: squares of tiny components vanish.
    let largest = vector.amax();
    if largest > 0.0 && largest.is_finite() {
        let scaled = vector / largest;
        let length = scaled.norm();
        (scaled / length, length * largest)
    } else {
        (otherwise, 0.0)
    }
}

/// Any unit vector perpendicular to a unit vector.
pub(crate) fn perpendicular(unit: &Vec3) -> Vec3 {
    unit.cross(&Vec3::ith(unit.iamin(), 1.0)).normalize()
}

/// The point of a triangle nearest to a point, and whether it is straight above or below that.
pub(crate) fn on_polygon(corners: &[Vec3; 3], normal: &Vec3, point: &Vec3) -> (Vec3, bool) {
    let edge = |k: usize| [corners[k], corners[(k + 1) % 3]];
    let beyond = |[p, q]: [Vec3; 2]| (q - p).cross(normal).dot(&(point - p)) > 0.0;
    if !(0..3).any(|k| beyond(edge(k))) {
        return (point - normal * normal.dot(&(point - corners[0])), true);
    }
    let candidates = [0, 1, 2].map(|k| on_segment(&edge(k), point));
    let distance = |on: &Vec3| (point - on).norm_squared();
    let mut best = candidates[0];
    for on in &candidates[1..] {
        if distance(on) < distance(&best) {
            best = *on;
        }
    }
    (best, false)
}

fn on_segment(ends: &[Vec3; 2], point: &Vec3) -> Vec3 {
    let along = ends[1] - ends[0];
    let square = along.norm_squared();
    let t = if square > 0.0 { along.dot(&(point - ends[0])) / square } else { 0.0 };
    ends[0] + along * t.clamp(0.0, 1.0)
}

/// The closest points of two segments (Ericson, Real-Time Collision Detection, 5.1.9).
pub(crate) fn segments(a: &[Vec3; 2], b: &[Vec3; 2]) -> [Vec3; 2] {
    let (u, v, r) = (a[1] - a[0], b[1] - b[0], a[0] - b[0]);
    let (uu, vv, uv) = (u.norm_squared(), v.norm_squared(), u.dot(&v));
    let (ur, vr) = (u.dot(&r), v.dot(&r));
    if uu == 0.0 {
        return [a[0], on_segment(b, &a[0])];
    }
    if vv == 0.0 {
        return [on_segment(a, &b[0]), b[0]];
    }
    let area = uu * vv - uv * uv;
    // Parallel lines are equally close everywhere: any point will do.
    let s = if area > 1e-14 * uu * vv { ((uv * vr - ur * vv) / area).clamp(0.0, 1.0) } else { 0.0 };
    let t = (uv * s + vr) / vv;
    let (s, t) = if t < 0.0 {
        ((-ur / uu).clamp(0.0, 1.0), 0.0)
    } else if t > 1.0 {
        (((uv - ur) / uu).clamp(0.0, 1.0), 1.0)
    } else {
        (s, t)
    };
    [a[0] + u * s, b[0] + v * t]
}

/// Segments at a smaller angle cross nowhere in particular [sine].
const PARALLEL: f64 = 1e-3;

/// A unit vector square to two segments and how far along each of them they cross: the shares at which their lines are
/// closest to each other, where both are between the ends. Parallel ones cross nowhere.
///
/// The shares are those of the lines, not read back from [`segments`]: those of points that were moved to an end may
/// round to just before it, and such a pair would pass for a crossing at any distance.
pub(crate) fn crossing(a: &[Vec3; 2], b: &[Vec3; 2]) -> Option<(Vec3, [f64; 2])> {
    let (u, v, r) = (a[1] - a[0], b[1] - b[0], b[0] - a[0]);
    let normal = u.cross(&v);
    if normal.norm() < PARALLEL * u.norm() * v.norm() {
        return None;
    }
    let square = normal.norm_squared();
    let shares = [r.cross(&v), r.cross(&u)].map(|way| way.dot(&normal) / square);
    let between = shares.iter().all(|&share| share > 0.0 && share < 1.0);
    between.then(|| (normal.normalize(), shares))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn vector(range: f64) -> impl Strategy<Value = Vec3> {
        [-range..range, -range..range, -range..range].prop_map(Vec3::from)
    }

    proptest! {
        /// Closest points are mutually nearest, which for convex sets means that they are closest.
        #[test]
        fn segments_are_mutually_nearest(p in [vector(1.0), vector(1.0), vector(1.0), vector(1.0)]) {
            let (a, b) = ([p[0], p[1]], [p[2], p[3]]);
            let [on_a, on_b] = segments(&a, &b);
            prop_assert!((on_segment(&a, &on_b) - on_a).norm() < 1e-6);
            prop_assert!((on_segment(&b, &on_a) - on_b).norm() < 1e-6);
        }

        /// Segments cross where both closest points are between the ends, and nowhere else.
        #[test]
        fn segments_cross_between_their_ends(p in [vector(1.0), vector(1.0), vector(1.0), vector(1.0)]) {
            let (a, b) = ([p[0], p[1]], [p[2], p[3]]);
            let [on_a, on_b] = segments(&a, &b);
            let inside = |ends: &[Vec3; 2], on: &Vec3| ends.iter().map(|end| (end - on).norm()).fold(1.0, f64::min);
            let inside = inside(&a, &on_a).min(inside(&b, &on_b));
            match crossing(&a, &b) {
                Some((_, [s, t])) => {
                    prop_assert!((a[0] + (a[1] - a[0]) * s - on_a).norm() < 1e-6);
                    prop_assert!((b[0] + (b[1] - b[0]) * t - on_b).norm() < 1e-6);
                }
                None => prop_assert!(inside < 1e-9, "{inside}"),
            }
        }
    }
}
