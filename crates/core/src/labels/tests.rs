//! Synthetic trajectories, right ones and the wrong ones that look right to a joint error.

mod carried;
mod inside;
mod pushed;
mod rest;

use nalgebra::Rotation3;

use super::*;
use crate::{
    energy::Membrane,
    math::skew,
    scene::{
        Anchor, Body, ElasticPart, Endpoint, Joint, JointKind, Limit, Motion, Motor, Particle,
        Spring, SpringKind,
    },
};

const FRAME_S: f64 = 1.0 / 60.0;
const G: f64 = 9.81;

fn gravity() -> Vec3 {
    Vec3::new(0.0, 0.0, -G)
}

fn particle(mass: f64, position: Vec3) -> Particle {
    Particle { name: "load".to_owned(), mass, position, velocity: Vec3::zeros(), touch: None }
}

/// A particle at `position` on a rod (or, with `rope`, a rope) from the origin.
fn tied_particle(position: Vec3, rope: bool) -> Scene {
    let length = position.norm();
    let mut joint =
        Joint::new(JointKind::Distance { length }, Endpoint::World, Endpoint::Particle(0));
    joint.limit = rope.then_some(Limit { lower: 0.0, upper: length });
    Scene {
        gravity: gravity(),
        dt: FRAME_S,
        particles: vec![particle(1.0, position)],
        joints: vec![joint],
        ..Scene::default()
    }
}

/// `links` boxes of 1 m along `direction` from the origin, then a heavy cube, ball joints between.
fn chain(links: usize, link_kg: f64, load_kg: f64, direction: Vec3) -> Scene {
    let half = direction * 0.5;
    let mut scene = Scene { gravity: gravity(), dt: FRAME_S, ..Scene::default() };
    for i in 0..=links {
        let mass = if i < links { link_kg } else { load_kg };
        scene
            .bodies
            .push(Body::solid_box(Vec3::repeat(1.0), mass).at(direction * (i as f64 + 0.5)));
        let (a, anchor_a) = match i {
            0 => (Endpoint::World, Vec3::zeros()),
            _ => (Endpoint::Body(i - 1), half),
        };
        let joint = Joint::new(JointKind::Ball, a, Endpoint::Body(i));
        scene.joints.push(joint.anchored(anchor_a, -half));
    }
    scene
}

/// Changes an initial state into that at a time [s].
type Path<'a> = &'a dyn Fn(&mut State, f64);

/// The judge after `frames` frames of `motion(state, time)`, with or without a reference.
fn judged(
    scene: &Scene,
    frames: u32,
    motion: impl Fn(&mut State, f64),
    reference: Option<Path<'_>>,
) -> Judge {
    let initial = scene.initial_state();
    let mut judge = Judge::new(scene, &initial);
    for frame in 1..=frames {
        let time = f64::from(frame) * FRAME_S;
        let at = |motion: Path<'_>| {
            let mut state = State { time_s: time, ..initial.clone() };
            motion(&mut state, time);
            state
        };
        let reference = reference.map(at);
        let evidence = Evidence { reference: reference.as_ref(), ..Evidence::default() };
        judge.observe(&at(&motion), &evidence);
    }
    judge
}

/// A fall as a semi-implicit integrator makes it: half a frame's velocity ahead of the parabola.
fn fall(state: &mut State, time: f64) {
    let drop = gravity() * (0.5 * time * (time + FRAME_S));
    let velocity = gravity() * time;
    for body in &mut state.bodies {
        (body.position, body.velocity) = (body.position + drop, velocity);
    }
    for particle in &mut state.particles {
        (particle.position, particle.velocity) = (particle.position + drop, velocity);
    }
}

fn stay(_state: &mut State, _time: f64) {}

