//! The 6x6 system of one body, assembled from its rows and solved through a Schur complement.
//!
//! Rigid VBD document, "Solving via Schur complement": with `ll` the translation block, `aa` the
//! rotation block and `al` the block visits them (rows rotate, columns translate),
//! `(aa - al ll^-1 al^T) w = fa - al ll^-1 fl` and then `ll x = fl - al^T w`.

use taut_math::{M3, Real, Sym3, V3};

/// Hessian blocks and descent force of one body or particle.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Block<R> {
    /// Translation block [N/m].
    pub ll: Sym3<R>,
    /// Rotation block [N m/rad].
    pub aa: Sym3<R>,
    /// Visits block, rotation rows by translation columns [N/rad].
    pub al: M3<R>,
    /// Force: minus the gradient with respect to translation [N].
    pub fl: V3<R>,
    /// Torque: minus the gradient with respect to rotation [N m].
    pub fa: V3<R>,
}

impl<R: Real> Block<R> {
    /// The inertial part alone: `mass`, `inertia` per squared step, and how far the body is from its
    /// inertial target (Eq. 5 and 6).
    #[inline]
    pub fn inertial(mass: R, inertia: &Sym3<R>, linear: V3<R>, angular: V3<R>) -> Self {
        Self {
            ll: Sym3::diagonal(V3([mass; 3])),
            aa: *inertia,
            al: M3::ZERO,
            fl: linear * -mass,
            fa: -inertia.apply(angular),
        }
    }

    /// The sum of both.
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            ll: self.ll.plus(other.ll),
            aa: self.aa.plus(other.aa),
            al: self.al.plus(other.al),
            fl: self.fl + other.fl,
            fa: self.fa + other.fa,
        }
    }

    /// Adds three point rows with stiffness `k` along the world axes at lever `arm`, pulling with
    /// `force` on this body (Eq. 9 and 17 without the second derivative).
    #[inline]
    pub fn add_point(&mut self, k: V3<R>, arm: V3<R>, force: V3<R>) {
        let [k0, k1, k2] = k.0;
        let [x, y, z] = arm.0;
        let (ll, aa) = (&mut self.ll.0, &mut self.aa.0);
        ll[0] += k0;
        ll[1] += k1;
        ll[2] += k2;
        let (xk1, xk2) = (x * k1, x * k2);
        let (yk0, yk2) = (y * k0, y * k2);
        let (zk0, zk1) = (z * k0, z * k1);
        aa[0] += z * zk1 + y * yk2;
        aa[1] += z * zk0 + x * xk2;
        aa[2] += y * yk0 + x * xk1;
        aa[3] += -(x * yk2);
        aa[4] += -(x * zk1);
        aa[5] += -(y * zk0);
        let rows = &mut self.al.0;
        rows[0].0[1] += -zk1;
        rows[0].0[2] += yk2;
        rows[1].0[0] += zk0;
        rows[1].0[2] += -xk2;
        rows[2].0[0] += -yk0;
        rows[2].0[1] += xk1;
        self.fl += force;
        self.fa += arm.cross(force);
    }

    /// Adds the column norms of the lever arm's second derivative `r F^T - (r.F) I` to the rotation
    /// block: the diagonal stand-in for geometric stiffness (Eq. 17, section 3.5).
    #[inline]
    pub fn add_lever_curvature(&mut self, arm: V3<R>, force: V3<R>) {
        let g = lever_curvature(arm, force);
        self.aa.0[0] += g.0[0];
        self.aa.0[1] += g.0[1];
        self.aa.0[2] += g.0[2];
    }

    /// Adds one row with gradient `(jl, ja)`, stiffness `k` and scalar force `f` (`kC + lambda`).
    #[inline]
    pub fn add_row(&mut self, jl: V3<R>, ja: V3<R>, k: R, f: R) {
        self.ll = self.ll.plus(Sym3::outer(jl, k));
        self.aa = self.aa.plus(Sym3::outer(ja, k));
        self.al = self.al.plus(M3::outer(ja * k, jl));
        self.fl += jl * -f;
        self.fa += ja * -f;
    }

    /// Adds a force at lever `arm` with its second derivative `h` by the point that it acts on.
    #[inline]
    pub fn add_pull(&mut self, h: &Sym3<R>, arm: V3<R>, force: V3<R>) {
        let lever = M3::skew(arm);
        self.ll = self.ll.plus(*h);
        self.aa = self.aa.plus(h.rotated(&lever));
        self.al = self.al.plus(M3(lever.0.map(|row| h.apply(row))));
        self.fl += force;
        self.fa += arm.cross(force);
        self.add_lever_curvature(arm, force);
    }

    /// Adds one row that only rotates: gradient `ja`, stiffness `k`, force `f`.
    #[inline]
    pub fn add_angular(&mut self, ja: V3<R>, k: R, f: R) {
        self.aa = self.aa.plus(Sym3::outer(ja, k));
        self.fa += ja * -f;
    }

    /// Adds the column norms of a 6x6 second derivative, scaled by the magnitude of the force.
    pub fn add_lumped(&mut self, ll: &M3<R>, al: &M3<R>, aa: &M3<R>, f: R) {
        let size = f.abs();
        for c in 0..3 {
            let linear = (ll.column(c).dot(ll.column(c)) + al.column(c).dot(al.column(c))).sqrt();
            let angular = (al.0[c].dot(al.0[c]) + aa.column(c).dot(aa.column(c))).sqrt();
            self.ll.0[c] += size * linear;
            self.aa.0[c] += size * angular;
        }
    }

    /// Newton step of a particle.
    #[inline]
    pub fn solve_translation(&self) -> V3<R> {
        self.ll.solve(self.fl)
    }

    /// Newton step `(translation, rotation)` of a body whose translation block is diagonal.
    #[inline]
    pub fn solve_diagonal(&self) -> (V3<R>, V3<R>) {
        let [l0, l1, l2, ..] = self.ll.0;
        let inverse = V3([R::ONE / l0, R::ONE / l1, R::ONE / l2]);
        let [a, b, c] = self.al.0;
        let half = [a.scale(inverse), b.scale(inverse), c.scale(inverse)];
        self.solve_with(half, |f| f.scale(inverse))
    }

    /// Newton step `(translation, rotation)` of a body.
    #[inline]
    pub fn solve(&self) -> (V3<R>, V3<R>) {
        let [a, b, c] = self.al.0;
        let half = [self.ll.solve(a), self.ll.solve(b), self.ll.solve(c)];
        self.solve_with(half, |f| self.ll.solve(f))
    }

    /// `half` are the rows of `al ll^-1`.
    #[inline]
    fn solve_with(&self, half: [V3<R>; 3], inverse: impl Fn(V3<R>) -> V3<R>) -> (V3<R>, V3<R>) {
        let entry = |i: usize, j: usize| half[i].dot(self.al.0[j]);
        let a = self.aa.0;
        let schur = Sym3([
            a[0] - entry(0, 0),
            a[1] - entry(1, 1),
            a[2] - entry(2, 2),
            a[3] - entry(0, 1),
            a[4] - entry(0, 2),
            a[5] - entry(1, 2),
        ]);
        let couple = V3([half[0].dot(self.fl), half[1].dot(self.fl), half[2].dot(self.fl)]);
        let w = schur.solve(self.fa - couple);
        (inverse(self.fl - self.al.apply_transposed(w)), w)
    }
}

