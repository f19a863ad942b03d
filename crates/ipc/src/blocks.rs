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
    let zero = [[0.0; 12]; 12];
    let mut out = BodyBlocks { aa: zero, ab: zero, bb: zero };
    for v in 0..4 {
        for axis in 0..3 {
            let row = &h[3 * v + axis];
            let second = contracted(row, sites, FIRST, 4);
            if v < FIRST {
                let first = contracted(row, sites, 0, FIRST);
                add(&mut out.aa, &sites[v], axis, &first);
                add(&mut out.ab, &sites[v], axis, &second);
            } else {
                add(&mut out.bb, &sites[v], axis, &second);
            }
        }
    }
    out
}

/// A row of `H J` in the columns of the body with the vertices `from..to`.
#[inline(always)]
fn contracted(row: &[f64; 12], sites: &[[f64; 4]; 4], from: usize, to: usize) -> [f64; 12] {
    let mut out = [0.0; 12];
    for u in from..to {
        for k in 0..4 {
            for axis in 0..3 {
                out[3 * k + axis] += sites[u][k] * row[3 * u + axis];
            }
        }
    }
    out
}

/// Adds a row of `H J`, of one coordinate of one vertex, to the rows that the vertex depends on.
#[inline(always)]
fn add(block: &mut [[f64; 12]; 12], site: &[f64; 4], axis: usize, row: &[f64; 12]) {
    for k in 0..4 {
        for (entry, x) in block[3 * k + axis].iter_mut().zip(row) {
            *entry += site[k] * x;
        }
    }
}
