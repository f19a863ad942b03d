//! How updates of fronts are added to those that take them.

use taut_math::{Fused, LANES, Number};

use super::{dense::lanes, index, plan::PlaceRun};

/// Adds `numbers`, the lower triangle of what a front has left, in strips with `width` columns, to where its `runs` of
/// rows lie in another: to a panel of so many columns, and to an update.
#[inline(always)]
pub(super) fn add_update(
    numbers: &[f64],
    width: usize,
    runs: &[PlaceRun],
    (panel, wide): (&mut [f64], usize),
    (update, rest): (&mut [f64], usize),
) {
    for (at, run) in runs.iter().enumerate() {
        let (mut row, end) = (run.first as usize, (run.first + run.count) as usize);
        while row < end {
            let place = run.place as usize + row - run.first as usize;
            // Strips that are all of one run go four rows at a time; others have a row added by itself.
            let whole = row % LANES == 0 && row + LANES <= end;
            let last = if whole { row + LANES } else { row + 1 };
            let strip = &numbers[row / LANES * width * LANES..][..width * LANES];
            for columns in &runs[..=at] {
                let from = columns.first as usize;
                let to = last.min((columns.first + columns.count) as usize);
                let source = &strip[from * LANES..to * LANES];
                let (target, long) = match (run.below, columns.below) {
                    (true, true) => (&mut *update, rest),
                    (true, false) => (&mut panel[wide * wide..], wide),
                    (false, _) => (&mut *panel, wide),
                };
                let target =
                    &mut target[index(place, columns.place as usize, long) - place % LANES..];
                if whole {
                    add_rows(source, target, place % LANES, long * LANES);
                } else {
                    add_row(source, row % LANES, target, place % LANES);
                }
            }
            row = last;
        }
    }
}

/// Adds one row of a strip to one of another.
#[inline(always)]
fn add_row(source: &[f64], row: usize, target: &mut [f64], place: usize) {
    let target = &mut target[..source.len()];
    for (to, from) in target.chunks_exact_mut(LANES).zip(source.chunks_exact(LANES)) {
        to[place] += from[row];
    }
}

/// Adds a strip to the rows from `place` on of another and of the next one, which is `length` numbers later.
#[inline(always)]
fn add_rows(source: &[f64], target: &mut [f64], place: usize, length: usize) {
    match place {
        0 => {
            let target = &mut target[..source.len()];
            for (to, from) in target.chunks_exact_mut(LANES).zip(source.chunks_exact(LANES)) {
                to.copy_from_slice(&(lanes(to) + lanes(from)).0);
            }
        }
        1 => add_shifted::<1>(source, target, length),
        2 => add_shifted::<2>(source, target, length),
        _ => add_shifted::<3>(source, target, length),
    }
}

#[inline(always)]
fn add_shifted<const S: usize>(source: &[f64], target: &mut [f64], length: usize) {
    let (upper, lower) = target.split_at_mut(length);
    let (upper, lower) = (&mut upper[..source.len()], &mut lower[..source.len()]);
    let pairs = upper.chunks_exact_mut(LANES).zip(lower.chunks_exact_mut(LANES));
    for ((upper, lower), from) in pairs.zip(source.chunks_exact(LANES)) {
        let (mut first, mut second) = (Fused::ZERO, Fused::ZERO);
        first.0[S..].copy_from_slice(&from[..LANES - S]);
        second.0[..S].copy_from_slice(&from[LANES - S..]);
        upper.copy_from_slice(&(lanes(upper) + first).0);
        lower.copy_from_slice(&(lanes(lower) + second).0);
    }
}
