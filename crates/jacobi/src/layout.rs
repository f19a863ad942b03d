//! Structures as `shaders/jacobi/types.wgsl` has them.

use bytemuck::{Pod, Zeroable};
use taut_core::scene::Motion as MotionKind;
use taut_descent::node::Base;
use taut_math::{Q4, V3};

use crate::{model, settings::WarmStart, step};

#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Constants {
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
pub(crate) struct Body {
    inertia: [f32; 6],
    inverse_inertia: [f32; 6],
    inverse_mass: f32,
    first: u32,
    last: u32,
    motion: u32,
}

#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Motion {
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
pub(crate) struct Velocity {
    linear: [f32; 3],
    pad_0: f32,
    angular: [f32; 3],
    pad_1: f32,
}

#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Joint {
    a: u32,
    b: u32,
    holds: u32,
    anchor_a: [f32; 3],
    anchor_b: [f32; 3],
}

#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Prepared {
    arm_a: [f32; 3],
    arm_b: [f32; 3],
    inverse: [f32; 6],
    bias: [f32; 3],
}

impl Constants {
    pub(crate) fn new(from: &step::Constants<f32>, warm: WarmStart, counts: [u32; 2]) -> Self {
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

impl From<&model::Body<f32>> for Body {
    fn from(body: &model::Body<f32>) -> Self {
        Self {
            inertia: body.inertia.0,
            inverse_inertia: body.inverse_inertia.0,
            inverse_mass: body.inverse_mass,
            first: body.ends[0],
            last: body.ends[1],
            motion: match body.motion {
                MotionKind::Static => 0,
                MotionKind::Dynamic => 1,
                MotionKind::Kinematic => 2,
            },
        }
    }
}

impl From<&model::Joint<f32>> for Joint {
    fn from(joint: &model::Joint<f32>) -> Self {
        Self {
            a: joint.bodies[0],
            b: joint.bodies[1],
            holds: u32::from(joint.active),
            anchor_a: joint.anchors[0].0,
            anchor_b: joint.anchors[1].0,
        }
    }
}

impl From<&Base<f32>> for Motion {
    fn from(base: &Base<f32>) -> Self {
        Self {
            position: base.position.0,
            pad_0: 0.0,
            rotation: quaternion(base.rotation),
            velocity: base.velocity.0,
            pad_1: 0.0,
            omega: base.omega.0,
            pad_2: 0.0,
        }
    }
}

impl Motion {
    /// Takes this motion over.
    pub(crate) fn write_to(&self, base: &mut Base<f32>) {
        let [x, y, z, w] = self.rotation;
        base.position = V3(self.position);
        base.rotation = Q4 { v: V3([x, y, z]), w };
        base.velocity = V3(self.velocity);
        base.omega = V3(self.omega);
    }
}

impl From<&Velocity> for step::Velocity<f32> {
    fn from(velocity: &Velocity) -> Self {
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
    let (body, motion) = (size_of::<Body>(), size_of::<Motion>());
    let (velocity, inertia) = (size_of::<Velocity>(), size_of::<[f32; 6]>());
    let (joint, prepared, multiplier) = (size_of::<Joint>(), size_of::<Prepared>(), 12);
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
            Constants { gravity, h, rate, drift, gyroscopic, warm, bodies, joints, nothing, pad }
        );
        assert_layout!(FILE, Body { inertia, inverse_inertia, inverse_mass, first, last, motion });
        assert_layout!(FILE, Motion { position, pad_0, rotation, velocity, pad_1, omega, pad_2 });
        assert_layout!(FILE, Velocity { linear, pad_0, angular, pad_1 });
        assert_layout!(FILE, Joint { a, b, holds, anchor_a, anchor_b });
        assert_layout!(FILE, Prepared { arm_a, arm_b, inverse, bias });
    }
}
