//! Contacts of two boxes: separating axes, then the incident face clipped to the reference face.

use taut_core::{Mat3, Vec3};

use crate::{
    clip::Polygon,
    name::{name, sort},
    nearest::segments,
    region::Point,
    transform::Transform,
};

/// Faces of A are taken unless one of B is better by this share of the smallest extent, so that
/// parallel faces do not change roles with the rounding.
const FACE_BIAS: f64 = 1e-3;
/// Edges are taken only where they are better than every face by this share of the smallest extent
/// and of the depth: a face gives up to four points that hold a box still, edges one. Where boxes
/// overlap deeply, edges are rarely what is wanted.
const EDGE_BIAS: [f64; 2] = [5e-3, 0.1];
/// Corners this far outside, as a share of the smallest extent, still count as inside.
const SLACK: f64 = 1e-6;

/// An axis that separates two boxes, or along which they overlap.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum BoxAxis {
    /// A face normal of A.
    FaceA(usize),
    /// A face normal of B.
    FaceB(usize),
    /// Across an edge of each.
    Edges(usize, usize),
}

/// Two boxes: half extents and places.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BoxPair<'a> {
    /// Half extents of either [m].
    pub(crate) half: [&'a Vec3; 2],
    /// Transform of either.
    pub(crate) place: [&'a Transform; 2],
}

/// B as seen from A.
#[derive(Clone, Copy, Debug)]
struct Relative {
    /// Centre of B in A's coordinates [m].
    centre: Vec3,
    /// B's axes in A's coordinates, as columns.
    turn: Mat3,
    /// Their absolute values.
    size: Mat3,
}

/// The axis to use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BoxSeparation {
    /// The axis.
    pub(crate) axis: BoxAxis,
    /// Unit vector along it from B to A.
    pub(crate) normal: Vec3,
}

/// Row `i` of a matrix times a vector.
#[inline]
fn dot(m: &Mat3, i: usize, v: &Vec3) -> f64 {
    m[(i, 0)] * v.x + m[(i, 1)] * v.y + m[(i, 2)] * v.z
}

/// A vector by its components along axis `i` and along the two axes that follow it in turn. Put there by their numbers
/// they would stand in memory, and be read before they are all written.
#[inline]
fn turned_to(i: usize, [along, u, v]: [f64; 3]) -> Vec3 {
    match i {
        0 => Vec3::new(along, u, v),
        1 => Vec3::new(v, along, u),
        _ => Vec3::new(u, v, along),
    }
}

