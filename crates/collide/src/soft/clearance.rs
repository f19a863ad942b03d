//! How far particles are from triangles of others, and edges from edges: what bounds how far they may move before
//! anything can have passed through anything (Chen et al., Offset Geometric Contact, ACM TOG 44(4), 2025).

use taut_core::{Scene, Vec3};

use super::surface::SoftSurface;
use crate::{
    broad::{Bounds, BroadPhase},
    nearest::{on_polygon, segments},
    solid,
    traits::Traits,
};

/// The least distance of each particle of one scene to what it may touch: of itself to triangles, of its triangles to
/// other particles, and of its edges to other edges. What has a corner in common does not count.
///
/// Where every particle moves by less than half of its own, nothing passes through anything.
#[derive(Clone, Debug)]
pub struct Clearances {
    surface: SoftSurface,
    /// Of particles, then of triangles.
    traits: Vec<Traits>,
    of_edges: Vec<Traits>,
    places: Vec<Vec3>,
    least: Vec<f64>,
    near: BroadPhase,
    near_edges: BroadPhase,
    bounds: Vec<Bounds>,
}

impl Clearances {
    /// Of states of a scene; `None` where no particle may touch a triangle of others.
    pub fn new(scene: &Scene) -> Option<Self> {
        let surface = SoftSurface::new(scene)?;
        let particles: Vec<Traits> = scene.particles.iter().map(Traits::of_particle).collect();
        let own = |node: u32| &particles[(node - surface.first) as usize];
        let faces = surface.faces.iter().map(|face| Traits::of_corners(face.corners.map(own)));
        Some(Self {
            of_edges: surface.edges.iter().map(|e| Traits::of_corners(e.ends.map(own))).collect(),
            traits: particles.iter().copied().chain(faces).collect(),
            places: vec![],
            least: vec![],
            near: BroadPhase::new(),
            near_edges: BroadPhase::new(),
            bounds: vec![],
            surface,
        })
    }

    /// The least distance of each particle [m], up to `reach`, where particles are at `places` [m].
    pub fn measure(&mut self, places: impl IntoIterator<Item = Vec3>, reach: f64) -> &[f64] {
        self.places.clear();
        self.places.extend(places);
        self.least.clear();
        self.least.resize(self.places.len(), reach);
        self.over_faces(reach);
        self.over_edges(reach);
        &self.least
    }

    fn over_faces(&mut self, reach: f64) {
        let Self { surface, traits, places, least, near, bounds, .. } = self;
        let (first, count) = (surface.first, places.len() as u32);
        let at = |node: u32| places[(node - first) as usize];
        bounds.clear();
        let pad = |bounds: Bounds| Bounds { half: bounds.half.add_scalar(0.5 * reach), ..bounds };
        let none = Bounds::nowhere();
        let points = places.iter().zip(&surface.outside);
        bounds.extend(
            points.map(|(&p, &outside)| if outside { pad(Bounds::around([p])) } else { none }),
        );
        bounds.extend(surface.faces.iter().map(|f| pad(Bounds::around(f.corners.map(at)))));
        let allowed = |a: u32, b: u32| {
            let [own, other] = [a, b].map(|i| &traits[i as usize]);
            a < count
                && b >= count
                && own.may_touch(other)
                && !surface.is_corner(a + first, (b - count) as usize)
        };
        for &[a, b] in near.update(bounds, &[], allowed) {
            let corners = surface.faces[(b - count) as usize].corners;
            let triangle = corners.map(at);
            let point = places[a as usize];
            let (on, _) = on_polygon(&triangle, &solid::normal(&triangle), &point);
            let distance = (point - on).norm();
            for node in corners.into_iter().chain([a + first]) {
                let own = &mut least[(node - first) as usize];
                *own = own.min(distance);
            }
        }
    }

    fn over_edges(&mut self, reach: f64) {
        let Self { surface, of_edges, places, least, near_edges, bounds, .. } = self;
        let first = surface.first;
        let at = |node: u32| places[(node - first) as usize];
        bounds.clear();
        let pad = |bounds: Bounds| Bounds { half: bounds.half.add_scalar(0.5 * reach), ..bounds };
        bounds.extend(surface.edges.iter().map(|e| pad(Bounds::around(e.ends.map(at)))));
        let allowed = |a: u32, b: u32| {
            of_edges[a as usize].may_touch(&of_edges[b as usize])
                && !surface.are_neighbours(a as usize, b as usize)
        };
        for &[a, b] in near_edges.update(bounds, &[], allowed) {
            let [a, b] = [a, b].map(|edge| surface.edges[edge as usize].ends);
            let [on_a, on_b] = segments(&a.map(at), &b.map(at));
            let distance = (on_a - on_b).norm();
            for node in a.into_iter().chain(b) {
                let own = &mut least[(node - first) as usize];
                *own = own.min(distance);
            }
        }
    }
}
