//! A symmetric positive definite matrix of 12 x 12 blocks and its factor.
//!
//! Where bodies are coupled as a forest, as in chains and trees, blocks are eliminated from the leaves ([`forest`]);
//! everything else is left to faer's sparse Cholesky ([`sparse`]). Which of them, in which order, and all that follows from the
//! pattern is kept until a pair of bodies is coupled that was not before.

mod forest;
mod order;
mod sparse;

use faer::sparse::SymbolicSparseColMat;
use forest::Forest;
use sparse::GeneralFactor;
use taut_core::Vec3;

/// Unknowns of a body.
pub(crate) const SIZE: usize = 12;

/// Rows by columns.
pub(crate) type BodyBlock = [[f64; SIZE]; SIZE];

/// The lower triangle by columns and its factor.
pub(crate) struct BlockMatrix {
    /// The bodies that it has blocks of, in their order, and where each of all bodies is among them.
    bodies: Vec<u32>,
    block_of: Vec<Option<u32>>,
    /// Pairs of coupled blocks by column and then row, the row being the later one.
    pairs: Vec<[u32; 2]>,
    /// Where the pairs of each column begin.
    first: Vec<usize>,
    pattern: SymbolicSparseColMat<usize>,
    values: Vec<f64>,
    factor: BlockFactor,
    /// Which of all bodies move in the system that the factor is of; none where it is of no system.
    moving: Vec<bool>,
    /// Right side and solution of these bodies.
    unknowns: Vec<f64>,
}

enum BlockFactor {
    Forest(Forest),
    Sparse(Box<GeneralFactor>),
}

impl BlockMatrix {
    /// Room for the blocks of bodies at `places` [m] on the diagonal and for those of the given pairs, in any order.
    pub(crate) fn new(places: &[Vec3], pairs: &[[u32; 2]]) -> Result<Self, String> {
        Self::of((0..places.len() as u32).collect(), places, pairs)
    }

    /// The same of some of the bodies, in rising order, and of pairs of these.
    pub(crate) fn of(
        bodies: Vec<u32>,
        places: &[Vec3],
        pairs: &[[u32; 2]],
    ) -> Result<Self, String> {
        let mut block_of = vec![None; places.len()];
        for (block, &body) in bodies.iter().enumerate() {
            block_of[body as usize] = Some(block as u32);
        }
        let blocks = bodies.len();
        let places: Vec<Vec3> = bodies.iter().map(|&body| places[body as usize]).collect();
        let within = |pair: &[u32; 2]| {
            let [a, b] = pair.map(|body| block_of[body as usize]);
            Some([a?.min(b?), a?.max(b?)])
        };
        let mut pairs: Vec<[u32; 2]> = pairs.iter().filter_map(within).collect();
        pairs.sort_unstable();
        pairs.dedup();
        let mut first = vec![0; blocks + 1];
        for &[column, _] in &pairs {
            first[column as usize + 1] += 1;
        }
        (0..blocks).for_each(|column| first[column + 1] += first[column]);
        let pattern = scalars(blocks, &pairs, &first);
        let factor = match Forest::new(blocks, &pairs) {
            Some(forest) => BlockFactor::Forest(forest),
            None => {
                let sparse = GeneralFactor::new(&places, &pairs, &first, &pattern)?;
                BlockFactor::Sparse(Box::new(sparse))
            }
        };
        let values = vec![0.0; pattern.row_idx().len()];
        let unknowns = vec![0.0; blocks * SIZE];
        let moving = Vec::new();
        Ok(Self { bodies, block_of, pairs, first, pattern, values, factor, moving, unknowns })
    }

    /// Of how many bodies it is.
    pub(crate) fn len(&self) -> usize {
        self.bodies.len()
    }

    /// Whether there is room for a body.
    pub(crate) fn holds(&self, body: usize) -> bool {
        self.block_of[body].is_some()
    }

    fn block(&self, body: usize) -> Option<usize> {
        self.block_of[body].map(|block| block as usize)
    }

    /// Whether there is room for the block of a pair.
    pub(crate) fn has(&self, a: usize, b: usize) -> bool {
        let (Some(a), Some(b)) = (self.block(a), self.block(b)) else { return false };
        a == b || self.find(a.max(b), a.min(b)).is_some()
    }

    pub(crate) fn clear(&mut self) {
        self.values.fill(0.0);
    }

