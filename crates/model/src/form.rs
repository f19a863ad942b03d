//! How the rows of an element are computed, those that belong together as one block.

use taut_core::constraint::RowKind;

/// A block of rows, or a single one. Their values and derivatives are those of [`taut_core::constraint`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Both anchors together: `Point(0..3)`.
    Point,
    /// B's anchor on A's x axis: `Slide(1)`, `Slide(2)`.
    Line,
    /// Parallel x axes: `Dot(1, 0)`, `Dot(2, 0)`.
    Axis,
    /// Parallel bases: `Twist(0..3)`.
    Twist,
    /// The rotation vector between the bases: `Turn(0..3)`.
    Turn,
    /// A single row.
    Row(RowKind),
}

impl Form {
    /// The blocks that rows make which follow each other.
    pub fn gather(rows: &[RowKind]) -> Vec<Self> {
        let mut out = vec![];
        let mut rest = rows;
        while let Some(&first) = rest.first() {
            let blocks = [Self::Point, Self::Line, Self::Axis, Self::Twist, Self::Turn];
            let whole = |form: &Self| {
                rest.len() >= form.rows() && form.kinds().eq(rest[..form.rows()].iter().copied())
            };
            let form = blocks.into_iter().find(whole).unwrap_or(Self::Row(first));
            rest = &rest[form.rows()..];
            out.push(form);
        }
        out
    }

    /// How many rows it has.
    #[inline]
    pub fn rows(self) -> usize {
        match self {
            Self::Point | Self::Twist | Self::Turn => 3,
            Self::Line | Self::Axis => 2,
            Self::Row(_) => 1,
        }
    }

    /// One of its rows.
    #[inline]
    pub fn row(self, i: usize) -> RowKind {
        match self {
            Self::Point => RowKind::Point(i),
            Self::Line => RowKind::Slide(1 + i),
            Self::Axis => RowKind::Dot(1 + i, 0),
            Self::Twist => RowKind::Twist(i),
            Self::Turn => RowKind::Turn(i),
            Self::Row(row) => row,
        }
    }

    /// Its rows in their order.
    pub fn kinds(self) -> impl ExactSizeIterator<Item = RowKind> {
        (0..self.rows()).map(move |i| self.row(i))
    }

    /// Whether its rows are measured in radians.
    #[inline]
    pub fn is_angular(self) -> bool {
        self.row(0).is_angular()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_belong_together_make_blocks() {
        use RowKind::{Distance, Dot, Point, Slide, Twist};
        let hinge = [Point(0), Point(1), Point(2), Dot(1, 0), Dot(2, 0)];
        assert_eq!(Form::gather(&hinge), [Form::Point, Form::Axis]);
        let prismatic = [Slide(1), Slide(2), Twist(0), Twist(1), Twist(2)];
        assert_eq!(Form::gather(&prismatic), [Form::Line, Form::Twist]);
        let single = [Dot(0, 1), Slide(1), Distance];
        assert_eq!(Form::gather(&single), single.map(Form::Row));
        let back: Vec<_> = Form::gather(&hinge).into_iter().flat_map(Form::kinds).collect();
        assert_eq!(back, hinge);
    }
}
