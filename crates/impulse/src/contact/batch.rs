//! Four patches of contact solved side by side: normals first, then friction within its cone.
//!
//! Impulses act on A along their direction and on B against it. Levers, directions and masses are
//! those of the pose at which contacts were found; gaps follow the motion since then to first order,
//! `gap + n . (dA + tA x rA - dB - tB x rB)`.

use taut_math::Real;

use super::colour::POINTS;
use crate::{
    body::Twist,
    softness::Softness,
    wide::{LANES, Wide, Wide3, WideSym},
};

/// One point of contact per lane.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point<R> {
    /// World-axis levers [m].
    pub(super) arm_a: Wide3<R>,
    pub(super) arm_b: Wide3<R>,
    /// Distance of the surfaces when contacts were found, and now [m].
    pub(super) gap_first: Wide<R>,
    pub(super) gap: Wide<R>,
    /// Effective mass along the normal; zero where a lane has no such point [kg].
    pub(super) mass: Wide<R>,
    /// Inverse of the 2x2 response along the tangents: `xx, yy, xy` [kg].
    pub(super) stick: [Wide<R>; 3],
    /// Inverse of its largest eigenvalue [kg].
    pub(super) slip: Wide<R>,
    /// Coefficient of friction in force: the dynamic one where the surfaces slid in the last step [1].
    pub(super) friction: Wide<R>,
    /// Impulse on A so far, along the normal and both tangents [N s].
    pub(super) impulse: Wide3<R>,
    /// Sum of these over the sub-steps [N s].
    pub(super) total: Wide3<R>,
}

/// Up to four patches, one per lane.
#[derive(Clone, Copy, Debug)]
pub(super) struct Batch<R> {
    pub(super) a: [u32; LANES],
    pub(super) b: [u32; LANES],
    /// Points of the lane that has most.
    pub(super) count: u32,
    pub(super) inverse_mass_a: Wide<R>,
    pub(super) inverse_mass_b: Wide<R>,
    pub(super) inverse_inertia_a: WideSym<R>,
    pub(super) inverse_inertia_b: WideSym<R>,
    /// Normal and tangents, a right-handed basis.
    pub(super) basis: [Wide3<R>; 3],
    pub(super) points: [Point<R>; POINTS],
}

/// What all batches share in one sweep.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sweep<R> {
    pub(super) softness: Softness<R>,
    pub(super) inverse_h: R,
    pub(super) push_speed_max: R,
    /// Whether overlap is pushed apart, or only velocities matched.
    pub(super) bias: bool,
    /// Whether bodies have moved since gaps were last computed.
    pub(super) moved: bool,
    /// Whether friction is clamped tangent by tangent.
    pub(super) boxed: bool,
}

/// Velocities, or motions, of both sides.
#[derive(Clone, Copy)]
struct Sides<R> {
    linear_a: Wide3<R>,
    angular_a: Wide3<R>,
    linear_b: Wide3<R>,
    angular_b: Wide3<R>,
}

impl<R: Real> Sides<R> {
    #[inline(always)]
    fn gather(batch: &Batch<R>, from: &[Twist<R>]) -> Self {
        let (a, b) = (batch.a.map(|i| &from[i as usize]), batch.b.map(|i| &from[i as usize]));
        Self {
            linear_a: Wide3::gather(|i| a[i].linear),
            angular_a: Wide3::gather(|i| a[i].angular),
            linear_b: Wide3::gather(|i| b[i].linear),
            angular_b: Wide3::gather(|i| b[i].angular),
        }
    }

    /// What does not move is written back as it was: its inverse masses are zero.
    #[inline(always)]
    fn scatter(&self, batch: &Batch<R>, to: &mut [Twist<R>]) {
        for i in 0..LANES {
            to[batch.a[i] as usize] =
                Twist { linear: self.linear_a.lane(i), angular: self.angular_a.lane(i) };
            to[batch.b[i] as usize] =
                Twist { linear: self.linear_b.lane(i), angular: self.angular_b.lane(i) };
        }
    }

    /// How A's point moves as seen from B's.
    #[inline(always)]
    fn at(&self, point: &Point<R>) -> Wide3<R> {
        (self.linear_a + self.angular_a.cross(point.arm_a))
            - (self.linear_b + self.angular_b.cross(point.arm_b))
    }

    #[inline(always)]
    fn push(&mut self, batch: &Batch<R>, point: &Point<R>, impulse: Wide3<R>) {
        self.linear_a = self.linear_a + impulse.scaled(batch.inverse_mass_a);
        self.linear_b = self.linear_b - impulse.scaled(batch.inverse_mass_b);
        let (a, b) = (point.arm_a.cross(impulse), point.arm_b.cross(impulse));
        self.angular_a = self.angular_a + batch.inverse_inertia_a.apply(a);
        self.angular_b = self.angular_b - batch.inverse_inertia_b.apply(b);
    }
}

