//! Directions across a direction.

use taut_math::V3;

/// Two unit vectors that form a right-handed orthonormal frame with the unit vector `n`, in the order
/// `n, first, second`.
///
/// Duff et al., "Building an Orthonormal Basis, Revisited" (JCGT 2017): without a square root, and without a
/// direction for which digits are lost.
#[inline]
pub fn tangents(n: V3<f64>) -> [V3<f64>; 2] {
    let [x, y, z] = n.0;
    let sign = 1_f64.copysign(z);
    let a = -1.0 / (sign + z);
    let b = x * y * a;
    [V3([1.0 + sign * x * x * a, sign * b, -sign * x]), V3([b, sign + y * y * a, -y])]
}

/// A vector of unit length along `v`, or `otherwise` where `v` has none.
#[inline]
pub(crate) fn unit_or(v: V3<f64>, otherwise: V3<f64>) -> V3<f64> {
    let norm = v.norm();
    if norm > 0.0 { v * (1.0 / norm) } else { otherwise }
}
