//! Lines, areas and texts over a picture of pixels.

use plotters::prelude::DrawingBackend;
use plotters::{
    backend::{BitMapBackend, RGBPixel},
    coord::Shift,
    drawing::{DrawingArea, DrawingAreaErrorKind, IntoDrawingArea},
    element::{Circle, PathElement, Polygon, Text},
    style::{
        Color, FontDesc, FontFamily, FontStyle, RGBColor, ShapeStyle, TextStyle,
        text_anchor::{HPos, Pos, VPos},
    },
};

use crate::{
    bitmap::Bitmap,
    colour::{PAGE, Rgb},
    dash::{dashes, length, part},
    flat::{ItemShape, Pixel, TextAnchor},
    text::{EM, NoFonts, fonts},
};

/// Samples to a pixel in each direction: the drawing library smooths letters only, and puts them on whole pixels.
const SAMPLES: u32 = 3;

type Canvas<'a> = DrawingArea<BitMapBackend<'a, RGBPixel>, Shift>;
type Fault = DrawingAreaErrorKind<<BitMapBackend<'static, RGBPixel> as DrawingBackend>::ErrorType>;

/// Draws shapes, one over the other, on a picture with `scale` pixels for each of theirs.
///
/// # Errors
/// When the embedded fonts cannot be read.
pub fn draw(bitmap: &mut Bitmap, shapes: &[ItemShape], scale: f64) -> Result<(), NoFonts> {
    fonts()?;
    for shape in shapes {
        stamp(bitmap, shape, scale);
    }
    Ok(())
}

/// Draws one shape on the rectangle that it covers, enlarged and then reduced again.
fn stamp(bitmap: &mut Bitmap, shape: &ItemShape, scale: f64) {
    // Halos and corners of borders reach over the bounds.
    let bounds = shape.bounds().grown(3.0);
    let limit = |x: f64, last: u32| (x * scale).clamp(0.0, f64::from(last)) as u32;
    let [width, height] = bitmap.size();
    let low = [limit(bounds.left, width), limit(bounds.top, height)];
    let high = [limit(bounds.right + 1.0, width), limit(bounds.bottom + 1.0, height)];
    let size = [0, 1].map(|i| high[i].saturating_sub(low[i]));
    if size.contains(&0) {
        return;
    }
    let before = bitmap.cut(low, size);
    let mut large = enlarged(&before, size[0]);
    let pen = Pen {
        scale: scale * f64::from(SAMPLES),
        origin: low.map(|corner| f64::from(corner * SAMPLES)),
    };
    {
        let dimensions = (size[0] * SAMPLES, size[1] * SAMPLES);
        let area = BitMapBackend::<RGBPixel>::with_buffer(large.as_flattened_mut(), dimensions)
            .into_drawing_area();
        // In memory nothing can fail but a font, and those are there.
        let _ = pen.draw(&area, shape);
        let _ = area.present();
    }
    bitmap.paste(low, size, &reduced(&large, size[0]));
}

fn enlarged(pixels: &[[u8; 3]], width: u32) -> Vec<[u8; 3]> {
    let samples = SAMPLES as usize;
    let mut large = Vec::with_capacity(pixels.len() * samples * samples);
    for row in pixels.chunks_exact(width as usize) {
        let start = large.len();
        large.extend(row.iter().flat_map(|pixel| [*pixel; SAMPLES as usize]));
        let end = large.len();
        (1..samples).for_each(|_| large.extend_from_within(start..end));
    }
    large
}

fn reduced(large: &[[u8; 3]], width: u32) -> Vec<[u8; 3]> {
    let samples = SAMPLES as usize;
    let row = width as usize * samples;
    let mut pixels = Vec::with_capacity(large.len() / (samples * samples));
    for rows in large.chunks_exact(row * samples) {
        for x in 0..width as usize {
            let mut sums = [0_u32; 3];
            for y in 0..samples {
                for sample in &rows[y * row + x * samples..][..samples] {
                    sums.iter_mut().zip(sample).for_each(|(sum, c)| *sum += u32::from(*c));
                }
            }
            let count = SAMPLES * SAMPLES;
            pixels.push(sums.map(|sum| ((sum + count / 2) / count) as u8));
        }
    }
    pixels
}

/// From a picture's own pixels to those of an enlarged rectangle of it.
struct Pen {
    scale: f64,
    origin: [f64; 2],
}

impl Pen {
    fn draw(&self, area: &Canvas<'_>, shape: &ItemShape) -> Result<(), Fault> {
        match shape {
            ItemShape::Line { points, width, dash, colour } => {
                let line: Vec<[f64; 2]> = points.iter().map(|p| [p.0, p.1]).collect();
                for (from, to) in dashes(length(&line), dash) {
                    let piece = part(&line, from, to).into_iter();
                    let piece = piece.map(|[x, y]| self.pixel((x, y))).collect::<Vec<_>>();
                    area.draw(&PathElement::new(piece, self.stroke(*colour, *width)))?;
                }
            }
            ItemShape::Polygon { points, fill, stroke: border } => {
                let corners: Vec<_> = points.iter().map(|&point| self.pixel(point)).collect();
                if let Some(fill) = fill {
                    area.draw(&Polygon::new(corners.clone(), rgb(*fill).filled()))?;
                }
                if let Some((colour, width)) = border {
                    // The corner where the line closes has one of its own: of a line that goes over a side twice, what
                    // both ways cover stays bare.
                    let at = |i: usize| corners[i % corners.len()];
                    let count = corners.len();
                    let round = (0..=count).map(at).collect::<Vec<_>>();
                    let corner = (count - 1..count + 2).map(at).collect::<Vec<_>>();
                    for line in [round, corner] {
                        area.draw(&PathElement::new(line, self.stroke(*colour, *width)))?;
                    }
                }
            }
            ItemShape::Circle { at, radius, fill, stroke: border } => {
                let (at, radius) = (self.pixel(*at), (radius * self.scale).round() as i32);
                if let Some(fill) = fill {
                    area.draw(&Circle::new(at, radius, rgb(*fill).filled()))?;
                }
                if let Some((colour, width)) = border {
                    area.draw(&Circle::new(at, radius, self.stroke(*colour, *width)))?;
                }
            }
            ItemShape::Text { .. } => self.letters(area, shape)?,
        }
        Ok(())
    }

