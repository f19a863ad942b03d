//! Energies of points, all rows of one at once: `(G M^-1 G^T + a) dlambda = -(C + a lambda)`.
//!
//! This is Eq. 18 of Macklin et al. 2016 for as many rows as an energy has, with the inverse `K^-1` of its
//! stiffness for a compliance, `a = K^-1 / h^2`. As there, the direction of what an earlier sweep has pushed is
//! not turned with the gradients: where sweeps converge, rows are at `C = -a lambda` exactly, but the end of the
//! step differs from that of implicit Euler by `|dx|^2 / L`, the squared way of the corrections over the size of
//! the element. Energies are visited colour by colour, those of one colour at once by several threads, or in the
//! order of the scene where joints are.

use taut_core::energy::{ENDS_MAX, Energy, PerRow, Points, ROWS_MAX, Rows};
use taut_math::{Real, V3};
use taut_model::{ColourOf, Colouring, ElasticElement, Model, Order, Pose, narrow, priority};

use crate::{
    body::Weight,
    colours::{Schedule, UnitPass, UnitRun},
    correct::{BodyEnd, Terms},
};

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
pub(crate) struct ElasticRows<R> {
    rows: Vec<EnergyRows<R>>,
    schedule: Schedule<ENDS_MAX>,
    /// Which of them resist rates, and so begin each step anew.
    dampings: Vec<usize>,
    /// Room for what threads prepare.
    staged: Vec<ElasticEnds<R>>,
}

impl<R: Real> ElasticRows<R> {
    pub(crate) fn new(model: &Model, order: Order) -> Self {
        let mut sequence: Vec<u32> = (0..narrow(model.energies.len())).collect();
        let mut schedule = Schedule::serial();
        let slots = |one: &ElasticElement| {
            let mut slots = [model.slots.world(); ENDS_MAX];
            let points = model.points_of(one).iter();
            slots.iter_mut().zip(points).for_each(|(slot, end)| *slot = end.node);
            slots
        };
        match order {
            Order::Coloured => {
                let mut colouring = Colouring::default();
                let colours = colouring.colour(&model.energy_graph(), ColourOf::Units, priority);
                let colour = |&one: &u32| colours[one as usize];
                sequence.sort_by_key(colour);
                let slots = |place: usize| slots(&model.energies[sequence[place] as usize]);
                let moves = |slot: usize| model.nodes[slot].moves();
                schedule.rebuild(sequence.iter().map(colour), slots, moves);
            }
            Order::Creation => {}
            Order::ReverseCreation => sequence.reverse(),
        }
        let lowered = |&one: &u32| {
            let one = &model.energies[one as usize];
            let mut anchors = [V3::ZERO; ENDS_MAX];
            let points = model.points_of(one);
            anchors.iter_mut().zip(points).for_each(|(at, end)| *at = V3::of(&end.anchor));
            let energy: Energy<R> = one.energy.lower();
            EnergyRows {
                compliance: energy.compliance().expect("what has none is refused"),
                energy,
                slots: slots(one),
                anchors,
                lambda: [R::ZERO; ROWS_MAX],
                turns: points.iter().any(|end| (end.node as usize) < model.slots.bodies as usize),
            }
        };
        let rows: Vec<EnergyRows<R>> = sequence.iter().map(lowered).collect();
        let damps = |rows: &EnergyRows<R>| rows.energy.resists_rates();
        let dampings = (0..rows.len()).filter(|&i| damps(&rows[i])).collect();
        Self { rows, schedule, dampings, staged: vec![] }
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

    /// Corrects every energy once.
    pub(crate) fn sweep(&mut self, poses: &mut [Pose<R>], weights: &[Weight<R>], terms: &Terms<R>) {
        let pass = ElasticPass { weights, terms };
        self.schedule.sweep(&pass, ElasticRun(&mut self.rows), poses, &mut self.staged);
    }
}

/// The pass over energies: all that its corrections read beside them.
struct ElasticPass<'a, R> {
    weights: &'a [Weight<R>],
    terms: &'a Terms<R>,
}

/// A run of energies.
struct ElasticRun<'a, R>(&'a mut [EnergyRows<R>]);

impl<R: Real> UnitRun<ENDS_MAX> for ElasticRun<'_, R> {
    const GRAIN: usize = 64;

    fn len(&self) -> usize {
        self.0.len()
    }

    fn split(self, middle: usize) -> (Self, Self) {
        let (before, after) = self.0.split_at_mut(middle);
        (Self(before), Self(after))
    }

    #[inline(always)]
    fn slots(&self, unit: usize) -> [u32; ENDS_MAX] {
        self.0[unit].slots
    }
}

impl<R: Real> UnitPass<Pose<R>, ElasticRun<'_, R>, ENDS_MAX> for ElasticPass<'_, R> {
    type Ends = ElasticEnds<R>;

    #[inline(always)]
    fn gather(run: &ElasticRun<'_, R>, unit: usize, items: &[Pose<R>]) -> Self::Ends {
        let [a, b, c, d] = run.0[unit].slots.map(|slot| slot as usize);
        [items[a], items[b], items[c], items[d]]
    }

    #[inline(always)]
    fn end(ends: &Self::Ends, end: usize) -> Pose<R> {
        ends[end]
    }

