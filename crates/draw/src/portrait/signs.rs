//! Signs in a picture: what has become of its run, and what has left it.

use taut_core::{Scene, Vec3, scene::Motion};

use super::Exposure;
use crate::{
    colour::FAILURE,
    flat::{ItemShape, Pixel, PixelBox, TextAnchor},
    list::DrawList,
};

/// Size of the text of signs [px].
const TEXT: f64 = 12.0;
/// Between a sign and the frame [px].
const INSET: f64 = 5.0;
/// From the middle of a triangle's base to its tip [px].
const TIP: f64 = 8.0;

/// Where something is that is not in the picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum WayOut {
    Below,
    Left,
    Right,
    Above,
    Behind,
}

/// Adds all signs, none over another.
pub(super) fn add(list: &mut DrawList, scene: &Scene, moment: &Exposure<'_>) {
    let mut taken: Vec<PixelBox> = Vec::new();
    if let Some(words) = moment.failed {
        let at = (INSET + 1.0, INSET + 0.8 * TEXT);
        let sign = text(&format!("✕ {words}"), at, TextAnchor::Start, true);
        taken.push(sign.bounds());
        list.tags.push(sign);
    }
    let mut gone: Vec<(WayOut, f64, Pixel)> = Vec::new();
    let bodies = scene.bodies.iter().zip(&moment.state.bodies);
    let bodies = bodies.filter(|(body, _)| body.motion != Motion::Static);
    let places = bodies.map(|(_, motion)| motion.position);
    for place in places.chain(moment.state.particles.iter().map(|p| p.position)) {
        let Some(exit) = exit(list, &place) else { continue };
        match gone.iter_mut().find(|known| known.0 == exit.0) {
            Some(known) if known.1 < exit.1 => *known = exit,
            Some(_) => {}
            None => gone.push(exit),
        }
    }
    gone.sort_by_key(|exit| exit.0);
    for (exit, distance, at) in gone {
        point_out(list, exit, distance, at, &mut taken);
    }
}

/// On which side of the picture a point is, how far beyond its edge [m], and where on the edge that is.
fn exit(list: &DrawList, point: &Vec3) -> Option<(WayOut, f64, Pixel)> {
    let lens = list.lens();
    let seen = lens.project(point);
    let (width, height) = list.size;
    let room = 2.0 * INSET;
    let on_edge = |(x, y): Pixel| (x.clamp(room, width - room), y.clamp(room, height - room));
    if lens.distance.is_some() && seen.depth <= 0.0 {
        return Some((WayOut::Behind, -seen.depth, (0.5 * width, height)));
    }
    let (x, y) = seen.at;
    let beyond = [
        (WayOut::Below, y - height),
        (WayOut::Left, -x),
        (WayOut::Right, x - width),
        (WayOut::Above, -y),
    ];
    let (exit, pixels) = beyond.into_iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    (pixels > 0.0).then(|| (exit, pixels / seen.scale, on_edge(seen.at)))
}

