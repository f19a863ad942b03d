//! One pass over all joints and springs.

use taut_math::{Real, V3};
use taut_model::{Pose, Wrench};

use crate::{
    body::Weight,
    colours::{UnitPass, UnitRun, within},
    correct::{BodyPair, Terms},
    exchange::{Exchange, Places},
    layout::{Corrections, PairUnit},
};

/// What a sweep changes beside the poses.
#[derive(Clone, Debug)]
pub(crate) struct Memory<R> {
    /// Multiplier of each element, times `h^2`.
    pub(crate) lambda: Vec<V3<R>>,
    /// What each unit has exerted on B in this step, times `h^2` [N s^2, N m s^2].
    pub(crate) loads: Vec<Wrench<R>>,
}

impl<R: Real> Memory<R> {
    pub(crate) fn new(layout: &Corrections<R>) -> Self {
        Self {
            lambda: vec![V3::ZERO; layout.elements.len()],
            loads: vec![Wrench::ZERO; layout.units.len()],
        }
    }
}

/// The pass over joints and springs: all that its corrections read.
struct JointPass<'a, R> {
    layout: &'a Corrections<R>,
    weights: &'a [Weight<R>],
    terms: &'a Terms<R>,
}

impl<R: Real> Corrections<R> {
    /// Corrects every unit once. `exchange` is room for what several threads change.
    pub(crate) fn sweep(
        &self,
        poses: &mut [Pose<R>],
        weights: &[Weight<R>],
        memory: &mut Memory<R>,
        exchange: &mut Exchange<Pose<R>>,
        terms: &Terms<R>,
    ) {
        let pass = JointPass { layout: self, weights, terms };
        let Memory { lambda, loads } = memory;
        let run = JointRun { units: &self.units, lambda, loads };
        self.schedule.sweep(&pass, run, poses, exchange);
    }
}

/// A run of units with all that only they write.
struct JointRun<'a, R> {
    units: &'a [PairUnit],
    lambda: &'a mut [V3<R>],
    loads: &'a mut [Wrench<R>],
}

impl<R: Real> UnitRun<2> for JointRun<'_, R> {
    const GRAIN: usize = 256;

    fn len(&self) -> usize {
        self.units.len()
    }

    fn split(self, middle: usize) -> (Self, Self) {
        let cut = match self.units.get(middle) {
            Some(unit) => (unit.elements[0] - self.units[0].elements[0]) as usize,
            None => self.lambda.len(),
        };
        let (units, units_after) = self.units.split_at(middle);
        let (lambda, lambda_after) = self.lambda.split_at_mut(cut);
        let (loads, loads_after) = self.loads.split_at_mut(middle);
        let after = Self { units: units_after, lambda: lambda_after, loads: loads_after };
        (Self { units, lambda, loads }, after)
    }

    #[inline(always)]
    fn slots(&self, unit: usize) -> [u32; 2] {
        self.units[unit].slots
    }
}

impl<R: Real> UnitPass<Pose<R>, JointRun<'_, R>, 2> for JointPass<'_, R> {
    type Ends = [Pose<R>; 2];

    #[inline(always)]
    fn gather(
        run: &JointRun<'_, R>,
        unit: usize,
        items: &(impl Places<Pose<R>> + ?Sized),
    ) -> Self::Ends {
        // Mapped, the array would be put together apart and copied in pieces that straddle what has just been
        // stored, for which loads wait.
        let [a, b] = run.slots(unit);
        [items.at(a), items.at(b)]
    }

    #[inline(always)]
    fn end(ends: &Self::Ends, end: usize) -> Pose<R> {
        ends[end]
    }

    #[inline(always)]
    fn correct(&self, run: &mut JointRun<'_, R>, index: usize, poses: Self::Ends) -> Self::Ends {
        let unit = &run.units[index];
        if !unit.active {
            return poses;
        }
        let Self { layout, weights, terms } = self;
        let weights = unit.slots.map(|s| &weights[s as usize]);
        let mut pair = BodyPair::of(poses, weights);
        let range = within(unit.elements, 0);
        let lambda = &mut run.lambda[within(unit.elements, run.units[0].elements[0])];
        let elements = layout.elements[range.clone()].iter().zip(&layout.frames[range]);
        let load = &mut run.loads[index];
        for ((element, frame), lambda) in elements.clone().zip(&mut *lambda) {
            pair = pair.correct(element, frame, lambda, load, terms);
        }
        if terms.symmetric && lambda.len() > 1 {
            let again = Terms { fresh: false, ..**terms };
            for ((element, frame), lambda) in elements.zip(lambda).rev().skip(1) {
                pair = pair.correct(element, frame, lambda, load, &again);
            }
        }
        [pair.a.pose, pair.b.pose]
    }
}
