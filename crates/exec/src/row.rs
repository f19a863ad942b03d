//! A program as a row of the table of backends.

use std::{borrow::Cow, sync::OnceLock};

use serde_json::Value;
use taut_core::{
    AuditFacts, Backend, BuildError, Determinism, Devices, Info, Introduction, Needs, Runs, Scene,
    Settings, Solver, SolverError, Unsupported,
};

use crate::{
    checks,
    fault::{LinkFault, OpenFault},
    hello::Handshake,
    idle::Idle,
    link::ProcessLink,
    presets::PRESET,
    program::Program,
    settings::{JsonSettings, to_json},
    solver::RemoteSolver,
    words::WordsLog,
};

/// A backend that is a program: it is started when it is first asked something, and asked once what it is.
#[derive(Debug)]
pub struct ExecBackend {
    info: Info,
    program: Program,
    /// How it could not be started, or what it said; either is told to all who ask.
    hello: OnceLock<Result<Handshake, OpenFault>>,
    idle: Idle,
}

impl ExecBackend {
    /// A row for a program. Nothing is started yet.
    pub fn new(program: Program) -> Self {
        let command = || format!("another process: {}", program.command.join(" "));
        let summary = program.summary.clone().unwrap_or_else(command);
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

    fn hello(&self) -> Result<&Handshake, &OpenFault> {
        let asked = || {
            if let Some(setup) = self.missing() {
                return Err(setup.into());
            }
            let link = ProcessLink::open(&self.program)?;
            let hello = link.hello.clone();
            self.idle.give(link);
            let Program { name, version, .. } = &self.program;
            let here = hello.introduction.version.as_deref().unwrap_or("of no version");
            match version.as_deref().filter(|pinned| *pinned != here) {
                Some(pinned) => Err(format!("{name} {here} is here, {pinned} is pinned").into()),
                None => Ok(hello),
            }
        };
        self.hello.get_or_init(asked).as_ref()
    }

    /// What to do where what the program needs is not here.
    fn missing(&self) -> Option<String> {
        let environment = self.program.environment.as_ref();
        let missing = environment.filter(|environment| !environment.path.exists());
        missing.map(|environment| format!("run {}", environment.setup))
    }

    /// Has a scene compiled and compares what came of it: the settings in force, and what the engine tells.
    fn compiled(
        &self,
        link: &mut ProcessLink,
        scene: &Scene,
        settings: &JsonSettings,
    ) -> Result<(JsonSettings, Option<AuditFacts>), BuildError> {
        let resolved = link.scene(scene, settings).map_err(LinkFault::in_building)?;
        let audit = link.audit(scene.bodies.len()).map_err(LinkFault::in_building)?;
        let facts = audit.map(|audit| audit.agree(scene, &self.program.deviations));
        Ok((resolved, facts.transpose().map_err(process)?))
    }

    /// The settings of the row, over them those of a preset, over these what is given; and the preset's name.
    fn settings(
        &self,
        scene: &Scene,
        given: &Settings,
    ) -> Result<(JsonSettings, Option<Value>), BuildError> {
        let read = |text: &str| to_json(text).map_err(BuildError::Settings);
        let mut settings = read(&self.program.settings)?;
        settings.extend(read(given.as_str())?);
        let Some(presets) = &self.program.presets else { return Ok((settings, None)) };
        let name = settings.remove(PRESET).unwrap_or_else(|| "default".into());
        let wrong = || BuildError::Settings(format!("`{PRESET}` is {name}, expected a name"));
        let mut chosen = read(presets.of(name.as_str().ok_or_else(wrong)?, scene)?)?;
        chosen.extend(settings);
        Ok((chosen, Some(name)))
    }
}

fn process(why: String) -> BuildError {
    BuildError::Solver(SolverError::Process(why))
}

/// What is told where a program does not get as far as a scene; what it said goes where words go.
fn silent(fault: &OpenFault, devices: &dyn Devices) -> BuildError {
    if let Some(path) = devices.words() {
        WordsLog::new(path).add(&fault.words);
    }
    process(fault.why.clone())
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

    /// One that computes on a graphics device has opened it by itself.
    fn runs(&self) -> Runs {
        self.hello().map_or(Runs::OnCpu, Handshake::runs)
    }

    /// One that does not answer refuses nothing: that it cannot be built is a failure.
    fn refuses(&self, scene: &Scene) -> Result<(), Unsupported> {
        self.hello().map_or(Ok(()), |hello| hello.refuse(scene))
    }

    fn build(
        &self,
        scene: &Scene,
        settings: &Settings,
        devices: &dyn Devices,
    ) -> Result<Box<dyn Solver>, BuildError> {
        if let Some(setup) = self.missing() {
            return Err(BuildError::NoDevice(setup));
        }
        let (settings, preset) = self.settings(scene, settings)?;
        self.hello().map_err(|fault| silent(fault, devices))?.refuse(scene)?;
        let idle = (!devices.anew()).then(|| self.idle.clone());
        let waiting = idle.as_ref().and_then(Idle::take);
        let link = waiting.map_or_else(|| ProcessLink::open(&self.program), Ok);
        let mut link = link.map_err(|fault| silent(&fault, devices))?;
        link.child.log_to(devices.words());
        match self.compiled(&mut link, scene, &settings) {
            Ok((mut resolved, facts)) => {
                resolved.extend(preset.map(|name| (PRESET.to_owned(), name)));
                let solver = RemoteSolver::new(link, idle, scene, resolved);
                Ok(Box::new(solver.audited(facts)))
            }
            Err(error) => {
                if let Some(idle) = idle {
                    idle.give(link);
                }
                Err(error)
            }
        }
    }

    fn own_checks(&self) -> &'static [&'static str] {
        checks::NAMES
    }

    fn is_peer(&self) -> bool {
        self.program.environment.is_some()
    }

    fn introduction(&self) -> Result<Introduction, String> {
        let hello = self.hello().map_err(|fault| fault.why.clone())?;
        // What the file of backends says of a row stands.
        let summary = self.program.summary.clone().or_else(|| hello.introduction.summary.clone());
        Ok(Introduction { summary, ..hello.introduction.clone() })
    }

    fn own_check(&self, name: &str) -> Result<Option<String>, String> {
        if let Some(setup) = self.missing() {
            return Ok(Some(setup));
        }
        checks::ask(name, &self.program)
    }
}
