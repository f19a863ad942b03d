//! Structures as `shaders/descent/types.wgsl` has them.

use bytemuck::{Pod, Zeroable};
use taut_core::{Placement, Unsupported};
use taut_math::{Q4, V3};
use taut_model::{Form, NodeKind, Role};
use taut_model_gpu::number;

use super::spec::ElementStart;
use crate::{
    element::{self, Definition, ElementKind, SweepElement},
    node::{self, Acted, SweepNode},
};

#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Constants {
    pub(crate) gravity: [f32; 3],
    pub(crate) h: f32,
    pub(crate) square: f32,
    pub(crate) inverse_h: f32,
    pub(crate) inverse_square: f32,
    pub(crate) followed: f32,
    pub(crate) nodes: u32,
    pub(crate) elements: u32,
    pub(crate) gyroscopic: u32,
    pub(crate) adaptive: u32,
    pub(crate) world_inertia: u32,
    pub(crate) cayley: u32,
    pub(crate) nothing: u32,
    pub(crate) moving: u32,
    pub(crate) gamma: f32,
    pub(crate) retain: f32,
    pub(crate) lanes: u32,
    pub(crate) pad_3: u32,
}

#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Colour {
    pub(crate) first: u32,
    pub(crate) count: u32,
    pub(crate) index: u32,
    pub(crate) pad_1: u32,
}

#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Node {
    step: [f32; 3],
    mass: f32,
    turn: [f32; 4],
    target_step: [f32; 3],
    kind: u32,
    target_turn: [f32; 4],
    inertia: [f32; 6],
    first: u32,
    last: u32,
    acted: u32,
    pad_0: u32,
    pad_1: u32,
    pad_2: u32,
}

#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Base {
    position: [f32; 3],
    mass: f32,
    rotation: [f32; 4],
    velocity: [f32; 3],
    kinematic: u32,
    omega: [f32; 3],
    pad_0: u32,
    previous: [f32; 3],
    pad_1: u32,
    drive: [f32; 4],
    inertia: [f32; 6],
    pad_2: u32,
    pad_3: u32,
}

#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Incidence {
    element: u32,
    other: u32,
    twin: u32,
    is_b: u32,
    arm: [f32; 3],
    node: u32,
    arm_change: [f32; 3],
    pad_0: u32,
    anchor: [f32; 3],
    pad_1: u32,
}

#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Element {
    lambda: [f32; 3],
    lower: f32,
    stiffness: [f32; 3],
    upper: f32,
    offset: [f32; 3],
    rest: f32,
    shift: [f32; 3],
    kept: f32,
    basis_a: [f32; 4],
    basis_b: [f32; 4],
    local_a: [f32; 4],
    local_b: [f32; 4],
    kind: u32,
    flags: u32,
    role: u32,
    node_a: u32,
    node_b: u32,
    end_a: u32,
    end_b: u32,
    counted: f32,
    least: f32,
    most: f32,
    pad_0: u32,
    pad_1: u32,
}

impl Node {
    pub(crate) fn of(node: &SweepNode<f32>) -> Self {
        Self {
            step: node.step.0,
            mass: node.mass,
            turn: quaternion(node.turn),
            target_step: node.target_step.0,
            kind: match node.kind {
                NodeKind::Body => 0,
                NodeKind::Particle => 1,
                NodeKind::Driven | NodeKind::Held => 2,
            },
            target_turn: quaternion(node.target_turn),
            inertia: node.inertia.0,
            first: node.incidences[0],
            last: node.incidences[1],
            acted: match node.acted {
                Acted::ByPoints => 0,
                Acted::ByBlocks => 1,
                // The device refuses energies.
                Acted::ByAny | Acted::ByEnergies => 2,
            },
            pad_0: 0,
            pad_1: 0,
            pad_2: 0,
        }
    }

    /// Takes the motion of the current step over.
    pub(crate) fn write_to(&self, node: &mut SweepNode<f32>) {
        node.step = V3(self.step);
        node.turn = rotation(self.turn);
    }
}

impl Base {
    pub(crate) fn of(base: &node::Base<f32>, driven: bool, drive: Q4<f32>) -> Self {
        Self {
            position: base.position.0,
            mass: base.mass,
            rotation: quaternion(base.rotation),
            velocity: base.velocity.0,
            kinematic: u32::from(driven),
            omega: base.omega.0,
            pad_0: 0,
            previous: base.previous_velocity.0,
            pad_1: 0,
            drive: quaternion(drive),
            inertia: base.inertia.0,
            pad_2: 0,
            pad_3: 0,
        }
    }

    /// Where the body is at the step's start and how it moves.
    pub(crate) fn placement(&self) -> Placement {
        Placement {
            position: V3(self.position).to_f64(),
            rotation: rotation(self.rotation).to_f64(),
            velocity: V3(self.velocity).to_f64(),
            omega: V3(self.omega).to_f64(),
        }
    }

    /// Takes the motion at the step's start over.
    pub(crate) fn write_to(&self, base: &mut node::Base<f32>) {
        base.position = V3(self.position);
        base.rotation = rotation(self.rotation);
        base.velocity = V3(self.velocity);
        base.omega = V3(self.omega);
        base.previous_velocity = V3(self.previous);
    }
}

