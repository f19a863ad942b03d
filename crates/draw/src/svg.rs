//! Pictures as SVG: faces culled, sorted and flatly lit, with coordinates to a tenth of a pixel, so that equal lists
//! give equal bytes.

mod piece;
mod row;

use std::{collections::BTreeMap, fmt::Write as _};

use taut_core::Vec3;

use crate::{
    camera::{Lens, SeenPoint},
    colour::{INK, Rgb, hex, lit},
    flat::{FONT_FAMILY, Pixel, escaped, number, path, write_shape},
    list::{BodyLook, DrawList, Layer, Sheet, SpaceDot, SpaceLine, TICK},
    order::painting_order,
};

#[cfg(feature = "gpu")]
pub(crate) use self::piece::thin_lines;
use self::piece::{Paint, pieces, thin_axis};
pub use self::row::last_row;

/// Most faces that are drawn as SVG; pictures of more are for a renderer of pixels.
pub const FACES_MAX: usize = 4_000;

/// Width of outlines [px].
const OUTLINE: f64 = 0.7;

/// Width of the outlines of a reference [px].
const GHOST_WIDTH: f64 = 1.2;

/// A film as one `<svg>` element, with its title and description for readers who cannot see it.
pub fn sheet(sheet: &Sheet) -> String {
    let mut out = head(sheet.width, sheet.height, &sheet.title, &sheet.description);
    let mut balls = Balls::default();
    let mut body = String::new();
    // Writing to a string cannot fail, here and below, hence the results that are let go.
    for (at, list) in &sheet.cells {
        cell(list, *at, &mut balls, &mut body);
    }
    sheet.shapes.iter().for_each(|shape| write_shape(shape, &mut body));
    balls.define(&mut out);
    out + &body + "</svg>\n"
}

/// One picture as an `<svg>` element.
pub fn picture(list: &DrawList, title: &str, description: &str) -> String {
    let mut out = head(list.size.0, list.size.1, title, description);
    let (mut balls, mut body) = (Balls::default(), String::new());
    cell(list, (0.0, 0.0), &mut balls, &mut body);
    balls.define(&mut out);
    out + &body + "</svg>\n"
}

/// The start of an `<svg>` element of a size [px], with a title and a description for readers who cannot see it, on
/// white.
pub fn head(width: f64, height: f64, title: &str, description: &str) -> String {
    let (width, height) = (number(width), number(height));
    let mut out = String::new();
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"{FONT_FAMILY}\" font-size=\"12\" role=\"img\">"
    );
    let _ = writeln!(out, "<title>{}</title>", escaped(title));
    if !description.is_empty() {
        let _ = writeln!(out, "<desc>{}</desc>", escaped(description));
    }
    let _ = writeln!(out, "<rect width=\"{width}\" height=\"{height}\" fill=\"#FFFFFF\"/>");
    out
}

/// Colours of balls, each with a gradient that stands for a lit sphere.
#[derive(Default)]
struct Balls(BTreeMap<Rgb, usize>);

impl Balls {
    fn number(&mut self, colour: Rgb) -> usize {
        let next = self.0.len();
        *self.0.entry(colour).or_insert(next)
    }

    /// Light falls off with the distance from where the sun stands overhead, at (-0.36, 0.80) radii in the picture: at
    /// 0, 30, 61 (towards the eye) and 90 degrees from it.
    fn define(&self, out: &mut String) {
        for (colour, number) in &self.0 {
            let _ =
                write!(out, "<radialGradient id=\"b{number}\" cx=\"0.32\" cy=\"0.1\" r=\"0.68\">");
            for (offset, facing) in [(0.0, 1.0), (0.26, 0.87), (0.65, 0.48), (1.0, 0.0)] {
                let shade = hex(lit(*colour, crate::colour::light(facing)));
                let _ = write!(out, "<stop offset=\"{offset}\" stop-color=\"{shade}\"/>");
            }
            out.push_str("</radialGradient>\n");
        }
    }
}

