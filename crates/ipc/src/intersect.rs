//! Whether two triangles have a common point, decided exactly on the numbers as they stand; touching counts.
//!
//! All signs are those of `robust::orient3d` and `robust::orient2d`, which are exact unless a product overflows or
//! underflows. Triangles may be degenerate to a segment or a point.

use std::cmp::Ordering;

use robust::{Coord, Coord3D, orient2d, orient3d};

/// Whether the closed triangles `a` and `b` [m] have a common point.
///
/// They have one exactly if an edge of one meets the other.
pub fn triangles_intersect(a: &[[f64; 3]; 3], b: &[[f64; 3]; 3]) -> bool {
    if boxes_part(a, b) {
        return false;
    }
    // Signs of the corners of either over the plane of the other; all zero for a plane that is none.
    let over = a.map(|corner| side(b, corner));
    if one_sided(over) {
        return false;
    }
    let under = b.map(|corner| side(a, corner));
    if one_sided(under) {
        return false;
    }
    edges_meet(a, over, b) || edges_meet(b, under, a)
}

/// Whether the closed segment from `a` to `b` and the closed triangle have a common point.
pub fn segment_meets_triangle(a: [f64; 3], b: [f64; 3], triangle: &[[f64; 3]; 3]) -> bool {
    meets([a, b], [side(triangle, a), side(triangle, b)], triangle)
}

fn edges_meet(from: &[[f64; 3]; 3], over: [Ordering; 3], triangle: &[[f64; 3]; 3]) -> bool {
    [(0, 1), (1, 2), (2, 0)]
        .into_iter()
        .any(|(i, j)| meets([from[i], from[j]], [over[i], over[j]], triangle))
}

fn meets(segment: [[f64; 3]; 2], over: [Ordering; 2], triangle: &[[f64; 3]; 3]) -> bool {
    let [p, q] = segment;
    match over {
        [Ordering::Equal, Ordering::Equal] => lying_meets(segment, triangle),
        [first, second] if first == second => false,
        _ => {
            // The line of the segment crosses the plane at one point, which is inside if it turns the same way
            // around all three edges.
            let [a, b, c] = *triangle;
            let turns = [(a, b), (b, c), (c, a)].map(|(a, b)| turn(p, q, a, b));
            !(turns.contains(&Ordering::Less) && turns.contains(&Ordering::Greater))
        }
    }
}

/// A segment in the plane of a triangle, or any segment where the triangle has no area.
fn lying_meets(segment: [[f64; 3]; 2], triangle: &[[f64; 3]; 3]) -> bool {
    let [a, b, c] = *triangle;
    let flat = (0..3).all(|axis| turn_flat(axis, a, b, c) == Ordering::Equal);
    if flat {
        return [(a, b), (b, c), (c, a)].into_iter().any(|(a, b)| segments_meet(segment, [a, b]));
    }
    // Along an axis that is not in the plane, a common point in projection is a common point in space; along the
    // others there is one too if there is one at all. Hence there is no axis to choose, and no rounding in the choice.
    (0..3).all(|axis| flat_meets(axis, segment, triangle))
}

/// Two closed segments in space.
fn segments_meet([p, q]: [[f64; 3]; 2], [a, b]: [[f64; 3]; 2]) -> bool {
    turn(p, q, a, b) == Ordering::Equal
        && (0..3).all(|axis| flat_segments_meet(axis, [p, q], [a, b]))
}

/// A segment and a triangle, both projected along an axis.
fn flat_meets(axis: usize, segment: [[f64; 3]; 2], triangle: &[[f64; 3]; 3]) -> bool {
    let [a, b, c] = *triangle;
    let edges = [(a, b), (b, c), (c, a)];
    let turns = edges.map(|(a, b)| turn_flat(axis, a, b, segment[0]));
    let inside = !(turns.contains(&Ordering::Less) && turns.contains(&Ordering::Greater));
    inside || edges.into_iter().any(|(a, b)| flat_segments_meet(axis, segment, [a, b]))
}

/// Two closed segments projected along an axis: their boxes overlap, and neither has the other on one side.
fn flat_segments_meet(axis: usize, [p, q]: [[f64; 3]; 2], [a, b]: [[f64; 3]; 2]) -> bool {
    let [i, j] = across(axis);
    let apart = |k: usize| p[k].max(q[k]) < a[k].min(b[k]) || a[k].max(b[k]) < p[k].min(q[k]);
    if apart(i) || apart(j) {
        return false;
    }
    let split = |from, to, first, second| {
        let (x, y) = (turn_flat(axis, from, to, first), turn_flat(axis, from, to, second));
        x != y || x == Ordering::Equal
    };
    split(p, q, a, b) && split(a, b, p, q)
}

fn across(axis: usize) -> [usize; 2] {
    [(axis + 1) % 3, (axis + 2) % 3]
}

fn turn_flat(axis: usize, a: [f64; 3], b: [f64; 3], c: [f64; 3]) -> Ordering {
    let [i, j] = across(axis);
    let [a, b, c] = [a, b, c].map(|p| Coord { x: p[i], y: p[j] });
    sign(orient2d(a, b, c))
}

fn turn(a: [f64; 3], b: [f64; 3], c: [f64; 3], d: [f64; 3]) -> Ordering {
    let [a, b, c, d] = [a, b, c, d].map(|p| Coord3D { x: p[0], y: p[1], z: p[2] });
    sign(orient3d(a, b, c, d))
}

fn side(triangle: &[[f64; 3]; 3], p: [f64; 3]) -> Ordering {
    turn(triangle[0], triangle[1], triangle[2], p)
}

/// Of what is not a number: none, as if it were zero.
fn sign(x: f64) -> Ordering {
    x.partial_cmp(&0.0).unwrap_or(Ordering::Equal)
}

fn one_sided(signs: [Ordering; 3]) -> bool {
    signs[0] != Ordering::Equal && signs[0] == signs[1] && signs[0] == signs[2]
}

fn boxes_part(a: &[[f64; 3]; 3], b: &[[f64; 3]; 3]) -> bool {
    (0..3).any(|k| {
        let least = |t: &[[f64; 3]; 3]| t[0][k].min(t[1][k]).min(t[2][k]);
        let most = |t: &[[f64; 3]; 3]| t[0][k].max(t[1][k]).max(t[2][k]);
        most(a) < least(b) || most(b) < least(a)
    })
}
