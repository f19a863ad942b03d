//! Contacts of a half-space with convex solids: the corners of the feature that is lowest.

use taut_core::Vec3;

use crate::{
    feature::Feature,
    name::{name, sort},
    region::Point,
    solid::{RoundedSolid, Solid},
    transform::Transform,
};

/// A solid over the half-space below the local xy plane of `plane`, appended with `a` on the solid;
/// the normal points up. Only points closer than `reach` [m] are of interest.
pub(crate) fn over(
    solid: &RoundedSolid,
    place: &Transform,
    plane: &Transform,
    reach: f64,
    feature: &mut Feature,
    points: &mut Vec<Point>,
) -> Vec3 {
    let up = plane.axis(2);
    solid.core.meet(place, &-up, feature);
    for (corner, &id) in feature.corners.iter().zip(&feature.ids) {
        let a = corner - up * solid.round;
        let height = up.dot(&(a - plane.position));
        if height <= reach {
            let b = a - up * height;
            points.push(Point { a, b, gap: up.dot(&(a - b)), id: name(sort::CORNER_A, id, 0) });
        }
    }
    up
}
