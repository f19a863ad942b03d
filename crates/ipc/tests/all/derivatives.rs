//! Gradients and Hessians against central differences.

use crate::common::{Random, largest, moved};
use taut_ipc::{
    barrier::{barrier, plane_stiffness},
    distance::{self, PairKind, edge_edge, point_triangle},
    friction::{SlidingPair, smoothing},
    mollifier::{Mollifier, threshold},
    pair::BarrierPair,
    tangents,
};
use taut_math::V3;

type Points = [V3<f64>; 4];

/// Compares what is told with differences, relative to the largest entries.
fn check(
    points: &Points,
    step: f64,
    bound: f64,
    value: impl Fn(&Points) -> f64,
    gradient: impl Fn(&Points) -> [f64; 12],
    hessian: &[[f64; 12]; 12],
) {
    let told = gradient(points);
    let scale = told.iter().fold(1e-300_f64, |a, b| a.max(b.abs()));
    let size = largest(hessian).max(1e-300);
    for i in 0..12 {
        let (plus, minus) = (moved(points, i, step), moved(points, i, -step));
        let slope = (value(&plus) - value(&minus)) / (2.0 * step);
        assert!((slope - told[i]).abs() <= bound * scale, "{i}: {slope} {} {points:?}", told[i]);
        let (up, down) = (gradient(&plus), gradient(&minus));
        for j in 0..12 {
            let bend = (up[j] - down[j]) / (2.0 * step);
            assert!((bend - hessian[j][i]).abs() <= bound * size, "{i} {j}: {bend} {points:?}");
            assert_eq!(hessian[i][j].to_bits(), hessian[j][i].to_bits());
        }
    }
}

/// Not so near to the border of two kinds that a difference sees both.
fn settled(points: &Points, kind: PairKind, of: impl Fn(&Points) -> PairKind) -> bool {
    (0..12).all(|i| [1e-3, -1e-3].iter().all(|by| of(&moved(points, i, *by)) == kind))
}

#[test]
fn distances_of_points_and_triangles() {
    let (mut random, mut seen) = (Random(1), Vec::new());
    for _ in 0..300 {
        let points = random.points(1.0);
        let near = point_triangle(&points);
        if !settled(&points, near.kind, |x| point_triangle(x).kind) {
            continue;
        }
        seen.push(near.kind.name());
        let gradient = |x: &Points| distance::gradient(&point_triangle(x));
        let h = distance::hessian(&points, &near);
        check(&points, 1e-6, 1e-6, |x| point_triangle(x).squared, gradient, &h);
    }
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen, ["P_E0", "P_E1", "P_E2", "P_T", "P_T0", "P_T1", "P_T2"]);
}

#[test]
fn distances_of_edges() {
    let (mut random, mut seen) = (Random(2), Vec::new());
    for _ in 0..400 {
        let points = random.points(1.0);
        let near = edge_edge(&points);
        let [a0, a1, b0, b1] = points;
        let sine = (a1 - a0).cross(b1 - b0).norm() / ((a1 - a0).norm() * (b1 - b0).norm());
        if sine < 0.1 || !settled(&points, near.kind, |x| edge_edge(x).kind) {
            continue;
        }
        seen.push(near.kind.name());
        let gradient = |x: &Points| distance::gradient(&edge_edge(x));
        let h = distance::hessian(&points, &near);
        check(&points, 1e-6, 1e-6, |x| edge_edge(x).squared, gradient, &h);
    }
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), 9, "{seen:?}");
}

#[test]
fn mollifiers() {
    let mut random = Random(3);
    for i in 0..60 {
        // From parallel, where all but the Hessian vanishes, to beyond the threshold.
        let points = random.crossing(1e-3 * f64::from(i), 0.1);
        let eps_x = threshold(1.0, (points[3] - points[2]).norm());
        let m = Mollifier::new(&points, eps_x);
        let sine_squared = (1e-3 * f64::from(i)).powi(2);
        assert_eq!(m.is_active(), sine_squared < 1e-3);
        if (sine_squared - 1e-3).abs() < 1e-4 {
            continue;
        }
        let value = |x: &Points| Mollifier::new(x, eps_x).value;
        let gradient = |x: &Points| Mollifier::new(x, eps_x).gradient();
        let slope = gradient(&points).iter().fold(0.0_f64, |a, b| a.max(b.abs()));
        if slope > 1.0 {
            check(&points, 1e-7, 1e-4, value, gradient, &m.hessian());
        } else if m.is_active() {
            // Where the gradient vanishes, its own size is no measure of its error.
            let h = m.hessian();
            for k in 0..12 {
                let (up, down) = (moved(&points, k, 1e-7), moved(&points, k, -1e-7));
                let (up, down) = (gradient(&up), gradient(&down));
                for j in 0..12 {
                    let bend = (up[j] - down[j]) / 2e-7;
                    assert!((bend - h[j][k]).abs() <= 1e-4 * largest(&h));
                }
            }
        }
    }
}