/// One picture with its upper left corner at a place. What is outside is cut off by the element.
fn cell(list: &DrawList, (x, y): Pixel, balls: &mut Balls, out: &mut String) {
    let lens = list.lens();
    let (width, height) = (number(list.size.0), number(list.size.1));
    let _ = writeln!(
        out,
        "<svg x=\"{}\" y=\"{}\" width=\"{width}\" height=\"{height}\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"{}\"/>",
        number(x),
        number(y),
        hex(list.background)
    );
    lines(list, &lens, Layer::Below, out);
    outlines(list, &lens, out);
    bodies(list, &lens, balls, out);
    lines(list, &lens, Layer::Above, out);
    dots(list, &lens, out);
    if list.hatched {
        hatching(list.size, out);
    }
    list.tags.iter().for_each(|tag| write_shape(tag, out));
    if let Some((colour, stroke)) = list.border {
        let inner = [list.size.0, list.size.1].map(|length| number(length - stroke));
        let _ = writeln!(
            out,
            "<rect x=\"{0}\" y=\"{0}\" width=\"{1}\" height=\"{2}\" fill=\"none\" stroke=\"{3}\" \
             stroke-width=\"{stroke}\"/>",
            stroke / 2.0,
            inner[0],
            inner[1],
            hex(colour)
        );
    }
    out.push_str("</svg>\n");
}

/// Everything that is hidden by what is nearer.
fn bodies(list: &DrawList, lens: &Lens, balls: &mut Balls, out: &mut String) {
    let (painted, paints): (Vec<_>, Vec<_>) = pieces(list, lens).into_iter().unzip();
    if painted.is_empty() {
        return;
    }
    // Outlines are darker than what they surround, whatever its colour.
    let _ = writeln!(
        out,
        "<g stroke=\"#000\" stroke-opacity=\"0.45\" stroke-width=\"{OUTLINE}\" \
         stroke-linejoin=\"round\">"
    );
    let mut strokes = Strokes::default();
    for place in painting_order(&painted, lens) {
        if let Paint::Lines(lines) = &paints[place] {
            for (points, colour, width) in lines {
                strokes.add(path(points), *colour, *width, " stroke-opacity=\"1\"", out);
            }
            continue;
        }
        strokes.flush(out);
        paint(&paints[place], balls, out);
    }
    strokes.flush(out);
    out.push_str("</g>\n");
}

/// Lines of one style, gathered into one element.
#[derive(Default)]
struct Strokes {
    path: String,
    style: String,
}

impl Strokes {
    /// Adds a line after those before it; `more` are further attributes.
    fn add(&mut self, path: String, colour: Rgb, width: f64, more: &str, out: &mut String) {
        let style =
            format!("fill=\"none\" stroke=\"{}\" stroke-width=\"{width}\"{more}", hex(colour));
        if style != self.style {
            self.flush(out);
            self.style = style;
        }
        self.path += &path;
    }

    fn flush(&mut self, out: &mut String) {
        if !self.path.is_empty() {
            let _ = writeln!(out, "<path d=\"{}\" {}/>", self.path, self.style);
        }
        *self = Self::default();
    }
}

fn paint(paint: &Paint, balls: &mut Balls, out: &mut String) {
    match paint {
        Paint::Faces(faces) => {
            for (points, colour) in faces {
                let _ = writeln!(out, "<path d=\"{}Z\" fill=\"{}\"/>", path(points), hex(*colour));
            }
        }
        Paint::Smooth { outline, base, faces } => {
            let _ = writeln!(out, "<path d=\"{}Z\" fill=\"{}\"/>", path(outline), hex(*base));
            if !faces.is_empty() {
                out.push_str("<g stroke=\"none\">");
            }
            for (outlines, colour) in faces {
                let whole: String = outlines.iter().map(|points| path(points) + "Z").collect();
                let _ = write!(out, "<path d=\"{whole}\" fill=\"{}\"/>", hex(*colour));
            }
            if !faces.is_empty() {
                out.push_str("</g>\n");
            }
        }
        Paint::Ball { at, radii, turn_deg, colour } => {
            let fill = format!("fill=\"url(#b{})\"", balls.number(*colour));
            let (x, y) = (number(at.0), number(at.1));
            let _ = if (radii.0 - radii.1).abs() < 0.05 {
                writeln!(out, "<circle cx=\"{x}\" cy=\"{y}\" r=\"{}\" {fill}/>", number(radii.0))
            } else {
                writeln!(
                    out,
                    "<ellipse cx=\"{x}\" cy=\"{y}\" rx=\"{}\" ry=\"{}\" \
                     transform=\"rotate({} {x} {y})\" {fill}/>",
                    number(radii.0),
                    number(radii.1),
                    number(*turn_deg)
                )
            };
        }
        // Gathered by the caller.
        Paint::Lines(_) => {}
    }
}

