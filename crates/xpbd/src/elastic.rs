//! Energies of points, all rows of one at once: `(G M^-1 G^T + a) dlambda = -(C + a lambda)`.
//!
//! This is Eq. 18 of Macklin et al. 2016 for as many rows as an energy has, with the inverse `K^-1` of its
//! stiffness for a compliance, `a = K^-1 / h^2`. As there, the direction of what an earlier sweep has pushed is
//! not turned with the gradients: where sweeps converge, rows are at `C = -a lambda` exactly, but the end of the
//! step differs from that of implicit Euler by `|dx|^2 / L`, the squared way of the corrections over the size of
//! the element. Energies are visited colour by colour, those of one colour at once by several threads, or in the
//! order of the scene where joints are.

use taut_core::energy::{
    ENDS_MAX, Energy, Membrane, NeoHookean, PerRow, Points, ROWS_MAX, Rows, WeightedSum,
};
use taut_math::{Number, Real, V3, Wide};
use taut_model::{ColourOf, Colouring, ElasticElement, Model, Order, Pose, narrow, priority};

use crate::{
    body::Weight,
    colours::{Schedule, SlottedUnit, UnitPass, UnitSlice},
    correct::{BodyEnd, Terms},
    exchange::{Exchange, Places},
};

mod quads;
use quads::Quads;

/// What is at the ends of an energy.
pub(crate) type ElasticEnds<R> = [Pose<R>; ENDS_MAX];

/// An energy with its points and multipliers.
#[derive(Clone, Debug)]
struct EnergyRows<R> {
    energy: Energy<R>,
    compliance: [PerRow<R>; ROWS_MAX],
    /// Place among the poses of what each point is fixed to.
    slots: [u32; ENDS_MAX],
    /// Each point in the coordinates of its body [m].
    anchors: Points<R>,
    /// Multiplier of each row, times `h^2`.
    lambda: PerRow<R>,
    /// Whether any of its points turns with a body.
    turns: bool,
}

/// All energies of a scene that have a compliance.
#[derive(Clone, Debug)]
pub(crate) struct ElasticRows<R: Real> {
    /// Tetrahedra, triangles and flat folds between particles, where colours tell what may be visited at once.
    solids: Quads<R, NeoHookean<R::Wide>>,
    sheets: Quads<R, Membrane<R::Wide>>,
    sums: Quads<R, WeightedSum<R::Wide>>,
    /// All others.
    rows: Vec<EnergyRows<R>>,
    schedule: Schedule,
    /// Which of them resist rates, and so begin each step anew.
    dampings: Vec<usize>,
}

impl<R: Real> ElasticRows<R> {
    pub(crate) fn new(model: &Model, order: Order, weights: &[Weight<R>]) -> Self {
        let mut sequence: Vec<u32> = (0..narrow(model.energies.len())).collect();
        let (mut colouring, mut colours) = (Colouring::default(), [].as_slice());
        match order {
            Order::Coloured => {
                colours = colouring.colour(&model.energy_graph(), ColourOf::Units, priority);
                sequence.sort_by_key(|&one| colours[one as usize]);
            }
            Order::Creation => {}
            Order::ReverseCreation => sequence.reverse(),
        }
        let with_colour = |&one: &u32| {
            let colour = colours.get(one as usize).copied().unwrap_or(0);
            (colour, EnergyRows::new(model, &model.energies[one as usize]))
        };
        let mut all: Vec<(u32, EnergyRows<R>)> = sequence.iter().map(with_colour).collect();
        let (mut schedule, mut none) = (Schedule::serial(), vec![]);
        let world = model.slots.world();
        let source = if order == Order::Coloured { &mut all } else { &mut none };
        let solids = Quads::take(source, weights, world);
        let sheets = Quads::take(source, weights, world);
        let sums = Quads::take(source, weights, world);
        if order == Order::Coloured {
            schedule.rebuild(all.iter().map(|&(colour, _)| colour));
        }
        let rows: Vec<EnergyRows<R>> = all.into_iter().map(|(_, rows)| rows).collect();
        let damps = |rows: &EnergyRows<R>| rows.energy.resists_rates();
        let dampings = (0..rows.len()).filter(|&i| damps(&rows[i])).collect();
        Self { solids, sheets, sums, rows, schedule, dampings }
    }

