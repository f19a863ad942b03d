//! Bodies, particles and the world as the solver sees them, and their motion without joints.

use rayon::prelude::*;
use taut_core::{
    Placement, Quat, Scene, SolverError, State,
    scene::{Endpoint, Motion},
    state::{BodyState, ParticleState},
};
use taut_math::{Q4, Real, Sym3, V3};
use taut_model::Rotation;

use crate::correct::End;

/// Bodies per task below which splitting a loop costs more than it gains.
const GRAIN: usize = 512;

/// Place and rotation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Pose<R> {
    /// Centre of mass in the world [m].
    pub(crate) position: V3<R>,
    /// Body to world.
    pub(crate) rotation: Q4<R>,
}

/// How readily a body gives way; all zero for what forces do not move.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Weight<R> {
    /// Inverse mass [1/kg].
    pub(crate) inverse_mass: R,
    /// Inverse inertia in body axes [1/(kg m^2)].
    pub(crate) inverse_inertia: Sym3<R>,
    /// Whether it has a rotation that can change.
    pub(crate) turns: bool,
}

/// Velocities.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Twist<R> {
    /// Velocity of the centre of mass [m/s].
    pub(crate) velocity: V3<R>,
    /// Angular velocity, world axes [rad/s].
    pub(crate) omega: V3<R>,
}

/// How it moves by itself.
#[derive(Clone, Copy, Debug)]
struct Nature<R> {
    /// Inertia in body axes [kg m^2].
    inertia: Sym3<R>,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Body,
    Particle,
    Kinematic,
    Fixed,
}

/// Everything that can be at an end of a joint: bodies, then particles, then the world.
#[derive(Clone, Debug)]
pub(crate) struct Bodies<R> {
    /// Current places.
    pub(crate) poses: Vec<Pose<R>>,
    /// Inverse masses.
    pub(crate) weights: Vec<Weight<R>>,
    /// Places at the start of the step or sub-step.
    pub(crate) previous: Vec<Pose<R>>,
    /// Velocities; within a step or sub-step the predicted ones.
    pub(crate) twists: Vec<Twist<R>>,
    natures: Vec<Nature<R>>,
    /// How many of them are bodies.
    pub(crate) bodies: usize,
}

/// What a prediction depends on beside the bodies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Drift<R> {
    /// Gravitational acceleration [m/s^2].
    pub(crate) gravity: V3<R>,
    /// Whether the gyroscopic torque counts.
    pub(crate) gyroscopic: bool,
}

/// The index of an endpoint among the poses.
pub(crate) fn slot(scene: &Scene, endpoint: Endpoint) -> usize {
    match endpoint {
        Endpoint::Body(i) => i,
        Endpoint::Particle(i) => scene.bodies.len() + i,
        Endpoint::World => scene.bodies.len() + scene.particles.len(),
    }
}

impl<R: Real> Pose<R> {
    const ORIGIN: Self = Self { position: V3::ZERO, rotation: Q4::IDENTITY };
}

impl<R: Real> Weight<R> {
    const NONE: Self = Self { inverse_mass: R::ZERO, inverse_inertia: Sym3::ZERO, turns: false };

    fn of_mass(mass: f64) -> Self {
        let inverse = if mass > 0.0 { 1.0 / mass } else { 0.0 };
        Self { inverse_mass: R::of(inverse), ..Self::NONE }
    }
}

