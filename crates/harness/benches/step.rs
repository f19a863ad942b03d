//! One frame of the rope of 1000 bodies at ten iterations, on one thread, for every backend that has
//! the scene: `cargo bench`. `taut time` measures the same on any scene and keeps records.

#![expect(missing_docs, reason = "the macro of criterion makes a public function")]

use std::path::Path;

use criterion::{Criterion, criterion_group, criterion_main};
use taut::{
    backends,
    runner::{advance, build},
};
use taut_core::{Settings, Step, load::load_file};

const ITERATIONS: u32 = 10;

fn frames(c: &mut Criterion) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/rope.ron");
    let scene = load_file(&file, &[("links".to_owned(), 1000.0)]).expect("a valid scene").scene;
    let one_thread = rayon::ThreadPoolBuilder::new().num_threads(1);
    one_thread.build_global().expect("no pool before this one");
    let table = backends::table();
    for backend in table.iter().filter(|b| b.supports(&scene).is_ok()) {
        let mut solver =
            build(&**backend, &scene, &Settings::default()).expect("it takes the scene");
        let step = Step { dt: scene.dt, iterations: ITERATIONS };
        c.bench_function(&format!("rope 1000 {}", backend.info().name), |bencher| {
            bencher.iter(|| advance(&mut *solver, step).expect("a step does not fail"));
        });
    }
}

criterion_group!(benches, frames);
criterion_main!(benches);
