//! One point of contact: where it is, what it exerts, and how it is taken in a linear solve.

use taut_collide::{Contact, MetContact};
use taut_core::{Mat3, Vec3};

use super::{Begins, PastContact, Roundness};
use crate::{affine::Affine, node::Nodes};

/// Stiffness along the slip of what slides, as a share of the secant's [1]; the tangent's own would be zero.
const SLIDING: f64 = 0.1;

/// How far bodies sink in at a contact that is found late before it is needed, as a share of the shorter arm [1].
const MET: f64 = 0.1;
const ZERO: Vec3 = Vec3::new(0.0, 0.0, 0.0);

/// The nodes of a triangle's corners, and the share of each in a point of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CornerShares {
    pub(crate) nodes: [u32; 3],
    pub(crate) weights: [f64; 3],
}

impl CornerShares {
    /// Those of a contact with a triangle or an edge.
    pub(super) fn of(contact: &Contact, nodes: &Nodes) -> Option<Self> {
        let corners = contact.sites[1].corners()?;
        let weights = corners.map(|(_, weight)| weight);
        Some(Self { nodes: corners.map(|(corner, _)| nodes.node_of(corner)), weights })
    }

    /// The first corner that forces move, if any.
    pub(super) fn mover(&self, count: usize) -> u32 {
        let moves = |node: &&u32| (**node as usize) < count;
        *self.nodes.iter().find(moves).unwrap_or(&self.nodes[0])
    }

    /// How far a unit of force on the point moves it, over the squared step [1/kg].
    pub(super) fn lightness(&self, nodes: &Nodes) -> f64 {
        let shares = self.nodes.iter().zip(&self.weights);
        shares.map(|(&node, weight)| weight * weight / nodes.mass(node)).sum()
    }
}

/// One point of contact.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ContactPoint {
    /// Nodes of A and B; of a triangle at B a corner that forces move, if there is one.
    pub(crate) nodes: [u32; 2],
    /// The triangle at B.
    pub(crate) corners: Option<CornerShares>,
    /// Whether B is a particle that forces move, or a triangle with such a corner.
    pub(crate) soft: bool,
    /// Points in principal coordinates [m]: those of the surfaces, by which friction goes, and those by which the gap
    /// does, behind them on the spines of what is round.
    pub(super) anchors: [Vec3; 2],
    pub(super) cores: [Vec3; 2],
    /// How the sides may turn and be where they were, in principal coordinates.
    pub(crate) roundness: [Roundness; 2],
    /// From B to A when the contact was found, of the cores and of the surfaces [m].
    pub(super) from: [Vec3; 2],
    /// Normal and two tangents in the world.
    pub(super) axes: [Vec3; 3],
    /// Values of the rows when the step began: the gap, but for what the step may not push out, and how far sticking has stretched along the tangents [m].
    pub(super) offset: Vec3,
    /// Static and dynamic coefficient.
    pub(super) friction: [f64; 2],
    /// Stiffness where it presses and where it sticks, and what inertia alone has [N/m].
    pub(super) full: f64,
    pub(super) grip: f64,
    pub(super) inertia: f64,
    /// Cosine and sine of the slip in the plane of the tangents, along which the second row is taken.
    pub(super) along: [f64; 2],
    /// Stiffness of each row [N/m], zero where it exerts nothing, and what is added to the value of the second
    /// so that the force of what slides is the bound [m].
    pub(super) stiffness: Vec3,
    pub(super) lead: f64,
    /// Rows in the current iterate, in the point reached and in the one tried [m].
    pub(super) value: Vec3,
    pub(super) reached: Vec3,
    pub(super) tried: Vec3,
    /// Multipliers that the linear solves behind the point reached exert [N].
    pub(super) held: Vec3,
    /// Pressure that bounds friction, and that of the step before [N].
    pub(super) pressure: f64,
    pub(super) before: f64,
    /// Multipliers along the tangents in the world when the part of the step began, and the step [N].
    pub(super) grips_at_part: Vec3,
    pub(super) grips_at_step: Vec3,
}

impl ContactPoint {
    /// One that exerts nothing.
    pub(super) const NONE: Self = Self {
        nodes: [0; 2],
        corners: None,
        soft: false,
        anchors: [ZERO; 2],
        cores: [ZERO; 2],
        roundness: [Roundness::Not; 2],
        from: [ZERO; 2],
        axes: [ZERO; 3],
        offset: ZERO,
        friction: [0.0; 2],
        full: 0.0,
        grip: 0.0,
        inertia: 0.0,
        along: [1.0, 0.0],
        stiffness: ZERO,
        lead: 0.0,
        value: ZERO,
        reached: ZERO,
        tried: ZERO,
        held: ZERO,
        pressure: 0.0,
        before: 0.0,
        grips_at_part: ZERO,
        grips_at_step: ZERO,
    };

