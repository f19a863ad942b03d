//! Cholesky factors of a symmetric matrix of 12 x 12 blocks, stored row by row from the first block on.
//!
//! Chains fill nothing and a single body is one block. Nets fill the whole envelope, for which better
//! orderings exist; this is a baseline.

/// Unknowns of a body.
pub(crate) const SIZE: usize = 12;

/// The lower triangle, and after [`EnvelopeMatrix::factorise`] its Cholesky factor in place.
#[derive(Clone, Debug)]
pub(crate) struct EnvelopeMatrix {
    /// First stored column of each row.
    first: Vec<usize>,
    /// Where each row begins in `values`.
    begin: Vec<usize>,
    values: Vec<f64>,
}

impl EnvelopeMatrix {
    /// Room for `blocks` block rows with couplings between the given pairs.
    pub(crate) fn new(blocks: usize, pairs: &[[usize; 2]]) -> Self {
        let mut lowest: Vec<usize> = (0..blocks).collect();
        for &[a, b] in pairs {
            let (low, high) = (a.min(b), a.max(b));
            lowest[high] = lowest[high].min(low);
        }
        let (mut first, mut begin, mut length) = (Vec::new(), Vec::new(), 0);
        for (block, low) in lowest.into_iter().enumerate() {
            for row in block * SIZE..(block + 1) * SIZE {
                first.push(low * SIZE);
                begin.push(length);
                length += row + 1 - low * SIZE;
            }
        }
        Self { first, begin, values: vec![0.0; length] }
    }

    /// How many numbers are stored.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.values.len()
    }

    pub(crate) fn clear(&mut self) {
        self.values.fill(0.0);
    }

    /// Adds to an entry; those of the upper triangle are left out, being those of the lower.
    pub(crate) fn add(&mut self, row: usize, column: usize, value: f64) {
        if column <= row {
            self.values[self.begin[row] + column - self.first[row]] += value;
        }
    }

    /// An entry before the factorisation.
    #[cfg(test)]
    pub(crate) fn entry(&self, i: usize, j: usize) -> f64 {
        let (row, column) = (i.max(j), i.min(j));
        let place = column.checked_sub(self.first[row]);
        place.map_or(0.0, |place| self.values[self.begin[row] + place])
    }

    fn row(&self, row: usize) -> &[f64] {
        &self.values[self.begin[row]..=self.begin[row] + row - self.first[row]]
    }

    /// Replaces the matrix by its factor; `false` where it is not positive definite.
    pub(crate) fn factorise(&mut self) -> bool {
        for i in 0..self.first.len() {
            let (start, length) = (self.first[i], i - self.first[i]);
            let (done, rest) = self.values.split_at_mut(self.begin[i]);
            let row = &mut rest[..=length];
            for j in start..i {
                let shared = self.first[j].max(start);
                let other = &done[self.begin[j]..=self.begin[j] + j - self.first[j]];
                let sum = dot(&row[shared - start..j - start], &other[shared - self.first[j]..]);
                row[j - start] = (row[j - start] - sum) / other[j - self.first[j]];
            }
            let pivot = row[length] - dot(&row[..length], &row[..length]);
            if pivot.is_nan() || pivot <= 0.0 {
                return false;
            }
            row[length] = pivot.sqrt();
        }
        true
    }

    /// Solves with the factor, in place.
    pub(crate) fn solve(&self, x: &mut [f64]) {
        for i in 0..x.len() {
            let row = self.row(i);
            let (diagonal, row) = (row[row.len() - 1], &row[..row.len() - 1]);
            x[i] = (x[i] - dot(row, &x[self.first[i]..])) / diagonal;
        }
        for i in (0..x.len()).rev() {
            let row = self.row(i);
            x[i] /= row[row.len() - 1];
            let value = x[i];
            let above = &mut x[self.first[i]..i];
            above.iter_mut().zip(row).for_each(|(x, entry)| *x -= entry * value);
        }
    }
}

/// Sum of the products over the shorter of the two.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::{DMatrix, DVector};

    #[test]
    fn it_solves_as_a_dense_factorisation_does() {
        let (blocks, pairs) = (5, [[0, 1], [3, 1], [4, 2]]);
        let n = blocks * SIZE;
        let mut envelope = EnvelopeMatrix::new(blocks, &pairs);
        let mut dense = DMatrix::<f64>::identity(n, n) * 40.0;
        let coupled =
            |a: usize, b: usize| a == b || pairs.contains(&[a, b]) || pairs.contains(&[b, a]);
        for i in 0..n {
            for j in 0..i {
                if coupled(i / SIZE, j / SIZE) {
                    let value = ((7 * i + 3 * j) % 11) as f64 / 11.0 - 0.5;
                    (dense[(i, j)], dense[(j, i)]) = (value, value);
                }
            }
        }
        for i in 0..n {
            for j in 0..n {
                if dense[(i, j)] != 0.0 {
                    envelope.add(i, j, dense[(i, j)]);
                }
            }
        }
        let right = DVector::from_fn(n, |i, _| (i % 5) as f64 - 1.0);
        let expected = dense.clone().cholesky().unwrap().solve(&right);
        assert!(envelope.factorise());
        let mut found: Vec<f64> = right.iter().copied().collect();
        envelope.solve(&mut found);
        assert!((DVector::from_vec(found) - expected).norm() < 1e-13);
    }

    #[test]
    fn what_is_not_definite_is_reported() {
        let mut envelope = EnvelopeMatrix::new(1, &[]);
        (0..SIZE).for_each(|i| envelope.add(i, i, if i == 7 { -1.0 } else { 1.0 }));
        assert!(!envelope.factorise());
    }

    #[test]
    fn chains_fill_two_blocks_a_row() {
        let pairs: Vec<[usize; 2]> = (1..100).map(|i| [i - 1, i]).collect();
        let diagonal = SIZE * (SIZE + 1) / 2;
        assert_eq!(EnvelopeMatrix::new(100, &pairs).len(), 100 * diagonal + 99 * SIZE * SIZE);
    }
}