    /// Adds the lower triangle of a block on the diagonal.
    pub(crate) fn add_diagonal(&mut self, body: usize, block: &BodyBlock) {
        let Some(i) = self.block(body) else { return };
        for column in 0..SIZE {
            let start = self.pattern.col_ptr()[i * SIZE + column];
            for (value, row) in self.values[start..].iter_mut().zip(&block[column..]) {
                *value += row[column];
            }
        }
    }

    /// Adds the block with the rows of body `a` and the columns of body `b`, which are two.
    pub(crate) fn add(&mut self, a: usize, b: usize, block: &BodyBlock) {
        let (Some(a), Some(b)) = (self.block(a), self.block(b)) else { return };
        let Some(nth) = self.find(a.max(b), a.min(b)) else { return };
        let column = a.min(b) * SIZE;
        let start = |c: usize| self.pattern.col_ptr()[column + c] + (SIZE - c) + nth * SIZE;
        if a < b {
            for (c, row) in block.iter().enumerate() {
                let values = &mut self.values[start(c)..start(c) + SIZE];
                values.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
            }
            return;
        }
        for (r, row) in block.iter().enumerate() {
            for (c, x) in row.iter().enumerate() {
                self.values[start(c) + r] += x;
            }
        }
    }

    /// Which block of its column a pair has.
    fn find(&self, row: usize, column: usize) -> Option<usize> {
        let own = &self.pairs[self.first[column]..self.first[column + 1]];
        own.binary_search(&[column as u32, row as u32]).ok()
    }

    /// An entry.
    #[cfg(test)]
    pub(crate) fn entry(&self, i: usize, j: usize) -> f64 {
        let (row, column) = (i.max(j), i.min(j));
        let range = self.pattern.col_ptr()[column]..self.pattern.col_ptr()[column + 1];
        let at = self.pattern.row_idx()[range.clone()].iter().position(|&r| r == row);
        at.map_or(0.0, |at| self.values[range.start + at])
    }

    /// Factorises the matrix, which it keeps; `false` where it is not positive definite.
    pub(crate) fn factorise(&mut self) -> bool {
        self.forget_factor();
        let Self { pairs, first, pattern, values, factor, .. } = self;
        let column = |block: usize, c: usize| pattern.col_ptr()[block * SIZE + c];
        match factor {
            BlockFactor::Sparse(sparse) => sparse.factorise(pattern, values),
            BlockFactor::Forest(forest) => {
                let own = |block: usize| {
                    let mut rows = [[0.0; SIZE]; SIZE];
                    for c in 0..SIZE {
                        let entries = &values[column(block, c)..];
                        rows[c..].iter_mut().zip(entries).for_each(|(row, x)| row[c] = *x);
                    }
                    rows
                };
                let coupling = |nth: usize| {
                    let block = pairs[nth][0] as usize;
                    let before = (nth - first[block]) * SIZE;
                    let entries = |c: usize| &values[column(block, c) + (SIZE - c) + before..];
                    let columns: [&[f64]; SIZE] = std::array::from_fn(entries);
                    std::array::from_fn(|r| std::array::from_fn(|c| columns[c][r]))
                };
                forest.factorise(own, coupling)
            }
        }
    }

    /// Says which bodies move in the system that was factorised last.
    pub(crate) fn set_moving(&mut self, moves: impl Fn(usize) -> bool) {
        let Self { moving, block_of, .. } = self;
        moving.clear();
        moving.extend((0..block_of.len()).map(moves));
    }

    /// Makes sure that the factor, or what is left of one, is not taken for that of a system.
    pub(crate) fn forget_factor(&mut self) {
        self.moving.clear();
    }

    /// Whether there is the factor of a system in which all those bodies move that move now.
    pub(crate) fn has_factor_of(&self, moves: impl Fn(usize) -> bool) -> bool {
        !self.moving.is_empty()
            && self.moving.iter().enumerate().all(|(body, moved)| *moved || !moves(body))
    }

    /// Solves with the last factor, in place, for the rows of its bodies among those of all.
    pub(crate) fn solve(&mut self, x: &mut [f64]) {
        let rows = |body: u32| body as usize * SIZE..(body as usize + 1) * SIZE;
        for (own, &body) in self.unknowns.chunks_exact_mut(SIZE).zip(&self.bodies) {
            own.copy_from_slice(&x[rows(body)]);
        }
        match &mut self.factor {
            BlockFactor::Sparse(sparse) => sparse.solve(&mut self.unknowns),
            BlockFactor::Forest(forest) => forest.solve(&mut self.unknowns),
        }
        for (own, &body) in self.unknowns.chunks_exact(SIZE).zip(&self.bodies) {
            x[rows(body)].copy_from_slice(own);
        }
    }
}

