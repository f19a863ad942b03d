//! Which scenes Rapier can express.

use taut_core::{
    Scene, Unsupported,
    scene::{Joint, JointKind, Limit, Material},
};

/// One bit of Rapier's interaction groups for each group of bodies.
const GROUPS_MAX: usize = 32;

/// What is refused whatever the precision, besides what is not taken.
pub(crate) fn check(scene: &Scene) -> Result<(), Unsupported> {
    reason(scene).map_or(Ok(()), |reason| Err(Unsupported(reason)))
}

fn reason(scene: &Scene) -> Option<String> {
    for (i, joint) in scene.joints.iter().enumerate() {
        if let Some(reason) = joint_reason(joint) {
            return Some(format!("joint {i} {reason}"));
        }
    }
    scene.contacts.and_then(|_| contact_reason(scene))
}

fn contact_reason(scene: &Scene) -> Option<String> {
    let differ = |m: &Material| m.friction_static != m.friction_dynamic;
    if scene.bodies.iter().any(|body| differ(&body.material)) {
        return Some("has one coefficient of friction, not a static and a dynamic one".to_owned());
    }
    (groups(scene).len() > GROUPS_MAX).then(|| format!("has at most {GROUPS_MAX} groups of bodies"))
}

fn joint_reason(joint: &Joint) -> Option<&'static str> {
    let reaches = |limit: Option<Limit>| limit.is_some_and(|l| l.lower <= 0.0);
    match joint.kind {
        JointKind::Universal => Some("is universal"),
        JointKind::Distance { .. } if !reaches(joint.limit) => Some("bounds a distance from below"),
        JointKind::Ball
        | JointKind::Hinge
        | JointKind::Prismatic
        | JointKind::Cylindrical
        | JointKind::Fixed
        | JointKind::Distance { .. } => None,
    }
}

/// The groups of the scene's bodies, sorted.
pub(crate) fn groups(scene: &Scene) -> Vec<u32> {
    let mut groups: Vec<u32> = scene.bodies.iter().filter_map(|body| body.group).collect();
    groups.sort_unstable();
    groups.dedup();
    groups
}
