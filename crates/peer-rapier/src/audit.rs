//! What a world of Rapier holds, read from its own arrays.

use serde::Serialize;
use taut_core::audit::{AuditPrecision, CompiledBody, CompiledJoint, CompiledScene, Deviation};

use super::{
    super::{
        PRECISION,
        rapier::{
            dynamics::{
                ImpulseJoint, ImpulseJointHandle, IntegrationParameters, RigidBody, RigidBodyHandle,
            },
            math::{Real, Vector},
            pipeline::PhysicsWorld,
        },
        wide,
    },
    convert::vector_out,
};

/// Bodies and joints of the scene; of the former the last is the world. Masses are as they are in the first step.
pub(super) fn compiled(
    world: &mut PhysicsWorld,
    bodies: &[RigidBodyHandle],
    joints: &[ImpulseJointHandle],
) -> CompiledScene {
    let handles = &bodies[..bodies.len().saturating_sub(1)];
    for handle in handles {
        world.bodies[*handle].recompute_mass_properties_from_colliders(&world.colliders);
    }
    let of_all = |size: fn(&RigidBody) -> f64| {
        handles.iter().map(|handle| size(&world.bodies[*handle])).fold(0.0, f64::max)
    };
    let sleeps = |handle: &RigidBodyHandle| {
        let body = &world.bodies[*handle];
        body.is_dynamic() && body.activation().normalized_linear_threshold >= 0.0
    };
    // Rotations are capped beside speeds, each body by itself.
    let turns_freely = |handle: &RigidBodyHandle| {
        let body = &world.bodies[*handle];
        !body.is_dynamic() || body.is_fast_rotation_allowed()
    };
    let cap = world.integration_parameters.max_linear_velocity();
    let free = cap == Real::MAX && handles.iter().all(turns_freely);
    let joints = joints.iter().filter_map(|handle| world.impulse_joints.get(*handle));
    CompiledScene {
        gravity: Some(vector_out(world.gravity).into()),
        precision: Some(PRECISION),
        sleeping: Some(handles.iter().any(sleeps)),
        damping_linear: Some(of_all(|body| wide(body.linear_damping()))),
        damping_angular: Some(of_all(|body| wide(body.angular_damping()))),
        speed_max: Some((!free).then(|| wide(cap))),
        gyroscopic: Some(
            handles.iter().all(|handle| world.bodies[*handle].gyroscopic_forces_enabled()),
        ),
        bodies: Some(handles.iter().map(|handle| body(&world.bodies[*handle])).collect()),
        joints: Some(joints.map(joint).collect()),
    }
}

/// Where the engine is known to depart from a scene.
pub(super) fn deviations() -> Vec<Deviation> {
    let inertia = Deviation {
        item: "body.inertia".to_owned(),
        reason: "principal axes are found in single precision".to_owned(),
    };
    if PRECISION == AuditPrecision::F32 { vec![inertia] } else { Vec::new() }
}

fn body(body: &RigidBody) -> CompiledBody {
    let held = &body.mass_properties().local_mprops;
    let [x, y, z] = held.reconstruct_inertia_matrix().to_cols_array_2d().map(|c| c.map(wide));
    CompiledBody {
        mass: Some(wide(held.mass())),
        centre: Some(vector_out(held.local_com).into()),
        // Symmetric, so that rows may be columns.
        inertia: Some([x[0], x[1], x[2], y[0], y[1], y[2], z[0], z[1], z[2]]),
    }
}

fn joint(joint: &ImpulseJoint) -> CompiledJoint {
    let data = &joint.data;
    let (hertz, damping) = (wide(data.softness.natural_frequency), data.softness.damping_ratio);
    CompiledJoint {
        law: Some(format!("soft: {hertz} Hz, damping ratio {damping}")),
        rows: Some(data.locked_axes.bits().count_ones() as usize),
        anchor_a: Some(vector_out(data.local_frame1.translation).into()),
        anchor_b: Some(vector_out(data.local_frame2.translation).into()),
        axis: Some(vector_out(data.local_frame2.rotation * Vector::X).into()),
    }
}

/// The engine's parameters under names of their own, as RON text.
pub(super) fn in_force(parameters: &IntegrationParameters) -> String {
    #[derive(Serialize)]
    struct InForce {
        allowed_linear_error_m: f64,
        prediction_distance_m: f64,
        corrective_speed_max_m_s: f64,
        stabilization_passes: usize,
        warmstart_coefficient: f64,
        contact_clustering: bool,
        contact_recycling: bool,
    }
    let told = InForce {
        allowed_linear_error_m: wide(parameters.allowed_linear_error()),
        prediction_distance_m: wide(parameters.prediction_distance()),
        corrective_speed_max_m_s: wide(parameters.max_corrective_velocity()),
        stabilization_passes: parameters.num_internal_stabilization_iterations,
        warmstart_coefficient: wide(parameters.warmstart_coefficient),
        contact_clustering: parameters.contact_clustering,
        contact_recycling: parameters.contact_recycling,
    };
    ron::to_string(&told).unwrap_or_default()
}
