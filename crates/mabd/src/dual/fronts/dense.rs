//! What is done with the dense numbers of a front, which are stored as strips of four rows, column after column.
//!
//! Of a square that is factorised the tiles on the diagonal become the inverses of their factors: multiplying by them takes
//! less time than dividing, where each column waits for the one before.
//!
//! The innermost loops read strips from their beginnings on, so that nothing need be packed. Two strips at a time, since
//! with three sums leave the registers. All of this must run in what `simd` dispatches; what has wider registers
//! is in [`quads`].

pub(super) mod quads;

use taut_math::{Fused, LANES, Number};

/// Numbers of a square tile.
pub(super) const TILE: usize = LANES * LANES;

/// What a pivot becomes that has not its sign: such a row says nothing new, and its multiplier vanishes.
const INFINITE: f64 = 1e100;

/// How many numbers strips of so many rows have that end where their diagonals do.
#[inline(always)]
pub(super) fn packed(rows: usize) -> usize {
    let strips = rows / LANES;
    TILE * strips * (strips + 1) / 2
}

/// Copies strips of `length` numbers without what lies beyond the diagonal.
#[inline(always)]
pub(super) fn pack(square: &[f64], length: usize, packed: &mut [f64]) {
    let mut rest = packed;
    for (strip, end) in square.chunks_exact(length).zip((TILE..).step_by(TILE)) {
        let (own, others) = rest.split_at_mut(end);
        own.copy_from_slice(&strip[..end]);
        rest = others;
    }
}

/// The first lanes of some numbers.
#[inline(always)]
pub(super) fn lanes(x: &[f64]) -> Fused {
    let mut out = [0.0; LANES];
    out.copy_from_slice(&x[..LANES]);
    Fused(out)
}

/// Four columns of a strip.
type Tile = [f64; TILE];

/// The whole tiles of a strip.
#[inline(always)]
fn tiles(strip: &[f64]) -> &[Tile] {
    strip.as_chunks().0
}

/// A column of a tile.
#[inline(always)]
fn column(tile: &Tile, k: usize) -> Fused {
    lanes(&tile[k * LANES..(k + 1) * LANES])
}

/// `left right^T` for one tile of each strip; `right` tells how many columns there are.
#[inline(always)]
fn product_tiles<const N: usize>(left: [&[f64]; N], right: &[f64]) -> [[Fused; LANES]; N] {
    let mut sums = [[Fused::ZERO; LANES]; N];
    let right = tiles(right);
    let left = left.map(|left| &tiles(left)[..right.len()]);
    for (t, right) in right.iter().enumerate() {
        for k in 0..LANES {
            let rows = left.map(|left| column(&left[t], k));
            for c in 0..LANES {
                let factor = Fused::of(right[k * LANES + c]);
                for n in 0..N {
                    sums[n][c] = rows[n].times_plus(factor, sums[n][c]);
                }
            }
        }
    }
    sums
}

/// A front whose square is factorised, and what is to be made of it.
pub(super) struct Rest<'a> {
    /// Strips of the square, their columns with their signs.
    pub(super) square: &'a [f64],
    /// Numbers of a strip.
    pub(super) length: usize,
    /// Signs of the columns, none where all are positive; and room for `below` with them, if there are.
    pub(super) signs: &'a [f64],
    pub(super) signed: &'a mut [f64],
    /// The strips below, and the lower triangle of what they leave. Tiles beside its diagonal may be filled with anything.
    pub(super) below: &'a mut [f64],
    pub(super) update: &'a mut [f64],
}

