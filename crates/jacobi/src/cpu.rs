//! The step on the CPU.

use rayon::prelude::*;
use taut_core::{Multipliers, Scene, Solver, SolverError, State, Step, Vec3, state::BodyState};
use taut_descent::node::Base;
use taut_math::{Real, Sym3, V3};

use crate::{
    model::{Model, driven_turn},
    settings::{JacobiSettings, Precision, WarmStart},
    step::{self, Constants, Prepared, Velocity},
};

/// Joints or bodies per task, below which splitting costs more than it gains.
const GRAIN: usize = 1024;

pub(crate) struct Jacobi<R: Real> {
    scene: Scene,
    settings: JacobiSettings,
    model: Model<R>,
    bases: Vec<Base<R>>,
    /// Inverse inertias in world axes at the step's start.
    inertias: Vec<Sym3<R>>,
    free: Vec<Velocity<R>>,
    velocities: Vec<Velocity<R>>,
    prepared: Vec<Prepared<R>>,
    multipliers: Vec<V3<R>>,
    constants: Constants<R>,
    pub(crate) state: Clock,
}

/// What is told of the state besides motion.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clock {
    pub(crate) time_s: f64,
    pub(crate) dt: f64,
    pub(crate) within_step: bool,
    pub(crate) broken: Vec<bool>,
}

impl<R: Real> Constants<R> {
    pub(crate) fn new(gravity: V3<R>, settings: &JacobiSettings, dt: f64) -> Self {
        Self {
            gravity,
            h: R::of(dt),
            rate: R::of(settings.relaxation / dt),
            drift: R::of(settings.share() / dt),
            gyroscopic: settings.gyroscopic,
        }
    }
}

impl<R: Real> Jacobi<R> {
    pub(crate) fn new(scene: &Scene, settings: JacobiSettings) -> Self {
        let model = Model::new(scene);
        let (bodies, joints) = (model.bodies.len(), model.joints.len());
        let precision = if size_of::<R>() == 4 { Precision::F32 } else { Precision::F64 };
        let mut solver = Self {
            scene: scene.clone(),
            settings: JacobiSettings { precision: Some(precision), ..settings },
            bases: model.resting(),
            inertias: vec![Sym3::ZERO; bodies],
            free: vec![Velocity::default(); bodies],
            velocities: vec![Velocity::default(); bodies],
            prepared: vec![Prepared::default(); joints],
            multipliers: vec![V3::ZERO; joints],
            constants: Constants::new(model.gravity, &settings, scene.dt),
            model,
            state: Clock::default(),
        };
        solver.take_over(&scene.initial_state());
        solver
    }

    fn take_over(&mut self, state: &State) {
        self.model.load(state, &mut self.bases);
        self.multipliers.fill(V3::ZERO);
        self.state =
            Clock { time_s: state.time_s, broken: state.broken.clone(), ..Clock::default() };
    }

    fn solve_multipliers(&mut self) {
        let (joints, velocities, rate) =
            (&self.model.joints, &self.velocities, self.constants.rate);
        let update =
            |((lambda, prepared), joint): ((&mut V3<R>, &Prepared<R>), &crate::model::Joint<R>)| {
                let both = joint.bodies.map(|body| &velocities[body as usize]);
                *lambda = step::multiplier(prepared, *lambda, both, rate);
            };
        if is_split(joints.len()) {
            let all = self.multipliers.par_iter_mut().zip(&self.prepared).zip(joints);
            all.with_min_len(GRAIN).for_each(update);
        } else {
            self.multipliers.iter_mut().zip(&self.prepared).zip(joints).for_each(update);
        }
    }

    fn solve_velocities(&mut self) {
        let (model, free, inertias) = (&self.model, &self.free, &self.inertias);
        let (prepared, multipliers, h) = (&self.prepared, &self.multipliers, self.constants.h);
        let update = |(i, velocity): (usize, &mut Velocity<R>)| {
            let body = &model.bodies[i];
            let [first, last] = body.ends.map(|end| end as usize);
            let ends = &model.ends[first..last];
            *velocity =
                step::velocity(body, &free[i], &inertias[i], ends, prepared, multipliers, h);
        };
        if is_split(model.bodies.len()) {
            let all = self.velocities.par_iter_mut().enumerate();
            all.with_min_len(GRAIN).for_each(update);
        } else {
            self.velocities.iter_mut().enumerate().for_each(update);
        }
    }

