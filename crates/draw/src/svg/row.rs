//! The last row of a film by itself.

use std::fmt::Write as _;

use crate::{
    film::{card, card_place},
    flat::number,
};

/// Cuts the last row of cells out of a film that [`super::sheet`] wrote, as a picture without any text around it, its
/// cells in as many lines as give it the shape of a card; `None` where there are no cells.
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
    let &(_, _, width, height, _) = row.first()?;
    let (across, whole) = card(row.len(), (width, height));
    let (whole_width, whole_height) = (number(whole.0), number(whole.1));
    let mut out = String::new();
    // Writing to a string cannot fail, hence the results that are let go.
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{whole_width}\" \
         height=\"{whole_height}\" viewBox=\"0 0 {whole_width} {whole_height}\" \
         font-family=\"{}\" font-size=\"12\">",
        crate::flat::FONT_FAMILY
    );
    film.lines().filter(|line| line.starts_with("<radialGradient")).for_each(|line| {
        out.push_str(line);
        out.push('\n');
    });
    for (i, (.., start)) in row.iter().enumerate() {
        let end = film[*start..].find("</svg>\n")? + "</svg>\n".len();
        let (_, rest) = film[*start..start + end].split_once(" width=")?;
        let (x, y) = card_place(i, across, (width, height));
        let _ = write!(out, "<svg x=\"{}\" y=\"{}\" width={rest}", number(x), number(y));
    }
    Some(out + "</svg>\n")
}
