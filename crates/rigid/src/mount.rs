//! How each body is held, found from the scene's joints, and what cannot be integrated here.

use taut_core::{
    Quat, Scene, Vec3,
    scene::{Endpoint, Joint, JointKind, Motion},
};

/// What a body is held by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Mount {
    /// Nothing.
    Free,
    /// A point of it stays at a point of the world.
    Ball {
        /// The joint.
        joint: usize,
        /// The point in the world [m].
        pivot: Vec3,
        /// The same point in body coordinates [m].
        anchor: Vec3,
    },
    /// An axis of it stays on a line of the world.
    Hinge {
        /// The joint.
        joint: usize,
        /// A point of the axis in the world [m].
        pivot: Vec3,
        /// The same point in body coordinates [m].
        anchor: Vec3,
        /// Unit axis in the world.
        axis: Vec3,
        /// Unit axis in body coordinates.
        axis_local: Vec3,
    },
}

/// One side of a joint.
struct Side {
    end: Endpoint,
    anchor: Vec3,
    basis: Quat,
}

/// How every body is held, or why the scene is not one of single bodies.
pub(crate) fn mounts(scene: &Scene) -> Result<Vec<Mount>, String> {
    let mut mounts = vec![Mount::Free; scene.bodies.len()];
    for (index, joint) in scene.joints.iter().enumerate() {
        let sides = sides(joint);
        if !sides.iter().any(|side| scene.is_dynamic(side.end)) {
            continue;
        }
        let (body, mount) = mount(scene, index, joint, sides)?;
        if mounts[body] != Mount::Free {
            return Err(format!("{} has more than one joint", name(scene, body)));
        }
        mounts[body] = mount;
    }
    for (i, body) in scene.bodies.iter().enumerate().filter(|(_, b)| b.is_dynamic()) {
        if body.inertia.try_inverse().is_none() {
            return Err(format!("{} has a singular inertia", name(scene, i)));
        }
    }
    Ok(mounts)
}

fn sides(joint: &Joint) -> [Side; 2] {
    [
        Side { end: joint.a, anchor: joint.anchor_a, basis: joint.basis_a },
        Side { end: joint.b, anchor: joint.anchor_b, basis: joint.basis_b },
    ]
}

fn name(scene: &Scene, body: usize) -> String {
    match scene.bodies[body].name.as_str() {
        "" => format!("body {body}"),
        name => format!("body `{name}`"),
    }
}

fn mount(
    scene: &Scene,
    index: usize,
    joint: &Joint,
    [a, b]: [Side; 2],
) -> Result<(usize, Mount), String> {
    let refuse = |what: &str| Err(format!("joint {index} {what}"));
    let (moving, held) = if scene.is_dynamic(a.end) { (a, b) } else { (b, a) };
    let Endpoint::Body(body) = moving.end else {
        return refuse("holds a particle");
    };
    let (position, rotation) = match held.end {
        Endpoint::World => (Vec3::zeros(), Quat::identity()),
        Endpoint::Body(i) if scene.bodies[i].motion == Motion::Static => {
            (scene.bodies[i].position, scene.bodies[i].rotation)
        }
        _ => return refuse("holds a body to something that moves"),
    };
    let (pivot, anchor) = (position + rotation * held.anchor, moving.anchor);
    match joint.kind {
        JointKind::Ball => Ok((body, Mount::Ball { joint: index, pivot, anchor })),
        JointKind::Hinge => {
            let axis = rotation * (held.basis * Vec3::x());
            let axis_local = moving.basis * Vec3::x();
            Ok((body, Mount::Hinge { joint: index, pivot, anchor, axis, axis_local }))
        }
        _ => refuse("is neither a ball joint nor a hinge"),
    }
}
