//! Bodies, particles and the world as the solver sees them, and their motion without constraints.

use taut_core::{
    Mat3, Placement, Quat, Scene, SolverError, State,
    scene::{Endpoint, Motion},
    state::{BodyState, ParticleState},
};
use taut_math::{M3, Q4, Real, Sym3, V3};

/// Rates of a body, or its motion over some time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Twist<R> {
    /// Of the centre of mass [m/s], or [m].
    pub(crate) linear: V3<R>,
    /// About it, in world axes [rad/s], or [rad].
    pub(crate) angular: V3<R>,
}

/// Place and rotation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Pose<R> {
    /// Centre of mass in the world [m].
    pub(crate) position: V3<R>,
    /// Body to world.
    pub(crate) rotation: Q4<R>,
}

/// How readily a body gives way; all zero for what forces do not move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Mobility<R> {
    /// Inverse mass [1/kg].
    pub(crate) inverse_mass: R,
    /// Inverse inertia in world axes [1/(kg m^2)].
    pub(crate) inverse_inertia: Sym3<R>,
}

/// What never changes about a body.
#[derive(Clone, Copy, Debug)]
struct Nature<R> {
    kind: Kind,
    /// Inertia and its inverse in body axes [kg m^2].
    inertia: Sym3<R>,
    inverse_inertia: Sym3<R>,
    /// Whether all principal moments are equal, so that neither turning nor spinning matters.
    isotropic: bool,
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
    /// Current velocities.
    pub(crate) velocities: Vec<Twist<R>>,
    /// Motion since contacts were found, rotations added up.
    pub(crate) shifts: Vec<Twist<R>>,
    /// Current places.
    pub(crate) poses: Vec<Pose<R>>,
    /// Inverse masses at the pose of the last refresh.
    pub(crate) mobilities: Vec<Mobility<R>>,
    natures: Vec<Nature<R>>,
    /// How many of them are bodies.
    bodies: usize,
    gravity: V3<R>,
    gyroscopic: bool,
}

/// The index of an endpoint among the poses.
pub(crate) fn slot(scene: &Scene, endpoint: Endpoint) -> usize {
    match endpoint {
        Endpoint::Body(i) => i,
        Endpoint::Particle(i) => scene.bodies.len() + i,
        Endpoint::World => scene.bodies.len() + scene.particles.len(),
    }
}

impl<R: Real> Twist<R> {
    pub(crate) const ZERO: Self = Self { linear: V3::ZERO, angular: V3::ZERO };
}

impl<R: Real> Pose<R> {
    const ORIGIN: Self = Self { position: V3::ZERO, rotation: Q4::IDENTITY };
}

impl<R: Real> Nature<R> {
    const FIXED: Self = Self {
        kind: Kind::Fixed,
        inertia: Sym3::ZERO,
        inverse_inertia: Sym3::ZERO,
        isotropic: true,
    };

    fn of_body(motion: Motion, inertia: &Mat3) -> Self {
        let kind = match motion {
            Motion::Dynamic => Kind::Body,
            Motion::Kinematic => return Self { kind: Kind::Kinematic, ..Self::FIXED },
            Motion::Static => return Self::FIXED,
        };
        let Some(inverse) = inertia.try_inverse() else { return Self { kind, ..Self::FIXED } };
        let mean = inertia.trace() / 3.0;
        Self {
            kind,
            inertia: Sym3::of(inertia),
            inverse_inertia: Sym3::of(&inverse),
            isotropic: (inertia - Mat3::identity() * mean).abs().max() <= 1e-12 * mean,
        }
    }
}

