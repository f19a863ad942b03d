//! Joints and springs as rows of affine bodies, with exact gradients.
//!
//! The rows mean what [`taut_core::constraint`] says. Written in frames instead of rotations they are
//! made of points `A X + t` and of products `(A_a u).(A_b w)`, so that their gradients are sums of
//! outer products of a world vector and a body vector.

use taut_core::{
    Mat3, Quat, Vec3,
    constraint::RowKind,
    scene::{Limit, Motor},
};
use taut_math::Number;
use taut_model::{Element as Block, Form, Model, Owner, Role, Unit};

use crate::{
    affine::Affine,
    node::{ElementEnds, Nodes},
};

/// A function of two frames.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum RowFunction {
    /// As the core defines it.
    Plain(RowKind),
    /// `(A_a u) . (x_b - x_a)` of the points one unit along the x axes, `u` being an axis of A's
    /// basis [m]. Equal to [`RowKind::Dot`] where anchors coincide, and all but linear in the motion.
    Ahead(usize),
}

/// What the multiplier of a row obeys.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum RowLaw {
    /// `C - target = compliance * lambda`.
    Held {
        /// Value held [m or rad].
        target: f64,
        /// Zero where hard [m/N or rad/(N m)].
        compliance: f64,
    },
    /// `C - start = h / damping * lambda` in a step of length `h` [s].
    Damped {
        /// [N s/m or N m s/rad]
        damping: f64,
        /// Value when the step began [m or rad].
        start: f64,
    },
    /// Within bounds, and a multiplier only at a bound.
    Limit(Limit),
    /// Advances at a speed with bounded effort.
    Motor(Motor),
}

impl RowLaw {
    /// Whether its multiplier is bounded.
    pub(crate) fn is_bounded(&self) -> bool {
        matches!(self, Self::Limit(_) | Self::Motor(_))
    }
}

/// One row of an element.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct JointRow {
    pub(crate) function: RowFunction,
    pub(crate) law: RowLaw,
}

/// A joint or spring that moves anything.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct JointElement {
    /// Index of the joint in the scene; `None` for a spring.
    pub(crate) joint: Option<u32>,
    /// Nodes of A and B.
    pub(crate) nodes: [u32; 2],
    /// Anchors in principal coordinates [m].
    pub(crate) anchors: [Vec3; 2],
    /// Axes of the joint bases in principal coordinates.
    pub(crate) bases: [Mat3; 2],
    /// The same for dampers: those of rotations have B's coincide with A's where a step begins.
    pub(crate) damped: [Mat3; 2],
    /// Its rows.
    pub(crate) rows: Box<[JointRow]>,
}

impl JointElement {
    /// Whether it is three hard rows that hold two points together.
    pub(crate) fn is_point(&self) -> bool {
        let point = |axis: usize, row: &JointRow| {
            row.function == RowFunction::Plain(RowKind::Point(axis))
                && matches!(row.law, RowLaw::Held { target: 0.0, .. })
        };
        self.rows.len() == 3 && self.rows.iter().enumerate().all(|(axis, row)| point(axis, row))
    }

    /// Whether it is three equally soft rows that turn two bodies to each other.
    pub(crate) fn is_turn(&self) -> bool {
        let law = self.rows.first().map(|row| row.law);
        let turn = |axis: usize, row: &JointRow| {
            row.function == RowFunction::Plain(RowKind::Turn(axis)) && Some(row.law) == law
        };
        self.rows.len() == 3
            && matches!(law, Some(RowLaw::Held { target: 0.0, .. }))
            && self.rows.iter().enumerate().all(|(axis, row)| turn(axis, row))
    }

    /// Whether a row holds without give.
    pub(crate) fn is_hard(&self) -> bool {
        self.rows.iter().any(|row| matches!(row.law, RowLaw::Held { compliance: 0.0, .. }))
    }

    /// Whether a row's multiplier is bounded.
    pub(crate) fn is_bounded(&self) -> bool {
        self.rows.iter().any(|row| row.law.is_bounded())
    }
}

/// Value of a row and its gradient with respect to frame and origin of both sides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RowGradient {
    /// Value [m or rad].
    pub(crate) value: f64,
    /// With respect to the frames.
    pub(crate) frames: [Mat3; 2],
    /// With respect to the origins.
    pub(crate) origins: [Vec3; 2],
}

impl RowGradient {
    fn dot(axes: &ElementView<'_>, i: usize, j: usize) -> Self {
        let (u, w) = (axes.bases[0].column(i), axes.bases[1].column(j));
        let (world_u, world_w) = (axes.places[0].frame * u, axes.places[1].frame * w);
        Self {
            value: world_u.dot(&world_w),
            frames: [world_w * u.transpose(), world_u * w.transpose()],
            origins: [Vec3::zeros(); 2],
        }
    }

    fn combined(parts: &[(f64, &Self)]) -> Self {
        let mut sum = Self { value: 0.0, frames: [Mat3::zeros(); 2], origins: [Vec3::zeros(); 2] };
        for (factor, part) in parts {
            sum.value += part.value * factor;
            for side in 0..2 {
                sum.frames[side] += part.frames[side] * *factor;
                sum.origins[side] += part.origins[side] * *factor;
            }
        }
        sum
    }
}

