//! From placements to contacts.

use std::collections::BTreeMap;

use parry3d_f64::{
    math::{Pose, Rot3, Vector},
    query::{ContactManifold, DefaultQueryDispatcher, PersistentQueryDispatcher},
    shape::SharedShape,
};
use taut_core::{
    Quat, Scene, Vec3,
    scene::{Endpoint, Shape},
};

use crate::contact::{Contact, ContactList, Manifold, NONE, Placement};

/// How contacts between boxes are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// As for every backend.
    #[default]
    Common,
    /// As in the official 3D demo of AVBD: A is the later body, up to eight points, none before the
    /// bodies touch. For comparison with that program only.
    Demo3d,
}

/// Finds the contacts of one scene's bodies.
#[derive(Clone, Debug)]
pub struct Collider {
    scene: Scene,
    shapes: Vec<Option<SharedShape>>,
    /// Radius of a sphere about the origin around each shape [m].
    reach: Vec<f64>,
    list: ContactList,
    before: ContactList,
}

impl Collider {
    /// A collider for a scene; it never answers with a contact where the scene has none.
    pub fn new(scene: &Scene, _style: Style) -> Self {
        let shapes = scene.bodies.iter().map(|b| shape(&b.shape)).collect();
        let reach = scene.bodies.iter().map(|b| {
            let (low, high) = b.shape.bounds();
            low.abs().sup(&high.abs()).norm()
        });
        Self {
            reach: reach.collect(),
            scene: scene.clone(),
            shapes,
            list: ContactList::default(),
            before: ContactList::default(),
        }
    }

    /// Forgets all answers, so that the next one continues none.
    pub fn forget(&mut self) {
        self.list.contacts.clear();
        self.list.manifolds.clear();
    }

    /// The last answer.
    pub fn list(&self) -> &ContactList {
        &self.list
    }

    /// The contacts of bodies in these placements, one per body of the scene, that may matter within
    /// the next `dt` seconds. `broken` are the joints that no longer keep their bodies from touching.
    pub fn detect(&mut self, placements: &[Placement], broken: &[bool], dt: f64) -> &ContactList {
        std::mem::swap(&mut self.list, &mut self.before);
        self.forget();
        let Some(settings) = self.scene.contacts else { return &self.list };
        let _ = dt;
        let joined: Vec<(usize, usize)> = self
            .scene
            .joints
            .iter()
            .zip(broken)
            .filter_map(|(j, &broken)| match (j.a, j.b) {
                (Endpoint::Body(a), Endpoint::Body(b)) if !broken => Some((a.min(b), a.max(b))),
                _ => None,
            })
            .collect();
        let old: BTreeMap<([u32; 2], u64), u32> =
            (0..).zip(&self.before.contacts).map(|(i, c)| ((c.bodies, c.feature), i)).collect();
        for b in 0..self.scene.bodies.len() {
            for a in 0..b {
                let (body_a, body_b) = (&self.scene.bodies[a], &self.scene.bodies[b]);
                let same = body_a.group.is_some() && body_a.group == body_b.group;
                let moves = body_a.is_dynamic() || body_b.is_dynamic();
                let (Some(shape_a), Some(shape_b)) = (&self.shapes[a], &self.shapes[b]) else {
                    continue;
                };
                if same || !moves || joined.contains(&(a, b)) {
                    continue;
                }
                let apart = (placements[a].position - placements[b].position).norm();
                if apart > self.reach[a] + self.reach[b] + settings.margin {
                    continue;
                }
                let (pose_a, pose_b) = (pose(&placements[a]), pose(&placements[b]));
                let mut found: Vec<ContactManifold<(), ()>> = vec![];
                let relative = pose_a.inv_mul(&pose_b);
                let _ = DefaultQueryDispatcher.contact_manifolds(
                    &relative,
                    &**shape_a,
                    &**shape_b,
                    settings.margin,
                    &mut found,
                    &mut None,
                );
                for manifold in &found {
                    let bodies = [a as u32, b as u32];
                    let normal = pose_a.rotation
                        * manifold
                            .subshape_pos1()
                            .map_or(-manifold.local_n1, |s| s.rotation * -manifold.local_n1);
                    let normal = Vec3::new(normal.x, normal.y, normal.z);
                    let first = self.list.contacts.len() as u32;
                    for point in manifold.points.iter().filter(|p| p.dist <= settings.margin) {
                        let place = |local: Vector, sub: Option<&Pose>| {
                            let p = sub.map_or(local, |s| s.transform_point(local));
                            Vec3::new(p.x, p.y, p.z)
                        };
                        let feature = u64::from(point.fid1.0) << 32 | u64::from(point.fid2.0);
                        let previous = old.get(&(bodies, feature)).copied().unwrap_or(NONE);
                        self.list.contacts.push(Contact {
                            bodies,
                            anchor_a: place(point.local_p1, manifold.subshape_pos1()),
                            anchor_b: place(point.local_p2, manifold.subshape_pos2()),
                            normal,
                            gap: point.dist,
                            feature,
                            previous,
                        });
                    }
                    let last = self.list.contacts.len() as u32;
                    if last > first {
                        let (ma, mb) = (body_a.material, body_b.material);
                        self.list.manifolds.push(Manifold {
                            bodies,
                            normal,
                            contacts: first..last,
                            friction_static: (ma.friction_static * mb.friction_static).sqrt(),
                            friction_dynamic: (ma.friction_dynamic * mb.friction_dynamic).sqrt(),
                            restitution: ma.restitution.max(mb.restitution),
                        });
                    }
                }
            }
        }
        &self.list
    }
}

fn pose(placement: &Placement) -> Pose {
    turned(&placement.position, &placement.rotation)
}

fn turned(p: &Vec3, q: &Quat) -> Pose {
    Pose::from_parts(Vector::new(p.x, p.y, p.z), Rot3::from_xyzw(q.i, q.j, q.k, q.w))
}

fn shape(given: &Shape) -> Option<SharedShape> {
    let vector = |v: &Vec3| Vector::new(v.x, v.y, v.z);
    Some(match given {
        Shape::Box { half } => SharedShape::cuboid(half.x, half.y, half.z),
        Shape::Sphere { radius } => SharedShape::ball(*radius),
        Shape::Capsule { radius, half_length } => SharedShape::capsule_z(*half_length, *radius),
        Shape::Hull { points } => {
            let points: Vec<Vector> = points.iter().map(vector).collect();
            return SharedShape::convex_hull(&points);
        }
        Shape::HalfSpace => SharedShape::halfspace(Vector::new(0.0, 0.0, 1.0)),
        Shape::Cylinder { radius, half_length } => {
            // Along z, where the library's cylinders are along y.
            let upright = Rot3::from_rotation_x(std::f64::consts::FRAC_PI_2);
            let place = Pose::from_parts(Vector::ZERO, upright);
            SharedShape::compound(vec![(place, SharedShape::cylinder(*half_length, *radius))])
        }
        Shape::Compound { parts } => {
            let mut placed = vec![];
            for part in parts.iter() {
                let place = turned(&part.position, &part.rotation);
                let inner = shape(&part.shape)?;
                match inner.as_compound() {
                    Some(inner) => {
                        placed.extend(inner.shapes().iter().map(|(p, s)| (place * *p, s.clone())))
                    }
                    None => placed.push((place, inner)),
                }
            }
            SharedShape::compound(placed)
        }
        Shape::Mesh { vertices, triangles } => {
            let vertices = vertices.iter().map(vector).collect();
            return SharedShape::trimesh(vertices, triangles.to_vec()).ok();
        }
    })
}
