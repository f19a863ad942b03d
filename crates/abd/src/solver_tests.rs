//! The incremental energy's derivatives against differences.

use taut_core::{
    Scene, Solver, Step, Vec3,
    scene::{Body, Elasticity, Endpoint, Joint, JointKind},
};

use crate::{AbdSettings, solver::Abd};

/// Three bodies of one chain, held by the world, by every kind of joint there is.
fn scene() -> Scene {
    let bar = |i: usize| Body {
        omega: Vec3::new(1.0, -2.0, 0.5 * i as f64),
        velocity: Vec3::new(0.1, 0.2, -0.3),
        elasticity: Some(Elasticity { young: 2e3, poisson: 0.3 }),
        ..Body::solid_box(Vec3::new(1.0, 0.3, 0.2), 10.0).at(Vec3::x() * (0.5 + i as f64))
    };
    let half = Vec3::x() * 0.5;
    let joint = |kind, b: usize| {
        let (a, anchor) = match b {
            0 => (Endpoint::World, Vec3::zeros()),
            _ => (Endpoint::Body(b - 1), half),
        };
        Joint::new(kind, a, Endpoint::Body(b)).anchored(anchor, -half)
    };
    Scene {
        gravity: Vec3::new(0.0, 0.0, -9.81),
        bodies: (0..3).map(bar).collect(),
        joints: vec![
            joint(JointKind::Fixed, 0),
            joint(JointKind::Hinge, 1),
            joint(JointKind::Ball, 2),
        ],
        ..Scene::default()
    }
}

#[test]
fn derivatives_equal_differences() {
    const STEP: f64 = 1e-6;
    let mut solver = Abd::new(&scene(), AbdSettings::default()).unwrap();
    solver.begin_step(Step { dt: 0.1, iterations: 1 }).unwrap();
    // Away from every minimum.
    for (k, node) in solver.nodes_mut().enumerate() {
        for i in 0..12 {
            node[i] += 0.1 * ((5 * i + 3 * k) % 7) as f64 / 7.0 - 0.05;
        }
    }
    let (gradient, matrix) = solver.derivatives();
    let scale = gradient.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    let stiffest = matrix.iter().flatten().fold(0.0_f64, |most, x| most.max(x.abs()));
    for entry in 0..gradient.len() {
        let slope = (solver.energy_at(entry, STEP) - solver.energy_at(entry, -STEP)) / (2.0 * STEP);
        assert!((gradient[entry] - slope).abs() < 1e-7 * scale, "{entry}");
        let [up, down] = [STEP, -STEP].map(|step| solver.gradient_at(entry, step));
        for other in 0..gradient.len() {
            let slope = (up[other] - down[other]) / (2.0 * STEP);
            assert!((matrix[other][entry] - slope).abs() < 1e-7 * stiffest, "{other} {entry}");
        }
    }
}

#[test]
fn newton_converges_quadratically_to_no_force() {
    let mut solver = Abd::new(&scene(), AbdSettings::default()).unwrap();
    solver.begin_step(Step { dt: 0.01, iterations: 20 }).unwrap();
    let norm = |solver: &mut Abd| solver.derivatives().0.iter().map(|x| x * x).sum::<f64>().sqrt();
    let start = norm(&mut solver);
    let mut norms = Vec::new();
    for _ in 0..8 {
        solver.iterate().unwrap();
        norms.push(norm(&mut solver));
    }
    assert!(norms[7] < 1e-9 * start, "{start:e} {norms:?}");
    let fast = norms.windows(2).any(|pair| pair[1] < 1e-3 * pair[0]);
    assert!(fast, "{start:e} {norms:?}");
}
