//! Convex solids: a core, and how far it is rounded. Each core is a file of `solid`.

mod capsule;
mod cuboid;
mod cylinder;
mod hull;
mod sphere;
mod triangle;

use taut_core::{Vec3, scene::Shape};

use crate::{feature::Feature, nearest::Nearest, transform::Transform};
pub(crate) use capsule::Segment;
pub(crate) use cuboid::Cuboid;
pub(crate) use cylinder::Cylinder;
pub(crate) use hull::Hull;
pub(crate) use sphere::Centre;
pub(crate) use triangle::{Facet, normal};

/// Lines and edges whose slope is at most this, as a sine, count as level: about three degrees.
const LEVEL: f64 = 0.05;

/// A convex set in local coordinates, as the search for contacts asks it.
pub(crate) trait Solid {
    /// Whether its surface is not made of faces.
    const CURVED: bool = false;

    /// Its point that is farthest along a direction [m].
    fn support(&self, direction: &Vec3) -> Vec3;

    /// Makes `feature` that which meets a plane coming from `direction` (of unit length, in the frame of
    /// `place`) first, with everything that could touch when the plane tilts a little.
    fn meet(&self, place: &Transform, direction: &Vec3, feature: &mut Feature);

    /// Makes `feature` the face with this index, as counted by [`Self::faces`]; `direction` is where the
    /// other body is.
    fn face(&self, place: &Transform, _index: usize, direction: &Vec3, feature: &mut Feature) {
        self.meet(place, direction, feature);
    }

    /// Calls `visit` with the index, the local outward normal and the offset [m] of each flat face.
    fn faces(&self, _visit: impl FnMut(usize, Vec3, f64)) {}

    /// The straight line on the surface that meets a plane coming from `direction` first, if there is one
    /// that is nearly level with the plane: its ends [m] and a number for it.
    fn edge(&self, place: &Transform, direction: &Vec3) -> Option<([Vec3; 2], u32)>;

    /// Calls `visit` with the ends of each straight edge [m], a number for it, and of what is round about a line or
    /// a point with that.
    fn edges(&self, _visit: impl FnMut([Vec3; 2], u32)) {}

    /// The surface point nearest to a local point.
    fn nearest(&self, point: &Vec3) -> Nearest;

    /// The point rounded by `round` [m] that is farthest along `towards`, of those that are nearest to the
    /// point `core` of this set.
    fn rounded(&self, _place: &Transform, core: &Vec3, towards: &Vec3, round: f64) -> Vec3 {
        core + towards * round
    }

    /// Radius of the sphere around it, from the half extents of the box around it [m].
    fn reach(&self, half: &Vec3) -> f64 {
        half.norm()
    }

    /// Half extents of the box with the axes of the frame of `place` [m], where it is tighter than the
    /// turned box around the set and centred.
    fn tight(&self, _place: &Transform) -> Option<Vec3> {
        None
    }
}

/// A convex shape without its rounding: spheres and capsules are points and segments with a radius.
#[derive(Clone, Debug)]
pub(crate) enum Core {
    Centre(Centre),
    Segment(Segment),
    Cuboid(Cuboid),
    Cylinder(Cylinder),
    Hull(Hull),
    Facet(Facet),
}

/// Asks whichever core it is.
macro_rules! ask {
    ($core:expr, $solid:ident => $answer:expr) => {
        match $core {
            Core::Centre($solid) => $answer,
            Core::Segment($solid) => $answer,
            Core::Cuboid($solid) => $answer,
            Core::Cylinder($solid) => $answer,
            Core::Hull($solid) => $answer,
            Core::Facet($solid) => $answer,
        }
    };
}

impl Core {
    /// Whether its surface is not made of faces.
    pub(crate) fn is_curved(&self) -> bool {
        fn curved<S: Solid>(_: &S) -> bool {
            S::CURVED
        }
        ask!(self, solid => curved(solid))
    }
}

impl Solid for Core {
    fn support(&self, direction: &Vec3) -> Vec3 {
        ask!(self, solid => solid.support(direction))
    }

    fn meet(&self, place: &Transform, direction: &Vec3, feature: &mut Feature) {
        ask!(self, solid => solid.meet(place, direction, feature));
    }

    fn face(&self, place: &Transform, index: usize, direction: &Vec3, feature: &mut Feature) {
        ask!(self, solid => solid.face(place, index, direction, feature));
    }

    fn faces(&self, visit: impl FnMut(usize, Vec3, f64)) {
        ask!(self, solid => solid.faces(visit));
    }

