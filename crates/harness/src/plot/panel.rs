//! One pair of axes as a list of items: grid, curves, failures and names.

use taut_draw::text::{shortened, text_width, wrapped};

use super::{
    AfterFailure, Better, Curve, CurveWeight, Panel, Reference,
    colour::{self, FAILED_PAGE, FAILURE, FAINT_INK, GRID, INK, Marker, PAGE, REFERENCE_LINE, Rgb},
    frame::AxesFrame,
    list::{Item, ItemRole, ItemShape, Pixel, PixelBox, TEXT, TextAnchor, line, text, text_bounds},
    marker::marker_shape,
    place::{Cover, free_place, spread_out},
};

/// Size of a panel's heading [px].
const HEADING: f64 = 13.0;
/// Height of a line of it [px].
pub(super) const HEADING_ROW: f64 = 16.0;
/// Height of a name at the end of a line [px].
const NAME_ROW: f64 = 15.0;
/// Height of the band in which failed runs stand [px].
pub(super) const FAILED_BAND: f64 = 22.0;
/// From the frame to a name at the right [px].
pub(super) const NAME_INDENT: f64 = 24.0;
/// A curve that ends within this share of the width from the right edge reaches it.
const REACHES: f64 = 0.05;
/// A name may cover this share of its cells with lines.
const COVERED: f64 = 0.3;
const REFERENCE_DASH: &[f64] = &[3.0, 3.0];

/// Where a panel goes and how its curves are named.
#[derive(Clone, Copy, Debug)]
pub(super) struct PanelPlace {
    /// Left, top, right and bottom, with heading and tick texts, without the gutter [px].
    pub(super) bounds: PixelBox,
    /// From the top to the frame, for heading and key [px].
    pub(super) head: f64,
    /// Width of the room for names at the right; where there is none, names stand in a key [px].
    pub(super) gutter: Option<f64>,
}

/// The items of a panel, and what there was no room for.
#[derive(Debug, Default)]
pub(super) struct PanelItems {
    pub(super) items: Vec<Item>,
    /// Names that found no place, for the strip.
    pub(super) notes: Vec<String>,
}

/// Draws a panel.
pub(super) fn draw(panel: &Panel, place: PanelPlace) -> PanelItems {
    let frame = frame(panel, place);
    let mut out = PanelItems::default();
    heading(panel, &frame, place.bounds, &mut out.items);
    axes(panel, &frame, &mut out.items);
    let drawn: Vec<Vec<Vec<Pixel>>> =
        panel.curves.iter().map(|curve| frame.clip(&curve.before_failure())).collect();
    curves(panel, &frame, &drawn, &mut out.items);
    let points = panel.references.iter().any(|one| matches!(one, Reference::Point { .. }));
    let shown = points || panel.curves.iter().any(|curve| shows_a_point(&frame, curve));
    if !shown && drawn.iter().all(Vec::is_empty) {
        let at = ((frame.left + frame.right) / 2.0, (frame.top + frame.bottom) / 2.0);
        out.items.push(text("nothing to show", at, TextAnchor::Middle, FAINT_INK, ItemRole::Name));
    }
    let mut cover = Cover::new(PixelBox {
        left: frame.left,
        top: frame.top,
        right: frame.right,
        bottom: frame.bottom,
    });
    drawn.iter().flatten().for_each(|line| cover.line(line));
    crosses(panel, &frame, place, &mut cover, &mut out);
    references(panel, &frame, &mut cover, &mut out);
    if let Some(gutter) = place.gutter {
        names(panel, &frame, gutter, (&mut cover, &mut out));
    }
    out
}

/// The curves of a panel that matter and its failures, without any text, in a frame: left, top, right, bottom.
pub(super) fn bare(panel: &Panel, edges: [f64; 4]) -> Vec<Item> {
    let curves = panel.curves.iter().filter(|curve| curve.weight != CurveWeight::Context);
    let panel = Panel { curves: curves.cloned().collect(), ..panel.clone() };
    let frame = AxesFrame::new(&panel, edges);
    let drawn: Vec<Vec<Vec<Pixel>>> =
        panel.curves.iter().map(|curve| frame.clip(&curve.before_failure())).collect();
    let [left, top, right, bottom] = edges;
    let mut items =
        vec![line(vec![(left, top), (left, bottom), (right, bottom)], 1.0, INK, ItemRole::Axis)];
    self::curves(&panel, &frame, &drawn, &mut items);
    for curve in &panel.curves {
        let at = curve.failure.as_ref().and_then(|failure| {
            Some(frame.clamped(frame.map((failure.at, curve.value_at(failure.at)?))?))
        });
        if let Some(at) = at {
            let radius = if curve.ends_early() { 5.0 } else { 3.0 };
            cross(at, radius, FAILURE, &curve.label, &mut items);
        }
    }
    items
}

