//! Shapes of scenes as convex polyhedra: faces with normals, and edges with the faces beside them.

mod grid;
mod round;

use std::sync::Arc;

use parry3d_f64::{math::Vector, transformation::try_convex_hull};
use taut_core::{Mat3, Vec3, scene::Shape};

pub use grid::{GRID_LINES_MAX, GRID_LINES_MIN, grid};

/// Facets around a cylinder or capsule.
pub const FACETS: u32 = 24;

/// An affine map from the coordinates of a body to the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AffinePose {
    /// The columns are the body's axes in the world.
    pub frame: Mat3,
    /// The body's origin in the world [m].
    pub origin: Vec3,
}

/// A surface of flat faces.
///
/// Unless it is a sheet it bounds a convex solid, so that faces towards the eye hide each other nowhere.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Polyhedron {
    /// Corners [m].
    pub vertices: Vec<Vec3>,
    /// Faces.
    pub faces: Vec<FlatFace>,
    /// Edges, each once.
    pub edges: Vec<FaceEdge>,
    /// Whether it has no inside: both sides of its faces are seen.
    pub sheet: bool,
    /// The sphere that it stands for, as its radius [m]; such a polyhedron is drawn smooth where a writer can.
    pub ball: Option<f64>,
}

/// A flat convex face.
#[derive(Clone, Debug, PartialEq)]
pub struct FlatFace {
    /// Numbers of its corners, counterclockwise seen from outside.
    pub corners: Vec<u32>,
    /// Outward unit normal.
    pub normal: Vec3,
    /// Unit normals of the smooth surface at the corners; empty where the face is flat.
    pub smooth: Vec<Vec3>,
}

/// Where two faces meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FaceEdge {
    /// Numbers of its ends.
    pub ends: [u32; 2],
    /// Numbers of the faces beside it; a sheet may end at an edge.
    pub faces: [Option<u32>; 2],
}

/// A corner of a triangle as graphics adapters take it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CornerOfTriangle {
    /// Its place [m].
    pub position: Vec3,
    /// Unit normal.
    pub normal: Vec3,
}

impl AffinePose {
    /// The coordinates of the world.
    pub fn world() -> Self {
        Self { frame: Mat3::identity(), origin: Vec3::zeros() }
    }

    /// A point of the body in the world [m].
    pub fn point(&self, local: &Vec3) -> Vec3 {
        self.origin + self.frame * local
    }

    /// The direction of a normal in the world, of unit length. A flattened or reflected frame keeps it as a cofactor
    /// maps it, which needs no inverse.
    pub fn normal(&self, local: &Vec3) -> Vec3 {
        let (x, y, z) = (self.frame.column(0), self.frame.column(1), self.frame.column(2));
        let cofactor = Mat3::from_columns(&[y.cross(&z), z.cross(&x), x.cross(&y)]);
        // A reflection turns faces inside out, and their normals with them.
        let sign = self.frame.determinant().signum();
        (cofactor * local * sign).try_normalize(0.0).unwrap_or_else(Vec3::z)
    }

    /// This map after `inner`.
    #[must_use]
    pub fn of(&self, inner: &Self) -> Self {
        Self { frame: self.frame * inner.frame, origin: self.point(&inner.origin) }
    }
}

impl Polyhedron {
    /// From faces as corner numbers, counterclockwise seen from outside.
    pub fn new(vertices: Vec<Vec3>, faces: Vec<Vec<u32>>, sheet: bool) -> Self {
        let faces: Vec<FlatFace> = faces
            .into_iter()
            .filter_map(|corners| {
                let normal = newell(&vertices, &corners).try_normalize(0.0)?;
                Some(FlatFace { corners, normal, smooth: Vec::new() })
            })
            .collect();
        let edges = edges(&faces);
        Self { vertices, faces, edges, sheet, ball: None }
    }

    /// This polyhedron with the normals of a smooth surface, given by place; faces for which it is `None` stay flat.
    #[must_use]
    fn smoothed(mut self, normal: impl Fn(&FlatFace, &Vec3) -> Option<Vec3>) -> Self {
        for face in &mut self.faces {
            let corners = face.corners.iter().map(|&i| normal(face, &self.vertices[i as usize]));
            face.smooth = corners.collect::<Option<_>>().unwrap_or_default();
        }
        self
    }

