//! Surfaces of triangles, and their contacts with convex solids.
//!
//! Only the front of a triangle pushes. A solid that slides from one triangle to the next must not
//! catch on the edge between them, so a normal that leans over an edge counts only as far as the
//! surface bends there; otherwise the triangle pushes along its own normal, and only what is above it.

use parry3d_f64::{
    bounding_volume::Aabb,
    math::Vector,
    partitioning::{Bvh, BvhBuildStrategy},
};
use taut_core::Vec3;

use crate::{
    convex::{ConvexBuffers, SeparatingAxis, SolidPair},
    nearest::{direction, on_polygon},
    region::Point,
    round,
    solid::{self, Core, Facet, RoundedSolid, Solid},
    transform::Transform,
};

/// Normals may lean this much farther than the surface bends [rad].
pub const LEAN: f64 = 1e-3;

/// A surface of triangles in local coordinates.
#[derive(Clone, Debug)]
pub struct Mesh {
    /// Its triangles, in the order of the scene.
    pub triangles: Vec<Triangle>,
    tree: Bvh,
}

/// One triangle.
#[derive(Clone, Debug)]
pub struct Triangle {
    /// Counterclockwise seen from the front [m].
    pub corners: [Vec3; 3],
    normal: Vec3,
    /// In the plane, across each edge `k` to `k + 1`, away from the triangle.
    pub outward: [Vec3; 3],
    /// By how much the surface bends down over each edge [rad]; half a turn where it ends.
    pub bend: [f64; 3],
}

/// Where a point is nearest to a surface, in its coordinates.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MeshFoot {
    pub(crate) triangle: u32,
    /// Unit vector from the surface to its front, along which the point is.
    pub(crate) up: Vec3,
    /// The nearest point of the surface [m].
    pub(crate) on: Vec3,
    /// Distance of the two [m]; negative behind the surface.
    pub(crate) distance: f64,
}

impl Mesh {
    /// A surface from corners and their indices; what is behind a triangle is not touched.
    pub fn new(vertices: &[Vec3], triangles: &[[u32; 3]]) -> Self {
        let plain: Vec<Triangle> = triangles
            .iter()
            .map(|indices| Triangle::new(indices.map(|i| vertices[i as usize])))
            .collect();
        let mut bent = plain.clone();
        for [(i, k), (j, l)] in neighbours(vertices, triangles) {
            let bend = |from: &Triangle, edge: usize, to: &Triangle| {
                to.normal.dot(&from.outward[edge]).atan2(to.normal.dot(&from.normal))
            };
            bent[i].bend[k] = bend(&plain[i], k, &plain[j]);
            bent[j].bend[l] = bend(&plain[j], l, &plain[i]);
        }
        let boxes: Vec<Aabb> = bent
            .iter()
            .map(|t| Aabb::from_points(t.corners.iter().map(|c| Vector::new(c.x, c.y, c.z))))
            .collect();
        Self { triangles: bent, tree: Bvh::from_leaves(BvhBuildStrategy::Binned, &boxes) }
    }

    /// Writes the triangles near a solid, in order.
    pub(crate) fn near(
        &self,
        solid: &RoundedSolid,
        place: &Transform,
        own: &Transform,
        reach: f64,
        found: &mut Vec<u32>,
    ) {
        let (mut low, mut high) = (Vec3::zeros(), Vec3::zeros());
        for k in 0..3 {
            let along = place.unturn(&own.axis(k));
            let extreme =
                |direction: Vec3| own.local(&place.point(&solid.core.support(&direction)))[k];
            (low[k], high[k]) = (extreme(-along), extreme(along));
        }
        let pad = Vec3::repeat(solid.round + reach);
        let (low, high) = (low - pad, high + pad);
        let around =
            Aabb::new(Vector::new(low.x, low.y, low.z), Vector::new(high.x, high.y, high.z));
        found.clear();
        found.extend(self.tree.intersect_aabb(&around));
        found.sort_unstable();
    }

