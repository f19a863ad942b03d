//! Rods that slide with friction: whatever AVBD takes for the stiffness of a sliding point, it ends a step where
//! implicit Euler solved to tolerance does.

use taut::backends;
use taut_core::{
    NoDevices, Settings, State, Step, load::load_str, metrics::pose_distance_rms_m, scene::Scene,
};

/// Rods on the ground: one that slides and spins, two that stand on an end, dragged and pushed, and one that a
/// hand pulls by its end.
const RODS: [(&str, &str); 4] = [
    ("box(size: (2, 0.1, 0.1))", "position: (0, 0, 0.05), velocity: (1.5, 1, 0), omega: (0, 0, 2)"),
    (
        "capsule(radius: 0.05, length: 1)",
        "position: (0.3830222, 0, 0.3713938),
            rotation: axis_angle(axis: (0, 1, 0), degrees: 50), velocity: (2, 0, 0)",
    ),
    (
        "capsule(radius: 0.05, length: 1)",
        "position: (0.25, 0, 0.4830127),
            rotation: axis_angle(axis: (0, 1, 0), degrees: 30), velocity: (-3, 0, 0)",
    ),
    ("box(size: (1, 0.2, 0.1))", "position: (0, 0, 0.05), velocity: (0, 1, 0), omega: (0, 0, -6)"),
];

fn scene((shape, motion): (&str, &str)) -> Scene {
    let text = format!(
        "(gravity: (0, 0, -9.81), dt: 0.005, contacts: (margin: 0.01), bodies: [
            body(name: \"ground\", shape: half_space, motion: static, friction: 0.6),
            body(name: \"rod\", shape: {shape}, mass: 1, friction: 0.6, {motion})])"
    );
    load_str(&text, "rod", &[]).expect("a good scene").scene
}

fn end(backend: &str, settings: &str, scene: &Scene, iterations: u32) -> State {
    let table = backends::table();
    let backend = table.get(backend).expect("it is in the table");
    let settings = Settings::from_ron(settings);
    let mut solver = backend.build(scene, &settings, &NoDevices).expect("it takes the scene");
    solver.load(&scene.initial_state()).expect("a good state");
    for _ in 0..60 {
        solver.begin_step(Step { dt: scene.dt, iterations }).expect("a step");
        (0..iterations).for_each(|_| solver.iterate().expect("an iteration"));
        solver.end_step().expect("a step");
    }
    let mut state = scene.initial_state();
    solver.read(&mut state).expect("a state");
    state
}

#[test]
fn every_stiffness_of_a_sliding_point_leads_to_the_same_friction() {
    for rod in RODS {
        let scene = scene(rod);
        let trusted = end("newton", "()", &scene, 1);
        for hessian in ["slip_direction", "full", "rescaled"] {
            let settings = format!("(contact_hessian: {hessian})");
            let found = end("avbd-cpu", &settings, &scene, 200);
            let off = pose_distance_rms_m(&scene, &found, &trusted).expect("a rod");
            assert!(off < 1e-4, "{rod:?} {hessian}: {off:.2e} m");
        }
    }
}
