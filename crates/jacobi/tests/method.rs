//! The method in double precision: what it converges to, and what its settings change.

mod common;

use common::{load, run, solver};
use taut_core::Backend;
use taut_core::{Multipliers, Scene, State, metrics};

fn joint_error(scene: &Scene, state: &State) -> f64 {
    metrics::joint_errors(scene, state).max_m
}

/// Speed at which the anchors of the worst joint part [m/s].
fn parting(scene: &Scene, state: &State) -> f64 {
    scene
        .joints
        .iter()
        .map(|joint| {
            let at = |end, anchor: &taut_core::Vec3| match end {
                taut_core::scene::Endpoint::Body(i) => {
                    let body = &state.bodies[i];
                    body.velocity + body.frame_rate * anchor
                }
                _ => taut_core::Vec3::zeros(),
            };
            // Arms turn within the step, so only steps that turn little tell the constraint of Eq. 4.
            (at(joint.a, &joint.anchor_a) - at(joint.b, &joint.anchor_b)).norm()
        })
        .fold(0.0, f64::max)
}

fn after(scene: &Scene, settings: &str, steps: u32, iterations: u32) -> State {
    let mut solver = solver(scene, None, settings);
    run(&mut *solver, scene, steps, iterations);
    let mut state = State::default();
    solver.read(&mut state).unwrap();
    state
}

#[test]
fn velocities_converge_to_those_that_keep_the_joints_together() {
    let scene = load("chain50-hang", &[("links", 6.0), ("end_mass", 2.0)]);
    let mut last = f64::INFINITY;
    for iterations in [10, 100, 1000] {
        let speed = parting(&scene, &after(&scene, "(warm_start: off)", 1, iterations));
        assert!(speed < last * 0.8, "{iterations} iterations: {speed} m/s after {last}");
        last = speed;
    }
    assert!(last < 1e-3, "{last} m/s");
}

#[test]
fn a_hanging_chain_pulls_with_what_hangs_on_each_joint() {
    let scene = load("chain50-hang", &[("links", 4.0), ("end_mass", 1.0)]);
    let mut solver = solver(&scene, None, "()");
    run(&mut *solver, &scene, 10, 500);
    let mut forces = Multipliers::default();
    assert!(solver.read_multipliers(&mut forces));
    for (joint, force) in forces.joint_force.iter().enumerate() {
        // Five bodies of one kilogram, the joint to the world first; the lower side is pulled up.
        let expected = (5 - joint) as f64 * 9.81;
        let up = match scene.joints[joint].b {
            taut_core::scene::Endpoint::World => -force.z,
            _ => force.z,
        };
        assert!((up.abs() - expected).abs() < 1e-6 * expected, "joint {joint}: {force:?}");
    }
}

/// Starting from free velocities with multipliers at hand counts them twice: what already hangs at rest is
/// thrown up. Starting from the velocities that belong to them, it stays at rest.
#[test]
fn multipliers_at_hand_count_once() {
    let scene = load("chain50-hang", &[("links", 4.0), ("end_mass", 1.0)]);
    let fastest = |settings: &str| {
        let mut solver = solver(&scene, None, settings);
        // Exact forces first, then steps with little to correct and few iterations to do it in.
        run(&mut *solver, &scene, 10, 500);
        run(&mut *solver, &scene, 1, 1);
        let mut state = State::default();
        solver.read(&mut state).unwrap();
        state.bodies.iter().map(|b| b.velocity.norm()).fold(0.0, f64::max)
    };
    let (once, twice) = (fastest("()"), fastest("(warm_start: listing)"));
    assert!(once < 1e-6, "{once} m/s");
    // A body that nothing holds falls at 9.81/60 m/s after a step.
    assert!(twice > 0.01, "{twice} m/s");
}

#[test]
fn both_starts_agree_once_converged() {
    let scene = load("chain50-hang", &[("links", 3.0), ("end_mass", 1.0)]);
    let [a, b] = ["()", "(warm_start: listing)"].map(|s| after(&scene, s, 5, 2000));
    let gap = a.bodies.iter().zip(&b.bodies).map(|(a, b)| (a.position - b.position).norm());
    assert!(gap.fold(0.0, f64::max) < 1e-9);
}

#[test]
fn positions_drift_unless_they_are_held() {
    let scene = load("rope", &[("links", 8.0)]);
    let error = |settings: &str| joint_error(&scene, &after(&scene, settings, 120, 200));
    let (published, held) = (error("()"), error("(drift: baumgarte(0.2))"));
    assert!(held < 0.2 * published, "{published} m without, {held} m with correction");
}

/// A net's hubs have up to four joints each, which all correct the same motion: in full, that diverges.
#[test]
fn bodies_with_many_joints_need_less_relaxation() {
    let scene = load("net", &[]);
    let energy_j = |settings: &str| {
        let state = after(&scene, settings, 30, 20);
        match state.is_finite() {
            true => metrics::energy(&scene, &state).total_j(),
            false => f64::INFINITY,
        }
    };
    let start_j = metrics::energy(&scene, &scene.initial_state()).total_j();
    let bound_j = start_j + 1e-3 * start_j.abs();
    assert!(energy_j("(relaxation: 0.4)") < bound_j);
    assert!(energy_j("()") > bound_j);
}

#[test]
fn what_it_cannot_do_is_refused_with_a_reason() {
    for (name, part) in
        [("joint-zoo", "takes no joints"), ("spring", "springs"), ("stack", "contacts")]
    {
        let error = taut_jacobi::BACKEND_CPU.supports(&load(name, &[])).expect_err(name);
        assert!(error.to_string().contains(part), "{name}: {error}");
    }
}
