//! Reproducing figures, and comparing them with their records.

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, anyhow, bail, ensure};
use serde_json::{Value, json};
use taut_core::Table;

use super::{
    Beside, Figure, FigureRow, Guest, Judged, MeasuredFigure, PanelCurves, Sabotage,
    band::CurveSpread,
    baseline::{self, Change, Shift},
    collect, folder, judge, load_with, measure, number,
    picture::{Drawn, pictures},
    profile,
    record::{FigureRecord, RecordPlace},
    redraw,
    sabotage::sabotage,
    spread, starts,
    times::{self, TimedPoint},
    verdict::{VerdictFile, definition_hash},
    write_csv, write_views,
};
use crate::{
    checkout::Checkout,
    plot::{self, PlotSpec},
    record::{RunRow, write_atomically},
    runner::Bench,
};

/// How figures are run and where they go.
#[derive(Clone, Copy, Debug)]
pub struct ReproduceOptions<'a> {
    /// The checkout.
    pub root: &'a Checkout,
    /// Folder for results; each figure gets one of its own inside.
    pub out: &'a Path,
    /// Smaller sizes.
    pub quick: bool,
    /// Whether the record is replaced, and the committed pictures with it unless it is that of `baseline`.
    pub bless: bool,
    /// Who takes part beside the figures' own runs.
    pub guest: Option<&'a Guest>,
    /// Folder with a record for each figure, in the place of that with its definition.
    pub baseline: Option<&'a Path>,
    /// Whether claims are asked if they can fail.
    pub sabotage: bool,
    /// From how many moved starts the spread of what is blessed is found; none is written with zero.
    pub starts: u32,
}

impl<'a> ReproduceOptions<'a> {
    fn place(&self) -> RecordPlace<'a> {
        RecordPlace { root: self.root, baseline: self.baseline, quick: self.quick }
    }
}

/// A figure after its runs.
#[derive(Debug)]
pub struct Reproduced {
    /// Its definition.
    pub figure: Figure,
    /// Its runs, for result files.
    pub runs: Vec<RunRow>,
    /// Its claims, judged.
    pub claims: Vec<Judged>,
    /// Its curves against their records; `None` where nothing is recorded.
    pub shifts: Option<Vec<Shift>>,
    /// How its verdicts differ from those on file, one sentence each; `None` where there are none.
    pub differences: Option<Vec<String>>,
    /// Whether its claims can fail, where that was asked.
    pub sabotage: Option<Sabotage>,
    /// What the loader had to say of the scenes.
    pub warnings: Vec<String>,
    /// Files written.
    pub files: Vec<PathBuf>,
}

