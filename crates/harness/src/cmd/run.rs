//! `taut run`: trajectories, every frame measured.

use std::ops::ControlFlow;

use taut_core::{Multipliers, Scene, State};

use super::{Outcome, SceneTask, Session, plots};
use crate::{
    args::{Course, RunArgs},
    plot::split_unit,
    progress::Progress,
    record::{
        MotionFacts, OutDir, ReferenceDocument, ReferenceFacts, RunRow, Sensitivity, Status,
        contact_forces_csv, frames_csv, joint_forces_csv, names_csv, particles_csv, states_csv,
    },
    ruler::{ITERATIONS_USED, Sample},
    runner::{
        self, Keep, KeptForces, KeptStates, Observer, ReferenceRuns, References, RunOptions,
        TrueMotion, moved_start,
    },
    spec::{self, Spec},
    tape::Tape,
    text_table::{TextTable, short},
};

/// The metrics that the table shows, where they apply: worst of the run.
const SHOWN: &[&str] = &[
    "joint_error_max_m",
    "joint_angle_error_max_rad",
    "spring_strain_max",
    "watched_error_rms_m",
    "distance_to_reference_rms_m",
    "distance_to_step_m",
    "distance_to_motion_m",
    "motion_error_m",
    "energy_drift_j",
    "penetration_max_m",
    "imbalance_share_max",
    ITERATIONS_USED,
];

pub(crate) fn main(session: &Session<'_>, args: &RunArgs) -> anyhow::Result<Outcome> {
    let task = session.task(&args.selection)?;
    let steps = args.course.steps.unwrap_or(task.scene.steps);
    if let Some(step) = args.states.iter().find(|&&step| step > steps) {
        anyhow::bail!(
            "--states asks for step {step}, but the run has {steps}: give --steps {step}"
        );
    }
    let wanted = wanted_reference(session, &args.course, &task)?;
    let subject = (&task.scene, &task.facts);
    let mut tape = Tape::create(&args.recording, &session.command, subject, &task.specs)?;
    let mut out = session.out_dir("run")?;
    // Each finished row is on file before the next begins, so that nobody who is stopped by force loses it.
    let mut keep = |done: &[KeptRun]| {
        if done.len() == task.specs.len() {
            return Ok(());
        }
        save(session, &task, done, &mut out)
    };
    let (states, on_tape) = (&args.states, tape.as_mut());
    let measured = measure(session, &task, &args.course, states, wanted, on_tape, &mut keep)?;
    if let Some(tape) = tape {
        tape.finish(session.bench.threads())?;
    }
    let MeasuredRuns { mut runs, reference, motion } = measured;
    if let Some(starts) = args.spread {
        add_sensitivity(session, &task, steps, starts, &mut runs);
    }

    let rows: Vec<&RunRow> = runs.iter().map(|run| &run.row).collect();
    let name = task.scene.name.clone();
    out.write("frames.csv", &frames_csv(&name, &rows))?;
    if !args.states.is_empty() {
        let states: Vec<(&RunRow, &[(u32, State)])> =
            runs.iter().map(|run| (&run.row, run.states.as_slice())).collect();
        out.write("states.csv", &states_csv(&states))?;
        if !task.scene.particles.is_empty() {
            out.write("particles.csv", &particles_csv(&states))?;
        }
        let forces: Vec<(&RunRow, &[(u32, Multipliers)])> =
            runs.iter().map(|run| (&run.row, run.forces.as_slice())).collect();
        if !task.scene.joints.is_empty() {
            out.write("joint_forces.csv", &joint_forces_csv(&forces))?;
        }
        if task.scene.contacts.is_some() {
            out.write("contact_forces.csv", &contact_forces_csv(&forces))?;
        }
        out.write("names.csv", &names_csv(&task.scene))?;
    }
    plots::trajectories(&name, &rows, &mut out)?;
    let rows: Vec<RunRow> = runs.into_iter().map(|run| run.row).collect();
    let table = table(&rows, args.spread.is_some(), &reference);
    let references = ReferenceDocument { reference, motion };
    let document = session.document("run", &task, references, rows, &mut out)?;
    session.present(&document, &[table], out.path())
}

/// Writes what is known so far.
fn save(
    session: &Session<'_>,
    task: &SceneTask,
    done: &[KeptRun],
    out: &mut OutDir,
) -> anyhow::Result<()> {
    let rows: Vec<&RunRow> = done.iter().map(|run| &run.row).collect();
    out.write("frames.csv", &frames_csv(&task.scene.name, &rows))?;
    let rows = rows.into_iter().cloned().collect();
    session.document("run", task, ReferenceDocument::default(), rows, out)?;
    Ok(())
}

/// A row with the states that were asked for, each with its frame.
pub(super) struct KeptRun {
    pub(super) row: RunRow,
    states: Vec<(u32, State)>,
    forces: Vec<(u32, Multipliers)>,
}

/// What the rows are compared with.
pub(super) enum Wanted {
    Nothing,
    /// The motion without steps; where there is none, the finest `newton` among the rows.
    Motion,
    /// One of the rows.
    Row(usize),
    /// One more run.
    Extra(Spec),
}

