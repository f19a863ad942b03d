//! Links end to end along a path of their own.

use super::{Group, Meeting, Template, link, stretch};
use crate::{
    load::{
        author,
        error::{At, Result, SceneError},
        expand::Builder,
        expression::{Scope, vector},
    },
    math::{Quat, Vec3},
    scene::{Endpoint, Joint, JointKind},
};

/// Adds the links in order, each with its joint and spring to the one before and its pin.
pub(in crate::load) fn add(
    builder: &mut Builder,
    spec: &author::Path,
    scope: &Scope,
) -> Result<()> {
    scope.check_depth(1)?;
    let count = spec.count.whole(scope, 1).at("count")?;
    builder.reserve("bodies", count as f64)?;
    builder.scene.joints.reserve(count);
    let mut begins = vector(&spec.start, scope).at("start")?;
    let template = Template::new(&spec.body, scope, 1).at("body")?;
    let root = match &spec.root {
        Some(root) => Some(builder.names.resolve(root, scope).at("root")?),
        None => None,
    };
    let pin_every = match &spec.pin_every {
        Some(number) => number.whole(scope, 1).at("pin_every")?,
        None => usize::MAX,
    };
    let group = Group::begin(builder, &spec.name, vec![count], scope)?;
    // Of the link before.
    let mut tip_before = Vec3::zeros();
    for i in 0..count {
        let scope = scope.indexed(&[i]);
        let along = vector(&spec.along, &scope).at("along")?;
        let blank = template.blank(&scope, &[]).at("body")?;
        let half = Vec3::x() * (along.norm() * 0.5);
        let [foot, tip] = [-half, half].map(|end| blank.own_point(&end));
        let member = group.add(builder, &blank.turned(&lying(&along)?), begins + along * 0.5);
        let before = if i == 0 {
            root.map(|root| (root, builder.local(root, &begins)))
        } else {
            Some((group.member(i - 1), tip_before))
        };
        if let Some((before, anchor)) = before {
            let ends = [before, member];
            let meeting = Meeting::Anchors([anchor, foot]);
            link(builder, spec.joint.as_ref(), ends, meeting, &scope)?;
            stretch(builder, spec.spring.as_ref(), ends, &scope)?;
        }
        if i > 0 && i % pin_every == 0 {
            let pin = Joint::new(JointKind::Ball, Endpoint::World, member);
            builder.push_joint(pin.anchored(begins, foot))?;
        }
        begins += along;
        tip_before = tip;
    }
    let Some(tip) = &spec.tip else { return Ok(()) };
    // Resolved last, so that it can be a link of this path.
    let tip = builder.names.resolve(tip, scope).at("tip")?;
    let scope = scope.indexed(&[count]);
    let ends = [group.member(count - 1), tip];
    let meeting = Meeting::Anchors([tip_before, builder.local(tip, &begins)]);
    link(builder, spec.joint.as_ref(), ends, meeting, &scope)?;
    stretch(builder, spec.spring.as_ref(), ends, &scope)
}

/// The smallest turn that takes x along a direction.
fn lying(along: &Vec3) -> Result<Quat> {
    if along.norm_squared() == 0.0 {
        return Err(SceneError::new("expected a direction, found the zero vector")).at("along");
    }
    // Straight back, every half turn is as small as any other.
    let back = Quat::from_scaled_axis(Vec3::z() * std::f64::consts::PI);
    Ok(Quat::rotation_between(&Vec3::x(), along).unwrap_or(back))
}