    /// The pieces that a shape is drawn as, each with its place in the body; none for a half-space, which is drawn as
    /// a [`grid`].
    pub fn pieces(shape: &Shape) -> Vec<(Arc<Self>, AffinePose)> {
        let whole = |polyhedron: Self| vec![(Arc::new(polyhedron), AffinePose::world())];
        match shape {
            Shape::Box { half } => whole(cuboid(half)),
            Shape::Sphere { radius } => whole(round::ball(*radius)),
            Shape::Capsule { radius, half_length } => whole(round::capsule(*radius, *half_length)),
            Shape::Cylinder { radius, half_length } => {
                whole(round::cylinder(*radius, *half_length))
            }
            Shape::Hull { points } => whole(hull(points)),
            Shape::Mesh { vertices, triangles, .. } => {
                let faces = triangles.iter().map(|corners| corners.to_vec()).collect();
                whole(Self::new(vertices.to_vec(), faces, true))
            }
            Shape::HalfSpace => Vec::new(),
            Shape::Compound { parts } => parts
                .iter()
                .flat_map(|part| {
                    let frame = part.rotation.to_rotation_matrix().into_inner();
                    let place = AffinePose { frame, origin: part.position };
                    let inner = Self::pieces(&part.shape).into_iter();
                    inner.map(move |(piece, own)| (piece, place.of(&own)))
                })
                .collect(),
        }
    }

    /// Corners of triangles, three for each, counterclockwise seen from outside.
    pub fn triangles(&self) -> Vec<CornerOfTriangle> {
        let mut out = Vec::new();
        for face in &self.faces {
            let corner = |i: usize| CornerOfTriangle {
                position: self.vertices[face.corners[i] as usize],
                normal: face.smooth.get(i).copied().unwrap_or(face.normal),
            };
            for i in 2..face.corners.len() {
                out.extend([corner(0), corner(i - 1), corner(i)]);
            }
        }
        out
    }

    /// Which faces are seen, by a test of a face's point and outward normal in the world.
    pub fn seen(&self, pose: &AffinePose, towards: impl Fn(&Vec3, &Vec3) -> bool) -> Vec<bool> {
        let seen = |face: &FlatFace| {
            let corner = pose.point(&self.vertices[face.corners[0] as usize]);
            towards(&corner, &pose.normal(&face.normal))
        };
        self.faces.iter().map(seen).collect()
    }

    /// Numbers of the edges between a seen face and one that is not: the outline of a solid. Of a sheet these are its
    /// borders too.
    pub fn silhouette(&self, seen: &[bool]) -> Vec<usize> {
        let is_seen = |face: Option<u32>| face.is_some_and(|face| seen[face as usize]);
        let outlines = |edge: &FaceEdge| match edge.faces {
            [Some(a), Some(b)] => seen[a as usize] != seen[b as usize],
            [a, b] => self.sheet || is_seen(a) || is_seen(b),
        };
        (0..self.edges.len()).filter(|&i| outlines(&self.edges[i])).collect()
    }
}

/// Twice the area vector of a polygon, which is its normal also where corners are not quite in one plane.
fn newell(vertices: &[Vec3], corners: &[u32]) -> Vec3 {
    let first = vertices[corners[0] as usize];
    let at = |i: u32| vertices[i as usize] - first;
    corners.windows(2).map(|pair| at(pair[0]).cross(&at(pair[1]))).sum()
}

/// Every edge once, by the faces beside it, in the order in which faces name them.
fn edges(faces: &[FlatFace]) -> Vec<FaceEdge> {
    let mut known = std::collections::BTreeMap::new();
    let mut edges: Vec<FaceEdge> = Vec::new();
    for (number, face) in faces.iter().enumerate() {
        let number = number as u32;
        for (i, &a) in face.corners.iter().enumerate() {
            let b = face.corners[(i + 1) % face.corners.len()];
            match known.get(&(a.min(b), a.max(b))) {
                Some(&edge) => {
                    let edge: &mut FaceEdge = &mut edges[edge];
                    edge.faces[1] = edge.faces[1].or(Some(number));
                }
                None => {
                    known.insert((a.min(b), a.max(b)), edges.len());
                    edges.push(FaceEdge { ends: [a, b], faces: [Some(number), None] });
                }
            }
        }
    }
    edges
}

