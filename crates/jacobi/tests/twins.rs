//! The adapter and the CPU in single precision: the same bits, and what they cost the device.

#[path = "../../descent/tests/twins/agree.rs"]
mod agree;
mod common;

use agree::agree;
use common::{gpu, load, run, solver};
use taut_core::{Scene, State, Step};

/// Scenes with joints to the world, to static bodies, of unequal masses and of many chains.
fn scenes() -> [Scene; 4] {
    [
        load("rope", &[]),
        load("heavy-rope", &[]),
        load("necklace", &[("chains", 3.0)]),
        load("pendulum", &[("links", 5.0)]),
    ]
}

const SETTINGS: [&str; 3] = [
    "()",
    "(drift: baumgarte(0.2), relaxation: 0.7)",
    "(warm_start: off, gyroscopic: false, drift: baumgarte(1))",
];

#[test]
fn both_give_the_same_bits_over_sixty_steps() {
    let Some(gpu) = gpu() else { return };
    for scene in scenes() {
        for settings in SETTINGS {
            let single = settings.replacen('(', "(precision: f32,", 1);
            let mut on_cpu = solver(&scene, None, &single);
            let mut on_gpu = solver(&scene, Some(&gpu), settings);
            let (mut a, mut b) = (State::default(), State::default());
            for step in 1..=60 {
                run(&mut *on_cpu, &scene, 1, 10);
                run(&mut *on_gpu, &scene, 1, 10);
                on_cpu.read(&mut a).unwrap();
                on_gpu.read(&mut b).unwrap();
                agree(&gpu, [&a, &b], step, &format!("{} {settings}", scene.name));
            }
            let (mut f, mut g) = Default::default();
            assert!(on_cpu.read_multipliers(&mut f) && on_gpu.read_multipliers(&mut g));
            assert!(f == g || !gpu.facts().software, "{} {settings}", scene.name);
        }
    }
}

#[test]
fn iterates_are_the_same_too() {
    let Some(gpu) = gpu() else { return };
    let scene = load("rope", &[]);
    let mut both = [solver(&scene, None, "(precision: f32)"), solver(&scene, Some(&gpu), "()")];
    let step = Step { dt: scene.dt, iterations: 4 };
    let mut states = [State::default(), State::default()];
    for solver in &mut both {
        solver.begin_step(step).unwrap();
    }
    for iteration in 0..4 {
        for (solver, state) in both.iter_mut().zip(&mut states) {
            solver.iterate().unwrap();
            solver.read(state).unwrap();
        }
        assert!(states[0] == states[1] || !gpu.facts().software, "iteration {iteration}");
    }
}

#[test]
fn a_step_is_submitted_at_once_and_reads_nothing_back() {
    let Some(gpu) = gpu() else { return };
    let scene = load("necklace", &[]);
    let mut solver = solver(&scene, Some(&gpu), "()");
    run(&mut *solver, &scene, 1, 10);
    let before = gpu.counters();
    run(&mut *solver, &scene, 3, 10);
    let after = gpu.counters();
    assert_eq!(after.submissions - before.submissions, 3);
    assert_eq!(after.reads, before.reads);
    // Two to prepare, one to start from the multipliers, two per iteration, one to finish.
    assert_eq!(after.dispatches - before.dispatches, 3 * (2 + 1 + 2 * 10 + 1));
    let mut times = vec![];
    solver.drain_times(&mut times);
    assert!(times.is_empty() || times.len() == 3 * 4, "{times:?}");
}
