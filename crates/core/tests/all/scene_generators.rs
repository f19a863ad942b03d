//! What the generators make, and how bodies and joints become flat.

use taut_core::{
    Quat, Scene, Vec3,
    constraint::{Geometry, Pose, RowKind, free_coordinate, locked_rows},
    load::load_str,
    scene::{Endpoint, Joint, JointKind, Motion, Shape, SpringKind},
};

/// A scene of these bodies, then these joints.
fn scene(bodies: &str, joints: &str) -> Scene {
    let text = format!("(contacts: false, bodies: [{bodies}], joints: [{joints}])");
    load_str(&text, "test", &[]).unwrap_or_else(|error| panic!("{error}")).scene
}

fn positions(scene: &Scene) -> Vec<[f64; 3]> {
    scene.bodies.iter().map(|body| body.position.into()).collect()
}

fn ends(scene: &Scene) -> Vec<[Endpoint; 2]> {
    scene.joints.iter().map(|joint| [joint.a, joint.b]).collect()
}

const CUBE: &str = "body: (shape: box(size: (1, 1, 1)), density: 1)";

#[test]
fn a_stack_stands_on_its_members() {
    // The official stack: bottoms 1.5 m apart, the lowest at z = 0.5.
    let stack =
        scene(&format!("stack(name: \"s\", count: 10, start: (0, 0, 0.5), gap: 0.5, {CUBE})"), "");
    let heights: Vec<f64> = stack.bodies.iter().map(|body| body.position.z).collect();
    assert_eq!(heights, (0..10).map(|i| 1.5 * f64::from(i) + 1.0).collect::<Vec<_>>());
    // Edges 1, 2, 4, 8, touching, from the ground's top at 0.5.
    let growing = "stack(name: \"s\", count: 4, start: (0, 0, 0.5), \
                   body: (shape: box(size: (\"2^i\", \"2^i\", \"2^i\")), density: 1))";
    let growing = scene(growing, "");
    let heights: Vec<f64> = growing.bodies.iter().map(|body| body.position.z).collect();
    assert_eq!(heights, [1.0, 2.5, 5.5, 11.5]);
    assert_eq!(growing.bodies[3].mass, 512.0);
}

#[test]
fn a_pyramid_has_the_demo_s_rows() {
    let pyramid = scene(
        "pyramid(name: \"p\", n: 16, start: (-8, 0, 0.5), along: (1.01, 0, 0), up: (0.5, 0, 0.85), \
         body: (shape: box(size: (1, 0.5, 0.5)), density: 1))",
        "",
    );
    assert_eq!(pyramid.bodies.len(), 136);
    let mut i = 0;
    for y in 0..16 {
        for x in 0..16 - y {
            let (x, y) = (f64::from(x), f64::from(y));
            let expected = Vec3::new(1.01 * x + 0.5 * y - 8.0, 0.0, 0.85 * y + 0.5);
            assert!((pyramid.bodies[i].position - expected).norm() < 1e-13);
            i += 1;
        }
    }
}

#[test]
fn a_wall_joins_left_and_down() {
    let wall = scene(
        &format!(
            "wall(name: \"w\", rows: 20, columns: 30, start: (0, 0, 0), along: (1, 0, 0), up: (0, 0, 0.5), \
             {CUBE}, joint: fixed())"
        ),
        "ball(a: \"world\", b: \"w[19,29]\", at: (0, 0, 0))",
    );
    assert_eq!([wall.bodies.len(), wall.joints.len()], [600, 29 * 20 + 30 * 19 + 1]);
    assert_eq!(wall.bodies[30].position.x, 0.5);
    assert_eq!(wall.joints.last().unwrap().b, Endpoint::Body(599));
}

#[test]
fn a_ring_closes_and_its_members_look_along_it() {
    let ring = scene(
        &format!(
            "ring(name: \"r\", count: 4, centre: (1, 0, 2), radius: 3, {CUBE}, joint: ball())"
        ),
        "",
    );
    let expected = [[4.0, 0.0], [1.0, 3.0], [-2.0, 0.0], [1.0, -3.0]];
    for (body, [x, y]) in ring.bodies.iter().zip(expected) {
        assert!((body.position - Vec3::new(x, y, 2.0)).norm() < 1e-14);
        let outward = (body.position - Vec3::new(1.0, 0.0, 2.0)) / 3.0;
        assert!((body.rotation * Vec3::x() - Vec3::z().cross(&outward)).norm() < 1e-14);
    }
    let body = Endpoint::Body;
    let expected = [[0, 1], [1, 2], [2, 3], [3, 0]].map(|pair| pair.map(body));
    assert_eq!(ends(&ring), expected);
}

