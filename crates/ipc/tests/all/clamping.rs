//! Clamping in few directions against clamping all twelve coordinates, and blocks of bodies against `Jᵀ H J`.

use crate::common::{Random, largest};
use nalgebra::{SMatrix, SymmetricEigen};
use taut_ipc::{
    blocks::{affine_site, body_gradients, body_hessian},
    mollifier::threshold,
    pair::BarrierPair,
    psd::clamped,
};

type Full = SMatrix<f64, 12, 12>;

fn full(h: &[[f64; 12]; 12]) -> Full {
    Full::from_fn(|i, j| h[i][j])
}

/// With all digits of the eigenvectors, by another eigensolver.
fn reference(h: &Full) -> Full {
    let eigen = SymmetricEigen::new(*h);
    let values = eigen.eigenvalues.map(|value| value.max(0.0));
    eigen.eigenvectors * Full::from_diagonal(&values) * eigen.eigenvectors.transpose()
}

fn hold(pair: &BarrierPair, worst: &mut f64) {
    let (h, told) = (full(&pair.hessian()), full(&pair.hessian_psd()));
    assert_eq!(told, told.transpose());
    let scale = h.amax();
    let off = (told - reference(&h)).amax() / scale;
    let least = told.symmetric_eigenvalues().min() / scale;
    assert!(off < 3e-14 && least > -5e-14, "{:?}: off by {off:e}, {least:e}", pair.near());
    *worst = worst.max(off);
}

#[test]
fn few_directions_are_all_there_are() {
    let (mut random, mut worst) = (Random(1), 0.0);
    for i in 0..600 {
        let points = random.points(1.0);
        let factor = [1.01, 1.3, 3.0, 30.0][i % 4];
        let d = taut_ipc::distance::point_triangle(&points).squared.sqrt();
        hold(&BarrierPair::point_triangle(&points, factor * d), &mut worst);
        let d = taut_ipc::distance::edge_edge(&points).squared.sqrt();
        hold(&BarrierPair::edge_edge(&points, 0.0, factor * d), &mut worst);
        let sine = 10_f64.powf(-7.0 * random.share() - 0.3);
        let points = random.crossing(sine, 0.05);
        let eps_x = threshold(1.0, (points[3] - points[2]).norm());
        hold(&BarrierPair::edge_edge(&points, eps_x, factor * 0.05), &mut worst);
        let height = 10_f64.powf(-7.0 * random.share());
        hold(&BarrierPair::point_triangle(&random.over(height), factor * height), &mut worst);
    }
    assert!(worst > 0.0);
}

#[test]
fn matrices_of_any_size_are_clamped() {
    let mut random = Random(2);
    for _ in 0..200 {
        let mut m = [[0.0; 5]; 5];
        for (i, j) in (0..5).flat_map(|i| (0..=i).map(move |j| (i, j))) {
            m[i][j] = random.next();
            m[j][i] = m[i][j];
        }
        let told = clamped(&m);
        let positive = SMatrix::<f64, 5, 5>::from_fn(|i, j| told[i][j]);
        let rest = positive - SMatrix::<f64, 5, 5>::from_fn(|i, j| m[i][j]);
        // What is added is positive too, and the two have nothing in common.
        assert!(positive.symmetric_eigenvalues().min() > -1e-14);
        assert!(rest.symmetric_eigenvalues().min() > -1e-14);
        assert!((positive * rest).amax() < 1e-13);
    }
    assert_eq!(clamped(&[[-1.0]]), [[0.0]]);
    assert_eq!(clamped(&[[2.0]]), [[2.0]]);
}

#[test]
fn blocks_are_those_of_the_map() {
    let mut random = Random(3);
    let h = BarrierPair::point_triangle(&random.over(0.05), 0.1).hessian_psd();
    let g: [f64; 12] = [0; 12].map(|_| random.next());
    let sites = [0; 4].map(|_| affine_site(random.point(1.0).0));
    for first in [1, 2] {
        let j = SMatrix::<f64, 12, 24>::from_fn(|row, column| {
            let (v, axis) = (row / 3, row % 3);
            let (body, k, along) = (column / 12, column % 12 / 3, column % 3);
            let own = body == usize::from(v >= first) && axis == along;
            if own { sites[v][k] } else { 0.0 }
        });
        let (blocks, forces) = if first == 1 {
            (body_hessian::<1>(&h, &sites), body_gradients::<1>(&g, &sites))
        } else {
            (body_hessian::<2>(&h, &sites), body_gradients::<2>(&g, &sites))
        };
        let all = j.transpose() * full(&h) * j;
        let scale = largest(&h);
        for (block, (i, k)) in [(&blocks.aa, (0, 0)), (&blocks.ab, (0, 12)), (&blocks.bb, (12, 12))]
        {
            let known = all.fixed_view::<12, 12>(i, k);
            assert!((full(block) - known).amax() < 1e-14 * scale);
        }
        let known = j.transpose() * SMatrix::<f64, 12, 1>::from_fn(|i, _| g[i]);
        for i in 0..24 {
            assert!((forces[i / 12][i % 12] - known[i]).abs() < 1e-14);
        }
    }
}
