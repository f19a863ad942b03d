//! The verbs. Each has its own file; what they share is here.

pub(crate) mod best;
pub(crate) mod check;
pub(crate) mod compare;
pub(crate) mod draw;
pub(crate) mod export;
pub(crate) mod gallery;
pub(crate) mod list;
pub(crate) mod new_solver;
mod plots;
pub(crate) mod profile;
pub(crate) mod redraw;
pub(crate) mod report;
pub(crate) mod reproduce;
pub(crate) mod run;
pub(crate) mod time;
pub(crate) mod trace;
pub(crate) mod verify;
pub(crate) mod view;

use std::{
    io::{self, Write},
    path::Path,
};

use anyhow::Context;
use serde::Serialize;
use taut_core::Scene;

use crate::{
    args::{Common, Selection},
    checkout::Checkout,
    machine::Machine,
    places,
    record::{
        Document, OutDir, ReferenceDocument, RunRow, SCHEMA, SceneCounts, SceneFacts, Status,
    },
    runner::Bench,
    spec::{self, Spec},
    text_table::TextTable,
};

/// One invocation: the bench, what all verbs take, and the command line for the records.
#[derive(Debug)]
pub(crate) struct Session<'a> {
    pub(crate) bench: Bench<'a>,
    pub(crate) common: Common,
    /// Where scenes and figures come from.
    pub(crate) root: Checkout,
    pub(crate) command: String,
}

/// How an invocation that did what it was asked to do ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Measured; labels are results too.
    Good,
    /// Every row is unsupported, failed or skipped, and not all are skipped: what is not here is no failure.
    NothingMeasured,
    /// A claim or a comparison with a record failed.
    CheckFailed,
    /// Stopped by Ctrl-C, with what was measured written.
    Interrupted,
}

impl Outcome {
    /// The exit status; an error is 2.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Good => 0,
            Self::CheckFailed => 1,
            Self::NothingMeasured => 3,
            // As shells report a process ended by SIGINT.
            Self::Interrupted => 130,
        }
    }
}

/// A scene and the rows to measure in it.
pub(crate) struct SceneTask {
    pub(crate) scene: Scene,
    pub(crate) facts: SceneFacts,
    pub(crate) specs: Vec<Spec>,
}

impl Session<'_> {
    /// The folder of this invocation, in which solvers in other processes have files for what they say.
    fn out_dir(&self, verb: &str) -> anyhow::Result<OutDir> {
        let out = OutDir::create(self.common.out.as_deref(), verb)?;
        self.bench.words.keep_in(out.path());
        Ok(out)
    }

    /// Loads the scene and checks every row before any of them runs.
    fn task(&self, selection: &Selection) -> anyhow::Result<SceneTask> {
        let grid = &selection.grid;
        let specs = spec::rows(&selection.backends, &grid.iterations, &grid.substeps)?;
        for spec in &specs {
            self.bench.find(&spec.backend)?;
        }
        let (file, loaded) = places::load(&self.root, &selection.scene, &grid.set)?;
        for warning in &loaded.warnings {
            eprintln!("taut: warning: {}: {warning}", file.display());
        }
        let facts = SceneFacts::of(&loaded, &file);
        let task = SceneTask { scene: loaded.scene, facts, specs };
        for (index, spec) in task.specs.iter().enumerate() {
            // Budgets of one backend share its settings.
            let same = |s: &Spec| s.backend == spec.backend && s.settings == spec.settings;
            if !task.specs[..index].iter().any(same) {
                self.bench.check(&task.scene, spec)?;
            }
        }
        Ok(task)
    }

    /// The document of a verb; writes it to `<verb>.json` beside the other files.
    fn document(
        &self,
        verb: &'static str,
        task: &SceneTask,
        references: ReferenceDocument,
        runs: Vec<RunRow>,
        out: &mut OutDir,
    ) -> anyhow::Result<Document> {
        let document = self.unwritten(verb, task, references, runs, out);
        out.write(&format!("{verb}.json"), &json(&document)?)?;
        Ok(document)
    }

    /// The document of a verb, which is yet to be written to `<verb>.json`.
    fn unwritten(
        &self,
        verb: &'static str,
        task: &SceneTask,
        references: ReferenceDocument,
        runs: Vec<RunRow>,
        out: &mut OutDir,
    ) -> Document {
        out.add(&format!("{verb}.json"));
        for name in runs.iter().filter_map(|row| self.bench.words.written(&row.label)) {
            out.add(&name);
        }
        Document {
            schema: SCHEMA,
            verb,
            command: self.command.clone(),
            scene: task.facts.clone(),
            machine: Machine::here(self.bench.threads()),
            references,
            runs,
            files: out.files(),
        }
    }

    /// Prints the document as JSON, or its table and where everything was written.
    fn present(
        &self,
        document: &Document,
        tables: &[TextTable],
        out: &Path,
    ) -> anyhow::Result<Outcome> {
        if self.common.json {
            print(&json(document)?)?;
        } else {
            let machine = &document.machine;
            let mut text = format!(
                "{} ({}), {} thread(s), {} build, revision {}\n",
                document.scene.scene,
                describe(&document.scene.counts),
                machine.threads,
                machine.profile,
                machine.revision
            );
            text += &document.references.describe();
            for table in tables.iter().filter(|table| !table.is_empty()) {
                text += &format!("\n{}", table.render());
            }
            for row in document.runs.iter().filter(|row| !row.reason.is_empty()) {
                text += &format!("{}: {}: {}\n", row.label, row.status.name(), row.reason);
            }
            for row in &document.runs {
                for warning in &row.warnings {
                    text += &format!("{}: warning: {warning}\n", row.label);
                }
            }
            text += &format!("\nwritten to {}\n", out.display());
            print(&text)?;
        }
        Ok(self.outcome(&document.runs))
    }

    fn outcome(&self, runs: &[RunRow]) -> Outcome {
        if self.bench.is_cancelled() {
            Outcome::Interrupted
        } else if runs.iter().any(|row| row.status.is_measured())
            || runs.iter().all(|row| row.status == Status::Skipped)
        {
            Outcome::Good
        } else {
            Outcome::NothingMeasured
        }
    }
}

/// How much there is in a scene, in words; kinds of which there are none are left out.
fn describe(counts: &SceneCounts) -> String {
    let all = [
        (counts.bodies, "bodies"),
        (counts.particles, "particles"),
        (counts.joints, "joints"),
        (counts.springs, "springs"),
        (counts.triangles, "triangles"),
        (counts.bends, "bends"),
        (counts.tetrahedra, "tetrahedra"),
    ];
    let some = all.iter().filter(|(count, _)| *count > 0);
    let words: Vec<String> = some.map(|(count, what)| format!("{count} {what}")).collect();
    if words.is_empty() { "empty".to_owned() } else { words.join(", ") }
}

/// Pretty JSON with a newline at its end.
fn json(document: &impl Serialize) -> anyhow::Result<String> {
    let text = serde_json::to_string_pretty(document).context("cannot write JSON")?;
    Ok(text + "\n")
}

/// Writes to standard output; a reader that has gone away is no error.
fn print(text: &str) -> anyhow::Result<()> {
    match io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written.context("cannot write to standard output"),
    }
}
