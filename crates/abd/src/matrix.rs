//! A symmetric positive definite matrix of 12 x 12 blocks, factorised by faer's sparse Cholesky.
//!
//! The order of elimination is found for blocks, and is kept with all that follows from the pattern until a pair of
//! bodies is coupled that was not before. Of two ways to find it ([`order`]) that one counts which fills less.

mod order;

use faer::{
    Conj, MatMut, Par, Side,
    dyn_stack::{MemBuffer, MemStack, StackReq},
    linalg::cholesky::llt::factor::LltRegularization,
    perm::PermRef,
    sparse::{
        SparseColMatRef, SymbolicSparseColMat,
        linalg::{
            SupernodalThreshold,
            cholesky::{
                CholeskySymbolicParams, LltRef, SymbolicCholesky, SymmetricOrdering,
                factorize_symbolic_cholesky,
            },
        },
    },
};

use order::{dissected, least_degree};
use taut_core::Vec3;

/// From so many bodies on more than one order is tried.
const DISSECTED: usize = 32;

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
    symbolic: SymbolicCholesky<usize>,
    factor: Vec<f64>,
    scratch: MemBuffer,
    /// Right side and solution of these bodies.
    unknowns: Vec<f64>,
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
        let by_degree = least_degree(blocks, &pairs, &first)?;
        let mut symbolic = eliminated(&pattern, &by_degree)?;
        if blocks >= DISSECTED {
            let by_halves = eliminated(&pattern, &dissected(&places, &pairs))?;
            if by_halves.len_val() < symbolic.len_val() {
                symbolic = by_halves;
            }
        }
        let need = StackReq::or(
            symbolic.factorize_numeric_llt_scratch::<f64>(Par::Seq, Default::default()),
            symbolic.solve_in_place_scratch::<f64>(1, Par::Seq),
        );
        let scratch = MemBuffer::try_new(need).map_err(|error| format!("{error:?}"))?;
        let values = vec![0.0; pattern.row_idx().len()];
        let factor = vec![0.0; symbolic.len_val()];
        let unknowns = vec![0.0; blocks * SIZE];
        Ok(Self {
            bodies,
            block_of,
            pairs,
            first,
            pattern,
            values,
            symbolic,
            factor,
            scratch,
            unknowns,
        })
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
        let matrix = SparseColMatRef::new(self.pattern.as_ref(), &self.values);
        let stack = MemStack::new(&mut self.scratch);
        let (how, params) = (LltRegularization::default(), Default::default());
        let done = self.symbolic.factorize_numeric_llt(
            &mut self.factor,
            matrix,
            Side::Lower,
            how,
            Par::Seq,
            stack,
            params,
        );
        done.is_ok()
    }

    /// Solves with the last factor, in place, for the rows of its bodies among those of all.
    pub(crate) fn solve(&mut self, x: &mut [f64]) {
        let rows = |body: u32| body as usize * SIZE..(body as usize + 1) * SIZE;
        for (own, &body) in self.unknowns.chunks_exact_mut(SIZE).zip(&self.bodies) {
            own.copy_from_slice(&x[rows(body)]);
        }
        let size = self.unknowns.len();
        let right = MatMut::from_column_major_slice_mut(&mut self.unknowns, size, 1);
        let factor = LltRef::new(&self.symbolic, &self.factor);
        let stack = MemStack::new(&mut self.scratch);
        factor.solve_in_place_with_conj(Conj::No, right, Par::Seq, stack);
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

/// What follows from the pattern when blocks are eliminated in an order.
fn eliminated(
    pattern: &SymbolicSparseColMat<usize>,
    blocks: &[usize],
) -> Result<SymbolicCholesky<usize>, String> {
    let order = scalar_order(blocks);
    let mut place = vec![0; order.len()];
    order.iter().enumerate().for_each(|(at, &row)| place[row] = at);
    let params = CholeskySymbolicParams {
        supernodal_flop_ratio_threshold: SupernodalThreshold::FORCE_SUPERNODAL,
        ..CholeskySymbolicParams::default()
    };
    let ordering = SymmetricOrdering::Custom(PermRef::new_checked(&order, &place, order.len()));
    factorize_symbolic_cholesky(pattern.as_ref(), Side::Lower, ordering, params)
        .map_err(|error| format!("symbolic factorisation: {error}"))
}

fn scalar_order(blocks: &[usize]) -> Vec<usize> {
    blocks.iter().flat_map(|&block| block * SIZE..(block + 1) * SIZE).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::{DMatrix, DVector};

    const BLOCKS: usize = 5;
    const PAIRS: [[u32; 2]; 3] = [[0, 1], [3, 1], [4, 2]];

    #[test]
    fn it_solves_as_a_dense_factorisation_does() {
        let n = BLOCKS * SIZE;
        let mut matrix = BlockMatrix::new(&[Vec3::zeros(); BLOCKS], &PAIRS).unwrap();
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
        for [a, b] in PAIRS.map(|pair| pair.map(|i| i as usize)) {
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
        assert!(!matrix.factorise());
    }

    #[test]
    fn pairs_are_found_either_way() {
        let matrix = BlockMatrix::new(&[Vec3::zeros(); BLOCKS], &PAIRS).unwrap();
        assert!(matrix.has(1, 3) && matrix.has(3, 1) && matrix.has(2, 2) && !matrix.has(0, 2));
    }
}
