//! Meshes as the surfaces of bodies: what they weigh, and what is said of those that are no surface of a body.

use std::{fmt::Write as _, fs, sync::Arc};

use taut_core::{
    Vec3,
    load::{Loaded, SceneError, load_file},
    scene::{Body, Shape},
};

/// A box of 1, 2 and 3 m with a corner at the origin, of squares and, on top, triangles.
const BOX: &str = "# a box
v 0 0 0\nv 1 0 0\nv 1 2 0\nv 0 2 0\nv 0 0 3\nv 1 0 3\nv 1 2 3\nv 0 2 3
f 1 4 3 2\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\nf 5 6 7\nf 5 7 8\n";

fn load(text: &[u8], body: &str) -> Result<Loaded, SceneError> {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("gear.obj"), text).expect("a file");
    let scene = folder.path().join("scene.ron");
    fs::write(&scene, format!("(contacts: false, bodies: [body(name: \"gear\", {body})])"))
        .expect("a file");
    load_file(&scene, &[])
}

fn first(text: &str, body: &str) -> Body {
    load(text.as_bytes(), body).unwrap_or_else(|error| panic!("{error}")).scene.bodies[0].clone()
}

const FILE: &str = "density: 2, shape: mesh(file: \"gear.obj\")";

fn snapshot(name: &str, told: &str) {
    insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
        insta::assert_snapshot!(name, told);
    });
}

#[test]
fn a_box_on_file_is_a_box() {
    let body = first(BOX, &format!("{FILE}, position: (10, 0, 0)"));
    let solid = Body::solid_box(Vec3::new(1.0, 2.0, 3.0), 2.0);
    assert!((body.mass - solid.mass).abs() < 1e-12);
    assert!((body.inertia - solid.inertia).norm() < 1e-12);
    // Its origin is moved to its centre of mass, and its vertices with it.
    assert!((body.position - Vec3::new(10.5, 1.0, 1.5)).norm() < 1e-14);
    let [low, high] = <[Vec3; 2]>::from(body.shape.bounds());
    assert!((high - Vec3::new(0.5, 1.0, 1.5)).norm() < 1e-14 && (low + high).norm() < 1e-14);
    let Shape::Mesh { vertices, triangles, control } = &body.shape else { panic!("a mesh") };
    assert_eq!((vertices.len(), triangles.len(), control), (8, 12, &None));
    assert!((body.shape.volume() - 6.0).abs() < 1e-12);
}

#[test]
fn what_does_not_move_by_forces_stays_and_may_be_open() {
    let open = BOX.replace("f 5 6 7\n", "");
    for motion in ["static", "kinematic"] {
        let words = format!("motion: {motion}, shape: mesh(file: \"gear.obj\", scale: 0.5)");
        let body = first(&open, &words);
        assert_eq!((body.mass, body.position), (0.0, Vec3::zeros()));
        let [low, high] = <[Vec3; 2]>::from(body.shape.bounds());
        assert_eq!([low, high], [Vec3::zeros(), Vec3::new(0.5, 1.0, 1.5)]);
    }
}

#[test]
fn a_scale_and_control_points_are_taken() {
    let points = "((1, 0, 0), (0, 1, 0), (0, 0, 1), (0, 0, 0))";
    let words = format!("density: 2, shape: mesh(file: \"gear.obj\", scale: 2, control: {points})");
    let body = first(BOX, &words);
    assert!((body.mass - 96.0).abs() < 1e-10);
    let Shape::Mesh { control: Some(points), .. } = &body.shape else { panic!("control points") };
    // As written they count from the file's origin, in the body from its centre.
    let corner = Vec3::new(1.0, 2.0, 3.0);
    let expected = [Vec3::x(), Vec3::y(), Vec3::z(), Vec3::zeros()].map(|p| p - corner);
    assert!(points.iter().zip(expected).all(|(p, q)| (p - q).norm() < 1e-14));
}

#[test]
fn bodies_share_what_they_read() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("gear.obj"), BOX).expect("a file");
    let scene = folder.path().join("scene.ron");
    let repeated = format!("repeat(count: 3, bodies: [body(name: \"b[i]\", {FILE})])");
    let held = "body(name: \"h\", motion: static, shape: mesh(file: \"gear.obj\"))";
    let again = held.replace("\"h\"", "\"g\"");
    fs::write(&scene, format!("(bodies: [{repeated}, {held}, {again}])")).expect("a file");
    let bodies = load_file(&scene, &[]).expect("a scene").scene.bodies;
    let vertices = |i: usize| match &bodies[i].shape {
        Shape::Mesh { vertices, .. } => vertices.clone(),
        _ => panic!("a mesh"),
    };
    assert!(Arc::ptr_eq(&vertices(3), &vertices(4)));
    assert_eq!(vertices(0), vertices(2));
}

#[test]
fn tubes_are_closed_and_turned_outward() {
    // A torus of many segments weighs nearly as the round one, and has its centre where it is written.
    let torus = |across: &str| {
        format!(
            "density: 1, shape: tube(around: 40, along: 120, looped: true, vertex: (
                \"(2 + 0.5*cos(2*pi*u/40))*cos(2*pi*v/120)\",
                \"(2 + 0.5*cos(2*pi*u/40))*sin(2*pi*v/120)\",
                \"{across}0.5*sin(2*pi*u/40)\"))"
        )
    };
    let exact = 2.0 * std::f64::consts::PI.powi(2) * 2.0 * 0.25;
    for across in ["", "-"] {
        let body = first("", &torus(across));
        assert!((body.mass / exact - 1.0).abs() < 6e-3, "{}", body.mass);
        assert!(body.position.norm() < 1e-12);
    }
    let rod = "density: 1, shape: tube(around: 4, along: 3, vertex: (
        \"cos(pi*u/2)\", \"sin(pi*u/2)\", \"v\"))";
    let body = first("", rod);
    let Shape::Mesh { vertices, triangles, .. } = &body.shape else { panic!("a mesh") };
    assert_eq!((vertices.len(), triangles.len()), (14, 24));
    assert!((body.mass - 4.0).abs() < 1e-12 && (body.position - Vec3::z()).norm() < 1e-14);
}

