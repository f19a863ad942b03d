//! From rows to curves: what a panel shows, as a picture and as a table.

use std::fmt::Write as _;

use super::{Figure, FigureRow, PanelSpec, Planned, is_clocked};
use crate::plot;

/// The curves of one panel.
#[derive(Clone, Debug, PartialEq)]
pub struct PanelCurves {
    /// Number of the panel, from 0.
    pub panel: usize,
    /// Its curves, in the order of the runs.
    pub curves: Vec<plot::Curve>,
}

impl Planned {
    /// Whether a panel's pattern takes this run: a label, an entry's label, or `start*`.
    pub fn matches(&self, pattern: &str) -> bool {
        matches(pattern, &self.label, &self.group)
    }
}

fn matches(pattern: &str, label: &str, group: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => label.starts_with(start),
        None => pattern == label || pattern == group,
    }
}

/// The curves of all panels.
pub fn collect(figure: &Figure, rows: &[FigureRow]) -> Vec<PanelCurves> {
    let panels = figure.plot.panels.iter().enumerate();
    panels.map(|(i, panel)| PanelCurves { panel: i, curves: panel_curves(panel, rows) }).collect()
}

fn panel_curves(panel: &PanelSpec, rows: &[FigureRow]) -> Vec<plot::Curve> {
    if let Some(profile) = &panel.profile {
        return profile.curves(panel, rows);
    }
    let rows = rows.iter().filter(|row| panel.shows(row));
    let Some(statistic) = panel.statistic else {
        let points = |row: &FigureRow| -> Option<Vec<(f64, f64)>> {
            let x = row.column(&panel.x.quantity)?.iter().copied();
            Some(x.zip(row.column(&panel.y.quantity)?.iter().copied()).collect())
        };
        let curve = |row: &FigureRow| {
            Some(plot::Curve {
                label: row.label.clone(),
                backend: row.backend.clone(),
                points: points(row)?,
                ..plot::Curve::default()
            })
        };
        return rows.filter_map(curve).collect();
    };
    let mut curves: Vec<plot::Curve> = Vec::new();
    for row in rows {
        let x = row.statistic(&panel.x.quantity, statistic);
        let y = row.statistic(&panel.y.quantity, statistic);
        let (Some(x), Some(y)) = (x, y) else { continue };
        match curves.iter_mut().find(|curve| curve.label == row.group) {
            Some(curve) => curve.points.push((x, y)),
            None => curves.push(plot::Curve {
                label: row.group.clone(),
                backend: row.backend.clone(),
                points: vec![(x, y)],
                ..plot::Curve::default()
            }),
        }
    }
    for curve in &mut curves {
        curve.points.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    curves
}

impl PanelSpec {
    /// Whether it shows a run, if there is anything to show.
    pub(super) fn shows(&self, row: &FigureRow) -> bool {
        row.was_run() && (self.runs.is_empty() || self.takes(&row.label, &row.group))
    }

    /// Whether a run of this label and entry is among those that it names.
    pub(super) fn takes(&self, label: &str, group: &str) -> bool {
        self.runs.iter().any(|pattern| matches(pattern, label, group))
    }

    /// Whether its curves are recorded: not those that clocks move, nor profiles, which are made of what others show.
    pub fn is_recorded(&self) -> bool {
        self.is_repeatable() && self.profile.is_none()
    }

    /// Whether equal runs draw equal curves.
    pub fn is_repeatable(&self) -> bool {
        !is_clocked(&self.x.quantity) && !is_clocked(&self.y.quantity)
    }
}

/// The curves as a table: one row per point, with names quoted only where a comma needs it.
pub fn write_csv(figure: &Figure, curves: &[PanelCurves]) -> String {
    let mut text = "panel,curve,backend,x_quantity,x,y_quantity,y\n".to_owned();
    for panel in curves {
        let axes = &figure.plot.panels[panel.panel];
        for curve in &panel.curves {
            for (x, y) in &curve.points {
                // Writing to a string cannot fail.
                let _ = writeln!(
                    text,
                    "{},{},{},{},{x:e},{},{y:e}",
                    panel.panel,
                    quote(&curve.label),
                    curve.backend,
                    axes.x.quantity,
                    axes.y.quantity
                );
            }
        }
    }
    text
}

/// Says so where a table has other columns than those of this program.
pub(super) fn check_head(text: &str, head: &str) -> Result<(), String> {
    match text.lines().next().unwrap_or_default() {
        first if first == head => Ok(()),
        other => {
            Err(format!("another schema: its columns are `{other}`, this program reads `{head}`"))
        }
    }
}

/// A CSV field.
pub(super) fn quote(name: &str) -> String {
    if name.contains([',', '"', '\n']) {
        format!("\"{}\"", name.replace('"', "\"\""))
    } else {
        name.to_owned()
    }
}

/// What [`quote`] was given.
pub(super) fn unquote(name: &str) -> String {
    let inner = name.strip_prefix('"').and_then(|name| name.strip_suffix('"'));
    inner.map_or_else(|| name.to_owned(), |inner| inner.replace("\"\"", "\""))
}
