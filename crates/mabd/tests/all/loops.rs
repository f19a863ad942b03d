//! Joints that close loops more often than they need: motion and forces without self-stress, by every dual.

use taut_core::{Scene, load::load_str, metrics};
use taut_fixtures::{Run, farthest, file};
use taut_mabd::BACKEND;

/// Bricard's mechanism of five rods and six hinges: movable, though it has as many locked rows as freedoms.
const BRICARD: &str = r#"(
    about: "Bricard's mechanism.",
    gravity: (0, -9.81, 0), dt: "dt", steps: 1, contacts: false,
    parameters: { "dt": 0.01 },
    bodies: [
        body(name: "a", shape: box(size: (1, 0.05, 0.05)), mass: 1, position: (0.5, 0, 0)),
        body(name: "b", shape: box(size: (0.05, 1, 0.05)), mass: 1, position: (1, -0.5, 0)),
        body(name: "c", shape: box(size: (0.05, 0.05, 1)), mass: 1, position: (1, -1, 0.5)),
        body(name: "d", shape: box(size: (1, 0.05, 0.05)), mass: 1, position: (0.5, -1, 1)),
        body(name: "e", shape: box(size: (0.05, 1, 0.05)), mass: 1, position: (0, -0.5, 1)),
    ],
    joints: [
        hinge(a: "world", b: "a", at: (0, 0, 0), axis: (0, 1, 0)),
        hinge(a: "a", b: "b", at: (1, 0, 0), axis: (0, 0, 1)),
        hinge(a: "b", b: "c", at: (1, -1, 0), axis: (1, 0, 0)),
        hinge(a: "c", b: "d", at: (1, -1, 1), axis: (0, 1, 0)),
        hinge(a: "d", b: "e", at: (0, -1, 1), axis: (0, 0, 1)),
        hinge(a: "e", b: "world", at: (0, 0, 1), axis: (1, 0, 0)),
    ],
)"#;

/// Windows of four bars side by side: in a plane hinges lock three rows too many for each.
const WINDOWS: &str = r#"(
    about: "Four-bar windows.",
    gravity: (0, 0, -9.81), dt: 0.01, steps: 1, contacts: false,
    parameters: { "n": 30 },
    bodies: [
        repeat(count: "n + 1", bodies: [body(name: "up[i]", shape: box(size: (0.02, 0.02, 1)), mass: 1,
            position: ("i", 0, 0.5), velocity: (0.5, 0, 0), omega: (0, 1, 0))]),
        repeat(count: "n", bodies: [body(name: "across[i]", shape: box(size: (1, 0.02, 0.02)), mass: 1,
            position: ("i + 0.5", 0, 1), velocity: (1, 0, 0))]),
    ],
    joints: [
        repeat(count: "n + 1", joints: [hinge(a: "world", b: "up[i]", at: ("i", 0, 0), axis: (0, 1, 0))]),
        repeat(count: "n", joints: [
            hinge(a: "up[i]", b: "across[i]", at: ("i", 0, 1), axis: (0, 1, 0)),
            hinge(a: "up[i+1]", b: "across[i]", at: ("i + 1", 0, 1), axis: (0, 1, 0)),
        ]),
    ],
)"#;

fn scene(text: &str, parameters: &[(&str, f64)]) -> Scene {
    let parameters: Vec<(String, f64)> =
        parameters.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    load_str(text, "loops", &parameters).expect("a scene").scene
}

/// The same motion whatever the dual and with or without geometric stiffness, which a self-stress would turn into
/// a brake: 4.5 J were lost, and the mechanism was 1 m from where it should be.
#[test]
fn a_self_stress_slows_nothing() {
    let scene = scene(BRICARD, &[("dt", 0.01)]);
    let end = |settings: &str| {
        let mut run = Run::new(&BACKEND, &scene, settings, 1);
        run.steps(200);
        let largest = run.forces().joint_force.iter().map(|f| f.norm()).fold(0.0, f64::max);
        (run.state.clone(), largest)
    };
    let (expected, _) = end("(geometric: none)");
    for settings in ["()", "(dual: thomas)", "(dual: direct)", "(integrator: projected)"] {
        let (state, force) = end(settings);
        for (body, other) in state.bodies.iter().zip(&expected.bodies) {
            let off = (body.position - other.position).norm();
            assert!(off < 0.02, "{settings}: {off} m");
        }
        // Five rods of a kilogram that swing through metres.
        assert!(force < 500.0, "{settings}: {force} N");
    }
}

#[test]
fn windows_stay_closed_by_every_dual() {
    for (n, settings, most) in [
        (30.0, "()", 1e-9),
        (60.0, "()", 1e-9),
        (30.0, "(dual: thomas)", 1e-9),
        (30.0, "(dual: tree)", 1e-9),
        (30.0, "(dual: cg)", 1e-6),
    ] {
        let scene = scene(WINDOWS, &[("n", n)]);
        for state in Run::new(&BACKEND, &scene, settings, 1).path(100) {
            let error = metrics::joint_errors(&scene, &state).max_m;
            assert!(error < most, "{n} windows, {settings}: {error:e} m");
        }
    }
}

/// A net with unlike joints of ball joints alone, some of them soft, one broken: what goes four bodies at a time moves
/// as the rows of all joints do.
#[test]
fn nets_by_fours_agree_with_general_rows() {
    let mut scene = file("net-slack", &[("n", 5.0)]);
    for joint in scene.joints.iter_mut().step_by(7) {
        joint.compliance_linear = 1e-7;
    }
    let mut start = scene.initial_state();
    start.broken[11] = true;
    for settings in [
        "",
        "geometric: none, ",
        "integrator: bdf2, ",
        "integrator: implicit_euler, ",
        "polar: newton_schulz, ",
        "polar: blockwise, ",
        "dual: schur, ",
    ] {
        let [fast, general] = ["", "general: true"].map(|general| {
            let mut run = Run::new(&BACKEND, &scene, &format!("({settings}{general})"), 2);
            run.load(&start);
            run.steps(6);
            (run.forces(), run.state)
        });
        let apart = farthest(&fast.1, &general.1);
        assert!(apart < 1e-9, "{settings} {apart:e}");
        for (a, b) in fast.0.joint_force.iter().zip(&general.0.joint_force) {
            assert!((a - b).norm() < 1e-6 * (1.0 + b.norm()), "{settings}: {a} {b}");
        }
    }
}