/// The axes of a panel in its place: below the heading, right of the tick texts.
fn frame(panel: &Panel, PanelPlace { bounds, head, .. }: PanelPlace) -> AxesFrame {
    let band = if panel.curves.iter().any(|c| !c.failed_at.is_empty()) { FAILED_BAND } else { 0.0 };
    let (above, below) = if panel.better == Better::Higher { (0.0, band) } else { (band, 0.0) };
    let foot = if panel.x.label.is_empty() { 20.0 } else { 36.0 };
    let top = bounds.top + 8.0 + head + above;
    let bottom = bounds.bottom - foot - below;
    let probe = AxesFrame::new(panel, [0.0, top, 100.0, bottom]);
    let widest =
        probe.y.ticks().iter().map(|(_, t)| text_width(t, TEXT, false)).fold(24.0, f64::max);
    AxesFrame::new(panel, [bounds.left + widest + 10.0, top, bounds.right, bottom])
}

fn shows_a_point(frame: &AxesFrame, curve: &Curve) -> bool {
    let inside = |&p: &(f64, f64)| frame.map(p).is_some_and(|at| frame.contains(at));
    curve.points.iter().any(inside) || !curve.failed_at.is_empty()
}

/// Height of a panel's heading in a width [px].
pub(super) fn heading_height(panel: &Panel, width: f64) -> f64 {
    HEADING_ROW * heading_lines(panel, width).len().max(1) as f64
}

/// The lines of a panel's heading in a width [px].
fn heading_lines(panel: &Panel, width: f64) -> Vec<String> {
    let room = width - text_width(better(panel.better), TEXT, false) - 12.0;
    wrapped(&panel.title, HEADING, true, room)
}

fn better(better: Better) -> &'static str {
    match better {
        Better::Lower => "↓ better",
        Better::Higher => "↑ better",
        Better::LowerOfBoth => "↙ better",
        Better::Neither => "",
    }
}

fn heading(panel: &Panel, frame: &AxesFrame, bounds: PixelBox, items: &mut Vec<Item>) {
    let lines = heading_lines(panel, bounds.right - bounds.left);
    for (i, line) in lines.into_iter().enumerate() {
        let shape = ItemShape::Text {
            text: line,
            at: (bounds.left, bounds.top + HEADING + i as f64 * HEADING_ROW),
            anchor: TextAnchor::Start,
            size: HEADING,
            bold: true,
            colour: INK,
            halo: false,
        };
        items.push(Item { shape, role: ItemRole::Title, label: String::new() });
    }
    let words = better(panel.better);
    if !words.is_empty() {
        let at = (frame.right, bounds.top + HEADING);
        items.push(text(words, at, TextAnchor::End, FAINT_INK, ItemRole::Axis));
    }
}

/// Grid, axes, ticks and their texts.
fn axes(panel: &Panel, frame: &AxesFrame, items: &mut Vec<Item>) {
    let AxesFrame { left, right, top, bottom, .. } = *frame;
    let x_low = frame.x.ends().0;
    let y_low = frame.y.ends().0;
    for (value, label) in frame.y.ticks() {
        let Some((_, y)) = frame.map((x_low, value)) else { continue };
        items.push(line(vec![(left, y), (right, y)], 1.0, GRID, ItemRole::Axis));
        items.push(text(&label, (left - 6.0, y + 4.0), TextAnchor::End, INK, ItemRole::Tick));
    }
    for &value in frame.y.minor() {
        let Some((_, y)) = frame.map((x_low, value)) else { continue };
        items.push(line(vec![(left - 3.0, y), (left, y)], 1.0, INK, ItemRole::Axis));
    }
    let below = bottom + if panel.better == Better::Higher { band_height(panel) } else { 0.0 };
    let mut free_from = f64::NEG_INFINITY;
    for (value, label) in frame.x.ticks() {
        let Some((x, _)) = frame.map((value, y_low)) else { continue };
        items.push(line(vec![(x, below), (x, below + 4.0)], 1.0, INK, ItemRole::Axis));
        let width = text_width(&label, TEXT, false);
        let middle = x.min(right + 4.0 - width / 2.0);
        if middle - width / 2.0 >= free_from {
            items.push(text(
                &label,
                (middle, below + 16.0),
                TextAnchor::Middle,
                INK,
                ItemRole::Tick,
            ));
            free_from = middle + width / 2.0 + 6.0;
        }
    }
    for &value in frame.x.minor() {
        let Some((x, _)) = frame.map((value, y_low)) else { continue };
        items.push(line(vec![(x, below), (x, below + 2.5)], 1.0, INK, ItemRole::Axis));
    }
    items.push(line(vec![(left, top), (left, below), (right, below)], 1.0, INK, ItemRole::Axis));
    if !panel.x.label.is_empty() {
        let at = ((left + right) / 2.0, below + 31.0);
        items.push(text(&panel.x.label, at, TextAnchor::Middle, FAINT_INK, ItemRole::Axis));
    }
    failed_band(panel, frame, items);
}