#[test]
fn a_tree_branches_at_the_ends_of_its_segments() {
    let tree = scene(
        "tree(name: \"t\", depth: 3, branches: 2, start: (0, 0, 0), length: \"0.5^i\", spread: 90, root: \"world\", \
         body: (shape: capsule(radius: \"0.1*0.5^i\", length: \"0.5^i\"), density: 1), joint: ball())",
        "",
    );
    assert_eq!([tree.bodies.len(), tree.joints.len()], [7, 7]);
    assert!((tree.bodies[0].position - Vec3::new(0.0, 0.0, 0.5)).norm() < 1e-15);
    assert!((tree.bodies[1].position - Vec3::new(0.25, 0.0, 1.0)).norm() < 1e-15);
    assert!((tree.bodies[2].position - Vec3::new(-0.25, 0.0, 1.0)).norm() < 1e-15);
    let body = Endpoint::Body;
    assert_eq!(
        ends(&tree)[3..],
        [[body(1), body(3)], [body(1), body(4)], [body(2), body(5)], [body(2), body(6)]]
    );
    let parent_end = tree.bodies[1].position + tree.bodies[1].rotation * tree.joints[3].anchor_a;
    assert!((parent_end - Vec3::new(0.5, 0.0, 1.0)).norm() < 1e-15);
}

