//! Bodies, particles and the world as the solver sees them, and their motion without joints.

use rayon::prelude::*;
use taut_core::{Mat3, State};
use taut_math::{Q4, Real, Sym3, V3};
use taut_model::{Model, Motions, Node, NodeKind, Pose, Pulls, Rotation, Velocity, driven_turn};

/// Bodies per task below which splitting a loop costs more than it gains.
const GRAIN: usize = 512;

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

/// How it moves by itself.
#[derive(Clone, Copy, Debug)]
struct FreeMotion<R> {
    /// Inertia in body axes [kg m^2].
    inertia: Sym3<R>,
    /// See [`Node::is_isotropic`].
    isotropic: bool,
    kind: NodeKind,
}

/// Everything that can be at an end of a joint: bodies, then particles, then the world.
#[derive(Clone, Debug)]
pub(crate) struct PositionBodies<R> {
    /// Current places, and velocities; within a step or sub-step the predicted ones.
    pub(crate) now: Motions<R>,
    /// Inverse masses.
    pub(crate) weights: Vec<Weight<R>>,
    /// Places at the start of the step or sub-step.
    pub(crate) previous: Vec<Pose<R>>,
    natures: Vec<FreeMotion<R>>,
}

/// What a prediction depends on beside the bodies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct External<R> {
    /// Gravitational acceleration [m/s^2].
    pub(crate) gravity: V3<R>,
    /// Whether the gyroscopic torque counts.
    pub(crate) gyroscopic: bool,
}

impl<R: Real> Weight<R> {
    fn of(node: &Node) -> Self {
        Self {
            inverse_mass: R::of(node.inverse_mass()),
            inverse_inertia: Sym3::of(&node.inverse_inertia),
            turns: node.inverse_inertia != Mat3::zeros(),
        }
    }
}

impl<R: Real> Weight<R> {
    /// That of a point of this inverse mass [1/kg].
    pub(crate) fn of_point(inverse_mass: R) -> Self {
        Self { inverse_mass, inverse_inertia: Sym3::ZERO, turns: false }
    }
}

impl<R: Real> PositionBodies<R> {
    /// Drops all ends that were added to those of the scene.
    pub(crate) fn dismount(&mut self) {
        let own = self.now.slots.count();
        self.now.poses.truncate(own);
        self.now.velocities.truncate(own);
        self.weights.truncate(own);
    }

    /// The bodies of a scene, before any state is loaded.
    pub(crate) fn new(model: &Model) -> Self {
        let now = Motions::new(model.slots);
        let nature = |node: &Node| FreeMotion {
            inertia: Sym3::of(&node.inertia),
            isotropic: node.is_isotropic(),
            kind: node.kind,
        };
        Self {
            previous: now.poses.clone(),
            now,
            weights: model.nodes.iter().map(Weight::of).collect(),
            natures: model.nodes.iter().map(nature).collect(),
        }
    }

    /// Takes places and velocities from a state.
    pub(crate) fn load(&mut self, state: &State) {
        self.now.load(state);
        self.previous.clone_from(&self.now.poses);
    }

    /// The centre of mass of a body that forces move [m].
    pub(crate) fn centre(&self, body: usize) -> Option<V3<R>> {
        let moves =
            body < self.now.slots.bodies as usize && self.natures[body].kind == NodeKind::Body;
        moves.then(|| self.now.poses[body].position)
    }

    /// Gives pulled bodies their velocity of `h`.
    pub(crate) fn kick(&mut self, pulls: &Pulls<R>, h: R) {
        for (body, wrench) in pulls.iter() {
            let Weight { inverse_mass, inverse_inertia, .. } = &self.weights[body];
            let turned = inverse_inertia.rotated(&self.now.poses[body].rotation.matrix());
            self.now.velocities[body] += wrench.kick(*inverse_mass, &turned, h);
        }
    }

