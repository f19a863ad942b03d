//! The `demo3d` profile against trajectories of the official 3D demo.
//!
//! `data/rope-*.csv` are poses of the demo's rope scene after frames 1, 2, 5 and 10, from its solver
//! run as published (`f32`) and in double precision (`f64`).

mod common;

use common::{advance, build};
use taut_core::{
    Scene, Vec3,
    scene::{Body, Endpoint, Joint, JointKind},
};

/// The demo's rope: a ground nothing touches, then twenty boxes, the first of them fixed.
fn rope() -> Scene {
    let mut scene =
        Scene { gravity: Vec3::new(0.0, 0.0, -10.0), dt: 1.0 / 60.0, ..Scene::default() };
    let ground = Body::solid_box(Vec3::new(100.0, 100.0, 1.0), 1.0);
    scene.bodies.push(ground.at(Vec3::new(0.0, 0.0, -20.0)).fixed());
    for i in 0..20_u32 {
        let link = Body::solid_box(Vec3::new(1.0, 0.5, 0.5), 1.0);
        let link = link.at(Vec3::new(f64::from(i), 0.0, 10.0));
        scene.bodies.push(if i == 0 { link.fixed() } else { link });
    }
    let half = Vec3::new(0.5, 0.0, 0.0);
    scene.joints = (1..20)
        .map(|i| Joint::new(JointKind::Ball, Endpoint::Body(i), Endpoint::Body(i + 1)))
        .map(|joint| joint.anchored(half, -half))
        .collect();
    scene
}

/// Largest distance of any body from the demo's, per recorded frame [m].
fn deviations(precision: &str, csv: &str) -> Vec<(u32, f64)> {
    let scene = rope();
    let mut solver = build(&scene, &format!("(profile: demo3d, precision: {precision})"));
    let rows: Vec<Vec<f64>> = csv
        .lines()
        .skip(1)
        .map(|line| line.split(',').map(|x| x.parse().expect("a number")).collect())
        .collect();
    let mut out = vec![];
    for frame in 1..=10_u32 {
        let state = advance(&mut *solver, scene.dt, 10);
        let recorded = rows.iter().filter(|row| row[0] == f64::from(frame));
        let distances = recorded.map(|row| {
            (state.bodies[row[1] as usize].position - Vec3::new(row[2], row[3], row[4])).norm()
        });
        if let Some(worst) = distances.reduce(f64::max) {
            out.push((frame, worst));
        }
    }
    out
}

#[test]
fn double_precision_repeats_the_demo_in_double_precision() {
    let deviations = deviations("f64", include_str!("data/rope-f64.csv"));
    assert_eq!(deviations.len(), 4);
    // The recording has nine digits; nothing but rounding separates the two.
    assert!(deviations.iter().all(|&(_, d)| d < 1e-7), "{deviations:?}");
}

#[test]
fn single_precision_stays_in_the_band_that_rounding_opens() {
    // The demo in f32 and in f64 are 2.5e-5 m apart by frame 10.
    let deviations = deviations("f32", include_str!("data/rope-f32.csv"));
    assert!(deviations.iter().all(|&(_, d)| d < 1e-4), "{deviations:?}");
}
