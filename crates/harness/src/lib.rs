//! The library behind the `taut` program.
//!
//! A program of one's own backends is one call: [`main_with`] and a [`Setup`], such as the standard one
//! with rows added to its table. Nothing below that call knows of another table.

#[cfg_attr(not(feature = "gpu"), path = "adapter/none.rs")]
mod adapter;
mod args;
pub mod backends;
pub mod checkout;
mod cmd;
mod curve;
mod features;
pub mod figure;
pub mod film;
mod interrupt;
pub mod machine;
mod matrix;
mod overlap;
mod parallel;
mod places;
pub mod plot;
pub mod problems;
mod processes;
pub mod progress;
pub mod record;
pub mod report;
pub mod ruler;
pub mod runner;
pub mod spec;
mod splice;
mod tape;
mod text_table;
pub mod verify;
#[cfg(feature = "view")]
pub mod view;

use std::{ffi::OsString, process::ExitCode};

use anyhow::Context;
use clap::Parser;
use taut_core::Table;
use taut_exec::ExecBackend;

use crate::{
    args::{Cli, Verb},
    checkout::Checkout,
    cmd::{
        Outcome, Session,
        reproduce::{Holding, Questions},
    },
    ruler::Ruler,
    runner::Bench,
};

/// Exit status of bad usage and bad input.
const BAD_INPUT: u8 = 2;

/// What a program measures with.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The backends that can be named, in the order in which they are listed and drawn.
    pub table: Table,
    /// What is measured, in the order in which it is reported.
    pub metrics: Ruler,
}

impl Default for Setup {
    /// What the `taut` program has.
    fn default() -> Self {
        Self { table: backends::table(), metrics: Ruler::default() }
    }
}

impl Setup {
    /// The same with a row for each engine that a checkout names in `peers`; none is started.
    ///
    /// # Errors
    /// A file there that cannot be read.
    pub fn with_engines(mut self, root: &Checkout) -> anyhow::Result<Self> {
        for program in processes::engines(root)? {
            self.table = self.table.with(ExecBackend::new(program));
        }
        Ok(self)
    }
}

/// Runs the program with the arguments of the process.
pub fn main_with(setup: Setup) -> ExitCode {
    ExitCode::from(execute(&setup, std::env::args_os()))
}

/// Runs the program on the given arguments, the first of which is its name.
///
/// Returns the exit status: 0 good, 1 a check failed, 2 bad usage or input, 3 nothing could be
/// measured, 130 interrupted.
pub fn execute(setup: &Setup, arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let cli = match Cli::try_parse_from(&arguments) {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are no errors and go to standard output.
            let _ = error.print();
            return if error.use_stderr() { BAD_INPUT } else { 0 };
        }
    };
    match dispatch(setup, cli, &arguments) {
        Ok(outcome) => outcome.code(),
        Err(error) => {
            eprintln!("taut: error: {}", shortened(&format!("{error:#}")));
            BAD_INPUT
        }
    }
}

/// A message whose words, such as names from a file, are no longer than somebody reads.
fn shortened(message: &str) -> String {
    const LONGEST: usize = 200;
    let shorten = |word: &str| match word.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}..", &word[..at]),
        None => word.to_owned(),
    };
    message.split(' ').map(shorten).collect::<Vec<_>>().join(" ")
}

fn dispatch(setup: &Setup, cli: Cli, arguments: &[OsString]) -> anyhow::Result<Outcome> {
    runner::silence_guarded_panics();
    let metrics = setup.metrics.clone();
    metrics.know(&cli.common.measure).context("--measure")?;
    let mut asked = cli.common.measure.clone();
    if let Verb::Best(args) = &cli.verb {
        asked.extend(args.within.iter().map(|(metric, _)| metric.clone()));
    }
    let asking = Setup { metrics: metrics.asked_for(&asked), ..setup.clone() };
    let root = Checkout::find(cli.common.root.as_deref())?;
    let setup = &processes::extended(&asking, &cli.common, &root, &cli.verb.backends())?;
    let session = Session {
        bench: Bench::new(setup, usize::from(cli.common.threads), interrupt::flag())?,
        root,
        common: cli.common,
        command: command_line(arguments),
    };
    if let Some(wanted) = &session.common.adapter {
        adapter::choose(wanted)?;
    }
    match &cli.verb {
        Verb::List(args) => cmd::list::main(&session, args),
        Verb::Check(args) => cmd::check::main(&session, args),
        Verb::Run(args) => cmd::run::main(&session, args),
        Verb::Trace(args) => cmd::trace::main(&session, args),
        Verb::Compare(args) => cmd::compare::main(&session, args),
        Verb::Time(args) => cmd::time::main(&session, args),
        Verb::Draw(args) => cmd::draw::main(&session, args),
        Verb::Best(args) => cmd::best::main(&session, args),
        Verb::Profile(args) => cmd::profile::main(&session, args),
        Verb::Redraw(args) => cmd::redraw::main(&session, args),
        Verb::Gallery(args) => cmd::gallery::main(&session, args),
        Verb::Report(args) => cmd::report::main(&session, args),
        Verb::Reproduce(args) => {
            let questions = Questions {
                claims: true,
                curves: args.regress,
                strict: args.figures.strict,
                sabotage: args.sabotage,
                bless: args.figures.bless,
            };
            cmd::reproduce::main(&session, &args.figures, questions, Holding::default())
        }
        Verb::Regress(args) => cmd::reproduce::regress(&session, args),
        Verb::Verify(args) => cmd::verify::main(&session, args),
        Verb::Export(args) => cmd::export::main(&session, args),
        Verb::NewSolver(args) => cmd::new_solver::main(args),
        Verb::View(args) => cmd::view::main(&session, args),
    }
}

/// The command as it can be given to a shell again, with the program called `taut`.
fn command_line(arguments: &[OsString]) -> String {
    let texts: Vec<_> = arguments.iter().skip(1).map(|a| a.to_string_lossy()).collect();
    command_of(texts.iter().map(|text| &**text))
}

/// A command of these words as it can be given to a shell.
fn command_of<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@+".contains(c);
    let quoted = words.map(|text| match !text.is_empty() && text.chars().all(plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    });
    std::iter::once("taut".to_owned()).chain(quoted).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_can_be_given_again() {
        let arguments = ["/x/taut", "run", "rope", "-b", "A 20=null:a=(1, 2)", "it's"];
        let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
        let expected = r"taut run rope -b 'A 20=null:a=(1, 2)' 'it'\''s'";
        assert_eq!(command_line(&arguments), expected);
    }

    #[test]
    fn long_names_are_cut_in_messages() {
        let name = "b".repeat(10_000);
        let message = shortened(&format!("no body `{name}` in the scene"));
        assert!(message.len() < 300 && message.ends_with("bb.. in the scene"), "{message}");
        assert_eq!(shortened("as it is"), "as it is");
    }
}
