//! What joints and springs mean: scalar rows of two poses, with exact first and second derivatives.
//!
//! These definitions are the model that every backend approximates and every metric judges.
//! Derivatives are taken with respect to `(pA, tA, pB, tB)`: translations of the centres of mass
//! and world-axis rotation vectors applied from the left, `R <- exp(t) R`. The second-order term of
//! a row along such a motion `z` is `z^T H z / 2` with `H` from [`RowKind::hessian`].

mod turn;

use nalgebra::{SMatrix, Unit};

use crate::{
    math::{Mat3, Quat, Vec3, skew},
    scene::{Endpoint, Joint, JointKind, Spring, SpringKind},
    state::State,
};
use turn::Turning;

/// Second derivatives of one row with respect to `(pA, tA, pB, tB)`.
pub type Hessian = SMatrix<f64, 12, 12>;

/// Position of the centre of mass and rotation of one endpoint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    /// Centre of mass in the world [m].
    pub position: Vec3,
    /// Body to world.
    pub rotation: Quat,
}

impl Pose {
    /// The pose of an endpoint: the origin for the world, no rotation for a particle.
    pub fn of(endpoint: Endpoint, state: &State) -> Self {
        match endpoint {
            Endpoint::World => Self { position: Vec3::zeros(), rotation: Quat::identity() },
            Endpoint::Body(i) => {
                Self { position: state.bodies[i].position, rotation: state.bodies[i].rotation() }
            }
            Endpoint::Particle(i) => {
                Self { position: state.particles[i].position, rotation: Quat::identity() }
            }
        }
    }
}

/// Where a joint or spring holds its two endpoints, in their own coordinates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Geometry {
    /// Anchor on A [m].
    pub anchor_a: Vec3,
    /// Anchor on B [m].
    pub anchor_b: Vec3,
    /// Joint basis on A: joint to A coordinates.
    pub basis_a: Quat,
    /// Joint basis on B: joint to B coordinates.
    pub basis_b: Quat,
}

impl From<&Joint> for Geometry {
    fn from(joint: &Joint) -> Self {
        // A particle has no extent: its anchor is itself.
        let anchor = |endpoint, anchor| match endpoint {
            Endpoint::Particle(_) => Vec3::zeros(),
            _ => anchor,
        };
        Self {
            anchor_a: anchor(joint.a, joint.anchor_a),
            anchor_b: anchor(joint.b, joint.anchor_b),
            basis_a: joint.basis_a,
            basis_b: joint.basis_b,
        }
    }
}

impl From<&Spring> for Geometry {
    fn from(spring: &Spring) -> Self {
        let (zero, identity) = (Vec3::zeros(), Quat::identity());
        let anchor = |endpoint, anchor| match endpoint {
            Endpoint::Particle(_) => zero,
            _ => anchor,
        };
        match spring.kind {
            SpringKind::Linear { anchor_a, anchor_b, .. } => Self {
                anchor_a: anchor(spring.a, anchor_a),
                anchor_b: anchor(spring.b, anchor_b),
                basis_a: identity,
                basis_b: identity,
            },
            SpringKind::Angular { basis_a, basis_b } => {
                Self { anchor_a: zero, anchor_b: zero, basis_a, basis_b }
            }
        }
    }
}

/// One scalar function of two poses. Axes are numbered 0, 1, 2 for x, y, z.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowKind {
    /// Component of `xA - xB` along a world axis [m].
    Point(usize),
    /// Component of `xB - xA` along an axis of A's joint basis [m]: how far B has slid.
    Slide(usize),
    /// Cosine of the angle between an axis of A's basis and one of B's; a small angle from square
    /// is minus its value [rad].
    Dot(usize, usize),
    /// Component of `2 vec(q)`, `q` turning A's basis into B's with `q.w >= 0` [rad].
    Twist(usize),
    /// Component of the rotation vector of `q`, at most half a turn long [rad].
    Turn(usize),
    /// Distance of the anchors [m].
    Distance,
    /// Angle from A's y axis to B's about A's x axis, in (-pi, pi] [rad].
    Angle,
}