    /// From B to A with nodes in these places, of the cores and of the surfaces [m].
    #[inline]
    pub(super) fn apart(&self, place: impl Fn(u32) -> Affine) -> [Vec3; 2] {
        let [a, b] = [0, 1].map(|side| match (side, &self.corners) {
            (1, Some(CornerShares { nodes, weights })) => {
                let corners = nodes.iter().zip(weights);
                [corners.map(|(&node, weight)| place(node).origin * *weight).sum(); 2]
            }
            _ => {
                let place = place(self.nodes[side]);
                [self.cores[side], self.anchors[side]].map(|point| place.point(&point))
            }
        });
        [a[0] - b[0], a[1] - b[1]]
    }

    /// What there is to add of a contact that bodies have come to in the current iterate, where its gap is `gap` [m]; none
    /// unless they have sunk in there, of what the step is to push out at most `pushed`. It is needed where they have
    /// further than turning lets them.
    pub(super) fn come_to(&mut self, gap: f64, nodes: &Nodes, pushed: f64) -> Option<MetContact> {
        let [core, _] = self.apart(|node| nodes.place(node));
        let before = gap - self.axes[0].dot(&(core - self.from[0]));
        self.start_from(before, nodes, pushed);
        let arms = (0..2).filter(|&side| (self.nodes[side] as usize) < nodes.count());
        let arm = arms.map(|side| self.anchors[side].norm()).fold(f64::INFINITY, f64::min);
        let is_needed = self.reached.x < -MET * arm;
        (self.reached.x < 0.0).then_some(MetContact { gap: before, is_needed })
    }

    /// Takes over the gap at the start of the step [m], of which so much is pushed out, and that the current iterate is
    /// reached.
    pub(super) fn start_from(&mut self, gap: f64, nodes: &Nodes, pushed: f64) {
        let [core, surface] = self.apart(|node| nodes.place(node));
        let moved = self.local(&[core - self.from[0], surface - self.from[1]]);
        self.offset.x = gap + (-gap - pushed).max(0.0);
        self.reached = moved + self.offset;
    }

    /// Whether the point by which the gap goes lies on a spine behind the surface, or has been moved on along a rim.
    pub(crate) fn is_on_spine(&self, side: usize) -> bool {
        self.cores[side] != self.anchors[side]
    }

    /// Whether friction is part of it.
    pub(crate) fn rubs(&self) -> bool {
        self.stiffness.y > 0.0
    }

    /// Direction of a row in the world.
    pub(crate) fn direction(&self, axis: usize) -> Vec3 {
        let ([_, u, v], [cosine, sine]) = (self.axes, self.along);
        match axis {
            0 => self.axes[0],
            1 => u * cosine + v * sine,
            _ => v * cosine - u * sine,
        }
    }

    /// Derivative of a row with respect to one side, whose frame is co-rotated by `rotation`.
    #[inline]
    pub(crate) fn gradient(&self, side: usize, axis: usize, rotation: &Mat3) -> Affine {
        let direction = self.direction(axis);
        let along = if side == 0 { direction } else { -direction };
        let anchor = if axis == 0 { &self.cores[side] } else { &self.anchors[side] };
        Affine { frame: rotation.tr_mul(&along) * anchor.transpose(), origin: along }
    }

    /// Value of a row in the current iterate, as its stiffness takes it [m].
    pub(crate) fn value(&self, axis: usize) -> f64 {
        self.turned(&self.value)[axis] + if axis == 1 { self.lead } else { 0.0 }
    }

    /// Stiffness of a row [N/m].
    pub(crate) fn stiffness(&self, axis: usize) -> f64 {
        self.stiffness[axis]
    }

    /// From normal and tangents to the directions of the rows.
    fn turned(&self, v: &Vec3) -> Vec3 {
        let [cosine, sine] = self.along;
        Vec3::new(v.x, cosine * v.y + sine * v.z, cosine * v.z - sine * v.y)
    }

    /// What displacements of the cores and of the surfaces are along the normal and the tangents.
    pub(super) fn local(&self, [core, surface]: &[Vec3; 2]) -> Vec3 {
        let [normal, u, v] = &self.axes;
        Vec3::new(normal.dot(core), u.dot(surface), v.dot(surface))
    }

    /// The multipliers that rows exert where they come to `value`, friction bounded by a `pressure`.
    fn law(&self, value: &Vec3, pressure: f64) -> Vec3 {
        let across = || {
            let slip = value.y.hypot(value.z);
            if self.grip * slip <= self.friction[0] * pressure {
                self.grip
            } else {
                self.friction[1] * pressure / slip
            }
        };
        let across = if pressure == 0.0 { 0.0 } else { across() };
        Vec3::new(self.full * value.x.min(0.0), across * value.y, across * value.z)
    }

