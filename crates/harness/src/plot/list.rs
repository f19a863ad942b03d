//! A picture as a list of what is drawn: writers and tests read the same one.

use taut_draw::colour::Rgb;
pub use taut_draw::flat::{ItemShape, Pixel, PixelBox, TextAnchor, text_bounds};

/// Size of all text but headings [px].
pub(super) const TEXT: f64 = 12.0;

/// One thing on a picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// What it looks like.
    pub shape: ItemShape,
    /// What it is there for.
    pub role: ItemRole,
    /// The curve that it belongs to; empty for none.
    pub label: String,
}

/// What an item is there for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ItemRole {
    /// Frame, ticks and grid.
    Axis,
    /// Text of a tick.
    Tick,
    /// A line to compare with, or its text.
    Reference,
    /// A curve that is there for comparison only.
    Context,
    /// The page's colour around a curve that matters.
    Halo,
    /// A curve that matters.
    Emphasis,
    /// What the numbers of a run did after it failed.
    Tail,
    /// A point of a curve.
    Point,
    /// A curve leaves the frame here.
    Edge,
    /// A run failed here.
    Cross,
    /// Name of a curve.
    Name,
    /// Line from a name to its curve.
    Leader,
    /// Heading of the picture or of a panel.
    Title,
    /// A square of the strip of claims.
    Claim,
    /// Text and page of the strip of claims.
    Strip,
}

impl Item {
    /// The rectangle that it covers.
    pub fn bounds(&self) -> PixelBox {
        self.shape.bounds()
    }
}

/// A solid line.
pub(super) fn line(points: Vec<Pixel>, width: f64, colour: Rgb, role: ItemRole) -> Item {
    Item { shape: ItemShape::Line { points, width, dash: &[], colour }, role, label: String::new() }
}

/// A line of text that is not a heading.
pub(super) fn text(
    words: &str,
    at: Pixel,
    anchor: TextAnchor,
    colour: Rgb,
    role: ItemRole,
) -> Item {
    let shape = ItemShape::Text {
        text: words.to_owned(),
        at,
        anchor,
        size: TEXT,
        bold: false,
        colour,
        halo: false,
    };
    Item { shape, role, label: String::new() }
}
