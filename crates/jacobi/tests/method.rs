//! The method in double precision: what it converges to, and what its settings change.

mod common;

use common::run;
use taut_core::{Scene, State, metrics};
use taut_fixtures::{farthest, file, refusal};

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
    run(scene, None, settings, iterations).end(steps)
}

#[test]
fn velocities_converge_to_those_that_keep_the_joints_together() {
    let scene = file("chain50-hang", &[("links", 6.0), ("end_mass", 2.0)]);
    let mut last = f64::INFINITY;
    for iterations in [10, 100, 1000] {
        let speed = parting(&scene, &after(&scene, "(warm_start: off)", 1, iterations));
        assert!(speed < last * 0.8, "{iterations} iterations: {speed} m/s after {last}");
        last = speed;
    }
    assert!(last < 1e-3, "{last} m/s");
}

/// Starting from free velocities with multipliers at hand counts them twice: what already hangs at rest is
/// thrown up. Starting from the velocities that belong to them, it stays at rest.
#[test]
fn multipliers_at_hand_count_once() {
    let scene = file("chain50-hang", &[("links", 4.0), ("end_mass", 1.0)]);
    let fastest = |settings: &str| {
        let mut run = run(&scene, None, settings, 500);
        // Exact forces first, then steps with little to correct and few iterations to do it in.
        run.steps(10);
        run.step.iterations = 1;
        run.step().bodies.iter().map(|b| b.velocity.norm()).fold(0.0, f64::max)
    };
    let (once, twice) = (fastest("()"), fastest("(warm_start: listing)"));
    assert!(once < 1e-6, "{once} m/s");
    // A body that nothing holds falls at 9.81/60 m/s after a step.
    assert!(twice > 0.01, "{twice} m/s");
}

#[test]
fn both_starts_agree_once_converged() {
    let scene = file("chain50-hang", &[("links", 3.0), ("end_mass", 1.0)]);
    let [a, b] = ["()", "(warm_start: listing)"].map(|s| after(&scene, s, 5, 2000));
    assert!(farthest(&a, &b) < 1e-9);
}

#[test]
fn positions_drift_unless_they_are_held() {
    let scene = file("rope", &[("links", 8.0)]);
    let error = |settings: &str| joint_error(&scene, &after(&scene, settings, 120, 200));
    let (published, held) = (error("()"), error("(drift: baumgarte(0.2))"));
    assert!(held < 0.2 * published, "{published} m without, {held} m with correction");
}

/// A net's hubs have up to four joints each, which all correct the same motion: in full, that diverges.
#[test]
fn bodies_with_many_joints_need_less_relaxation() {
    let scene = file("net", &[]);
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
        let reason = refusal(&taut_jacobi::BACKEND_CPU, &file(name, &[]));
        assert!(reason.contains(part), "{name}: {reason}");
    }
}
