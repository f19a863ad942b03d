//! The closed form of a body's local inverse, and a root of it.

use taut_core::{Mat3, Vec3};
use taut_math::{Fused, Number};

use crate::body::BodyKind;

/// The inverse of `S' + K` on co-rotated increments, `S'` being the inertia over `h^2` and what
/// tension adds to it. Finite for rigid bodies, to which it then gives skew increments only.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LocalInverse<N> {
    /// From a load `r_ij` to its own increment, for `ij` = 12, 21, 13, 31, 23, 32.
    own: [N; 6],
    /// From `r_ji` to the increment `ij`, for the pairs 12, 13, 23.
    mirrored: [N; 3],
    /// Among the diagonal: 11, 22, 33, 12, 13, 23; none of rigid bodies.
    diagonal: Option<[N; 6]>,
}

/// Entries of the inverse for two columns: of each with itself, and with its mirror image.
#[inline(always)]
fn pair<N: Number>(soft: N, s: N, t: N) -> [N; 3] {
    let inverse = N::ONE / (soft * s * t + s + t);
    [(soft * s + N::ONE) * inverse, (soft * t + N::ONE) * inverse, -inverse]
}

impl<N: Number> LocalInverse<N> {
    pub(crate) const NONE: Self =
        Self { own: [N::ZERO; 6], mirrored: [N::ZERO; 3], diagonal: None };

    /// The inverse for inertias `s`; `rigid` where no body is soft.
    #[inline(always)]
    pub(crate) fn new(soft: N, ratio: N, rigid: bool, s: [N; 3]) -> Self {
        let ([a12, a21, b12], [a13, a31, b13], [a23, a32, b23]) =
            (pair(soft, s[0], s[1]), pair(soft, s[0], s[2]), pair(soft, s[1], s[2]));
        let mut diagonal = None;
        if !rigid {
            // Sherman and Morrison, scaled by the softness so that nothing grows as it vanishes.
            let two = N::ONE + N::ONE;
            let e = [
                N::ONE / (soft * s[0] + two),
                N::ONE / (soft * s[1] + two),
                N::ONE / (soft * s[2] + two),
            ];
            let shared = ratio / (N::ONE + ratio * (e[0] + e[1] + e[2]));
            let less = soft * shared;
            diagonal = Some([
                soft * e[0] - less * e[0] * e[0],
                soft * e[1] - less * e[1] * e[1],
                soft * e[2] - less * e[2] * e[2],
                -(less * e[0] * e[1]),
                -(less * e[0] * e[2]),
                -(less * e[1] * e[2]),
            ]);
        }
        Self { own: [a12, a21, a13, a31, a23, a32], mirrored: [b12, b13, b23], diagonal }
    }

    /// The increment under a load, both co-rotated, by columns.
    #[inline(always)]
    pub(crate) fn apply(&self, r: [[N; 3]; 3]) -> [[N; 3]; 3] {
        let ([a12, a21, a13, a31, a23, a32], [b12, b13, b23]) = (self.own, self.mirrored);
        let (r11, r22, r33) = (r[0][0], r[1][1], r[2][2]);
        let along = match self.diagonal {
            None => [N::ZERO; 3],
            Some([d1, d2, d3, d12, d13, d23]) => [
                d13.times_plus(r33, d12.times_plus(r22, d1 * r11)),
                d23.times_plus(r33, d2.times_plus(r22, d12 * r11)),
                d3.times_plus(r33, d23.times_plus(r22, d13 * r11)),
            ],
        };
        // By columns: entry `ij` of the matrix is `[j][i]`.
        [
            [
                along[0],
                a21.times_plus(r[0][1], b12 * r[1][0]),
                a31.times_plus(r[0][2], b13 * r[2][0]),
            ],
            [
                a12.times_plus(r[1][0], b12 * r[0][1]),
                along[1],
                a32.times_plus(r[1][2], b23 * r[2][1]),
            ],
            [
                a13.times_plus(r[2][0], b13 * r[0][2]),
                a23.times_plus(r[2][1], b23 * r[1][2]),
                along[2],
            ],
        ]
    }

