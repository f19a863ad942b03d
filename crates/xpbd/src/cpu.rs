//! The step on the CPU.

use taut_core::{
    Iteration, Multipliers, Pull, Scene, Solver, SolverError, StageTime, State, Step,
    scene::FastestMotor,
};
use taut_math::{Real, V3};
use taut_model::{BrokenJoints, Model, Pose, Pulls, Velocity, Wrench, counted};

use crate::{
    body::{External, PositionBodies},
    contact::{ContactPasses, VelocityTerms},
    correct::{BodyPair, Terms},
    elastic::ElasticRows,
    exchange::Exchange,
    layout::{Corrections, MovingTarget, lower},
    settings::{Mode, RowOrder, XpbdSettings},
    sweep::Memory,
};

pub(crate) struct Xpbd<R: Real> {
    scene: Scene,
    settings: XpbdSettings,
    bodies: PositionBodies<R>,
    layout: Corrections<R>,
    memory: Memory<R>,
    elastics: ElasticRows<R>,
    contacts: Option<ContactPasses<R>>,
    external: External<R>,
    pulls: Pulls<R>,
    breaking: BrokenJoints,
    fastest: FastestMotor,
    forces: Multipliers,
    /// Room for what several threads change.
    exchange: Exchange<Pose<R>>,
    /// Room for the predicted velocities while a read derives others.
    predicted: Vec<Velocity<R>>,
    step: Step,
    /// Calls of `iterate` since the step began; none between steps.
    done: Option<u32>,
    time_s: f64,
}

impl<R: Real> Xpbd<R> {
    pub(crate) fn new(scene: &Scene, settings: XpbdSettings) -> Self {
        let model = Model::new(scene);
        let bodies = PositionBodies::new(&model);
        let layout = lower(&model, settings.order);
        let external =
            External { gravity: V3::of(&model.gravity), gyroscopic: settings.gyroscopic };
        Self {
            memory: Memory::new(&layout),
            elastics: ElasticRows::new(&model, settings.order, &bodies.weights),
            contacts: ContactPasses::new(scene, &model, settings.order),
            settings,
            bodies,
            layout,
            external,
            pulls: Pulls::of(scene),
            breaking: BrokenJoints::new(scene),
            fastest: FastestMotor::of(scene),
            forces: Multipliers::default(),
            exchange: Exchange::default(),
            predicted: vec![],
            step: Step { dt: scene.dt, iterations: 1 },
            done: None,
            time_s: 0.0,
            scene: scene.clone(),
        }
    }

    /// Sub-steps in the current step.
    fn substeps(&self) -> u32 {
        match self.settings.mode {
            Mode::Substeps => self.step.iterations.max(1),
            Mode::Iterations => 1,
        }
    }

    /// Time at the start of the step or sub-step at hand [s].
    fn elapsed_s(&self) -> f64 {
        self.time_s + self.h() * f64::from(self.done.unwrap_or(0))
    }

    /// Length of what is integrated at once [s].
    fn h(&self) -> f64 {
        self.step.dt / f64::from(self.substeps())
    }

    /// Starts a step or sub-step: what motors aim at and limits count from, then free motion.
    fn predict(&mut self) {
        let (start_s, step_s) = (self.elapsed_s(), self.h());
        let h = R::of(step_s);
        let Corrections { units, elements, frames, targets, .. } = &mut self.layout;
        for &MovingTarget { unit, element, row, speed } in &*targets {
            let slots = units[unit as usize].slots;
            let pair = BodyPair::at(slots, &self.bodies.now.poses, &self.bodies.weights);
            let (element, frame) = (&mut elements[element as usize], &frames[element as usize]);
            let value = pair.value(row, element, frame);
            element.rest = counted(row, value, element.rest) + R::of(speed) * h;
        }
        let now = &mut self.bodies.now;
        self.layout.damp(&now.poses, &self.bodies.weights, h);
        self.elastics.begin(&now.poses, h);
        now.drive(&self.scene.drives, start_s + step_s, step_s);
        let pose = |body: usize| now.poses[body];
        self.pulls.apply(start_s + 0.5 * step_s, self.breaking.broken(), pose);
        self.bodies.kick(&self.pulls, h);
        self.bodies.predict(h, &self.external);
    }

    fn sweep(&mut self, fresh: bool) {
        let h = self.h();
        let terms = Terms {
            inverse_square: R::of(1.0 / (h * h)),
            square: R::of(h * h),
            relaxation: R::of(self.settings.relaxation),
            blocks: self.settings.blocks,
            fresh,
            symmetric: self.settings.mode == Mode::Substeps
                && self.settings.rows == RowOrder::Symmetric,
        };
        let PositionBodies { now, weights, .. } = &mut self.bodies;
        let (poses, exchange) = (&mut now.poses, &mut self.exchange);
        self.layout.sweep(poses, weights, &mut self.memory, exchange, &terms);
        self.elastics.sweep(poses, weights, exchange, &terms);
        if let Some(contacts) = &mut self.contacts {
            contacts.sweep(&mut self.bodies, &terms, self.settings.friction);
        }
    }

