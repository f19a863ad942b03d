//! Which bodies are under thin material.

use crate::{Scene, State, Vec3};

/// Cells along a side of the raster at most; the raster only finds candidates.
const CELLS_MAX: usize = 1024;

/// A raster of the plane across gravity with the bodies in its cells.
struct Raster {
    /// Unit vectors across gravity.
    across: [Vec3; 2],
    /// Least coordinates of the bodies [m].
    corner: [f64; 2],
    /// Side of a cell [m].
    cell: [f64; 2],
    /// Cells along both axes.
    counts: [usize; 2],
    /// First of each cell's bodies, and one past the last.
    first: Vec<usize>,
    /// Bodies, cell by cell.
    bodies: Vec<usize>,
}

impl Raster {
    fn new(centres: &[Vec3], across: [Vec3; 2]) -> Self {
        let flat = |x: &Vec3| across.map(|axis| axis.dot(x));
        let mut corner = [f64::INFINITY; 2];
        let mut far = [f64::NEG_INFINITY; 2];
        for place in centres.iter().map(flat) {
            for k in 0..2 {
                (corner[k], far[k]) = (corner[k].min(place[k]), far[k].max(place[k]));
            }
        }
        let side = (centres.len() as f64).sqrt().ceil() as usize;
        let counts = [side.clamp(1, CELLS_MAX); 2];
        let cell = [0, 1].map(|k| ((far[k] - corner[k]) / counts[k] as f64).max(f64::MIN_POSITIVE));
        let mut this = Self { across, corner, cell, counts, first: vec![], bodies: vec![] };
        let of = |x: &Vec3| {
            let [i, j] = [0, 1].map(|k| this.index(k, flat(x)[k]));
            i * counts[1] + j
        };
        let mut sorted: Vec<(usize, usize)> = centres.iter().map(of).zip(0..).collect();
        sorted.sort_unstable();
        let start = |cell: usize| sorted.partition_point(|&(own, _)| own < cell);
        this.first = (0..=counts[0] * counts[1]).map(start).collect();
        this.bodies = sorted.into_iter().map(|(_, body)| body).collect();
        this
    }

    /// The cell along an axis in which a coordinate is, or the one nearest to it.
    fn index(&self, axis: usize, coordinate: f64) -> usize {
        let index = (coordinate - self.corner[axis]) / self.cell[axis];
        (index.max(0.0) as usize).min(self.counts[axis] - 1)
    }

    /// The bodies in the cells that a box across gravity touches.
    fn near(&self, low: [f64; 2], high: [f64; 2]) -> impl Iterator<Item = usize> + '_ {
        let [rows, columns] = [0, 1].map(|k| self.index(k, low[k])..=self.index(k, high[k]));
        rows.flat_map(move |i| {
            let row = i * self.counts[1];
            let (first, last) = (row + columns.start(), row + columns.end());
            &self.bodies[self.first[first]..self.first[last + 1]]
        })
        .copied()
    }
}

/// How many dynamic bodies have a triangle of thin material straight above their centre of mass, against gravity: what
/// fell onto cloth and is under it has gone through. `None` without triangles, bodies or gravity.
pub fn bodies_under_cloth(scene: &Scene, state: &State) -> Option<usize> {
    let dynamic = scene.bodies.iter().zip(&state.bodies).filter(|(body, _)| body.is_dynamic());
    let centres: Vec<Vec3> = dynamic.map(|(_, state)| state.position).collect();
    let up = (-scene.gravity).try_normalize(0.0)?;
    if scene.triangles.is_empty() || centres.is_empty() {
        return None;
    }
    let least = up.iamin();
    let first = up.cross(&Vec3::ith_axis(least)).normalize();
    let raster = Raster::new(&centres, [first, up.cross(&first)]);
    let mut under = vec![false; centres.len()];
    for part in &scene.triangles {
        let corners = part.ends.map(|end| end.position(state));
        let flat = corners.map(|x| raster.across.map(|axis| axis.dot(&x)));
        let bound = |pick: fn(f64, f64) -> f64| {
            [0, 1].map(|k| pick(flat[0][k], pick(flat[1][k], flat[2][k])))
        };
        for body in raster.near(bound(f64::min), bound(f64::max)) {
            under[body] |= is_above(&corners, &flat, &up, &raster.across, &centres[body]);
        }
    }
    Some(under.into_iter().filter(|&under| under).count())
}

