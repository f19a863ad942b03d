//! Distances between trajectories, and the strain of springs.

use crate::{
    Scene, State,
    constraint::Geometry,
    metrics::energy::{distance, second_moment, weighted_square},
    scene::{Body, Spring, SpringKind},
};

/// Root mean square distance of the watched bodies and particles from the reference [m]; `None` where the scene
/// watches nothing.
pub fn watched_error_rms_m(scene: &Scene, state: &State, reference: &State) -> Option<f64> {
    let square = |&node: &usize| match node.checked_sub(scene.bodies.len()) {
        None => body_square(scene, node, state, reference),
        Some(i) => {
            let away = state.particles[i].position - reference.particles[i].position;
            away.norm_squared()
        }
    };
    root_mean(scene.watch.iter().map(square))
}

/// Root mean square distance of everything dynamic from the reference [m].
///
/// Of a body it is that of its material points, over its mass: how far its centre is off and how far it
/// is turned or stretched, the latter at its radius of gyration. Every body and every particle counts alike.
pub fn pose_distance_rms_m(scene: &Scene, state: &State, reference: &State) -> Option<f64> {
    let dynamic = scene.bodies.iter().enumerate().filter(|(_, body)| body.is_dynamic());
    let bodies = dynamic.map(|(i, _)| body_square(scene, i, state, reference));
    let particles = scene.particles.iter().zip(state.particles.iter().zip(&reference.particles));
    let particles = particles
        .filter(|(particle, _)| particle.mass > 0.0)
        .map(|(_, (own, other))| (own.position - other.position).norm_squared());
    root_mean(bodies.chain(particles))
}

/// Mean square distance of a body's material points, `|dx|^2 + tr(dF S dF^T) / m` [m^2]; of a body without mass that
/// of its centre.
fn body_square(scene: &Scene, body: usize, state: &State, reference: &State) -> f64 {
    let (own, other) = (&state.bodies[body], &reference.bodies[body]);
    let centre = (own.position - other.position).norm_squared();
    let Body { mass, inertia, .. } = &scene.bodies[body];
    if *mass <= 0.0 {
        return centre;
    }
    let turned = weighted_square(&(own.frame - other.frame), &second_moment(inertia)) / mass;
    // A body so thin that its second moment is zero along an axis may have it negative by rounding.
    centre + turned.max(0.0)
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
