//! Joints and springs: one after another in list order, each as a few small blocks of rows.
//!
//! A joint first turns (rotations, then limits and motors), then brings its anchors together, so that
//! the last word of a sweep is the one that positions depend on. Blocks are linearised at the pose
//! of their bodies by [`Joints::prepare`], once per sub-step.

mod layout;
mod point;
mod reaction;
mod rows;

use taut_math::{Real, V3};
use taut_model::{Velocity, Wrench};

pub(crate) use self::layout::lower;
use self::{layout::JointBlocks, point::AnchorBlock, reaction::BlockReaction, rows::RowBlock};
use crate::{
    body::{VelocityBodies, WorldWeight},
    softness::SoftSprings,
};

/// All joints and springs of a scene.
#[derive(Clone, Debug)]
pub(crate) struct Joints<R> {
    units: Vec<JointBlocks>,
    rows: Vec<RowBlock<R>>,
    points: Vec<AnchorBlock<R>>,
    /// Impulses of each unit on B, summed over the sub-steps of a step [N s, N m s].
    loads: Vec<Wrench<R>>,
    /// Slots whose inertia matters to a joint.
    turning: Vec<u32>,
}

/// What all blocks share in one sweep.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pass<R> {
    /// How hard rows and contacts give way.
    pub(crate) soft: SoftSprings<R>,
    /// `1 / h` [1/s].
    pub(crate) inverse_h: R,
    /// Length of the sub-step [s].
    pub(crate) h: R,
    /// Whether errors of position are pulled in, or only velocities matched.
    pub(crate) bias: bool,
}

/// The two sides of a joint while it is solved. Passed by value to stay in registers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VelocityPair<'a, R> {
    pub(crate) a: Velocity<R>,
    pub(crate) b: Velocity<R>,
    pub(crate) weight_a: &'a WorldWeight<R>,
    pub(crate) weight_b: &'a WorldWeight<R>,
}

impl<R: Real> Joints<R> {
    /// Forgets impulses.
    pub(crate) fn forget(&mut self) {
        self.reactions().for_each(|reaction| {
            (reaction.lambda, reaction.value) = (V3::ZERO, V3::ZERO);
        });
        self.forget_loads();
    }

    /// Starts a step: nothing has been exerted yet.
    pub(crate) fn forget_loads(&mut self) {
        self.loads.fill(Wrench::ZERO);
    }

    /// Scales what a step starts from.
    pub(crate) fn scale(&mut self, factor: R) {
        self.reactions().for_each(|reaction| reaction.lambda = reaction.lambda * factor);
    }

    fn reactions(&mut self) -> impl Iterator<Item = &mut BlockReaction<R>> {
        let rows = self.rows.iter_mut().map(|rows| &mut rows.reaction);
        rows.chain(self.points.iter_mut().map(|point| &mut point.reaction))
    }

    /// Makes broken joints let go and all others hold.
    pub(crate) fn let_go(&mut self, broken: &[bool]) {
        for (unit, &broken) in self.units.iter_mut().zip(broken) {
            unit.active = !broken;
        }
    }

    /// Impulses on B of each joint in this step, then of each spring [N s, N m s].
    pub(crate) fn loads(&self) -> &[Wrench<R>] {
        &self.loads
    }

    /// Linearises all blocks at the present pose; `h` is the length of the sub-step they are for.
    pub(crate) fn prepare(&mut self, bodies: &mut VelocityBodies<R>, h: R) {
        for &slot in &self.turning {
            bodies.refresh(slot as usize);
        }
        let softer = R::ONE / (h * h);
        for unit in self.units.iter().filter(|u| u.active) {
            let [a, b] = unit.slots.map(|s| s as usize);
            let (poses, weights) = (&bodies.now.poses, &bodies.weights);
            let (poses, sides) = ([&poses[a], &poses[b]], [&weights[a], &weights[b]]);
            for rows in &mut self.rows[unit.rows()] {
                rows.prepare(poses, sides, softer, h);
            }
            for point in &mut self.points[unit.points()] {
                point.prepare(poses, sides, softer);
            }
        }
    }

    /// Applies the impulses accumulated so far to velocities that do not have them yet, and holds
    /// compliant rows to the present pose.
    pub(crate) fn warm_start(&mut self, bodies: &mut VelocityBodies<R>) {
        for unit in self.units.iter().filter(|u| u.active) {
            let [a, b] = unit.slots.map(|s| s as usize);
            let mut pair = VelocityPair::of(bodies, a, b);
            for rows in &mut self.rows[unit.rows()] {
                pair = rows.warm_start(pair);
            }
            for point in &mut self.points[unit.points()] {
                pair = point.warm_start(pair);
            }
            (bodies.now.velocities[a], bodies.now.velocities[b]) = (pair.a, pair.b);
        }
    }

    /// One sweep over all joints and springs.
    pub(crate) fn sweep(&mut self, bodies: &mut VelocityBodies<R>, pass: &Pass<R>) {
        for unit in self.units.iter().filter(|u| u.active) {
            let [a, b] = unit.slots.map(|s| s as usize);
            let mut pair = VelocityPair::of(bodies, a, b);
            for rows in &mut self.rows[unit.rows()] {
                pair = rows.solve(pair, pass);
            }
            for point in &mut self.points[unit.points()] {
                pair = point.solve(pair, pass);
            }
            (bodies.now.velocities[a], bodies.now.velocities[b]) = (pair.a, pair.b);
        }
    }

    /// Adds the impulses of a sub-step to the loads.
    pub(crate) fn gather_loads(&mut self) {
        for (unit, load) in self.units.iter().zip(&mut self.loads).filter(|(u, _)| u.active) {
            self.rows[unit.rows()].iter().for_each(|rows| rows.add_to(load));
            for point in &self.points[unit.points()] {
                load.force += -point.reaction.lambda;
            }
        }
    }
}

impl<'a, R: Real> VelocityPair<'a, R> {
    #[inline(always)]
    fn of(bodies: &'a VelocityBodies<R>, a: usize, b: usize) -> Self {
        Self {
            a: bodies.now.velocities[a],
            b: bodies.now.velocities[b],
            weight_a: &bodies.weights[a],
            weight_b: &bodies.weights[b],
        }
    }
}

impl JointBlocks {
    fn rows(&self) -> std::ops::Range<usize> {
        self.rows[0] as usize..self.rows[1] as usize
    }

    fn points(&self) -> std::ops::Range<usize> {
        self.points[0] as usize..self.points[1] as usize
    }
}

#[cfg(test)]
mod tests;
