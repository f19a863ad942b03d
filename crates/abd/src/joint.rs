//! Joints as coinciding points.

use taut_core::Vec3;
use taut_model::{Form, Model, Owner, Unit};

/// The points of a joint, each in the coordinates of either side.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tie {
    /// Index of the joint.
    pub(crate) joint: usize,
    /// Nodes A and B of the model.
    pub(crate) nodes: [usize; 2],
    /// Pairs of points that coincide [m].
    pub(crate) points: Vec<[Vec3; 2]>,
}

/// The points of all joints that can move something.
pub(crate) fn ties(model: &Model) -> Vec<Tie> {
    let graph = model.graph();
    let units = model.units.iter().enumerate();
    let moving = units.filter(|&(i, _)| !graph.nodes_of.of(i).is_empty());
    moving.filter_map(|(_, unit)| tie(model, unit)).collect()
}

/// A point at the anchor, with parallel axes one along them, with parallel bases three along all axes.
fn tie(model: &Model, unit: &Unit) -> Option<Tie> {
    let (Owner::Joint(joint), [a, b]) = (unit.owner, model.ends_of_unit(unit)) else { return None };
    let nodes = [a, b].map(|end| end.node as usize);
    // Half the longest side of a body, so that a joint's points are as far apart as its bodies are long [m].
    let moving = nodes.map(|node| &model.nodes[node]).into_iter().filter(|node| node.moves());
    let arm = moving.map(|node| 0.5 * node.extent.max()).fold(0.0, f64::max);
    let axes = |form| match form {
        Form::Axis => 1,
        Form::Twist | Form::Turn => 3,
        Form::Point | Form::Line | Form::Row(_) => 0,
    };
    let axes = model.elements_of(unit).iter().map(|element| axes(element.form)).sum();
    let along = |axis| [a, b].map(|end| end.anchor + end.basis * Vec3::ith(axis, arm));
    let points = [[a.anchor, b.anchor]].into_iter().chain((0..axes).map(along)).collect();
    Some(Tie { joint: joint as usize, nodes, points })
}
