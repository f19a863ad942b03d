//! Two triangles of thin material that share an edge and resist being folded along it, flat at rest.
//!
//! The quadratic model of Bergou et al. (A Quadratic Bending Model for Inextensible Surfaces, 2006). With
//! `x_0, x_1` the ends of the edge, `x_2, x_3` the corners opposite to it, and at rest the edges
//! `e_0 = x_1 - x_0`, `e_1 = x_2 - x_0`, `e_2 = x_3 - x_0`, `e_3 = x_2 - x_1`, `e_4 = x_3 - x_1`,
//!
//! ```text
//!   W = D / (2 (A_0 + A_1)) |sum_i K_i x_i|^2
//!   K = (c_3 + c_4, c_1 + c_2, -c_1 - c_3, -c_2 - c_4)
//!   c_1 = cot(e_0, e_1), c_2 = cot(e_0, e_2), c_3 = cot(-e_0, e_3), c_4 = cot(-e_0, e_4)
//! ```
//!
//! where `A_0, A_1` are the areas and `D` is the flexural rigidity of a plate [N m]. The sum has the length
//! `|e_0| theta` for a small angle `theta` of the fold, and is zero for whatever is an affine image of the
//! state at rest, so that neither motion nor strain in the plane costs anything. The paper prints three
//! times this energy. With the factor one a sheet of equilateral triangles that is bent to a cylinder costs
//! `D/2` times the squared curvature per area, as the plate does; other meshes differ by their shape.

use super::WeightedSum;
use crate::Vec3;

/// Triangles that are folded by more than this at rest are not flat [rad].
const FOLD_MAX: f64 = 1e-6;

impl WeightedSum<f64> {
    /// Two triangles on the edge between the first two points `rest` [m] and of a flexural rigidity [N m];
    /// `None` where they have no area or are not in one plane.
    pub fn bending(rest: &[Vec3; 4], rigidity: f64) -> Option<Self> {
        let bending = Self::flat_bending(rest, rigidity)?;
        let [x0, x1, x2, x3] = rest;
        let corners = [x1, x2, x3].into_iter().zip(bending.weights);
        let fold: Vec3 = corners.map(|(x, k)| (x - x0) * k).sum();
        (fold.norm() <= FOLD_MAX * (x1 - x0).norm()).then_some(bending)
    }

