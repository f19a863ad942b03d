//! Bodies as collision detection sees them: pieces that are convex solids, half-spaces or meshes.

use taut_core::{Mat3, Placement, Vec3, scene::Shape};

use crate::{hull::Hull, mesh::Mesh};

/// A rotation and a translation, from local to outer coordinates.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// Where the local origin is [m].
    pub(crate) position: Vec3,
    /// Local to outer axes.
    pub(crate) rotation: Mat3,
}

/// `m v`, written out: nalgebra calls a general routine for it, which is most of the time here.
#[inline]
fn times(m: &Mat3, v: &Vec3) -> Vec3 {
    Vec3::new(
        m.m11 * v.x + m.m12 * v.y + m.m13 * v.z,
        m.m21 * v.x + m.m22 * v.y + m.m23 * v.z,
        m.m31 * v.x + m.m32 * v.y + m.m33 * v.z,
    )
}

/// `m^T v`.
#[inline]
fn transposed_times(m: &Mat3, v: &Vec3) -> Vec3 {
    Vec3::new(
        m.m11 * v.x + m.m21 * v.y + m.m31 * v.z,
        m.m12 * v.x + m.m22 * v.y + m.m32 * v.z,
        m.m13 * v.x + m.m23 * v.y + m.m33 * v.z,
    )
}

impl Place {
    /// Outer coordinates of a local point.
    #[inline]
    pub(crate) fn point(&self, local: &Vec3) -> Vec3 {
        self.position + times(&self.rotation, local)
    }

    /// Local coordinates of an outer point.
    #[inline]
    pub(crate) fn local(&self, outer: &Vec3) -> Vec3 {
        transposed_times(&self.rotation, &(outer - self.position))
    }

    /// Outer components of a local direction.
    #[inline]
    pub(crate) fn turn(&self, local: &Vec3) -> Vec3 {
        times(&self.rotation, local)
    }

    /// Local components of an outer direction.
    #[inline]
    pub(crate) fn unturn(&self, outer: &Vec3) -> Vec3 {
        transposed_times(&self.rotation, outer)
    }

    /// Column `i` of the rotation: a local axis in outer components.
    #[inline]
    pub(crate) fn axis(&self, i: usize) -> Vec3 {
        let m = &self.rotation;
        Vec3::new(m[(0, i)], m[(1, i)], m[(2, i)])
    }

    /// The place of something whose place in this frame is `inner`.
    #[inline]
    pub(crate) fn of(&self, inner: &Self) -> Self {
        let [x, y, z] = [0, 1, 2].map(|i| self.turn(&inner.axis(i)));
        Self {
            position: self.point(&inner.position),
            rotation: Mat3::new(x.x, y.x, z.x, x.y, y.y, z.y, x.z, y.z, z.z),
        }
    }

    /// The place of `other` as seen from this frame.
    #[inline]
    pub(crate) fn relative(&self, other: &Self) -> Self {
        let [x, y, z] = [0, 1, 2].map(|i| self.unturn(&other.axis(i)));
        Self {
            position: self.local(&other.position),
            rotation: Mat3::new(x.x, y.x, z.x, x.y, y.y, z.y, x.z, y.z, z.z),
        }
    }
}

impl From<&Placement> for Place {
    fn from(placement: &Placement) -> Self {
        let rotation = placement.rotation.to_rotation_matrix().into_inner();
        Self { position: placement.position, rotation }
    }
}

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

/// What a piece is.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    /// A rounded convex core.
    Solid(Solid),
    /// Everything below the local xy plane.
    Plane,
    /// A surface of triangles.
    Mesh(Box<Mesh>),
}

/// One piece of a body.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    /// Its geometry.
    pub(crate) kind: Kind,
    /// Its place in the body.
    pub(crate) place: Place,
    /// Whether it is not moved in the body, as the only piece of most bodies.
    pub(crate) at_origin: bool,
    /// Middle of a sphere around it, in body coordinates [m].
    pub(crate) middle: Vec3,
    /// Radius of that sphere [m]; infinite for half-spaces.
    pub(crate) reach: f64,
}

