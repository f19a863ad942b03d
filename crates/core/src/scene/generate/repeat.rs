//! Entries again and again, with one more index variable.

use crate::scene::{
    author::{self, BodyEntry, ParticleEntry},
    error::{At, Result, SceneError},
    expand::Builder,
    expression::{INDICES, Scope},
};

/// Adds the entries `count` times; the innermost free one of `i`, `j`, `k` counts the rounds.
pub(in crate::scene) fn add(
    builder: &mut Builder,
    spec: &author::Repeat,
    scope: &Scope,
) -> Result<()> {
    if scope.depth() == INDICES.len() {
        return Err(SceneError::new("generators nest at most three deep, as `i`, `j` and `k`"));
    }
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
    }
    Ok(())
}

/// How many bodies and particles all rounds together make, if each makes as many as the first.
fn made(spec: &author::Repeat, scope: &Scope) -> Result<[f64; 2]> {
    let rounds = spec.count.whole(scope, 0).at("count")? as f64;
    let scope = scope.indexed(&[0]);
    let mut sum = [0.0; 2];
    let mut add = |made: [f64; 2]| sum = [sum[0] + made[0], sum[1] + made[1]];
    for entry in &spec.bodies {
        add(match entry {
            BodyEntry::Body(_) => [1.0, 0.0],
            BodyEntry::Chain(chain) => [chain.count.whole(&scope, 1).unwrap_or(1) as f64, 0.0],
            BodyEntry::Repeat(inner) => made(inner, &scope)?,
        });
    }
    for entry in &spec.particles {
        add(match entry {
            ParticleEntry::Particle(_) => [0.0, 1.0],
            ParticleEntry::Repeat(inner) => made(inner, &scope)?,
        });
    }
    Ok(sum.map(|each| each * rounds))
}
