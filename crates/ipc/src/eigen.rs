//! Negative eigenvalues of small symmetric matrices with their eigenvectors, on the stack.

/// Sweeps allowed for one eigenvalue. Two are usual; only entries that are not numbers take them all.
const SWEEPS: usize = 40;

/// What of a symmetric matrix is negative, of its form `H Y diag(values) Yᵀ Hᵀ`, where `H` is a product of reflections.
///
/// Clamping needs nothing else: the search ends where what is left is positive.
pub(crate) struct Negative<const N: usize> {
    /// Eigenvalues, in no order. From number `found` on they are only known to be positive.
    values: [f64; N],
    found: usize,
    /// Eigenvectors of the tridiagonal form, as rows.
    inner: [[f64; N]; N],
    /// Normals of the reflections, of which number `k` has zeros up to its entry `k`.
    normals: [[f64; N]; N],
    /// `2/vᵀv` of the normals; zero where nothing is reflected.
    scales: [f64; N],
}

impl<const N: usize> Negative<N> {
    /// Householder's reduction and the implicit QL method (Golub and Van Loan, 8.3): errors are of rounding of the
    /// largest eigenvalue. Only the lower triangle is read.
    #[inline]
    pub(crate) fn new(m: &[[f64; N]; N]) -> Self {
        let mut a = *m;
        let mut beside = [0.0; N];
        let mut out = Self {
            values: [0.0; N],
            found: 0,
            inner: [[0.0; N]; N],
            normals: [[0.0; N]; N],
            scales: [0.0; N],
        };
        let reflections = beside.iter_mut().zip(&mut out.scales).zip(&mut out.normals);
        for (k, ((beside, scale), normal)) in reflections.enumerate().take(N.saturating_sub(2)) {
            (*beside, *scale) = reflect(&mut a, normal, k);
        }
        if N > 1 {
            beside[N - 2] = a[N - 1][N - 2];
        }
        for (i, (value, row)) in out.values.iter_mut().zip(&mut out.inner).enumerate() {
            *value = a[i][i];
            row[i] = 1.0;
        }
        out.found = iterate(&mut out.values, &mut beside, &mut out.inner);
        out
    }

    /// Negative eigenvalues, each with its eigenvector of unit length.
    #[inline(always)]
    pub(crate) fn pairs(&self) -> impl Iterator<Item = (f64, [f64; N])> {
        let found = self.values.iter().enumerate().take(self.found);
        found.filter(|(_, value)| **value < 0.0).map(|(k, value)| (*value, self.vector(k)))
    }

    #[inline(always)]
    fn vector(&self, which: usize) -> [f64; N] {
        let mut z = self.inner[which];
        for k in (0..N.saturating_sub(2)).rev() {
            let v = &self.normals[k];
            let mut along = 0.0;
            for i in k + 1..N {
                along += v[i] * z[i];
            }
            along *= self.scales[k];
            for i in k + 1..N {
                z[i] -= along * v[i];
            }
        }
        z
    }
}

/// Brings column `k` to tridiagonal form by a reflection of the rows below it, whose normal it leaves in `v`; tells the
/// entry beside the diagonal and the reflection's scale.
#[inline(always)]
fn reflect<const N: usize>(a: &mut [[f64; N]; N], v: &mut [f64; N], k: usize) -> (f64, f64) {
    let mut square = 0.0;
    for i in k + 1..N {
        v[i] = a[i][k];
        square += v[i] * v[i];
    }
    let lead = v[k + 1];
    let norm = square.sqrt();
    let target = if lead > 0.0 { -norm } else { norm };
    // Also of a column that is in place already, and of one whose squares vanish.
    let half = square - lead * target;
    if square - lead * lead <= 0.0 || half <= 0.0 {
        return (lead, 0.0);
    }
    v[k + 1] = lead - target;
    let inverse = 1.0 / half;
    let mut p = [0.0; N];
    for i in k + 1..N {
        for j in k + 1..i {
            p[i] += a[i][j] * v[j];
            p[j] += a[i][j] * v[i];
        }
        p[i] += a[i][i] * v[i];
    }
    let mut share = 0.0;
    for i in k + 1..N {
        p[i] *= inverse;
        share += v[i] * p[i];
    }
    share *= 0.5 * inverse;
    for i in k + 1..N {
        p[i] -= share * v[i];
    }
    for i in k + 1..N {
        for j in k + 1..=i {
            a[i][j] -= v[i] * p[j] + p[i] * v[j];
        }
    }
    (target, inverse)
}

