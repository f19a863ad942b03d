//! Segments that branch.

use super::{Group, Template, link};
use crate::{
    math::{Quat, Vec3},
    scene::{
        author,
        error::{At, Result},
        expand::Builder,
        expression::{Scope, vector},
    },
};

/// How many segments the tree has.
pub(super) fn members(spec: &author::Tree, scope: &Scope) -> Result<f64> {
    let depth = spec.depth.whole(scope, 1).at("depth")? as f64;
    let branches = spec.branches.whole(scope, 1).at("branches")? as f64;
    // A geometric series.
    let ratio = branches - 1.0;
    Ok(if ratio > 0.0 { (branches.powf(depth) - 1.0) / ratio } else { depth })
}

/// The end of a segment, from which others grow.
struct Tip {
    index: usize,
    end: Vec3,
    turn: Quat,
}

/// Adds the segments level by level, each joined at its foot to the one it grows from.
pub(in crate::scene) fn add(
    builder: &mut Builder,
    spec: &author::Tree,
    scope: &Scope,
) -> Result<()> {
    scope.check_depth(2)?;
    let total = members(spec, scope)?;
    builder.reserve("bodies", total)?;
    let depth = spec.depth.whole(scope, 1)?;
    let branches = spec.branches.whole(scope, 1)?;
    let start = vector(&spec.start, scope).at("start")?;
    let spread = spec.spread.evaluate(scope).at("spread")?.to_radians();
    let twist = match &spec.twist {
        Some(twist) => twist.evaluate(scope).at("twist")?.to_radians(),
        None => 0.0,
    };
    let root = match &spec.root {
        Some(root) => Some(builder.names.resolve(root, scope).at("root")?),
        None => None,
    };
    let template = Template::new(&spec.body, scope, 2).at("body")?;
    let group = Group::begin(builder, &spec.name, vec![total as usize], scope)?;
    // Only the level below is kept, so memory grows with the widest level, not with the tree.
    let mut below: Vec<Tip> = Vec::new();
    for level in 0..depth {
        let count = if level == 0 { 1 } else { below.len() * branches };
        let mut tips = Vec::with_capacity(count);
        for segment in 0..count {
            let scope_here = scope.indexed(&[level, segment]);
            let length = spec.length.positive(&scope_here).at("length")?;
            let parent = below.get(segment / branches);
            let turn = parent.map_or(Quat::identity(), |parent| {
                let part = (segment % branches) as f64 / branches as f64;
                let azimuth = std::f64::consts::TAU * part + twist * level as f64;
                let about = |axis: Vec3, angle: f64| Quat::from_scaled_axis(axis * angle);
                parent.turn * about(Vec3::z(), azimuth) * about(Vec3::y(), spread)
            });
            let foot = parent.map_or(start, |parent| parent.end);
            let along = turn * Vec3::z() * length;
            let blank = template.blank(scope, &[level, segment]).at("body")?.turned(&turn);
            let index = builder.scene.bodies.len() - group.first;
            let member = group.add(builder, &blank, foot + along * 0.5);
            if let Some(before) = parent.map(|parent| group.member(parent.index)).or(root) {
                link(builder, spec.joint.as_ref(), [before, member], Some(foot), &scope_here)?;
            }
            tips.push(Tip { index, end: foot + along, turn });
        }
        below = tips;
    }
    Ok(())
}