    #[inline(always)]
    fn correct(&self, run: &mut ElasticRun<'_, R>, unit: usize, ends: Self::Ends) -> Self::Ends {
        let rows = &mut run.0[unit];
        match rows.turns {
            true => rows.correct(ends, self.weights, self.terms),
            false => rows.correct_particles(ends, self.weights, self.terms),
        }
    }
}

/// Rows of an energy where its points are.
struct RowsAt<R> {
    rows: Rows<R>,
    /// Levers of the points [m].
    arms: Points<R>,
    /// `a / h^2`.
    matrix: [PerRow<R>; ROWS_MAX],
    /// `-(C + a lambda)`.
    change: PerRow<R>,
}

impl<R: Real> EnergyRows<R> {
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

    /// What a correction starts from; the first of a step forgets the multipliers.
    #[inline(always)]
    fn evaluate(&mut self, ends: &ElasticEnds<R>, terms: &Terms<R>) -> RowsAt<R> {
        if terms.fresh {
            self.lambda = [R::ZERO; ROWS_MAX];
        }
        let (x, arms) = self.points(ends);
        let (rows, count) = (self.energy.rows(&x), self.energy.size());
        let matrix = self.compliance.map(|row| row.map(|a| a * terms.inverse_square));
        let mut change = [R::ZERO; ROWS_MAX];
        for ((change, row), &value) in change.iter_mut().zip(&matrix).zip(&rows.value).take(count) {
            *change = -value;
            for (&softness, &lambda) in row.iter().zip(&self.lambda).take(count) {
                *change += -(softness * lambda);
            }
        }
        RowsAt { rows, arms, matrix, change }
    }

    /// Adds what the rows are corrected by to their multipliers, and returns it.
    #[inline(always)]
    fn push(
        &mut self,
        mut matrix: [PerRow<R>; ROWS_MAX],
        mut change: PerRow<R>,
        terms: &Terms<R>,
    ) -> PerRow<R> {
        solve(&mut matrix, &mut change, self.energy.size());
        let change = change.map(|change| change * terms.relaxation);
        for (lambda, &change) in self.lambda.iter_mut().zip(&change) {
            *lambda += change;
        }
        change
    }

    /// Corrects all rows of an energy between particles.
    #[inline]
    fn correct_particles(
        &mut self,
        mut ends: ElasticEnds<R>,
        weights: &[Weight<R>],
        terms: &Terms<R>,
    ) -> ElasticEnds<R> {
        let (points, count) = (self.energy.ends(), self.energy.size());
        let RowsAt { rows, mut matrix, change, .. } = self.evaluate(&ends, terms);
        let masses = self.slots.map(|slot| weights[slot as usize].inverse_mass);
        for (row, a) in matrix.iter_mut().zip(&rows.gradient).take(count) {
            for (entry, b) in row.iter_mut().zip(&rows.gradient).take(count) {
                let mut sum = R::ZERO;
                for ((a, b), &mass) in a.iter().zip(b).zip(&masses).take(points) {
                    sum += a.dot(*b) * mass;
                }
                *entry += sum;
            }
        }
        let change = self.push(matrix, change, terms);
        for (k, end) in ends.iter_mut().enumerate().take(points) {
            let mut push = V3::ZERO;
            for (gradient, &change) in rows.gradient.iter().zip(&change).take(count) {
                push += gradient[k] * change;
            }
            end.position += push * masses[k];
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
        let RowsAt { rows, arms, mut matrix, change } = self.evaluate(&ends, terms);
        let slots = self.slots;
        let end = |k: usize| BodyEnd { pose: ends[k], weight: &weights[slots[k] as usize] };
        // By how much a unit impulse along each row turns each body, in its own axes.
        let mut turns = [[V3::ZERO; ENDS_MAX]; ROWS_MAX];
        for (s, turns) in turns.iter_mut().enumerate().take(count) {
            for (k, turn) in turns.iter_mut().enumerate().take(points) {
                let (end, along) = (end(k), rows.gradient[s][k]);
                *turn = end.under_torque(arms[k].cross(along)).turn;
                let turned = end.pose.rotation.rotate(*turn).cross(arms[k]);
                let moved = along * end.weight.inverse_mass + turned;
                for (row, gradient) in matrix.iter_mut().zip(&rows.gradient).take(count) {
                    row[s] += gradient[k].dot(moved);
                }
            }
        }
        let change = self.push(matrix, change, terms);
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

/// Replaces `right` by the solution of a positive definite system of so many rows.
fn solve<R: Real>(matrix: &mut [PerRow<R>; ROWS_MAX], right: &mut PerRow<R>, count: usize) {
    for p in 0..count {
        let (above, below) = matrix.split_at_mut(p + 1);
        let (pivot, first) = (&above[p], right[p]);
        for (row, right) in below.iter_mut().zip(&mut right[p + 1..]).take(count - p - 1) {
            let factor = row[p] / pivot[p];
            for (entry, &above) in row.iter_mut().zip(pivot).take(count).skip(p) {
                *entry += -(factor * above);
            }
            *right += -(factor * first);
        }
    }
    for r in (0..count).rev() {
        for s in r + 1..count {
            let below = right[s];
            right[r] += -(matrix[r][s] * below);
        }
        right[r] = right[r] / matrix[r][r];
    }
}