/// Runs one figure, draws it and judges its claims.
///
/// `on_run` is called with each finished row, from any thread.
///
/// # Errors
/// When the definition, its scenes or settings are wrong, or a file cannot be read or written.
pub fn reproduce(
    bench: &Bench<'_>,
    id: &str,
    options: &ReproduceOptions<'_>,
    on_run: &(dyn Fn(&RunRow) + Sync),
) -> anyhow::Result<Reproduced> {
    let table = &bench.setup.table;
    let figure = load_with(options.root, id, bench.setup, (options.guest, options.quick))?;
    let definition = definition_hash(options.root, &figure)?;
    let FigureRecord { curves: recorded, spreads, verdicts: on_file } = options.place().read(id)?;
    let starts = if options.bless { options.starts } else { 0 };
    let beside = Beside { null: options.sabotage, starts };
    let MeasuredFigure { runs, mut rows, null_rows, moved_rows, warnings, seconds } =
        measure(bench, options.root, &figure, options.quick, beside, on_run)?;
    if let (Some(file), false) = (&on_file, options.bless) {
        file.recall_horizons(&mut rows);
    }
    let mut claims = judge(&figure.claims, &rows, options.quick);
    match &on_file {
        Some(file) if !options.bless => starts::recall(&mut claims, file),
        // With a guest, moved starts are of its runs alone, of which no claim tells.
        _ if figure.guest.is_some() => {}
        _ => starts::judge_all(&figure.claims, &mut claims, &moved_rows, options.quick),
    }
    let sabotage =
        options.sabotage.then(|| sabotage(&figure, &rows, &null_rows, (&claims, options.quick)));
    let verdicts = VerdictFile::new(definition, options.quick, &claims, (&runs, &rows), seconds);
    let differences = on_file.map(|file| file.differences(&verdicts.held(&figure)));
    let curves = collect(&figure, &rows);
    let held = figure.held(&curves);
    check_guest(table, &figure, &rows, &held)?;
    let mut shifts = recorded
        .as_ref()
        .map(|recorded| baseline::compare(table, &figure, &held, recorded, &spreads));
    baseline::excuse(shifts.as_deref_mut().unwrap_or_default(), &figure, &rows);
    if let (Some(recorded), Some(shifts), false) = (&recorded, &mut shifts, options.bless) {
        settle(bench, &figure, options, (recorded, &spreads), shifts)?;
    }
    let mut done = Reproduced {
        figure,
        runs,
        claims,
        shifts,
        differences,
        sabotage,
        warnings,
        files: Vec::new(),
    };
    let times = times::timed_points(&done.figure, &rows);
    let recorded = baseline::parse_record(&baseline::record(table, &done.figure, &curves));
    let recorded = recorded.map_err(|message| anyhow!("{message}"))?;
    let drawn =
        Drawn { figure: &done.figure, curves: &recorded, times: &times, verdicts: &verdicts };
    let (picture, more) = pictures(drawn);
    let pairwise = profile::pairwise(&done.figure, &rows);
    done.write((&curves, &pairwise), (&picture, more.as_ref()), options)?;
    if options.bless {
        let moved = all_curves(&done.figure, &moved_rows);
        done.bless_all(bench, &verdicts, &rows, (&held, &moved, &times), options)?;
    }
    Ok(done)
}

/// Decides by runs from moved starts what became of curves whose bands would be blind, if there are any.
fn settle(
    bench: &Bench<'_>,
    figure: &Figure,
    options: &ReproduceOptions<'_>,
    (recorded, spreads): (&[PanelCurves], &[CurveSpread]),
    shifts: &mut [Shift],
) -> anyhow::Result<()> {
    if !shifts.iter().any(|shift| shift.change == Change::Unsettled) {
        return Ok(());
    }
    let starts = spreads.iter().map(|spread| spread.starts.len()).max().unwrap_or(0);
    let beside = Beside { null: false, starts: starts as u32 };
    let again = measure(bench, options.root, figure, options.quick, beside, &|_| {})?;
    let moved = all_curves(figure, &again.moved_rows);
    spread::settle(&bench.setup.table, figure, recorded, spreads, &moved, shifts);
    Ok(())
}

/// Says so where the curves of a guest that was run cannot be held, or a check of it would be blind.
fn check_guest(
    table: &Table,
    figure: &Figure,
    rows: &[FigureRow],
    held: &[PanelCurves],
) -> anyhow::Result<()> {
    let Some(Guest { label, .. }) = &figure.guest else { return Ok(()) };
    let was_run = rows.iter().any(|row| row.group == *label && row.was_run());
    let holds = baseline::repeatable(table, figure, held).iter().any(|p| !p.curves.is_empty());
    ensure!(
        !was_run || holds,
        "`{label}` does not promise equal bits of equal runs (`determinism: bitwise`), so that no curve of it can be held"
    );
    Ok(())
}

/// The curves from each moved start that are recorded or compared.
fn all_curves(figure: &Figure, moved_rows: &[Vec<FigureRow>]) -> Vec<Vec<PanelCurves>> {
    moved_rows.iter().map(|rows| figure.held(&collect(figure, rows))).collect()
}

