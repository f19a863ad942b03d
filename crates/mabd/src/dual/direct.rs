//! Sparse Cholesky factorisation: the pattern is analysed once per scene, values once per iteration.

use faer::{
    Conj, MatMut, Par, Side,
    dyn_stack::{MemBuffer, MemStack, StackReq},
    linalg::cholesky::llt::factor::LltRegularization,
    perm::PermRef,
    sparse::{
        SparseColMatRef, SymbolicSparseColMat,
        linalg::cholesky::{
            CholeskySymbolicParams, LltRef, SymbolicCholesky, SymmetricOrdering,
            factorize_symbolic_cholesky,
        },
    },
};

use super::blocks::Blocks;

/// Shares by which diagonal entries are raised so that redundant rows keep a positive pivot, the next where
/// the one before was too small. Joints stay open by as much as this times what their forces would move.
const RAISED: [f64; 2] = [1e-15, 1e-13];

/// The scalar matrix, its factorisation and their working storage.
pub(crate) struct Direct {
    pattern: SymbolicSparseColMat<usize>,
    /// For each entry the value of the blocks that it is.
    sources: Vec<u32>,
    values: Vec<f64>,
    symbolic: SymbolicCholesky<usize>,
    factor: Vec<f64>,
    scratch: MemBuffer,
}

impl Direct {
    /// Analyses the pattern of `blocks`.
    pub(crate) fn new(blocks: &Blocks) -> Result<Self, String> {
        let (mut starts, mut rows, mut sources) = (vec![0], Vec::new(), Vec::new());
        for element in 0..blocks.count() {
            let (n, first) = (blocks.size(element), blocks.first[element] as usize);
            let diagonal = blocks.diagonal[element] as usize;
            for column in 0..n {
                for row in column..n {
                    rows.push(first + row);
                    sources.push((diagonal + row * n + column) as u32);
                }
                for block in blocks.below(element) {
                    let below = block.row as usize;
                    for row in 0..blocks.size(below) {
                        rows.push(blocks.first[below] as usize + row);
                        sources.push((block.at as usize + row * n + column) as u32);
                    }
                }
                starts.push(rows.len());
            }
        }
        let size = blocks.rows();
        let pattern = SymbolicSparseColMat::new_checked(size, size, starts, None, rows);
        // The order of the elements, or of least degree where that fills in less.
        let given: Vec<usize> = (0..size).collect();
        let given = SymmetricOrdering::Custom(PermRef::new_checked(&given, &given, size));
        let [given, least] = [given, SymmetricOrdering::Amd].map(|ordering| {
            let params = CholeskySymbolicParams::default();
            factorize_symbolic_cholesky(pattern.as_ref(), Side::Lower, ordering, params)
                .map_err(|error| format!("symbolic factorisation: {error}"))
        });
        let (given, least) = (given?, least?);
        let symbolic = if given.len_val() <= least.len_val() { given } else { least };
        let need = StackReq::or(
            symbolic.factorize_numeric_llt_scratch::<f64>(Par::Seq, Default::default()),
            symbolic.solve_in_place_scratch::<f64>(1, Par::Seq),
        );
        let scratch = MemBuffer::try_new(need).map_err(|error| format!("{error:?}"))?;
        let values = vec![0.0; sources.len()];
        let factor = vec![0.0; symbolic.len_val()];
        Ok(Self { pattern, sources, values, symbolic, factor, scratch })
    }

    /// Factorises `blocks` and replaces `rhs` by the solution.
    pub(crate) fn solve(&mut self, blocks: &Blocks, rhs: &mut [f64]) {
        if RAISED.into_iter().any(|raised| self.factorise(blocks, raised)) {
            self.solve_again(rhs);
        } else {
            // A matrix that is not positive is not finite, or will not be: the watchdog sees it.
            rhs.fill(f64::NAN);
        }
    }

    /// Whether the matrix has a factorisation, its diagonal being raised.
    fn factorise(&mut self, blocks: &Blocks, raised: f64) -> bool {
        for (value, &source) in self.values.iter_mut().zip(&self.sources) {
            *value = blocks.values[source as usize];
        }
        // The diagonal entry comes first in each column.
        for &start in &self.pattern.col_ptr()[..blocks.rows()] {
            self.values[start] *= 1.0 + raised;
        }
        let matrix = SparseColMatRef::new(self.pattern.as_ref(), &self.values);
        let stack = MemStack::new(&mut self.scratch);
        let factorised = self.symbolic.factorize_numeric_llt(
            &mut self.factor,
            matrix,
            Side::Lower,
            LltRegularization::default(),
            Par::Seq,
            stack,
            Default::default(),
        );
        factorised.is_ok()
    }

    /// Replaces `rhs` by the solution under the last factorisation.
    pub(crate) fn solve_again(&mut self, rhs: &mut [f64]) {
        let size = rhs.len();
        LltRef::new(&self.symbolic, &self.factor).solve_in_place_with_conj(
            Conj::No,
            MatMut::from_column_major_slice_mut(rhs, size, 1),
            Par::Seq,
            MemStack::new(&mut self.scratch),
        );
    }
}
