//! Bodies, their ball joints and how they move, with the step at hand: what the solvers of both devices have.

use taut_core::{Multipliers, Scene, SolverError, State, Vec3};
use taut_math::{Q4, Real, V3};
use taut_model::{Csr, Model, Motions, NodeKind, Pose, Pulls, Velocity, driven_turn};

use crate::{
    settings::JacobiSettings,
    step::{self, BallJoint, Mass, StepConstants},
};

/// A scene of bodies and ball joints, and its motion at the start of the step.
#[derive(Clone, Debug)]
pub(crate) struct BallSystem<R> {
    scene: Scene,
    pub(crate) settings: JacobiSettings,
    pub(crate) masses: Vec<Mass<R>>,
    pub(crate) joints: Vec<BallJoint<R>>,
    /// Ends of joints by the node that they move, in joint order: twice the joint, plus one for B.
    pub(crate) ends: Csr,
    pub(crate) motions: Motions<R>,
    pub(crate) pulls: Pulls<R>,
    pub(crate) constants: StepConstants<R>,
    time_s: f64,
    dt: f64,
    within_step: bool,
    broken: Vec<bool>,
}

impl<R: Real> BallSystem<R> {
    /// At the initial state; the scene has been checked.
    pub(crate) fn new(scene: &Scene, settings: JacobiSettings) -> Self {
        let model = Model::new(scene);
        let joints = model.elements.iter().map(|element| model.pair_of(element));
        let joints = joints.map(|ends| BallJoint {
            nodes: ends.map(|end| end.node),
            anchors: ends.map(|end| V3::of(&end.anchor)),
            active: true,
        });
        let joints: Vec<BallJoint<R>> = joints.collect();
        let both = |(l, joint): (u32, &BallJoint<R>)| {
            let [a, b] = joint.nodes;
            [(a, 2 * l), (b, 2 * l + 1)]
        };
        let ends = (0..).zip(&joints).flat_map(both);
        let moving = |&(node, _): &(u32, u32)| model.nodes[node as usize].moves();
        let mut system = Self {
            scene: scene.clone(),
            settings,
            masses: model.nodes.iter().map(Mass::of).collect(),
            ends: Csr::new(model.nodes.len(), ends.filter(moving)),
            joints,
            motions: Motions::new(model.slots),
            pulls: Pulls::default(),
            constants: StepConstants::new(&scene.gravity, &settings, scene.dt),
            time_s: 0.0,
            dt: 0.0,
            within_step: false,
            broken: vec![],
        };
        system.take_over(&scene.initial_state());
        system
    }

    /// Takes over a state, if it is one of the scene.
    pub(crate) fn load(&mut self, state: &State) -> Result<(), SolverError> {
        state.check_fits(&self.scene)?;
        self.take_over(state);
        Ok(())
    }

    fn take_over(&mut self, state: &State) {
        self.motions.load(state);
        self.pulls.forget();
        for (joint, &broken) in self.joints.iter_mut().zip(&state.broken) {
            joint.active = !broken;
        }
        (self.time_s, self.dt, self.within_step) = (state.time_s, 0.0, false);
        self.broken.clone_from(&state.broken);
    }

    /// Begins a step of length `dt` [s]; returns whether the last one since a state was loaded was another.
    pub(crate) fn begin(&mut self, dt: f64) -> bool {
        self.within_step = true;
        let another = dt != self.dt;
        if another {
            self.constants = StepConstants::new(&self.scene.gravity, &self.settings, dt);
            self.dt = dt;
        }
        another
    }

    /// Gives every pulled body its velocity of the step through `give`, which takes the body and that velocity.
    pub(crate) fn pull(&mut self, mut give: impl FnMut(usize, Velocity<R>)) {
        let (masses, motions) = (&self.masses, &self.motions);
        self.pulls.begin(|body| {
            let moves = body < motions.slots.bodies as usize && masses[body].kind == NodeKind::Body;
            moves.then(|| motions.poses[body].position)
        });
        for (body, wrench) in self.pulls.iter() {
            let Mass { inverse_mass, inverse_inertia, .. } = &masses[body];
            let turned = inverse_inertia.rotated(&motions.poses[body].rotation.matrix());
            give(body, wrench.kick(*inverse_mass, &turned, self.constants.h));
        }
    }

    /// Ends the step, except for the motion.
    pub(crate) fn end(&mut self) {
        self.time_s += self.dt;
        self.within_step = false;
    }

    /// How a node turns in the step if its motion is prescribed.
    pub(crate) fn turn(&self, node: usize) -> Q4<R> {
        let driven = || self.motions.velocities[node].angular.to_f64() * self.constants.h.to_f64();
        match self.masses[node].kind {
            NodeKind::Driven => driven_turn(driven()),
            _ => Q4::IDENTITY,
        }
    }

    /// Where a solved velocity takes a node within the step.
    pub(crate) fn moved(&self, node: usize, solved: &Velocity<R>) -> (Pose<R>, Velocity<R>) {
        let (pose, velocity) = (&self.motions.poses[node], &self.motions.velocities[node]);
        let turn = || self.turn(node);
        step::moved(self.masses[node].kind, pose, [velocity, solved], turn, self.constants.h)
    }

    /// Moves all nodes to the step's end.
    pub(crate) fn advance(&mut self, solved: &[Velocity<R>]) {
        for (node, solved) in solved.iter().enumerate() {
            let moved = self.moved(node, solved);
            (self.motions.poses[node], self.motions.velocities[node]) = moved;
        }
    }

    /// Whether a step has begun and not ended.
    #[cfg(feature = "gpu")]
    pub(crate) fn is_within_step(&self) -> bool {
        self.within_step
    }

    /// Tells where everything is: within a step, where the solved velocities would take it.
    pub(crate) fn read(&self, solved: &[Velocity<R>], out: &mut State) {
        out.time_s = self.time_s;
        out.broken.clone_from(&self.broken);
        if !self.within_step {
            return self.motions.read(out);
        }
        out.time_s += self.dt;
        let mut ahead = self.motions.clone();
        for (node, solved) in solved.iter().enumerate() {
            (ahead.poses[node], ahead.velocities[node]) = self.moved(node, solved);
        }
        ahead.read(out);
    }
}

/// Tells the forces of all joints: on B the multiplier, at the anchor.
pub(crate) fn tell_forces<R: Real>(
    out: &mut Multipliers,
    multipliers: impl Iterator<Item = V3<R>>,
) {
    out.contacts.clear();
    out.joint_force.clear();
    out.joint_force.extend(multipliers.map(V3::to_f64));
    out.joint_torque.clear();
    out.joint_torque.resize(out.joint_force.len(), Vec3::zeros());
}
