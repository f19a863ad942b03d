//! What can be set of elastic elements in block descent: acceleration of sweeps, ramps of stiffness.

use taut_core::{Scene, State, load::load_str, metrics};

use crate::begin;

/// A stiff beam that its weight bends.
fn beam() -> Scene {
    let text = "(contacts: false, dt: \"1/60\", particles: [
        solid(name: \"b\", shape: lattice(size: (1, 0.2, 0.2), counts: (10, 2, 2)), density: 1000, held: [first_x],
            elastic: (young: 1e6, poisson: 0.3))])";
    load_str(text, "beam.ron", &[]).unwrap_or_else(|error| panic!("{error}")).scene
}

fn run(backend: &str, settings: &str, scene: &Scene, iterations: u32, steps: u32) -> State {
    begin(backend, settings, scene, iterations).end(steps)
}

/// How far the objective of a step is above that of the reference's [J].
fn gap(scene: &Scene, settings: &str, iterations: u32) -> f64 {
    let start = scene.initial_state();
    let reference = run("newton", "()", scene, 1, 1);
    let state = run("vbd-cpu", settings, scene, iterations, 1);
    metrics::objective_gap_j(scene, &start, &state, &reference, scene.dt).expect("it has one")
}

#[test]
fn chebyshev_takes_fewer_sweeps_to_the_same_end() {
    let scene = beam();
    let [plain, fast] =
        ["()", "(chebyshev: 0.9)"].map(|settings| [20, 60].map(|n| gap(&scene, settings, n)));
    assert!(fast[0] < 0.5 * plain[0] && fast[1] < 0.1 * plain[1], "{plain:?} {fast:?}");
    assert!(gap(&scene, "(chebyshev: 0.9)", 400).abs() < 1e-12 * plain[0].abs().max(1.0));
}

#[test]
fn sweeps_without_a_share_are_plain() {
    let scene = beam();
    let [plain, slow] =
        ["()", "(chebyshev: 0)"].map(|settings| run("vbd-cpu", settings, &scene, 5, 3));
    // One half of a difference is added to the other.
    let off = plain.particles.iter().zip(&slow.particles);
    let off = off.map(|(a, b)| (a.position - b.position).norm()).fold(0.0, f64::max);
    assert!(off < 1e-14, "{off:e}");
}

#[test]
fn elements_that_ramp_begin_softer_and_stiffen_by_their_rate() {
    let scene = beam();
    let tip = |state: &State| {
        let z = state.particles.iter().filter(|p| p.position.x > 0.49).map(|p| p.position.z);
        z.fold(f64::INFINITY, f64::min)
    };
    let off = |settings: &str, steps: u32| {
        let [plain, ramped] =
            ["()", settings].map(|settings| tip(&run("avbd-cpu", settings, &scene, 20, steps)));
        (ramped - plain).abs() / (plain + 0.1).abs()
    };
    let fast = "(element_ramp: true, beta_scale: 1e4)";
    let [first, last] = [1, 200].map(|steps| off(fast, steps));
    // What is hardly strained ramps slower than it forgets at the rate that joints have.
    let slow = off("(element_ramp: true)", 200);
    assert!(first > 1e-3 && slow > 0.1 && last < 0.5 * slow, "{first} {last} {slow}");
}