impl<R: Real> Bodies<R> {
    /// The bodies of a scene, before any state is loaded.
    pub(crate) fn new(scene: &Scene, gyroscopic: bool) -> Self {
        let bodies = scene.bodies.iter().map(|b| Nature::of_body(b.motion, &b.inertia));
        let particles = scene.particles.iter().map(|p| Nature {
            kind: if p.mass > 0.0 { Kind::Particle } else { Kind::Fixed },
            ..Nature::FIXED
        });
        let natures: Vec<_> = bodies.chain(particles).chain([Nature::FIXED]).collect();
        let masses = scene.bodies.iter().map(|b| b.mass);
        let masses = masses.chain(scene.particles.iter().map(|p| p.mass)).chain([0.0]);
        let mobility = |(mass, nature): (f64, &Nature<R>)| {
            let moves = matches!(nature.kind, Kind::Body | Kind::Particle) && mass > 0.0;
            let inverse_mass = R::of(if moves { 1.0 / mass } else { 0.0 });
            Mobility { inverse_mass, inverse_inertia: nature.inverse_inertia }
        };
        Self {
            velocities: vec![Twist::ZERO; natures.len()],
            shifts: vec![Twist::ZERO; natures.len()],
            poses: vec![Pose::ORIGIN; natures.len()],
            mobilities: masses.zip(&natures).map(mobility).collect(),
            natures,
            bodies: scene.bodies.len(),
            gravity: V3::of(&scene.gravity),
            gyroscopic,
        }
    }

    /// Takes places and velocities from a state.
    pub(crate) fn load(&mut self, scene: &Scene, state: &State) -> Result<(), SolverError> {
        state.check_fits(scene)?;
        for (i, body) in state.bodies.iter().enumerate() {
            let (position, rotation) = (V3::of(&body.position), Q4::of(&body.rotation()));
            self.poses[i] = Pose { position, rotation };
            let (linear, angular) = (V3::of(&body.velocity), V3::of(&body.omega()));
            self.velocities[i] = Twist { linear, angular };
        }
        for (i, particle) in state.particles.iter().enumerate() {
            let i = self.bodies + i;
            self.poses[i].position = V3::of(&particle.position);
            self.velocities[i].linear = V3::of(&particle.velocity);
        }
        Ok(())
    }

    /// Copies places and velocities.
    pub(crate) fn read(&self, out: &mut State) {
        out.bodies.clear();
        out.bodies.extend((0..self.bodies).map(|i| {
            let Placement { position, rotation, velocity, omega } = self.placement(i);
            BodyState::rigid(position, rotation, velocity, omega)
        }));
        out.particles.clear();
        let particles = self.bodies..self.poses.len() - 1;
        out.particles.extend(particles.map(|i| ParticleState {
            position: self.poses[i].position.to_f64(),
            velocity: self.velocities[i].linear.to_f64(),
        }));
    }

    /// Where all bodies are and how they move.
    pub(crate) fn placements(&self) -> impl Iterator<Item = Placement> {
        (0..self.bodies).map(|i| self.placement(i))
    }

    fn placement(&self, i: usize) -> Placement {
        let (pose, velocity) = (&self.poses[i], &self.velocities[i]);
        Placement {
            position: pose.position.to_f64(),
            rotation: pose.rotation.to_f64(),
            velocity: velocity.linear.to_f64(),
            omega: velocity.angular.to_f64(),
        }
    }

    /// Whether impulses move the body in this slot.
    pub(crate) fn moves(&self, slot: usize) -> bool {
        self.mobilities[slot].inverse_mass > R::ZERO
    }

    /// Starts to count motion anew.
    pub(crate) fn forget_shifts(&mut self) {
        self.shifts.fill(Twist::ZERO);
    }

    /// Turns the inverse inertia of one slot with its body.
    pub(crate) fn refresh(&mut self, slot: usize) {
        let nature = &self.natures[slot];
        if !nature.isotropic {
            let turn = self.poses[slot].rotation.matrix();
            self.mobilities[slot].inverse_inertia = nature.inverse_inertia.rotated(&turn);
        }
    }

    /// Turns the inverse inertia of all bodies with them.
    pub(crate) fn refresh_all(&mut self) {
        (0..self.bodies).for_each(|slot| self.refresh(slot));
    }

