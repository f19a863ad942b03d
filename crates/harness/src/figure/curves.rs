//! From rows to curves: what a panel shows, as a picture and as a table.

use std::fmt::Write as _;

use super::{AxisSpec, Figure, FigureRow, PanelSpec, Planned, ProfileSpec, ReferenceSpec, is_time};
use crate::{plot, ruler::ITERATIONS_USED};

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
fn lacks_times(figure: &Figure, rows: &[FigureRow]) -> bool {
    let timed = figure.plot.panels.iter().filter(|panel| !panel.is_repeatable());
    timed.into_iter().any(|panel| rows.iter().any(|row| row.software && panel.shows(row)))
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

/// The most iterations for a step of the runs behind a curve, where that is more than they were given.
fn more_iterations(label: &str, rows: &[FigureRow]) -> Option<f64> {
    let of_curve = rows.iter().filter(|row| row.label == label || row.group == label);
    let most = of_curve.filter_map(|row| {
        let used = row.column(ITERATIONS_USED)?.iter().copied().fold(0.0, f64::max);
        (used > row.fact("iterations")?).then_some(used)
    });
    most.reduce(f64::max)
}

/// The picture of a figure. The legend says where a solver took more iterations than it was given.
pub fn plot_spec(
    figure: &Figure,
    curves: &[PanelCurves],
    rows: &[FigureRow],
    quick: bool,
) -> plot::PlotSpec {
    let size = if quick { "; quick form, smaller than the figure" } else { "" };
    let times = if lacks_times(figure, rows) {
        "; runs on a software adapter are not drawn against time"
    } else {
        ""
    };
    let curve = |curve: &plot::Curve| {
        let label = match more_iterations(&curve.label, rows) {
            Some(most) => format!("{}, up to {most} iterations a step", curve.label),
            None => curve.label.clone(),
        };
        plot::Curve { label, ..curve.clone() }
    };
    let panel = |(panel, curves): (&PanelSpec, &PanelCurves)| plot::Panel {
        title: panel.title.clone(),
        x: panel.profile.as_ref().map_or_else(|| axis(&panel.x), |p| p.x(axis(&panel.x))),
        y: panel.profile.as_ref().map_or_else(|| axis(&panel.y), ProfileSpec::y),
        curves: curves.curves.iter().map(curve).collect(),
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

    /// Whether its curves are recorded: not those that clocks move, nor profiles, which are made of what others show.
    pub fn is_recorded(&self) -> bool {
        self.is_repeatable() && self.profile.is_none()
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
    fn a_legend_says_where_more_iterations_were_used_than_given() {
        let text = r#"(title: "t", source: "s", about: "a", runs: [], claims: [], plot: (panels: [
            (x: (quantity: "step"), y: (quantity: "energy_j"))]))"#;
        let figure: Figure = ron::from_str(text).unwrap();
        let label = |used: f64| {
            let columns = ["step", "energy_j"].map(|name| (name.to_owned(), vec![0.0, 1.0]));
            let mut columns = columns.to_vec();
            columns.push((ITERATIONS_USED.to_owned(), vec![1.0, used]));
            let row = FigureRow {
                label: "a".to_owned(),
                status: "ok".to_owned(),
                facts: vec![("iterations".to_owned(), 1.0)],
                columns,
                ..FigureRow::default()
            };
            let curves = collect(&figure, std::slice::from_ref(&row));
            plot_spec(&figure, &curves, &[row], false).panels[0].curves[0].label.clone()
        };
        assert_eq!(label(1.0), "a");
        assert_eq!(label(28.0), "a, up to 28 iterations a step");
    }

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
            plot_spec(&figure, &curves, &[row], false).subtitle.contains("software adapter")
        };
        assert!(lacks("step_time_s", row("a", true)));
        assert!(!lacks("step_time_s", row("a", false)), "it is drawn");
        assert!(!lacks("step_time_s", row("b", true)), "this panel does not show it anyway");
        assert!(!lacks("energy_j", row("a", true)), "this panel shows no times");
    }
}
