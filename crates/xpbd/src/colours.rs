//! How a sweep visits units of two or more bodies, colour by colour.
//!
//! A unit is corrected on copies of what it changes at its ends. Serially they are stored at once;
//! in parallel a colour first corrects all its units and then stores, end by end. Units of a colour
//! share nothing that moves, so both give the same bits.

use std::ops::Range;

use rayon::prelude::*;
use taut_model::narrow;

/// Places per task below which splitting a loop over them costs more than it gains.
const GRAIN: usize = 256;

/// A run of units with all that only they write; `T` is what they change at their `ENDS` ends.
pub(crate) trait SweepWork<T, const ENDS: usize>: Send + Sized {
    /// What is at the ends of a unit.
    type Ends: Copy + Send + Sync;
    /// Units per task below which splitting a colour costs more than it gains.
    const GRAIN: usize;
    /// How many units.
    fn len(&self) -> usize;
    /// The units before `middle`, and the others.
    fn split(self, middle: usize) -> (Self, Self);
    /// Places of the ends of a unit.
    fn slots(&self, unit: usize) -> [u32; ENDS];
    /// What is at them.
    fn gather(&self, unit: usize, items: &[T]) -> Self::Ends;
    /// Corrects a unit whose ends are as given; returns what becomes of them.
    fn correct(&mut self, unit: usize, ends: Self::Ends) -> Self::Ends;
    /// One of them.
    fn end(ends: &Self::Ends, end: usize) -> T;
}

/// In which order units are visited, and which of them may be visited at once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Schedule<const ENDS: usize> {
    /// Whether the units of one colour share nothing that moves.
    independent: bool,
    /// First unit of each colour, and one past the last.
    colours: Vec<usize>,
    /// `(slot, ENDS unit + end)` of every moving end, by slot within each colour.
    ends: Vec<(u32, u32)>,
    /// First of `ends` of each colour, and one past the last.
    colour_ends: Vec<usize>,
}

impl<const ENDS: usize> Schedule<ENDS> {
    /// Visits units one by one.
    pub(crate) fn serial() -> Self {
        Self::default()
    }

    /// Takes over units that are sorted by colour; buffers are kept.
    pub(crate) fn rebuild(
        &mut self,
        colours: impl ExactSizeIterator<Item = u32>,
        slots: impl Fn(usize) -> [u32; ENDS],
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
            self.ends.extend(moving.map(|(slot, end)| (slot, narrow(ENDS * unit) + end)));
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
    pub(crate) fn sweep<T, W>(&self, work: W, items: &mut [T], staged: &mut Vec<W::Ends>)
    where
        T: Copy + Send + Sync,
        W: SweepWork<T, ENDS>,
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
            if threads > 1 && count > 2 * W::GRAIN {
                self.at_once(colour, now, items, staged);
            } else {
                one_by_one(now, items);
            }
            rest = later;
        }
    }

    fn at_once<T, W>(&self, colour: usize, work: W, items: &mut [T], staged: &mut Vec<W::Ends>)
    where
        T: Copy + Send + Sync,
        W: SweepWork<T, ENDS>,
    {
        let count = work.len();
        let filler = work.gather(0, items);
        staged.resize(staged.len().max(count), filler);
        stage(work, items, &mut staged[..count]);
        let first = self.colours[colour];
        let ends = &self.ends[self.colour_ends[colour]..self.colour_ends[colour + 1]];
        let staged = &*staged;
        items.par_chunks_mut(GRAIN).enumerate().for_each(|(chunk, items)| {
            let base = chunk * GRAIN;
            let from = |slot: usize| ends.partition_point(|&(own, _)| (own as usize) < slot);
            for &(slot, end) in &ends[from(base)..from(base + items.len())] {
                let (unit, end) = (end as usize / ENDS - first, end as usize % ENDS);
                items[slot as usize - base] = W::end(&staged[unit], end);
            }
        });
    }
}

#[inline]
fn one_by_one<T, W, const ENDS: usize>(mut work: W, items: &mut [T])
where
    W: SweepWork<T, ENDS>,
{
    for unit in 0..work.len() {
        let before = work.gather(unit, items);
        let after = work.correct(unit, before);
        for (end, slot) in work.slots(unit).into_iter().enumerate() {
            items[slot as usize] = W::end(&after, end);
        }
    }
}

/// Corrects units of one colour into `staged`.
fn stage<T, W, const ENDS: usize>(mut work: W, items: &[T], staged: &mut [W::Ends])
where
    T: Sync,
    W: SweepWork<T, ENDS>,
{
    if work.len() > W::GRAIN {
        let middle = work.len() / 2;
        let (before, after) = work.split(middle);
        let (staged_before, staged_after) = staged.split_at_mut(middle);
        rayon::join(|| stage(before, items, staged_before), || stage(after, items, staged_after));
        return;
    }
    for (unit, staged) in staged.iter_mut().enumerate() {
        let before = work.gather(unit, items);
        *staged = work.correct(unit, before);
    }
}

/// The part of `range` that starts at `first`, as a range of a slice that starts there too.
pub(crate) fn within(range: [u32; 2], first: u32) -> Range<usize> {
    (range[0] - first) as usize..(range[1] - first) as usize
}
