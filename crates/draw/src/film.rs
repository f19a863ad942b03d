//! Films: one column for each run, one row for each time, one camera, and a key.

use crate::{
    colour::{ColourSteps, FAILURE, FAINT_INK, GAP, GHOST, INK, Rgb, STEPS},
    flat::{ItemShape, Pixel, TextAnchor},
    list::{DrawList, Sheet},
    text::{shortened, text_width, wrapped},
};

/// Width of a film [px].
pub const WIDTH: f64 = 800.0;
/// Most columns, and most rows.
pub const CELLS_MAX: usize = 5;

/// At the left of the cells, for times [px].
const TIMES: f64 = 46.0;
/// Between cells, and at the right of them [px].
const BETWEEN: f64 = 6.0;
/// Above the cells, for heads of one line [px].
const HEAD: f64 = 22.0;
/// What one line more of a head takes [px].
const HEAD_LINE: f64 = 14.0;
/// Most lines of a head.
const HEAD_LINES: usize = 2;
/// A row of the key [px].
const KEY_ROW: f64 = 20.0;
/// Size of text [px].
const TEXT: f64 = 12.0;
/// Highest and lowest cell in widths of one.
const SHAPES: (f64, f64) = (1.35, 0.42);
/// Lowest and highest cell of a loop [px]: with head and key between 250 and 330 px.
const LOOP_CELLS: (f64, f64) = (170.0, 230.0);
/// Width over height that a small picture comes near to.
const CARD: f64 = 520.0 / 320.0;
/// All cells together are at most so high [px], unless they would be lower than [`SHAPES`] allows.
const HIGHEST: f64 = 720.0;

/// What stands around the cells of a film.
#[derive(Clone, Debug, Default)]
pub struct FilmText {
    /// Title for readers who cannot see it.
    pub title: String,
    /// What it shows, for the same.
    pub description: String,
    /// Label of every column, with the colour of its method.
    pub columns: Vec<(String, Rgb)>,
    /// Time of every row.
    pub rows: Vec<String>,
    /// The colours of bodies.
    pub colours: Option<ColourKey>,
    /// What other marks mean.
    pub marks: Vec<KeyMark>,
}

/// The meaning of the five colours.
#[derive(Clone, Debug)]
pub struct ColourKey {
    /// What they tell.
    pub name: String,
    /// Where they change.
    pub steps: ColourSteps,
    /// Writes a value with its unit.
    pub write: fn(f64) -> String,
}

/// A mark of the key, with its meaning.
#[derive(Clone, Debug, PartialEq)]
pub enum KeyMark {
    /// A red line between anchors.
    Gap(String),
    /// An outline of the reference.
    Ghost(String),
    /// A red frame.
    Failed(String),
    /// A red triangle on the edge.
    Gone(String),
    /// Words alone.
    Note(String),
}

/// Width and height of the cells of a film [px], for what has a given width over height.
pub fn cell_size(columns: usize, rows: usize, aspect: f64) -> (f64, f64) {
    let (columns, rows) = (columns.max(1) as f64, rows.max(1) as f64);
    let width = ((WIDTH - TIMES - BETWEEN * columns) / columns).floor();
    let highest = (SHAPES.0 * width).min((HIGHEST / rows).max(SHAPES.1 * width)).min(420.0);
    let height = (width / aspect).clamp(SHAPES.1 * width, highest);
    (width, height.round())
}

/// The same for a loop, which has one row and is as high as the top of a page bears.
pub fn loop_cell_size(columns: usize, aspect: f64) -> (f64, f64) {
    let (width, height) = cell_size(columns, 1, aspect);
    (width, height.clamp(LOOP_CELLS.0, LOOP_CELLS.1))
}

