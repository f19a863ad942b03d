//! Whether a mesh is the surface of a body: triangles that have an area, closed, and turned outward.

use super::error::{Result, SceneError};
use crate::{
    math::Vec3,
    scene::{Shape, mass},
};

/// The least volume over the cube of the longest edge at which four points still span space [1].
const FLATTEST: f64 = 1e-9;
/// A triangle whose area is a smaller share of the square of its side has no normal [1].
const SLIVER: f64 = 1e-12;

/// An edge as a triangle runs along it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct RunEdge {
    /// Lower vertex first.
    ends: [u32; 2],
    backward: bool,
    triangle: usize,
}

/// Whether corners span a triangle.
pub(super) fn has_area([a, b, c]: &[Vec3; 3]) -> bool {
    let (area, side) = ((b - a).cross(&(c - a)).norm(), (b - a).norm().max((c - a).norm()));
    // A sliver has no normal to push along; infinite ones come from corners too far apart.
    area > SLIVER * side.powi(2) && area.is_finite()
}

/// Refuses triangles that have no area.
pub(super) fn check_areas(vertices: &[Vec3], triangles: &[[u32; 3]]) -> Result<()> {
    let flat = |corners: &[u32; 3]| !has_area(&corners.map(|i| vertices[i as usize]));
    match triangles.iter().position(flat) {
        Some(i) => {
            let at = place(&vertices[triangles[i][0] as usize]);
            let message = format!("triangle {i}, with a corner at {at}, has no area; remove it");
            Err(SceneError::new(message))
        }
        None => Ok(()),
    }
}

/// Refuses a mesh that is not closed, or not turned outward everywhere.
pub(super) fn check_closed(vertices: &[Vec3], triangles: &[[u32; 3]]) -> Result<()> {
    check_used(vertices, triangles)?;
    let mut runs: Vec<RunEdge> = Vec::with_capacity(3 * triangles.len());
    for (triangle, corners) in triangles.iter().enumerate() {
        for k in 0..3 {
            let [from, to] = [corners[k], corners[(k + 1) % 3]];
            let ends = [from.min(to), from.max(to)];
            runs.push(RunEdge { ends, backward: from > to, triangle });
        }
    }
    runs.sort_unstable();
    for run in runs.chunk_by(|a, b| a.ends == b.ends) {
        let backward = run.iter().filter(|edge| edge.backward).count();
        if 2 * backward == run.len() {
            continue;
        }
        let [a, b] = run[0].ends.map(|v| place(&vertices[v as usize]));
        let mut whose: Vec<String> =
            run.iter().take(3).map(|edge| edge.triangle.to_string()).collect();
        whose.extend((run.len() > 3).then(|| "..".to_owned()));
        let whose = whose.join(", ");
        let message = if run.len() % 2 == 1 {
            format!(
                "the mesh is open at the edge from {a} to {b}, of triangle {whose}; a dynamic body needs a closed one: \
                 close the hole, or weld corners that should be one"
            )
        } else {
            format!(
                "triangles {whose} run the same way along the edge from {a} to {b}; exchange two corners of one of \
                 them: to flip all triangles would not help"
            )
        };
        return Err(SceneError::new(message));
    }
    let volume = mass::volume_inside(vertices, triangles);
    if volume < 0.0 {
        let message = format!(
            "the mesh is inside out, its volume is {volume:.3e} m^3; flip all triangles, by exchanging two corners of \
             each"
        );
        return Err(SceneError::new(message));
    }
    if volume == 0.0 {
        let message = "the mesh encloses no volume; a thin body needs a thickness";
        return Err(SceneError::new(message));
    }
    Ok(())
}

fn check_used(vertices: &[Vec3], triangles: &[[u32; 3]]) -> Result<()> {
    let mut used = vec![false; vertices.len()];
    triangles.iter().flatten().for_each(|&v| used[v as usize] = true);
    match used.iter().position(|used| !used) {
        Some(v) => {
            let message =
                format!("no triangle has vertex {v} at {}; remove it", place(&vertices[v]));
            Err(SceneError::new(message))
        }
        None => Ok(()),
    }
}

/// Refuses control points that span no volume.
pub(super) fn check_control(points: &[Vec3; 4]) -> Result<()> {
    let edges = [0, 1, 2].map(|k| points[k] - points[3]);
    let longest = edges.iter().map(|edge| edge.norm()).fold(0.0, f64::max);
    let volume = edges[0].cross(&edges[1]).dot(&edges[2]).abs();
    if volume > FLATTEST * longest.powi(3) && volume.is_finite() {
        return Ok(());
    }
    let message = "the four points lie in one plane, or nearly; move one out of it";
    Err(SceneError::new(message))
}

/// Turns a closed surface outward.
pub(super) fn turn_outward(vertices: &[Vec3], triangles: &mut [[u32; 3]]) {
    if mass::volume_inside(vertices, triangles) < 0.0 {
        triangles.iter_mut().for_each(|corners| corners.swap(1, 2));
    }
}

/// Refuses a shape that cannot be a dynamic body.
pub(super) fn check_solid(shape: &Shape) -> Result<()> {
    match shape {
        Shape::Mesh { vertices, triangles, .. } => check_closed(vertices, triangles),
        _ => Ok(()),
    }
}

fn place(v: &Vec3) -> String {
    // Minus zero is zero.
    let [x, y, z] = [v.x + 0.0, v.y + 0.0, v.z + 0.0];
    format!("({x}, {y}, {z})")
}
