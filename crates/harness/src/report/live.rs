//! Curves as data, for whoever wants to read values off them, and pictures with words for whoever cannot see them.

use serde::Serialize;

use super::html::{Html, escape};
use crate::{
    figure::with_unit,
    plot::{
        self, Axis, Better, Curve, CurveWeight, Dash, ItemShape, Panel, PictureForm, PlotSpec,
        Reference, Scale,
        colour::{CONTEXT, Rgb, hex, on_dark},
        colour_of, settled, simplified,
    },
};

/// Curves have at most this many points.
const POINTS: usize = 120;

#[derive(Serialize)]
struct LivePanel {
    title: String,
    x: LiveAxis,
    y: LiveAxis,
    /// Whether each point is a run.
    dots: bool,
    /// Whether high is good, for the side at which failed runs stand.
    high: bool,
    /// The horizontal places, each list once.
    xs: Vec<Vec<f64>>,
    curves: Vec<LiveCurve>,
    lines: Vec<LiveLine>,
}

#[derive(Serialize)]
struct LiveAxis {
    label: String,
    unit: String,
    log: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    range: Option<(f64, f64)>,
}

#[derive(Serialize)]
struct LiveCurve {
    label: String,
    /// On a light and on a dark page.
    colour: [String; 2],
    width: f64,
    dash: &'static [f64],
    /// Which list of places, and the values there.
    points: (usize, Vec<f64>),
    /// The same after the run failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    tail: Option<(usize, Vec<f64>)>,
    /// When and how it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    failed: Option<(f64, &'static str)>,
    /// Costs of runs that failed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    crosses: Vec<f64>,
}

/// A line to compare with: `x` or `y`, or a slope with its point and exponent.
#[derive(Serialize)]
struct LiveLine {
    label: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    x: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    y: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    slope: Option<f64>,
}

/// Panels as the text of a block of data; nothing in it ends its element.
pub(super) fn data(panels: &[Panel]) -> String {
    let panels: Vec<LivePanel> = settled(panels).iter().map(live_panel).collect();
    serde_json::to_string(&panels).unwrap_or_else(|_| "[]".to_owned()).replace('<', "\\u003c")
}

fn live_panel(panel: &Panel) -> LivePanel {
    let mut xs: Vec<Vec<f64>> = Vec::new();
    let mut shared = |points: &[(f64, f64)]| {
        let stride = points.len().div_ceil(POINTS).max(1);
        let last = points.len().saturating_sub(1);
        let kept = points.iter().enumerate().filter(|(i, _)| i % stride == 0 || *i == last);
        let (x, y): (Vec<f64>, Vec<f64>) = kept.map(|(_, (x, y))| (short(*x), short(*y))).unzip();
        let place = xs.iter().position(|known| *known == x);
        let place = place.unwrap_or_else(|| {
            xs.push(x);
            xs.len() - 1
        });
        (place, y)
    };
    let curves = panel.curves.iter().map(|curve| {
        let after = curve.after_failure();
        let context = curve.weight == CurveWeight::Context;
        LiveCurve {
            label: curve.label.clone(),
            colour: both(if context { CONTEXT } else { colour_of(curve) }),
            width: if context { 1.0 } else { 2.25 },
            dash: if context { Dash::Iterations } else { curve.dash }.pattern(),
            points: shared(&curve.before_failure()),
            tail: (!after.is_empty()).then(|| shared(&after)),
            failed: curve.failure.as_ref().map(|failure| (failure.at, failure.word)),
            crosses: curve.failed_at.iter().copied().map(short).collect(),
        }
    });
    let curves = curves.collect();
    LivePanel {
        title: panel.title.clone(),
        x: live_axis(&panel.x),
        y: live_axis(&panel.y),
        dots: panel.one_per_run,
        high: panel.better == Better::Higher,
        xs,
        curves,
        lines: panel.references.iter().map(live_line).collect(),
    }
}

/// Four digits are more than a screen shows.
fn short(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}

/// A colour by day and by night.
pub(super) fn both(light: Rgb) -> [String; 2] {
    let dark =
        on_dark().into_iter().find(|(known, _)| *known == light).map_or(light, |pair| pair.1);
    [hex(light), hex(dark)]
}