/// The block of a body on which only point rows act, each with one stiffness for all three axes.
///
/// Its translation block is a multiple of the unit matrix and its visits block a cross product,
/// so both the assembly and the Schur complement shrink to a few vector operations.
#[derive(Clone, Copy, Debug)]
pub struct PointBlock<R> {
    /// The translation block is this times the unit matrix [N/m].
    pub stiffness: R,
    /// The visits block is the cross-product matrix of this [N].
    pub lever: V3<R>,
    /// Rotation block [N m/rad].
    pub aa: Sym3<R>,
    /// Force [N].
    pub fl: V3<R>,
    /// Torque [N m].
    pub fa: V3<R>,
}

impl<R: Real> PointBlock<R> {
    /// The inertial part alone, as [`Block::inertial`].
    #[inline]
    pub fn inertial(mass: R, inertia: &Sym3<R>, linear: V3<R>, angular: V3<R>) -> Self {
        Self {
            stiffness: mass,
            lever: V3::ZERO,
            aa: *inertia,
            fl: linear * -mass,
            fa: -inertia.apply(angular),
        }
    }

    /// Adds three point rows of stiffness `k`; `curved` adds the lumped lever curvature too.
    #[inline]
    pub fn add_point(&mut self, k: R, arm: V3<R>, force: V3<R>, curved: bool) {
        let scaled = arm * k;
        let ([x, y, z], [kx, ky, kz]) = (arm.0, scaled.0);
        let (xx, yy, zz) = (x * kx, y * ky, z * kz);
        let aa = &mut self.aa.0;
        aa[0] += yy + zz;
        aa[1] += xx + zz;
        aa[2] += xx + yy;
        aa[3] += -(x * ky);
        aa[4] += -(x * kz);
        aa[5] += -(y * kz);
        if curved {
            let g = lever_curvature(arm, force);
            aa[0] += g.0[0];
            aa[1] += g.0[1];
            aa[2] += g.0[2];
        }
        self.stiffness += k;
        self.lever += scaled;
        self.fl += force;
        self.fa += arm.cross(force);
    }

