//! What Box3D holds, from what it tells of its world, bodies and joints.

use box3d_sys as b3;
use serde_json::{Value, json};

use crate::{
    model::Model,
    vector::{from_matrix, from_quat, from_vec3, turn},
};

pub(crate) fn audit(model: &Model) -> Value {
    let world = model.world.id;
    // SAFETY: the world lives as long as the model.
    let (gravity, sleeping, threads, cap, restitution, recycle, continuous, warm) = unsafe {
        (
            from_vec3(b3::b3World_GetGravity(world)),
            b3::b3World_IsSleepingEnabled(world),
            b3::b3World_GetWorkerCount(world),
            b3::b3World_GetMaximumLinearSpeed(world),
            b3::b3World_GetRestitutionThreshold(world),
            b3::b3World_GetContactRecycleDistance(world),
            b3::b3World_IsContinuousEnabled(world),
            b3::b3World_IsWarmStartingEnabled(world),
        )
    };
    let moving: Vec<_> = model.bodies.iter().copied().filter(|&id| is_dynamic(id)).collect();
    let most = |of: unsafe extern "C" fn(b3::b3BodyId) -> f32| {
        // SAFETY: bodies live as long as the model.
        let all = moving.iter().map(|&id| unsafe { of(id) });
        f64::from(all.fold(0.0, f32::max))
    };
    // SAFETY: as above.
    let fast = moving.iter().all(|&id| unsafe { b3::b3Body_IsFastRotationAllowed(id) });
    let tuning = model.joints.iter().flatten().next().map(|&id| tuning(id));
    json!({
        "gravity": gravity,
        "precision": "f32",
        "threads": threads,
        "sleeping": sleeping,
        "damping_linear": most(b3::b3Body_GetLinearDamping),
        "damping_angular": most(b3::b3Body_GetAngularDamping),
        "speed_max": if cap < f32::MAX { json!(cap) } else { Value::Null },
        "gyroscopic": b3::B3_GYROSCOPIC_ITERATIONS > 0,
        "bodies": model.bodies.iter().map(|&id| body(id)).collect::<Vec<_>>(),
        "joints": model.joints.iter().map(|id| id.map_or(json!({}), joint)).collect::<Vec<_>>(),
        "contacts": {
            "law": "soft constraint",
            "margin": 0.0,
            "friction_rule": "geometric mean",
            "restitution_rule": "larger",
        },
        "effective": {
            "restitution_threshold": restitution,
            "contact_recycle_distance": recycle,
            "continuous": continuous,
            "warm_starting": warm,
            "fast_rotation": fast,
            "constraint_hertz_and_damping_ratio": tuning,
        },
    })
}

fn is_dynamic(id: b3::b3BodyId) -> bool {
    // SAFETY: the body lives as long as the model.
    unsafe { b3::b3Body_GetType(id) == b3::b3BodyType_b3_dynamicBody }
}

fn body(id: b3::b3BodyId) -> Value {
    if !is_dynamic(id) {
        return json!({"mass": null});
    }
    // SAFETY: the body lives as long as the model.
    let (data, inverse) =
        unsafe { (b3::b3Body_GetMassData(id), b3::b3Body_GetWorldInverseRotationalInertia(id)) };
    // A determinant below the least single makes the engine hold a body's rotation, and keep its inertia all the same.
    let turns = from_matrix(&inverse).iter().any(|&x| x != 0.0);
    let inertia = if turns { from_matrix(&data.inertia) } else { [0.0; 9] };
    json!({"mass": data.mass, "centre": from_vec3(data.center), "inertia": inertia})
}

/// Frequency and damping ratio.
fn tuning(id: b3::b3JointId) -> [f32; 2] {
    let mut out = [0.0; 2];
    let [hertz, ratio] = &mut out;
    // SAFETY: the joint lives as long as the model, and both places are written to.
    unsafe { b3::b3Joint_GetConstraintTuning(id, hertz, ratio) };
    out
}

fn joint(id: b3::b3JointId) -> Value {
    // SAFETY: the joint lives as long as the model.
    let (kind, a, b) = unsafe {
        (b3::b3Joint_GetType(id), b3::b3Joint_GetLocalFrameA(id), b3::b3Joint_GetLocalFrameB(id))
    };
    let (rows, axis) = match kind {
        b3::b3JointType_b3_sphericalJoint => (3, None),
        b3::b3JointType_b3_revoluteJoint => (5, Some([0.0, 0.0, 1.0])),
        b3::b3JointType_b3_prismaticJoint => (5, Some([1.0, 0.0, 0.0])),
        b3::b3JointType_b3_weldJoint => (6, None),
        // Rigid, unless it has a spring and bounds.
        // SAFETY: as above.
        _ => (usize::from(!unsafe { b3::b3DistanceJoint_IsLimitEnabled(id) }), None),
    };
    json!({
        "law": "soft constraint",
        "rows": rows,
        "anchor_a": from_vec3(a.p),
        "anchor_b": from_vec3(b.p),
        "axis": axis.map(|axis| turn(from_quat(b.q), axis)),
    })
}
