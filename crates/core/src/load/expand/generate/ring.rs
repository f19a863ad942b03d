//! Bodies around a circle.

use super::{Group, Meeting, Template, link};
use crate::{
    load::{
        author,
        error::{At, Result},
        expand::Builder,
        expression::{Scope, vector},
    },
    math::{Quat, Vec3},
};

/// Adds the members by growing angle, each joined to the one before, the last one to the first too.
pub(in crate::load) fn add(
    builder: &mut Builder,
    spec: &author::Ring,
    scope: &Scope,
) -> Result<()> {
    scope.check_depth(1)?;
    let count = spec.count.whole(scope, 1).at("count")?;
    builder.reserve("bodies", count as f64)?;
    let centre = vector(&spec.centre, scope).at("centre")?;
    let radius = spec.radius.positive(scope).at("radius")?;
    let phase = match &spec.phase {
        Some(phase) => phase.evaluate(scope).at("phase")?.to_radians(),
        None => 0.0,
    };
    let template = Template::new(&spec.body, scope, 1).at("body")?;
    let group = Group::begin(builder, &spec.name, vec![count], scope)?;
    for i in 0..count {
        let angle = phase + std::f64::consts::TAU * (i as f64 / count as f64);
        let turn = Quat::from_scaled_axis(Vec3::z() * (angle + std::f64::consts::FRAC_PI_2));
        let blank = template.blank(scope, &[i]).at("body")?.turned(&turn);
        let outward = Vec3::new(angle.cos(), angle.sin(), 0.0);
        let member = group.add(builder, &blank, centre + outward * radius);
        if i > 0 {
            let ends = [group.member(i - 1), member];
            link(builder, spec.joint.as_ref(), ends, Meeting::HalfWay, &scope.indexed(&[i]))?;
        }
    }
    // Two members are joined once already.
    if count > 2 {
        let ends = [group.member(count - 1), group.member(0)];
        link(builder, spec.joint.as_ref(), ends, Meeting::HalfWay, &scope.indexed(&[0]))?;
    }
    Ok(())
}
