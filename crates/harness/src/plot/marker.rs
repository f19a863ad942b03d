//! Markers: shapes that tell methods apart without colour.

use super::{
    colour::{Marker, PAGE, Rgb},
    list::{ItemShape, Pixel},
};

/// A marker as an area.
pub(super) fn marker_shape(marker: Marker, (x, y): Pixel, r: f64, colour: Rgb) -> ItemShape {
    let polygon = |corners: &[(f64, f64)]| ItemShape::Polygon {
        points: corners.iter().map(|(dx, dy)| (x + r * dx, y + r * dy)).collect(),
        fill: Some(colour),
        stroke: Some((PAGE, 1.0)),
    };
    match marker {
        Marker::Circle => ItemShape::Circle {
            at: (x, y),
            radius: r,
            fill: Some(colour),
            stroke: Some((PAGE, 1.0)),
        },
        Marker::Ring => ItemShape::Circle {
            at: (x, y),
            radius: r,
            fill: Some(PAGE),
            stroke: Some((colour, 2.0)),
        },
        Marker::Square => polygon(&[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)]),
        Marker::TriangleUp => polygon(&[(-1.1, 0.9), (1.1, 0.9), (0.0, -1.1)]),
        Marker::TriangleDown => polygon(&[(-1.1, -0.9), (1.1, -0.9), (0.0, 1.1)]),
        Marker::Diamond => polygon(&[(-1.2, 0.0), (0.0, -1.2), (1.2, 0.0), (0.0, 1.2)]),
        Marker::Bar => polygon(&[(-1.3, -0.5), (1.3, -0.5), (1.3, 0.5), (-1.3, 0.5)]),
        Marker::Hexagon => polygon(&[
            (-1.1, 0.0),
            (-0.55, -0.95),
            (0.55, -0.95),
            (1.1, 0.0),
            (0.55, 0.95),
            (-0.55, 0.95),
        ]),
        Marker::Plus => polygon(&[
            (-0.4, -1.2),
            (0.4, -1.2),
            (0.4, -0.4),
            (1.2, -0.4),
            (1.2, 0.4),
            (0.4, 0.4),
            (0.4, 1.2),
            (-0.4, 1.2),
            (-0.4, 0.4),
            (-1.2, 0.4),
            (-1.2, -0.4),
            (-0.4, -0.4),
        ]),
    }
}
