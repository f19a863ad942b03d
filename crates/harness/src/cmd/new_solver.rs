//! `taut new-solver`: a solver in another language to start from.

use std::{
    fs::{self, OpenOptions},
    io::Write,
};

use anyhow::Context;

use super::{Outcome, print};
use crate::args::{Language, NewSolverArgs};

/// Files of a solver: names and texts.
type SolverTemplate = &'static [(&'static str, &'static str)];

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
        Language::Cpp => (CPP, "c++ -std=c++17 -O2 solver.cpp -o solver && "),
    };
    for (name, _) in template {
        let file = folder.join(name);
        anyhow::ensure!(!file.exists(), "{} is there already", file.display());
    }
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    for (name, text) in template {
        let file = folder.join(name);
        let mut open = OpenOptions::new();
        let written = open
            .write(true)
            .create_new(true)
            .open(&file)
            .and_then(|mut file| file.write_all(text.as_bytes()));
        written.with_context(|| format!("cannot write {}", file.display()))?;
    }
    let names: Vec<&str> = template.iter().map(|(name, _)| *name).collect();
    print(&format!(
        "{}: {}\nask it: cd {} && {build}taut --backends backends.ron verify -b mine\n",
        folder.display(),
        names.join(", "),
        folder.display()
    ))?;
    Ok(Outcome::Good)
}
