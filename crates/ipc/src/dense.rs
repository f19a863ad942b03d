//! What small dense matrices lack.

/// The symmetric matrix of a lower triangle, with the same bits on both sides of the diagonal.
#[inline(always)]
pub(crate) fn mirrored<const N: usize>(lower: &[[f64; N]; N]) -> [[f64; N]; N] {
    std::array::from_fn(|i| std::array::from_fn(|j| lower[i.max(j)][i.min(j)]))
}
