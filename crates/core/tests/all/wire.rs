//! Scenes and states as other programs see them: frozen names, and every bit back.

use std::{fs, path::Path};

use taut_core::{
    Quat, Scene, State, Vec3,
    energy::{Membrane, WeightedSum},
    load::load_file,
    scene::{
        Anchor, Body, Contacts, ElasticPart, Elasticity, Endpoint, Joint, JointKind, Limit,
        Material, Motor, Part, Particle, Shape, Skin, Spring, SpringKind,
    },
    wire::{SCHEMA, Versioned},
};

fn there_and_back(scene: &Scene, state: &State) -> (Scene, State) {
    let scene = serde_json::to_string(&Versioned::new(scene)).unwrap();
    let state = serde_json::to_string(&Versioned::new(state)).unwrap();
    let scene: Versioned<Scene> = serde_json::from_str(&scene).unwrap();
    let state: Versioned<State> = serde_json::from_str(&state).unwrap();
    (scene.content, state.content)
}

/// One of each, so that every field is seen.
fn everything() -> Scene {
    let cube = || Body::solid_box(Vec3::new(1.0, 2.0, 3.0), 1.0);
    let shaped = |shape: Shape| Body { shape, ..cube() };
    let part = Part {
        shape: Shape::Sphere { radius: 0.5 },
        position: Vec3::x(),
        rotation: Quat::identity(),
    };
    let corners = || [Vec3::zeros(), Vec3::x(), Vec3::y()].into();
    let shapes = [
        Shape::Capsule { radius: 0.1, half_length: 0.5 },
        Shape::Cylinder { radius: 0.1, half_length: 0.5 },
        Shape::Hull { points: corners() },
        Shape::Compound { parts: [part].into() },
        Shape::HalfSpace,
        Shape::Mesh { vertices: corners(), triangles: [[0, 1, 2]].into(), control: None },
    ];
    let mut elastic = cube();
    elastic.elasticity = Some(Elasticity { young: 1e9, poisson: 0.3 });
    let (world, body, particle) = (Endpoint::World, Endpoint::Body(0), Endpoint::Particle(0));
    let mut hinge = Joint::new(JointKind::Hinge, world, body);
    hinge.limit = Some(Limit { lower: f64::NEG_INFINITY, upper: 1.0 });
    hinge.motor = Some(Motor { speed: 1.0, max_effort: 2.0 });
    let rope = Joint {
        break_force: 10.0,
        ..Joint::new(JointKind::Distance { length: 1.0 }, body, particle)
    };
    let spring = |kind| Spring {
        name: String::new(),
        kind,
        a: world,
        b: body,
        stiffness: 4.0,
        damping: 0.0,
    };
    let (zero, still) = (Vec3::zeros(), Quat::identity());
    Scene {
        name: "everything".to_owned(),
        contacts: Some(Contacts::default()),
        watch: vec![0],
        bodies: std::iter::once(elastic).chain(shapes.map(shaped)).collect(),
        particles: vec![Particle {
            name: "dot".to_owned(),
            mass: 1.0,
            position: zero,
            velocity: zero,
            touch: None,
        }],
        joints: vec![hinge, rope],
        springs: vec![
            spring(SpringKind::Linear { anchor_a: zero, anchor_b: zero, rest_length: 1.0 }),
            spring(SpringKind::Angular { basis_a: still, basis_b: still }),
        ],
        triangles: vec![ElasticPart {
            name: "sail".to_owned(),
            ends: [particle, body, world].map(Anchor::from),
            energy: Membrane::new(&[zero, Vec3::x(), Vec3::y()], 0.01, 1e6, 0.0).unwrap().into(),
        }],
        bends: vec![ElasticPart {
            name: "fold".to_owned(),
            ends: [particle, body, world, world].map(Anchor::from),
            energy: WeightedSum::bending(&[zero, Vec3::x(), Vec3::y(), -Vec3::y()], 0.5)
                .unwrap()
                .into(),
        }],
        ..Scene::default()
    }
}

#[test]
fn names_and_order_are_frozen() {
    let scene = everything();
    let mut state = scene.initial_state();
    state.bodies.truncate(1);
    let texts = [
        serde_json::to_string_pretty(&Versioned::new(&scene)).unwrap(),
        serde_json::to_string_pretty(&Versioned::new(&state)).unwrap(),
    ];
    insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
        insta::assert_snapshot!("wire", texts.join("\n"));
    });
}

#[test]
fn every_bit_comes_back() {
    let scene = everything();
    assert_eq!(there_and_back(&scene, &scene.initial_state()).0, scene);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes");
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|end| end != "ron") {
            continue;
        }
        let scene = load_file(&path, &[]).unwrap().scene;
        if scene.bodies.len() > 300 {
            continue;
        }
        let mut state = scene.initial_state();
        // Nothing that a decimal number of few digits could stand for.
        state.time_s = 1.0 / 3.0;
        state.bodies.iter_mut().for_each(|body| body.frame *= std::f64::consts::PI.sqrt());
        let (other, back) = there_and_back(&scene, &state);
        assert_eq!(other, scene, "{}", path.display());
        assert_eq!((back.hash(), back.time_s), (state.hash(), state.time_s));
    }
}

#[test]
fn surfaces_of_particles_come_back() {
    let mut scene = everything();
    let material = Material { friction_static: 0.25, ..Material::default() };
    scene.particles[0].touch = Some(Skin { radius: 1e-3, material, group: Some(3) });
    assert_eq!(there_and_back(&scene, &scene.initial_state()).0, scene);
}

#[test]
fn what_is_no_number_is_null() {
    let scene = everything();
    let mut state = scene.initial_state();
    state.bodies[0].position.x = f64::INFINITY;
    state.particles[0].velocity.y = f64::NAN;
    let (_, back) = there_and_back(&scene, &state);
    assert!(back.bodies[0].position.x.is_nan() && back.particles[0].velocity.y.is_nan());
    assert_eq!(back.bodies[1], state.bodies[1]);
}

#[test]
fn other_forms_are_refused() {
    let text = serde_json::to_string(&Versioned::new(everything())).unwrap();
    let refusal = |from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        let read = serde_json::from_str::<Versioned<Scene>>(&text.replacen(from, to, 1));
        read.unwrap_err().to_string()
    };
    let here = format!("\"schema\":{SCHEMA}");
    let reason = refusal(&here, "\"schema\":0");
    assert!(reason.contains(&format!("schema 0, but this program reads {SCHEMA}")), "{reason}");
    assert!(refusal("\"about\"", "\"abuot\"").contains("unknown field `abuot`"));
    assert!(refusal("\"gravity\":[0.0,", "\"gravity\":[").contains("a list of 2 numbers"));
    assert!(refusal("\"gravity\":[0.0,", "\"gravity\":[null,").contains("nul"));
}
