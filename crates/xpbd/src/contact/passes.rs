//! The position pass and the velocity pass over batches of pairs.

use taut_math::{Number, Real, V3, Wide};
use taut_model::{Pose, Velocity};

use super::{
    VelocityTerms,
    batch::{ENDS, TouchBatch, TouchPatch},
    budget::Budget,
    lanes::pick,
    pair::{TouchingPair, gather_poses, gather_velocities, pose_at, velocity_at},
    point::{PositionTerms, TouchPoint, Visit},
};
use crate::{
    colours::{UnitPass, UnitRun, within},
    exchange::Places,
    settings::FrictionRule,
};

/// A run of batches with their points.
pub(super) struct BatchRun<'a, R: Real> {
    pub(super) batches: &'a [TouchBatch<R>],
    pub(super) patches: &'a [TouchPatch<R::Wide>],
    pub(super) points: &'a mut [TouchPoint<R::Wide>],
}

impl<R: Real> UnitRun<ENDS> for BatchRun<'_, R> {
    const GRAIN: usize = 64;

    fn len(&self) -> usize {
        self.batches.len()
    }

    fn split(self, middle: usize) -> (Self, Self) {
        let cut = match self.batches.get(middle) {
            Some(batch) => (batch.points[0] - self.batches[0].points[0]) as usize,
            None => self.points.len(),
        };
        let patches = self.patches;
        let (batches, batches_after) = self.batches.split_at(middle);
        let (points, points_after) = self.points.split_at_mut(cut);
        (
            Self { batches, patches, points },
            Self { batches: batches_after, patches, points: points_after },
        )
    }

    #[inline(always)]
    fn slots(&self, unit: usize) -> [u32; ENDS] {
        let [[a, b, c, d], [e, f, g, h]] = self.batches[unit].slots;
        [a, b, c, d, e, f, g, h]
    }
}

impl<R: Real> BatchRun<'_, R> {
    /// Calls `each` with every patch of a batch and its points.
    #[inline(always)]
    fn each_patch(
        &mut self,
        unit: usize,
        mut each: impl FnMut(&TouchPatch<R::Wide>, &mut [TouchPoint<R::Wide>]),
    ) {
        let first = self.batches[0].points[0];
        for patch in &self.patches[within(self.batches[unit].patches, 0)] {
            each(patch, &mut self.points[within(patch.points, first)]);
        }
    }
}

/// The friction of a patch whose points have these loads and have been given so much.
#[inline(always)]
fn budget<W: Wide>(
    patch: &TouchPatch<W>,
    points: &[TouchPoint<W>],
    load: impl Fn(&TouchPoint<W>) -> W,
    given: impl Fn(&TouchPoint<W>) -> V3<W>,
) -> Budget<W> {
    let (mut sum, mut count, mut spent) = (W::ZERO, W::ZERO, V3::ZERO);
    for point in points {
        let bears = point.bears();
        sum += pick(bears, load(point), W::ZERO);
        count += bears;
        spent += given(point) * bears;
    }
    Budget::new(patch.friction, sum, count.max(W::ONE), spent)
}

/// The position pass: keeps bodies apart, and holds what sticks.
pub(super) struct Positions<'a, R>(pub(super) PositionTerms<'a, R>);

impl<R: Real> UnitPass<Pose<R>, BatchRun<'_, R>, ENDS> for Positions<'_, R> {
    type Ends = [Pose<R::Wide>; 2];

    #[inline(always)]
    fn gather(
        run: &BatchRun<'_, R>,
        unit: usize,
        items: &(impl Places<Pose<R>> + ?Sized),
    ) -> Self::Ends {
        gather_poses(&run.batches[unit].slots, items)
    }

    #[inline(always)]
    fn end(ends: &Self::Ends, end: usize) -> Pose<R> {
        pose_at(ends, end)
    }

