//! Measured curves against recorded ones, by integral measures.
//!
//! Curves of chaotic or oscillating runs may shift in phase without being worse, so points are not
//! compared one by one: what counts is the signed area between the curves, their level at the end
//! and their slope.

use std::{fmt::Write as _, path::Path};

use anyhow::anyhow;
use taut_core::{Determinism, Table};

use super::{
    Figure, FigureRow, PanelCurves, PanelSpec,
    band::{CurveSpread, NARROWEST},
    curves::{check_head, quote, unquote},
};
use crate::{checkout, curve::measures, plot, plot::Scale};

/// Curves are recorded with at most this many points.
const POINTS: usize = 120;
/// A curve that covers less of the recorded length than this has ended early.
const COVERAGE: f64 = 0.98;

/// How one curve compares with its record.
#[derive(Clone, Debug, PartialEq)]
pub struct Shift {
    /// Number of the panel, from 0.
    pub panel: usize,
    /// Label of the curve.
    pub curve: String,
    /// What became of it.
    pub change: Change,
    /// Signed mean difference; in decades on a log axis, in shares of the extent on a linear one.
    pub area: f64,
    /// Difference over the last tenth, in the same unit.
    pub end: f64,
    /// Difference of the fitted slopes over the whole length, in the same unit.
    pub slope: f64,
    /// What these three may be.
    pub band: [f64; 3],
}

/// What became of a recorded curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// Inside the band.
    Same,
    /// Lower than the band, on a log axis.
    Better,
    /// Higher than the band on a log axis, or outside it on a linear one.
    Worse,
    /// It ends before the recorded one.
    Shorter,
    /// It was recorded, but is not there any more.
    Missing,
    /// It was recorded, and this machine has no device that could draw it.
    Skipped,
    /// It is there, but was never recorded.
    New,
    /// It moved, and moves so much with its start that only a sample of starts can say whether that means anything.
    Unsettled,
}

impl Change {
    /// Whether a check must fail.
    pub fn is_bad(self) -> bool {
        matches!(self, Self::Worse | Self::Shorter | Self::Missing | Self::New | Self::Unsettled)
    }

    /// The name used in tables and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Better => "better",
            Self::Worse => "worse",
            Self::Shorter => "shorter",
            Self::Missing => "missing",
            Self::Skipped => "skipped",
            Self::New => "new",
            Self::Unsettled => "unsettled",
        }
    }
}

/// The curves worth recording: those that equal runs draw alike.
pub fn repeatable(table: &Table, figure: &Figure, curves: &[PanelCurves]) -> Vec<PanelCurves> {
    let bitwise = |curve: &&plot::Curve| {
        let row = table.get(&curve.backend);
        row.is_some_and(|row| row.determinism() == Determinism::Bitwise)
    };
    let kept = curves.iter().filter(|p| figure.plot.panels[p.panel].is_recorded());
    kept.map(|p| PanelCurves {
        panel: p.panel,
        curves: p.curves.iter().filter(bitwise).cloned().collect(),
    })
    .collect()
}

/// The columns of a `baseline.csv`, which are its schema.
const HEAD: &str = "panel,curve,x,y";

/// The text of a `baseline.csv`.
pub fn record(table: &Table, figure: &Figure, curves: &[PanelCurves]) -> String {
    let mut text = format!("{HEAD}\n");
    for panel in repeatable(table, figure, curves) {
        for curve in &panel.curves {
            let stride = curve.points.len().div_ceil(POINTS).max(1);
            let last = curve.points.len().saturating_sub(1);
            let kept = curve.points.iter().enumerate();
            let kept = kept.filter(|(i, _)| i % stride == 0 || *i == last);
            for (_, (x, y)) in kept {
                // Writing to a string cannot fail.
                let _ = writeln!(text, "{},{},{x:.6e},{y:.6e}", panel.panel, quote(&curve.label));
            }
        }
    }
    text
}

/// The curves in a file; `None` where there is no file.
///
/// # Errors
/// When it cannot be read, or is of another schema.
pub(super) fn read(path: &Path) -> anyhow::Result<Option<Vec<PanelCurves>>> {
    let Some(text) = checkout::text(path)? else { return Ok(None) };
    parse_record(&text).map(Some).map_err(|message| anyhow!("{}: {message}", path.display()))
}

