//! Bodies as collision detection sees them: pieces that are convex solids, half-spaces or meshes.

use taut_core::{Mat3, Vec3, scene::Shape};

use crate::{
    mesh::Mesh,
    solid::{RoundedSolid, Solid},
    transform::{Transform, times},
};

/// What a piece is.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    /// A rounded convex core.
    Solid(RoundedSolid),
    /// Everything below the local xy plane.
    Plane,
    /// A surface of triangles.
    Mesh(Box<Mesh>),
}

/// One piece of a body.
#[derive(Clone, Debug)]
pub(crate) struct BodyPiece {
    /// Its geometry.
    pub(crate) kind: Kind,
    /// Its place in the body.
    pub(crate) place: Transform,
    /// Whether it is not moved in the body, as the only piece of most bodies.
    pub(crate) at_origin: bool,
    /// Middle of a sphere around it, in body coordinates [m].
    pub(crate) middle: Vec3,
    /// Radius of that sphere [m]; infinite for half-spaces.
    pub(crate) reach: f64,
}

impl BodyPiece {
    /// Its place where its body is at `body`.
    pub(crate) fn placed(&self, body: &Transform) -> Transform {
        if self.at_origin { *body } else { body.of(&self.place) }
    }

    /// The same without a copy where it is that of its body, else put into `own`.
    pub(crate) fn placed_in<'a>(
        &self,
        body: &'a Transform,
        own: &'a mut Option<Transform>,
    ) -> &'a Transform {
        if self.at_origin { body } else { own.insert(body.of(&self.place)) }
    }
}

/// The pieces of a body and their common bounds.
#[derive(Clone, Debug)]
pub struct BodyGeometry {
    /// What it consists of; nothing where the shape has no volume.
    pub(crate) pieces: Vec<BodyPiece>,
    /// Radius of a sphere about its origin around all pieces [m]; infinite for half-spaces.
    pub reach: f64,
    /// Smallest extent [m]; infinite for half-spaces.
    pub size: f64,
    /// Middle of the box around it, in body coordinates [m].
    middle: Vec3,
    /// Half extents of that box [m].
    half: Vec3,
}

impl BodyGeometry {
    /// The pieces of a scene's shape.
    pub fn new(shape: &Shape) -> Self {
        let mut pieces = vec![];
        let origin = Transform { position: Vec3::zeros(), rotation: Mat3::identity() };
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
        matches!(&self.pieces[..], [BodyPiece { kind: Kind::Plane, .. }])
    }

    /// Middle and half extents of a box with world axes around the body [m].
    pub(crate) fn bounds(&self, place: &Transform) -> (Vec3, Vec3) {
        if let [BodyPiece { kind: Kind::Solid(solid), at_origin: true, .. }] = &self.pieces[..]
            && let Some(half) = solid.core.tight(place)
        {
            return (place.position, half.add_scalar(solid.round));
        }
        (place.point(&self.middle), times(&place.rotation.abs(), &self.half))
    }
}

/// Appends the pieces of a shape that has a place in its body.
fn collect(shape: &Shape, place: &Transform, at_origin: bool, pieces: &mut Vec<BodyPiece>) {
    let kind = match shape {
        Shape::Compound { parts } => {
            for part in parts.iter() {
                let rotation = part.rotation.to_rotation_matrix().into_inner();
                let inner = place.of(&Transform { position: part.position, rotation });
                collect(&part.shape, &inner, false, pieces);
            }
            return;
        }
        Shape::HalfSpace => Kind::Plane,
        Shape::Mesh { vertices, triangles, .. } => {
            Kind::Mesh(Box::new(Mesh::new(vertices, triangles)))
        }
        _ => match RoundedSolid::new(shape) {
            Some(solid) => Kind::Solid(solid),
            None => return,
        },
    };
    let (low, high) = shape.bounds();
    let (centre, half) = ((low + high) * 0.5, (high - low) * 0.5);
    let (middle, reach) = match &kind {
        Kind::Plane => (Vec3::zeros(), f64::INFINITY),
        Kind::Solid(solid) => (centre, solid.round + solid.core.reach(&half)),
        Kind::Mesh(_) => (centre, half.norm()),
    };
    pieces.push(BodyPiece { kind, place: *place, at_origin, middle: place.point(&middle), reach });
}
