//! What motors, and bodies that follow a path, give to what they move.

use nalgebra::Rotation3;
use taut_core::{
    Multipliers, Scene, State, Vec3,
    load::load_str,
    metrics::{energy, has_work, work},
};

fn scene(lists: &str) -> Scene {
    let text = format!("(contacts: false, {lists})");
    load_str(&text, "test", &[]).unwrap_or_else(|error| panic!("{error}")).scene
}

fn pair(scene: &Scene, dt: f64, change: impl Fn(&mut State)) -> [State; 2] {
    let before = scene.initial_state();
    let mut after = State { time_s: dt, ..before.clone() };
    change(&mut after);
    [before, after]
}

/// A joint exerts its motor's effort less what its damper takes, and a limit that stops it is no motor's work.
#[test]
fn motors_give_their_effort_along_the_way() {
    let scene = scene(
        "bodies: [body(name: \"bar\", shape: box(size: (1, 1, 1)), mass: 6)],
        joints: [hinge(a: \"world\", b: \"bar\", at: (0, 0, 0), axis: (0, 0, 1), damping: 0.3,
            motor: (speed: 5, max_effort: 0.2))]",
    );
    assert!(has_work(&scene));
    let [before, after] = pair(&scene, 0.01, |state| {
        state.bodies[0].frame = Rotation3::new(Vec3::z() * 0.05).into_inner();
    });
    assert_eq!(work(&scene, &before, &after, None), None);
    let told = |torque: f64| {
        let (joint_force, joint_torque) = (vec![Vec3::zeros()], vec![Vec3::z() * torque]);
        let reports = Multipliers { joint_force, joint_torque, contacts: vec![] };
        work(&scene, &before, &after, Some(&reports)).expect("it is told")
    };
    let heat = 0.3 * 0.05 * 0.05 / 0.01;
    let found = told(0.2 - 0.3 * 5.0);
    assert!((found.drives_j - 0.2 * 0.05).abs() < 1e-15, "{found:?}");
    assert!((found.dampers_j - heat).abs() < 1e-15, "{found:?}");
    let stopped = told(-100.0);
    assert!((stopped.drives_j + 0.2 * 0.05).abs() < 1e-15, "{stopped:?}");
}

/// What a driven body strains stores what the drive gives.
#[test]
fn drives_give_what_material_stores() {
    let scene = scene(
        "bodies: [body(name: \"lift\", shape: sphere(radius: 1), motion: path(position: (0, 0, \"t\")))],
        particles: [particle(name: \"p\", mass: 1, position: (1, 0, 0)), particle(name: \"q\", mass: 1, position: (0, 1, 0))],
        triangles: [triangle(nodes: (\"lift\", \"p\", \"q\"), thickness: 0.01, membrane: (young: 1e6, poisson: 0.3))]",
    );
    let mut total = 0.0;
    let at = |height: f64| {
        let mut state = State { time_s: height, ..scene.initial_state() };
        state.bodies[0].position.z = height;
        state
    };
    let steps = 200;
    for i in 0..steps {
        let [before, after] = [i, i + 1].map(|k| at(0.3 * f64::from(k) / f64::from(steps)));
        total += work(&scene, &before, &after, None).expect("nothing is hidden").drives_j;
    }
    let stored = energy(&scene, &at(0.3)).material_j;
    assert!(stored > 10.0, "{stored}");
    assert!((total / stored - 1.0).abs() < 1e-4, "{total} of {stored}");
}
