//! The scenes of the M-ABD paper have the counts of its table and the motions that they say.

use std::path::PathBuf;

use taut_core::{Scene, Vec3, load::load_file, scene::JointKind};

fn load(name: &str, overrides: &[(&str, f64)]) -> Scene {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenes");
    let overrides: Vec<(String, f64)> =
        overrides.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    let loaded = load_file(&folder.join(format!("{name}.ron")), &overrides);
    let loaded = loaded.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(loaded.warnings, Vec::<String>::new(), "{name}");
    loaded.scene
}

/// Rows of all joints.
fn rows(scene: &Scene) -> usize {
    scene.joints.iter().map(|j| taut_core::constraint::locked_rows(j).count()).sum()
}

fn dynamic(scene: &Scene) -> usize {
    scene.bodies.iter().filter(|body| body.is_dynamic()).count()
}

#[test]
fn counts_are_those_of_the_table() {
    // Pulley, both sizes: three rows a link and one joint more, and those of the turning points.
    let pulley = load("pulley", &[]);
    assert_eq!([dynamic(&pulley), rows(&pulley)], [1500, 3 * 1501 + 3 * 14]);
    let [willow, pear] = ["willow", "pear"].map(|name| load(name, &[]));
    assert_eq!([dynamic(&willow), rows(&willow)], [21_000, 63_000]);
    assert_eq!([dynamic(&pear), rows(&pear)], [29_000, 87_000]);
    let cloak = load("cloak", &[]);
    // 11.7K links; 48K rows in print, 12 n (n - 1) and the head's here.
    assert_eq!([dynamic(&cloak), rows(&cloak)], [11_781, 46_875]);
    let ragdolls = load("ragdolls", &[]);
    assert_eq!([dynamic(&ragdolls), rows(&ragdolls)], [1160 + 27 * 11, 4564 + 27 * 38]);
    let falling = load("falling-joints", &[]);
    assert_eq!([dynamic(&falling), rows(&falling)], [1440, 3060]);
    let protein = load("protein", &[("links", 14_000.0)]);
    assert_eq!([dynamic(&protein), rows(&protein)], [14_000, 56_003]);
    let net = load("net", &[("n", 100.0)]);
    assert_eq!([dynamic(&net), rows(&net)], [29_800, 118_812]);
    // 280 links as in Figure 12, and as many pins as corners.
    let slack = load("net-slack", &[]);
    assert_eq!([dynamic(&slack), rows(&slack)], [280, 1080 + 4 * 3]);
    // Pulleys once more: nothing but the ends is held, and beside 1,500 links there are the hook and the anchor.
    let chain = load("long-chain", &[]);
    assert_eq!([dynamic(&chain), rows(&chain)], [1500, 3 * 1501]);
    let drive = load("pulley-drive", &[]);
    let balls = drive.joints.iter().filter(|joint| joint.kind == JointKind::Ball).count();
    assert_eq!([dynamic(&drive), balls], [1502, 1502]);
}

#[test]
fn sizes_scale_by_their_parameter() {
    for name in ["pulley", "long-chain", "willow", "pear", "protein"] {
        assert_eq!(dynamic(&load(name, &[("links", 37.0)])), 37, "{name}");
    }
    assert_eq!(dynamic(&load("heavy-end-chain", &[("links", 7.0)])), 8);
    assert_eq!(dynamic(&load("loop", &[("links", 6.0)])), 6);
    assert_eq!(dynamic(&load("falling-joints", &[("pairs", 2.0)])), 16);
    assert_eq!(dynamic(&load("ragdolls", &[("dolls", 1.0), ("n", 4.0)])), 40 + 11);
    assert_eq!(dynamic(&load("cloak", &[("n", 5.0)])), 65);
    assert_eq!(dynamic(&load("net-on-cylinder", &[("n", 5.0)])), 65);
    assert_eq!(dynamic(&load("net-slack", &[("n", 5.0)])), 65);
    for (turning, wheels) in [(0.0, 0), (1.0, 3)] {
        let drive = [("wheels", 3.0), ("straight", 10.0), ("turning", turning)];
        assert_eq!(dynamic(&load("pulley-drive", &drive)), 3 * 38 + 10 + 2 + wheels);
    }
}

