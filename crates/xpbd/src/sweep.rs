//! One pass over all joints and springs, colour by colour.
//!
//! A unit is corrected on copies of its two poses. Serially they are stored at once; in parallel a
//! colour first corrects all its units and then stores, body by body. Units of a colour share no
//! moving body, so both give the same bits.

use rayon::prelude::*;
use taut_descent::{math::V3, real::Real};

use crate::{
    body::{Pose, Weight},
    correct::{Couple, End, Load, Terms},
    layout::{Layout, Unit},
};

/// Units per task below which splitting a colour costs more than it gains.
const GRAIN: usize = 256;

/// What a sweep changes beside the poses.
#[derive(Clone, Debug)]
pub(crate) struct Memory<R> {
    /// Multiplier of each element, times `h^2`.
    pub(crate) lambda: Vec<V3<R>>,
    /// What each unit has exerted in this step.
    pub(crate) loads: Vec<Load<R>>,
    /// Corrected poses of the colour at hand, by unit; empty until needed.
    staged: Vec<[Pose<R>; 2]>,
}

impl<R: Real> Memory<R> {
    pub(crate) fn new(layout: &Layout<R>) -> Self {
        Self {
            lambda: vec![V3::ZERO; layout.elements.len()],
            loads: vec![Load::NONE; layout.units.len()],
            staged: vec![],
        }
    }
}

/// Read access to everything a correction needs.
#[derive(Clone, Copy)]
struct Context<'a, R> {
    layout: &'a Layout<R>,
    weights: &'a [Weight<R>],
    terms: &'a Terms<R>,
}

impl<R: Real> Layout<R> {
    /// Corrects every unit once.
    pub(crate) fn sweep(
        &self,
        poses: &mut [Pose<R>],
        weights: &[Weight<R>],
        memory: &mut Memory<R>,
        terms: &Terms<R>,
    ) {
        let context = Context { layout: self, weights, terms };
        if !self.independent {
            context.correct_serially(0..self.units.len(), poses, memory);
            return;
        }
        let threads = rayon::current_num_threads();
        for colour in 0..self.colours.len() - 1 {
            let range = self.colours[colour]..self.colours[colour + 1];
            if threads > 1 && range.len() > 2 * GRAIN {
                context.correct_colour(colour, poses, memory);
            } else {
                context.correct_serially(range, poses, memory);
            }
        }
    }
}

/// A run of units with all that only they write.
struct Batch<'a, R> {
    units: &'a [Unit],
    lambda: &'a mut [V3<R>],
    loads: &'a mut [Load<R>],
    staged: &'a mut [[Pose<R>; 2]],
}

impl<R: Real> Context<'_, R> {
    fn correct_serially(
        &self,
        range: std::ops::Range<usize>,
        poses: &mut [Pose<R>],
        memory: &mut Memory<R>,
    ) {
        let units = self.layout.units[range.clone()].iter();
        for (unit, load) in units.zip(&mut memory.loads[range]) {
            if unit.active {
                let [first, last] = unit.elements.map(|e| e as usize);
                let [a, b] = unit.slots.map(|s| s as usize);
                let after =
                    self.correct(unit, [poses[a], poses[b]], &mut memory.lambda[first..last], load);
                (poses[a], poses[b]) = (after[0], after[1]);
            }
        }
    }

    fn correct_colour(&self, colour: usize, poses: &mut [Pose<R>], memory: &mut Memory<R>) {
        let layout = self.layout;
        let range = layout.colours[colour]..layout.colours[colour + 1];
        let units = &layout.units[range.clone()];
        let nowhere = poses[0];
        memory.staged.resize(memory.staged.len().max(range.len()), [nowhere; 2]);
        let elements = units[0].elements[0] as usize..units[units.len() - 1].elements[1] as usize;
        self.stage(
            Batch {
                units,
                lambda: &mut memory.lambda[elements],
                loads: &mut memory.loads[range.clone()],
                staged: &mut memory.staged[..range.len()],
            },
            poses,
        );
        let ends = &layout.ends[layout.colour_ends[colour]..layout.colour_ends[colour + 1]];
        let staged = &memory.staged;
        poses.par_chunks_mut(GRAIN).enumerate().for_each(|(chunk, poses)| {
            let base = chunk * GRAIN;
            let from = |slot: usize| ends.partition_point(|&(own, _)| (own as usize) < slot);
            for &(slot, end) in &ends[from(base)..from(base + poses.len())] {
                let (unit, side) = (end as usize / 2 - range.start, end as usize % 2);
                poses[slot as usize - base] = staged[unit][side];
            }
        });
    }

    /// Corrects a run of units of one colour into their staged poses.
    fn stage(&self, batch: Batch<R>, poses: &[Pose<R>]) {
        let Batch { units, lambda, loads, staged } = batch;
        if units.len() > GRAIN {
            let middle = units.len() / 2;
            let cut = (units[middle].elements[0] - units[0].elements[0]) as usize;
            let (units, units_after) = units.split_at(middle);
            let (lambda, lambda_after) = lambda.split_at_mut(cut);
            let (loads, loads_after) = loads.split_at_mut(middle);
            let (staged, staged_after) = staged.split_at_mut(middle);
            let before = Batch { units, lambda, loads, staged };
            let after = Batch {
                units: units_after,
                lambda: lambda_after,
                loads: loads_after,
                staged: staged_after,
            };
            rayon::join(|| self.stage(before, poses), || self.stage(after, poses));
            return;
        }
        let first = units[0].elements[0];
        for ((unit, load), staged) in units.iter().zip(loads).zip(staged) {
            *staged = unit.slots.map(|s| poses[s as usize]);
            if unit.active {
                let [start, end] = unit.elements.map(|e| (e - first) as usize);
                *staged = self.correct(unit, *staged, &mut lambda[start..end], load);
            }
        }
    }

    #[inline]
    fn correct(
        &self,
        unit: &Unit,
        poses: [Pose<R>; 2],
        lambda: &mut [V3<R>],
        load: &mut Load<R>,
    ) -> [Pose<R>; 2] {
        let [a, b] = unit.slots.map(|s| &self.weights[s as usize]);
        let mut couple =
            Couple { a: End { pose: poses[0], weight: a }, b: End { pose: poses[1], weight: b } };
        let range = unit.elements[0] as usize..unit.elements[1] as usize;
        let elements = self.layout.elements[range.clone()].iter();
        for ((element, frame), lambda) in elements.zip(&self.layout.frames[range]).zip(lambda) {
            couple = couple.correct(element, frame, lambda, load, self.terms);
        }
        [couple.a.pose, couple.b.pose]
    }
}