impl Rest<'_> {
    /// Eliminates the strips from `first` on, an even one, the others being done.
    #[inline(always)]
    fn eliminate_from(&mut self, first: usize) {
        let Self { square, length, signs, signed, below, update } = self;
        let length = *length;
        let others = &mut below[first * length..];
        for (strip, end) in square.chunks_exact(length).zip((TILE..).step_by(TILE)) {
            eliminate_below(others, length, &strip[..end]);
        }
        let right = if signs.is_empty() {
            &**below
        } else {
            sign_columns(others, signs, &mut signed[first * length..]);
            &signed[..below.len()]
        };
        let width = below.len() / length * TILE;
        let (left, out) = (&below[first * length..], &mut update[first * width..]);
        let pairs = left.chunks(2 * length).zip(out.chunks_mut(2 * width));
        for ((left, out), done) in pairs.zip((first + 2..).step_by(2)) {
            for (right, at) in right.chunks_exact(length).take(done).zip((0..).step_by(TILE)) {
                if left.len() > length {
                    let ((a, b), (x, y)) = (left.split_at(length), out.split_at_mut(width));
                    let [a, b] = product_tiles([a, b], right);
                    store_less(&a, &mut x[at..at + TILE]);
                    store_less(&b, &mut y[at..at + TILE]);
                } else {
                    let [a] = product_tiles([left], right);
                    store_less(&a, &mut out[at..at + TILE]);
                }
            }
        }
    }
}

/// Eliminates what is below the square of a front, and makes `-below below^T` its update, with signs of columns if there
/// are.
#[inline(always)]
pub(super) fn eliminate_rest(mut front: Rest<'_>) {
    front.eliminate_from(0);
}

/// Fills a tile with what is taken away.
#[inline(always)]
fn store_less(sums: &[Fused; LANES], tile: &mut [f64]) {
    for (sum, tile) in sums.iter().zip(tile.chunks_exact_mut(LANES)) {
        tile.copy_from_slice(&(-*sum).0);
    }
}

/// Takes the product of a strip's columns before a tile with others away from it.
#[inline(always)]
fn subtract_product(head: &[f64], right: &[f64], tile: &mut [f64]) {
    let [sums] = product_tiles([head], right);
    for (sum, tile) in sums.iter().zip(tile.chunks_exact_mut(LANES)) {
        tile.copy_from_slice(&(lanes(tile) - *sum).0);
    }
}

/// Takes the columns of strips that come before the last tile of `pivot`, times the same of this, away from their next
/// four columns, and multiplies those by the transpose of that tile, which is an inverse.
#[inline(always)]
fn eliminate<const N: usize>(strips: [&mut [f64]; N], pivot: &[f64]) {
    let Some((corner, right)) = tiles(pivot).split_last() else { return };
    let strips = strips.map(|strip| &mut strip.as_chunks_mut::<TILE>().0[..=right.len()]);
    let mut columns = [[Fused::ZERO; LANES]; N];
    for (columns, strip) in columns.iter_mut().zip(&strips) {
        for (c, to) in columns.iter_mut().enumerate() {
            *to = column(&strip[right.len()], c);
        }
    }
    for (t, right) in right.iter().enumerate() {
        for k in 0..LANES {
            let mut rows = [Fused::ZERO; N];
            for n in 0..N {
                rows[n] = column(&strips[n][t], k);
            }
            for c in 0..LANES {
                let factor = Fused::of(right[k * LANES + c]);
                for n in 0..N {
                    columns[n][c] = rows[n].times_less(factor, columns[n][c]);
                }
            }
        }
    }
    for n in 0..N {
        let tile = &mut strips[n][right.len()];
        for c in 0..LANES {
            let mut sum = columns[n][0] * Fused::of(corner[c]);
            for k in 1..LANES {
                if k <= c {
                    sum = columns[n][k].times_plus(Fused::of(corner[k * LANES + c]), sum);
                }
            }
            tile[c * LANES..(c + 1) * LANES].copy_from_slice(&sum.0);
        }
    }
}

/// Copies the columns of strips, each with its sign; `signs` has those of one strip.
#[inline(always)]
pub(super) fn sign_columns(strips: &[f64], signs: &[f64], signed: &mut [f64]) {
    if signs.is_empty() {
        return;
    }
    let length = signs.len() * LANES;
    for (strip, out) in strips.chunks_exact(length).zip(signed.chunks_exact_mut(length)) {
        let columns = strip.chunks_exact(LANES).zip(out.chunks_exact_mut(LANES));
        for ((column, out), sign) in columns.zip(signs) {
            out.copy_from_slice(&(lanes(column) * Fused::of(*sign)).0);
        }
    }
}

