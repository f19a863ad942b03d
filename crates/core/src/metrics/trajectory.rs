//! Distances between trajectories, and the strain of springs.

use crate::{
    Scene, State,
    constraint::Geometry,
    metrics::energy::distance,
    scene::{Spring, SpringKind},
};

/// Root mean square distance of the watched bodies from the reference [m]; `None` where the scene
/// watches nothing.
pub fn watched_error_rms_m(scene: &Scene, state: &State, reference: &State) -> Option<f64> {
    let squares = scene
        .watch
        .iter()
        .map(|&i| (state.bodies[i].position - reference.bodies[i].position).norm_squared());
    root_mean(squares)
}

/// Root mean square distance of all dynamic centres of mass and particles from the reference [m].
pub fn distance_to_reference_rms_m(scene: &Scene, state: &State, reference: &State) -> Option<f64> {
    let bodies = scene.bodies.iter().zip(state.bodies.iter().zip(&reference.bodies));
    let bodies = bodies
        .filter(|(body, _)| body.is_dynamic())
        .map(|(_, (own, other))| (own.position - other.position).norm_squared());
    let particles = scene.particles.iter().zip(state.particles.iter().zip(&reference.particles));
    let particles = particles
        .filter(|(particle, _)| particle.mass > 0.0)
        .map(|(_, (own, other))| (own.position - other.position).norm_squared());
    root_mean(bodies.chain(particles))
}

fn root_mean(squares: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = squares.fold((0.0, 0_usize), |(sum, count), x| (sum + x, count + 1));
    (count > 0).then(|| (sum / count as f64).sqrt())
}

/// Largest `|length - rest| / rest` of the linear springs [1]; those of rest length zero have no strain.
/// `None` where none has any.
pub fn spring_strain_max(scene: &Scene, state: &State) -> Option<f64> {
    let strained = scene.springs.iter().filter(|spring| rest_length(spring) > 0.0);
    let strain = strained.map(|spring| {
        let length = distance(spring.a, spring.b, &Geometry::from(spring), state);
        let rest = rest_length(spring);
        (length - rest).abs() / rest
    });
    strain.map(|strain| strain.max(0.0)).reduce(f64::max)
}

/// Zero for angular springs too.
fn rest_length(spring: &Spring) -> f64 {
    match spring.kind {
        SpringKind::Linear { rest_length, .. } => rest_length,
        SpringKind::Angular { .. } => 0.0,
    }
}
