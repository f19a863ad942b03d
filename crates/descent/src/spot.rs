//! Where nodes are, as energies between particles read it.

use taut_math::{Number, Real, V3, Wide};

/// Where a node is, apart from all else that a node has: corners look at many. A register each, whose last lane is zero.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spot<R: Real> {
    /// At the step's start [m].
    place: R::Wide,
    /// How far it has moved since [m].
    step: R::Wide,
}

impl<R: Real> Default for Spot<R> {
    fn default() -> Self {
        Self { place: R::Wide::ZERO, step: R::Wide::ZERO }
    }
}

impl<R: Real> Spot<R> {
    /// Where the node is at the step's start [m].
    #[inline]
    pub(crate) fn place(&self) -> V3<R> {
        of_lanes::<R>(self.place)
    }

    /// How far it has moved since [m].
    #[inline]
    pub(crate) fn step(&self) -> V3<R> {
        of_lanes::<R>(self.step)
    }

    /// The way to another node [m].
    #[inline(always)]
    pub(crate) fn to(&self, other: &Self) -> R::Wide {
        (other.place - self.place) + (other.step - self.step)
    }

    #[inline]
    pub(crate) fn put_place(&mut self, place: V3<R>) {
        self.place = in_lanes::<R>(place);
    }

    #[inline]
    pub(crate) fn put_step(&mut self, step: V3<R>) {
        self.step = in_lanes::<R>(step);
    }
}

#[inline(always)]
fn in_lanes<R: Real>(V3([x, y, z]): V3<R>) -> R::Wide {
    R::Wide::from_lanes([x, y, z, R::ZERO])
}

#[inline(always)]
fn of_lanes<R: Real>(lanes: R::Wide) -> V3<R> {
    let [x, y, z, _] = lanes.lanes();
    V3([x, y, z])
}