    /// Takes velocities from the motion, then lets contacts slow and reflect them. `counts` says
    /// whether their forces count towards the mean of the step.
    fn derive_velocities(&mut self, counts: bool) {
        let h = self.h();
        self.bodies.derive_velocities(R::of(h), self.settings.rotation);
        if let Some(contacts) = &mut self.contacts {
            let rebound = VelocityTerms {
                h: R::of(h),
                // What gravity adds within two steps is no bounce.
                threshold: self.external.gravity.norm() * R::of(2.0 * h),
                friction: self.settings.friction,
                counts,
            };
            contacts.rebound(&mut self.bodies, &rebound);
        }
    }

    /// Mean forces of the joints over the step: `lambda / h^2` (Eq. 10 and 17).
    fn gather_forces(&mut self) {
        let h = self.h();
        let scale = 1.0 / (h * h * f64::from(self.substeps()));
        let load = |&unit: &u32| &self.memory.loads[unit as usize];
        let joints = self.layout.joints.iter();
        self.forces.joint_force.clear();
        self.forces.joint_force.extend(joints.clone().map(|u| load(u).force.to_f64() * scale));
        self.forces.joint_torque.clear();
        self.forces.joint_torque.extend(joints.map(|u| load(u).torque.to_f64() * scale));
    }

    fn break_joints(&mut self) {
        self.gather_forces();
        let Multipliers { joint_force, joint_torque, .. } = &self.forces;
        let loads = joint_force.iter().zip(joint_torque).map(|(f, t)| [f.norm(), t.norm()]);
        if self.breaking.overload(loads) {
            self.layout.let_go(self.breaking.broken());
        }
    }
}

impl<R: Real> Solver for Xpbd<R> {
    fn load(&mut self, state: &State) -> Result<(), SolverError> {
        state.check_fits(&self.scene)?;
        self.bodies.load(state);
        self.pulls.forget();
        self.breaking.load(&state.broken);
        self.layout.let_go(&state.broken);
        self.layout.forget_turns();
        self.memory.lambda.fill(V3::ZERO);
        self.memory.loads.fill(Wrench::ZERO);
        if let Some(contacts) = &mut self.contacts {
            contacts.forget();
        }
        (self.time_s, self.done) = (state.time_s, None);
        Ok(())
    }

    fn begin_step(&mut self, step: Step) -> Result<(), SolverError> {
        (self.step, self.done) = (step, Some(0));
        self.fastest.check(self.h())?;
        self.memory.loads.fill(Wrench::ZERO);
        self.bodies.now.drive(&self.scene.drives, self.time_s + self.h(), self.h());
        if let Some(contacts) = &mut self.contacts {
            contacts.detect(&mut self.bodies, self.breaking.broken(), step.dt);
        }
        self.pulls.begin(|body| self.bodies.centre(body));
        if self.settings.mode == Mode::Iterations {
            self.predict();
        }
        Ok(())
    }

    fn iterate(&mut self) -> Result<(), SolverError> {
        let done = self.done.unwrap_or(0);
        match self.settings.mode {
            Mode::Substeps => {
                self.predict();
                self.sweep(true);
                self.derive_velocities(true);
            }
            Mode::Iterations => self.sweep(done == 0),
        }
        self.done = Some(done + 1);
        Ok(())
    }

    fn end_step(&mut self) -> Result<(), SolverError> {
        if self.settings.mode == Mode::Iterations {
            self.derive_velocities(true);
        }
        if self.breaking.can_break() {
            self.break_joints();
        }
        self.time_s += self.step.dt;
        self.done = None;
        Ok(())
    }

    fn read(&mut self, out: &mut State) -> Result<(), SolverError> {
        let substeps = self.settings.mode == Mode::Substeps;
        let elapsed = match self.done {
            Some(done) if substeps => self.h() * f64::from(done),
            Some(_) => self.step.dt,
            None => 0.0,
        };
        out.time_s = self.time_s + elapsed;
        out.broken.clear();
        out.broken.extend_from_slice(self.breaking.broken());
        if self.done.is_none() || substeps {
            self.bodies.now.read(out);
            return Ok(());
        }
        self.predicted.clone_from(&self.bodies.now.velocities);
        self.derive_velocities(false);
        self.bodies.now.read(out);
        std::mem::swap(&mut self.predicted, &mut self.bodies.now.velocities);
        Ok(())
    }

    fn set_pulls(&mut self, pulls: &[Pull]) -> bool {
        self.pulls.set(pulls);
        true
    }

    fn iteration(&self) -> Iteration {
        match self.settings.mode {
            Mode::Substeps => Iteration::Substep,
            Mode::Iterations => Iteration::Refine,
        }
    }

    fn read_multipliers(&mut self, out: &mut Multipliers) -> bool {
        self.gather_forces();
        if let Some(contacts) = &self.contacts {
            contacts.forces(self.step.dt, &mut self.forces.contacts);
        }
        out.clone_from(&self.forces);
        true
    }

    fn drain_times(&mut self, out: &mut Vec<StageTime>) {
        if let Some(contacts) = &mut self.contacts {
            contacts.drain_times(out);
        }
    }

    fn resolved_settings(&self) -> String {
        ron::to_string(&self.settings).unwrap_or_default()
    }
}
