//! Properties of the loader: no text makes it panic, equal text gives equal scenes, and what loads
//! can be simulated.

use std::sync::LazyLock;

use proptest::prelude::*;
use taut_core::{
    Scene,
    load::{Loaded, load_str_within},
    scene::Endpoint,
};

/// Mutations may ask for millions of bodies; the tests do not.
const ELEMENTS_MAX: usize = 5_000;

static FILES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenes");
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<_> =
        entries.filter(|path| path.extension().is_some_and(|end| end == "ron")).collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect()
});

/// Parts of files, to be put where they do not belong.
const PIECES: [&str; 33] = [
    "(",
    ")",
    "[",
    "]",
    "\"",
    ",",
    ":",
    "-",
    "0",
    "1e308",
    "1e-308",
    "NaN",
    "inf",
    "\"1/0\"",
    "i",
    "links",
    "{",
    "}",
    "held: [0],",
    "ball()",
    "\"world\"",
    "repeat(count: 3, bodies: [",
    "é",
    "[i][j]",
    "half_space",
    "shape: mesh(vertices: [(0, 0, 0), (1, 0, 0), (0, 1, 0)], triangles: [(0, 1, 2)]),",
    "restitution: 0.5,",
    "points_max: 3,",
    "motion: path(position: (\"sin(t)\", 0, 0)),",
    "\"1/(t - 1)\"",
    "during: (0, 1),",
    "damping: 2,",
    "forces: [torque(on: \"arm\", torque: (0, 0, \"t\"))],",
];

fn load(text: &str) -> Option<Loaded> {
    load_str_within(text, "property", &[], ELEMENTS_MAX).ok()
}

/// What every backend may take for granted.
fn check(scene: &Scene) -> Result<(), TestCaseError> {
    prop_assert!(scene.dt > 0.0 && scene.dt.is_finite() && scene.steps > 0);
    for body in &scene.bodies {
        prop_assert!(body.position.iter().all(|x| x.is_finite()));
        prop_assert!((body.rotation.norm() - 1.0).abs() < 1e-9);
        if !body.is_dynamic() {
            prop_assert!(body.mass == 0.0);
            continue;
        }
        prop_assert!(body.mass > 0.0 && body.mass.is_finite());
        prop_assert!(
            (body.inertia - body.inertia.transpose()).amax() <= 1e-12 * body.inertia.amax()
        );
        let mut moments: Vec<f64> = body.inertia.symmetric_eigenvalues().iter().copied().collect();
        moments.sort_by(f64::total_cmp);
        prop_assert!(moments[0] > 0.0, "{moments:?}");
        prop_assert!(moments[2] <= (moments[0] + moments[1]) * (1.0 + 1e-8), "{moments:?}");
    }
    for joint in &scene.joints {
        prop_assert!(joint.a != joint.b);
        for end in [joint.a, joint.b] {
            match end {
                Endpoint::World => {}
                Endpoint::Body(i) => prop_assert!(i < scene.bodies.len()),
                Endpoint::Particle(i) => prop_assert!(i < scene.particles.len()),
            }
        }
        prop_assert!(joint.compliance_linear >= 0.0 && joint.compliance_angular >= 0.0);
        prop_assert!(joint.anchor_a.iter().chain(&joint.anchor_b).all(|x| x.is_finite()));
    }
    Ok(())
}

/// A file with a few edits at random places.
fn mutated() -> impl Strategy<Value = String> {
    let edit = (any::<prop::sample::Index>(), 0..40_usize, 0..PIECES.len(), 0..4_u8);
    (0..FILES.len(), prop::collection::vec(edit, 1..5)).prop_map(|(file, edits)| {
        let mut text: Vec<char> = FILES[file].chars().collect();
        for (place, length, piece, kind) in edits {
            let start = place.index(text.len() + 1).min(text.len());
            let end = (start + length).min(text.len());
            let piece = PIECES[piece].chars();
            match kind {
                0 => drop(text.splice(start..end, [])),
                1 => drop(text.splice(start..start, piece)),
                2 => drop(text.splice(start..end.min(start + 1), piece)),
                _ => {
                    let copy: Vec<char> = text[start..end].to_vec();
                    drop(text.splice(end..end, copy));
                }
            }
        }
        text.into_iter().collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn no_text_panics(text in any::<String>()) {
        load(&text);
    }

    #[test]
    fn no_text_of_pieces_panics(pieces in prop::collection::vec(0..PIECES.len(), 0..40)) {
        let text: Vec<&str> = pieces.into_iter().map(|i| PIECES[i]).collect();
        load(&text.join(" "));
    }

    #[test]
    fn no_expression_panics(text in "[-+*/%^(). a-z0-9]{0,30}") {
        load(&format!("(dt: \"{text}\", parameters: {{\"a\": 1}}, bodies: [body(shape: sphere(radius: 1), mass: 1)])"));
    }

    #[test]
    fn no_name_panics(name in "[-a-z\\[\\],0-9]{0,12}") {
        load(&format!(
            "(bodies: [chain(name: \"a\", count: 3, start: (0,0,0), step: (1,0,0), \
             body: (shape: sphere(radius: 1), mass: 1))], joints: [ball(a: \"world\", b: \"{name}\", at: (0,0,0))])"
        ));
    }

    #[test]
    fn mutated_files_are_refused_or_sound(text in mutated()) {
        if let Some(loaded) = load(&text) {
            check(&loaded.scene)?;
        }
    }

    #[test]
    fn shapes_have_possible_inertia(
        sizes in prop::array::uniform3(1e-3..1e3_f64),
        points in prop::collection::vec(prop::array::uniform3(-10.0..10.0_f64), 4..12),
        density in 1e-3..1e4_f64,
        angle in -180.0..180.0_f64,
    ) {
        let [x, y, z] = sizes;
        let shapes = [
            format!("box(size: ({x}, {y}, {z}))"),
            format!("sphere(radius: {x})"),
            format!("capsule(radius: {x}, length: {y})"),
            format!("cylinder(radius: {x}, length: {y})"),
            format!("hull(points: {})", format!("{points:?}").replace("[", "(").replace("]", ")").replacen('(', "[", 1).trim_end_matches(')').to_owned() + ")]"),
            format!(
                "compound(parts: [(shape: box(size: ({x}, {y}, {z}))), (shape: capsule(radius: {y}, length: {z}), \
                 position: ({z}, 0, {x}), rotation: axis_angle(axis: (1, 2, 3), degrees: {angle}))])"
            ),
        ];
        for shape in shapes {
            let text = format!("(contacts: false, bodies: [body(name: \"b\", shape: {shape}, density: {density})])");
            let loaded = load_str_within(&text, "property", &[], ELEMENTS_MAX)
                .map_err(|error| TestCaseError::fail(format!("{error} in {shape}")))?;
            check(&loaded.scene)?;
        }
    }
}

#[test]
fn equal_files_give_equal_scenes() {
    for text in FILES.iter() {
        assert_eq!(load(text), load(text));
    }
}

#[test]
fn no_prefix_of_a_file_loads_or_panics() {
    for text in FILES.iter() {
        let whole = text.trim_end().len();
        for (end, _) in text.char_indices().filter(|(end, _)| *end < whole).step_by(7) {
            assert!(load(&text[..end]).is_none());
        }
    }
}
