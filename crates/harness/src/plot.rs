//! Plots as SVG and PNG, drawn alike for every verb and without fonts of the system.
//!
//! A plot is data: panels of curves with axes. [`layout`] makes of it one list of items with their places, which the
//! writers draw and tests read. Colour is the method, dash the mode, lightness the budget; at most five curves of a
//! panel matter, the others are grey. Where a run failed its curve ends at a cross that says so.

mod axis;
pub mod colour;
mod curve;
mod frame;
mod key;
mod layout;
mod line;
mod list;
mod marker;
mod panel;
mod place;
mod profile;
mod raster;
mod svg;

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::Context;
use taut_draw::text::fonts;

use crate::record::write_atomically;

pub use self::{
    colour::{method_of, style_of},
    curve::{AfterFailure, Curve, CurveWeight, Dash, Failure, MOST_EMPHASISED},
    layout::{Picture, PictureForm},
    list::{Item, ItemRole, ItemShape, Pixel, PixelBox, TextAnchor, text_bounds},
    profile::{CostScale, CostTable, Work},
};
pub(crate) use self::{curve::settled, line::simplified, panel::colour_of};

/// Everything on one picture.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlotSpec {
    /// Heading.
    pub title: String,
    /// Where the picture comes from: paper and figure, or scene and revision.
    pub subtitle: String,
    /// The panels, row by row.
    pub panels: Vec<Panel>,
    /// What became of the claims, and what is not named elsewhere.
    pub strip: Option<Strip>,
}

/// The last row of a picture.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Strip {
    /// One square for each claim, in order.
    pub claims: Vec<ClaimMark>,
    /// How many hold.
    pub text: String,
    /// What else a reader should know.
    pub notes: Vec<String>,
}

/// What became of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimMark {
    /// It holds.
    Holds,
    /// It is known not to hold.
    Deviates,
    /// It does not hold.
    Fails,
    /// A run that it names ended otherwise than it tells.
    Void,
    /// Rounding decides it.
    Unclear,
    /// It was not judged.
    NotJudged,
}

/// One pair of axes with its curves.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Panel {
    /// Heading, may be empty.
    pub title: String,
    /// Horizontal axis.
    pub x: Axis,
    /// Vertical axis.
    pub y: Axis,
    /// The curves, in the order of their names.
    pub curves: Vec<Curve>,
    /// Lines to compare with.
    pub references: Vec<Reference>,
    /// Which way is good.
    pub better: Better,
    /// Whether each point is a run, rather than each curve.
    pub one_per_run: bool,
}

/// Which way is good.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Better {
    /// Neither.
    #[default]
    Neither,
    /// Down.
    Lower,
    /// Up.
    Higher,
    /// Down and to the left, where cost meets error.
    LowerOfBoth,
}

/// What an axis shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Axis {
    /// Name of the quantity; empty for time.
    pub label: String,
    /// Its unit, empty for a pure number.
    pub unit: String,
    /// Linear or logarithmic.
    pub scale: Scale,
    /// Ends of the axis; `None` fits the data.
    pub range: Option<(f64, f64)>,
    /// Where it has ticks; at round values where none are given.
    pub ticks: Vec<f64>,
}

/// How values are spread over an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// Equal differences are equally long.
    #[default]
    Linear,
    /// Equal ratios are equally long; values that are not positive cannot be shown.
    Log,
}

/// A line to compare curves with.
#[derive(Clone, Debug, PartialEq)]
pub enum Reference {
    /// A constant value of y.
    Horizontal {
        /// The value.
        value: f64,
        /// Name in the legend.
        label: String,
    },
    /// A constant value of x.
    Vertical {
        /// The value.
        value: f64,
        /// Name in the legend.
        label: String,
    },
    /// `y = y0 (x / x0)^exponent`: straight on log-log axes, for orders of convergence.
    Slope {
        /// The point `(x0, y0)` it goes through.
        through: (f64, f64),
        /// The order.
        exponent: f64,
        /// Name in the legend.
        label: String,
    },
    /// One result from elsewhere.
    Point {
        /// Where.
        at: (f64, f64),
        /// Name beside the point.
        label: String,
    },
}

