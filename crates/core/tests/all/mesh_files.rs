//! Meshes from files beside a scene: what is read, and what is said of files that are not right.

use std::fs;

use taut_core::load::{Loaded, SceneError, load_file};

const CLOTH: &str = "density: 100, thickness: 1e-3, membrane: (young: 1e5, poisson: 0.3)";
const SOLID: &str = "density: 1000, elastic: (young: 1e6, poisson: 0.3)";

const OBJ: &str = "# a square of two triangles, and one corner that nothing has
v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 9 9 9
o one\nf 1 2 3\no two\nf 1 3 4\n";

const NODE: &str = "# five corners\n5 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n5 1 1 1\n";
const ELE: &str = "2 4 0\n1 1 2 3 4\n2 2 3 5 4 # whichever way\n";

/// Loads a scene with a mesh from a folder with these files.
fn load(files: &[(&str, &str)], mesh: &str) -> Result<Loaded, SceneError> {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        fs::write(folder.path().join(name), text).expect("a file");
    }
    let scene = folder.path().join("scene.ron");
    let text = format!("(contacts: false, particles: [mesh(name: \"m\", {mesh})])");
    fs::write(&scene, text).expect("a file");
    load_file(&scene, &[])
}

fn refused(files: &[(&str, &str)], mesh: &str) -> String {
    load(files, mesh).expect_err("it is refused").to_string()
}

#[test]
fn triangles_come_from_an_obj_whose_groups_share_points() {
    let mesh = format!("file: \"square.obj\", scale: 2, position: (0, 0, 1), bending: (), {CLOTH}");
    let loaded = load(&[("square.obj", OBJ)], &mesh).unwrap();
    let scene = &loaded.scene;
    assert_eq!((scene.particles.len(), scene.triangles.len(), scene.bends.len()), (4, 2, 1));
    let mass: f64 = scene.particles.iter().map(|particle| particle.mass).sum();
    assert!((mass - 100.0 * 1e-3 * 4.0).abs() < 1e-12);
    assert!(scene.particles.iter().all(|particle| particle.position.z == 1.0));
    assert_eq!(scene.particles[2].name, "m[2]");
}

#[test]
fn tetrahedra_come_from_node_and_ele_and_are_set_upright() {
    let files = [("a.node", NODE), ("a.ele", ELE)];
    let loaded = load(&files, &format!("file: \"a.ele\", {SOLID}")).unwrap();
    assert_eq!((loaded.scene.particles.len(), loaded.scene.tetrahedra.len()), (5, 2));
    let mass: f64 = loaded.scene.particles.iter().map(|particle| particle.mass).sum();
    assert!((mass - 1000.0 * (1.0 / 6.0 + 1.0 / 3.0)).abs() < 1e-9, "{mass}");
    let from_zero = [
        ("a.node", "4 3 0 0\n0 0 0 0\n1 1 0 0\n2 0 1 0\n3 0 0 1\n"),
        ("a.ele", "1 4 0\n0 0 2 1 3\n"),
    ];
    let loaded = load(&from_zero, &format!("file: \"a.ele\", {SOLID}")).unwrap();
    assert!(loaded.warnings[0].contains("1 tetrahedra inside out"), "{:?}", loaded.warnings);
}

#[test]
fn files_that_are_not_right_are_told_with_their_line() {
    let cloth = format!("file: \"m.obj\", {CLOTH}");
    let solid = format!("file: \"m.ele\", {SOLID}");
    let node = ("m.node", NODE);
    for (files, mesh, message) in [
        (vec![], &cloth, "m.obj: no such file"),
        (
            vec![("m.obj", "v 0 0 0\nf 1 2 3\n")],
            &cloth,
            "m.obj:2: there is no vertex 2: the file has 1",
        ),
        (vec![("m.obj", "v 0 0 0\n")], &cloth, "no element"),
        (vec![("m.obj", "v a b c\n")], &cloth, "m.obj:1: expected three coordinates"),
        (
            vec![("m.obj", "v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n")],
            &cloth,
            "triangle 0: expected the corners",
        ),
        (vec![node], &solid, "m.ele: no such file"),
        (vec![node, ("m.ele", "1 4 0\n1 1 2 3\n")], &solid, "m.ele:2: expected a tetrahedron's"),
        (
            vec![node, ("m.ele", "2 4 0\n1 1 2 3 4\n")],
            &solid,
            "the file ends where a tetrahedron's",
        ),
        (vec![node, ("m.ele", "1 4 0\n1 1 2 3 6\n")], &solid, "m.ele:2: there is no node 6"),
        (vec![node, ("m.ele", "1 4 0\n1 1 2 2 3\n")], &solid, "node 2 is there twice"),
        (vec![node, ("m.ele", "1 10 0\n")], &solid, "of 4 nodes, found 10"),
        (
            vec![("m.node", "1 3 0 0\n1 0 x 0\n"), ("m.ele", ELE)],
            &solid,
            "m.node:2: expected a coordinate",
        ),
        (vec![("m.node", "1 2 0 0\n1 0 0\n"), ("m.ele", ELE)], &solid, "found dimension 2"),
        (vec![("m.node", "99999999999 3 0 0\n"), ("m.ele", ELE)], &solid, "at most"),
        (vec![("m.node", "1 3 0 0\n1 0 nan 0\n"), ("m.ele", "0 4 0\n")], &solid, "no element"),
    ] {
        let told = refused(&files, mesh);
        assert!(
            told.contains(message) && (told.contains("mesh.file") || told.contains("corners")),
            "{told}"
        );
    }
    let told = refused(&[("m.obj", OBJ)], &format!("file: \"m.obj\", {SOLID}"));
    assert!(told.contains("mesh.elastic") && told.contains("triangles"), "{told}");
    let told = refused(&[node, ("m.ele", ELE)], &format!("file: \"m.ele\", {CLOTH}"));
    assert!(told.contains("mesh.thickness") && told.contains("tetrahedra"), "{told}");
    let told = refused(&[], &format!("file: \"m.stl\", {CLOTH}"));
    assert!(told.contains("expected `.obj`"), "{told}");
    let told = refused(&[("m.obj", OBJ)], &format!("file: \"m.obj\", held: [first_x], {CLOTH}"));
    assert!(told.contains("no rows"), "{told}");
}
