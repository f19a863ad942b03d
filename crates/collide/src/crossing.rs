//! Edges that go through triangles of particles. A sheet has no inside, so that no depth tells of cloth that went
//! through cloth; where it did, edges cross triangles.

use taut_core::{Scene, State, Vec3};

use crate::{
    broad::{Bounds, BroadPhase},
    soft::SoftSurface,
    traits::Traits,
};

/// Counts crossings in the states of one scene; keeps its buffers from state to state, and nothing else.
#[derive(Clone, Debug)]
pub(crate) struct Crossings {
    surface: SoftSurface,
    /// Of edges, then of triangles.
    traits: Vec<Traits>,
    /// Where particles are [m].
    places: Vec<Vec3>,
    broad: BroadPhase,
    bounds: Vec<Bounds>,
}

impl Crossings {
    /// Of states of a scene; `None` where no particle may touch a triangle of others.
    pub(crate) fn new(scene: &Scene) -> Option<Self> {
        let surface = SoftSurface::new(scene)?;
        let particles: Vec<Traits> = scene.particles.iter().map(Traits::of_particle).collect();
        let place = |node: u32| &particles[(node - surface.first) as usize];
        let edges = surface.edges.iter().map(|edge| Traits::of_corners(edge.ends.map(place)));
        let faces = surface.faces.iter().map(|face| Traits::of_corners(face.corners.map(place)));
        Some(Self {
            traits: edges.chain(faces).collect(),
            places: vec![],
            broad: BroadPhase::new(),
            bounds: vec![],
            surface,
        })
    }

    /// How many pairs there are of an edge and a triangle that it goes through and has no corner in common with.
    pub(crate) fn count(&mut self, state: &State) -> usize {
        let Self { surface, traits, places, broad, bounds } = self;
        places.clear();
        places.extend(state.particles.iter().map(|particle| particle.position));
        let at = |node: u32| places[(node - surface.first) as usize];
        bounds.clear();
        bounds.extend(surface.edges.iter().map(|edge| Bounds::around(edge.ends.map(at))));
        bounds.extend(surface.faces.iter().map(|face| Bounds::around(face.corners.map(at))));
        let edges = surface.edges.len();
        let apart = |edge: u32, face: u32| {
            let corners = &surface.faces[face as usize - edges].corners;
            !surface.edges[edge as usize].ends.iter().any(|end| corners.contains(end))
        };
        let allowed = |a: u32, b: u32| {
            (a as usize) < edges
                && b as usize >= edges
                && traits[a as usize].may_touch(&traits[b as usize])
                && apart(a, b)
        };
        let pairs = broad.update(bounds, &[], allowed);
        let through = |&&[a, b]: &&[u32; 2]| {
            let ends = surface.edges[a as usize].ends.map(at);
            crosses(&ends, &surface.faces[b as usize - edges].corners.map(at))
        };
        pairs.iter().filter(through).count()
    }
}

/// Whether a segment goes through a triangle; not where it only touches it.
fn crosses([p, q]: &[Vec3; 2], [a, b, c]: &[Vec3; 3]) -> bool {
    let volume = |u: &Vec3, v: &Vec3, w: &Vec3, x: &Vec3| (v - u).cross(&(w - u)).dot(&(x - u));
    if volume(a, b, c, p) * volume(a, b, c, q) >= 0.0 {
        return false;
    }
    let turns = [volume(p, q, a, b), volume(p, q, b, c), volume(p, q, c, a)];
    turns.iter().all(|turn| *turn > 0.0) || turns.iter().all(|turn| *turn < 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_crosses_a_triangle_inside_only() {
        let corner = |x: f64, y: f64| Vec3::new(x, y, 0.0);
        let triangle = [corner(0.0, 0.0), corner(1.0, 0.0), corner(0.0, 1.0)];
        let along = |x: f64, y: f64, from: f64, to: f64| {
            let ends = [Vec3::new(x, y, from), Vec3::new(x, y, to)];
            crosses(&ends, &triangle)
        };
        assert!(along(0.2, 0.3, -1.0, 0.5) && along(0.2, 0.3, 0.5, -1.0));
        assert!(!along(0.8, 0.3, -1.0, 0.5), "beside it");
        assert!(!along(0.2, 0.3, 0.1, 0.5), "over it");
        assert!(!along(0.2, 0.3, 0.0, 0.5), "on it");
    }
}
