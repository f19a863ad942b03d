//! Convex polyhedra: corners, faces as loops, and which of them meet.

use parry3d_f64::{math::Vector, shape::ConvexPolyhedron};
use taut_core::Vec3;

/// A face of a convex polyhedron.
#[derive(Clone, Debug)]
pub(crate) struct Face {
    /// Outward unit normal.
    pub(crate) normal: Vec3,
    /// Distance of its plane from the origin along the normal [m].
    pub(crate) offset: f64,
    /// Its corners, counterclockwise seen from outside.
    pub(crate) corners: Vec<u32>,
}

/// A convex polyhedron in local coordinates.
#[derive(Clone, Debug)]
pub(crate) struct Hull {
    /// Its corners [m].
    pub(crate) points: Vec<Vec3>,
    /// Its faces.
    pub(crate) faces: Vec<Face>,
    /// Faces that meet at each corner.
    corner_faces: Vec<Vec<u32>>,
    /// Corners at the other ends of the edges from each corner.
    neighbours: Vec<Vec<u32>>,
}

/// Hulls thinner than this share of their size span no volume.
const FLAT: f64 = 1e-9;

/// Least extent across any face [m].
fn thickness(points: &[Vec3], faces: &[Face]) -> f64 {
    let below = |face: &Face, p: &Vec3| face.offset - face.normal.dot(p);
    let deepest = |face: &Face| points.iter().map(|p| below(face, p)).fold(0.0, f64::max);
    faces.iter().map(deepest).fold(f64::INFINITY, f64::min)
}

/// Largest distance from the first point [m].
fn reach(points: &[Vec3]) -> f64 {
    points.iter().map(|p| (p - points[0]).norm()).fold(0.0, f64::max)
}

impl Hull {
    /// The convex hull of points; none where they span no volume.
    pub(crate) fn new(points: &[Vec3]) -> Option<Self> {
        let points: Vec<Vector> = points.iter().map(|p| Vector::new(p.x, p.y, p.z)).collect();
        let polyhedron = ConvexPolyhedron::from_convex_hull(&points)?;
        let points: Vec<Vec3> =
            polyhedron.points().iter().map(|p| Vec3::new(p.x, p.y, p.z)).collect();
        let loops = polyhedron.vertices_adj_to_face();
        let faces: Vec<Face> = polyhedron
            .faces()
            .iter()
            .map(|face| {
                let first = face.first_vertex_or_edge as usize;
                let corners = loops[first..first + face.num_vertices_or_edges as usize].to_vec();
                let normal = Vec3::new(face.normal.x, face.normal.y, face.normal.z).normalize();
                // The farthest corner, so that no corner is above the plane by rounding.
                let along = corners.iter().map(|&c| points[c as usize].dot(&normal));
                Face { normal, offset: along.fold(f64::NEG_INFINITY, f64::max), corners }
            })
            .collect();
        if thickness(&points, &faces) <= FLAT * reach(&points) {
            return None;
        }
        let mut corner_faces = vec![vec![]; points.len()];
        let mut neighbours: Vec<Vec<u32>> = vec![vec![]; points.len()];
        for (i, face) in (0..).zip(&faces) {
            for (k, &corner) in face.corners.iter().enumerate() {
                corner_faces[corner as usize].push(i);
                let next = face.corners[(k + 1) % face.corners.len()];
                for (from, to) in [(corner, next), (next, corner)] {
                    if !neighbours[from as usize].contains(&to) {
                        neighbours[from as usize].push(to);
                    }
                }
            }
        }
        Some(Self { points, faces, corner_faces, neighbours })
    }

    /// Index of the corner that is farthest along a direction.
    pub(crate) fn support(&self, direction: &Vec3) -> usize {
        let mut best = (0, f64::NEG_INFINITY);
        for (i, point) in self.points.iter().enumerate() {
            let along = point.dot(direction);
            if along > best.1 {
                best = (i, along);
            }
        }
        best.0
    }

    /// Index of the face that looks along a direction the most, of those at the farthest corner.
    pub(crate) fn support_face(&self, direction: &Vec3) -> usize {
        let mut best = (0, f64::NEG_INFINITY);
        for &i in &self.corner_faces[self.support(direction)] {
            let along = self.faces[i as usize].normal.dot(direction);
            if along > best.1 {
                best = (i as usize, along);
            }
        }
        best.0
    }

    /// Corners of the edge at the farthest corner that is the most perpendicular to a direction.
    pub(crate) fn support_edge(&self, direction: &Vec3) -> Option<[u32; 2]> {
        let from = self.support(direction);
        let mut best = (None, f64::INFINITY);
        for &to in &self.neighbours[from] {
            let edge = self.points[to as usize] - self.points[from];
            let slope = edge.dot(direction).abs() / edge.norm();
            if slope < best.1 {
                best = (Some([from as u32, to]), slope);
            }
        }
        best.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faces_are_whole_and_look_outward() {
        let side = |bit: u32, i: u32| if i >> bit & 1 == 1 { 1.0 } else { -1.0 };
        let corners: Vec<Vec3> =
            (0..8).map(|i| Vec3::new(side(0, i), side(1, i), side(2, i))).collect();
        let hull = Hull::new(&corners).unwrap();
        assert_eq!(hull.faces.len(), 6, "triangles of one plane are one face");
        for face in &hull.faces {
            assert_eq!(face.corners.len(), 4);
            assert!((face.offset - 1.0).abs() < 1e-12);
            let [a, b, c] = [0, 1, 2].map(|k| hull.points[face.corners[k] as usize]);
            assert!((b - a).cross(&(c - b)).dot(&face.normal) > 0.0, "counterclockwise");
        }
        assert!(hull.neighbours.iter().all(|n| n.len() == 3));
    }

    #[test]
    fn flat_points_give_none() {
        let flat: Vec<Vec3> =
            (0..5).map(|i| Vec3::new(f64::from(i), f64::from(i * i), 0.0)).collect();
        assert!(Hull::new(&flat).is_none());
        assert!(Hull::new(&[]).is_none());
    }
}
