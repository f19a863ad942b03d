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

/// A run of units with all that only they write.
pub(crate) trait UnitRun<const ENDS: usize>: Send + Sized {
    /// Units per task below which splitting a colour costs more than it gains.
    const GRAIN: usize;
    /// How many units.
    fn len(&self) -> usize;
    /// The units before `middle`, and the others.
    fn split(self, middle: usize) -> (Self, Self);
    /// Places of the ends of a unit.
    fn slots(&self, unit: usize) -> [u32; ENDS];
}

/// A unit with all that only it writes.
pub(crate) trait SlottedUnit<const ENDS: usize>: Send {
    /// See [`UnitRun::GRAIN`].
    const GRAIN: usize;
    /// Places of its ends.
    fn slots(&self) -> [u32; ENDS];
}

/// A run of units that lie one after the other.
pub(crate) struct UnitSlice<'a, U>(pub(crate) &'a mut [U]);

impl<U: SlottedUnit<ENDS>, const ENDS: usize> UnitRun<ENDS> for UnitSlice<'_, U> {
    const GRAIN: usize = U::GRAIN;

    fn len(&self) -> usize {
        self.0.len()
    }

    fn split(self, middle: usize) -> (Self, Self) {
        let (before, after) = self.0.split_at_mut(middle);
        (Self(before), Self(after))
    }

    #[inline(always)]
    fn slots(&self, unit: usize) -> [u32; ENDS] {
        self.0[unit].slots()
    }
}

/// What a sweep does to each unit of a run; `T` is what it changes at their ends.
pub(crate) trait UnitPass<T, U, const ENDS: usize>: Sync {
    /// What is at the ends of a unit.
    type Ends: Copy + Send + Sync;
    /// Takes it from where it is.
    fn gather(run: &U, unit: usize, items: &[T]) -> Self::Ends;
    /// Corrects a unit whose ends are as given; returns what becomes of them.
    fn correct(&self, run: &mut U, unit: usize, ends: Self::Ends) -> Self::Ends;
    /// One of the ends.
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

    /// How many colours; one of units that are visited one by one.
    pub(crate) fn count(&self) -> usize {
        if self.independent { self.colours.len().saturating_sub(1) } else { 1 }
    }

    /// The units of a colour, of so many in all; none of colours that there are not.
    pub(crate) fn units(&self, colour: usize, all: usize) -> Range<usize> {
        match &self.colours[..] {
            _ if !self.independent => 0..all,
            colours if colour + 1 < colours.len() => colours[colour]..colours[colour + 1],
            _ => all..all,
        }
    }

    /// Corrects every unit of `run` once; `staged` is room for what threads prepare.
    #[inline]
    pub(crate) fn sweep<T, U, P>(
        &self,
        pass: &P,
        run: U,
        items: &mut [T],
        staged: &mut Vec<P::Ends>,
    ) where
        T: Copy + Send + Sync,
        U: UnitRun<ENDS>,
        P: UnitPass<T, U, ENDS>,
    {
        let count = run.len();
        let mut rest = run;
        for colour in 0..self.count() {
            let (now, later) = rest.split(self.units(colour, count).len());
            self.sweep_colour(colour, pass, now, items, staged);
            rest = later;
        }
    }

    /// Corrects the units of one colour once, which are those of `run`.
    #[inline]
    pub(crate) fn sweep_colour<T, U, P>(
        &self,
        colour: usize,
        pass: &P,
        run: U,
        items: &mut [T],
        staged: &mut Vec<P::Ends>,
    ) where
        T: Copy + Send + Sync,
        U: UnitRun<ENDS>,
        P: UnitPass<T, U, ENDS>,
    {
        let at_once_from = 2 * U::GRAIN;
        if self.independent && rayon::current_num_threads() > 1 && run.len() > at_once_from {
            let ends = &self.ends[self.colour_ends[colour]..self.colour_ends[colour + 1]];
            at_once(pass, run, self.colours[colour], ends, items, staged);
        } else {
            one_by_one(pass, run, items);
        }
    }
}

#[inline]
fn one_by_one<T, U, P, const ENDS: usize>(pass: &P, mut run: U, items: &mut [T])
where
    U: UnitRun<ENDS>,
    P: UnitPass<T, U, ENDS>,
{
    for unit in 0..run.len() {
        let before = P::gather(&run, unit, items);
        let after = pass.correct(&mut run, unit, before);
        for (end, slot) in run.slots(unit).into_iter().enumerate() {
            items[slot as usize] = P::end(&after, end);
        }
    }
}

/// Corrects a colour whose first unit is `first` and whose moving ends are `ends`.
fn at_once<T, U, P, const ENDS: usize>(
    pass: &P,
    run: U,
    first: usize,
    ends: &[(u32, u32)],
    items: &mut [T],
    staged: &mut Vec<P::Ends>,
) where
    T: Copy + Send + Sync,
    U: UnitRun<ENDS>,
    P: UnitPass<T, U, ENDS>,
{
    let count = run.len();
    let filler = P::gather(&run, 0, items);
    staged.resize(staged.len().max(count), filler);
    stage(pass, run, items, &mut staged[..count]);
    let staged = &*staged;
    // In few parts: each of them looks for its first end.
    let size = items.len().div_ceil(4 * rayon::current_num_threads()).max(GRAIN);
    items.par_chunks_mut(size).enumerate().for_each(|(chunk, items)| {
        let base = chunk * size;
        let from = |slot: usize| ends.partition_point(|&(own, _)| (own as usize) < slot);
        for &(slot, end) in &ends[from(base)..from(base + items.len())] {
            let (unit, end) = (end as usize / ENDS - first, end as usize % ENDS);
            items[slot as usize - base] = P::end(&staged[unit], end);
        }
    });
}

/// Corrects units of one colour into `staged`.
fn stage<T, U, P, const ENDS: usize>(pass: &P, mut run: U, items: &[T], staged: &mut [P::Ends])
where
    T: Sync,
    U: UnitRun<ENDS>,
    P: UnitPass<T, U, ENDS>,
{
    if run.len() > U::GRAIN {
        let middle = run.len() / 2;
        let (before, after) = run.split(middle);
        let (staged_before, staged_after) = staged.split_at_mut(middle);
        rayon::join(
            || stage(pass, before, items, staged_before),
            || stage(pass, after, items, staged_after),
        );
        return;
    }
    for (unit, staged) in staged.iter_mut().enumerate() {
        let before = P::gather(&run, unit, items);
        *staged = pass.correct(&mut run, unit, before);
    }
}

/// The part of `range` that starts at `first`, as a range of a slice that starts there too.
pub(crate) fn within(range: [u32; 2], first: u32) -> Range<usize> {
    (range[0] - first) as usize..(range[1] - first) as usize
}
