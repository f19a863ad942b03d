//! Elimination without fill: chains and trees of bodies, from the leaves to the roots.

use super::{BodyBlock, SIZE};

/// Where the elimination of a block goes on.
#[derive(Clone, Copy, Debug)]
struct Leaf {
    block: usize,
    /// The only neighbour that is not eliminated before it, and the number of their pair.
    parent: Option<(usize, usize)>,
}

/// The order of elimination and the factor, `A = L L^T`.
#[derive(Clone, Debug)]
pub(super) struct Forest {
    order: Vec<Leaf>,
    /// Lower triangles of the diagonal of `L`, by rows.
    diagonal: Vec<BodyBlock>,
    /// Of each pair the block of `L` in the column of the one that is eliminated first, by its columns.
    coupling: Vec<BodyBlock>,
}

impl Forest {
    /// `None` where pairs of blocks, each told once, make a loop.
    pub(super) fn new(blocks: usize, pairs: &[[u32; 2]]) -> Option<Self> {
        if pairs.len() >= blocks.max(1) {
            return None;
        }
        let mut neighbours = vec![Vec::new(); blocks];
        for (nth, pair) in pairs.iter().enumerate() {
            let [a, b] = pair.map(|block| block as usize);
            neighbours[a].push((b, nth));
            neighbours[b].push((a, nth));
        }
        let mut reached = vec![false; blocks];
        let mut order: Vec<Leaf> = Vec::with_capacity(blocks);
        for root in 0..blocks {
            if std::mem::replace(&mut reached[root], true) {
                continue;
            }
            let mut next = order.len();
            order.push(Leaf { block: root, parent: None });
            while next < order.len() {
                let Leaf { block, parent } = order[next];
                next += 1;
                for &(other, nth) in &neighbours[block] {
                    if parent.is_some_and(|(_, from)| from == nth) {
                        continue;
                    }
                    if std::mem::replace(&mut reached[other], true) {
                        return None;
                    }
                    order.push(Leaf { block: other, parent: Some((block, nth)) });
                }
            }
        }
        order.reverse();
        let zero = [[0.0; SIZE]; SIZE];
        Some(Self { order, diagonal: vec![zero; blocks], coupling: vec![zero; pairs.len()] })
    }

    /// Factorises a matrix with the given blocks on the diagonal, of which lower triangles are read, and pairs, with rows
    /// of the later block; `false` where it is not positive definite.
    pub(super) fn factorise(
        &mut self,
        diagonal: impl Fn(usize) -> BodyBlock,
        pair: impl Fn(usize) -> BodyBlock,
    ) -> bool {
        for (block, own) in self.diagonal.iter_mut().enumerate() {
            *own = diagonal(block);
        }
        for leaf in &self.order {
            let mut own = self.diagonal[leaf.block];
            if !factorise(&mut own) {
                return false;
            }
            self.diagonal[leaf.block] = own;
            let Some((parent, nth)) = leaf.parent else { continue };
            let given = pair(nth);
            let columns = if parent > leaf.block { transposed(&given) } else { given };
            let columns = divided(columns, &own);
            let rest = &mut self.diagonal[parent];
            for column in &columns {
                for (row, factor) in rest.iter_mut().zip(column) {
                    row.iter_mut().zip(column).for_each(|(sum, x)| *sum -= factor * x);
                }
            }
            self.coupling[nth] = columns;
        }
        true
    }

    /// Solves with the factor, in place.
    pub(super) fn solve(&self, x: &mut [f64]) {
        let rows = |block: usize| block * SIZE..(block + 1) * SIZE;
        for leaf in &self.order {
            let own = &self.diagonal[leaf.block];
            let mut y: [f64; SIZE] = std::array::from_fn(|k| x[leaf.block * SIZE + k]);
            for r in 0..SIZE {
                let known: f64 = own[r][..r].iter().zip(&y).map(|(l, y)| l * y).sum();
                y[r] = (y[r] - known) / own[r][r];
            }
            x[rows(leaf.block)].copy_from_slice(&y);
            let Some((parent, nth)) = leaf.parent else { continue };
            for (column, y) in self.coupling[nth].iter().zip(&y) {
                x[rows(parent)].iter_mut().zip(column).for_each(|(sum, l)| *sum -= l * y);
            }
        }
        for leaf in self.order.iter().rev() {
            let own = &self.diagonal[leaf.block];
            let mut y: [f64; SIZE] = std::array::from_fn(|k| x[leaf.block * SIZE + k]);
            if let Some((parent, nth)) = leaf.parent {
                for (y, column) in y.iter_mut().zip(&self.coupling[nth]) {
                    *y -= column.iter().zip(&x[rows(parent)]).map(|(l, x)| l * x).sum::<f64>();
                }
            }
            for r in (0..SIZE).rev() {
                y[r] /= own[r][r];
                let (rest, done) = (own[r], y[r]);
                y[..r].iter_mut().zip(&rest).for_each(|(sum, l)| *sum -= l * done);
            }
            x[rows(leaf.block)].copy_from_slice(&y);
        }
    }
}

/// `A` becomes `L` with `A = L L^T`, both below the diagonal and on it.
fn factorise(a: &mut BodyBlock) -> bool {
    for k in 0..SIZE {
        // What is not a number is not positive, either.
        if a[k][k].partial_cmp(&0.0) != Some(std::cmp::Ordering::Greater) {
            return false;
        }
        let root = a[k][k].sqrt();
        let mut column = [0.0; SIZE];
        for (r, row) in a.iter_mut().enumerate().skip(k) {
            row[k] = if r == k { root } else { row[k] / root };
            column[r] = row[k];
        }
        for (r, row) in a.iter_mut().enumerate().skip(k + 1) {
            let factor = column[r];
            row[k + 1..].iter_mut().zip(&column[k + 1..]).for_each(|(sum, x)| *sum -= factor * x);
        }
    }
    true
}

/// `A L^-T`, by columns.
fn divided(mut columns: BodyBlock, lower: &BodyBlock) -> BodyBlock {
    for (j, row) in lower.iter().enumerate() {
        let (before, rest) = columns.split_at_mut(j);
        let column = &mut rest[0];
        for (done, factor) in before.iter().zip(row) {
            column.iter_mut().zip(done).for_each(|(sum, x)| *sum -= factor * x);
        }
        column.iter_mut().for_each(|x| *x /= row[j]);
    }
    columns
}

fn transposed(block: &BodyBlock) -> BodyBlock {
    std::array::from_fn(|r| std::array::from_fn(|c| block[c][r]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_are_left_to_others() {
        assert!(Forest::new(3, &[[0, 1], [1, 2]]).is_some());
        assert!(Forest::new(3, &[[0, 1], [0, 2], [1, 2]]).is_none());
        assert!(Forest::new(5, &[[0, 1], [0, 2], [1, 2]]).is_none());
        assert!(Forest::new(0, &[]).is_some());
    }
}
