//! `taut new-solver`: a solver in another language to start from.

use std::{
    fs::{self, OpenOptions},
    io::Write,
};

use anyhow::Context;

use super::{Outcome, print};
use crate::{
    args::{Language, NewSolverArgs},
    machine::Machine,
};

/// Files of a solver: names and texts.
type SolverTemplate = &'static [(&'static str, &'static str)];

/// The commit of this program's sources, in full.
const COMMIT: &str = env!("TAUT_COMMIT");

/// What holds a solver in its repository, with gaps for how it is built and for the revision of this program.
const CI: &str = include_str!("../../assets/new-solver/ci.yml");

const PYTHON: SolverTemplate = &[
    ("solver.py", include_str!("../../assets/new-solver/solver.py")),
    ("backends.ron", include_str!("../../assets/new-solver/python.ron")),
    ("deviations.ron", include_str!("../../assets/new-solver/deviations.ron")),
];

const CPP: SolverTemplate = &[
    ("solver.cpp", include_str!("../../assets/new-solver/solver.cpp")),
    ("taut_solver.hpp", include_str!("../../assets/new-solver/taut_solver.hpp")),
    ("backends.ron", include_str!("../../assets/new-solver/cpp.ron")),
];

/// Writes the files; none of them replaces one.
pub(crate) fn main(args: &NewSolverArgs) -> anyhow::Result<Outcome> {
    let folder = &args.folder;
    let (template, build) = match args.language {
        Language::Python => (PYTHON, ""),
        Language::Cpp => (CPP, "c++ -std=c++17 -O2 solver.cpp -o solver"),
    };
    let ci = ci(build);
    let files: Vec<(&str, &str)> =
        template.iter().copied().chain([(".github/workflows/taut.yml", &*ci)]).collect();
    for (name, _) in &files {
        let file = folder.join(name);
        anyhow::ensure!(!file.exists(), "{} is there already", file.display());
    }
    for (name, text) in &files {
        let file = folder.join(name);
        let within = file.parent().unwrap_or(folder);
        fs::create_dir_all(within).with_context(|| format!("cannot make {}", within.display()))?;
        let mut open = OpenOptions::new();
        let written = open
            .write(true)
            .create_new(true)
            .open(&file)
            .and_then(|mut file| file.write_all(text.as_bytes()));
        written.with_context(|| format!("cannot write {}", file.display()))?;
    }
    let names: Vec<&str> = files.iter().map(|(name, _)| *name).collect();
    let build = if build.is_empty() { String::new() } else { format!("{build} && ") };
    print(&format!(
        "{}: {}\nask it: cd {} && {build}taut --backends backends.ron verify -b mine\n",
        folder.display(),
        names.join(", "),
        folder.display()
    ))?;
    Ok(Outcome::Good)
}

/// The file for continuous integration.
fn ci(build: &str) -> String {
    let step = if build.is_empty() { String::new() } else { format!("      - run: {build}\n") };
    // What was built from changed sources is nowhere to be had.
    let revision = Machine::here(1).revision;
    let gone = revision == "unknown" || revision.ends_with("-dirty");
    CI.replace("BUILD", &step).replace("REVISION", if gone { "REVISION" } else { COMMIT })
}
