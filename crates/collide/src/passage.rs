//! Bodies that were on one side of another in one state and on the other side in the next.
//!
//! A fast body may jump through a thin one between two states without being inside it in either, so no
//! depth tells. Here the path of its centre, a straight line in the other's coordinates, is cast as a ray.

use parry3d_f64::{
    math::{Pose, Rot3, Vector},
    query::Ray,
    shape::{ConvexPolyhedron, SharedShape, TriMesh},
};
use taut_core::{
    Placement, Scene, State, Vec3,
    scene::{Body, Part, Shape},
};

use crate::{
    broad::{Bounds, BroadPhase},
    detect::{Style, joined},
    shape::BodyGeometry,
    sheet::SheetWatch,
    traits::Traits,
    transform::Transform,
};

/// Slower bodies, which move by less than this share of their smallest extent between two states, are
/// seen inside what they pass through [1].
const SLOW: f64 = 0.25;
/// A ray has passed through where it left by a side that faces away from the one by which it entered:
/// cosine of the angle between their normals. A path around a corner is no passage.
const OPPOSITE: f64 = -0.5;

/// Watches the states of one scene for bodies that have passed through others.
#[derive(Clone, Debug)]
pub struct Passages {
    bodies: Vec<Obstacle>,
    traits: Vec<Traits>,
    joined: Vec<([u32; 2], Option<u32>)>,
    broad: BroadPhase,
    before: Vec<Transform>,
    now: Vec<Transform>,
    bounds: Vec<Bounds>,
    sheets: Option<SheetWatch>,
}

/// A body as what others may pass through, and as what may pass.
#[derive(Clone)]
struct Obstacle {
    geometry: BodyGeometry,
    /// What a ray can hit; nothing of half-spaces, which have no other side.
    target: Option<SharedShape>,
    /// Without inside: one crossing from its front is a passage.
    surface: bool,
    /// Whether its centre of mass is inside itself, so that no other body can be there.
    solid_centre: bool,
}

impl std::fmt::Debug for Obstacle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Obstacle").field("geometry", &self.geometry).finish_non_exhaustive()
    }
}

impl Passages {
    /// Of runs of a scene that start at `initial`; `None` where nothing touches anything.
    pub fn new(scene: &Scene, initial: &State) -> Option<Self> {
        scene.contacts?;
        let now: Vec<Transform> = transforms(initial).collect();
        let bodies: Vec<Obstacle> = scene.bodies.iter().map(Obstacle::new).collect();
        let solid = |body: &Obstacle| body.solid_centre && body.target.is_some() && !body.surface;
        Some(Self {
            sheets: SheetWatch::new(scene, initial, bodies.iter().map(solid).collect()),
            bodies,
            traits: scene.bodies.iter().map(Traits::of).collect(),
            joined: joined(scene, Style::Common),
            broad: BroadPhase::new(),
            before: now.clone(),
            now,
            bounds: vec![],
        })
    }

    /// The next state: a body whose centre went through another since the last one, and that other; or through a
    /// triangle of particles, and one of those, counted after the bodies.
    pub fn observe(&mut self, state: &State) -> Option<[usize; 2]> {
        std::mem::swap(&mut self.before, &mut self.now);
        self.now.clear();
        self.now.extend(transforms(state));
        let through = self.sheets.as_mut().and_then(|s| s.observe(state, &self.before, &self.now));
        if through.is_some() {
            return through;
        }
        if (0..self.bodies.len()).all(|body| self.travel(body) <= self.slow(body)) {
            return None;
        }
        self.bounds = (0..self.bodies.len()).map(|body| self.swept(body)).collect();
        let traits = &self.traits;
        let allowed = |a: u32, b: u32| traits[a as usize].may_touch(&traits[b as usize]);
        let pairs = self.broad.update(&self.bounds, &[], allowed).to_vec();
        pairs.iter().filter(|pair| !self.is_joined(**pair, &state.broken)).find_map(|pair| {
            let [a, b] = pair.map(|body| body as usize);
            [[a, b], [b, a]].into_iter().find(|&[mover, through]| {
                let fast = self.travel(mover).max(self.travel(through)) > self.slow(mover);
                fast && self.passed(mover, through)
            })
        })
    }

    /// How far a body's centre went since the last state [m].
    fn travel(&self, body: usize) -> f64 {
        (self.now[body].position - self.before[body].position).norm()
    }

    fn slow(&self, body: usize) -> f64 {
        SLOW * self.bodies[body].geometry.size
    }

    /// A box around where a body was and where it is.
    fn swept(&self, body: usize) -> Bounds {
        let obstacle = &self.bodies[body].geometry;
        if obstacle.is_plane() || obstacle.pieces.is_empty() {
            return Bounds::nowhere();
        }
        let [(m0, h0), (m1, h1)] =
            [&self.before[body], &self.now[body]].map(|place| obstacle.bounds(place));
        let (low, high) = ((m0 - h0).inf(&(m1 - h1)), (m0 + h0).sup(&(m1 + h1)));
        Bounds { middle: (low + high) * 0.5, half: (high - low) * 0.5 }
    }

