//! Four patches of contact solved side by side: normals first, then friction within its cone.
//!
//! Impulses act on A along their direction and on B against it. Levers, directions and masses are
//! those of the pose at which contacts were found; gaps follow the motion since then to first order,
//! `gap + n . (dA + tA x rA - dB - tB x rB)`.

use taut_math::{LANES, Number, Real, Sym3, V3, Wide};
use taut_model::Velocity;

use super::colour::POINTS;
use crate::softness::SoftSpring;

/// One point of contact per lane.
#[derive(Clone, Copy, Debug)]
pub(super) struct LanePoint<R: Real> {
    /// World-axis levers [m].
    pub(super) arm_a: V3<R::Wide>,
    pub(super) arm_b: V3<R::Wide>,
    /// Distance of the surfaces when contacts were found, and now [m].
    pub(super) gap_first: R::Wide,
    pub(super) gap: R::Wide,
    /// Effective mass along the normal; zero where a lane has no such point [kg].
    pub(super) mass: R::Wide,
    /// Inverse of the 2x2 response along the tangents: `xx, yy, xy` [kg].
    pub(super) stick: [R::Wide; 3],
    /// Inverse of its largest eigenvalue [kg].
    pub(super) slip: R::Wide,
    /// Coefficient of friction in force: the dynamic one where the surfaces slid in the last step [1].
    pub(super) friction: R::Wide,
    /// Impulse on A so far, along the normal and both tangents [N s].
    pub(super) impulse: V3<R::Wide>,
    /// Sum of these over the sub-steps [N s].
    pub(super) total: V3<R::Wide>,
}

/// Up to four patches, one per lane.
#[derive(Clone, Copy, Debug)]
pub(super) struct Batch<R: Real> {
    pub(super) a: [u32; LANES],
    pub(super) b: [u32; LANES],
    /// Points of the lane that has most.
    pub(super) count: u32,
    pub(super) inverse_mass_a: R::Wide,
    pub(super) inverse_mass_b: R::Wide,
    pub(super) inverse_inertia_a: Sym3<R::Wide>,
    pub(super) inverse_inertia_b: Sym3<R::Wide>,
    /// Normal and tangents, a right-handed basis.
    pub(super) basis: [V3<R::Wide>; 3],
    pub(super) points: [LanePoint<R>; POINTS],
}

/// What all batches share in one sweep.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sweep<R> {
    pub(super) softness: SoftSpring<R>,
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
struct Sides<R: Real> {
    linear_a: V3<R::Wide>,
    angular_a: V3<R::Wide>,
    linear_b: V3<R::Wide>,
    angular_b: V3<R::Wide>,
}

impl<R: Real> Sides<R> {
    #[inline(always)]
    fn gather(batch: &Batch<R>, from: &[Velocity<R>]) -> Self {
        let (a, b) = (batch.a.map(|i| &from[i as usize]), batch.b.map(|i| &from[i as usize]));
        Self {
            linear_a: V3::gather(|i| a[i].linear),
            angular_a: V3::gather(|i| a[i].angular),
            linear_b: V3::gather(|i| b[i].linear),
            angular_b: V3::gather(|i| b[i].angular),
        }
    }

    /// What does not move is written back as it was: its inverse masses are zero.
    #[inline(always)]
    fn scatter(&self, batch: &Batch<R>, to: &mut [Velocity<R>]) {
        for i in 0..LANES {
            to[batch.a[i] as usize] =
                Velocity { linear: self.linear_a.lane(i), angular: self.angular_a.lane(i) };
            to[batch.b[i] as usize] =
                Velocity { linear: self.linear_b.lane(i), angular: self.angular_b.lane(i) };
        }
    }

    /// How A's point moves as seen from B's.
    #[inline(always)]
    fn at(&self, point: &LanePoint<R>) -> V3<R::Wide> {
        (self.linear_a + self.angular_a.cross(point.arm_a))
            - (self.linear_b + self.angular_b.cross(point.arm_b))
    }

