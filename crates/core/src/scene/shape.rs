//! Shapes of bodies.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{
    math::{Quat, Vec3},
    wire,
};

/// Geometry in body coordinates, which have their origin at the centre of mass.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Shape {
    /// A box.
    Box {
        /// Half extents along the body axes [m].
        #[serde(with = "wire::numbers")]
        half: Vec3,
    },
    /// A sphere.
    Sphere {
        /// Radius [m].
        radius: f64,
    },
    /// A cylinder with hemispherical ends along body z.
    Capsule {
        /// Radius [m].
        radius: f64,
        /// Half the distance between the centres of the ends [m].
        half_length: f64,
    },
    /// A cylinder along body z.
    Cylinder {
        /// Radius [m].
        radius: f64,
        /// Half its length [m].
        half_length: f64,
    },
    /// The convex hull of points.
    Hull {
        /// The points [m].
        #[serde(with = "wire::points")]
        points: Arc<[Vec3]>,
    },
    /// Several shapes moving as one.
    Compound {
        /// Each part with its place in the body.
        #[serde(with = "wire::shared")]
        parts: Arc<[Part]>,
    },
    /// Everything below the plane through the origin, body z outward. Never dynamic.
    HalfSpace,
    /// A surface of triangles, seen from the side from which they run counterclockwise. That of a dynamic body is
    /// closed and the body is what is inside; of any other body it is the surface alone.
    Mesh {
        /// Corners [m].
        #[serde(with = "wire::points")]
        vertices: Arc<[Vec3]>,
        /// Corner indices of each triangle.
        #[serde(with = "wire::shared")]
        triangles: Arc<[[u32; 3]]>,
        /// Four points that move the body, where a scene has chosen them [m].
        #[serde(default, skip_serializing_if = "Option::is_none", with = "wire::four_points")]
        control: Option<Arc<[Vec3; 4]>>,
    },
}

/// One part of a compound.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// Its geometry, not itself a compound.
    pub shape: Shape,
    /// Where its own origin is in the body [m].
    #[serde(with = "wire::numbers")]
    pub position: Vec3,
    /// How it is turned in the body.
    #[serde(with = "wire::numbers")]
    pub rotation: Quat,
}

impl Shape {
    /// Full extents of the box around the shape along the body axes [m].
    pub fn extent(&self) -> Vec3 {
        let (lowest, highest) = self.bounds();
        highest - lowest
    }

    /// Lowest and highest corner of the box around the shape, in body coordinates [m].
    pub fn bounds(&self) -> (Vec3, Vec3) {
        let symmetric = |half: Vec3| (-half, half);
        match self {
            Self::Box { half } => symmetric(*half),
            Self::Sphere { radius } => symmetric(Vec3::repeat(*radius)),
            Self::Capsule { radius, half_length } => {
                symmetric(Vec3::new(*radius, *radius, radius + half_length))
            }
            Self::Cylinder { radius, half_length } => {
                symmetric(Vec3::new(*radius, *radius, *half_length))
            }
            Self::HalfSpace => {
                (Vec3::repeat(f64::NEG_INFINITY), Vec3::new(f64::INFINITY, f64::INFINITY, 0.0))
            }
            Self::Hull { points: corners } | Self::Mesh { vertices: corners, .. } => {
                corners.iter().fold(
                    (Vec3::repeat(f64::INFINITY), Vec3::repeat(f64::NEG_INFINITY)),
                    |(low, high), point| (low.inf(point), high.sup(point)),
                )
            }
            Self::Compound { parts } => parts.iter().fold(
                (Vec3::repeat(f64::INFINITY), Vec3::repeat(f64::NEG_INFINITY)),
                |(low, high), part| {
                    let (part_low, part_high) = part.bounds();
                    (low.inf(&part_low), high.sup(&part_high))
                },
            ),
        }
    }
}

impl Part {
    /// Box around the part in the body's coordinates, from the turned box around its shape.
    fn bounds(&self) -> (Vec3, Vec3) {
        let (low, high) = self.shape.bounds();
        let (middle, half) = ((low + high) * 0.5, (high - low) * 0.5);
        let reach = self.rotation.to_rotation_matrix().into_inner().abs() * half;
        let centre = self.position + self.rotation * middle;
        (centre - reach, centre + reach)
    }
}