    fn is_joined(&self, pair: [u32; 2], broken: &[bool]) -> bool {
        let first = self.joined.partition_point(|(other, _)| *other < pair);
        let joints = self.joined[first..].iter().take_while(|(other, _)| *other == pair);
        joints.map(|(_, joint)| joint).any(|joint| {
            joint.is_none_or(|joint| !broken.get(joint as usize).is_some_and(|&broken| broken))
        })
    }

    fn passed(&self, mover: usize, through: usize) -> bool {
        let obstacle = &self.bodies[through];
        let Some(target) = obstacle.target.as_ref().filter(|_| self.bodies[mover].solid_centre)
        else {
            return false;
        };
        let (place0, place1) = (&self.before[through], &self.now[through]);
        let from = place0.local(&self.before[mover].position);
        let to = place1.local(&self.now[mover].position);
        // In the coordinates of what turns much meanwhile, the path is no line.
        let turned = (place1.rotation - place0.rotation).norm() * from.norm().max(to.norm());
        if turned > 0.5 * obstacle.geometry.size {
            return false;
        }
        let [there, back] = [cast(target, from, to), cast(target, to, from)];
        match (there, back) {
            // Rays that come from behind a surface are not hit by it.
            (Some(_), _) if obstacle.surface => true,
            (Some((t0, entry)), Some((t1, exit))) => {
                let (outside, whole) = (t0 > 0.0 && t1 > 0.0, t0 + t1 < 1.0);
                outside && whole && entry.dot(&exit) < OPPOSITE
            }
            _ => false,
        }
    }
}

impl Obstacle {
    fn new(body: &Body) -> Self {
        let target = target(&body.shape);
        let origin = Vector::ZERO;
        let surface = matches!(body.shape, Shape::Mesh { .. });
        let solid_centre = !surface
            && body.is_dynamic()
            && target.as_ref().is_some_and(|shape| shape.contains_local_point(origin));
        Self { geometry: BodyGeometry::new(&body.shape), target, surface, solid_centre }
    }
}

fn transforms(state: &State) -> impl Iterator<Item = Transform> {
    state.bodies.iter().map(|body| Transform::from(&Placement::from(body)))
}

fn vector(v: &Vec3) -> Vector {
    Vector::new(v.x, v.y, v.z)
}

/// Where on the way from one point to another, as a share of it, a shape is first hit, and its normal there.
fn cast(target: &SharedShape, from: Vec3, to: Vec3) -> Option<(f64, Vec3)> {
    let ray = Ray::new(vector(&from), vector(&(to - from)));
    let hit = target.cast_local_ray_and_get_normal(&ray, 1.0, true)?;
    if target.as_trimesh().is_some_and(|surface| surface.is_backface(hit.feature)) {
        return None;
    }
    Some((hit.time_of_impact, Vec3::new(hit.normal.x, hit.normal.y, hit.normal.z)))
}

/// A shape as parry has it, in body coordinates; `None` where it has no volume or no other side.
fn target(shape: &Shape) -> Option<SharedShape> {
    match shape {
        Shape::Box { half } => Some(SharedShape::cuboid(half.x, half.y, half.z)),
        Shape::Sphere { radius } => Some(SharedShape::ball(*radius)),
        Shape::Capsule { radius, half_length } => {
            Some(SharedShape::capsule_z(*half_length, *radius))
        }
        Shape::Cylinder { radius, half_length } => {
            // Its axis is y there.
            let upright = Rot3::from_rotation_x(std::f64::consts::FRAC_PI_2);
            let place = Pose::from_parts(Vector::ZERO, upright);
            let cylinder = SharedShape::cylinder(*half_length, *radius);
            Some(SharedShape::compound(vec![(place, cylinder)]))
        }
        Shape::Hull { points } => {
            let points: Vec<Vector> = points.iter().map(vector).collect();
            ConvexPolyhedron::from_convex_hull(&points).map(SharedShape::new)
        }
        Shape::Compound { parts } => {
            let parts: Vec<_> = parts.iter().filter_map(placed).collect();
            (!parts.is_empty()).then(|| SharedShape::compound(parts))
        }
        Shape::HalfSpace => None,
        Shape::Mesh { vertices, triangles, .. } => {
            let vertices = vertices.iter().map(vector).collect();
            TriMesh::new(vertices, triangles.to_vec()).ok().map(SharedShape::new)
        }
    }
}

