//! Whether surfaces intersect, exactly: at the start of a scene, and for those who do not take the search along lines at
//! its word.

use taut_collide::{AffineSweep, Candidates, FeatureSearch};
use taut_core::Scene;
use taut_ipc::intersect::triangles_intersect;

use super::Contact;

impl Contact {
    /// Two bodies whose surfaces have a common point where they are, if any.
    pub(crate) fn intersecting(&self) -> Option<[u32; 2]> {
        let mut pairs = self.candidates.bodies.iter().copied();
        pairs.find(|&pair| intersect(&self.search, &self.sweeps, pair))
    }
}

/// Pairs of bodies whose surfaces have a common point when a scene begins.
pub(crate) fn touching_at_start(scene: &Scene, segments: u32) -> Vec<[u32; 2]> {
    let state = scene.initial_state();
    let still = state.bodies.iter().map(|body| AffineSweep::still(body.frame, body.position));
    let sweeps: Vec<AffineSweep> = still.collect();
    let mut search = FeatureSearch::new(scene, segments);
    let mut found = Candidates::default();
    search.find(&sweeps, &state.broken, 0.0, &mut found);
    let pairs = found.bodies.iter().copied();
    pairs.filter(|&pair| intersect(&search, &sweeps, pair)).collect()
}

fn intersect(search: &FeatureSearch, sweeps: &[AffineSweep], pair: [u32; 2]) -> bool {
    let [a, b] = pair.map(|i| i as usize);
    let placed = |i: usize| {
        let surface = search.surface(i)?;
        let place = |x| sweeps[i].point(0.0, x).into();
        let points: Vec<[f64; 3]> = surface.vertices.iter().map(place).collect();
        let corners = |triangle: &[u32; 3]| triangle.map(|v| points[v as usize]);
        Some(surface.triangles.iter().map(corners).collect::<Vec<_>>())
    };
    match (placed(a), placed(b)) {
        (Some(first), Some(second)) => {
            first.iter().any(|one| second.iter().any(|other| triangles_intersect(one, other)))
        }
        (Some(body), None) => is_under(&body, &sweeps[b]),
        (None, Some(body)) => is_under(&body, &sweeps[a]),
        (None, None) => false,
    }
}

fn is_under(triangles: &[[[f64; 3]; 3]], plane: &AffineSweep) -> bool {
    let normal = plane.frame.column(2);
    let height = |x: &[f64; 3]| {
        (0..3).map(|axis| normal[axis] * (x[axis] - plane.position[axis])).sum::<f64>()
    };
    triangles.iter().flatten().any(|corner| height(corner) <= 0.0)
}
