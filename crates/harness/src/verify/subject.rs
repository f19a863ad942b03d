//! The backend under test, and how checks drive it.

use taut_core::{
    Backend, BuildError, Iteration, Multipliers, Scene, Settings, Solver, SolverError, State, Step,
    Table,
};

use super::tolerance;
use crate::runner::{self, advance};

/// Why a check did not pass.
#[derive(Debug)]
pub(super) enum Stop {
    /// The property does not hold.
    Fail(String),
    /// It cannot be asked of this backend.
    Skip(String),
}

impl Stop {
    /// The same, saying in which case.
    pub(super) fn about(self, case: &str) -> Self {
        match self {
            Self::Fail(found) => Self::Fail(format!("{case}: {found}")),
            skip @ Self::Skip(_) => skip,
        }
    }
}

impl From<SolverError> for Stop {
    fn from(error: SolverError) -> Self {
        Self::Fail(error.to_string())
    }
}

impl From<BuildError> for Stop {
    fn from(error: BuildError) -> Self {
        match error {
            BuildError::Unsupported(why) => Self::Skip(why.to_string()),
            BuildError::NoDevice(why) => Self::Skip(why),
            _ => Self::Fail(error.to_string()),
        }
    }
}

/// A [`Stop::Fail`] unless `holds`.
pub(super) fn ensure(holds: bool, found: impl FnOnce() -> String) -> Result<(), Stop> {
    if holds { Ok(()) } else { Err(Stop::Fail(found())) }
}

/// How a scene is run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    /// Frames of the scene's own length.
    pub(super) frames: u32,
    /// Steps per frame.
    pub(super) substeps: u32,
    /// Iterations per step.
    pub(super) iterations: u32,
}

impl Plan {
    /// `frames` frames of one step each.
    pub(super) fn new(frames: u32, iterations: u32) -> Self {
        Self { frames, substeps: 1, iterations }
    }

    /// The same with shorter steps.
    pub(super) fn substeps(self, substeps: u32) -> Self {
        Self { substeps, ..self }
    }

    pub(super) fn step(&self, scene: &Scene) -> Step {
        Step { dt: scene.dt / f64::from(self.substeps), iterations: self.iterations }
    }
}

/// The backend under test.
#[derive(Clone)]
pub(super) struct Subject<'a> {
    pub(super) backend: &'a dyn Backend,
    /// Where the reference is found.
    pub(super) table: &'a Table,
    /// Settings of the backend, in RON; empty where they are the defaults.
    settings: &'static str,
    name: String,
}

impl<'a> Subject<'a> {
    pub(super) fn new(backend: &'a dyn Backend, table: &'a Table, settings: &'static str) -> Self {
        let name = format!("{} {settings}", backend.info().name).trim_end().to_owned();
        Self { backend, table, settings, name }
    }

    /// Name of the backend, and its settings where these are not the defaults.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// How far off this backend may be in a check, where `common` is what others are allowed.
    pub(super) fn allowed(&self, check: &str, common: f64) -> f64 {
        self.allowed_part(check, "", common)
    }

    /// The same for one of several numbers of a check.
    pub(super) fn allowed_part(&self, check: &str, part: &str, common: f64) -> f64 {
        let of = |name| tolerance::of(name, check, part);
        of(self.name()).or_else(|| of(&self.backend.info().name)).unwrap_or(common)
    }

    /// A solver loaded with the scene's initial state.
    pub(super) fn build(&self, scene: &Scene) -> Result<Box<dyn Solver>, Stop> {
        self.backend.supports(scene).map_err(BuildError::from)?;
        let mut solver = runner::build(self.backend, scene, &self.settings())?;
        solver.load(&scene.initial_state())?;
        Ok(solver)
    }

    pub(super) fn settings(&self) -> Settings {
        if self.settings.is_empty() {
            return Settings::default();
        }
        Settings::from_ron(self.settings)
    }

    /// The states after every frame of a run, the initial one first.
    pub(super) fn path(&self, scene: &Scene, plan: Plan) -> Result<Vec<State>, Stop> {
        self.path_from(scene, &scene.initial_state(), plan)
    }

    /// The states after every frame of a run that starts at `start`, that one first.
    pub(super) fn path_from(
        &self,
        scene: &Scene,
        start: &State,
        plan: Plan,
    ) -> Result<Vec<State>, Stop> {
        let mut path = vec![start.clone()];
        self.run_from(scene, start, plan, |state| path.push(state.clone()))?;
        Ok(path)
    }

    /// The state after the last frame of a run, and the forces of its last step if the backend knows them.
    pub(super) fn loaded(
        &self,
        scene: &Scene,
        plan: Plan,
    ) -> Result<(State, Option<Multipliers>), Stop> {
        let (mut end, mut forces) = (State::default(), Multipliers::default());
        let start = scene.initial_state();
        let mut solver = self.run_from(scene, &start, plan, |state| end.clone_from(state))?;
        let known = solver.read_multipliers(&mut forces);
        solver.check_capacity()?;
        Ok((end, known.then_some(forces)))
    }

    /// The state after the last frame of a run.
    pub(super) fn end(&self, scene: &Scene, plan: Plan) -> Result<State, Stop> {
        self.end_from(scene, &scene.initial_state(), plan)
    }

    /// The state after the last frame of a run that starts at `start`.
    pub(super) fn end_from(&self, scene: &Scene, start: &State, plan: Plan) -> Result<State, Stop> {
        let mut end = start.clone();
        self.run_from(scene, start, plan, |state| end.clone_from(state))?;
        Ok(end)
    }

    fn run_from(
        &self,
        scene: &Scene,
        start: &State,
        plan: Plan,
        mut on_frame: impl FnMut(&State),
    ) -> Result<Box<dyn Solver>, Stop> {
        let mut solver = self.build(scene)?;
        solver.load(start)?;
        let mut state = State::default();
        for frame in 1..=plan.frames {
            for _ in 0..plan.substeps {
                advance(&mut *solver, plan.step(scene))?;
            }
            solver.read(&mut state)?;
            ensure(state.is_finite(), || format!("not finite after frame {frame}"))?;
            on_frame(&state);
        }
        Ok(solver)
    }

    /// Over how long a plan integrates at once [s].
    pub(super) fn integrated(&self, scene: &Scene, plan: Plan) -> Result<f64, Stop> {
        let step = plan.step(scene);
        Ok(match self.build(scene)?.iteration() {
            Iteration::Refine | Iteration::Rerun => step.dt,
            Iteration::Substep => step.dt / f64::from(step.iterations),
        })
    }

    /// What an iteration means.
    pub(super) fn iteration(&self, scene: &Scene) -> Result<Iteration, Stop> {
        Ok(self.build(scene)?.iteration())
    }
}