/// What is said of files, in the shape of a dynamic body.
#[test]
fn files_that_are_no_surface_of_a_body() {
    let quad = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n";
    let line = |number: usize, text: &str| {
        let mut lines: Vec<&str> = BOX.lines().collect();
        lines[number - 1] = text;
        lines.join("\n")
    };
    let inside_out = BOX
        .lines()
        .map(|line| match line.split_whitespace().collect::<Vec<_>>()[..] {
            ["f", a, b, c] => format!("f {a} {c} {b}\n"),
            ["f", a, b, c, d] => format!("f {a} {d} {c} {b}\n"),
            _ => format!("{line}\n"),
        })
        .collect::<String>();
    let mut told = String::new();
    for (what, text) in [
        ("open", line(15, "")),
        ("one face turned", line(15, "f 5 7 6")),
        ("inside out", inside_out),
        ("empty", String::new()),
        ("no face", quad.to_owned()),
        ("no area", line(15, "f 5 6 7\nf 5 6 6")),
        ("unused vertex", line(16, "f 5 7 8\nv 9 9 9")),
        ("vertex not a number", line(4, "v 1 nan 0")),
        ("vertex of two numbers", line(4, "v 1 2")),
        ("index too high", line(11, "f 1 2 6 9")),
        ("index zero", line(11, "f 0 2 6 5")),
        ("index before the first", line(11, "f -9 2 6 5")),
        ("index a word", line(11, "f one 2 6 5")),
        ("face of two corners", line(11, "f 1 2")),
        ("face that is bent", line(8, "v 1.5 2 3")),
        (
            "face that is hollow",
            line(15, "v 0.1 0.9 3\nf 5 9 7 8\nf 5 6 9\nf 6 7 9").replace("f 5 7 8\n", ""),
        ),
    ] {
        let error = load(text.as_bytes(), FILE).expect_err(what);
        assert!(error.position.is_some() && error.message.contains("body `gear`"), "{error}");
        let message = error.message.rsplit_once("gear.obj").expect("the file").1;
        writeln!(told, "{what}: {}: {message}", error.field).unwrap();
    }
    let error = load(&[0xff, 0xfe], FILE).expect_err("not UTF-8");
    assert!(error.message.contains("gear.obj: expected text"), "{error}");
    let missing = "density: 1, shape: mesh(file: \"wheel.obj\")";
    let error = load(b"", missing).expect_err("missing");
    assert!(error.message.contains("wheel.obj: no such file"), "{error}");
    assert_eq!(error.field, "bodies[0].shape.file");
    snapshot("body_meshes", &told);
}

#[test]
fn words_that_do_not_go_together() {
    let corners = "vertices: [(0,0,0), (1,0,0), (0,1,0)], triangles: [(0,1,2)]";
    let mut told = String::new();
    let rod = |rest: &str| {
        format!(
            "tube(around: 4, along: 3, vertex: (\"cos(pi*u/2)\", \"sin(pi*u/2)\", \"v\"), {rest})"
        )
    };
    for shape in [
        "mesh()".to_owned(),
        format!("mesh(file: \"gear.obj\", {corners})"),
        format!("mesh(scale: 2, {corners})"),
        "mesh(vertices: [(0,0,0)])".to_owned(),
        "mesh(triangles: [(0,0,0)])".to_owned(),
        "mesh(file: \"gear.stl\")".to_owned(),
        "mesh(file: \"gear.obj\", scale: 0)".to_owned(),
        "mesh(file: \"gear.obj\", control: ((0,0,0), (1,0,0), (0,1,0), (1,1,0)))".to_owned(),
        "mesh(file: \"gear.obj\", control: ((0,0,0), (1,0,0), (0,1,0)))".to_owned(),
        rod("control: ((0,0,0), (0,0,0), (0,1,0), (1,1,1))"),
        rod("").replace("around: 4", "around: 2"),
        rod("").replace("along: 3", "along: 1"),
        rod("looped: true").replace("along: 3", "along: 2"),
        rod("").replace("around: 4", "around: 1e9"),
        rod("").replace("\"v\"", "0"),
        rod("").replace("\"v\"", "\"w\""),
        format!("mesh({corners})"),
        "mesh(vertices: [(0,0,0), (1,0,0), (0,1,0)], triangles: [(0,1,2), (0,2,1)])".to_owned(),
        "mesh(vertices: [(0,0,0), (1,0,0), (0,1,0), (5,6,7)], triangles: [(0,1,2)])".to_owned(),
        format!("compound(parts: [(shape: {})])", rod("")),
    ] {
        let body = format!("density: 1, shape: {shape}");
        let error = load(BOX.as_bytes(), &body).expect_err(&shape);
        let message =
            error.message.rsplit_once("/gear").map_or(error.message.as_str(), |(_, end)| end);
        writeln!(told, "{shape}\n    {}: {message}", error.field).unwrap();
    }
    snapshot("mesh_words", &told);
}