impl<R: Real> Point<R> {
    const NONE: Self = Self {
        arm_a: Wide3::ZERO,
        arm_b: Wide3::ZERO,
        gap_first: Wide::ZERO,
        gap: Wide::ZERO,
        mass: Wide::ZERO,
        stick: [Wide::ZERO; 3],
        slip: Wide::ZERO,
        friction: Wide::ZERO,
        impulse: Wide3::ZERO,
        total: Wide3::ZERO,
    };
}

impl<R: Real> Batch<R> {
    /// A batch of nothing, whose lanes all touch the slot `nowhere`.
    pub(super) fn empty(nowhere: u32) -> Self {
        Self {
            a: [nowhere; LANES],
            b: [nowhere; LANES],
            count: 0,
            inverse_mass_a: Wide::ZERO,
            inverse_mass_b: Wide::ZERO,
            inverse_inertia_a: WideSym::ZERO,
            inverse_inertia_b: WideSym::ZERO,
            basis: [Wide3::ZERO; 3],
            points: [Point::NONE; POINTS],
        }
    }

    /// Computes effective masses from levers, basis and inverse masses; `present` is one where a lane
    /// has the point and zero elsewhere.
    pub(super) fn prepare(&mut self, present: &[Wide<R>; POINTS]) {
        let Self { points, basis, inverse_inertia_a, inverse_inertia_b, .. } = self;
        let straight = self.inverse_mass_a + self.inverse_mass_b;
        for (point, &there) in points.iter_mut().zip(present).take(self.count as usize) {
            let turns_a = basis.map(|direction| point.arm_a.cross(direction));
            let turns_b = basis.map(|direction| point.arm_b.cross(direction));
            let couple = |u: usize, v: usize| {
                turns_a[u].dot(inverse_inertia_a.apply(turns_a[v]))
                    + turns_b[u].dot(inverse_inertia_b.apply(turns_b[v]))
            };
            let along = |u: usize| straight + couple(u, u);
            let (xx, yy, xy) = (along(1), along(2), couple(1, 2));
            let determinant = (xx * yy - xy * xy).inverse() * there;
            let (mean, half) = ((xx + yy) * Wide::splat(R::HALF), (xx - yy) * Wide::splat(R::HALF));
            let largest = mean + (half * half + xy * xy).sqrt();
            point.mass = along(0).inverse() * there;
            point.stick = [yy * determinant, xx * determinant, -(xy * determinant)];
            point.slip = largest.inverse() * there;
        }
    }

    /// Normal speed of each point: positive where the surfaces part [m/s].
    pub(super) fn normal_speeds(&self, velocities: &[Twist<R>]) -> [Wide<R>; POINTS] {
        let sides = Sides::gather(self, velocities);
        self.points.map(|point| sides.at(&point).dot(self.basis[0]))
    }

    pub(super) fn warm_start(&self, velocities: &mut [Twist<R>]) {
        let mut sides = Sides::gather(self, velocities);
        let (mut push, mut turn_a, mut turn_b) = (Wide3::ZERO, Wide3::ZERO, Wide3::ZERO);
        for point in &self.points[..self.count as usize] {
            let impulse = self.world(&point.impulse);
            push = push + impulse;
            turn_a = turn_a + point.arm_a.cross(impulse);
            turn_b = turn_b + point.arm_b.cross(impulse);
        }
        sides.linear_a = sides.linear_a + push.scaled(self.inverse_mass_a);
        sides.linear_b = sides.linear_b - push.scaled(self.inverse_mass_b);
        sides.angular_a = sides.angular_a + self.inverse_inertia_a.apply(turn_a);
        sides.angular_b = sides.angular_b - self.inverse_inertia_b.apply(turn_b);
        sides.scatter(self, velocities);
    }

    /// A vector along normal and tangents in world axes.
    #[inline(always)]
    pub(super) fn world(&self, v: &Wide3<R>) -> Wide3<R> {
        let [n, t, u] = self.basis;
        n.scaled(v.0[0]) + t.scaled(v.0[1]) + u.scaled(v.0[2])
    }

