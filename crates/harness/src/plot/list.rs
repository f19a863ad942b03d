//! A picture as a list of what is drawn: writers and tests read the same one.

use super::{colour::Rgb, text::text_width};

/// A point of the picture [px], from its upper left corner.
pub type Pixel = (f64, f64);

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

impl Item {
    /// The rectangle that it covers.
    pub fn bounds(&self) -> PixelBox {
        match &self.shape {
            ItemShape::Line { points, width, .. } => PixelBox::around(points).grown(width / 2.0),
            ItemShape::Polygon { points, .. } => PixelBox::around(points),
            ItemShape::Circle { at, radius, .. } => PixelBox::around(&[*at]).grown(*radius),
            ItemShape::Text { text, at, anchor, size, bold, .. } => {
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