    fn correct(&self, run: &mut BatchRun<'_, R>, unit: usize, poses: Self::Ends) -> Self::Ends {
        let Self(given) = self;
        let batch = &run.batches[unit];
        let mut pair = TouchingPair::new(batch, poses);
        let predicted = (given.terms.fresh && batch.bounces)
            .then(|| gather_velocities(&batch.slots, given.velocities));
        let predicted = predicted.as_ref();
        match given.friction {
            FrictionRule::Published => run.each_patch(unit, |patch, points| {
                for point in points {
                    Visit { point, patch, pair: &mut pair }.press(predicted, given);
                    let (load, spent) = (point.lambda, point.drag);
                    let mut alone = Budget::new(patch.friction, load, R::Wide::ONE, spent);
                    Visit { point, patch, pair: &mut pair }.hold(&mut alone, given);
                }
            }),
            FrictionRule::Net => {
                run.each_patch(unit, |patch, points| {
                    for point in points {
                        Visit { point, patch, pair: &mut pair }.press(predicted, given);
                    }
                });
                run.each_patch(unit, |patch, points| {
                    let mut budget = budget(patch, points, |p| p.lambda, |p| p.drag);
                    for point in points {
                        Visit { point, patch, pair: &mut pair }.hold(&mut budget, given);
                    }
                });
            }
        }
        pair.poses
    }
}

/// The velocity pass: friction of what slides, and restitution.
pub(super) struct Velocities<'a, R> {
    pub(super) poses: &'a [Pose<R>],
    pub(super) rebound: &'a VelocityTerms<R>,
}

impl<R: Real> UnitPass<Velocity<R>, BatchRun<'_, R>, ENDS> for Velocities<'_, R> {
    type Ends = [Velocity<R::Wide>; 2];

    #[inline(always)]
    fn gather(
        run: &BatchRun<'_, R>,
        unit: usize,
        items: &(impl Places<Velocity<R>> + ?Sized),
    ) -> Self::Ends {
        gather_velocities(&run.batches[unit].slots, items)
    }

    #[inline(always)]
    fn end(ends: &Self::Ends, end: usize) -> Velocity<R> {
        velocity_at(ends, end)
    }

    fn correct(
        &self,
        run: &mut BatchRun<'_, R>,
        unit: usize,
        mut velocities: Self::Ends,
    ) -> Self::Ends {
        let (rebound, counts) = (self.rebound, self.rebound.counts);
        let batch = &run.batches[unit];
        let mut pair = TouchingPair::new(batch, gather_poses(&batch.slots, self.poses));
        let inverse = R::Wide::splat(R::ONE / rebound.h);
        match rebound.friction {
            FrictionRule::Published => run.each_patch(unit, |patch, points| {
                for point in points {
                    Visit { point, patch, pair: &mut pair }.arrive(counts);
                    let (load, none) = (point.lambda * inverse, V3::ZERO);
                    let mut alone = Budget::new(patch.friction, load, R::Wide::ONE, none);
                    let visit = Visit { point, patch, pair: &mut pair };
                    let rubbed = visit.rub(&mut velocities, none, &mut alone, counts);
                    Visit { point, patch, pair: &mut pair }.reflect(&mut velocities, rebound);
                    if counts {
                        point.count(patch.normal, rubbed, inverse);
                    }
                }
            }),
            FrictionRule::Net => {
                run.each_patch(unit, |patch, points| {
                    for point in points {
                        Visit { point, patch, pair: &mut pair }.arrive(counts);
                        Visit { point, patch, pair: &mut pair }.reflect(&mut velocities, rebound);
                    }
                });
                run.each_patch(unit, |patch, points| {
                    let load =
                        |p: &TouchPoint<R::Wide>| (p.lambda * inverse + p.push).max(R::Wide::ZERO);
                    let mut budget = budget(patch, points, load, |p| p.drag * inverse);
                    for point in points {
                        let held = point.drag * inverse;
                        let visit = Visit { point, patch, pair: &mut pair };
                        let rubbed = visit.rub(&mut velocities, held, &mut budget, counts);
                        if counts {
                            point.count(patch.normal, rubbed, inverse);
                        }
                    }
                });
            }
        }
        velocities
    }
}
