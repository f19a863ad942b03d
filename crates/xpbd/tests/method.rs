//! What is of this method alone: where its friction acts, how it creeps and turns as published.

use std::f64::consts::FRAC_PI_2;

use taut_core::{
    Quat, Scene, Vec3,
    metrics::energy,
    scene::{Body, Endpoint, Joint, JointKind},
};
use taut_fixtures::{DT, Run, coulomb_way, cube, empty, floor, rubbing, tilted, touching};
use taut_xpbd::BACKEND;

const G: f64 = 9.81;

/// Way along the floor of a cube that stands on it for ten seconds, both tilted by an angle [degrees] [m].
fn crept(degrees: f64, settings: &str) -> f64 {
    let scene = tilted(touching(G, vec![floor(0.5), cube(0.5)]), degrees);
    let start = &scene.bodies[1];
    let end = Run::new(&BACKEND, &scene, settings, 10).end(600);
    (start.rotation.inverse() * (end.bodies[1].position - start.position)).xy().norm()
}

#[test]
fn as_published_what_rests_creeps() {
    assert!(crept(0.0, "()") < 1e-5 && crept(20.0, "()") < 1e-3);
    let [level, slope] = [0.0, 20.0].map(|degrees| crept(degrees, "(friction: published)"));
    assert!(level > 1e-3 && level < 0.05, "{level} m in 10 s");
    assert!(slope > 1e-2, "{slope} m in 10 s");
}

#[test]
fn a_slider_stops_one_sub_step_later_than_implicitly() {
    for mu in [0.25, 0.5, 1.0] {
        for (settings, iterations) in
            [("()", 10), ("()", 40), ("(mode: iterations)", 20), ("(precision: f32)", 1)]
        {
            let h = DT / if settings.contains("mode") { 1.0 } else { f64::from(iterations) };
            let slider = Body::solid_box(Vec3::new(1.0, 1.0, 0.5), 1.0);
            let mut slider = rubbing(slider.at(Vec3::z() * 0.25), mu, mu);
            slider.velocity.x = 10.0;
            let scene = touching(G, vec![floor(mu), slider]);
            // It rocks for a moment after it has stopped.
            let frames = (14.0 / (mu * G * DT)) as u32;
            let end = Run::new(&BACKEND, &scene, settings, iterations).end(frames).bodies[1];
            assert!(end.velocity.norm() < 1e-2, "{mu} {settings} {iterations}: it has stopped");
            // Friction on velocities acts after positions have moved, which adds the first step.
            let expected = 10.0 * h + coulomb_way(10.0, mu * G, h);
            // It stops within a sub-step, and pitches a little at first.
            let error = (end.position.xy().norm() / expected - 1.0).abs();
            assert!(error < 0.3 * h, "{mu} {settings} {iterations}: {error}");
        }
    }
}

#[test]
fn spin_decays_as_documented_and_is_kept_by_the_cayley_map() {
    let mut scene = empty(0.0);
    scene.bodies.push(Body { omega: Vec3::z() * 10.0, ..cube(0.0) });
    let spin = |settings: &str| Run::new(&BACKEND, &scene, settings, 4).end(60).bodies[0].omega().z;
    // d omega / dt = -h omega^3 / 8, so that 1/omega^2 grows by h t / 4.
    let published = (1.0 / (0.01 + DT / 4.0 / 4.0)).sqrt();
    assert!((spin("()") - published).abs() < 3e-3, "{}", spin("()"));
    assert!((spin("(rotation: cayley)") - 10.0).abs() < 1e-9);
}

/// Two rods in series on hinges across their plane, let go from the horizontal.
fn double_pendulum() -> Scene {
    let rod = |x: f64| Body::solid_box(Vec3::new(1.0, 0.05, 0.05), 1000.0).at(Vec3::x() * x);
    let across = Quat::from_scaled_axis(Vec3::z() * FRAC_PI_2);
    let hinge = |a: Endpoint, b: usize, at_a: Vec3| {
        let mut joint = Joint::new(JointKind::Hinge, a, Endpoint::Body(b));
        (joint.anchor_a, joint.anchor_b) = (at_a, Vec3::x() * -0.5);
        (joint.basis_a, joint.basis_b) = (across, across);
        joint
    };
    let mut scene = empty(G);
    scene.bodies = vec![rod(0.5), rod(1.5)];
    let joints =
        [hinge(Endpoint::World, 0, Vec3::zeros()), hinge(Endpoint::Body(0), 1, Vec3::x() * 0.5)];
    scene.joints = joints.into();
    scene
}

#[test]
fn hinges_in_series_gain_no_energy_at_any_length_of_the_sub_step() {
    let scene = double_pendulum();
    let gained = |settings: &str, iterations: u32| {
        let end = Run::new(&BACKEND, &scene, settings, iterations).end(600);
        energy(&scene, &end).total_j() - energy(&scene, &scene.initial_state()).total_j()
    };
    for iterations in [1, 2, 3, 4, 8, 16, 32, 64] {
        let energy_j = gained("()", iterations);
        assert!(energy_j < 0.0, "{energy_j} J with {iterations} sub-steps");
        assert!(gained("(precision: f32)", iterations) < 0.0);
    }
    // The published order gains it without bound.
    assert!(gained("(rows: forward)", 32) > 1000.0, "a finding that no longer holds");
}
