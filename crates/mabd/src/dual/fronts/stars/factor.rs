//! The numbers of four stars side by side: a Cholesky factor by blocks of three rows, of the elements and of their tips.

use bytemuck::{Pod, Zeroable};
use taut_math::{Fused, LANES, Number};

use super::{ELEMENTS, NONE, ROWS, StarGroup};
use crate::lane::{Square, less, less_rows, pair};

/// Blocks in the lower triangle of a star's elements.
pub(super) const PAIRS: usize = ELEMENTS * (ELEMENTS + 1) / 2;

/// Numbers that four stars leave for their tips.
pub(super) const UPDATE: usize = PAIRS * ROWS * ROWS * LANES;

/// A block of each of four stars, by rows.
type StarTile = Square<ROWS>;

/// Rows of the elements, or of the tips.
pub(super) type StarRows = [[Fused; ROWS]; ELEMENTS];

const ZERO: StarTile = [[Fused::ZERO; ROWS]; ROWS];

/// What a tile of one star is where there is nothing, beside the diagonal and on it.
const NOTHING: [f64; ROWS * ROWS] = [0.0; ROWS * ROWS];
const IDENTITY: [f64; ROWS * ROWS] = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];

/// The lower triangle of the elements, with inverses of pivots in its diagonal, and of each tip the columns from its
/// element on.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(super) struct StarFactor {
    own: [StarTile; PAIRS],
    /// By columns; each has so many tips as elements are not after it.
    tips: [StarTile; PAIRS],
}

/// A block of the matrix for each lane, another where there is none.
#[inline(always)]
fn tile(values: &[f64], at: [u32; LANES], none: &[f64; ROWS * ROWS]) -> StarTile {
    let mut lanes = [none; LANES];
    for (lane, &at) in lanes.iter_mut().zip(&at) {
        if at != NONE {
            *lane = values[at as usize..].first_chunk().unwrap_or(none);
        }
    }
    let [a, b, c, d] = lanes;
    let mut tile = ZERO;
    for (k, out) in tile.as_flattened_mut().iter_mut().enumerate() {
        *out = Fused([a[k], b[k], c[k], d[k]]);
    }
    tile
}

/// `target -= left right^T`.
#[inline(always)]
fn subtract_product(target: &mut StarTile, left: &StarTile, right: &StarTile) {
    for (target, left) in target.iter_mut().zip(left) {
        for (target, right) in target.iter_mut().zip(right) {
            *target = less(left, right, *target);
        }
    }
}

/// Factorises a tile and puts the inverses of the pivots into its diagonal. Whether they are positive.
#[inline(always)]
fn factorise(tile: &mut StarTile) -> bool {
    let mut good = true;
    for c in 0..ROWS {
        for r in c..ROWS {
            for k in 0..c {
                tile[r][c] = tile[r][k].times_less(tile[c][k], tile[r][c]);
            }
        }
        let square = tile[c][c];
        good &= Fused::ZERO.all_below(square) & square.all_below(Fused::of(f64::INFINITY));
        let inverse = Fused::ONE / square.sqrt();
        for row in &mut tile[c + 1..] {
            row[c] = row[c] * inverse;
        }
        tile[c][c] = inverse;
    }
    good
}

/// Replaces a row by what, times the transpose of a factorised corner, it is.
#[inline(always)]
fn divide(row: &mut [Fused; ROWS], corner: &StarTile) {
    for c in 0..ROWS {
        for k in 0..c {
            row[c] = row[k].times_less(corner[c][k], row[c]);
        }
        row[c] = row[c] * corner[c][c];
    }
}

impl StarFactor {
    /// The matrix, its diagonal entries times `raised`.
    #[inline(always)]
    pub(super) fn gather(&mut self, group: &StarGroup, values: &[f64], raised: Fused) {
        for i in 0..ELEMENTS {
            for j in 0..i {
                self.own[pair(i, j)] = tile(values, group.own[pair(i, j)], &NOTHING);
            }
            let mut own = tile(values, group.own[pair(i, i)], &IDENTITY);
            for (r, row) in own.iter_mut().enumerate() {
                row[r] = row[r] * raised;
            }
            self.own[pair(i, i)] = own;
            self.tips[pair(i, i)] = tile(values, group.tips[i], &NOTHING);
        }
    }