    /// Moves everything over `h` as if there were no joints.
    pub(crate) fn predict(&mut self, h: R, external: &External<R>) {
        type Places<'a, R> = (&'a mut Pose<R>, &'a mut Pose<R>);
        type Advanced<'a, R> =
            ((Places<'a, R>, &'a mut Velocity<R>), (&'a FreeMotion<R>, &'a Weight<R>));
        let advance = |(((pose, previous), velocity), (nature, weight)): Advanced<'_, R>| {
            *previous = *pose;
            nature.advance(pose, velocity, weight, h, external);
        };
        if is_split(self.now.poses.len()) {
            let places = self.now.poses.par_iter_mut().zip(&mut self.previous);
            let given = self.natures.par_iter().zip(&self.weights);
            let bodies = places.zip(&mut self.now.velocities).zip(given);
            bodies.with_min_len(GRAIN).for_each(advance);
        } else {
            let places = self.now.poses.iter_mut().zip(&mut self.previous);
            let given = self.natures.iter().zip(&self.weights);
            places.zip(&mut self.now.velocities).zip(given).for_each(advance);
        }
    }

    /// Takes velocities from the motion since the prediction started.
    pub(crate) fn derive_velocities(&mut self, h: R, rotation: Rotation) {
        let inverse = R::ONE / h;
        type Travelled<'a, R> =
            (((&'a Pose<R>, &'a Pose<R>), &'a mut Velocity<R>), &'a FreeMotion<R>);
        let derive = |(((pose, previous), velocity), nature): Travelled<'_, R>| {
            nature.travelled(pose, previous, velocity, inverse, rotation);
        };
        if is_split(self.now.poses.len()) {
            let places = self.now.poses.par_iter().zip(&self.previous);
            let bodies = places.zip(&mut self.now.velocities).zip(&self.natures);
            bodies.with_min_len(GRAIN).for_each(derive);
        } else {
            let places = self.now.poses.iter().zip(&self.previous);
            places.zip(&mut self.now.velocities).zip(&self.natures).for_each(derive);
        }
    }
}

/// Whether a loop over `count` bodies is worth sharing among threads.
fn is_split(count: usize) -> bool {
    count > 2 * GRAIN && rayon::current_num_threads() > 1
}

impl<R: Real> FreeMotion<R> {
    /// Müller et al. 2020, algorithm 2: velocities under external forces, then places.
    #[inline]
    fn advance(
        &self,
        pose: &mut Pose<R>,
        velocity: &mut Velocity<R>,
        weight: &Weight<R>,
        h: R,
        external: &External<R>,
    ) {
        match self.kind {
            NodeKind::Held => {}
            NodeKind::Particle => {
                velocity.linear += external.gravity * h;
                pose.position += velocity.linear * h;
            }
            NodeKind::Body => {
                velocity.linear += external.gravity * h;
                pose.position += velocity.linear * h;
                if external.gyroscopic && !self.isotropic {
                    velocity.angular = self.precessed(velocity.angular, pose.rotation, weight, h);
                }
                pose.rotation = pose.rotation.advanced(velocity.angular * h);
            }
            NodeKind::Driven => {
                pose.position += velocity.linear * h;
                let turn = driven_turn((velocity.angular * h).to_f64());
                pose.rotation = turn.times(pose.rotation).normalised();
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
        velocity: &mut Velocity<R>,
        inverse: R,
        rotation: Rotation,
    ) {
        match self.kind {
            NodeKind::Held | NodeKind::Driven => {}
            NodeKind::Particle => velocity.linear = (pose.position - previous.position) * inverse,
            NodeKind::Body => {
                let turn = pose.rotation.times(previous.rotation.conjugate());
                // Of the two quaternions of a rotation the one with the shorter way is meant.
                let sign = if turn.w < R::ZERO { -R::TWO } else { R::TWO };
                let rate = match rotation {
                    Rotation::Published => sign * inverse,
                    Rotation::Cayley => R::TWO * inverse / turn.w,
                };
                velocity.linear = (pose.position - previous.position) * inverse;
                velocity.angular = turn.v * rate;
            }
        }
    }
}
