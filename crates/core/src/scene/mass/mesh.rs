//! Volume, centroid and inertia of what is inside a closed mesh.

use super::{MassProperties, inertia_of};
use crate::math::{Mat3, Vec3};

/// Sums over signed tetrahedra between each triangle and one point; `None` of what has no volume.
///
/// A tetrahedron with a corner at the origin has `integral x x^T = V/20 (sum p p^T + s s^T)` with `s = sum p`.
/// What triangles that turn inward count is negative.
pub(super) fn properties(vertices: &[Vec3], triangles: &[[u32; 3]]) -> Option<MassProperties> {
    // From the middle, so that far from the origin no large numbers cancel.
    let middle = vertices.iter().sum::<Vec3>() / vertices.len().max(1) as f64;
    let mut volume = 0.0;
    let (mut first, mut second) = (Vec3::zeros(), Mat3::zeros());
    for corners in triangles {
        let [a, b, c] = corners.map(|i| vertices[i as usize] - middle);
        let (own, sum) = (a.cross(&b).dot(&c) / 6.0, a + b + c);
        volume += own;
        first += sum * (own / 4.0);
        let squares = [a, b, c, sum].map(|p| p * p.transpose());
        second += squares.iter().sum::<Mat3>() * (own / 20.0);
    }
    let away = first / volume;
    let about_centre = second - away * away.transpose() * volume;
    let centre = middle + away;
    let inertia = inertia_of(&about_centre);
    let spans = volume != 0.0 && centre.iter().chain(inertia.iter()).all(|x| x.is_finite());
    spans.then_some(MassProperties { volume, centre, inertia })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{Shape, mass};

    /// A box of full extents 2, 4 and 6 m about a place.
    fn cuboid(at: Vec3) -> (Vec<Vec3>, Vec<[u32; 3]>) {
        let side = |i: u32, k: u32| if i >> k & 1 == 1 { 1.0 } else { -1.0 };
        let corner = |i| at + Vec3::new(side(i, 0), 2.0 * side(i, 1), 3.0 * side(i, 2));
        let quads =
            [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
        let halves = |&[a, b, c, d]: &[u32; 4]| [[a, b, c], [a, c, d]];
        ((0..8).map(corner).collect(), quads.iter().flat_map(halves).collect())
    }

    #[test]
    fn a_box_of_triangles_weighs_as_a_box() {
        let at = Vec3::new(100.0, -50.0, 3.0);
        let (vertices, mut triangles) = cuboid(at);
        let found = properties(&vertices, &triangles).unwrap();
        let exact = mass::properties(&Shape::Box { half: Vec3::new(1.0, 2.0, 3.0) }).unwrap();
        assert!((found.volume - exact.volume).abs() < 1e-12);
        assert!((found.centre - at).norm() < 1e-12);
        assert!((found.inertia - exact.inertia).norm() < 1e-11, "{}", found.inertia);
        triangles.iter_mut().for_each(|corners| corners.swap(1, 2));
        assert_eq!(properties(&vertices, &triangles).unwrap().volume, -found.volume);
        assert_eq!(properties(&vertices, &[]), None);
    }

    #[test]
    fn a_tetrahedron_has_the_textbook_moments() {
        let vertices = [Vec3::zeros(), Vec3::x(), Vec3::y(), Vec3::z()];
        let triangles = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];
        let found = properties(&vertices, &triangles).unwrap();
        assert!((found.volume - 1.0 / 6.0).abs() < 1e-16);
        assert!((found.centre - Vec3::repeat(0.25)).norm() < 1e-15);
        // About the corner integral x^2 = 1/60 and integral x y = 1/120.
        let (square, product) = (1.0 / 60.0, 1.0 / 120.0);
        let second = Mat3::from_fn(|r, c| if r == c { square } else { product });
        let centre = Vec3::repeat(0.25);
        let about = second - centre * centre.transpose() / 6.0;
        assert!((found.inertia - inertia_of(&about)).norm() < 1e-16);
    }
}
