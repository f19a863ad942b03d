//! A step on one thread works in the memory it was built with.

use taut_core::{
    Build, Scene, Settings, Step, Vec3,
    scene::{Body, Endpoint, Joint, JointKind},
};

#[global_allocator]
static COUNTING: dhat::Alloc = dhat::Alloc;

#[test]
fn iterations_do_not_allocate_on_one_thread() {
    let mut scene = Scene { gravity: Vec3::new(0.0, 0.0, -9.81), ..Scene::default() };
    for i in 0..2000 {
        let body = Body::solid_box(Vec3::new(1.0, 0.1, 0.1), 100.0);
        scene.bodies.push(body.at(Vec3::new(f64::from(i), 0.0, 0.0)));
    }
    for i in 1..2000 {
        let kind = if i % 2 == 0 { JointKind::Ball } else { JointKind::Fixed };
        let joint = Joint::new(kind, Endpoint::Body(i - 1), Endpoint::Body(i));
        scene.joints.push(joint.anchored(Vec3::x() * 0.5, Vec3::x() * -0.5));
    }
    let Build::Cpu(build) = taut_xpbd::BACKEND.build else { panic!("runs on the CPU") };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    for settings in ["()", "(mode: iterations)"] {
        let blocks = pool.install(|| {
            let mut solver = build(&scene, &Settings::from_ron(settings)).unwrap();
            solver.load(&scene.initial_state()).unwrap();
            let _profiler = dhat::Profiler::builder().testing().build();
            solver.begin_step(Step { dt: 0.01, iterations: 4 }).unwrap();
            for _ in 0..4 {
                solver.iterate().unwrap();
            }
            solver.end_step().unwrap();
            dhat::HeapStats::get().total_blocks
        });
        assert_eq!(blocks, 0, "{settings}");
    }
}
