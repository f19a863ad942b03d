//! Bodies in a row, each joined to the one before.

use super::Template;
use crate::math::Vec3;
use crate::scene::{
    Endpoint, author,
    error::{At, Result, SceneError},
    expand::{Builder, full_name},
    expression::{Scope, vector},
    names::{Target, member_name},
};

/// Adds member `i` at `start + i step`, then its joint and spring to member `i - 1`.
pub(in crate::scene) fn add(
    builder: &mut Builder,
    spec: &author::Chain,
    scope: &Scope,
) -> Result<()> {
    let count = spec.count.whole(scope, 1).at("count")?;
    builder.reserve("bodies", count as f64)?;
    let name = full_name(&spec.name, scope).at("name")?;
    let start = vector(&spec.start, scope).at("start")?;
    let step = vector(&spec.step, scope).at("step")?;
    let template = Template::new(&spec.body, scope, 1).at("body")?;
    let mut held = vec![false; count];
    for (k, number) in spec.held.iter().enumerate() {
        let member = number.whole(scope, 0).at_index("held", k)?;
        *held.get_mut(member).ok_or_else(|| {
            let last = count - 1;
            SceneError::new(format!("expected a member from 0 to {last}, found {member}"))
                .within(&format!("held[{k}]"))
        })? = true;
    }
    let root = match &spec.root {
        Some(root) => Some((builder.names.resolve(root, scope).at("root")?, start - step * 0.5)),
        None => None,
    };
    let first = builder.scene.bodies.len();
    builder.names.insert_group(name.clone(), Target::Body, first, vec![count]).at("name")?;
    builder.scene.bodies.reserve(count);
    for (i, held) in held.into_iter().enumerate() {
        let mut blank = template.blank(scope, &[i]).at("body")?;
        if held {
            blank = blank.held();
        }
        builder.push_body(&blank, member_name(&name, &[count], i), start + step * i as f64);
        let before = match (i, &root) {
            (0, None) => continue,
            (0, Some((root, _))) => *root,
            _ => Endpoint::Body(first + i - 1),
        };
        let at = match &root {
            Some((_, at)) if i == 0 => Some(*at),
            _ => None,
        };
        link(builder, spec, [before, Endpoint::Body(first + i)], at, &scope.indexed(&[i]))?;
    }
    Ok(())
}

/// Joins a member to what is before it, by default half-way between them.
fn link(
    builder: &mut Builder,
    spec: &author::Chain,
    ends: [Endpoint; 2],
    at: Option<Vec3>,
    scope: &Scope,
) -> Result<()> {
    if let Some(entry) = &spec.joint {
        let joint = builder.joint_between(entry, ends, at, scope).at("joint")?;
        builder.push_joint(joint)?;
    }
    if let Some(entry) = &spec.spring {
        let spring = builder.spring_between(entry, ends, scope).at("spring")?;
        builder.push_spring(spring)?;
    }
    Ok(())
}