impl BoxPair<'_> {
    fn relative(&self) -> Relative {
        let Transform { position: centre, rotation: turn } = self.place[0].relative(self.place[1]);
        Relative { centre, turn, size: turn.abs() }
    }

    fn smallest(&self) -> f64 {
        2.0 * self.half[0].min().min(self.half[1].min())
    }

    /// The best axis, or none if the boxes are farther apart than `reach` [m] along any.
    pub(crate) fn separate(&self, reach: f64) -> Option<BoxSeparation> {
        let relative = self.relative();
        let (axis, separation) = self.best_face(&relative, reach)?;
        let smallest = self.smallest();
        let bar = separation + (EDGE_BIAS[0] * smallest).max(EDGE_BIAS[1] * separation.abs());
        let edges = self.best_edges(&relative, reach)?;
        let axis = match edges {
            Some((edges, separation)) if separation > bar => edges,
            _ => axis,
        };
        let [a, b] = self.place;
        let line = match axis {
            BoxAxis::FaceA(i) => a.axis(i),
            BoxAxis::FaceB(j) => b.axis(j),
            BoxAxis::Edges(i, j) => a.axis(i).cross(&b.axis(j)).normalize(),
        };
        let normal = if line.dot(&(a.position - b.position)) < 0.0 { -line } else { line };
        Some(BoxSeparation { axis, normal })
    }

    fn best_face(&self, relative: &Relative, reach: f64) -> Option<(BoxAxis, f64)> {
        let [half_a, half_b] = self.half;
        let (centre, size) = (&relative.centre, &relative.size);
        let along_a = |i: usize| centre[i].abs() - half_a[i] - dot(size, i, half_b);
        let apart_a = Vec3::new(along_a(0), along_a(1), along_a(2));
        let along_b = |j: usize| {
            let column = |m: &Mat3, v: &Vec3| m[(0, j)] * v.x + m[(1, j)] * v.y + m[(2, j)] * v.z;
            column(&relative.turn, centre).abs() - half_b[j] - column(size, half_a)
        };
        let apart_b = Vec3::new(along_b(0), along_b(1), along_b(2));
        let (i, j) = (apart_a.imax(), apart_b.imax());
        if apart_a[i].max(apart_b[j]) > reach {
            return None;
        }
        if apart_b[j] > apart_a[i] + FACE_BIAS * self.smallest() {
            Some((BoxAxis::FaceB(j), apart_b[j]))
        } else {
            Some((BoxAxis::FaceA(i), apart_a[i]))
        }
    }

    /// The best axis across edges, if there is any; none at all if one separates by more than `reach`.
    fn best_edges(&self, relative: &Relative, reach: f64) -> Option<Option<(BoxAxis, f64)>> {
        let [half_a, half_b] = self.half;
        let Relative { centre, turn, size } = relative;
        let mut best = None;
        let mut highest = f64::NEG_INFINITY;
        for i in 0..3 {
            let (i1, i2) = ((i + 1) % 3, (i + 2) % 3);
            for j in 0..3 {
                let square = 1.0 - turn[(i, j)] * turn[(i, j)];
                // Parallel edges: their faces say the same.
                if square < 1e-6 {
                    continue;
                }
                let (j1, j2) = ((j + 1) % 3, (j + 2) % 3);
                // Components of the axis a_i x b_j along A's axes are (0, -turn[i2], turn[i1]), and
                // along B's the same with rows for columns.
                let between = centre[i2] * turn[(i1, j)] - centre[i1] * turn[(i2, j)];
                let extent = half_a[i1] * size[(i2, j)]
                    + half_a[i2] * size[(i1, j)]
                    + half_b[j1] * size[(i, j2)]
                    + half_b[j2] * size[(i, j1)];
                let apart = (between.abs() - extent) / square.sqrt();
                if apart > reach {
                    return None;
                }
                if apart > highest {
                    highest = apart;
                    best = Some((BoxAxis::Edges(i, j), apart));
                }
            }
        }
        Some(best)
    }

    /// Appends the points of contact closer than `reach` [m] along the best axis. There may be none
    /// where the boxes pass each other.
    pub(crate) fn touch(&self, best: &BoxSeparation, reach: f64, points: &mut Vec<Point>) {
        let BoxSeparation { axis, normal, .. } = best;
        match *axis {
            BoxAxis::FaceA(i) => self.clip(0, i, normal, reach, points),
            BoxAxis::FaceB(j) => self.clip(1, j, &-normal, reach, points),
            BoxAxis::Edges(i, j) => points.push(self.cross(i, j, normal)),
        }
    }

    /// Closest points of the two edges that meet along the normal.
    fn cross(&self, i: usize, j: usize, normal: &Vec3) -> Point {
        let edge = |side: usize, along: usize, towards: Vec3| {
            let (half, place) = (self.half[side], self.place[side]);
            let mut middle = half.zip_map(&place.unturn(&towards), |h, d| h.copysign(d));
            middle[along] = 0.0;
            let reach = Vec3::ith(along, half[along]);
            let corners = (0..3).map(|k| u32::from(middle[k] > 0.0) << k).sum::<u32>();
            let ends = [place.point(&(middle - reach)), place.point(&(middle + reach))];
            (ends, corners << 2 | along as u32)
        };
        let ((ends_a, id_a), (ends_b, id_b)) = (edge(0, i, -normal), edge(1, j, *normal));
        let [a, b] = segments(&ends_a, &ends_b);
        let id = name(sort::CROSSING, id_a | 1 << 8, id_b);
        Point { a, b, gap: normal.dot(&(a - b)), id }
    }

    /// Clips the incident face to the face of box `side` across its axis `i`; `inward` is that face's
    /// normal turned into the box.
    fn clip(&self, side: usize, i: usize, inward: &Vec3, reach: f64, points: &mut Vec<Point>) {
        let (place, half) = (self.place[side], self.half[side]);
        let sign = if place.axis(i).dot(inward) > 0.0 { -1.0 } else { 1.0 };
        let (u, v) = ((i + 1) % 3, (i + 2) % 3);
        let on_face = |local: Vec3| Vec3::new(local[u], local[v], local[i] * sign - half[i]);
        let mut polygon = Polygon::new(
            self.incident(1 - side, inward).map(|(corner, id)| (on_face(place.local(&corner)), id)),
        );
        let slack = SLACK * self.smallest();
        polygon.clip(0, half[u], slack);
        polygon.clip(1, half[v], slack);
        let face = (side * 6 + i * 2) as u32 + u32::from(sign > 0.0);
        for corner in polygon.corners() {
            let height = corner.at.z;
            if height > reach {
                continue;
            }
            let reference = place.point(&turned_to(i, [sign * half[i], corner.at.x, corner.at.y]));
            let met = reference - inward * height;
            let (a, b) = if side == 0 { (reference, met) } else { (met, reference) };
            let id = name(sort::CORNER_A, face, corner.id);
            points.push(Point { a, b, gap: height, id });
        }
    }

    /// The corners of the face of box `side` that looks along a direction the most, with their numbers.
    fn incident(&self, side: usize, direction: &Vec3) -> [(Vec3, u32); 4] {
        let (place, half) = (self.place[side], self.half[side]);
        let towards = place.unturn(direction);
        let k = towards.iamax();
        let along = half[k].copysign(towards[k]);
        let [u, v] = [half[(k + 1) % 3], half[(k + 2) % 3]];
        [[along, u, v], [along, -u, v], [along, -u, -v], [along, u, -v]].map(|corner| {
            let corner = turned_to(k, corner);
            let side = |c: usize| u32::from(corner[c] > 0.0) << c;
            (place.point(&corner), side(0) | side(1) | side(2))
        })
    }
}