impl Incidence {
    pub(crate) fn of(incidence: &node::Incidence<f32>, anchor: V3<f32>) -> Self {
        Self {
            element: incidence.element,
            other: incidence.other,
            twin: incidence.twin,
            is_b: u32::from(incidence.is_b),
            arm: incidence.arm.0,
            node: 0,
            arm_change: incidence.arm_change.0,
            pad_0: 0,
            anchor: anchor.0,
            pad_1: 0,
        }
    }
}

impl Incidence {
    /// Takes the lever arm over.
    pub(crate) fn write_to(&self, incidence: &mut node::Incidence<f32>) {
        (incidence.arm, incidence.arm_change) = (V3(self.arm), V3(self.arm_change));
    }
}

impl Element {
    pub(crate) fn of(
        element: &SweepElement<f32>,
        definition: &Definition,
        local: &element::Bases<f32>,
        start: &ElementStart,
        kind: u32,
    ) -> Self {
        let (role, least, most) = match definition.role {
            // No scene with dampers comes here.
            Role::Lock | Role::Store | Role::Damp { .. } => (0, 0.0, 0.0),
            Role::Limit { lower, upper } => (1, lower, upper),
            Role::Motor { speed, max_effort } => (2, speed, max_effort),
        };
        let flags = u32::from(element.active)
            | u32::from(element.curvature) << 1
            | u32::from(element.rescaled) << 2
            | u32::from(start.takes_over) << 3;
        Self {
            lambda: element.lambda.0,
            lower: finite(element.lower),
            stiffness: element.stiffness.0,
            upper: finite(element.upper),
            offset: element.offset.0,
            rest: round(definition.rest),
            shift: element.shift.0,
            kept: start.kept,
            basis_a: quaternion(local.a),
            basis_b: quaternion(local.b),
            local_a: quaternion(local.a),
            local_b: quaternion(local.b),
            kind,
            flags,
            role,
            node_a: element.nodes[0],
            node_b: element.nodes[1],
            end_a: element.incidences[0],
            end_b: element.incidences[1],
            counted: element.counted,
            least: finite(round(least)),
            most: finite(round(most)),
            pad_0: 0,
            pad_1: 0,
        }
    }

    /// Joint bases at the step's start, joint to world.
    pub(crate) fn bases(&self) -> element::Bases<f32> {
        element::Bases { a: rotation(self.basis_a), b: rotation(self.basis_b) }
    }

    /// Takes multiplier, stiffness and what the rows aim at over, and whether they still hold.
    pub(crate) fn write_to(&self, element: &mut SweepElement<f32>) {
        element.active = self.flags & 1 != 0;
        element.lambda = V3(self.lambda);
        element.stiffness = V3(self.stiffness);
        element.offset = V3(self.offset);
        element.shift = V3(self.shift);
        (element.lower, element.upper) = (self.lower, self.upper);
        element.counted = self.counted;
    }
}

/// The numbers by which shaders know how the rows of elements are computed.
pub(super) fn numbers(definitions: &[Definition]) -> Result<Vec<u32>, Unsupported> {
    let form = |kind| match kind {
        ElementKind::Point => Some(Form::Point),
        ElementKind::Twist => Some(Form::Twist),
        ElementKind::Turn => Some(Form::Turn),
        ElementKind::WorldTwist => None,
        ElementKind::Row(row) => Some(Form::Row(row)),
    };
    let known = |definition: &Definition| {
        let unknown = || Unsupported(format!("no shader has rows {:?}", definition.kind));
        form(definition.kind).and_then(number).ok_or_else(unknown)
    };
    definitions.iter().map(known).collect()
}

#[expect(clippy::cast_possible_truncation, reason = "rounding to single precision is the purpose")]
fn round(x: f64) -> f32 {
    x as f32
}

/// Shaders need not know infinity; no force is larger than this.
fn finite(x: f32) -> f32 {
    x.clamp(-3.4e38, 3.4e38)
}

fn quaternion(q: Q4<f32>) -> [f32; 4] {
    let [x, y, z] = q.v.0;
    [x, y, z, q.w]
}

fn rotation([x, y, z, w]: [f32; 4]) -> Q4<f32> {
    Q4 { v: V3([x, y, z]), w }
}

#[cfg(test)]
mod tests {
    use taut_gpu::assert_layout;

    use super::*;

    #[test]
    #[rustfmt::skip]
    fn structures_are_those_of_the_shaders() {
        const FILE: &str = "descent/types.wgsl";
        assert_layout!(FILE, Constants {
            gravity, h, square, inverse_h, inverse_square, followed, nodes, elements, gyroscopic, adaptive,
            world_inertia, cayley, nothing, moving, gamma, retain, lanes, pad_3
        });
        assert_layout!(FILE, Colour { first, count, index, pad_1 });
        assert_layout!(FILE, Node {
            step, mass, turn, target_step, kind, target_turn, inertia, first, last, acted, pad_0, pad_1, pad_2
        });
        assert_layout!(FILE, Base {
            position, mass, rotation, velocity, kinematic, omega, pad_0, previous, pad_1, drive, inertia, pad_2,
            pad_3
        });
        assert_layout!(FILE, Incidence {
            element, other, twin, is_b, arm, node, arm_change, pad_0, anchor, pad_1
        });
        assert_layout!(FILE, Element {
            lambda, lower, stiffness, upper, offset, rest, shift, kept, basis_a, basis_b, local_a, local_b, kind,
            flags, role, node_a, node_b, end_a, end_b, counted, least, most, pad_0, pad_1
        });
    }
}
