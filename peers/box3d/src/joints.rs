//! Joints of a scene as joints of Box3D, all of which are soft constraints.

use std::f64::consts::{FRAC_1_SQRT_2, PI, TAU};

use box3d_sys as b3;

use crate::{
    scene::{Joint, Kind},
    settings::Settings,
    vector::{Place, cross, form, from_matrix, product, to_transform, turn},
};

/// What turns the axis z of the engine's hinges into the axis x of the scene's.
const HINGED: [f64; 4] = [0.0, FRAC_1_SQRT_2, 0.0, FRAC_1_SQRT_2];
/// Bounds of an angle, beyond which the engine does not take them.
const MOST_ANGLE: f64 = 0.99 * PI;
/// Bounds of a slider or rod that is free on one side [m]; the engine's own for what is far.
pub(crate) const FAR_M: f64 = 1e5;
/// The least length of a rod or spring, of which the engine makes shorter ones [m].
pub(crate) const SHORTEST_M: f64 = 0.005;
/// A frequency that holds nothing [rad/s]: what is damped only is a spring of almost none.
pub(crate) const LOOSE: f64 = 1e-4;

/// Makes a joint between two bodies; says why it cannot.
pub(crate) fn add(
    world: b3::b3WorldId,
    joint: &Joint,
    ends: [b3::b3BodyId; 2],
    settings: &Settings,
) -> Result<b3::b3JointId, String> {
    let driven = joint.motor.is_some() || joint.damping > 0.0;
    if driven && !matches!(joint.kind, Kind::Hinge | Kind::Prismatic) {
        return Err(format!("is a {:?} with a motor or damper", joint.kind));
    }
    match joint.kind {
        Kind::Ball => Ok(ball(world, joint, ends, settings)),
        Kind::Hinge => hinge(world, joint, ends, settings),
        Kind::Prismatic => Ok(prismatic(world, joint, ends, settings)),
        Kind::Fixed => Ok(fixed(world, joint, ends, settings)),
        Kind::Distance => distance(world, joint, ends, settings),
        Kind::Universal | Kind::Cylindrical => {
            Err(format!("is a {:?}, which is no joint of Box3D", joint.kind))
        }
    }
}

/// What all kinds have.
fn base(
    def: &mut b3::b3JointDef,
    ends: [b3::b3BodyId; 2],
    frames: &[Place; 2],
    settings: &Settings,
) {
    [def.bodyIdA, def.bodyIdB] = ends;
    [def.localFrameA, def.localFrameB] = [to_transform(&frames[0]), to_transform(&frames[1])];
    def.constraintHertz = settings.joint_hertz as f32;
    def.constraintDampingRatio = settings.joint_damping as f32;
    def.collideConnected = false;
}

fn ball(
    world: b3::b3WorldId,
    joint: &Joint,
    ends: [b3::b3BodyId; 2],
    settings: &Settings,
) -> b3::b3JointId {
    // SAFETY: world and bodies live as long as the model, and the definition is the engine's own.
    unsafe {
        let mut def = b3::b3DefaultSphericalJointDef();
        base(&mut def.base, ends, &joint.frames(), settings);
        b3::b3CreateSphericalJoint(world, &raw const def)
    }
}

fn hinge(
    world: b3::b3WorldId,
    joint: &Joint,
    ends: [b3::b3BodyId; 2],
    settings: &Settings,
) -> Result<b3::b3JointId, String> {
    let frames = joint.frames().map(|frame| Place { q: product(frame.q, HINGED), x: frame.x });
    // SAFETY: as in `ball`.
    let mut def = unsafe { b3::b3DefaultRevoluteJointDef() };
    base(&mut def.base, ends, &frames, settings);
    if let Some(limit) = joint.limit {
        let [Some(lower), Some(upper)] = limit else {
            return Err("is a hinge with one bound, where Box3D has two or none".to_owned());
        };
        if lower < -MOST_ANGLE || upper > MOST_ANGLE {
            return Err("is a hinge with a bound beyond 0.99 pi, the most Box3D has".to_owned());
        }
        def.enableLimit = true;
        [def.lowerAngle, def.upperAngle] = [lower as f32, upper as f32];
    }
    if let Some(motor) = joint.motor {
        def.enableMotor = true;
        def.motorSpeed = motor.speed as f32;
        def.maxMotorTorque = motor.max_effort.map_or(f32::MAX, |most| most as f32);
    }
    if joint.damping > 0.0 {
        // The axis is fixed on both bodies, so that what turns about it does not change.
        let axis = |k: usize| turn(frames[k].q, [0.0, 0.0, 1.0]);
        let slowness: f64 = (0..2).map(|k| form(&inverse_inertia(ends[k]), axis(k))).sum();
        def.enableSpring = true;
        [def.hertz, def.dampingRatio] = loose(joint.damping, slowness);
    }
    // SAFETY: as in `ball`.
    Ok(unsafe { b3::b3CreateRevoluteJoint(world, &raw const def) })
}