    /// Has damped material resist what changes in a step or sub-step of length `h` [s] that starts at these poses.
    pub(crate) fn begin(&mut self, poses: &[Pose<R>], h: R) {
        for &i in &self.dampings {
            let rows = &mut self.rows[i];
            let (x, _) = rows.points(&rows.slots.map(|slot| poses[slot as usize]));
            rows.energy.begin(&x, h);
            rows.compliance = rows.energy.compliance().expect("damping is quadratic");
        }
    }

    /// Corrects every energy once, colour by colour.
    pub(crate) fn sweep(
        &mut self,
        poses: &mut [Pose<R>],
        weights: &[Weight<R>],
        exchange: &mut Exchange<Pose<R>>,
        terms: &Terms<R>,
    ) {
        let pass = ElasticPass { weights, terms };
        let in_lanes = terms.of_rows().in_lanes();
        let Self { solids, sheets, sums, rows, schedule, .. } = self;
        let counts = [solids.colours(), sheets.colours(), sums.colours(), schedule.count()];
        let by_several = solids.pays()
            || sheets.pays()
            || sums.pays()
            || schedule.pays::<UnitSlice<'_, EnergyRows<R>>, ENDS_MAX>();
        exchange.change(poses, by_several, |poses| {
            for colour in 0..counts.into_iter().max().unwrap_or(0) {
                solids.sweep(colour, poses, &in_lanes);
                sheets.sweep(colour, poses, &in_lanes);
                sums.sweep(colour, poses, &in_lanes);
                let units = schedule.units(colour, rows.len());
                poses.sweep(&pass, UnitSlice(&mut rows[units]));
            }
        });
    }
}

/// The pass over energies: all that its corrections read beside them.
struct ElasticPass<'a, R> {
    weights: &'a [Weight<R>],
    terms: &'a Terms<R>,
}

impl<R: Real> SlottedUnit<ENDS_MAX> for EnergyRows<R> {
    const GRAIN: usize = 64;

    #[inline(always)]
    fn slots(&self) -> [u32; ENDS_MAX] {
        self.slots
    }
}

impl<R: Real> UnitPass<Pose<R>, UnitSlice<'_, EnergyRows<R>>, ENDS_MAX> for ElasticPass<'_, R> {
    type Ends = ElasticEnds<R>;

    #[inline(always)]
    fn gather(
        run: &UnitSlice<'_, EnergyRows<R>>,
        unit: usize,
        items: &(impl Places<Pose<R>> + ?Sized),
    ) -> Self::Ends {
        let [a, b, c, d] = run.0[unit].slots;
        [items.at(a), items.at(b), items.at(c), items.at(d)]
    }

    #[inline(always)]
    fn end(ends: &Self::Ends, end: usize) -> Pose<R> {
        ends[end]
    }

    #[inline(always)]
    fn correct(
        &self,
        run: &mut UnitSlice<'_, EnergyRows<R>>,
        unit: usize,
        ends: Self::Ends,
    ) -> Self::Ends {
        let rows = &mut run.0[unit];
        match rows.turns {
            true => rows.correct(ends, self.weights, self.terms),
            false => rows.correct_particles(ends, self.weights, self.terms),
        }
    }
}

/// What the rows of a sweep share, in the numbers in which they are corrected.
#[derive(Clone, Copy)]
struct RowTerms<N> {
    /// `1 / h^2`.
    inverse_square: N,
    /// Factor on every correction.
    relaxation: N,
    /// Whether multipliers are zero before.
    fresh: bool,
}

/// The system of an energy's rows: `a / h^2`, to which `G M^-1 G^T` is to be added, and `-(C + a lambda)`. It has room
/// for `SIZE` rows.
struct RowSystem<N, const SIZE: usize> {
    matrix: [[N; SIZE]; SIZE],
    change: [N; SIZE],
    /// How many rows.
    count: usize,
}