/// The implicit QL method on the diagonal `d` and the entries `e` beside it.
///
/// What is dropped beside the diagonal is below rounding of the largest entry, not of its neighbours: small eigenvalues
/// of graded matrices need not be better than what they are added to. Tells how many eigenvalues were found before what
/// is left was seen to be positive.
#[inline(always)]
fn iterate<const N: usize>(
    d: &mut [f64; N],
    e: &mut [f64; N],
    vectors: &mut [[f64; N]; N],
) -> usize {
    let mut negligible = 0.0_f64;
    for i in 0..N {
        negligible = negligible.max(d[i].abs() + e[i].abs());
    }
    negligible *= 0.5 * f64::EPSILON;
    for l in 0..N {
        if is_positive(d, e, l) {
            return l;
        }
        for _ in 0..SWEEPS {
            let mut m = l;
            // Also of what is not a number, which ends with the sweeps.
            while m + 1 < N && (e[m].abs() > negligible || e[m].is_nan()) {
                m += 1;
            }
            match m - l {
                0 => break,
                1 => last_two(d, e, vectors, l),
                _ => sweep(d, e, vectors, l, m),
            }
        }
    }
    N
}

/// Whether the tridiagonal matrix from row `l` on has positive leading minors only.
#[inline(always)]
fn is_positive<const N: usize>(d: &[f64; N], e: &[f64; N], l: usize) -> bool {
    let (mut before, mut minor) = (1.0, d[l]);
    for i in l + 1..N {
        if minor <= 0.0 {
            return false;
        }
        (before, minor) = (minor, d[i] * minor - e[i - 1] * e[i - 1] * before);
    }
    minor > 0.0
}

/// One rotation that makes rows `l` and `l + 1` diagonal, by the smaller angle.
#[inline(always)]
fn last_two<const N: usize>(
    d: &mut [f64; N],
    e: &mut [f64; N],
    vectors: &mut [[f64; N]; N],
    l: usize,
) {
    let x = 0.5 * (d[l + 1] - d[l]) / e[l];
    let t = 1.0 / (x + (x * x + 1.0).sqrt().copysign(x));
    let c = 1.0 / (t * t + 1.0).sqrt();
    d[l] -= t * e[l];
    d[l + 1] += t * e[l];
    e[l] = 0.0;
    rotate(vectors, l, c, t * c);
}

#[inline(always)]
fn rotate<const N: usize>(vectors: &mut [[f64; N]; N], i: usize, c: f64, s: f64) {
    let (x, y) = (vectors[i], vectors[i + 1]);
    for k in 0..N {
        vectors[i + 1][k] = s * x[k] + c * y[k];
        vectors[i][k] = c * x[k] - s * y[k];
    }
}