    #[inline(always)]
    fn push(&mut self, batch: &Batch<R>, point: &LanePoint<R>, impulse: V3<R::Wide>) {
        self.linear_a += impulse * batch.inverse_mass_a;
        self.linear_b = self.linear_b - impulse * batch.inverse_mass_b;
        let (a, b) = (point.arm_a.cross(impulse), point.arm_b.cross(impulse));
        self.angular_a += batch.inverse_inertia_a.apply(a);
        self.angular_b = self.angular_b - batch.inverse_inertia_b.apply(b);
    }
}

impl<R: Real> LanePoint<R> {
    pub(super) const NONE: Self = Self {
        arm_a: V3::ZERO,
        arm_b: V3::ZERO,
        gap_first: R::Wide::ZERO,
        gap: R::Wide::ZERO,
        mass: R::Wide::ZERO,
        stick: [R::Wide::ZERO; 3],
        slip: R::Wide::ZERO,
        friction: R::Wide::ZERO,
        impulse: V3::ZERO,
        total: V3::ZERO,
    };
}

impl<R: Real> Batch<R> {
    /// A batch of nothing.
    pub(super) const EMPTY: Self = Self {
        a: [0; LANES],
        b: [0; LANES],
        count: 0,
        inverse_mass_a: R::Wide::ZERO,
        inverse_mass_b: R::Wide::ZERO,
        inverse_inertia_a: Sym3::ZERO,
        inverse_inertia_b: Sym3::ZERO,
        basis: [V3::ZERO; 3],
        points: [LanePoint::NONE; POINTS],
    };

    /// Computes effective masses from levers, basis and inverse masses; `present` is one where a lane
    /// has the point and zero elsewhere.
    pub(super) fn prepare(&mut self, present: &[R::Wide; POINTS]) {
        let Self { points, basis, inverse_inertia_a, inverse_inertia_b, .. } = self;
        let straight = self.inverse_mass_a + self.inverse_mass_b;
        for (point, &there) in points.iter_mut().zip(present).take(self.count as usize) {
            let turns_a = basis.map(|direction| point.arm_a.cross(direction));
            let turns_b = basis.map(|direction| point.arm_b.cross(direction));
            let coupling = |u: usize, v: usize| {
                turns_a[u].dot(inverse_inertia_a.apply(turns_a[v]))
                    + turns_b[u].dot(inverse_inertia_b.apply(turns_b[v]))
            };
            let along = |u: usize| straight + coupling(u, u);
            let (xx, yy, xy) = (along(1), along(2), coupling(1, 2));
            let determinant = (xx * yy - xy * xy).inverse_or_zero() * there;
            let (mean, half) = ((xx + yy) * R::Wide::HALF, (xx - yy) * R::Wide::HALF);
            let largest = mean + (half * half + xy * xy).sqrt();
            point.mass = along(0).inverse_or_zero() * there;
            point.stick = [yy * determinant, xx * determinant, -(xy * determinant)];
            point.slip = largest.inverse_or_zero() * there;
        }
    }

    /// Normal speed of each point: positive where the surfaces part [m/s].
    pub(super) fn normal_speeds(&self, velocities: &[Velocity<R>]) -> [R::Wide; POINTS] {
        let sides = Sides::gather(self, velocities);
        self.points.map(|point| sides.at(&point).dot(self.basis[0]))
    }

    pub(super) fn warm_start(&self, velocities: &mut [Velocity<R>]) {
        let mut sides = Sides::gather(self, velocities);
        let (mut push, mut turn_a, mut turn_b) = (V3::ZERO, V3::ZERO, V3::ZERO);
        for point in &self.points[..self.count as usize] {
            let impulse = self.world(&point.impulse);
            push += impulse;
            turn_a += point.arm_a.cross(impulse);
            turn_b += point.arm_b.cross(impulse);
        }
        sides.linear_a += push * self.inverse_mass_a;
        sides.linear_b = sides.linear_b - push * self.inverse_mass_b;
        sides.angular_a += self.inverse_inertia_a.apply(turn_a);
        sides.angular_b = sides.angular_b - self.inverse_inertia_b.apply(turn_b);
        sides.scatter(self, velocities);
    }