/// Whether a triangle is straight above a point.
fn is_above(
    corners: &[Vec3; 3],
    flat: &[[f64; 2]; 3],
    up: &Vec3,
    across: &[Vec3; 2],
    point: &Vec3,
) -> bool {
    let place = across.map(|axis| axis.dot(point));
    // Twice the areas of the triangles that the point makes with each edge.
    let areas = [1, 2, 0].map(|k| {
        let ([a, b], [c, d]) = (flat[k], flat[(k + 1) % 3]);
        (a - place[0]) * (d - place[1]) - (c - place[0]) * (b - place[1])
    });
    let whole: f64 = areas.iter().sum();
    let inside = areas.iter().all(|area| area * whole.signum() >= 0.0) && whole != 0.0;
    let height: f64 = corners.iter().zip(areas).map(|(x, area)| up.dot(x) * area / whole).sum();
    inside && height > up.dot(point)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::load_str;

    #[test]
    fn what_a_sheet_hangs_over_is_under_it() {
        let text = "(contacts: false, gravity: (3, 0, -4), bodies: [
            grid(name: \"b\", counts: (3, 3, 1), start: (-1, -1, 0.5), step: (1, 1, 0), body: (shape: sphere(radius: 0.1), mass: 1)),
            body(name: \"high\", shape: sphere(radius: 0.1), mass: 1, position: (0, 0, 3)),
            body(name: \"fixed\", shape: sphere(radius: 0.1), motion: static, position: (0, 0, 0.1))],
            particles: [cloth(name: \"s\", counts: (5, 5), start: (-1.2, -0.4, 1.5), along: (0.2, 0, 0), across: (0, 0.2, 0),
                density: 1, thickness: 1e-3, membrane: (young: 1, poisson: 0))])";
        let scene = load_str(text, "under", &[]).unwrap_or_else(|e| panic!("{e}")).scene;
        // Up is (-0.6, 0, 0.8): what is one metre lower is 0.75 m further along x.
        let state = scene.initial_state();
        assert_eq!(bodies_under_cloth(&scene, &state), Some(1));
        let still = Scene { gravity: Vec3::zeros(), ..scene.clone() };
        assert_eq!(bodies_under_cloth(&still, &state), None);
    }

    #[test]
    fn a_heap_on_a_sheet_is_counted_as_one_by_one() {
        let text = "(contacts: false, gravity: (0, 0, -10), bodies: [
            grid(name: \"b\", counts: (7, 7, 5), start: (0.03, 0.04, -0.5), step: (0.13, 0.12, 0.21),
                body: (shape: sphere(radius: 0.01), mass: 1))],
            particles: [cloth(name: \"s\", counts: (9, 9), start: (0, 0, 0), along: (0.1, 0, 0), across: (0, 0.1, 0),
                density: 1, thickness: 1e-3, membrane: (young: 1, poisson: 0))])";
        let scene = load_str(text, "under", &[]).unwrap_or_else(|e| panic!("{e}")).scene;
        let state = scene.initial_state();
        let inside = |x: f64| (0.0..=0.8).contains(&x);
        let below = scene.bodies.iter().map(|body| body.position);
        let below = below.filter(|p| p.z < 0.0 && inside(p.x) && inside(p.y)).count();
        assert_eq!(bodies_under_cloth(&scene, &state), Some(below));
        assert!(below > 100);
    }
}
