//! A method of block descent, and a solver of it on the CPU.

use taut_core::{
    Multipliers, Pull, Scene, Solver, SolverError, StageTime, State, Step, scene::FastestMotor,
};
use taut_math::{Real, V3};

use crate::{options::Options, patch::Patch, system::System};

/// What makes a method of block descent: how stiff rows and contacts are, and what they remember.
pub trait Method<R: Real> {
    /// How bodies move and constraints are laid out.
    fn options(&self) -> Options;
    /// Sets what elements are to do besides, once.
    fn configure(&mut self, system: &mut System<R>);
    /// Sets what rows and contacts aim at in a step of length `dt` [s], and how stiff they start.
    fn prepare(&mut self, system: &mut System<R>, dt: f64);
    /// Moves every node once.
    fn sweep(&mut self, system: &mut System<R>);
    /// What follows a sweep.
    fn update(&mut self, system: &mut System<R>);
    /// What follows the last sweep of a step of length `dt` [s]; it derives velocities and commits the motion.
    fn finish(&mut self, system: &mut System<R>, dt: f64);
    /// Row forces of an element as they stand [N or N m].
    fn force(&self, system: &System<R>, element: usize) -> V3<R>;
    /// Row forces of one lane of a patch as they stand [N].
    fn push(&self, system: &System<R>, patch: &Patch<R>, lane: usize) -> V3<R>;
    /// The settings in force, as RON.
    fn resolved_settings(&self) -> String;
}

/// A method and its system, on the CPU.
pub struct OnHost<R: Real, M> {
    scene: Scene,
    system: System<R>,
    method: M,
    fastest: FastestMotor,
    dt: f64,
}

impl<R: Real, M: Method<R>> OnHost<R, M> {
    /// A scene at its initial state.
    pub fn new(scene: &Scene, mut method: M) -> Self {
        let mut system = System::new(scene, method.options());
        method.configure(&mut system);
        let fastest = FastestMotor::of(scene);
        Self { scene: scene.clone(), system, method, fastest, dt: scene.dt }
    }
}

impl<R: Real, M: Method<R>> Solver for OnHost<R, M> {
    fn load(&mut self, state: &State) -> Result<(), SolverError> {
        self.system.load(&self.scene, state)
    }

    fn begin_step(&mut self, step: Step) -> Result<(), SolverError> {
        self.fastest.check(step.dt)?;
        self.dt = step.dt;
        self.system.begin(step.dt);
        self.method.prepare(&mut self.system, step.dt);
        Ok(())
    }

    fn iterate(&mut self) -> Result<(), SolverError> {
        self.method.sweep(&mut self.system);
        self.method.update(&mut self.system);
        Ok(())
    }

    fn end_step(&mut self) -> Result<(), SolverError> {
        self.method.finish(&mut self.system, self.dt);
        Ok(())
    }

    fn read(&mut self, out: &mut State) -> Result<(), SolverError> {
        self.system.read(out);
        Ok(())
    }

    fn set_pulls(&mut self, pulls: &[Pull]) -> bool {
        self.system.pulls.set(pulls);
        true
    }

    fn read_multipliers(&mut self, out: &mut Multipliers) -> bool {
        let (system, method) = (&self.system, &self.method);
        system.read_multipliers(out, |system, index| method.force(system, index));
        out.contacts.clear();
        if let Some(contacts) = &system.contacts {
            contacts.read_forces(&mut out.contacts, |patch, i| method.push(system, patch, i));
        }
        true
    }

    fn drain_times(&mut self, out: &mut Vec<StageTime>) {
        if let Some(contacts) = &mut self.system.contacts {
            contacts.drain_times(out);
        }
    }

    fn resolved_settings(&self) -> String {
        self.method.resolved_settings()
    }
}
