//! Shapes of the scene as shapes of Rapier.

use taut_core::{Quat, Vec3, scene::Shape};

use super::{
    super::{
        rapier::{
            geometry::{SharedShape, TriMeshFlags},
            math::{Pose, Vector},
        },
        real,
    },
    convert::{pose, vector},
};

/// One collider of a body.
#[derive(Clone)]
pub(super) struct Piece {
    /// Its geometry.
    pub(super) shape: SharedShape,
    /// Its place in the body.
    pub(super) pose: Pose,
}

/// The colliders of a body, or why there are none.
pub(super) fn pieces(shape: &Shape) -> Result<Vec<Piece>, &'static str> {
    let mut pieces = Vec::new();
    collect(shape, &Vec3::zeros(), &Quat::identity(), &mut pieces)?;
    Ok(pieces)
}

fn collect(
    shape: &Shape,
    position: &Vec3,
    rotation: &Quat,
    pieces: &mut Vec<Piece>,
) -> Result<(), &'static str> {
    // The scene's cylinders lie along z, those of Rapier along y.
    let mut turn = Quat::identity();
    let shape = match shape {
        Shape::Box { half } => SharedShape::cuboid(real(half.x), real(half.y), real(half.z)),
        Shape::Sphere { radius } => SharedShape::ball(real(*radius)),
        Shape::Capsule { radius, half_length } => {
            SharedShape::capsule_z(real(*half_length), real(*radius))
        }
        Shape::Cylinder { radius, half_length } => {
            turn = Quat::from_axis_angle(&Vec3::x_axis(), std::f64::consts::FRAC_PI_2);
            SharedShape::cylinder(real(*half_length), real(*radius))
        }
        Shape::Hull { points } => {
            let points: Vec<Vector> = points.iter().map(vector).collect();
            SharedShape::convex_hull(&points).ok_or("has a hull that Rapier cannot make")?
        }
        Shape::HalfSpace => SharedShape::halfspace(Vector::Z),
        Shape::Mesh { vertices, triangles, .. } => {
            // Contacts on the back of a triangle are dropped, and edges inside a surface do not catch.
            let flags = TriMeshFlags::FIX_INTERNAL_EDGES;
            let vertices = vertices.iter().map(vector).collect();
            SharedShape::trimesh_with_flags(vertices, triangles.to_vec(), flags)
                .map_err(|_| "has a mesh that Rapier cannot make")?
        }
        Shape::Compound { parts } => {
            for part in parts.iter() {
                let middle = position + rotation * part.position;
                collect(&part.shape, &middle, &(rotation * part.rotation), pieces)?;
            }
            return Ok(());
        }
    };
    pieces.push(Piece { shape, pose: pose(position, &(rotation * turn)) });
    Ok(())
}