    /// The multipliers that the last linear solve exerts in the point tried.
    pub(super) fn exerted(&self) -> Vec3 {
        let mut value = self.turned(&self.tried);
        value.y += self.lead;
        let [pressed, along, across] = self.stiffness.component_mul(&value).into();
        let [cosine, sine] = self.along;
        Vec3::new(pressed, cosine * along - sine * across, cosine * across + sine * along)
    }

    /// Whether it exerts anything along that way.
    pub(super) fn acts(&self) -> bool {
        let presses = self.reached.x < 0.0 || self.tried.x < 0.0 || self.pressure != 0.0;
        presses || self.stiffness != ZERO || self.held != ZERO
    }

    /// By how much the energy grows along the way from the point reached to the one tried, a share `t`
    /// of the way on [N m]: what rows exert there beyond what the linear solves do, which balances all else.
    pub(super) fn growth(&self, t: f64) -> f64 {
        let way = self.tried - self.reached;
        let held = self.held + (self.exerted() - self.held) * t;
        (self.law(&(self.reached + way * t), self.pressure) - held).dot(&way)
    }

    /// Chooses the pieces from where bodies would go without contact: what presses does so as hard as in the step
    /// before or, if it is new, as stops the mass of both, and sticks where friction by that pressure stops them. To
    /// begin with what slides would keep it sliding: where friction falls once it does, both balance.
    pub(super) fn foresee(&mut self) {
        let stops = self.inertia * (-self.reached.x).max(0.0);
        let pressure = if self.before > 0.0 { self.before } else { stops };
        let slip = self.reached.y.hypot(self.reached.z);
        let stopped = self.inertia * slip <= self.friction[0] * self.before.max(stops);
        self.take(pressure, slip, stopped || self.grip * slip <= self.friction[0] * pressure);
    }

    /// Chooses the pieces in the current iterate, which an iteration before has led to.
    pub(super) fn go_on(&mut self) {
        self.reached = self.value;
        self.choose(self.full * (-self.reached.x).max(0.0));
    }

    /// What the next detection is to know of it.
    pub(super) fn known(&self, begins: Begins) -> PastContact {
        let force = self.force();
        let exerted = self.axes[1] * force.y + self.axes[2] * force.z;
        let [grips, grips_at_step] = match begins {
            Begins::Step => [exerted; 2],
            Begins::Part => [exerted, self.grips_at_step],
            Begins::PartAgain => [self.grips_at_part, self.grips_at_step],
            Begins::StepAgain => [self.grips_at_step; 2],
        };
        let undone = matches!(begins, Begins::PartAgain | Begins::StepAgain);
        let pressure = if undone { self.before } else { self.pressure };
        PastContact { pressure, grips, grips_at_step }
    }

    /// Chooses the pieces at the point reached, and bounds friction by a `pressure`.
    pub(super) fn choose(&mut self, pressure: f64) {
        if pressure == 0.0 {
            return self.take(pressure, 0.0, true);
        }
        let slip = self.reached.y.hypot(self.reached.z);
        self.take(pressure, slip, self.grip * slip <= self.friction[0] * pressure);
    }

    /// Takes the pieces at the point reached, where it sticks or slides under a `pressure` that bounds friction.
    fn take(&mut self, pressure: f64, slip: f64, sticks: bool) {
        self.pressure = pressure;
        (self.along, self.lead) = ([1.0, 0.0], 0.0);
        let normal = if self.reached.x < 0.0 { self.full } else { 0.0 };
        self.stiffness = if pressure == 0.0 {
            Vec3::new(normal, 0.0, 0.0)
        } else if sticks {
            Vec3::new(normal, self.grip, self.grip)
        } else {
            let secant = self.friction[1] * pressure / slip;
            self.along = [self.reached.y / slip, self.reached.z / slip];
            self.lead = slip * (1.0 / SLIDING - 1.0);
            Vec3::new(normal, SLIDING * secant, secant)
        };
    }

    /// Square of what it should exert in the point reached beyond what the linear solves do, and of these [N^2].
    pub(super) fn imbalance(&self) -> [f64; 2] {
        let lacks = self.law(&self.reached, self.pressure) - self.held;
        [lacks.norm_squared(), self.held.norm_squared()]
    }

    /// What it exerts in the point reached [N].
    pub(super) fn force(&self) -> Vec3 {
        self.law(&self.reached, self.full * (-self.reached.x).max(0.0))
    }

    /// The side that forces move, if they do not move the other.
    pub(crate) fn only_mover(&self, count: usize) -> Option<usize> {
        match self.nodes.map(|node| (node as usize) < count) {
            [true, true] => None,
            [a_moves, _] => Some(usize::from(!a_moves)),
        }
    }
}

#[cfg(test)]
#[path = "point_tests.rs"]
mod tests;