/// A triangle on the edge, with how far away what left there is.
fn point_out(
    list: &mut DrawList,
    exit: WayOut,
    distance: f64,
    at: Pixel,
    taken: &mut Vec<PixelBox>,
) {
    let (width, height) = list.size;
    let triangle = |x: f64, y: f64, dx: f64, dy: f64| ItemShape::Polygon {
        points: vec![
            (x + TIP * dx, y + TIP * dy),
            (x - 0.6 * TIP * dy, y + 0.6 * TIP * dx),
            (x + 0.6 * TIP * dy, y - 0.6 * TIP * dx),
        ],
        fill: Some(FAILURE),
        stroke: None,
    };
    let edge = TIP + 3.0;
    let (sign, word) = match exit {
        WayOut::Below => (triangle(at.0, height - edge, 0.0, 1.0), "below"),
        WayOut::Behind => (triangle(at.0, height - edge, 0.0, 1.0), "behind"),
        WayOut::Above => (triangle(at.0, edge, 0.0, -1.0), "above"),
        WayOut::Left => (triangle(edge, at.1, -1.0, 0.0), "left"),
        WayOut::Right => (triangle(width - edge, at.1, 1.0, 0.0), "right"),
    };
    let (sign, bounds) = match place_sign(&sign, exit, list.size, taken) {
        Some(placed) => placed,
        None => return,
    };
    taken.push(bounds.grown(1.0));
    list.tags.push(sign);
    let words = format!("{} {word}", length(distance));
    let picture = PixelBox { left: 3.0, top: 3.0, right: width - 3.0, bottom: height - 3.0 };
    // Beside a triangle that touches the lower edge the text stays inside too.
    let base = 0.5 * (bounds.top + bounds.bottom) + 0.36 * TEXT;
    let base = base.clamp(3.0 + 0.8 * TEXT, height - 3.0 - 0.2 * TEXT);
    let candidates = [
        ((bounds.right + 4.0, base), TextAnchor::Start),
        ((bounds.left - 4.0, base), TextAnchor::End),
        ((at.0, bounds.top - 5.0), TextAnchor::Middle),
        ((at.0, bounds.bottom + TEXT), TextAnchor::Middle),
        ((at.0, bounds.top - 20.0), TextAnchor::Middle),
    ];
    let fits = |sign: &ItemShape| {
        let own = sign.bounds();
        picture.contains((own.left, own.top))
            && picture.contains((own.right, own.bottom))
            && !taken.iter().any(|other| other.overlaps(&own))
    };
    let signs = candidates.into_iter().map(|(at, anchor)| text(&words, at, anchor, false));
    if let Some(sign) = signs.into_iter().find(fits) {
        taken.push(sign.bounds().grown(1.0));
        list.tags.push(sign);
    }
}

/// The triangle itself, moved along its edge until it covers no other sign.
fn place_sign(
    sign: &ItemShape,
    exit: WayOut,
    (width, height): (f64, f64),
    taken: &[PixelBox],
) -> Option<(ItemShape, PixelBox)> {
    let ItemShape::Polygon { points, fill, stroke } = sign else { return None };
    let along_x = !matches!(exit, WayOut::Left | WayOut::Right);
    let moves = (0..40).flat_map(|i| [f64::from(i) * 4.0, f64::from(i) * -4.0]);
    for shift in moves {
        let (dx, dy) = if along_x { (shift, 0.0) } else { (0.0, shift) };
        let points: Vec<Pixel> = points.iter().map(|(x, y)| (x + dx, y + dy)).collect();
        let bounds = PixelBox::around(&points);
        let inside = bounds.left >= 1.0
            && bounds.top >= 1.0
            && bounds.right <= width - 1.0
            && bounds.bottom <= height - 1.0;
        if inside && !taken.iter().any(|other| other.overlaps(&bounds)) {
            let moved = ItemShape::Polygon { points, fill: *fill, stroke: *stroke };
            return Some((moved, bounds));
        }
    }
    None
}

fn text(words: &str, at: Pixel, anchor: TextAnchor, bold: bool) -> ItemShape {
    ItemShape::Text {
        text: words.to_owned(),
        at,
        anchor,
        size: TEXT,
        bold,
        colour: FAILURE,
        halo: true,
    }
}

/// A length with two digits and its unit.
pub(crate) fn length(metres: f64) -> String {
    let (value, unit) = match metres {
        m if m >= 1e6 => return format!("10{} m", superscript(m.log10().floor() as i32)),
        m if m >= 9_950.0 => (m / 1e3, "km"),
        m if m >= 0.995 => (m, "m"),
        m if m >= 9.95e-3 => (m * 1e2, "cm"),
        m => (m * 1e3, "mm"),
    };
    let digits = if value < 9.95 { 1 } else { 0 };
    format!("{value:.digits$} {unit}")
}

fn superscript(number: i32) -> String {
    let digit = |c: char| match c {
        '-' => '⁻',
        c => ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'][c as usize - '0' as usize],
    };
    number.to_string().chars().map(digit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_have_two_digits() {
        let written = [92.0, 1.23, 0.0456, 0.00071, 123_456.0, 3.2e9].map(length);
        assert_eq!(written, ["92 m", "1.2 m", "4.6 cm", "0.7 mm", "123 km", "10⁹ m"]);
    }
}
