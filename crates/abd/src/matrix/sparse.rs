//! Factors of what is not a forest, by faer's sparse Cholesky.
//!
//! The order of elimination is found for blocks; of two ways to find it ([`order`](super::order)) that one counts which fills
//! less.

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
use taut_core::Vec3;

use super::{
    SIZE,
    order::{dissected, least_degree},
};

/// From so many bodies on more than one order is tried.
const DISSECTED: usize = 32;

/// A factor and what it takes to find it.
pub(super) struct GeneralFactor {
    symbolic: SymbolicCholesky<usize>,
    values: Vec<f64>,
    scratch: MemBuffer,
}

impl GeneralFactor {
    /// Room for the factor of a pattern, of blocks at `places` [m] and coupled `pairs`, which begin at `first` in each column.
    pub(super) fn new(
        places: &[Vec3],
        pairs: &[[u32; 2]],
        first: &[usize],
        pattern: &SymbolicSparseColMat<usize>,
    ) -> Result<Self, String> {
        let blocks = places.len();
        let mut symbolic = eliminated(pattern, &least_degree(blocks, pairs, first)?)?;
        if blocks >= DISSECTED {
            let by_halves = eliminated(pattern, &dissected(places, pairs))?;
            if by_halves.len_val() < symbolic.len_val() {
                symbolic = by_halves;
            }
        }
        let need = StackReq::or(
            symbolic.factorize_numeric_llt_scratch::<f64>(Par::Seq, Default::default()),
            symbolic.solve_in_place_scratch::<f64>(1, Par::Seq),
        );
        let scratch = MemBuffer::try_new(need).map_err(|error| format!("{error:?}"))?;
        let values = vec![0.0; symbolic.len_val()];
        Ok(Self { symbolic, values, scratch })
    }

    /// Factorises the matrix with the pattern and its values; `false` where it is not positive definite.
    pub(super) fn factorise(
        &mut self,
        pattern: &SymbolicSparseColMat<usize>,
        values: &[f64],
    ) -> bool {
        let matrix = SparseColMatRef::new(pattern.as_ref(), values);
        let stack = MemStack::new(&mut self.scratch);
        let (how, params) = (LltRegularization::default(), Default::default());
        let factor = &mut self.values;
        let done = self.symbolic.factorize_numeric_llt(
            factor,
            matrix,
            Side::Lower,
            how,
            Par::Seq,
            stack,
            params,
        );
        done.is_ok()
    }

    /// Solves with the factor, in place.
    pub(super) fn solve(&mut self, x: &mut [f64]) {
        let size = x.len();
        let right = MatMut::from_column_major_slice_mut(x, size, 1);
        let factor = LltRef::new(&self.symbolic, &self.values);
        let stack = MemStack::new(&mut self.scratch);
        factor.solve_in_place_with_conj(Conj::No, right, Par::Seq, stack);
    }
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
