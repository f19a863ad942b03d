//! Where nodes are and how they move, in the precision of a method, and the way from and to a state.

use std::ops::AddAssign;

use taut_core::{BodyState, ParticleState, Placement, Quat, State, Vec3, scene::Drive};
use taut_math::{M3, Q4, Real, Sym3, V3};

use crate::node::Slots;

/// Place and rotation of a node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose<R> {
    /// Centre of mass in the world [m].
    pub position: V3<R>,
    /// Body to world.
    pub rotation: Q4<R>,
}

/// How a node moves.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Velocity<R> {
    /// Of the centre of mass [m/s].
    pub linear: V3<R>,
    /// About it, in world axes [rad/s].
    pub angular: V3<R>,
}

impl<R: Real> Pose<R> {
    /// Unturned at the origin, as the world is.
    pub const ORIGIN: Self = Self { position: V3::ZERO, rotation: Q4::IDENTITY };

    /// That of a body; an affine frame counts as the rotation nearest to it.
    pub fn of(body: &BodyState) -> Self {
        Self { position: V3::of(&body.position), rotation: Q4::of(&body.rotation()) }
    }
}

impl<R: Real> AddAssign for Velocity<R> {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        self.linear += other.linear;
        self.angular += other.angular;
    }
}

impl<R: Real> Velocity<R> {
    /// At rest.
    pub const ZERO: Self = Self { linear: V3::ZERO, angular: V3::ZERO };

    /// That of a body.
    pub fn of(body: &BodyState) -> Self {
        Self { linear: V3::of(&body.velocity), angular: V3::of(&body.omega()) }
    }
}

/// Where a body is and how it moves, for collision queries.
pub fn placement<R: Real>(pose: &Pose<R>, velocity: &Velocity<R>) -> Placement {
    Placement {
        position: pose.position.to_f64(),
        rotation: pose.rotation.to_f64(),
        velocity: velocity.linear.to_f64(),
        omega: velocity.angular.to_f64(),
    }
}

/// The rotation by a vector of angles [rad]: how a driven body turns within a step. Exact, whatever map the method
/// uses for what it solves, so that a prescribed angle depends neither on budget nor on precision.
pub fn driven_turn<R: Real>(angle: Vec3) -> Q4<R> {
    Q4::of(&Quat::from_scaled_axis(angle))
}

/// The velocities by which a body that is at `pose` follows its path within a step of `h` [s] that ends at `end_s` [s].
pub fn driven_rates<R: Real>(drive: &Drive, pose: &Pose<R>, end_s: f64, h: f64) -> Velocity<R> {
    let from = (pose.position.to_f64(), pose.rotation.to_f64());
    let [linear, angular] = drive.rates(from, end_s, h);
    Velocity { linear: V3::of(&linear), angular: V3::of(&angular) }
}

/// Angular velocity after a step of free rotation [rad/s].
///
/// One Newton step of `I (w' - w) + h w' x I w' = 0` in the frame at the step's start, which is
/// stable for any step where the explicit gyroscopic torque is not.
pub fn free_omega<R: Real>(omega: V3<R>, inertia: &Sym3<R>, h: R) -> V3<R> {
    let (w, l) = (omega, inertia.apply(omega));
    let residual = w.cross(l) * h;
    // d(w x I w) = [w]x I - [I w]x.
    let [xx, yy, zz, xy, xz, yz] = inertia.0;
    let rows = [V3([xx, xy, xz]), V3([xy, yy, yz]), V3([xz, yz, zz])];
    let spin = |c: usize| w.cross(rows[c]);
    let columns = [spin(0), spin(1), spin(2)];
    let momentum = M3::skew(l);
    let jacobian = |i: usize, j: usize| rows[i].0[j] + (columns[j].0[i] - momentum.0[i].0[j]) * h;
    let column = |j: usize| V3([jacobian(0, j), jacobian(1, j), jacobian(2, j)]);
    let (c0, c1, c2) = (column(0), column(1), column(2));
    let determinant = c0.dot(c1.cross(c2));
    if determinant.abs() > R::ZERO {
        let scale = R::ONE / determinant;
        let solved = V3([
            residual.dot(c1.cross(c2)),
            c0.dot(residual.cross(c2)),
            c0.dot(c1.cross(residual)),
        ]);
        w - solved * scale
    } else {
        w
    }
}

