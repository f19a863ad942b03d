//! Nothing is allocated inside `iterate` on one thread: time goes into solving, and is repeatable.

use std::path::Path;

use taut::{
    backends,
    runner::{advance, build},
};
use taut_core::{
    Backend, Scene, Settings, Step,
    load::{load_file, load_str},
};

/// Backends that allocate, and why they may.
const EXCEPTIONS: &[(&str, &str)] = &[
    ("newton", "factorises a sparse matrix in each iteration, and is not timed for speed"),
    ("rapier-f32", "makes its whole step in the last iteration, and manages its memory itself"),
    ("rapier-f64", "makes its whole step in the last iteration, and manages its memory itself"),
];

/// Scenes with every kind of joint, springs and particles, one large enough for parallel loops, one
/// with contacts, and one that every backend takes.
const SCENES: &[(&str, &[(&str, f64)])] = &[
    ("joint-zoo", &[]),
    ("iftomm-a03", &[]),
    ("iftomm-a05", &[]),
    ("kapitza", &[]),
    ("flag", &[]),
    ("rope", &[("links", 2000.0)]),
    ("pyramid", &[("n", 8.0), ("gap", 0.0)]),
    ("free-fall", &[]),
];

const ITERATIONS: u32 = 4;

fn scene(name: &str, overrides: &[(&str, f64)]) -> Scene {
    let overrides: Vec<_> = overrides.iter().map(|&(key, value)| (key.to_owned(), value)).collect();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../scenes/{name}.ron"));
    load_file(&file, &overrides).expect("a scene of the project").scene
}

/// A sheet that lies on a box, whose corners are under its triangles.
fn draped() -> Scene {
    let text = "(
        bodies: [body(shape: box(size: (0.5, 0.5, 0.5)), density: 100)],
        particles: [
            grid(name: \"p\", counts: (6, 6, 1), start: (-0.52, -0.51, 0.251), step: (0.2, 0.2, 1), mass: 0.01,
                radius: 1e-3),
        ],
        triangles: [
            repeat(count: 5, triangles: [repeat(count: 5, triangles: [
                triangle(nodes: (\"p[i,j,0]\", \"p[i+1,j,0]\", \"p[i,j+1,0]\"), thickness: 1e-3,
                    membrane: (young: 1e5, poisson: 0.3)),
                triangle(nodes: (\"p[i+1,j+1,0]\", \"p[i,j+1,0]\", \"p[i+1,j,0]\"), thickness: 1e-3,
                    membrane: (young: 1e5, poisson: 0.3)),
            ])]),
        ],
    )";
    load_str(text, "draped", &[]).expect("a good scene").scene
}

/// Two sheets that lie on each other.
fn stacked() -> Scene {
    let text = "(
        contacts: (margin: 0.01),
        bodies: [body(shape: half_space, motion: static)],
        particles: [
            cloth(name: \"low\", counts: (6, 6), start: (0, 0, 0.002), along: (0.1, 0, 0), across: (0, 0.1, 0),
                density: 200, thickness: 2e-3, membrane: (young: 1e5, poisson: 0.3)),
            cloth(name: \"high\", counts: (6, 6), start: (0.03, 0.02, 0.005), along: (0.1, 0.01, 0),
                across: (-0.01, 0.1, 0), density: 200, thickness: 2e-3, membrane: (young: 1e5, poisson: 0.3)),
        ],
    )";
    load_str(text, "stacked", &[]).expect("a good scene").scene
}

/// Blocks allocated by the iterations of one step after a few of warm-up; `None` if unsupported.
fn blocks_in_iterations(backend: &dyn Backend, scene: &Scene) -> Option<u64> {
    backend.supports(scene).ok()?;
    let mut solver = build(backend, scene, &Settings::default()).expect("it is supported");
    solver.load(&scene.initial_state()).expect("its own state");
    let step = Step { dt: scene.dt, iterations: ITERATIONS };
    for _ in 0..3 {
        advance(&mut *solver, step).expect("a step");
    }
    solver.begin_step(step).expect("a step");
    let found = allocation_counter::measure(|| {
        for _ in 0..ITERATIONS {
            solver.iterate().expect("an iteration");
        }
    });
    solver.end_step().expect("a step");
    Some(found.count_total)
}

#[test]
fn iterations_allocate_nothing_on_one_thread() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    for backend in backends::table().iter() {
        let name = &*backend.info().name;
        let mut counts = Vec::new();
        for (file, overrides) in SCENES {
            let scene = scene(file, overrides);
            let blocks = pool.install(|| blocks_in_iterations(&**backend, &scene));
            counts.extend(blocks.map(|blocks| (*file, blocks)));
        }
        for (what, scene) in [("draped", draped()), ("stacked", stacked())] {
            let blocks = pool.install(|| blocks_in_iterations(&**backend, &scene));
            counts.extend(blocks.map(|blocks| (what, blocks)));
        }
        assert!(!counts.is_empty(), "{name} takes none of the scenes");
        let allocates = counts.iter().any(|&(_, blocks)| blocks > 0);
        match EXCEPTIONS.iter().find(|(exception, _)| *exception == name) {
            Some((_, reason)) => {
                assert!(
                    allocates,
                    "{name} allocates nothing, although it {reason}: remove its row"
                );
            }
            None => assert!(!allocates, "{name} allocates: {counts:?} blocks"),
        }
    }
}
