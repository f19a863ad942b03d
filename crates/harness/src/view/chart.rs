//! Curves over time: the error of all panes on a logarithmic axis, and the history of what is picked.

use eframe::egui::{Color32, ComboBox, RichText, Ui};
use egui_plot::{
    GridInput, GridMark, HoverPosition, Line, MarkerShape, Plot, PlotPoints, Points, VLine,
};

use super::{desk::Desk, sight::colour32};
use crate::{
    plot::colour::{FAILURE, REFERENCE_LINE, Rgb, style_of},
    record::metric,
};

/// Metrics that are drawn unless another is chosen: the first that applies.
const FIRST_CHOICES: [&str; 3] = ["joint_error_max_m", "penetration_max_m", "spring_strain_max"];
/// What lies below is drawn here: a logarithm has no zero.
const LEAST: f64 = 1e-9;
/// The most ticks of the logarithmic axis.
const TICKS: i32 = 6;

/// Draws a metric of all panes up to the frame of the window.
pub(super) fn errors(ui: &mut Ui, desk: &Desk, names: &[String], chosen: &mut Option<String>) {
    let known = |name: &&str| names.iter().any(|own| own == name);
    let fitting = FIRST_CHOICES.iter().copied().find(known).unwrap_or("energy_drift_j");
    let name = chosen.clone().unwrap_or_else(|| fitting.to_owned());
    ui.horizontal(|ui| {
        ComboBox::from_label("Metric").selected_text(name.as_str()).width(220.0).show_ui(
            ui,
            |ui| {
                for other in names {
                    ui.selectable_value(chosen, Some(other.clone()), other);
                }
            },
        );
        for own in &desk.panes {
            let colour = colour32(style_of(own.subject.backend()).light);
            ui.label(RichText::new(own.subject.label()).color(colour));
        }
        ui.label(RichText::new("nothing below 1e-9; crosses mark failures").weak());
    });
    let mut curves = Vec::new();
    for (pane, own) in desk.panes.iter().enumerate() {
        let board = desk.board(pane);
        let until = board.history.partition_point(|(frame, _)| *frame <= desk.frame());
        let points = board.history[..until].iter().filter_map(|(frame, metrics)| {
            let value = metric(metrics, &name)?.abs().max(LEAST);
            Some([f64::from(*frame) * desk.scene.dt, value.log10()])
        });
        let points: Vec<[f64; 2]> = points.collect();
        let failed = board.failure(desk.time_s()).and(board.failed_at_s);
        let cross = failed.and_then(|at| points.iter().find(|p| p[0] >= at - 1e-9).copied());
        let colour = style_of(own.subject.backend()).light;
        curves.push((own.subject.label().to_owned(), colour, points, cross));
    }
    let now = desk.time_s();
    let plot = Plot::new("errors")
        .show_grid(true)
        .grid_color(Color32::from_gray(225))
        .y_grid_spacer(decades)
        .y_axis_formatter(|mark, _| power(mark.value))
        .label_formatter(|at| match at {
            HoverPosition::NearDataPoint { plot_name, position, .. } => {
                let value = 10f64.powf(position.y);
                Some(format!("{plot_name}\n{:.3} s: {value:.3e}", position.x))
            }
            HoverPosition::Elsewhere { .. } => None,
        })
        .x_axis_formatter(|mark, _| format!("{:.2} s", mark.value))
        .include_x(0.0);
    plot.show(ui, |plot| {
        plot.vline(VLine::new("", now).color(colour32(REFERENCE_LINE)).width(1.0));
        for (label, colour, points, cross) in curves {
            let line = Line::new(label, PlotPoints::from(points));
            plot.line(line.color(colour32(colour)).width(2.25));
            if let Some(cross) = cross {
                let points = Points::new("", PlotPoints::from(vec![cross]));
                let points = points.shape(MarkerShape::Cross).radius(6.0);
                plot.points(points.color(colour32(FAILURE)));
            }
        }
    });
}

/// Draws what has become of some numbers.
pub(super) fn history(ui: &mut Ui, unit: &str, curves: Vec<(String, Rgb, Vec<[f64; 2]>)>) {
    ui.label(unit);
    let plot = Plot::new("history").height(110.0).include_x(0.0).include_y(0.0);
    plot.show(ui, |plot| {
        for (label, colour, points) in curves {
            plot.line(
                Line::new(label, PlotPoints::from(points)).color(colour32(colour)).width(1.5),
            );
        }
    });
}

/// Ticks at whole powers of ten, at every second or more where there are many.
fn decades(input: GridInput) -> Vec<GridMark> {
    let (low, high) = input.bounds;
    let (low, high) =
        (low.clamp(-300.0, 300.0).ceil() as i32, high.clamp(-300.0, 300.0).floor() as i32);
    let step = ((high - low) / TICKS + 1).max(1);
    let first = low + (-low).rem_euclid(step);
    let mark = |value: i32| GridMark { value: f64::from(value), step_size: f64::from(step) };
    (first..=high).step_by(step as usize).map(mark).collect()
}

/// A power of ten for an axis; only whole ones.
fn power(exponent: f64) -> String {
    if exponent.fract().abs() > 1e-6 {
        return String::new();
    }
    match exponent as i32 {
        e @ -3..=3 => format!("{}", 10f64.powi(e)),
        e => format!("1e{e}"),
    }
}
