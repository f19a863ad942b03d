//! From the joints and springs of a scene to units of blocks.

use taut_math::Real;
use taut_model::{Form, Model, NodeKind, Wrench, narrow};

use super::{Joints, point::AnchorBlock, rows::RowBlock};

/// A joint or spring: blocks solved in sequence on the same two bodies.
#[derive(Clone, Copy, Debug)]
pub(super) struct JointBlocks {
    /// Places of A and B among the bodies.
    pub(super) slots: [u32; 2],
    /// First of its blocks of rows and one past the last.
    pub(super) rows: [u32; 2],
    /// The same of its points, of which there is one at most.
    pub(super) points: [u32; 2],
    /// Whether it holds.
    pub(super) active: bool,
}

/// Lays out the joints and springs of a scene in list order.
pub(crate) fn lower<R: Real>(model: &Model) -> Joints<R> {
    let mut joints = Joints {
        units: vec![],
        rows: vec![],
        points: vec![],
        loads: vec![Wrench::ZERO; model.units.len()],
        turning: vec![],
    };
    for unit in &model.units {
        let (rows, points) = (narrow(joints.rows.len()), narrow(joints.points.len()));
        for element in model.turning_first(unit).filter(|element| element.exerts()) {
            let ends = model.pair_of(element);
            match element.form {
                Form::Point => joints.points.push(AnchorBlock::new(element, &ends)),
                _ => joints.rows.push(RowBlock::new(element, &ends)),
            }
        }
        let ends = model.ends_of_unit(unit);
        joints.units.push(JointBlocks {
            slots: [ends[0].node, ends[1].node],
            rows: [rows, narrow(joints.rows.len())],
            points: [points, narrow(joints.points.len())],
            active: true,
        });
    }
    joints.turning = model.ends.iter().map(|end| end.node).collect();
    joints.turning.retain(|&node| model.nodes[node as usize].kind == NodeKind::Body);
    joints.turning.sort_unstable();
    joints.turning.dedup();
    joints
}
