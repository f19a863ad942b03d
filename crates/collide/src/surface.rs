//! Closed triangulated surfaces of bodies: what incremental potential contact works on, and what the metrics of
//! intersection and of distance look at, for every backend alike.
//!
//! Round shapes become polyhedra whose vertices lie on them, so that the polyhedra lie inside: two round bodies
//! whose analytic shapes just touch have surfaces a little apart.

use std::f64::consts::{FRAC_PI_2, TAU};

use taut_core::{
    Vec3,
    scene::{Part, Shape},
};

use crate::solid::Hull;

/// Closed triangulated surface of a body's shape, in body coordinates [m].
///
/// That of a compound is all of its parts' surfaces, also what of them is inside other parts. That of a mesh is the
/// mesh as the scene has it, be it closed or not.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surface {
    /// Vertices [m].
    pub vertices: Vec<Vec3>,
    /// Every edge of a triangle once, lower vertex first, sorted.
    pub edges: Vec<[u32; 2]>,
    /// Vertices of each triangle, counterclockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
}

impl Surface {
    /// How many vertices go around a cylinder or a capsule, unless asked otherwise.
    pub const SEGMENTS: u32 = 24;

    /// The surface of a shape; `None` of a half-space, and of what has no volume and no triangles.
    ///
    /// A box has 12 triangles, a sphere 320 (an icosahedron split twice). Cylinders and capsules have `segments`
    /// vertices around, at least 3, on the circle; the ends of a capsule have a quarter as many rings.
    pub fn new(shape: &Shape, segments: u32) -> Option<Self> {
        let segments = segments.max(3);
        let (vertices, triangles) = match shape {
            Shape::Box { half } => cuboid(half),
            Shape::Sphere { radius } => sphere(*radius),
            Shape::Cylinder { radius, half_length } => {
                turned(&[(*radius, -half_length), (*radius, *half_length)], segments)
            }
            Shape::Capsule { radius, half_length } => capsule(*radius, *half_length, segments),
            Shape::Hull { points } => Hull::new(points)?.triangles(),
            Shape::Compound { parts } => return compound(parts, segments),
            Shape::HalfSpace => return None,
            Shape::Mesh { vertices, triangles, .. } => (vertices.to_vec(), triangles.to_vec()),
        };
        (!triangles.is_empty()).then(|| Self::of(vertices, triangles))
    }

    /// A surface from its vertices [m] and triangles.
    fn of(vertices: Vec<Vec3>, triangles: Vec<[u32; 3]>) -> Self {
        let sides = |&[a, b, c]: &[u32; 3]| [(a, b), (b, c), (c, a)];
        let mut edges: Vec<[u32; 2]> =
            triangles.iter().flat_map(sides).map(|(a, b)| [a.min(b), a.max(b)]).collect();
        edges.sort_unstable();
        edges.dedup();
        Self { vertices, edges, triangles }
    }

    /// The volume inside [m^3], which is negative where triangles turn inward. Parts of a compound that overlap
    /// count twice.
    pub fn volume(&self) -> f64 {
        let corner = |i: u32| self.vertices[i as usize];
        let sixfold = |&[a, b, c]: &[u32; 3]| corner(a).cross(&corner(b)).dot(&corner(c));
        self.triangles.iter().map(sixfold).sum::<f64>() / 6.0
    }

    /// Lowest and highest corner of the box around it, in body coordinates [m].
    pub fn bounds(&self) -> [Vec3; 2] {
        let none = [Vec3::repeat(f64::INFINITY), Vec3::repeat(f64::NEG_INFINITY)];
        self.vertices.iter().fold(none, |[low, high], v| [low.inf(v), high.sup(v)])
    }
}

type RawSurface = (Vec<Vec3>, Vec<[u32; 3]>);

