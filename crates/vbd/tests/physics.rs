//! Penalties against what mechanics says of them.

use taut_core::{
    Scene, Vec3,
    scene::{Body, JointKind},
};
use taut_fixtures::{DT, Run, anchored_particles, empty, pin, slope};
use taut_vbd::BACKEND;

/// A hard joint sags by load over penalty, from the start or once a ramp has reached that.
#[test]
fn a_hard_joint_sags_by_load_over_penalty() {
    let mut scene = empty(10.0);
    scene.bodies.push(Body::solid_box(Vec3::repeat(1.0), 3.0));
    scene.joints.push(pin(JointKind::Ball, Vec3::zeros(), 0, Vec3::zeros()));
    let ramp = "(stiffness: 600, ramp: (beta: 1e4, gamma: 1, k_start: 1))";
    for (settings, steps) in [("(stiffness: 600)", 2000), (ramp, 3000)] {
        let depth = Run::new(&BACKEND, &scene, settings, 5).end(steps).bodies[0].position.z;
        assert!((depth + 0.05).abs() < 1e-6, "{settings}: {depth}");
    }
}

/// Residual of the implicit Euler equations of three particles on springs, by central differences of
/// the objective (AVBD Eq. 1).
#[test]
fn sweeps_converge_to_the_implicit_euler_step() {
    let place = |i: u32| Vec3::new(f64::from(i), 0.0, 0.1 * f64::from(i * i));
    let scene: Scene = anchored_particles(10.0, 0.5, (0..4).map(place), 0.9, 800.0);
    let state = Run::new(&BACKEND, &scene, "()", 400).end(1);
    let positions: Vec<Vec3> = state.particles.iter().map(|p| p.position).collect();
    let objective = |x: &[Vec3]| -> f64 {
        let inertia: f64 = (1..4)
            .map(|i| {
                let target = scene.particles[i].position + scene.gravity * (DT * DT);
                scene.particles[i].mass * (x[i] - target).norm_squared() / (2.0 * DT * DT)
            })
            .sum();
        let springs: f64 = (1..4).map(|i| 400.0 * ((x[i] - x[i - 1]).norm() - 0.9).powi(2)).sum();
        inertia + springs
    };
    for i in 1..4 {
        for axis in 0..3 {
            let slope = slope(1e-5, |by| {
                let mut x = positions.clone();
                x[i][axis] += by;
                objective(&x)
            });
            assert!(slope.abs() < 1e-4, "particle {i} axis {axis}: {slope} N");
        }
    }
}