/// Reads the text of a `baseline.csv`.
///
/// # Errors
/// When its columns are others; says which line is malformed.
pub fn parse_record(text: &str) -> Result<Vec<PanelCurves>, String> {
    check_head(text, HEAD)?;
    let mut panels: Vec<PanelCurves> = Vec::new();
    for (number, line) in text.lines().enumerate().skip(1) {
        let wrong = || format!("line {}: expected `panel,curve,x,y`, found `{line}`", number + 1);
        let (panel, rest) = line.split_once(',').ok_or_else(wrong)?;
        let (rest, y) = rest.rsplit_once(',').ok_or_else(wrong)?;
        let (label, x) = rest.rsplit_once(',').ok_or_else(wrong)?;
        let panel: usize = panel.parse().map_err(|_| wrong())?;
        let point: (f64, f64) = (x.parse().map_err(|_| wrong())?, y.parse().map_err(|_| wrong())?);
        let label = unquote(label);
        if panels.last().is_none_or(|p| p.panel != panel) {
            panels.push(PanelCurves { panel, curves: Vec::new() });
        }
        let Some(curves) = panels.last_mut().map(|p| &mut p.curves) else { continue };
        match curves.last_mut().filter(|curve| curve.label == label) {
            Some(curve) => curve.points.push(point),
            None => curves.push(plot::Curve { label, points: vec![point], ..Default::default() }),
        }
    }
    Ok(panels)
}

/// Compares all curves with their records, within bands that their spreads give; where none is on file, within the
/// figure's own.
pub fn compare(
    table: &Table,
    figure: &Figure,
    measured: &[PanelCurves],
    recorded: &[PanelCurves],
    spreads: &[CurveSpread],
) -> Vec<Shift> {
    let measured = repeatable(table, figure, measured);
    let mut shifts = Vec::new();
    for now in &measured {
        let Some(panel) = figure.plot.panels.get(now.panel) else { continue };
        let then = recorded.iter().find(|p| p.panel == now.panel);
        let then = then.map_or(&[][..], |p| &p.curves);
        for curve in &now.curves {
            let old = then.iter().find(|old| old.label == curve.label);
            let spread = spreads.iter().find(|s| s.panel == now.panel && s.curve == curve.label);
            let own = &figure.band;
            let band = spread.map_or([own.area, own.end, own.slope], CurveSpread::band);
            let (mut change, [area, end, slope]) = match old {
                Some(old) => shift(panel, own.floor, band, &curve.points, &old.points),
                None => (Change::New, [0.0; 3]),
            };
            if let Some(spread) = spread.filter(|spread| spread.is_blind()) {
                let moved = [area, end, slope].iter().any(|by| by.abs() > NARROWEST);
                let whole = matches!(change, Change::Same | Change::Better | Change::Worse);
                if moved && whole && !spread.starts.is_empty() {
                    change = Change::Unsettled;
                }
            }
            let label = curve.label.clone();
            shifts.push(Shift { panel: now.panel, curve: label, change, area, end, slope, band });
        }
    }
    for then in recorded {
        let now = measured.iter().find(|p| p.panel == then.panel);
        for old in &then.curves {
            if !now.is_some_and(|p| p.curves.iter().any(|curve| curve.label == old.label)) {
                let (panel, curve) = (then.panel, old.label.clone());
                let (area, end, slope, band) = (0.0, 0.0, 0.0, [0.0; 3]);
                shifts.push(Shift {
                    panel,
                    curve,
                    change: Change::Missing,
                    area,
                    end,
                    slope,
                    band,
                });
            }
        }
    }
    shifts
}

/// Excuses curves whose rows this machine has no device for, and those that the recording machine had none for.
pub fn excuse(shifts: &mut [Shift], figure: &Figure, rows: &[FigureRow]) {
    for shift in shifts {
        let drew = |row: &&FigureRow| row.label == shift.curve || row.group == shift.curve;
        let mut drawn = rows.iter().filter(drew);
        let excused = match shift.change {
            Change::Missing => drawn.any(FigureRow::was_skipped),
            Change::New => drawn.any(|row| figure.needs_hardware(row)),
            _ => false,
        };
        if excused {
            shift.change = Change::Skipped;
        }
    }
}

type CurvePoints = [(f64, f64)];

