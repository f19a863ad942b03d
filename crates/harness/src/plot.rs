//! Line plots as SVG and PNG, drawn alike for every verb and without fonts of the system.
//!
//! A plot is data: panels of curves with axes. Colours come from the places in the table of backends, so that a
//! backend looks the same everywhere; several runs of one backend differ in shade, dash and marker,
//! which also keeps a grey print readable. Legends lie below their panel and never cover a curve.

mod axis;
mod draw;
mod legend;
mod line;
mod profile;
mod style;

use std::{
    fs,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use anyhow::{Context, anyhow};
use plotters::{
    backend::{BitMapBackend, SVGBackend},
    drawing::IntoDrawingArea,
    style::{FontStyle, register_font},
};

use crate::record::write_atomically;

pub use self::{
    profile::{CostScale, CostTable, Work},
    style::{Palette, Rgb},
};

/// Drawn pixels per pixel of the layout.
const SCALE: u32 = 2;

/// Everything on one picture.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlotSpec {
    /// Heading.
    pub title: String,
    /// Where the picture comes from: paper and figure, or scene and revision.
    pub subtitle: String,
    /// Panels side by side before a new row starts; 0 means up to two.
    pub columns: usize,
    /// The panels, row by row.
    pub panels: Vec<Panel>,
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
    /// The curves, in the order of the legend.
    pub curves: Vec<Curve>,
    /// Lines to compare with.
    pub references: Vec<Reference>,
}

/// What an axis shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Axis {
    /// Name of the quantity.
    pub label: String,
    /// Its unit, empty for a pure number.
    pub unit: String,
    /// Linear or logarithmic.
    pub scale: Scale,
    /// Ends of the axis; `None` fits the data.
    pub range: Option<(f64, f64)>,
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

/// One curve. Points that an axis cannot show (non-finite, or not positive on a log axis) are gaps.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve {
    /// Name in the legend.
    pub label: String,
    /// Name of the backend in the table of backends; any other name is drawn in grey.
    pub backend: String,
    /// The points, in drawing order.
    pub points: Vec<(f64, f64)>,
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
        Self { label: label.into(), unit: unit.into(), scale: Scale::Linear, range: None }
    }

    /// A logarithmic axis fitted to the data.
    pub fn log(label: impl Into<String>, unit: impl Into<String>) -> Self {
        Self { scale: Scale::Log, ..Self::linear(label, unit) }
    }

    /// The axis of a metric: its name without the unit at its end, and that unit.
    pub fn metric(name: &str, scale: Scale) -> Self {
        let (label, unit) = split_unit(name);
        Self { label, unit: unit.to_owned(), scale, range: None }
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
pub fn write(stem: &Path, plot: &PlotSpec, palette: &Palette) -> anyhow::Result<Vec<PathBuf>> {
    let (svg, png) = (with_extension(stem, "svg"), with_extension(stem, "png"));
    write_atomically(&svg, to_svg(plot, palette)?.as_bytes())?;
    let layout = draw::PlotLayout::new(plot, palette);
    // Drawn beside its place and renamed: the library writes a file of its own only.
    let unfinished = with_extension(stem, &format!("tmp{}.png", std::process::id()));
    let drawn = {
        let area = BitMapBackend::new(&unfinished, layout.size()).into_drawing_area();
        draw::draw(&area, plot, &layout)
    };
    let renamed = drawn.and_then(|()| Ok(fs::rename(&unfinished, &png)?));
    if renamed.is_err() {
        let _ = fs::remove_file(&unfinished);
    }
    renamed.with_context(|| format!("cannot write {}", png.display()))?;
    Ok(vec![svg, png])
}

/// The plot as one `<svg>` element.
///
/// # Errors
/// When the embedded fonts cannot be read.
pub fn to_svg(plot: &PlotSpec, palette: &Palette) -> anyhow::Result<String> {
    fonts()?;
    let layout = draw::PlotLayout::new(plot, palette);
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, layout.size()).into_drawing_area();
        draw::draw(&area, plot, &layout)?;
    }
    // Drawn on a finer grid, because the drawing library rounds to whole pixels; shown at half size.
    let (width, height) = layout.size();
    let [drawn, shown] =
        [1, SCALE].map(|s| format!("width=\"{}\" height=\"{}\"", width / s, height / s));
    Ok(text.replacen(&drawn, &shown, 1))
}

