//! Scalar rows in either precision: value, one side's gradient and that side's second derivative.
//!
//! The rows are those of [`taut_core::constraint`]; a test holds them to it.

use taut_core::constraint::RowKind;
use taut_math::{M3, Q4, Real, V3};

/// Which of its two endpoints a joint or spring is seen from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The first.
    A,
    /// The second.
    B,
}

impl Side {
    /// 0 for A, 1 for B.
    #[inline]
    pub fn index(self) -> usize {
        match self {
            Self::A => 0,
            Self::B => 1,
        }
    }
}

/// The vectors of both endpoints that rows are made of, in world axes, at the current iterate.
#[derive(Clone, Copy, Debug)]
pub struct Pair<R> {
    /// From A's centre of mass to its anchor [m].
    pub arm_a: V3<R>,
    /// From B's centre of mass to its anchor [m].
    pub arm_b: V3<R>,
    /// `xA - xB` [m].
    pub offset: V3<R>,
    /// Joint basis of A to world.
    pub basis_a: Q4<R>,
    /// Joint basis of B to world.
    pub basis_b: Q4<R>,
}

/// Value of a row and its gradient with respect to one side's translation and rotation.
#[derive(Clone, Copy, Debug)]
pub struct Gradient<R> {
    /// Value [m or rad].
    pub value: R,
    /// With respect to translation.
    pub linear: V3<R>,
    /// With respect to a world-axis rotation.
    pub angular: V3<R>,
}

/// Second derivatives of a row with respect to one side, rotation rows by translation columns in `al`.
#[derive(Clone, Copy, Debug)]
pub struct Curvature<R> {
    /// Translation block.
    pub ll: M3<R>,
    /// Coupling block.
    pub al: M3<R>,
    /// Rotation block.
    pub aa: M3<R>,
}

impl<R: Real> Pair<R> {
    /// Scalar and vector part of the rotation from A's basis to B's, the scalar part non-negative.
    #[inline]
    pub fn relative(&self) -> (R, V3<R>) {
        let q = self.basis_a.conjugate().times(self.basis_b);
        if q.w < R::ZERO { (-q.w, -q.v) } else { (q.w, q.v) }
    }

    /// Gradients of the three twist rows with respect to B's rotation; A's are the negatives.
    #[inline]
    pub fn twist_gradients(&self) -> [V3<R>; 3] {
        let (w, v) = self.relative();
        [0, 1, 2].map(|c| {
            // Row c of w I - [v]x as a vector.
            let e = V3::axis(c);
            self.basis_a.rotate(e * w + v.cross(e))
        })
    }
}

/// Angles below this go by a series, where differences of large numbers would lose digits [rad].
const SMALL_TURN: f64 = 0.3;

impl<R: Real> Pair<R> {
    /// The rotation vector from A's basis to B's, in A's, at most half a turn long [rad], and the factor of
    /// `[phi]^2` in its gradient; see [`taut_core::constraint`]. Twin: `turning` in `shaders/descent/rows.wgsl`.
    #[inline]
    fn turning(&self) -> (V3<R>, R) {
        let (w, v) = self.relative();
        let s = v.norm();
        let angle = R::TWO * s.atan2(w);
        let square = angle * angle;
        let phi = if s > R::ZERO { v * (angle * (R::ONE / s)) } else { v * R::TWO };
        if angle < R::of(SMALL_TURN) {
            let bend = R::of(1.0 / 30240.0) + square * R::of(1.0 / 1_209_600.0);
            let bend = R::of(1.0 / 720.0) + square * bend;
            return (phi, R::of(1.0 / 12.0) + square * bend);
        }
        (phi, R::ONE / square - w * (R::ONE / (R::TWO * angle * s)))
    }

    /// The rotation vector from A's basis to B's, in A's, at most half a turn long [rad].
    #[inline]
    pub fn turn(&self) -> V3<R> {
        self.turning().0
    }

    /// Gradients of its components with respect to B's rotation; A's are the negatives.
    #[inline]
    pub fn turn_gradients(&self) -> [V3<R>; 3] {
        let (phi, bend) = self.turning();
        [0, 1, 2].map(|c| {
            let e = V3::axis(c);
            let across = phi.cross(e);
            self.basis_a.rotate(e + across * R::HALF + phi.cross(across) * bend)
        })
    }

    /// The sum of the same gradients times `force`, in A's basis.
    #[inline]
    pub fn along_turn(&self, force: V3<R>) -> V3<R> {
        let (phi, bend) = self.turning();
        let across = phi.cross(force);
        force + across * R::HALF + phi.cross(across) * bend
    }
}

