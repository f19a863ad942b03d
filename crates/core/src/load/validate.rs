//! A last look at the flat scene: overflow is refused, what is probably not meant gets a warning.

use super::{
    elements,
    error::{At, Result, SceneError},
};
use crate::{
    constraint::{Geometry, Pose, free_coordinate, locked_rows},
    math::Vec3,
    scene::{Body, Endpoint, JointKind, Motion, Scene, SpringKind},
    state::State,
};

/// Joints that open by less are taken for rounding of the file's numbers [m or rad].
const VIOLATION_MIN: f64 = 1e-6;
/// Slower openings of joints are taken for rounding of the file's numbers [m/s or rad/s].
const OPPOSED_MIN: f64 = 1e-3;
/// So many warnings of one sort are spelled out; the rest is counted.
const LISTED_MAX: usize = 8;

/// Everything worth a word, in scene order.
pub(super) fn warnings(scene: &Scene) -> Vec<String> {
    let state = scene.initial_state();
    let mut warnings = listed("joints violated at the start", violations(scene, &state));
    warnings.extend(listed("velocities against joints", opposed(scene, &state)));
    warnings.extend(listed("joints between immovable ends", immovable(scene)));
    warnings.extend(idle(scene));
    warnings.extend(elements::warnings(scene, &state));
    warnings
}

/// The first warnings of one sort and the number of the others.
fn listed(sort: &str, mut found: impl Iterator<Item = String>) -> Vec<String> {
    let mut listed: Vec<String> = found.by_ref().take(LISTED_MAX).collect();
    match found.count() {
        0 => {}
        more => listed.push(format!("{more} more warnings of {sort}")),
    }
    listed
}

/// Refuses numbers that were finite in the file but overflowed where they were combined.
pub(super) fn check_finite(scene: &Scene) -> Result<()> {
    let finite = |vectors: &[&Vec3]| vectors.iter().all(|v| v.iter().all(|x| x.is_finite()));
    let overflow = |list: &str, i: usize| {
        Err(SceneError::new("its numbers are too large to be combined")).at_index(list, i)
    };
    for (i, body) in scene.bodies.iter().enumerate() {
        if !finite(&[&body.position, &body.velocity, &body.omega]) || !body.rotation.w.is_finite() {
            return overflow("bodies", i);
        }
    }
    if let Some(i) = scene.particles.iter().position(|p| !finite(&[&p.position, &p.velocity])) {
        return overflow("particles", i);
    }
    for (i, joint) in scene.joints.iter().enumerate() {
        let length = match joint.kind {
            JointKind::Distance { length } => length,
            _ => 0.0,
        };
        if !finite(&[&joint.anchor_a, &joint.anchor_b]) || !length.is_finite() {
            return overflow("joints", i);
        }
    }
    for (i, spring) in scene.springs.iter().enumerate() {
        if let SpringKind::Linear { anchor_a, anchor_b, rest_length } = &spring.kind
            && !(finite(&[anchor_a, anchor_b]) && rest_length.is_finite())
        {
            return overflow("springs", i);
        }
    }
    Ok(())
}

/// Joints whose locked rows or limits do not hold at the initial pose.
fn violations<'a>(scene: &'a Scene, state: &'a State) -> impl Iterator<Item = String> + 'a {
    scene.joints.iter().enumerate().filter_map(|(i, joint)| {
        let geometry = Geometry::from(joint);
        let [a, b] = [joint.a, joint.b].map(|end| Pose::of(end, state));
        let (mut linear, mut angular) = (0.0_f64, 0.0_f64);
        for (row, target) in locked_rows(joint) {
            let error = row.evaluate(&geometry, &a, &b).value - target;
            if row.is_angular() {
                angular = angular.max(error.abs());
            } else {
                linear = linear.hypot(error);
            }
        }
        let name = label("joints", i, &joint.name);
        if linear > VIOLATION_MIN || angular > VIOLATION_MIN {
            return Some(format!("{name} starts violated by {linear:.3e} m and {angular:.3e} rad"));
        }
        let limit = joint.limit?;
        let row = free_coordinate(joint.kind)?;
        let value = row.evaluate(&geometry, &a, &b).value;
        let outside = (limit.lower - value).max(value - limit.upper);
        (outside > VIOLATION_MIN).then(|| format!("{name} starts {outside:.3e} beyond its limit"))
    })
}

