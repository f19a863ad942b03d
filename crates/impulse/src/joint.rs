//! Joints and springs: one after another in list order, each as a few small blocks of rows.
//!
//! A joint first turns (rotations, then limits and motors), then brings its anchors together, so that
//! the last word of a sweep is the one that positions depend on. Blocks are linearised at the pose
//! of their bodies by [`Joints::prepare`], once per sub-step.

mod layout;
mod point;
mod rows;

use taut_core::Scene;
use taut_math::{Real, V3};

use self::{layout::Unit, point::Point, rows::Rows};
use crate::{
    body::{Bodies, Mobility, Twist},
    softness::Softnesses,
};

/// All joints and springs of a scene.
#[derive(Clone, Debug)]
pub(crate) struct Joints<R> {
    units: Vec<Unit>,
    rows: Vec<Rows<R>>,
    points: Vec<Point<R>>,
    /// What each unit has exerted on B in this step.
    loads: Vec<Load<R>>,
    /// Slots whose inertia matters to a joint.
    turning: Vec<u32>,
}

/// Impulses on B, summed over the sub-steps of a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load<R> {
    /// [N s]
    pub(crate) force: V3<R>,
    /// Beside that of the force at B's anchor [N m s].
    pub(crate) torque: V3<R>,
}

/// What all blocks share in one sweep.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pull<R> {
    /// How hard rows and contacts give way.
    pub(crate) soft: Softnesses<R>,
    /// `1 / h` [1/s].
    pub(crate) inverse_h: R,
    /// Length of the sub-step [s].
    pub(crate) h: R,
    /// Whether errors of position are pulled in, or only velocities matched.
    pub(crate) bias: bool,
}

/// The two sides of a joint while it is solved. Passed by value to stay in registers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Couple<'a, R> {
    pub(crate) a: Twist<R>,
    pub(crate) b: Twist<R>,
    pub(crate) mobility_a: &'a Mobility<R>,
    pub(crate) mobility_b: &'a Mobility<R>,
}

impl<R: Real> Load<R> {
    const NONE: Self = Self { force: V3::ZERO, torque: V3::ZERO };
}

impl<R: Real> Joints<R> {
    /// Lays out the joints and springs of `scene`, joints first.
    pub(crate) fn new(scene: &Scene) -> Self {
        layout::lay_out(scene)
    }

    /// Forgets impulses.
    pub(crate) fn forget(&mut self) {
        self.rows.iter_mut().for_each(|rows| rows.forget());
        self.points.iter_mut().for_each(|point| point.lambda = V3::ZERO);
        self.forget_loads();
    }

    /// Starts a step: nothing has been exerted yet.
    pub(crate) fn forget_loads(&mut self) {
        self.loads.fill(Load::NONE);
    }

    /// Scales what a step starts from.
    pub(crate) fn scale(&mut self, factor: R) {
        self.rows.iter_mut().for_each(|rows| rows.scale(factor));
        self.points.iter_mut().for_each(|point| point.lambda = point.lambda * factor);
    }

    /// Makes a joint hold or let go.
    pub(crate) fn set_active(&mut self, joint: usize, active: bool) {
        self.units[joint].active = active;
    }

    /// Impulses on B of a joint in this step.
    pub(crate) fn load(&self, joint: usize) -> &Load<R> {
        &self.loads[joint]
    }

    /// Linearises all blocks at the present pose; `h` is the length of the sub-step they are for.
    pub(crate) fn prepare(&mut self, bodies: &mut Bodies<R>, h: R) {
        for &slot in &self.turning {
            bodies.refresh(slot as usize);
        }
        let softer = R::ONE / (h * h);
        for unit in self.units.iter().filter(|u| u.active) {
            let [a, b] = unit.slots.map(|s| s as usize);
            let (poses, mobilities) = (&bodies.poses, &bodies.mobilities);
            let (poses, sides) = ([&poses[a], &poses[b]], [&mobilities[a], &mobilities[b]]);
            for rows in &mut self.rows[unit.rows()] {
                rows.prepare(poses, sides, softer);
            }
            for point in &mut self.points[unit.points()] {
                point.prepare(poses, sides, softer);
            }
        }
    }

    /// Applies the impulses accumulated so far to velocities that do not have them yet, and holds
    /// compliant rows to the present pose.
    pub(crate) fn warm_start(&mut self, bodies: &mut Bodies<R>) {
        for unit in self.units.iter().filter(|u| u.active) {
            let [a, b] = unit.slots.map(|s| s as usize);
            let mut couple = Couple::of(bodies, a, b);
            for rows in &mut self.rows[unit.rows()] {
                couple = rows.warm_start(couple);
            }
            for point in &mut self.points[unit.points()] {
                couple = point.warm_start(couple);
            }
            (bodies.velocities[a], bodies.velocities[b]) = (couple.a, couple.b);
        }
    }

    /// One sweep over all joints and springs.
    pub(crate) fn sweep(&mut self, bodies: &mut Bodies<R>, pull: &Pull<R>) {
        for unit in self.units.iter().filter(|u| u.active) {
            let [a, b] = unit.slots.map(|s| s as usize);
            let mut couple = Couple::of(bodies, a, b);
            for rows in &mut self.rows[unit.rows()] {
                couple = rows.solve(couple, pull);
            }
            for point in &mut self.points[unit.points()] {
                couple = point.solve(couple, pull);
            }
            (bodies.velocities[a], bodies.velocities[b]) = (couple.a, couple.b);
        }
    }

    /// Adds the impulses of a sub-step to the loads.
    pub(crate) fn gather_loads(&mut self) {
        for (unit, load) in self.units.iter().zip(&mut self.loads).filter(|(u, _)| u.active) {
            self.rows[unit.rows()].iter().for_each(|rows| rows.add_to(load));
            for point in &self.points[unit.points()] {
                load.force += -point.lambda;
            }
        }
    }
}

impl<'a, R: Real> Couple<'a, R> {
    #[inline(always)]
    fn of(bodies: &'a Bodies<R>, a: usize, b: usize) -> Self {
        Self {
            a: bodies.velocities[a],
            b: bodies.velocities[b],
            mobility_a: &bodies.mobilities[a],
            mobility_b: &bodies.mobilities[b],
        }
    }
}

impl Unit {
    fn rows(&self) -> std::ops::Range<usize> {
        self.rows[0] as usize..self.rows[1] as usize
    }

    fn points(&self) -> std::ops::Range<usize> {
        self.points[0] as usize..self.points[1] as usize
    }
}

#[cfg(test)]
mod tests;