/// Value and gradient of a scalar row on one side.
#[inline]
pub fn gradient<R: Real>(kind: RowKind, pair: &Pair<R>, side: Side) -> Gradient<R> {
    let zero = V3::ZERO;
    match (kind, side) {
        (RowKind::Point(axis), Side::A) => {
            let e = V3::axis(axis);
            Gradient { value: pair.offset.0[axis], linear: e, angular: pair.arm_a.cross(e) }
        }
        (RowKind::Point(axis), Side::B) => {
            let e = V3::axis(axis);
            Gradient { value: pair.offset.0[axis], linear: -e, angular: e.cross(pair.arm_b) }
        }
        (RowKind::Slide(axis), _) => {
            let u = pair.basis_a.rotate(V3::axis(axis));
            let value = -u.dot(pair.offset);
            match side {
                Side::A => {
                    let angular = u.cross(pair.arm_a - pair.offset);
                    Gradient { value, linear: -u, angular }
                }
                Side::B => Gradient { value, linear: u, angular: pair.arm_b.cross(u) },
            }
        }
        (RowKind::Dot(i, j), _) => {
            let (u, w) = axes(pair, i, j);
            let torque = u.cross(w);
            let angular = if side == Side::A { torque } else { -torque };
            Gradient { value: u.dot(w), linear: zero, angular }
        }
        (RowKind::Twist(axis), _) => {
            let torque = pair.twist_gradients()[axis];
            let angular = if side == Side::A { -torque } else { torque };
            Gradient { value: R::TWO * pair.relative().1.0[axis], linear: zero, angular }
        }
        (RowKind::Turn(axis), _) => {
            let torque = pair.turn_gradients()[axis];
            let angular = if side == Side::A { -torque } else { torque };
            Gradient { value: pair.turn().0[axis], linear: zero, angular }
        }
        (RowKind::Distance, _) => {
            let value = pair.offset.norm();
            let n = if value > R::ZERO { pair.offset * (R::ONE / value) } else { zero };
            match side {
                Side::A => Gradient { value, linear: n, angular: pair.arm_a.cross(n) },
                Side::B => Gradient { value, linear: -n, angular: n.cross(pair.arm_b) },
            }
        }
        (RowKind::Angle, _) => {
            let (y_a, y_b) = axes(pair, 1, 1);
            let z_a = pair.basis_a.rotate(V3::axis(2));
            let (cosine, sine) = (y_a.dot(y_b), z_a.dot(y_b));
            let across = z_a.cross(y_b) * cosine - y_a.cross(y_b) * sine;
            let torque = across * (R::ONE / (cosine * cosine + sine * sine));
            let value = sine.atan2(cosine);
            let angular = if side == Side::A { torque } else { -torque };
            Gradient { value, linear: zero, angular }
        }
    }
}

/// The value of a row; of an angle, which poses tell up to full turns, with those that bring it nearest to `start`.
#[inline]
pub fn counted<R: Real>(kind: RowKind, value: R, start: R) -> R {
    if kind == RowKind::Angle { value.nearest_turn(start) } else { value }
}

fn axes<R: Real>(pair: &Pair<R>, axis_a: usize, axis_b: usize) -> (V3<R>, V3<R>) {
    (pair.basis_a.rotate(V3::axis(axis_a)), pair.basis_b.rotate(V3::axis(axis_b)))
}

/// Second derivative of a row on one side. Zero for angles, where it vanishes on an aligned hinge, and for rotation
/// vectors, where its sum along a spring's pull is negative.
pub fn curvature<R: Real>(kind: RowKind, pair: &Pair<R>, side: Side) -> Curvature<R> {
    let mut h = Curvature { ll: M3::ZERO, al: M3::ZERO, aa: M3::ZERO };
    match (kind, side) {
        (RowKind::Point(axis), Side::A) => h.aa = rotation(pair.arm_a, V3::axis(axis)),
        (RowKind::Point(axis), Side::B) => h.aa = rotation(pair.arm_b, -V3::axis(axis)),
        (RowKind::Slide(axis), _) => {
            let u = pair.basis_a.rotate(V3::axis(axis));
            match side {
                Side::A => {
                    h.aa = rotation(u, pair.arm_a - pair.offset);
                    h.al = M3::skew(-u);
                }
                Side::B => h.aa = rotation(pair.arm_b, u),
            }
        }
        (RowKind::Dot(i, j), _) => {
            let (u, w) = axes(pair, i, j);
            h.aa = if side == Side::A { rotation(u, w) } else { rotation(w, u) };
        }
        (RowKind::Twist(axis), _) => {
            let quarter = pair.relative().1.0[axis] * -R::HALF;
            h.aa = M3([0, 1, 2].map(|c| V3::axis(c) * quarter));
        }
        (RowKind::Distance, _) => {
            let length = pair.offset.norm();
            if length > R::ZERO {
                distance(&mut h, pair, side, length);
            }
        }
        (RowKind::Angle | RowKind::Turn(_), _) => {}
    }
    h
}

