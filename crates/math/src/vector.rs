//! Vectors, matrices and quaternions of numbers, with a fixed order of operations.
//!
//! The order matters: a shader that adds the same products in the same order gives the same bits.

use std::ops::{Add, AddAssign, Mul, Neg, Sub};

use nalgebra::{Matrix3, Quaternion, UnitQuaternion, Vector3};

use crate::number::{Number, Real, Wide};

/// A vector of three numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct V3<N>(pub [N; 3]);

/// A symmetric 3x3 matrix: `xx, yy, zz, xy, xz, yz`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sym3<N>(pub [N; 6]);

/// A 3x3 matrix by rows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct M3<N>(pub [V3<N>; 3]);

/// A rotation quaternion: vector part, then scalar part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Q4<N> {
    /// Vector part.
    pub v: V3<N>,
    /// Scalar part.
    pub w: N,
}

impl<N: Number> V3<N> {
    /// The zero vector.
    pub const ZERO: Self = Self([N::ZERO; 3]);

    /// Rounds a vector of the scene.
    #[inline]
    pub fn of(v: &Vector3<f64>) -> Self {
        Self([N::of(v.x), N::of(v.y), N::of(v.z)])
    }

    /// A unit vector.
    #[inline]
    pub fn axis(i: usize) -> Self {
        let mut v = [N::ZERO; 3];
        v[i] = N::ONE;
        Self(v)
    }

    /// Scalar product.
    #[inline(always)]
    pub fn dot(self, other: Self) -> N {
        let (a, b) = (self.0, other.0);
        a[2].times_plus(b[2], a[1].times_plus(b[1], a[0] * b[0]))
    }

    /// Vector product.
    #[inline(always)]
    pub fn cross(self, o: Self) -> Self {
        let (a, b) = (self.0, o.0);
        Self([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])
    }

    /// Product component by component.
    #[inline(always)]
    pub fn scale(self, o: Self) -> Self {
        Self([self.0[0] * o.0[0], self.0[1] * o.0[1], self.0[2] * o.0[2]])
    }

    /// A function of each component.
    ///
    /// Arrays' own `map` is not always inlined, which shows in the sweep.
    #[inline(always)]
    pub fn each(self, f: impl Fn(N) -> N) -> Self {
        Self([f(self.0[0]), f(self.0[1]), f(self.0[2])])
    }

    /// Euclidean norm.
    #[inline(always)]
    pub fn norm(self) -> N {
        self.dot(self).sqrt()
    }
}

impl<R: Real> V3<R> {
    /// This vector in double precision.
    #[inline]
    pub fn to_f64(self) -> Vector3<f64> {
        Vector3::new(self.0[0].to_f64(), self.0[1].to_f64(), self.0[2].to_f64())
    }
}

impl<W: Wide> V3<W> {
    /// From one vector per lane.
    #[inline(always)]
    pub fn gather(lane: impl Fn(usize) -> V3<W::Lane>) -> Self {
        let (a, b, c, d) = (lane(0).0, lane(1).0, lane(2).0, lane(3).0);
        let part = |i: usize| W::from_lanes([a[i], b[i], c[i], d[i]]);
        Self([part(0), part(1), part(2)])
    }

    /// The vector in one lane.
    #[inline(always)]
    pub fn lane(&self, i: usize) -> V3<W::Lane> {
        V3([self.0[0].lane(i), self.0[1].lane(i), self.0[2].lane(i)])
    }
}

impl<N: Number> Add for V3<N> {
    type Output = Self;
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        Self([self.0[0] + o.0[0], self.0[1] + o.0[1], self.0[2] + o.0[2]])
    }
}

impl<N: Number> AddAssign for V3<N> {
    #[inline(always)]
    fn add_assign(&mut self, o: Self) {
        *self = *self + o;
    }
}

impl<N: Number> Sub for V3<N> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, o: Self) -> Self {
        Self([self.0[0] - o.0[0], self.0[1] - o.0[1], self.0[2] - o.0[2]])
    }
}

impl<N: Number> Neg for V3<N> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self([-self.0[0], -self.0[1], -self.0[2]])
    }
}

impl<N: Number> Mul<N> for V3<N> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, s: N) -> Self {
        Self([self.0[0] * s, self.0[1] * s, self.0[2] * s])
    }
}

impl<N: Number> Sym3<N> {
    /// The zero matrix.
    pub const ZERO: Self = Self([N::ZERO; 6]);

    /// The symmetric part of a matrix of the scene, rounded.
    #[inline]
    pub fn of(m: &Matrix3<f64>) -> Self {
        let half = |i, j| N::of(0.5 * (m[(i, j)] + m[(j, i)]));
        Self([half(0, 0), half(1, 1), half(2, 2), half(0, 1), half(0, 2), half(1, 2)])
    }

    /// Diagonal matrix.
    #[inline(always)]
    pub fn diagonal(d: V3<N>) -> Self {
        Self([d.0[0], d.0[1], d.0[2], N::ZERO, N::ZERO, N::ZERO])
    }

