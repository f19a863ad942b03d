//! Whether surfaces intersect, exactly: at the start of a scene, and for those who do not take the search along lines at
//! its word.

use taut_collide::{AffineSweep, Candidates, FeaturePair, FeatureSearch, Surface};
use taut_core::Scene;
use taut_ipc::{
    ccd::Features,
    distance::{edge_edge, point_triangle},
    intersect::triangles_intersect,
};
use taut_math::V3;

use super::BarrierContact;

impl BarrierContact {
    /// Two bodies whose surfaces have a common point where they are, if any.
    pub(crate) fn intersecting(&self) -> Option<[u32; 2]> {
        let mut pairs = self.candidates.bodies.iter().copied();
        pairs.find(|&pair| intersect(&self.search, &self.sweeps, pair))
    }
}

/// Share of the barrier's reach below which surfaces touch at the start: no barrier begins there, and rounding does.
const TOUCHING: f64 = 1e-6;

/// Pairs of bodies whose surfaces touch or intersect when a scene begins.
pub(crate) fn touching_at_start(scene: &Scene, segments: u32) -> Vec<[u32; 2]> {
    let state = scene.initial_state();
    let still = state.bodies.iter().map(|body| AffineSweep::still(body.frame, body.position));
    let sweeps: Vec<AffineSweep> = still.collect();
    let mut search = FeatureSearch::new(scene, segments);
    let mut found = Candidates::default();
    let near = TOUCHING * scene.contacts.unwrap_or_default().margin;
    search.find(&sweeps, &state.broken, near, &mut found);
    let mut pairs: Vec<[u32; 2]> = found.bodies.clone();
    pairs.retain(|&pair| intersect(&search, &sweeps, pair));
    let close = |pair: &&FeaturePair| {
        let points = std::array::from_fn(|k| {
            let body = pair.bodies[usize::from(k >= pair.features.first_count())];
            let (first, v) = (search.vertices(body as usize).start, pair.vertices[k] as usize);
            let place =
                |surface: &Surface| sweeps[body as usize].place(&surface.vertices[v - first])[0];
            search.surface(body as usize).map_or(V3::ZERO, place)
        });
        let nearest = match pair.features {
            Features::PointTriangle => point_triangle(&points),
            Features::EdgeEdge => edge_edge(&points),
        };
        nearest.squared < near * near
    };
    let sorted = |[a, b]: [u32; 2]| [a.min(b), a.max(b)];
    pairs.extend(found.pairs.iter().filter(close).map(|pair| sorted(pair.bodies)));
    // Vertices that have come near a half-space are those that touch it.
    pairs.extend(found.planes.iter().map(|pair| sorted(pair.bodies)));
    pairs.sort_unstable();
    pairs.dedup();
    pairs
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
