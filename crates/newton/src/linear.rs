//! A square sparse system whose pattern is fixed and whose values change: faer's LU with reused storage.

use faer::{
    Conj, MatMut, Par,
    dyn_stack::{MemBuffer, MemStack, StackReq},
    sparse::{
        SparseColMatRef, SymbolicSparseColMat,
        linalg::lu::{LuRef, LuSymbolicParams, NumericLu, SymbolicLu, factorize_symbolic_lu},
    },
};

/// Where an entry lives among the values; [`ABSENT`] for entries that are never written.
pub(crate) type Slot = u32;

/// The slot of an entry outside the matrix, such as a column of a body that does not move.
pub(crate) const ABSENT: Slot = Slot::MAX;

/// The matrix, its factorisation and their working storage.
pub(crate) struct SparseSystem {
    pattern: SymbolicSparseColMat<usize>,
    values: Vec<f64>,
    symbolic: SymbolicLu<usize>,
    numeric: NumericLu<usize, f64>,
    scratch: MemBuffer,
}

/// The factorisation could not be computed; the matrix is singular to working precision.
#[derive(Debug)]
pub(crate) struct Singular;

impl SparseSystem {
    /// A system of `size` equations with the given `(row, column)` entries, repeated or not, and the
    /// slot of each of them in the order given.
    pub(crate) fn new(
        size: usize,
        entries: &[(usize, usize)],
    ) -> Result<(Self, Vec<Slot>), String> {
        let mut by_column: Vec<(usize, usize)> = entries.iter().map(|&(r, c)| (c, r)).collect();
        by_column.sort_unstable();
        by_column.dedup();
        let count = by_column.len();
        if count >= ABSENT as usize {
            return Err(format!("{count} matrix entries exceed the index range"));
        }
        let slots = entries
            .iter()
            .map(|&(r, c)| by_column.partition_point(|&e| e < (c, r)) as Slot)
            .collect();
        let mut starts = vec![0; size + 1];
        for &(column, _) in &by_column {
            starts[column + 1] += 1;
        }
        for column in 0..size {
            starts[column + 1] += starts[column];
        }
        let rows = by_column.into_iter().map(|(_, row)| row).collect();
        let pattern = SymbolicSparseColMat::new_checked(size, size, starts, None, rows);
        let symbolic = factorize_symbolic_lu(pattern.as_ref(), LuSymbolicParams::default())
            .map_err(|error| format!("symbolic factorisation: {error}"))?;
        let need = StackReq::or(
            symbolic.factorize_numeric_lu_scratch::<f64>(Par::Seq, Default::default()),
            symbolic.solve_in_place_scratch::<f64>(1, Par::Seq),
        );
        let scratch = MemBuffer::try_new(need).map_err(|error| format!("{error:?}"))?;
        let system = Self {
            pattern,
            values: vec![0.0; count],
            symbolic,
            numeric: NumericLu::new(),
            scratch,
        };
        Ok((system, slots))
    }

    /// Sets every entry to zero.
    pub(crate) fn clear(&mut self) {
        self.values.fill(0.0);
    }

    /// Adds to one entry; [`ABSENT`] ones are dropped.
    pub(crate) fn add(&mut self, slot: Slot, value: f64) {
        if slot != ABSENT {
            self.values[slot as usize] += value;
        }
    }

    /// Factorises the matrix with partial pivoting.
    pub(crate) fn factorise(&mut self) -> Result<(), Singular> {
        let matrix = SparseColMatRef::new(self.pattern.as_ref(), &self.values);
        let stack = MemStack::new(&mut self.scratch);
        self.symbolic
            .factorize_numeric_lu(&mut self.numeric, matrix, Par::Seq, stack, Default::default())
            .map(|_| ())
            .map_err(|_| Singular)
    }

    /// Replaces `rhs` by the solution under the last factorisation.
    pub(crate) fn solve(&mut self, rhs: &mut [f64]) {
        let size = rhs.len();
        LuRef::new_unchecked(&self.symbolic, &self.numeric).solve_in_place_with_conj(
            Conj::No,
            MatMut::from_column_major_slice_mut(rhs, size, 1),
            Par::Seq,
            MemStack::new(&mut self.scratch),
        );
    }

    /// One column of the matrix, for tests.
    #[cfg(test)]
    pub(crate) fn dense_column(&self, column: usize) -> Vec<f64> {
        let mut dense = vec![0.0; self.pattern.nrows()];
        for slot in self.pattern.col_range(column) {
            dense[self.pattern.row_idx()[slot]] = self.values[slot];
        }
        dense
    }
}