/// Replaces a tile by the inverse of `L`, where it is `L S L^T` with `signs` in `S`. Whether the pivots are positive and
/// finite that `square` makes of those times their signs.
#[inline(always)]
fn pivot(tile: &mut Tile, signs: [f64; LANES], square: impl Fn(f64) -> f64) -> bool {
    let mut good = true;
    // With ones in the diagonal of the factor first, since roots would wait for each other.
    let (mut unit, mut inverses) = ([[0.0; LANES]; LANES], [0.0; LANES]);
    for c in 0..LANES {
        for r in c..LANES {
            for k in 0..c {
                tile[c * LANES + r] -= tile[k * LANES + r] * unit[k][c];
            }
        }
        let square = square(signs[c] * tile[c * LANES + c]);
        good &= square > 0.0 && square.is_finite();
        inverses[c] = 1.0 / square;
        for r in c + 1..LANES {
            unit[c][r] = tile[c * LANES + r] * (signs[c] * inverses[c]);
        }
    }
    let scale = Fused(inverses).sqrt();
    for c in 0..LANES {
        let mut column = [0.0; LANES];
        column[c] = 1.0;
        for r in c + 1..LANES {
            for k in c..r {
                column[r] -= unit[k][r] * column[k];
            }
        }
        tile[c * LANES..(c + 1) * LANES].copy_from_slice(&(Fused(column) * scale).0);
    }
    good
}

/// Factorises the square of a front, of strips that have `length` numbers each. Whether it has a factor.
#[inline(always)]
pub(super) fn factorise(square: &mut [f64], length: usize) -> bool {
    for at in (0..length).step_by(TILE) {
        let (own, left) = square[at / TILE * length..].split_at_mut(length);
        let (head, tile) = own.split_at_mut(at);
        subtract_product(head, head, &mut tile[..TILE]);
        let Some(tile) = tile.first_chunk_mut() else { return false };
        if !pivot(tile, [1.0; LANES], |square| square) {
            return false;
        }
        eliminate_below(left, length, &own[..at + TILE]);
    }
    true
}

/// The same where the pivot of each column has its sign of `signs`; `signed` becomes the factor with these.
#[inline(always)]
pub(super) fn factorise_signed(square: &mut [f64], signs: &[f64], signed: &mut [f64]) {
    let length = signs.len() * LANES;
    for at in (0..length).step_by(TILE) {
        let signed = &mut signed[at / TILE * length..][..length];
        let (own, left) = square[at / TILE * length..].split_at_mut(length);
        let (head, tile) = own.split_at_mut(at);
        let (before, here) = signs[..(at + TILE) / LANES].split_at(at / LANES);
        sign_columns(head, before, signed);
        subtract_product(head, &signed[..at], &mut tile[..TILE]);
        let (Some(corner), Some(here)) = (tile.first_chunk_mut(), here.first_chunk()) else {
            return;
        };
        // A row whose pivot has not its sign says what others do, and counts for nothing. What is not a number stays so.
        pivot(corner, *here, |square| if square <= f64::MIN_POSITIVE { INFINITE } else { square });
        // Of an inverse rows have the signs.
        for (out, column) in
            signed[at..].chunks_exact_mut(LANES).zip(tile[..TILE].chunks_exact(LANES))
        {
            for r in 0..LANES {
                out[r] = column[r] * here[r];
            }
        }
        eliminate_below(left, length, &signed[..at + TILE]);
    }
}

/// See [`eliminate`], for all strips below.
#[inline(always)]
fn eliminate_below(strips: &mut [f64], length: usize, pivot: &[f64]) {
    let mut pairs = strips.chunks_exact_mut(2 * length);
    for pair in pairs.by_ref() {
        eliminate(pair.split_at_mut(length).into(), pivot);
    }
    for strip in pairs.into_remainder().chunks_exact_mut(length) {
        eliminate([strip], pivot);
    }
}

/// The product of a strip with `x`, whose length is a multiple of four.
#[inline(always)]
fn product(strip: &[f64], x: &[f64]) -> Fused {
    // Four sums, so that none waits for another, and one strip at a time, so that memory is read in one go.
    let mut sums = [Fused::ZERO; LANES];
    for (tile, x) in tiles(strip).iter().zip(x.chunks_exact(LANES)) {
        for c in 0..LANES {
            sums[c] = column(tile, c).times_plus(Fused::of(x[c]), sums[c]);
        }
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3])
}

