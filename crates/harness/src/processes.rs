//! Solvers in other processes as rows of the table: commands given on the command line, and files that name them.
//!
//! A child has the rights of whoever calls the program. So only the command line, files that it points at, by
//! `--backends` or by the variable `TAUT_BACKENDS`, and those of the checkout's own engines in `peers` turn a name into
//! a command: figures and results hold names.

mod companions;

use std::{
    collections::BTreeMap,
    env,
    path::{Path, PathBuf},
};

use anyhow::{Context, anyhow, bail, ensure};
use ron::value::RawValue;
use serde::Deserialize;
use taut_exec::{ExecBackend, Limits, Program, ProgramEnvironment};

use crate::{
    Setup,
    args::Common,
    checkout::{self, Checkout},
    spec::{self, EXEC},
};

/// Paths of files of backends, as a list of paths is written on this system.
const VARIABLE: &str = "TAUT_BACKENDS";

/// A file of backends.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BackendsFile {
    backends: Vec<NamedProgram>,
}

/// One row of it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NamedProgram {
    name: String,
    command: Vec<String>,
    /// From the folder of the file; that folder itself where it is left out.
    #[serde(default)]
    directory: PathBuf,
    #[serde(default)]
    env: BTreeMap<String, String>,
    settings: Option<Box<RawValue>>,
    /// One line for `list`.
    summary: Option<String>,
    /// What its times are of.
    timed_as: Option<String>,
    /// Of the engine; another one is a failure.
    version: Option<String>,
    /// What has to be there, seen from the folder of the file.
    environment: Option<PathBuf>,
    /// The command that sets that up.
    setup: Option<String>,
    hello_s: Option<f64>,
    scene_s: Option<f64>,
    first_step_s: Option<f64>,
    step_s: Option<f64>,
    load_s: Option<f64>,
    read_s: Option<f64>,
}

/// The setup with a row for each program of the files and for each command among the backends that are named.
///
/// # Errors
/// A file or command that cannot be read, a name that is taken, and any of them under `--no-exec`.
pub(crate) fn extended(
    setup: &Setup,
    common: &Common,
    root: &Checkout,
    named: &[&str],
) -> anyhow::Result<Setup> {
    let mut setup = setup.clone();
    let commands = named.iter().map(|text| spec::without_label(text));
    let mut commands = commands.filter(|text| text.starts_with(EXEC));
    if common.programs.no_exec {
        if let Some(command) = commands.next() {
            bail!("`{command}` is refused by --no-exec");
        }
        ensure!(common.programs.backend_files.is_empty(), "--backends is refused by --no-exec");
        for mut program in engines(root)? {
            let names = named.iter().map(|text| spec::without_label(text));
            let mut names = names.map(|text| text.split(':').next().unwrap_or(text));
            ensure!(names.all(|n| n != program.name), "`{}` is refused by --no-exec", program.name);
            // Figures name it all the same; its rows are skipped.
            program.environment = Some(ProgramEnvironment {
                path: PathBuf::new(),
                setup: "taut without --no-exec".to_owned(),
            });
            add(&mut setup, common, program);
        }
        return Ok(setup);
    }
    for program in engines(root)? {
        add(&mut setup, common, program);
    }
    let listed = env::var_os(VARIABLE).unwrap_or_default();
    let listed = env::split_paths(&listed).filter(|path| !path.as_os_str().is_empty());
    let given = common.programs.backend_files.iter().map(|file| (file.clone(), of_file(file)));
    let listed = listed.map(|file| {
        let programs = of_file(&file).with_context(|| format!("${VARIABLE}"));
        (file, programs)
    });
    for (file, programs) in given.chain(listed) {
        for program in programs? {
            let taken = setup.table.place(&program.name).is_some();
            let (file, name) = (file.display(), &program.name);
            ensure!(
                !taken,
                "{file}: the name `{name}` is taken, so give the program another `name`"
            );
            add(&mut setup, common, program);
        }
    }
    for command in commands {
        // The same command twice is one row of the table.
        if setup.table.place(command).is_none() {
            add(&mut setup, common, of_command(command)?);
        }
    }
    Ok(setup)
}