impl<R: Real> Bodies<R> {
    /// The bodies of a scene, before any state is loaded.
    pub(crate) fn new(scene: &Scene) -> Self {
        let count = scene.bodies.len() + scene.particles.len() + 1;
        let fixed = Nature { inertia: Sym3::ZERO, kind: Kind::Fixed };
        let (mut weights, mut natures) = (vec![Weight::NONE; count], vec![fixed; count]);
        for (i, body) in scene.bodies.iter().enumerate() {
            natures[i].kind = match body.motion {
                Motion::Dynamic => Kind::Body,
                Motion::Kinematic => Kind::Kinematic,
                Motion::Static => Kind::Fixed,
            };
            if body.is_dynamic() {
                let inverse = body.inertia.try_inverse();
                natures[i].inertia = Sym3::of(&body.inertia);
                weights[i] = Weight::of_mass(body.mass);
                weights[i].turns = inverse.is_some();
                weights[i].inverse_inertia = inverse.map_or(Sym3::ZERO, |m| Sym3::of(&m));
            }
        }
        for (i, particle) in scene.particles.iter().enumerate() {
            let i = scene.bodies.len() + i;
            weights[i] = Weight::of_mass(particle.mass);
            natures[i].kind = if particle.mass > 0.0 { Kind::Particle } else { Kind::Fixed };
        }
        let poses = vec![Pose::ORIGIN; count];
        let twists = vec![Twist { velocity: V3::ZERO, omega: V3::ZERO }; count];
        let bodies = scene.bodies.len();
        Self { previous: poses.clone(), poses, weights, twists, natures, bodies }
    }

    /// One of them as an end of a joint.
    pub(crate) fn end(&self, slot: u32) -> End<'_, R> {
        End { pose: self.poses[slot as usize], weight: &self.weights[slot as usize] }
    }

    /// What collision queries know of a body.
    pub(crate) fn placement(&self, body: usize) -> Placement {
        let (Pose { position, rotation }, Twist { velocity, omega }) =
            (self.poses[body], self.twists[body]);
        Placement {
            position: position.to_f64(),
            rotation: rotation.to_f64(),
            velocity: velocity.to_f64(),
            omega: omega.to_f64(),
        }
    }

    /// Takes places and velocities from a state.
    pub(crate) fn load(&mut self, scene: &Scene, state: &State) -> Result<(), SolverError> {
        state.check_fits(scene)?;
        for (i, body) in state.bodies.iter().enumerate() {
            let (position, rotation) = (V3::of(&body.position), Q4::of(&body.rotation()));
            self.poses[i] = Pose { position, rotation };
            self.twists[i].velocity = V3::of(&body.velocity);
            self.twists[i].omega = V3::of(&body.omega());
        }
        for (i, particle) in state.particles.iter().enumerate() {
            let i = self.bodies + i;
            self.poses[i].position = V3::of(&particle.position);
            self.twists[i].velocity = V3::of(&particle.velocity);
        }
        self.previous.clone_from(&self.poses);
        Ok(())
    }

    /// Moves everything over `h` as if there were no joints.
    pub(crate) fn predict(&mut self, h: R, drift: &Drift<R>) {
        type Place<'a, R> = (&'a mut Pose<R>, &'a mut Pose<R>);
        type Item<'a, R> = ((Place<'a, R>, &'a mut Twist<R>), (&'a Nature<R>, &'a Weight<R>));
        let advance = |(((pose, previous), twist), (nature, weight)): Item<'_, R>| {
            *previous = *pose;
            nature.advance(pose, twist, weight, h, drift);
        };
        if is_split(self.poses.len()) {
            let places = self.poses.par_iter_mut().zip(&mut self.previous);
            let given = self.natures.par_iter().zip(&self.weights);
            let bodies = places.zip(&mut self.twists).zip(given);
            bodies.with_min_len(GRAIN).for_each(advance);
        } else {
            let places = self.poses.iter_mut().zip(&mut self.previous);
            let given = self.natures.iter().zip(&self.weights);
            places.zip(&mut self.twists).zip(given).for_each(advance);
        }
    }

    /// Takes velocities from the motion since the prediction started.
    pub(crate) fn derive_velocities(&mut self, h: R, rotation: Rotation) {
        let inverse = R::ONE / h;
        type Item<'a, R> = (((&'a Pose<R>, &'a Pose<R>), &'a mut Twist<R>), &'a Nature<R>);
        let derive = |(((pose, previous), twist), nature): Item<'_, R>| {
            nature.travelled(pose, previous, twist, inverse, rotation);
        };
        if is_split(self.poses.len()) {
            let places = self.poses.par_iter().zip(&self.previous);
            let bodies = places.zip(&mut self.twists).zip(&self.natures);
            bodies.with_min_len(GRAIN).for_each(derive);
        } else {
            let places = self.poses.iter().zip(&self.previous);
            places.zip(&mut self.twists).zip(&self.natures).for_each(derive);
        }
    }

    /// Copies places and velocities.
    pub(crate) fn read(&self, out: &mut State) {
        let current = |i: usize| {
            let Twist { velocity, omega } = self.twists[i];
            (&self.poses[i], velocity.to_f64(), omega.to_f64())
        };
        out.bodies.clear();
        out.bodies.extend((0..self.bodies).map(|i| {
            let (pose, velocity, omega) = current(i);
            BodyState::rigid(pose.position.to_f64(), pose.rotation.to_f64(), velocity, omega)
        }));
        out.particles.clear();
        out.particles.extend((self.bodies..self.poses.len() - 1).map(|i| {
            let (pose, velocity, _) = current(i);
            ParticleState { position: pose.position.to_f64(), velocity }
        }));
    }
}

