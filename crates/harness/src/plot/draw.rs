//! Layout and drawing, on any drawing backend.

use std::error::Error;

use plotters::{
    chart::ChartBuilder,
    coord::Shift,
    drawing::DrawingArea,
    element::{Circle, PathElement, Polygon, Text},
    prelude::DrawingBackend,
    style::{
        Color, FontDesc, FontFamily, FontStyle, RGBColor, ShapeStyle, TextStyle, WHITE,
        text_anchor::{HPos, Pos, VPos},
    },
};

use super::{
    Axis, Panel, PlotSpec, Reference, SCALE,
    axis::Fitted,
    legend::{GAP, Legend, ROW, SAMPLE, TEXT, text_width, wrap},
    line::{Pixel, clip_segment, dashes, thin},
    style::{self, CurveStyle, Marker, Palette, Rgb},
};

/// Name under which the embedded font is registered.
pub(super) const FONT: &str = "sans-serif";

const MARGIN: i32 = 14;
const TITLE: i32 = 17;
const SUBTITLE: i32 = 12;
const PANEL_TITLE: i32 = 14;
const AXIS_TEXT: i32 = 13;
const TICK_TEXT: i32 = 12;
/// Left of the axis: its label and the labels of its ticks.
const LEFT: i32 = 72;
const RIGHT: i32 = 16;
/// Below the axis: tick labels and the axis label.
const BOTTOM: i32 = 42;
/// Between axis label and legend.
const LEGEND_GAP: i32 = 6;
const INK: Rgb = (40, 40, 40);
const GREY: Rgb = (100, 100, 100);

type Area<'a, DB> = DrawingArea<DB, Shift>;

/// Sizes of everything, before anything is drawn [px].
#[derive(Clone, Debug)]
pub(super) struct PlotLayout {
    width: i32,
    height: i32,
    title: Vec<String>,
    subtitle: Vec<String>,
    /// Panels: upper left corner, size of the frame around the curves, styles, legend.
    panels: Vec<PanelPlace>,
    /// The legend of all panels, where they are equal, with its upper left corner.
    shared: Option<(Legend, (i32, i32))>,
}

#[derive(Clone, Debug)]
struct PanelPlace {
    corner: (i32, i32),
    size: (i32, i32),
    styles: Vec<CurveStyle>,
    title: Vec<String>,
    legend: Option<Legend>,
}

impl PlotLayout {
    pub(super) fn new(plot: &PlotSpec, palette: &Palette) -> Self {
        let count = plot.panels.len().max(1);
        let wanted = if plot.columns == 0 { 2 } else { plot.columns };
        let columns = wanted.clamp(1, count);
        let (panel_width, plot_height) = match columns {
            1 => (760, 380),
            2 => (560, 330),
            _ => (460, 300),
        };
        let width = columns as i32 * panel_width + 2 * MARGIN;
        let inner = width - 2 * MARGIN;
        let title = wrap(&plot.title, TITLE, true, inner);
        let subtitle = wrap(&plot.subtitle, SUBTITLE, false, inner);
        let mut y = MARGIN + title.len() as i32 * (TITLE + 5);
        y += subtitle.len() as i32 * (SUBTITLE + 4) + 8;

        let styles = style::curves(plot, palette);
        let legends = plot.panels.iter().zip(&styles).map(|(p, s)| style::entries(p, s));
        let legends: Vec<_> = legends.collect();
        let equal = legends.windows(2).all(|pair| pair[0] == pair[1]);
        let mut panels = Vec::with_capacity(plot.panels.len());
        for (row, row_panels) in plot.panels.chunks(columns).enumerate() {
            let first = row * columns;
            let titles: Vec<_> = row_panels
                .iter()
                .map(|p| wrap(&p.title, PANEL_TITLE, true, panel_width - LEFT - RIGHT))
                .collect();
            let title_rows = titles.iter().map(Vec::len).max().unwrap_or(0) as i32;
            let head = 6 + title_rows * (PANEL_TITLE + 5);
            let mut foot = 0;
            for (i, title) in titles.into_iter().enumerate() {
                let legend = (!equal)
                    .then(|| Legend::new(legends[first + i].clone(), panel_width - LEFT / 2));
                foot = foot.max(legend.as_ref().map_or(0, Legend::height));
                panels.push(PanelPlace {
                    corner: (MARGIN + i as i32 * panel_width, y),
                    size: (panel_width, head + plot_height),
                    styles: styles[first + i].clone(),
                    title,
                    legend,
                });
            }
            y += head + plot_height + foot + LEGEND_GAP + 12;
        }
        let shared = (equal && !legends.is_empty())
            .then(|| (Legend::new(legends[0].clone(), inner - LEFT), (MARGIN + LEFT, y)));
        y += shared.as_ref().map_or(0, |(legend, _)| legend.height());
        Self { width, height: y + MARGIN, title, subtitle, panels, shared }
    }