/// Value and gradient of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evaluation {
    /// Value of the row [m or rad].
    pub value: f64,
    /// Gradient with respect to `pA`, `tA`, `pB`, `tB`.
    pub gradient: [Vec3; 4],
}

/// The rows that a joint holds at a target value: `(row, target)`.
pub fn locked_rows(joint: &Joint) -> impl Iterator<Item = (RowKind, f64)> {
    use RowKind::{Distance, Dot, Point, Slide, Twist};
    let rows: &[RowKind] = match joint.kind {
        JointKind::Ball => &[Point(0), Point(1), Point(2)],
        JointKind::Hinge => &[Point(0), Point(1), Point(2), Dot(1, 0), Dot(2, 0)],
        JointKind::Universal => &[Point(0), Point(1), Point(2), Dot(0, 1)],
        JointKind::Prismatic => &[Slide(1), Slide(2), Twist(0), Twist(1), Twist(2)],
        JointKind::Cylindrical => &[Slide(1), Slide(2), Dot(1, 0), Dot(2, 0)],
        JointKind::Fixed => &[Point(0), Point(1), Point(2), Twist(0), Twist(1), Twist(2)],
        JointKind::Distance { .. } if joint.limit.is_none() => &[Distance],
        JointKind::Distance { .. } => &[],
    };
    let target = match joint.kind {
        JointKind::Distance { length } => length,
        _ => 0.0,
    };
    rows.iter().map(move |&row| (row, target))
}

/// The coordinate that a joint's limit bounds and its motor drives.
pub fn free_coordinate(kind: JointKind) -> Option<RowKind> {
    match kind {
        JointKind::Hinge => Some(RowKind::Angle),
        JointKind::Prismatic | JointKind::Cylindrical => Some(RowKind::Slide(0)),
        JointKind::Distance { .. } => Some(RowKind::Distance),
        JointKind::Ball | JointKind::Universal | JointKind::Fixed => None,
    }
}

/// The rows of a spring's energy `k/2 sum (row - rest)^2`: `(row, rest)`.
pub fn spring_rows(spring: &Spring) -> impl Iterator<Item = (RowKind, f64)> {
    let (rows, rest): (&[RowKind], f64) = match spring.kind {
        SpringKind::Linear { rest_length, .. } => (&[RowKind::Distance], rest_length),
        SpringKind::Angular { .. } => {
            (&[RowKind::Turn(0), RowKind::Turn(1), RowKind::Turn(2)], 0.0)
        }
    };
    rows.iter().map(move |&row| (row, rest))
}

/// Vectors of both poses in world axes that the rows are made of.
struct WorldVectors {
    arm_a: Vec3,
    arm_b: Vec3,
    /// `xA - xB`.
    offset: Vec3,
    basis_a: Quat,
    basis_b: Quat,
}

impl WorldVectors {
    fn new(geometry: &Geometry, a: &Pose, b: &Pose) -> Self {
        let (arm_a, arm_b) = (a.rotation * geometry.anchor_a, b.rotation * geometry.anchor_b);
        Self {
            arm_a,
            arm_b,
            offset: (a.position - b.position) + (arm_a - arm_b),
            basis_a: a.rotation * geometry.basis_a,
            basis_b: b.rotation * geometry.basis_b,
        }
    }

    fn axis_a(&self, axis: usize) -> Vec3 {
        self.basis_a * unit(axis)
    }

    fn axis_b(&self, axis: usize) -> Vec3 {
        self.basis_b * unit(axis)
    }

    /// Scalar and vector part of the rotation from A's basis to B's, scalar part non-negative.
    fn relative(&self) -> (f64, Vec3) {
        let q = (self.basis_a.inverse() * self.basis_b).into_inner();
        let sign = if q.w < 0.0 { -1.0 } else { 1.0 };
        (sign * q.w, sign * q.imag())
    }