fn band_height(panel: &Panel) -> f64 {
    if panel.curves.iter().any(|c| !c.failed_at.is_empty()) { FAILED_BAND } else { 0.0 }
}

/// The band at the bad end of a panel of one point per run, with a cross for each run that failed, at its cost.
fn failed_band(panel: &Panel, frame: &AxesFrame, items: &mut Vec<Item>) {
    if band_height(panel) == 0.0 {
        return;
    }
    let top = if panel.better == Better::Higher { frame.bottom } else { frame.top - FAILED_BAND };
    let (left, right, bottom) = (frame.left, frame.right, top + FAILED_BAND);
    let corners = vec![(left, top), (right, top), (right, bottom), (left, bottom)];
    let shape = ItemShape::Polygon { points: corners, fill: Some(FAILED_PAGE), stroke: None };
    items.push(Item { shape, role: ItemRole::Axis, label: String::new() });
    items.push(text("failed", (left - 6.0, top + 15.0), TextAnchor::End, FAILURE, ItemRole::Tick));
    let mut taken: Vec<f64> = Vec::new();
    for curve in &panel.curves {
        for &cost in &curve.failed_at {
            let Some((x, _)) = frame.map((cost, frame.y.ends().0)) else { continue };
            let x = free_place(x, [left + 6.0, right - 6.0], &taken);
            taken.push(x);
            let context = curve.weight == CurveWeight::Context;
            let colour = if context { colour::CONTEXT } else { colour_of(curve) };
            cross((x, top + FAILED_BAND / 2.0), 4.0, colour, &curve.label, items);
        }
    }
}

/// All curves, those that matter above those for comparison.
fn curves(panel: &Panel, frame: &AxesFrame, drawn: &[Vec<Vec<Pixel>>], items: &mut Vec<Item>) {
    let with = || panel.curves.iter().zip(drawn);
    for (curve, lines) in with().filter(|(curve, _)| curve.weight == CurveWeight::Context) {
        for points in lines {
            items.push(named(line(points.clone(), 1.0, colour::CONTEXT, ItemRole::Context), curve));
        }
        points_of(panel, frame, curve, items);
    }
    for (curve, lines) in with().filter(|(curve, _)| curve.weight != CurveWeight::Context) {
        for points in lines {
            items.push(named(line(points.clone(), 4.0, PAGE, ItemRole::Halo), curve));
        }
    }
    for (curve, lines) in with().filter(|(curve, _)| curve.weight != CurveWeight::Context) {
        for points in lines {
            let shape = ItemShape::Line {
                points: points.clone(),
                width: 2.25,
                dash: curve.dash.pattern(),
                colour: colour_of(curve),
            };
            items.push(Item { shape, role: ItemRole::Emphasis, label: curve.label.clone() });
        }
        for points in frame.clip(&curve.after_failure()) {
            let colour = colour::mixed(colour_of(curve), colour::TAIL);
            let shape = ItemShape::Line { points, width: 1.2, dash: &[1.0, 3.0], colour };
            items.push(Item { shape, role: ItemRole::Tail, label: curve.label.clone() });
        }
        edges(frame, curve, items);
        points_of(panel, frame, curve, items);
    }
}

/// Triangles where a curve leaves the frame, with the most extreme value the first time.
fn edges(frame: &AxesFrame, curve: &Curve, items: &mut Vec<Item>) {
    for exit in frame.exits(&curve.before_failure()) {
        let (x, y) = exit.at;
        let tip = if exit.up { -6.0 } else { 6.0 };
        let points = vec![(x - 4.0, y), (x + 4.0, y), (x, y + tip)];
        let shape = ItemShape::Polygon { points, fill: Some(colour_of(curve)), stroke: None };
        items.push(Item { shape, role: ItemRole::Edge, label: curve.label.clone() });
    }
}

