//! Bodies in rows upon rows: stacks, pyramids and walls.

use super::{Group, Meeting, Template, link};
use crate::{
    load::{
        author,
        error::{At, Result},
        expand::Builder,
        expression::{Scope, vector},
    },
    math::Vec3,
};

/// Adds bodies one upon the other, each standing on the last one's top.
pub(in crate::load) fn stack(
    builder: &mut Builder,
    spec: &author::Stack,
    scope: &Scope,
) -> Result<()> {
    scope.check_depth(1)?;
    let count = spec.count.whole(scope, 1).at("count")?;
    builder.reserve("bodies", count as f64)?;
    let start = vector(&spec.start, scope).at("start")?;
    let gap = match &spec.gap {
        Some(gap) => gap.evaluate(scope).at("gap")?,
        None => 0.0,
    };
    let template = Template::new(&spec.body, scope, 1).at("body")?;
    let group = Group::begin(builder, &spec.name, vec![count], scope)?;
    // Of the next member's lower side above the start.
    let mut height = 0.0;
    for i in 0..count {
        let blank = template.blank(scope, &[i]).at("body")?;
        let [top, bottom] = blank.reach();
        group.add(builder, &blank, start + Vec3::z() * (height + bottom));
        height += bottom + top + gap;
    }
    Ok(())
}

/// Adds row `i` with `n - i` members, member `j` at `start + i up + j along`.
pub(in crate::load) fn pyramid(
    builder: &mut Builder,
    spec: &author::Pyramid,
    scope: &Scope,
) -> Result<()> {
    scope.check_depth(2)?;
    let n = spec.n.whole(scope, 1).at("n")?;
    builder.reserve("bodies", n as f64 * (n as f64 + 1.0) / 2.0)?;
    let start = vector(&spec.start, scope).at("start")?;
    let along = vector(&spec.along, scope).at("along")?;
    let up = vector(&spec.up, scope).at("up")?;
    let template = Template::new(&spec.body, scope, 2).at("body")?;
    let group = Group::begin(builder, &spec.name, vec![n * (n + 1) / 2], scope)?;
    for i in 0..n {
        for j in 0..n - i {
            let blank = template.blank(scope, &[i, j]).at("body")?;
            group.add(builder, &blank, start + up * i as f64 + along * j as f64);
        }
    }
    Ok(())
}

/// Adds row `i`, odd rows shifted, each member joined to the one before it and the one below.
pub(in crate::load) fn wall(
    builder: &mut Builder,
    spec: &author::Wall,
    scope: &Scope,
) -> Result<()> {
    scope.check_depth(2)?;
    let rows = spec.rows.whole(scope, 1).at("rows")?;
    let columns = spec.columns.whole(scope, 1).at("columns")?;
    builder.reserve("bodies", rows as f64 * columns as f64)?;
    let start = vector(&spec.start, scope).at("start")?;
    let along = vector(&spec.along, scope).at("along")?;
    let up = vector(&spec.up, scope).at("up")?;
    let shift = match &spec.shift {
        Some(shift) => shift.evaluate(scope).at("shift")?,
        None => 0.5,
    };
    let template = Template::new(&spec.body, scope, 2).at("body")?;
    let group = Group::begin(builder, &spec.name, vec![rows, columns], scope)?;
    for i in 0..rows {
        let offset = if i % 2 == 1 { shift } else { 0.0 };
        for j in 0..columns {
            let blank = template.blank(scope, &[i, j]).at("body")?;
            let origin = start + up * i as f64 + along * (j as f64 + offset);
            let member = group.add(builder, &blank, origin);
            let index = i * columns + j;
            // Joints follow equal `j`, so a shifted row's bricks are joined to one brick below, not two.
            let before = (j > 0).then(|| group.member(index - 1));
            let below = (i > 0).then(|| group.member(index - columns));
            let scope = scope.indexed(&[i, j]);
            for other in before.into_iter().chain(below) {
                link(builder, spec.joint.as_ref(), [other, member], Meeting::HalfWay, &scope)?;
            }
        }
    }
    Ok(())
}
