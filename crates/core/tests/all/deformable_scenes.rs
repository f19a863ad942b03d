//! Generators of cloth and solids: how many elements they make, of which mass, and that they fit together.

use taut_core::{
    energy::Energy,
    load::{SceneError, load_str},
    metrics::{energy, material_strain},
    scene::Scene,
};

fn try_load(particles: &str) -> Result<Scene, SceneError> {
    let text = format!("(contacts: false, particles: [{particles}])");
    load_str(&text, "deformable.ron", &[]).map(|loaded| loaded.scene)
}

fn load(particles: &str) -> Scene {
    try_load(particles).unwrap_or_else(|error| panic!("{error}"))
}

fn refused(particles: &str) -> String {
    try_load(particles).expect_err("it is refused").to_string()
}

fn mass(scene: &Scene) -> f64 {
    scene.particles.iter().map(|particle| particle.mass).sum()
}

const CLOTH: &str =
    "start: (0, 0, 1), along: (0.1, 0, 0), across: (0, 0.2, 0), density: 200, thickness: 1e-3,
     membrane: (young: 1e5, poisson: 0.3)";

#[test]
fn a_sheet_has_its_triangles_edges_and_mass() {
    let scene = load(&format!("cloth(name: \"s\", counts: (5, 4), {CLOTH}, bending: ())"));
    assert_eq!((scene.particles.len(), scene.triangles.len()), (20, 24));
    // By Euler: edges = nodes + triangles - 1, of which 14 are the rim's.
    assert_eq!(scene.bends.len(), 20 + 24 - 1 - 14);
    assert!((mass(&scene) - 200.0 * 1e-3 * 0.4 * 0.6).abs() < 1e-15);
    assert_eq!(scene.particles[7].name, "s[1,3]");
    assert!((scene.particles[7].position - taut_core::Vec3::new(0.1, 0.6, 1.0)).norm() < 1e-15);
    let strain = material_strain(&scene, &scene.initial_state()).unwrap();
    assert!(strain.strain_max < 1e-14 && strain.volume_ratio_min.is_none());
}

#[test]
fn all_patterns_cover_the_sheet_once_and_face_one_way() {
    for pattern in ["uniform", "alternating", "equilateral"] {
        let scene =
            load(&format!("cloth(name: \"s\", counts: (6, 5), {CLOTH}, pattern: {pattern})"));
        let mut area = 0.0;
        for triangle in &scene.triangles {
            let [a, b, c] = triangle.ends.map(|end| end.position(&scene.initial_state()));
            let normal = (b - a).cross(&(c - a));
            assert!(normal.z > 0.0, "{pattern}");
            area += 0.5 * normal.norm();
        }
        assert!((area - 0.5 * 0.8).abs() < 1e-14, "{pattern}: {area}");
    }
    // Sides of the cells that are as long as half of `along` demands make all angles equal.
    let across = 0.1 * 0.75_f64.sqrt();
    let scene = load(&format!(
        "cloth(name: \"s\", counts: (6, 5), {}, pattern: equilateral)",
        CLOTH.replace("0.2, 0)", &format!("{across}, 0)")),
    ));
    for triangle in &scene.triangles {
        let [a, b, c] = triangle.ends.map(|end| end.position(&scene.initial_state()));
        for side in [b - a, c - b, a - c] {
            assert!((side.norm() - 0.1).abs() < 1e-14);
        }
    }
}

