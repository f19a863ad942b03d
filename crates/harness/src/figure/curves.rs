//! From rows to curves: what a panel shows, as a picture and as a table.

use std::fmt::Write as _;

use super::{AxisSpec, Figure, FigureRow, PanelSpec, Planned, ReferenceSpec, is_time};
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

/// Whether a panel lacks runs because the times of a software adapter are left out.
pub fn lacks_times(figure: &Figure, rows: &[FigureRow]) -> bool {
    let timed = figure.plot.panels.iter().filter(|panel| !panel.is_repeatable());
    timed.into_iter().any(|panel| rows.iter().any(|row| row.software && panel.shows(row)))
}

fn panel_curves(panel: &PanelSpec, rows: &[FigureRow]) -> Vec<plot::Curve> {
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
            }),
        }
    }
    for curve in &mut curves {
        curve.points.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    curves
}

/// The picture of a figure; `untimed` where [`lacks_times`].
pub fn plot_spec(
    figure: &Figure,
    curves: &[PanelCurves],
    quick: bool,
    untimed: bool,
) -> plot::PlotSpec {
    let size = if quick { "; quick form, smaller than the figure" } else { "" };
    let times =
        if untimed { "; runs on a software adapter are not drawn against time" } else { "" };
    let panel = |(panel, curves): (&PanelSpec, &PanelCurves)| plot::Panel {
        title: panel.title.clone(),
        x: axis(&panel.x),
        y: axis(&panel.y),
        curves: curves.curves.clone(),
        references: panel.references.iter().map(reference).collect(),
    };
    plot::PlotSpec {
        title: figure.title.clone(),
        subtitle: format!("{}{size}{times}", figure.source),
        columns: figure.plot.columns,
        panels: figure.plot.panels.iter().zip(curves).map(panel).collect(),
    }
}

fn axis(axis: &AxisSpec) -> plot::Axis {
    let made = plot::Axis::metric(&axis.quantity, axis.scale);
    let label = axis.label.clone().unwrap_or(made.label);
    plot::Axis { label, range: axis.range, ..made }
}

fn reference(reference: &ReferenceSpec) -> plot::Reference {
    match reference.clone() {
        ReferenceSpec::Horizontal { value, label } => plot::Reference::Horizontal { value, label },
        ReferenceSpec::Vertical { value, label } => plot::Reference::Vertical { value, label },
        ReferenceSpec::Slope { through, exponent, label } => {
            plot::Reference::Slope { through, exponent, label }
        }
        ReferenceSpec::Point { at, label } => plot::Reference::Point { at, label },
    }
}

impl PanelSpec {
    /// Whether it shows a run, if there is anything to show.
    fn shows(&self, row: &FigureRow) -> bool {
        let named = || self.runs.iter().any(|pattern| matches(pattern, &row.label, &row.group));
        row.was_run() && (self.runs.is_empty() || named())
    }

    /// Whether equal runs draw equal curves.
    pub fn is_repeatable(&self) -> bool {
        !is_time(&self.x.quantity) && !is_time(&self.y.quantity)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_says_that_times_of_software_are_left_out() {
        let text = |y: &str| {
            format!(
                r#"(title: "t", source: "s", about: "a", runs: [], claims: [], plot: (panels: [
                    (runs: ["a*"], statistic: Some(mean), x: (quantity: "work"), y: (quantity: "{y}"))]))"#
            )
        };
        let row = |label: &str, software| FigureRow {
            label: label.to_owned(),
            software,
            ..FigureRow::default()
        };
        let lacks = |y: &str, row: FigureRow| {
            let figure: Figure = ron::from_str(&text(y)).unwrap();
            let curves = collect(&figure, std::slice::from_ref(&row));
            let lacks = lacks_times(&figure, &[row]);
            let picture = plot_spec(&figure, &curves, false, lacks);
            assert_eq!(picture.subtitle.contains("software adapter"), lacks);
            lacks
        };
        assert!(lacks("step_time_s", row("a", true)));
        assert!(!lacks("step_time_s", row("a", false)), "it is drawn");
        assert!(!lacks("step_time_s", row("b", true)), "this panel does not show it anyway");
        assert!(!lacks("energy_j", row("a", true)), "this panel shows no times");
    }
}
