//! Bodies, particles and the world as the solver sees them, and their motion without constraints.

use taut_core::{Scene, State};
use taut_math::{M3, Real, Sym3, V3};
use taut_model::{Model, Motions, Node, NodeKind, Pose, Pulls, Velocity, driven_turn};

/// How readily a body gives way; all zero for what forces do not move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct WorldWeight<R> {
    /// Inverse mass [1/kg].
    pub(crate) inverse_mass: R,
    /// Inverse inertia in world axes [1/(kg m^2)].
    pub(crate) inverse_inertia: Sym3<R>,
}

/// What never changes about a body.
#[derive(Clone, Copy, Debug)]
struct BodyAxes<R> {
    kind: NodeKind,
    /// Inertia and its inverse in body axes [kg m^2].
    inertia: Sym3<R>,
    inverse_inertia: Sym3<R>,
    /// See [`Node::is_isotropic`].
    isotropic: bool,
}

/// Everything that can be at an end of a joint: bodies, then particles, then the world.
#[derive(Clone, Debug)]
pub(crate) struct VelocityBodies<R> {
    /// Current places and velocities.
    pub(crate) now: Motions<R>,
    /// Motion since contacts were found, rotations added up.
    pub(crate) shifts: Vec<Velocity<R>>,
    /// Inverse masses at the pose of the last refresh.
    pub(crate) weights: Vec<WorldWeight<R>>,
    pub(crate) pulls: Pulls<R>,
    natures: Vec<BodyAxes<R>>,
    gravity: V3<R>,
    gyroscopic: bool,
}

impl<R: Real> BodyAxes<R> {
    fn of(node: &Node) -> Self {
        let Node { kind, inertia, inverse_inertia, .. } = node;
        Self {
            kind: *kind,
            inertia: Sym3::of(inertia),
            inverse_inertia: Sym3::of(inverse_inertia),
            isotropic: node.is_isotropic(),
        }
    }
}

impl<R: Real> VelocityBodies<R> {
    /// The bodies of a scene, before any state is loaded.
    pub(crate) fn new(scene: &Scene, model: &Model, gyroscopic: bool) -> Self {
        let weight = |node: &Node| WorldWeight {
            inverse_mass: R::of(node.inverse_mass()),
            inverse_inertia: Sym3::of(&node.inverse_inertia),
        };
        Self {
            now: Motions::new(model.slots),
            shifts: vec![Velocity::ZERO; model.slots.count()],
            weights: model.nodes.iter().map(weight).collect(),
            pulls: Pulls::of(scene),
            natures: model.nodes.iter().map(BodyAxes::of).collect(),
            gravity: V3::of(&model.gravity),
            gyroscopic,
        }
    }

    /// Takes places and velocities from a state.
    pub(crate) fn load(&mut self, state: &State) {
        self.now.load(state);
        self.pulls.forget();
    }

    /// Whether impulses move the body in this slot.
    pub(crate) fn moves(&self, slot: usize) -> bool {
        self.weights[slot].inverse_mass > R::ZERO
    }

    /// Inverse mass and inertia of a slot; nothing moves one that is no body's.
    #[inline(always)]
    pub(crate) fn weight(&self, slot: usize) -> WorldWeight<R> {
        let none = WorldWeight { inverse_mass: R::ZERO, inverse_inertia: Sym3::ZERO };
        self.weights.get(slot).copied().unwrap_or(none)
    }

    /// Starts to count motion anew.
    pub(crate) fn forget_shifts(&mut self) {
        self.shifts.fill(Velocity::ZERO);
    }

    /// Turns the inverse inertia of one slot with its body.
    pub(crate) fn refresh(&mut self, slot: usize) {
        let nature = &self.natures[slot];
        if !nature.isotropic {
            let turn = self.now.poses[slot].rotation.matrix();
            self.weights[slot].inverse_inertia = nature.inverse_inertia.rotated(&turn);
        }
    }

    /// Turns the inverse inertia of all bodies with them.
    pub(crate) fn refresh_all(&mut self) {
        (0..self.now.slots.bodies as usize).for_each(|slot| self.refresh(slot));
    }

    /// Finds what the pulls come to in the step that starts.
    pub(crate) fn begin_pulls(&mut self) {
        let (natures, now) = (&self.natures, &self.now);
        self.pulls.begin(|body| {
            let moves = body < now.slots.bodies as usize && natures[body].kind == NodeKind::Body;
            moves.then(|| now.poses[body].position)
        });
    }

    /// Finds what pulls and the forces of the scene come to in a sub-step whose middle is at `middle_s` [s].
    pub(crate) fn apply(&mut self, middle_s: f64, broken: &[bool]) {
        let now = &self.now;
        self.pulls.apply(middle_s, broken, |body| now.poses[body]);
    }

    /// Velocities under gravity, pulls and gyroscopic torque alone.
    pub(crate) fn integrate_velocities(&mut self, h: R) {
        let fall = self.gravity * h;
        for (body, wrench) in self.pulls.iter() {
            let WorldWeight { inverse_mass, inverse_inertia } = &self.weights[body];
            self.now.velocities[body] += wrench.kick(*inverse_mass, inverse_inertia, h);
        }
        let all = self.now.velocities.iter_mut().zip(&self.now.poses).zip(&self.natures);
        for ((velocity, pose), nature) in all {
            match nature.kind {
                NodeKind::Held | NodeKind::Driven => {}
                NodeKind::Particle => velocity.linear += fall,
                NodeKind::Body => {
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
        let places = self.now.poses.iter_mut().zip(&mut self.shifts);
        for (((pose, shift), velocity), nature) in
            places.zip(&self.now.velocities).zip(&self.natures)
        {
            if nature.kind == NodeKind::Held {
                continue;
            }
            let (way, turn) = (velocity.linear * h, velocity.angular * h);
            pose.position += way;
            shift.linear += way;
            shift.angular += turn;
            match nature.kind {
                NodeKind::Body => pose.rotation = pose.rotation.advanced(turn),
                NodeKind::Driven => {
                    let turn = driven_turn(turn.to_f64());
                    pose.rotation = turn.times(pose.rotation).normalised();
                }
                NodeKind::Held | NodeKind::Particle => {}
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
    use taut_core::{Quat, Vec3};
    use taut_math::Q4;

    use super::*;

    #[test]
    fn free_spin_solves_the_implicit_equation() {
        let inertia = Sym3([2.0, 3.0, 4.5, 0.1, -0.2, 0.05]);
        let rotation = Q4::of(&Quat::from_scaled_axis(Vec3::new(0.4, -1.1, 0.7)));
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