    /// A vector along normal and tangents in world axes.
    #[inline(always)]
    pub(super) fn world(&self, v: &V3<R::Wide>) -> V3<R::Wide> {
        let [n, t, u] = self.basis;
        n * v.0[0] + t * v.0[1] + u * v.0[2]
    }

    /// One visit of all points.
    #[inline(always)]
    pub(super) fn solve(
        &mut self,
        velocities: &mut [Velocity<R>],
        shifts: &[Velocity<R>],
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
        let zero = R::Wide::ZERO;
        let speed = sides.at(point).dot(self.basis[0]);
        let before = point.impulse.0[0];
        // Surfaces that are apart may approach just so far in one sub-step.
        let apart = point.gap * R::Wide::splat(sweep.inverse_h);
        let next = if sweep.bias {
            let soft = &sweep.softness;
            let overlap = (point.gap + R::Wide::splat(soft.slop)).min(zero);
            let back = overlap * R::Wide::splat(soft.rate);
            let (one, push) = (R::Wide::ONE, R::Wide::splat(sweep.push_speed_max));
            let bias = point.gap.where_above(zero, apart, back.max(-push));
            let mass = point.gap.where_above(zero, one, R::Wide::splat(soft.mass));
            // What is taken from the speed of pushing is taken from the impulse given up too, or else
            // the spring would bear no more than at that depth and sink under more without end.
            let share = (-(back + push)).where_above(zero, push * (-back).inverse_or_zero(), one);
            let given_up = point.gap.where_above(zero, zero, share * R::Wide::splat(soft.impulse));
            before - point.mass * mass * (speed + bias) - given_up * before
        } else {
            before - point.mass * (speed + apart.max(zero))
        };
        let next = next.max(zero);
        self.points[i].impulse.0[0] = next;
        sides.push(self, &self.points[i], self.basis[0] * (next - before));
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
            let zero = R::Wide::ZERO;
            let beyond = held_x * held_x + held_y * held_y - bound * bound;
            // Most points stick, and need not wait for a root and a quotient.
            if beyond.any_above(zero) {
                // A step along the slip, not along the response to it: only then do impulse and slip
                // end up opposite where the cone bounds them.
                let (slid_x, slid_y) = (before_x - point.slip * x, before_y - point.slip * y);
                let size = (slid_x * slid_x + slid_y * slid_y).sqrt();
                let share = (bound * size.inverse_or_zero()).min(R::Wide::ONE);
                (
                    beyond.where_above(zero, slid_x * share, held_x),
                    beyond.where_above(zero, slid_y * share, held_y),
                )
            } else {
                (held_x, held_y)
            }
        };
        let (dx, dy) = (next_x - before_x, next_y - before_y);
        self.points[i].impulse.0[1] = next_x;
        self.points[i].impulse.0[2] = next_y;
        let impulse = self.basis[1] * dx + self.basis[2] * dy;
        sides.push(self, &self.points[i], impulse);
    }

    /// Ends a sub-step: adds its impulses to their sums.
    pub(super) fn conclude(&mut self) {
        for point in &mut self.points[..self.count as usize] {
            point.total += point.impulse;
        }
    }

    /// Lets points part at the `wanted` speeds, those above zero.
    pub(super) fn bounce(&mut self, velocities: &mut [Velocity<R>], wanted: &[R::Wide; POINTS]) {
        let mut sides = Sides::gather(self, velocities);
        for (i, &wanted) in wanted.iter().enumerate().take(self.count as usize) {
            let point = &self.points[i];
            let speed = sides.at(point).dot(self.basis[0]);
            let before = point.impulse.0[0];
            let next = (before + point.mass * (wanted - speed)).max(R::Wide::ZERO);
            let change = wanted.where_above(R::Wide::ZERO, next, before) - before;
            let point = &mut self.points[i];
            point.impulse.0[0] = before + change;
            point.total.0[0] += change;
            sides.push(self, &self.points[i], self.basis[0] * change);
        }
        sides.scatter(self, velocities);
    }
}
