//! Pulls from outside and the forces of a scene, as forces on bodies in the precision of a method.

use taut_core::{
    Pull, Scene, Vec3,
    applied::AppliedForces,
    constraint,
    scene::{Endpoint, Motion},
};
use taut_math::{Real, Sym3, V3};

use crate::{
    motion::{Pose, Velocity},
    wrench::Wrench,
};

/// The pulls that are set, the forces of the scene, and what both come to in the step at hand.
#[derive(Clone, Debug, Default)]
pub struct Pulls<R> {
    set: Vec<Pull>,
    applied: AppliedForces,
    /// Which bodies forces move, in scenes with applied forces.
    moves: Vec<bool>,
    /// Body by body, in the order in which each is first named.
    wrenches: Vec<(usize, Wrench<R>)>,
    /// The same of pulls alone, where forces are applied too.
    pulled: Vec<(usize, Wrench<R>)>,
}

impl<R: Real> Pulls<R> {
    /// No pulls, and the forces of a scene.
    pub fn of(scene: &Scene) -> Self {
        let applied = AppliedForces::of(scene);
        let dynamic = scene.bodies.iter().map(|body| body.motion == Motion::Dynamic);
        let moves = if applied.is_empty() { vec![] } else { dynamic.collect() };
        let most = applied.most();
        let (wrenches, pulled) = (Vec::with_capacity(most), vec![]);
        Self { set: vec![], applied, moves, wrenches, pulled }
    }

    /// Replaces the pulls; they count from the next step on.
    pub fn set(&mut self, pulls: &[Pull]) {
        self.set.clear();
        self.set.extend_from_slice(pulls);
    }

    /// Takes all of them away.
    pub fn forget(&mut self) {
        self.set.clear();
        self.wrenches.clear();
        self.pulled.clear();
    }

    /// Whether there are none, and no forces of the scene either.
    pub fn is_empty(&self) -> bool {
        self.set.is_empty() && self.applied.is_empty()
    }

    /// Begins a step. `centre` tells where a body's centre of mass is [m], or nothing where forces do not
    /// move it or there is no such body.
    pub fn begin(&mut self, centre: impl Fn(usize) -> Option<V3<R>>) {
        self.wrenches.clear();
        for pull in &self.set {
            let Some(centre) = centre(pull.body) else { continue };
            let torque: Vec3 = pull.torque(&centre.to_f64());
            let more = Wrench { force: V3::of(&pull.force), torque: V3::of(&torque) };
            match self.wrenches.iter_mut().find(|(body, _)| *body == pull.body) {
                Some((_, wrench)) => *wrench += more,
                None => self.wrenches.push((pull.body, more)),
            }
        }
        if !self.applied.is_empty() {
            self.wrenches.reserve(self.applied.most());
            self.pulled.clone_from(&self.wrenches);
        }
    }

    /// Adds the forces of the scene in a step or sub-step whose middle is at `middle_s` [s], with bodies at these
    /// poses. It is asked for after [`Self::begin`], and anew for each sub-step.
    pub fn apply(&mut self, middle_s: f64, broken: &[bool], pose: impl Fn(usize) -> Pose<R>) {
        let Self { applied, moves, wrenches, pulled, .. } = self;
        if applied.is_empty() {
            return;
        }
        wrenches.clear();
        wrenches.extend_from_slice(pulled);
        let place = |end| match end {
            Endpoint::Body(body) => {
                let Pose { position, rotation } = pose(body);
                constraint::Pose { position: position.to_f64(), rotation: rotation.to_f64() }
            }
            Endpoint::World | Endpoint::Particle(_) => {
                constraint::Pose { position: Vec3::zeros(), rotation: taut_core::Quat::identity() }
            }
        };
        applied.each(middle_s, broken, place, |action| {
            if !moves[action.body] {
                return;
            }
            let centre = place(Endpoint::Body(action.body)).position;
            let torque = V3::of(&action.torque_about(&centre));
            let more = Wrench { force: V3::of(&action.force), torque };
            match wrenches.iter_mut().find(|(body, _)| *body == action.body) {
                Some((_, wrench)) => *wrench += more,
                None => wrenches.push((action.body, more)),
            }
        });
    }

    /// Each pulled body with the force at, and the torque about, its centre of mass in this step.
    pub fn iter(&self) -> impl Iterator<Item = (usize, Wrench<R>)> {
        self.wrenches.iter().copied()
    }
}

impl<R: Real> Wrench<R> {
    /// The velocity that it gives a free body in `h` [s], `inverse_inertia` being in world axes.
    ///
    /// To implicit Euler, `m (x - x_0 - h v_0) = h^2 f`, a constant force is the same as this added to
    /// the velocity at the step's start.
    pub fn kick(&self, inverse_mass: R, inverse_inertia: &Sym3<R>, h: R) -> Velocity<R> {
        Velocity {
            linear: self.force * (inverse_mass * h),
            angular: inverse_inertia.apply(self.torque) * h,
        }
    }
}

#[cfg(test)]
mod tests {
    use taut_core::{
        TimeFormula,
        scene::{AppliedForce, ForceKind},
    };

    use super::*;

    #[test]
    fn pulls_on_one_body_add_up_and_others_are_left_out() {
        let pull = |body, point, force| Pull { body, point, force };
        let mut pulls = Pulls::<f64>::default();
        pulls.set(&[
            pull(1, Vec3::new(0.0, 0.0, 1.0), Vec3::x()),
            pull(7, Vec3::zeros(), Vec3::x()),
            pull(1, Vec3::new(0.0, 0.0, -1.0), -Vec3::x()),
        ]);
        pulls.begin(|body| (body < 2).then_some(V3::ZERO));
        let all: Vec<_> = pulls.iter().collect();
        let couple = Wrench { force: V3::ZERO, torque: V3([0.0, 2.0, 0.0]) };
        assert_eq!(all, [(1, couple)]);
        pulls.forget();
        assert!(pulls.is_empty() && pulls.iter().next().is_none());
    }

    #[test]
    fn forces_of_a_scene_add_to_pulls_anew_in_each_sub_step() {
        let mut scene = Scene::default();
        let cube = taut_core::scene::Body::solid_box(Vec3::repeat(1.0), 1.0);
        scene.bodies = vec![cube.clone().fixed(), cube];
        let kind = ForceKind::Force {
            body: 1,
            at: Vec3::z(),
            force: ["2*t", "0", "0"].map(|text| TimeFormula::parse(text).unwrap()),
        };
        scene.forces = vec![AppliedForce { name: String::new(), kind }];
        let mut pulls = Pulls::<f64>::of(&scene);
        assert!(!pulls.is_empty());
        pulls.set(&[Pull { body: 1, point: Vec3::zeros(), force: Vec3::y() }]);
        pulls.begin(|body| (body == 1).then_some(V3::ZERO));
        for t in [1.0, 3.0] {
            pulls.apply(t, &[], |_| Pose::ORIGIN);
            let force = V3([2.0 * t, 1.0, 0.0]);
            let wrench = Wrench { force, torque: V3([0.0, 2.0 * t, 0.0]) };
            assert_eq!(pulls.iter().collect::<Vec<_>>(), [(1, wrench)]);
        }
    }
}
