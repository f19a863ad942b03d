//! What the forces of a scene come to in a step: the one definition that methods and metrics share.
//!
//! Over a step from `t` to `t + h` a force is that of the middle of the step, constant, acting on bodies where they
//! are when the step starts. An effort `e` on a coordinate `C` acts with `e` times the gradient of `C`, so that its
//! work is `e` times the change of `C`.

use crate::{
    Quat, Scene, Vec3,
    constraint::{Geometry, Pose, RowKind, free_coordinate},
    formula::TimeFormula,
    scene::{AppliedForce, Endpoint, ForceKind, Joint},
};

/// A force on a point of a body, and a torque beside it, in world axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Action {
    /// The body, by its place in the scene.
    pub body: usize,
    /// Where the force acts [m].
    pub point: Vec3,
    /// [N]
    pub force: Vec3,
    /// [N m]
    pub torque: Vec3,
}

impl Action {
    /// The force's torque about a point and what is beside it [N m].
    pub fn torque_about(&self, centre: &Vec3) -> Vec3 {
        self.torque + (self.point - centre).cross(&self.force)
    }
}

/// The forces of a scene, with the joints that efforts act at.
#[derive(Clone, Debug, Default)]
pub struct AppliedForces {
    list: Vec<(ForceKind, Option<Joint>)>,
}

impl AppliedForces {
    /// Those of a scene.
    pub fn of(scene: &Scene) -> Self {
        let joint = |force: &AppliedForce| match force.kind {
            ForceKind::Effort { joint, .. } => Some(scene.joints[joint].clone()),
            ForceKind::Force { .. } | ForceKind::Torque { .. } => None,
        };
        let list = scene.forces.iter().map(|force| (force.kind.clone(), joint(force))).collect();
        Self { list }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Most actions that there can be.
    pub fn most(&self) -> usize {
        2 * self.list.len()
    }

    /// Whether all are the same at all times.
    pub fn are_constant(&self) -> bool {
        let steady = |of: &[TimeFormula]| of.iter().all(TimeFormula::is_constant);
        self.list.iter().all(|(kind, _)| match kind {
            ForceKind::Force { force, .. } => steady(force),
            ForceKind::Torque { torque, .. } => steady(torque),
            ForceKind::Effort { effort, .. } => effort.is_constant(),
        })
    }

    /// What they come to at a time [s], with bodies at these poses; joints that are broken take no effort.
    pub fn each(
        &self,
        time_s: f64,
        broken: &[bool],
        pose: impl Fn(Endpoint) -> Pose,
        mut act: impl FnMut(Action),
    ) {
        let vector = |of| TimeFormula::vector(of, time_s);
        for (kind, joint) in &self.list {
            match (kind, joint) {
                (ForceKind::Force { body, at, force }, _) => {
                    let Pose { position, rotation } = pose(Endpoint::Body(*body));
                    let point = position + rotation * at;
                    act(Action { body: *body, point, force: vector(force), torque: Vec3::zeros() });
                }
                (ForceKind::Torque { body, torque }, _) => {
                    let point = pose(Endpoint::Body(*body)).position;
                    let (force, torque) = (Vec3::zeros(), vector(torque));
                    act(Action { body: *body, point, force, torque });
                }
                (ForceKind::Effort { joint: index, effort }, Some(joint)) if !broken[*index] => {
                    let effort = effort.at(time_s);
                    on_both_sides(joint, effort, &pose).into_iter().flatten().for_each(&mut act);
                }
                (ForceKind::Effort { .. }, _) => {}
            }
        }
    }
}

/// What an effort at a joint does to its bodies.
fn on_both_sides(
    joint: &Joint,
    effort: f64,
    pose: &impl Fn(Endpoint) -> Pose,
) -> [Option<Action>; 2] {
    let Some(row) = free_coordinate(joint.kind) else { return [None; 2] };
    let ends = [joint.a, joint.b];
    let [a, b] = ends.map(pose);
    let gradient = row.evaluate(&Geometry::from(joint), &a, &b).gradient;
    [(0, a), (1, b)].map(|(side, Pose { position: point, .. })| match ends[side] {
        Endpoint::Body(body) => {
            let (force, torque) = (gradient[2 * side] * effort, gradient[2 * side + 1] * effort);
            Some(Action { body, point, force, torque })
        }
        Endpoint::World | Endpoint::Particle(_) => None,
    })
}

/// How far the free coordinate of a joint goes from one pair of poses to another, by less than half a turn
/// [m or rad]; zero where it has none.
pub fn advance_of(joint: &Joint, before: [Pose; 2], after: [Pose; 2]) -> f64 {
    let Some(row) = free_coordinate(joint.kind) else { return 0.0 };
    let value = |[a, b]: [Pose; 2]| row.evaluate(&Geometry::from(joint), &a, &b).value;
    let way = value(after) - value(before);
    let turn = std::f64::consts::TAU;
    if row == RowKind::Angle { way - turn * (way / turn).round() } else { way }
}

/// The rotation between two bodies from one pair of poses to another, as a vector in A's axes [rad]: what an angular
/// damper resists.
pub fn turn_between(before: [Pose; 2], after: [Pose; 2]) -> Vec3 {
    let relative = |[a, b]: [Pose; 2]| -> Quat { a.rotation.inverse() * b.rotation };
    (relative(before).inverse() * relative(after)).scaled_axis()
}
