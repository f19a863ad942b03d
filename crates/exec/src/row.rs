//! A program as a row of the table of backends.

use std::{borrow::Cow, sync::OnceLock};

use taut_core::{
    Backend, BuildError, Determinism, Devices, Info, Needs, Runs, Scene, Settings, Solver,
    SolverError, Unsupported,
};

use crate::{
    checks,
    hello::Handshake,
    idle::Idle,
    link::ProcessLink,
    program::Program,
    settings::{JsonSettings, to_json},
    solver::RemoteSolver,
};

/// A backend that is a program: it is started when it is first asked something, and asked once what it is.
#[derive(Debug)]
pub struct ExecBackend {
    info: Info,
    program: Program,
    /// How it could not be started, or what it said; either is told to all who ask.
    hello: OnceLock<Result<Handshake, String>>,
    idle: Idle,
}

impl ExecBackend {
    /// A row for a program. Nothing is started yet.
    pub fn new(program: Program) -> Self {
        let summary = format!("another process: {}", program.command.join(" "));
        let info = Info {
            promises_no_intersection: false,
            name: Cow::Owned(program.name.clone()),
            summary: Cow::Owned(summary),
            reference: Cow::Borrowed("its own"),
            // Until it says otherwise.
            determinism: Determinism::None,
            runs: Runs::OnCpu,
        };
        Self { info, program, hello: OnceLock::new(), idle: Idle::default() }
    }

    fn hello(&self) -> Result<&Handshake, String> {
        let asked = || {
            let link = ProcessLink::open(&self.program)?;
            let hello = link.hello.clone();
            self.idle.give(link);
            Ok(hello)
        };
        self.hello.get_or_init(asked).as_ref().map_err(Clone::clone)
    }

    /// The settings of the row, and over them those that are given.
    fn settings(&self, given: &Settings) -> Result<JsonSettings, BuildError> {
        let read = |text: &str| to_json(text).map_err(BuildError::Settings);
        let mut settings = read(&self.program.settings)?;
        settings.extend(read(given.as_str())?);
        Ok(settings)
    }
}

fn process(why: String) -> BuildError {
    BuildError::Solver(SolverError::Process(why))
}

impl Backend for ExecBackend {
    fn info(&self) -> &Info {
        &self.info
    }

    /// By its own words, see [`Backend::refuses`].
    fn takes(&self) -> Needs {
        Needs::ALL
    }

    fn determinism(&self) -> Determinism {
        self.hello().map_or(Determinism::None, Handshake::determinism)
    }

    /// One that does not answer refuses nothing: that it cannot be built is a failure.
    fn refuses(&self, scene: &Scene) -> Result<(), Unsupported> {
        self.hello().map_or(Ok(()), |hello| hello.refuse(scene))
    }

    fn build(
        &self,
        scene: &Scene,
        settings: &Settings,
        _: &dyn Devices,
    ) -> Result<Box<dyn Solver>, BuildError> {
        self.hello().map_err(process)?.refuse(scene)?;
        let settings = self.settings(settings)?;
        let waiting = self.idle.take().map_or_else(|| ProcessLink::open(&self.program), Ok);
        let mut link = waiting.map_err(process)?;
        match link.scene(scene, &settings) {
            Ok(resolved) => {
                Ok(Box::new(RemoteSolver::new(link, self.idle.clone(), scene, resolved)))
            }
            Err(fault) => {
                self.idle.give(link);
                Err(fault.in_building())
            }
        }
    }

    fn own_checks(&self) -> &'static [&'static str] {
        checks::NAMES
    }

    fn own_check(&self, name: &str) -> Result<Option<String>, String> {
        checks::ask(name, &self.program)
    }
}