impl Reference {
    /// Name in the legend, or beside a point.
    fn label(&self) -> &str {
        match self {
            Self::Horizontal { label, .. }
            | Self::Vertical { label, .. }
            | Self::Slope { label, .. }
            | Self::Point { label, .. } => label,
        }
    }
}

impl Axis {
    /// A linear axis fitted to the data.
    pub fn linear(label: impl Into<String>, unit: impl Into<String>) -> Self {
        Self { label: label.into(), unit: unit.into(), ..Self::default() }
    }

    /// A logarithmic axis fitted to the data.
    pub fn log(label: impl Into<String>, unit: impl Into<String>) -> Self {
        Self { scale: Scale::Log, ..Self::linear(label, unit) }
    }

    /// Time [s], which needs no name.
    pub fn time() -> Self {
        Self::linear("", "s")
    }

    /// The axis of a metric: its name without the unit at its end, and that unit.
    pub fn metric(name: &str, scale: Scale) -> Self {
        let (label, unit) = split_unit(name);
        Self { scale, ..Self::linear(label, unit) }
    }
}

/// Endings of metric and column names, with the unit they stand for; longer ones first.
const UNITS: &[(&str, &str)] = &[
    ("_kg_m2_s", "kg m²/s"),
    ("_kg_m_s", "kg m/s"),
    ("_m_s", "m/s"),
    ("_rad_s", "rad/s"),
    ("_rad", "rad"),
    ("_deg", "°"),
    ("_ms", "ms"),
    ("_j", "J"),
    ("_n", "N"),
    ("_m", "m"),
    ("_s", "s"),
];

/// Splits `joint_error_max_m` into `joint error max` and `m`.
pub fn split_unit(name: &str) -> (String, &'static str) {
    let split = UNITS.iter().find_map(|&(end, unit)| Some((name.strip_suffix(end)?, unit)));
    let (stem, unit) = split.unwrap_or((name, ""));
    (stem.replace('_', " "), unit)
}

/// Writes `<stem>.svg` and `<stem>.png` and returns their paths.
///
/// # Errors
/// When a file cannot be written, with its path.
pub fn write(stem: &Path, plot: &PlotSpec) -> anyhow::Result<Vec<PathBuf>> {
    let (svg, png) = (with_extension(stem, "svg"), with_extension(stem, "png"));
    write_atomically(&svg, to_svg(plot, PictureForm::Wide)?.as_bytes())?;
    // Drawn beside its place and renamed: the library writes a file of its own only.
    let unfinished = with_extension(stem, &format!("tmp{}.png", std::process::id()));
    let drawn = raster::write(&layout(plot, PictureForm::Wide)?, &unfinished);
    let renamed = drawn.and_then(|()| Ok(fs::rename(&unfinished, &png)?));
    if renamed.is_err() {
        let _ = fs::remove_file(&unfinished);
    }
    renamed.with_context(|| format!("cannot write {}", png.display()))?;
    Ok(vec![svg, png])
}

/// A small picture of a panel as PNG, 520 px wide to be shown at 260: what matters in it, without text.
///
/// # Errors
/// When the file cannot be written, or the embedded fonts cannot be read.
pub fn write_thumb(path: &Path, panel: &Panel) -> anyhow::Result<()> {
    fonts()?;
    let unfinished = path.with_extension(format!("tmp{}.png", std::process::id()));
    raster::write(&layout::thumb(panel), &unfinished)?;
    fs::rename(&unfinished, path).with_context(|| format!("cannot write {}", path.display()))
}

/// The plot as one `<svg>` element.
///
/// # Errors
/// When the embedded fonts cannot be read.
pub fn to_svg(plot: &PlotSpec, form: PictureForm) -> anyhow::Result<String> {
    let description = plot.strip.as_ref().map_or("", |strip| &strip.text);
    Ok(to_svg_of(&layout(plot, form)?, &plot.title, description))
}