fn shift(
    panel: &PanelSpec,
    floor: f64,
    bands: [f64; 3],
    new: &CurvePoints,
    old: &CurvePoints,
) -> (Change, [f64; 3]) {
    let old = transform(panel, floor, old, 1.0);
    let extent = match panel.y.scale {
        Scale::Log => 1.0,
        Scale::Linear => extent(&old),
    };
    let old: Vec<(f64, f64)> = old.iter().map(|&(x, y)| (x, y / extent)).collect();
    let new = transform(panel, floor, new, extent);
    let pairs: Vec<(f64, f64, f64)> =
        old.iter().filter_map(|&(x, y)| Some((x, y, interpolate(&new, x)?))).collect();
    let (Some(&first), Some(&last)) = (pairs.first(), pairs.last()) else {
        // Nothing was recorded that the axes can show, and nothing is measured: no change.
        let change = if old.is_empty() { Change::Same } else { Change::Shorter };
        return (change, [0.0; 3]);
    };
    let length = last.0 - first.0;
    let recorded_length = old.last().map_or(0.0, |p| p.0) - old.first().map_or(0.0, |p| p.0);
    let measures = measures(&pairs).unwrap_or_default();
    let outside = || measures.iter().zip(bands).filter(|(m, band)| m.abs() > *band);
    let change = if length < COVERAGE * recorded_length {
        Change::Shorter
    } else if outside().next().is_none() {
        Change::Same
    } else if panel.y.scale == Scale::Log && outside().all(|(m, _)| *m < 0.0) {
        Change::Better
    } else {
        Change::Worse
    };
    (change, measures)
}

/// Points in the coordinates of the axes; those that an axis cannot show are left out.
fn transform(panel: &PanelSpec, floor: f64, points: &CurvePoints, extent: f64) -> Vec<(f64, f64)> {
    let one = |&(x, y): &(f64, f64)| {
        let x = match panel.x.scale {
            Scale::Linear => x,
            Scale::Log if x > 0.0 => x.log10(),
            Scale::Log => return None,
        };
        let y = match panel.y.scale {
            Scale::Linear => y / extent,
            Scale::Log => y.max(floor).log10(),
        };
        Some((x, y))
    };
    // Before `one`, whose `max` would turn what is not a number into the floor.
    let finite = points.iter().filter(|(x, y)| x.is_finite() && y.is_finite());
    finite.filter_map(one).collect()
}

/// Height of a curve, but never less than a thousandth of its level.
fn extent(points: &CurvePoints) -> f64 {
    let values = || points.iter().map(|p| p.1);
    let high = values().fold(f64::NEG_INFINITY, f64::max);
    let low = values().fold(f64::INFINITY, f64::min);
    let level = values().fold(0.0, |level: f64, y| level.max(y.abs()));
    (high - low).max(1e-3 * level).max(1e-9)
}

