//! Pictures as SVG: tenths of pixels, real dashes, one group per curve.

use std::fmt::Write as _;

use super::{
    colour::{Rgb, hex},
    layout::Picture,
    list::{Item, ItemShape, Pixel, TextAnchor},
};

/// Installed nearly everywhere, and no wider than the embedded font that texts are measured in.
const FONTS: &str = "DejaVu Sans, Verdana, Arial, sans-serif";

/// A picture as one `<svg>` element with a title and a description for readers who cannot see it.
pub(super) fn write(picture: &Picture, title: &str, description: &str) -> String {
    let (width, height) = (number(picture.width), number(picture.height));
    // Writing to a string cannot fail, hence the results that are let go.
    let mut out = String::new();
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"{FONTS}\" font-size=\"12\" role=\"img\">"
    );
    let _ = writeln!(out, "<title>{}</title>", escaped(title));
    if !description.is_empty() {
        let _ = writeln!(out, "<desc>{}</desc>", escaped(description));
    }
    let _ = writeln!(out, "<rect width=\"{width}\" height=\"{height}\" fill=\"#FFFFFF\"/>");
    let mut group = "";
    for item in &picture.items {
        if item.label != group {
            if !group.is_empty() {
                out += "</g>\n";
            }
            if !item.label.is_empty() {
                let _ = writeln!(out, "<g data-run=\"{}\">", escaped(&item.label));
            }
            group = &item.label;
        }
        shape(item, &mut out);
    }
    if !group.is_empty() {
        out += "</g>\n";
    }
    out + "</svg>\n"
}

fn shape(item: &Item, out: &mut String) {
    // Writing to a string cannot fail, hence the results that are let go.
    match &item.shape {
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
fn path(points: &[Pixel]) -> String {
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
fn number(value: f64) -> String {
    let tenths = (10.0 * value).round() / 10.0;
    // Minus zero is zero.
    format!("{}", if tenths == 0.0 { 0.0 } else { tenths })
}

/// Text between tags, and in quotes.
fn escaped(text: &str) -> String {
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