/// A picture that is laid out as one `<svg>` element, with a title and a description for readers who cannot see it.
pub fn to_svg_of(picture: &Picture, title: &str, description: &str) -> String {
    svg::write(picture, title, description)
}

/// Where everything on a plot goes.
///
/// # Errors
/// When the embedded fonts cannot be read.
pub fn layout(plot: &PlotSpec, form: PictureForm) -> anyhow::Result<Picture> {
    fonts()?;
    Ok(layout::layout(plot, form))
}

/// `Path::with_extension` would cut `run-1.5` at its point.
fn with_extension(stem: &Path, extension: &str) -> PathBuf {
    let mut name = stem.as_os_str().to_owned();
    name.push(".");
    name.push(extension);
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metric_names_carry_their_unit() {
        assert_eq!(split_unit("joint_error_max_m"), ("joint error max".to_owned(), "m"));
        assert_eq!(split_unit("momentum_drift_angular_kg_m2_s").1, "kg m²/s");
        assert_eq!(split_unit("stretch_max"), ("stretch max".to_owned(), ""));
    }

    #[test]
    fn a_stem_with_a_point_keeps_it() {
        assert_eq!(with_extension(Path::new("a/run-1.5"), "svg"), Path::new("a/run-1.5.svg"));
    }

    fn curve(label: &str, backend: &str, points: Vec<(f64, f64)>) -> Curve {
        Curve { label: label.to_owned(), backend: backend.to_owned(), points, ..Curve::default() }
    }

    fn errors(curves: Vec<Curve>) -> PlotSpec {
        let panel = Panel {
            x: Axis::time(),
            y: Axis::metric("joint_error_max_m", Scale::Log),
            curves,
            ..Panel::default()
        };
        PlotSpec { title: "t".to_owned(), panels: vec![panel], ..PlotSpec::default() }
    }

    #[test]
    fn both_files_are_written_even_with_nothing_to_show() {
        let dir = tempfile::tempdir().unwrap();
        let plot = errors(vec![curve("all zero", "null", vec![(0.0, 0.0), (1.0, f64::NAN)])]);
        let files = write(&dir.path().join("figure"), &plot).unwrap();
        assert_eq!(files.len(), 2);
        let svg = fs::read_to_string(&files[0]).unwrap();
        assert!(svg.starts_with("<svg") && svg.contains("nothing to show"), "{svg}");
        assert!(fs::metadata(&files[1]).unwrap().len() > 1000);
    }

    #[test]
    fn a_single_point_is_something_to_show() {
        let mut plot = errors(vec![curve("one budget", "null", vec![(1.0, 1e-3)])]);
        plot.panels[0].one_per_run = true;
        assert!(!to_svg(&plot, PictureForm::Wide).unwrap().contains("nothing to show"));
    }

    #[test]
    fn a_failed_run_ends_at_a_cross() {
        let points = (0..10).map(|i| (f64::from(i), 1e-3 * f64::from(i + 1))).collect();
        let failure = Failure::new("falling", 4.5).unwrap();
        let failed = Curve { failure: Some(failure), ..curve("a", "xpbd-cpu", points) };
        let picture = layout(&errors(vec![failed]), PictureForm::Wide).unwrap();
        let has = |role: ItemRole| picture.items.iter().filter(|item| item.role == role).count();
        assert_eq!((has(ItemRole::Cross), has(ItemRole::Tail)), (2, 1));
        let said = |item: &Item| matches!(&item.shape, ItemShape::Text { text, .. } if text == "a ✕ falls 4.5 s");
        assert!(picture.items.iter().any(said));
    }

    #[test]
    fn equal_plots_give_equal_bytes() {
        let points = (1..50).map(|i| (f64::from(i), f64::from(i).powi(-2))).collect();
        let plot = errors(vec![curve("a", "null", points)]);
        let [first, second] = [(); 2].map(|()| to_svg(&plot, PictureForm::Wide).unwrap());
        assert_eq!(first, second);
    }
}
