//! The step on the CPU.

use taut_collide::ContactSet;
use taut_core::{Iteration, Multipliers, Pull, Scene, Solver, SolverError, StageTime, State, Step};
use taut_math::{Real, V3};
use taut_model::{BrokenJoints, Model};

use crate::{
    body::VelocityBodies,
    contact::{ContactBatches, ContactStart},
    joint::{Joints, Pass, lower},
    settings::{ImpulseSettings, Variant},
    softness::SoftSprings,
};

pub(crate) struct Impulse<R: Real> {
    scene: Scene,
    settings: ImpulseSettings,
    moving: Moving<R>,
    /// `None` where the scene has no contacts.
    set: Option<ContactSet>,
    breaking: BrokenJoints,
    step: Step,
    soft: SoftSprings<R>,
    /// Length of the sub-step before this step [s].
    h_before: Option<f64>,
    /// Calls of `iterate` since the step began; none between steps.
    done: Option<u32>,
    time_s: f64,
}

/// What moves.
#[derive(Clone)]
struct Moving<R: Real> {
    bodies: VelocityBodies<R>,
    joints: Joints<R>,
    contacts: ContactBatches<R>,
}

impl<R: Real> Impulse<R> {
    pub(crate) fn new(scene: &Scene, settings: ImpulseSettings) -> Self {
        let model = Model::new(scene);
        let step = Step { dt: scene.dt, iterations: 1 };
        Self {
            moving: Moving {
                bodies: VelocityBodies::new(scene, &model, settings.gyroscopic),
                joints: lower(&model),
                contacts: ContactBatches::new(&settings),
            },
            set: ContactSet::new(scene),
            breaking: BrokenJoints::new(scene),
            soft: SoftSprings::new(&settings, step.dt, scene.gravity.norm()),
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

    /// Has bodies follow their paths, and forces act, in the step or sub-step that starts at `start_s` [s].
    fn set_off(&mut self, start_s: f64) {
        let h = self.h();
        let bodies = &mut self.moving.bodies;
        bodies.now.drive(&self.scene.drives, start_s + h, h);
        bodies.apply(start_s + 0.5 * h, self.breaking.broken());
    }

    fn pass(&self, bias: bool) -> Pass<R> {
        let h = self.h();
        Pass { soft: self.soft, inverse_h: R::of(1.0 / h), h: R::of(h), bias }
    }
}

impl<R: Real> Moving<R> {
    /// Velocities under external forces and the impulses known so far.
    fn predict(&mut self, h: R) {
        self.bodies.integrate_velocities(h);
        self.joints.warm_start(&mut self.bodies);
        self.contacts.warm_start(&mut self.bodies);
    }

    fn sweep(&mut self, pass: &Pass<R>, moved: bool) {
        self.joints.sweep(&mut self.bodies, pass);
        self.contacts.sweep(&mut self.bodies, pass, moved);
    }

    /// Moves everything, then takes back what the bias put into velocities.
    fn advance(&mut self, pass: &Pass<R>, relax: u32) {
        self.bodies.integrate_positions(pass.h);
        self.joints.prepare(&mut self.bodies, pass.h);
        let pass = Pass { bias: false, ..*pass };
        for sweep in 0..relax {
            self.sweep(&pass, sweep == 0);
        }
        self.joints.gather_loads();
        self.contacts.conclude();
    }
}

impl<R: Real> Solver for Impulse<R> {
    fn load(&mut self, state: &State) -> Result<(), SolverError> {
        state.check_fits(&self.scene)?;
        self.moving.bodies.load(state);
        self.breaking.load(&state.broken);
        self.moving.joints.let_go(&state.broken);
        self.moving.joints.forget();
        self.moving.contacts.forget();
        self.set.iter_mut().for_each(ContactSet::forget);
        (self.time_s, self.done, self.h_before) = (state.time_s, None, None);
        Ok(())
    }

    fn begin_step(&mut self, step: Step) -> Result<(), SolverError> {
        (self.step, self.done) = (step, Some(0));
        let h = self.h();
        self.soft = SoftSprings::new(&self.settings, h, self.scene.gravity.norm());
        // Impulses are forces times the sub-step, whose length may have changed.
        let warm = R::of(self.settings.warm_start * (h / self.h_before.unwrap_or(h)));
        self.h_before = Some(h);

        self.moving.bodies.begin_pulls();
        self.set_off(self.time_s);
        let Moving { bodies, joints, contacts } = &mut self.moving;
        bodies.forget_shifts();
        bodies.refresh_all();
        if let Some(set) = &mut self.set {
            let list = set.detect(bodies.now.placements(), self.breaking.broken(), step.dt);
            // What gravity alone may have done in a step since bodies were at rest.
            let speed_at_rest = R::of(self.scene.gravity.norm() * step.dt);
            contacts.prepare(bodies, &ContactStart { list, warm, speed_at_rest });
        }
        joints.prepare(bodies, R::of(h));
        joints.forget_loads();
        if warm != R::ONE {
            joints.scale(warm);
        }
        if self.settings.variant == Variant::Pgs {
            self.moving.predict(R::of(h));
        }
        Ok(())
    }

    fn iterate(&mut self) -> Result<(), SolverError> {
        let done = self.done.unwrap_or(0);
        let pass = self.pass(true);
        match self.settings.variant {
            Variant::Substeps => {
                self.set_off(self.time_s + self.h() * f64::from(done));
                self.moving.predict(pass.h);
                // A relaxation after the last sub-step has already followed the gaps.
                self.moving.sweep(&pass, self.settings.relax == 0);
                self.moving.advance(&pass, self.settings.relax);
            }
            Variant::Pgs => self.moving.sweep(&pass, false),
        }
        self.done = Some(done + 1);
        Ok(())
    }

    fn end_step(&mut self) -> Result<(), SolverError> {
        if self.settings.variant == Variant::Pgs {
            self.moving.advance(&self.pass(true), self.settings.relax);
        }
        let Moving { bodies, contacts, .. } = &mut self.moving;
        contacts.bounce(bodies);
        contacts.store();
        if self.breaking.can_break() {
            let (joints, dt) = (&mut self.moving.joints, self.step.dt);
            let norm = |of: V3<R>| of.to_f64().norm() / dt;
            let loads = joints.loads().iter().map(|load| [norm(load.force), norm(load.torque)]);
            if self.breaking.overload(loads) {
                joints.let_go(self.breaking.broken());
            }
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
                self.moving.bodies.now.read(out);
            }
            (Some(_), Variant::Pgs) => {
                // The end of the step, played on a copy.
                out.time_s += self.step.dt;
                let mut end = self.moving.clone();
                end.advance(&self.pass(true), self.settings.relax);
                end.contacts.bounce(&mut end.bodies);
                end.bodies.now.read(out);
            }
            (None, _) => self.moving.bodies.now.read(out),
        }
        out.broken.clear();
        out.broken.extend_from_slice(self.breaking.broken());
        Ok(())
    }

    fn set_pulls(&mut self, pulls: &[Pull]) -> bool {
        self.moving.bodies.pulls.set(pulls);
        true
    }

    fn iteration(&self) -> Iteration {
        match self.settings.variant {
            Variant::Substeps => Iteration::Substep,
            Variant::Pgs => Iteration::Refine,
        }
    }

    fn read_multipliers(&mut self, out: &mut Multipliers) -> bool {
        let Moving { joints, contacts, .. } = &self.moving;
        let dt = self.step.dt;
        let loads = joints.loads().iter().take(self.breaking.broken().len());
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
