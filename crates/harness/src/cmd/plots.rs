//! Pictures of a run or a trace, drawn from the same numbers as its tables.

use std::fs;

use anyhow::Context;

use crate::{
    plot::{self, Axis, Better, Curve, Failure, Panel, PlotSpec, Scale},
    record::{OutDir, RunRow, metric},
};

/// The metrics drawn over time, each with the scale it is read on.
const OVER_TIME: &[(&str, Scale)] = &[
    ("joint_error_max_m", Scale::Log),
    ("watched_error_rms_m", Scale::Log),
    ("distance_to_motion_m", Scale::Log),
    ("distance_to_step_m", Scale::Log),
    ("energy_j", Scale::Linear),
    ("spring_strain_max", Scale::Log),
    ("penetration_max_m", Scale::Log),
];

/// The metrics drawn over iterations, all logarithmic.
const OVER_ITERATIONS: &[&str] = &[
    "joint_error_max_m",
    "distance_to_reference_rms_m",
    "objective_gap_j",
    "penetration_max_m",
    "contact_residual_max_m",
];

/// `frames.svg` and `.png`: one panel for each metric that applies.
pub(super) fn trajectories(scene: &str, rows: &[&RunRow], out: &mut OutDir) -> anyhow::Result<()> {
    let panels = OVER_TIME.iter().map(|&(name, scale)| Panel {
        title: Axis::metric(name, scale).label,
        x: Axis::time(),
        y: Axis::metric(name, scale),
        better: if scale == Scale::Log { Better::Lower } else { Better::Neither },
        curves: rows.iter().map(|row| over_time(row, name)).filter(has_points).collect(),
        ..Panel::default()
    });
    draw("frames", scene, panels.collect(), out)
}

fn over_time(row: &RunRow, name: &str) -> Curve {
    let points = row.frames.iter().filter_map(|f| Some((f.time_s, metric(&f.metrics, name)?)));
    Curve {
        label: row.label.clone(),
        backend: row.backend.clone(),
        points: points.collect(),
        failure: row.failed_at_s.and_then(|at| Failure::new(row.status.name(), at)),
        ..Curve::default()
    }
}

/// `trace.svg` and `.png`: one panel for each start and metric that applies.
pub(super) fn convergence(scene: &str, rows: &[&RunRow], out: &mut OutDir) -> anyhow::Result<()> {
    let mut panels = Vec::new();
    for start in ["cold", "warm"] {
        for name in OVER_ITERATIONS {
            let curves = rows.iter().map(|row| over_iterations(row, start, name));
            panels.push(Panel {
                title: format!("{start} start: {}", Axis::metric(name, Scale::Log).label),
                better: Better::Lower,
                x: Axis::linear("iterations", ""),
                y: Axis::metric(name, Scale::Log),
                curves: curves.filter(has_points).collect(),
                ..Panel::default()
            });
        }
    }
    draw("trace", scene, panels, out)
}

fn over_iterations(row: &RunRow, start: &str, name: &str) -> Curve {
    let points = row.curves.iter().filter(|c| c.start == start).flat_map(|c| &c.points);
    let points = points.filter_map(|p| Some((f64::from(p.iteration), metric(&p.metrics, name)?)));
    Curve {
        label: row.label.clone(),
        backend: row.backend.clone(),
        points: points.collect(),
        ..Curve::default()
    }
}

fn has_points(curve: &Curve) -> bool {
    !curve.points.is_empty()
}

fn draw(stem: &str, scene: &str, mut panels: Vec<Panel>, out: &mut OutDir) -> anyhow::Result<()> {
    panels.retain(|panel| !panel.curves.is_empty());
    if panels.is_empty() {
        return Ok(());
    }
    let plot = PlotSpec { title: scene.to_owned(), panels, ..PlotSpec::default() };
    // Drawn under another name first, so that a picture is whole or absent.
    for drawn in plot::write(&out.path().join(format!("{stem}.tmp")), &plot)? {
        let extension = drawn.extension().and_then(|e| e.to_str()).unwrap_or_default();
        let file = out.add(&format!("{stem}.{extension}"));
        fs::rename(&drawn, &file).with_context(|| format!("cannot write {}", file.display()))?;
    }
    Ok(())
}
