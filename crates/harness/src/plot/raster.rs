//! Pictures as PNG, at twice their size.

use std::path::Path;

use plotters::{
    backend::BitMapBackend,
    coord::Shift,
    drawing::{DrawingArea, IntoDrawingArea},
    element::{Circle, PathElement, Polygon, Text},
    style::{
        Color, FontDesc, FontFamily, FontStyle, RGBColor, ShapeStyle, TextStyle, WHITE,
        text_anchor::{HPos, Pos, VPos},
    },
};

use taut_draw::text::EM;

use super::{
    colour::{PAGE, Rgb},
    layout::Picture,
    line::dashes,
    list::{Item, ItemShape, Pixel, TextAnchor},
};

/// Drawn pixels per pixel of the picture.
const SCALE: f64 = 2.0;

type Area<'a> = DrawingArea<BitMapBackend<'a>, Shift>;

/// Writes the picture to a file.
///
/// # Errors
/// When the file cannot be written.
pub(super) fn write(picture: &Picture, path: &Path) -> anyhow::Result<()> {
    let size = [picture.width, picture.height].map(|length| (length * SCALE).ceil() as u32);
    let area = BitMapBackend::new(path, (size[0], size[1])).into_drawing_area();
    area.fill(&WHITE)?;
    for item in &picture.items {
        draw(&area, item)?;
    }
    area.present()?;
    Ok(())
}

fn draw(area: &Area<'_>, item: &Item) -> anyhow::Result<()> {
    match &item.shape {
        ItemShape::Line { points, width, dash, colour } => {
            let style = stroke(*colour, *width);
            for piece in dashes(points, dash) {
                for (i, part) in blunt(&pixels(&piece)).into_iter().enumerate() {
                    if i > 0 {
                        let radius = style.stroke_width as i32 / 2;
                        area.draw(&Circle::new(part[0], radius, rgb(*colour).filled()))?;
                    }
                    area.draw(&PathElement::new(part, style))?;
                }
            }
        }
        ItemShape::Polygon { points, fill, stroke: border } => {
            let corners = pixels(points);
            if let Some(fill) = fill {
                area.draw(&Polygon::new(corners.clone(), rgb(*fill).filled()))?;
            }
            if let Some((colour, width)) = border {
                // Closed over its first side, so that no corner stays open.
                let mut closed = corners;
                closed.extend_from_within(..closed.len().min(2));
                area.draw(&PathElement::new(closed, stroke(*colour, *width)))?;
            }
        }
        ItemShape::Circle { at, radius, fill, stroke: border } => {
            let (at, radius) = (pixel(*at), (radius * SCALE).round() as i32);
            if let Some(fill) = fill {
                area.draw(&Circle::new(at, radius, rgb(*fill).filled()))?;
            }
            if let Some((colour, width)) = border {
                area.draw(&Circle::new(at, radius, stroke(*colour, *width)))?;
            }
        }
        ItemShape::Text { text, at, anchor, size, bold, colour, halo } => {
            let style = |colour| text_style(*size, *bold, *anchor, colour);
            // The library takes the lower edge of the letters, a fifth below the base line.
            let at = pixel((at.0, at.1 + 0.22 * size));
            if *halo {
                for (dx, dy) in [(-2, 0), (2, 0), (0, -2), (0, 2)] {
                    let at = (at.0 + dx, at.1 + dy);
                    area.draw(&Text::new(text.clone(), at, style(PAGE)))?;
                }
            }
            area.draw(&Text::new(text.clone(), at, style(*colour)))?;
        }
    }
    Ok(())
}

/// A line in parts that meet where it turns back so sharply that viewers of SVG cut its mitre off, at four times the width.
/// The library cuts the outer corner there, too, but not the inner one, which then lies far outside of short legs.
fn blunt(points: &[(i32, i32)]) -> Vec<Vec<(i32, i32)>> {
    let way = |from: (i32, i32), to: (i32, i32)| {
        let (x, y) = (f64::from(to.0 - from.0), f64::from(to.1 - from.1));
        let length = x.hypot(y);
        (x / length, y / length)
    };
    let (mut parts, mut last) = (Vec::new(), Vec::new());
    let mut distinct = points.to_vec();
    distinct.dedup();
    for (i, point) in distinct.iter().enumerate() {
        last.push(*point);
        if let (true, Some(next)) = (i > 0, distinct.get(i + 1)) {
            let (before, after) = (way(distinct[i - 1], *point), way(*point, *next));
            if before.0 * after.0 + before.1 * after.1 < 2.0 / 16.0 - 1.0 {
                parts.push(std::mem::replace(&mut last, vec![*point]));
            }
        }
    }
    parts.push(last);
    parts
}

fn text_style(size: f64, bold: bool, anchor: TextAnchor, colour: Rgb) -> TextStyle<'static> {
    let weight = if bold { FontStyle::Bold } else { FontStyle::Normal };
    let across = match anchor {
        TextAnchor::Start => HPos::Left,
        TextAnchor::Middle => HPos::Center,
        TextAnchor::End => HPos::Right,
    };
    let font = FontDesc::new(FontFamily::SansSerif, SCALE * EM * size, weight);
    let pos = Pos::new(across, VPos::Bottom);
    TextStyle { font, color: rgb(colour).to_backend_color(), pos }
}

fn stroke(colour: Rgb, width: f64) -> ShapeStyle {
    ShapeStyle::from(&rgb(colour)).stroke_width((width * SCALE).round().max(1.0) as u32)
}

fn pixels(points: &[Pixel]) -> Vec<(i32, i32)> {
    points.iter().map(|&point| pixel(point)).collect()
}

fn pixel((x, y): Pixel) -> (i32, i32) {
    ((x * SCALE).round() as i32, (y * SCALE).round() as i32)
}

fn rgb((r, g, b): Rgb) -> RGBColor {
    RGBColor(r, g, b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_cut_where_it_turns_back() {
        let zigzag = [(0, 0), (1, 100), (1, 100), (2, 0), (100, 0), (100, 100)];
        let parts = blunt(&zigzag);
        assert_eq!(parts, [vec![(0, 0), (1, 100)], vec![(1, 100), (2, 0), (100, 0), (100, 100)]]);
        assert_eq!(blunt(&[(3, 3), (3, 3)]), [vec![(3, 3)]]);
    }
}
