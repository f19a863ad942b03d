//! Pictures as SVG: tenths of pixels, real dashes, one group per curve.

use std::fmt::Write as _;

use taut_draw::{
    flat::{escaped, write_shape},
    svg::head,
};

use super::layout::Picture;

/// A picture as one `<svg>` element with a title and a description for readers who cannot see it.
pub(super) fn write(picture: &Picture, title: &str, description: &str) -> String {
    let mut out = head(picture.width, picture.height, title, description);
    let mut group = "";
    for item in &picture.items {
        if item.label != group {
            if !group.is_empty() {
                out += "</g>\n";
            }
            if !item.label.is_empty() {
                // Writing to a string cannot fail.
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
