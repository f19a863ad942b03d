//! Patches of contact as `shaders/descent/patch.wgsl` has them.

use bytemuck::{Pod, Zeroable};
use taut_math::{LANES, V3, Wide};

use crate::{
    contacts::PatchMemory,
    patch::{self, PatchRows},
};

/// Where the bits of sticking points begin in a patch's state.
const STICKS: u32 = 4;

#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Patch {
    normal: [f32; 3],
    node_a: u32,
    first_tangent: [f32; 3],
    node_b: u32,
    second_tangent: [f32; 3],
    state: u32,
    arm_a: [[f32; LANES]; 3],
    arm_b: [[f32; LANES]; 3],
    start: [[f32; LANES]; 3],
    lambda: [[f32; LANES]; 3],
    pressed: [f32; LANES],
    stiffness: [[f32; LANES]; 2],
    friction: [f32; LANES],
}

#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Backing {
    gap: [f32; LANES],
    drift: [[f32; LANES]; 2],
    ramp: [f32; 4],
}

#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Extent {
    pub(crate) patches: u32,
    pub(crate) pad_0: u32,
    pub(crate) pad_1: u32,
    pub(crate) pad_2: u32,
}

impl Patch {
    pub(crate) fn of(patch: &patch::Patch<f32>) -> Self {
        let sticks = patch.sticks.iter().enumerate();
        let sticks = sticks.fold(0, |bits, (i, &sticks)| bits | u32::from(sticks) << i);
        let [normal, first_tangent, second_tangent] = patch.axes.map(|axis| axis.0);
        Self {
            normal,
            node_a: patch.nodes[0],
            first_tangent,
            node_b: patch.nodes[1],
            second_tangent,
            state: patch.count | sticks << STICKS,
            arm_a: rows(&patch.arm_a),
            arm_b: rows(&patch.arm_b),
            start: rows(&patch.start),
            lambda: rows(&patch.lambda),
            pressed: patch.pressed.lanes(),
            stiffness: [patch.stiffness[0].lanes(), patch.stiffness[1].lanes()],
            friction: patch.friction.lanes(),
        }
    }

    /// Takes over what the iterations change.
    pub(crate) fn write_to(&self, patch: &mut patch::Patch<f32>) {
        patch.lambda = self.lambda.map(Wide::from_lanes);
        patch.pressed = Wide::from_lanes(self.pressed);
        let [normal, across] = self.stiffness.map(Wide::from_lanes);
        patch.stiffness = [normal, across, across];
        for (i, sticks) in patch.sticks.iter_mut().enumerate() {
            *sticks = self.state >> (STICKS as usize + i) & 1 != 0;
        }
    }
}

impl Patch {
    /// This patch as the host has it.
    pub(crate) fn patch(&self) -> patch::Patch<f32> {
        let lanes = |rows: [[f32; LANES]; 3]| rows.map(Wide::from_lanes);
        let mut patch = patch::Patch {
            nodes: [self.node_a, self.node_b],
            count: self.state & 7,
            axes: [V3(self.normal), V3(self.first_tangent), V3(self.second_tangent)],
            arm_a: lanes(self.arm_a),
            arm_b: lanes(self.arm_b),
            start: lanes(self.start),
            friction: Wide::from_lanes(self.friction),
            ..patch::Patch::EMPTY
        };
        self.write_to(&mut patch);
        patch
    }
}

impl Backing {
    pub(crate) fn of(memory: &PatchMemory<f32>, ramp: [f32; 4]) -> Self {
        Self { gap: memory.gap, drift: memory.drift, ramp }
    }

    /// Takes the drift over.
    pub(crate) fn write_to(&self, memory: &mut PatchMemory<f32>) {
        memory.drift = self.drift;
    }
}

fn rows(rows: &PatchRows<f32>) -> [[f32; LANES]; 3] {
    rows.map(Wide::lanes)
}

#[cfg(test)]
mod tests {
    use taut_gpu::assert_layout;

    use super::*;

    #[test]
    #[rustfmt::skip]
    fn structures_are_those_of_the_shaders() {
        const FILE: &str = "descent/patch.wgsl";
        assert_layout!(FILE, Patch {
            normal, node_a, first_tangent, node_b, second_tangent, state, arm_a, arm_b, start, lambda, pressed,
            stiffness, friction
        });
        assert_layout!(FILE, Backing { gap, drift, ramp });
        assert_layout!(FILE, Extent { patches, pad_0, pad_1, pad_2 });
    }
}
