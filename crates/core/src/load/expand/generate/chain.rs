//! Bodies in a row, each joined to the one before.

use super::{Group, Meeting, Template, link, stretch};
use crate::load::{
    author,
    error::{At, Result, SceneError},
    expand::Builder,
    expression::{Scope, vector},
};

/// Adds member `i` at `start + i step`, then its joint and spring to member `i - 1`.
pub(in crate::load) fn add(
    builder: &mut Builder,
    spec: &author::Chain,
    scope: &Scope,
) -> Result<()> {
    scope.check_depth(1)?;
    let count = spec.count.whole(scope, 1).at("count")?;
    builder.reserve("bodies", count as f64)?;
    let start = vector(&spec.start, scope).at("start")?;
    let step = vector(&spec.step, scope).at("step")?;
    let template = Template::new(&spec.body, scope, 1).at("body")?;
    let held = held(spec, count, scope)?;
    let root = match &spec.root {
        Some(root) => Some(builder.names.resolve(root, scope).at("root")?),
        None => None,
    };
    let group = Group::begin(builder, &spec.name, vec![count], scope)?;
    for (i, held) in held.into_iter().enumerate() {
        let mut blank = template.blank(scope, &[i]).at("body")?;
        if held {
            blank = blank.held();
        }
        let member = group.add(builder, &blank, start + step * i as f64);
        let (before, meeting) = match (i, root) {
            (0, None) => continue,
            (0, Some(root)) => (root, Meeting::Point(start - step * 0.5)),
            _ => (group.member(i - 1), Meeting::HalfWay),
        };
        let scope = scope.indexed(&[i]);
        link(builder, spec.joint.as_ref(), [before, member], meeting, &scope)?;
        stretch(builder, spec.spring.as_ref(), [before, member], &scope)?;
    }
    Ok(())
}

/// Which members are static. A list rather than a range, because ends and middles are held alike.
fn held(spec: &author::Chain, count: usize, scope: &Scope) -> Result<Vec<bool>> {
    let mut held = vec![false; count];
    for (k, number) in spec.held.iter().enumerate() {
        let member = number.whole(scope, 0).at_index("held", k)?;
        let Some(flag) = held.get_mut(member) else {
            let last = count - 1;
            let message = format!("expected a member from 0 to {last}, found {member}");
            return Err(SceneError::new(message)).at_index("held", k);
        };
        *flag = true;
    }
    Ok(held)
}
