//! Sparse factorisation: the pattern is analysed once, values once per iteration.

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

use super::{blocks::DualBlocks, fronts::Fronts};

/// Shares by which diagonal entries are raised so that redundant rows keep a positive pivot, the next where
/// the one before was too small. Joints stay open by as much as this times what their forces would move.
const RAISED: [f64; 2] = [1e-15, 1e-13];

/// The same for a matrix that has both signs.
const RAISED_MIXED: f64 = 1e-14;

/// How often multipliers of least size are refined.
const REFINED: u32 = 3;

/// A factorisation and what solving with it takes.
pub(crate) struct Direct {
    factor: Factorisation,
    /// What multipliers of least size leave, and what is added to them.
    room: [Vec<f64>; 2],
}

/// How a matrix is factorised.
enum Factorisation {
    /// One in the order of its blocks.
    Fronts(Box<Fronts>),
    /// A positive one in an order of least degree.
    Sparse(Box<SparseFactor>),
}

/// The scalar matrix, its factorisation and their working storage.
struct SparseFactor {
    pattern: SymbolicSparseColMat<usize>,
    /// For each entry the value of the blocks that it is.
    sources: Vec<u32>,
    values: Vec<f64>,
    symbolic: SymbolicCholesky<usize>,
    factor: Vec<f64>,
    scratch: MemBuffer,
}

impl Direct {
    /// Analyses the pattern of positive `blocks`, in their order or of least degree where that fills in less.
    pub(crate) fn new(blocks: &DualBlocks) -> Result<Self, String> {
        let (pattern, sources) = scalars(blocks);
        let given = analysed(&pattern, false)?;
        let least = analysed(&pattern, true)?;
        let factor = if given.len_val() <= least.len_val() {
            Factorisation::Fronts(Box::new(Fronts::new(blocks)))
        } else {
            let sparse = SparseFactor::new(pattern, sources, least)?;
            Factorisation::Sparse(Box::new(sparse))
        };
        Ok(Self { factor, room: Default::default() })
    }

    /// Analyses the pattern of `blocks` in their order, each scalar row having a pivot of this sign.
    pub(crate) fn mixed(blocks: &DualBlocks, signs: &[i8]) -> Self {
        let fronts = Fronts::signed(blocks, signs);
        Self { factor: Factorisation::Fronts(Box::new(fronts)), room: Default::default() }
    }

    /// Factorises `blocks` and replaces `rhs` by the solution.
    pub(crate) fn solve(&mut self, blocks: &DualBlocks, rhs: &mut [f64]) {
        let done = if self.factor.is_mixed() {
            self.factor.solve(blocks, RAISED_MIXED, rhs)
        } else {
            RAISED.into_iter().any(|raised| self.factor.solve(blocks, raised, rhs))
        };
        if !done {
            // A matrix that is not positive is not finite, or will not be: the watchdog sees it.
            rhs.fill(f64::NAN);
        }
    }

    /// Replaces `rhs` by multipliers that are hardly larger than they need be to make up for it but for a share
    /// `noise` [1] of what each row's own multiplier moves: those of Tikhonov, refined [`REFINED`] times. What
    /// redundant rows contradict each other by makes no self-stress then. Whether there is a factorisation.
    pub(crate) fn solve_least(&mut self, blocks: &DualBlocks, rhs: &mut [f64], noise: f64) -> bool {
        if self.factor.is_mixed() {
            return false;
        }
        let [mut rest, mut change] = std::mem::take(&mut self.room);
        rest.clear();
        rest.extend_from_slice(rhs);
        change.clear();
        change.extend_from_slice(rhs);
        let done = self.factor.solve(blocks, noise, &mut change);
        if done {
            rhs.copy_from_slice(&change);
            for _ in 0..REFINED {
                blocks.subtract_product(&change, &mut rest);
                change.copy_from_slice(&rest);
                self.factor.substitute(&mut change);
                rhs.iter_mut().zip(&change).for_each(|(sum, change)| *sum += change);
            }
        }
        self.room = [rest, change];
        done
    }
}

