//! The axes of a contact: its normal and two tangents.

use taut_math::{Real, V3};

/// A right-handed frame whose first axis is the unit normal `n`, the same for equal normals, as
/// `shaders/descent/make.wgsl` has it.
pub fn frame<R: Real>(n: V3<R>) -> [V3<R>; 3] {
    let [x, y, z] = n.0;
    // Away from the axis that is closest to the normal, so that the cross product is well scaled.
    let across = if x.abs() > y.abs() { V3([-z, R::ZERO, x]) } else { V3([R::ZERO, z, -y]) };
    let u = across * (R::ONE / across.norm());
    [n, u, n.cross(u)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tangents_complete_any_normal() {
        for n in [
            V3([0.0_f64, 0.0, 1.0]),
            V3([0.0, -1.0, 0.0]),
            V3([1.0, 0.0, 0.0]),
            V3([0.48, 0.6, -0.64]),
        ] {
            let [first, u, v] = frame(n);
            assert_eq!(first, n);
            assert!((u.norm() - 1.0).abs() < 1e-15 && u.dot(n).abs() < 1e-15);
            assert!((n.cross(u) - v).norm() < 1e-15);
        }
    }
}