    /// The same for a load on the first column alone.
    #[inline(always)]
    pub(crate) fn apply_first(&self, r: [N; 3]) -> [[N; 3]; 3] {
        let ([_, a21, _, a31, _, _], [b12, b13, _]) = (self.own, self.mirrored);
        let along = match self.diagonal {
            None => [N::ZERO; 3],
            Some([d1, _, _, d12, d13, _]) => [d1 * r[0], d12 * r[0], d13 * r[0]],
        };
        let zero = N::ZERO;
        [
            [along[0], a21 * r[1], a31 * r[2]],
            [b12 * r[1], along[1], zero],
            [b13 * r[2], zero, along[2]],
        ]
    }

    /// The diagonal of [`Self::between`] for unit anchors along an axis.
    #[inline(always)]
    pub(crate) fn along(&self, axis: usize) -> [N; 3] {
        let [a12, a21, a13, a31, a23, a32] = self.own;
        let itself = self.diagonal.map_or(N::ZERO, |d| d[axis]);
        match axis {
            0 => [itself, a21, a31],
            1 => [a12, itself, a32],
            _ => [a13, a23, itself],
        }
    }

    /// The entries of [`Self::between`] for unit anchors along two different axes `a` and `b`: in row `b` and column `a`, and
    /// in row `a` and column `b`.
    #[inline(always)]
    pub(crate) fn across(&self, a: usize, b: usize) -> (N, N) {
        let pair = a + b - 1;
        (self.mirrored[pair], self.diagonal.map_or(N::ZERO, |d| d[3 + pair]))
    }

    /// Motion of the point `x` under unit forces at the point `y`, relative to that of the origin: the
    /// constant 3x3 block of a pair of anchors in principal coordinates, by columns.
    #[inline(always)]
    pub(crate) fn between(&self, x: [N; 3], y: [N; 3]) -> [[N; 3]; 3] {
        let ([a12, a21, a13, a31, a23, a32], [b12, b13, b23]) = (self.own, self.mirrored);
        let (p1, p2, p3) = (x[0] * y[0], x[1] * y[1], x[2] * y[2]);
        let rigid = [
            [a12 * p2 + a13 * p3, b12 * x[0] * y[1], b13 * x[0] * y[2]],
            [b12 * x[1] * y[0], a21 * p1 + a23 * p3, b23 * x[1] * y[2]],
            [b13 * x[2] * y[0], b23 * x[2] * y[1], a31 * p1 + a32 * p2],
        ];
        let Some([d1, d2, d3, d12, d13, d23]) = self.diagonal else { return rigid };
        let elastic = [
            [d1 * p1, d12 * x[1] * y[0], d13 * x[2] * y[0]],
            [d12 * x[0] * y[1], d2 * p2, d23 * x[2] * y[1]],
            [d13 * x[0] * y[2], d23 * x[1] * y[2], d3 * p3],
        ];
        let mut sum = rigid;
        for (sum, elastic) in sum.iter_mut().zip(elastic) {
            for (sum, elastic) in sum.iter_mut().zip(elastic) {
                *sum += elastic;
            }
        }
        sum
    }
}

impl LocalInverse<Fused> {
    /// That of one body.
    pub(crate) fn lane(&self, k: usize) -> LocalInverse<f64> {
        LocalInverse {
            own: self.own.map(|x| x.0[k]),
            mirrored: self.mirrored.map(|x| x.0[k]),
            diagonal: self.diagonal.map(|all| all.map(|x| x.0[k])),
        }
    }
}

impl LocalInverse<f64> {
    /// The inverse of one body for inertias `s` [kg m^2/s^2].
    #[inline(always)]
    pub(crate) fn of(kind: &BodyKind, s: &Vec3) -> Self {
        Self::new(kind.softness, kind.ratio, kind.softness == 0.0, (*s).into())
    }

