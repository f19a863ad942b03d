//! One affine body: its constants in principal axes, and the closed form of its local inverse.
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
fn constants(young: f64, poisson: f64, volume: f64) -> Result<(f64, f64), String> {
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

/// The inverse of `S' + K` on co-rotated increments, `S'` being the inertia over `h^2` and what
/// tension adds to it. Finite for rigid bodies, to which it then gives skew increments only.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Local {
    /// From a load `r_ij` to its own increment, for `ij` = 12, 21, 13, 31, 23, 32.
    own: [f64; 6],
    /// From `r_ji` to the increment `ij`, for the pairs 12, 13, 23.
    mirrored: [f64; 3],
    /// Among the diagonal: 11, 22, 33, 12, 13, 23.
    diagonal: [f64; 6],
}

impl Local {
    /// The inverse for inertias `s` [kg m^2/s^2].
    #[inline(always)]
    pub(crate) fn new(kind: &BodyKind, s: &Vec3) -> Self {
        let soft = kind.softness;
        let pair = |i: usize, j: usize| {
            let inverse = 1.0 / (soft * s[i] * s[j] + s[i] + s[j]);
            ((soft * s[i] + 1.0) * inverse, (soft * s[j] + 1.0) * inverse, -inverse)
        };
        let ((a12, a21, b12), (a13, a31, b13), (a23, a32, b23)) =
            (pair(0, 1), pair(0, 2), pair(1, 2));
        let mut diagonal = [0.0; 6];
        if soft > 0.0 {
            // Sherman and Morrison, scaled by the softness so that nothing grows as it vanishes.
            let e = s.map(|s| 1.0 / (soft * s + 2.0));
            let shared = kind.ratio / (1.0 + kind.ratio * e.sum());
            let entry = |i: usize, j: usize| -soft * shared * e[i] * e[j];
            diagonal = [
                soft * e[0] + entry(0, 0),
                soft * e[1] + entry(1, 1),
                soft * e[2] + entry(2, 2),
                entry(0, 1),
                entry(0, 2),
                entry(1, 2),
            ];
        }
        Self { own: [a12, a21, a13, a31, a23, a32], mirrored: [b12, b13, b23], diagonal }
    }

    /// The increment under a load, both co-rotated.
    #[inline(always)]
    pub(crate) fn apply(&self, r: &Mat3) -> Mat3 {
        let ([a12, a21, a13, a31, a23, a32], [b12, b13, b23]) = (self.own, self.mirrored);
        let [d1, d2, d3, d12, d13, d23] = self.diagonal;
        Mat3::new(
            d1 * r.m11 + d12 * r.m22 + d13 * r.m33,
            a12 * r.m12 + b12 * r.m21,
            a13 * r.m13 + b13 * r.m31,
            a21 * r.m21 + b12 * r.m12,
            d12 * r.m11 + d2 * r.m22 + d23 * r.m33,
            a23 * r.m23 + b23 * r.m32,
            a31 * r.m31 + b13 * r.m13,
            a32 * r.m32 + b23 * r.m23,
            d13 * r.m11 + d23 * r.m22 + d3 * r.m33,
        )
    }

    /// Motion of the point `x` under unit forces at the point `y`, relative to that of the origin: the
    /// constant 3x3 block of a pair of anchors in principal coordinates.
    #[inline(always)]
    pub(crate) fn between(&self, x: &Vec3, y: &Vec3) -> Mat3 {
        let ([a12, a21, a13, a31, a23, a32], [b12, b13, b23]) = (self.own, self.mirrored);
        let [d1, d2, d3, d12, d13, d23] = self.diagonal;
        let (p1, p2, p3) = (x.x * y.x, x.y * y.y, x.z * y.z);
        Mat3::new(
            d1 * p1 + a12 * p2 + a13 * p3,
            b12 * x.y * y.x + d12 * x.x * y.y,
            b13 * x.z * y.x + d13 * x.x * y.z,
            b12 * x.x * y.y + d12 * x.y * y.x,
            a21 * p1 + d2 * p2 + a23 * p3,
            b23 * x.z * y.y + d23 * x.y * y.z,
            b13 * x.x * y.z + d13 * x.z * y.x,
            b23 * x.y * y.z + d23 * x.z * y.y,
            a31 * p1 + a32 * p2 + d3 * p3,
        )
    }
}

