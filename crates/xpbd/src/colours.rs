//! Colours over pairs of bodies, and how a sweep visits them.
//!
//! A unit is corrected on copies of what it changes at its two ends. Serially they are stored at once;
//! in parallel a colour first corrects all its units and then stores, end by end. Units of a colour
//! share nothing that moves, so both give the same bits.

use std::{cmp::Reverse, ops::Range};

use rayon::prelude::*;
use taut_model::priority;

/// Units per task below which splitting a colour costs more than it gains.
const GRAIN: usize = 256;

/// A run of units with all that only they write; `T` is what they change at their ends.
pub(crate) trait Work<T>: Send + Sized {
    /// How many units.
    fn len(&self) -> usize;
    /// The units before `middle`, and the others.
    fn split(self, middle: usize) -> (Self, Self);
    /// Places of both ends of a unit.
    fn slots(&self, unit: usize) -> [u32; 2];
    /// Corrects a unit whose ends are as given; returns what becomes of them.
    fn correct(&mut self, unit: usize, ends: [T; 2]) -> [T; 2];
}

/// In which order units are visited, and which of them may be visited at once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Schedule {
    /// Whether the units of one colour share nothing that moves.
    independent: bool,
    /// First unit of each colour, and one past the last.
    colours: Vec<usize>,
    /// `(slot, 2 unit + side)` of every moving end, by slot within each colour.
    ends: Vec<(u32, u32)>,
    /// First of `ends` of each colour, and one past the last.
    colour_ends: Vec<usize>,
}

impl Schedule {
    /// Visits units one by one.
    pub(crate) fn serial() -> Self {
        Self::default()
    }

    /// Takes over units that are sorted by colour; buffers are kept.
    pub(crate) fn rebuild(
        &mut self,
        colours: impl ExactSizeIterator<Item = u32>,
        slots: impl Fn(usize) -> [u32; 2],
        moves: impl Fn(usize) -> bool,
    ) {
        self.independent = true;
        self.colours.clear();
        self.ends.clear();
        self.colour_ends.clear();
        let count = colours.len();
        for (unit, colour) in colours.enumerate() {
            while self.colours.len() <= colour as usize {
                self.close(unit);
            }
            let ends = slots(unit).into_iter().zip(0..);
            let moving = ends.filter(|&(slot, _)| moves(slot as usize));
            self.ends.extend(moving.map(|(slot, side)| (slot, 2 * narrow(unit) + side)));
        }
        self.close(count);
    }

    /// Ends the colour before `unit` and sorts its ends.
    fn close(&mut self, unit: usize) {
        let start = self.colour_ends.last().copied().unwrap_or(0);
        self.ends[start..].sort_unstable();
        self.colours.push(unit);
        self.colour_ends.push(self.ends.len());
    }

    /// Corrects every unit of `work` once; `staged` is room for what threads prepare.
    #[inline]
    pub(crate) fn sweep<T, W>(&self, work: W, items: &mut [T], staged: &mut Vec<[T; 2]>)
    where
        T: Copy + Send + Sync,
        W: Work<T>,
    {
        if !self.independent {
            one_by_one(work, items);
            return;
        }
        let threads = rayon::current_num_threads();
        let mut rest = work;
        for (colour, bounds) in self.colours.windows(2).enumerate() {
            let count = bounds[1] - bounds[0];
            let (now, later) = rest.split(count);
            if threads > 1 && count > 2 * GRAIN {
                self.at_once(colour, now, items, staged);
            } else {
                one_by_one(now, items);
            }
            rest = later;
        }
    }

    fn at_once<T, W>(&self, colour: usize, work: W, items: &mut [T], staged: &mut Vec<[T; 2]>)
    where
        T: Copy + Send + Sync,
        W: Work<T>,
    {
        let count = work.len();
        let nothing = items[0];
        staged.resize(staged.len().max(count), [nothing; 2]);
        stage(work, items, &mut staged[..count]);
        let first = self.colours[colour];
        let ends = &self.ends[self.colour_ends[colour]..self.colour_ends[colour + 1]];
        let staged = &*staged;
        items.par_chunks_mut(GRAIN).enumerate().for_each(|(chunk, items)| {
            let base = chunk * GRAIN;
            let from = |slot: usize| ends.partition_point(|&(own, _)| (own as usize) < slot);
            for &(slot, end) in &ends[from(base)..from(base + items.len())] {
                let (unit, side) = (end as usize / 2 - first, end as usize % 2);
                items[slot as usize - base] = staged[unit][side];
            }
        });
    }
}

