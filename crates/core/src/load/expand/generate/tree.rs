//! Segments that branch.

use super::{Group, Meeting, Template, link, stretch};
use crate::{
    load::{
        author,
        error::{At, Result},
        expand::{Builder, ELEMENTS_MAX},
        expression::{Scope, vector},
    },
    math::{Quat, Vec3},
};

/// How many segments the tree has.
pub(super) fn members(spec: &author::Tree, scope: &Scope) -> Result<f64> {
    let depth = spec.depth.whole(scope, 1).at("depth")?;
    let most = match &spec.count {
        Some(count) => count.whole(scope, 1).at("count")? as f64,
        None => f64::INFINITY,
    };
    let (mut level_size, mut total) = (1.0, 1.0);
    // Each level has a segment or more, so that more levels than elements allowed are too many anyway.
    for level in 1..depth.min(ELEMENTS_MAX + 2) {
        if total >= most || total == f64::INFINITY {
            break;
        }
        level_size *= branches(spec, level, scope)? as f64;
        total += level_size;
    }
    Ok(total.min(most))
}

/// Segments of a level per segment of the level below.
fn branches(spec: &author::Tree, level: usize, scope: &Scope) -> Result<usize> {
    spec.branches.whole(&scope.indexed(&[level]), 1).at("branches")
}

/// The end of a segment, from which others grow.
struct Tip {
    index: usize,
    end: Vec3,
    /// In the segment's own coordinates.
    anchor: Vec3,
    turn: Quat,
}

/// Adds the segments level by level, each joined at its foot to the one it grows from.
pub(in crate::load) fn add(
    builder: &mut Builder,
    spec: &author::Tree,
    scope: &Scope,
) -> Result<()> {
    scope.check_depth(2)?;
    let total = members(spec, scope)?;
    builder.reserve("bodies", total)?;
    let depth = spec.depth.whole(scope, 1)?;
    let start = vector(&spec.start, scope).at("start")?;
    let root = match &spec.root {
        Some(root) => Some(builder.names.resolve(root, scope).at("root")?),
        None => None,
    };
    let template = Template::new(&spec.body, scope, 2).at("body")?;
    let group = Group::begin(builder, &spec.name, vec![total as usize], scope)?;
    let mut left = total as usize;
    // Only the level below is kept, so memory grows with the widest level, not with the tree.
    let mut below: Vec<Tip> = Vec::new();
    for level in 0..depth {
        if left == 0 {
            break;
        }
        let branches = if level == 0 { 1 } else { branches(spec, level, scope)? };
        let count = if level == 0 { 1 } else { below.len().saturating_mul(branches).min(left) };
        left -= count;
        let mut tips = Vec::with_capacity(count);
        for segment in 0..count {
            let scope_here = scope.indexed(&[level, segment]);
            let length = spec.length.positive(&scope_here).at("length")?;
            let parent = below.get(segment / branches);
            let part = (segment % branches) as f64 / branches as f64;
            let turn = match parent {
                Some(parent) => parent.turn * grown(spec, level, part, &scope_here)?,
                None => Quat::identity(),
            };
            let turn = match &spec.sag {
                Some(sag) => bent_down(turn, sag.non_negative(&scope_here).at("sag")?),
                None => turn,
            };
            let foot = parent.map_or(start, |parent| parent.end);
            let along = turn * Vec3::z() * length;
            let blank = template.blank(scope, &[level, segment]).at("body")?;
            let half = Vec3::z() * (length * 0.5);
            let [own_foot, anchor] = [-half, half].map(|end| blank.own_point(&end));
            let index = builder.scene.bodies.len() - group.first;
            let member = group.add(builder, &blank.turned(&turn), foot + along * 0.5);
            let before = match parent {
                Some(parent) => Some((group.member(parent.index), parent.anchor)),
                None => root.map(|root| (root, builder.local(root, &foot))),
            };
            if let Some((before, anchor)) = before {
                let ends = [before, member];
                let meeting = Meeting::Anchors([anchor, own_foot]);
                link(builder, spec.joint.as_ref(), ends, meeting, &scope_here)?;
                stretch(builder, spec.spring.as_ref(), ends, &scope_here)?;
            }
            tips.push(Tip { index, end: foot + along, anchor, turn });
        }
        below = tips;
    }
    Ok(())
}

/// How a segment is turned from its parent; `part` places it among its siblings.
fn grown(spec: &author::Tree, level: usize, part: f64, scope: &Scope) -> Result<Quat> {
    let spread = spec.spread.evaluate(scope).at("spread")?.to_radians();
    let twist = match &spec.twist {
        Some(twist) => twist.evaluate(scope).at("twist")?.to_radians(),
        None => 0.0,
    };
    let azimuth = std::f64::consts::TAU * part + twist * level as f64;
    let about = |axis: Vec3, angle: f64| Quat::from_scaled_axis(axis * angle);
    Ok(about(Vec3::z(), azimuth) * about(Vec3::y(), spread))
}

/// A segment's rotation after it bends down by an angle [degrees], not beyond the vertical.
fn bent_down(turn: Quat, degrees: f64) -> Quat {
    let along = turn * Vec3::z();
    let sideways = along.cross(&-Vec3::z());
    let left = along.angle(&-Vec3::z());
    match sideways.try_normalize(1e-9) {
        Some(axis) => Quat::from_scaled_axis(axis * degrees.to_radians().min(left)) * turn,
        // Upright or hanging already: it has no side to bend to.
        None => turn,
    }
}