/// Corner `i` is on the upper side along axis `k` where bit `k` of `i` is set.
fn cuboid(half: &Vec3) -> RawSurface {
    let side = |i: u32, k: usize| if i >> k & 1 == 1 { half[k] } else { -half[k] };
    let vertices = (0..8).map(|i| Vec3::new(side(i, 0), side(i, 1), side(i, 2))).collect();
    let quads =
        [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
    let triangles = quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
    (vertices, triangles)
}

/// An icosahedron split twice, with all vertices at the radius.
fn sphere(radius: f64) -> RawSurface {
    let golden = f64::midpoint(1.0, 5.0_f64.sqrt());
    let signs = [(-1.0, golden), (1.0, golden), (-1.0, -golden), (1.0, -golden)];
    let mut vertices: Vec<Vec3> = (0..3)
        .flat_map(|turn| {
            signs.map(|(short, long)| match turn {
                0 => Vec3::new(short, long, 0.0),
                1 => Vec3::new(0.0, short, long),
                _ => Vec3::new(long, 0.0, short),
            })
        })
        .map(|v| v.normalize() * radius)
        .collect();
    let mut triangles: Vec<[u32; 3]> = [
        [0, 11, 5],
        [0, 5, 1],
        [0, 1, 7],
        [0, 7, 10],
        [0, 10, 11],
        [1, 5, 9],
        [5, 11, 4],
        [11, 10, 2],
        [10, 7, 6],
        [7, 1, 8],
        [3, 9, 4],
        [3, 4, 2],
        [3, 2, 6],
        [3, 6, 8],
        [3, 8, 9],
        [4, 9, 5],
        [2, 4, 11],
        [6, 2, 10],
        [8, 6, 7],
        [9, 8, 1],
    ]
    .to_vec();
    for _ in 0..2 {
        let edges = Surface::of(vec![], triangles.clone()).edges;
        let first = vertices.len() as u32;
        for [a, b] in &edges {
            let middle = vertices[*a as usize] + vertices[*b as usize];
            vertices.push(middle.normalize() * radius);
        }
        let half_way = |a: u32, b: u32| {
            let edge = [a.min(b), a.max(b)];
            first + edges.partition_point(|other| *other < edge) as u32
        };
        triangles = triangles
            .iter()
            .flat_map(|&[a, b, c]| {
                let [x, y, z] = [half_way(a, b), half_way(b, c), half_way(c, a)];
                [[a, x, z], [x, b, y], [z, y, c], [x, y, z]]
            })
            .collect();
    }
    (vertices, triangles)
}

fn capsule(radius: f64, half_length: f64, segments: u32) -> RawSurface {
    let rings = (segments / 4).max(1);
    let at = |k: u32| FRAC_PI_2 * f64::from(k) / f64::from(rings);
    let lower = (1..=rings).map(|k| (radius * at(k).sin(), -half_length - radius * at(k).cos()));
    let upper =
        (1..=rings).rev().map(|k| (radius * at(k).sin(), half_length + radius * at(k).cos()));
    // Without a middle part both ends share the widest ring.
    let shared = usize::from(half_length <= 0.0);
    let bottom = (0.0, -half_length - radius);
    let top = (0.0, half_length + radius);
    let profile: Vec<_> =
        std::iter::once(bottom).chain(lower).chain(upper.skip(shared)).chain([top]).collect();
    turned(&profile, segments)
}

/// What a profile of radii and heights, from below, makes as it turns about z. An end at the axis is a point, any
/// other end is closed by a flat face.
fn turned(profile: &[(f64, f64)], segments: u32) -> RawSurface {
    let mut vertices = vec![];
    let mut triangles = vec![];
    let mut below: Option<(u32, bool)> = None;
    for &(radius, height) in profile {
        let first = vertices.len() as u32;
        let pointed = radius == 0.0;
        for k in 0..if pointed { 1 } else { segments } {
            let (sin, cos) = (TAU * f64::from(k) / f64::from(segments)).sin_cos();
            vertices.push(Vec3::new(radius * cos, radius * sin, height));
        }
        for k in 0..segments {
            let next = (k + 1) % segments;
            match below {
                None => {}
                Some((tip, true)) => triangles.push([tip, first + next, first + k]),
                Some((low, false)) if pointed => triangles.push([low + k, low + next, first]),
                Some((low, false)) => {
                    triangles.push([low + k, low + next, first + next]);
                    triangles.push([low + k, first + next, first + k]);
                }
            }
        }
        if below.is_none() && !pointed {
            triangles.extend((1..segments - 1).map(|k| [first, first + k + 1, first + k]));
        }
        below = Some((first, pointed));
    }
    if let Some((first, false)) = below {
        triangles.extend((1..segments - 1).map(|k| [first, first + k, first + k + 1]));
    }
    (vertices, triangles)
}

fn compound(parts: &[Part], segments: u32) -> Option<Surface> {
    let mut whole = Surface::default();
    for part in parts {
        let Some(own) = Surface::new(&part.shape, segments) else { continue };
        let first = whole.vertices.len() as u32;
        let turn = part.rotation.to_rotation_matrix();
        whole.vertices.extend(own.vertices.iter().map(|v| part.position + turn * v));
        // Later parts have later vertices, so that the list stays sorted.
        whole.edges.extend(own.edges.iter().map(|edge| edge.map(|v| v + first)));
        whole.triangles.extend(own.triangles.iter().map(|corners| corners.map(|v| v + first)));
    }
    (!whole.triangles.is_empty()).then_some(whole)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use taut_core::Quat;

    use super::*;

    fn convex() -> Vec<Shape> {
        let corner = |x: f64, y: f64, z: f64| Vec3::new(x, y, z);
        let prism = [0.0, 1.0].map(|z| {
            [corner(0.0, 0.0, z), corner(2.0, 0.0, z), corner(2.0, 1.0, z), corner(0.0, 1.5, z)]
        });
        vec![
            Shape::Box { half: Vec3::new(0.5, 1.0, 2.0) },
            Shape::Sphere { radius: 0.7 },
            Shape::Cylinder { radius: 0.7, half_length: 0.4 },
            Shape::Capsule { radius: 0.7, half_length: 0.4 },
            Shape::Capsule { radius: 0.7, half_length: 0.0 },
            Shape::Hull { points: prism.concat().into() },
        ]
    }

    fn euler(surface: &Surface) -> usize {
        surface.vertices.len() + surface.triangles.len() - surface.edges.len()
    }

    #[test]
    fn convex_surfaces_are_closed_and_turn_outward() {
        for shape in convex() {
            let surface = Surface::new(&shape, 24).unwrap();
            assert_eq!(euler(&surface), 2, "{shape:?}");
            assert!(surface.edges.is_sorted() && surface.edges.iter().all(|[a, b]| a < b));
            let middle = surface.vertices.iter().sum::<Vec3>() / surface.vertices.len() as f64;
            for corners in &surface.triangles {
                let [a, b, c] = corners.map(|i| surface.vertices[i as usize]);
                let outward = (b - a).cross(&(c - a));
                assert!(outward.dot(&(a - middle)) > 0.0, "{shape:?} {corners:?}");
            }
            // Every edge is run along once each way.
            for &[a, b] in &surface.edges {
                let runs = |from: u32, to: u32| {
                    let side = |t: &&[u32; 3]| (0..3).any(|k| (t[k], t[(k + 1) % 3]) == (from, to));
                    surface.triangles.iter().filter(side).count()
                };
                assert_eq!((runs(a, b), runs(b, a)), (1, 1), "{shape:?}");
            }
        }
    }

    #[test]
    fn counts_are_as_documented() {
        let counts = |shape: &Shape| {
            let surface = Surface::new(shape, 24).unwrap();
            (surface.vertices.len(), surface.triangles.len())
        };
        let [cuboid, sphere, cylinder, capsule, ..] = &convex()[..] else { unreachable!() };
        assert_eq!(counts(cuboid), (8, 12));
        assert_eq!(counts(sphere), (162, 320));
        assert_eq!(counts(cylinder), (48, 92));
        assert_eq!(counts(capsule), (2 + 12 * 24, 2 * 24 * 12));
        assert_eq!(Surface::new(&Shape::HalfSpace, 24), None);
        let flat: Arc<[Vec3]> = (0..5).map(|i| Vec3::new(f64::from(i), 0.0, 0.0)).collect();
        assert_eq!(Surface::new(&Shape::Hull { points: flat }, 24), None);
    }

    #[test]
    fn volumes_converge_from_inside() {
        for shape in convex() {
            let exact = shape.volume();
            let lacking = |segments| 1.0 - Surface::new(&shape, segments).unwrap().volume() / exact;
            match shape {
                Shape::Box { .. } | Shape::Hull { .. } => assert!(lacking(24).abs() < 1e-12),
                Shape::Sphere { .. } => assert!(lacking(24) > 0.0 && lacking(24) < 0.04),
                _ => {
                    assert!(lacking(24) > 0.0 && lacking(24) < 0.03, "{shape:?}");
                    let ratio = lacking(24) / lacking(48);
                    assert!((ratio - 4.0).abs() < 0.2, "second order, {ratio} in {shape:?}");
                }
            }
        }
    }

    #[test]
    fn round_vertices_lie_on_the_shape() {
        let sphere = Surface::new(&Shape::Sphere { radius: 0.7 }, 24).unwrap();
        assert!(sphere.vertices.iter().all(|v| (v.norm() - 0.7).abs() < 1e-15));
        let capsule = Shape::Capsule { radius: 0.7, half_length: 0.4 };
        for v in Surface::new(&capsule, 24).unwrap().vertices {
            let on_axis = Vec3::new(0.0, 0.0, v.z.clamp(-0.4, 0.4));
            assert!(((v - on_axis).norm() - 0.7).abs() < 1e-15);
        }
    }

    #[test]
    fn parts_of_compounds_are_placed() {
        let part = |x: f64| Part {
            shape: Shape::Box { half: Vec3::repeat(0.5) },
            position: Vec3::new(x, 0.0, 0.0),
            rotation: Quat::from_axis_angle(&Vec3::z_axis(), FRAC_PI_2),
        };
        let shape = Shape::Compound { parts: Arc::from([part(-2.0), part(3.0)]) };
        let surface = Surface::new(&shape, 24).unwrap();
        assert_eq!(euler(&surface), 4);
        assert!((surface.volume() - 2.0).abs() < 1e-12);
        assert!(surface.edges.is_sorted());
        let [low, high] = surface.bounds();
        assert!((low.x + 2.5).abs() < 1e-12 && (high.x - 3.5).abs() < 1e-12);
    }
}
