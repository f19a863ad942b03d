//! The step on the CPU.

use taut_collide::ContactSet;
use taut_core::{Iteration, Multipliers, Scene, Solver, SolverError, StageTime, State, Step};
use taut_math::Real;

use crate::{
    body::Bodies,
    contact::{Contacts, Start},
    joint::{Joints, Pull},
    settings::{ImpulseSettings, Variant},
    softness::Softnesses,
};

pub(crate) struct Impulse<R: Real> {
    scene: Scene,
    settings: ImpulseSettings,
    model: Model<R>,
    /// `None` where the scene has no contacts.
    set: Option<ContactSet>,
    broken: Vec<bool>,
    breakable: bool,
    step: Step,
    soft: Softnesses<R>,
    /// Length of the sub-step before this step [s].
    h_before: Option<f64>,
    /// Calls of `iterate` since the step began; none between steps.
    done: Option<u32>,
    time_s: f64,
}

/// What moves.
#[derive(Clone)]
struct Model<R: Real> {
    bodies: Bodies<R>,
    joints: Joints<R>,
    contacts: Contacts<R>,
}

impl<R: Real> Impulse<R> {
    pub(crate) fn new(scene: &Scene, settings: ImpulseSettings) -> Self {
        let breaks = |j: &taut_core::scene::Joint| j.break_force.min(j.break_torque).is_finite();
        let step = Step { dt: scene.dt, iterations: 1 };
        Self {
            model: Model {
                bodies: Bodies::new(scene, settings.gyroscopic),
                joints: Joints::new(scene),
                contacts: Contacts::new(&settings),
            },
            set: ContactSet::new(scene),
            broken: vec![false; scene.joints.len()],
            breakable: scene.joints.iter().any(breaks),
            soft: Softnesses::new(&settings, step.dt, scene.gravity.norm()),
            step,
            settings,
            h_before: None,
            done: None,
            time_s: 0.0,
            scene: scene.clone(),
        }
    }

    /// Sub-steps in the current step.
    fn substeps(&self) -> u32 {
        match self.settings.variant {
            Variant::Substeps => self.step.iterations.max(1),
            Variant::Pgs => 1,
        }
    }

    /// Length of what is integrated at once [s].
    fn h(&self) -> f64 {
        self.step.dt / f64::from(self.substeps())
    }

    fn pull(&self, bias: bool) -> Pull<R> {
        let h = self.h();
        Pull { soft: self.soft, inverse_h: R::of(1.0 / h), h: R::of(h), bias }
    }

    fn break_joints(&mut self) {
        for j in 0..self.broken.len() {
            let (load, joint) = (self.model.joints.load(j), &self.scene.joints[j]);
            let force = load.force.to_f64().norm() / self.step.dt;
            let torque = load.torque.to_f64().norm() / self.step.dt;
            if force > joint.break_force || torque > joint.break_torque {
                self.set_broken(j, true);
            }
        }
    }

    fn set_broken(&mut self, joint: usize, broken: bool) {
        self.broken[joint] = broken;
        self.model.joints.set_active(joint, !broken);
    }
}

impl<R: Real> Model<R> {
    /// Velocities under external forces and the impulses known so far.
    fn predict(&mut self, h: R) {
        self.bodies.integrate_velocities(h);
        self.joints.warm_start(&mut self.bodies);
        self.contacts.warm_start(&mut self.bodies);
    }

    fn sweep(&mut self, pull: &Pull<R>, moved: bool) {
        self.joints.sweep(&mut self.bodies, pull);
        self.contacts.sweep(&mut self.bodies, pull, moved);
    }

    /// Moves everything, then takes back what the bias put into velocities.
    fn advance(&mut self, pull: &Pull<R>, relax: u32) {
        self.bodies.integrate_positions(pull.h);
        self.joints.prepare(&mut self.bodies, pull.h);
        let pull = Pull { bias: false, ..*pull };
        for sweep in 0..relax {
            self.sweep(&pull, sweep == 0);
        }
        self.joints.gather_loads();
        self.contacts.conclude();
    }
}