impl Factorisation {
    /// Whether the matrix has both signs.
    fn is_mixed(&self) -> bool {
        matches!(self, Self::Fronts(fronts) if fronts.is_signed())
    }

    /// See [`SparseFactor::solve`].
    fn solve(&mut self, blocks: &DualBlocks, raised: f64, rhs: &mut [f64]) -> bool {
        match self {
            Self::Fronts(fronts) => fronts.solve(blocks, raised, rhs),
            Self::Sparse(sparse) => sparse.solve(blocks, raised, rhs),
        }
    }

    /// Replaces `rhs` by the solution under the last factorisation.
    fn substitute(&mut self, rhs: &mut [f64]) {
        match self {
            Self::Fronts(fronts) => fronts.substitute(rhs),
            Self::Sparse(sparse) => sparse.substitute(rhs),
        }
    }
}

impl SparseFactor {
    fn new(
        pattern: SymbolicSparseColMat<usize>,
        sources: Vec<u32>,
        symbolic: SymbolicCholesky<usize>,
    ) -> Result<Self, String> {
        let factor = symbolic.factorize_numeric_llt_scratch::<f64>(Par::Seq, Default::default());
        let solve = symbolic.solve_in_place_scratch::<f64>(1, Par::Seq);
        let scratch = MemBuffer::try_new(StackReq::or(factor, solve))
            .map_err(|error| format!("{error:?}"))?;
        let values = vec![0.0; sources.len()];
        let factor = vec![0.0; symbolic.len_val()];
        Ok(Self { pattern, sources, values, symbolic, factor, scratch })
    }

    /// Factorises `blocks` with diagonal entries raised by a share, and replaces `rhs` by the solution. Whether
    /// there is a factorisation.
    fn solve(&mut self, blocks: &DualBlocks, raised: f64, rhs: &mut [f64]) -> bool {
        let done = self.factorise(blocks, raised);
        if done {
            self.substitute(rhs);
        }
        done
    }

    fn factorise(&mut self, blocks: &DualBlocks, raised: f64) -> bool {
        for (value, &source) in self.values.iter_mut().zip(&self.sources) {
            *value = blocks.values[source as usize];
        }
        // The diagonal entry comes first in each column.
        for &start in &self.pattern.col_ptr()[..blocks.rows()] {
            self.values[start] *= 1.0 + raised;
        }
        let matrix = SparseColMatRef::new(self.pattern.as_ref(), &self.values);
        let stack = MemStack::new(&mut self.scratch);
        let (how, params) = (LltRegularization::default(), Default::default());
        self.symbolic
            .factorize_numeric_llt(
                &mut self.factor,
                matrix,
                Side::Lower,
                how,
                Par::Seq,
                stack,
                params,
            )
            .is_ok()
    }

    /// Replaces `rhs` by the solution under the last factorisation.
    fn substitute(&mut self, rhs: &mut [f64]) {
        let size = rhs.len();
        let rhs = MatMut::from_column_major_slice_mut(rhs, size, 1);
        let (symbolic, factor) = (&self.symbolic, &self.factor);
        let stack = MemStack::new(&mut self.scratch);
        LltRef::new(symbolic, factor).solve_in_place_with_conj(Conj::No, rhs, Par::Seq, stack);
    }
}

/// The lower triangle by columns, and for each entry the value of the blocks that it is.
fn scalars(blocks: &DualBlocks) -> (SymbolicSparseColMat<usize>, Vec<u32>) {
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
    (SymbolicSparseColMat::new_checked(size, size, starts, None, rows), sources)
}

/// The factor's pattern in the given order, or in one of least degree.
fn analysed(
    pattern: &SymbolicSparseColMat<usize>,
    least: bool,
) -> Result<SymbolicCholesky<usize>, String> {
    let size = pattern.nrows();
    let given: Vec<usize> = (0..size).collect();
    let ordering = if least {
        SymmetricOrdering::Amd
    } else {
        SymmetricOrdering::Custom(PermRef::new_checked(&given, &given, size))
    };
    let params = CholeskySymbolicParams::default();
    factorize_symbolic_cholesky(pattern.as_ref(), Side::Lower, ordering, params)
        .map_err(|error| format!("symbolic factorisation: {error}"))
}
