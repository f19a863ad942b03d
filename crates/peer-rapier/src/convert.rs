//! Vectors, rotations and places in the types of the scene and in those of Rapier.

use nalgebra::Quaternion;
use taut_core::{Quat, Vec3, state::BodyState};

use super::super::{
    rapier::math::{Pose, Rotation, Vector},
    real, wide,
};

/// A vector for Rapier.
pub(super) fn vector(v: &Vec3) -> Vector {
    Vector::new(real(v.x), real(v.y), real(v.z))
}

/// A vector from Rapier.
pub(super) fn vector_out(v: Vector) -> Vec3 {
    Vec3::new(wide(v.x), wide(v.y), wide(v.z))
}

/// A rotation for Rapier.
pub(super) fn rotation(q: &Quat) -> Rotation {
    Rotation::from_xyzw(real(q.i), real(q.j), real(q.k), real(q.w)).normalize()
}

/// A rotation from Rapier.
pub(super) fn rotation_out(q: &Rotation) -> Quat {
    let [x, y, z, w] = [q.x, q.y, q.z, q.w].map(wide);
    Quat::new_normalize(Quaternion::new(w, x, y, z))
}

/// A place for Rapier.
pub(super) fn pose(position: &Vec3, q: &Quat) -> Pose {
    Pose::from_parts(vector(position), rotation(q))
}

/// The place of a body.
pub(super) fn pose_of(motion: &BodyState) -> Pose {
    pose(&motion.position, &motion.rotation())
}