    /// Factorises it. Whether all pivots are positive.
    #[inline(always)]
    pub(super) fn factorise(&mut self) -> bool {
        let Self { own, tips } = self;
        let mut good = true;
        for j in 0..ELEMENTS {
            let mut corner = own[pair(j, j)];
            for k in 0..j {
                subtract_product(&mut corner, &own[pair(j, k)], &own[pair(j, k)]);
            }
            good &= factorise(&mut corner);
            own[pair(j, j)] = corner;
            for i in j + 1..ELEMENTS {
                let mut tile = own[pair(i, j)];
                for k in 0..j {
                    subtract_product(&mut tile, &own[pair(i, k)], &own[pair(j, k)]);
                }
                tile.iter_mut().for_each(|row| divide(row, &corner));
                own[pair(i, j)] = tile;
            }
            for t in 0..j {
                let mut tile = ZERO;
                for k in t..j {
                    subtract_product(&mut tile, &tips[pair(k, t)], &own[pair(j, k)]);
                }
                tile.iter_mut().for_each(|row| divide(row, &corner));
                tips[pair(j, t)] = tile;
            }
            tips[pair(j, j)].iter_mut().for_each(|row| divide(row, &corner));
        }
        good
    }

    /// Makes `update` what is left for the tips.
    #[inline(always)]
    pub(super) fn leave(&self, update: &mut [f64]) {
        let tiles = update.as_chunks_mut::<{ ROWS * ROWS * LANES }>().0;
        for t in 0..ELEMENTS {
            for u in 0..=t {
                let mut tile = ZERO;
                for j in t..ELEMENTS {
                    subtract_product(&mut tile, &self.tips[pair(j, t)], &self.tips[pair(j, u)]);
                }
                let out = tiles[pair(t, u)].as_chunks_mut().0;
                for (out, number) in out.iter_mut().zip(tile.as_flattened()) {
                    *out = number.0;
                }
            }
        }
    }

    /// Solves for the rows of elements, and takes away from those of `tips` what they make.
    #[inline(always)]
    pub(super) fn forwards(&self, own: &mut StarRows, tips: &mut StarRows) {
        for j in 0..ELEMENTS {
            let mut rows = own[j];
            for (k, own) in own[..j].iter().enumerate() {
                rows = less_times(&self.own[pair(j, k)], own, rows);
            }
            divide(&mut rows, &self.own[pair(j, j)]);
            own[j] = rows;
            for (t, tip) in tips[..=j].iter_mut().enumerate() {
                *tip = less_times(&self.tips[pair(j, t)], &rows, *tip);
            }
        }
    }

    /// Solves for the rows of elements with the transpose, the `tips` being known.
    #[inline(always)]
    pub(super) fn backwards(&self, own: &mut StarRows, tips: &StarRows) {
        for j in (0..ELEMENTS).rev() {
            let mut rows = own[j];
            for (t, tip) in tips[..=j].iter().enumerate() {
                rows = less_rows(tip, &self.tips[pair(j, t)], rows);
            }
            for (i, own) in own.iter().enumerate().skip(j + 1) {
                rows = less_rows(own, &self.own[pair(i, j)], rows);
            }
            let corner = &self.own[pair(j, j)];
            for c in (0..ROWS).rev() {
                for k in c + 1..ROWS {
                    rows[c] = rows[k].times_less(corner[k][c], rows[c]);
                }
                rows[c] = rows[c] * corner[c][c];
            }
            own[j] = rows;
        }
    }
}

/// `c - tile x`.
#[inline(always)]
fn less_times(tile: &StarTile, x: &[Fused; ROWS], mut c: [Fused; ROWS]) -> [Fused; ROWS] {
    for (c, row) in c.iter_mut().zip(tile) {
        *c = less(row, x, *c);
    }
    c
}