/// Poses and velocities of all nodes, by slot.
#[derive(Clone, Debug)]
pub struct Motions<R> {
    /// Where everything is among the nodes.
    pub slots: Slots,
    /// Places and rotations.
    pub poses: Vec<Pose<R>>,
    /// Velocities.
    pub velocities: Vec<Velocity<R>>,
}

impl<R: Real> Motions<R> {
    /// Everything at rest at the origin.
    pub fn new(slots: Slots) -> Self {
        let (poses, velocities) =
            (vec![Pose::ORIGIN; slots.count()], vec![Velocity::ZERO; slots.count()]);
        Self { slots, poses, velocities }
    }

    /// Takes over a state that fits the scene.
    pub fn load(&mut self, state: &State) {
        for (i, body) in state.bodies.iter().enumerate() {
            (self.poses[i], self.velocities[i]) = (Pose::of(body), Velocity::of(body));
        }
        for (i, particle) in (self.slots.bodies as usize..).zip(&state.particles) {
            self.poses[i].position = V3::of(&particle.position);
            self.velocities[i].linear = V3::of(&particle.velocity);
        }
    }

    /// Has bodies follow their paths within a step of `h` [s] that ends at `end_s` [s].
    pub fn drive(&mut self, drives: &[Drive], end_s: f64, h: f64) {
        for drive in drives {
            let rates = driven_rates(drive, &self.poses[drive.body], end_s, h);
            self.velocities[drive.body] = rates;
        }
    }

    /// Copies bodies and particles; neither time nor what is broken.
    pub fn read(&self, out: &mut State) {
        let [bodies, world] = [self.slots.bodies, self.slots.world()].map(|slot| slot as usize);
        out.bodies.clear();
        out.bodies.extend(self.placements().map(|p| {
            let Placement { position, rotation, velocity, omega } = p;
            BodyState::rigid(position, rotation, velocity, omega)
        }));
        out.particles.clear();
        out.particles.extend((bodies..world).map(|i| ParticleState {
            position: self.poses[i].position.to_f64(),
            velocity: self.velocities[i].linear.to_f64(),
        }));
    }

    /// Where a body or particle is and how it moves, for collision queries.
    #[inline]
    pub fn placement(&self, node: usize) -> Placement {
        placement(&self.poses[node], &self.velocities[node])
    }

    /// The same of all bodies.
    pub fn placements(&self) -> impl Iterator<Item = Placement> {
        (0..self.slots.bodies as usize).map(|body| self.placement(body))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_comes_back_as_it_was_loaded() {
        let turn = Quat::from_scaled_axis(Vec3::new(0.3, -0.2, 0.5));
        let body = BodyState::rigid(Vec3::x(), turn, Vec3::y(), Vec3::z());
        let particle = ParticleState { position: Vec3::y(), velocity: Vec3::z() };
        let state = State { bodies: vec![body], particles: vec![particle], ..State::default() };
        let mut motions = Motions::<f64>::new(Slots { bodies: 1, particles: 1 });
        motions.load(&state);
        let mut out = State::default();
        motions.read(&mut out);
        assert_eq!(out.particles, state.particles);
        let apart = (out.bodies[0].frame - body.frame).norm()
            + (out.bodies[0].frame_rate - body.frame_rate).norm();
        assert!(apart < 1e-14 && out.bodies[0].position == body.position);
        assert_eq!(motions.poses[2], Pose::ORIGIN);
    }
}