impl<N: Number, const SIZE: usize> RowSystem<N, SIZE> {
    /// That of so many rows; the first of a step forgets the multipliers.
    #[inline(always)]
    fn new(
        rows: &Rows<N, SIZE>,
        compliance: &[PerRow<N>; ROWS_MAX],
        lambda: &mut PerRow<N>,
        count: usize,
        terms: &RowTerms<N>,
    ) -> Self {
        if terms.fresh {
            *lambda = [N::ZERO; ROWS_MAX];
        }
        let mut matrix = [[N::ZERO; SIZE]; SIZE];
        let mut change = [N::ZERO; SIZE];
        for r in 0..count {
            change[r] = -rows.value[r];
            for s in 0..count {
                matrix[r][s] = compliance[r][s] * terms.inverse_square;
                change[r] += -(matrix[r][s] * lambda[s]);
            }
        }
        Self { matrix, change, count }
    }

    /// Adds what the rows are corrected by to their multipliers, and returns it.
    #[inline(always)]
    fn push(mut self, lambda: &mut PerRow<N>, terms: &RowTerms<N>) -> [N; SIZE] {
        self.solve();
        for (lambda, change) in lambda.iter_mut().zip(&mut self.change).take(self.count) {
            *change = *change * terms.relaxation;
            *lambda += *change;
        }
        self.change
    }

    /// Replaces the right side by the solution; the matrix is positive definite.
    #[inline(always)]
    fn solve(&mut self) {
        let Self { matrix, change, count } = self;
        for p in 0..*count {
            let (pivot, first) = (matrix[p], change[p]);
            for r in p + 1..*count {
                let factor = matrix[r][p] / pivot[p];
                for (entry, &above) in matrix[r].iter_mut().zip(&pivot).take(*count).skip(p) {
                    *entry += -(factor * above);
                }
                change[r] += -(factor * first);
            }
        }
        for r in (0..*count).rev() {
            for s in r + 1..*count {
                change[r] += -(matrix[r][s] * change[s]);
            }
            change[r] = change[r] / matrix[r][r];
        }
    }
}

/// Corrects all rows of an energy of so many points and rows between particles of these inverse masses; returns how far
/// the points move [m]. `SIZE` is the number of rows where that is known before, else `ROWS_MAX`.
#[inline(always)]
fn correct_points<N: Number, const SIZE: usize>(
    rows: &Rows<N, SIZE>,
    compliance: &[PerRow<N>; ROWS_MAX],
    lambda: &mut PerRow<N>,
    masses: &[N; ENDS_MAX],
    [points, count]: [usize; 2],
    terms: &RowTerms<N>,
) -> Points<N> {
    let mut system = RowSystem::new(rows, compliance, lambda, count, terms);
    for r in 0..count {
        for s in 0..count {
            let mut sum = N::ZERO;
            let pairs = rows.gradient[r].iter().zip(&rows.gradient[s]);
            for ((a, b), &mass) in pairs.zip(masses).take(points) {
                sum += a.dot(*b) * mass;
            }
            system.matrix[r][s] += sum;
        }
    }
    let change = system.push(lambda, terms);
    let mut moves = [V3::ZERO; ENDS_MAX];
    for k in 0..points {
        let mut push = V3::ZERO;
        for (gradient, &change) in rows.gradient.iter().zip(&change).take(count) {
            push += gradient[k] * change;
        }
        moves[k] = push * masses[k];
    }
    moves
}

impl<R: Real> Terms<R> {
    /// What of them energies need.
    fn of_rows(&self) -> RowTerms<R> {
        let Self { inverse_square, relaxation, fresh, .. } = *self;
        RowTerms { inverse_square, relaxation, fresh }
    }
}

impl<R: Real> RowTerms<R> {
    /// The same in every lane.
    fn in_lanes(self) -> RowTerms<R::Wide> {
        let [inverse_square, relaxation] =
            [self.inverse_square, self.relaxation].map(R::Wide::splat);
        RowTerms { inverse_square, relaxation, fresh: self.fresh }
    }
}

