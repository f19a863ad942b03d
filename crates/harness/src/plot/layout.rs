//! The whole picture: headings, panels, key and the strip of claims, as one list of items.

use taut_draw::text::{text_width, wrapped};

use super::{
    ClaimMark, Curve, CurveWeight, Panel, PlotSpec, Strip,
    colour::{DEVIATES, FAILURE, FAINT_INK, HOLDS, INK, PAGE, Rgb, STRIP_PAGE},
    curve::settled,
    key,
    list::{Item, ItemRole, ItemShape, Pixel, PixelBox, TEXT, TextAnchor, line, text},
    panel::{self, PanelPlace},
};

/// What a picture is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PictureForm {
    /// 800 px: README, gallery and report.
    Wide,
    /// 360 px: the report on a small screen.
    Narrow,
}

/// A picture laid out.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// Its width [px].
    pub width: f64,
    /// Its height [px].
    pub height: f64,
    /// Whether each panel has a key of its own.
    pub own_keys: bool,
    /// What is on it, from the back to the front.
    pub items: Vec<Item>,
}

const TITLE: f64 = 16.0;
const MARGIN: f64 = 10.0;
/// Between two panels side by side [px].
const BETWEEN: f64 = 24.0;
/// A key of the whole picture has at most so many names, no two of one look; else each panel has its own.
const MOST_IN_KEY: usize = 8;

/// Lays a picture out.
pub(super) fn layout(plot: &PlotSpec, form: PictureForm) -> Picture {
    let width = if form == PictureForm::Wide { 800.0 } else { 360.0 };
    let mut items = Vec::new();
    let mut y = MARGIN;
    for line in wrapped(&plot.title, TITLE, true, width - 2.0 * MARGIN) {
        items.push(heading(&line, (MARGIN, y + TITLE)));
        y += TITLE + 6.0;
    }
    for line in wrapped(&plot.subtitle, TEXT, false, width - 2.0 * MARGIN) {
        items.push(text(&line, (MARGIN, y + TEXT), TextAnchor::Start, FAINT_INK, ItemRole::Title));
        y += TEXT + 4.0;
    }
    y += 10.0;
    let panels = settled(&plot.panels);
    let shown = key::curves(&panels);
    let gutter = (form == PictureForm::Wide && panels.len() <= 2).then(|| gutter(&shown));
    let crowded = shown.len() > MOST_IN_KEY || key::look_alike(&shown);
    let own_keys = gutter.is_none() && panels.len() > 1 && crowded;
    if gutter.is_none() && !own_keys {
        let (rows, height) = key::draw(&shown, (MARGIN, y), width - 2.0 * MARGIN);
        items.extend(rows);
        y += height;
    }
    let mut notes = Vec::new();
    let columns = if form == PictureForm::Wide && panels.len() > 2 { 2 } else { 1 };
    let height = if form == PictureForm::Wide { 230.0 } else { 200.0 };
    for row in panels.chunks(columns) {
        let wide = (width - 2.0 * MARGIN - BETWEEN * (columns - 1) as f64) / columns as f64;
        let inner = wide - gutter.map_or(4.0, |gutter| gutter - MARGIN);
        let headings = row.iter().map(|one| panel::heading_height(one, inner)).fold(0.0, f64::max);
        let keys = row.iter().enumerate().map(|(i, one)| {
            let left = MARGIN + i as f64 * (wide + BETWEEN);
            key::draw(&key::curves(std::slice::from_ref(one)), (left, y + headings), inner)
        });
        let keys: Vec<(Vec<Item>, f64)> = if own_keys { keys.collect() } else { Vec::new() };
        let head = headings + keys.iter().map(|(_, height)| *height).fold(0.0, f64::max);
        let failed = |panel: &Panel| panel.curves.iter().any(|curve| !curve.failed_at.is_empty());
        let band = if row.iter().any(failed) { panel::FAILED_BAND } else { 0.0 };
        let height = height - panel::HEADING_ROW + head + band;
        items.extend(keys.into_iter().flat_map(|(items, _)| items));
        for (i, one) in row.iter().enumerate() {
            let left = MARGIN + i as f64 * (wide + BETWEEN);
            let bounds = PixelBox { left, top: y, right: left + inner, bottom: y + height };
            let drawn = panel::draw(one, PanelPlace { bounds, head, gutter });
            items.extend(drawn.items);
            notes.extend(drawn.notes);
        }
        y += height + 14.0;
    }
    if let Some(strip) = &plot.strip {
        y = draw_strip(strip, &panels, &notes, (width, y), &mut items);
    }
    Picture { width, height: (y + 2.0).ceil(), own_keys, items }
}

/// Width of the room for names at the right [px]: as wide as the widest name needs, within limits.
fn gutter(shown: &[&Curve]) -> f64 {
    let widest = shown.iter().map(|curve| text_width(&curve.label, TEXT, false));
    (widest.fold(0.0, f64::max) + panel::NAME_INDENT + MARGIN).clamp(110.0, 230.0)
}