/// Hard joints that the initial velocities would open: the first step takes that motion away, with its energy.
fn opposed<'a>(scene: &'a Scene, state: &'a State) -> impl Iterator<Item = String> + 'a {
    scene.joints.iter().enumerate().filter_map(|(i, joint)| {
        let geometry = Geometry::from(joint);
        let [a, b] = [joint.a, joint.b].map(|end| Pose::of(end, state));
        let motions = [joint.a, joint.b].map(|end| motion(end, state));
        // What is at rest may be pulled along by a support.
        let moves = [joint.a, joint.b].into_iter().zip(motions).any(|(end, motion)| {
            scene.is_dynamic(end) && motion.iter().any(|part| *part != Vec3::zeros())
        });
        if !moves {
            return None;
        }
        let [[va, wa], [vb, wb]] = motions;
        let (mut linear, mut angular) = (0.0_f64, 0.0_f64);
        for (row, _) in locked_rows(joint) {
            let [on_va, on_wa, on_vb, on_wb] = row.evaluate(&geometry, &a, &b).gradient;
            let rate = on_va.dot(&va) + on_wa.dot(&wa) + on_vb.dot(&vb) + on_wb.dot(&wb);
            match (row.is_angular(), joint.compliance_linear, joint.compliance_angular) {
                (true, _, 0.0) => angular = angular.max(rate.abs()),
                (false, 0.0, _) => linear = linear.hypot(rate),
                _ => {}
            }
        }
        let name = label("joints", i, &joint.name);
        (linear > OPPOSED_MIN || angular > OPPOSED_MIN).then(|| {
            format!(
                "{name} stops initial velocities of {linear:.3e} m/s and {angular:.3e} rad/s in the \
                 first step, and their energy is lost"
            )
        })
    })
}

/// Velocity [m/s] and angular velocity [rad/s] of an endpoint.
fn motion(end: Endpoint, state: &State) -> [Vec3; 2] {
    match end {
        Endpoint::World => [Vec3::zeros(); 2],
        Endpoint::Body(i) => [state.bodies[i].velocity, state.bodies[i].omega()],
        Endpoint::Particle(i) => [state.particles[i].velocity, Vec3::zeros()],
    }
}

/// Joints, springs and triangles that nothing can move.
fn immovable(scene: &Scene) -> impl Iterator<Item = String> + '_ {
    let joints = scene.joints.iter().enumerate().map(|(i, j)| ("joints", i, &j.name, [j.a, j.b]));
    let springs =
        scene.springs.iter().enumerate().map(|(i, s)| ("springs", i, &s.name, [s.a, s.b]));
    let pairs = joints
        .chain(springs)
        .filter(|(_, _, _, ends)| ends.iter().all(|&end| is_still(scene, end)))
        .map(|(list, i, name, _)| format!("{} connects two immovable ends", label(list, i, name)));
    let triangles = scene.triangles.iter().enumerate();
    let triangles =
        triangles.filter(|(_, t)| t.ends.iter().all(|anchor| is_still(scene, anchor.end)));
    pairs.chain(
        triangles
            .map(|(i, t)| format!("{} has no corner that moves", label("triangles", i, &t.name))),
    )
}

fn is_still(scene: &Scene, end: Endpoint) -> bool {
    match end {
        Endpoint::World => true,
        Endpoint::Body(i) => scene.bodies[i].motion == Motion::Static,
        Endpoint::Particle(_) => !scene.is_dynamic(end),
    }
}

/// A scene in which nothing is dynamic.
fn idle(scene: &Scene) -> Option<String> {
    let moves = scene.bodies.iter().any(Body::is_dynamic)
        || scene.particles.iter().any(|particle| particle.mass > 0.0);
    (!moves).then(|| "nothing in the scene is dynamic".to_owned())
}

/// What to call an element: its own name, or its place in the list.
pub(super) fn label(list: &str, index: usize, name: &str) -> String {
    if name.is_empty() { format!("{list}[{index}]") } else { format!("`{name}`") }
}