    /// `s u u^T`.
    #[inline(always)]
    pub fn outer(u: V3<N>, s: N) -> Self {
        let (v, u) = ((u * s).0, u.0);
        Self([u[0] * v[0], u[1] * v[1], u[2] * v[2], u[0] * v[1], u[0] * v[2], u[1] * v[2]])
    }

    /// Sum.
    #[inline(always)]
    pub fn plus(self, o: Self) -> Self {
        let (a, b) = (self.0, o.0);
        Self([a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3], a[4] + b[4], a[5] + b[5]])
    }

    /// Multiple.
    #[inline(always)]
    pub fn times(self, s: N) -> Self {
        let a = self.0;
        Self([a[0] * s, a[1] * s, a[2] * s, a[3] * s, a[4] * s, a[5] * s])
    }

    /// Matrix times vector.
    #[inline(always)]
    pub fn apply(&self, v: V3<N>) -> V3<N> {
        let ([xx, yy, zz, xy, xz, yz], [x, y, z]) = (self.0, v.0);
        let rows = [V3([xx, xy, xz]), V3([xy, yy, yz]), V3([xz, yz, zz])];
        M3(rows).apply(V3([x, y, z]))
    }

    /// `R S R^T`.
    #[inline]
    pub fn rotated(&self, r: &M3<N>) -> Self {
        let half = M3([self.apply(r.0[0]), self.apply(r.0[1]), self.apply(r.0[2])]);
        let entry = |i: usize, j: usize| half.0[i].dot(r.0[j]);
        Self([entry(0, 0), entry(1, 1), entry(2, 2), entry(0, 1), entry(0, 2), entry(1, 2)])
    }

    /// Solves `S x = b` by `L D L^T`; a pivot that is not positive leaves its direction unmoved.
    ///
    /// The second pivot is divided as a 2x2 minor, so that its division need not wait for the first.
    #[inline]
    pub fn solve(&self, b: V3<N>) -> V3<N> {
        let [xx, yy, zz, xy, xz, yz] = self.0;
        let [b0, b1, b2] = b.0;
        let i0 = xx.inverse_or_zero();
        let minor = (xx * yy - xy * xy).inverse_or_zero();
        let c = xx * yz - xy * xz;
        let (l10, l20, l21) = (xy * i0, xz * i0, c * minor);
        let i1 = xx * minor;
        let i2 = (zz - l20 * xz - l21 * (c * i0)).inverse_or_zero();
        let y1 = b1 - l10 * b0;
        let y2 = b2 - l20 * b0 - l21 * y1;
        let x2 = y2 * i2;
        let x1 = y1 * i1 - l21 * x2;
        let x0 = b0 * i0 - l10 * x1 - l20 * x2;
        V3([x0, x1, x2])
    }
}

impl<W: Wide> Sym3<W> {
    /// From one matrix per lane.
    #[inline(always)]
    pub fn gather(lane: impl Fn(usize) -> Sym3<W::Lane>) -> Self {
        let (a, b, c, d) = (lane(0).0, lane(1).0, lane(2).0, lane(3).0);
        let entry = |i: usize| W::from_lanes([a[i], b[i], c[i], d[i]]);
        Self([entry(0), entry(1), entry(2), entry(3), entry(4), entry(5)])
    }
}

impl<N: Number> M3<N> {
    /// The zero matrix.
    pub const ZERO: Self = Self([V3::ZERO; 3]);

    /// The cross-product matrix of `u`.
    #[inline(always)]
    pub fn skew(u: V3<N>) -> Self {
        let ([x, y, z], o) = (u.0, N::ZERO);
        Self([V3([o, -z, y]), V3([z, o, -x]), V3([-y, x, o])])
    }

    /// Sum.
    #[inline(always)]
    pub fn plus(self, o: Self) -> Self {
        Self([self.0[0] + o.0[0], self.0[1] + o.0[1], self.0[2] + o.0[2]])
    }

    /// Product with a number.
    #[inline(always)]
    pub fn times(self, s: N) -> Self {
        Self([self.0[0] * s, self.0[1] * s, self.0[2] * s])
    }

    /// `s u v^T`.
    #[inline(always)]
    pub fn outer(u: V3<N>, v: V3<N>) -> Self {
        Self([v * u.0[0], v * u.0[1], v * u.0[2]])
    }

    /// Matrix times vector.
    #[inline(always)]
    pub fn apply(&self, v: V3<N>) -> V3<N> {
        V3([self.0[0].dot(v), self.0[1].dot(v), self.0[2].dot(v)])
    }

    /// Transposed matrix times vector.
    #[inline(always)]
    pub fn apply_transposed(&self, v: V3<N>) -> V3<N> {
        V3([self.column(0).dot(v), self.column(1).dot(v), self.column(2).dot(v)])
    }

    /// A column.
    #[inline(always)]
    pub fn column(&self, j: usize) -> V3<N> {
        V3([self.0[0].0[j], self.0[1].0[j], self.0[2].0[j]])
    }
}

impl<N: Number> Default for Q4<N> {
    fn default() -> Self {
        Self::IDENTITY
    }
}