/// A pendulum released level, by small Runge-Kutta steps of its angle.
fn swing(state: &mut State, time: f64) {
    let length = state.particles[0].position.norm();
    let rate = |angle: f64| G / length * angle.cos();
    let (mut angle, mut speed, h) = (0.0, 0.0, 1e-3);
    for _ in 0..(time / h).round() as u32 {
        let mid_angle = angle + 0.5 * h * speed;
        let mid_speed = speed + 0.5 * h * rate(angle);
        (angle, speed) = (angle + h * mid_speed, speed + h * rate(mid_angle));
    }
    let direction = Vec3::new(angle.cos(), 0.0, -angle.sin());
    let tangent = Vec3::new(-angle.sin(), 0.0, -angle.cos());
    state.particles[0].position = direction * length;
    state.particles[0].velocity = tangent * (length * speed);
}

fn assert_label(judge: &Judge, label: Label) {
    assert_eq!(judge.label(), label, "{}", judge.reason());
    assert_eq!(judge.reason().is_empty(), label == Label::Ok);
}

#[test]
fn a_true_swing_is_ok_although_it_starts_like_a_fall() {
    for length in [0.5, 4.0, 51.0] {
        let scene = tied_particle(Vec3::new(length, 0.0, 0.0), false);
        assert_label(&judged(&scene, 300, swing, None), Label::Ok);
        assert_label(&judged(&scene, 300, swing, Some(&swing)), Label::Ok);
    }
}

#[test]
fn a_tied_load_that_falls_is_falling() {
    let scene = tied_particle(Vec3::new(51.0, 0.0, 0.0), false);
    let judge = judged(&scene, 300, fall, None);
    assert_label(&judge, Label::Falling);
    assert!(judge.reason().contains("particle `load` fell freely"), "{}", judge.reason());
    assert_label(&judged(&scene, 300, fall, Some(&swing)), Label::Falling);
    assert_label(&judged(&scene, 300, fall, Some(&fall)), Label::Ok);
}

#[test]
fn the_end_of_a_chain_falls_by_the_reach_of_all_its_links() {
    let scene = chain(9, 1.0, 1000.0, Vec3::x());
    let load_falls = |state: &mut State, time: f64| {
        let start: Vec<Vec3> = state.bodies.iter().map(|b| b.position).collect();
        fall(state, time);
        for (i, body) in state.bodies.iter_mut().enumerate() {
            body.position = start[i] + (body.position - start[i]) * ((i + 1) as f64 / 10.0);
        }
    };
    // The reach is 10.5 m to the load, so its fall is seen only some time after it began.
    assert_label(&judged(&scene, 45, load_falls, None), Label::Ok);
    let judge = judged(&scene, 120, load_falls, None);
    assert_label(&judge, Label::Falling);
    assert!(judge.reason().starts_with("body 9 "), "{}", judge.reason());
}

#[test]
fn a_fall_within_the_rope_or_after_a_break_or_without_a_joint_is_ok() {
    let slack = tied_particle(Vec3::new(0.0, 0.0, 10.0), true);
    assert_label(&judged(&slack, 60, fall, None), Label::Ok);
    let tied = tied_particle(Vec3::new(1.0, 0.0, 0.0), false);
    let broken = |state: &mut State, time: f64| {
        state.broken[0] = true;
        fall(state, time);
    };
    assert_label(&judged(&tied, 120, broken, None), Label::Ok);
    let free = Scene { joints: Vec::new(), ..tied };
    assert_label(&judged(&free, 120, fall, None), Label::Ok);
}

#[test]
fn what_only_contacts_hold_may_fall_and_come_to_rest() {
    let mut heap = Scene {
        contacts: Some(Default::default()),
        joints: vec![],
        ..chain(4, 1.0, 9.0, Vec3::z())
    };
    heap.bodies[0] = heap.bodies[0].clone().fixed();
    // It collapses by half its height within a third of a second and stays where it is.
    let collapse = |state: &mut State, time: f64| {
        for body in state.bodies.iter_mut().skip(1) {
            let (fallen, floor) = (0.5 * G * time * time, 0.5 * body.position.z);
            body.velocity = if fallen < floor { gravity() * time } else { Vec3::zeros() };
            body.position.z -= fallen.min(floor);
        }
    };
    assert_label(&judged(&heap, 300, collapse, None), Label::Ok);
    assert_label(&judged(&heap, 300, stay, None), Label::Ok);
    // Pushed apart by more than its height could ever give.
    let burst = |state: &mut State, _: f64| state.bodies[4].velocity.x = 100.0;
    assert_label(&judged(&heap, 3, burst, None), Label::Exploded);
    // A joint ties as well where there are contacts.
    let tied =
        Scene { contacts: Some(Default::default()), ..tied_particle(Vec3::x() * 5.0, false) };
    assert_label(&judged(&tied, 120, fall, None), Label::Falling);
}

