//! What holds nodes: joints of all of a group that are near a body, and ties of one to a triangle.

use super::{Builder, full_name, out_of_range, unused};
use crate::{
    energy::WeightedSum,
    load::{
        author::{AttachSpec, TieSpec},
        error::{At, Result, SceneError},
        expression::{Scope, vector},
        names::Movable,
    },
    math::{Quat, Vec3},
    scene::{Anchor, ElasticPart, Endpoint, Joint, JointKind, Part, Shape},
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

/// The shares of a triangle's corners in the point of it that is nearest to another (Ericson, Real-Time Collision
/// Detection, 2005, section 5.1.5).
fn nearest(point: &Vec3, [a, b, c]: &[Vec3; 3]) -> [f64; 3] {
    let on_edge = |from: &Vec3, to: &Vec3| {
        let edge = to - from;
        (edge.dot(&(point - from)) / edge.norm_squared()).clamp(0.0, 1.0)
    };
    let (u, v, w) = (b - a, c - a, point - a);
    let normal = u.cross(&v);
    let square = normal.norm_squared();
    let (s, t) = (w.cross(&v).dot(&normal) / square, u.cross(&w).dot(&normal) / square);
    if s >= 0.0 && t >= 0.0 && s + t <= 1.0 {
        return [1.0 - s - t, s, t];
    }
    let (ab, bc, ca) = (on_edge(a, b), on_edge(b, c), on_edge(c, a));
    let candidates = [[1.0 - ab, ab, 0.0], [0.0, 1.0 - bc, bc], [ca, 0.0, 1.0 - ca]];
    let away = |[x, y, z]: &[f64; 3]| (a * *x + b * *y + c * *z - point).norm_squared();
    let nearer = |p: [f64; 3], q: [f64; 3]| if away(&q) < away(&p) { q } else { p };
    candidates.into_iter().reduce(nearer).unwrap_or([1.0, 0.0, 0.0])
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
            let message =
                format!("expected cloth, a solid or a mesh, `{group}` is a group of bodies");
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
                let message =
                    "expected a box, sphere, capsule, cylinder, half-space or a compound of them";
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

    /// One `vertex_triangle` of `springs`.
    pub(super) fn tie(&mut self, spec: &TieSpec, scope: &Scope) -> Result<()> {
        let name = full_name(&spec.name, scope).at("name")?;
        let vertex = self.names.resolve(&spec.a, scope).at("a")?;
        let corners = self.corners(&spec.triangle, scope).at("triangle")?;
        let Endpoint::Particle(n) = vertex else {
            return Err(SceneError::new(format!("expected a particle, `{}` is none", spec.a)))
                .at("a");
        };
        if corners.iter().any(|corner| corner.end == vertex) {
            let message = format!("`{}` is a corner of the triangle", spec.a);
            return Err(SceneError::new(message)).at("a");
        }
        let weights = match &spec.weights {
            Some(weights) => vector(weights, scope).at("weights")?.into(),
            None => {
                let places = corners.map(|corner| self.point(corner.end, &corner.local));
                nearest(&self.scene.particles[n].position, &places)
            }
        };
        let stiffness = spec.stiffness.positive(scope).at("stiffness")?;
        let Some(energy) = WeightedSum::tie(weights, stiffness) else {
            let message = "expected weights of a positive sum";
            return Err(SceneError::new(message)).at("weights");
        };
        if !energy.is_finite() {
            return Err(out_of_range());
        }
        unused(&mut self.spring_names, &name).at("name")?;
        let [a, b, c] = corners;
        let ends = [Anchor::from(vertex), a, b, c];
        self.scene.ties.push(ElasticPart { name, ends, energy });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_points_are_within_or_on_an_edge() {
        let corners = [Vec3::zeros(), Vec3::x(), Vec3::y()];
        for (point, expected) in [
            (Vec3::new(0.25, 0.5, 3.0), [0.25, 0.25, 0.5]),
            (Vec3::new(1.0, 1.0, -1.0), [0.0, 0.5, 0.5]),
            (Vec3::new(0.25, -2.0, 0.0), [0.75, 0.25, 0.0]),
            (Vec3::new(-1.0, -1.0, 0.0), [1.0, 0.0, 0.0]),
        ] {
            let found = nearest(&point, &corners);
            assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-15), "{found:?}");
        }
    }

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