    /// Where the current velocities take all bodies.
    fn moved(&self) -> impl Iterator<Item = Base<R>> {
        let all = self.model.bodies.iter().zip(&self.bases).zip(&self.velocities);
        let h = self.constants.h;
        all.map(move |((body, base), velocity)| {
            step::moved(body, base, velocity, || driven_turn(base, h), h)
        })
    }
}

fn is_split(count: usize) -> bool {
    count > 2 * GRAIN && rayon::current_num_threads() > 1
}

/// Tells the motion of all bodies but the world.
pub(crate) fn tell<R: Real>(out: &mut State, clock: &Clock, bases: impl Iterator<Item = Base<R>>) {
    out.time_s = clock.time_s + if clock.within_step { clock.dt } else { 0.0 };
    out.particles.clear();
    out.broken.clone_from(&clock.broken);
    out.bodies.clear();
    out.bodies.extend(bases.map(|base| {
        BodyState::rigid(
            base.position.to_f64(),
            base.rotation.to_f64(),
            base.velocity.to_f64(),
            base.omega.to_f64(),
        )
    }));
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

impl<R: Real> Solver for Jacobi<R> {
    fn load(&mut self, state: &State) -> Result<(), SolverError> {
        state.check_fits(&self.scene)?;
        self.take_over(state);
        Ok(())
    }

    fn begin_step(&mut self, step: Step) -> Result<(), SolverError> {
        self.constants = Constants::new(self.model.gravity, &self.settings, step.dt);
        (self.state.dt, self.state.within_step) = (step.dt, true);
        for (i, (body, base)) in self.model.bodies.iter().zip(&self.bases).enumerate() {
            (self.inertias[i], self.free[i]) = step::free(body, base, &self.constants);
        }
        for (prepared, joint) in self.prepared.iter_mut().zip(&self.model.joints) {
            let ends = joint.bodies.map(|body| body as usize);
            *prepared = step::prepare(
                joint,
                ends.map(|i| &self.bases[i]),
                ends.map(|i| &self.model.bodies[i]),
                ends.map(|i| &self.inertias[i]),
                self.constants.drift,
            );
        }
        match self.settings.warm_start {
            WarmStart::Off => self.multipliers.fill(V3::ZERO),
            // `V^0 = V* - h M^-1 J^T lambda^0`, which the iterations take for granted.
            WarmStart::On => self.solve_velocities(),
            WarmStart::Listing => {}
        }
        if self.settings.warm_start != WarmStart::On {
            self.velocities.copy_from_slice(&self.free);
        }
        Ok(())
    }

    fn iterate(&mut self) -> Result<(), SolverError> {
        self.solve_multipliers();
        self.solve_velocities();
        Ok(())
    }

    fn end_step(&mut self) -> Result<(), SolverError> {
        let h = self.constants.h;
        let all = self.model.bodies.iter().zip(&mut self.bases).zip(&self.velocities);
        for ((body, base), velocity) in all {
            *base = step::moved(body, base, velocity, || driven_turn(base, h), h);
        }
        self.state.time_s += self.state.dt;
        self.state.within_step = false;
        Ok(())
    }

    fn read(&mut self, out: &mut State) -> Result<(), SolverError> {
        let count = self.scene.bodies.len();
        match self.state.within_step {
            true => tell(out, &self.state, self.moved().take(count)),
            false => tell(out, &self.state, self.bases.iter().take(count).copied()),
        }
        Ok(())
    }

    fn read_multipliers(&mut self, out: &mut Multipliers) -> bool {
        tell_forces(out, self.multipliers.iter().copied());
        true
    }

    fn resolved_settings(&self) -> String {
        ron::to_string(&self.settings).unwrap_or_default()
    }
}