    /// Two triangles of these shapes that are at rest in one plane, whether or not they are now; `None` where they
    /// have no area.
    pub fn flat_bending(rest: &[Vec3; 4], rigidity: f64) -> Option<Self> {
        let [x0, x1, x2, x3] = rest;
        let edge = x1 - x0;
        let areas = [x2, x3].map(|x| edge.cross(&(x - x0)).norm());
        let cotangents = |origin: &Vec3, edge: Vec3| {
            [(x2, areas[0]), (x3, areas[1])].map(|(x, area)| edge.dot(&(x - origin)) / area)
        };
        let ([c1, c2], [c3, c4]) = (cotangents(x0, edge), cotangents(x1, -edge));
        let weights = [c1 + c2, -c1 - c3, -c2 - c4];
        let area = 0.5 * (areas[0] + areas[1]);
        let (stiffness, compliance) = (rigidity / area, area / rigidity);
        let solid = weights.iter().all(|weight| weight.is_finite());
        solid.then_some(Self { weights, stiffness, compliance })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{
        super::{
            Energy, RowEnergy,
            tests::{check, points},
        },
        *,
    };

    const RIGIDITY: f64 = 3.0;

    #[test]
    fn it_is_an_energy() {
        // Two unequal triangles in an oblique plane.
        let (u, v) = (Vec3::new(0.6, 0.2, 0.3), Vec3::new(-0.1, 0.7, 0.2));
        let place = |a: f64, b: f64| Vec3::new(0.3, -0.4, 0.5) + u * a + v * b;
        let rest = [place(0.0, 0.0), place(1.0, 0.2), place(0.3, 0.8), place(0.9, -0.6)];
        check(&Energy::WeightedSum(WeightedSum::bending(&rest, RIGIDITY).unwrap()), &points(rest));
    }

    #[test]
    fn a_small_fold_is_a_hinge_of_the_plate() {
        let side = |angle: f64| Vec3::new(0.2, -0.4 * angle.cos(), 0.4 * angle.sin());
        let at = |angle: f64| {
            [Vec3::zeros(), Vec3::new(0.8, 0.0, 0.0), Vec3::new(0.3, 0.5, 0.0), side(angle)]
        };
        let bending = WeightedSum::bending(&at(0.0), RIGIDITY).unwrap();
        let area = 0.5 * 0.8 * (0.5 + 0.4);
        let angle: f64 = 1e-3;
        let expected = 0.5 * RIGIDITY * (0.8 * angle).powi(2) / area;
        let found = bending.energy(&points(at(angle)));
        assert!((found / expected - 1.0).abs() < 1e-6, "{found} {expected}");
    }

    #[test]
    fn a_cylinder_of_equilateral_triangles_costs_what_the_plate_does() {
        let (count, radius) = (40_usize, 3.0);
        let height = 0.1 * 0.75_f64.sqrt();
        let flat = |i: usize, j: usize| {
            Vec3::new(0.1 * i as f64 + 0.05 * (j % 2) as f64, height * j as f64, 0.0)
        };
        let rest: Vec<Vec3> = (0..count * count).map(|k| flat(k % count, k / count)).collect();
        let mut triangles = Vec::new();
        for (i, j) in (0..count - 1).flat_map(|i| (0..count - 1).map(move |j| (i, j))) {
            let [a, b, c, d] =
                [(i, j), (i + 1, j), (i, j + 1), (i + 1, j + 1)].map(|(i, j)| j * count + i);
            // The diagonal that is as long as the sides.
            let two = if j % 2 == 0 { [[a, b, c], [b, d, c]] } else { [[a, b, d], [a, d, c]] };
            triangles.extend(two);
        }
        // Along the direction in which the edges make 40 degrees with the axis of the cylinder.
        let (sine, cosine) = 40.0_f64.to_radians().sin_cos();
        let rolled = |x: &Vec3| {
            let (s, t) = (cosine * x.x + sine * x.y, cosine * x.y - sine * x.x);
            Vec3::new(radius * (s / radius).sin(), t, radius * (1.0 - (s / radius).cos()))
        };
        // Edges at least two triangles from the rim stand for the area around them: a third of both triangles.
        let inner = |k: usize| [k % count, k / count].iter().all(|&c| (2..count - 2).contains(&c));
        let mut open = BTreeMap::new();
        let (mut energy, mut area) = (0.0, 0.0);
        for triangle in triangles {
            for k in 0..3 {
                let (a, b, c) = (triangle[k], triangle[(k + 1) % 3], triangle[(k + 2) % 3]);
                let Some(opposite) = open.insert((a.min(b), a.max(b)), c) else { continue };
                let four = [a, b, c, opposite];
                if four.into_iter().all(inner) {
                    let bending = WeightedSum::bending(&four.map(|k| rest[k]), RIGIDITY).unwrap();
                    energy += bending.energy(&points(four.map(|k| rolled(&rest[k]))));
                    area += 2.0 / 3.0 * 0.05 * height;
                }
            }
        }
        let expected = 0.5 * RIGIDITY / (radius * radius) * area;
        assert!((energy / expected - 1.0).abs() < 0.02, "{energy} {expected}");
    }

    #[test]
    fn what_is_folded_or_without_area_has_none() {
        let flat = [Vec3::zeros(), Vec3::x(), Vec3::y(), -Vec3::y()];
        assert!(WeightedSum::bending(&flat, 1.0).unwrap().is_finite());
        let [a, b, c, _] = flat;
        assert_eq!(WeightedSum::bending(&[a, b, c, Vec3::z()], 1.0), None);
        assert_eq!(WeightedSum::bending(&[a, b, c, Vec3::x() * 2.0], 1.0), None);
        assert!(!WeightedSum::bending(&flat, 1e-320).unwrap().is_finite());
    }
}