#[test]
fn barriers_by_squared_distance() {
    for (d, hat) in [(0.3, 1.0), (1e-9, 1.0), (0.999, 1.0), (2e-6, 3e-6), (1e-12, 1e-4)] {
        let b = barrier(d, hat);
        let plain = -(d - hat) * (d - hat) * (d / hat).ln();
        assert!((b.value - plain).abs() <= 1e-12 * b.value);
        let h = 1e-6 * d.min(hat - d);
        let (up, down) = (barrier(d + h, hat), barrier(d - h, hat));
        assert!(((up.value - down.value) / (2.0 * h) - b.slope).abs() <= 1e-6 * -b.slope);
        assert!(((up.slope - down.slope) / (2.0 * h) - b.curvature).abs() <= 1e-6 * b.curvature);
    }
    let none = barrier(1.0, 1.0);
    assert_eq!((none.value, none.slope, none.curvature), (0.0, 0.0, 0.0));
    assert_eq!(barrier(0.0, 1.0).value, f64::INFINITY);
    assert_eq!(barrier(-1.0, 1.0).value, f64::INFINITY);
    assert!(barrier(f64::NAN, 1.0).value.is_nan());
    // As it begins, `b` is the cube of what is left and no digit is lost.
    let left = 1e-12;
    let b = barrier(1.0 - left, 1.0);
    let gap = 1.0 - (1.0 - left);
    assert!((b.value / (gap * gap * gap) - 1.0).abs() < 1e-11);
    for height in [0.001, 0.3, 0.9, 0.99999] {
        let h = 1e-5 * (1.0 - height);
        let slope = |s: f64| 2.0 * s * barrier(s * s, 1.0).slope;
        let bend = (slope(height + h) - slope(height - h)) / (2.0 * h);
        let told = plane_stiffness(height, 1.0);
        assert!(told > 0.0 && (bend - told).abs() < 1e-4 * told, "{height}: {bend} {told}");
    }
}

#[test]
fn barriers_of_pairs() {
    let mut random = Random(4);
    for i in 0..60 {
        let points = random.points(1.0);
        let near = point_triangle(&points);
        let d_hat = near.squared.sqrt() * 1.5;
        if settled(&points, near.kind, |x| point_triangle(x).kind) {
            let pair = BarrierPair::point_triangle(&points, d_hat);
            let value = |x: &Points| BarrierPair::point_triangle(x, d_hat).value();
            let gradient = |x: &Points| BarrierPair::point_triangle(x, d_hat).gradient();
            check(&points, 1e-6, 1e-4, value, gradient, &pair.hessian());
        }
        // Both sides of the mollifier's threshold, whose sine is 0.032.
        let points = random.crossing(0.004 + 0.001 * f64::from(i), 0.2);
        let eps_x = threshold(1.0, (points[3] - points[2]).norm());
        let pair = BarrierPair::edge_edge(&points, eps_x, 0.3);
        let value = |x: &Points| BarrierPair::edge_edge(x, eps_x, 0.3).value();
        let gradient = |x: &Points| BarrierPair::edge_edge(x, eps_x, 0.3).gradient();
        if (25..31).contains(&i) {
            // A difference would see both.
            continue;
        }
        check(&points, 1e-7, 1e-4, value, gradient, &pair.hessian());
    }
}

#[test]
fn normal_forces_are_what_the_gradient_pushes_with() {
    let mut random = Random(5);
    for _ in 0..20 {
        let points = random.over(0.01);
        let pair = BarrierPair::point_triangle(&points, 0.02);
        let g = pair.gradient();
        let push = V3([g[0], g[1], g[2]]).norm();
        assert!((push / pair.normal_force() - 1.0).abs() < 1e-12);
    }
}

#[test]
fn friction_of_pairs() {
    let mut random = Random(6);
    for way in [0.0, 1e-9, 1e-4, 0.5e-3, 0.99e-3, 1.01e-3, 0.1] {
        let (weights, eps) = ([1.0, -0.2, -0.3, -0.5], 1e-3);
        let across = tangents(crate::common::unit(random.point(1.0)));
        let along = crate::common::unit(across[0] + across[1] * random.next());
        let normal = across[0].cross(across[1]) * random.next();
        let moves = [along * way + normal, normal, normal, normal];
        let new = |x: &Points| SlidingPair::new(&weights, &across, x, 0.7, eps);
        assert!((new(&moves).way() - way).abs() < 1e-15);
        let h = new(&moves).hessian();
        if way > 1e-6 {
            let step = 1e-3 * way.min(eps);
            check(&moves, step, 1e-4, |x| new(x).value(), |x| new(x).gradient(), &h);
        } else {
            // At rest the Hessian is 2 μλ/ε across the normal.
            assert!((h[0][0] + h[1][1] + h[2][2] - 2.0 * 0.7 * 2.0 / eps).abs() < 1e-4 / eps);
        }
        let least =
            nalgebra::SMatrix::<f64, 12, 12>::from_fn(|i, j| h[i][j]).symmetric_eigenvalues().min();
        assert!(least >= -1e-14 * largest(&h));
    }
    let (below, above) = (smoothing(1e-3 - 1e-12, 1e-3), smoothing(1e-3, 1e-3));
    assert!((below.value - above.value).abs() < 2e-12);
    assert!((below.slope_per_way - above.slope_per_way).abs() < 1e-5);
    assert_eq!(smoothing(0.0, 0.0).slope_per_way, 0.0);
}
