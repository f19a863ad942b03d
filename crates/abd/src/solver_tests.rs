//! The incremental energy's derivatives against differences.

use taut_core::{
    Quat, Scene, Solver, Step, Vec3,
    scene::{Contacts, Elasticity, JointKind},
};
use taut_fixtures::{chain, cube, differences, floor, plane, rubbing, slope};

use crate::{AbdSettings, FirstGuess, HessianProjection, solver::Abd};

/// Three bodies of one chain, held by the world, by every kind of joint there is.
fn scene() -> Scene {
    let mut scene = chain(9.81, 3, Vec3::new(1.0, 0.3, 0.2), 10.0);
    for (i, body) in scene.bodies.iter_mut().enumerate() {
        body.omega = Vec3::new(1.0, -2.0, 0.5 * i as f64);
        body.velocity = Vec3::new(0.1, 0.2, -0.3);
        body.elasticity = Some(Elasticity { young: 2e3, poisson: 0.3 });
    }
    (scene.joints[0].kind, scene.joints[1].kind) = (JointKind::Fixed, JointKind::Hinge);
    scene
}

#[test]
fn derivatives_equal_differences() {
    const STEP: f64 = 1e-6;
    let mut solver = Abd::new(&scene(), AbdSettings::default()).unwrap();
    solver.begin_step(Step { dt: 0.1, iterations: 1 }).unwrap();
    // Away from every minimum.
    for (k, node) in solver.nodes_mut().enumerate() {
        for i in 0..12 {
            node[i] += 0.1 * ((5 * i + 3 * k) % 7) as f64 / 7.0 - 0.05;
        }
    }
    let (gradient, matrix) = solver.derivatives();
    let scale = gradient.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    let stiffest = matrix.iter().flatten().fold(0.0_f64, |most, x| most.max(x.abs()));
    let columns = differences(gradient.len(), STEP, |entry, by| solver.gradient_at(entry, by));
    for entry in 0..gradient.len() {
        let expected = slope(STEP, |by| solver.energy_at(entry, by));
        assert!((gradient[entry] - expected).abs() < 1e-7 * scale, "{entry}");
        for other in 0..gradient.len() {
            let off = (matrix[other][entry] - columns[entry][other]).abs();
            assert!(off < 1e-7 * stiffest, "{other} {entry}");
        }
    }
}

/// Cubes of which one lies askew between the others, near enough for vertices, edges and faces to push, and which have
/// slid since the step began.
fn touching() -> Scene {
    let mut scene = taut_fixtures::touching(9.81, vec![floor(0.5), plane(0.5)]);
    scene.bodies[1].position = Vec3::new(0.0, 0.0, -0.01);
    scene.contacts = Some(Contacts { margin: 0.05, ..Contacts::default() });
    for (i, turn) in [0.0, 0.3].into_iter().enumerate() {
        let mut body = rubbing(cube(0.52 + 1.03 * i as f64), 0.5, 0.5);
        body.position.x = 0.3 * i as f64;
        body.rotation = Quat::from_scaled_axis(Vec3::new(0.02, 0.01, turn));
        body.velocity = Vec3::new(0.02, 0.01, 0.0) * (1.0 + i as f64);
        body.elasticity = Some(Elasticity { young: 2e3, poisson: 0.3 });
        scene.bodies.push(body);
    }
    scene
}

#[test]
fn the_gradient_with_barrier_and_friction_equals_differences() {
    // Friction bends within a way of 1e-5 m.
    const STEP: f64 = 3e-8;
    let mut solver = Abd::new(&touching(), AbdSettings::default()).unwrap();
    // Friction presses from the second step on.
    for _ in 0..2 {
        solver.begin_step(Step { dt: 0.01, iterations: 2 }).unwrap();
        (0..2).for_each(|_| solver.iterate().unwrap());
        solver.end_step().unwrap();
    }
    solver.begin_step(Step { dt: 0.01, iterations: 2 }).unwrap();
    solver.iterate().unwrap();
    let gradient = solver.gradient_at(0, 0.0);
    let scale = gradient.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
    assert!(solver.contact.as_ref().unwrap().slides(), "friction is at work");
    for (entry, found) in gradient.iter().enumerate() {
        let expected = slope(STEP, |by| solver.energy_at(entry, by));
        assert!((found - expected).abs() < 1e-6 * scale, "{entry}: {found} {expected} of {scale}");
    }
}