fn prismatic(
    world: b3::b3WorldId,
    joint: &Joint,
    ends: [b3::b3BodyId; 2],
    settings: &Settings,
) -> b3::b3JointId {
    let frames = joint.frames();
    // SAFETY: as in `ball`.
    let mut def = unsafe { b3::b3DefaultPrismaticJointDef() };
    base(&mut def.base, ends, &frames, settings);
    if let Some([lower, upper]) = joint.limit {
        def.enableLimit = true;
        def.lowerTranslation = lower.unwrap_or(-FAR_M) as f32;
        def.upperTranslation = upper.unwrap_or(FAR_M) as f32;
    }
    if let Some(motor) = joint.motor {
        def.enableMotor = true;
        def.motorSpeed = motor.speed as f32;
        def.maxMotorForce = motor.max_effort.map_or(f32::MAX, |most| most as f32);
    }
    if joint.damping > 0.0 {
        // A slide moves anchors along the axis only, so that levers about it do not change.
        let slowness: f64 = (0..2)
            .map(|k| {
                let axis = turn(frames[k].q, [1.0, 0.0, 0.0]);
                inverse_mass(ends[k]) + form(&inverse_inertia(ends[k]), cross(frames[k].x, axis))
            })
            .sum();
        def.enableSpring = true;
        [def.hertz, def.dampingRatio] = loose(joint.damping, slowness);
    }
    // SAFETY: as in `ball`.
    unsafe { b3::b3CreatePrismaticJoint(world, &raw const def) }
}

fn fixed(
    world: b3::b3WorldId,
    joint: &Joint,
    ends: [b3::b3BodyId; 2],
    settings: &Settings,
) -> b3::b3JointId {
    // SAFETY: as in `ball`.
    unsafe {
        let mut def = b3::b3DefaultWeldJointDef();
        base(&mut def.base, ends, &joint.frames(), settings);
        b3::b3CreateWeldJoint(world, &raw const def)
    }
}

fn distance(
    world: b3::b3WorldId,
    joint: &Joint,
    ends: [b3::b3BodyId; 2],
    settings: &Settings,
) -> Result<b3::b3JointId, String> {
    let length = joint.length_m.unwrap_or(0.0);
    let [lower, upper] = joint.limit.unwrap_or([Some(length); 2]);
    let [lower, upper] = [lower.unwrap_or(0.0), upper.unwrap_or(FAR_M)];
    if upper < SHORTEST_M {
        return Err(format!("is a rod of {upper} m, and Box3D takes {SHORTEST_M} m at least"));
    }
    // SAFETY: as in `ball`.
    let mut def = unsafe { b3::b3DefaultDistanceJointDef() };
    base(&mut def.base, ends, &joint.frames(), settings);
    def.length = upper as f32;
    if lower < upper {
        // Without a spring it is rigid whatever its bounds; one of no frequency is none.
        def.enableSpring = true;
        def.hertz = 0.0;
        def.enableLimit = true;
        [def.minLength, def.maxLength] = [lower as f32, upper as f32];
    }
    // SAFETY: as in `ball`.
    Ok(unsafe { b3::b3CreateDistanceJoint(world, &raw const def) })
}

/// Frequency and damping ratio of a coordinate that is damped and held by nothing.
fn loose(damping: f64, slowness: f64) -> [f32; 2] {
    [(LOOSE / TAU) as f32, (damping * slowness / (2.0 * LOOSE)) as f32]
}

pub(crate) fn inverse_mass(id: b3::b3BodyId) -> f64 {
    // SAFETY: the body lives as long as its model.
    f64::from(unsafe { b3::b3Body_GetInverseMass(id) })
}

/// In the body's coordinates, row by row; zero where no torque turns it.
fn inverse_inertia(id: b3::b3BodyId) -> [f64; 9] {
    if inverse_mass(id) == 0.0 {
        return [0.0; 9];
    }
    // SAFETY: as in `inverse_mass`.
    let inertia = unsafe { b3::b3Body_GetLocalRotationalInertia(id) };
    crate::vector::inverse(&from_matrix(&inertia))
}
