//! Keys: rows of line and name, for pictures whose names do not stand at the ends of lines.

use taut_draw::text::{shortened, text_width};

use super::{
    Curve, CurveWeight, Panel,
    colour::INK,
    list::{Item, ItemRole, ItemShape, Pixel, TEXT, TextAnchor, text},
    panel::colour_of,
};

/// Height of a row [px].
const ROW: f64 = 18.0;
/// Below the last row [px].
const FOOT: f64 = 6.0;
/// Line and space before a name [px].
const SAMPLE: f64 = 30.0;

/// The curves that matter in some panels, each label once.
pub(super) fn curves(panels: &[Panel]) -> Vec<&Curve> {
    let mut shown: Vec<&Curve> = Vec::new();
    for curve in panels.iter().flat_map(|panel| &panel.curves) {
        let new = shown.iter().all(|other| other.label != curve.label);
        if curve.weight != CurveWeight::Context && new {
            shown.push(curve);
        }
    }
    shown
}

/// Whether two curves are drawn alike.
pub(super) fn look_alike(curves: &[&Curve]) -> bool {
    let look = |curve: &Curve| (colour_of(curve), curve.dash);
    curves.iter().enumerate().any(|(i, a)| curves[i + 1..].iter().any(|b| look(a) == look(b)))
}

/// Draws the rows from their upper left corner in a width, and tells how high they are [px].
pub(super) fn draw(curves: &[&Curve], (left, top): Pixel, width: f64) -> (Vec<Item>, f64) {
    let mut items = Vec::new();
    let (mut x, mut y) = (left, top);
    for curve in curves {
        let label = shortened(&curve.label, TEXT, width - SAMPLE);
        let wide = SAMPLE + text_width(&label, TEXT, false);
        if x > left && x + wide > left + width {
            (x, y) = (left, y + ROW);
        }
        let middle = y + ROW / 2.0;
        let shape = ItemShape::Line {
            points: vec![(x, middle), (x + SAMPLE - 6.0, middle)],
            width: 2.25,
            dash: curve.dash.pattern(),
            colour: colour_of(curve),
        };
        items.push(Item { shape, role: ItemRole::Leader, label: curve.label.clone() });
        let at = (x + SAMPLE, middle + 4.0);
        let name = text(&label, at, TextAnchor::Start, INK, ItemRole::Name);
        items.push(Item { label: curve.label.clone(), ..name });
        x += wide + 16.0;
    }
    let height = if curves.is_empty() { 0.0 } else { y - top + ROW + FOOT };
    (items, height)
}
