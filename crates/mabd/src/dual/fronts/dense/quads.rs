//! What is left of a large front when its square is factorised, where registers hold eight numbers: four strips at a time,
//! side by side, so that two registers have a column of them.
//!
//! Numbers are subtracted in the order of the functions without quads, so that the bits are theirs.

use multiversion::{multiversion, target::match_target};
use taut_math::LANES;

use super::{Rest, TILE, sign_columns};

/// Strips, and their rows, that are taken together.
const STRIPS: usize = 4;
pub(in super::super) const ROWS: usize = STRIPS * LANES;

/// Numbers in a register.
const WIDE: usize = 2 * LANES;

/// One column of two strips.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Eight([f64; WIDE]);

impl Eight {
    const ZERO: Self = Self([0.0; WIDE]);

    #[inline(always)]
    fn new(x: &[f64]) -> Self {
        let mut out = [0.0; WIDE];
        out.copy_from_slice(&x[..WIDE]);
        Self(out)
    }

    /// `self * factor + sum`, rounded once.
    #[inline(always)]
    fn times_plus(self, factor: f64, sum: Self) -> Self {
        let mut out = sum.0;
        for (out, x) in out.iter_mut().zip(&self.0) {
            *out = x.mul_add(factor, *out);
        }
        Self(out)
    }

    /// `sum - self * factor`, rounded once.
    #[inline(always)]
    fn times_less(self, factor: f64, sum: Self) -> Self {
        let mut out = sum.0;
        for (out, x) in out.iter_mut().zip(&self.0) {
            *out = (-x).mul_add(factor, *out);
        }
        Self(out)
    }

    #[inline(always)]
    fn times(self, factor: f64) -> Self {
        let mut out = self.0;
        for out in &mut out {
            *out *= factor;
        }
        Self(out)
    }
}

/// Whether the processor has registers of eight numbers, and is not slowed down by using them.
#[multiversion(targets("x86_64+avx512f"))]
pub(in super::super) fn available() -> bool {
    match_target! {
        "x86_64+avx512f" => true,
        _ => false,
    }
}

/// What [`super::eliminate_rest`] does; `room` is that of [`ROWS`] rows of the square.
#[multiversion(targets("x86_64+avx512f"))]
pub(in super::super) fn eliminate_rest(mut front: Rest<'_>, room: &mut [f64]) {
    let Rest { square, length, signs, .. } = front;
    let room = &mut room[..STRIPS * length];
    let strips = front.below.len() / length;
    let width = strips * TILE;
    let whole = strips / STRIPS * STRIPS;
    for first in (0..whole).step_by(STRIPS) {
        let (at, end) = (first * length, (first + STRIPS) * length);
        pack(&front.below[at..end], length, room);
        for (strip, end) in square.chunks_exact(length).zip((TILE..).step_by(TILE)) {
            eliminate(room, &strip[..end]);
        }
        unpack(room, length, &mut front.below[at..end]);
        let right = if signs.is_empty() {
            &front.below[..end]
        } else {
            sign_columns(&front.below[at..end], signs, &mut front.signed[at..end]);
            &front.signed[..end]
        };
        let out = &mut front.update[first * width..(first + STRIPS) * width];
        for (right, at) in right.chunks_exact(2 * length).zip((0..).step_by(2 * TILE)) {
            store_less_product(room, right.split_at(length), out, width, at);
        }
    }
    front.eliminate_from(whole);
}

/// Puts strips side by side.
#[inline(always)]
fn pack(strips: &[f64], length: usize, packed: &mut [f64]) {
    for (n, strip) in strips.chunks_exact(length).enumerate() {
        for (to, from) in packed.chunks_exact_mut(ROWS).zip(strip.chunks_exact(LANES)) {
            to[n * LANES..(n + 1) * LANES].copy_from_slice(from);
        }
    }
}

/// The inverse.
#[inline(always)]
fn unpack(packed: &[f64], length: usize, strips: &mut [f64]) {
    for (n, strip) in strips.chunks_exact_mut(length).enumerate() {
        for (to, from) in strip.chunks_exact_mut(LANES).zip(packed.chunks_exact(ROWS)) {
            to.copy_from_slice(&from[n * LANES..(n + 1) * LANES]);
        }
    }
}

/// See [`super::eliminate`].
#[inline(always)]
fn eliminate(packed: &mut [f64], pivot: &[f64]) {
    let at = pivot.len() - TILE;
    let (right, corner) = pivot.split_at(at);
    let (done, tail) = packed.split_at_mut(STRIPS * at);
    let mut columns = [[Eight::ZERO; 2]; LANES];
    for (column, tail) in columns.iter_mut().zip(tail.chunks_exact(ROWS)) {
        *column = [Eight::new(tail), Eight::new(&tail[WIDE..])];
    }
    for (rows, right) in done.chunks_exact(ROWS).zip(right.chunks_exact(LANES)) {
        let rows = [Eight::new(rows), Eight::new(&rows[WIDE..])];
        for c in 0..LANES {
            for n in 0..2 {
                columns[c][n] = rows[n].times_less(right[c], columns[c][n]);
            }
        }
    }
    for c in 0..LANES {
        for n in 0..2 {
            let mut sum = columns[0][n].times(corner[c]);
            for k in 1..LANES {
                if k <= c {
                    sum = columns[k][n].times_plus(corner[k * LANES + c], sum);
                }
            }
            tail[c * ROWS + n * WIDE..][..WIDE].copy_from_slice(&sum.0);
        }
    }
}

/// Makes two tiles, which begin at `at`, of each strip of `out`, `width` numbers long, what the product of strips that lie
/// side by side with two others takes away.
#[inline(always)]
fn store_less_product(
    packed: &[f64],
    right: (&[f64], &[f64]),
    out: &mut [f64],
    width: usize,
    at: usize,
) {
    let mut sums = [[Eight::ZERO; 2]; 2 * LANES];
    let right = right.0.chunks_exact(LANES).zip(right.1.chunks_exact(LANES));
    for (rows, (first, second)) in packed.chunks_exact(ROWS).zip(right) {
        let rows = [Eight::new(rows), Eight::new(&rows[WIDE..])];
        for c in 0..LANES {
            for n in 0..2 {
                sums[c][n] = rows[n].times_plus(first[c], sums[c][n]);
                sums[LANES + c][n] = rows[n].times_plus(second[c], sums[LANES + c][n]);
            }
        }
    }
    for c in 0..2 * LANES {
        for n in 0..2 {
            let sums = sums[c][n].0;
            for half in 0..2 {
                let out = &mut out[(2 * n + half) * width + at + c * LANES..][..LANES];
                for r in 0..LANES {
                    out[r] = 0.0 - sums[half * LANES + r];
                }
            }
        }
    }
}