pub(super) fn wanted_reference(
    session: &Session<'_>,
    course: &Course,
    task: &SceneTask,
) -> anyhow::Result<Wanted> {
    let text = match &course.reference {
        None => return Ok(Wanted::Motion),
        Some(text) if text == "none" => return Ok(Wanted::Nothing),
        Some(text) => text,
    };
    let most = task.specs.iter().map(|s| s.iterations).max().unwrap_or(1);
    let mut spec = spec::reference(text, most)?;
    session.bench.check(&task.scene, &spec)?;
    let backend = session.bench.find(&spec.backend)?;
    if let Err(reason) = backend.supports(&task.scene) {
        anyhow::bail!("`{text}` cannot be the reference: {reason}");
    }
    spec.label = format!("reference {text}");
    let equal = |row: &Spec| Spec { label: spec.label.clone(), ..row.clone() } == spec;
    let row = task.specs.iter().position(equal);
    Ok(row.map_or(Wanted::Extra(spec), Wanted::Row))
}

/// All rows, and what they were compared with.
#[derive(Default)]
pub(super) struct MeasuredRuns {
    pub(super) runs: Vec<KeptRun>,
    pub(super) reference: Option<ReferenceFacts>,
    pub(super) motion: Option<MotionFacts>,
}

/// Finds the references, then runs all rows in order.
pub(super) fn measure(
    session: &Session<'_>,
    task: &SceneTask,
    course: &Course,
    states: &[u32],
    wanted: Wanted,
    mut tape: Option<&mut Tape>,
    on_row: &mut dyn FnMut(&[KeptRun]) -> anyhow::Result<()>,
) -> anyhow::Result<MeasuredRuns> {
    let mut measured = MeasuredRuns::default();
    let steps = course.steps.unwrap_or(task.scene.steps);
    let mut references = ReferenceRuns::new(&session.bench, &task.scene, steps, course.finest);
    let motion = match wanted {
        Wanted::Nothing => None,
        _ => {
            let found = find_motion(&mut references);
            measured.motion = Some(motion_facts(&found));
            found.ok()
        }
    };
    // The reference solves each step to tolerance, so the finest in time is the best.
    let newtons = task.specs.iter().enumerate().filter(|(_, s)| s.backend == "newton");
    let finest = newtons.max_by_key(|(_, s)| s.substeps).map(|(index, _)| index);
    let (own_row, spec) = match (wanted, &motion) {
        (Wanted::Nothing, _) | (Wanted::Motion, Some(_)) => (None, None),
        (Wanted::Motion, None) => (finest, finest.map(|index| task.specs[index].clone())),
        (Wanted::Row(index), _) => (Some(index), Some(task.specs[index].clone())),
        (Wanted::Extra(spec), _) => (None, Some(spec)),
    };
    let count = task.specs.len() + usize::from(spec.is_some() && own_row.is_none());
    let progress = Progress::new(u64::from(steps) * count as u64, "steps");
    let compares = measured.motion.is_some();
    let mut run_one = |spec: &Spec, named, keep, index: Option<usize>| {
        let same_step = compares.then(|| references.same_step(spec)).flatten();
        let same_step = same_step.as_deref();
        let references = References { named, same_step, motion: motion.as_ref() };
        let options = RunOptions { steps, references, asked: &[] };
        let tape = tape.as_deref_mut().zip(index).map(|(tape, index)| tape.of_run(index));
        one_row(session, task, spec, &options, (keep, states), tape, &progress)
    };
    let mut trusted = spec.as_ref().map(|spec| run_one(spec, None, Keep::Everything, own_row));
    let facts = spec.zip(trusted.as_ref());
    measured.reference = match (facts, &motion) {
        (Some((spec, run)), _) => Some(ReferenceFacts::of(&spec, &run.row)),
        (None, motion) => motion.as_ref().map(finest_facts),
    };
    let path: Option<Vec<State>> = trusted
        .as_mut()
        .map(|run| std::mem::take(&mut run.states).into_iter().map(|(_, state)| state).collect());
    let named = path.as_deref().or(motion.as_ref().map(|motion| motion.states.as_slice()));
    for (index, spec) in task.specs.iter().enumerate() {
        measured.runs.push(match trusted.take_if(|_| own_row == Some(index)) {
            Some(run) => KeptRun { states: pick(path.as_deref(), states), ..run },
            None => run_one(spec, named, Keep::After(states), Some(index)),
        });
        on_row(&measured.runs)?;
    }
    progress.finish();
    Ok(measured)
}

/// The motion without steps, with a line of progress.
fn find_motion(references: &mut ReferenceRuns<'_>) -> Result<TrueMotion, String> {
    let progress = Progress::new(1, "references");
    progress.start("the motion without steps");
    let found = references.true_motion();
    progress.advance(1);
    progress.finish();
    found
}

fn motion_facts(found: &Result<TrueMotion, String>) -> MotionFacts {
    match found {
        Ok(motion) => MotionFacts {
            substeps: motion.substeps.clone(),
            error_max_m: Some(motion.error_max_m()),
            reason: String::new(),
        },
        Err(reason) => {
            MotionFacts { substeps: Vec::new(), error_max_m: None, reason: reason.clone() }
        }
    }
}