fn live_axis(axis: &Axis) -> LiveAxis {
    LiveAxis {
        label: axis.label.clone(),
        unit: axis.unit.clone(),
        log: axis.scale == Scale::Log,
        range: axis.range,
    }
}

fn live_line(reference: &Reference) -> LiveLine {
    let (label, x, y, slope) = match reference {
        Reference::Horizontal { value, label } => (label, None, Some(*value), None),
        Reference::Vertical { value, label } => (label, Some(*value), None, None),
        Reference::Slope { through, exponent, label } => {
            (label, Some(through.0), Some(through.1), Some(*exponent))
        }
        Reference::Point { at, label } => (label, Some(at.0), Some(at.1), None),
    };
    LiveLine { label: label.clone(), x, y, slope }
}

/// What each curve that matters came to, for readers who cannot see it.
pub(super) fn description(plot: &PlotSpec) -> String {
    let mut text = String::new();
    for panel in settled(&plot.panels) {
        let told: Vec<String> = panel
            .curves
            .iter()
            .filter(|curve| curve.weight != CurveWeight::Context)
            .filter_map(|curve| last_value(&panel, curve))
            .collect();
        if !told.is_empty() {
            text += &format!("{}: {}. ", panel.title, told.join("; "));
        }
    }
    text + plot.strip.as_ref().map_or("", |strip| &strip.text)
}

fn last_value(panel: &Panel, curve: &Curve) -> Option<String> {
    let points = curve.before_failure();
    let Some((x, y)) = points.iter().rev().find(|point| point.1.is_finite()) else {
        return (!curve.failed_at.is_empty())
            .then(|| format!("{} fails at every cost", curve.label));
    };
    let (x, y) = (with_unit(*x, &panel.x.unit), with_unit(*y, &panel.y.unit));
    let end = match &curve.failure {
        Some(failure) => format!(", {} at {}", failure.word, with_unit(failure.at, "s")),
        None if !curve.failed_at.is_empty() => format!(", {} runs fail", curve.failed_at.len()),
        None => String::new(),
    };
    Some(format!("{} {y} at {x}{end}", curve.label))
}

/// Lines may be off by less than can be seen [px].
const UNSEEN: f64 = 0.35;

/// A picture with as few points as it takes: the page has many.
fn lean(mut picture: plot::Picture) -> plot::Picture {
    for item in &mut picture.items {
        if let ItemShape::Line { points, .. } = &mut item.shape {
            *points = simplified(points, UNSEEN);
        }
    }
    picture
}

/// A picture in both its forms, of which the width of the page chooses, with the data to explore it; on a light page the
/// wide one alone. `over` is laid upon each form: markup that knows where its items are.
pub(super) fn picture(
    page: &mut Html,
    id: &str,
    plot: &PlotSpec,
    over: &dyn Fn(&plot::Picture) -> String,
) -> anyhow::Result<()> {
    let words = description(plot);
    // The page has the title as a heading.
    let bare = PlotSpec { title: String::new(), subtitle: String::new(), ..plot.clone() };
    let form = |form| {
        let drawn = lean(plot::layout(&bare, form)?);
        let svg = plot::to_svg_of(&drawn, &plot.title, &words);
        let body = svg.trim_end().strip_suffix("</svg>").unwrap_or(&svg);
        anyhow::Ok(format!("{body}{}</svg>", over(&drawn)))
    };
    page.raw(&format!("<figure class=\"plot\" id=\"{}\">\n", escape(id)));
    let wide = form(PictureForm::Wide)?;
    if page.light {
        page.raw(&format!(
            "<div class=\"wide only scroll\" role=\"region\" aria-label=\"{}\" tabindex=\"0\">{wide}</div>\n",
            escape(&plot.title)
        ));
    } else {
        let narrow = form(PictureForm::Narrow)?;
        page.raw(&format!(
            "<div class=\"wide\">{wide}</div>\n<div class=\"narrow\">{narrow}</div>\n"
        ));
    }
    page.raw(&format!(
        "<div class=\"live\" hidden></div>\n<script type=\"application/json\">{}</script>\n</figure>\n",
        data(&plot.panels)
    ));
    Ok(())
}
