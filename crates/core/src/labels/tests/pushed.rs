//! What forces from outside and bodies on paths account for.

use super::*;
use crate::load::load_str;

fn scene(lists: &str) -> Scene {
    let text = format!("(gravity: (0, 0, 0), contacts: false, dt: \"1/60\", {lists})");
    load_str(&text, "test", &[]).unwrap_or_else(|error| panic!("{error}")).scene
}

/// A box of 1 kg that is pushed with 5 N.
fn pushed(force: &str) -> Scene {
    scene(&format!(
        "bodies: [body(name: \"box\", shape: box(size: (1, 1, 1)), mass: 1)],
        forces: [force(on: \"box\", force: ({force}, 0, 0))]"
    ))
}

/// The label of a run whose last body has this place along x and this speed.
fn label(scene: &Scene, motion: impl Fn(f64) -> [f64; 2]) -> Label {
    let mut state = scene.initial_state();
    let mut judge = Judge::new(scene, &state);
    for frame in 1..=120 {
        state.time_s = f64::from(frame) * FRAME_S;
        for drive in &scene.drives {
            let (position, rotation) = drive.path.pose(state.time_s);
            let [velocity, omega] = drive.path.rates_at(state.time_s);
            state.bodies[drive.body] = crate::BodyState::rigid(position, rotation, velocity, omega);
        }
        let last = state.bodies.last_mut().expect("there is one");
        [last.position.x, last.velocity.x] = motion(state.time_s);
        judge.observe(&state, &Evidence::default());
    }
    judge.label()
}

#[test]
fn what_is_pushed_gains_the_work_and_no_more() {
    let steady = pushed("5");
    assert_eq!(label(&steady, |t| [2.5 * t * t, 5.0 * t]), Label::Ok);
    assert_eq!(label(&steady, |t| [2.5 * t * t, 15.0 * t]), Label::Exploded);
}

#[test]
fn what_is_pushed_steadily_and_stays_is_frozen() {
    assert_eq!(label(&pushed("5"), |_| [0.0; 2]), Label::Frozen);
    // What swings fast moves by less than a look can tell.
    assert_eq!(label(&pushed("\"5*cos(400*t)\""), |_| [0.0; 2]), Label::Ok);
}

#[test]
fn a_path_carries_as_fast_as_it_goes() {
    let carried = scene(
        "bodies: [body(name: \"sled\", shape: box(size: (1, 1, 1)), motion: path(position: (\"2*sin(3*t)\", 0, 0))),
            body(name: \"box\", shape: box(size: (1, 1, 1)), mass: 1, position: (0, 0, 1))],
        joints: [fixed(a: \"sled\", b: \"box\", at: (0, 0, 0.5))]",
    );
    let with = |factor: f64| move |t: f64| [2.0 * (3.0 * t).sin(), 6.0 * factor * (3.0 * t).cos()];
    assert_eq!(label(&carried, with(1.0)), Label::Ok);
    assert_eq!(label(&carried, with(20.0)), Label::Exploded);
}