impl<N: Number> Q4<N> {
    /// No rotation.
    pub const IDENTITY: Self = Self { v: V3::ZERO, w: N::ONE };

    /// Rounds a rotation of the scene.
    #[inline]
    pub fn of(q: &UnitQuaternion<f64>) -> Self {
        Self { v: V3::of(&q.imag()), w: N::of(q.w) }
    }

    /// The inverse rotation.
    #[inline(always)]
    pub fn conjugate(self) -> Self {
        Self { v: -self.v, w: self.w }
    }

    /// Quaternion product.
    #[inline]
    pub fn times(self, o: Self) -> Self {
        Self {
            v: o.v * self.w + self.v * o.w + self.v.cross(o.v),
            w: self.w * o.w - self.v.dot(o.v),
        }
    }

    /// Scaled to unit length.
    #[inline]
    pub fn normalised(self) -> Self {
        let square = self.v.dot(self.v) + self.w * self.w;
        // Root and division side by side are quicker than one after the other.
        let s = square.sqrt() * (N::ONE / square);
        Self { v: self.v * s, w: self.w * s }
    }

    /// The rotation reached from this one by the world-axis increment `dw` (AVBD Eq. 21).
    #[inline]
    pub fn advanced(self, dw: V3<N>) -> Self {
        let half = dw * N::HALF;
        let turn = Self { v: half, w: N::ONE };
        turn.times(self).normalised()
    }

    /// `R(q) u - u`, without the cancellation of rotating and subtracting.
    #[inline]
    pub fn displacement(self, u: V3<N>) -> V3<N> {
        let t = self.v.cross(u) + u * self.w;
        self.v.cross(t) * N::TWO
    }

    /// `R(q) u`.
    #[inline]
    pub fn rotate(self, u: V3<N>) -> V3<N> {
        u + self.displacement(u)
    }

    /// The rotation matrix.
    #[inline]
    pub fn matrix(self) -> M3<N> {
        let column = |i: usize| self.rotate(V3::axis(i)).0;
        let (x, y, z) = (column(0), column(1), column(2));
        let row = |i: usize| V3([x[i], y[i], z[i]]);
        M3([row(0), row(1), row(2)])
    }
}

impl<W: Wide> Q4<W> {
    /// From one rotation per lane.
    #[inline(always)]
    pub fn gather(lane: impl Fn(usize) -> Q4<W::Lane>) -> Self {
        let (a, b, c, d) = (lane(0), lane(1), lane(2), lane(3));
        let v = V3::gather(|i| [a.v, b.v, c.v, d.v][i]);
        Self { v, w: W::from_lanes([a.w, b.w, c.w, d.w]) }
    }

    /// The same rotation in all lanes.
    #[inline(always)]
    pub fn splat(q: Q4<W::Lane>) -> Self {
        Self { v: V3(q.v.0.map(W::splat)), w: W::splat(q.w) }
    }
}

impl<R: Real> Q4<R> {
    /// This rotation in double precision, normalised.
    #[inline]
    pub fn to_f64(self) -> UnitQuaternion<f64> {
        let v = self.v.to_f64();
        UnitQuaternion::new_normalize(Quaternion::new(self.w.to_f64(), v.x, v.y, v.z))
    }
}

#[cfg(test)]
mod tests {
    use nalgebra::{UnitQuaternion as Quat, Vector3 as Vec3};

    use super::*;

    fn sample() -> (Q4<f64>, Quat<f64>, V3<f64>) {
        let q = Quat::from_scaled_axis(Vec3::new(0.4, -1.1, 0.7));
        (Q4::of(&q), q, V3([0.3, -2.0, 1.5]))
    }

    #[test]
    fn rotation_agrees_with_the_scene_types() {
        let (mine, theirs, u) = sample();
        assert!((mine.rotate(u).to_f64() - theirs * u.to_f64()).norm() < 1e-14);
        assert!((mine.matrix().apply(u).to_f64() - theirs * u.to_f64()).norm() < 1e-14);
        let twice = mine.times(mine).to_f64();
        assert!((twice.angle_to(&(theirs * theirs))).abs() < 1e-12);
    }

    #[test]
    fn symmetric_solve_inverts_apply() {
        let s = Sym3([4.0, 5.0, 6.0, 1.0, -0.5, 0.25]);
        let x = V3([1.0, -2.0, 3.0]);
        let back = s.solve(s.apply(x));
        assert!((back.to_f64() - x.to_f64()).norm() < 1e-14);
        let (q, _, _) = sample();
        let rotated = s.rotated(&q.matrix());
        let direct = q.rotate(s.apply(q.conjugate().rotate(x)));
        assert!((rotated.apply(x).to_f64() - direct.to_f64()).norm() < 1e-13);
    }

    #[test]
    fn small_displacements_keep_their_digits_in_single_precision() {
        let q = Q4::<f32>::IDENTITY.advanced(V3([0.0, 0.0, 1e-6]));
        let moved = q.displacement(V3([1000.0, 0.0, 0.0]));
        assert!((moved.0[1] - 1e-3).abs() < 1e-9, "{moved:?}");
    }
}
