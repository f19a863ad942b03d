//! Every file in `scenes/` loads, at its defaults and away from them, and counts what it should.

use std::path::PathBuf;

use taut_core::load::{Loaded, load_file, load_str};
use taut_core::scene::{Endpoint, Joint, JointKind, Motion};

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
fn particles_can_be_watched_and_velocities_against_joints_are_told() {
    let text = "(contacts: false, particles: [particle(name: \"load\", mass: 1, position: (1, 0, 0))],
        bodies: [body(name: \"rod\", shape: box(size: (1, 0.1, 0.1)), mass: 1, velocity: (0, 0, 2))],
        joints: [ball(name: \"pin\", a: \"world\", b: \"rod\", at: (-0.5, 0, 0))],
        watch: [\"rod\", \"load\"])";
    let loaded = load_str(text, "test", &[]).expect("a good scene");
    assert_eq!(loaded.scene.watch, [0, 1]);
    let stops = "`pin` stops initial velocities of 2.000e0 m/s and 0.000e0 rad/s in the first step, \
                 and their energy is lost";
    assert_eq!(loaded.warnings, [stops]);
    // With the spin that goes with it nothing is stopped.
    let swings = text.replace("velocity: (0, 0, 2)", "velocity: (0, 0, 2), omega: (0, -4, 0)");
    assert!(load_str(&swings, "test", &[]).expect("a good scene").warnings.is_empty());
}

#[test]
fn every_file_loads_and_says_what_it_is_for() {
    let entries = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|end| end == "ron")).collect();
    files.sort();
    assert!(files.len() >= 40);
    for file in files {
        let loaded = load_file(&file, &[]).unwrap_or_else(|error| panic!("{error}"));
        // The demo's own heavy rope starts with an open joint.
        let expected = usize::from(loaded.scene.name == "heavy-rope");
        assert_eq!(loaded.warnings.len(), expected, "{}: {:?}", file.display(), loaded.warnings);
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
    let warning = &load("heavy-rope", &[]).warnings[0];
    assert_eq!(warning, "joints[18] starts violated by 5.000e-1 m and 0.000e0 rad");
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

#[test]
fn the_bar_is_the_same_bar_whatever_its_yaw_and_axes() {
    let world = |yaw: f64, axes: f64| {
        let scene = load("bar-pendulum", &[("yaw", yaw), ("axes", axes)]).scene;
        let bar = scene.bodies[0].clone();
        let turn = bar.rotation.to_rotation_matrix();
        let pivot = bar.position + bar.rotation * scene.joints[0].anchor_b;
        (bar.mass, bar.position, turn * bar.inertia * turn.transpose(), pivot)
    };
    let (mass, _, inertia, _) = world(0.0, 0.0);
    assert!((inertia.m22 - mass * (16.0 + 0.01) / 12.0).abs() < 1e-15);
    assert!((inertia.m11 - mass * 0.02 / 12.0).abs() < 1e-17);
    for (yaw, axes) in [(0.0, 1.0), (0.0, 2.0), (37.0, 0.0), (37.0, 2.0), (90.0, 1.0)] {
        let (other_mass, position, turned, pivot) = world(yaw, axes);
        let back = nalgebra::Rotation3::from_axis_angle(
            &nalgebra::Vector3::z_axis(),
            -f64::to_radians(yaw),
        );
        assert!((other_mass - mass).abs() < 1e-15);
        assert!((back * position - nalgebra::Vector3::new(2.0, 0.0, 0.0)).norm() < 1e-14);
        assert!((back * turned * back.transpose() - inertia).norm() < 1e-14);
        assert!(pivot.norm() < 1e-14);
    }
}

#[test]
fn the_handle_has_the_moments_it_was_chosen_for() {
    let scene = load("t-handle", &[]).scene;
    let handle = &scene.bodies[0];
    assert!((handle.mass - 0.7398).abs() < 5e-5);
    let moments = [handle.inertia.m11, handle.inertia.m22, handle.inertia.m33];
    for (moment, expected) in moments.into_iter().zip([1.2476e-3, 4.5401e-3, 5.5734e-3]) {
        assert!((moment - expected).abs() < 5e-7, "{moment} {expected}");
    }
    let off_diagonal =
        handle.inertia - nalgebra::Matrix3::from_diagonal(&handle.inertia.diagonal());
    assert!(off_diagonal.norm() < 1e-15);
    assert_eq!(load("t-handle", &[("dt", 0.001), ("duration", 40.0)]).scene.steps, 40_000);
}

#[test]
fn analytic_scenes_take_their_step_from_parameters() {
    let scene = load("rod-pendulum", &[("dt", 0.005)]).scene;
    assert_eq!((scene.dt, scene.steps), (0.005, 2000));
    assert_eq!([scene.bodies.len(), scene.joints.len()], [1, 1]);
}

#[test]
fn spring_scenes_have_the_stiffness_of_their_sources() {
    let stiffness = |name: &str| {
        let springs = load(name, &[]).scene.springs;
        springs.iter().map(|spring| spring.stiffness).collect::<Vec<_>>()
    };
    assert_eq!(stiffness("two-springs"), [100.0, 1e6]);
    let (stiff, soft) = (1e7, 1e3);
    let mut chain = [stiff, soft].repeat(5);
    chain.push(stiff);
    assert_eq!(stiffness("spring-chain"), chain);
    assert_eq!(stiffness("spring"), [100.0]);
    assert_eq!(stiffness("spring-ratio"), [1e4, 10.0, 1e4, 10.0, 1e4, 10.0, 1e4]);
    let ratio = load("spring-ratio", &[]).scene;
    let x: Vec<f64> = ratio.bodies[1..].iter().map(|body| body.position.x).collect();
    assert_eq!(x, [-10.5, -7.5, -4.5, -1.5, 1.5, 4.5, 7.5, 10.5]);
    assert_eq!(ratio.bodies[4].mass, 0.5625);
    assert_eq!(load("spring-chain", &[]).scene.bodies[1].mass, 0.5);
    assert_eq!(counts(&load("spring-chain", &[("links", 4.0)])), [4, 0, 0, 3]);
}

#[test]
fn the_flag_has_the_counts_of_the_paper() {
    let loaded = load("flag", &[]);
    // 2,920 structural and 2,842 shear springs, 19 angular ones in the pole, two attachments.
    assert_eq!(counts(&loaded), [20, 1500, 21, 2920 + 2842 + 19]);
    let scene = &loaded.scene;
    assert_eq!(scene.joints[19].a, Endpoint::Particle(29));
    assert_eq!(scene.joints[20].b, Endpoint::Body(8));
    // The corner lies on the surface of its segment.
    assert!((scene.joints[20].anchor_b - nalgebra::Vector3::new(0.05, 0.0, -0.075)).norm() < 1e-12);
    assert_eq!(
        counts(&load("flag", &[("columns", 5.0), ("rows", 4.0)])),
        [20, 20, 21, 31 + 24 + 19]
    );
}

#[test]
fn soft_blocks_join_their_face_neighbours() {
    let loaded = load("soft-body", &[]);
    // 144 neighbours in a block, 24 of them between two cubes of the held layer.
    assert_eq!(counts(&loaded), [1 + 3 * 64, 0, 3 * (144 - 24), 0]);
    let held = loaded.scene.bodies.iter().filter(|body| !body.is_dynamic()).count();
    assert_eq!(held, 1 + 3 * 16);
    assert_eq!(
        counts(&load("soft-body", &[("n", 10.0), ("blocks", 1.0)])),
        [1001, 0, 2700 - 180, 0]
    );
}

#[test]
fn the_net_has_the_counts_of_the_paper() {
    for n in [10, 20, 50] {
        let scene = load("net", &[("n", f64::from(n))]).scene;
        let n = usize::try_from(n).unwrap();
        assert_eq!(scene.bodies.len(), 3 * n * n - 2 * n);
        assert_eq!(scene.joints.len(), 4 * n * (n - 1) + 4);
        assert_eq!(scene.bodies[scene.watch[0]].name, format!("net_hub[{},{}]", n / 2, n / 2));
    }
}

#[test]
fn orbiting_balls_start_without_relative_speed_at_any_joint() {
    let loaded = load("two-heavy-balls", &[]);
    assert_eq!(counts(&loaded), [52, 0, 51, 0]);
    let state = loaded.scene.initial_state();
    for joint in &loaded.scene.joints {
        let speed = |end, anchor: &nalgebra::Vector3<f64>| match end {
            Endpoint::Body(i) => state.bodies[i].velocity + state.bodies[i].frame_rate * anchor,
            _ => panic!("no other ends here"),
        };
        let gap = speed(joint.a, &joint.anchor_a) - speed(joint.b, &joint.anchor_b);
        assert!(gap.norm() < 1e-12, "{gap}");
    }
    assert_eq!(loaded.scene.bodies[51].velocity.y, 5.0);
}

#[test]
fn the_zoo_has_every_kind_hard_and_compliant() {
    let scene = load("joint-zoo", &[]).scene;
    let kinds = |soft: bool| {
        let joints = scene.joints.iter().filter(|joint| (joint.compliance_linear > 0.0) == soft);
        let mut kinds: Vec<String> = joints
            .map(|joint| format!("{:?}", joint.kind).split(' ').next().unwrap().to_owned())
            .collect();
        kinds.sort();
        kinds.dedup();
        kinds
    };
    assert_eq!(kinds(false).len(), 7);
    assert_eq!(kinds(true).len(), 7);
    assert_eq!(scene.joints.iter().filter(|joint| joint.motor.is_some()).count(), 3);
    assert_eq!(scene.joints.iter().filter(|joint| joint.limit.is_some()).count(), 5);
}
