//! What is drawn in the plane of a picture, in pixels: lines, areas, circles and texts.

use std::fmt::Write as _;

use crate::{
    colour::{Rgb, hex},
    text::text_width,
};

/// Fonts of SVG: installed nearly everywhere, and no wider than the embedded one that texts are measured in.
pub const FONT_FAMILY: &str = "DejaVu Sans, Verdana, Arial, sans-serif";

/// A point of the picture [px], from its upper left corner.
pub type Pixel = (f64, f64);

/// What an item looks like.
#[derive(Clone, Debug, PartialEq)]
pub enum ItemShape {
    /// A line through points.
    Line {
        /// The points.
        points: Vec<Pixel>,
        /// Its width [px].
        width: f64,
        /// Lengths of dash and gap [px]; none for a solid line.
        dash: &'static [f64],
        /// Its colour.
        colour: Rgb,
    },
    /// An area.
    Polygon {
        /// Its corners.
        points: Vec<Pixel>,
        /// Its inside; `None` leaves it open.
        fill: Option<Rgb>,
        /// Its border, with its width [px].
        stroke: Option<(Rgb, f64)>,
    },
    /// A circle.
    Circle {
        /// Its middle.
        at: Pixel,
        /// Its radius [px].
        radius: f64,
        /// Its inside.
        fill: Option<Rgb>,
        /// Its border, with its width [px].
        stroke: Option<(Rgb, f64)>,
    },
    /// A line of text.
    Text {
        /// The words.
        text: String,
        /// Start, middle or end of its base line.
        at: Pixel,
        /// Which of these.
        anchor: TextAnchor,
        /// Height of the letters [px].
        size: f64,
        /// Whether it is bold.
        bold: bool,
        /// Its colour.
        colour: Rgb,
        /// Whether the page shows around it, so that it can be read over lines.
        halo: bool,
    },
}

/// Which point of a text is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextAnchor {
    /// Its start.
    Start,
    /// Its middle.
    Middle,
    /// Its end.
    End,
}

/// Left, top, right and bottom [px].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PixelBox {
    /// Left.
    pub left: f64,
    /// Top.
    pub top: f64,
    /// Right.
    pub right: f64,
    /// Bottom.
    pub bottom: f64,
}

impl PixelBox {
    /// Around points.
    pub fn around(points: &[Pixel]) -> Self {
        let start = Self {
            left: f64::INFINITY,
            top: f64::INFINITY,
            right: f64::NEG_INFINITY,
            bottom: f64::NEG_INFINITY,
        };
        points.iter().fold(start, |b, &(x, y)| Self {
            left: b.left.min(x),
            top: b.top.min(y),
            right: b.right.max(x),
            bottom: b.bottom.max(y),
        })
    }

    /// The same with some room on all sides.
    #[must_use]
    pub fn grown(self, by: f64) -> Self {
        Self {
            left: self.left - by,
            top: self.top - by,
            right: self.right + by,
            bottom: self.bottom + by,
        }
    }

    /// Whether two have more in common than an edge.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }

    /// Whether a point is inside.
    pub fn contains(&self, (x, y): Pixel) -> bool {
        (self.left..=self.right).contains(&x) && (self.top..=self.bottom).contains(&y)
    }
}

impl ItemShape {
    /// The rectangle that it covers.
    pub fn bounds(&self) -> PixelBox {
        match self {
            Self::Line { points, width, .. } => PixelBox::around(points).grown(width / 2.0),
            Self::Polygon { points, .. } => PixelBox::around(points),
            Self::Circle { at, radius, .. } => PixelBox::around(&[*at]).grown(*radius),
            Self::Text { text, at, anchor, size, bold, .. } => {
                text_bounds(text, *at, *anchor, *size, *bold)
            }
        }
    }
}

/// The rectangle that a line of text covers; letters reach a fifth of their size below the base line.
pub fn text_bounds(text: &str, at: Pixel, anchor: TextAnchor, size: f64, bold: bool) -> PixelBox {
    let width = text_width(text, size, bold);
    let left = match anchor {
        TextAnchor::Start => at.0,
        TextAnchor::Middle => at.0 - width / 2.0,
        TextAnchor::End => at.0 - width,
    };
    PixelBox { left, top: at.1 - 0.8 * size, right: left + width, bottom: at.1 + 0.2 * size }
}

