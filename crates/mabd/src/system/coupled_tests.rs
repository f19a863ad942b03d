//! Islands against a dense solve of all rows of joints and contacts at once.

use nalgebra::{DMatrix, DVector};
use taut_core::{
    Quat, Scene, Vec3,
    scene::{Body, Contacts as Rules, Elasticity, Endpoint, Joint, JointKind, Material, Shape},
};

use super::*;
use crate::{contact::Begins, node::Nodes, settings::MabdSettings};

const H: f64 = 0.01;

fn body(size: f64, at: [f64; 3], slides: [f64; 3], young: Option<f64>) -> Body {
    let mut body = Body::solid_box(Vec3::repeat(size), 100.0).at(Vec3::from(at));
    body.velocity = Vec3::from(slides);
    body.rotation = Quat::from_scaled_axis(Vec3::from(slides) * 0.01);
    body.material = Material { friction_static: 0.5, friction_dynamic: 0.4, restitution: 0.0 };
    body.elasticity = young.map(|young| Elasticity { young, poisson: 0.3 });
    body
}

/// A heap of three on the ground, the middle one with an arm of two links and the others with a joint across it, and
/// another heap of two.
fn scene() -> Scene {
    let mut ground = body(1.0, [0.0; 3], [0.0; 3], None).fixed();
    ground.shape = Shape::HalfSpace;
    let mut scene = Scene {
        contacts: Some(Rules::default()),
        bodies: vec![
            ground,
            body(1.0, [0.0, 0.0, 0.495], [0.3, 0.0, -0.2], Some(1e6)),
            body(1.0, [0.1, 0.05, 1.49], [-1.0, 2.0, -0.3], None),
            body(0.8, [0.0, 0.1, 2.385], [0.4, -0.1, -0.5], Some(1e13)),
            body(0.5, [1.2, 0.0, 1.5], [0.0, 0.5, 0.0], None),
            body(0.5, [1.9, 0.0, 1.5], [0.2, 0.0, 0.4], Some(1e5)),
            body(1.0, [9.0, 0.0, 0.496], [0.0; 3], None),
            body(1.0, [9.0, 0.1, 1.49], [0.0, 0.1, -0.5], Some(1e6)),
        ],
        dt: H,
        gravity: Vec3::new(0.0, 0.0, -9.81),
        steps: 1,
        ..Scene::default()
    };
    let anchors = [(2, 4, 0.7, JointKind::Ball), (4, 5, 0.35, JointKind::Hinge)];
    for (a, b, out, kind) in anchors {
        let along = Vec3::new(out, 0.0, 0.0);
        let joint = Joint::new(kind, Endpoint::Body(a), Endpoint::Body(b));
        scene.joints.push(joint.anchored(along, -along * 0.5));
    }
    let across = Joint::new(JointKind::Ball, Endpoint::Body(1), Endpoint::Body(3));
    scene.joints.push(across.anchored(Vec3::new(0.0, 0.05, 1.0), Vec3::new(0.0, 0.0, -0.89)));
    scene
}

/// One row of the dual: its gradients at two nodes, its value and its compliance.
struct Line {
    ends: Vec<(usize, Affine)>,
    value: f64,
    compliance: f64,
}

fn lines(system: &System, contacts: &StepContacts) -> Vec<Line> {
    let count = system.nodes.count();
    let mut all = Vec::new();
    for (e, element) in system.elements.iter().enumerate() {
        let first = system.dual.blocks.first[e] as usize;
        for row in first..first + element.rows.len() {
            let sides = element.nodes.iter().zip(&system.rows.gradients[row]);
            let moving = sides.filter(|(node, _)| (**node as usize) < count);
            let ends = moving.map(|(node, gradient)| (*node as usize, *gradient)).collect();
            let compliance = system.rows.compliance[row];
            all.push(Line { ends, value: system.rows.errors[row], compliance });
        }
    }
    for &t in contacts.paired() {
        let point = contacts.point(t);
        for axis in (0..3).filter(|&axis| point.stiffness(axis) > 0.0) {
            let ends = [0, 1].map(|side| {
                let node = point.nodes[side] as usize;
                let rotation = &system.nodes.responses[node].rotation;
                (node, point.gradient(side, axis, rotation))
            });
            let compliance = 1.0 / point.stiffness(axis);
            all.push(Line { ends: ends.to_vec(), value: point.value(axis), compliance });
        }
    }
    all
}

