//! The rows of all joints at the bodies at hand, the loads that their multipliers make, and the forces of joints.

use taut_core::{Mat3, Multipliers, Vec3, constraint::RowKind};
use taut_math::Real;

use super::{NONE, StepScheme, System};
use crate::{
    affine::Affine,
    joint::{ElementView, RowFunction, RowLaw},
    node::torque,
    polar::polar_matrix,
};

/// Where a row started that has a value now, as near as full turns of an angle allow.
fn nearest(function: RowFunction, value: f64, start: f64) -> f64 {
    match function {
        RowFunction::Plain(RowKind::Angle) => start.nearest_turn(value),
        _ => start,
    }
}

impl System {
    /// Has dampers resist what changes in a step of length `h` [s] that starts now.
    pub(crate) fn aim_dampers(&mut self, h: f64) {
        for &e in &self.damped {
            let element = &mut self.elements[e as usize];
            let places = element.nodes.map(|node| self.nodes.place(node));
            let first = self.dual.blocks.first[e as usize] as usize;
            for k in 0..element.rows.len() {
                let RowLaw::Damped { damping, .. } = element.rows[k].law else { continue };
                let function = element.rows[k].function;
                if let RowFunction::Plain(RowKind::Turn(_)) = function {
                    let [a, b] = places.map(|place| polar_matrix(&place.frame));
                    element.damped[1] = b.tr_mul(&(a * element.bases[0]));
                }
                let (anchors, bases) = (&element.anchors, &element.damped);
                let start = ElementView { places, anchors, bases }.evaluate(function).value;
                element.rows[k].law = RowLaw::Damped { damping, start };
                self.rows.compliance[first + k] = h / damping;
            }
        }
    }

    /// Values, gradients and replies of all rows but those of joints, without limits and motors, between nodes that stay.
    pub(super) fn evaluate(&mut self, scheme: &StepScheme) {
        self.rows.renewed.resize(self.elements.len(), true);
        let stays = |node: u32| {
            let node = node as usize;
            node >= self.nodes.count() || self.stays[node]
        };
        for (e, element) in self.elements.iter().enumerate() {
            let is_bounded = || self.points[e].is_none() && element.is_bounded();
            let stays =
                !self.stays.is_empty() && self.ends[e].into_iter().all(stays) && !is_bounded();
            self.rows.renewed[e] = !stays;
            if stays {
                continue;
            }
            let places = element.nodes.map(|node| self.nodes.place(node));
            let anchors = &element.anchors;
            let view = ElementView { places, anchors, bases: &element.bases };
            let damped = ElementView { places, anchors, bases: &element.damped };
            let first = self.dual.blocks.first[e] as usize;
            for (k, row) in element.rows.iter().enumerate() {
                let damps = matches!(row.law, RowLaw::Damped { .. });
                let gradient = if damps { &damped } else { &view }.evaluate(row.function);
                let at = first + k;
                let target = match row.law {
                    RowLaw::Held { target, .. } => target,
                    RowLaw::Damped { start, .. } => nearest(row.function, gradient.value, start),
                    RowLaw::Limit(_) | RowLaw::Motor(_) => 0.0,
                };
                let hard = matches!(row.law, RowLaw::Held { compliance: 0.0, .. });
                let ignored = hard && !self.feedback;
                self.rows.errors[at] = if ignored { 0.0 } else { gradient.value - target };
                for side in 0..2 {
                    let node = element.nodes[side] as usize;
                    let (frame, origin) = (gradient.frames[side], gradient.origins[side]);
                    let Some(response) = self.nodes.responses.get(node) else {
                        self.rows.gradients[at][side] = Affine { frame, origin };
                        continue;
                    };
                    let gradient = Affine { frame: response.rotation.tr_mul(&frame), origin };
                    self.rows.gradients[at][side] = gradient;
                    self.rows.replies[at][side] =
                        self.folds.reply(&self.nodes, node, &gradient, scheme.h);
                }
            }
            let rows = first..first + element.rows.len();
            self.rows.live[rows].fill(self.active[e]);
        }
        self.note_bounds();
    }

    /// Sums of `multiplier times gradient` at every node.
    pub(super) fn gather_loads(&mut self) {
        for node in 0..self.nodes.count() {
            self.nodes.responses[node].load = self.gathered(node, &self.rows.lambda);
        }
    }

    /// Sum of `multiplier times gradient` at a node.
    #[inline(always)]
    pub(super) fn gathered(&self, node: usize, multipliers: &[f64]) -> Affine {
        let mut load = self.folds.load(node);
        // Of forces on points, in the world: what these rows are is known without reading them.
        let mut forced = Mat3::zeros();
        for &(element, side) in self.incidence.at(node) {
            let first = self.dual.blocks.first[element as usize] as usize;
            if let Some(anchors) = &self.points[element as usize] {
                let force = Vec3::from_column_slice(&multipliers[first..first + 3]);
                let force = if side == 0 { force } else { -force };
                forced += force * anchors[side as usize].transpose();
                load.origin += force;
                continue;
            }
            let rows = first..first + self.dual.blocks.size(element as usize);
            for (gradients, &multiplier) in
                self.rows.gradients[rows.clone()].iter().zip(&multipliers[rows])
            {
                load = load.plus(&gradients[side as usize], multiplier);
            }
        }
        load.frame += self.nodes.responses[node].rotation.tr_mul(&forced);
        load
    }

    /// By how much the linearised step changes a row.
    pub(super) fn change(&self, element: usize, row: usize, scheme: &StepScheme) -> f64 {
        let mut value = 0.0;
        for (side, &node) in self.elements[element].nodes.iter().enumerate() {
            let node = node as usize;
            if node < self.nodes.count() {
                let increment = self.folds.increment(&self.nodes, node, scheme.h);
                value += self.rows.gradients[row][side].dot(&increment);
            }
        }
        value
    }

    /// Forces and torques of the last solve on the B side of every joint.
    pub(crate) fn joint_forces(&mut self, joints: usize, out: &mut Multipliers) {
        out.joint_force.clear();
        out.joint_force.resize(joints, Vec3::zeros());
        out.joint_torque.clear();
        out.joint_torque.resize(joints, Vec3::zeros());
        if let Some(by_lanes) = &self.by_lanes {
            by_lanes.read(&mut self.rows.lambda);
            let joints = self.joint_of.iter().enumerate().filter(|(_, joint)| **joint != NONE);
            for (e, &joint) in joints {
                let force = Vec3::from_column_slice(&self.rows.lambda[3 * e..3 * e + 3]);
                out.joint_force[joint as usize] = force;
            }
            return;
        }
        let multipliers =
            if self.rows.least.is_empty() { &self.rows.lambda } else { &self.rows.least };
        for (e, element) in self.elements.iter().enumerate() {
            let Some(joint) = element.joint.map(|j| j as usize) else { continue };
            let first = self.dual.blocks.first[e] as usize;
            let mut load = Affine::ZERO;
            let rows = first..first + element.rows.len();
            for (gradients, &multiplier) in
                self.rows.gradients[rows.clone()].iter().zip(&multipliers[rows])
            {
                load = load.plus(&gradients[1], multiplier);
            }
            let node = element.nodes[1];
            let place = self.nodes.place(node);
            let frame = match self.nodes.responses.get(node as usize) {
                Some(response) => response.rotation * load.frame,
                None => load.frame,
            };
            let force = -load.origin;
            let arm = place.frame * element.anchors[1];
            out.joint_force[joint] = force;
            out.joint_torque[joint] = -torque(&place.frame, &frame) - arm.cross(&force);
        }
    }
}
