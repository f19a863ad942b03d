//! Joints and springs of the scene as joints of Rapier, whose first body is A.

use taut_core::{
    Quat,
    scene::{Joint, JointKind, Limit, Motor, Spring, SpringKind},
};

use super::{
    super::{
        rapier::dynamics::{
            GenericJoint, GenericJointBuilder, JointAxesMask, JointAxis, MotorModel,
        },
        real,
    },
    convert::pose,
};

/// Gain of a motor on the error of its rate [1/s], far above the rate of any step: the rate is
/// reached within a step unless the effort is bounded.
const MOTOR_GAIN: f64 = 1e6;

/// A joint that keeps its bodies from touching.
pub(super) fn joint(joint: &Joint) -> GenericJoint {
    let (locked, free) = match joint.kind {
        JointKind::Hinge => (JointAxesMask::LOCKED_REVOLUTE_AXES, Some(JointAxis::AngX)),
        JointKind::Prismatic => (JointAxesMask::LOCKED_PRISMATIC_AXES, Some(JointAxis::LinX)),
        JointKind::Cylindrical => {
            let locked = JointAxesMask::LOCKED_PRISMATIC_AXES.difference(JointAxesMask::ANG_X);
            (locked, Some(JointAxis::LinX))
        }
        JointKind::Fixed => (JointAxesMask::LOCKED_FIXED_AXES, None),
        JointKind::Distance { .. } => (JointAxesMask::empty(), Some(JointAxis::LinX)),
        JointKind::Ball | JointKind::Universal => (JointAxesMask::LOCKED_SPHERICAL_AXES, None),
    };
    let mut builder = GenericJointBuilder::new(locked)
        .local_frame1(pose(&joint.anchor_a, &joint.basis_a))
        .local_frame2(pose(&joint.anchor_b, &joint.basis_b))
        .contacts_enabled(false);
    if matches!(joint.kind, JointKind::Distance { .. }) {
        builder = builder.coupled_axes(JointAxesMask::LIN_AXES);
    }
    if let (Some(axis), Some(Limit { lower, upper })) = (free, joint.limit) {
        builder = builder.limits(axis, [real(lower), real(upper)]);
    }
    if let (Some(axis), Some(Motor { speed, max_effort })) = (free, joint.motor) {
        builder = builder
            .motor_model(axis, MotorModel::AccelerationBased)
            .motor_velocity(axis, real(speed), real(MOTOR_GAIN))
            .motor_max_force(axis, real(max_effort));
    }
    builder.build()
}

/// A spring between two points, implicit and without damping of its own; none where it is angular.
pub(super) fn spring(spring: &Spring) -> Option<GenericJoint> {
    let SpringKind::Linear { anchor_a, anchor_b, rest_length } = spring.kind else { return None };
    let axis = JointAxis::LinX;
    let builder = GenericJointBuilder::new(JointAxesMask::empty())
        .local_frame1(pose(&anchor_a, &Quat::identity()))
        .local_frame2(pose(&anchor_b, &Quat::identity()))
        .coupled_axes(JointAxesMask::LIN_AXES)
        .motor_model(axis, MotorModel::ForceBased)
        .motor_position(axis, real(rest_length), real(spring.stiffness), 0.0);
    Some(builder.build())
}
