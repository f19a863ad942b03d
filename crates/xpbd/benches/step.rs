//! One frame of a rope of 1000 bodies at ten iterations, on one thread.

use criterion::{Criterion, criterion_group, criterion_main};
use taut_core::{
    Build, Scene, Settings, Step, Vec3,
    scene::{Body, Endpoint, Joint, JointKind},
};

const ITERATIONS: u32 = 10;

fn rope(bodies: u32) -> Scene {
    let mut scene = Scene { gravity: Vec3::new(0.0, 0.0, -10.0), ..Scene::default() };
    for i in 0..bodies {
        let body = Body::solid_box(Vec3::new(1.0, 0.5, 0.5), 1.0);
        let body = body.at(Vec3::new(f64::from(i), 0.0, 10.0));
        scene.bodies.push(if i == 0 { body.fixed() } else { body });
    }
    for i in 1..scene.bodies.len() {
        let ball = Joint::new(JointKind::Ball, Endpoint::Body(i - 1), Endpoint::Body(i));
        scene.joints.push(ball.anchored(Vec3::x() * 0.5, Vec3::x() * -0.5));
    }
    scene
}

fn frames(c: &mut Criterion) {
    let scene = rope(1000);
    let Build::Cpu(build) = taut_xpbd::BACKEND.build else { panic!("runs on the CPU") };
    let one_thread = rayon::ThreadPoolBuilder::new().num_threads(1);
    one_thread.build_global().expect("no pool before this one");
    for settings in ["()", "(mode: iterations)", "(blocks: matrix)", "(precision: f32)"] {
        let mut solver = build(&scene, &Settings::from_ron(settings)).expect("a valid scene");
        solver.load(&scene.initial_state()).expect("its own state");
        c.bench_function(&format!("rope 1000 {settings}"), |b| {
            let mut frame = || {
                solver.begin_step(Step { dt: 1.0 / 60.0, iterations: ITERATIONS })?;
                for _ in 0..ITERATIONS {
                    solver.iterate()?;
                }
                solver.end_step()
            };
            b.iter(|| frame().expect("a step does not fail"));
        });
    }
}

criterion_group!(benches, frames);
criterion_main!(benches);
