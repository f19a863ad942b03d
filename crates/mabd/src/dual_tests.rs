//! Every way to solve the dual against a dense factorisation.

use nalgebra::{DMatrix, DVector};

use taut_core::Vec3;

use super::{
    DualSystem,
    lines::Lines,
    order::{EliminationOrder, GraphShape, Link},
};
use crate::settings::{Dual, MabdSettings};

/// Numbers that repeat nowhere.
fn scatter(i: usize) -> f64 {
    ((i as f64 * 0.754_877_666) % 1.0) - 0.5
}

/// Links, sizes of their rows, and how many nodes there are.
struct Case {
    name: &'static str,
    nodes: usize,
    links: Vec<Link>,
    shape: GraphShape,
}

fn chain(links: u32) -> Vec<Link> {
    let middle = (1..links).map(|i| [Some(i - 1), Some(i)]);
    std::iter::once([None, Some(0)]).chain(middle).collect()
}

fn grid(n: u32) -> Vec<Link> {
    let at = |i: u32, j: u32| Some(i * n + j);
    let mut links = vec![[None, at(0, 0)], [at(0, n - 1), None]];
    for i in 0..n {
        for j in 1..n {
            links.push([at(i, j - 1), at(i, j)]);
            links.push([at(j, i), at(j - 1, i)]);
        }
    }
    links
}

fn cases() -> Vec<Case> {
    let tree = (1..60).map(|i| [Some((i - 1) / 3), Some(i)]).collect();
    let mut ring = chain(20);
    ring.push([Some(19), Some(3)]);
    ring.push([Some(7), Some(15)]);
    vec![
        Case { name: "chain", nodes: 20, links: chain(20), shape: GraphShape::Chains },
        Case { name: "tree", nodes: 60, links: tree, shape: GraphShape::Trees },
        Case { name: "ring", nodes: 20, links: ring, shape: GraphShape::Graph },
        Case { name: "grid", nodes: 25, links: grid(5), shape: GraphShape::Graph },
    ]
}

/// Fills the matrix from random gradients of the rows at each node.
fn fill(system: &mut DualSystem, links: &[Link]) {
    let gradient = |row: usize, side: usize, k: usize| scatter(1 + k + 12 * (side + 2 * row));
    let blocks = &mut system.blocks;
    for column in 0..blocks.count() {
        let n = blocks.size(column);
        let mut targets = vec![(column, blocks.diagonal[column])];
        targets.extend(blocks.below(column).iter().map(|b| (b.row as usize, b.at)));
        for (row, at) in targets {
            for i in 0..blocks.size(row) {
                for j in 0..n {
                    let mut sum = if row == column && i == j { 0.1 } else { 0.0 };
                    for (side, node) in links[row].iter().enumerate() {
                        for (other, same) in links[column].iter().enumerate() {
                            if node.is_none() || node != same {
                                continue;
                            }
                            let (r, c) =
                                (blocks.first[row] as usize + i, blocks.first[column] as usize + j);
                            sum += (0..12)
                                .map(|k| gradient(r, side, k) * gradient(c, other, k))
                                .sum::<f64>();
                        }
                    }
                    blocks.values[at as usize + i * n + j] = sum;
                }
            }
        }
    }
}

/// A system, and the links in its order.
fn system(
    dual: Dual,
    nodes: usize,
    links: &[Link],
    order: &EliminationOrder,
    sizes: &[u8],
    settings: &MabdSettings,
) -> (Vec<Link>, DualSystem) {
    let anchors: Vec<[Vec3; 2]> =
        (0..links.len()).map(|e| [1, 2].map(|i| Vec3::repeat(scatter(2 * e + i)))).collect();
    let lines = Lines::new(nodes, links, &anchors);
    let by_lines = matches!(dual, Dual::Cg | Dual::Sweeps);
    let elements = if by_lines { &lines.elements } else { &order.elements };
    let links: Vec<Link> = elements.iter().map(|&e| links[e as usize]).collect();
    let system = DualSystem::new((dual, false), nodes, &links, sizes, &lines, settings);
    (links, system)
}

#[test]
fn every_solver_agrees_with_a_dense_one() {
    let settings = MabdSettings { tolerance: 1e-13, ..MabdSettings::default() };
    for Case { name, nodes, links, shape } in cases() {
        let order = EliminationOrder::new(nodes, &links);
        assert_eq!(order.shape, shape, "{name}");
        for sizes in [[3; 5], [3, 5, 1, 6, 4]] {
            let sizes: Vec<u8> = (0..links.len()).map(|e| sizes[e % 5]).collect();
            for dual in [Dual::Tree, Dual::Schur, Dual::Direct, Dual::Cg, Dual::Sweeps] {
                let (links, mut system) = system(dual, nodes, &links, &order, &sizes, &settings);
                fill(&mut system, &links);
                let dense: DMatrix<f64> = system.blocks.dense();
                let b = DVector::from_fn(dense.nrows(), |i, _| scatter(7 * i + 3));
                let expected = dense.cholesky().unwrap().solve(&b);
                let mut found = b.as_slice().to_vec();
                system.solve(&mut found, &vec![0.0; expected.len()]);
                let error = (DVector::from_vec(found) - &expected).norm() / expected.norm();
                assert!(error < 1e-10, "{name} {dual:?}: {error:e}");
            }
        }
    }
}