/// A small picture of one panel: what matters in it, without text.
pub(super) fn thumb(panel: &Panel) -> Picture {
    let (width, height) = (260.0, 160.0);
    let items = panel::bare(
        &settled(std::slice::from_ref(panel))[0],
        [8.0, 8.0, width - 8.0, height - 8.0],
    );
    Picture { width, height, own_keys: false, items }
}

fn heading(line: &str, at: Pixel) -> Item {
    let shape = ItemShape::Text {
        text: line.to_owned(),
        at,
        anchor: TextAnchor::Start,
        size: TITLE,
        bold: true,
        colour: INK,
        halo: false,
    };
    Item { shape, role: ItemRole::Title, label: String::new() }
}

/// The last row: a square for each claim, how many hold, and what is on the picture without a name.
fn draw_strip(
    strip: &Strip,
    panels: &[Panel],
    unplaced: &[String],
    (width, top): Pixel,
    items: &mut Vec<Item>,
) -> f64 {
    let mut notes = vec![strip.text.clone()];
    notes.extend(grey(panels));
    notes.extend(strip.notes.iter().cloned());
    notes.extend(unplaced.iter().cloned());
    notes.retain(|note| !note.is_empty());
    let start = items.len();
    let (mut x, mut y) = (MARGIN, top + 9.0);
    for mark in &strip.claims {
        if x + 8.0 > width - MARGIN {
            (x, y) = (MARGIN, y + 12.0);
        }
        claim((x, y), *mark, items);
        x += 11.0;
    }
    let mut base = y + 8.5;
    x += if strip.claims.is_empty() { 0.0 } else { 7.0 };
    for word in notes.join(" · ").split_whitespace() {
        let wide = text_width(word, TEXT, false);
        if x + wide > width - MARGIN {
            (x, base) = (MARGIN, base + 16.0);
        }
        // Words that follow each other on a line are one text.
        match items.last_mut() {
            Some(Item {
                shape: ItemShape::Text { text, at, .. }, role: ItemRole::Strip, ..
            }) if at.1 == base => {
                text.push(' ');
                text.push_str(word);
            }
            _ => items.push(text(word, (x, base), TextAnchor::Start, INK, ItemRole::Strip)),
        }
        x += wide + text_width(" ", TEXT, false) + 0.15;
    }
    let bottom = base + 9.0;
    let points = vec![(0.0, top), (width, top), (width, bottom), (0.0, bottom)];
    let shape = ItemShape::Polygon { points, fill: Some(STRIP_PAGE), stroke: None };
    items.insert(start, Item { shape, role: ItemRole::Strip, label: String::new() });
    bottom
}

/// What the grey curves are.
fn grey(panels: &[Panel]) -> Option<String> {
    let mut names: Vec<&str> = Vec::new();
    for curve in panels.iter().flat_map(|panel| &panel.curves) {
        if curve.weight == CurveWeight::Context && !names.contains(&curve.label.as_str()) {
            names.push(&curve.label);
        }
    }
    match names.len() {
        0 => None,
        1..=3 => Some(format!("grey: {}", names.join(", "))),
        count => Some(format!("grey: {count} more, in the table")),
    }
}

/// A square of 8 px that tells by its shape what became of a claim.
fn claim((x, y): Pixel, mark: ClaimMark, items: &mut Vec<Item>) {
    let square = |fill: Option<Rgb>, stroke: Option<(Rgb, f64)>| ItemShape::Polygon {
        points: vec![(x, y), (x + 8.0, y), (x + 8.0, y + 8.0), (x, y + 8.0)],
        fill,
        stroke,
    };
    let diagonal = |up: bool, colour: Rgb| {
        let (from, to) = if up { (y + 8.0, y) } else { (y, y + 8.0) };
        let item = line(vec![(x, from), (x + 8.0, to)], 1.5, colour, ItemRole::Strip);
        Item { role: ItemRole::Strip, ..item }
    };
    let shape = match mark {
        ClaimMark::Holds => square(Some(HOLDS), None),
        ClaimMark::Deviates => square(Some(PAGE), Some((DEVIATES, 1.5))),
        ClaimMark::Fails => square(Some(PAGE), Some((FAILURE, 1.0))),
        ClaimMark::Void => square(Some(PAGE), Some((INK, 1.0))),
        ClaimMark::Unclear | ClaimMark::NotJudged => square(Some(PAGE), Some((FAINT_INK, 1.0))),
    };
    items.push(Item { shape, role: ItemRole::Claim, label: String::new() });
    match mark {
        ClaimMark::Deviates => items.push(diagonal(true, DEVIATES)),
        ClaimMark::Fails => items.extend([diagonal(true, FAILURE), diagonal(false, FAILURE)]),
        ClaimMark::Void => items.extend([diagonal(true, INK), diagonal(false, INK)]),
        ClaimMark::Unclear => {
            let points = vec![(x, y), (x + 8.0, y), (x, y + 8.0)];
            let shape = ItemShape::Polygon { points, fill: Some(FAINT_INK), stroke: None };
            items.push(Item { shape, role: ItemRole::Strip, label: String::new() });
        }
        ClaimMark::Holds | ClaimMark::NotJudged => {}
    }
}
