//! Entries again and again, with one more index variable.

use super::{bodies_made, grid};
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
    let [bodies, particles] = made(spec, scope)?;
    builder.reserve("bodies", bodies)?;
    builder.reserve("particles", particles)?;
    // Rounds that make nothing would still take time.
    builder.reserve("joints", rounds as f64)?;
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
    }
    Ok(())
}

/// How many bodies and particles all rounds together make, if each makes as many as the first.
pub(super) fn made(spec: &author::Repeat, scope: &Scope) -> Result<[f64; 2]> {
    let rounds = spec.count.whole(scope, 0).at("count")? as f64;
    scope.check_depth(1)?;
    let scope = scope.indexed(&[0]);
    let [mut bodies, mut particles] = [0.0; 2];
    for (k, entry) in spec.bodies.iter().enumerate() {
        bodies += bodies_made(entry, &scope).at_index("bodies", k)?;
        if let BodyEntry::Repeat(inner) = entry {
            particles += made(inner, &scope)?[1];
        }
    }
    for (k, entry) in spec.particles.iter().enumerate() {
        match entry {
            ParticleEntry::Particle(_) => particles += 1.0,
            ParticleEntry::Grid(grid) => {
                let counts = grid::counts(&grid.counts, &scope).at_index("particles", k)?;
                particles += counts.iter().map(|&n| n as f64).product::<f64>();
            }
            ParticleEntry::Repeat(inner) => {
                let inner = made(inner, &scope)?;
                (bodies, particles) = (bodies + inner[0], particles + inner[1]);
            }
        }
    }
    Ok([bodies * rounds, particles * rounds])
}