/// Whether a loop over `count` bodies is worth sharing among threads.
fn is_split(count: usize) -> bool {
    count > 2 * GRAIN && rayon::current_num_threads() > 1
}

impl<R: Real> Nature<R> {
    /// Müller et al. 2020, algorithm 2: velocities under external forces, then places.
    #[inline]
    fn advance(
        &self,
        pose: &mut Pose<R>,
        twist: &mut Twist<R>,
        weight: &Weight<R>,
        h: R,
        drift: &Drift<R>,
    ) {
        match self.kind {
            Kind::Fixed => {}
            Kind::Particle => {
                twist.velocity += drift.gravity * h;
                pose.position += twist.velocity * h;
            }
            Kind::Body => {
                twist.velocity += drift.gravity * h;
                pose.position += twist.velocity * h;
                if drift.gyroscopic {
                    twist.omega = self.precessed(twist.omega, pose.rotation, weight, h);
                }
                pose.rotation = pose.rotation.advanced(twist.omega * h);
            }
            Kind::Kinematic => {
                pose.position += twist.velocity * h;
                // Exact, so that a prescribed angle does not depend on the budget.
                let turn = Quat::from_scaled_axis((twist.omega * h).to_f64());
                pose.rotation = Q4::of(&turn).times(pose.rotation).normalised();
            }
        }
    }

    /// `omega - h I^-1 (omega x I omega)`, explicit as published, in body axes.
    #[inline]
    fn precessed(&self, omega: V3<R>, rotation: Q4<R>, weight: &Weight<R>, h: R) -> V3<R> {
        let local = rotation.conjugate().rotate(omega);
        let torque = local.cross(self.inertia.apply(local));
        omega - rotation.rotate(weight.inverse_inertia.apply(torque) * h)
    }

    /// Sets the velocities that led from `previous` to `pose` in `1 / inverse` seconds.
    #[inline]
    fn travelled(
        &self,
        pose: &Pose<R>,
        previous: &Pose<R>,
        twist: &mut Twist<R>,
        inverse: R,
        rotation: Rotation,
    ) {
        match self.kind {
            Kind::Fixed | Kind::Kinematic => {}
            Kind::Particle => twist.velocity = (pose.position - previous.position) * inverse,
            Kind::Body => {
                let turn = pose.rotation.times(previous.rotation.conjugate());
                // Of the two quaternions of a rotation the one with the shorter way is meant.
                let sign = if turn.w < R::ZERO { -R::TWO } else { R::TWO };
                let rate = match rotation {
                    Rotation::Published => sign * inverse,
                    Rotation::Cayley => R::TWO * inverse / turn.w,
                };
                twist.velocity = (pose.position - previous.position) * inverse;
                twist.omega = turn.v * rate;
            }
        }
    }
}