/// Writes one shape as an element, with tenths of pixels.
pub fn write_shape(item: &ItemShape, out: &mut String) {
    // Writing to a string cannot fail, hence the results that are let go.
    match item {
        ItemShape::Line { points, width, dash, colour } => {
            let dash = if dash.is_empty() {
                String::new()
            } else {
                let lengths: Vec<String> = dash.iter().map(|length| number(*length)).collect();
                format!(" stroke-dasharray=\"{}\"", lengths.join(" "))
            };
            let _ = writeln!(
                out,
                "<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{width}\"{dash} \
                 stroke-linejoin=\"round\"/>",
                path(points),
                hex(*colour)
            );
        }
        ItemShape::Polygon { points, fill, stroke } => {
            let _ = writeln!(out, "<path d=\"{}Z\"{}/>", path(points), paint(*fill, *stroke));
        }
        ItemShape::Circle { at, radius, fill, stroke } => {
            let _ = writeln!(
                out,
                "<circle cx=\"{}\" cy=\"{}\" r=\"{radius}\"{}/>",
                number(at.0),
                number(at.1),
                paint(*fill, *stroke)
            );
        }
        ItemShape::Text { text, at, anchor, size, bold, colour, halo } => {
            let anchor = match anchor {
                TextAnchor::Start => "",
                TextAnchor::Middle => " text-anchor=\"middle\"",
                TextAnchor::End => " text-anchor=\"end\"",
            };
            let size = if *size == 12.0 { String::new() } else { format!(" font-size=\"{size}\"") };
            let weight = if *bold { " font-weight=\"bold\"" } else { "" };
            let halo = if *halo {
                " stroke=\"#FFFFFF\" stroke-width=\"3\" paint-order=\"stroke\" stroke-linejoin=\"round\""
            } else {
                ""
            };
            let _ = writeln!(
                out,
                "<text x=\"{}\" y=\"{}\"{anchor}{size}{weight} fill=\"{}\"{halo}>{}</text>",
                number(at.0),
                number(at.1),
                hex(*colour),
                escaped(text)
            );
        }
    }
}

fn paint(fill: Option<Rgb>, stroke: Option<(Rgb, f64)>) -> String {
    let fill = fill.map_or_else(|| "none".to_owned(), hex);
    let stroke = stroke
        .map(|(colour, width)| format!(" stroke=\"{}\" stroke-width=\"{width}\"", hex(colour)));
    format!(" fill=\"{fill}\"{}", stroke.unwrap_or_default())
}

/// Absolute start, then steps relative to the rounded point before: short, and without drift.
pub fn path(points: &[Pixel]) -> String {
    let tenths = |x: f64| (10.0 * x).round() as i64;
    let text = |tenths: i64| number(tenths as f64 / 10.0);
    let mut out = String::new();
    let mut before: Option<(i64, i64)> = None;
    for &(x, y) in points {
        let now = (tenths(x), tenths(y));
        match before {
            None => out += &format!("M{} {}l", text(now.0), text(now.1)),
            Some(old) if old != now => {
                let (dx, dy) = (text(now.0 - old.0), text(now.1 - old.1));
                let space = if out.ends_with('l') || dx.starts_with('-') { "" } else { " " };
                let between = if dy.starts_with('-') { "" } else { " " };
                out += &format!("{space}{dx}{between}{dy}");
            }
            Some(_) => {}
        }
        before = Some(now);
    }
    out.strip_suffix('l').map_or_else(|| out.clone(), |start| format!("{start}h0"))
}

/// A length with at most one digit after the point.
pub fn number(value: f64) -> String {
    let tenths = (10.0 * value).round() / 10.0;
    // Minus zero is zero.
    format!("{}", if tenths == 0.0 { 0.0 } else { tenths })
}

/// Text between tags, and in quotes.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_short_and_do_not_drift() {
        assert_eq!(path(&[(1.0, 2.0), (1.5, 1.0), (1.5, 1.0), (3.04, 3.0)]), "M1 2l0.5-1 1.5 2");
        assert_eq!(path(&[(1.0, 2.0)]), "M1 2h0");
        let third = path(&[(0.0, 0.0), (0.333, 0.0), (0.666, 0.0), (0.999, 0.0)]);
        assert_eq!(third, "M0 0l0.3 0 0.4 0 0.3 0");
    }

    #[test]
    fn text_cannot_leave_its_tag() {
        assert_eq!(escaped("<a> & \"b\""), "&lt;a&gt; &amp; &quot;b&quot;");
        assert_eq!(number(-0.04), "0");
    }
}
