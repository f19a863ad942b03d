//! Points of panels over the clock, on file beside the recorded curves: no two runs have the same, so nothing is
//! compared with them, and pictures are drawn from them.

use std::fmt::Write as _;

use anyhow::anyhow;

use super::{Figure, FigureRow, collect, curves::quote, filed};
use crate::checkout::{self, Checkout};

/// One point of a panel over the clock.
#[derive(Clone, Debug, PartialEq)]
pub struct TimedPoint {
    /// Number of the panel, from 0.
    pub panel: usize,
    /// Label of its curve.
    pub curve: String,
    /// Backend of its curve.
    pub backend: String,
    /// Label of its run; empty where a point stands for several.
    pub run: String,
    /// Horizontal value.
    pub x: f64,
    /// Vertical value.
    pub y: f64,
}

/// The points of all panels that are not recorded.
pub(super) fn timed_points(figure: &Figure, rows: &[FigureRow]) -> Vec<TimedPoint> {
    let mut points = Vec::new();
    for (place, panel) in figure.plot.panels.iter().enumerate() {
        if panel.is_recorded() {
            continue;
        }
        let (Some(statistic), None) = (panel.statistic, &panel.profile) else {
            let curves = collect(figure, rows).into_iter().filter(|curves| curves.panel == place);
            points.extend(curves.flat_map(|curves| curves.curves).flat_map(|curve| {
                let (label, backend) = (curve.label, curve.backend);
                curve.points.into_iter().map(move |(x, y)| TimedPoint {
                    panel: place,
                    curve: label.clone(),
                    backend: backend.clone(),
                    run: String::new(),
                    x,
                    y,
                })
            }));
            continue;
        };
        let shown = rows.iter().filter(|row| panel.shows(row));
        let mut own: Vec<TimedPoint> = shown
            .filter_map(|row| {
                Some(TimedPoint {
                    panel: place,
                    curve: row.group.clone(),
                    backend: row.backend.clone(),
                    run: row.label.clone(),
                    x: row.statistic(&panel.x.quantity, statistic)?,
                    y: row.statistic(&panel.y.quantity, statistic)?,
                })
            })
            .collect();
        // Curves in the order of the definition, each from its cheapest run.
        let order: Vec<String> = own.iter().map(|point| point.curve.clone()).collect();
        let place_of = |point: &TimedPoint| order.iter().position(|curve| *curve == point.curve);
        own.sort_by(|a, b| place_of(a).cmp(&place_of(b)).then(a.x.total_cmp(&b.x)));
        points.extend(own);
    }
    points
}

const HEAD: &str = "panel,curve,backend,run,x,y\n";

/// The text of a `times.csv`.
pub(super) fn record(points: &[TimedPoint]) -> String {
    let mut text = HEAD.to_owned();
    for TimedPoint { panel, curve, backend, run, x, y } in points {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{panel},{},{backend},{},{x:.6e},{y:.6e}", quote(curve), quote(run));
    }
    text
}

/// Reads the text of a `times.csv`.
///
/// # Errors
/// Says which line is malformed.
pub(super) fn parse(text: &str) -> Result<Vec<TimedPoint>, String> {
    let mut points = Vec::new();
    for (number, line) in text.lines().enumerate().skip(1) {
        let point = point(&fields(line));
        let wrong = || format!("line {}: expected `{}`, found `{line}`", number + 1, HEAD.trim());
        points.push(point.ok_or_else(wrong)?);
    }
    Ok(points)
}

fn point(fields: &[String]) -> Option<TimedPoint> {
    let [panel, curve, backend, run, x, y] = fields else { return None };
    Some(TimedPoint {
        panel: panel.parse().ok()?,
        curve: curve.clone(),
        backend: backend.clone(),
        run: run.clone(),
        x: x.parse().ok()?,
        y: y.parse().ok()?,
    })
}

/// Splits a line at commas outside quotes.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut quoted = false;
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        let Some(field) = fields.last_mut() else { break };
        match letter {
            '"' if quoted && letters.peek() == Some(&'"') => {
                letters.next();
                field.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            other => field.push(other),
        }
    }
    fields
}

/// The points on file of a figure; none where there is no file.
///
/// # Errors
/// When the file cannot be read.
pub(super) fn read(root: &Checkout, id: &str) -> anyhow::Result<Vec<TimedPoint>> {
    let path = filed(root, id, "times.csv");
    let Some(text) = checkout::text(&path)? else { return Ok(Vec::new()) };
    parse(&text).map_err(|message| anyhow!("{}: {message}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_read_as_they_were_written() {
        let point = TimedPoint {
            panel: 2,
            curve: "a, b".to_owned(),
            backend: "null".to_owned(),
            run: "a, \"b\" 4".to_owned(),
            x: 1.5e-3,
            y: 2.0,
        };
        assert_eq!(parse(&record(std::slice::from_ref(&point))).unwrap(), [point]);
        assert!(parse("head\n1,a,b\n").unwrap_err().contains("line 2"));
    }
}