#[test]
fn a_lattice_is_filled_once_whichever_way_its_cells_are_split() {
    for (split, per_cell) in [("five", 5), ("six", 6)] {
        let scene = load(&format!(
            "solid(name: \"b\", shape: lattice(size: (1, 0.2, 0.3), counts: (4, 2, 3)), split: {split},
                   position: (1, 2, 3), density: 1000, elastic: (young: 1e6, poisson: 0.3), held: [first_x])"
        ));
        assert_eq!(scene.particles.len(), 5 * 3 * 4);
        assert_eq!(scene.tetrahedra.len(), 24 * per_cell);
        assert_eq!(scene.particles[5].name, "b[0,1,1]");
        let held = scene.particles.iter().filter(|particle| particle.mass == 0.0);
        assert!(held.clone().all(|particle| (particle.position.x - 0.5).abs() < 1e-15));
        assert_eq!(held.count(), 12);
        // Faces that two cells do not share alike would be outer ones of both.
        let faces = scene.solid_faces();
        assert_eq!(faces.len(), 2 * 2 * (4 * 2 + 4 * 3 + 2 * 3), "{split}");
        let at = |n: usize| scene.particles[n].position;
        let volume: f64 =
            faces.iter().map(|&[a, b, c]| at(a).dot(&at(b).cross(&at(c))) / 6.0).sum();
        assert!((volume - 0.06).abs() < 1e-14, "{split}: {volume}");
    }
}

#[test]
fn a_free_solid_has_the_mass_of_its_volume_and_no_energy_at_rest() {
    for model in ["neo_hookean", "neo_hookean_log", "stvk", "corotated"] {
        let scene = load(&format!(
            "solid(name: \"b\", shape: lattice(size: (1, 1, 1), counts: (3, 3, 3)), density: 700,
                   rotation: axis_angle(axis: (1, 2, 3), degrees: 50), velocity: (1, 0, 0),
                   elastic: (model: {model}, young: 1e6, poisson: 0.3))"
        ));
        assert!((mass(&scene) - 700.0).abs() < 1e-10);
        let found = energy(&scene, &scene.initial_state());
        assert!(found.material_j.abs() < 1e-20 * 1e6 && (found.kinetic_j - 350.0).abs() < 1e-9);
        assert!(scene.energies().all(|(energy, _)| !matches!(energy, Energy::Membrane(_))));
    }
}

#[test]
fn balls_and_blobs_are_round_and_keep_their_tetrahedra_upright() {
    let scene = load(
        "solid(name: \"ball\", shape: sphere(radius: 0.5, spacing: 0.1), position: (0, 0, 2), density: 1000,
               elastic: (young: 1e5, poisson: 0.3))",
    );
    let volume = mass(&scene) / 1000.0;
    let expected = std::f64::consts::PI / 6.0;
    assert!((volume / expected - 1.0).abs() < 0.03, "{volume}");
    let middle = taut_core::Vec3::new(0.0, 0.0, 2.0);
    let off = |n: usize| (scene.particles[n].position - middle).norm() - 0.5;
    let outer = scene.solid_faces();
    // A corner may not reach the surface where a tetrahedron would become too flat.
    assert!(outer.iter().flatten().all(|&n| off(n).abs() < 0.09));
    let on = outer.iter().flatten().filter(|&&n| off(n).abs() < 1e-12).count();
    assert!(on * 3 > outer.len() * 3 * 2, "{on} of {}", outer.len() * 3);
    let blob = load(
        "solid(name: \"figure\", shape: blob(parts: [(centre: (0, 0, 0), radii: (0.3, 0.2, 0.4)),
               (centre: (0, 0, 0.5), radii: (0.2, 0.2, 0.2))], spacing: 0.05), density: 1000,
               elastic: (young: 1e5, poisson: 0.3), held: [inside(sphere(centre: (0, 0, 0.6), radius: 0.08))])",
    );
    assert!(blob.tetrahedra.len() > 2000 && blob.particles.iter().any(|p| p.mass == 0.0));
    let strain = material_strain(&blob, &blob.initial_state()).unwrap();
    assert_eq!(strain.inverted, 0);
}

