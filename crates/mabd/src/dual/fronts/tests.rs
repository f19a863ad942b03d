//! Fronts beside dense factorisations, beside each other, and made anew in part.

use nalgebra::DVector;

use super::{
    super::{dissection::dissect, order::couplings},
    *,
};

/// A matrix on the elements between neighbours of a square grid, of mixed sizes and dominant diagonal.
fn grid(n: u32, sizes: &[u8]) -> DualBlocks {
    let mut links = Vec::new();
    for i in 0..n {
        for j in 1..n {
            links.push([Some(i * n + j - 1), Some(i * n + j)]);
            links.push([Some((j - 1) * n + i), Some(j * n + i)]);
        }
    }
    matrix(n * n, |k| [k / n, k % n].map(f64::from), links, sizes)
}

/// The same on the elements of a net: hubs on a square grid, rods between neighbours, an element at each end of a rod,
/// and one that holds the first hub.
fn net(n: u32, sizes: &[u8]) -> DualBlocks {
    let mut rods = Vec::new();
    for i in 0..n {
        for j in 1..n {
            rods.push([i * n + j - 1, i * n + j]);
            rods.push([(j - 1) * n + i, j * n + i]);
        }
    }
    let ends =
        rods.iter().zip(n * n..).flat_map(|(hubs, rod)| hubs.map(|hub| [Some(hub), Some(rod)]));
    let links = std::iter::once([None, Some(0)]).chain(ends).collect();
    let hub = |k: u32| [k / n, k % n].map(f64::from);
    let point = |k: u32| match k.checked_sub(n * n) {
        Some(rod) => {
            let [a, b] = rods[rod as usize].map(hub);
            [0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1])]
        }
        None => hub(k),
    };
    matrix(n * n + rods.len() as u32, point, links, sizes)
}

/// A matrix on the elements of `links` between nodes at points of a plane, of mixed sizes and dominant diagonal.
fn matrix(
    nodes: u32,
    place: impl Fn(u32) -> [f64; 2],
    links: Vec<[Option<u32>; 2]>,
    sizes: &[u8],
) -> DualBlocks {
    let point = |link: &[Option<u32>; 2]| {
        let [a, b] = link.map(|node| node.map_or([0.0; 2], &place));
        taut_core::Vec3::new(a[0] + b[0], a[1] + b[1], 0.0)
    };
    let points: Vec<_> = links.iter().map(point).collect();
    let order = dissect(nodes as usize, &links, &points);
    let links: Vec<_> = order.iter().map(|&e| links[e as usize]).collect();
    let sizes: Vec<u8> = (0..links.len()).map(|e| sizes[e % sizes.len()]).collect();
    let mut blocks = DualBlocks::new(&sizes, &couplings(nodes as usize, &links));
    for (i, value) in blocks.values.iter_mut().enumerate() {
        *value = (i as f64 * 0.754_877_666) % 1.0 - 0.5;
    }
    for column in 0..blocks.count() {
        let (size, at) = (blocks.size(column), blocks.diagonal[column] as usize);
        for i in 0..size {
            for j in 0..size {
                blocks.values[at + i * size + j] = if i == j { 25.0 } else { 0.25 };
            }
        }
    }
    blocks
}

/// What fronts make of `rhs`, which must be as `expected`, and the same to the last bit by [`quads`], and once more
/// without factorising.
fn solved_twice(
    fronts: &mut Fronts,
    blocks: &DualBlocks,
    rhs: &DVector<f64>,
    expected: &DVector<f64>,
) -> Vec<f64> {
    let [found, by_quads] = [usize::MAX, 4 * LANES].map(|least| {
        fronts.work.quads_rest_min = least;
        let mut found = rhs.as_slice().to_vec();
        assert!(fronts.solve(blocks, 0.0, &mut found));
        found
    });
    assert_eq!(found, by_quads);
    let error = (DVector::from_column_slice(&found) - expected).norm();
    assert!(error < 1e-13 * expected.norm(), "{} rows: {error:e}", blocks.rows());
    let mut again = rhs.as_slice().to_vec();
    fronts.substitute(&mut again);
    assert_eq!(found, again);
    found
}