/// The true motion as a reference: the finest of the runs that it is made of.
fn finest_facts(motion: &TrueMotion) -> ReferenceFacts {
    ReferenceFacts {
        backend: "newton".to_owned(),
        settings: String::new(),
        iterations: 1,
        substeps: motion.substeps.last().copied().unwrap_or(1),
        status: Status::Ok,
        reason: String::new(),
        is_motion: true,
    }
}

fn one_row(
    session: &Session<'_>,
    task: &SceneTask,
    spec: &Spec,
    options: &RunOptions<'_>,
    (keep, forces): (Keep<'_>, &[u32]),
    mut tape: Option<&mut Tape>,
    progress: &Progress,
) -> KeptRun {
    if session.bench.is_cancelled() {
        let row = RunRow::skipped(spec, "interrupted before it started");
        return KeptRun { row, states: Vec::new(), forces: Vec::new() };
    }
    progress.start(&spec.label);
    let (mut kept, mut told) = (KeptStates::new(keep), KeptForces::new(forces));
    let mut ticks = Ticks { progress, left: options.steps };
    let mut observers: Vec<&mut dyn Observer> = vec![&mut kept, &mut told, &mut ticks];
    if let Some(tape) = &mut tape {
        observers.push(&mut **tape);
    }
    let row = runner::run(&session.bench, &task.scene, spec, options, &mut observers);
    if let Some(tape) = tape {
        tape.record_iterates(&session.bench, &task.scene, spec);
    }
    KeptRun { row, states: kept.states, forces: told.forces }
}

/// Moves the bar of progress by frames.
pub(super) struct Ticks<'a> {
    pub(super) progress: &'a Progress,
    pub(super) left: u32,
}

impl Observer for Ticks<'_> {
    fn frame(&mut self, _sample: &Sample<'_>, _row: &mut RunRow) -> ControlFlow<String> {
        self.progress.advance(1);
        self.left -= 1;
        ControlFlow::Continue(())
    }

    fn end(&mut self, _row: &mut RunRow) {
        // A row that ended early leaves nothing to wait for.
        self.progress.advance(u64::from(self.left));
    }
}

/// The states of a whole trajectory after the given steps, in the order of time.
fn pick(path: Option<&[State]>, steps: &[u32]) -> Vec<(u32, State)> {
    let numbered = (0..).zip(path.unwrap_or_default());
    let wanted = numbered.filter(|(step, _)| steps.contains(step));
    wanted.map(|(step, state)| (step, state.clone())).collect()
}

/// Runs every measured row again from moved starts. No reference: it would have to move, too.
fn add_sensitivity(
    session: &Session<'_>,
    task: &SceneTask,
    steps: u32,
    starts: u32,
    runs: &mut [KeptRun],
) {
    let progress = Progress::new(u64::from(starts) * runs.len() as u64, "moved runs");
    let scenes: Vec<Scene> = (0..starts).map(|seed| moved_start(&task.scene, seed)).collect();
    for (spec, run) in task.specs.iter().zip(runs).filter(|(_, run)| run.row.status.is_measured()) {
        progress.start(&spec.label);
        let mut moved = Vec::new();
        for scene in &scenes {
            let options = RunOptions { steps, references: References::default(), asked: &[] };
            moved.push(runner::run(&session.bench, scene, spec, &options, &mut []));
            progress.advance(1);
        }
        // What was cut short is no spread.
        if !session.bench.is_cancelled() {
            run.row.sensitivity = Some(Sensitivity::of(&run.row, &moved));
        }
    }
    progress.finish();
}

fn table(rows: &[RunRow], spread: bool, reference: &Option<ReferenceFacts>) -> TextTable {
    let twice = reference.as_ref().is_some_and(|reference| reference.is_motion);
    let shown: Vec<&str> = SHOWN
        .iter()
        .copied()
        .filter(|name| !(twice && *name == "distance_to_reference_rms_m"))
        .filter(|name| rows.iter().any(|row| row.summary.get(name).is_some()))
        .collect();
    let mut table = TextTable::default()
        .text("label")
        .text("status")
        .number("iterations", "")
        .number("substeps", "")
        .number("steps", "")
        .number("step time", "ms");
    for name in &shown {
        let (words, unit) = split_unit(name);
        table = table.number(&words, unit);
        if spread {
            table = table.number("spread", "decades");
        }
    }
    for row in rows {
        let mut cells = vec![
            row.label.clone(),
            row.status_and_mark(),
            row.iterations.to_string(),
            row.substeps.to_string(),
            row.steps.to_string(),
            short(row.step_time_s.map(|spread| 1e3 * spread.median)),
        ];
        for name in &shown {
            cells.push(short(row.summary.get(name)));
            if spread {
                let found = row.sensitivity.iter().flat_map(|s| &s.metrics);
                let area = found.filter(|m| m.name == **name).map(|m| m.area).next();
                cells.push(short(area));
            }
        }
        table.push(cells);
    }
    table
}