/// Value of a curve between its points; `None` beyond its ends.
fn interpolate(points: &CurvePoints, x: f64) -> Option<f64> {
    // Records keep seven digits, so the ends may differ in the last of them.
    let near = |a: f64| (a - x).abs() <= 2e-6 * (1.0 + x.abs());
    let after = points.partition_point(|p| p.0 < x);
    match (after.checked_sub(1).map(|i| points[i]), points.get(after).copied()) {
        (_, Some(b)) if near(b.0) => Some(b.1),
        (Some(a), _) if near(a.0) => Some(a.1),
        (Some(a), Some(b)) => Some(a.1 + (b.1 - a.1) * (x - a.0) / (b.0 - a.0)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::{Setup, backends};

    fn figure(scale: &str) -> Figure {
        let text = format!(
            r#"(title: "t", source: "s", about: "a", claims: [],
                runs: [(label: "r", scene: "s", backend: "null", iterations: [1])],
                plot: (panels: [(
                    x: (quantity: "time_s"),
                    y: (quantity: "joint_error_max_m", scale: {scale}),
                )]))"#
        );
        super::super::parse(&text, "test", Path::new("figure.ron"), &Setup::default()).unwrap()
    }

    fn panel(of: impl Fn(f64) -> f64, count: u32) -> Vec<PanelCurves> {
        let points = (1..=count).map(|i| f64::from(i) / 60.0).map(|x| (x, of(x))).collect();
        let (label, backend) = ("a, b".to_owned(), "null".to_owned());
        let curve = plot::Curve { label, backend, points, ..plot::Curve::default() };
        vec![PanelCurves { panel: 0, curves: vec![curve] }]
    }

    fn change(
        scale: &str,
        new: impl Fn(f64) -> f64,
        count: u32,
        old: impl Fn(f64) -> f64,
    ) -> Shift {
        let figure = figure(scale);
        let recorded =
            parse_record(&record(&backends::table(), &figure, &panel(old, 300))).unwrap();
        compare(&backends::table(), &figure, &panel(new, count), &recorded, &[]).remove(0)
    }

    fn wave(phase: f64) -> impl Fn(f64) -> f64 {
        move |x| 1e-3 * (2.0 + (9.0 * x + phase).sin())
    }

    #[test]
    fn an_equal_curve_is_the_same() {
        let shift = change("log", wave(0.0), 300, wave(0.0));
        assert_eq!(shift.change, Change::Same);
        assert!(shift.area.abs() < 1e-5, "{shift:?}");
    }

    #[test]
    fn a_shift_in_phase_is_not_worse() {
        assert_eq!(change("log", wave(1.0), 300, wave(0.0)).change, Change::Same);
    }

    #[test]
    fn a_fifth_more_error_is_worse_and_a_fifth_less_is_better() {
        let scaled = |factor: f64| move |x: f64| factor * wave(0.0)(x);
        assert_eq!(change("log", scaled(1.2), 300, wave(0.0)).change, Change::Worse);
        assert_eq!(change("log", scaled(0.8), 300, wave(0.0)).change, Change::Better);
        assert_eq!(change("log", scaled(1.1), 300, wave(0.0)).change, Change::Same);
    }

    #[test]
    fn a_curve_that_bends_up_at_its_end_is_worse() {
        let bent = |x: f64| if x > 4.6 { 1.5 * wave(0.0)(x) } else { wave(0.0)(x) };
        assert_eq!(change("log", bent, 300, wave(0.0)).change, Change::Worse);
    }

    #[test]
    fn on_a_linear_axis_any_move_counts() {
        let lifted = |by: f64| move |x: f64| x.sin() + by;
        assert_eq!(change("linear", lifted(0.2), 300, lifted(0.0)).change, Change::Worse);
        assert_eq!(change("linear", lifted(-0.2), 300, lifted(0.0)).change, Change::Worse);
        assert_eq!(change("linear", lifted(0.02), 300, lifted(0.0)).change, Change::Same);
    }

    #[test]
    fn a_curve_that_ends_early_is_reported() {
        assert_eq!(change("log", wave(0.0), 200, wave(0.0)).change, Change::Shorter);
        let gone = |_: f64| f64::NAN;
        assert_eq!(change("log", gone, 300, wave(0.0)).change, Change::Shorter);
    }

    #[test]
    fn noise_below_the_floor_is_not_a_change() {
        assert_eq!(change("log", |_| 3e-15, 300, |_| 0.0).change, Change::Same);
    }

    #[test]
    fn missing_and_new_curves_are_told_apart() {
        let figure = figure("log");
        let there = panel(wave(0.0), 300);
        assert_eq!(
            compare(&backends::table(), &figure, &[], &there, &[])[0].change,
            Change::Missing
        );
        assert_eq!(compare(&backends::table(), &figure, &there, &[], &[])[0].change, Change::New);
    }

    #[test]
    fn a_curve_without_a_device_is_not_missing() {
        let figure = figure("log");
        let mut shifts = compare(&backends::table(), &figure, &[], &panel(wave(0.0), 300), &[]);
        let row = |label: &str, group: &str, status: &str| FigureRow {
            label: label.to_owned(),
            group: group.to_owned(),
            status: status.to_owned(),
            ..FigureRow::default()
        };
        excuse(&mut shifts, &figure, &[row("a, b 1", "a, b", "failed"), row("c", "c", "skipped")]);
        assert_eq!(shifts[0].change, Change::Missing);
        excuse(&mut shifts, &figure, &[row("a, b 1", "a, b", "skipped")]);
        assert_eq!(shifts[0].change, Change::Skipped);
        assert!(!shifts[0].change.is_bad());
    }
}