/// The pieces of a body and their common bounds.
#[derive(Clone, Debug)]
pub struct Geometry {
    /// What it consists of; nothing where the shape has no volume.
    pub(crate) pieces: Vec<Piece>,
    /// Radius of a sphere about its origin around all pieces [m]; infinite for half-spaces.
    pub reach: f64,
    /// Smallest extent [m]; infinite for half-spaces.
    pub size: f64,
    /// Middle of the box around it, in body coordinates [m].
    middle: Vec3,
    /// Half extents of that box [m].
    half: Vec3,
}

impl Geometry {
    /// The pieces of a scene's shape.
    pub fn new(shape: &Shape) -> Self {
        let mut pieces = vec![];
        let origin = Place { position: Vec3::zeros(), rotation: Mat3::identity() };
        collect(shape, &origin, true, &mut pieces);
        let (low, high) = shape.bounds();
        let reach = pieces.iter().map(|p| p.middle.norm() + p.reach).fold(0.0, f64::max);
        let flat = matches!(shape, Shape::HalfSpace);
        Self {
            pieces,
            reach,
            size: if flat { f64::INFINITY } else { (high - low).min() },
            middle: if flat { Vec3::zeros() } else { (low + high) * 0.5 },
            half: if flat { Vec3::repeat(f64::INFINITY) } else { (high - low) * 0.5 },
        }
    }

    /// Whether the body is a half-space.
    pub(crate) fn is_plane(&self) -> bool {
        matches!(&self.pieces[..], [Piece { kind: Kind::Plane, .. }])
    }

    /// Middle and half extents of a box with world axes around the body [m].
    pub(crate) fn bounds(&self, place: &Place) -> (Vec3, Vec3) {
        if let [Piece { kind: Kind::Solid(solid), at_origin: true, .. }] = &self.pieces[..] {
            match solid.core {
                Core::Point => return (place.position, self.half),
                Core::Segment { half } => {
                    let along = place.axis(2).abs() * half;
                    return (place.position, along.add_scalar(solid.round));
                }
                _ => {}
            }
        }
        (place.point(&self.middle), times(&place.rotation.abs(), &self.half))
    }
}

/// Appends the pieces of a shape that has a place in its body.
fn collect(shape: &Shape, place: &Place, at_origin: bool, pieces: &mut Vec<Piece>) {
    let kind = match shape {
        Shape::Compound { parts } => {
            for part in parts.iter() {
                let rotation = part.rotation.to_rotation_matrix().into_inner();
                let inner = place.of(&Place { position: part.position, rotation });
                collect(&part.shape, &inner, false, pieces);
            }
            return;
        }
        Shape::HalfSpace => Kind::Plane,
        Shape::Mesh { vertices, triangles } => Kind::Mesh(Box::new(Mesh::new(vertices, triangles))),
        _ => match solid(shape) {
            Some(solid) => Kind::Solid(solid),
            None => return,
        },
    };
    let (low, high) = shape.bounds();
    let (middle, reach) = match kind {
        Kind::Plane => (Vec3::zeros(), f64::INFINITY),
        _ => ((low + high) * 0.5, reach(shape, (high - low) * 0.5)),
    };
    pieces.push(Piece { kind, place: *place, at_origin, middle: place.point(&middle), reach });
}

/// Radius of a sphere about the middle of the bounds, half as wide as `half` [m].
fn reach(shape: &Shape, half: Vec3) -> f64 {
    match *shape {
        Shape::Sphere { radius } => radius,
        Shape::Capsule { radius, half_length } => radius + half_length,
        Shape::Cylinder { radius, half_length } => radius.hypot(half_length),
        _ => half.norm(),
    }
}

/// A convex shape as a rounded core; none where it has no volume.
fn solid(shape: &Shape) -> Option<Solid> {
    let (core, round) = match shape {
        Shape::Box { half } => (Core::Box { half: *half }, 0.0),
        Shape::Sphere { radius } => (Core::Point, *radius),
        Shape::Capsule { radius, half_length } => (Core::Segment { half: *half_length }, *radius),
        Shape::Cylinder { radius, half_length } => {
            (Core::Cylinder { radius: *radius, half: *half_length }, 0.0)
        }
        Shape::Hull { points } => (Core::Hull(Hull::new(points)?), 0.0),
        Shape::Compound { .. } | Shape::HalfSpace | Shape::Mesh { .. } => return None,
    };
    Some(Solid { core, round, size: shape.extent().min() })
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
