//! How updates of fronts are added to those that take them.

use std::ops::Range;

use taut_math::{Fused, LANES, Number};

use super::{dense::lanes, index, plan::PlaceRun};

/// What a front has left for another: the lower triangle, in strips with `width` columns, and where its `runs` of rows lie
/// in the other.
pub(super) struct ChildUpdate<'a> {
    pub(super) numbers: &'a [f64],
    pub(super) width: usize,
    pub(super) runs: &'a [PlaceRun],
}

impl ChildUpdate<'_> {
    /// How many of the runs are columns of the other front; they come first.
    #[inline(always)]
    fn own_runs(&self) -> usize {
        self.runs.iter().take_while(|run| !run.below).count()
    }

    /// Adds what belongs to the columns of the other front, of which there are `wide`.
    #[inline(always)]
    pub(super) fn add_to_columns(&self, (square, below): (&mut [f64], &mut [f64]), wide: usize) {
        let own = self.own_runs();
        for at in 0..own {
            self.add_run(at, 0..at + 1, square, wide);
        }
        for at in own..self.runs.len() {
            self.add_run(at, 0..own, below, wide);
        }
    }

    /// Adds the rest to its update, of so many columns.
    #[inline(always)]
    pub(super) fn add_to_update(&self, update: &mut [f64], columns: usize) {
        let own = self.own_runs();
        for at in own..self.runs.len() {
            self.add_run(at, own..at + 1, update, columns);
        }
    }

    /// Adds the rows of a run, in the columns of others, to strips that have so many columns.
    #[inline(always)]
    fn add_run(&self, at: usize, columns: Range<usize>, target: &mut [f64], wide: usize) {
        let (run, width) = (&self.runs[at], self.width);
        let (mut row, end) = (run.first as usize, (run.first + run.count) as usize);
        while row < end {
            let place = run.place as usize + row - run.first as usize;
            // Strips that are all of one run go four rows at a time; others have a row added by itself.
            let whole = row % LANES == 0 && row + LANES <= end;
            let last = if whole { row + LANES } else { row + 1 };
            let strip = &self.numbers[row / LANES * width * LANES..][..width * LANES];
            for columns in &self.runs[columns.clone()] {
                let from = columns.first as usize;
                let to = last.min((columns.first + columns.count) as usize);
                let source = &strip[from * LANES..to * LANES];
                let target =
                    &mut target[index(place, columns.place as usize, wide) - place % LANES..];
                if whole {
                    add_rows(source, target, place % LANES, wide * LANES);
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