/// An element at the current frames.
pub(crate) struct ElementView<'a> {
    pub(crate) places: [Affine; 2],
    pub(crate) anchors: &'a [Vec3; 2],
    pub(crate) bases: &'a [Mat3; 2],
}

impl ElementView<'_> {
    fn points(&self) -> [Vec3; 2] {
        [0, 1].map(|side| self.places[side].frame * self.anchors[side] + self.places[side].origin)
    }

    /// Value and gradient of a row.
    pub(crate) fn evaluate(&self, function: RowFunction) -> RowGradient {
        match function {
            RowFunction::Plain(RowKind::Point(axis)) => self.along(Vec3::ith(axis, 1.0)),
            RowFunction::Plain(RowKind::Slide(axis)) => self.slide(axis, [Vec3::zeros(); 2]),
            RowFunction::Plain(RowKind::Dot(i, j)) => RowGradient::dot(self, i, j),
            RowFunction::Plain(RowKind::Twist(axis)) => self.twist(axis),
            RowFunction::Plain(RowKind::Turn(axis)) => self.turn(axis),
            RowFunction::Plain(RowKind::Distance) => {
                let [a, b] = self.points();
                let (offset, length) = (a - b, (a - b).norm());
                let n = if length > 0.0 { offset / length } else { Vec3::zeros() };
                RowGradient { value: length, ..self.along(n) }
            }
            RowFunction::Plain(RowKind::Angle) => {
                let (cosine, sine) = (RowGradient::dot(self, 1, 1), RowGradient::dot(self, 2, 1));
                let square = cosine.value.powi(2) + sine.value.powi(2);
                let parts = [(-sine.value / square, &cosine), (cosine.value / square, &sine)];
                let value = sine.value.atan2(cosine.value);
                RowGradient { value, ..RowGradient::combined(&parts) }
            }
            RowFunction::Ahead(axis) => {
                self.slide(axis, [0, 1].map(|side| self.bases[side].column(0).into_owned()))
            }
        }
    }

    /// Component of `x_a - x_b` along a fixed world direction.
    fn along(&self, n: Vec3) -> RowGradient {
        let [a, b] = self.points();
        RowGradient {
            value: n.dot(&(a - b)),
            frames: [n * self.anchors[0].transpose(), -n * self.anchors[1].transpose()],
            origins: [n, -n],
        }
    }

    /// `(A_a u) . (x_b - x_a)` of points moved from the anchors by `ahead`.
    fn slide(&self, axis: usize, ahead: [Vec3; 2]) -> RowGradient {
        let anchors = [self.anchors[0] + ahead[0], self.anchors[1] + ahead[1]];
        let moved = ElementView { places: self.places, anchors: &anchors, bases: self.bases };
        let [a, b] = moved.points();
        let u = self.bases[0].column(axis).into_owned();
        let (world, offset) = (self.places[0].frame * u, b - a);
        RowGradient {
            value: world.dot(&offset),
            frames: [
                offset * u.transpose() - world * anchors[0].transpose(),
                world * anchors[1].transpose(),
            ],
            origins: [-world, world],
        }
    }

    /// Component of the rotation vector between the bases, from the matrix `T` between them: the axial vector of `T`
    /// times a factor of its trace.
    fn turn(&self, axis: usize) -> RowGradient {
        let (i, j) = ((axis + 1) % 3, (axis + 2) % 3);
        let (more, less) = (RowGradient::dot(self, j, i), RowGradient::dot(self, i, j));
        let trace = [0, 1, 2].map(|k| RowGradient::dot(self, k, k));
        let sum = 1.0 + trace.iter().map(|part| part.value).sum::<f64>();
        let [turn, slope] = turn_factors(sum);
        let value = turn * (more.value - less.value);
        let bend = value * slope;
        let [x, y, z] = &trace;
        let parts = [(turn, &more), (-turn, &less), (bend, x), (bend, y), (bend, z)];
        RowGradient { value, ..RowGradient::combined(&parts) }
    }

    /// `2 vec(q)` of the rotation between the bases, from its matrix `T`: the axial vector of `T` over
    /// `q.w = sqrt(1 + tr T) / 2`.
    fn twist(&self, axis: usize) -> RowGradient {
        let (i, j) = ((axis + 1) % 3, (axis + 2) % 3);
        let (more, less) = (RowGradient::dot(self, j, i), RowGradient::dot(self, i, j));
        let trace = [0, 1, 2].map(|k| RowGradient::dot(self, k, k));
        let sum = 1.0 + trace.iter().map(|part| part.value).sum::<f64>();
        // Half turns have no direction; near them the row is kept finite.
        let w = 0.5 * sum.max(HALF_TURN).sqrt();
        let value = 0.5 * (more.value - less.value) / w;
        let bend = -value / (8.0 * w * w);
        let turn = 0.5 / w;
        let [x, y, z] = &trace;
        let parts = [(turn, &more), (-turn, &less), (bend, x), (bend, y), (bend, z)];
        RowGradient { value, ..RowGradient::combined(&parts) }
    }
}