#[test]
fn a_slider_may_fall_along_its_axis() {
    for kind in [JointKind::Prismatic, JointKind::Cylindrical] {
        let mut joint = Joint::new(kind, Endpoint::World, Endpoint::Body(0));
        joint.basis_a =
            crate::Quat::rotation_between(&Vec3::x(), &Vec3::z()).expect("not opposite");
        joint.basis_b = joint.basis_a;
        let scene = Scene { joints: vec![joint], ..chain(0, 1.0, 1.0, Vec3::x()) };
        assert_label(&judged(&scene, 120, fall, None), Label::Ok);
    }
}

#[test]
fn a_chain_at_rest_in_equilibrium_is_ok() {
    for (link_kg, load_kg) in [(1.0, 50_000.0), (0.005, 250.0), (1.0, 0.01)] {
        let scene = chain(50, link_kg, load_kg, -Vec3::z());
        assert_label(&judged(&scene, 300, stay, None), Label::Ok);
        let rounding = |state: &mut State, time: f64| {
            let wobble = 1e-9 * (1e3 * time).sin();
            state.bodies.iter_mut().for_each(|b| b.position.x += wobble);
        };
        assert_label(&judged(&scene, 300, rounding, None), Label::Ok);
    }
}

#[test]
fn a_chain_that_stalls_is_frozen() {
    let scene = chain(50, 1.0, 50_000.0, Vec3::x());
    let judge = judged(&scene, 300, stay, None);
    assert_label(&judge, Label::Frozen);
    assert!(judge.reason().contains("unbalanced load"), "{}", judge.reason());
    // A stall with rounding noise, and one that creeps by 1e-6 m per frame.
    let noise = |state: &mut State, time: f64| {
        let wobble = 2e-6 * (1e3 * time).sin();
        state.bodies.iter_mut().for_each(|b| b.position.x += wobble);
    };
    assert_label(&judged(&scene, 300, noise, None), Label::Frozen);
    let creep = |state: &mut State, time: f64| {
        state.bodies.iter_mut().for_each(|b| b.position.z -= 6e-5 * time);
    };
    assert_label(&judged(&scene, 300, creep, None), Label::Frozen);
}

#[test]
fn a_stall_after_some_motion_is_frozen_too() {
    let scene = tied_particle(Vec3::new(4.0, 0.0, 0.0), false);
    let stalls = |state: &mut State, time: f64| swing(state, time.min(0.5));
    let stopped = |state: &mut State, time: f64| {
        stalls(state, time);
        if time > 0.5 {
            state.particles[0].velocity = Vec3::zeros();
        }
    };
    assert_label(&judged(&scene, 120, stopped, None), Label::Frozen);
}

#[test]
fn coming_to_rest_where_the_load_is_balanced_is_ok() {
    let scene = tied_particle(Vec3::new(4.0, 0.0, 0.0), false);
    let settles = |state: &mut State, time: f64| {
        swing(state, time.min(1.0));
        if time > 1.0 {
            state.particles[0].position = Vec3::new(0.0, 0.0, -4.0);
            state.particles[0].velocity = Vec3::zeros();
        }
    };
    assert_label(&judged(&scene, 300, settles, Some(&swing)), Label::Ok);
}

#[test]
fn the_reference_alone_can_call_a_run_frozen() {
    let mut scene = tied_particle(Vec3::new(51.0, 0.0, 0.0), false);
    // With contacts the load is not known.
    scene.contacts = Some(crate::scene::Contacts::default());
    assert_label(&judged(&scene, 60, stay, None), Label::Ok);
    let judge = judged(&scene, 60, stay, Some(&swing));
    assert_label(&judge, Label::Frozen);
    assert!(judge.reason().contains("the reference"), "{}", judge.reason());
}

