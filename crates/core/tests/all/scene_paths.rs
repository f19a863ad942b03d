//! Paths and trees: generators whose members follow expressions of their index.

use taut_core::{
    Scene, Vec3,
    constraint::{Geometry, Pose, RowKind},
    load::{load_str, load_str_within},
    scene::{Endpoint, Joint, JointKind},
};

fn load(bodies: &str) -> Scene {
    let text = format!("(contacts: false, bodies: [{bodies}])");
    let loaded = load_str(&text, "test", &[]).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(loaded.warnings, Vec::<String>::new());
    loaded.scene
}

const LINK: &str = "body: (shape: box(size: (2, 0.1, 0.2)), density: 1), joint: ball()";

fn anchor(scene: &Scene, joint: &Joint, b: bool) -> Vec3 {
    let (end, local) = if b { (joint.b, joint.anchor_b) } else { (joint.a, joint.anchor_a) };
    match end {
        Endpoint::Body(i) => scene.bodies[i].position + scene.bodies[i].rotation * local,
        _ => local,
    }
}

#[test]
fn links_lie_end_to_end_along_the_path() {
    let scene = load(&format!(
        "path(name: \"l\", count: 4, start: (1, 0, 0), along: (\"2 - 4*(i % 2)\", 0, \"0.1*i\"), root: \"world\", {LINK})"
    ));
    let nodes = [
        Vec3::new(1.0, 0.0, 0.0),
        Vec3::new(3.0, 0.0, 0.0),
        Vec3::new(1.0, 0.0, 0.1),
        Vec3::new(3.0, 0.0, 0.3),
        Vec3::new(1.0, 0.0, 0.6),
    ];
    assert_eq!([scene.bodies.len(), scene.joints.len()], [4, 4]);
    for (i, body) in scene.bodies.iter().enumerate() {
        assert!((body.position - (nodes[i] + nodes[i + 1]) / 2.0).norm() < 1e-14);
        let along = (nodes[i + 1] - nodes[i]).normalize();
        assert!((body.rotation * Vec3::x() - along).norm() < 1e-14, "link {i}");
        assert_eq!(body.name, format!("l[{i}]"));
    }
    for (i, joint) in scene.joints.iter().enumerate() {
        assert_eq!(joint.kind, JointKind::Ball);
        assert!((anchor(&scene, joint, false) - nodes[i]).norm() < 1e-14);
        assert!((anchor(&scene, joint, true) - nodes[i]).norm() < 1e-14);
    }
}

#[test]
fn links_of_a_path_have_the_same_anchors_to_the_last_bit() {
    let along = "(1.2, 0, \"1.6*(1 - 2*(i % 2))\")";
    let scene = load(&format!(
        "path(name: \"l\", count: 9, start: (1e6, 0.3, 0.7), along: {along}, tip: \"world\", pin_every: 3, {LINK})"
    ));
    let along_x = |x: f64| Vec3::new(x, 0.0, 0.0);
    for joint in &scene.joints {
        let ends = [(joint.a, joint.anchor_a), (joint.b, joint.anchor_b)];
        for (side, (end, anchor)) in ends.into_iter().enumerate() {
            if end != Endpoint::World {
                assert_eq!(anchor, along_x([1.0, -1.0][side]), "{joint:?}");
            }
        }
        let gap = anchor(&scene, joint, true) - anchor(&scene, joint, false);
        assert!(gap.norm() < 1e-9, "{joint:?}: {gap:?}");
    }
}

#[test]
fn a_path_straight_back_is_turned_half_round() {
    let scene =
        load(&format!("path(name: \"l\", count: 2, start: (0, 0, 0), along: (-2, 0, 0), {LINK})"));
    assert!((scene.bodies[0].rotation * Vec3::x() + Vec3::x()).norm() < 1e-15);
    assert_eq!(scene.joints.len(), 1);
}

