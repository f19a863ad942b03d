//! Pictures as SVG: tenths of pixels, real dashes, one group per curve.

use std::fmt::Write as _;

use taut_draw::flat::{FONT_FAMILY, escaped, number, write_shape};

use super::layout::Picture;

/// A picture as one `<svg>` element with a title and a description for readers who cannot see it.
pub(super) fn write(picture: &Picture, title: &str, description: &str) -> String {
    let (width, height) = (number(picture.width), number(picture.height));
    // Writing to a string cannot fail, hence the results that are let go.
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
    let mut group = "";
    for item in &picture.items {
        if item.label != group {
            if !group.is_empty() {
                out += "</g>\n";
            }
            if !item.label.is_empty() {
                let _ = writeln!(out, "<g data-run=\"{}\">", escaped(&item.label));
            }
            group = &item.label;
        }
        write_shape(&item.shape, &mut out);
    }
    if !group.is_empty() {
        out += "</g>\n";
    }
    out + "</svg>\n"
}