    /// Width and height in drawn pixels.
    pub(super) fn size(&self) -> (u32, u32) {
        (self.width.unsigned_abs() * SCALE, self.height.unsigned_abs() * SCALE)
    }
}

/// Draws the whole picture.
pub(super) fn draw<DB: DrawingBackend>(
    root: &Area<'_, DB>,
    plot: &PlotSpec,
    layout: &PlotLayout,
) -> anyhow::Result<()>
where
    DB::ErrorType: 'static + Error + Send + Sync,
{
    root.fill(&WHITE)?;
    let mut y = MARGIN;
    for line in &layout.title {
        root.draw(&text(line, (MARGIN, y), TITLE, INK, true))?;
        y += TITLE + 5;
    }
    for line in &layout.subtitle {
        root.draw(&text(line, (MARGIN, y), SUBTITLE, GREY, false))?;
        y += SUBTITLE + 4;
    }
    for (panel, place) in plot.panels.iter().zip(&layout.panels) {
        draw_panel(root, panel, place)?;
    }
    if let Some((legend, corner)) = &layout.shared {
        draw_legend(root, legend, *corner)?;
    }
    root.present()?;
    Ok(())
}

fn draw_panel<DB: DrawingBackend>(
    root: &Area<'_, DB>,
    panel: &Panel,
    place: &PanelPlace,
) -> anyhow::Result<()>
where
    DB::ErrorType: 'static + Error + Send + Sync,
{
    let (left, top) = place.corner;
    let (width, height) = place.size;
    let mut y = top;
    for line in &place.title {
        root.draw(&text(line, (left + LEFT, y), PANEL_TITLE, INK, true))?;
        y += PANEL_TITLE + 5;
    }
    let frame = AxesFrame {
        x: fit(&panel.x, panel, 0.0, |(x, _)| x),
        y: fit(&panel.y, panel, 0.05, |(_, y)| y),
        left: px(left + LEFT),
        right: px(left + width - RIGHT),
        top: px(y + 6),
        bottom: px(top + height - BOTTOM),
    };
    let area = root
        .clone()
        .shrink((px(left), frame.top), (px(width - RIGHT), frame.bottom - frame.top + px(BOTTOM)));
    draw_axes(&area, panel, &frame)?;
    for (i, reference) in panel.references.iter().enumerate() {
        draw_reference(root, &frame, reference, &CurveStyle::reference(i))?;
    }
    let mut any = false;
    for (i, (curve, style)) in panel.curves.iter().zip(&place.styles).enumerate() {
        let runs = frame.clip(&curve.points);
        let inside = |&p: &Pixel| frame.map(p).is_some_and(|at| frame.contains(at));
        any |= !runs.is_empty() || curve.points.iter().any(inside);
        stroke(root, &runs, style, 2)?;
        mark(root, &frame, &curve.points, style, i)?;
    }
    if !any {
        let middle = (left + LEFT + 20, top + height / 2);
        root.draw(&text("nothing to show", middle, AXIS_TEXT, GREY, false))?;
    }
    if let Some(legend) = &place.legend {
        draw_legend(root, legend, (left + LEFT / 2, top + height + LEGEND_GAP))?;
    }
    Ok(())
}

