//! From the joints and springs of a scene to units of blocks.

use taut_core::{
    Scene,
    constraint::{Geometry, RowKind, free_coordinate},
    scene::{Joint, JointKind, Spring, SpringKind},
};
use taut_math::Real;

use super::{
    Joints, Load,
    point::Point,
    rows::{Anchors, Role, RowSet, Rows},
};
use crate::body::slot;

/// A joint or spring: blocks solved in sequence on the same two bodies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unit {
    /// Places of A and B among the bodies.
    pub(super) slots: [u32; 2],
    /// First of its blocks of rows and one past the last.
    pub(super) rows: [u32; 2],
    /// The same of its points, of which there is one at most.
    pub(super) points: [u32; 2],
    /// Whether it holds.
    pub(super) active: bool,
}

pub(super) fn lay_out<R: Real>(scene: &Scene) -> Joints<R> {
    let mut joints = Joints {
        units: vec![],
        rows: vec![],
        points: vec![],
        loads: vec![Load::NONE; scene.joints.len() + scene.springs.len()],
        turning: vec![],
    };
    for joint in &scene.joints {
        let ends = [joint.a, joint.b].map(|e| slot(scene, e));
        joints.push(ends, |joints| joints.push_joint(joint));
    }
    for spring in &scene.springs {
        let ends = [spring.a, spring.b].map(|e| slot(scene, e));
        joints.push(ends, |joints| joints.push_spring(spring));
    }
    let turns = |&s: &u32| scene.bodies.get(s as usize).is_some_and(|b| b.is_dynamic());
    let slots = joints.units.iter().flat_map(|u| u.slots);
    joints.turning = slots.filter(turns).collect();
    joints.turning.sort_unstable();
    joints.turning.dedup();
    joints
}

impl<R: Real> Joints<R> {
    fn push(&mut self, slots: [usize; 2], blocks: impl FnOnce(&mut Self)) {
        let (rows, points) = (narrow(self.rows.len()), narrow(self.points.len()));
        blocks(self);
        self.units.push(Unit {
            slots: slots.map(narrow),
            rows: [rows, narrow(self.rows.len())],
            points: [points, narrow(self.points.len())],
            active: true,
        });
    }

    fn push_joint(&mut self, joint: &Joint) {
        let anchors = Anchors::of(&Geometry::from(joint));
        let length = if let JointKind::Distance { length } = joint.kind { length } else { 0.0 };
        for &set in turning_rows(joint) {
            let rows = Rows::new(anchors, set, Role::Lock, 0.0, joint.compliance_angular);
            self.rows.push(rows);
        }
        if let Some(free) = free_coordinate(joint.kind) {
            // The last word is the limit's: what it bounds is geometry, a motor only gives a rate.
            self.rows.extend(joint.motor.map(|m| {
                let role = Role::Motor { speed: R::of(m.speed), max_effort: R::of(m.max_effort) };
                Rows::new(anchors, RowSet::One(free), role, 0.0, 0.0)
            }));
            self.rows.extend(joint.limit.map(|l| {
                let role = Role::Limit { lower: R::of(l.lower), upper: R::of(l.upper) };
                Rows::new(anchors, RowSet::One(free), role, 0.0, 0.0)
            }));
        }
        let compliance = joint.compliance_linear;
        match joint.kind {
            JointKind::Ball | JointKind::Hinge | JointKind::Universal | JointKind::Fixed => {
                self.points.push(Point::new(&anchors, compliance));
            }
            JointKind::Prismatic | JointKind::Cylindrical => {
                self.rows.push(Rows::new(anchors, RowSet::Line, Role::Lock, 0.0, compliance));
            }
            JointKind::Distance { .. } if joint.limit.is_none() => {
                let set = RowSet::One(RowKind::Distance);
                self.rows.push(Rows::new(anchors, set, Role::Lock, length, compliance));
            }
            JointKind::Distance { .. } => {}
        }
    }

    fn push_spring(&mut self, spring: &Spring) {
        if spring.stiffness > 0.0 {
            let anchors = Anchors::of(&Geometry::from(spring));
            let (set, rest) = match spring.kind {
                SpringKind::Linear { rest_length, .. } => {
                    (RowSet::One(RowKind::Distance), rest_length)
                }
                SpringKind::Angular { .. } => (RowSet::Twist, 0.0),
            };
            self.rows.push(Rows::new(anchors, set, Role::Lock, rest, 1.0 / spring.stiffness));
        }
    }
}

/// The rotations that a joint locks, as in [`taut_core::constraint::locked_rows`].
fn turning_rows(joint: &Joint) -> &'static [RowSet] {
    match joint.kind {
        JointKind::Ball | JointKind::Distance { .. } => &[],
        JointKind::Hinge | JointKind::Cylindrical => &[RowSet::Axis],
        JointKind::Universal => &[RowSet::One(RowKind::Dot(0, 1))],
        JointKind::Prismatic | JointKind::Fixed => &[RowSet::Twist],
    }
}

fn narrow(i: usize) -> u32 {
    u32::try_from(i).expect("fewer than 2^32 joints and bodies")
}