/// Markers, where a panel has one point per run.
fn points_of(panel: &Panel, frame: &AxesFrame, curve: &Curve, items: &mut Vec<Item>) {
    if !panel.one_per_run {
        return;
    }
    for &point in &curve.points {
        let Some(at) = frame.map(point).filter(|&at| frame.contains(at)) else { continue };
        let context = curve.weight == CurveWeight::Context;
        let colour = if context { colour::CONTEXT } else { colour_of(curve) };
        let radius = if context { 2.5 } else { 4.0 };
        let marker = colour::style_of(&curve.backend).marker;
        items.push(Item {
            shape: marker_shape(marker, at, radius, colour),
            role: ItemRole::Point,
            label: curve.label.clone(),
        });
    }
}

/// A cross over the page's colour.
fn cross((x, y): Pixel, r: f64, colour: Rgb, label: &str, items: &mut Vec<Item>) {
    for (width, colour, role) in [(5.0, PAGE, ItemRole::Halo), (2.5, colour, ItemRole::Cross)] {
        for (from, to) in [((x - r, y - r), (x + r, y + r)), ((x - r, y + r), (x + r, y - r))] {
            let item = line(vec![from, to], width, colour, role);
            items.push(Item { label: label.to_owned(), ..item });
        }
    }
}

/// A cross where each run that matters failed, with its name and what happened.
fn crosses(
    panel: &Panel,
    frame: &AxesFrame,
    place: PanelPlace,
    cover: &mut Cover,
    out: &mut PanelItems,
) {
    let failed = panel.curves.iter().filter(|curve| curve.weight != CurveWeight::Context);
    let failed: Vec<(&Curve, Pixel, String)> = failed
        .filter_map(|curve| {
            let failure = curve.failure.as_ref()?;
            let at = frame.clamped(frame.map((failure.at, curve.value_at(failure.at)?))?);
            if failure.after == AfterFailure::Flawed {
                // It goes on, and is named at its end.
                return Some((curve, at, String::new()));
            }
            let name =
                if place.gutter.is_some() { format!("{} ", curve.label) } else { String::new() };
            Some((curve, at, format!("{name}✕ {} {}", failure.word, seconds(failure.at))))
        })
        .collect();
    for (_, (x, y), _) in &failed {
        cover.name(PixelBox { left: x - 7.0, top: y - 7.0, right: x + 7.0, bottom: y + 7.0 });
    }
    for (curve, at, words) in failed {
        let radius = if words.is_empty() { 3.0 } else { 5.0 };
        cross(at, radius, FAILURE, &curve.label, &mut out.items);
        if !words.is_empty() {
            name_beside(&words, at, curve, cover, out);
        }
    }
}

/// `1.3 s`.
fn seconds(time_s: f64) -> String {
    if time_s < 1.0 { format!("{time_s:.2} s") } else { format!("{time_s:.1} s") }
}

/// A name near a mark, with a leader where it is not close; in the strip where there is no room.
fn name_beside(words: &str, at: Pixel, curve: &Curve, cover: &mut Cover, out: &mut PanelItems) {
    let size = (text_width(words, TEXT, false), TEXT + 2.0);
    let found = cover.beside(at, size).filter(|bounds| cover.share(bounds) <= COVERED);
    let Some(bounds) = found else {
        out.notes.push(words.to_owned());
        return;
    };
    cover.name(bounds);
    let from = (at.0.clamp(bounds.left, bounds.right), at.1.clamp(bounds.top, bounds.bottom));
    if (from.0 - at.0).hypot(from.1 - at.1) > 24.0 {
        let leader = line(vec![at, from], 0.8, colour_of(curve), ItemRole::Leader);
        out.items.push(named(leader, curve));
    }
    let at = (bounds.left, bounds.bottom - 3.5);
    let shape = ItemShape::Text {
        text: words.to_owned(),
        at,
        anchor: TextAnchor::Start,
        size: TEXT,
        bold: false,
        colour: INK,
        halo: true,
    };
    out.items.push(Item { shape, role: ItemRole::Name, label: curve.label.clone() });
}

/// Lines and points to compare with, and their texts.
fn references(panel: &Panel, frame: &AxesFrame, cover: &mut Cover, out: &mut PanelItems) {
    for reference in &panel.references {
        if let Reference::Point { at, label } = reference {
            let Some(at) = frame.map(*at).filter(|&at| frame.contains(at)) else { continue };
            let shape = marker_shape(Marker::Ring, at, 4.0, colour::OTHER);
            out.items.push(Item { shape, role: ItemRole::Reference, label: String::new() });
            if !label.is_empty() {
                let start = out.items.len();
                name_beside(label, at, &Curve::default(), cover, out);
                out.items[start..].iter_mut().for_each(|item| item.role = ItemRole::Reference);
            }
            continue;
        }
        let lines = frame.clip(&frame.reference_points(reference));
        let Some(points) = lines.first() else { continue };
        let shape = ItemShape::Line {
            points: points.clone(),
            width: 1.0,
            dash: REFERENCE_DASH,
            colour: REFERENCE_LINE,
        };
        out.items.push(Item { shape, role: ItemRole::Reference, label: String::new() });
        reference_text(reference.label(), points, frame, cover, out);
    }
}

