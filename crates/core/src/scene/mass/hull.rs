//! The convex hull of a few points, for its volume, centroid and inertia.

use robust::{Coord3D, orient3d};

use super::{MassProperties, inertia_of};
use crate::math::{Mat3, Vec3};

/// Volume integrals of the convex hull; `None` where the points span no volume.
pub(super) fn properties(points: &[Vec3]) -> Option<MassProperties> {
    let faces = faces(points)?;
    let origin = points[0];
    let mut volume = 0.0;
    let (mut first, mut second) = (Vec3::zeros(), Mat3::zeros());
    for [a, b, c] in faces.iter().map(|face| face.map(|i| points[i] - origin)) {
        // Tetrahedra from a common corner (divergence theorem): with corners p_i and one at zero,
        // integral x = V/4 sum p_i and integral x x^T = V/20 (sum p_i p_i^T + s s^T), s = sum p_i.
        let tetrahedron = a.dot(&b.cross(&c)) / 6.0;
        let sum = a + b + c;
        volume += tetrahedron;
        first += sum * (tetrahedron / 4.0);
        let squares =
            a * a.transpose() + b * b.transpose() + c * c.transpose() + sum * sum.transpose();
        second += squares * (tetrahedron / 20.0);
    }
    // Not a number where coordinates overflow.
    if volume.is_nan() || volume <= 0.0 {
        return None;
    }
    let centre = first / volume;
    let about_centre = second - centre * centre.transpose() * volume;
    Some(MassProperties { volume, centre: centre + origin, inertia: inertia_of(&about_centre) })
}

/// Outward triangles of the hull, grown point by point from a tetrahedron. Which triangles a point sees is decided by the
/// exact sign of a determinant: those of points that are in one plane but for rounding are slivers, whose normals tell
/// nothing, and what is seen has to hang together. Triangles without area are seen by none; what this folds up has no
/// volume.
fn faces(points: &[Vec3]) -> Option<Vec<[usize; 3]>> {
    let size = points.iter().map(|p| (p - points[0]).norm()).fold(0.0, f64::max);
    let flat = 1e-10 * size;
    let mut faces = tetrahedron(points, flat)?;
    for (i, point) in points.iter().enumerate() {
        let (seen, mut kept): (Vec<_>, Vec<_>) =
            faces.into_iter().partition(|face| is_above(points, face, point));
        // The horizon: directed edges of seen triangles whose neighbour is not seen.
        let edges: Vec<[usize; 2]> =
            seen.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]).collect();
        let horizon = edges.iter().filter(|&&[a, b]| !edges.contains(&[b, a]));
        kept.extend(horizon.map(|&[a, b]| [a, b, i]));
        faces = kept;
    }
    Some(faces)
}

/// Whether a point is on the outer side of a triangle, exactly.
fn is_above(points: &[Vec3], face: &[usize; 3], point: &Vec3) -> bool {
    let coord = |p: &Vec3| Coord3D { x: p.x, y: p.y, z: p.z };
    let [a, b, c] = face.map(|i| coord(&points[i]));
    orient3d(a, b, c, coord(point)) < 0.0
}

/// Signed distance of a point from the plane of a triangle [m]; zero for a triangle without area.
fn height(points: &[Vec3], face: &[usize; 3], point: &Vec3) -> f64 {
    let [a, b, c] = face.map(|i| points[i]);
    let normal = (b - a).cross(&(c - a));
    let length = normal.norm();
    if length > 0.0 { normal.dot(&(point - a)) / length } else { 0.0 }
}

/// A first tetrahedron of four points that are far from one plane.
fn tetrahedron(points: &[Vec3], flat: f64) -> Option<Vec<[usize; 3]>> {
    let farthest = |distance: &dyn Fn(&Vec3) -> f64| {
        let far = (0..points.len())
            .max_by(|&i, &j| distance(&points[i]).total_cmp(&distance(&points[j])))?;
        (distance(&points[far]) > flat).then_some(far)
    };
    let a = 0;
    let b = farthest(&|p| (p - points[a]).norm())?;
    let along = (points[b] - points[a]).normalize();
    let c = farthest(&|p| (p - points[a]).cross(&along).norm())?;
    let d = farthest(&|p| height(points, &[a, b, c], p).abs())?;
    let [b, c] = if height(points, &[a, b, c], &points[d]) > 0.0 { [c, b] } else { [b, c] };
    Some(vec![[a, b, c], [a, d, b], [b, d, c], [c, d, a]])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::Shape;

    #[test]
    fn a_hull_of_box_corners_weighs_as_the_box() {
        let half = Vec3::new(0.5, 1.0, 2.0);
        let shift = Vec3::new(3.0, -1.0, 2.0);
        let mut points: Vec<Vec3> = (0..8)
            .map(|i| {
                let side = |bit: u32| if i >> bit & 1 == 1 { 1.0 } else { -1.0 };
                half.component_mul(&Vec3::new(side(0), side(1), side(2))) + shift
            })
            .collect();
        // Points inside and on faces must change nothing.
        points.extend([shift, shift + Vec3::new(0.5, 0.0, 0.0), shift + Vec3::new(0.5, 0.3, 0.7)]);
        let hull = properties(&points).unwrap();
        let whole = super::super::properties(&Shape::Box { half }).unwrap();
        assert!((hull.volume - whole.volume).abs() < 1e-13);
        assert!((hull.centre - shift).norm() < 1e-13);
        assert!((hull.inertia - whole.inertia).norm() < 1e-12);
    }

    #[test]
    fn rounding_of_points_in_one_plane_changes_nothing() {
        // A tetrahedron of 1/3 m^3 and the middle of one edge.
        let points = [
            [1.70322626, -1.754083331, -0.149036829],
            [1.526624041, -0.775998508, -0.259317089],
            [1.350021823, 0.202086315, -0.369597348],
            [2.194638447, 0.410205707, 0.123666351],
            [1.021218843, -0.769965431, 0.603543959],
        ];
        let hull = properties(&points.map(Vec3::from)).unwrap();
        assert!((hull.volume - 1.0 / 3.0).abs() < 1e-8, "{}", hull.volume);
        // Prisms of many sides, turned and written with some digits.
        let turn = crate::Quat::from_euler_angles(0.35, 0.61, 0.0);
        for (sides, digits) in [(12, 9), (32, 10), (24, 8), (7, 11)] {
            let scale = 10_f64.powi(digits);
            let corner = |i: usize| {
                let angle = std::f64::consts::TAU * (i / 2) as f64 / sides as f64;
                let z = if i.is_multiple_of(2) { -0.25 } else { 0.25 };
                let point = turn * Vec3::new(angle.cos(), angle.sin(), z);
                point.map(|x| (x * scale).round() / scale)
            };
            let points: Vec<Vec3> = (0..2 * sides).map(corner).collect();
            let n = sides as f64;
            let expected = 0.5 * 0.5 * n * (std::f64::consts::TAU / n).sin();
            let found = properties(&points).unwrap().volume;
            assert!((found / expected - 1.0).abs() < 1e-7, "{sides} {digits}: {found} {expected}");
        }
    }

    #[test]
    fn flat_points_have_no_hull() {
        let points: Vec<Vec3> =
            (0..6).map(|i| Vec3::new(f64::from(i), f64::from(i * i), 0.0)).collect();
        assert!(properties(&points).is_none());
        assert!(properties(&[Vec3::zeros(); 3]).is_none());
    }
}