#[test]
fn single_tetrahedra_join_particles() {
    let text = "(contacts: false, particles: [
        particle(name: \"a\", position: (0, 0, 0)), particle(name: \"b\", mass: 1, position: (1, 0, 0)),
        particle(name: \"c\", mass: 1, position: (0, 1, 0)), particle(name: \"d\", mass: 1, position: (0, 0, 1)),
    ], tetrahedra: [tetrahedron(nodes: (NODES), elastic: (young: 1e6, poisson: 0.2), density: 24)])";
    let with = |nodes: &str| load_str(&text.replace("NODES", nodes), "t.ron", &[]);
    let scene = with("\"a\", \"b\", \"c\", \"d\"").unwrap().scene;
    // A quarter of 24/6 kg on each node; what is held stays held.
    let masses: Vec<f64> = scene.particles.iter().map(|particle| particle.mass).collect();
    assert_eq!(masses, [0.0, 2.0, 2.0, 2.0]);
    let message = |nodes: &str| with(nodes).expect_err("it is refused").to_string();
    let inverted = message("\"a\", \"c\", \"b\", \"d\"");
    assert!(inverted.contains("nodes") && inverted.contains("swap two"), "{inverted}");
    let twice = message("\"a\", \"b\", \"b\", \"d\"");
    assert!(twice.contains("nodes[2]") && twice.contains("already a node"), "{twice}");
    let world = message("\"a\", \"b\", \"c\", \"world\"");
    assert!(world.contains("expected a particle"), "{world}");
}

#[test]
fn mistakes_are_told_with_their_field() {
    let solid = |shape: &str, elastic: &str| {
        format!("solid(name: \"b\", shape: {shape}, density: 1, elastic: ({elastic}))")
    };
    let ball = "sphere(radius: 1, spacing: 0.2)";
    for (text, field, message) in [
        (solid(ball, "young: -1, poisson: 0.3"), "solid.elastic.young", "positive"),
        (solid(ball, "young: 1, poisson: 0.5"), "solid.elastic.poisson", "use 0.49"),
        (solid(ball, "young: 1, poisson: -1"), "solid.elastic.poisson", "between -1 and 0.5"),
        (solid(ball, "model: neohookean, young: 1, poisson: 0"), "particles[0]", "neo_hookean"),
        (solid("sphere(radius: 1, spacing: 9)", "young: 1, poisson: 0"), "shape", "smaller"),
        (solid("sphere(radius: 1, spacing: 1e-9)", "young: 1, poisson: 0"), "spacing", "cells"),
        (solid("blob(parts: [], spacing: 1)", "young: 1, poisson: 0"), "parts", "at least one"),
        (solid("lattice(size: (1, 0, 1), counts: (1, 1, 1))", "young: 1, poisson: 0"), "size", "positive"),
        (
            solid("lattice(size: (1, 1, 1), counts: (9e3, 9e3, 9e3))", "young: 1, poisson: 0"),
            "solid",
            "would make",
        ),
        (format!("cloth(name: \"s\", counts: (1, 4), {CLOTH})"), "cloth.counts", "at least 2"),
        (
            format!("cloth(name: \"s\", counts: (3, 4), {CLOTH})").replace("(0, 0.2, 0)", "(1, 0, 0)"),
            "cloth.across",
            "not that of `along`",
        ),
        (
            format!("cloth(name: \"s\", counts: (3, 4), {CLOTH}, held: [first_q])"),
            "particles[0]",
            "first_",
        ),
        (
            "solid(name: \"b\", shape: sphere(radius: 1, spacing: 0.2), density: 1, held: [first_x],
                   elastic: (young: 1, poisson: 0))"
                .to_owned(),
            "solid.held[0]",
            "no rows",
        ),
    ] {
        let told = refused(&text);
        assert!(told.contains(field) && told.contains(message), "{text}\n{told}");
    }
}

fn load_whole(lists: &str) -> Result<(Scene, Vec<String>), SceneError> {
    load_str(&format!("({lists})"), "deformable.ron", &[]).map(|it| (it.scene, it.warnings))
}