impl<R: Real> EnergyRows<R> {
    fn new(model: &Model, one: &ElasticElement) -> Self {
        let (mut slots, mut anchors) = ([model.slots.world(); ENDS_MAX], [V3::ZERO; ENDS_MAX]);
        let points = model.points_of(one);
        for (k, end) in points.iter().enumerate() {
            (slots[k], anchors[k]) = (end.node, V3::of(&end.anchor));
        }
        let energy: Energy<R> = one.energy.lower();
        Self {
            compliance: energy.compliance().expect("what has none is refused"),
            energy,
            slots,
            anchors,
            lambda: [R::ZERO; ROWS_MAX],
            turns: points.iter().any(|end| (end.node as usize) < model.slots.bodies as usize),
        }
    }

    /// The points as seen from the first body, and their levers [m].
    #[inline(always)]
    fn points(&self, ends: &ElasticEnds<R>) -> (Points<R>, Points<R>) {
        let origin = ends[0].position;
        let (mut x, mut arms) = ([V3::ZERO; ENDS_MAX], [V3::ZERO; ENDS_MAX]);
        for (k, pose) in ends.iter().enumerate().take(self.energy.ends()) {
            if self.turns {
                arms[k] = pose.rotation.rotate(self.anchors[k]);
            }
            x[k] = (pose.position - origin) + arms[k];
        }
        (x, arms)
    }

    /// Corrects all rows of an energy between particles.
    #[inline]
    fn correct_particles(
        &mut self,
        mut ends: ElasticEnds<R>,
        weights: &[Weight<R>],
        terms: &Terms<R>,
    ) -> ElasticEnds<R> {
        let sizes = [self.energy.ends(), self.energy.size()];
        let (x, _) = self.points(&ends);
        let rows = self.energy.rows(&x);
        let masses = self.slots.map(|slot| weights[slot as usize].inverse_mass);
        let Self { compliance, lambda, .. } = self;
        let terms = terms.of_rows();
        let moves = correct_points(&rows, compliance, lambda, &masses, sizes, &terms);
        for (end, &way) in ends.iter_mut().zip(&moves) {
            end.position += way;
        }
        ends
    }

    /// Corrects all rows.
    fn correct(
        &mut self,
        ends: ElasticEnds<R>,
        weights: &[Weight<R>],
        terms: &Terms<R>,
    ) -> ElasticEnds<R> {
        let (points, count) = (self.energy.ends(), self.energy.size());
        let (x, arms) = self.points(&ends);
        let (rows, terms, slots) = (self.energy.rows(&x), terms.of_rows(), self.slots);
        let (compliance, lambda) = (&self.compliance, &mut self.lambda);
        let mut system = RowSystem::new(&rows, compliance, lambda, count, &terms);
        let end = |k: usize| BodyEnd { pose: ends[k], weight: &weights[slots[k] as usize] };
        // By how much a unit impulse along each row turns each body, in its own axes.
        let mut turns = [[V3::ZERO; ENDS_MAX]; ROWS_MAX];
        for (s, turns) in turns.iter_mut().enumerate().take(count) {
            for (k, turn) in turns.iter_mut().enumerate().take(points) {
                let (end, along) = (end(k), rows.gradient[s][k]);
                *turn = end.under_torque(arms[k].cross(along)).turn;
                let turned = end.pose.rotation.rotate(*turn).cross(arms[k]);
                let moved = along * end.weight.inverse_mass + turned;
                for (row, gradient) in system.matrix.iter_mut().zip(&rows.gradient).take(count) {
                    row[s] += gradient[k].dot(moved);
                }
            }
        }
        let change = system.push(&mut self.lambda, &terms);
        let mut after = ends;
        for (k, after) in after.iter_mut().enumerate().take(points) {
            let (mut push, mut turn) = (V3::ZERO, V3::ZERO);
            let along = rows.gradient.iter().zip(&turns).zip(&change).take(count);
            for ((gradient, turns), &change) in along {
                push += gradient[k] * change;
                turn += turns[k] * change;
            }
            *after = end(k).moved(push, turn).pose;
        }
        after
    }
}