#[test]
fn held_until_a_moment_ago_is_not_frozen() {
    let mut scene = tied_particle(Vec3::new(0.0, 0.0, -1.0), false);
    scene.joints[0].break_force = 1.0;
    // At rest for four seconds; in the last frame the joint breaks and the load is out of balance.
    let breaks = |state: &mut State, time: f64| state.broken[0] = time > 3.99;
    assert_label(&judged(&scene, 240, breaks, None), Label::Ok);
    assert_label(&judged(&scene, 480, breaks, None), Label::Frozen);
}

#[test]
fn a_spring_scene_is_frozen_only_where_its_springs_do_not_hold() {
    let scene = |stretch: f64, stiffness: f64| {
        let (anchor_a, anchor_b) = (Vec3::zeros(), Vec3::zeros());
        let kind = SpringKind::Linear { anchor_a, anchor_b, rest_length: 1.0 };
        Scene {
            gravity: gravity(),
            dt: FRAME_S,
            particles: vec![particle(1.0, Vec3::new(0.0, 0.0, -1.0 - stretch))],
            springs: vec![Spring {
                name: String::new(),
                kind,
                a: Endpoint::World,
                b: Endpoint::Particle(0),
                stiffness,
                damping: 0.0,
            }],
            ..Scene::default()
        }
    };
    assert_label(&judged(&scene(G / 10.0, 10.0), 300, stay, None), Label::Ok);
    assert_label(&judged(&scene(0.0, 10.0), 300, stay, None), Label::Frozen);
    // Out of balance by 1000 m/s^2, yet the swing is only 1e-6 m wide.
    assert_label(&judged(&scene(1e-6, 1e9), 300, stay, None), Label::Ok);
}

#[test]
fn what_hangs_on_a_triangle_is_frozen_only_beyond_it() {
    let corners = [Vec3::zeros(), Vec3::new(1.0, 0.0, 0.0), Vec3::new(0.5, 0.0, -1.0)];
    let membrane = Membrane::new(&corners, 0.1, 1e5, 0.0).expect("a triangle");
    let particles = [0.0, 0.0, 1.0].into_iter().zip(corners);
    let mut scene = Scene {
        gravity: gravity(),
        dt: FRAME_S,
        particles: particles.map(|(mass, corner)| particle(mass, corner)).collect(),
        triangles: vec![ElasticPart {
            name: String::new(),
            ends: [0, 1, 2].map(|i| Anchor::from(Endpoint::Particle(i))),
            energy: membrane.into(),
        }],
        ..Scene::default()
    };
    assert_label(&judged(&scene, 300, stay, None), Label::Ok);
    // The triangle is as ready to swing out of its plane as a door.
    scene.gravity = Vec3::new(0.0, G, 0.0);
    assert_label(&judged(&scene, 300, stay, None), Label::Frozen);
}

#[test]
fn what_turns_in_balance_is_ok() {
    // A conical pendulum's hub stays while its arm whirls: velocities are part of the balance.
    let mut scene = chain(0, 1.0, 1.0, Vec3::x());
    scene.gravity = Vec3::zeros();
    let position = scene.bodies[0].position;
    scene.bodies[0] = scene.bodies[0].clone().at(Vec3::zeros());
    scene.bodies.push(scene.bodies[0].clone().at(position * 2.0));
    scene.bodies.push(scene.bodies[0].clone().at(position * -2.0));
    scene.joints = [1, 2]
        .map(|i| {
            let reach = position * if i == 1 { 2.0 } else { -2.0 };
            Joint::new(JointKind::Ball, Endpoint::Body(0), Endpoint::Body(i))
                .anchored(reach, Vec3::zeros())
        })
        .to_vec();
    for body in &mut scene.bodies {
        body.omega = Vec3::new(0.0, 0.0, 3.0);
        body.velocity = body.omega.cross(&body.position);
    }
    let whirls = |state: &mut State, time: f64| {
        let turn = crate::Quat::from_scaled_axis(Vec3::new(0.0, 0.0, 3.0 * time));
        for body in &mut state.bodies {
            body.position = turn * body.position;
            body.velocity = turn * body.velocity;
            body.frame = turn.to_rotation_matrix() * body.frame;
            body.frame_rate = turn.to_rotation_matrix() * body.frame_rate;
        }
    };
    assert_label(&judged(&scene, 300, whirls, None), Label::Ok);
}

