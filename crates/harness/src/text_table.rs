//! Aligned tables for a terminal.

/// Columns with their units, and rows of text.
#[derive(Clone, Debug, Default)]
pub(crate) struct TextTable {
    title: String,
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
}

#[derive(Clone, Debug)]
struct Column {
    name: String,
    unit: String,
    numeric: bool,
}

impl TextTable {
    /// An empty table with a line above it.
    pub(crate) fn titled(title: &str) -> Self {
        Self { title: title.to_owned(), ..Self::default() }
    }

    /// Whether it has no rows.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Adds a column of text.
    pub(crate) fn text(mut self, name: &str) -> Self {
        self.columns.push(Column { name: name.to_owned(), unit: String::new(), numeric: false });
        self
    }

    /// Adds a column of numbers in `unit`.
    pub(crate) fn number(mut self, name: &str, unit: &str) -> Self {
        self.columns.push(Column { name: name.to_owned(), unit: unit.to_owned(), numeric: true });
        self
    }

    /// Adds a row of as many cells as there are columns.
    pub(crate) fn push(&mut self, cells: Vec<String>) {
        debug_assert_eq!(cells.len(), self.columns.len());
        self.rows.push(cells);
    }

    /// The table with its title, a line of names, one of units where there are any, and the rows.
    pub(crate) fn render(&self) -> String {
        let names = self.columns.iter().map(|c| c.name.clone()).collect();
        let bracketed = |c: &Column| match c.unit.as_str() {
            "" => String::new(),
            unit => format!("[{unit}]"),
        };
        let units: Vec<String> = self.columns.iter().map(bracketed).collect();
        let mut lines = vec![names];
        if units.iter().any(|unit| !unit.is_empty()) {
            lines.push(units);
        }
        lines.extend(self.rows.iter().cloned());
        let widths: Vec<usize> = (0..self.columns.len())
            .map(|i| lines.iter().map(|line| line[i].chars().count()).max().unwrap_or(0))
            .collect();
        let mut out = String::new();
        if !self.title.is_empty() {
            out = format!("{}\n", self.title);
        }
        for line in &lines {
            let cells = line.iter().zip(&self.columns).zip(&widths);
            let padded = cells.map(|((cell, column), &width)| match column.numeric {
                true => format!("{cell:>width$}"),
                false => format!("{cell:<width$}"),
            });
            out += padded.collect::<Vec<_>>().join("  ").trim_end();
            out.push('\n');
        }
        out
    }
}

/// A number for reading: four significant digits; a dash for none.
pub(crate) fn short(value: Option<f64>) -> String {
    match value {
        None => "-".to_owned(),
        Some(0.0) => "0".to_owned(),
        Some(v) if (1e-2..1e5).contains(&v.abs()) => {
            let decimals = (3 - v.abs().log10().floor() as i32).max(0) as usize;
            format!("{v:.decimals$}")
        }
        Some(v) => format!("{v:.3e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_units_have_a_line() {
        let mut table = TextTable::default().text("label").number("error", "m");
        table.push(vec!["null".to_owned(), "0.5".to_owned()]);
        table.push(vec!["avbd-cpu".to_owned(), "1.250e-9".to_owned()]);
        let expected =
            "label        error\n               [m]\nnull           0.5\navbd-cpu  1.250e-9\n";
        assert_eq!(table.render(), expected);
    }

    #[test]
    fn numbers_are_short() {
        let cases = [
            (Some(0.0), "0"),
            (None, "-"),
            (Some(1234.56), "1235"),
            (Some(-0.0123456), "-0.01235"),
            (Some(1.0), "1.000"),
            (Some(1e-9), "1.000e-9"),
            (Some(f64::INFINITY), "inf"),
        ];
        for (value, expected) in cases {
            assert_eq!(short(value), expected);
        }
    }
}