impl Reproduced {
    /// Whether every claim is as its definition leads one to expect, and can fail where that was asked.
    pub fn claims_are_good(&self) -> bool {
        self.claims.iter().all(|claim| claim.verdict.is_good())
            && self.sabotage.as_ref().is_none_or(Sabotage::is_good)
    }

    /// Whether all curves and verdicts are on file and none differs; curves may have become better.
    pub fn is_as_recorded(&self) -> bool {
        let fine = |shifts: &Vec<Shift>| !shifts.iter().any(|shift| shift.change.is_bad());
        self.shifts.as_ref().is_some_and(fine)
            && self.differences.as_ref().is_some_and(Vec::is_empty)
    }

    /// Whether any curve is better than the recorded one: too good is a defect until it is explained.
    pub fn is_better(&self) -> bool {
        self.shifts.iter().flatten().any(|shift| shift.change == Change::Better)
    }

    /// Whether any backend gave a result.
    pub fn was_measured(&self) -> bool {
        self.runs.iter().any(|run| run.status.is_measured())
    }

    /// The figure's entry in the document of `reproduce --json`.
    ///
    /// # Errors
    /// When a row cannot be written as JSON.
    pub fn document(&self) -> anyhow::Result<Value> {
        let claim = |claim: &Judged| {
            json!({
                "text": claim.text,
                "verdict": claim.verdict.as_str(),
                "values": claim.values,
                "holds": claim.holds,
                "measured": claim.measured,
                "expected": claim.expected,
                "basis": claim.basis,
                "known_deviation": claim.known_deviation,
                "starts": claim.starts,
            })
        };
        Ok(json!({
            "id": self.figure.id,
            "title": self.figure.title,
            "source": self.figure.source,
            "claims": self.claims.iter().map(claim).collect::<Vec<_>>(),
            "sabotage": self.sabotage.as_ref().map(Sabotage::document),
            "runs": serde_json::to_value(&self.runs)?,
            "warnings": self.warnings,
            "files": self.files,
        }))
    }

    /// The figure's entry in the document of `regress --json`.
    pub fn regression(&self) -> Value {
        json!({
            "id": self.figure.id,
            "title": self.figure.title,
            "curves": self.curves(),
            "differences": self.differences,
            "files": self.files,
        })
    }

    /// The figure's entry in the document of `reproduce --regress --json`.
    ///
    /// # Errors
    /// As [`Self::document`].
    pub fn document_with_curves(&self) -> anyhow::Result<Value> {
        let mut document = self.document()?;
        document["curves"] = self.curves();
        document["differences"] = json!(self.differences);
        Ok(document)
    }

    fn curves(&self) -> Value {
        let curve = |shift: &Shift| {
            json!({
                "panel": shift.panel,
                "curve": shift.curve,
                "change": shift.change.name(),
                "area": shift.area,
                "end": shift.end,
                "slope": shift.slope,
                "band": shift.band,
            })
        };
        self.shifts.iter().flatten().map(curve).collect()
    }

    /// The figure for a reader: claims with their verdicts, then runs.
    pub fn markdown(&self) -> String {
        let mut text = format!(
            "# {}\n\n{}\n\nSource: {}\n\n",
            self.figure.title, self.figure.about, self.figure.source
        );
        text += "| verdict | claim | expected | measured |\n|---|---|---|---|\n";
        // Writing to a string cannot fail, hence the results that are let go.
        for claim in &self.claims {
            let why = claim.known_deviation.as_ref();
            let why = why.map(|why| format!(". Known deviation: {why}")).unwrap_or_default();
            let cells = [claim.verdict.as_str(), &claim.text, &claim.expected];
            let cells = cells.map(|cell| cell.replace('|', "\\|")).join(" | ");
            let _ = writeln!(text, "| {cells} | {}{why} |", claim.measured.replace('|', "\\|"));
        }
        text += "\n| run | backend | iterations | substeps | status | largest joint error [m] | \
                 step time [ms] | reason |\n|---|---|---|---|---|---|---|---|\n";
        for run in &self.runs {
            let error = run.summary.get("joint_error_max_m").map(number).unwrap_or_default();
            let time = run.step_time_s.map(|t| number(1e3 * t.median)).unwrap_or_default();
            let _ = writeln!(
                text,
                "| {} | {} | {} | {} | {} | {error} | {time} | {} |",
                run.label,
                run.backend,
                run.iterations,
                run.substeps,
                run.status_and_mark(),
                run.reason
            );
        }
        text
    }