    /// The rotation vector from A's basis to B's, in A's basis.
    fn turn(&self) -> Turning {
        let (w, v) = self.relative();
        Turning::new(w, &v)
    }

    /// Gradient of twist component `axis` with respect to `tB`, in world axes.
    fn twist_gradient(&self, axis: usize) -> Vec3 {
        let (w, v) = self.relative();
        let row = (Mat3::identity() * w - skew(&v)).row(axis).transpose();
        self.basis_a * row
    }
}

fn unit(axis: usize) -> Vec3 {
    Vec3::ith_axis(axis).into_inner()
}

/// Second derivative of `e . u` with respect to a rotation of `u`.
fn rotation_hessian(u: &Vec3, e: &Vec3) -> Mat3 {
    (e * u.transpose() + u * e.transpose()) * 0.5 - Mat3::identity() * e.dot(u)
}

impl RowKind {
    /// Whether the row locks a rotation rather than a position.
    pub fn is_angular(self) -> bool {
        matches!(self, Self::Dot(..) | Self::Twist(_) | Self::Turn(_) | Self::Angle)
    }

    /// Value and gradient.
    pub fn evaluate(self, geometry: &Geometry, a: &Pose, b: &Pose) -> Evaluation {
        let world = WorldVectors::new(geometry, a, b);
        let zero = Vec3::zeros();
        match self {
            Self::Point(axis) => {
                let e = unit(axis);
                let gradient = [e, world.arm_a.cross(&e), -e, e.cross(&world.arm_b)];
                Evaluation { value: world.offset[axis], gradient }
            }
            Self::Slide(axis) => {
                let u = world.axis_a(axis);
                let from_a = world.arm_a - world.offset;
                let gradient = [-u, u.cross(&from_a), u, world.arm_b.cross(&u)];
                Evaluation { value: -u.dot(&world.offset), gradient }
            }
            Self::Dot(axis_a, axis_b) => {
                let (u, w) = (world.axis_a(axis_a), world.axis_b(axis_b));
                let torque = u.cross(&w);
                Evaluation { value: u.dot(&w), gradient: [zero, torque, zero, -torque] }
            }
            Self::Twist(axis) => {
                let value = 2.0 * world.relative().1[axis];
                let torque = world.twist_gradient(axis);
                Evaluation { value, gradient: [zero, -torque, zero, torque] }
            }
            Self::Turn(axis) => {
                let turn = world.turn();
                let torque = world.basis_a * turn.jacobian().row(axis).transpose();
                Evaluation { value: turn.phi[axis], gradient: [zero, -torque, zero, torque] }
            }
            Self::Distance => {
                let value = world.offset.norm();
                let n = Unit::try_new(world.offset, 0.0).map_or(zero, Unit::into_inner);
                let gradient = [n, world.arm_a.cross(&n), -n, n.cross(&world.arm_b)];
                Evaluation { value, gradient }
            }
            Self::Angle => {
                let [cosine, sine] =
                    [(1, 1), (2, 1)].map(|(i, j)| Self::Dot(i, j).evaluate(geometry, a, b));
                let square = cosine.value.powi(2) + sine.value.powi(2);
                let torque =
                    (sine.gradient[1] * cosine.value - cosine.gradient[1] * sine.value) / square;
                let value = sine.value.atan2(cosine.value);
                Evaluation { value, gradient: [zero, torque, zero, -torque] }
            }
        }
    }