    /// The increment under a load, both co-rotated.
    #[inline(always)]
    pub(crate) fn under(&self, load: &Mat3) -> Mat3 {
        self.apply(load.data.0).into()
    }

    /// What [`Self::between`] tells.
    #[cfg(test)]
    pub(crate) fn of_anchors(&self, x: &Vec3, y: &Vec3) -> Mat3 {
        self.between((*x).into(), (*y).into()).into()
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
    /// Whether it is of a point that has no frame.
    point: bool,
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
        let (soft, local) = (kind.softness, LocalInverse::of(kind, s));
        let pair = |i: usize, own: f64, mirrored: f64| {
            let first = own.sqrt();
            // What is left of the other entry, without the difference of equal numbers of stiff bodies.
            [first, mirrored / first, (soft / (soft * s[i] + 1.0)).sqrt()]
        };
        let ([a12, _, a13, _, a23, _], [b12, b13, b23]) = (local.own, local.mirrored);
        let mut diagonal = [0.0; 6];
        if let Some([d1, d2, d3, d12, d13, d23]) = local.diagonal {
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
            point: false,
        }
    }

    /// How many columns the factor of a point has.
    pub(crate) const POINT: usize = 3;

    /// The factor for the inertia of a point of this mass [kg] and a step of `h` [s].
    pub(crate) fn of_point(mass: f64, h: f64) -> Self {
        let (pairs, diagonal) = ([[0.0; 3]; 3], [0.0; 6]);
        Self { pairs, diagonal, reach: h / mass.sqrt(), rigid: true, point: true }
    }

    /// By what the amounts of the origin's columns move it [m].
    pub(crate) fn reach(&self) -> f64 {
        self.reach
    }

    /// `B^T g` for a gradient by frame and origin, frames co-rotated; of a rigid body the first six, of a point three.
    #[inline(always)]
    pub(crate) fn project(&self, frame: &Mat3, origin: &Vec3) -> [f64; Self::COLUMNS] {
        let [p, q, r] = self.pairs;
        let mut out = [0.0; Self::COLUMNS];
        if self.point {
            out[..3].copy_from_slice((origin * self.reach).as_slice());
            return out;
        }
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
    use crate::body::constants;

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
            let found = LocalInverse::of(&kind, &s).under(&load());
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
        let found = LocalInverse::of(&kind, &s).under(&load());
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
        let found = LocalInverse::of(&rigid, &s).of_anchors(&x, &y);
        assert!((found - expected).norm() < 1e-12 * expected.norm());
        let stiff = LocalInverse::of(&kind(1e15, 0.3, second), &s).of_anchors(&x, &y);
        assert!((stiff - expected).norm() < 1e-8 * expected.norm());
    }

    #[test]
    fn a_pair_of_anchors_is_what_the_increment_does_between_them() {
        let kind = kind(1e4, 0.3, Vec3::new(0.01, 0.2, 0.05));
        let local = LocalInverse::of(&kind, &kind.inertia(0.01));
        let (x, y) = (Vec3::new(0.5, -0.2, 0.1), Vec3::new(-0.3, 0.4, 0.2));
        let between = local.of_anchors(&x, &y);
        for axis in 0..3 {
            let force = Vec3::ith(axis, 1.0);
            let motion = local.under(&(force * y.transpose())) * x;
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
            let moved = LocalInverse::of(&kind, &s).under(&load);
            let expected = moved.dot(&load) + push.norm_squared() * h * h / kind.mass;
            let image = Root::new(&kind, &s, h).project(&load, &push);
            assert!(image[Root::columns(&kind)..].iter().all(|&x| x == 0.0));
            let found: f64 = image.iter().map(|x| x * x).sum();
            assert!((found / expected - 1.0).abs() < 1e-12, "{kind:?}: {found} {expected}");
        }
    }
}