    fn write(
        &mut self,
        (curves, pairwise): (&[PanelCurves], &str),
        (picture, more): (&PlotSpec, Option<&PlotSpec>),
        options: &ReproduceOptions<'_>,
    ) -> anyhow::Result<()> {
        let out = options.out.join(&self.figure.id);
        fs::create_dir_all(&out).with_context(|| format!("cannot create {}", out.display()))?;
        self.files.extend(plot::write(&out.join("figure"), picture)?);
        if let Some(more) = more {
            self.files.extend(plot::write(&out.join("figure-more"), more)?);
        }
        let names = ["curves.csv", "claims.md", "claims.json"].map(|name| out.join(name));
        self.files.extend(names.clone());
        let claims = self.document()?["claims"].clone();
        let texts = [
            write_csv(&self.figure, curves),
            self.markdown() + pairwise,
            format!("{}\n", serde_json::to_string_pretty(&claims)?),
        ];
        for (path, text) in names.iter().zip(texts) {
            write_atomically(path, text.as_bytes())?;
        }
        Ok(())
    }

    /// Replaces all that is on file of the figure, unless something of it would be lost.
    fn bless_all(
        &mut self,
        bench: &Bench<'_>,
        verdicts: &VerdictFile,
        rows: &[FigureRow],
        (curves, moved, times): (&[PanelCurves], &[Vec<PanelCurves>], &[TimedPoint]),
        options: &ReproduceOptions<'_>,
    ) -> anyhow::Result<()> {
        if bench.is_cancelled() {
            bail!("interrupted: nothing is blessed");
        }
        let skipped = |row: &&FigureRow| {
            let committed = self.figure.guest.is_none() && !self.figure.needs_hardware(row);
            committed && row.was_skipped()
        };
        if let Some(row) = rows.iter().find(skipped) {
            bail!(
                "{} was skipped, and would be lost from the record: nothing is blessed",
                row.label
            );
        }
        let lost = |row: &&FigureRow| self.figure.is_guest(&row.label) && !row.was_run();
        if let Some(row) = rows.iter().find(lost) {
            let why = row.reason.as_deref().unwrap_or_default();
            bail!("{} was {}: {why}: nothing is blessed", row.label, row.status);
        }
        let held = verdicts.held(&self.figure);
        let table = &bench.setup.table;
        self.files.extend(options.place().write(table, &self.figure, (curves, moved), &held)?);
        if !options.quick && options.baseline.is_none() {
            self.bless_times(times, options)?;
            self.files.extend(write_views(bench, options.root, &self.figure.id)?);
            let drawn = redraw(bench.setup, options.root, &self.figure.id, false)?;
            self.files.extend(drawn.into_iter().map(|file| options.root.on_disk(&file)));
        }
        Ok(())
    }

    /// Replaces the points of panels over the clock, which only the full size has on file.
    fn bless_times(
        &mut self,
        points: &[TimedPoint],
        options: &ReproduceOptions<'_>,
    ) -> anyhow::Result<()> {
        let path = folder(options.root, &self.figure.id).join("times.csv");
        if points.is_empty() {
            return Ok(());
        }
        write_atomically(&path, times::record(points).as_bytes())?;
        self.files.push(path);
        Ok(())
    }
}
