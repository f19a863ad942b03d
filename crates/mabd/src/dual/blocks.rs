//! A symmetric matrix of small blocks, one row of blocks per element, and the arithmetic on them.

use crate::pages::Pages;

/// The most rows of one element: a prismatic joint with a limit, a motor and a damper.
pub(crate) const ROWS_MAX: usize = 8;

/// Where a block below the diagonal lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Below {
    /// Its row of blocks.
    pub(crate) row: u32,
    /// Its first value; stored by rows.
    pub(crate) at: u32,
}

/// The lower triangle of a symmetric block matrix with a fixed pattern.
#[derive(Clone, Debug, Default)]
pub(crate) struct DualBlocks {
    /// First scalar row of each element, and how many there are.
    pub(crate) first: Vec<u32>,
    /// First value of each diagonal block, stored in full by rows.
    pub(crate) diagonal: Vec<u32>,
    /// First of each column's blocks in `below`.
    columns: Vec<u32>,
    below: Vec<Below>,
    /// All values.
    pub(crate) values: Pages<f64>,
}

impl DualBlocks {
    /// A matrix of blocks of these sizes with these rows below the diagonal of each column, ascending.
    pub(crate) fn new(sizes: &[u8], pattern: &[Vec<u32>]) -> Self {
        let mut this = Self::default();
        let (mut row, mut at) = (0_u32, 0_u32);
        for &size in sizes {
            this.first.push(row);
            row += u32::from(size);
        }
        this.first.push(row);
        this.columns.push(0);
        for (column, rows) in pattern.iter().enumerate() {
            this.diagonal.push(at);
            let size = u32::from(sizes[column]);
            at += size * size;
            for &row in rows {
                this.below.push(Below { row, at });
                at += size * u32::from(sizes[row as usize]);
            }
            this.columns.push(this.below.len() as u32);
        }
        this.values = Pages::zeroed(at as usize);
        this
    }

    /// How many rows of blocks there are.
    pub(crate) fn count(&self) -> usize {
        self.diagonal.len()
    }

    /// How many scalar rows there are.
    pub(crate) fn rows(&self) -> usize {
        self.first.last().map_or(0, |&rows| rows as usize)
    }

    /// Rows of one element.
    #[inline(always)]
    pub(crate) fn size(&self, element: usize) -> usize {
        (self.first[element + 1] - self.first[element]) as usize
    }

    /// The blocks below the diagonal of a column.
    #[inline(always)]
    pub(crate) fn below(&self, column: usize) -> &[Below] {
        &self.below[self.columns[column] as usize..self.columns[column + 1] as usize]
    }

    /// Where a block below the diagonal lies.
    pub(crate) fn find(&self, row: u32, column: usize) -> Option<u32> {
        let below = self.below(column);
        below.binary_search_by_key(&row, |block| block.row).ok().map(|i| below[i].at)
    }

    /// The elements of each block below the diagonal.
    pub(crate) fn edges(&self) -> Vec<[u32; 2]> {
        let of = |column: usize| self.below(column).iter().map(move |b| [column as u32, b.row]);
        (0..self.count()).flat_map(of).collect()
    }

    /// `out -= D x`.
    pub(crate) fn subtract_product(&self, x: &[f64], out: &mut [f64]) {
        for column in 0..self.count() {
            let (n, first) = (self.size(column), self.first[column] as usize);
            let at = self.diagonal[column] as usize;
            let own = &x[first..first + n];
            subtract_times(&mut out[first..first + n], &self.values[at..at + n * n], own);
            for block in self.below(column) {
                let (m, row) =
                    (self.size(block.row as usize), self.first[block.row as usize] as usize);
                let values = &self.values[block.at as usize..block.at as usize + m * n];
                subtract_times(&mut out[row..row + m], values, own);
                subtract_transposed(&mut out[first..first + n], values, &x[row..row + m]);
            }
        }
    }

    /// The matrix in full, by rows.
    #[cfg(test)]
    pub(crate) fn dense(&self) -> nalgebra::DMatrix<f64> {
        let mut dense = nalgebra::DMatrix::zeros(self.rows(), self.rows());
        for column in 0..self.count() {
            let (c0, nc) = (self.first[column] as usize, self.size(column));
            let whole = Below { row: column as u32, at: self.diagonal[column] };
            for block in std::iter::once(&whole).chain(self.below(column)) {
                let (r0, nr) =
                    (self.first[block.row as usize] as usize, self.size(block.row as usize));
                for i in 0..nr {
                    for j in 0..nc {
                        let value = self.values[block.at as usize + i * nc + j];
                        dense[(r0 + i, c0 + j)] = value;
                        dense[(c0 + j, r0 + i)] = value;
                    }
                }
            }
        }
        dense
    }
}