    fn letters(&self, area: &Canvas<'_>, shape: &ItemShape) -> Result<(), Fault> {
        let ItemShape::Text { text, at, anchor, size, bold, colour, halo } = shape else {
            return Ok(());
        };
        let weight = if *bold { FontStyle::Bold } else { FontStyle::Normal };
        let across = match anchor {
            TextAnchor::Start => HPos::Left,
            TextAnchor::Middle => HPos::Center,
            TextAnchor::End => HPos::Right,
        };
        let style = |colour| TextStyle {
            font: FontDesc::new(FontFamily::SansSerif, self.scale * EM * size, weight),
            color: rgb(colour).to_backend_color(),
            pos: Pos::new(across, VPos::Bottom),
        };
        // The library takes the lower edge of the letters, a fifth below the base line.
        let at = self.pixel((at.0, at.1 + 0.22 * size));
        if *halo {
            let reach = (1.5 * self.scale).round() as i32;
            for (dx, dy) in [(-1, 0), (1, 0), (0, -1), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1)] {
                // Around a circle rather than a square.
                let part = if dx == 0 || dy == 0 { reach } else { reach * 7 / 10 };
                let at = (at.0 + part * dx, at.1 + part * dy);
                area.draw(&Text::new(text.clone(), at, style(PAGE)))?;
            }
        }
        area.draw(&Text::new(text.clone(), at, style(*colour)))
    }

    fn pixel(&self, (x, y): Pixel) -> (i32, i32) {
        let at = |value: f64, axis: usize| (value * self.scale - self.origin[axis]).round() as i32;
        (at(x, 0), at(y, 1))
    }

    fn stroke(&self, colour: Rgb, width: f64) -> ShapeStyle {
        let width = (width * self.scale).round().max(1.0) as u32;
        ShapeStyle::from(&rgb(colour)).stroke_width(width)
    }
}

fn rgb((r, g, b): Rgb) -> RGBColor {
    RGBColor(r, g, b)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn square(at: f64) -> ItemShape {
        let points = vec![(at, at), (at + 4.0, at), (at + 4.0, at + 4.0), (at, at + 4.0)];
        ItemShape::Polygon { points, fill: Some((0, 0, 0)), stroke: None }
    }

    #[test]
    fn frames_are_whole() {
        let mut bitmap = Bitmap::new([40, 40], [255; 3]);
        let points = vec![(5.0, 5.0), (15.0, 5.0), (15.0, 15.0), (5.0, 15.0)];
        let frame = ItemShape::Polygon { points, fill: None, stroke: Some(((0, 0, 0), 2.0)) };
        draw(&mut bitmap, &[frame], 2.0).unwrap();
        for [x, y] in [[20, 10], [30, 20], [20, 30], [10, 20], [9, 9], [30, 9], [30, 30], [9, 30]] {
            assert_eq!(bitmap.pixels()[y * 40 + x], [0; 3], "at {x}, {y}");
        }
    }

    #[test]
    fn shapes_cover_their_pixels_and_no_others() {
        let mut bitmap = Bitmap::new([20, 20], [200, 255, 255]);
        draw(&mut bitmap, &[square(2.0)], 2.0).unwrap();
        let red = |x: usize, y: usize| bitmap.pixels()[20 * y + x][0];
        assert_eq!((red(5, 5), red(10, 10), red(1, 1), red(14, 5)), (0, 0, 200, 200));
        // What lies outside is no fault.
        let mut small = Bitmap::new([4, 4], [9; 3]);
        draw(&mut small, &[square(100.0), square(-100.0)], 1.0).unwrap();
        assert_eq!(small, Bitmap::new([4, 4], [9; 3]));
    }

    #[test]
    fn text_has_a_halo_where_asked() {
        let text = |halo| ItemShape::Text {
            text: "Hlm".to_owned(),
            at: (5.0, 20.0),
            anchor: TextAnchor::Start,
            size: 14.0,
            bold: false,
            colour: (0, 0, 0),
            halo,
        };
        let count = |halo, levels: std::ops::Range<u8>| {
            let mut bitmap = Bitmap::new([50, 30], [100; 3]);
            draw(&mut bitmap, &[text(halo)], 1.0).unwrap();
            bitmap.pixels().iter().filter(|pixel| levels.contains(&pixel[0])).count()
        };
        assert!(count(false, 0..40) > 15);
        assert_eq!(count(false, 200..255), 0);
        assert!(count(true, 200..255) > 10);
    }
}