/// Solves the packed columns of a front for `x`, of which the first `length / 4` are its own, and takes away from the
/// others what these make.
#[inline(always)]
pub(super) fn forwards(panel: &[f64], length: usize, x: &mut [f64]) {
    let (own, others) = x.split_at_mut(length / LANES);
    let (square, below) = panel.split_at(packed(length / LANES));
    for i in 0..length / TILE {
        let strip = &square[packed(i * LANES)..packed((i + 1) * LANES)];
        let (done, rest) = own.split_at_mut(i * LANES);
        let (tile, sum) = (&strip[i * TILE..(i + 1) * TILE], product(strip, done));
        let four = (lanes(rest) - sum).0;
        let mut solved = lanes(tile) * Fused::of(four[0]);
        for c in 1..LANES {
            solved = lanes(&tile[c * LANES..]).times_plus(Fused::of(four[c]), solved);
        }
        rest[..LANES].copy_from_slice(&solved.0);
    }
    let below = below.chunks_exact(length);
    for (strip, out) in below.zip(others.chunks_exact_mut(LANES)) {
        let sum = product(strip, own);
        for (out, sum) in out.iter_mut().zip(&sum.0) {
            *out -= sum;
        }
    }
}

/// `sums += strip^T x`, lane by lane.
#[inline(always)]
fn gather(strip: &[f64], x: Fused, sums: &mut [Fused]) {
    // By tiles, else compilers put columns side by side, which takes as many shuffles as products.
    for (tile, sums) in tiles(strip).iter().zip(sums.chunks_exact_mut(LANES)) {
        for (c, sum) in sums.iter_mut().enumerate() {
            *sum = column(tile, c).times_plus(x, *sum);
        }
    }
}

/// The same for two strips.
#[inline(always)]
fn gather_two(strips: [&[f64]; 2], x: [Fused; 2], sums: &mut [Fused]) {
    let tiles = tiles(strips[0]).iter().zip(tiles(strips[1]));
    for ((first, second), sums) in tiles.zip(sums.chunks_exact_mut(LANES)) {
        for (c, sum) in sums.iter_mut().enumerate() {
            *sum = column(first, c).times_plus(x[0], *sum);
            *sum = column(second, c).times_plus(x[1], *sum);
        }
    }
}

/// The same for the transposed factor: replaces the first `length / 4` of `x`, the others being known. `sums` is
/// room for as many.
#[inline(always)]
pub(super) fn backwards(panel: &[f64], length: usize, x: &mut [f64], sums: &mut [Fused]) {
    let (own, others) = x.split_at_mut(length / LANES);
    sums.fill(Fused::ZERO);
    let (square, below) = panel.split_at(packed(length / LANES));
    // Two strips at a time: to load and store the sums takes longer than the products.
    let pairs = below.chunks(2 * length).zip(others.chunks(2 * LANES));
    for (pair, x) in pairs {
        let (first, second) = pair.split_at(length);
        if second.is_empty() {
            gather(first, lanes(x), sums);
        } else {
            gather_two([first, second], [lanes(x), lanes(&x[LANES..])], sums);
        }
    }
    for i in (0..length / TILE).rev() {
        let strip = &square[packed(i * LANES)..packed((i + 1) * LANES)];
        let (tile, rest) = (&strip[i * TILE..], &mut own[i * LANES..][..LANES]);
        let mut left = [0.0; LANES];
        for c in 0..LANES {
            let [p, q, r, s] = sums[i * LANES + c].0;
            left[c] = rest[c] - ((p + q) + (r + s));
        }
        let mut four = [0.0; LANES];
        for c in 0..LANES {
            let [p, q, r, s] = (lanes(&tile[c * LANES..]) * Fused(left)).0;
            four[c] = (p + q) + (r + s);
        }
        rest.copy_from_slice(&four);
        gather(strip, Fused(four), &mut sums[..i * LANES]);
    }
}
