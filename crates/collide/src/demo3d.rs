//! Boxes as the official 3D demo of AVBD treats them, for comparison with that program only.
//!
//! Unlike the common way: nothing touches before it overlaps; an edge is taken if `0.95` of its
//! separation exceeds that of the best face by a centimetre, which where boxes overlap deeply prefers
//! edges; up to eight points stay; features are numbered by their place in the clipped polygon. All
//! lengths are those of the demo and do not scale with the boxes.

use taut_core::Vec3;

use crate::{
    boxes::{BoxAxis, BoxPair},
    nearest::segments,
    region::Point,
    transform::Transform,
};

const POINTS_MAX: usize = 8;
/// Points this far above a plane are on it [m].
const PLANE: f64 = 1e-5;
/// Points closer than this are one [m].
const MERGE: f64 = 1e-3;
/// Squares of axes shorter than this have no direction.
const AXIS: f64 = 1e-6;
/// Share of an edge's separation that must beat a face, and by how much [m].
const EDGE: (f64, f64) = (0.95, 0.01);

/// The best axis so far, with its unit normal from A to B.
#[derive(Clone, Copy, Debug)]
struct Best {
    axis: BoxAxis,
    separation: f64,
    normal: Vec3,
}

/// Appends the points of contact of two boxes that overlap; the normal, from B to A.
pub(crate) fn touch(pair: &BoxPair<'_>, points: &mut Vec<Point>) -> Option<Vec3> {
    let [a, b] = pair.place;
    let (mut face, mut edge) = (None, None);
    for i in 0..3 {
        test(pair, &a.axis(i), BoxAxis::FaceA(i), &mut face)?;
    }
    for j in 0..3 {
        test(pair, &b.axis(j), BoxAxis::FaceB(j), &mut face)?;
    }
    for i in 0..3 {
        for j in 0..3 {
            test(pair, &a.axis(i).cross(&b.axis(j)), BoxAxis::Edges(i, j), &mut edge)?;
        }
    }
    let face = face?;
    let better = |edge: &Best| EDGE.0 * edge.separation > face.separation + EDGE.1;
    let best = edge.filter(better).unwrap_or(face);
    let first = points.len();
    match best.axis {
        BoxAxis::FaceA(i) => clip(pair, 0, i, &best.normal, points),
        BoxAxis::FaceB(j) => clip(pair, 1, j, &best.normal, points),
        BoxAxis::Edges(i, j) => {
            let ends_a = support_edge(pair, 0, i, &best.normal);
            let ends_b = support_edge(pair, 1, j, &-best.normal);
            let [x_a, x_b] = segments(&ends_a, &ends_b);
            push(points, first, &best.normal, x_a, x_b, 2 << 24 | (i as u64) << 8 | j as u64);
        }
    }
    if points.len() == first {
        let (x_a, x_b) = (corner(pair, 0, &best.normal), corner(pair, 1, &-best.normal));
        push(points, first, &best.normal, x_a, x_b, prefix(best.axis, 0));
    }
    Some(-best.normal)
}

/// Compares an axis with the best so far; none if it separates the boxes.
fn test(pair: &BoxPair<'_>, line: &Vec3, axis: BoxAxis, best: &mut Option<Best>) -> Option<()> {
    let square = line.norm_squared();
    if square < AXIS {
        return Some(());
    }
    let [a, b] = pair.place;
    let between = b.position - a.position;
    let line = line / square.sqrt();
    let normal = if line.dot(&between) < 0.0 { -line } else { line };
    let extent = |side: usize| pair.half[side].dot(&pair.place[side].unturn(&normal).abs());
    let separation = normal.dot(&between).abs() - (extent(0) + extent(1));
    if separation > 0.0 {
        return None;
    }
    if best.is_none_or(|best| separation > best.separation) {
        *best = Some(Best { axis, separation, normal });
    }
    Some(())
}

/// Appends a point unless it is close to one of this pair, or there are enough.
fn push(points: &mut Vec<Point>, first: usize, normal: &Vec3, a: Vec3, b: Vec3, id: u64) {
    let own = &points[first..];
    let middle = |a: &Vec3, b: &Vec3| (a + b) * 0.5;
    let near = |p: &Point| (middle(&p.a, &p.b) - middle(&a, &b)).norm_squared() < MERGE * MERGE;
    if own.len() < POINTS_MAX && !own.iter().any(near) {
        points.push(Point { a, b, gap: normal.dot(&(b - a)), id });
    }
}