/// The text of a line to compare with, at whichever end it covers less.
fn reference_text(
    label: &str,
    points: &[Pixel],
    frame: &AxesFrame,
    cover: &mut Cover,
    out: &mut PanelItems,
) {
    let (Some(&first), Some(&last)) = (points.first(), points.last()) else { return };
    let width = text_width(label, TEXT, false);
    let place = |(x, y): Pixel, above: bool| {
        let left = (x + 4.0).min(frame.right - width - 2.0).max(frame.left + 2.0);
        let base = if above { y - 4.0 } else { y + 13.0 };
        let base = base.clamp(frame.top + 11.0, frame.bottom - 3.0);
        text_bounds(label, (left, base), TextAnchor::Start, TEXT, false)
    };
    let ends = [first, last].into_iter().flat_map(|end| [place(end, true), place(end, false)]);
    let free = ends.filter(|bounds| !cover.takes(bounds));
    let best = free.min_by(|a, b| cover.share(a).total_cmp(&cover.share(b)));
    let Some(bounds) = best.filter(|bounds| cover.share(bounds) <= COVERED) else {
        out.notes.push(format!("dashed: {label}"));
        return;
    };
    cover.name(bounds);
    let at = (bounds.left, bounds.top + 0.8 * TEXT);
    let shape = ItemShape::Text {
        text: label.to_owned(),
        at,
        anchor: TextAnchor::Start,
        size: TEXT,
        bold: false,
        colour: FAINT_INK,
        halo: true,
    };
    out.items.push(Item { shape, role: ItemRole::Reference, label: String::new() });
}

/// Names of the curves that matter and did not fail: in the gutter where they reach it, else beside their ends.
fn names(
    panel: &Panel,
    frame: &AxesFrame,
    gutter: f64,
    (cover, out): (&mut Cover, &mut PanelItems),
) {
    let mut ends: Vec<(&Curve, Pixel)> = Vec::new();
    let shown = panel.curves.iter().filter(|c| c.weight != CurveWeight::Context && !c.ends_early());
    for curve in shown {
        let last = curve.points.iter().rev().find_map(|&p| frame.map(p));
        let Some(at) = last.map(|at| frame.clamped(at)) else { continue };
        if at.0 >= frame.right - REACHES * (frame.right - frame.left) {
            ends.push((curve, at));
        } else {
            name_beside(&curve.label, at, curve, cover, out);
        }
    }
    let targets: Vec<f64> = ends.iter().map(|(_, at)| at.1).collect();
    let limits = (frame.top + 4.0 - band_height(panel), frame.bottom + 8.0);
    let heights = spread_out(&targets, NAME_ROW, limits);
    for ((curve, at), y) in ends.into_iter().zip(heights) {
        let colour = colour_of(curve);
        let left = frame.right + 16.0;
        if (y - at.1).abs() > 2.0 || at.0 < frame.right - 1.0 {
            let leader =
                line(vec![(at.0 + 2.0, at.1), (left - 6.0, y)], 0.8, colour, ItemRole::Leader);
            out.items.push(named(leader, curve));
        }
        let dot =
            ItemShape::Circle { at: (left, y), radius: 3.5, fill: Some(colour), stroke: None };
        out.items.push(Item { shape: dot, role: ItemRole::Leader, label: curve.label.clone() });
        let label = shortened(&curve.label, TEXT, gutter - NAME_INDENT - 2.0);
        let name = text(&label, (left + 8.0, y + 4.0), TextAnchor::Start, INK, ItemRole::Name);
        out.items.push(named(name, curve));
    }
}

/// What a curve is drawn in: black for references, else its method's colour, lighter for smaller budgets.
pub(crate) fn colour_of(curve: &Curve) -> Rgb {
    match curve.weight {
        CurveWeight::Truth => (0, 0, 0),
        _ => colour::mixed(colour::style_of(&curve.backend).light, curve.lightness),
    }
}

fn named(item: Item, curve: &Curve) -> Item {
    Item { label: curve.label.clone(), ..item }
}
