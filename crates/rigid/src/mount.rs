//! How each body is held, found from the scene's joints, and what cannot be integrated here.

use taut_core::{Quat, Scene, Vec3};
use taut_model::{Form, Model, NodeKind, Owner, Unit};

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

/// How every body is held, or why the scene is not one of single bodies.
pub(crate) fn mounts(scene: &Scene) -> Result<Vec<Mount>, String> {
    let (model, mut mounts) = (Model::new(scene), vec![Mount::Free; scene.bodies.len()]);
    let graph = model.graph();
    for (i, unit) in model.units.iter().enumerate() {
        let (Owner::Joint(joint), Some(&node)) = (unit.owner, graph.nodes_of.of(i).first()) else {
            continue;
        };
        let mount = mount(scene, &model, (unit, joint as usize), node)
            .map_err(|what| format!("joint {joint} {what}"))?;
        let body = node as usize;
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

fn name(scene: &Scene, body: usize) -> String {
    match scene.bodies[body].name.as_str() {
        "" => format!("body {body}"),
        name => format!("body `{name}`"),
    }
}

/// How a joint holds the first of its nodes that move.
fn mount(
    scene: &Scene,
    model: &Model,
    (unit, joint): (&Unit, usize),
    node: u32,
) -> Result<Mount, &'static str> {
    let &[a, b] = model.ends_of_unit(unit) else { return Err("has not two ends") };
    let (moving, held) = if a.node == node { (a, b) } else { (b, a) };
    let is_particle = |node: u32| (model.slots.bodies..model.slots.world()).contains(&node);
    if is_particle(moving.node) {
        return Err("holds a particle");
    }
    if model.nodes[held.node as usize].kind != NodeKind::Held || is_particle(held.node) {
        return Err("holds a body to something that moves");
    }
    let (position, rotation) = match scene.bodies.get(held.node as usize) {
        Some(body) => (body.position, body.rotation),
        None => (Vec3::zeros(), Quat::identity()),
    };
    let (pivot, anchor) = (position + rotation * held.anchor, moving.anchor);
    let forms = model.elements_of(unit).iter().map(|element| element.form);
    match forms.collect::<Vec<_>>()[..] {
        [Form::Point] => Ok(Mount::Ball { joint, pivot, anchor }),
        [Form::Point, Form::Axis] => {
            let axis = rotation * (held.basis * Vec3::x());
            let axis_local = moving.basis * Vec3::x();
            Ok(Mount::Hinge { joint, pivot, anchor, axis, axis_local })
        }
        _ => Err("is neither a ball joint nor a hinge"),
    }
}
