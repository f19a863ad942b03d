//! The adapter and the CPU in single precision: the same bits, and what they cost the device.

#[path = "../../descent/tests/twins/agree.rs"]
mod agree;
mod common;

use agree::agree;
use common::run;
use taut_core::{Quat, Scene, State, Vec3, scene::Motion};
use taut_fixtures::{Run, chain, file};
use taut_gpu::Gpu;

/// A chain of unlike boxes, turned and turning, one of them driven and one held.
fn turning() -> Scene {
    let mut scene = chain(9.81, 70, Vec3::new(1.0, 0.3, 0.2), 10.0);
    for (i, body) in (0_u8..).zip(&mut scene.bodies) {
        let x = f64::from(i);
        body.mass *= 1.0 + x % 7.0;
        body.rotation = Quat::from_scaled_axis(Vec3::new(0.01 * x, 0.1 - 0.005 * x, 0.3));
        body.velocity = Vec3::new(0.3, -0.02 * x, 0.1);
        body.omega = Vec3::new(0.5 - 0.02 * x, 0.3, 0.01 * x);
    }
    (scene.bodies[20].motion, scene.bodies[40].motion) = (Motion::Kinematic, Motion::Static);
    scene
}

/// Scenes with joints to the world, to static and to driven bodies, of unequal masses and of many chains.
fn scenes() -> [Scene; 5] {
    [
        turning(),
        file("rope", &[]),
        file("heavy-rope", &[]),
        file("necklace", &[("chains", 3.0)]),
        file("pendulum", &[("links", 5.0)]),
    ]
}

const SETTINGS: [&str; 3] = [
    "()",
    "(drift: baumgarte(0.2), relaxation: 0.7)",
    "(warm_start: off, gyroscopic: false, drift: baumgarte(1))",
];

#[test]
fn both_give_the_same_bits_over_sixty_steps() {
    let Some(gpu) = Gpu::for_test() else { return };
    for scene in scenes() {
        for settings in SETTINGS {
            let single = settings.replacen('(', "(precision: f32,", 1);
            let mut on_cpu = run(&scene, None, &single, 10);
            let mut on_gpu = run(&scene, Some(&gpu), settings, 10);
            for step in 1..=60 {
                let what = format!("{} {settings}", scene.name);
                agree(&gpu, [on_cpu.step(), on_gpu.step()], step, &what);
            }
            assert!(
                on_cpu.forces() == on_gpu.forces() || !gpu.facts().software,
                "{} {settings}",
                scene.name
            );
        }
    }
}

#[test]
fn iterates_are_the_same_too() {
    let Some(gpu) = Gpu::for_test() else { return };
    let scene = turning();
    let mut both = [run(&scene, None, "(precision: f32)", 4), run(&scene, Some(&gpu), "()", 4)];
    let mut states = [State::default(), State::default()];
    for run in &mut both {
        run.solver.begin_step(run.step).unwrap();
    }
    for iteration in 0..4 {
        for (Run { solver, .. }, state) in both.iter_mut().zip(&mut states) {
            solver.iterate().unwrap();
            solver.read(state).unwrap();
        }
        assert!(states[0] == states[1] || !gpu.facts().software, "iteration {iteration}");
    }
}

#[test]
fn a_step_is_submitted_at_once_and_reads_nothing_back() {
    let Some(gpu) = Gpu::for_test() else { return };
    let scene = file("necklace", &[]);
    let mut run = run(&scene, Some(&gpu), "()", 10);
    run.advance();
    let before = gpu.counters();
    (0..3).for_each(|_| run.advance());
    let after = gpu.counters();
    assert_eq!(after.submissions - before.submissions, 3);
    assert_eq!(after.reads, before.reads);
    // Two to prepare, one to start from the multipliers, two per iteration, one to finish.
    assert_eq!(after.dispatches - before.dispatches, 3 * (2 + 1 + 2 * 10 + 1));
    let mut times = vec![];
    run.solver.drain_times(&mut times);
    assert!(times.is_empty() || times.len() == 3 * 4, "{times:?}");
}