/// Increments of all nodes by a dense dual system.
fn dense(system: &System, contacts: &StepContacts) -> Vec<Affine> {
    let lines = lines(system, contacts);
    let reply = |nodes: &Nodes, (node, gradient): &(usize, Affine)| {
        system.folds.reply(nodes, *node, gradient, H)
    };
    let nodes = &system.nodes;
    let matrix = DMatrix::from_fn(lines.len(), lines.len(), |i, j| {
        let mut sum = if i == j { lines[i].compliance } else { 0.0 };
        for a in &lines[i].ends {
            for b in lines[j].ends.iter().filter(|b| b.0 == a.0) {
                sum += a.1.dot(&reply(nodes, b));
            }
        }
        sum
    });
    let value = |line: &Line| {
        let moved = line.ends.iter().map(|(node, g)| g.dot(&nodes.responses[*node].free));
        line.value + moved.sum::<f64>()
    };
    let b = DVector::from_iterator(lines.len(), lines.iter().map(value));
    let lambda = matrix.lu().solve(&b).unwrap();
    let mut increments: Vec<Affine> = nodes.responses.iter().map(|r| r.free).collect();
    for (line, lambda) in lines.iter().zip(lambda.iter()) {
        for end in &line.ends {
            increments[end.0] = increments[end.0].plus(&reply(nodes, end), -lambda);
        }
    }
    increments
}

#[test]
fn islands_solve_for_joints_and_contacts_together() {
    let mut system = System::new(&scene(), &MabdSettings::default()).unwrap();
    system.detect(&[false; 3], H, Begins::Step);
    let mut contacts = system.contacts.take().unwrap();
    assert!(contacts.paired().len() >= 8, "they point");
    assert_eq!(system.coupled.islands.len(), 2, "two islands");
    let scheme = StepScheme { h: H, two_step: false };
    // Whatever the rounds have chosen last is a linear system.
    system.solve_contacts(&mut contacts, &scheme);
    contacts.reopen();
    system.refold(&contacts, H);
    system.reply_again(&contacts, H);
    system.find_coupled_once(&contacts, &scheme);
    let expected = dense(&system, &contacts);
    for (node, expected) in expected.iter().enumerate() {
        let found = system.folds.increment(&system.nodes, node, H);
        let error = found.plus(expected, -1.0);
        let error = error.frame.norm() + error.origin.norm();
        assert!(error < 1e-11, "{node}: {error:e} of {:e}", expected.origin.norm());
    }
    let pressing = contacts.paired().iter().filter(|&&t| contacts.point(t).stiffness(1) > 0.0);
    assert!(pressing.count() >= 4, "friction is part of it");
}

/// What one island does is none of another's business: bits stay when another comes or goes.
#[test]
fn islands_are_independent() {
    let run = |scene: &Scene| {
        let mut system = System::new(scene, &MabdSettings::default()).unwrap();
        system.detect(&vec![false; scene.joints.len()], H, Begins::Step);
        system.solve(&StepScheme { h: H, two_step: false }, false, false);
        (5..7)
            .map(|node| node + system.nodes.count() - 7)
            .map(|n| system.nodes.moved.get(n))
            .collect()
    };
    let both: Vec<Affine> = run(&scene());
    let mut alone = scene();
    alone.joints.clear();
    alone.bodies.drain(1..6);
    assert_eq!(both, run(&alone));
}

/// A solve in which most nodes stay finds the same bits as one that finds all anew, also in rounds of contacts and with more
/// of these than the solve before had.
#[test]
fn what_stays_is_found_as_if_anew() {
    let scheme = StepScheme { h: H, two_step: false };
    // Between the first and the third there is a joint, too, but the first stands on the ground.
    for (turned, staying) in [2, 1, 2, 0, 1, 2, 2].into_iter().enumerate() {
        let run = |stays: bool| {
            let mut system = System::new(&scene(), &MabdSettings::default()).unwrap();
            // Else tension would stiffen nodes from solve to solve.
            system.leaves_beyond = Some(f64::INFINITY);
            system.detect(&[false; 3], H, Begins::Step);
            system.solve(&scheme, false, false);
            system.nodes.moved.clear();
            let turn = Quat::from_scaled_axis(Vec3::new(0.04, -0.07, 0.05)).to_rotation_matrix();
            let start = system.nodes.start.get(turned).frame;
            let frame = turn.matrix() * start - start;
            system.nodes.moved.set(turned, &Affine { frame, ..Affine::ZERO });
            system.detect_more(&[false; 3], H);
            system.keeps_contacts = true;
            system.stays = if stays { (0..7).map(|node| node != turned).collect() } else { vec![] };
            system.solve(&scheme, false, false);
            let kept = system.rows.renewed.iter().filter(|renewed| !**renewed).count();
            let moved: Vec<Affine> = (0..7).map(|node| system.nodes.moved.get(node)).collect();
            (kept, moved)
        };
        let (kept, found) = run(true);
        let (none, anew) = run(false);
        assert_eq!([kept, none], [staying, 0], "{turned}: elements that stay");
        assert_eq!(found, anew, "{turned}");
    }
}

/// A step that is made again after a solve could not be begun takes nothing from the one before for granted.
#[test]
fn nothing_stays_after_a_reset() {
    let mut system = System::new(&scene(), &MabdSettings::default()).unwrap();
    system.stays = vec![true; 7];
    system.reset(&[false; 3]);
    assert!(system.stays.is_empty());
}
