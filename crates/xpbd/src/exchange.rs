//! Where units find what they change: in a slice of one thread, or in cells that several read and write.
//!
//! Cells make no order among threads. None is needed: within a colour what moves is changed by one unit alone, and what
//! does not move is put back as it was.

use rayon::prelude::*;
use taut_math::{Q4, Real, V3};
use taut_model::{Pose, Velocity};

/// Items per task below which splitting a copy of them costs more than it gains.
const GRAIN: usize = 4096;

/// Things by their places.
pub(crate) trait Places<T> {
    /// What is there.
    fn at(&self, slot: u32) -> T;
    /// Puts something there.
    fn put(&mut self, slot: u32, item: T);
}

/// What several threads may change at once.
pub(crate) trait Shared: Copy + Send + Sync {
    /// Holds one of them.
    type Cell: Send + Sync;
    /// A cell that holds this one.
    fn cell(self) -> Self::Cell;
    /// What a cell holds.
    fn load(cell: &Self::Cell) -> Self;
    /// Has a cell hold this one.
    fn store(self, cell: &Self::Cell);
}

/// Room for what several threads change.
#[derive(Debug)]
pub(crate) struct Exchange<T: Shared>(Vec<T::Cell>);

/// What a sweep changes.
pub(crate) enum Items<'a, T: Shared> {
    /// By one thread.
    Own(&'a mut [T]),
    /// By several.
    Exchanged(Cells<'a, T>),
}

/// Cells by their places.
pub(crate) struct Cells<'a, T: Shared>(&'a [T::Cell]);

impl<T: Shared> Clone for Cells<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Shared> Copy for Cells<'_, T> {}

impl<T: Shared> Default for Exchange<T> {
    fn default() -> Self {
        Self(vec![])
    }
}

impl<T: Shared> Exchange<T> {
    /// Has `sweep` change items, by several threads if so told.
    #[inline]
    pub(crate) fn change(
        &mut self,
        items: &mut [T],
        by_several: bool,
        sweep: impl FnOnce(&mut Items<'_, T>),
    ) {
        if !by_several {
            return sweep(&mut Items::Own(items));
        }
        let Self(cells) = self;
        cells.truncate(items.len());
        let known = cells.len();
        let pairs = cells.par_iter().zip(&items[..known]).with_min_len(GRAIN);
        pairs.for_each(|(cell, &item)| item.store(cell));
        cells.extend(items[known..].iter().map(|&item| item.cell()));
        sweep(&mut Items::Exchanged(Cells(cells)));
        let pairs = items.par_iter_mut().zip(&*cells).with_min_len(GRAIN);
        pairs.for_each(|(item, cell)| *item = T::load(cell));
    }
}

impl<T: Copy> Places<T> for [T] {
    #[inline(always)]
    fn at(&self, slot: u32) -> T {
        self[slot as usize]
    }

    #[inline(always)]
    fn put(&mut self, slot: u32, item: T) {
        self[slot as usize] = item;
    }
}

impl<T: Shared> Places<T> for Cells<'_, T> {
    #[inline(always)]
    fn at(&self, slot: u32) -> T {
        T::load(&self.0[slot as usize])
    }

    #[inline(always)]
    fn put(&mut self, slot: u32, item: T) {
        item.store(&self.0[slot as usize]);
    }
}

/// Particles are not turned, and keep their rotation.
impl<R: Real> Places<V3<R>> for [Pose<R>] {
    #[inline(always)]
    fn at(&self, slot: u32) -> V3<R> {
        self[slot as usize].position
    }

    #[inline(always)]
    fn put(&mut self, slot: u32, position: V3<R>) {
        self[slot as usize].position = position;
    }
}

impl<R: Real> Places<V3<R>> for Cells<'_, Pose<R>> {
    #[inline(always)]
    fn at(&self, slot: u32) -> V3<R> {
        V3::load(&self.0[slot as usize].0)
    }

    #[inline(always)]
    fn put(&mut self, slot: u32, position: V3<R>) {
        position.store(&self.0[slot as usize].0);
    }
}

impl<R: Real> Shared for V3<R> {
    type Cell = [R::Cell; 3];

    #[inline(always)]
    fn cell(self) -> Self::Cell {
        self.0.map(R::cell)
    }

    #[inline(always)]
    fn load(cell: &Self::Cell) -> Self {
        Self(cell.each_ref().map(R::load))
    }

    #[inline(always)]
    fn store(self, cell: &Self::Cell) {
        for (own, cell) in self.0.into_iter().zip(cell) {
            own.store(cell);
        }
    }
}

impl<R: Real> Shared for Pose<R> {
    type Cell = ([R::Cell; 3], [R::Cell; 3], R::Cell);

    #[inline(always)]
    fn cell(self) -> Self::Cell {
        (self.position.cell(), self.rotation.v.cell(), self.rotation.w.cell())
    }

    #[inline(always)]
    fn load((position, v, w): &Self::Cell) -> Self {
        Self { position: V3::load(position), rotation: Q4 { v: V3::load(v), w: R::load(w) } }
    }

    #[inline(always)]
    fn store(self, (position, v, w): &Self::Cell) {
        self.position.store(position);
        self.rotation.v.store(v);
        self.rotation.w.store(w);
    }
}

impl<R: Real> Shared for Velocity<R> {
    type Cell = [[R::Cell; 3]; 2];

    #[inline(always)]
    fn cell(self) -> Self::Cell {
        [self.linear.cell(), self.angular.cell()]
    }

    #[inline(always)]
    fn load([linear, angular]: &Self::Cell) -> Self {
        Self { linear: V3::load(linear), angular: V3::load(angular) }
    }

    #[inline(always)]
    fn store(self, [linear, angular]: &Self::Cell) {
        self.linear.store(linear);
        self.angular.store(angular);
    }
}