/// `target -= left right^T` for `left` of `m` by `n`, `right` of `k` by `n`.
#[inline(always)]
pub(crate) fn subtract_outer(target: &mut [f64], left: &[f64], right: &[f64], n: usize) {
    if let (Ok(t), Ok(l), Ok(r)) = (
        <&mut [f64; 9]>::try_from(&mut *target),
        <&[f64; 9]>::try_from(left),
        <&[f64; 9]>::try_from(right),
    ) {
        for i in 0..3 {
            for j in 0..3 {
                t[3 * i + j] -=
                    l[3 * i] * r[3 * j] + l[3 * i + 1] * r[3 * j + 1] + l[3 * i + 2] * r[3 * j + 2];
            }
        }
        return;
    }
    let k = right.len() / n;
    for (target, left) in target.chunks_exact_mut(k).zip(left.chunks_exact(n)) {
        for (t, right) in target.iter_mut().zip(right.chunks_exact(n)) {
            *t -= left.iter().zip(right).map(|(l, r)| l * r).sum::<f64>();
        }
    }
}

/// `out = left square` for `left` of `m` by `n` and a symmetric `square`.
#[inline(always)]
pub(crate) fn times_symmetric(out: &mut [f64], left: &[f64], square: &[f64], n: usize) {
    out.fill(0.0);
    subtract_outer(out, left, square, n);
    out.iter_mut().for_each(|x| *x = -*x);
}

/// `target -= block x` for a block with `x.len()` columns.
#[inline(always)]
pub(crate) fn subtract_times(target: &mut [f64], block: &[f64], x: &[f64]) {
    if let (Ok(t), Ok(b), Ok(x)) = (
        <&mut [f64; 3]>::try_from(&mut *target),
        <&[f64; 9]>::try_from(block),
        <&[f64; 3]>::try_from(x),
    ) {
        for i in 0..3 {
            t[i] -= b[3 * i] * x[0] + b[3 * i + 1] * x[1] + b[3 * i + 2] * x[2];
        }
        return;
    }
    for (t, row) in target.iter_mut().zip(block.chunks_exact(x.len())) {
        *t -= row.iter().zip(x).map(|(b, x)| b * x).sum::<f64>();
    }
}

/// `target -= block^T x` for a block with `target.len()` columns.
#[inline(always)]
pub(crate) fn subtract_transposed(target: &mut [f64], block: &[f64], x: &[f64]) {
    if let (Ok(t), Ok(b), Ok(x)) = (
        <&mut [f64; 3]>::try_from(&mut *target),
        <&[f64; 9]>::try_from(block),
        <&[f64; 3]>::try_from(x),
    ) {
        for j in 0..3 {
            t[j] -= b[j] * x[0] + b[3 + j] * x[1] + b[6 + j] * x[2];
        }
        return;
    }
    for (row, x) in block.chunks_exact(target.len()).zip(x) {
        for (t, b) in target.iter_mut().zip(row) {
            *t -= b * x;
        }
    }
}

/// A pivot below this share of its diagonal entry belongs to a row that says nothing new.
pub(crate) const REDUNDANT: f64 = 1e-13;