    /// Writes the triangles within `reach` [m] of a local point, in order.
    pub(crate) fn around(&self, point: &Vec3, reach: f64, found: &mut Vec<u32>) {
        let (low, high) = (point.add_scalar(-reach), point.add_scalar(reach));
        let around =
            Aabb::new(Vector::new(low.x, low.y, low.z), Vector::new(high.x, high.y, high.z));
        found.clear();
        found.extend(self.tree.intersect_aabb(&around));
        found.sort_unstable();
    }

    /// Writes the triangles within `reach` [m] of the box around local points, in order.
    pub(crate) fn within(&self, points: &[Vec3; 3], reach: f64, found: &mut Vec<u32>) {
        let [a, b, c] = points;
        let low = a.inf(b).inf(c).add_scalar(-reach);
        let high = a.sup(b).sup(c).add_scalar(reach);
        let around =
            Aabb::new(Vector::new(low.x, low.y, low.z), Vector::new(high.x, high.y, high.z));
        found.clear();
        found.extend(self.tree.intersect_aabb(&around));
        found.sort_unstable();
    }

    /// Where a local point is nearest to one triangle, up to `reach` [m] from it: straight above or below it,
    /// or beside it where the surface can push that way.
    pub(crate) fn foot(&self, index: u32, point: &Vec3, reach: f64) -> Option<MeshFoot> {
        let triangle = &self.triangles[index as usize];
        let (on, straight) = on_polygon(&triangle.corners, &triangle.normal, point);
        if straight {
            let distance = triangle.normal.dot(&(point - triangle.corners[0]));
            let foot = MeshFoot { triangle: index, up: triangle.normal, on, distance };
            return (distance.abs() <= reach).then_some(foot);
        }
        let (up, distance) = direction(&(point - on), triangle.normal);
        let admitted = distance <= reach && triangle.admits(&up, &on, triangle.size());
        admitted.then_some(MeshFoot { triangle: index, up, on, distance })
    }

    /// The point of one triangle nearest to a local point that is behind it, but not straight below.
    pub(crate) fn edge_above(&self, index: u32, point: &Vec3, reach: f64) -> Option<MeshFoot> {
        let triangle = &self.triangles[index as usize];
        let (on, straight) = on_polygon(&triangle.corners, &triangle.normal, point);
        let (up, distance) = direction(&(on - point), triangle.normal);
        let behind = !straight && distance <= reach && up.dot(&triangle.normal) > 0.0;
        behind.then_some(MeshFoot { triangle: index, up, on, distance: -distance })
    }

    /// Contacts of a solid with one triangle, appended with `a` on the solid; the normal points to the
    /// solid. Only points closer than `reach` [m] are of interest.
    pub(crate) fn touch(
        &self,
        index: u32,
        (solid, place): (&RoundedSolid, &Transform),
        own: &Transform,
        reach: f64,
        buffers: &mut ConvexBuffers,
        points: &mut Vec<Point>,
    ) -> Option<Vec3> {
        let triangle = &self.triangles[index as usize];
        let normal = own.turn(&triangle.normal);
        let up = place.unturn(&normal);
        let height = |p: Vec3| normal.dot(&(place.point(&p) - own.point(&triangle.corners[0])));
        if height(solid.core.support(&up)) + solid.round < 0.0 {
            return None;
        }
        // Tolerances follow the solid.
        let flat = RoundedSolid {
            core: Core::Facet(Facet(triangle.corners)),
            round: 0.0,
            size: f64::INFINITY,
        };
        if matches!(solid.core, Core::Centre(_)) {
            let (normal, point) = round::sphere(&place.position, solid.round, &flat, own);
            let admitted = triangle.admits(&own.unturn(&normal), &own.local(&point.b), solid.size);
            return (admitted && point.gap <= reach).then(|| {
                points.push(point);
                normal
            });
        }
        let pair = SolidPair { solid: [solid, &flat], place: [place, own] };
        let closest = pair.closest(reach, buffers)?;
        let admits = |normal: &Vec3, on: &Vec3| {
            triangle.admits(&own.unturn(normal), &own.local(on), solid.size)
        };
        let free = closest.filter(|c| admits(&c.normal, &c.b));
        let own_face = |side: usize, normal: &Vec3| match (side, &closest) {
            (1, _) => true,
            (_, Some(closest)) => admits(normal, &closest.b),
            (_, None) => false,
        };
        let face = pair.best_face(free.as_ref(), own_face);
        let first = points.len();
        let normal = match pair.choose(face, free)? {
            SeparatingAxis::Face(face) => {
                pair.on_face(&face, buffers, points);
                match free {
                    Some(free) if points.len() == first && face.separation > 0.0 => {
                        pair.along(&free, points);
                        free.normal
                    }
                    _ => face.normal,
                }
            }
            SeparatingAxis::Closest(closest) => {
                pair.along(&closest, points);
                closest.normal
            }
        };
        pair.round_off(&normal, reach, first, points);
        (points.len() > first).then_some(normal)
    }
}