/// The page of a film whose cells are given row by row, all of one size.
pub fn film(text: FilmText, cells: Vec<DrawList>) -> Sheet {
    let size = cells.first().map_or((0.0, 0.0), |cell| cell.size);
    let columns = text.columns.len().max(1);
    let mut shapes = Vec::new();
    let heads: Vec<Vec<String>> =
        text.columns.iter().map(|(label, _)| head_lines(label, size.0 - 16.0)).collect();
    let more = heads.iter().map(Vec::len).max().unwrap_or(1).max(1) - 1;
    let head = HEAD + HEAD_LINE * more as f64;
    let left = |column: usize| TIMES + column as f64 * (size.0 + BETWEEN);
    let top = |row: usize| head + row as f64 * (size.1 + BETWEEN);
    for (column, (lines, (_, colour))) in heads.iter().zip(&text.columns).enumerate() {
        let x = left(column);
        // Heads stand on the cells, whatever their lines.
        let first = head - HEAD_LINE * (lines.len().max(1) - 1) as f64;
        shapes.push(ItemShape::Circle {
            at: (x + 5.0, first - 9.0),
            radius: 4.0,
            fill: Some(*colour),
            stroke: None,
        });
        for (i, line) in lines.iter().enumerate() {
            let at = (x + 13.0, first - 5.0 + HEAD_LINE * i as f64);
            shapes.push(words(line, at, TextAnchor::Start, INK));
        }
    }
    for (row, time) in text.rows.iter().enumerate() {
        let at = (TIMES - 8.0, top(row) + 14.0);
        shapes.push(words(time, at, TextAnchor::End, INK));
    }
    let rows = cells.len().div_ceil(columns);
    let below = top(rows);
    let height = below + key(&text, below, &mut shapes);
    let place = |i: usize| (left(i % columns), top(i / columns));
    let cells = cells.into_iter().enumerate().map(|(i, list)| (place(i), list)).collect();
    let FilmText { title, description, .. } = text;
    Sheet { width: WIDTH, height, title, description, cells, shapes }
}

/// A label in as many lines as a head has; what is longer is shortened in its last.
fn head_lines(label: &str, width: f64) -> Vec<String> {
    let mut lines = wrapped(label, TEXT, false, width);
    if lines.len() > HEAD_LINES {
        let rest = lines.split_off(HEAD_LINES - 1).join(" ");
        lines.push(rest);
    }
    lines.into_iter().map(|line| shortened(&line, TEXT, width)).collect()
}

/// How many cells of a row stand beside each other, and the size of the whole [px], so that it has the shape of a small
/// picture: its cells in as many lines as it takes.
pub fn card(count: usize, (width, height): (f64, f64)) -> (usize, (f64, f64)) {
    let size = |across: usize| {
        let down = count.div_ceil(across);
        let length = |count: usize, one: f64| count as f64 * (one + BETWEEN) - BETWEEN;
        (length(across, width), length(down, height))
    };
    let off = |across: &usize| (size(*across).0 / size(*across).1 / CARD).ln().abs();
    let across = (1..=count).min_by(|a, b| off(a).total_cmp(&off(b))).unwrap_or(1);
    (across, size(across))
}

/// Where the cell of a number stands in a small picture with so many beside each other [px].
pub fn card_place(number: usize, across: usize, (width, height): (f64, f64)) -> Pixel {
    ((number % across) as f64 * (width + BETWEEN), (number / across) as f64 * (height + BETWEEN))
}

/// The last row of a film by itself, without any text around it, as [`card`] arranges it.
pub fn last_row(film: Sheet) -> Sheet {
    let top = film.cells.iter().map(|((_, y), _)| *y).fold(f64::NEG_INFINITY, f64::max);
    let row: Vec<DrawList> =
        film.cells.into_iter().filter(|((_, y), _)| *y == top).map(|(_, cell)| cell).collect();
    let size = row.first().map_or((0.0, 0.0), |cell| cell.size);
    let (across, (width, height)) = card(row.len(), size);
    let placed = |(i, cell)| (card_place(i, across, size), cell);
    let cells = row.into_iter().enumerate().map(placed).collect();
    Sheet { width, height, cells, shapes: Vec::new(), ..film }
}

