//! Limits hold whatever the number of iterations: a stop under a slider, and a rope that a load comes to the end of.

use taut_avbd::{BACKEND, BACKEND_GPU};
use taut_core::{Given, Scene, Settings, load::load_str};
use taut_fixtures::Run;
use taut_gpu::Gpu;

/// What holds a load that has fallen onto it from half a metre: it is never deeper than half of that, soft as a stiffness
/// that has just begun to grow may be, and a second and a half later no deeper than it came in one frame at 3.13 m/s [m].
const DEEPEST_M: f64 = 0.25;
const LAST_M: f64 = 3.13 / 60.0;
const FRAMES: u32 = 120;
const PROFILES: [&str; 5] = [
    "profile: robust",
    "profile: paper, beta: 1e5",
    "profile: demo3d",
    "profile: compliant",
    "rescaling: true",
];

/// A load that a joint lets fall by half a metre; the second is what holds it when it has.
fn scenes() -> [Scene; 2] {
    let slider =
        r#"prismatic(a: "world", b: "load", at: (0, 0, 0), axis: (0, 0, 1), limit: (-0.5, 1))"#;
    let rope = r#"distance(a: "world", b: "load", anchor_a: (0, 0, 1), limit: (0, 1.5))"#;
    [slider, rope].map(|joint| {
        let text = format!(
            r#"(gravity: (0, 0, -9.81), dt: 0.016666666666666666, steps: 120, contacts: false, watch: [],
                bodies: [body(name: "load", shape: box(size: (0.5, 0.5, 0.5)), mass: 1)],
                joints: [{joint}])"#
        );
        load_str(&text, "limits", &[]).expect("a good scene").scene
    })
}

/// How far below its limit the load is in the end, and at most [m].
fn beyond(mut run: Run) -> [f64; 2] {
    let mut deepest = 0.0_f64;
    let mut last = 0.0;
    for _ in 0..FRAMES {
        last = -0.5 - run.step().bodies[0].position.z;
        deepest = deepest.max(last);
    }
    [last, deepest]
}

fn holds([last, deepest]: [f64; 2]) -> bool {
    last < LAST_M && deepest < DEEPEST_M
}

#[test]
fn a_limit_holds_for_every_number_of_iterations() {
    for scene in scenes() {
        for profile in PROFILES {
            for precision in ["f64", "f32"] {
                let settings = format!("({profile}, precision: {precision})");
                let found = (1..=64).map(|n| (n, beyond(Run::new(&BACKEND, &scene, &settings, n))));
                let bad: Vec<(u32, [f64; 2])> = found.filter(|(_, depth)| !holds(*depth)).collect();
                let joint = &scene.joints[0].kind;
                assert!(bad.is_empty(), "{joint:?} {settings}: iterations and depth {bad:?}");
            }
        }
    }
}

#[test]
fn a_limit_holds_on_an_adapter() {
    let Some(gpu) = Gpu::for_test() else { return };
    for scene in scenes() {
        for n in [1, 2, 3, 4, 9, 10, 20, 21] {
            let settings = Settings::default();
            let solver = taut_core::Backend::build(&BACKEND_GPU, &scene, &settings, &Given(&gpu));
            let depth = beyond(Run::of(solver.unwrap(), &scene, n));
            assert!(holds(depth), "{n} iterations: {depth:?}");
        }
    }
}
