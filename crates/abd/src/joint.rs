//! Joints as coinciding points, and what cannot be had this way.

use taut_core::{
    Scene, Vec3,
    scene::{Endpoint, Joint, JointKind},
};

/// The points of a joint, each in the coordinates of either side.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tie {
    /// Index of the joint.
    pub(crate) joint: usize,
    /// What the sides are.
    pub(crate) ends: [Endpoint; 2],
    /// Pairs of points that coincide [m].
    pub(crate) points: Vec<[Vec3; 2]>,
}

/// The points of all joints that can move something.
pub(crate) fn ties(scene: &Scene) -> Vec<Tie> {
    let joints = scene.joints.iter().enumerate();
    let moving = joints.filter(|(_, j)| scene.is_dynamic(j.a) || scene.is_dynamic(j.b));
    moving.map(|(i, joint)| tie(scene, i, joint)).collect()
}

/// A point at the anchor, for a hinge one along the axis, for a weld three along all axes.
fn tie(scene: &Scene, index: usize, joint: &Joint) -> Tie {
    let arm = [joint.a, joint.b].map(|end| reach(scene, end)).into_iter().fold(0.0, f64::max);
    let axes = match joint.kind {
        JointKind::Ball => 0,
        JointKind::Hinge => 1,
        _ => 3,
    };
    let anchors = [joint.anchor_a, joint.anchor_b];
    let along = |axis| {
        let arm = Vec3::ith(axis, arm);
        [anchors[0] + joint.basis_a * arm, anchors[1] + joint.basis_b * arm]
    };
    let points = std::iter::once(anchors).chain((0..axes).map(along)).collect();
    Tie { joint: index, ends: [joint.a, joint.b], points }
}

/// Half the longest side of a body, so that a joint's points are as far apart as its bodies are long [m].
fn reach(scene: &Scene, end: Endpoint) -> f64 {
    match end {
        Endpoint::Body(i) if scene.bodies[i].is_dynamic() => {
            0.5 * scene.bodies[i].shape.extent().max()
        }
        _ => 0.0,
    }
}
