//! Convex polyhedra: corners, faces as loops, and which of them meet.

use parry3d_f64::{math::Vector, shape::ConvexPolyhedron};
use taut_core::Vec3;

use super::{LEVEL, Solid};
use crate::{
    feature::{Feature, Outline},
    nearest::{Nearest, on_polygon},
    transform::Transform,
};

/// A face of a convex polyhedron.
#[derive(Clone, Debug)]
struct Face {
    /// Outward unit normal.
    normal: Vec3,
    /// Distance of its plane from the origin along the normal [m].
    offset: f64,
    /// Its corners, counterclockwise seen from outside.
    corners: Vec<u32>,
}

/// A convex polyhedron in local coordinates.
#[derive(Clone, Debug)]
pub(crate) struct Hull {
    /// Its corners [m].
    points: Vec<Vec3>,
    /// Its faces.
    faces: Vec<Face>,
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

    /// Its corners [m], and its faces cut into triangles that turn counterclockwise seen from outside.
    pub(crate) fn triangles(&self) -> (Vec<Vec3>, Vec<[u32; 3]>) {
        let fan = |face: &Face| {
            let [first, rest @ ..] = &face.corners[..] else { return vec![] };
            rest.windows(2).map(|pair| [*first, pair[0], pair[1]]).collect()
        };
        (self.points.clone(), self.faces.iter().flat_map(fan).collect())
    }

    /// Index of the corner that is farthest along a direction.
    fn farthest(&self, direction: &Vec3) -> usize {
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
    fn support_face(&self, direction: &Vec3) -> usize {
        let mut best = (0, f64::NEG_INFINITY);
        for &i in &self.corner_faces[self.farthest(direction)] {
            let along = self.faces[i as usize].normal.dot(direction);
            if along > best.1 {
                best = (i as usize, along);
            }
        }
        best.0
    }

    /// Corners of the edge at the farthest corner that is the most perpendicular to a direction.
    fn support_edge(&self, direction: &Vec3) -> Option<[u32; 2]> {
        let from = self.farthest(direction);
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

impl Solid for Hull {
    fn support(&self, direction: &Vec3) -> Vec3 {
        self.points[self.farthest(direction)]
    }

    fn meet(&self, place: &Transform, direction: &Vec3, feature: &mut Feature) {
        let index = self.support_face(&place.unturn(direction));
        self.face(place, index, direction, feature);
    }

    fn face(&self, place: &Transform, index: usize, _direction: &Vec3, feature: &mut Feature) {
        feature.clear(Outline::Polygon);
        let face = &self.faces[index];
        feature.normal = place.turn(&face.normal);
        for &corner in &face.corners {
            feature.push(place.point(&self.points[corner as usize]), corner);
        }
    }

    fn faces(&self, mut visit: impl FnMut(usize, Vec3, f64)) {
        for (i, face) in self.faces.iter().enumerate() {
            visit(i, face.normal, face.offset);
        }
    }

    fn edge(&self, place: &Transform, direction: &Vec3) -> Option<([Vec3; 2], u32)> {
        let local = place.unturn(direction);
        let corners = self.support_edge(&local)?;
        let [p, q] = corners.map(|c| self.points[c as usize]);
        let level = (q - p).dot(&local).abs() <= LEVEL * (q - p).norm();
        let [low, high] = [corners[0].min(corners[1]), corners[0].max(corners[1])];
        level.then(|| ([place.point(&p), place.point(&q)], low << 16 | high))
    }

    fn edges(&self, mut visit: impl FnMut([Vec3; 2], u32)) {
        for (from, others) in (0..).zip(&self.neighbours) {
            for &to in others.iter().filter(|&&to| to > from) {
                let ends = [from, to].map(|c: u32| self.points[c as usize]);
                visit(ends, from << 16 | to);
            }
        }
    }

    fn nearest(&self, point: &Vec3) -> Nearest {
        let mut highest = (0, f64::NEG_INFINITY);
        for (i, face) in self.faces.iter().enumerate() {
            let height = face.normal.dot(point) - face.offset;
            if height > highest.1 {
                highest = (i, height);
            }
        }
        let top = &self.faces[highest.0];
        if highest.1 <= 0.0 {
            let surface = point - top.normal * highest.1;
            return Nearest { surface, normal: top.normal, distance: highest.1 };
        }
        // Outside, the nearest point is on a face that the point is above of.
        let mut best = Nearest { surface: *point, normal: top.normal, distance: f64::INFINITY };
        for face in self.faces.iter().filter(|f| f.normal.dot(point) > f.offset) {
            let corner = |k: usize| self.points[face.corners[k] as usize];
            for k in 1..face.corners.len() - 1 {
                let (on, _) =
                    on_polygon(&[corner(0), corner(k), corner(k + 1)], &face.normal, point);
                let found = Nearest::outside(point, on, face.normal);
                if found.distance < best.distance {
                    best = found;
                }
            }
        }
        best
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
