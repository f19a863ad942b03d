//! Coordinates of one frame in another.

use taut_core::{Mat3, Placement, Vec3};

/// A rotation and a translation, from local to outer coordinates.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transform {
    /// Where the local origin is [m].
    pub(crate) position: Vec3,
    /// Local to outer axes.
    pub(crate) rotation: Mat3,
}

/// `m v`, written out: nalgebra calls a general routine for it, which is most of the time here.
#[inline]
pub(crate) fn times(m: &Mat3, v: &Vec3) -> Vec3 {
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

impl Transform {
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

impl From<&Placement> for Transform {
    fn from(placement: &Placement) -> Self {
        let rotation = placement.rotation.to_rotation_matrix().into_inner();
        Self { position: placement.position, rotation }
    }
}
