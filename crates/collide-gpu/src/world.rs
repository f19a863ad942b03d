//! What of a scene does not change: shapes, traits, and whom joints keep apart.

use taut_collide::{Style, joined, shape::BodyGeometry};
use taut_core::{
    Scene, Vec3,
    scene::{Motion, Shape},
};
use taut_gpu::{Bindings, Buffer, Gpu, GpuError};

use crate::{
    layout::{self, Joined, Node, Pose, Task, Triangle, round, vector},
    surfaces::Surfaces,
};

/// Kinds of shapes, as in `shaders/collide/world.wgsl`.
pub(crate) const BOX: u32 = 0;
pub(crate) const SPHERE: u32 = 1;
pub(crate) const CAPSULE: u32 = 2;
pub(crate) const PLANE: u32 = 3;
pub(crate) const MESH: u32 = 4;
/// Bodies are ranked by size in so many classes.
const RANKS: f64 = 7.0;

/// The scene on the device.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) poses: Buffer<Pose>,
    pub(crate) broken: Buffer<u32>,
    pub(crate) task: Task,
    /// How many bodies there are of each kind.
    pub(crate) kinds: [usize; 5],
    bodies: Buffer<layout::Body>,
    planes: Buffer<u32>,
    joined: Buffer<Joined>,
    nodes: Buffer<Node>,
    triangles: Buffer<Triangle>,
    task_buffer: Buffer<Task>,
}

impl World {
    pub(crate) fn new(gpu: &Gpu, scene: &Scene) -> Result<Self, GpuError> {
        let mut bodies: Vec<layout::Body> = scene.bodies.iter().map(body).collect();
        rank(&mut bodies);
        let mut surfaces = Surfaces::default();
        let both = scene.bodies.iter().zip(&mut bodies);
        both.for_each(|(scene, body)| surfaces.add(&scene.shape, body));
        let joined = sort_joined(scene, &mut bodies);
        let planes = (0..).zip(&bodies).filter(|(_, b)| b.kind == PLANE).map(|(i, _)| i);
        let planes: Vec<u32> = planes.collect();
        let mut kinds = [0; 5];
        bodies.iter().for_each(|body| kinds[body.kind as usize] += 1);
        let contacts = scene.contacts.unwrap_or_default();
        let narrow = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let task = Task {
            bodies: narrow(bodies.len()),
            planes: narrow(planes.len()),
            points_max: contacts.points_max,
            margin: round(contacts.margin),
            ..Task::default()
        };
        Ok(Self {
            poses: gpu.buffer("poses of bodies", scene.bodies.len())?,
            broken: gpu.buffer("broken joints", scene.joints.len())?,
            task,
            kinds,
            bodies: gpu.upload("shapes of bodies", &bodies)?,
            planes: gpu.upload("half-spaces", &planes)?,
            joined: gpu.upload("joined bodies", &joined)?,
            nodes: gpu.upload("trees of triangles", &surfaces.nodes)?,
            triangles: gpu.upload("triangles", &surfaces.triangles)?,
            task_buffer: gpu.upload("collision query", &[task])?,
        })
    }

    pub(crate) fn write_task(&self, gpu: &Gpu) -> Result<(), GpuError> {
        gpu.write(&self.task_buffer, 0, &[self.task])
    }

    pub(crate) fn bindings(&self) -> Bindings<'_> {
        Bindings::default()
            .with("task", &self.task_buffer)
            .with("bodies", &self.bodies)
            .with("poses", &self.poses)
            .with("planes", &self.planes)
            .with("joined", &self.joined)
            .with("broken", &self.broken)
            .with("mesh_nodes", &self.nodes)
            .with("triangles", &self.triangles)
    }
}

fn body(body: &taut_core::scene::Body) -> layout::Body {
    let known = BodyGeometry::new(&body.shape);
    let (low, high) = body.shape.bounds();
    let flat = matches!(body.shape, Shape::HalfSpace);
    let (kind, half, radius) = match body.shape {
        Shape::Sphere { radius } => (SPHERE, Vec3::zeros(), radius),
        Shape::Capsule { radius, half_length } => (CAPSULE, Vec3::z() * half_length, radius),
        Shape::HalfSpace => (PLANE, Vec3::zeros(), 0.0),
        Shape::Mesh { .. } => (MESH, Vec3::zeros(), 0.0),
        Shape::Box { half } => (BOX, half, 0.0),
        _ => (BOX, Vec3::zeros(), 0.0),
    };
    layout::Body {
        half: vector(&half),
        round: round(radius),
        middle: if flat { [0.0; 3] } else { vector(&((low + high) * 0.5)) },
        reach: if flat { -1.0 } else { round(known.reach) },
        extent: if flat { [0.0; 3] } else { vector(&((high - low) * 0.5)) },
        size: round(known.size),
        kind,
        dynamic: u32::from(body.motion == Motion::Dynamic),
        group: body.group.map_or(0, |group| group.saturating_add(1)),
        friction_static: round(body.material.friction_static),
        friction_dynamic: round(body.material.friction_dynamic),
        restitution: round(body.material.restitution),
        ..layout::Body::default()
    }
}

/// Ranks bodies by how large they are beside the others: in factors of four about the geometric mean.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "clamped to the number of ranks"
)]
fn rank(bodies: &mut [layout::Body]) {
    let size = |body: &layout::Body| f64::from(body.reach.max(1e-30)).log2();
    let bounded = || bodies.iter().filter(|body| body.reach >= 0.0);
    let mean = bounded().map(size).sum::<f64>() / bounded().count().max(1) as f64;
    for body in bodies {
        body.rank = ((size(body) - mean) / 2.0 + 2.5).floor().clamp(0.0, RANKS) as u32;
    }
}

/// Whom joints keep each body from touching, by the lower index of each pair.
fn sort_joined(scene: &Scene, bodies: &mut [layout::Body]) -> Vec<Joined> {
    let mut list: Vec<Joined> = vec![];
    let pairs = joined(scene, Style::Common);
    for group in pairs.chunk_by(|x, y| x.0[0] == y.0[0]) {
        let body = &mut bodies[group[0].0[0] as usize];
        body.joined_first = list.len() as u32;
        let entries = group.iter().filter_map(|&([_, other], joint)| Some((other, joint?)));
        list.extend(entries.map(|(other, joint)| Joined { other, joint }));
        body.joined_last = list.len() as u32;
    }
    list
}