#[test]
fn a_path_closes_to_a_loop_and_is_pinned_at_intervals() {
    let round = "(\"cos(2*pi*i/6)\", \"sin(2*pi*i/6)\", 0)";
    let scene = load(&format!(
        "path(name: \"l\", count: 6, start: (0, 0, 0), along: {round}, tip: \"l[0]\", pin_every: 2, {LINK})"
    ));
    let ends: Vec<[Endpoint; 2]> = scene.joints.iter().map(|j| [j.a, j.b]).collect();
    let body = Endpoint::Body;
    let expected = [
        [body(0), body(1)],
        [body(1), body(2)],
        [Endpoint::World, body(2)],
        [body(2), body(3)],
        [body(3), body(4)],
        [Endpoint::World, body(4)],
        [body(4), body(5)],
        [body(5), body(0)],
    ];
    assert_eq!(ends, expected);
    for joint in &scene.joints {
        assert!((anchor(&scene, joint, false) - anchor(&scene, joint, true)).norm() < 1e-14);
    }
}

#[test]
fn a_path_needs_a_direction_and_an_end_that_exists() {
    let refused = |rest: &str| {
        let text = format!(
            "(contacts: false, bodies: [path(name: \"l\", count: 3, start: (0, 0, 0), {rest}, {LINK})])"
        );
        load_str(&text, "test", &[]).unwrap_err().to_string()
    };
    assert!(refused("along: (\"1 - i\", 0, 0)").contains("path.along: expected a direction"));
    assert!(refused("along: (1, 0, 0), tip: \"l[3]\"").contains("path.tip: no member [3]"));
    assert!(refused("along: (1, 0, 0), pin_every: 0").contains("path.pin_every"));
    assert!(refused("along: (1, 0, 0), root: \"m\"").contains("path.root"));
}

fn tree(rest: &str) -> String {
    format!(
        "tree(name: \"t\", start: (0, 0, 0), root: \"world\", length: 1, {rest}, \
         body: (shape: cylinder(radius: 0.1, length: 1), density: 1), joint: ball())"
    )
}

#[test]
fn a_tree_ends_at_its_count_in_the_middle_of_a_level() {
    let scene = load(&tree("depth: 9, count: 12, branches: \"1 + i % 2\", spread: 30"));
    // Levels of 1, 2, 2, 4 and 3 of 4.
    assert_eq!([scene.bodies.len(), scene.joints.len()], [12, 12]);
    let parents: Vec<Endpoint> = scene.joints.iter().map(|joint| joint.a).collect();
    let expected = [0, 0, 1, 2, 3, 3, 4, 4, 5, 6, 7].map(Endpoint::Body);
    assert_eq!(parents[0], Endpoint::World);
    assert_eq!(parents[1..], expected);
    for joint in &scene.joints {
        assert!((anchor(&scene, joint, false) - anchor(&scene, joint, true)).norm() < 1e-14);
    }
}

#[test]
fn endless_trees_are_refused_at_once() {
    let huge = tree("depth: 1e15, branches: 1, spread: 0");
    let text = format!("(contacts: false, bodies: [{huge}])");
    let message = load_str_within(&text, "test", &[], 1000).unwrap_err().to_string();
    assert!(message.contains("would make"), "{message}");
}

#[test]
fn branches_sag_to_the_vertical_and_no_further() {
    let scene = load(&tree(
        "depth: 10, branches: 1, spread: \"5*floor(1/i + 0.01)\", sag: \"40*floor(0.6 + 0.1*i)\"",
    ));
    let down = |i: usize| (scene.bodies[i].rotation * Vec3::z()).z;
    assert!(down(0) == 1.0, "the trunk is upright");
    for i in 4..9 {
        assert!(down(i + 1) <= down(i) + 1e-12, "{i}");
    }
    assert!((down(9) + 1.0).abs() < 1e-9, "{}", down(9));
}

#[test]
fn springs_of_generators_rest_and_vanish_without_stiffness() {
    let springs = |stiffness: &str| {
        let rest =
            format!("depth: 3, branches: 2, spread: 30, spring: angular(stiffness: {stiffness})");
        load(&tree(&rest)).springs
    };
    assert_eq!(springs("0").len(), 0);
    let scene = load(&tree("depth: 3, branches: 2, spread: 30, spring: angular(stiffness: 5)"));
    assert_eq!(scene.springs.len(), 7);
    let state = scene.initial_state();
    for spring in &scene.springs {
        let [a, b] = [spring.a, spring.b].map(|end| Pose::of(end, &state));
        for axis in 0..3 {
            let row = RowKind::Turn(axis);
            assert!(row.evaluate(&Geometry::from(spring), &a, &b).value.abs() < 1e-14);
        }
    }
}