#[test]
fn energy_from_nowhere_is_an_explosion() {
    // 50 links of 0.5 m and 5 g with 250 kg below: +1.07e6 J was seen for alpha = 0.
    let mut scene = chain(50, 0.005, 250.0, -Vec3::z());
    for body in &mut scene.bodies {
        body.position *= 0.5;
    }
    scene
        .joints
        .iter_mut()
        .for_each(|j| (j.anchor_a, j.anchor_b) = (j.anchor_a / 2.0, j.anchor_b / 2.0));
    let gain = |joules: f64| {
        let speed = (2.0 * joules / 250.0).sqrt();
        move |state: &mut State, _: f64| state.bodies[50].velocity.x = speed
    };
    assert_label(&judged(&scene, 3, gain(1.07e6), None), Label::Exploded);
    assert_label(&judged(&scene, 3, gain(1e3), None), Label::Ok);
    assert_label(&judged(&scene, 3, gain(1e307), None), Label::Exploded);
}

#[test]
fn a_long_fall_and_a_loaded_spring_are_no_explosions() {
    let free = Scene { joints: Vec::new(), ..tied_particle(Vec3::new(1.0, 0.0, 0.0), false) };
    assert_label(&judged(&free, 3000, fall, None), Label::Ok);
    // The same fall by an explicit integrator, which gains energy all the way.
    let explicit = |state: &mut State, time: f64| {
        let velocity = gravity() * time;
        state.particles[0].position += gravity() * (0.5 * time * (time - FRAME_S));
        state.particles[0].velocity = velocity;
    };
    assert_label(&judged(&free, 3000, explicit, None), Label::Ok);
    let kind =
        SpringKind::Linear { anchor_a: Vec3::zeros(), anchor_b: Vec3::zeros(), rest_length: 0.1 };
    let (a, b) = (Endpoint::World, Endpoint::Particle(0));
    let spring = Spring { name: String::new(), kind, a, b, stiffness: 1e6, damping: 0.0 };
    let loaded = Scene { springs: vec![spring], ..free };
    let released = |state: &mut State, _: f64| {
        // All of 1e6/2 * 0.9^2 J has become motion.
        state.particles[0].position *= 0.1;
        state.particles[0].velocity.x = -0.9 * 1e3;
    };
    assert_label(&judged(&loaded, 3, released, None), Label::Ok);
}

#[test]
fn a_motor_may_supply_its_power() {
    let mut scene = chain(0, 1.0, 1.0, Vec3::x());
    scene.gravity = Vec3::zeros();
    scene.joints[0].kind = JointKind::Hinge;
    let spin = |state: &mut State, time: f64| {
        // 10 N m about an inertia of 1/6 kg m^2.
        let omega = (60.0 * time).min(20.0);
        let angle = 30.0 * time.min(1.0 / 3.0).powi(2) + 20.0 * (time - 1.0 / 3.0).max(0.0);
        let turn = Rotation3::from_axis_angle(&Vec3::x_axis(), angle).into_inner();
        state.bodies[0].frame = turn;
        state.bodies[0].frame_rate = skew(&Vec3::new(omega, 0.0, 0.0)) * turn;
    };
    assert_label(&judged(&scene, 60, spin, None), Label::Exploded);
    scene.joints[0].motor = Some(Motor { speed: 20.0, max_effort: 10.0 });
    assert_label(&judged(&scene, 60, spin, None), Label::Ok);
}

#[test]
fn what_is_not_finite_has_diverged_for_good() {
    let scene = tied_particle(Vec3::new(1.0, 0.0, 0.0), false);
    let blink = |state: &mut State, time: f64| {
        swing(state, time);
        if (time - 0.5).abs() < 0.5 * FRAME_S {
            state.particles[0].velocity.x = f64::NAN;
        }
    };
    assert_label(&judged(&scene, 60, blink, None), Label::Diverged);
}