/// A line, or a point with its name on the side where there is room for it.
fn draw_reference<DB: DrawingBackend>(
    root: &Area<'_, DB>,
    frame: &AxesFrame,
    reference: &Reference,
    style: &CurveStyle,
) -> anyhow::Result<()>
where
    DB::ErrorType: 'static + Error + Send + Sync,
{
    let Reference::Point { at, label } = reference else {
        return stroke(root, &frame.clip(&frame.reference_points(reference)), style, 1);
    };
    let Some(place) = frame.map(*at).filter(|&place| frame.contains(place)) else { return Ok(()) };
    let (x, y) = (place.0.round() as i32, place.1.round() as i32);
    let ring = ShapeStyle::from(&rgb(INK)).stroke_width(2 * SCALE);
    root.draw(&Circle::new((x, y), px(5), ring))?;
    let (scale, width) = (px(1), text_width(label, TICK_TEXT, false));
    let right = x + px(9 + width) <= frame.right;
    let left = if right { x / scale + 9 } else { x / scale - 9 - width };
    root.draw(&text(label, (left, y / scale - TICK_TEXT / 2), TICK_TEXT, INK, false))?;
    Ok(())
}

/// Grid, ticks and labels, by the drawing library.
fn draw_axes<DB: DrawingBackend>(
    area: &Area<'_, DB>,
    panel: &Panel,
    frame: &AxesFrame,
) -> anyhow::Result<()>
where
    DB::ErrorType: 'static + Error + Send + Sync,
{
    let mut chart = ChartBuilder::on(area)
        .set_label_area_size(plotters::chart::LabelAreaPosition::Left, px(LEFT))
        .set_label_area_size(plotters::chart::LabelAreaPosition::Bottom, px(BOTTOM))
        .build_cartesian_2d(frame.x.clone(), frame.y.clone())?;
    let ticks = style_of(TICK_TEXT, INK, false);
    let names = style_of(AXIS_TEXT, INK, false);
    chart
        .configure_mesh()
        .x_desc(axis_text(&panel.x))
        .y_desc(axis_text(&panel.y))
        .label_style(ticks)
        .axis_desc_style(names)
        .axis_style(ShapeStyle::from(&rgb(INK)).stroke_width(SCALE))
        .bold_line_style(ShapeStyle::from(&RGBColor(205, 205, 205)).stroke_width(SCALE))
        .light_line_style(ShapeStyle::from(&RGBColor(236, 236, 236)).stroke_width(1))
        .x_label_formatter(&|v| plotters::coord::ranged1d::ValueFormatter::format_ext(&frame.x, v))
        .y_label_formatter(&|v| plotters::coord::ranged1d::ValueFormatter::format_ext(&frame.y, v))
        .set_all_tick_mark_size(px(4))
        .draw()?;
    Ok(())
}

fn draw_legend<DB: DrawingBackend>(
    root: &Area<'_, DB>,
    legend: &Legend,
    corner: (i32, i32),
) -> anyhow::Result<()>
where
    DB::ErrorType: 'static + Error + Send + Sync,
{
    for (i, entry) in legend.entries.iter().enumerate() {
        let (dx, dy) = legend.place(i);
        let (x, y) = (corner.0 + dx, corner.1 + dy);
        let middle = f64::from(px(y + ROW / 2));
        let line = vec![(f64::from(px(x)), middle), (f64::from(px(x + SAMPLE)), middle)];
        stroke(root, &[line], &entry.style, 2)?;
        let centre = (px(x + SAMPLE / 2), px(y + ROW / 2));
        draw_marker(root, &entry.style, centre)?;
        let at = (x + SAMPLE + GAP, y + (ROW - TEXT) / 2 + 2);
        root.draw(&text(&entry.label, at, TEXT, INK, false))?;
    }
    Ok(())
}

/// The rectangle of one pair of axes, in drawn pixels.
struct AxesFrame {
    x: Fitted,
    y: Fitted,
    left: i32,
    right: i32,
    top: i32,
    bottom: i32,
}

impl AxesFrame {
    /// Where a value is drawn; `None` for what an axis cannot show.
    fn map(&self, (x, y): (f64, f64)) -> Option<Pixel> {
        let (width, height) = (self.right - self.left, self.bottom - self.top);
        // An exploded run leaves numbers whose differences would have no digits of the frame left.
        let fraction = |f: f64| f.clamp(-1e3, 1e3);
        let x = f64::from(self.left) + fraction(self.x.fraction(x)?) * f64::from(width);
        let y = f64::from(self.bottom) - fraction(self.y.fraction(y)?) * f64::from(height);
        Some((x, y))
    }