/// Motions of all lengths beside the barrier's reach of 0.05 m, in any order.
#[test]
fn what_is_left_out_is_neither_pushed_nor_hit() {
    let mut solver = Abd::new(&touching(), AbdSettings::default()).unwrap();
    solver.begin_step(Step { dt: 0.01, iterations: 1 }).unwrap();
    let lengths = [0.0, 1e-9, 1e-6, 1e-4, 3e-3, 0.05, 1e-6, 0.3, 1e-4, 1e-2, 1e-7, 2.0, 1e-3];
    let mut left_out = [0; 2];
    for (nth, length) in lengths.iter().cycle().take(500).enumerate() {
        let wave = |k: usize| (1.7 * (k + 1) as f64 * (nth + 1) as f64).sin();
        let found = solver.go_checked(|k| length * wave(k));
        left_out.iter_mut().zip(found).for_each(|(sum, count)| *sum += count);
    }
    assert!(left_out[0] > 500 && left_out[1] > 500, "{left_out:?}");
}

#[test]
fn systems_as_they_are_do_not_lead_astray() {
    const DT: f64 = 0.01;
    for projection in [HessianProjection::None, HessianProjection::OnDemand] {
        let settings = AbdSettings { projection, ..AbdSettings::default() };
        let mut solver = Abd::new(&touching(), settings).unwrap();
        solver.begin_step(Step { dt: DT, iterations: 3 }).unwrap();
        let mut way = || {
            solver.iterate().unwrap();
            let way = solver.report().newton_speed_m_s.unwrap() * DT;
            solver.set_farthest(1e-3 * way);
            way
        };
        let (free, bound) = (way(), way());
        // What is projected is not bound, but never leads far.
        let most = if projection == HessianProjection::None { 2e-3 * free } else { 2.0 * free };
        assert!(free > 0.0 && bound <= most, "{projection:?} {free} {bound}");
    }
}

#[test]
fn newton_converges_quadratically_to_no_force() {
    let mut solver = Abd::new(&scene(), AbdSettings::default()).unwrap();
    solver.begin_step(Step { dt: 0.01, iterations: 20 }).unwrap();
    let norm = |solver: &mut Abd| solver.derivatives().0.iter().map(|x| x * x).sum::<f64>().sqrt();
    let start = norm(&mut solver);
    let mut norms = Vec::new();
    for _ in 0..8 {
        solver.iterate().unwrap();
        norms.push(norm(&mut solver));
    }
    assert!(norms[7] < 1e-9 * start, "{start:e} {norms:?}");
    let fast = norms.windows(2).any(|pair| pair[1] < 1e-3 * pair[0]);
    assert!(fast, "{start:e} {norms:?}");
}

#[test]
fn a_step_can_be_kept_from_beginning_above_its_start() {
    let rise = |first_guess, speed: f64| {
        let mut scene = touching();
        for body in &mut scene.bodies {
            body.velocity = Vec3::new(0.0, 0.0, -speed);
        }
        let settings = AbdSettings { first_guess, ..AbdSettings::default() };
        let mut solver = Abd::new(&scene, settings).unwrap();
        solver.begin_step(Step { dt: 0.01, iterations: 1 }).unwrap();
        solver.rise_of_guess()
    };
    // Towards what is in reach of the barrier: slowly, and as fast as the gap is closed within the step.
    for speed in [0.1, 1.0, 5.0] {
        let found = rise(FirstGuess::NotAbove, speed);
        assert!(found <= 0.0, "{speed} {found:e}");
    }
    assert!(rise(FirstGuess::Adaptive, 0.1) > 0.0, "else nothing is tried");
}

#[test]
fn no_impact_holds_up_what_is_not_hit() {
    let falling = |x: f64, z: f64, speed: f64| {
        let mut body = cube(z);
        body.position.x = x;
        body.velocity.z = -speed;
        body
    };
    let bodies = vec![floor(0.5), falling(0.0, 0.6, 20.0), falling(10.0, 5.0, 20.0)];
    let scene = taut_fixtures::touching(9.81, bodies);
    let mut solver = Abd::new(&scene, AbdSettings::default()).unwrap();
    for _ in 0..3 {
        solver.begin_step(Step { dt: 0.01, iterations: 1 }).unwrap();
        let shares = solver.shares();
        assert!(shares[0] < 1.0 && shares[1] == 1.0, "{shares:?}");
        solver.iterate().unwrap();
        solver.end_step().unwrap();
    }
}

#[test]
fn bodies_are_as_far_from_others_as_these_are() {
    const GAP: f64 = 0.02;
    let mut bodies = vec![cube(5.0), cube(6.5), cube(0.5 + GAP), floor(0.5)];
    bodies[2].position.x = 10.0;
    let mut scene = taut_fixtures::touching(9.81, bodies);
    scene.contacts = Some(Contacts { margin: 0.05, ..Contacts::default() });
    let mut solver = Abd::new(&scene, AbdSettings::default()).unwrap();
    solver.begin_step(Step { dt: 1e-4, iterations: 1 }).unwrap();
    // The first goes up to the second, which it is out of reach of.
    let room = solver.rooms(|k| if k == 11 { 0.48 } else { 0.0 });
    assert!(room[0].is_infinite() && room[1].is_infinite(), "{room:?}");
    assert!((room[2] - GAP).abs() < 1e-6, "{room:?}");
}