impl Triangle {
    fn new(corners: [Vec3; 3]) -> Self {
        let normal = solid::normal(&corners);
        let outward = [0, 1, 2].map(|k| {
            let along = corners[(k + 1) % 3] - corners[k];
            along.cross(&normal).try_normalize(0.0).unwrap_or_else(Vec3::zeros)
        });
        Self { corners, normal, outward, bend: [std::f64::consts::PI; 3] }
    }

    /// Unit vector to its front.
    pub(crate) fn normal(&self) -> Vec3 {
        self.normal
    }

    /// Length of an edge, to which tolerances are shares [m].
    fn size(&self) -> f64 {
        (self.corners[1] - self.corners[0]).norm()
    }

    /// Whether the surface can push along a normal at a point of this triangle. Where several
    /// triangles share the point, one of them does.
    pub(crate) fn admits(&self, normal: &Vec3, on: &Vec3, size: f64) -> bool {
        let up = normal.dot(&self.normal);
        let at_edge = |k: usize| self.outward[k].dot(&(on - self.corners[k])) > -1e-6 * size;
        let leans = |k: usize| {
            let lean = normal.dot(&self.outward[k]).atan2(up);
            lean > self.bend[k].max(0.0) + LEAN
        };
        // Boundaries bend by half a turn, but nobody may push from behind.
        up > 0.0 && !(0..3).any(|k| at_edge(k) && leans(k))
    }
}

/// Pairs of triangles that share an edge, each with the number of the edge. Corners at one place are
/// one corner, whatever their indices.
fn neighbours(vertices: &[Vec3], triangles: &[[u32; 3]]) -> Vec<[(usize, usize); 2]> {
    let key = |i: usize| vertices[i].map(|x| if x == 0.0 { 0.0 } else { x });
    let order = |a: &usize, b: &usize| {
        let (a, b) = (key(*a), key(*b));
        a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)).then(a.z.total_cmp(&b.z))
    };
    let mut sorted: Vec<usize> = (0..vertices.len()).collect();
    sorted.sort_by(order);
    let mut welded = vec![0; vertices.len()];
    for (place, &i) in sorted.iter().enumerate() {
        let same = place > 0 && order(&sorted[place - 1], &i).is_eq();
        welded[i] = if same { welded[sorted[place - 1]] } else { i };
    }
    let mut edges: Vec<([usize; 2], usize, usize)> = vec![];
    for (t, corners) in triangles.iter().enumerate() {
        for k in 0..3 {
            let [a, b] = [k, (k + 1) % 3].map(|c| welded[corners[c] as usize]);
            edges.push(([a.min(b), a.max(b)], t, k));
        }
    }
    edges.sort_unstable();
    // Where more than two meet, no two of them are one surface: their edges stay ends.
    let mut pairs = vec![];
    for group in edges.chunk_by(|a, b| a.0 == b.0) {
        if let &[(_, i, k), (_, j, l)] = group {
            pairs.push([(i, k), (j, l)]);
        }
    }
    pairs
}
