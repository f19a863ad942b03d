//! Every file in `scenes/` loads, at its defaults and away from them, and counts what it should.

use std::path::PathBuf;

use taut_core::scene::{Endpoint, Joint, JointKind, Loaded, Motion, load_file};

fn load(name: &str, overrides: &[(&str, f64)]) -> Loaded {
    let path = folder().join(format!("{name}.ron"));
    let overrides: Vec<(String, f64)> =
        overrides.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    load_file(&path, &overrides).unwrap_or_else(|error| panic!("{error}"))
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenes")
}

/// Bodies, particles, joints and springs.
fn counts(loaded: &Loaded) -> [usize; 4] {
    let scene = &loaded.scene;
    [scene.bodies.len(), scene.particles.len(), scene.joints.len(), scene.springs.len()]
}

#[test]
fn every_file_loads_without_warnings() {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 6);
    for file in files {
        let loaded = load_file(&file, &[]).unwrap_or_else(|error| panic!("{error}"));
        assert!(loaded.warnings.is_empty(), "{}: {:?}", file.display(), loaded.warnings);
        assert!(!loaded.scene.about.is_empty(), "{}", file.display());
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(text.starts_with("//"), "{} does not say what it is for", file.display());
        assert_eq!(loaded.scene.name, file.file_stem().unwrap().to_str().unwrap());
    }
}

#[test]
fn the_rope_is_that_of_the_demo() {
    let loaded = load("rope", &[]);
    assert_eq!(counts(&loaded), [21, 0, 19, 0]);
    let scene = &loaded.scene;
    assert_eq!(scene.bodies[0].position.as_slice(), [0.0, 0.0, -20.0]);
    assert_eq!(scene.bodies[0].motion, Motion::Static);
    for (i, link) in scene.bodies[1..].iter().enumerate() {
        assert_eq!(link.position.as_slice(), [i as f64, 0.0, 10.0]);
        assert_eq!(link.is_dynamic(), i > 0);
        assert_eq!(link.mass, if i > 0 { 0.25 } else { 0.0 });
        assert_eq!(link.name, format!("link[{i}]"));
    }
    for (i, joint) in scene.joints.iter().enumerate() {
        let [a, b] = [Endpoint::Body(i + 1), Endpoint::Body(i + 2)];
        let half = nalgebra::Vector3::new(0.5, 0.0, 0.0);
        assert_eq!(*joint, Joint::new(JointKind::Ball, a, b).anchored(half, -half));
    }
    assert_eq!(scene.watch, [20]);
    assert_eq!(counts(&load("rope", &[("links", 2.0)])), [3, 0, 1, 0]);
    assert_eq!(counts(&load("rope", &[("links", 1000.0)])), [1001, 0, 999, 0]);
}

#[test]
fn the_heavy_rope_ends_in_a_heavy_box() {
    let scene = load("heavy-rope", &[]).scene;
    assert_eq!([scene.bodies.len(), scene.joints.len()], [21, 19]);
    assert_eq!(scene.bodies[20].mass, 125.0);
    assert_eq!(scene.bodies[20].position.as_slice(), [21.5, 0.0, 10.0]);
    assert_eq!(scene.joints[18].anchor_b.as_slice(), [-2.5, 0.0, 0.0]);
    assert_eq!(counts(&load("heavy-rope", &[("links", 3.0)])), [4, 0, 2, 0]);
}

#[test]
fn the_pendulum_has_the_ratio_of_the_paper() {
    let scene = load("pendulum", &[]).scene;
    // Fifty links and the load, 51 dynamic bodies, and the anchor.
    assert_eq!([scene.bodies.len(), scene.joints.len()], [52, 51]);
    assert!((scene.bodies[1].mass - 0.005).abs() < 1e-17);
    assert_eq!(scene.bodies[51].mass, 250.0);
    assert_eq!(scene.bodies[51].position.as_slice(), [26.0, 0.0, 33.0]);
    assert_eq!(scene.watch, [51]);
    assert_eq!(counts(&load("pendulum", &[("links", 1.0)])), [3, 0, 2, 0]);
    assert_eq!(counts(&load("pendulum", &[("links", 400.0)])), [402, 0, 401, 0]);
}

#[test]
fn chain50_is_that_of_the_comparison() {
    // Numbers of swing.json and hang.json of the comparison, copied.
    let swing = load("chain50-swing", &[]).scene;
    let hang = load("chain50-hang", &[]).scene;
    for scene in [&swing, &hang] {
        assert_eq!([scene.bodies.len(), scene.joints.len()], [51, 51]);
        assert_eq!([scene.gravity.z, scene.dt], [-9.81, 1.0 / 60.0]);
        assert_eq!([scene.bodies[0].mass, scene.bodies[50].mass], [1.0, 50000.0]);
        assert_eq!(scene.joints[0].a, Endpoint::World);
        assert_eq!(scene.joints[0].anchor_a.as_slice(), [0.0, 0.0, 0.0]);
        for (i, joint) in scene.joints.iter().enumerate().skip(1) {
            assert_eq!([joint.a, joint.b], [Endpoint::Body(i - 1), Endpoint::Body(i)]);
        }
        assert_eq!([scene.watch.as_slice(), &[scene.steps as usize]], [&[50], &[300]]);
    }
    assert_eq!(swing.bodies[49].position.as_slice(), [49.5, 0.0, 0.0]);
    assert_eq!(swing.bodies[50].position.as_slice(), [50.5, 0.0, 0.0]);
    assert_eq!(hang.bodies[50].position.as_slice(), [0.0, 0.0, -50.5]);
    for joint in &swing.joints[1..] {
        assert_eq!(joint.anchor_a.as_slice(), [0.5, 0.0, 0.0]);
        assert_eq!(joint.anchor_b.as_slice(), [-0.5, 0.0, 0.0]);
    }
    assert_eq!(hang.joints[50].anchor_b.as_slice(), [0.0, 0.0, 0.5]);
    // A 1 m cube of 50 t and a link of 1 x 0.2 x 0.2 m.
    assert!((swing.bodies[50].inertia.m11 - 50000.0 / 6.0).abs() < 1e-9);
    assert!((swing.bodies[0].inertia.m22 - 1.04 / 12.0).abs() < 1e-15);
    let light = load("chain50-swing", &[("links", 5.0), ("end_mass", 1.0)]);
    assert_eq!(counts(&light), [6, 0, 6, 0]);
    assert_eq!(light.parameters, [("links".to_owned(), 5.0), ("end_mass".to_owned(), 1.0)]);
}

#[test]
fn free_fall_has_no_joints() {
    assert_eq!(counts(&load("free-fall", &[("spin", 0.0)])), [2, 0, 0, 0]);
}
