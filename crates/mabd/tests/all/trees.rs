//! Trees of ball joints with springs, solved four bodies at a time, against the general path.

use taut_core::{
    Multipliers, Quat, Scene, State, Vec3,
    scene::{Body, Elasticity, Endpoint, Joint, JointKind, Spring, SpringKind},
};
use taut_fixtures::{Run, empty, file};
use taut_mabd::BACKEND;

/// Three trees and a body alone: node `i` of a tree hangs on node `(i - 1) / 3`, on some by a spring too,
/// in no order; the first tree hangs on the world, the second on a moving body, the third on nothing.
fn forest(springs: bool) -> Scene {
    let mut scene = Scene { dt: 0.01, gravity: Vec3::new(0.3, 0.0, -9.81), ..empty(0.0) };
    let size = Vec3::new(0.2, 0.1, 0.4);
    let body = |at: Vec3, i: usize| {
        let mut body = Body::solid_box(size * (1.0 + 0.01 * i as f64), 300.0).at(at);
        body.elasticity = (!i.is_multiple_of(3)).then_some(Elasticity { young: 1e7, poisson: 0.3 });
        body
    };
    let turn = |i: usize| Quat::from_scaled_axis(Vec3::new(0.1, 0.2, -0.3) * (i % 7) as f64);
    let hang = |scene: &mut Scene, a: Endpoint, b: usize, anchors: [Vec3; 2]| {
        let b = Endpoint::Body(b);
        let (joint, spring) = if scene.joints.len().is_multiple_of(2) {
            (Joint::new(JointKind::Ball, a, b).anchored(anchors[0], anchors[1]), [a, b])
        } else {
            (Joint::new(JointKind::Ball, b, a).anchored(anchors[1], anchors[0]), [b, a])
        };
        let i = scene.joints.len();
        scene.joints.push(joint);
        if springs && i % 5 != 3 {
            let kind = SpringKind::Angular { basis_a: turn(i), basis_b: turn(i + 2) * turn(i) };
            let name = format!("spring[{i}]");
            let stiffness = 3.0 + i as f64;
            scene.springs.push(Spring {
                name,
                kind,
                a: spring[0],
                b: spring[1],
                stiffness,
                damping: 0.0,
            });
        }
    };
    for tree in 0..3 {
        let first = scene.bodies.len();
        let count = [41, 23, 30][tree];
        for i in 0..count {
            let at = Vec3::new(3.0 * tree as f64 + 0.3 * (i % 5) as f64, 0.2 * i as f64, 0.0);
            scene.bodies.push(body(at, i));
        }
        for i in (1..count).rev() {
            let (parent, child) = (first + (i - 1) / 3, first + i);
            let middle = (scene.bodies[parent].position + scene.bodies[child].position) * 0.5;
            let anchors = [parent, child].map(|body| middle - scene.bodies[body].position);
            hang(&mut scene, Endpoint::Body(parent), child, anchors);
        }
        if tree == 0 {
            let at = scene.bodies[first].position + size * 0.5;
            hang(&mut scene, Endpoint::World, first, [at, size * 0.5]);
        }
    }
    scene.bodies.push(body(Vec3::new(0.0, 0.0, 5.0), 1));
    scene
}

fn run(scene: &Scene, settings: &str, steps: u32) -> (State, Multipliers) {
    let mut run = Run::new(&BACKEND, scene, settings, 2);
    run.steps(steps);
    let forces = run.forces();
    (run.state, forces)
}

fn agree(scene: &Scene, settings: &str) {
    let (fast, pulls) = run(scene, &format!("({settings})"), 12);
    let (general, others) = run(scene, &format!("({settings}general: true)"), 12);
    for (i, (a, b)) in fast.bodies.iter().zip(&general.bodies).enumerate() {
        let apart = (a.frame - b.frame).norm() + (a.position - b.position).norm();
        assert!(apart < 1e-9, "{settings} body {i}: {apart:e}");
    }
    for (i, (a, b)) in pulls.joint_force.iter().zip(&others.joint_force).enumerate() {
        assert!((a - b).norm() < 1e-6 * (1.0 + b.norm()), "{settings} joint {i}: {a} {b}");
    }
}

#[test]
fn trees_by_lanes_agree_with_general_rows() {
    for springs in [false, true] {
        for settings in
            ["", "integrator: bdf2, ", "integrator: implicit_euler, ", "geometric: none, "]
        {
            agree(&forest(springs), settings);
        }
    }
    for bend in [0.0, 1.0] {
        agree(&file("pear", &[("links", 300.0), ("bend", bend)]), "");
        agree(&file("willow", &[("links", 300.0), ("bend", bend)]), "");
    }
    // Large enough for branches.
    agree(&file("pear", &[("links", 6000.0)]), "");
}
