//! The step on the CPU.

use rayon::prelude::*;
use taut_core::{Multipliers, Pull, Scene, Solver, SolverError, State, Step};
use taut_math::{Real, Sym3, V3};
use taut_model::{Precision, Velocity};

use crate::{
    settings::{JacobiSettings, WarmStart},
    step::{self, BallJoint, Prepared},
    system::{BallSystem, tell_forces},
};

/// Joints or bodies per task, below which splitting costs more than it gains.
const GRAIN: usize = 1024;

pub(crate) struct OnCpu<R: Real> {
    system: BallSystem<R>,
    /// Inverse inertias in world axes at the step's start.
    inertias: Vec<Sym3<R>>,
    free: Vec<Velocity<R>>,
    velocities: Vec<Velocity<R>>,
    prepared: Vec<Prepared<R>>,
    multipliers: Vec<V3<R>>,
}

impl<R: Real> OnCpu<R> {
    pub(crate) fn new(scene: &Scene, settings: JacobiSettings) -> Self {
        let precision = if size_of::<R>() == 4 { Precision::F32 } else { Precision::F64 };
        let settings = JacobiSettings { precision: Some(precision), ..settings };
        let system = BallSystem::new(scene, settings);
        let (nodes, joints) = (system.masses.len(), system.joints.len());
        Self {
            inertias: vec![Sym3::ZERO; nodes],
            free: vec![Velocity::ZERO; nodes],
            velocities: vec![Velocity::ZERO; nodes],
            prepared: vec![Prepared::default(); joints],
            multipliers: vec![V3::ZERO; joints],
            system,
        }
    }

    fn solve_multipliers(&mut self) {
        let (joints, velocities) = (&self.system.joints, &self.velocities);
        let rate = self.system.constants.rate;
        let update = |((lambda, prepared), joint): ((&mut V3<R>, &Prepared<R>), &BallJoint<R>)| {
            let both = joint.nodes.map(|node| &velocities[node as usize]);
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
        let (system, free, inertias) = (&self.system, &self.free, &self.inertias);
        let (prepared, multipliers, h) = (&self.prepared, &self.multipliers, system.constants.h);
        let update = |(i, velocity): (usize, &mut Velocity<R>)| {
            let (mass, ends) = (&system.masses[i], system.ends.of(i));
            *velocity =
                step::velocity(mass, &free[i], &inertias[i], ends, prepared, multipliers, h);
        };
        if is_split(system.masses.len()) {
            let all = self.velocities.par_iter_mut().enumerate();
            all.with_min_len(GRAIN).for_each(update);
        } else {
            self.velocities.iter_mut().enumerate().for_each(update);
        }
    }
}

fn is_split(count: usize) -> bool {
    count > 2 * GRAIN && rayon::current_num_threads() > 1
}

impl<R: Real> Solver for OnCpu<R> {
    fn load(&mut self, state: &State) -> Result<(), SolverError> {
        self.system.load(state)?;
        self.multipliers.fill(V3::ZERO);
        Ok(())
    }

    fn begin_step(&mut self, step: Step) -> Result<(), SolverError> {
        self.system.begin(step.dt);
        let system = &self.system;
        let motions = system.motions.poses.iter().zip(&system.motions.velocities);
        for (i, (mass, (pose, velocity))) in system.masses.iter().zip(motions).enumerate() {
            (self.inertias[i], self.free[i]) = step::free(mass, pose, velocity, &system.constants);
        }
        let free = &mut self.free;
        self.system.pull(|body, kick| free[body] += kick);
        let system = &self.system;
        for (prepared, joint) in self.prepared.iter_mut().zip(&system.joints) {
            let ends = joint.nodes.map(|node| node as usize);
            *prepared = step::prepare(
                joint,
                ends.map(|i| &system.motions.poses[i]),
                ends.map(|i| &system.masses[i]),
                ends.map(|i| &self.inertias[i]),
                system.constants.drift,
            );
        }
        match system.settings.warm_start {
            WarmStart::Off => self.multipliers.fill(V3::ZERO),
            // `V^0 = V* - h M^-1 J^T lambda^0`, which the iterations take for granted.
            WarmStart::On => self.solve_velocities(),
            WarmStart::Listing => {}
        }
        if self.system.settings.warm_start != WarmStart::On {
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
        self.system.advance(&self.velocities);
        self.system.end();
        Ok(())
    }

    fn read(&mut self, out: &mut State) -> Result<(), SolverError> {
        self.system.read(&self.velocities, out);
        Ok(())
    }

    fn set_pulls(&mut self, pulls: &[Pull]) -> bool {
        self.system.pulls.set(pulls);
        true
    }

    fn read_multipliers(&mut self, out: &mut Multipliers) -> bool {
        tell_forces(out, self.multipliers.iter().copied());
        true
    }

    fn resolved_settings(&self) -> String {
        ron::to_string(&self.system.settings).unwrap_or_default()
    }
}
