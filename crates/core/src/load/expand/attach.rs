//! Joints of all nodes of a group that are near a body.

use super::Builder;
use crate::{
    load::{
        author::AttachSpec,
        error::{At, Result, SceneError},
        expression::Scope,
        names::Movable,
    },
    math::{Quat, Vec3},
    scene::{Endpoint, Joint, JointKind, Part, Shape},
};

/// How far a point is outside a shape [m], negative inside; `None` of shapes that only a search tells.
fn distance(shape: &Shape, point: &Vec3) -> Option<f64> {
    let outside = |beyond: Vec3| beyond.sup(&Vec3::zeros()).norm() + beyond.max().min(0.0);
    Some(match shape {
        Shape::Box { half } => outside(point.abs() - half),
        Shape::Sphere { radius } => point.norm() - radius,
        Shape::Capsule { radius, half_length } => {
            let along = point.z.clamp(-half_length, *half_length);
            (point - Vec3::z() * along).norm() - radius
        }
        Shape::Cylinder { radius, half_length } => {
            let beyond = [point.xy().norm() - radius, point.z.abs() - half_length];
            // The third direction never counts.
            outside(Vec3::new(beyond[0], beyond[1], f64::NEG_INFINITY))
        }
        Shape::HalfSpace => point.z,
        Shape::Compound { parts } => {
            let one = |part: &Part| {
                distance(&part.shape, &(part.rotation.inverse() * (point - part.position)))
            };
            parts.iter().map(one).try_fold(f64::INFINITY, |least, d| d.map(|d| least.min(d)))?
        }
        Shape::Hull { .. } | Shape::Mesh { .. } => return None,
    })
}

impl Builder<'_> {
    /// One `attach` of `joints`: a ball joint at every node that is near.
    pub(super) fn attach(&mut self, spec: &AttachSpec, scope: &Scope) -> Result<()> {
        let (surface, group) = match spec.mesh.strip_suffix(".surface") {
            Some(group) => (true, group),
            None => (false, spec.mesh.as_str()),
        };
        let (kind, nodes) = self.names.group(group, scope).at("mesh")?;
        if kind != Movable::Particle {
            let message = format!("expected cloth, a solid or a mesh, `{group}` is a group of bodies");
            return Err(SceneError::new(message)).at("mesh");
        }
        let within = spec.within.non_negative(scope).at("within")?;
        let Endpoint::Body(body) = self.names.resolve(&spec.to, scope).at("to")? else {
            let message = format!(
                "expected a body, `{}` has no shape to be near; nodes stay where they are by `held`",
                spec.to
            );
            return Err(SceneError::new(message)).at("to");
        };
        let to = &self.scene.bodies[body];
        let turn: Quat = to.rotation;
        let local = |point: Vec3| turn.inverse() * (point - to.position);
        let (mut near, mut least) = (vec![], f64::INFINITY);
        for n in nodes {
            let particle = &self.scene.particles[n];
            if surface && particle.touch.is_none() {
                continue;
            }
            let anchor = local(particle.position);
            let Some(away) = distance(&to.shape, &anchor) else {
                let message = "expected a box, sphere, capsule, cylinder, half-space or a compound of them";
                return Err(SceneError::new(message)).at("to");
            };
            least = least.min(away);
            // Nothing moves two immovable ends.
            if away <= within && (particle.mass > 0.0 || to.is_dynamic()) {
                near.push((n, anchor));
            }
        }
        if near.is_empty() {
            let message = format!(
                "no node of `{}` that can move is within {within} m of `{}`, the nearest is {least:.3e} m away",
                spec.mesh, spec.to
            );
            return Err(SceneError::new(message)).at("within");
        }
        for (n, anchor) in near {
            let ends = [Endpoint::Particle(n), Endpoint::Body(body)];
            let joint = Joint::new(JointKind::Ball, ends[0], ends[1]);
            self.push_joint(joint.anchored(Vec3::zeros(), anchor))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_those_of_the_surfaces() {
        let (radius, half_length) = (0.5, 1.0);
        let cases = [
            (Shape::Box { half: Vec3::new(1.0, 2.0, 3.0) }, Vec3::new(4.0, 6.0, 0.0), 5.0),
            (Shape::Box { half: Vec3::new(1.0, 2.0, 3.0) }, Vec3::new(0.9, 0.0, 0.0), -0.1),
            (Shape::Sphere { radius }, Vec3::new(0.0, 0.0, 2.0), 1.5),
            (Shape::Capsule { radius, half_length }, Vec3::new(0.0, 3.0, 5.0), 4.5),
            (Shape::Cylinder { radius, half_length }, Vec3::new(3.5, 0.0, 5.0), 5.0),
            (Shape::Cylinder { radius, half_length }, Vec3::new(0.4, 0.0, 0.0), -0.1),
            (Shape::HalfSpace, Vec3::new(7.0, 8.0, -2.0), -2.0),
        ];
        for (shape, point, expected) in cases {
            let found = distance(&shape, &point).expect("it is known");
            assert!((found - expected).abs() < 1e-14, "{shape:?}: {found}");
        }
    }
}
