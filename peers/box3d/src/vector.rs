//! Numbers of the scene, in double precision, and of the engine, in single.

use box3d_sys::{b3Matrix3, b3Quat, b3Transform, b3Vec3};

pub(crate) type Vector = [f64; 3];
/// x y z w.
pub(crate) type Quaternion = [f64; 4];

/// A frame in another: turn, then move.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    pub(crate) q: Quaternion,
    pub(crate) x: Vector,
}

impl Place {
    pub(crate) const HERE: Self = Self { q: [0.0, 0.0, 0.0, 1.0], x: [0.0; 3] };

    pub(crate) fn point(&self, x: Vector) -> Vector {
        sum(self.x, turn(self.q, x))
    }

    /// The place of a frame that lies at `inner` in this one.
    pub(crate) fn of(&self, inner: &Self) -> Self {
        Self { q: product(self.q, inner.q), x: self.point(inner.x) }
    }
}

pub(crate) fn sum(a: Vector, b: Vector) -> Vector {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

pub(crate) fn scaled(a: Vector, by: f64) -> Vector {
    a.map(|c| c * by)
}

pub(crate) fn dot(a: Vector, b: Vector) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub(crate) fn cross(a: Vector, b: Vector) -> Vector {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

pub(crate) fn product(a: Quaternion, b: Quaternion) -> Quaternion {
    let ([ax, ay, az, aw], [bx, by, bz, bw]) = (a, b);
    [
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    ]
}

pub(crate) fn turn(q: Quaternion, v: Vector) -> Vector {
    let axis = [q[0], q[1], q[2]];
    let once = scaled(cross(axis, v), 2.0);
    sum(v, sum(scaled(once, q[3]), cross(axis, once)))
}

pub(crate) fn unit(q: Quaternion) -> Quaternion {
    let length = q.iter().map(|c| c * c).sum::<f64>().sqrt();
    q.map(|c| c / length)
}

/// Of a matrix row by row.
pub(crate) fn inverse(m: &[f64; 9]) -> [f64; 9] {
    let rows = [[m[0], m[1], m[2]], [m[3], m[4], m[5]], [m[6], m[7], m[8]]];
    let columns = [cross(rows[1], rows[2]), cross(rows[2], rows[0]), cross(rows[0], rows[1])];
    let determinant = dot(rows[0], columns[0]);
    std::array::from_fn(|k| columns[k % 3][k / 3] / determinant)
}

/// `v . m v` of a matrix row by row.
pub(crate) fn form(m: &[f64; 9], v: Vector) -> f64 {
    (0..9).map(|k| v[k / 3] * m[k] * v[k % 3]).sum()
}

pub(crate) fn to_vec3(v: Vector) -> b3Vec3 {
    let [x, y, z] = v.map(|c| c as f32);
    b3Vec3 { x, y, z }
}

pub(crate) fn from_vec3(v: b3Vec3) -> Vector {
    [v.x, v.y, v.z].map(f64::from)
}

pub(crate) fn to_quat(q: Quaternion) -> b3Quat {
    let [x, y, z, s] = unit(q).map(|c| c as f32);
    b3Quat { v: b3Vec3 { x, y, z }, s }
}

/// Of unit length in double precision, which its four singles are not.
pub(crate) fn from_quat(q: b3Quat) -> Quaternion {
    unit([q.v.x, q.v.y, q.v.z, q.s].map(f64::from))
}

pub(crate) fn to_transform(place: &Place) -> b3Transform {
    b3Transform { p: to_vec3(place.x), q: to_quat(place.q) }
}

pub(crate) fn to_matrix(m: &[f64; 9]) -> b3Matrix3 {
    let column = |k: usize| to_vec3([m[k], m[k + 3], m[k + 6]]);
    b3Matrix3 { cx: column(0), cy: column(1), cz: column(2) }
}

/// Row by row.
pub(crate) fn from_matrix(m: &b3Matrix3) -> [f64; 9] {
    let columns = [m.cx, m.cy, m.cz].map(from_vec3);
    std::array::from_fn(|k| columns[k % 3][k / 3])
}