/// Lines of a layer, clipped to what is in front of the eye.
fn lines(list: &DrawList, lens: &Lens, layer: Layer, out: &mut String) {
    let mut strokes = Strokes::default();
    for line in list.lines.iter().filter(|line| line.layer == layer) {
        let lengths: Vec<String> = line.dash.iter().map(|length| number(*length)).collect();
        let dash = match &lengths[..] {
            [] => String::new(),
            lengths => format!(" stroke-dasharray=\"{}\"", lengths.join(" ")),
        };
        for points in visible(line, lens) {
            strokes.add(path(&points), line.colour, line.width, &dash, out);
        }
    }
    strokes.flush(out);
}

/// Stretches of a line that are in the picture, in pixels.
fn visible(line: &SpaceLine, lens: &Lens) -> Vec<Vec<Pixel>> {
    let mut stretches: Vec<Vec<Pixel>> = Vec::new();
    let mut last: Option<Pixel> = None;
    for pair in line.points.windows(2) {
        let Some([a, b]) = segment(pair, lens) else {
            last = None;
            continue;
        };
        match stretches.last_mut() {
            Some(stretch) if last == Some(a) => stretch.push(b),
            _ => stretches.push(vec![a, b]),
        }
        last = Some(b);
    }
    stretches
}

/// A segment as it is seen, cut off just before the eye and a picture's size beyond the edges, so that numbers stay
/// small.
fn segment(pair: &[Vec3], lens: &Lens) -> Option<[Pixel; 2]> {
    let near = lens.distance.map_or(f64::NEG_INFINITY, |distance| 1e-3 * distance);
    let ends = [lens.project(&pair[0]), lens.project(&pair[1])];
    let ends = match ends.map(|end| end.depth > near) {
        [true, true] => ends,
        [false, false] => return None,
        [first, _] => {
            let (inside, outside) = if first { (0, 1) } else { (1, 0) };
            let share = (ends[inside].depth - near) / (ends[inside].depth - ends[outside].depth);
            let cut = pair[inside] + (pair[outside] - pair[inside]) * (0.999 * share);
            let cut = lens.project(&cut);
            if first { [ends[0], cut] } else { [cut, ends[1]] }
        }
    };
    let (width, height) = lens.size;
    let inside: [&dyn Fn(&Pixel) -> f64; 4] =
        [&|p| p.0 + width, &|p| 2.0 * width - p.0, &|p| p.1 + height, &|p| 2.0 * height - p.1];
    let points = ends.map(|end| end.at).to_vec();
    let points = inside.iter().fold(points, |points, side| crate::order::half(&points, side));
    <[Pixel; 2]>::try_from(points).ok()
}

/// Outlines of what is drawn by its outline only.
fn outlines(list: &DrawList, lens: &Lens, out: &mut String) {
    let mut strokes = Strokes::default();
    for instance in list.instances.iter().filter(|instance| instance.look == BodyLook::Outlined) {
        if let Some(outline) = piece::outline(list, instance, lens) {
            let closed = match thin_axis(&outline) {
                Some(axis) => path(&axis),
                None => path(&outline) + "Z",
            };
            strokes.add(closed, instance.colour, GHOST_WIDTH, "", out);
        }
    }
    strokes.flush(out);
}

/// Marked points, as lines of no length with round ends, and the ticks of their normals.
fn dots(list: &DrawList, lens: &Lens, out: &mut String) {
    let seen = list.dots.iter().map(|dot| (dot, lens.project(&dot.at)));
    let seen: Vec<_> = seen.filter(|(_, p)| lens.distance.is_none() || p.depth > 0.0).collect();
    let mut strokes = Strokes::default();
    for (SpaceDot { colour, normal, .. }, SeenPoint { at, .. }) in &seen {
        if let Some(normal) = normal {
            let turned = lens.turned(normal);
            let end = (at.0 + TICK * turned.x, at.1 - TICK * turned.y);
            strokes.add(path(&[*at, end]), *colour, 1.0, "", out);
        }
    }
    for (SpaceDot { colour, radius, .. }, SeenPoint { at, .. }) in &seen {
        let round = " stroke-linecap=\"round\"";
        strokes.add(path(&[*at]), *colour, 2.0 * radius, round, out);
    }
    strokes.flush(out);
}

/// Lines from lower left to upper right over the whole picture.
fn hatching((width, height): (f64, f64), out: &mut String) {
    let count = ((width + height) / 8.0) as u32;
    let lines: String = (1..=count)
        .map(|i| {
            let x = 8.0 * f64::from(i);
            format!("M{} 0L{} {}", number(x), number(x - height), number(height))
        })
        .collect();
    let _ = writeln!(
        out,
        "<path d=\"{lines}\" stroke=\"{}\" stroke-width=\"0.5\" opacity=\"0.35\"/>",
        hex(INK)
    );
}