    fn edge(&self, place: &Transform, direction: &Vec3) -> Option<([Vec3; 2], u32)> {
        ask!(self, solid => solid.edge(place, direction))
    }

    fn edges(&self, visit: impl FnMut([Vec3; 2], u32)) {
        ask!(self, solid => solid.edges(visit));
    }

    fn nearest(&self, point: &Vec3) -> Nearest {
        ask!(self, solid => solid.nearest(point))
    }

    fn rounded(&self, place: &Transform, core: &Vec3, towards: &Vec3, round: f64) -> Vec3 {
        ask!(self, solid => solid.rounded(place, core, towards, round))
    }

    fn reach(&self, half: &Vec3) -> f64 {
        ask!(self, solid => solid.reach(half))
    }

    fn tight(&self, place: &Transform) -> Option<Vec3> {
        ask!(self, solid => solid.tight(place))
    }
}

/// All points within `round` of a core.
#[derive(Clone, Debug)]
pub(crate) struct RoundedSolid {
    /// What is rounded.
    pub(crate) core: Core,
    /// Radius of the rounding [m].
    pub(crate) round: f64,
    /// Smallest extent [m]; tolerances are shares of it.
    pub(crate) size: f64,
}

impl RoundedSolid {
    /// A convex shape; none where it has no volume.
    pub(crate) fn new(shape: &Shape) -> Option<Self> {
        let (core, round) = match shape {
            Shape::Box { half } => (Core::Cuboid(Cuboid { half: *half }), 0.0),
            Shape::Sphere { radius } => (Core::Centre(Centre), *radius),
            Shape::Capsule { radius, half_length } => {
                (Core::Segment(Segment { half: *half_length }), *radius)
            }
            Shape::Cylinder { radius, half_length } => {
                (Core::Cylinder(Cylinder { radius: *radius, half: *half_length }), 0.0)
            }
            Shape::Hull { points } => (Core::Hull(Hull::new(points)?), 0.0),
            Shape::Compound { .. } | Shape::HalfSpace | Shape::Mesh { .. } => return None,
        };
        Some(Self { core, round, size: shape.extent().min() })
    }

    /// The surface point that is farthest along `towards`, of those nearest to a point of the core.
    pub(crate) fn surface(&self, place: &Transform, core: &Vec3, towards: &Vec3) -> Vec3 {
        self.core.rounded(place, core, towards, self.round)
    }
}

/// `extent` with the sign of `x`.
fn side(x: f64, extent: f64) -> f64 {
    if x < 0.0 { -extent } else { extent }
}

/// A line of the frame of `place` from its middle and its half, both local [m].
fn line(place: &Transform, middle: Vec3, along: Vec3) -> [Vec3; 2] {
    [place.point(&(middle - along)), place.point(&(middle + along))]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn vector(range: f64) -> impl Strategy<Value = Vec3> {
        [-range..range, -range..range, -range..range].prop_map(Vec3::from)
    }

    fn hull_of_box(half: &Vec3) -> Hull {
        let side = |bit: u32, i: u32| if i >> bit & 1 == 1 { 1.0 } else { -1.0 };
        let corner = |i| half.component_mul(&Vec3::new(side(0, i), side(1, i), side(2, i)));
        Hull::new(&(0..8).map(corner).collect::<Vec<_>>()).unwrap()
    }

    proptest! {
        /// Box and hull are two ways to the same answer; the closed form of the box is obvious.
        #[test]
        fn hulls_agree_with_boxes(point in vector(2.0)) {
            let half = Vec3::new(0.5, 0.7, 1.0);
            let (a, b) = (Cuboid { half }.nearest(&point), hull_of_box(&half).nearest(&point));
            prop_assert!((a.distance - b.distance).abs() < 1e-12);
            prop_assert!((a.surface - b.surface).norm() < 1e-12 || a.distance < 0.0);
        }

        #[test]
        fn distance_is_along_the_normal(point in vector(2.0)) {
            let cores = [
                Core::Segment(Segment { half: 0.6 }),
                Core::Cuboid(Cuboid { half: Vec3::new(0.3, 0.8, 0.5) }),
                Core::Cylinder(Cylinder { radius: 0.4, half: 0.9 }),
                Core::Facet(Facet([Vec3::x(), Vec3::y(), Vec3::z()])),
            ];
            for core in cores {
                let found = core.nearest(&point);
                prop_assert!((found.normal.norm() - 1.0).abs() < 1e-12);
                let back = found.surface + found.normal * found.distance;
                prop_assert!((back - point).norm() < 1e-12, "{core:?}");
            }
        }
    }
}