/// Value of `1 + tr T`, four times the square of `cos(a / 2)`, below which a rotation by `a` is taken for one of half a
/// turn less 0.006 degrees.
const HALF_TURN: f64 = 1e-8;

/// Of a rotation by `a` between two bases, from `1 + tr T`: the factor `a / (2 sin a)` that makes a rotation vector of
/// the axial vector of `T`, and the derivative of its logarithm by the trace, `-(sin a - a cos a) / (2 a sin^2 a)`.
///
/// Half turns have no direction; near them the factors are kept finite.
pub(crate) fn turn_factors(sum: f64) -> [f64; 2] {
    // A frame that is stretched a little may seem to turn by less than nothing.
    let square = (1.0 - 0.25 * sum).max(0.0);
    if square < SMALL_TURN {
        return small_turn_factors(square);
    }
    let w = 0.5 * sum.max(HALF_TURN).sqrt();
    let s = (1.0 - w * w).sqrt();
    let a = 2.0 * s.atan2(w);
    let (sine, cosine) = (2.0 * s * w, w * w - s * s);
    [0.5 * a / sine, -(sine - a * cosine) / (2.0 * a * sine * sine)]
}

/// Squared sine of half a turn of 29 degrees.
pub(crate) const SMALL_TURN: f64 = 1.0 / 16.0;

/// What a term of the series of [`small_turn_factors`] is of the one before, by powers of the squared sine, the last first.
const RATIOS: [f64; 14] = {
    let mut ratios = [0.0; 14];
    let mut k = 0;
    while k < 14 {
        let n = (14 - k) as f64;
        ratios[k] = 2.0 * n / (2.0 * n + 1.0);
        k += 1;
    }
    ratios
};

/// [`turn_factors`] of turns below [`SMALL_TURN`] from the squared sine `u` of their halves, by series, where differences would
/// lose digits.
///
/// The first one is `g / 2` and the second one `-g' / (4 g)`, where `g = asin(s) / (s sqrt(1 - s^2))` with `s^2 = u` is
/// `1 + 2/3 u (1 + 4/5 u (1 + 6/7 u (1 + ..)))`. What follows the terms here is below rounding.
#[inline(always)]
pub(crate) fn small_turn_factors<N: Number>(u: N) -> [N; 2] {
    let (mut g, mut slope) = (N::ONE, N::ZERO);
    for ratio in RATIOS {
        let ratio = N::of(ratio);
        let next = ratio * u;
        slope = next.times_plus(slope, ratio * g);
        g = next.times_plus(g, N::ONE);
    }
    [N::HALF * g, N::of(-0.25) * slope / g]
}

/// The elements of a scene, joints first. Those between nodes that no force moves are left out.
pub(crate) fn elements(model: &Model, nodes: &Nodes) -> Vec<JointElement> {
    model.units.iter().filter_map(|unit| element(model, unit, nodes)).collect()
}

fn element(model: &Model, unit: &Unit, nodes: &Nodes) -> Option<JointElement> {
    let blocks = model.elements_of(unit);
    let held = model.pair_of(&blocks[0]);
    let ElementEnds { nodes, axes } = nodes.ends(held.map(|end| end.node))?;
    let joint = match unit.owner {
        Owner::Joint(joint) => Some(joint),
        Owner::Spring(_) if blocks.iter().any(Block::exerts) => None,
        Owner::Spring(_) => return None,
    };
    let turn = |q: &Quat| q.to_rotation_matrix().into_inner();
    let bases = [0, 1].map(|side| axes[side].tr_mul(&turn(&held[side].basis)));
    Some(JointElement {
        joint,
        nodes,
        anchors: [0, 1].map(|side| axes[side].tr_mul(&held[side].anchor)),
        bases,
        damped: bases,
        rows: rows(blocks),
    })
}

/// The rows of a unit's blocks.
fn rows(blocks: &[Block]) -> Box<[JointRow]> {
    // A compliant hinge needs rows that do not see its anchors part.
    let hinge = |a: &Block, b: &Block| a.form == Form::Point && b.form == Form::Axis;
    let ahead = matches!(blocks, [a, b, ..] if hinge(a, b) && a.holds() && b.holds());
    let function = |kind| match kind {
        RowKind::Dot(axis, 0) if ahead => RowFunction::Ahead(axis),
        kind => RowFunction::Plain(kind),
    };
    let law = |block: &Block| match block.role {
        Role::Lock | Role::Store => {
            RowLaw::Held { target: block.target, compliance: block.softness.compliance() }
        }
        Role::Damp { damping } => RowLaw::Damped { damping, start: 0.0 },
        Role::Limit { lower, upper } => RowLaw::Limit(Limit { lower, upper }),
        Role::Motor { speed, max_effort } => RowLaw::Motor(Motor { speed, max_effort }),
    };
    let of = |block| {
        let row = move |kind| JointRow { function: function(kind), law: law(block) };
        block.form.kinds().map(row)
    };
    blocks.iter().flat_map(of).collect()
}

#[cfg(test)]
#[path = "joint_tests.rs"]
mod tests;