    /// Cuts a curve at the frame and at gaps, into unbroken runs of drawn points.
    fn clip(&self, points: &[(f64, f64)]) -> Vec<Vec<Pixel>> {
        let mut runs: Vec<Vec<Pixel>> = Vec::new();
        for pair in points.windows(2) {
            let (Some(a), Some(b)) = (self.map(pair[0]), self.map(pair[1])) else { continue };
            // A run that jumps from side to side of the frame would only blacken it.
            if !self.contains(a) && !self.contains(b) && points.len() > 2 {
                continue;
            }
            let Some((from, to)) = clip_segment(a, b, self.low(), self.high()) else { continue };
            match runs.last_mut() {
                Some(run) if run.last() == Some(&from) => run.push(to),
                _ => runs.push(vec![from, to]),
            }
        }
        runs.iter().map(|run| thin(run)).collect()
    }

    fn low(&self) -> Pixel {
        (f64::from(self.left), f64::from(self.top))
    }

    fn high(&self) -> Pixel {
        (f64::from(self.right), f64::from(self.bottom))
    }

    fn contains(&self, point: Pixel) -> bool {
        let (low, high) = (self.low(), self.high());
        (low.0..=high.0).contains(&point.0) && (low.1..=high.1).contains(&point.1)
    }

    /// End points of a line to compare with.
    fn reference_points(&self, reference: &Reference) -> Vec<(f64, f64)> {
        let ((x0, x1), (y0, y1)) = (self.x.ends(), self.y.ends());
        match *reference {
            Reference::Horizontal { value, .. } => vec![(x0, value), (x1, value)],
            Reference::Vertical { value, .. } => vec![(value, y0), (value, y1)],
            Reference::Slope { through, exponent, .. } => {
                let at = |x: f64| (x, through.1 * (x / through.0).powf(exponent));
                vec![at(x0), at(x1)]
            }
            Reference::Point { .. } => Vec::new(),
        }
    }
}

/// Draws runs of points as one dashed line; the pattern goes on across corners.
fn stroke<DB: DrawingBackend>(
    root: &Area<'_, DB>,
    runs: &[Vec<Pixel>],
    style: &CurveStyle,
    width: u32,
) -> anyhow::Result<()>
where
    DB::ErrorType: 'static + Error + Send + Sync,
{
    let line = ShapeStyle::from(&rgb(style.colour)).stroke_width(width * SCALE);
    for run in runs {
        for piece in dashes(run, style.dash) {
            let points: Vec<(i32, i32)> =
                piece.iter().map(|p| (p.0.round() as i32, p.1.round() as i32)).collect();
            root.draw(&PathElement::new(points, line))?;
        }
    }
    Ok(())
}

/// Draws markers: at every point of a short curve, at about ten of a long one.
fn mark<DB: DrawingBackend>(
    root: &Area<'_, DB>,
    frame: &AxesFrame,
    points: &[(f64, f64)],
    style: &CurveStyle,
    place: usize,
) -> anyhow::Result<()>
where
    DB::ErrorType: 'static + Error + Send + Sync,
{
    let stride = if points.len() <= 24 { 1 } else { points.len() / 10 };
    // Curves that run together show their markers side by side.
    let first = if stride == 1 { 0 } else { (place * stride / 4) % stride };
    for &point in points.iter().skip(first).step_by(stride) {
        if let Some((x, y)) = frame.map(point).filter(|&at| frame.contains(at)) {
            draw_marker(root, style, (x.round() as i32, y.round() as i32))?;
        }
    }
    Ok(())
}