/// The rows of every `peers/*/backends.ron` of a checkout, in the order of their names; none where there is no folder.
/// Those that only the program has cannot be started, and are skipped.
///
/// # Errors
/// A file that cannot be read.
pub(crate) fn engines(root: &Checkout) -> anyhow::Result<Vec<Program>> {
    let mut programs = Vec::new();
    for engine in root.names("peers").unwrap_or_default() {
        let file = root.path(&format!("peers/{engine}/backends.ron"));
        if checkout::embedded(&file).is_some() {
            programs.extend(of_file(&file)?.into_iter().map(only_named));
        } else if file.is_file() {
            programs.extend(of_file(&file)?);
        }
    }
    Ok(programs)
}

/// An engine whose files are in the program, and not on disk.
fn only_named(mut program: Program) -> Program {
    let setup = program.environment.map_or_else(String::new, |environment| environment.setup);
    program.environment = Some(ProgramEnvironment {
        path: PathBuf::new(),
        setup: format!("{setup} in a checkout of taut"),
    });
    program
}

fn add(setup: &mut Setup, common: &Common, mut program: Program) {
    program.threads = usize::from(common.threads);
    program.seed = common.seed;
    setup.table = std::mem::take(&mut setup.table).with(ExecBackend::new(program));
}

/// `exec:COMMAND` or `exec:COMMAND::key=value,..`, named by this text itself.
fn of_command(text: &str) -> anyhow::Result<Program> {
    let rest = text.strip_prefix(EXEC).unwrap_or(text);
    let (command, settings) = match rest.rsplit_once("::") {
        Some((command, settings)) => (command, Some(settings)),
        None => (rest, None),
    };
    let words = shell_words::split(command)
        .map_err(|_| anyhow!("`{text}` has a quote that is not closed"))?;
    ensure!(
        words.first().is_some_and(|word| !word.is_empty()),
        "`{text}` has an empty command, expected exec:PROGRAM"
    );
    let mut program = Program::new(text, words);
    if let Some(settings) = settings {
        program.settings = spec::to_ron(settings).with_context(|| format!("in `{text}`"))?;
    }
    Ok(program)
}

fn of_file(file: &Path) -> anyhow::Result<Vec<Program>> {
    let name = file.display();
    let read: BackendsFile = companions::read(file)?;
    let folder = file.parent().unwrap_or(Path::new(""));
    let programs = read.backends.into_iter().map(|row| row.program(folder));
    let mut programs: Vec<Program> =
        programs.collect::<anyhow::Result<_>>().with_context(|| name.to_string())?;
    let (presets, deviations) = (companions::presets(folder)?, companions::deviations(folder)?);
    for program in &mut programs {
        program.presets.clone_from(&presets);
        program.deviations.clone_from(&deviations);
    }
    Ok(programs)
}