    /// One visit of all points.
    #[inline(always)]
    pub(super) fn solve(
        &mut self,
        velocities: &mut [Twist<R>],
        shifts: &[Twist<R>],
        sweep: &Sweep<R>,
    ) {
        let count = self.count as usize;
        if sweep.moved {
            let shift = Sides::gather(self, shifts);
            for point in &mut self.points[..count] {
                point.gap = point.gap_first + shift.at(point).dot(self.basis[0]);
            }
        }
        let mut sides = Sides::gather(self, velocities);
        for i in 0..count {
            self.solve_normal(i, &mut sides, sweep);
        }
        for i in 0..count {
            self.solve_friction(i, &mut sides, sweep.boxed);
        }
        sides.scatter(self, velocities);
    }

    #[inline(always)]
    fn solve_normal(&mut self, i: usize, sides: &mut Sides<R>, sweep: &Sweep<R>) {
        let point = &self.points[i];
        let speed = sides.at(point).dot(self.basis[0]);
        let before = point.impulse.0[0];
        // Surfaces that are apart may approach just so far in one sub-step.
        let apart = point.gap * Wide::splat(sweep.inverse_h);
        let next = if sweep.bias {
            let soft = &sweep.softness;
            let overlap = (point.gap + Wide::splat(soft.slop)).min(Wide::ZERO);
            let back = overlap * Wide::splat(soft.rate);
            let (one, push) = (Wide::splat(R::ONE), Wide::splat(sweep.push_speed_max));
            let bias = point.gap.positive(apart, back.max(-push));
            let mass = point.gap.positive(one, Wide::splat(soft.mass));
            // What is taken from the speed of pushing is taken from the impulse given up too, or else
            // the spring would bear no more than at that depth and sink under more without end.
            let share = (-(back + push)).positive(push * (-back).inverse(), one);
            let given_up = point.gap.positive(Wide::ZERO, share * Wide::splat(soft.impulse));
            before - point.mass * mass * (speed + bias) - given_up * before
        } else {
            before - point.mass * (speed + apart.max(Wide::ZERO))
        };
        let next = next.max(Wide::ZERO);
        self.points[i].impulse.0[0] = next;
        sides.push(self, &self.points[i], self.basis[0].scaled(next - before));
    }

    #[inline(always)]
    fn solve_friction(&mut self, i: usize, sides: &mut Sides<R>, boxed: bool) {
        let point = &self.points[i];
        let slide = sides.at(point);
        let (x, y) = (slide.dot(self.basis[1]), slide.dot(self.basis[2]));
        let [normal, before_x, before_y] = point.impulse.0;
        let [xx, yy, xy] = point.stick;
        let (held_x, held_y) = (before_x - (xx * x + xy * y), before_y - (xy * x + yy * y));
        let bound = point.friction * normal;
        let (next_x, next_y) = if boxed {
            (held_x.max(-bound).min(bound), held_y.max(-bound).min(bound))
        } else {
            let beyond = held_x * held_x + held_y * held_y - bound * bound;
            // A step along the slip, not along the response to it: only then do impulse and slip
            // end up opposite where the cone bounds them.
            let (slid_x, slid_y) = (before_x - point.slip * x, before_y - point.slip * y);
            let size = (slid_x * slid_x + slid_y * slid_y).sqrt();
            let share = (bound * size.inverse()).min(Wide::splat(R::ONE));
            (beyond.positive(slid_x * share, held_x), beyond.positive(slid_y * share, held_y))
        };
        let (dx, dy) = (next_x - before_x, next_y - before_y);
        self.points[i].impulse.0[1] = next_x;
        self.points[i].impulse.0[2] = next_y;
        let impulse = self.basis[1].scaled(dx) + self.basis[2].scaled(dy);
        sides.push(self, &self.points[i], impulse);
    }

    /// Ends a sub-step: adds its impulses to their sums.
    pub(super) fn conclude(&mut self) {
        for point in &mut self.points[..self.count as usize] {
            point.total = point.total + point.impulse;
        }
    }

    /// Lets points part at the `wanted` speeds, those above zero.
    pub(super) fn bounce(&mut self, velocities: &mut [Twist<R>], wanted: &[Wide<R>; POINTS]) {
        let mut sides = Sides::gather(self, velocities);
        for (i, &wanted) in wanted.iter().enumerate().take(self.count as usize) {
            let point = &self.points[i];
            let speed = sides.at(point).dot(self.basis[0]);
            let before = point.impulse.0[0];
            let next = (before + point.mass * (wanted - speed)).max(Wide::ZERO);
            let change = wanted.positive(next, before) - before;
            let point = &mut self.points[i];
            point.impulse.0[0] = before + change;
            point.total.0[0] = point.total.0[0] + change;
            sides.push(self, &self.points[i], self.basis[0].scaled(change));
        }
        sides.scatter(self, velocities);
    }
}
