//! Legends below panels: entries flow into columns of equal width.

use plotters::style::{FontDesc, FontFamily, FontStyle};

use super::style::Entry;

/// Length of the line drawn beside a label [px].
pub(super) const SAMPLE: i32 = 44;
/// Height of one row [px].
pub(super) const ROW: i32 = 19;
/// Text size [px].
pub(super) const TEXT: i32 = 12;
/// Space between sample and label, and between columns [px].
pub(super) const GAP: i32 = 8;

/// Where the entries of a legend go.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Legend {
    pub(super) entries: Vec<Entry>,
    columns: i32,
    column_width: i32,
}

impl Legend {
    /// Arranges `entries` in the given width [px].
    pub(super) fn new(entries: Vec<Entry>, width: i32) -> Self {
        let widest = entries.iter().map(|e| text_width(&e.label, TEXT, false)).max().unwrap_or(0);
        let column_width = SAMPLE + GAP + widest + 2 * GAP;
        let count = i32::try_from(entries.len()).unwrap_or(i32::MAX);
        let columns = (width / column_width).clamp(1, count.max(1));
        Self { entries, columns, column_width }
    }

    /// Height of all rows [px].
    pub(super) fn height(&self) -> i32 {
        let count = i32::try_from(self.entries.len()).unwrap_or(i32::MAX);
        (count + self.columns - 1) / self.columns * ROW
    }

    /// Upper left corner of entry `index`, relative to the legend's [px].
    pub(super) fn place(&self, index: usize) -> (i32, i32) {
        let index = i32::try_from(index).unwrap_or(0);
        (index % self.columns * self.column_width, index / self.columns * ROW)
    }
}

/// Width of a line of text [px].
pub(super) fn text_width(text: &str, size: i32, bold: bool) -> i32 {
    let style = if bold { FontStyle::Bold } else { FontStyle::Normal };
    let font = FontDesc::new(FontFamily::SansSerif, f64::from(size), style);
    // Without fonts nothing is drawn at all, so the fallback is never seen.
    font.layout_box(text).map_or(0, |((left, _), (right, _))| right - left)
}

/// Breaks text at blanks into lines of at most `width` [px].
pub(super) fn wrap(text: &str, size: i32, bold: bool, width: i32) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if text_width(&format!("{line} {word}"), size, bold) <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::style::CurveStyle;

    #[test]
    fn entries_stay_inside_the_width() {
        crate::plot::fonts().unwrap();
        let entry =
            |i| Entry { label: format!("a run called {i}"), style: CurveStyle::reference(0) };
        let legend = Legend::new((0..7).map(entry).collect(), 500);
        assert!(legend.columns >= 2);
        assert!((0..7).all(|i| legend.place(i).0 + legend.column_width <= 500));
        assert!((0..7).all(|i| legend.place(i).1 + ROW <= legend.height()));
        assert_ne!(legend.place(0), legend.place(1));
    }

    #[test]
    fn long_text_is_wrapped() {
        crate::plot::fonts().unwrap();
        let text = "constraint error of a swinging pendulum with a heavy end";
        let lines = wrap(text, 12, false, 150);
        assert!(lines.len() > 1);
        assert_eq!(lines.join(" "), text);
    }
}
