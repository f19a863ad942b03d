//! Colours, dashes and markers.

use taut_core::{Runs, Table};

use super::{Curve, Panel, PlotSpec, Reference};

/// Red, green, blue.
pub type Rgb = (u8, u8, u8);

/// Told apart by most colour-blind readers (after Okabe and Ito), by position in the table of
/// backends.
const COLOURS: &[Rgb] = &[
    (0, 100, 180),
    (213, 94, 0),
    (0, 150, 110),
    (30, 30, 30),
    (140, 86, 75),
    (150, 150, 150),
    (170, 70, 160),
    (200, 150, 0),
    (86, 180, 233),
    (110, 120, 30),
    (200, 40, 80),
    (90, 60, 170),
    (0, 130, 150),
    (235, 130, 120),
    (120, 175, 60),
    (180, 120, 90),
    (60, 90, 60),
];

/// Runs of one backend beyond this many are told apart within a panel only.
const FEW: usize = 6;

/// The colours of the backends of one table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Palette {
    /// Name and device of each backend, in the order of the table.
    rows: Vec<(String, Runs)>,
}

impl Palette {
    /// Colours by place: a backend keeps its own when others are added after it.
    pub fn of(table: &Table) -> Self {
        let rows = table.iter().map(|backend| backend.info());
        Self { rows: rows.map(|info| (info.name.clone().into_owned(), info.runs)).collect() }
    }

    /// The colour of a backend, the same in every picture; grey for names not in the table.
    pub fn colour(&self, backend: &str) -> Rgb {
        self.place(backend).map_or((110, 110, 110), |i| COLOURS[i % COLOURS.len()])
    }

    fn place(&self, backend: &str) -> Option<usize> {
        self.rows.iter().position(|(name, _)| name == backend)
    }
}

/// How one curve is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CurveStyle {
    pub(super) colour: Rgb,
    /// Lengths of line and gap [px], none for a solid line.
    pub(super) dash: &'static [f64],
    pub(super) marker: Option<Marker>,
    /// Whether markers are outlines, wide enough to lie around those of a curve beneath.
    pub(super) hollow: bool,
}

/// Shape drawn at points of a curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Marker {
    Circle,
    Square,
    Triangle,
    Diamond,
    Cross,
}

const MARKERS: [Marker; 5] =
    [Marker::Circle, Marker::Square, Marker::Triangle, Marker::Diamond, Marker::Cross];

const DASHES: [&[f64]; 4] = [&[], &[7.0, 4.0], &[2.0, 3.0], &[11.0, 3.0, 2.0, 3.0]];

/// How lines to compare with are drawn, in turn.
const REFERENCE_DASHES: [&[f64]; 3] = [&[4.0, 4.0], &[1.5, 3.0], &[9.0, 3.0, 1.5, 3.0]];

impl CurveStyle {
    /// The style of a run, by its place among the runs of its backend.
    ///
    /// A graphics adapter often draws the very curve of the processor: its lines have gaps and its markers are
    /// hollow, so that what lies beneath shows.
    fn new(palette: &Palette, backend: &str, place: usize, count: usize) -> Self {
        let row = palette.place(backend);
        let shift = row.unwrap_or(0);
        let hollow = row.is_some_and(|i| palette.rows[i].1 == Runs::OnGpu);
        Self {
            colour: shade(palette.colour(backend), place, count),
            dash: DASHES[(place + usize::from(hollow)) % DASHES.len()],
            marker: Some(MARKERS[(shift + place) % MARKERS.len()]),
            hollow,
        }
    }

    /// The style of a line to compare with.
    pub(super) fn reference(place: usize) -> Self {
        let dash = REFERENCE_DASHES[place % REFERENCE_DASHES.len()];
        Self { colour: (90, 90, 90), dash, marker: None, hollow: false }
    }
}

/// Dark to light around the backend's colour, for runs in order.
fn shade(base: Rgb, place: usize, count: usize) -> Rgb {
    if count < 2 {
        return base;
    }
    // From 45 % towards black to 45 % towards white.
    let t = 0.9 * (place as f64 / (count - 1) as f64 - 0.5);
    let mix = |c: u8| {
        let c = f64::from(c);
        if t < 0.0 { c * (1.0 + t) } else { c + (255.0 - c) * t }
    };
    (mix(base.0) as u8, mix(base.1) as u8, mix(base.2) as u8)
}

