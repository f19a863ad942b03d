//! Energies of one kind and colour between particles, as many at a time as there are lanes.
//!
//! They share nothing that moves, so this gives the bits that one after the other would.

use taut_core::energy::{ENDS_MAX, PerRow, Points, ROWS_MAX, SideBySide};
use taut_math::{LANES, Number, Real, V3, Wide};
use taut_model::Pose;

use super::{EnergyRows, RowTerms, correct_points};
use crate::{
    body::Weight,
    colours::{Schedule, SlottedUnit, UnitPass, UnitSlice},
    exchange::{Items, Places},
};

/// Places of a quad's points: of its first points the lanes, then of its second ones.
const ENDS: usize = ENDS_MAX * LANES;

/// One energy in each lane.
#[derive(Clone, Debug)]
struct Quad<W, E> {
    energy: E,
    slots: [u32; ENDS],
    /// Of each point [1/kg]; zero in lanes without an energy.
    inverse_masses: [W; ENDS_MAX],
    /// Multiplier of each row, times `h^2`.
    lambda: PerRow<W>,
}

/// Those of one kind.
#[derive(Clone, Debug)]
pub(super) struct Quads<R: Real, E> {
    quads: Vec<Quad<R::Wide, E>>,
    schedule: Schedule,
}

impl<R: Real, E: SideBySide<R::Wide>> Quads<R, E> {
    /// Takes the energies of this kind between particles out of `all`, which are sorted by colour and come with it.
    pub(super) fn take(
        all: &mut Vec<(u32, EnergyRows<R>)>,
        weights: &[Weight<R>],
        world: u32,
    ) -> Self {
        let is_own = |(_, rows): &(u32, EnergyRows<R>)| {
            !rows.turns && E::side_by_side([&rows.energy; LANES]).is_some()
        };
        let (own, others): (Vec<_>, Vec<_>) = all.drain(..).partition(is_own);
        *all = others;
        let (mut quads, mut colours) = (vec![], vec![]);
        for chunk in own.chunk_by(|(a, _), (b, _)| a == b).flat_map(|colour| colour.chunks(LANES)) {
            // Lanes without an energy repeat the first one, with points that nothing moves.
            let energies = [0, 1, 2, 3].map(|lane| &chunk.get(lane).unwrap_or(&chunk[0]).1.energy);
            let Some(energy) = E::side_by_side(energies) else { continue };
            let slot = |end: usize| match chunk.get(end % LANES) {
                Some((_, rows)) => rows.slots[end / LANES],
                None => world,
            };
            let mut slots = [0; ENDS];
            slots.iter_mut().enumerate().for_each(|(end, own)| *own = slot(end));
            let mass = |k, lane| weights[slot(LANES * k + lane) as usize].inverse_mass;
            let inverse_masses = [0, 1, 2, 3].map(|k| R::Wide::gather(|lane| mass(k, lane)));
            quads.push(Quad { energy, slots, inverse_masses, lambda: [R::Wide::ZERO; ROWS_MAX] });
            colours.push(chunk[0].0);
        }
        let mut schedule = Schedule::serial();
        schedule.rebuild(colours.into_iter());
        Self { quads, schedule }
    }

    /// How many colours there are.
    pub(super) fn colours(&self) -> usize {
        self.schedule.count()
    }

    /// Whether several threads are worth it.
    pub(super) fn pays(&self) -> bool {
        self.schedule.pays::<UnitSlice<'_, Quad<R::Wide, E>>, ENDS>()
    }

    /// Corrects those of one colour once.
    pub(super) fn sweep(
        &mut self,
        colour: usize,
        poses: &mut Items<'_, Pose<R>>,
        terms: &RowTerms<R::Wide>,
    ) {
        let units = self.schedule.units(colour, self.quads.len());
        poses.sweep(&QuadPass { terms }, UnitSlice(&mut self.quads[units]));
    }
}

/// The pass over quads: all that their corrections read beside them.
struct QuadPass<'a, W> {
    terms: &'a RowTerms<W>,
}

impl<W: Wide, E: SideBySide<W>> SlottedUnit<ENDS> for Quad<W, E> {
    const GRAIN: usize = 12;

    #[inline(always)]
    fn slots(&self) -> [u32; ENDS] {
        self.slots
    }
}

impl<R, W, E> UnitPass<V3<R>, UnitSlice<'_, Quad<W, E>>, ENDS> for QuadPass<'_, W>
where
    R: Real<Wide = W>,
    W: Wide<Lane = R>,
    E: SideBySide<W>,
{
    type Ends = Points<W>;

    #[inline(always)]
    fn gather(
        run: &UnitSlice<'_, Quad<W, E>>,
        unit: usize,
        items: &(impl Places<V3<R>> + ?Sized),
    ) -> Points<W> {
        let slots = &run.0[unit].slots;
        let mut points = [V3::ZERO; ENDS_MAX];
        for (k, point) in points.iter_mut().enumerate() {
            *point = V3::gather(|lane| items.at(slots[LANES * k + lane]));
        }
        points
    }

    #[inline(always)]
    fn end(points: &Points<W>, end: usize) -> V3<R> {
        points[end / LANES].lane(end % LANES)
    }

    #[inline(always)]
    fn correct(
        &self,
        run: &mut UnitSlice<'_, Quad<W, E>>,
        unit: usize,
        points: Points<W>,
    ) -> Points<W> {
        let quad = &mut run.0[unit];
        match E::ROWS {
            2 => quad.correct::<2>(points, self.terms),
            3 => quad.correct::<3>(points, self.terms),
            _ => quad.correct::<ROWS_MAX>(points, self.terms),
        }
    }
}

impl<W: Wide, E: SideBySide<W>> Quad<W, E> {
    /// Where its points come to if `SIZE` holds all rows; what has no compliance stays.
    #[inline(always)]
    fn correct<const SIZE: usize>(
        &mut self,
        mut points: Points<W>,
        terms: &RowTerms<W>,
    ) -> Points<W> {
        let Self { energy, inverse_masses, lambda, .. } = self;
        let Some(compliance) = energy.compliance() else { return points };
        let mut x = points;
        for point in &mut x {
            // As of one alone, where a lever is added that may be none.
            *point = (*point - points[0]) + V3::ZERO;
        }
        let (rows, sizes) = (energy.sized_rows::<SIZE>(&x), [E::ENDS, E::ROWS]);
        let moves = correct_points(&rows, &compliance, lambda, inverse_masses, sizes, terms);
        for (point, &way) in points.iter_mut().zip(&moves) {
            *point += way;
        }
        points
    }
}