/// Name of a feature of a face without its place in the polygon.
fn prefix(axis: BoxAxis, incident: usize) -> u64 {
    let (sort, reference) = match axis {
        BoxAxis::FaceA(i) => (0, i),
        BoxAxis::FaceB(j) => (1, j),
        BoxAxis::Edges(..) => (2, 0),
    };
    sort << 24 | (reference as u64) << 16 | (incident as u64) << 8
}

/// The two other axes in rising order.
fn others(axis: usize) -> [usize; 2] {
    [[1, 2], [0, 2], [0, 1]][axis]
}

/// Clips the incident face against the sides of face `i` of box `side`.
fn clip(pair: &BoxPair<'_>, side: usize, i: usize, normal: &Vec3, points: &mut Vec<Point>) {
    let (place, half) = (pair.place[side], pair.half[side]);
    let (other, other_half) = (pair.place[1 - side], pair.half[1 - side]);
    let towards = if side == 0 { *normal } else { -normal };
    let sign = if towards.dot(&place.axis(i)) >= 0.0 { 1.0 } else { -1.0 };
    let outward = place.axis(i) * sign;
    let centre = place.position + outward * half[i];
    let incident = most_parallel(other, &outward);
    let (mut polygon, mut count) = incident_face(other, other_half, incident, &outward);
    for k in others(i) {
        for sign in [1.0, -1.0] {
            let across = place.axis(k) * sign;
            let offset = across.dot(&centre) + half[k];
            (polygon, count) = cut(&polygon[..count], &across, offset);
        }
    }
    let first = points.len();
    let axis = if side == 0 { BoxAxis::FaceA(i) } else { BoxAxis::FaceB(i) };
    for (k, met) in polygon[..count].iter().enumerate() {
        let height = outward.dot(&(met - centre));
        if height > PLANE {
            continue;
        }
        let reference = met - outward * height;
        let (a, b) = if side == 0 { (reference, *met) } else { (*met, reference) };
        push(points, first, normal, a, b, prefix(axis, incident) | k as u64);
    }
}

fn most_parallel(place: &Transform, direction: &Vec3) -> usize {
    let along = [0, 1, 2].map(|k| place.axis(k).dot(direction).abs());
    (1..3).fold(0, |best, k| if along[k] > along[best] { k } else { best })
}

/// Corners of the face of a box across `axis` that looks against a direction.
fn incident_face(
    place: &Transform,
    half: &Vec3,
    axis: usize,
    direction: &Vec3,
) -> ([Vec3; 16], usize) {
    let sign = if place.axis(axis).dot(direction) > 0.0 { -1.0 } else { 1.0 };
    let centre = place.position + place.axis(axis) * (sign * half[axis]);
    let [u, v] = others(axis).map(|k| place.axis(k) * half[k]);
    let mut corners = [Vec3::zeros(); 16];
    corners[..4].copy_from_slice(&[centre + u + v, centre - u + v, centre - u - v, centre + u - v]);
    (corners, 4)
}

/// What of a polygon is below a plane.
fn cut(polygon: &[Vec3], normal: &Vec3, offset: f64) -> ([Vec3; 16], usize) {
    let (mut kept, mut count) = ([Vec3::zeros(); 16], 0);
    let mut push = |corner: Vec3| {
        if count < kept.len() {
            kept[count] = corner;
            count += 1;
        }
    };
    let Some(mut from) = polygon.last() else { return (kept, 0) };
    let mut from_height = normal.dot(from) - offset;
    for to in polygon {
        let height = normal.dot(to) - offset;
        if (from_height <= PLANE) != (height <= PLANE) {
            let change = from_height - height;
            let t = if change.abs() > AXIS { (from_height / change).clamp(0.0, 1.0) } else { 0.0 };
            push(from + (to - from) * t);
        }
        if height <= PLANE {
            push(*to);
        }
        (from, from_height) = (to, height);
    }
    (kept, count)
}

/// The corner of a box that is farthest along a direction.
fn corner(pair: &BoxPair<'_>, side: usize, direction: &Vec3) -> Vec3 {
    let (place, half) = (pair.place[side], pair.half[side]);
    let along = place.unturn(direction);
    place.point(&half.zip_map(&along, |h, d| if d >= 0.0 { h } else { -h }))
}

/// The edge of a box along `axis` that is farthest along a direction.
fn support_edge(pair: &BoxPair<'_>, side: usize, axis: usize, direction: &Vec3) -> [Vec3; 2] {
    let (place, half) = (pair.place[side], pair.half[side]);
    let along = place.unturn(direction);
    let mut middle = half.zip_map(&along, |h, d| if d >= 0.0 { h } else { -h });
    middle[axis] = 0.0;
    let middle = place.point(&middle);
    let reach = place.axis(axis) * half[axis];
    [middle - reach, middle + reach]
}