/// Styles of all curves, by panel. A label looks the same in all panels that have curves in common,
/// as long as a backend has few labels there.
pub(super) fn curves(plot: &PlotSpec, palette: &Palette) -> Vec<Vec<CurveStyle>> {
    let panel_styles = |panel: &Panel| {
        let related: Vec<&Panel> =
            plot.panels.iter().filter(|other| share_a_label(panel, other)).collect();
        let style = |curve: &Curve| {
            let mut labels = labels(&curve.backend, &related);
            if labels.len() > FEW {
                labels = self::labels(&curve.backend, &[panel]);
            }
            let place = labels.iter().position(|label| *label == curve.label).unwrap_or(0);
            CurveStyle::new(palette, &curve.backend, place, labels.len())
        };
        panel.curves.iter().map(style).collect()
    };
    plot.panels.iter().map(panel_styles).collect()
}

fn share_a_label(a: &Panel, b: &Panel) -> bool {
    a.curves.iter().any(|curve| b.curves.iter().any(|other| other.label == curve.label))
}

/// Labels of a backend's curves in order of first use.
fn labels<'a>(backend: &str, panels: &[&'a Panel]) -> Vec<&'a str> {
    let mut labels: Vec<&str> = Vec::new();
    for curve in panels.iter().flat_map(|p| &p.curves).filter(|c| c.backend == backend) {
        if !labels.contains(&curve.label.as_str()) {
            labels.push(&curve.label);
        }
    }
    labels
}

/// One line of a legend.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entry {
    pub(super) label: String,
    pub(super) style: CurveStyle,
}

/// The legend of one panel: its curves, then its lines to compare with. Points have their names beside them.
pub(super) fn entries(panel: &Panel, styles: &[CurveStyle]) -> Vec<Entry> {
    let curves = panel.curves.iter().zip(styles);
    let curves = curves.map(|(curve, &style)| Entry { label: curve.label.clone(), style });
    let lines = panel.references.iter().enumerate();
    let lines = lines.filter(|(_, reference)| !matches!(reference, Reference::Point { .. }));
    let references = lines.map(|(i, reference)| Entry {
        label: reference.label().to_owned(),
        style: CurveStyle::reference(i),
    });
    curves.chain(references).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backends;

    fn palette() -> Palette {
        Palette::of(&backends::table())
    }

    fn curve(label: &str, backend: &str) -> Curve {
        Curve { label: label.to_owned(), backend: backend.to_owned(), points: Vec::new() }
    }

    #[test]
    fn backends_of_the_table_have_distinct_colours() {
        let palette = palette();
        let mut colours: Vec<Rgb> =
            palette.rows.iter().map(|(name, _)| palette.colour(name)).collect();
        colours.sort_unstable();
        colours.dedup();
        assert_eq!(colours.len(), palette.rows.len());
        assert_eq!(palette.colour("avbd-cpu"), COLOURS[0]);
    }

    #[test]
    fn runs_of_one_backend_differ_without_colour() {
        let curves_in = (0..6).map(|i| curve(&format!("run {i}"), "null")).collect();
        let panel = Panel { curves: curves_in, ..Panel::default() };
        let plot = PlotSpec { panels: vec![panel], ..PlotSpec::default() };
        let styles = curves(&plot, &palette()).remove(0);
        for (i, a) in styles.iter().enumerate() {
            for b in &styles[i + 1..] {
                assert!(a.dash != b.dash || a.marker != b.marker, "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn a_run_on_an_adapter_differs_from_its_twin_without_colour() {
        for (cpu, gpu) in [("avbd-cpu", "avbd-gpu"), ("vbd-cpu", "vbd-gpu")] {
            let [cpu, gpu] = [cpu, gpu].map(|name| CurveStyle::new(&palette(), name, 0, 1));
            assert!(gpu.hollow && !cpu.hollow && gpu.dash != cpu.dash, "{gpu:?} {cpu:?}");
        }
    }

    #[test]
    fn a_label_looks_the_same_in_all_panels() {
        let panel = |labels: &[&str]| Panel {
            curves: labels.iter().map(|label| curve(label, "null")).collect(),
            ..Panel::default()
        };
        let plot = PlotSpec {
            panels: vec![panel(&["a", "b"]), panel(&["b", "a"])],
            ..PlotSpec::default()
        };
        let styles = curves(&plot, &palette());
        assert_eq!(styles[0][0], styles[1][1]);
        assert_eq!(styles[0][1], styles[1][0]);
    }
}
