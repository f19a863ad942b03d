//! Impacts along lines and along arcs: what each finds where the answer is known.

use taut_collide::PathProbe;
use taut_core::{BodyState, Quat, Scene, State, Vec3, load::load_str};

fn scene(bodies: &str) -> Scene {
    let text = format!("(gravity: (0, 0, 0), contacts: (margin: 0.001), bodies: [{bodies}])");
    load_str(&text, "test", &[]).expect("a good scene").scene
}

#[test]
fn what_moves_straight_stops_before_the_impact_either_way() {
    let scene = scene(
        "body(shape: box(size: (4, 4, 1)), motion: static),
         body(shape: box(size: (1, 1, 1)), density: 1, position: (0, 0, 1.5))",
    );
    let mut state = scene.initial_state();
    state.bodies[1].velocity.z = -1.0;
    let mut probe = PathProbe::new(&scene);
    let far = probe.measure(&scene, &state, 0.4);
    assert_eq!((far.line_share, far.arc_share), (1.0, 1.0));
    // Half a metre at 1 m/s: the impact is in the middle of the step, and some of the distance is left.
    let near = probe.measure(&scene, &state, 1.0);
    for share in [near.line_share, near.arc_share] {
        assert!((0.35..0.5).contains(&share), "{share}");
    }
    assert!(near.pairs > 0 && near.seconds.is_some_and(|s| s.iter().all(|s| *s > 0.0)));
}

#[test]
fn a_chord_misses_what_an_arc_meets() {
    let scene = scene(
        "body(shape: box(size: (2, 0.1, 0.1)), density: 1),
         body(shape: box(size: (0.05, 0.05, 0.05)), motion: static, position: (0.69, 0.69, 0))",
    );
    let state = turning(&scene);
    let found = PathProbe::new(&scene).measure(&scene, &state, 1.0);
    assert_eq!(found.line_share, 1.0);
    assert!((0.2..0.6).contains(&found.arc_share), "{}", found.arc_share);
}

/// A rod that a step takes from 5 to 85 degrees: `atan(omega h)` is the angle of `1 + h omega`.
fn turning(scene: &Scene) -> State {
    let mut state = scene.initial_state();
    let up = |angle: f64| Vec3::new(0.0, 0.0, angle);
    let rotation = Quat::from_scaled_axis(up(5_f64.to_radians()));
    let spin = up(80_f64.to_radians().tan());
    state.bodies[0] = BodyState::rigid(Vec3::zeros(), rotation, Vec3::zeros(), spin);
    state
}