    /// Velocities under gravity and gyroscopic torque alone.
    pub(crate) fn integrate_velocities(&mut self, h: R) {
        let fall = self.gravity * h;
        let all = self.velocities.iter_mut().zip(&self.poses).zip(&self.natures);
        for ((velocity, pose), nature) in all {
            match nature.kind {
                Kind::Fixed | Kind::Kinematic => {}
                Kind::Particle => velocity.linear += fall,
                Kind::Body => {
                    velocity.linear += fall;
                    if self.gyroscopic && !nature.isotropic {
                        velocity.angular = precessed(velocity.angular, pose, &nature.inertia, h);
                    }
                }
            }
        }
    }

    /// Places after `h` seconds at the present velocities.
    pub(crate) fn integrate_positions(&mut self, h: R) {
        let places = self.poses.iter_mut().zip(&mut self.shifts);
        for (((pose, shift), velocity), nature) in places.zip(&self.velocities).zip(&self.natures) {
            if nature.kind == Kind::Fixed {
                continue;
            }
            let (way, turn) = (velocity.linear * h, velocity.angular * h);
            pose.position += way;
            shift.linear += way;
            shift.angular += turn;
            match nature.kind {
                Kind::Body => pose.rotation = pose.rotation.advanced(turn),
                // Exact, so that a prescribed angle does not depend on the budget.
                Kind::Kinematic => {
                    let turn = Quat::from_scaled_axis(turn.to_f64());
                    pose.rotation = Q4::of(&turn).times(pose.rotation).normalised();
                }
                Kind::Fixed | Kind::Particle => {}
            }
        }
    }
}

/// Angular velocity after `h` seconds of free spin: one Newton step of
/// `I (w' - w) + h w' x I w' = 0` in body axes (Catto, Numerical Methods, GDC 2015).
fn precessed<R: Real>(omega: V3<R>, pose: &Pose<R>, inertia: &Sym3<R>, h: R) -> V3<R> {
    let w = pose.rotation.conjugate().rotate(omega);
    let spin = inertia.apply(w);
    let residual = w.cross(spin) * h;
    // Rows of I + h ([w] I - [I w]).
    let (column, skew) = (|j| inertia.apply(V3::axis(j)), M3::skew(spin));
    let torque = [0, 1, 2].map(|j| w.cross(column(j)));
    let row = |i: usize| {
        let entry = |j: usize| column(j).0[i] + (torque[j].0[i] - skew.0[i].0[j]) * h;
        V3([entry(0), entry(1), entry(2)])
    };
    let (x, y, z) = (row(0), row(1), row(2));
    let across = [y.cross(z), z.cross(x), x.cross(y)];
    let determinant = x.dot(across[0]);
    let [a, b, c] = residual.0;
    let change = (across[0] * a + across[1] * b + across[2] * c) * (R::ONE / determinant);
    pose.rotation.rotate(w - change)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_spin_solves_the_implicit_equation() {
        let inertia = Sym3([2.0, 3.0, 4.5, 0.1, -0.2, 0.05]);
        let rotation = Q4::of(&Quat::from_scaled_axis(taut_core::Vec3::new(0.4, -1.1, 0.7)));
        let pose = Pose { position: V3::ZERO, rotation };
        let omega = V3([1.0, -2.0, 0.5]);
        let residual = |h: f64| {
            let before = rotation.conjugate().rotate(omega);
            let after = rotation.conjugate().rotate(precessed(omega, &pose, &inertia, h));
            let rest = inertia.apply(after - before) + after.cross(inertia.apply(after)) * h;
            rest.norm()
        };
        // What one Newton step leaves is of third order in h.
        let (coarse, fine) = (residual(1e-2), residual(5e-3));
        assert!(coarse < 1e-3 && (coarse / fine / 8.0 - 1.0).abs() < 0.1, "{coarse} {fine}");
    }
}
