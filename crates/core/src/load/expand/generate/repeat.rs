//! Entries again and again, with one more index variable.

use super::{bodies_made, cloth, grid, solid};
use crate::load::{
    author::{self, BodyEntry, ParticleEntry},
    error::{At, Result},
    expand::Builder,
    expression::Scope,
};

/// Adds the entries `count` times; the first free one of `i`, `j`, `k`, `l` counts the rounds.
pub(in crate::load) fn add(
    builder: &mut Builder,
    spec: &author::Repeat,
    scope: &Scope,
) -> Result<()> {
    scope.check_depth(1)?;
    let rounds = spec.count.whole(scope, 0).at("count")?;
    let made = made(spec, scope)?;
    builder.reserve("bodies", made.bodies)?;
    builder.reserve("particles", made.particles)?;
    // Rounds that make nothing would still take time.
    builder.reserve("joints", made.rounds)?;
    for i in 0..rounds {
        let scope = scope.indexed(&[i]);
        for (k, entry) in spec.bodies.iter().enumerate() {
            builder.add_body(entry, &scope).at_index("bodies", k)?;
        }
        for (k, entry) in spec.particles.iter().enumerate() {
            builder.add_particle(entry, &scope).at_index("particles", k)?;
        }
        for (k, entry) in spec.joints.iter().enumerate() {
            builder.add_joint(entry, &scope).at_index("joints", k)?;
        }
        for (k, entry) in spec.springs.iter().enumerate() {
            builder.add_spring(entry, &scope).at_index("springs", k)?;
        }
        for (k, entry) in spec.triangles.iter().enumerate() {
            builder.add_triangle(entry, &scope).at_index("triangles", k)?;
        }
        for (k, entry) in spec.tetrahedra.iter().enumerate() {
            builder.add_tetrahedron(entry, &scope).at_index("tetrahedra", k)?;
        }
        for (k, entry) in spec.forces.iter().enumerate() {
            builder.add_force(entry, &scope).at_index("forces", k)?;
        }
    }
    Ok(())
}

/// What all rounds together make.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Made {
    pub(super) bodies: f64,
    pub(super) particles: f64,
    /// Rounds, those of repetitions within included.
    rounds: f64,
}

/// What all rounds together make, if each makes as much as the first.
pub(super) fn made(spec: &author::Repeat, scope: &Scope) -> Result<Made> {
    let rounds = spec.count.whole(scope, 0).at("count")? as f64;
    scope.check_depth(1)?;
    let scope = scope.indexed(&[0]);
    let mut one = Made { rounds: 1.0, ..Made::default() };
    for (k, entry) in spec.bodies.iter().enumerate() {
        match entry {
            BodyEntry::Repeat(inner) => one.add(made(inner, &scope)?),
            _ => one.bodies += bodies_made(entry, &scope).at_index("bodies", k)?,
        }
    }
    for (k, entry) in spec.particles.iter().enumerate() {
        match entry {
            ParticleEntry::Particle(_) => one.particles += 1.0,
            ParticleEntry::Grid(grid) => {
                let counts = grid::counts(&grid.counts, &scope).at_index("particles", k)?;
                one.particles += counts.iter().map(|&n| n as f64).product::<f64>();
            }
            ParticleEntry::Cloth(cloth) => {
                let counts = cloth::counts(cloth, &scope).at_index("particles", k)?;
                one.particles += counts.iter().map(|&n| n as f64).product::<f64>();
            }
            ParticleEntry::Solid(solid) => {
                one.particles += solid::nodes_made(solid, &scope).at_index("particles", k)?;
            }
            // Only the file says how many; it is asked when it is read.
            ParticleEntry::Mesh(_) => one.particles += 1.0,
            ParticleEntry::Repeat(inner) => one.add(made(inner, &scope)?),
        }
    }
    for inner in connecting(spec) {
        one.add(made(inner, &scope)?);
    }
    let [bodies, particles, rounds] =
        [one.bodies, one.particles, one.rounds].map(|count| count * rounds);
    Ok(Made { bodies, particles, rounds })
}

/// The repetitions within it in lists that make neither bodies nor particles.
fn connecting(spec: &author::Repeat) -> impl Iterator<Item = &author::Repeat> {
    use author::{ForceEntry, JointEntry, SpringEntry, TetrahedronEntry, TriangleEntry};
    let joints = spec.joints.iter().filter_map(|entry| match entry {
        JointEntry::Repeat(inner) => Some(inner),
        _ => None,
    });
    let springs = spec.springs.iter().filter_map(|entry| match entry {
        SpringEntry::Repeat(inner) => Some(inner),
        _ => None,
    });
    let triangles = spec.triangles.iter().filter_map(|entry| match entry {
        TriangleEntry::Repeat(inner) => Some(inner),
        TriangleEntry::Triangle(_) => None,
    });
    let tetrahedra = spec.tetrahedra.iter().filter_map(|entry| match entry {
        TetrahedronEntry::Repeat(inner) => Some(inner),
        TetrahedronEntry::Tetrahedron(_) => None,
    });
    let forces = spec.forces.iter().filter_map(|entry| match entry {
        ForceEntry::Repeat(inner) => Some(inner),
        _ => None,
    });
    let all = joints.chain(springs).chain(triangles).chain(tetrahedra).chain(forces);
    all.map(|inner| &**inner)
}

impl Made {
    fn add(&mut self, other: Self) {
        self.bodies += other.bodies;
        self.particles += other.particles;
        self.rounds += other.rounds;
    }
}
