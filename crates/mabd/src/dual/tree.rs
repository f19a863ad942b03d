//! Block `L D L^T` in the order of the elements: exact for every graph, without fill-in where the
//! order runs from the leaves of a tree to its root, and block Thomas (Eq. 36 to 41) along a chain.
//!
//! Joints at one body form a clique. Eliminating the joint to a leaf touches only joints at its
//! parent, which are coupled already, so nothing is filled in. Joints that close loops come last in
//! the order; what is left on them then is their Schur complement, with as much of its sparsity as
//! the graph has.

use super::blocks::{
    Below, DualBlocks, invert, subtract_outer, subtract_times, subtract_transposed, times_symmetric,
};

/// Rows below the diagonal of each column after elimination, from those before.
pub(crate) fn fill(pattern: &[Vec<u32>]) -> Vec<Vec<u32>> {
    let mut filled: Vec<Vec<u32>> = pattern.to_vec();
    for column in 0..filled.len() {
        // What is eliminated here couples all of its rows; the first of them passes that on.
        let Some((&parent, others)) = filled[column].split_first() else { continue };
        let merged = union(&filled[parent as usize], others);
        filled[parent as usize] = merged;
    }
    filled
}

fn union(a: &[u32], b: &[u32]) -> Vec<u32> {
    let mut all = [a, b].concat();
    all.sort_unstable();
    all.dedup();
    all
}

/// The factorisation's own storage; the factor replaces the matrix.
#[derive(Clone, Debug)]
pub(crate) struct Elimination {
    /// For each column, where the products of its blocks are subtracted, lower triangle by columns.
    targets: Vec<u32>,
    /// Diagonal before elimination.
    scale: Vec<f64>,
    /// The blocks of one column times the inverse of its diagonal block.
    scratch: Vec<f64>,
}

impl Elimination {
    /// Prepares for matrices with the pattern of `blocks`, which must hold its own fill-in.
    pub(crate) fn new(blocks: &DualBlocks) -> Self {
        let mut targets = Vec::new();
        let mut longest = 0;
        for column in 0..blocks.count() {
            let below = blocks.below(column);
            for (i, left) in below.iter().enumerate() {
                for right in &below[..=i] {
                    let at = if left.row == right.row {
                        Some(blocks.diagonal[left.row as usize])
                    } else {
                        blocks.find(left.row, right.row as usize)
                    };
                    // Present by the definition of `fill`.
                    targets.push(at.unwrap_or(0));
                }
            }
            let rows: usize = below.iter().map(|b| blocks.size(b.row as usize)).sum();
            longest = longest.max(rows * blocks.size(column));
        }
        Self { targets, scale: vec![0.0; blocks.rows()], scratch: vec![0.0; longest] }
    }

    /// Factorises in place.
    pub(crate) fn factorise(&mut self, blocks: &mut DualBlocks) {
        for element in 0..blocks.count() {
            let (n, first) = (blocks.size(element), blocks.first[element] as usize);
            let at = blocks.diagonal[element] as usize;
            for k in 0..n {
                self.scale[first + k] = blocks.values[at + k * n + k];
            }
        }
        let mut targets = self.targets.iter();
        for column in 0..blocks.count() {
            let (n, first) = (blocks.size(column), blocks.first[column] as usize);
            let at = blocks.diagonal[column] as usize;
            // Eliminated columns before, updated ones after.
            let end = at + n * n;
            invert(&mut blocks.values[at..end], &self.scale[first..first + n]);
            let mut used = 0;
            for i in 0..blocks.below(column).len() {
                let Below { row, at: from } = blocks.below(column)[i];
                let (m, from) = (blocks.size(row as usize), from as usize);
                let (head, tail) = blocks.values.split_at_mut(from);
                let inverse = &head[at..end];
                let product = &mut self.scratch[used..used + m * n];
                times_symmetric(product, &tail[..m * n], inverse, n);
                used += m * n;
            }
            self.update(blocks, column, &mut targets);
        }
    }

    /// Subtracts the products of a column's blocks, then stores the factor in their place.
    fn update<'a>(
        &self,
        blocks: &mut DualBlocks,
        column: usize,
        targets: &mut impl Iterator<Item = &'a u32>,
    ) {
        let n = blocks.size(column);
        let mut used = 0;
        for i in 0..blocks.below(column).len() {
            let m = blocks.size(blocks.below(column)[i].row as usize);
            let left = &self.scratch[used..used + m * n];
            used += m * n;
            for j in 0..=i {
                let Below { row, at } = blocks.below(column)[j];
                let k = blocks.size(row as usize);
                let (at, to) = (at as usize, targets.next().map_or(0, |&t| t as usize));
                // Targets lie in later columns.
                let (head, tail) = blocks.values.split_at_mut(to);
                subtract_outer(&mut tail[..m * k], left, &head[at..at + k * n], n);
            }
        }
        let mut used = 0;
        for i in 0..blocks.below(column).len() {
            let Below { row, at } = blocks.below(column)[i];
            let (m, at) = (blocks.size(row as usize), at as usize);
            blocks.values[at..at + m * n].copy_from_slice(&self.scratch[used..used + m * n]);
            used += m * n;
        }
    }
}

/// Replaces `x` by the solution under a factorisation made by [`Elimination::factorise`].
pub(crate) fn solve(factor: &DualBlocks, x: &mut [f64]) {
    for column in 0..factor.count() {
        let (n, first) = (factor.size(column), factor.first[column] as usize);
        for block in factor.below(column) {
            let (m, row) =
                (factor.size(block.row as usize), factor.first[block.row as usize] as usize);
            let (head, tail) = x.split_at_mut(row);
            let at = block.at as usize;
            subtract_times(&mut tail[..m], &factor.values[at..at + m * n], &head[first..first + n]);
        }
    }
    for column in (0..factor.count()).rev() {
        let (n, first) = (factor.size(column), factor.first[column] as usize);
        let at = factor.diagonal[column] as usize;
        let (head, tail) = x.split_at_mut(first + n);
        let own = &mut head[first..];
        let mut sum = [0.0; super::blocks::ROWS_MAX];
        subtract_times(&mut sum[..n], &factor.values[at..at + n * n], own);
        for (own, sum) in own.iter_mut().zip(&sum) {
            *own = -sum;
        }
        for block in factor.below(column) {
            let m = factor.size(block.row as usize);
            let row = factor.first[block.row as usize] as usize - first - n;
            let at = block.at as usize;
            subtract_transposed(own, &factor.values[at..at + m * n], &tail[row..row + m]);
        }
    }
}