fn distance<R: Real>(h: &mut Curvature<R>, pair: &Pair<R>, side: Side, length: R) {
    let inverse = R::ONE / length;
    let n = pair.offset * inverse;
    let row = |c: usize| (V3::axis(c) + n * -n.0[c]) * inverse;
    let across = M3([row(0), row(1), row(2)]);
    let (arm, pull) = match side {
        Side::A => (pair.arm_a, n),
        Side::B => (pair.arm_b, -n),
    };
    h.ll = across;
    let skew = M3::skew(arm);
    h.al = M3(skew.0.map(|r| across.apply(r)));
    let swept = |i: usize| V3([0, 1, 2].map(|j| h.al.0[i].dot(skew.0[j])));
    h.aa = M3([swept(0), swept(1), swept(2)]).plus(rotation(arm, pull));
}

/// Second derivative of `e . u` with respect to a rotation of `u`.
fn rotation<R: Real>(u: V3<R>, e: V3<R>) -> M3<R> {
    let dot = e.dot(u);
    let row = |i: usize| {
        V3([0, 1, 2].map(|j| {
            let symmetric = (e.0[i] * u.0[j] + u.0[i] * e.0[j]) * R::HALF;
            if i == j { symmetric - dot } else { symmetric }
        }))
    };
    M3([row(0), row(1), row(2)])
}

#[cfg(test)]
mod tests {
    use taut_core::{
        Quat, Vec3,
        constraint::{Geometry, Pose},
    };

    use super::*;

    const ROWS: [RowKind; 15] = [
        RowKind::Point(1),
        RowKind::Slide(0),
        RowKind::Slide(1),
        RowKind::Slide(2),
        RowKind::Dot(1, 0),
        RowKind::Dot(2, 0),
        RowKind::Dot(0, 1),
        RowKind::Twist(0),
        RowKind::Twist(1),
        RowKind::Twist(2),
        RowKind::Turn(0),
        RowKind::Turn(1),
        RowKind::Turn(2),
        RowKind::Distance,
        RowKind::Angle,
    ];

    fn case() -> (Geometry, Pose, Pose, Pair<f64>) {
        let turn = |x, y, z| Quat::from_scaled_axis(Vec3::new(x, y, z));
        let geometry = Geometry {
            anchor_a: Vec3::new(0.5, -0.2, 0.3),
            anchor_b: Vec3::new(-0.4, 0.1, 0.25),
            basis_a: turn(0.3, -0.5, 0.2),
            basis_b: turn(-0.2, 0.4, 0.6),
        };
        let a = Pose { position: Vec3::new(0.1, 0.7, -0.3), rotation: turn(0.4, 0.9, -0.6) };
        let b = Pose { position: Vec3::new(1.2, 0.2, 0.8), rotation: turn(-0.7, 0.3, 1.1) };
        let (arm_a, arm_b) = (a.rotation * geometry.anchor_a, b.rotation * geometry.anchor_b);
        let pair = Pair {
            arm_a: V3::of(&arm_a),
            arm_b: V3::of(&arm_b),
            offset: V3::of(&(a.position + arm_a - b.position - arm_b)),
            basis_a: Q4::of(&(a.rotation * geometry.basis_a)),
            basis_b: Q4::of(&(b.rotation * geometry.basis_b)),
        };
        (geometry, a, b, pair)
    }

    #[test]
    fn gradients_are_those_of_the_model() {
        let (geometry, a, b, pair) = case();
        for kind in ROWS {
            let model = kind.evaluate(&geometry, &a, &b);
            for (side, at) in [(Side::A, 0), (Side::B, 2)] {
                let mine = gradient(kind, &pair, side);
                assert!((mine.value - model.value).abs() < 1e-14, "{kind:?}");
                let linear = mine.linear.to_f64() - model.gradient[at];
                let angular = mine.angular.to_f64() - model.gradient[at + 1];
                assert!(linear.norm() + angular.norm() < 1e-13, "{kind:?} {side:?}");
            }
        }
    }

    #[test]
    fn curvatures_are_those_of_the_model() {
        let (geometry, a, b, pair) = case();
        for kind in
            ROWS.into_iter().filter(|kind| !matches!(kind, RowKind::Angle | RowKind::Turn(_)))
        {
            let model = kind.hessian(&geometry, &a, &b);
            for (side, at) in [(Side::A, 0), (Side::B, 6)] {
                let mine = curvature(kind, &pair, side);
                for i in 0..3 {
                    for j in 0..3 {
                        let entry = |di: usize, dj: usize| model[(at + di + i, at + dj + j)];
                        let gap = (mine.ll.0[i].0[j] - entry(0, 0)).abs()
                            + (mine.al.0[i].0[j] - entry(3, 0)).abs()
                            + (mine.aa.0[i].0[j] - entry(3, 3)).abs();
                        assert!(gap < 1e-13, "{kind:?} {side:?} {i} {j}");
                    }
                }
            }
        }
    }
}
