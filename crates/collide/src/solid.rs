//! Convex solids: a core, and how far it is rounded.

use taut_core::Vec3;

use crate::hull::Hull;

/// A convex shape without its rounding: spheres and capsules are points and segments with a radius.
#[derive(Clone, Debug)]
pub(crate) enum Core {
    /// The origin.
    Point,
    /// From `-half` to `half` on z [m].
    Segment { half: f64 },
    /// Half extents along the axes [m].
    Box { half: Vec3 },
    /// Along z, with half its length [m].
    Cylinder { radius: f64, half: f64 },
    /// A convex polyhedron.
    Hull(Hull),
    /// Three corners, counterclockwise seen from outside [m].
    Triangle([Vec3; 3]),
}

/// All points within `round` of a core.
#[derive(Clone, Debug)]
pub(crate) struct Solid {
    /// What is rounded.
    pub(crate) core: Core,
    /// Radius of the rounding [m].
    pub(crate) round: f64,
    /// Smallest extent [m]; tolerances are shares of it.
    pub(crate) size: f64,
}

impl Core {
    /// The point of the core that is farthest along a local direction [m].
    pub(crate) fn support(&self, direction: &Vec3) -> Vec3 {
        let side = |x: f64, extent: f64| if x < 0.0 { -extent } else { extent };
        match self {
            Self::Point => Vec3::zeros(),
            Self::Segment { half } => Vec3::new(0.0, 0.0, side(direction.z, *half)),
            Self::Box { half } => half.zip_map(direction, |extent, along| side(along, extent)),
            Self::Cylinder { radius, half } => {
                let across = direction.x.hypot(direction.y);
                let scale = if across > 0.0 { radius / across } else { 0.0 };
                Vec3::new(direction.x * scale, direction.y * scale, side(direction.z, *half))
            }
            Self::Hull(hull) => hull.points[hull.support(direction)],
            Self::Triangle(corners) => {
                let along = corners.map(|corner| corner.dot(direction));
                let [a, b, c] = along;
                corners[if a >= b && a >= c {
                    0
                } else if b >= c {
                    1
                } else {
                    2
                }]
            }
        }
    }
}