impl NamedProgram {
    fn program(self, folder: &Path) -> anyhow::Result<Program> {
        let Self { name, command, .. } = self;
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        ensure!(
            !name.is_empty() && name.chars().all(plain),
            "`{name}` is no name: expected letters, digits, `-`, `_` and `.`"
        );
        let empty = command.first().is_none_or(String::is_empty);
        ensure!(!empty, "`{name}` has an empty command");
        let common = Limits::default();
        let limit = |key: &str, given: Option<f64>, common: f64| match given {
            Some(seconds) if seconds.is_finite() && seconds > 0.0 => Ok(seconds),
            Some(seconds) => bail!("`{name}`: `{key}` is {seconds}, expected seconds above 0"),
            None => Ok(common),
        };
        let limits = Limits {
            hello_s: limit("hello_s", self.hello_s, common.hello_s)?,
            scene_s: limit("scene_s", self.scene_s, common.scene_s)?,
            first_step_s: limit("first_step_s", self.first_step_s, common.first_step_s)?,
            step_s: limit("step_s", self.step_s, common.step_s)?,
            load_s: limit("load_s", self.load_s, common.load_s)?,
            read_s: limit("read_s", self.read_s, common.read_s)?,
        };
        let environment = match (self.environment, self.setup) {
            (Some(path), Some(setup)) => {
                Some(ProgramEnvironment { path: folder.join(path), setup })
            }
            (None, None) => None,
            _ => bail!("`{name}` needs both `environment` and `setup`, or neither"),
        };
        let mut command = command;
        if environment.is_some() && command[0].contains('/') {
            // From the folder of the file, wherever the program is started; the links in it make the environment.
            let place = std::path::absolute(folder.join(&command[0]));
            command[0] = place.context("no working directory")?.display().to_string();
        }
        let directory = folder.join(self.directory);
        let here = directory.as_os_str().is_empty();
        let settings = self.settings.map(|raw| raw.get_ron().trim().to_owned());
        let mut program = Program::new(&name, command);
        program.directory = (!here).then_some(directory);
        program.env = self.env;
        (program.summary, program.timed_as) = (self.summary, self.timed_as);
        program.version = self.version;
        program.environment = environment;
        program.settings = settings.unwrap_or(program.settings);
        program.limits = limits;
        Ok(program)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn commands_are_split_without_a_shell() {
        let program = of_command(r"exec:python3 'my solver.py' $HOME::gain=3,mode=fast").unwrap();
        assert_eq!(program.command, ["python3", "my solver.py", "$HOME"]);
        assert_eq!(program.settings, "(gain: 3, mode: fast)");
        assert_eq!(program.name, r"exec:python3 'my solver.py' $HOME::gain=3,mode=fast");
        let said = |text: &str| format!("{:#}", of_command(text).unwrap_err());
        assert!(said("exec:").contains("empty command"));
        assert!(said("exec: ::a=1").contains("empty command"));
        assert!(said("exec:python3 'x").contains("quote that is not closed"));
        assert!(said("exec:python3 x::gain").contains("expected key=value, found `gain`"));
        assert!(said("exec:python3 x::gain=").contains("has no value"));
    }

    #[test]
    fn engines_are_known_where_only_the_program_is() {
        let disk = engines(&Checkout::at(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")));
        let (disk, program) = (disk.unwrap(), engines(&Checkout::embedded(None)).unwrap());
        let names = |of: &[Program]| of.iter().map(|p| p.name.clone()).collect::<Vec<_>>();
        assert_eq!(names(&program), names(&disk));
        for (known, engine) in program.iter().zip(&disk) {
            assert_eq!((&known.presets, &known.version), (&engine.presets, &engine.version));
            let missing = known.environment.as_ref().unwrap();
            assert!(!missing.path.exists());
            assert!(missing.setup.ends_with("in a checkout of taut"), "{}", missing.setup);
        }
        assert!(!disk.is_empty());
    }

    #[test]
    fn files_of_backends_are_read_and_mistakes_placed() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("backends.ron");
        let read = |text: &str| {
            fs::write(&file, text).unwrap();
            of_file(&file)
        };
        let row = r#"(backends: [(name: "mine", command: ["python3", "s.py"], directory: "sub",
            env: {"K": "1"}, settings: (gain: 3), step_s: 2)])"#;
        let program = read(row).unwrap().remove(0);
        assert_eq!(program.directory, Some(folder.path().join("sub")));
        assert_eq!((program.settings.as_str(), program.limits.step_s), ("(gain: 3)", 2.0));
        assert_eq!((program.env["K"].as_str(), program.limits.hello_s), ("1", 60.0));
        let said = |text: &str| format!("{:#}", read(text).unwrap_err());
        let unknown = said("(backends: [\n  (name: \"a\", comand: [\"x\"])])");
        assert!(unknown.contains("backends.ron:2:"), "{unknown}");
        assert!(unknown.contains("did you mean `command`?"), "{unknown}");
        assert!(said(r#"(backends: [(name: "a", command: [])])"#).contains("empty command"));
        assert!(said(r#"(backends: [(name: "a:b", command: ["x"])])"#).contains("is no name"));
        let never = said(r#"(backends: [(name: "a", command: ["x"], step_s: 0)])"#);
        assert!(never.contains("`step_s` is 0, expected seconds above 0"), "{never}");
    }
}
