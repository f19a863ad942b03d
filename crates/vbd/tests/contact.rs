//! Contacts as penalties, against closed forms.

use taut_core::{Scene, Vec3, scene::Body};
use taut_fixtures::{DT, Run, coulomb_way, cube, plane, pressed, rubbing, tilted, touching};
use taut_vbd::BACKEND;

const G: f64 = 10.0;

/// A body on a plane, both of one friction.
fn on_plane(body: Body, mu: f64) -> Scene {
    touching(G, vec![plane(mu), rubbing(body, mu, mu)])
}

#[test]
fn a_box_rests_as_deep_as_its_weight_compresses_the_penalties() {
    let scene = on_plane(cube(0.5), 0.5);
    let mut run = Run::new(&BACKEND, &scene, "(contact_stiffness: 1000)", 10);
    // Four points of 1000 N/m carry 10 N.
    let depth = 0.5 - run.steps(600).bodies[1].position.z;
    assert!((depth - 0.0025).abs() < 1e-6, "{depth}");
    let force = pressed(&run.forces(), 1);
    assert!((force.z - G).abs() < 1e-3, "{force}");
}

#[test]
fn a_sliding_block_stops_where_coulomb_says() {
    for mu in [0.5, 1.0] {
        let mut sled = Body::solid_box(Vec3::new(1.0, 1.0, 0.5), 1.0).at(Vec3::z() * 0.25);
        sled.velocity.x = 10.0;
        let end = Run::new(&BACKEND, &on_plane(sled, mu), "()", 10).end(240);
        let (found, ideal) = (end.bodies[1].position.x, coulomb_way(10.0, mu * G, DT));
        // Below the friction speed it creeps on, for at most 0.01 m/s over three seconds.
        assert!((found - ideal).abs() < 0.03, "{mu}: {found} {ideal}");
    }
}

#[test]
fn friction_holds_nothing_slower_than_its_speed() {
    let scene = tilted(on_plane(cube(0.5), 0.5), 20.0);
    for speed in [0.01, 0.002] {
        let settings = format!("(friction_speed: {speed})");
        let creep = Run::new(&BACKEND, &scene, &settings, 20).end(120).bodies[1].velocity.norm();
        // Friction reaches 2 s - s^2 of Coulomb's at a share s of the speed, and tan 20 / 0.5 is needed.
        let needed = 20.0_f64.to_radians().tan() / 0.5;
        let share = 1.0 - (1.0 - needed).sqrt();
        assert!((creep / (share * speed) - 1.0).abs() < 0.01, "{creep} {}", share * speed);
    }
}

#[test]
fn a_stack_stands() {
    let mut scene = on_plane(cube(0.5), 0.5);
    let cubes = (1..10).map(|i| rubbing(cube(f64::from(i) + 0.5), 0.5, 0.5));
    scene.bodies.extend(cubes);
    let top = Run::new(&BACKEND, &scene, "()", 10).end(300).bodies[10].position;
    assert!(top.z > 9.5 - 10.0 * 0.01 && top.xy().norm() < 1e-3, "{top}");
}
