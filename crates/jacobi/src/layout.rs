//! Structures as `shaders/jacobi/types.wgsl` has them.

use bytemuck::{Pod, Zeroable};
use taut_math::{Q4, V3};
use taut_model::{NodeKind, Pose, Velocity};

use crate::{
    settings::WarmStart,
    step::{BallJoint, Mass, StepConstants},
};

#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct StepData {
    gravity: [f32; 3],
    h: f32,
    rate: f32,
    drift: f32,
    gyroscopic: u32,
    warm: u32,
    bodies: u32,
    joints: u32,
    nothing: u32,
    pad: u32,
}

#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct BodyData {
    inertia: [f32; 6],
    inverse_inertia: [f32; 6],
    inverse_mass: f32,
    first: u32,
    last: u32,
    motion: u32,
}

#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct MotionData {
    position: [f32; 3],
    pad_0: f32,
    rotation: [f32; 4],
    velocity: [f32; 3],
    pad_1: f32,
    omega: [f32; 3],
    pad_2: f32,
}

#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct VelocityData {
    linear: [f32; 3],
    pad_0: f32,
    angular: [f32; 3],
    pad_1: f32,
}

#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct JointData {
    a: u32,
    b: u32,
    holds: u32,
    anchor_a: [f32; 3],
    anchor_b: [f32; 3],
}

#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct PreparedData {
    arm_a: [f32; 3],
    arm_b: [f32; 3],
    inverse: [f32; 6],
    bias: [f32; 3],
}

impl StepData {
    pub(crate) fn new(from: &StepConstants<f32>, warm: WarmStart, counts: [u32; 2]) -> Self {
        Self {
            gravity: from.gravity.0,
            h: from.h,
            rate: from.rate,
            drift: from.drift,
            gyroscopic: u32::from(from.gyroscopic),
            warm: u32::from(warm != WarmStart::Off),
            bodies: counts[0],
            joints: counts[1],
            nothing: 0,
            pad: 0,
        }
    }
}

impl BodyData {
    /// With its range among the ends of joints.
    pub(crate) fn new(mass: &Mass<f32>, [first, last]: [u32; 2]) -> Self {
        Self {
            inertia: mass.inertia.0,
            inverse_inertia: mass.inverse_inertia.0,
            inverse_mass: mass.inverse_mass,
            first,
            last,
            motion: match mass.kind {
                NodeKind::Held => 0,
                NodeKind::Body | NodeKind::Particle => 1,
                NodeKind::Driven => 2,
            },
        }
    }
}

impl From<&BallJoint<f32>> for JointData {
    fn from(joint: &BallJoint<f32>) -> Self {
        Self {
            a: joint.nodes[0],
            b: joint.nodes[1],
            holds: u32::from(joint.active),
            anchor_a: joint.anchors[0].0,
            anchor_b: joint.anchors[1].0,
        }
    }
}

impl MotionData {
    pub(crate) fn new(pose: &Pose<f32>, velocity: &Velocity<f32>) -> Self {
        Self {
            position: pose.position.0,
            pad_0: 0.0,
            rotation: quaternion(pose.rotation),
            velocity: velocity.linear.0,
            pad_1: 0.0,
            omega: velocity.angular.0,
            pad_2: 0.0,
        }
    }

    /// As the host has it.
    pub(crate) fn motion(&self) -> (Pose<f32>, Velocity<f32>) {
        let ([x, y, z, w], position) = (self.rotation, V3(self.position));
        let pose = Pose { position, rotation: Q4 { v: V3([x, y, z]), w } };
        (pose, Velocity { linear: V3(self.velocity), angular: V3(self.omega) })
    }
}

impl From<&VelocityData> for Velocity<f32> {
    fn from(velocity: &VelocityData) -> Self {
        Self { linear: V3(velocity.linear), angular: V3(velocity.angular) }
    }
}

/// A rotation as shaders have it.
pub(crate) fn quaternion(q: Q4<f32>) -> [f32; 4] {
    let [x, y, z] = q.v.0;
    [x, y, z, q.w]
}

/// Bytes that a step moves at least, in the order of [`taut_core::Stage`]: each number that a stage needs is read
/// once, each that it leaves is written once. Of an iteration, which has two passes, what each of them does; motion
/// of bodies is taken for cached where joints look at it.
///
/// `scripts/bench-gpu` divides times by them.
pub const fn bytes_per_stage(bodies: usize, joints: usize) -> [usize; 4] {
    let (body, motion) = (size_of::<BodyData>(), size_of::<MotionData>());
    let (velocity, inertia) = (size_of::<VelocityData>(), size_of::<[f32; 6]>());
    let (joint, prepared, multiplier) = (size_of::<JointData>(), size_of::<PreparedData>(), 12);
    let prepare_bodies = body + motion + inertia + 2 * velocity;
    let prepare_joints = joint + prepared + multiplier;
    let multipliers = joint + prepared + 2 * multiplier;
    // What both bodies take of a joint, and where they find it.
    let velocities = prepared + multiplier + 2 * size_of::<u32>();
    [
        0,
        bodies * (prepare_bodies + body + motion + inertia) + joints * prepare_joints,
        bodies * (velocity + body + inertia + 2 * velocity) + joints * (multipliers + velocities),
        bodies * (body + velocity + 2 * motion),
    ]
}

#[cfg(test)]
mod tests {
    use taut_gpu::assert_layout;

    use super::*;

    /// `scripts/bench-gpu` counts with these.
    #[test]
    fn stages_move_so_many_bytes() {
        let each = [[1, 0], [0, 1]].map(|[bodies, joints]| bytes_per_stage(bodies, joints));
        assert_eq!(each, [[0, 368, 184, 224], [0, 108, 200, 0]]);
    }

    #[test]
    fn structures_are_those_of_the_shaders() {
        const FILE: &str = "jacobi/types.wgsl";
        assert_layout!(
            FILE,
            StepData { gravity, h, rate, drift, gyroscopic, warm, bodies, joints, nothing, pad }
        );
        assert_layout!(
            FILE,
            BodyData { inertia, inverse_inertia, inverse_mass, first, last, motion }
        );
        assert_layout!(
            FILE,
            MotionData { position, pad_0, rotation, velocity, pad_1, omega, pad_2 }
        );
        assert_layout!(FILE, VelocityData { linear, pad_0, angular, pad_1 });
        assert_layout!(FILE, JointData { a, b, holds, anchor_a, anchor_b });
        assert_layout!(FILE, PreparedData { arm_a, arm_b, inverse, bias });
    }
}
