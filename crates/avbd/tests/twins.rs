//! The adapter and the CPU in single precision and coloured order: the same bits.

#[path = "../../descent/tests/twins/mod.rs"]
mod twins;

use taut_avbd::{BACKEND, BACKEND_GPU};
use taut_gpu::Gpu;
use twins::{Twins, advance, breaking_chain, load, scenes, touching_scenes};

const TWINS: Twins = Twins { cpu: BACKEND, gpu: BACKEND_GPU };

const SETTINGS: [&str; 4] = [
    "(post_stabilisation: true)",
    "()",
    "(profile: paper)",
    "(profile: compliant, isotropic: false, gyroscopic: false, start: target)",
];

const TOUCHING_SETTINGS: [&str; 3] =
    ["()", "(profile: paper)", "(profile: compliant, contact_hessian: rescaled, open_gap: inf)"];

#[test]
fn both_give_the_same_bits_over_sixty_steps() {
    let Some(gpu) = Gpu::for_test() else { return };
    for scene in scenes() {
        for settings in SETTINGS {
            TWINS.compare(&gpu, &scene, settings);
        }
    }
}

#[test]
fn both_give_the_same_bits_where_bodies_touch() {
    let Some(gpu) = Gpu::for_test() else { return };
    for scene in touching_scenes() {
        for settings in TOUCHING_SETTINGS {
            let (_, forces) = TWINS.compare(&gpu, &scene, settings);
            assert!(!forces.contacts.is_empty(), "{} {settings}", scene.name);
        }
    }
}

#[test]
fn both_give_the_same_bits_where_a_body_has_many_neighbours() {
    TWINS.compare_crowded();
}

#[test]
fn workgroups_of_any_size_give_the_same_bits() {
    TWINS.compare_workgroups();
}

#[test]
fn contacts_found_on_the_device_hold_the_same() {
    TWINS.hold_the_same_with_contacts_of_the_device();
}

#[test]
fn contacts_found_on_the_device_are_not_read_back() {
    TWINS.read_no_contacts_back();
}

#[test]
fn joints_let_go_at_the_same_time() {
    let Some(gpu) = Gpu::for_test() else { return };
    let chain = breaking_chain();
    // The paper's stiffness is too low for a blow that breaks anything.
    for settings in SETTINGS.into_iter().filter(|settings| !settings.contains("paper")) {
        let (state, _) = TWINS.compare(&gpu, &chain, settings);
        let broken = state.broken.iter().filter(|broken| **broken).count();
        assert!(0 < broken && broken < chain.joints.len(), "{settings}: {broken}");
    }
}

#[test]
fn a_step_is_submitted_at_once_and_reads_nothing_back() {
    let Some(gpu) = Gpu::for_test() else { return };
    let scene = load("rope", &[]);
    let [_, mut solver] = TWINS.pair(&gpu, &scene, "()");
    advance(&mut *solver, scene.dt, 10);
    let before = gpu.counters();
    advance(&mut *solver, scene.dt, 10);
    let after = gpu.counters();
    assert_eq!(after.submissions - before.submissions, 1);
    assert_eq!(after.reads, before.reads);
    // Three to prepare, one to finish; a rope takes three colours, after which comes the dual update.
    assert_eq!(after.dispatches - before.dispatches, 4 + 10 * (3 + 1));
}
