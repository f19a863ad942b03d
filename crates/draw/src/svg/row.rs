//! The last row of a film by itself.

use std::fmt::Write as _;

use crate::flat::number;

/// Cuts the last row of cells out of a film that [`super::sheet`] wrote, as a picture without any text around it;
/// `None` where there are no cells.
pub fn last_row(film: &str) -> Option<String> {
    let value = |line: &str, name: &str| -> Option<f64> {
        let (_, rest) = line.split_once(&format!(" {name}=\""))?;
        rest.split_once('"')?.0.parse().ok()
    };
    // Cells are elements of their own, each from a line that begins so to the line that closes it.
    let cells: Vec<(f64, f64, f64, f64, usize)> = film
        .match_indices("<svg x=\"")
        .filter_map(|(start, _)| {
            let line = film[start..].lines().next()?;
            let place = |name| value(line, name);
            Some((place("x")?, place("y")?, place("width")?, place("height")?, start))
        })
        .collect();
    let top = cells.iter().map(|cell| cell.1).fold(f64::NEG_INFINITY, f64::max);
    let row: Vec<_> = cells.into_iter().filter(|cell| cell.1 == top).collect();
    let (first, last) = (row.first()?, row.last()?);
    let (left, width, height) = (first.0, last.0 + last.2 - first.0, first.3);
    let (width, height) = (number(width), number(height));
    let mut out = String::new();
    // Writing to a string cannot fail, hence the result that is let go.
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"{} {} {width} {height}\" font-family=\"{}\" font-size=\"12\">",
        number(left),
        number(top),
        crate::flat::FONT_FAMILY
    );
    film.lines().filter(|line| line.starts_with("<radialGradient")).for_each(|line| {
        out.push_str(line);
        out.push('\n');
    });
    for (.., start) in &row {
        let end = film[*start..].find("</svg>\n")? + "</svg>\n".len();
        out.push_str(&film[*start..start + end]);
    }
    Some(out + "</svg>\n")
}