impl<R: Real> Solver for Impulse<R> {
    fn load(&mut self, state: &State) -> Result<(), SolverError> {
        self.model.bodies.load(&self.scene, state)?;
        for (joint, &broken) in state.broken.iter().enumerate() {
            self.set_broken(joint, broken);
        }
        self.model.joints.forget();
        self.model.contacts.forget();
        self.set.iter_mut().for_each(ContactSet::forget);
        (self.time_s, self.done, self.h_before) = (state.time_s, None, None);
        Ok(())
    }

    fn begin_step(&mut self, step: Step) -> Result<(), SolverError> {
        (self.step, self.done) = (step, Some(0));
        let h = self.h();
        self.soft = Softnesses::new(&self.settings, h, self.scene.gravity.norm());
        // Impulses are forces times the sub-step, whose length may have changed.
        let warm = R::of(self.settings.warm_start * (h / self.h_before.unwrap_or(h)));
        self.h_before = Some(h);

        let Model { bodies, joints, contacts } = &mut self.model;
        bodies.forget_shifts();
        bodies.refresh_all();
        if let Some(set) = &mut self.set {
            let list = set.detect(bodies.placements(), &self.broken, step.dt);
            // What gravity alone may have done in a step since bodies were at rest.
            let speed_at_rest = R::of(self.scene.gravity.norm() * step.dt);
            contacts.prepare(bodies, &Start { list, warm, speed_at_rest });
        }
        joints.prepare(bodies, R::of(h));
        joints.forget_loads();
        if warm != R::ONE {
            joints.scale(warm);
        }
        if self.settings.variant == Variant::Pgs {
            self.model.predict(R::of(h));
        }
        Ok(())
    }

    fn iterate(&mut self) -> Result<(), SolverError> {
        let done = self.done.unwrap_or(0);
        let pull = self.pull(true);
        match self.settings.variant {
            Variant::Substeps => {
                self.model.predict(pull.h);
                // A relaxation after the last sub-step has already followed the gaps.
                self.model.sweep(&pull, self.settings.relax == 0);
                self.model.advance(&pull, self.settings.relax);
            }
            Variant::Pgs => self.model.sweep(&pull, false),
        }
        self.done = Some(done + 1);
        Ok(())
    }

    fn end_step(&mut self) -> Result<(), SolverError> {
        if self.settings.variant == Variant::Pgs {
            self.model.advance(&self.pull(true), self.settings.relax);
        }
        let Model { bodies, contacts, .. } = &mut self.model;
        contacts.bounce(bodies);
        contacts.store();
        if self.breakable {
            self.break_joints();
        }
        self.time_s += self.step.dt;
        self.done = None;
        Ok(())
    }

    fn read(&mut self, out: &mut State) -> Result<(), SolverError> {
        out.time_s = self.time_s;
        match (self.done, self.settings.variant) {
            (Some(done), Variant::Substeps) => {
                out.time_s += self.h() * f64::from(done);
                self.model.bodies.read(out);
            }
            (Some(_), Variant::Pgs) => {
                // The end of the step, played on a copy.
                out.time_s += self.step.dt;
                let mut end = self.model.clone();
                end.advance(&self.pull(true), self.settings.relax);
                end.contacts.bounce(&mut end.bodies);
                end.bodies.read(out);
            }
            (None, _) => self.model.bodies.read(out),
        }
        out.broken.clone_from(&self.broken);
        Ok(())
    }

    fn iteration(&self) -> Iteration {
        match self.settings.variant {
            Variant::Substeps => Iteration::Substep,
            Variant::Pgs => Iteration::Refine,
        }
    }

    fn read_multipliers(&mut self, out: &mut Multipliers) -> bool {
        let Model { joints, contacts, .. } = &self.model;
        let dt = self.step.dt;
        let loads = (0..self.broken.len()).map(|j| joints.load(j));
        out.joint_force.clear();
        out.joint_force.extend(loads.clone().map(|load| load.force.to_f64() / dt));
        out.joint_torque.clear();
        out.joint_torque.extend(loads.map(|load| load.torque.to_f64() / dt));
        out.contacts.clear();
        if let Some(set) = &self.set {
            set.report(contacts.forces(dt), &mut out.contacts);
        }
        true
    }

    fn drain_times(&mut self, out: &mut Vec<StageTime>) {
        if let Some(set) = &mut self.set {
            set.drain_times(out);
        }
    }

    fn resolved_settings(&self) -> String {
        ron::to_string(&self.settings).unwrap_or_default()
    }
}
