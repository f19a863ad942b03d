//! Faces, edges and corners of convex cores, as they lie in a common frame.

use taut_core::Vec3;

use crate::transform::Transform;

/// What a feature is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Outline {
    /// One corner.
    #[default]
    Point,
    /// Two corners.
    Segment,
    /// A convex loop of corners, counterclockwise about the normal.
    Polygon,
    /// A disc; the corners are points on its rim.
    Disc,
}

/// One feature of a core.
#[derive(Clone, Debug, Default)]
pub(crate) struct Feature {
    /// What it is.
    pub(crate) outline: Outline,
    /// Corners [m].
    pub(crate) corners: Vec<Vec3>,
    /// A number for each corner that no other corner of the core has.
    pub(crate) ids: Vec<u32>,
    /// Outward unit normal of a polygon or disc.
    pub(crate) normal: Vec3,
    /// Centre of a disc [m].
    pub(crate) centre: Vec3,
    /// Radius of a disc [m].
    pub(crate) radius: f64,
}

impl Feature {
    /// Starts over.
    pub(crate) fn clear(&mut self, outline: Outline) {
        self.outline = outline;
        self.corners.clear();
        self.ids.clear();
    }

    /// Adds a corner.
    pub(crate) fn push(&mut self, corner: Vec3, id: u32) {
        self.corners.push(corner);
        self.ids.push(id);
    }

    /// Becomes a line parallel to the local z axis, `across` from it.
    pub(crate) fn axis_line(&mut self, place: &Transform, half: f64, across: &Vec3) {
        self.clear(Outline::Segment);
        let along = Vec3::new(0.0, 0.0, half);
        self.push(place.point(&(across - along)), 0);
        self.push(place.point(&(across + along)), 1);
    }
}