#[test]
fn fronts_agree_with_a_dense_factorisation_and_with_themselves() {
    let grids = [(2, &[3][..]), (13, &[3]), (9, &[3, 5, 1, 6, 4])];
    let nets = [(2, &[3][..]), (5, &[3]), (8, &[3]), (4, &[3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 5])];
    let grids = grids.map(|(n, sizes)| (grid(n, sizes), 0));
    // Every other hub with at least three rods, or two and what holds it, up to the first element or tip of another size.
    let nets =
        nets.into_iter().zip([1, 10, 31, 1]).map(|((n, sizes), stars)| (net(n, sizes), stars));
    for (blocks, stars) in grids.into_iter().chain(nets) {
        let rhs = DVector::from_fn(blocks.rows(), |i, _| (i as f64).sin());
        let expected = blocks.dense().cholesky().unwrap().solve(&rhs);
        let mut fronts = Fronts::new(&blocks);
        assert_eq!(fronts.stars.count(), stars);
        let found = solved_twice(&mut fronts, &blocks, &rhs, &expected);
        let mut again = found.clone();
        // What another matrix left behind reaches nothing.
        let mut other = blocks.clone();
        other.values.iter_mut().for_each(|value| *value *= 1.5);
        assert!(fronts.solve(&other, 0.1, &mut again));
        for wrong in [-25.0, 0.0, f64::NAN] {
            other.values[blocks.diagonal[0] as usize] = wrong;
            let mut rhs = vec![1.0; blocks.rows()];
            assert!(!fronts.solve(&other, 0.0, &mut rhs));
            assert!(rhs.iter().all(|&x| x == 1.0));
        }
        again.copy_from_slice(rhs.as_slice());
        assert!(fronts.solve(&blocks, 0.0, &mut again));
        assert_eq!(found, again);
    }
}

/// The same with pivots of both signs, and these.
fn signed_grid(n: u32, sizes: &[u8]) -> (DualBlocks, Vec<i8>) {
    let mut blocks = grid(n, sizes);
    let mut signs = Vec::new();
    for column in 0..blocks.count() {
        let (size, at) = (blocks.size(column), blocks.diagonal[column] as usize);
        let sign = if column % 3 == 1 { -1 } else { 1 };
        for i in 0..size {
            blocks.values[at + i * size + i] *= f64::from(sign);
            signs.push(sign);
        }
    }
    (blocks, signs)
}

#[test]
fn signed_fronts_agree_with_a_dense_solution() {
    for (n, sizes) in [(2, &[3][..]), (13, &[3]), (9, &[3, 5, 1, 6, 4])] {
        let (blocks, signs) = signed_grid(n, sizes);
        let rhs = DVector::from_fn(blocks.rows(), |i, _| (i as f64).sin());
        let expected = blocks.dense().lu().solve(&rhs).unwrap();
        let mut fronts = Fronts::signed(&blocks, &signs);
        solved_twice(&mut fronts, &blocks, &rhs, &expected);
    }
}

#[test]
fn only_fronts_that_differ_are_made_anew() {
    let (mut blocks, signs) = signed_grid(13, &[3, 5, 1]);
    let rhs: Vec<f64> = (0..blocks.rows()).map(|i| (i as f64).sin()).collect();
    let mut fronts = Fronts::signed(&blocks, &signs);
    let count = fronts.plan.fronts.len();
    let mut renewed = |blocks: &DualBlocks| {
        let [mut found, mut expected] = [rhs.clone(), rhs.clone()];
        fronts.solve(blocks, 1e-14, &mut found);
        Fronts::signed(blocks, &signs).solve(blocks, 1e-14, &mut expected);
        assert_eq!(found, expected, "the same to the last bit");
        fronts.work.renewed.iter().filter(|renewed| **renewed).count()
    };
    assert_eq!(renewed(&blocks), count);
    assert_eq!(renewed(&blocks), 0);
    let at = blocks.diagonal[blocks.count() / 3] as usize;
    for value in [30.0, 20.0, 30.0] {
        blocks.values[at] = value;
        assert!((1..count / 2).contains(&renewed(&blocks)), "one path to the root");
    }
}

#[test]
fn a_row_that_says_what_another_does_has_no_multiplier() {
    // Two bodies of one column, and two equal rows that hold them together.
    let pattern = [vec![2, 3], vec![2, 3], vec![3], vec![]];
    let mut blocks = DualBlocks::new(&[1; 4], &pattern);
    let entries = [((0, 0), 1.0), ((1, 1), 1.0), ((2, 0), 3.0), ((3, 0), 3.0)];
    let others = [((2, 1), -4.0), ((3, 1), -4.0)];
    for ((row, column), value) in entries.into_iter().chain(others) {
        let at = if row == column {
            Some(blocks.diagonal[column])
        } else {
            blocks.find(row as u32, column)
        };
        blocks.values[at.unwrap() as usize] = value;
    }
    let mut fronts = Fronts::signed(&blocks, &[1, 1, -1, -1]);
    let mut x = [2.0, 0.0, 0.0, 0.0];
    assert!(fronts.solve(&blocks, 0.0, &mut x));
    for (found, expected) in x.iter().zip([1.28, 0.96, 0.24, 0.0]) {
        assert!((found - expected).abs() < 1e-12, "{x:?}");
    }
}

#[test]
fn a_matrix_that_is_not_positive_has_no_factor() {
    let mut blocks = grid(9, &[3]);
    let mut fronts = Fronts::new(&blocks);
    for wrong in [-25.0, 0.0, f64::NAN] {
        let at = blocks.diagonal[blocks.count() - 3] as usize;
        blocks.values[at] = wrong;
        let mut rhs = vec![1.0; blocks.rows()];
        assert!(!fronts.solve(&blocks, 0.0, &mut rhs));
        assert!(rhs.iter().all(|&x| x == 1.0));
    }
}