#[test]
fn rest_lengths_may_differ_from_those_at_the_start() {
    for model in ["stvk", "neo_hookean"] {
        let scene = load(&format!(
            "cloth(name: \"s\", counts: (3, 3), start: (0, 0, 1), along: (0.1, 0, 0), across: (0, 0.1, 0), density: 200,
                thickness: 1e-3, membrane: (model: {model}, young: 1e5, poisson: 0.3), rest_scale: 0.5, bending: (), damping: 10)"
        ));
        let strain = material_strain(&scene, &scene.initial_state()).unwrap();
        assert!((strain.strain_max - 1.0).abs() < 1e-12, "{strain:?}");
        assert!((mass(&scene) - 200.0 * 1e-3 * 0.01).abs() < 1e-15);
        assert_eq!(scene.material_damping.len(), scene.triangles.len());
    }
    let solid = load(
        "solid(name: \"b\", shape: lattice(size: (1, 1, 1), counts: (1, 1, 1)), rest_scale: 2, density: 10,
            damping: 5, elastic: (young: 1e5, poisson: 0))",
    );
    assert!((mass(&solid) - 80.0).abs() < 1e-12 && solid.material_damping.len() == 5);
}

#[test]
fn folds_resist_by_the_model_that_is_asked_for() {
    let cloth =
        |bending: &str| load(&format!("cloth(name: \"s\", counts: (3, 3), {CLOTH}, {bending})"));
    let hinges = |scene: &Scene| {
        scene.energies().filter(|(energy, _)| matches!(energy, Energy::Hinge(_))).count()
    };
    assert_eq!((hinges(&cloth("bending: (model: hinge)")), hinges(&cloth("bending: ()"))), (8, 0));
    assert_eq!(cloth("bending: (rigidity: 0)").bends.len(), 0);
    // Triangles that are folded at rest.
    let folded = |model: &str| {
        load_whole(&format!(
            "contacts: false, particles: [particle(name: \"a\", mass: 1, position: (0, 0, 0)),
                particle(name: \"b\", mass: 1, position: (1, 0, 0)), particle(name: \"c\", mass: 1, position: (0, 1, 0)),
                particle(name: \"d\", mass: 1, position: (0, -0.5, 1))],
            triangles: [triangle(nodes: (\"a\", \"b\", \"c\"), thickness: 0.1, membrane: (young: 1, poisson: 0),
                    bending: ({model}), density: 6),
                triangle(nodes: (\"b\", \"a\", \"d\"), thickness: 0.1, membrane: (young: 1, poisson: 0), bending: ({model}))]"
        ))
    };
    let (scene, _) = folded("").unwrap();
    assert_eq!(hinges(&scene), 1);
    assert!(energy(&scene, &scene.initial_state()).material_j < 1e-20);
    assert!((mass(&scene) - 4.0 - 6.0 * 0.05).abs() < 1e-14);
    let told = folded("model: quadratic").unwrap_err().to_string();
    assert!(told.contains("bending.model") && told.contains("quadratic"), "{told}");
}

#[test]
fn nodes_near_a_body_are_attached_to_it() {
    let with = |attach: &str| {
        load_whole(&format!(
            "contacts: false, bodies: [body(name: \"box\", shape: box(size: (1, 1, 1)), mass: 1, position: (0, 0, 0.5))],
            particles: [cloth(name: \"s\", counts: (3, 4), start: (0.5, 0, 0), along: (0.1, 0, 0), across: (0, 0.1, 0),
                density: 200, thickness: 1e-3, membrane: (young: 1e5, poisson: 0.3), held: [last_x]),
                solid(name: \"b\", shape: lattice(size: (1, 1, 1), counts: (2, 2, 2)), position: (0, 0, 1.6),
                    density: 10, elastic: (young: 1e5, poisson: 0))],
            joints: [{attach}]"
        ))
    };
    let (scene, _) = with("attach(mesh: \"s\", to: \"box\", within: 0.11)").unwrap();
    assert_eq!(scene.joints.len(), 8);
    let (scene, warnings) = with("attach(mesh: \"b.surface\", to: \"box\", within: 0.2)").unwrap();
    assert!(scene.joints.len() == 9 && warnings.is_empty(), "{warnings:?}");
    for (attach, message) in [
        ("attach(mesh: \"b\", to: \"box\", within: 0.01)", "the nearest is 1.000e-1 m away"),
        ("attach(mesh: \"c\", to: \"box\", within: 1)", "joints[0].attach.mesh"),
        ("attach(mesh: \"s\", to: \"world\", within: 1)", "`held`"),
        ("attach(mesh: \"s\", to: \"box\", within: -1)", "attach.within"),
    ] {
        let told = with(attach).unwrap_err().to_string();
        assert!(told.contains(message), "{told}");
    }
}

#[test]
fn what_is_probably_not_meant_gets_a_word() {
    let told = |lists: &str| load_whole(lists).unwrap().1.join("\n");
    let cloth = |more: &str, thickness: f64| {
        format!(
            "particles: [cloth(name: \"s\", counts: (3, 3), start: (0, 0, 1), along: (0.1, 0, 0), {more}, density: 200,
                thickness: {thickness}, membrane: (young: 1e5, poisson: 0.3))]"
        )
    };
    let square = "across: (0, 0.1, 0)";
    assert_eq!(told(&format!("contacts: (margin: 0.01), {}", cloth(square, 0.01))), "");
    let wide = told(&format!("contacts: (margin: 0.2), {}", cloth(square, 0.01)));
    assert!(wide.contains("contacts begin 0.2 m apart"), "{wide}");
    let thick = told(&format!("contacts: (margin: 0.01), {}", cloth(square, 0.15)));
    assert!(thick.contains("thicker than its edges"), "{thick}");
    let sliver = told(&format!("contacts: false, {}", cloth("across: (0, 1e-4, 0)", 0.01)));
    assert!(sliver.contains("8 triangles are slivers"), "{sliver}");
    let held = told(
        "contacts: false, particles: [solid(name: \"b\", shape: lattice(size: (1, 1, 1), counts: (1, 1, 1)),
            density: 10, held: [first_x, last_x], elastic: (young: 1e5, poisson: 0))]",
    );
    assert!(held.contains("all nodes of all solids are held"), "{held}");
}

#[test]
fn a_particle_is_held_to_a_place_in_a_triangle() {
    let with = |more: &str| {
        load_whole(&format!(
            "contacts: false, particles: [particle(name: \"p\", mass: 1, position: (0.25, 0.5, 0.1)),
                cloth(name: \"s\", counts: (2, 2), start: (0, 0, 0), along: (1, 0, 0), across: (0, 1, 0),
                    density: 200, thickness: 1e-3, membrane: (young: 1e5, poisson: 0.3))],
            springs: [vertex_triangle(a: \"p\", triangle: (\"s[0,0]\", \"s[1,0]\", \"s[0,1]\"), {more})]"
        ))
    };
    let (scene, _) = with("stiffness: 200").unwrap();
    let found = energy(&scene, &scene.initial_state()).material_j;
    assert!((found - 0.5 * 200.0 * 0.01).abs() < 1e-12, "{found}");
    let (scene, _) = with("stiffness: 200, weights: (1, 0, 0)").unwrap();
    let found = energy(&scene, &scene.initial_state()).material_j;
    assert!((found - 100.0 * (0.0625 + 0.25 + 0.01)).abs() < 1e-12, "{found}");
    let told = with("stiffness: 0").unwrap_err().to_string();
    assert!(told.contains("springs[0].vertex_triangle.stiffness"), "{told}");
    let told = with("stiffness: 1, weights: (1, -1, 0)").unwrap_err().to_string();
    assert!(told.contains("positive sum"), "{told}");
}
