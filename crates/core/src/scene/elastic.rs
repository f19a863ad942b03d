//! Elastic material between points: what its energies are fixed to.

use serde::{Deserialize, Serialize};
use taut_math::V3;

use super::Endpoint;
use crate::{
    energy::{DampingEnergy, ENDS_MAX, FACES, Points, SolidEnergy},
    math::Vec3,
    state::State,
    wire,
};

/// A point of a body, a particle or a point of the world.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Anchor {
    /// What it moves with.
    pub end: Endpoint,
    /// Where it is in the coordinates of a body or of the world [m]; a particle is its own anchor.
    #[serde(with = "wire::numbers")]
    pub local: Vec3,
}

/// A piece of elastic material between points.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ElasticPart<E, const ENDS: usize> {
    /// Unique name, possibly generated; may be empty for members of large generated groups.
    pub name: String,
    /// Its points.
    #[serde(with = "wire::array")]
    pub ends: [Anchor; ENDS],
    /// What it resists.
    pub energy: E,
}

/// Damping of a triangle or tetrahedron of elastic material.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MaterialDamping {
    /// Its points; those that a triangle does not have are the origin of the world.
    pub ends: [Anchor; ENDS_MAX],
    /// What it resists.
    pub energy: DampingEnergy,
}

/// A tetrahedron of solid elastic material between particles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tetrahedron {
    /// Its particles, the first three counter-clockwise seen from the last.
    pub nodes: [usize; 4],
    /// What it resists.
    pub energy: SolidEnergy,
}

impl Tetrahedron {
    pub(super) fn anchors(&self) -> [Anchor; ENDS_MAX] {
        self.nodes.map(|n| Anchor::from(Endpoint::Particle(n)))
    }
}

/// The faces that belong to one tetrahedron only, counter-clockwise seen from outside; in the order of the
/// tetrahedra.
pub(crate) fn outer_faces(
    tetrahedra: impl ExactSizeIterator<Item = [usize; 4]> + Clone,
) -> Vec<[usize; 3]> {
    // Those that a corner sees, turned over.
    let faces = |nodes: [usize; 4]| FACES.map(|[i, j, k]| [nodes[i], nodes[k], nodes[j]]);
    let key = |face: [usize; 3]| {
        let mut key = face;
        key.sort_unstable();
        key
    };
    let mut all: Vec<[usize; 3]> = tetrahedra.clone().flat_map(faces).map(key).collect();
    all.sort_unstable();
    let alone = |face: &[usize; 3]| {
        let first = all.partition_point(|other| *other < key(*face));
        all.get(first + 1) != Some(&key(*face))
    };
    tetrahedra.flat_map(faces).filter(alone).collect()
}

impl Anchor {
    /// Its place in the world [m].
    pub fn position(&self, state: &State) -> Vec3 {
        match self.end {
            Endpoint::World => self.local,
            Endpoint::Body(i) => state.bodies[i].point(&self.local),
            Endpoint::Particle(i) => state.particles[i].position,
        }
    }
}

impl From<Endpoint> for Anchor {
    /// The origin of a body or of the world, or a particle.
    fn from(end: Endpoint) -> Self {
        Self { end, local: Vec3::zeros() }
    }
}

impl<E, const ENDS: usize> ElasticPart<E, ENDS> {
    /// Its points among as many as any energy has; the others are the origin of the world.
    pub(super) fn anchors(&self) -> [Anchor; ENDS_MAX] {
        let mut anchors = [Anchor::default(); ENDS_MAX];
        anchors[..ENDS].copy_from_slice(&self.ends);
        anchors
    }
}

/// The places of an energy's points [m].
pub(crate) fn points(anchors: &[Anchor; ENDS_MAX], state: &State) -> Points<f64> {
    anchors.map(|anchor| V3::of(&anchor.position(state)))
}
