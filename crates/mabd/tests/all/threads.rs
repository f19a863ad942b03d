//! Results do not depend on how many threads there are.

use taut_core::{Scene, Vec3, scene::JointKind};
use taut_fixtures::{Run, chain, file, on_threads, pin};
use taut_mabd::BACKEND;

/// Hash of the state after some steps on so many threads.
fn end(scene: &Scene, settings: &str, threads: usize) -> u64 {
    on_threads(threads, || Run::new(&BACKEND, scene, settings, 2).end(4).hash())
}

fn check(scene: &Scene, settings: &str) {
    let alone = end(scene, settings, 1);
    for threads in [2, 3] {
        assert_eq!(end(scene, settings, threads), alone, "{settings} on {threads}");
    }
}

#[test]
fn a_long_chain_is_the_same_on_any_number_of_threads() {
    let mut scene = chain(9.81, 9000, Vec3::new(1.0, 0.2, 0.3), 100.0);
    // Pinned at its end too, and once on the way.
    for link in [4100, 8999] {
        let anchor = Vec3::new(0.5, 0.0, 0.0);
        let at = scene.bodies[link].position + anchor;
        scene.joints.push(pin(JointKind::Ball, at, link, anchor));
    }
    for settings in ["()", "(integrator: bdf2)", "(geometric: none)"] {
        check(&scene, settings);
    }
}

#[test]
fn many_chains_are_the_same_on_any_number_of_threads() {
    check(&file("necklace", &[("chains", 250.0)]), "()");
    check(&file("pulley", &[("links", 9000.0), ("span", 1000.0)]), "()");
}

#[test]
fn trees_are_the_same_on_any_number_of_threads() {
    // Small ones have no branches.
    for (links, bend) in [(3000.0, 0.0), (3000.0, 1.0), (9000.0, 0.0), (9000.0, 1.0)] {
        check(&file("pear", &[("links", links), ("bend", bend)]), "()");
    }
}

/// Islands of bodies that touch, of joints alone and of both, each solved by itself.
#[test]
fn islands_are_the_same_on_any_number_of_threads() {
    check(&file("ragdolls", &[("n", 5.0), ("dolls", 3.0)]), "()");
    check(&file("pyramid", &[("n", 5.0), ("gap", 0.0)]), "()");
    check(&file("pile", &[("n", 3.0), ("layers", 2.0)]), "(integrator: implicit_euler)");
}