/// Replaces a symmetric block by its inverse. Rows that depend on earlier ones, here or in blocks
/// eliminated before, get zeros, so that their multipliers vanish; `scale` is the diagonal before
/// any elimination.
pub(crate) fn invert(block: &mut [f64], scale: &[f64]) {
    if let (Ok(b), Ok(s)) = (<&mut [f64; 9]>::try_from(&mut *block), <&[f64; 3]>::try_from(scale)) {
        return invert_three(b, s);
    }
    let n = scale.len();
    // Lower factor of L D L^T in place, with inverted pivots.
    for k in 0..n {
        let pivot = block[k * n + k];
        let inverse = if pivot > REDUNDANT * scale[k] { 1.0 / pivot } else { 0.0 };
        for i in k + 1..n {
            let factor = block[i * n + k] * inverse;
            for j in k + 1..=i {
                block[i * n + j] -= factor * block[j * n + k];
            }
        }
        for i in k + 1..n {
            block[i * n + k] *= inverse;
        }
        block[k * n + k] = inverse;
    }
    // Inverse of the unit factor below the diagonal.
    for i in 0..n {
        for j in 0..i {
            let inner: f64 = (j + 1..i).map(|k| block[i * n + k] * block[k * n + j]).sum();
            block[i * n + j] = -block[i * n + j] - inner;
        }
    }
    // L^-T D^-1 L^-1, upper triangle first.
    for i in 0..n {
        for j in i..n {
            let at = |k: usize, c: usize| if k == c { 1.0 } else { block[k * n + c] };
            let sum: f64 = (j..n).map(|k| at(k, i) * block[k * n + k] * at(k, j)).sum();
            if i == j {
                // The diagonal is still read by the rows above only.
                block[i * n + i] = sum;
            } else {
                block[i * n + j] = sum;
            }
        }
    }
    for i in 0..n {
        for j in 0..i {
            block[i * n + j] = block[j * n + i];
        }
    }
}

#[inline(always)]
fn invert_three(b: &mut [f64; 9], scale: &[f64; 3]) {
    let inverse =
        |pivot: f64, scale: f64| if pivot > REDUNDANT * scale { 1.0 / pivot } else { 0.0 };
    let p0 = inverse(b[0], scale[0]);
    let (l10, l20) = (b[3] * p0, b[6] * p0);
    let p1 = inverse(b[4] - l10 * b[3], scale[1]);
    let c21 = b[7] - l20 * b[3];
    let l21 = c21 * p1;
    let p2 = inverse(b[8] - l20 * b[6] - l21 * c21, scale[2]);
    // The inverse of the unit factor.
    let m20 = l10 * l21 - l20;
    let (i22, i12, i02) = (p2, -l21 * p2, m20 * p2);
    let i11 = p1 - l21 * i12;
    let i01 = -l10 * p1 - l21 * i02;
    let i00 = p0 + l10 * l10 * p1 + m20 * i02;
    *b = [i00, i01, i02, i01, i11, i12, i02, i12, i22];
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spd(n: usize) -> Vec<f64> {
        let entry = |i: usize, j: usize| ((3 * i + 5 * j) % 7) as f64 - 3.0;
        let mut out = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..n {
                out[i * n + j] = (0..n).map(|k| entry(i, k) * entry(j, k)).sum();
            }
            out[i * n + i] += 2.0;
        }
        out
    }

    #[test]
    fn blocks_of_every_size_are_inverted() {
        for n in 1..=7 {
            let block = spd(n);
            let scale: Vec<f64> = (0..n).map(|i| block[i * n + i]).collect();
            let mut inverse = block.clone();
            invert(&mut inverse, &scale);
            for i in 0..n {
                for j in 0..n {
                    let product: f64 = (0..n).map(|k| block[i * n + k] * inverse[k * n + j]).sum();
                    let expected = if i == j { 1.0 } else { 0.0 };
                    assert!((product - expected).abs() < 1e-11, "{n} {i} {j}: {product}");
                }
            }
        }
    }

    #[test]
    fn redundant_rows_get_no_multiplier() {
        for n in [3, 4] {
            // Row 1 is twice row 0.
            let mut block = vec![0.0; n * n];
            let row = |i: usize| if i == 1 { [2.0, 0.0] } else { [1.0, i as f64] };
            for i in 0..n {
                for j in 0..n {
                    let (a, b) = (row(i), row(j));
                    block[i * n + j] = a[0] * b[0] + a[1] * b[1];
                    if i == j && i > 1 {
                        block[i * n + j] += 1.0;
                    }
                }
            }
            let scale: Vec<f64> = (0..n).map(|i| block[i * n + i]).collect();
            let b: Vec<f64> = (0..n).map(|i| block[i * n] + 3.0 * block[i * n + 2]).collect();
            let matrix = block.clone();
            invert(&mut block, &scale);
            let x: Vec<f64> =
                (0..n).map(|i| (0..n).map(|j| block[i * n + j] * b[j]).sum()).collect();
            assert_eq!(x[1], 0.0);
            for i in 0..n {
                let found: f64 = (0..n).map(|j| matrix[i * n + j] * x[j]).sum();
                assert!((found - b[i]).abs() < 1e-12);
            }
        }
    }
}