/// One sweep from row `m` up to row `l`, shifted by an eigenvalue of the 2x2 matrix at `l`.
#[inline(always)]
fn sweep<const N: usize>(
    d: &mut [f64; N],
    e: &mut [f64; N],
    vectors: &mut [[f64; N]; N],
    l: usize,
    m: usize,
) {
    let g = (d[l + 1] - d[l]) / (2.0 * e[l]);
    let r = (g * g + 1.0).sqrt();
    let mut g = d[m] - d[l] + e[l] / (g + r.copysign(g));
    let (mut s, mut c, mut p) = (1.0, 1.0, 0.0);
    for i in (l..m).rev() {
        let f = s * e[i];
        let b = c * e[i];
        let square = f * f + g * g;
        // Root and division side by side are quicker than one after the other.
        let (r, inverse) = (square.sqrt(), 1.0 / square);
        e[i + 1] = r;
        if square == 0.0 {
            d[i + 1] -= p;
            e[m] = 0.0;
            return;
        }
        let inverse = r * inverse;
        s = f * inverse;
        c = g * inverse;
        g = d[i + 1] - p;
        let r = (d[i] - g) * s + 2.0 * c * b;
        p = s * r;
        d[i + 1] = g + p;
        g = c * r - b;
        rotate(vectors, i, c, s);
    }
    d[l] -= p;
    e[l] = g;
    e[m] = 0.0;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is taken away leaves nothing negative, and what is told are eigenvectors.
    fn check<const N: usize>(m: &[[f64; N]; N]) {
        let negative = Negative::new(m);
        let largest = m.iter().flatten().fold(1e-300_f64, |a, b| a.max(b.abs()));
        let pairs: Vec<(f64, [f64; N])> = negative.pairs().collect();
        let dot = |x: &[f64; N], y: &[f64; N]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
        for (i, (value, x)) in pairs.iter().enumerate() {
            assert!(*value < 0.0);
            for (row, entry) in m.iter().zip(x) {
                assert!((dot(row, x) - value * entry).abs() < 1e-14 * largest, "{m:?}");
            }
            for (j, (_, y)) in pairs.iter().enumerate() {
                let one = if i == j { 1.0 } else { 0.0 };
                assert!((dot(x, y) - one).abs() < 1e-14, "{m:?}");
            }
        }
        let rest: [[f64; N]; N] = std::array::from_fn(|i| {
            std::array::from_fn(|j| {
                let part = |(value, x): &(f64, [f64; N])| value * x[i] * x[j];
                m[i][j] - pairs.iter().map(part).sum::<f64>()
            })
        });
        let rest = nalgebra::SMatrix::<f64, N, N>::from_fn(|i, j| rest[i][j]);
        let least = nalgebra::DMatrix::from_iterator(N, N, rest.iter().copied());
        let least = least.symmetric_eigenvalues().min();
        assert!(least > -2e-14 * largest, "{m:?}: {least:e} is left");
    }

    fn random<const N: usize>(state: &mut u64, grading: f64) -> [[f64; N]; N] {
        let mut next = || {
            *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (*state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
        };
        let mut m = [[0.0; N]; N];
        for (i, j) in (0..N).flat_map(|i| (0..=i).map(move |j| (i, j))) {
            m[i][j] = next() * grading.powi((i + j) as i32);
            m[j][i] = m[i][j];
        }
        m
    }

    #[test]
    fn nothing_negative_is_left() {
        let mut state = 1;
        for _ in 0..300 {
            for grading in [1.0, 1e-3, 30.0] {
                check(&random::<2>(&mut state, grading));
                check(&random::<3>(&mut state, grading));
                check(&random::<4>(&mut state, grading));
                check(&random::<5>(&mut state, grading));
                check(&random::<9>(&mut state, grading.sqrt()));
                check(&random::<12>(&mut state, 1.0));
            }
        }
    }

    #[test]
    fn nothing_negative_is_left_of_special_matrices() {
        check(&[[0.0; 5]; 5]);
        check(&[[1.0; 5]; 5]);
        check(&[[2.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 2.0]]);
        check(&[[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]]);
        check(&[[1.0, 1e-9, 0.0], [1e-9, 1.0, 1e-12], [0.0, 1e-12, 1.0]]);
    }

    #[test]
    fn what_is_not_a_number_ends() {
        assert_eq!(Negative::new(&[[f64::NAN; 5]; 5]).pairs().count(), 0);
    }
}