/// A box by its half extents.
fn cuboid(half: &Vec3) -> Polyhedron {
    let sign = |bit: u32| if bit == 0 { -1.0 } else { 1.0 };
    let corner = |i: u32| half.component_mul(&Vec3::new(sign(i & 1), sign(i & 2), sign(i & 4)));
    let faces: [[u32; 4]; 6] =
        [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
    Polyhedron::new((0..8).map(corner).collect(), faces.map(|f| f.to_vec()).to_vec(), false)
}

/// The convex hull of points, with triangles of one plane joined to one face; nothing where they are flat.
fn hull(points: &[Vec3]) -> Polyhedron {
    let given: Vec<Vector> = points.iter().map(|p| Vector::new(p.x, p.y, p.z)).collect();
    let Ok((vertices, triangles)) = try_convex_hull(&given) else {
        return Polyhedron::default();
    };
    let vertices: Vec<Vec3> = vertices.iter().map(|v| Vec3::new(v.x, v.y, v.z)).collect();
    let size = vertices.iter().map(|v| v.norm()).fold(0.0, f64::max);
    let mut planes: Vec<(Vec3, f64)> = Vec::new();
    for corners in &triangles {
        let Some(normal) = newell(&vertices, corners).try_normalize(0.0) else { continue };
        let offset = normal.dot(&vertices[corners[0] as usize]);
        let same =
            |(n, o): &(Vec3, f64)| n.dot(&normal) > 1.0 - 1e-9 && (o - offset).abs() < 1e-6 * size;
        if !planes.iter().any(same) {
            planes.push((normal, offset));
        }
    }
    let faces = planes.iter().map(|(normal, offset)| {
        let on = |v: &Vec3| (normal.dot(v) - offset).abs() < 1e-6 * size;
        let corners: Vec<u32> =
            (0..vertices.len() as u32).filter(|&i| on(&vertices[i as usize])).collect();
        around(&vertices, corners, normal)
    });
    let faces = faces.filter(|face| face.len() > 2).collect();
    Polyhedron::new(vertices, faces, false)
}

/// Corners of a convex face in their order about its normal.
fn around(vertices: &[Vec3], mut corners: Vec<u32>, normal: &Vec3) -> Vec<u32> {
    let at = |i: u32| vertices[i as usize];
    let middle = corners.iter().map(|&i| at(i)).sum::<Vec3>() / corners.len().max(1) as f64;
    let Some(first) = corners.first().map(|&i| at(i) - middle) else { return corners };
    let second = normal.cross(&first);
    let angle = |i: u32| (at(i) - middle).dot(&second).atan2((at(i) - middle).dot(&first));
    corners.sort_by(|&a, &b| angle(a).total_cmp(&angle(b)));
    corners
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Volume by the divergence theorem, which is right only where all faces look outwards.
    fn volume(solid: &Polyhedron) -> f64 {
        let corners = solid.triangles();
        let triple =
            |t: &[CornerOfTriangle]| t[0].position.dot(&t[1].position.cross(&t[2].position)) / 6.0;
        corners.chunks(3).map(triple).sum()
    }

    fn closed(shape: &Shape) -> Polyhedron {
        let [(solid, _)] = &Polyhedron::pieces(shape)[..] else { panic!("one piece") };
        assert!(solid.edges.iter().all(|edge| edge.faces[1].is_some()), "{shape:?} has holes");
        let euler = solid.vertices.len() + solid.faces.len() - solid.edges.len();
        assert_eq!(euler, 2, "{shape:?}");
        solid.as_ref().clone()
    }

    #[test]
    fn solids_are_closed_and_have_nearly_their_volume() {
        let hull: Arc<[Vec3]> = cuboid(&Vec3::new(0.5, 0.2, 0.1)).vertices.into();
        let shapes = [
            (Shape::Box { half: Vec3::new(1.0, 2.0, 3.0) }, 1e-12),
            (Shape::Hull { points: hull }, 1e-12),
            (Shape::Cylinder { radius: 0.5, half_length: 1.0 }, 0.02),
            (Shape::Capsule { radius: 0.5, half_length: 1.0 }, 0.05),
            (Shape::Sphere { radius: 0.5 }, 0.06),
        ];
        for (shape, tolerance) in shapes {
            let (found, exact) = (volume(&closed(&shape)), shape.volume());
            assert!((found - exact).abs() <= tolerance * exact, "{shape:?}: {found} for {exact}");
        }
    }

    #[test]
    fn a_hull_of_a_box_has_six_faces() {
        let points: Arc<[Vec3]> = cuboid(&Vec3::new(0.5, 0.2, 0.1)).vertices.into();
        let solid = closed(&Shape::Hull { points });
        assert_eq!((solid.faces.len(), solid.edges.len()), (6, 12));
    }

    #[test]
    fn normals_point_outwards_and_survive_stretch() {
        let solid = closed(&Shape::Capsule { radius: 0.3, half_length: 0.5 });
        for face in &solid.faces {
            let middle = face.corners.iter().map(|&i| solid.vertices[i as usize]).sum::<Vec3>();
            assert!(face.normal.dot(&middle) > 0.0);
            assert!(face.smooth.iter().all(|n| (n.norm() - 1.0).abs() < 1e-9));
        }
        let stretched = AffinePose {
            frame: Mat3::new(2.0, 0.5, 0.0, 0.0, 1.0, 0.0, 0.0, 0.3, 0.5),
            origin: Vec3::zeros(),
        };
        let solid = cuboid(&Vec3::repeat(1.0));
        for face in &solid.faces {
            let normal = stretched.normal(&face.normal);
            let at = |i: usize| stretched.point(&solid.vertices[face.corners[i] as usize]);
            assert!(normal.dot(&(at(1) - at(0))).abs() < 1e-12);
            assert!(normal.dot(&at(0)) > 0.0);
        }
    }

    #[test]
    fn the_outline_of_a_box_seen_from_its_corner_has_six_edges() {
        let solid = cuboid(&Vec3::repeat(1.0));
        let eye = Vec3::new(1.0, 2.0, 3.0);
        let seen = solid.seen(&AffinePose::world(), |_, normal| normal.dot(&eye) > 0.0);
        assert_eq!(seen.iter().filter(|seen| **seen).count(), 3);
        assert_eq!(solid.silhouette(&seen).len(), 6);
    }
}