/// The key from a height downwards; returns its own height.
fn key(text: &FilmText, top: f64, shapes: &mut Vec<ItemShape>) -> f64 {
    let mut height = 4.0;
    if let Some(colours) = &text.colours {
        steps(colours, top + height, shapes);
        height += 36.0;
    }
    let (mut x, mut y) = (TIMES, top + height);
    for mark in &text.marks {
        let meaning = match mark {
            KeyMark::Gap(words)
            | KeyMark::Ghost(words)
            | KeyMark::Failed(words)
            | KeyMark::Gone(words)
            | KeyMark::Note(words) => words,
        };
        let sample = if matches!(mark, KeyMark::Note(_)) { 0.0 } else { 24.0 };
        let wide = sample + text_width(meaning, TEXT, false) + 18.0;
        if x > TIMES && x + wide > WIDTH {
            (x, y) = (TIMES, y + KEY_ROW);
        }
        draw_sample(mark, (x, y + 8.0), shapes);
        let at = (x + sample, y + 12.0);
        shapes.push(words(meaning, at, TextAnchor::Start, FAINT_INK));
        x += wide;
    }
    if !text.marks.is_empty() {
        height = y + KEY_ROW - top;
    }
    height
}

/// Five swatches with the values between them below.
fn steps(colours: &ColourKey, top: f64, shapes: &mut Vec<ItemShape>) {
    const SWATCH: f64 = 62.0;
    let name = format!("{}:", colours.name);
    let start = TIMES + text_width(&name, TEXT, false) + 10.0;
    shapes.push(words(&name, (TIMES, top + 11.0), TextAnchor::Start, FAINT_INK));
    for (i, colour) in STEPS.iter().enumerate() {
        let x = start + i as f64 * SWATCH;
        shapes.push(ItemShape::Polygon {
            points: vec![
                (x, top + 1.0),
                (x + SWATCH, top + 1.0),
                (x + SWATCH, top + 13.0),
                (x, top + 13.0),
            ],
            fill: Some(*colour),
            stroke: None,
        });
    }
    for (i, bound) in colours.steps.bounds().into_iter().enumerate() {
        let x = start + (i + 1) as f64 * SWATCH;
        let at = (x, top + 26.0);
        shapes.push(words(&(colours.write)(bound), at, TextAnchor::Middle, FAINT_INK));
    }
}

/// The sample of a mark, at the left of its meaning and in the middle of the row.
fn draw_sample(mark: &KeyMark, (x, y): Pixel, shapes: &mut Vec<ItemShape>) {
    let frame = |colour: Rgb, width: f64, fill: Option<Rgb>| ItemShape::Polygon {
        points: vec![
            (x + 2.0, y - 5.0),
            (x + 18.0, y - 5.0),
            (x + 18.0, y + 5.0),
            (x + 2.0, y + 5.0),
        ],
        fill,
        stroke: Some((colour, width)),
    };
    match mark {
        KeyMark::Note(_) => {}
        KeyMark::Ghost(_) => shapes.push(frame(GHOST, 1.2, None)),
        KeyMark::Failed(_) => shapes.push(frame(FAILURE, 2.0, Some(crate::colour::FAILED_GROUND))),
        KeyMark::Gone(_) => shapes.push(ItemShape::Polygon {
            points: vec![(x + 10.0, y + 5.0), (x + 5.0, y - 4.0), (x + 15.0, y - 4.0)],
            fill: Some(FAILURE),
            stroke: None,
        }),
        KeyMark::Gap(_) => {
            let points = vec![(x + 3.0, y), (x + 17.0, y)];
            shapes.push(ItemShape::Line { points, width: 1.2, dash: &[], colour: GAP });
            for at in [(x + 3.0, y), (x + 17.0, y)] {
                let fill = Some(GAP);
                shapes.push(ItemShape::Circle { at, radius: 1.6, fill, stroke: None });
            }
        }
    }
}

fn words(text: &str, at: Pixel, anchor: TextAnchor, colour: Rgb) -> ItemShape {
    let text = text.to_owned();
    ItemShape::Text { text, at, anchor, size: TEXT, bold: false, colour, halo: false }
}

/// A length for a key: one digit and the unit that needs no zeros.
pub fn short_length(metres: f64) -> String {
    let (value, unit) = match metres {
        m if m >= 0.0995 => (m, "m"),
        m if m >= 0.95e-4 => (m * 1e3, "mm"),
        m => (m * 1e6, "µm"),
    };
    one_digit(value, unit)
}

/// A speed for a key.
pub fn short_speed(metres_per_second: f64) -> String {
    one_digit(metres_per_second, "m/s")
}

fn one_digit(value: f64, unit: &str) -> String {
    let digits = if value >= 0.95 { 0 } else { (-value.log10()).ceil().clamp(1.0, 9.0) as usize };
    format!("{value:.digits$} {unit}")
}
