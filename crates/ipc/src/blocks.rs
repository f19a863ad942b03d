//! From the four vertices of a pair to the twelve coordinates of each of its two affine bodies.
//!
//! A body has `q`: the columns of `A`, then `t`. A vertex is `x = Σ_k w_k y_k` of the four vectors in `q` with constant
//! weights: `(X₁, X₂, X₃, 1)` for `x = A X + t`, or barycentric ones of four control points. Hence
//! `∇_q = Jᵀ∇_x` and `∇²_q = Jᵀ ∇²_x J`, where the block of two bodies is `Σ (w_v w_uᵀ)⊗H_vu`.

/// The blocks of a pair's Hessian by the coordinates of two bodies; that of `b` and `a` is `ab` transposed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyBlocks {
    /// Of the first body.
    pub aa: [[f64; 12]; 12],
    /// Rows of the first body, columns of the second.
    pub ab: [[f64; 12]; 12],
    /// Of the second body.
    pub bb: [[f64; 12]; 12],
}

/// Weights of a vertex at `rest` [m] in body coordinates, `x = A X + t`.
#[inline]
pub fn affine_site(rest: [f64; 3]) -> [f64; 4] {
    [rest[0], rest[1], rest[2], 1.0]
}

/// `Jᵀ g` of both bodies. The first `FIRST` vertices belong to the first body: 1 of a point and a triangle, 2 of
/// two edges.
#[inline]
pub fn body_gradients<const FIRST: usize>(g: &[f64; 12], sites: &[[f64; 4]; 4]) -> [[f64; 12]; 2] {
    let mut out = [[0.0; 12]; 2];
    for (v, site) in sites.iter().enumerate() {
        let body = &mut out[usize::from(v >= FIRST)];
        for (k, weight) in site.iter().enumerate() {
            for axis in 0..3 {
                body[3 * k + axis] += weight * g[3 * v + axis];
            }
        }
    }
    out
}

/// `Jᵀ H J` by blocks of bodies; `FIRST` as in [`body_gradients`].
#[inline]
pub fn body_hessian<const FIRST: usize>(h: &[[f64; 12]; 12], sites: &[[f64; 4]; 4]) -> BodyBlocks {
    let mut out = BodyBlocks::ZERO;
    out.add::<FIRST>(h, sites, false);
    out
}

impl BodyBlocks {
    /// Of bodies that nothing couples.
    pub const ZERO: Self = Self { aa: [[0.0; 12]; 12], ab: [[0.0; 12]; 12], bb: [[0.0; 12]; 12] };

    /// Adds the Hessian `h` of a pair with these sites; `turned` where the pair's first body is the second one here.
    /// `FIRST` as in [`body_gradients`].
    ///
    /// Each row is added up before it is added: blocks of the pair alone would go through memory three times.
    #[inline]
    pub fn add<const FIRST: usize>(
        &mut self,
        h: &[[f64; 12]; 12],
        sites: &[[f64; 4]; 4],
        turned: bool,
    ) {
        let mut by_first = [[[0.0; 12]; 3]; FIRST];
        let mut by_second = [[[0.0; 12]; 3]; 4];
        for v in 0..4 {
            for axis in 0..3 {
                let row = &h[3 * v + axis];
                by_second[v][axis] = contracted(row, sites, FIRST, 4);
                if v < FIRST {
                    by_first[v][axis] = contracted(row, sites, 0, FIRST);
                }
            }
        }
        let (own, other) =
            if turned { (&mut self.bb, &mut self.aa) } else { (&mut self.aa, &mut self.bb) };
        for k in 0..4 {
            for axis in 0..3 {
                let r = 3 * k + axis;
                add(&mut own[r], &weighted(&by_first, &sites[..FIRST], k, axis));
                add(&mut other[r], &weighted(&by_second[FIRST..], &sites[FIRST..], k, axis));
                let across = weighted(&by_second[..FIRST], &sites[..FIRST], k, axis);
                if turned {
                    self.ab.iter_mut().zip(across).for_each(|(row, x)| row[r] += x);
                } else {
                    add(&mut self.ab[r], &across);
                }
            }
        }
    }
}

/// A row of `H J` in the columns of the body with the vertices `from..to`.
#[inline(always)]
fn contracted(row: &[f64; 12], sites: &[[f64; 4]; 4], from: usize, to: usize) -> [f64; 12] {
    let mut out = [0.0; 12];
    for k in 0..4 {
        for axis in 0..3 {
            let mut sum = sites[from][k] * row[3 * from + axis];
            for u in from + 1..to {
                sum += sites[u][k] * row[3 * u + axis];
            }
            out[3 * k + axis] = sum;
        }
    }
    out
}

/// What rows of `H J`, of one coordinate of each vertex, come to in the row of the body's vector `k`.
#[inline(always)]
fn weighted(rows: &[[[f64; 12]; 3]], sites: &[[f64; 4]], k: usize, axis: usize) -> [f64; 12] {
    let mut out = rows[0][axis].map(|x| sites[0][k] * x);
    for (row, site) in rows.iter().zip(sites).skip(1) {
        for (sum, x) in out.iter_mut().zip(&row[axis]) {
            *sum += site[k] * x;
        }
    }
    out
}

#[inline(always)]
fn add(sum: &mut [f64; 12], row: &[f64; 12]) {
    for (sum, x) in sum.iter_mut().zip(row) {
        *sum += x;
    }
}
