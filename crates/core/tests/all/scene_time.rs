//! Paths, forces and damping: what they load as, and what is wrong with those that do not.

use std::fmt::Write as _;

use taut_core::{
    Needs, Vec3,
    load::{Loaded, load_str},
    scene::{DrivePath, ForceKind},
    wire::Versioned,
};

fn load(lists: &str) -> Loaded {
    let text = format!("(contacts: false, parameters: {{ \"width\": 0.5 }}, {lists})");
    load_str(&text, "test", &[]).unwrap_or_else(|error| panic!("{error}"))
}

const ARM: &str = "body(name: \"arm\", shape: box(size: (1, 1, 1)), density: 1)";

#[test]
fn a_path_knows_parameters_indices_and_the_centre_of_mass() {
    let loaded = load(&format!(
        "bodies: [{ARM}, repeat(count: 2, bodies: [
            body(name: \"swing[i]\", shape: hull(points: [(0,0,0), (1,0,0), (0,1,0), (0,0,1)]),
                motion: path(position: (\"width*sin(2*t) + i\", 0, 1), rotation: axis_angle(axis: (0, 0, 1), degrees: \"90*t\"))),
        ])]"
    ));
    let scene = &loaded.scene;
    assert!(Needs::of(scene).covers(Needs::PATHS.with(Needs::DRIVEN)));
    assert_eq!(scene.drives.len(), 2);
    let centre = Vec3::repeat(0.25);
    for (i, drive) in scene.drives.iter().enumerate() {
        assert_eq!(drive.body, 1 + i);
        let body = &scene.bodies[drive.body];
        assert!((body.position - Vec3::new(i as f64, 0.0, 1.0) - centre).norm() < 1e-15);
        // 2 width along x, and the turn about the shape's own origin.
        let turn = Vec3::z() * std::f64::consts::FRAC_PI_2;
        let velocity = Vec3::x() + turn.cross(&centre);
        assert!((body.velocity - velocity).norm() + (body.omega - turn).norm() < 1e-5);
        let (position, rotation) = drive.path.pose(1.0);
        let turned = Vec3::new(-0.25, 0.25, 0.25);
        let x = 0.5 * 2.0_f64.sin() + i as f64;
        assert!((position - Vec3::new(x, 0.0, 1.0) - turned).norm() < 1e-15);
        assert!((rotation.scaled_axis() - turn).norm() < 1e-15);
    }
}

#[test]
fn an_interval_is_a_path_and_forces_find_their_bodies_and_joints() {
    let loaded = load(&format!(
        "bodies: [{ARM}, body(name: \"lift\", shape: sphere(radius: 1), motion: kinematic, velocity: (0, 0, 2), during: (1, 3))],
        joints: [hinge(name: \"elbow\", a: \"world\", b: \"arm\", at: (0, 0, 0), axis: (1, 0, 0), damping: 0.5)],
        springs: [linear(a: \"lift\", b: \"arm\", stiffness: 0, damping: 4)],
        forces: [force(on: \"arm\", at: (0, 0, \"width\"), force: (0, \"3*t\", 0)), effort(joint: \"elbow\", effort: -1)]"
    ));
    let scene = &loaded.scene;
    assert!(loaded.warnings.is_empty(), "{:?}", loaded.warnings);
    assert!(matches!(scene.drives[0].path, DrivePath::During { from_s: 1.0, to_s: 3.0, .. }));
    assert_eq!((scene.bodies[1].velocity, scene.springs[0].damping), (Vec3::zeros(), 4.0));
    let ForceKind::Force { body: 0, at, force } = &scene.forces[0].kind else { panic!() };
    assert_eq!((at.z, force[1].at(2.0)), (0.5, 6.0));
    assert!(matches!(scene.forces[1].kind, ForceKind::Effort { joint: 0, .. }));
    let all = Needs::TIMED.with(Needs::DAMPING);
    assert!(Needs::of(scene).covers(all));
    let refused = Needs::ALL.without(Needs::DAMPERS).refuse(scene).expect_err("it is damped").0;
    assert_eq!(refused, "takes no damped springs, such as spring 0");
    let sent = serde_json::to_string(&Versioned::new(scene)).unwrap();
    let back: Versioned<taut_core::Scene> = serde_json::from_str(&sent).unwrap();
    assert_eq!(back.content, *scene);
}

#[test]
fn mistakes_are_told() {
    let with = |list: &str, entry: &str| {
        let base = "body(name: \"base\", shape: box(size: (1, 1, 1)), motion: static)";
        let extra = if list == "bodies" { entry } else { "" };
        let lists = if list == "bodies" { String::new() } else { format!(", {list}: [{entry}]") };
        format!(
            "(contacts: false, parameters: {{ \"width\": 0.5 }},\n bodies: [{base}, {ARM},\n  {extra}]{lists})"
        )
    };
    let ball = |rest: &str| {
        with("bodies", &format!("body(name: \"c\", shape: sphere(radius: 1), {rest})"))
    };
    let hinge = |rest: &str| {
        let ends = "a: \"base\", b: \"arm\", at: (0, 0, 0)";
        with("joints", &format!("hinge({ends}, axis: (1, 0, 0), {rest})"))
    };
    let path = |rest: &str| ball(&format!("motion: path({rest})"));
    let long = vec!["t"; 40].join("+");
    let cases = [
        (
            "damping below zero",
            with("springs", "linear(a: \"base\", b: \"arm\", stiffness: 1, damping: -1)"),
        ),
        (
            "angular damping below zero",
            with("springs", "angular(a: \"base\", b: \"arm\", stiffness: 1, damping: -1)"),
        ),
        ("joint damping below zero", hinge("damping: \"width - 1\"")),
        (
            "damping of a ball",
            with("joints", "ball(a: \"base\", b: \"arm\", at: (0, 0, 0), damping: 1)"),
        ),
        ("time in a mass", ball("mass: \"1 + t\"")),
        ("time in a position", ball("mass: 1, position: (\"t\", 0, 0)")),
        (
            "time in a stiffness",
            with("springs", "linear(a: \"base\", b: \"arm\", stiffness: \"2*t\")"),
        ),
        ("dynamic by a clock", ball("mass: 1, during: (0, 1)")),
        ("static by a clock", ball("motion: static, during: (0, 1)")),
        ("no time to move", ball("motion: kinematic, during: (1, 1)")),
        ("path and position", path("position: (0, 0, \"t\")), position: (0, 0, 1")),
        ("path and velocity", path("position: (0, 0, \"t\")), velocity: (0, 0, 1")),
        ("path without a start", path("position: (\"1/t\", 0, 0)")),
        ("path with an unknown name", path("position: (\"widht*t\", 0, 0)")),
        ("path about no axis", path("rotation: axis_angle(axis: (0, 0, 0), degrees: \"t\")")),
        ("path that is too long", path(&format!("position: (\"{long}\", 0, 0)"))),
        ("force on a static body", with("forces", "force(on: \"base\", force: (1, 0, 0))")),
        ("force on nobody", with("forces", "torque(on: \"amr\", torque: (1, 0, 0))")),
        ("effort at no joint", with("forces", "effort(joint: \"elbow\", effort: 1)")),
        ("unknown kind of force", with("forces", "push(on: \"arm\", force: (1, 0, 0))")),
    ];
    let mut lines = String::new();
    for (case, text) in cases {
        let error = load_str(&text, "bad.ron", &[]).err();
        let message = error.unwrap_or_else(|| panic!("{case} loads")).to_string();
        writeln!(lines, "{case}\n    {message}").unwrap();
    }
    insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
        insta::assert_snapshot!("time", lines);
    });
}