/// A factor `B` of the inverse of a body's local matrix, `H^-1 = B B^T`: its columns are motions that cost
/// as much as each other, so that a system in their amounts is scaled well however stiff the body is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Root {
    /// For the pairs 12, 13, 23 the lower factor of the block that couples both entries: 11, 21, 22.
    pairs: [[f64; 3]; 3],
    /// Lower factor of the inverse among the diagonal: 11, 21, 22, 31, 32, 33.
    diagonal: [f64; 6],
    /// Of the origin.
    reach: f64,
    rigid: bool,
}

impl Root {
    /// The most columns: those of an elastic body.
    pub(crate) const COLUMNS: usize = 12;

    /// How many columns the factor of a body has.
    pub(crate) fn columns(kind: &BodyKind) -> usize {
        if kind.softness > 0.0 { Self::COLUMNS } else { 6 }
    }

    /// The factor for inertias `s` [kg m^2/s^2] and a step of `h` [s].
    pub(crate) fn new(kind: &BodyKind, s: &Vec3, h: f64) -> Self {
        let (soft, local) = (kind.softness, Local::new(kind, s));
        let pair = |i: usize, own: f64, mirrored: f64| {
            let first = own.sqrt();
            // What is left of the other entry, without the difference of equal numbers of stiff bodies.
            [first, mirrored / first, (soft / (soft * s[i] + 1.0)).sqrt()]
        };
        let ([a12, _, a13, _, a23, _], [b12, b13, b23]) = (local.own, local.mirrored);
        let mut diagonal = [0.0; 6];
        if soft > 0.0 {
            let [d1, d2, d3, d12, d13, d23] = local.diagonal;
            let l11 = d1.sqrt();
            let (l21, l31) = (d12 / l11, d13 / l11);
            let l22 = (d2 - l21 * l21).max(0.0).sqrt();
            let l32 = if l22 > 0.0 { (d23 - l31 * l21) / l22 } else { 0.0 };
            let l33 = (d3 - l31 * l31 - l32 * l32).max(0.0).sqrt();
            diagonal = [l11, l21, l22, l31, l32, l33];
        }
        Self {
            pairs: [pair(0, a12, b12), pair(0, a13, b13), pair(1, a23, b23)],
            diagonal,
            reach: h / kind.mass.sqrt(),
            rigid: soft == 0.0,
        }
    }