    /// Second derivatives, exact.
    pub fn hessian(self, geometry: &Geometry, a: &Pose, b: &Pose) -> Hessian {
        let world = WorldVectors::new(geometry, a, b);
        let mut h = Hessian::zeros();
        match self {
            Self::Point(axis) => {
                let e = unit(axis);
                add(&mut h, 1, 1, &rotation_hessian(&world.arm_a, &e));
                add(&mut h, 3, 3, &-rotation_hessian(&world.arm_b, &e));
            }
            Self::Slide(axis) => {
                let u = world.axis_a(axis);
                let from_a = world.arm_a - world.offset;
                add(&mut h, 1, 1, &rotation_hessian(&u, &from_a));
                add(&mut h, 3, 3, &rotation_hessian(&world.arm_b, &u));
                add_pair(&mut h, 1, 2, &skew(&u));
                add_pair(&mut h, 1, 0, &-skew(&u));
                add_pair(&mut h, 1, 3, &-(skew(&u) * skew(&world.arm_b)));
            }
            Self::Dot(axis_a, axis_b) => {
                let (u, w) = (world.axis_a(axis_a), world.axis_b(axis_b));
                add(&mut h, 1, 1, &rotation_hessian(&u, &w));
                add(&mut h, 3, 3, &rotation_hessian(&w, &u));
                add_pair(&mut h, 1, 3, &-(skew(&u) * skew(&w)));
            }
            Self::Twist(axis) => {
                let quarter = Mat3::identity() * (0.5 * world.relative().1[axis]);
                add(&mut h, 1, 1, &-quarter);
                add(&mut h, 3, 3, &-quarter);
                let coupling = quarter + skew(&world.twist_gradient(axis)) * 0.5;
                add_pair(&mut h, 1, 3, &coupling);
            }
            Self::Turn(axis) => {
                let turn = world.turn();
                let to_world = world.basis_a.to_rotation_matrix();
                let torque = to_world * turn.jacobian().row(axis).transpose();
                let own = to_world * turn.hessian(axis) * to_world.transpose();
                add(&mut h, 1, 1, &own);
                add(&mut h, 3, 3, &own);
                // Of small rotations a of A and b of B it sees b - a - a x b / 2.
                add_pair(&mut h, 1, 3, &(skew(&torque) * 0.5 - own));
            }
            Self::Distance => {
                let length = world.offset.norm();
                if length > 0.0 {
                    distance_hessian(&mut h, &world, length);
                }
            }
            Self::Angle => {
                let rows = [Self::Dot(1, 1), Self::Dot(2, 1)];
                let [c, s] = rows.map(|row| row.evaluate(geometry, a, b));
                let square = c.value.powi(2) + s.value.powi(2);
                let (dc, ds) = (-s.value / square, c.value / square);
                let [hc, hs] = rows.map(|row| row.hessian(geometry, a, b));
                let (gc, gs) = (stack(&c.gradient), stack(&s.gradient));
                let same = 2.0 * c.value * s.value / square.powi(2);
                let mixed = (s.value.powi(2) - c.value.powi(2)) / square.powi(2);
                h = hc * dc + hs * ds + (gc * gc.transpose() - gs * gs.transpose()) * same;
                h += (gc * gs.transpose() + gs * gc.transpose()) * mixed;
            }
        }
        h
    }
}

fn distance_hessian(h: &mut Hessian, world: &WorldVectors, length: f64) {
    let n = world.offset / length;
    let across = (Mat3::identity() - n * n.transpose()) / length;
    let motion = [Mat3::identity(), -skew(&world.arm_a), -Mat3::identity(), skew(&world.arm_b)];
    for (i, left) in motion.iter().enumerate() {
        for (j, right) in motion.iter().enumerate() {
            add(h, i, j, &(left.transpose() * across * right));
        }
    }
    add(h, 1, 1, &rotation_hessian(&world.arm_a, &n));
    add(h, 3, 3, &-rotation_hessian(&world.arm_b, &n));
}

/// The gradient as one vector of twelve numbers.
pub fn stack(gradient: &[Vec3; 4]) -> SMatrix<f64, 12, 1> {
    SMatrix::from_iterator(gradient.iter().flat_map(|g| g.iter().copied()))
}

fn add(h: &mut Hessian, row: usize, column: usize, block: &Mat3) {
    let mut view = h.fixed_view_mut::<3, 3>(3 * row, 3 * column);
    view += block;
}

fn add_pair(h: &mut Hessian, row: usize, column: usize, block: &Mat3) {
    add(h, row, column, block);
    add(h, column, row, &block.transpose());
}

#[cfg(test)]
mod tests;