fn draw_marker<DB: DrawingBackend>(
    root: &Area<'_, DB>,
    style: &CurveStyle,
    (x, y): (i32, i32),
) -> anyhow::Result<()>
where
    DB::ErrorType: 'static + Error + Send + Sync,
{
    let Some(marker) = style.marker else { return Ok(()) };
    let r = px(if style.hollow { 5 } else { 4 });
    let colour = rgb(style.colour);
    let line = ShapeStyle::from(&colour).stroke_width(if style.hollow { 3 } else { 2 * SCALE });
    let area = if style.hollow { line } else { colour.filled() };
    // The drawing library strokes no polygons, and rectangles only thinly: a path around them does.
    let shape = |mut corners: Vec<(i32, i32)>| {
        if style.hollow {
            corners.extend_from_within(..2);
            return root.draw(&PathElement::new(corners, line));
        }
        root.draw(&Polygon::new(corners, area))
    };
    match marker {
        Marker::Circle => root.draw(&Circle::new((x, y), r, area))?,
        Marker::Square => {
            let r = r * 7 / 8;
            shape(vec![(x - r, y - r), (x + r, y - r), (x + r, y + r), (x - r, y + r)])?;
        }
        Marker::Triangle => shape(vec![(x - r, y + r), (x + r, y + r), (x, y - r)])?,
        Marker::Diamond => {
            let r = r * 5 / 4;
            shape(vec![(x - r, y), (x, y - r), (x + r, y), (x, y + r)])?;
        }
        Marker::Cross => {
            root.draw(&PathElement::new([(x - r, y - r), (x + r, y + r)], line))?;
            root.draw(&PathElement::new([(x - r, y + r), (x + r, y - r)], line))?;
        }
    }
    Ok(())
}

/// Fits an axis to all curves of a panel, with some room at the ends of a linear one.
fn fit(axis: &Axis, panel: &Panel, room: f64, of: impl Fn((f64, f64)) -> f64) -> Fitted {
    let points = panel.curves.iter().flat_map(|curve| &curve.points);
    Fitted::new(axis, room, points.map(|&point| of(point)))
}

fn axis_text(axis: &Axis) -> String {
    if axis.unit.is_empty() {
        axis.label.clone()
    } else {
        format!("{} [{}]", axis.label, axis.unit)
    }
}

fn style_of(size: i32, colour: Rgb, bold: bool) -> TextStyle<'static> {
    let style = if bold { FontStyle::Bold } else { FontStyle::Normal };
    let font = FontDesc::new(FontFamily::SansSerif, f64::from(px(size)), style);
    let pos = Pos::new(HPos::Left, VPos::Top);
    TextStyle { font, color: rgb(colour).to_backend_color(), pos }
}

fn text(
    line: &str,
    at: (i32, i32),
    size: i32,
    colour: Rgb,
    bold: bool,
) -> Text<'static, (i32, i32), String> {
    Text::new(line.to_owned(), (px(at.0), px(at.1)), style_of(size, colour, bold))
}

fn rgb((r, g, b): Rgb) -> RGBColor {
    RGBColor(r, g, b)
}

/// Drawn pixels of a length in the layout.
fn px(length: i32) -> i32 {
    length * SCALE as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame() -> AxesFrame {
        let axis = Axis { range: Some((0.0, 10.0)), ..Axis::linear("", "") };
        let fitted = || Fitted::new(&axis, 0.0, std::iter::empty());
        AxesFrame { x: fitted(), y: fitted(), left: 0, right: 100, top: 0, bottom: 100 }
    }

    #[test]
    fn curves_are_cut_at_the_frame_and_at_gaps() {
        let curve = [(0.0, 5.0), (2.0, 15.0), (4.0, 5.0), (5.0, f64::NAN), (6.0, 5.0), (8.0, 5.0)];
        let runs = frame().clip(&curve);
        assert_eq!(runs.len(), 3);
        assert_eq!(runs[0], [(0.0, 50.0), (10.0, 0.0)]);
        assert_eq!(runs[1], [(30.0, 0.0), (40.0, 50.0)]);
        assert_eq!(runs[2], [(60.0, 50.0), (80.0, 50.0)]);
    }

    #[test]
    fn an_explosion_stays_inside_the_frame() {
        let curve: Vec<(f64, f64)> =
            (0..10).map(|i| (f64::from(i), 5.0 - (-100.0_f64).powi(8 * i))).collect();
        let inside = |p: &Pixel| (0.0..=100.0).contains(&p.0) && (0.0..=100.0).contains(&p.1);
        assert!(frame().clip(&curve).iter().flatten().all(inside));
    }
}