/// A part in its place; a compound within, which may be no part of another, is of one shape.
fn placed(part: &Part) -> Option<(Pose, SharedShape)> {
    let q = part.rotation;
    let rotation = Rot3::from_xyzw(q.i, q.j, q.k, q.w);
    let place = Pose::from_parts(vector(&part.position), rotation);
    let shape = target(&part.shape)?;
    Some(match shape.as_compound().map(|compound| &compound.shapes()[0]) {
        Some((inner, only)) => (place * *inner, only.clone()),
        None => (place, shape),
    })
}

#[cfg(test)]
mod tests {
    use taut_core::load::load_str;

    use super::*;

    const WALL: &str = "body(name: \"wall\", shape: box(size: (0.1, 4, 4)), motion: static),";

    /// The answer after a body has moved between two places.
    fn seen(bodies: &str, body: usize, from: [f64; 3], to: [f64; 3]) -> Option<[usize; 2]> {
        let text = format!("(bodies: [{bodies}])");
        let scene = load_str(&text, "test", &[]).expect("a good scene").scene;
        let mut state = scene.initial_state();
        state.bodies[body].position = from.into();
        let mut passages = Passages::new(&scene, &state).expect("contacts");
        state.bodies[body].position = to.into();
        passages.observe(&state)
    }

    #[test]
    fn what_jumps_through_a_wall_is_seen_whichever_of_them_moved() {
        for shape in [
            "sphere(radius: 0.1)",
            "box(size: (0.2, 0.2, 0.2))",
            "capsule(radius: 0.1, length: 0.2)",
            "cylinder(radius: 0.1, length: 0.2)",
        ] {
            let bodies = format!("{WALL} body(shape: {shape}, density: 1)");
            let through = seen(&bodies, 1, [-0.4, 0.3, 0.0], [0.5, 0.3, 0.2]);
            assert_eq!(through, Some([1, 0]), "{shape}");
            assert_eq!(seen(&bodies, 0, [-0.4, 0.3, 0.0], [0.5, 0.3, 0.2]), Some([1, 0]));
            // Beside it, up to it, and back from it.
            assert_eq!(seen(&bodies, 1, [-0.4, 2.3, 0.0], [0.5, 2.3, 0.2]), None);
            assert_eq!(seen(&bodies, 1, [-0.9, 0.3, 0.0], [-0.2, 0.3, 0.2]), None);
            assert_eq!(seen(&bodies, 1, [-0.2, 0.3, 0.0], [-0.9, 0.3, 0.2]), None);
        }
    }

    #[test]
    fn a_path_around_an_edge_is_no_passage() {
        let bodies = format!("{WALL} body(shape: sphere(radius: 0.01), density: 1)");
        assert_eq!(seen(&bodies, 1, [0.03, 2.03, 0.0], [0.08, 1.94, 0.0]), None);
    }

    #[test]
    fn rings_may_hang_in_each_other() {
        let side = |x: &str, y: &str, size: &str| {
            format!("part(shape: box(size: {size}), position: ({x}, {y}, 0))")
        };
        let ring = [
            side("1", "0", "(0.2, 2.2, 0.2)"),
            side("-1", "0", "(0.2, 2.2, 0.2)"),
            side("0", "1", "(2.2, 0.2, 0.2)"),
            side("0", "-1", "(2.2, 0.2, 0.2)"),
        ];
        let shape = format!("compound(parts: [{}])", ring.join(", "));
        let bodies = format!("{WALL} body(shape: {shape}, density: 1)");
        // Its centre is a hole.
        assert_eq!(seen(&bodies, 1, [-0.5, 0.0, 0.0], [0.5, 0.0, 0.0]), None);
        let bodies = format!("body(shape: {shape}, motion: static, density: 1), {WALL}")
            .replace("motion: static),", "density: 1),");
        assert_eq!(seen(&bodies, 1, [0.0, 0.0, -2.0], [0.0, 0.0, 2.0]), None);
        assert_eq!(seen(&bodies, 1, [1.0, 0.0, -2.0], [1.0, 0.0, 2.0]), Some([1, 0]));
    }

    #[test]
    fn a_surface_is_passed_from_its_front_only_and_what_may_not_touch_not_at_all() {
        let mesh = "body(shape: mesh(vertices: [(-1, -1, 0), (1, -1, 0), (0, 1, 0)],
            triangles: [(0, 1, 2)]), motion: static), body(shape: sphere(radius: 0.1), density: 1)";
        assert_eq!(seen(mesh, 1, [0.0, 0.0, 0.5], [0.0, 0.0, -0.5]), Some([1, 0]));
        assert_eq!(seen(mesh, 1, [0.0, 0.0, -0.5], [0.0, 0.0, 0.5]), None);
        let grouped = format!("{WALL} body(shape: sphere(radius: 0.1), density: 1, group: 1)")
            .replace("motion: static", "motion: static, group: 1");
        assert_eq!(seen(&grouped, 1, [-0.4, 0.3, 0.0], [0.5, 0.3, 0.2]), None);
    }
}