    /// `B^T g` for a gradient by frame and origin, frames co-rotated; of a rigid body the first six.
    #[inline(always)]
    pub(crate) fn project(&self, frame: &Mat3, origin: &Vec3) -> [f64; Self::COLUMNS] {
        let [p, q, r] = self.pairs;
        let mut out = [0.0; Self::COLUMNS];
        out[0] = p[0] * frame.m12 + p[1] * frame.m21;
        out[1] = q[0] * frame.m13 + q[1] * frame.m31;
        out[2] = r[0] * frame.m23 + r[1] * frame.m32;
        out[3] = self.reach * origin.x;
        out[4] = self.reach * origin.y;
        out[5] = self.reach * origin.z;
        if !self.rigid {
            let [l11, l21, l22, l31, l32, l33] = self.diagonal;
            out[6] = p[2] * frame.m21;
            out[7] = q[2] * frame.m31;
            out[8] = r[2] * frame.m32;
            out[9] = l11 * frame.m11 + l21 * frame.m22 + l31 * frame.m33;
            out[10] = l22 * frame.m22 + l32 * frame.m33;
            out[11] = l33 * frame.m33;
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use nalgebra::SMatrix;

    use super::*;

    type Nine = SMatrix<f64, 9, 9>;

    /// `S' + K` written out on column-major increments.
    fn dense(s: &Vec3, shear: f64, lame: f64) -> Nine {
        let mut h = Nine::zeros();
        let at = |i: usize, j: usize| 3 * j + i;
        for i in 0..3 {
            for j in 0..3 {
                h[(at(i, j), at(i, j))] += s[j] + shear;
                h[(at(i, j), at(j, i))] += shear;
                h[(at(i, i), at(j, j))] += lame;
            }
        }
        h
    }

    fn load() -> Mat3 {
        Mat3::new(0.3, -1.2, 0.7, 2.1, 0.4, -0.9, 1.6, -0.2, 1.1)
    }

    fn kind(young: f64, poisson: f64, second: Vec3) -> BodyKind {
        let (softness, ratio) = constants(young, poisson, 0.02).unwrap();
        BodyKind { mass: 2.0, second, axes: Mat3::identity(), softness, ratio }
    }

    #[test]
    fn the_closed_form_is_the_dense_inverse() {
        let second = Vec3::new(0.01, 0.2, 0.05);
        for (young, poisson) in [(1e2, 0.3), (1e4, 0.45), (1e6, 0.0), (1e3, -0.6)] {
            let kind = kind(young, poisson, second);
            let (s, shear) = (kind.inertia(0.01), 1.0 / kind.softness);
            let dense = dense(&s, shear, shear * kind.ratio).try_inverse().unwrap();
            let expected = dense * SMatrix::<f64, 9, 1>::from_column_slice(load().as_slice());
            let found = Local::new(&kind, &s).apply(&load());
            let error = (Mat3::from_column_slice(expected.as_slice()) - found).norm();
            assert!(error < 1e-10 * found.norm(), "{young}: {error}");
        }
    }

    #[test]
    fn a_zero_second_moment_leaves_an_elastic_body_finite() {
        let kind = kind(1e4, 0.3, Vec3::new(0.0, 0.2, 0.05));
        let (s, shear) = (kind.inertia(0.01), 1.0 / kind.softness);
        let dense = dense(&s, shear, shear * kind.ratio).try_inverse().unwrap();
        let expected = dense * SMatrix::<f64, 9, 1>::from_column_slice(load().as_slice());
        let found = Local::new(&kind, &s).apply(&load());
        assert!(
            (Mat3::from_column_slice(expected.as_slice()) - found).norm() < 1e-10 * found.norm()
        );
    }

    #[test]
    fn the_limit_of_stiff_bodies_is_the_rigid_one() {
        let second = Vec3::new(0.01, 0.2, 0.05);
        let rigid = BodyKind { softness: 0.0, ..kind(1.0, 0.3, second) };
        let s = rigid.inertia(0.01);
        let (x, y) = (Vec3::new(0.5, -0.2, 0.1), Vec3::new(-0.3, 0.4, 0.2));
        let inverse = Mat3::from_diagonal(&Vec3::new(
            1.0 / (s.y + s.z),
            1.0 / (s.x + s.z),
            1.0 / (s.x + s.y),
        ));
        let expected = -x.cross_matrix() * inverse * y.cross_matrix();
        let found = Local::new(&rigid, &s).between(&x, &y);
        assert!((found - expected).norm() < 1e-12 * expected.norm());
        let stiff = Local::new(&kind(1e15, 0.3, second), &s).between(&x, &y);
        assert!((stiff - expected).norm() < 1e-8 * expected.norm());
    }

    #[test]
    fn a_pair_of_anchors_is_what_the_increment_does_between_them() {
        let kind = kind(1e4, 0.3, Vec3::new(0.01, 0.2, 0.05));
        let local = Local::new(&kind, &kind.inertia(0.01));
        let (x, y) = (Vec3::new(0.5, -0.2, 0.1), Vec3::new(-0.3, 0.4, 0.2));
        let between = local.between(&x, &y);
        for axis in 0..3 {
            let force = Vec3::ith(axis, 1.0);
            let motion = local.apply(&(force * y.transpose())) * x;
            assert!((motion - between.column(axis)).norm() < 1e-15);
        }
    }

    #[test]
    fn a_root_of_the_inverse_makes_its_products() {
        let second = Vec3::new(0.01, 0.2, 0.05);
        let (load, push) = (load(), Vec3::new(0.3, -2.0, 0.7));
        let soft = [(1e2, 0.3), (1e4, 0.45), (1e13, 0.0), (1e3, -0.6)];
        let mut kinds: Vec<BodyKind> = soft.iter().map(|&(e, nu)| kind(e, nu, second)).collect();
        kinds.push(BodyKind { softness: 0.0, ..kinds[0] });
        kinds.push(BodyKind { second: Vec3::new(0.0, 0.2, 0.05), ..kinds[0] });
        for kind in kinds {
            let (s, h) = (kind.inertia(0.01), 0.01);
            let moved = Local::new(&kind, &s).apply(&load);
            let expected = moved.dot(&load) + push.norm_squared() * h * h / kind.mass;
            let image = Root::new(&kind, &s, h).project(&load, &push);
            assert!(image[Root::columns(&kind)..].iter().all(|&x| x == 0.0));
            let found: f64 = image.iter().map(|x| x * x).sum();
            assert!((found / expected - 1.0).abs() < 1e-12, "{kind:?}: {found} {expected}");
        }
    }

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
