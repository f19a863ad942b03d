//! Closed forms: the surface point nearest to a point, and the closest points of two segments.

use taut_core::Vec3;

use crate::{feature, hull::Hull, solid::Core};

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
    fn outside(point: &Vec3, surface: Vec3, otherwise: Vec3) -> Self {
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

/// The surface point of a core nearest to a local point. A triangle has a surface on both sides, but
/// its inside is everything straight below.
pub(crate) fn nearest(core: &Core, point: &Vec3) -> Nearest {
    match core {
        Core::Point => Nearest::outside(point, Vec3::zeros(), Vec3::z()),
        Core::Segment { half } => {
            let on = Vec3::new(0.0, 0.0, point.z.clamp(-half, *half));
            Nearest::outside(point, on, Vec3::x())
        }
        Core::Box { half } => on_box(half, point),
        Core::Cylinder { radius, half } => on_cylinder(*radius, *half, point),
        Core::Hull(hull) => on_hull(hull, point),
        Core::Triangle(corners) => {
            let normal = feature::normal(corners);
            let height = normal.dot(&(point - corners[0]));
            let (on, inside) = on_polygon(corners, &normal, point);
            if inside {
                Nearest { surface: on, normal, distance: height }
            } else {
                Nearest::outside(point, on, normal)
            }
        }
    }
}

fn on_box(half: &Vec3, point: &Vec3) -> Nearest {
    let clamped = point.zip_map(half, |x, h| x.clamp(-h, h));
    if clamped != *point {
        return Nearest::outside(point, clamped, Vec3::z());
    }
    let depth = half - point.abs();
    let axis = depth.imin();
    let sign = if point[axis] < 0.0 { -1.0 } else { 1.0 };
    let mut surface = *point;
    surface[axis] = sign * half[axis];
    Nearest { surface, normal: Vec3::ith(axis, sign), distance: -depth[axis] }
}

fn on_cylinder(radius: f64, half: f64, point: &Vec3) -> Nearest {
    let (out, across) = direction(&Vec3::new(point.x, point.y, 0.0), Vec3::x());
    let sign = if point.z < 0.0 { -1.0 } else { 1.0 };
    let (aside, above) = (across - radius, point.z.abs() - half);
    if aside > 0.0 || above > 0.0 {
        let on = out * across.min(radius) + Vec3::z() * point.z.clamp(-half, half);
        return Nearest::outside(point, on, Vec3::z() * sign);
    }
    if aside > above {
        let surface = out * radius + Vec3::z() * point.z;
        return Nearest { surface, normal: out, distance: aside };
    }
    let surface = Vec3::new(point.x, point.y, sign * half);
    Nearest { surface, normal: Vec3::z() * sign, distance: above }
}

fn on_hull(hull: &Hull, point: &Vec3) -> Nearest {
    let mut highest = (0, f64::NEG_INFINITY);
    for (i, face) in hull.faces.iter().enumerate() {
        let height = face.normal.dot(point) - face.offset;
        if height > highest.1 {
            highest = (i, height);
        }
    }
    let top = &hull.faces[highest.0];
    if highest.1 <= 0.0 {
        let surface = point - top.normal * highest.1;
        return Nearest { surface, normal: top.normal, distance: highest.1 };
    }
    // Outside, the nearest point is on a face that the point is above of.
    let mut best = Nearest { surface: *point, normal: top.normal, distance: f64::INFINITY };
    for face in hull.faces.iter().filter(|f| f.normal.dot(point) > f.offset) {
        let corner = |k: usize| hull.points[face.corners[k] as usize];
        for k in 1..face.corners.len() - 1 {
            let (on, _) = on_polygon(&[corner(0), corner(k), corner(k + 1)], &face.normal, point);
            let found = Nearest::outside(point, on, face.normal);
            if found.distance < best.distance {
                best = found;
            }
        }
    }
    best
}

/// The point of a triangle nearest to a point, and whether it is straight above or below that.
fn on_polygon(corners: &[Vec3; 3], normal: &Vec3, point: &Vec3) -> (Vec3, bool) {
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn vector(range: f64) -> impl Strategy<Value = Vec3> {
        [-range..range, -range..range, -range..range].prop_map(Vec3::from)
    }

    fn hull_of_box(half: &Vec3) -> Core {
        let side = |bit: u32, i: u32| if i >> bit & 1 == 1 { 1.0 } else { -1.0 };
        let corner = |i| half.component_mul(&Vec3::new(side(0, i), side(1, i), side(2, i)));
        Core::Hull(Hull::new(&(0..8).map(corner).collect::<Vec<_>>()).unwrap())
    }

    proptest! {
        /// Box and hull are two ways to the same answer; the closed form of the box is obvious.
        #[test]
        fn hulls_agree_with_boxes(point in vector(2.0)) {
            let half = Vec3::new(0.5, 0.7, 1.0);
            let (a, b) = (nearest(&Core::Box { half }, &point), nearest(&hull_of_box(&half), &point));
            prop_assert!((a.distance - b.distance).abs() < 1e-12);
            prop_assert!((a.surface - b.surface).norm() < 1e-12 || a.distance < 0.0);
        }

        #[test]
        fn distance_is_along_the_normal(point in vector(2.0)) {
            let cores = [
                Core::Segment { half: 0.6 },
                Core::Box { half: Vec3::new(0.3, 0.8, 0.5) },
                Core::Cylinder { radius: 0.4, half: 0.9 },
                Core::Triangle([Vec3::x(), Vec3::y(), Vec3::z()]),
            ];
            for core in cores {
                let found = nearest(&core, &point);
                prop_assert!((found.normal.norm() - 1.0).abs() < 1e-12);
                let back = found.surface + found.normal * found.distance;
                prop_assert!((back - point).norm() < 1e-12, "{core:?}");
            }
        }

        /// Closest points are mutually nearest, which for convex sets means that they are closest.
        #[test]
        fn segments_are_mutually_nearest(p in [vector(1.0), vector(1.0), vector(1.0), vector(1.0)]) {
            let (a, b) = ([p[0], p[1]], [p[2], p[3]]);
            let [on_a, on_b] = segments(&a, &b);
            prop_assert!((on_segment(&a, &on_b) - on_a).norm() < 1e-6);
            prop_assert!((on_segment(&b, &on_a) - on_b).norm() < 1e-6);
        }
    }
}
