//! Distances where there is little to divide by: edges of no length, triangles of no area, parallel edges.

use crate::common::Random;
use taut_ipc::{
    distance::{PairKind, edge_edge, gradient, height, hessian, point_triangle},
    pair::BarrierPair,
};
use taut_math::V3;

/// Least squared distance over a fine grid of both features: never less than what is told, and hardly more.
fn sampled(x: &[V3<f64>; 4], edges: bool) -> f64 {
    const N: u32 = 40;
    let mut least = f64::INFINITY;
    for i in 0..=N {
        for j in 0..=N {
            let (s, t) = (f64::from(i) / f64::from(N), f64::from(j) / f64::from(N));
            let r = if edges {
                x[0] + (x[1] - x[0]) * s - (x[2] + (x[3] - x[2]) * t)
            } else {
                let t = t * (1.0 - s);
                x[0] - (x[1] + (x[2] - x[1]) * s + (x[3] - x[1]) * t)
            };
            least = least.min(r.dot(r));
        }
    }
    least
}

#[test]
fn no_grid_of_points_is_nearer() {
    let mut random = Random(1);
    for i in 0..400 {
        let mut x = random.points(1.0);
        match i % 8 {
            0 => x[2] = x[1],
            1 => x[3] = (x[1] + x[2]) * 0.5,
            2 => x[3] = x[2],
            3 => x[1] = x[0],
            4 => x[3] = x[2] + (x[1] - x[0]) * random.next(),
            5 => (x[2], x[3]) = (x[1], x[1]),
            _ => {}
        }
        for (told, grid) in
            [(point_triangle(&x), sampled(&x, false)), (edge_edge(&x), sampled(&x, true))]
        {
            let (d, grid) = (told.squared.sqrt(), grid.sqrt());
            assert!(d <= grid + 1e-12 && grid <= d + 0.06, "{told:?}: {grid} {x:?}");
            // The weights and the offset belong to the distance.
            let r = (0..4).fold(V3::ZERO, |sum, k| sum + x[k] * told.weights[k]);
            assert!((r - told.offset).norm() < 1e-9 && (r.norm() - d).abs() < 1e-9, "{told:?}");
            assert!(told.weights.iter().sum::<f64>().abs() < 1e-12);
            assert!(gradient(&told).iter().all(|g| g.is_finite()));
            assert!(hessian(&x, &told).iter().flatten().all(|h| h.is_finite()), "{told:?} {x:?}");
        }
    }
}

#[test]
fn features_of_no_size_are_points() {
    let p = V3([1.0, 2.0, 3.0]);
    let told = point_triangle(&[p, V3::ZERO, V3::ZERO, V3::ZERO]);
    assert_eq!((told.squared, told.kind), (14.0, PairKind::PointVertex(0)));
    assert_eq!(edge_edge(&[p, p, V3::ZERO, V3::ZERO]).squared, 14.0);
    let line = edge_edge(&[p, p, V3::ZERO, V3([4.0, 0.0, 0.0])]);
    assert_eq!((line.squared, line.kind), (13.0, PairKind::EndLine(0)));
    let touching = point_triangle(&[p, p, V3::ZERO, V3([4.0, 0.0, 0.0])]);
    assert_eq!(touching.squared, 0.0);
    assert!(
        BarrierPair::point_triangle(&[p, p, V3::ZERO, V3([4.0, 0.0, 0.0])], 0.1)
            .value()
            .is_infinite()
    );
    assert_eq!(height(p, V3([0.0, 0.0, 1.0]), 0.5), 2.5);
}

/// Two edges that cross at an angle far too small for a kind of their own: their ends are `sine/2` apart.
#[test]
fn nearly_parallel_edges_that_cross_are_not_seen_apart() {
    let mut random = Random(2);
    for k in 3..15 {
        let sine = 10_f64.powi(-k);
        for _ in 0..20 {
            let x = random.crossing(sine, 0.0);
            let told = edge_edge(&x).squared.sqrt();
            assert!(told < 3e-15, "{told:e} at {sine:e}: {:?}", edge_edge(&x));
        }
    }
}

/// A point in a flat triangle is not seen away from it either.
#[test]
fn points_in_slivers_are_not_seen_apart() {
    let mut random = Random(3);
    for k in 3..16 {
        let thin = 10_f64.powi(-k);
        for _ in 0..20 {
            let [a, e, f, _] = random.points(1.0);
            let f = crate::common::unit(e.cross(f)) * thin;
            let (b, c) = (a + e, a + e * 0.4 + f);
            let p = a + e * 0.45 + f * 0.5;
            let told = point_triangle(&[p, a, b, c]).squared.sqrt();
            assert!(told < 2e-15, "{told:e} at {thin:e}");
        }
    }
}