/// The lower triangle of the scalar matrix: in each column its own block, then those below.
fn scalars(blocks: usize, pairs: &[[u32; 2]], first: &[usize]) -> SymbolicSparseColMat<usize> {
    let (mut starts, mut rows) = (vec![0], Vec::new());
    for block in 0..blocks {
        let below = &pairs[first[block]..first[block + 1]];
        for column in 0..SIZE {
            rows.extend(block * SIZE + column..(block + 1) * SIZE);
            let all = |&[_, row]: &[u32; 2]| row as usize * SIZE..(row as usize + 1) * SIZE;
            rows.extend(below.iter().flat_map(all));
            starts.push(rows.len());
        }
    }
    let size = blocks * SIZE;
    SymbolicSparseColMat::new_checked(size, size, starts, None, rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::{DMatrix, DVector};

    const BLOCKS: usize = 5;
    const PAIRS: [[u32; 2]; 3] = [[0, 1], [3, 1], [4, 2]];
    const LOOP: [[u32; 2]; 4] = [[0, 1], [3, 1], [4, 2], [0, 3]];

    #[test]
    fn it_solves_as_a_dense_factorisation_does() {
        for pairs in [&PAIRS[..], &LOOP[..]] {
            check_solution(pairs);
        }
    }

    fn check_solution(pairs: &[[u32; 2]]) {
        let n = BLOCKS * SIZE;
        let mut matrix = BlockMatrix::new(&[Vec3::zeros(); BLOCKS], pairs).unwrap();
        assert_eq!(matches!(matrix.factor, BlockFactor::Forest(_)), pairs.len() == PAIRS.len());
        let entry = |i: usize, j: usize| ((7 * i + 3 * j) % 11) as f64 / 11.0 - 0.5;
        let mut dense = DMatrix::<f64>::identity(n, n) * 40.0;
        for block in 0..BLOCKS {
            let own: BodyBlock = std::array::from_fn(|r| {
                std::array::from_fn(|c| if r == c { 40.0 } else { entry(r.max(c), r.min(c)) })
            });
            matrix.add_diagonal(block, &own);
            for (r, row) in own.iter().enumerate() {
                for (c, &value) in row.iter().enumerate() {
                    dense[(block * SIZE + r, block * SIZE + c)] = value;
                }
            }
        }
        for [a, b] in pairs.iter().map(|pair| pair.map(|i| i as usize)) {
            let block: BodyBlock = std::array::from_fn(|r| std::array::from_fn(|c| entry(r, c)));
            matrix.add(a, b, &block);
            for (r, row) in block.iter().enumerate() {
                for (c, &value) in row.iter().enumerate() {
                    dense[(a * SIZE + r, b * SIZE + c)] = value;
                    dense[(b * SIZE + c, a * SIZE + r)] = value;
                }
            }
        }
        let right = DVector::from_fn(n, |i, _| (i % 5) as f64 - 1.0);
        let expected = dense.cholesky().unwrap().solve(&right);
        assert!(matrix.factorise());
        let mut found: Vec<f64> = right.iter().copied().collect();
        matrix.solve(&mut found);
        assert!((DVector::from_vec(found) - expected).norm() < 1e-13);
    }

    #[test]
    fn what_is_not_definite_is_reported() {
        let mut matrix = BlockMatrix::new(&[Vec3::zeros()], &[]).unwrap();
        let entry =
            |r: usize, c: usize| if r == c { 1.0 - 2.0 * f64::from(u8::from(r == 7)) } else { 0.0 };
        matrix.add_diagonal(0, &std::array::from_fn(|r| std::array::from_fn(|c| entry(r, c))));
        matrix.set_moving(|_| true);
        assert!(!matrix.factorise());
        assert!(!matrix.has_factor_of(|_| true), "what is left is no factor");
    }

    #[test]
    fn pairs_are_found_either_way() {
        let matrix = BlockMatrix::new(&[Vec3::zeros(); BLOCKS], &PAIRS).unwrap();
        assert!(matrix.has(1, 3) && matrix.has(3, 1) && matrix.has(2, 2) && !matrix.has(0, 2));
    }
}
