//! One affine body: its constants in principal axes.
//!
//! With the origin at the centre of mass and the axes along the principal ones, the mass of
//! `x = A X + t` is diagonal: `s_j` for column `j` of `A`, the body's mass for `t`. Elasticity couples
//! only the diagonal of the co-rotated increment among itself and each pair of mirrored entries, so
//! that `H = S/h^2 + K` has an inverse that can be written down.

use taut_core::{Mat3, Vec3, scene::Body};

/// What does not change about a dynamic body or particle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct BodyKind {
    /// Mass [kg].
    pub(crate) mass: f64,
    /// Second moments along the principal axes [kg m^2].
    pub(crate) second: Vec3,
    /// Principal to body coordinates.
    pub(crate) axes: Mat3,
    /// Inverse of shear modulus times volume [1/(N m)]; zero for a rigid body.
    pub(crate) softness: f64,
    /// Lame's first parameter over the second [1].
    pub(crate) ratio: f64,
}

/// Second moments below this share of the largest are zero.
const FLAT: f64 = 1e-12;

impl BodyKind {
    /// A point mass: a body that nothing turns.
    pub(crate) fn particle(mass: f64) -> Self {
        let (second, axes) = (Vec3::repeat(mass), Mat3::identity());
        Self { mass, second, axes, softness: 0.0, ratio: 0.0 }
    }

    /// The constants of a dynamic body, or why it cannot be simulated.
    pub(crate) fn of(body: &Body) -> Result<Self, String> {
        let (second, axes) = principal(&body.inertia);
        let largest = second.max();
        if !(body.mass > 0.0 && largest > 0.0 && largest.is_finite()) {
            return Err(format!("body `{}` has no mass or no inertia", body.name));
        }
        if second.min() < -1e-6 * largest {
            return Err(format!(
                "body `{}` has a moment of inertia larger than the sum of the other two",
                body.name
            ));
        }
        let second = second.map(|s| if s < FLAT * largest { 0.0 } else { s });
        if second.iter().filter(|&&s| s == 0.0).count() > 1 {
            return Err(format!("body `{}` has no inertia about one of its axes", body.name));
        }
        let (softness, ratio) = match body.elasticity {
            None => (0.0, 0.0),
            Some(elastic) => {
                let volume = body.shape.volume();
                if volume <= 0.0 {
                    return Err(format!("body `{}` is elastic but has no volume", body.name));
                }
                constants(elastic.young, elastic.poisson, volume)
                    .map_err(|why| format!("body `{}` has {why}", body.name))?
            }
        };
        Ok(Self { mass: body.mass, second, axes, softness, ratio })
    }

    /// The same body, its shear modulus times volume being at most the largest inertia [kg m^2/s^2] over
    /// `share`.
    pub(crate) fn softened(&self, share: f64, inertia: &Vec3) -> Self {
        Self { softness: self.softness.max(share / inertia.max()), ..*self }
    }

    /// Inertia over the squared step `h` [s], along the principal axes [kg m^2/s^2].
    pub(crate) fn inertia(&self, h: f64) -> Vec3 {
        self.second / (h * h)
    }
}

/// Softness and ratio of an isotropic material of Young's modulus `young` [Pa].
pub(crate) fn constants(young: f64, poisson: f64, volume: f64) -> Result<(f64, f64), String> {
    if young.is_nan() || young <= 0.0 {
        return Err(format!("a Young's modulus of {young} Pa, which must be positive"));
    }
    if !(poisson > -1.0 && poisson < 0.5) {
        return Err(format!("a Poisson ratio of {poisson}, which must be between -1 and 0.5"));
    }
    let shear = young / (2.0 * (1.0 + poisson));
    Ok((1.0 / (shear * volume), 2.0 * poisson / (1.0 - 2.0 * poisson)))
}

/// Principal second moments of an inertia tensor, and the rotation from their axes to its own.
fn principal(inertia: &Mat3) -> (Vec3, Mat3) {
    let second = Mat3::identity() * (0.5 * inertia.trace()) - inertia;
    let aside = second.m12.abs().max(second.m13.abs()).max(second.m23.abs());
    if aside <= 1e-14 * second.diagonal().amax() {
        return (second.diagonal(), Mat3::identity());
    }
    let eigen = second.symmetric_eigen();
    let mut axes = eigen.eigenvectors;
    if axes.determinant() < 0.0 {
        axes.column_mut(2).neg_mut();
    }
    (eigen.eigenvalues, axes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_bodies_are_refused() {
        let mut body = Body::solid_box(Vec3::new(1.0, 0.5, 0.25), 100.0);
        assert!(BodyKind::of(&body).is_ok());
        body.inertia = Mat3::from_diagonal(&Vec3::new(0.0, 1.0, 1.0));
        assert!(BodyKind::of(&body).unwrap_err().contains("no inertia about one"));
        body.inertia = Mat3::from_diagonal(&Vec3::new(1.0, 1.0, 3.0));
        assert!(BodyKind::of(&body).unwrap_err().contains("larger than the sum"));
        body.inertia = Mat3::zeros();
        assert!(BodyKind::of(&body).unwrap_err().contains("no inertia"));
        assert!(constants(0.0, 0.3, 1.0).unwrap_err().contains("Young"));
        assert!(constants(-1e9, 0.3, 1.0).unwrap_err().contains("Young"));
        assert!(constants(f64::NAN, 0.3, 1.0).unwrap_err().contains("Young"));
        assert!(constants(1e9, f64::NAN, 1.0).unwrap_err().contains("Poisson"));
        assert!(constants(1e9, 0.5, 1.0).unwrap_err().contains("Poisson"));
        assert!(constants(1e9, -1.0, 1.0).unwrap_err().contains("Poisson"));
    }

    #[test]
    fn principal_axes_diagonalise_the_second_moment() {
        let turn = taut_core::Quat::from_scaled_axis(Vec3::new(0.4, -0.8, 0.3));
        let turn = turn.to_rotation_matrix().into_inner();
        let inertia = turn * Mat3::from_diagonal(&Vec3::new(2.0, 3.0, 4.0)) * turn.transpose();
        let (second, axes) = principal(&inertia);
        let about = Mat3::identity() * second.sum() - Mat3::from_diagonal(&second);
        assert!((axes * about * axes.transpose() - inertia).norm() < 1e-13);
        assert!((axes.determinant() - 1.0).abs() < 1e-14);
    }
}