#[test]
fn the_cube_has_the_momenta_of_the_paper() {
    for side in [1.0, 0.1] {
        let scene = load("spinning-cube", &[("side", side)]);
        let momentum = taut_core::metrics::momentum(&scene, &scene.initial_state());
        assert!((momentum.linear_kg_m_s - Vec3::x() * 100.0).norm() < 1e-9);
        assert!((momentum.angular_kg_m2_s - Vec3::z() * 100.0).norm() < 1e-9);
    }
}

#[test]
fn the_cylinder_rolls_without_slip() {
    let scene = load("rolling-cylinder", &[]);
    let cylinder = &scene.bodies[0];
    let lowest = cylinder.position - Vec3::z() * 0.5;
    let contact = cylinder.velocity + cylinder.omega.cross(&(lowest - cylinder.position));
    assert!(lowest.z.abs() < 1e-15 && contact.norm() < 1e-15);
    assert!((cylinder.rotation * Vec3::z() - cylinder.omega.normalize()).norm() < 1e-15);
}

/// Ratios that the printed curves of the heavy top fix: I3 w / I1 and m g l / I1, about the pivot.
#[test]
fn the_top_has_the_ratios_of_the_printed_curves() {
    let scene = load("heavy-top-gyro", &[]);
    let (top, arm) = (&scene.bodies[0], 0.0249);
    assert!((top.position.norm() - arm).abs() < 1e-15);
    let about_pivot = top.inertia.m11 + top.mass * arm * arm;
    let spin = top.inertia.m33 * 10.0 / about_pivot;
    let weight = top.mass * 9.81 * arm / about_pivot;
    assert!((spin - 16.7).abs() < 0.05 && (weight - 65.4).abs() < 0.1, "{spin} {weight}");
    assert!((top.omega - top.rotation * Vec3::z() * 10.0).norm() < 1e-14);
    // The pivot rests.
    assert!((top.velocity - top.omega.cross(&top.position)).norm() < 1e-14);
}

#[test]
fn arms_and_backbones_have_the_joints_of_their_figures() {
    let count = |scene: &Scene, kind: JointKind| {
        scene.joints.iter().filter(|joint| joint.kind == kind).count()
    };
    let panda = load("panda", &[]);
    assert_eq!(count(&panda, JointKind::Hinge), 7);
    assert_eq!(count(&panda, JointKind::Prismatic), 2);
    assert_eq!(panda.joints.iter().filter(|j| j.motor.is_some() && j.limit.is_some()).count(), 9);
    let protein = load("protein", &[("links", 50.0)]);
    assert_eq!(count(&protein, JointKind::Universal), 50);
}

/// Whether one linear step holds the chain, `12 h^2 tension / (m l) < 4`, as the scenes' comments say.
#[test]
fn hanging_spans_are_within_the_bound_of_one_linear_step() {
    let scene = load("pulley", &[]);
    let (link, half_span) = (&scene.bodies[0], 50.0);
    let tension = half_span * link.mass * 10.0 / 0.75_f64.sqrt();
    let bound = 12.0 * scene.dt.powi(2) * tension / (link.mass * 0.5);
    assert!((1.0..4.0).contains(&bound), "{bound}");
    let chain = load("heavy-end-chain", &[]);
    let tension = (40.0 + 250.0) * chain.bodies[0].mass * 9.81;
    let bound = 12.0 * chain.dt.powi(2) * tension / (chain.bodies[0].mass * 0.1);
    assert!(bound > 25.0, "{bound}");
}

/// The million of the paper's Figure 1 is meant to be loaded in seconds; here a tenth of it in a test build.
#[test]
fn a_long_chain_has_no_names_and_ends_at_the_world() {
    let scene = load("pulley", &[("links", 107_674.0)]);
    assert_eq!(dynamic(&scene), 107_674);
    assert!(scene.bodies[5].name.is_empty());
    let last = scene.joints.last().unwrap();
    assert_eq!(last.b, taut_core::scene::Endpoint::World);
    assert!((last.anchor_b - scene.bodies[107_673].position).norm() < 0.26);
}
