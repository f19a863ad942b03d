//! What neither moves nor turns although it should, and what rests.

use super::*;
use crate::{ContactForce, Multipliers, scene::Contacts};

/// A box of 1 m on the ground, or above it.
fn box_at(height: f64) -> Scene {
    let mut block = Body::solid_box(Vec3::repeat(1.0), 2.0).at(Vec3::new(0.0, 0.0, height));
    block.name = "block".to_owned();
    let ground = Body { motion: Motion::Static, ..Body::solid_box(Vec3::repeat(1.0), 1.0) };
    Scene {
        gravity: gravity(),
        dt: FRAME_S,
        bodies: vec![block, ground],
        contacts: Some(Contacts::default()),
        ..Scene::default()
    }
}

#[test]
fn what_says_that_it_moves_and_does_not_is_frozen() {
    let mut sliding = box_at(0.5);
    sliding.bodies[0].velocity = Vec3::x();
    assert_label(&judged(&sliding, 60, stay, None), Label::Frozen);
    let slides = |state: &mut State, t: f64| state.bodies[0].position.x += t;
    assert_label(&judged(&sliding, 60, slides, None), Label::Ok);

    let mut spinning = box_at(5.0);
    spinning.gravity = Vec3::zeros();
    spinning.bodies[0].omega = Vec3::z() * 3.0;
    let judge = judged(&spinning, 60, stay, None);
    assert_label(&judge, Label::Frozen);
    assert!(judge.reason().contains("`block`") && judge.reason().contains("its own velocity"));
    let spins = |state: &mut State, t: f64| {
        let turn = Rotation3::from_axis_angle(&Vec3::z_axis(), 3.0 * t).into_inner();
        state.bodies[0].frame = turn;
        state.bodies[0].frame_rate = skew(&(Vec3::z() * 3.0)) * turn;
    };
    assert_label(&judged(&spinning, 60, spins, None), Label::Ok);
}

#[test]
fn a_turn_that_is_owed_counts_by_the_radius_of_gyration() {
    let mut scene = box_at(5.0);
    (scene.gravity, scene.contacts) = (Vec3::zeros(), None);
    let turned = |state: &mut State, t: f64| {
        state.bodies[0].frame = Rotation3::from_axis_angle(&Vec3::x_axis(), t).into_inner();
    };
    // Half of a metre at the radius of gyration of 0.41 m.
    assert_label(&judged(&scene, 20, stay, Some(&turned)), Label::Ok);
    assert_label(&judged(&scene, 60, stay, Some(&turned)), Label::Frozen);
}

#[test]
fn small_scenes_are_held_to_small_distances() {
    let mut scene = box_at(0.0);
    scene.gravity = Vec3::zeros();
    scene.bodies[0] = Body::solid_box(Vec3::repeat(0.01), 2.0);
    let drifts = |state: &mut State, t: f64| state.bodies[0].position.x += 0.02 * t;
    assert_label(&judged(&scene, 60, stay, Some(&drifts)), Label::Frozen);
    assert_label(&judged(&scene, 60, drifts, Some(&drifts)), Label::Ok);
}

/// The judge of a still box on the ground, whose contacts are said to carry a share of its weight.
fn carried(share: impl Fn(u32) -> f64) -> Judge {
    let scene = box_at(0.5);
    let initial = scene.initial_state();
    let mut judge = Judge::new(&scene, &initial);
    for frame in 1..=60 {
        let state = State { time_s: f64::from(frame) * FRAME_S, ..initial.clone() };
        let force = -gravity() * 2.0 * share(frame);
        let contact =
            ContactForce { bodies: [0, 1], force: force * 0.5, ..ContactForce::default() };
        let forces = Multipliers { contacts: vec![contact; 2], ..Multipliers::default() };
        judge.observe(&state, &Evidence { forces: Some(&forces), ..Evidence::default() });
    }
    judge
}

#[test]
fn what_rests_without_being_carried_is_frozen() {
    let judge = carried(|_| 0.0);
    assert_label(&judge, Label::Frozen);
    assert!(judge.reason().contains("leave 100 % of its load"), "{}", judge.reason());
    assert_label(&carried(|_| 1.0), Label::Ok);
    // Forces may swing from frame to frame, as long as their mean carries.
    assert_label(&carried(|frame| if frame % 2 == 0 { 1.9 } else { 0.1 }), Label::Ok);
    assert_label(&carried(|_| 0.05), Label::Frozen);
}