#[test]
fn a_grid_holds_what_it_is_told() {
    let held = |rule: &str| {
        let grid = scene(
            &format!(
                "grid(name: \"g\", counts: (3, 3, 2), start: (0, 0, 0), step: (1, 1, 1), {CUBE}, held: [{rule}])"
            ),
            "",
        );
        grid.bodies
            .iter()
            .filter(|body| body.motion == Motion::Static)
            .map(|body| body.name.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(held("corners").len(), 8);
    assert_eq!(held("last_z").len(), 9);
    assert_eq!(held("first_x, first_y").len(), 10);
    assert_eq!(held("member(1, 2, 0)"), ["g[1,2,0]"]);
}

#[test]
fn rounds_nest_and_name_what_they_make() {
    let rounds = scene(
        "repeat(count: 2, bodies: [repeat(count: 3, bodies: [\
           body(name: \"b[i,j]\", shape: sphere(radius: 1), mass: 1, position: (\"10*i\", \"2*j\", 0)),\
         ])])",
        "repeat(count: 2, joints: [ball(name: \"j[i]\", a: \"b[i,0]\", b: \"b[i,2]\", at: (0, 0, \"i\"))])",
    );
    assert_eq!(positions(&rounds)[4], [10.0, 2.0, 0.0]);
    assert_eq!(rounds.bodies[5].name, "b[1,2]");
    assert_eq!(ends(&rounds)[1], [Endpoint::Body(3), Endpoint::Body(5)]);
    assert_eq!(rounds.joints[1].name, "j[1]");
}

#[test]
fn the_origin_moves_to_the_centre_of_mass_and_anchors_with_it() {
    let text = "body(name: \"b\", density: 1, position: (0, 0, 5), \
                rotation: axis_angle(axis: (0, 0, 2), degrees: 90), \
                shape: compound(parts: [(shape: box(size: (1, 1, 1)), position: (2, 0, 0))]))";
    let moved =
        scene(text, "ball(a: \"world\", b: \"b\", anchor_a: (0, 0, 5), anchor_b: (0, 0, 0))");
    // The box is 2 m along the body's x axis, which points along the world's y.
    assert!((moved.bodies[0].position - Vec3::new(0.0, 2.0, 5.0)).norm() < 1e-15);
    let Shape::Compound { parts } = &moved.bodies[0].shape else { panic!("a compound stays one") };
    assert!(parts[0].position.norm() < 1e-15);
    assert!((moved.joints[0].anchor_b - Vec3::new(-2.0, 0.0, 0.0)).norm() < 1e-15);
    let by_place = scene(text, "ball(a: \"world\", b: \"b\", at: (0, 0, 5))");
    assert!((by_place.joints[0].anchor_b - moved.joints[0].anchor_b).norm() < 1e-15);
}

#[test]
fn rotations_may_be_written_in_four_ways() {
    let turned = |rotation: &str| {
        scene(&format!("body(shape: sphere(radius: 1), mass: 1, rotation: {rotation})"), "").bodies
            [0]
        .rotation
    };
    let about = |axis: Vec3, degrees: f64| Quat::from_scaled_axis(axis * degrees.to_radians());
    let expected = about(Vec3::z(), 30.0) * about(Vec3::y(), 20.0) * about(Vec3::x(), 10.0);
    assert!(turned("euler_degrees(10, 20, 30)").angle_to(&expected) < 1e-14);
    let steps = "sequence([axis_angle(axis: (5, 0, 0), degrees: 10), axis_angle(axis: (0, 1, 0), degrees: 20), \
                 axis_angle(axis: (0, 0, 0.1), degrees: 30)])";
    assert!(turned(steps).angle_to(&expected) < 1e-14);
    assert!(
        turned("quaternion(0, 0, \"sqrt(0.5)\", \"sqrt(0.5)\")").angle_to(&about(Vec3::z(), 90.0))
            < 1e-14
    );
}

/// Two turned boxes and a joint at their middle, with the joint's rows at the initial pose.
fn jointed(joint: &str) -> (Joint, f64, Option<f64>, Vec3) {
    let pair = scene(
        "body(name: \"a\", shape: box(size: (1, 1, 1)), density: 1, rotation: euler_degrees(10, 20, 30)), \
         body(name: \"b\", shape: box(size: (1, 1, 1)), density: 1, position: (1, 2, 0), \
              rotation: euler_degrees(-70, 40, 5))",
        joint,
    );
    let joint = pair.joints[0].clone();
    let state = pair.initial_state();
    let [a, b] = [joint.a, joint.b].map(|end| Pose::of(end, &state));
    let at = |row: RowKind| row.evaluate(&Geometry::from(&joint), &a, &b).value;
    let worst =
        locked_rows(&joint).map(|(row, target)| (at(row) - target).abs()).fold(0.0, f64::max);
    let axis = a.rotation * joint.basis_a * Vec3::x();
    (joint.clone(), worst, free_coordinate(joint.kind).map(at), axis)
}

#[test]
fn joints_rest_at_the_initial_pose() {
    let ends = "a: \"a\", b: \"b\", at: (0.5, 1, 0)";
    let axis = Vec3::new(1.0, 2.0, -2.0) / 3.0;
    for kind in ["hinge", "prismatic", "cylindrical"] {
        let (_, worst, free, world_axis) = jointed(&format!("{kind}({ends}, axis: (1, 2, -2))"));
        assert!(worst < 1e-14 && free.unwrap().abs() < 1e-14);
        assert!((world_axis - axis).norm() < 1e-14);
    }
    let universal = format!("universal({ends}, axis: (1, 2, -2), axis_b: (2, 0, 1))");
    let (joint, worst, _, world_axis) = jointed(&universal);
    assert!(worst < 1e-14 && joint.kind == JointKind::Universal);
    assert!((world_axis - axis).norm() < 1e-14);
    let (_, worst, _, _) = jointed(&format!("fixed({ends})"));
    assert!(worst < 1e-14);
    let (joint, worst, _, _) = jointed("distance(a: \"a\", b: \"b\")");
    assert!(worst < 1e-14 && joint.kind == JointKind::Distance { length: 5.0_f64.sqrt() });
}

#[test]
fn one_anchor_gives_the_other() {
    let (joint, worst, _, _) = jointed("ball(a: \"a\", b: \"b\", anchor_a: (0.5, 0, 0))");
    assert!(worst < 1e-15);
    assert_eq!(joint.anchor_a, Vec3::new(0.5, 0.0, 0.0));
}

#[test]
fn springs_rest_at_their_initial_length_unless_told() {
    let text = "(contacts: false, \
        bodies: [body(name: \"a\", shape: sphere(radius: 1), mass: 1, position: (0, 3, 4))], \
        particles: [particle(name: \"p\", mass: 1, position: (0, 0, 0))], \
        springs: [linear(a: \"p\", b: \"a\", stiffness: 7), linear(a: \"world\", b: \"a\", stiffness: 7, rest_length: 2)])";
    let springs = load_str(text, "test", &[]).unwrap().scene.springs;
    let rest = |i: usize| match springs[i].kind {
        SpringKind::Linear { rest_length, .. } => rest_length,
        SpringKind::Angular { .. } => panic!("both are linear"),
    };
    assert_eq!([rest(0), rest(1)], [5.0, 2.0]);
    assert_eq!(springs[0].a, Endpoint::Particle(0));
}

#[test]
fn warnings_name_what_is_probably_not_meant() {
    let text = "(bodies: [
        body(name: \"floor\", shape: box(size: (9, 9, 1)), motion: static),
        body(name: \"wall\", shape: box(size: (1, 9, 9)), motion: static, position: (5, 0, 0)),
        body(name: \"free\", shape: box(size: (1, 1, 1)), density: 1, position: (0, 0, 3)),
    ], joints: [
        fixed(name: \"corner\", a: \"floor\", b: \"wall\", at: (4.5, 0, 0)),
        ball(name: \"open\", a: \"world\", b: \"free\", anchor_a: (0, 0, 4), anchor_b: (0, 0, 0.5)),
    ])";
    let warnings = load_str(text, "test", &[]).unwrap().warnings;
    assert_eq!(
        warnings,
        [
            "`open` starts violated by 5.000e-1 m and 0.000e0 rad",
            "`corner` connects two immovable ends",
        ]
    );
    let still = "(contacts: false, bodies: [body(shape: sphere(radius: 1), motion: static)])";
    assert_eq!(load_str(still, "test", &[]).unwrap().warnings, ["nothing in the scene is dynamic"]);
}

#[test]
fn a_large_group_has_no_names_but_resolves() {
    let text = "(contacts: false, bodies: [chain(name: \"link\", count: 150000, start: (0, 0, 0), step: (1, 0, 0), \
                body: (shape: box(size: (1, 0.1, 0.1)), density: 1), joint: ball())], watch: [\"link[149999]\"])";
    let scene = load_str(text, "test", &[]).unwrap().scene;
    assert_eq!((scene.bodies.len(), scene.joints.len()), (150_000, 149_999));
    assert_eq!(scene.watch, [149_999]);
    assert!(scene.bodies[7].name.is_empty());
}