#[inline]
fn one_by_one<T: Copy>(mut work: impl Work<T>, items: &mut [T]) {
    for unit in 0..work.len() {
        let [a, b] = work.slots(unit).map(|s| s as usize);
        let after = work.correct(unit, [items[a], items[b]]);
        (items[a], items[b]) = (after[0], after[1]);
    }
}

/// Corrects units of one colour into `staged`.
fn stage<T: Copy + Send + Sync, W: Work<T>>(mut work: W, items: &[T], staged: &mut [[T; 2]]) {
    if work.len() > GRAIN {
        let middle = work.len() / 2;
        let (before, after) = work.split(middle);
        let (staged_before, staged_after) = staged.split_at_mut(middle);
        rayon::join(|| stage(before, items, staged_before), || stage(after, items, staged_after));
        return;
    }
    for (unit, staged) in staged.iter_mut().enumerate() {
        let ends = work.slots(unit).map(|s| items[s as usize]);
        *staged = work.correct(unit, ends);
    }
}

/// Gives colours to units; keeps its buffers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Painter {
    /// Units from first to last coloured.
    order: Vec<u32>,
    /// Colours taken at each slot, 64 to a word.
    taken: Vec<Vec<u64>>,
    /// Colour of each unit.
    pub(crate) colours: Vec<u32>,
}

impl Painter {
    /// Greedy colours over units in the order of a hash of `key`, so that units of one colour share
    /// nothing that moves. The rule is the one of [`taut_model::Colouring`] over units.
    pub(crate) fn paint(
        &mut self,
        ends: &[[u32; 2]],
        slots: usize,
        key: impl Fn(usize) -> u32,
        moves: impl Fn(usize) -> bool,
    ) {
        let Self { order, taken, colours } = self;
        order.clear();
        order.extend(0..narrow(ends.len()));
        order.sort_unstable_by_key(|&i| (Reverse(priority(key(i as usize))), i));
        taken.resize(slots, vec![]);
        for words in &mut *taken {
            words.clear();
        }
        colours.clear();
        colours.resize(ends.len(), 0);
        for &unit in &*order {
            let [a, b] = ends[unit as usize].map(|s| s as usize);
            let word = |slot: usize, w: usize| taken[slot].get(w).copied().unwrap_or(0);
            let mut w = 0;
            while (word(a, w) | word(b, w)) == u64::MAX {
                w += 1;
            }
            let bit = (word(a, w) | word(b, w)).trailing_ones();
            colours[unit as usize] = 64 * narrow(w) + bit;
            for slot in [a, b].into_iter().filter(|&slot| moves(slot)) {
                if taken[slot].len() <= w {
                    taken[slot].resize(w + 1, 0);
                }
                taken[slot][w] |= 1 << bit;
            }
        }
    }
}

/// The part of `range` that starts at `first`, as a range of a slice that starts there too.
pub(crate) fn within(range: [u32; 2], first: u32) -> Range<usize> {
    (range[0] - first) as usize..(range[1] - first) as usize
}

pub(crate) fn narrow(i: usize) -> u32 {
    u32::try_from(i).expect("fewer than 2^31 joints and bodies")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_of_a_colour_share_nothing_that_moves() {
        // A row of bodies on an immovable floor, each touching the next and the floor.
        let count = 200;
        let ends: Vec<[u32; 2]> =
            (1..count).flat_map(|i| [[0, i], [i, (i + 1).min(count - 1)]]).collect();
        let ends: Vec<[u32; 2]> = ends.into_iter().filter(|e| e[0] != e[1]).collect();
        let mut painter = Painter::default();
        painter.paint(&ends, count as usize, narrow, |slot| slot > 0);
        for (i, first) in ends.iter().enumerate() {
            for (j, second) in ends.iter().enumerate().skip(i + 1) {
                let shared = first.iter().any(|s| *s > 0 && second.contains(s));
                assert!(!shared || painter.colours[i] != painter.colours[j]);
            }
        }
        assert!(painter.colours.iter().all(|&c| c < 5), "three units meet at a body");
    }
}
