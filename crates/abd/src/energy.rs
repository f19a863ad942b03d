//! The orthogonality energy `|A A^T - 1|^2` of a frame, per unit of `kappa V`.

use nalgebra::SMatrix;
use taut_core::Mat3;

/// Derivatives by the nine entries of a frame, column after column.
pub(crate) type Mat9 = SMatrix<f64, 9, 9>;

/// The energy.
pub(crate) fn value(frame: &Mat3) -> f64 {
    excess(frame).norm_squared()
}

/// Its derivative by the frame, `4 (A A^T - 1) A`.
pub(crate) fn gradient(frame: &Mat3) -> Mat3 {
    excess(frame) * frame * 4.0
}

/// Its second derivative. Not positive definite where the body is compressed.
pub(crate) fn hessian(frame: &Mat3) -> Mat9 {
    let (excess, gram) = (excess(frame), frame.transpose() * frame);
    // dG = 4 (dA A^T A + A dA^T A + (A A^T - 1) dA), entry (k, l) by entry (i, j).
    Mat9::from_fn(|row, column| {
        let ([k, l], [i, j]) = ([row % 3, row / 3], [column % 3, column / 3]);
        let mut entry = frame[(k, j)] * frame[(i, l)];
        if k == i {
            entry += gram[(j, l)];
        }
        if l == j {
            entry += excess[(k, i)];
        }
        4.0 * entry
    })
}

/// The nearest positive semidefinite matrix.
pub(crate) fn projected(matrix: &Mat9) -> Mat9 {
    let mut eigen = matrix.symmetric_eigen();
    eigen.eigenvalues.apply(|value| *value = value.max(0.0));
    eigen.recompose()
}

fn excess(frame: &Mat3) -> Mat3 {
    frame * frame.transpose() - Mat3::identity()
}

#[cfg(test)]
mod tests {
    use super::*;
    use taut_core::{Quat, Vec3};

    /// A stretched, a compressed and a sheared frame.
    fn frames() -> [Mat3; 3] {
        let turn = Quat::from_scaled_axis(Vec3::new(0.7, -1.1, 0.4)).to_rotation_matrix();
        let strain = Mat3::new(1.0, 0.3, -0.2, 0.0, 1.0, 0.1, 0.0, 0.0, 1.0);
        [turn * Mat3::identity() * 1.2, turn * Mat3::identity() * 0.7, turn * strain]
    }

    #[test]
    fn a_rotation_has_no_energy_and_no_force() {
        let turn = Quat::from_scaled_axis(Vec3::new(0.7, -1.1, 0.4)).to_rotation_matrix();
        assert!(value(turn.matrix()) < 1e-30 && gradient(turn.matrix()).norm() < 1e-14);
    }

    #[test]
    fn derivatives_equal_differences() {
        const STEP: f64 = 1e-5;
        for frame in frames() {
            for entry in 0..9 {
                let mut step = Mat3::zeros();
                step[entry] = STEP;
                let slope = (value(&(frame + step)) - value(&(frame - step))) / (2.0 * STEP);
                assert!((gradient(&frame)[entry] - slope).abs() < 1e-8, "gradient {entry}");
                let change = gradient(&(frame + step)) - gradient(&(frame - step));
                let exact = hessian(&frame);
                for other in 0..9 {
                    let slope = change[other] / (2.0 * STEP);
                    assert!((exact[(other, entry)] - slope).abs() < 1e-8, "{other} {entry}");
                }
            }
            assert!((hessian(&frame) - hessian(&frame).transpose()).norm() < 1e-13);
        }
    }

    #[test]
    fn projection_changes_only_what_is_not_definite() {
        let [stretched, compressed, _] = frames().map(|frame| hessian(&frame));
        assert!((projected(&stretched) - stretched).norm() < 1e-12 * stretched.norm());
        assert!(compressed.symmetric_eigenvalues().min() < -0.1);
        assert!(projected(&compressed).symmetric_eigenvalues().min() > -1e-12);
    }
}