    /// Newton step `(translation, rotation)`.
    #[inline]
    pub fn solve(&self) -> (V3<R>, V3<R>) {
        let inverse = R::ONE / self.stiffness;
        let c = self.lever;
        let half = c * inverse;
        let ([x, y, z], [hx, hy, hz]) = (c.0, half.0);
        let (xx, yy, zz) = (x * hx, y * hy, z * hz);
        let a = self.aa.0;
        // [c]x [c]x^T = |c|^2 I - c c^T.
        let schur = Sym3([
            a[0] - (yy + zz),
            a[1] - (xx + zz),
            a[2] - (xx + yy),
            a[3] + x * hy,
            a[4] + x * hz,
            a[5] + y * hz,
        ]);
        let w = schur.solve(self.fa - half.cross(self.fl));
        ((self.fl + c.cross(w)) * inverse, w)
    }
}

/// Column norms of the lever arm's second derivative `r F^T - (r.F) I` (Eq. 17, section 3.5).
#[inline]
fn lever_curvature<R: Real>(arm: V3<R>, force: V3<R>) -> V3<R> {
    let (along, square) = (arm.dot(force), arm.dot(arm));
    let column = |f: R, r: R| {
        let norm_square = f * f * square - R::TWO * f * r * along + along * along;
        norm_square.max(R::ZERO).sqrt()
    };
    let ([x, y, z], [fx, fy, fz]) = (arm.0, force.0);
    V3([column(fx, x), column(fy, y), column(fz, z)])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Block<f64> {
        let inertia = Sym3([2.0, 3.0, 4.0, 0.1, -0.2, 0.3]);
        let mut block =
            Block::inertial(5.0, &inertia, V3([0.1, 0.2, -0.3]), V3([0.05, -0.02, 0.01]));
        block.add_point(V3([7.0, 8.0, 9.0]), V3([0.5, -0.4, 0.3]), V3([1.0, 2.0, 3.0]));
        block
    }

    fn residual(block: &Block<f64>, x: V3<f64>, w: V3<f64>) -> f64 {
        let linear = block.ll.apply(x) + block.al.apply_transposed(w) - block.fl;
        let angular = block.al.apply(x) + block.aa.apply(w) - block.fa;
        linear.norm() + angular.norm()
    }

    #[test]
    fn both_solves_satisfy_the_system() {
        let block = sample();
        let (x, w) = block.solve_diagonal();
        assert!(residual(&block, x, w) < 1e-13);
        let mut full = block;
        full.add_row(V3([0.6, 0.0, 0.8]), V3([0.1, 0.9, -0.4]), 30.0, 2.0);
        let (x, w) = full.solve();
        assert!(residual(&full, x, w) < 1e-12);
    }

    #[test]
    fn point_blocks_take_the_same_step_as_full_ones() {
        let inertia = Sym3([2.0, 3.0, 4.0, 0.1, -0.2, 0.3]);
        let (lag, spin) = (V3([0.1, 0.2, -0.3]), V3([0.05, -0.02, 0.01]));
        let mut full = Block::inertial(5.0, &inertia, lag, spin);
        let mut short = PointBlock::inertial(5.0, &inertia, lag, spin);
        for (k, arm, force) in [
            (7.0, V3([0.5, -0.4, 0.3]), V3([1.0, 2.0, 3.0])),
            (90.0, V3([-0.2, 0.6, 0.1]), V3([-4.0, 0.5, 8.0])),
        ] {
            full.add_point(V3([k; 3]), arm, force);
            full.add_lever_curvature(arm, force);
            short.add_point(k, arm, force, true);
        }
        let ((x, w), (y, v)) = (full.solve(), short.solve());
        assert!((x - y).norm() < 1e-14 && (w - v).norm() < 1e-14);
    }

    #[test]
    fn point_rows_equal_three_scalar_rows() {
        let (k, arm, force) = (V3([7.0, 8.0, 9.0]), V3([0.5, -0.4, 0.3]), V3([1.0, 2.0, 3.0]));
        let (mut fast, mut slow) = (Block::<f64>::default(), Block::default());
        fast.add_point(k, arm, force);
        for c in 0..3 {
            let e = V3::axis(c);
            slow.add_row(e, arm.cross(e), k.0[c], -force.0[c]);
        }
        assert!((fast.fa - slow.fa).norm() < 1e-14 && (fast.fl - slow.fl).norm() < 1e-14);
        for i in 0..6 {
            assert!((fast.ll.0[i] - slow.ll.0[i]).abs() < 1e-13);
            assert!((fast.aa.0[i] - slow.aa.0[i]).abs() < 1e-13);
        }
        for i in 0..3 {
            assert!((fast.al.0[i] - slow.al.0[i]).norm() < 1e-13);
        }
    }
}
