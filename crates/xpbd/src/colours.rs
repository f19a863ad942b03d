//! How a sweep visits units of two or more bodies, colour by colour.
//!
//! A unit is corrected on copies of what it changes at its ends. Units of a colour share nothing that moves, so that
//! one thread or several give the same bits.

use std::ops::Range;

use crate::exchange::{Cells, Exchange, Items, Places, Shared};

/// Of what a thread has left it corrects one part in so many, while others may take the rest.
const PIECES: usize = 4;

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
    type Ends;
    /// Takes it from where it is.
    fn gather(run: &U, unit: usize, items: &(impl Places<T> + ?Sized)) -> Self::Ends;
    /// Corrects a unit whose ends are as given; returns what becomes of them.
    fn correct(&self, run: &mut U, unit: usize, ends: Self::Ends) -> Self::Ends;
    /// One of the ends.
    fn end(ends: &Self::Ends, end: usize) -> T;
}

/// In which order units are visited, and which of them may be visited at once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Schedule {
    /// Whether the units of one colour share nothing that moves.
    independent: bool,
    /// First unit of each colour, and one past the last.
    colours: Vec<usize>,
}

impl Schedule {
    /// Visits units one by one.
    pub(crate) fn serial() -> Self {
        Self::default()
    }

    /// Takes over the colours of units, which are sorted by them; buffers are kept.
    pub(crate) fn rebuild(&mut self, colours: impl ExactSizeIterator<Item = u32>) {
        self.independent = true;
        self.colours.clear();
        let count = colours.len();
        for (unit, colour) in colours.enumerate() {
            while self.colours.len() <= colour as usize {
                self.colours.push(unit);
            }
        }
        self.colours.push(count);
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

    /// Whether any colour has so many units that several threads are worth it, if there are any.
    pub(crate) fn pays<U: UnitRun<ENDS>, const ENDS: usize>(&self) -> bool {
        let largest = self.colours.windows(2).map(|w| w[1] - w[0]).max().unwrap_or(0);
        self.independent && largest > 2 * U::GRAIN && rayon::current_num_threads() > 1
    }

    /// Corrects every unit of `run` once; `exchange` is room for what several threads change.
    #[inline]
    pub(crate) fn sweep<T, U, P, const ENDS: usize>(
        &self,
        pass: &P,
        run: U,
        items: &mut [T],
        exchange: &mut Exchange<T>,
    ) where
        T: Shared,
        U: UnitRun<ENDS>,
        P: UnitPass<T, U, ENDS>,
    {
        let count = run.len();
        exchange.change(items, self.pays::<U, ENDS>(), |items| {
            let mut rest = run;
            for colour in 0..self.count() {
                let (now, later) = rest.split(self.units(colour, count).len());
                items.sweep(pass, now);
                rest = later;
            }
        });
    }
}

impl<T: Shared> Items<'_, T> {
    /// Corrects the units of one colour once; `E` is what they change of an item.
    #[inline]
    pub(crate) fn sweep<E, U, P, const ENDS: usize>(&mut self, pass: &P, run: U)
    where
        U: UnitRun<ENDS>,
        P: UnitPass<E, U, ENDS>,
        [T]: Places<E>,
        for<'a> Cells<'a, T>: Places<E>,
    {
        match self {
            Self::Own(items) => one_by_one(pass, run, *items),
            Self::Exchanged(cells) => at_once(pass, run, *cells, rayon::current_num_threads()),
        }
    }
}

#[inline]
fn one_by_one<E, U, P, const ENDS: usize>(
    pass: &P,
    mut run: U,
    items: &mut (impl Places<E> + ?Sized),
) where
    U: UnitRun<ENDS>,
    P: UnitPass<E, U, ENDS>,
{
    for unit in 0..run.len() {
        let before = P::gather(&run, unit, items);
        let after = pass.correct(&mut run, unit, before);
        for (end, slot) in run.slots(unit).into_iter().enumerate() {
            items.put(slot, P::end(&after, end));
        }
    }
}

/// Each thread begins with a part of its own, so that what lies side by side stays with it from colour to colour.
fn at_once<T, E, U, P, const ENDS: usize>(pass: &P, run: U, cells: Cells<'_, T>, threads: usize)
where
    T: Shared,
    U: UnitRun<ENDS>,
    P: UnitPass<E, U, ENDS>,
    for<'a> Cells<'a, T>: Places<E>,
{
    if threads < 2 || run.len() <= U::GRAIN {
        return piecewise(pass, run, cells);
    }
    let (own, others) = (threads / 2, threads - threads / 2);
    let middle = run.len() * own / threads;
    let (before, after) = run.split(middle);
    rayon::join(|| at_once(pass, before, cells, own), || at_once(pass, after, cells, others));
}

/// Pieces get shorter towards the end, where a thread without work is to find some.
fn piecewise<T, E, U, P, const ENDS: usize>(pass: &P, run: U, mut cells: Cells<'_, T>)
where
    T: Shared,
    U: UnitRun<ENDS>,
    P: UnitPass<E, U, ENDS>,
    for<'a> Cells<'a, T>: Places<E>,
{
    if run.len() <= U::GRAIN {
        return one_by_one(pass, run, &mut cells);
    }
    let piece = (run.len() / PIECES).max(U::GRAIN);
    let (now, later) = run.split(piece);
    let now = || one_by_one(pass, now, &mut { cells });
    rayon::join(now, || piecewise(pass, later, cells));
}

/// The part of `range` that starts at `first`, as a range of a slice that starts there too.
pub(crate) fn within(range: [u32; 2], first: u32) -> Range<usize> {
    (range[0] - first) as usize..(range[1] - first) as usize
}