/// `Path::with_extension` would cut `run-1.5` at its point.
fn with_extension(stem: &Path, extension: &str) -> PathBuf {
    let mut name = stem.as_os_str().to_owned();
    name.push(".");
    name.push(extension);
    PathBuf::from(name)
}

/// Gives the drawing library its fonts, once per process.
fn fonts() -> anyhow::Result<()> {
    static REGISTERED: OnceLock<bool> = OnceLock::new();
    let registered = *REGISTERED.get_or_init(|| {
        register_font(draw::FONT, FontStyle::Normal, dejavu::sans::regular()).is_ok()
            && register_font(draw::FONT, FontStyle::Bold, dejavu::sans::bold()).is_ok()
    });
    registered.then_some(()).ok_or_else(|| anyhow!("the embedded fonts cannot be read"))
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

    #[test]
    fn a_single_point_is_something_to_show() {
        let dir = tempfile::tempdir().unwrap();
        let panel = Panel {
            x: Axis::linear("time", "s"),
            y: Axis::metric("joint_error_max_m", Scale::Log),
            curves: vec![Curve {
                label: "one budget".to_owned(),
                backend: "null".to_owned(),
                points: vec![(1.0, 1e-3)],
            }],
            ..Panel::default()
        };
        let plot = PlotSpec { title: "t".to_owned(), panels: vec![panel], ..PlotSpec::default() };
        let files = write(&dir.path().join("figure"), &plot, &Palette::default()).unwrap();
        assert!(!fs::read_to_string(&files[0]).unwrap().contains("nothing to show"));
    }

    #[test]
    fn both_files_are_written_even_with_nothing_to_show() {
        let dir = tempfile::tempdir().unwrap();
        let panel = Panel {
            x: Axis::linear("time", "s"),
            y: Axis::metric("joint_error_max_m", Scale::Log),
            curves: vec![Curve {
                label: "all zero".to_owned(),
                backend: "null".to_owned(),
                points: vec![(0.0, 0.0), (1.0, f64::NAN)],
            }],
            ..Panel::default()
        };
        let plot = PlotSpec { title: "t".to_owned(), panels: vec![panel], ..PlotSpec::default() };
        let files = write(&dir.path().join("figure"), &plot, &Palette::default()).unwrap();
        assert_eq!(files.len(), 2);
        let svg = fs::read_to_string(&files[0]).unwrap();
        assert!(svg.starts_with("<svg") && svg.contains("nothing to show"), "{svg}");
        assert!(fs::metadata(&files[1]).unwrap().len() > 1000);
    }

    #[test]
    fn a_point_to_compare_with_is_named_inside_the_frame() {
        let drawn = |x: f64| {
            let range = Some((0.0, 1.0));
            let panel = Panel {
                x: Axis { range, ..Axis::linear("time", "s") },
                y: Axis { range, ..Axis::linear("error", "m") },
                curves: vec![],
                references: vec![Reference::Point { at: (x, 0.5), label: "engine".to_owned() }],
                ..Panel::default()
            };
            let plot = PlotSpec { panels: vec![panel], ..PlotSpec::default() };
            to_svg(&plot, &Palette::default()).unwrap()
        };
        let at = |svg: &str| -> Option<f64> {
            let (before, _) = svg.split_once("engine")?;
            let (_, tail) = before.rsplit_once("<text x=\"")?;
            tail.split_once('"')?.0.parse().ok()
        };
        let [first, last] = [0.1, 0.95].map(|x| at(&drawn(x)).unwrap());
        let apart = last - first;
        let [from, to] = [0.2, 0.3].map(|x| at(&drawn(x)).unwrap());
        // The last one has its name on its left, so that it is drawn less far to the right.
        assert!(to > from && apart < 8.5 * (to - from), "{from} {to}, {first} {last}");
        assert_eq!(drawn(0.5).matches("engine").count(), 1, "not in the legend too");
        assert_eq!(at(&drawn(2.0)), None, "outside");
    }

    #[test]
    fn equal_plots_give_equal_bytes() {
        let curve = Curve {
            label: "a".to_owned(),
            backend: "null".to_owned(),
            points: (1..50).map(|i| (f64::from(i), f64::from(i).powi(-2))).collect(),
        };
        let panel = Panel {
            x: Axis::log("steps", ""),
            y: Axis::log("error", "m"),
            curves: vec![curve],
            ..Panel::default()
        };
        let plot = PlotSpec { panels: vec![panel], ..PlotSpec::default() };
        let [first, second] = [(); 2].map(|()| to_svg(&plot, &Palette::default()).unwrap());
        assert_eq!(first, second);
    }
}
